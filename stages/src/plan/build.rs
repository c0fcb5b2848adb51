//! Selection and facts → plan: stages in order, each with what it starts from and hands on.

use std::collections::{BTreeMap, BTreeSet};

use super::placed::{self, Placed};
use super::tree::{Tree, TreePath, apart};
use super::windows::{self, path::Spelling};
use super::{
    CopySource, Facts, FileCopy, FileWork, ImageConfig, PayloadFact, Plan, PlannedGate,
    PlannedOutput, PlannedStage, Product, Selection, StageIndex, Start, StepFile, What, Work, gate,
    merge, step,
};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::{From, Part, Stage, TreeEntry};
use crate::graph::lint;
use crate::lookup::Lookup;
use crate::text::Template;

/// What a stage hands to those that start from it, beside its files.
#[derive(Debug, Clone, Default)]
pub(super) struct Inherited {
    /// Chain env: what later steps see.
    pub(super) env: BTreeMap<String, String>,
    /// As whom steps run, by the base image; what `image` says is for the product alone.
    pub(super) user: String,
    /// Where steps run, by the base image.
    pub(super) workdir: String,
    /// Config, chain env included.
    pub(super) config: ImageConfig,
    /// Annotations of the manifest.
    pub(super) annotations: BTreeMap<String, String>,
    /// Whether nothing is in the root.
    pub(super) empty: bool,
    /// What is known to be in it.
    pub(super) placed: Vec<Placed>,
    /// Windows' build number, by the base image.
    pub(super) os_version: String,
}

/// A plan while it grows.
pub(super) struct Planner<'s, 'g> {
    pub(super) selection: &'s Selection<'g>,
    pub(super) facts: &'s Facts,
    pub(super) stages: Vec<PlannedStage>,
    pub(super) inherited: Vec<Inherited>,
    pub(super) index: Lookup<&'g str, StageIndex>,
    pub(super) report: Report,
    /// The git sources that steps take files of.
    pub(super) gits: BTreeMap<String, super::GitSource>,
    /// The downloads that steps take.
    pub(super) fetches: BTreeMap<String, super::Download>,
    pub(super) unpublishable: Vec<String>,
    /// Annotations of what comes out.
    pub(super) annotations: BTreeMap<String, String>,
    pub(super) warnings: Vec<Diagnostic>,
    /// How the lane's paths are spelled.
    pub(super) spelling: Spelling,
    /// On Windows, how the file spells variables.
    variables: BTreeMap<String, String>,
}

/// Fills everything in.
///
/// # Errors
/// Absent values, paths that cannot be, trees and mounts in each other's way: all at once.
pub fn plan(selection: &Selection<'_>, facts: &Facts) -> Result<Plan, Report> {
    let selection = &selection.knowing(facts);
    selection.judge().into_result(())?;
    let (wrong, told) = selection.judge_payloads(facts).split();
    let mut planner = Planner {
        selection,
        facts,
        stages: Vec::new(),
        inherited: Vec::new(),
        index: Lookup::default(),
        report: wrong,
        unpublishable: Vec::new(),
        annotations: BTreeMap::new(),
        gits: BTreeMap::new(),
        fetches: BTreeMap::new(),
        warnings: match selection.assumed {
            true => Vec::new(),
            false => told.diagnostics().to_vec(),
        },
        spelling: Spelling::of(&selection.setting.lane.platform.value),
        variables: BTreeMap::new(),
    };
    if planner.spelling.is_windows() {
        planner.variables = windows::env::spellings(selection, &mut planner.report);
    }
    for name in selection.order() {
        if let Some(stage) = selection.graph.stages.get(name) {
            planner.stage(name, stage);
        }
    }
    let gates = gate::gates(&mut planner);
    let reasons = selection.unverified.reasons();
    for reason in &reasons {
        let message = format!("this run is unverified: {reason}");
        planner.warnings.push(
            Diagnostic::new(rule::UNVERIFIED, message)
                .at(&selection.setting.lane.span, "what it builds has no tag"),
        );
    }
    planner.unpublishable = reasons;
    planner.unpublishable.extend(selection.replaced(facts));
    let output = planner.output(&gates);
    let Planner {
        stages,
        report,
        unpublishable,
        annotations,
        gits,
        fetches,
        warnings,
        ..
    } = planner;
    let mut doubtful = Report::default();
    warnings.into_iter().for_each(|one| doubtful.push(one));
    let warnings = lint::keep(selection.graph, doubtful).diagnostics().to_vec();
    let context = context(&stages, &gates, output.as_ref());
    let (lane, platform) = (
        selection.setting.name.to_owned(),
        selection.setting.lane.platform.value.clone(),
    );
    match output {
        Some(output) => report.into_result(Plan {
            lane,
            platform,
            output,
            stages,
            gates,
            context,
            gits,
            fetches,
            payloads: payloads(selection, facts),
            warnings,
            annotations,
            unpublishable,
        }),
        None => Err(report.sorted()),
    }
}

/// What was found of the payloads that a selection hangs on.
fn payloads(selection: &Selection<'_>, facts: &Facts) -> BTreeMap<String, PayloadFact> {
    let wanted = selection.payloads();
    let mut found = facts.payloads.clone();
    found.retain(|name, _| wanted.contains(name.as_str()));
    found
}

impl<'g> Planner<'_, 'g> {
    fn stage(&mut self, name: &'g str, stage: &'g Stage) {
        let (start, mut inherited) = self.start(stage);
        // Each edit sees what the stage starts with: an order of names means nothing.
        let before = inherited.env.clone();
        for (variable, edit) in &stage.env {
            self.edit(variable, edit, &before, &mut inherited);
        }
        let added = self.parts(&stage.add);
        let added: Vec<_> = added
            .map(|(part, index)| (index, part.span.clone()))
            .collect();
        inherited.placed = self.placed(std::mem::take(&mut inherited.placed), &added);
        let setting = &self.selection.setting;
        inherited.empty &= self.indices(&stage.add).is_empty();
        let last = match self.selection.what {
            What::Step(wanted, last) if wanted == name => Some(last),
            _ => None,
        };
        // Steps are large: no room for more of them than there are.
        let mut steps = Vec::with_capacity(stage.steps.len());
        for step in setting.steps(stage) {
            let planned = step::plan(self, step, &inherited, inherited.empty);
            inherited
                .placed
                .extend(planned.iter().flat_map(placed::by_step));
            steps.extend(planned);
            inherited.empty = false;
            if last == Some(step.name.value.as_str()) {
                break;
            }
        }
        self.image(stage, &mut inherited);
        let product = match last {
            None => self.product(stage, &start),
            Some(_) => Product::Root,
        };
        if let Product::Tree(paths) = &product {
            writable(paths, &steps, &stage.span, &self.spelling, &mut self.report);
            copied_apart(paths, &steps, &stage.span, &self.spelling, &mut self.report);
        }
        let planned = PlannedStage {
            name: name.to_owned(),
            span: stage.span.clone(),
            add: self.indices(&stage.add),
            start,
            steps,
            product,
            os_version: inherited.os_version.clone(),
        };
        if self.spelling.is_windows() {
            windows::tree::check(self, &planned);
        }
        self.trees_apart(&stage.add);
        if matches!(planned.product, Product::Tree(_)) {
            // A tree is files alone: who starts from it inherits no environment.
            inherited = Inherited::default();
        }
        self.index.insert(name, self.stages.len());
        self.stages.push(planned);
        self.inherited.push(inherited);
    }

    fn start(&mut self, stage: &'g Stage) -> (Start, Inherited) {
        let scratch = Inherited {
            empty: true,
            ..Inherited::default()
        };
        let none = (Start::Scratch, scratch);
        match &stage.from {
            None => (Start::Merge(merge::plan(self, stage)), Inherited::default()),
            Some(From::Scratch(_)) => none,
            Some(From::Image(template, _)) => {
                let reference = self
                    .selection
                    .fill(template, &BTreeMap::new(), &mut self.report);
                let Some(reference) = reference else {
                    return none;
                };
                let Some(fact) = self.facts.images.get(&reference) else {
                    if self.selection.assumed {
                        return (Start::Image(reference), Inherited::default());
                    }
                    self.report.push(
                        Diagnostic::new(
                            rule::ENGINE,
                            format!("image `{reference}` was not resolved"),
                        )
                        .at(&template.span, "needed here"),
                    );
                    return none;
                };
                let mut config = fact.config.clone();
                config.respell(&self.variables);
                let workdir = match self.spelling {
                    Spelling::Windows(_) => windows::path::working_dir(&config.working_dir),
                    Spelling::Linux => config.working_dir.clone(),
                };
                let inherited = Inherited {
                    env: config.env_map(),
                    user: config.user.clone(),
                    workdir,
                    empty: fact.source == super::ImageSource::Scratch,
                    placed: Vec::new(),
                    config,
                    os_version: fact.os_version.clone(),
                    annotations: BTreeMap::new(),
                };
                (Start::Image(reference), inherited)
            }
            Some(from @ (From::Stage(_) | From::First(_) | From::Slot(_))) => {
                let name = self.selection.setting.start(from);
                match name.and_then(|name| self.index.get(name.value.as_str())) {
                    Some(&index) => (Start::Stage(index), self.inherited[index].clone()),
                    None => none,
                }
            }
        }
    }

    fn product(&mut self, stage: &Stage, start: &Start) -> Product {
        if let Start::Merge(merge) = start {
            return Product::Tree(merge.paths());
        }
        if stage.tree.is_empty() {
            return Product::Root;
        }
        let mut paths: Vec<TreePath> = stage
            .tree
            .iter()
            .filter_map(|entry| self.tree_path(entry))
            .collect();
        paths.sort();
        paths.dedup();
        if paths.is_empty() && self.report.is_empty() {
            let lane = self.selection.setting.name;
            let message = format!("the tree has no path in lane `{lane}`");
            let span = stage
                .tree
                .first()
                .map_or(&stage.span, |entry| &entry.at.span);
            self.report.push(
                Diagnostic::new(rule::VALUE, message)
                    .at(span, "no entry's `when` holds")
                    .related(&stage.span, "this stage"),
            );
        }
        Product::Tree(paths)
    }

    fn tree_path(&mut self, entry: &TreeEntry) -> Option<TreePath> {
        if !self.selection.setting.holds(entry.when.as_ref()) {
            return None;
        }
        let none = BTreeMap::new();
        let report = &mut self.report;
        let text = self.selection.fill(&entry.at, &none, report)?;
        let path = TreePath::parse(&text, &entry.at.span, &mut self.spelling, report)?;
        let mut patterns = |templates: &[Template]| {
            let filled = templates.iter().map(|template| {
                let text = self.selection.fill(template, &none, report)?;
                super::tree::below(&text, &template.span, report)
            });
            // All of them, so that everything wrong is said at once.
            let all = filled.collect::<Vec<Option<String>>>();
            all.into_iter().collect::<Option<Vec<String>>>()
        };
        let (only, except) = (patterns(&entry.only), patterns(&entry.except));
        let (only, except) = (only?, except?);
        path.some_of(only, except, &entry.at.span, &self.spelling, report)
    }

    /// The paths of a tree; none for a root.
    pub(super) fn paths(&self, stage: StageIndex) -> &[TreePath] {
        match &self.stages[stage].product {
            Product::Tree(paths) => paths,
            Product::Root => &[],
        }
    }

    /// The entries of `merge` or `add` that the lane has.
    fn parts(&self, parts: &'g [Part]) -> impl Iterator<Item = (&'g Part, StageIndex)> {
        parts
            .iter()
            .filter(|part| self.selection.setting.has_part(part))
            .filter_map(|part| Some((part, *self.index.get(part.stage.value.as_str())?)))
    }

    fn indices(&self, parts: &'g [Part]) -> Vec<StageIndex> {
        self.parts(parts).map(|(_, index)| index).collect()
    }

    fn trees_apart(&mut self, parts: &'g [Part]) {
        let trees: Vec<Tree<'_>> = self
            .parts(parts)
            .map(|(part, index)| {
                let name = &part.stage;
                Tree {
                    stage: &name.value,
                    paths: self.paths(index),
                    span: &name.span,
                }
            })
            .collect();
        let mut report = Report::default();
        apart(&trees, &self.spelling, &mut report);
        self.report.extend(report);
    }
}

/// A step's product must not lie in what is mounted over the root: it would not be there after
/// the step.
fn writable(
    paths: &[TreePath],
    steps: &[super::PlannedStep],
    span: &Span,
    spelling: &Spelling,
    report: &mut Report,
) {
    for step in steps {
        let uses = step.uses.iter().map(|used| (used.at.as_str(), &used.span));
        let caches = step
            .cache
            .iter()
            .map(|cache| (cache.at.as_str(), &cache.span));
        let files = step.files.keys().map(|at| (at.as_str(), &step.span));
        let memory = step.tmpfs.iter().map(|(at, _)| (at.as_str(), &step.span));
        for (at, place) in uses.chain(caches).chain(files).chain(memory) {
            for path in paths
                .iter()
                .filter(|path| super::tree::inside(path.directory(), at))
            {
                report.push(
                    Diagnostic::new(
                        rule::OVERLAP,
                        format!(
                            "the tree path {} lies in a mount",
                            spelling.shown(path.as_str())
                        ),
                    )
                    .at(place, format!("mounted at {}", spelling.shown(at)))
                    .related(span, "the stage whose tree it is")
                    .help("what a step writes there is not in its root: mount it elsewhere"),
                );
            }
        }
    }
}

/// What a step gets as a copy is another stage's product, and not this one's by accident: a tree
/// path above it would take it in.
fn copied_apart(
    paths: &[TreePath],
    steps: &[super::PlannedStep],
    span: &Span,
    spelling: &Spelling,
    report: &mut Report,
) {
    for copied in steps.iter().flat_map(|step| &step.copies) {
        let places = copied.places();
        for path in paths {
            let above = |place: &&TreePath| {
                path.directory() != place.directory()
                    && super::tree::inside(place.directory(), path.directory())
                    && path.overlaps(place)
            };
            let Some(place) = places.iter().find(above) else {
                continue;
            };
            report.push(
                Diagnostic::new(
                    rule::COPIED,
                    format!(
                        "the tree path {} takes in what is copied to {}",
                        spelling.shown(path.as_str()),
                        spelling.shown(place.as_str())
                    ),
                )
                .at(&copied.span, "another stage's product")
                .related(span, "the stage whose tree it is")
                .help("let `tree` name narrower paths, or leave this one out: { at = \"…\", except = [\"…/**\"] }"),
            );
        }
    }
}

/// The paths of the context that the steps and gates read, each once.
fn context(
    stages: &[PlannedStage],
    gates: &[PlannedGate],
    output: Option<&PlannedOutput>,
) -> Vec<String> {
    let steps = || stages.iter().flat_map(|stage| &stage.steps);
    let files = steps().flat_map(|step| step.files.values().flatten());
    let files = files.filter_map(|file| match file {
        StepFile::Context { from, .. } => Some(from),
        StepFile::Git { .. }
        | StepFile::Payload { .. }
        | StepFile::Fetch { .. }
        | StepFile::Script { .. } => None,
    });
    let copied = steps().filter_map(|step| match &step.work {
        Work::File(FileWork::Copy(FileCopy {
            from: CopySource::Context { path, .. },
            ..
        })) => Some(path),
        _ => None,
    });
    let beside = match output {
        Some(PlannedOutput::Product { add, .. }) => add.as_slice(),
        Some(PlannedOutput::Gates) | None => &[],
    };
    let beside = beside.iter().map(|(from, _)| from);
    let reports = gates.iter().filter_map(|gate| gate.report.as_ref());
    let paths = files.chain(copied).chain(beside).chain(reports);
    let paths: BTreeSet<&String> = paths.collect();
    paths.into_iter().cloned().collect()
}
