//! The products of other stages that a step sees: mounted, or copied into its root.

use std::collections::BTreeMap;

use super::build::Planner;
use super::step::place;
use super::tree::{directories, inside};
use super::windows::{self, path::Spelling};
use super::{Product, StageIndex, TreePath, UseMount};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::{Brings, Use, UseAs};

/// A product of another stage, copied into the root before the step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UseCopy {
    /// The stage.
    pub stage: StageIndex,
    /// What of its product.
    pub what: CopiedPart,
    /// Where it was written.
    pub span: Span,
}

/// Which part of a product is copied, and where to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopiedPart {
    /// These paths of a tree, each to where it was.
    Paths(Vec<TreePath>),
    /// One file or directory.
    Part {
        /// Its path in the product.
        sub: String,
        /// Its path in the root.
        at: String,
    },
}

impl UseCopy {
    /// What it puts into the root, and where.
    pub(crate) fn places(&self) -> Vec<TreePath> {
        match &self.what {
            CopiedPart::Paths(paths) => paths.clone(),
            CopiedPart::Part { at, .. } => vec![TreePath::all_of(at.clone())],
        }
    }
}

pub(super) fn plan(
    planner: &mut Planner<'_, '_>,
    sees: &[&Brings],
    env: &BTreeMap<String, String>,
) -> (Vec<UseMount>, Vec<UseCopy>) {
    let (mut mounts, mut copies) = (Vec::new(), Vec::new());
    for used in sees.iter().flat_map(|brings| &brings.uses) {
        if !planner.selection.setting.holds(used.when.as_ref()) {
            continue;
        }
        let Some(&stage) = planner.index.get(used.stage.value.as_str()) else {
            continue;
        };
        match used.how {
            UseAs::Mount => mounts.extend(mounted(planner, used, stage, env)),
            UseAs::Copy => copies.extend(copied(planner, used, stage, env)),
        }
    }
    mounts.sort_by(|a, b| a.at.cmp(&b.at));
    copies_apart(&copies, &planner.spelling, &mut planner.report);
    (mounts, copies)
}

fn mounted(
    planner: &mut Planner<'_, '_>,
    used: &Use,
    stage: usize,
    env: &BTreeMap<String, String>,
) -> Vec<UseMount> {
    let mount = |sub: String, at: String| UseMount {
        stage,
        sub,
        at,
        span: used.span.clone(),
    };
    let tree = matches!(planner.stages[stage].product, Product::Tree(_));
    if planner.spelling.is_windows() && tree {
        let shown = on_windows(planner, used, stage, env).into_iter();
        return shown.map(|(sub, at)| mount(sub, at)).collect();
    }
    if used.sub.is_some() {
        let part = part(planner, used, stage, env);
        return part.into_iter().map(|(sub, at)| mount(sub, at)).collect();
    }
    let places = directories(planner.paths(stage));
    if places.contains(&"/") {
        planner.report.push(
            Diagnostic::new(
                rule::PATH,
                format!("the tree of `{}` stands at `/`", used.stage.value),
            )
            .at(&used.span, "nothing can be mounted there")
            .help("name the part that is used: { stage, sub }"),
        );
        return Vec::new();
    }
    let places = places.into_iter().map(str::to_owned);
    places.map(|place| mount(place.clone(), place)).collect()
}

/// The paths of a Windows tree that are mounted, one for one: beside them in the producer's root
/// is what is not of the tree.
fn on_windows(
    planner: &mut Planner<'_, '_>,
    used: &Use,
    stage: usize,
    env: &BTreeMap<String, String>,
) -> Vec<(String, String)> {
    let named = match used.sub {
        None => None,
        Some(_) => match part(planner, used, stage, env) {
            Some(part) => Some(part),
            None => return Vec::new(),
        },
    };
    let named = named.as_ref().map(|(sub, at)| (sub.as_str(), at.as_str()));
    match windows::tree::parts(planner.paths(stage), named) {
        Ok(parts) => parts,
        Err(path) => {
            let taken = match used.how {
                UseAs::Mount => windows::tree::Taken::Mount,
                UseAs::Copy => windows::tree::Taken::Copy,
            };
            let wrong = windows::tree::some_of_one(path, taken, &used.span);
            planner.report.push(wrong);
            Vec::new()
        }
    }
}

fn copied(
    planner: &mut Planner<'_, '_>,
    used: &Use,
    stage: usize,
    env: &BTreeMap<String, String>,
) -> Vec<UseCopy> {
    let copy = |what: CopiedPart| UseCopy {
        stage,
        what,
        span: used.span.clone(),
    };
    let one = |(sub, at): (String, String)| copy(CopiedPart::Part { sub, at });
    let tree = matches!(planner.stages[stage].product, Product::Tree(_));
    match used.sub {
        None => vec![copy(CopiedPart::Paths(planner.paths(stage).to_vec()))],
        Some(_) if planner.spelling.is_windows() && tree => on_windows(planner, used, stage, env)
            .into_iter()
            .map(one)
            .collect(),
        Some(_) => part(planner, used, stage, env)
            .into_iter()
            .map(one)
            .collect(),
    }
}

/// The part that is used, and where it appears.
fn part(
    planner: &mut Planner<'_, '_>,
    used: &Use,
    stage: usize,
    env: &BTreeMap<String, String>,
) -> Option<(String, String)> {
    let template = used.sub.as_ref()?;
    let sub = place(planner, template, env)?;
    contained(planner, &used.stage.value, stage, &sub, &template.span);
    let at = match &used.at {
        Some(at) => place(planner, at, env)?,
        None => sub.clone(),
    };
    Some((sub, at))
}

/// A part of a tree must be of that tree.
pub(super) fn contained(
    planner: &mut Planner<'_, '_>,
    name: &str,
    stage: usize,
    sub: &str,
    span: &Span,
) {
    let Product::Tree(paths) = &planner.stages[stage].product else {
        return;
    };
    // Of a tree none of whose paths are good it was said already.
    if paths.is_empty() && !planner.report.is_empty() {
        return;
    }
    let fits = |d: &str| inside(sub, d) || inside(d, sub);
    let has = |path: &TreePath| fits(path.directory()) && !path.leaves_out(sub);
    if !paths.iter().any(has) {
        let spelling = &planner.spelling;
        let has = paths.iter().map(|path| spelling.shown(path.as_str()));
        let list = has.collect::<Vec<_>>().join(", ");
        let sub = spelling.shown(sub);
        planner.report.push(
            Diagnostic::new(
                rule::PATH,
                format!("`{sub}` is not in the tree of `{name}`"),
            )
            .at(span, "this part")
            .help(format!("its tree has: {list}")),
        );
    }
}

/// Two products in one place: which file won would depend on the order of a list.
fn copies_apart(copies: &[UseCopy], spelling: &Spelling, report: &mut Report) {
    for (i, second) in copies.iter().enumerate() {
        for first in &copies[..i] {
            let (ours, theirs) = (second.places(), first.places());
            let meet = |place: &&TreePath| theirs.iter().any(|other| other.overlaps(place));
            if let Some(place) = ours.iter().find(meet) {
                report.push(
                    Diagnostic::new(
                        rule::OVERLAP,
                        format!(
                            "two products are copied to {}",
                            spelling.shown(place.as_str())
                        ),
                    )
                    .at(&second.span, "second")
                    .related(&first.span, "first")
                    .help("put them together in a stage with `merge`, which compares them"),
                );
            }
        }
    }
}
