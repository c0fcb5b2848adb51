//! Plan → LLB. One vertex for each thing that has a key:
//!
//! - a step's files are one copy with normalised modes, so that neither a umask nor an unlisted
//!   file is in its key;
//! - a step is one exec;
//! - a tree is one copy out of the root after the steps: it drops what is not the product and
//!   stops a re-run that made the same bytes;
//! - a gate is an inspect and an assert, and its product goes on through a seal (`gate.rs`).
//!
//! Names, lines and the wish to ignore the cache are metadata: no key has them.

mod fetch;
mod file_step;
mod gate;
mod git;
mod merge;
mod payload;
mod step;
mod tree;
mod windows;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::num::NonZeroU64;

use llb::proto::pb::LinuxResources;
use llb::{
    Caps, Copy, Error, Image, Local, Location, Metadata, OciLayout, Output, Platform, Range,
    SourceFile, caps,
};

use crate::diag::{Diagnostic, Report, SourceId, Sources, Span, rule};
use crate::ignore::Ignore;
use crate::plan::{
    Facts, ImageSource, Plan, PlannedOutput, PlannedStage, PlannedStep, Product, StageIndex, Start,
};

/// What the way in brings: everything about the engine and the caller that is not in the file.
pub struct Host<'a> {
    /// What the engine can do.
    pub caps: &'a Caps,
    /// Where the context comes from.
    pub context: Context,
    /// The files that have the payloads which are there, by name.
    pub payloads: &'a BTreeMap<String, Output>,
    /// Where `lanegate` comes from; gates cannot run without it.
    pub lanegate: Option<Output>,
    /// What gates run on: the engine's own platform.
    pub worker: Platform,
    /// Which stages, gates and steps (`STAGE/STEP`) ignore the cache, by name.
    pub no_cache: &'a dyn Fn(&str) -> bool,
    /// What the caller demands of every step.
    pub exec: ExecOptions,
}

/// Where the context comes from. Local sources carry an id: without one, two builds at a time
/// would share a vertex, and one would get the other client's files.
#[derive(Debug, Clone)]
pub enum Context {
    /// The client's directory of this session.
    Session(String),
    /// Something that is there already: a git or http context.
    Output(Output),
}

/// What the caller demands of every step. Each of these enters the keys of all steps, because
/// the engine puts it there, unless it says otherwise.
#[derive(Debug, Clone, Default)]
pub struct ExecOptions {
    /// Network for all steps that have one.
    pub network: Option<llb::Network>,
    /// Extra hosts.
    pub hosts: Vec<(String, IpAddr)>,
    /// Limits: name, soft, hard.
    pub ulimits: Vec<(String, i64, i64)>,
    /// Parent of the control groups.
    pub cgroup_parent: String,
    /// Limits of memory and processors; in no key.
    pub resources: Option<LinuxResources>,
    /// Size of `/dev/shm` in bytes.
    pub shm_size: Option<NonZeroU64>,
    /// What stands in front of the ids of cache mounts, with a `/` between; in no key, unless an id is its mount's place.
    pub cache_namespace: String,
    /// Host name.
    pub hostname: String,
    /// Proxies; in no key.
    pub proxy: Option<llb::Proxy>,
}

impl ExecOptions {
    /// What the engine calls a cache of this id.
    pub(crate) fn cache_id(&self, id: &str) -> String {
        match self.cache_namespace.as_str() {
            "" => id.to_owned(),
            namespace => format!("{namespace}/{id}"),
        }
    }
}

/// A build as LLB.
#[derive(Debug)]
pub struct Lowered {
    /// The sealed output.
    pub result: Output,
    /// The image config for it, as JSON.
    pub config: Vec<u8>,
    /// What the result is for: `linux/amd64`, `windows(10.0.20348.2113)/amd64`.
    pub platform: String,
    /// The tag that the lane suggests for it.
    pub tag: Option<String>,
    /// The gates behind the seal, by name.
    pub gates: Vec<LoweredGate>,
    /// What the result is attested with, when that is wanted and gates decide on it.
    pub attested: Option<Attested>,
}

/// What gates say of a result, as in-toto predicates.
#[derive(Debug, Clone)]
pub struct Attested {
    /// Holds a predicate of [`PREDICATE_TYPE`] for each gate. It can be made only of green verdicts, and of red ones
    /// that advise.
    pub made: Output,
    /// Where it holds each: `/NAME.json`. No two have one name, as exporters want.
    pub paths: Vec<String>,
}

/// The vertices of a gate that others read.
#[derive(Debug, Clone)]
pub struct LoweredGate {
    /// Its name.
    pub name: String,
    /// Holds [`REPORT`]: what was seen.
    pub inspect: Output,
    /// Holds [`VERDICT`]: the report with its verdict; there also when the gate is red.
    pub assert: Output,
    /// Where the two hold it: `/`, or a directory with a `/` at its end.
    pub at: &'static str,
    /// Of the policy that it is asserted against.
    pub policy: llb::Digest,
    /// Where it is declared.
    pub span: Span,
}

pub use gate::{PREDICATE_TYPE, REPORT, VERDICT};
pub use git::git;
pub use payload::payload_of_client;

/// Makes the LLB of a plan.
///
/// # Errors
/// What the engine cannot do, and what no op can say; each with the lines that want it.
pub fn lower(
    plan: &Plan,
    facts: &Facts,
    sources: &Sources,
    host: &Host<'_>,
) -> Result<Lowered, Report> {
    let lines = Lines::new(sources);
    let platform: Platform = plan.platform.parse().map_err(|e: Error| {
        Report::from(Diagnostic::new(
            rule::VALUE,
            format!("`{}`: {e}", plan.platform),
        ))
    })?;
    let mut lowering = Lowering {
        plan,
        facts,
        host,
        lines,
        platform,
        context: context(plan, host)?,
        base: None,
        products: Vec::new(),
        gates: vec![None; plan.gates.len()],
        seals: BTreeMap::new(),
    };
    lowering.demands()?;
    lowering.limits()?;
    for (index, stage) in plan.stages.iter().enumerate() {
        let product = lowering
            .stage(index, stage)
            .map_err(|e| e.within(&stage.span))?;
        lowering.products.push(product);
    }
    lowering.finish()
}

/// The client's files that any step reads. What is not listed is not even sent.
fn context(plan: &Plan, host: &Host<'_>) -> Result<Option<Output>, Failed> {
    if plan.context.is_empty() {
        return Ok(None);
    }
    Ok(Some(match &host.context {
        Context::Output(output) => output.clone(),
        Context::Session(session) => client_files(&plan.context, session, None)?,
    }))
}

/// Paths of the client's directory, without what an ignore file takes out of them.
///
/// # Errors
/// The session is empty or no id.
pub fn client_files(
    paths: &[String],
    session: &str,
    ignore: Option<&Ignore>,
) -> Result<Output, Error> {
    let files = Local::of_session("context", session)?
        .follow(paths.iter().cloned())
        .exclude(ignore.into_iter().flat_map(Ignore::patterns))
        // An own hint: another frontend syncs the same directory with other patterns.
        .shared_key_hint("lanekit-context")
        .metadata(Metadata::named("[internal] load build context"));
    Ok(files.build())
}

/// Directories of the client's directory, with nothing of what is in them: enough to see whether they are there.
///
/// # Errors
/// The session is empty or no id.
pub fn client_directories(
    paths: &BTreeSet<String>,
    session: &str,
    ignore: Option<&Ignore>,
) -> Result<Output, Error> {
    let emptied = paths.iter().flat_map(|path| {
        // The last pattern that matches counts: what is below another directory of these comes after that one.
        let back = paths.iter().any(|other| below(path, other));
        let back = back.then(|| format!("!{path}"));
        back.into_iter().chain([format!("{path}/*")])
    });
    let ignored = ignore.into_iter().flat_map(Ignore::patterns);
    let names = Local::of_session("context", session)?
        .follow(paths.iter().cloned())
        .exclude(ignored.map(str::to_owned).chain(emptied))
        .shared_key_hint("lanekit-directories")
        .metadata(Metadata::named("[internal] look for directories"));
    Ok(names.build())
}

fn below(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory)
        .is_some_and(|rest| rest.starts_with('/'))
}

/// Why something could not be lowered.
struct Failed(Box<Diagnostic>);

impl Failed {
    fn new(rule: crate::diag::Rule, message: impl Into<String>) -> Self {
        Self(Box::new(Diagnostic::new(rule, message)))
    }

    /// The lines that want it, unless nearer ones are known.
    fn within(mut self, span: &Span) -> Self {
        self.0
            .at
            .get_or_insert_with(|| (span.clone(), "here".to_owned()));
        self
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::new(rule::ENGINE, error.to_string())
    }
}

impl From<Failed> for Report {
    fn from(failed: Failed) -> Self {
        Self::from(*failed.0)
    }
}

/// A base image.
#[derive(Clone)]
struct Base {
    root: Output,
    platform: Platform,
}

/// Everything that lowering needs to know, and what it has made so far.
struct Lowering<'a> {
    plan: &'a Plan,
    facts: &'a Facts,
    host: &'a Host<'a>,
    lines: Lines,
    platform: Platform,
    context: Option<Output>,
    /// The first base image.
    base: Option<Base>,
    /// The product of each stage; `None` is an empty file system.
    products: Vec<Option<Output>>,
    /// The vertices of each gate, once something needed them.
    gates: Vec<Option<LoweredGate>>,
    /// A product behind the gates that hold a consumer back: by product and those gates.
    seals: BTreeMap<(StageIndex, Vec<usize>), Output>,
}

impl Lowering<'_> {
    fn stage(&mut self, index: StageIndex, stage: &PlannedStage) -> Result<Option<Output>, Failed> {
        let mut root = match &stage.start {
            Start::Scratch => None,
            Start::Image(reference) => self.image(reference, stage)?,
            Start::Stage(from) => self.products[*from].clone(),
            // Consumers take each path from the part that has it; what is said of absent parts has none.
            Start::Merge(merge) if self.on_windows() => return self.markers(stage, merge),
            Start::Merge(merge) => return self.merge(index, stage, merge).map(Some),
        };
        if !stage.add.is_empty() {
            root = Some(self.add(index, stage, root)?);
        }
        for step in &stage.steps {
            let made = self
                .step(index, stage, step, root)
                .map_err(|e| e.within(&step.span))?;
            root = Some(made);
        }
        match (&stage.product, root) {
            (Product::Tree(_), root) if self.on_windows() => Ok(root),
            (Product::Tree(paths), Some(root)) => self.tree(stage, paths, &root).map(Some),
            (Product::Tree(_), None) => {
                let text = format!("stage `{}` is empty: nothing makes its tree", stage.name);
                Err(Failed::new(rule::VALUE, text))
            }
            (Product::Root, root) => Ok(root),
        }
    }

    fn image(&mut self, reference: &str, stage: &PlannedStage) -> Result<Option<Output>, Failed> {
        let Some(fact) = self.facts.images.get(reference) else {
            let text = format!("image `{reference}` was not resolved");
            return Err(Failed::new(rule::ENGINE, text));
        };
        let metadata = self.metadata(format!("[{}] from {reference}", stage.name), &stage.span);
        let platform = self.platform_of(stage);
        let image = match &fact.source {
            ImageSource::Scratch => None,
            ImageSource::Files(files) => Some(files.clone()),
            ImageSource::Registry { reference } => Some(
                Image::new(reference.parse()?, platform)
                    .metadata(metadata)
                    .build(),
            ),
            ImageSource::OciLayout {
                reference,
                session,
                store,
            } => {
                let layout = OciLayout::new(reference.parse()?, session, store, platform)?;
                Some(layout.metadata(metadata).build())
            }
        };
        if let (None, Some(image)) = (&self.base, &image) {
            self.base = Some(Base {
                root: image.clone(),
                platform: self.platform_of(stage),
            });
        }
        Ok(image)
    }

    /// What has a path of the product of `producer`, for `consumer`, and the path that it has
    /// there: behind a seal when a gate holds the consumer.
    fn part_for(
        &mut self,
        consumer: StageIndex,
        producer: StageIndex,
        path: &str,
    ) -> Result<(Output, String), Failed> {
        let (owner, path) = self.source(producer, path);
        let product = self.product_at(owner, &path)?;
        // Who asks for the reports wants them also behind a gate that is red.
        let sealing = !matches!(self.plan.output, PlannedOutput::Gates);
        let holding: Vec<usize> = (0..self.plan.gates.len())
            .filter(|_| sealing)
            .filter(|&gate| {
                let gate = &self.plan.gates[gate];
                (gate.of == producer || gate.of == owner) && gate.hold.contains(&consumer)
            })
            .collect();
        if holding.is_empty() {
            Ok((product, path))
        } else {
            Ok((self.held(owner, product, holding)?, path))
        }
    }

    /// The product of a stage, of which `path` is wanted.
    fn product_at(&self, stage: StageIndex, path: &str) -> Result<Output, Failed> {
        let planned = &self.plan.stages[stage];
        let name = &planned.name;
        match &planned.start {
            // What none of its parts has is there as a marker, or is several of them.
            Start::Merge(merge) if self.on_windows() && !merge.marks(path) => {
                let place = self.place(path);
                let text = format!(
                    "`{place}` is several trees of `{name}`, and Windows has no merge: take them one by one"
                );
                return Err(Failed::new(rule::NOT_ON_WINDOWS, text));
            }
            _ => {}
        }
        self.products[stage].clone().ok_or_else(|| {
            let text = format!("stage `{name}` is empty: nothing makes its product");
            Failed::new(rule::VALUE, text)
        })
    }

    fn finish(mut self) -> Result<Lowered, Report> {
        match &self.plan.output {
            PlannedOutput::Gates => {
                let result = self.reports()?;
                let platform = self.platform.clone();
                let config = crate::plan::ImageConfig::default();
                self.lowered(result, &config, platform)
            }
            PlannedOutput::Product {
                stage,
                root,
                add,
                config,
                attest,
                span,
                ..
            } => {
                let (product, platform) = self
                    .exported(*stage, root.as_deref(), add, span)
                    .map_err(|e| e.within(span))?;
                let sealed = self.sealed(product).map_err(|e| e.within(span))?;
                let attested = match attest {
                    true => self.attested().map_err(|e| e.within(span))?,
                    false => None,
                };
                let lowered = self.lowered(sealed, config, platform)?;
                Ok(Lowered {
                    attested,
                    ..lowered
                })
            }
        }
    }

    /// What goes out, and what it is for.
    fn exported(
        &mut self,
        stage: StageIndex,
        root: Option<&str>,
        add: &[(String, String)],
        span: &Span,
    ) -> Result<(Output, Platform), Failed> {
        let planned = &self.plan.stages[stage];
        let tree = matches!(planned.product, Product::Tree(_));
        if self.on_windows() && (tree || root.is_some()) {
            return self.on_base(stage, root, add, span);
        }
        let platform = self.platform_of(planned);
        let Some(product) = self.products[stage].clone() else {
            let text = "the output is empty: no step makes anything";
            return Err(Failed::new(rule::VALUE, text));
        };
        Ok(match root {
            Some(root) => (self.bundle(&product, root, add, span)?, platform),
            None => (product, platform),
        })
    }

    fn lowered(
        self,
        result: Output,
        config: &crate::plan::ImageConfig,
        platform: Platform,
    ) -> Result<Lowered, Report> {
        let mut report = Report::default();
        for missing in result.missing(self.host.caps) {
            let what = missing.name.as_deref().unwrap_or("a vertex");
            report.push(
                Diagnostic::new(
                    rule::ENGINE,
                    format!("this engine does not have `{}`", missing.cap),
                )
                .help(format!("`{what}` needs it: use a newer engine")),
            );
        }
        let gates = self.gates.into_iter().flatten().collect();
        let platform = platform.to_string();
        let config = config.to_image(&platform);
        let tag = match &self.plan.output {
            PlannedOutput::Product { tag, .. } => tag.clone(),
            PlannedOutput::Gates => None,
        };
        report.into_result(Lowered {
            result,
            config,
            platform,
            tag,
            gates,
            attested: None,
        })
    }

    /// Whether the engine has the limits that the caller puts on steps. BuildKit's own frontend leaves them out where it has
    /// not: then a build has more than it was allowed.
    fn limits(&self) -> Result<(), Failed> {
        let cap = caps::EXEC_META_LINUX_RESOURCES;
        if self.host.exec.resources.is_none() || self.host.caps.supports(cap) {
            return Ok(());
        }
        let text = "this engine cannot limit memory and processors of steps";
        let help = format!(
            "leave the limits out, or use an engine that has `{}`",
            cap.name()
        );
        let wrong = Diagnostic::new(rule::ENGINE, text).help(help);
        Err(Failed(Box::new(wrong)))
    }

    fn metadata(&self, name: String, span: &Span) -> Metadata {
        Metadata::named(name).at(self.lines.location(span))
    }

    fn stage_metadata(&self, name: String, span: &Span, stage: &str) -> Metadata {
        self.metadata(name, span)
            .ignore_cache((self.host.no_cache)(stage))
    }

    fn step_metadata(&self, what: &str, stage: &PlannedStage, step: &PlannedStep) -> Metadata {
        let step_name = format!("{}/{}", stage.name, step.name);
        let ignore = (self.host.no_cache)(&stage.name) || (self.host.no_cache)(&step_name);
        self.metadata(format!("[{step_name}] {what}"), &step.span)
            .ignore_cache(ignore)
    }
}

/// Lines of the files, as ops carry them.
struct Lines {
    files: BTreeMap<SourceId, SourceFile>,
    sources: Sources,
}

impl Lines {
    fn new(sources: &Sources) -> Self {
        let files = sources
            .iter()
            .map(|(id, source)| {
                (
                    id,
                    SourceFile::new(&source.name, "TOML", source.text.as_bytes()),
                )
            })
            .collect();
        Self {
            files,
            sources: sources.clone(),
        }
    }

    fn location(&self, span: &Span) -> Location {
        let (first, last) = self.sources.lines(span);
        Location::new(&self.files[&span.source], [Range::lines(first, last)])
    }
}

/// A copy of one path of a root to the same place, without what is not of the product.
fn copy_some(from: &Output, path: &crate::plan::TreePath) -> Copy {
    copy_path(from, path)
        .include(path.only())
        .exclude(path.except())
}

/// A plain copy of one path to the same place.
fn copy_path(from: &Output, path: &crate::plan::TreePath) -> Copy {
    let parent = match path.as_str().rsplit_once('/') {
        Some((parent, _)) => format!("{parent}/"),
        None => "/".to_owned(),
    };
    // Into its parent, not its contents into a new directory: that would lose its mode and owner.
    let copy = Copy::new(from.clone(), path.as_str(), parent).make_parents();
    if path.is_pattern() {
        copy.wildcard(false)
    } else {
        copy
    }
}
