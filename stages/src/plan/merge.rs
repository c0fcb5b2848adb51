//! Trees that are put together: which parts of which stages, what stands where one is absent, and
//! whether they must be compared.

use std::collections::BTreeMap;

use super::build::Planner;
use super::tree::{below, inside};
use super::uses::contained;
use super::{StageIndex, TreePath};
use crate::diag::{Diagnostic, rule};
use crate::file::{Part, Stage, Take};
use crate::text::Template;

/// Trees that are put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merge {
    /// The trees, later ones over earlier ones.
    pub parts: Vec<MergePart>,
    /// What stands in place of trees that the lane does not have.
    pub markers: Vec<Marker>,
    /// Patterns, without a `/` in front, of paths where any tree will do.
    pub any: Vec<String>,
    /// Patterns of paths where the tree of one stage counts, if it has them.
    pub take: Vec<(String, StageIndex)>,
    /// Whether two of the trees could have one path, so that they must be compared.
    pub compare: bool,
    /// Whether names that differ in case alone are one name on the target.
    pub fold: bool,
}

/// One of the trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergePart {
    /// The stage.
    pub stage: StageIndex,
    /// The part of its product that is meant, and where it goes; `None` is its tree, where it was.
    pub moved: Option<(String, String)>,
    /// What it becomes of the merged tree.
    pub paths: Vec<TreePath>,
}

/// A file that says why a tree is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Marker {
    /// Its path.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// What the name of a marker begins with.
const ABSENT: &str = "ABSENT-";

pub(super) fn plan<'g>(planner: &mut Planner<'_, 'g>, stage: &'g Stage) -> Merge {
    let (mut parts, mut markers) = (Vec::new(), Vec::new());
    for part in &stage.merge {
        if planner.selection.setting.has_part(part) {
            parts.extend(merged(planner, part));
        } else if part.absent.is_some() {
            markers.extend(marker(planner, part));
        }
    }
    let setting = &planner.selection.setting;
    let windows = setting
        .target()
        .is_some_and(|target| target.os == "windows");
    let mut merge = Merge {
        compare: overlap(&parts, windows),
        parts,
        markers,
        any: Vec::new(),
        take: Vec::new(),
        fold: windows,
    };
    for conflict in &stage.conflict {
        if !planner.selection.setting.holds(conflict.when.as_ref()) {
            continue;
        }
        let Some(pattern) = pattern(planner, &conflict.path) else {
            continue;
        };
        match &conflict.take {
            Take::Any => merge.any.push(pattern),
            Take::Stage(winner) => {
                let index = planner.index.get(winner.value.as_str()).copied();
                merge.take.extend(index.map(|index| (pattern, index)));
            }
        }
    }
    merge
}

impl Merge {
    /// Whether what stands at a path is markers alone.
    pub(crate) fn marks(&self, path: &str) -> bool {
        let mut trees = self.parts.iter().flat_map(|part| &part.paths);
        let marked = |marker: &Marker| inside(&marker.path, path);
        self.markers.iter().any(marked) && !trees.any(|tree| inside(tree.directory(), path))
    }

    /// A marker that would stand in one of the trees, with the stage of that.
    pub(super) fn marker_in_a_tree(&self) -> Option<(&Marker, StageIndex)> {
        self.markers.iter().find_map(|marker| {
            let place = TreePath::whole(&marker.path).folded();
            let meets = |path: &TreePath| path.folded().overlaps(&place);
            let mut parts = self.parts.iter();
            let part = parts.find(|part| part.paths.iter().any(meets))?;
            Some((marker, part.stage))
        })
    }

    /// What the merged tree has.
    pub(super) fn paths(&self) -> Vec<TreePath> {
        let parts = self.parts.iter().flat_map(|part| part.paths.clone());
        let markers = self
            .markers
            .iter()
            .map(|marker| TreePath::all_of(marker.path.clone()));
        let mut paths: Vec<TreePath> = parts.chain(markers).collect();
        paths.sort();
        paths.dedup();
        paths
    }
}

fn merged(planner: &mut Planner<'_, '_>, part: &Part) -> Option<MergePart> {
    let &stage = planner.index.get(part.stage.value.as_str())?;
    let Some(from) = &part.from else {
        return Some(MergePart {
            stage,
            moved: None,
            paths: planner.paths(stage).to_vec(),
        });
    };
    let none = BTreeMap::new();
    let from_path = super::step::place(planner, from, &none)?;
    contained(planner, &part.stage.value, stage, &from_path, &from.span);
    let to = match &part.to {
        Some(to) => super::step::place(planner, to, &none)?,
        None => from_path.clone(),
    };
    Some(MergePart {
        stage,
        paths: vec![TreePath::all_of(to.clone())],
        moved: Some((from_path, to)),
    })
}

/// A file where the tree would be: below `to`, else where the first path of its tree is.
fn marker(planner: &mut Planner<'_, '_>, part: &Part) -> Option<Marker> {
    let none = BTreeMap::new();
    let why = planner
        .selection
        .fill(part.absent.as_ref()?, &none, &mut planner.report)?;
    let stage = planner.selection.graph.stages.get(&part.stage.value)?;
    let place = part
        .to
        .as_ref()
        .or(part.from.as_ref())
        .or(stage.tree.first().map(|entry| &entry.at));
    let Some(place) = place else {
        let message = format!("where would the tree of `{}` be?", part.stage.value);
        planner.report.push(
            Diagnostic::new(rule::PATH, message)
                .at(&part.span, "the marker has no place")
                .help("say it: { stage, from = \"/opt/x\", else, why }"),
        );
        return None;
    };
    let text = planner.selection.fill(place, &none, &mut planner.report)?;
    let path = TreePath::parse(
        &text,
        &place.span,
        &mut planner.spelling,
        &mut planner.report,
    )?;
    let name = &part.stage.value;
    Some(Marker {
        path: format!(
            "{}/{ABSENT}{name}.txt",
            path.directory().trim_end_matches('/')
        ),
        text: format!("{name} is not here: {why}\n"),
    })
}

/// Whether two trees could have one path.
fn overlap(parts: &[MergePart], fold: bool) -> bool {
    let folded = |path: &TreePath| if fold { path.folded() } else { path.clone() };
    let pairs = parts
        .iter()
        .enumerate()
        .flat_map(|(i, second)| parts[..i].iter().map(move |first| (first, second)));
    pairs.into_iter().any(|(first, second)| {
        let theirs: Vec<TreePath> = second.paths.iter().map(folded).collect();
        first
            .paths
            .iter()
            .map(folded)
            .any(|path| theirs.iter().any(|other| path.overlaps(other)))
    })
}

/// A pattern over the paths of the merged tree, without a `/` in front.
fn pattern(planner: &mut Planner<'_, '_>, template: &Template) -> Option<String> {
    let report = &mut planner.report;
    let text = planner.selection.fill(template, &BTreeMap::new(), report)?;
    below(
        text.strip_prefix('/').unwrap_or(&text),
        &template.span,
        report,
    )
}
