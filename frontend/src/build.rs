//! One build in an engine: from the options to the answer.
//!
//! Read the lane file and its pins, check the graph, choose the lane, look its images up, plan, make LLB, and hand
//! all of it to the engine in one Solve: only what is in that one result is in exported caches too.

mod attest;
mod context;
mod files;
mod gits;
mod images;
mod keys;
mod missing;
mod payloads;
mod remote;
mod request;
mod several;
mod verdicts;
mod warn;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::NonZeroU64;
use std::path::Path;

use llb::proto::pb;
use llb::{Definition, Output, Platform};
use prost::Message as _;
use stages::diag::{Diagnostic, Report, Sources, Span, rule, suggest};
use stages::graph::Graph;
use stages::lower::{self, Context, ExecOptions, Host, Lowered, LoweredGate};
use stages::plan::{self, Facts, Plan, PlannedOutput, Request};

use crate::gateway::bridge::{Attestation, Bridge, Built, Evaluate, Outcome, Ref};
use crate::gateway::error::Failure;
use crate::gateway::join::join_all;
use crate::gateway::opts::{NoCache, Opts};
use crate::gateway::{frontend_image, wrong};
use crate::lanefile::{Loaded, Wrong};
use crate::policies;

/// Builds what the environment of the process asks for. `image` is where the definition of the frontend's own image is.
///
/// # Errors
/// Whatever stands in the way of the build, with the lines that it is about.
pub async fn run(
    bridge: &Bridge,
    env: impl IntoIterator<Item = (OsString, OsString)>,
    image: &Path,
) -> Outcome {
    let opts = Opts::from_env(env).map_err(|errors| Failure::new(errors.to_string()))?;
    if let Some(answer) = opts.request.as_deref().and_then(request::without_file) {
        return answer;
    }
    let inputs = bridge.inputs().await?;
    let main = context::main(bridge, &opts, &inputs).await?;
    let given = Given {
        bridge,
        opts: &opts,
        inputs: &inputs,
        image,
    };
    if let Some(id) = &opts.request {
        return request::answer(&given, &main, id).await;
    }
    let files::Read {
        loaded,
        vertex,
        made,
    } = files::read(bridge, &opts, &main).await?;
    let build = given.build(&loaded.sources);
    build.names_to_run_anew(&loaded.graph)?;
    let requests = plan::requests(&loaded.graph, &asked(&opts, &loaded))
        .map_err(|report| build.wrong(report))?;
    let parts = several::parts(opts.multi_platform, &requests)?;
    // Everything is planned before anything runs.
    let mut planned = Vec::new();
    let options = build.exec_options();
    // What is doubted of the graph is said once.
    let mut doubts = loaded.warnings.clone();
    for request in &requests {
        let (plan, facts, used, payloads) =
            build.plan(&loaded, request, main.files.as_ref()).await?;
        build.warn(&vertex, &doubts, &plan, &facts, &used).await;
        doubts = Report::default();
        let context = build.context(&plan, main.files.as_ref(), &made).await?;
        let keys = keys::metadata(&loaded, request, &plan, &facts, &options);
        planned.push((plan, facts, context, payloads, keys));
    }
    let solves = planned
        .iter()
        .map(|(plan, facts, context, payloads, keys)| async {
            let solved = build.solve(plan, facts, context, payloads, &vertex).await?;
            Ok(Solved {
                keys: keys.clone(),
                ..solved
            })
        });
    let solved = join_all(solves).await.into_iter();
    let mut solved = solved.collect::<Result<Vec<Solved>, Failure>>()?;
    match parts {
        false => Ok(solved.remove(0).built()),
        true => several::together(solved),
    }
}

/// What a lane came to.
#[derive(Clone)]
struct Solved {
    lane: String,
    result: Ref,
    platform: Platform,
    /// The image config.
    config: Vec<u8>,
    /// What makes its keys.
    keys: Vec<u8>,
    /// What its gates said.
    summary: Option<Vec<u8>>,
    /// The same as statements about the image, where they are wanted.
    attestations: Vec<Attestation>,
    annotations: BTreeMap<String, String>,
    tag: Option<String>,
    unpublishable: Vec<String>,
    /// Whether it is a product, and not reports.
    output: bool,
}

impl Solved {
    /// The result of this one lane.
    fn built(self) -> Built {
        let platforms = serde_json::json!({ "Platforms": [several::entry(&self.platform)] });
        let mut metadata = BTreeMap::from([
            ("containerimage.config".to_owned(), self.config),
            (
                "refs.platforms".to_owned(),
                platforms.to_string().into_bytes(),
            ),
        ]);
        metadata.insert("frontend.lanekit.keys".to_owned(), self.keys);
        if let Some(summary) = self.summary {
            metadata.insert("frontend.lanekit.gates".to_owned(), summary);
        }
        if self.output {
            metadata.insert(
                "frontend.lanekit.publishable".to_owned(),
                verdicts::publishable(&self.unpublishable),
            );
        }
        for (name, value) in self.annotations {
            metadata.insert(format!("annotation.{name}"), value.into_bytes());
        }
        if let Some(tag) = self.tag {
            metadata.insert("frontend.lanekit.tag".to_owned(), tag.into_bytes());
        }
        Built {
            result: self.result.into(),
            metadata,
            attestations: attest::by_platform([(&self.platform, self.attestations)]),
        }
    }
}

/// What there is before a lane file was read.
struct Given<'a> {
    bridge: &'a Bridge,
    opts: &'a Opts,
    inputs: &'a BTreeMap<String, pb::Definition>,
    image: &'a Path,
}

impl<'a> Given<'a> {
    fn build<'s>(&self, sources: &'s Sources) -> Build<'s>
    where
        'a: 's,
    {
        Build {
            bridge: self.bridge,
            opts: self.opts,
            inputs: self.inputs,
            sources,
            image: self.image,
        }
    }
}

/// What every part of a build needs.
struct Build<'a> {
    bridge: &'a Bridge,
    opts: &'a Opts,
    /// Results of other builds, by name.
    inputs: &'a BTreeMap<String, pb::Definition>,
    sources: &'a Sources,
    image: &'a Path,
}

impl Build<'_> {
    /// The plan of what was asked for, the keys of the named contexts that it takes anything from, and the files of
    /// payloads.
    async fn plan(
        &self,
        loaded: &Loaded,
        request: &Request,
        context: Option<&Output>,
    ) -> Result<(Plan, Facts, Vec<String>, BTreeMap<String, Output>), Failure> {
        let selected = plan::select(&loaded.graph, request).map_err(|report| self.wrong(report))?;
        let mut facts = Facts::default();
        let payloads = self.payloads(&selected, context, &mut facts).await?;
        let selection = selected.knowing(&facts);
        let wanted = selection.images().map_err(|report| self.wrong(report))?;
        let platform = platform(&selection.setting.lane.platform.value).map_err(|failure| {
            failure.with_lines(self.sources, &selection.setting.lane.platform.span)
        })?;
        let gits = selection.gits().map_err(|report| self.wrong(report))?;
        let mut used = self
            .images(
                &wanted,
                &platform,
                |image| selection.pull(image),
                &mut facts,
            )
            .await?;
        used.extend(payloads.contexts);
        facts.gits = self.gits(&gits).await?;
        let mut plan = plan::plan(&selection, &facts).map_err(|report| self.wrong(report))?;
        policies::check(&plan).map_err(|report| self.wrong(report))?;
        if let PlannedOutput::Product { config, .. } = &mut plan.output {
            config.labels.extend(self.opts.labels.clone());
        }
        Ok((plan, facts, used, payloads.files))
    }

    async fn solve(
        &self,
        plan: &Plan,
        facts: &Facts,
        context: &Context,
        payloads: &BTreeMap<String, Output>,
        vertex: &llb::Digest,
    ) -> Result<Solved, Failure> {
        let lanegate = if plan.needs_lanegate() {
            frontend_image::output(self.image)?
        } else {
            None
        };
        let lower = |no_cache: &NoCache| {
            let covers = |name: &str| no_cache.covers(name);
            let host = Host {
                caps: self.bridge.caps(),
                context: context.clone(),
                payloads,
                lanegate: lanegate.clone(),
                worker: self.worker(plan)?,
                no_cache: &covers,
                exec: self.exec_options(),
            };
            lower::lower(plan, facts, self.sources, &host).map_err(|report| self.wrong(report))
        };
        let lowered = lower(&self.opts.no_cache)?;
        let definition = Definition::new(&lowered.result);
        let solved = self
            .bridge
            .solve(definition.to_pb(), Evaluate::Now, &self.opts.cache_imports)
            .await;
        // To ignore the cache is a wish for the one Solve above: in a second one it would run steps and empty their
        // cache mounts again.
        let again = if self.opts.no_cache == NoCache::No {
            lowered
        } else {
            lower(&NoCache::No)?
        };
        let result = match solved {
            Ok(result) => result,
            Err(failure) => return Err(self.failed(failure, &definition, &again, plan).await),
        };
        let verdicts = self
            .verdicts(&again.gates.iter().collect::<Vec<_>>())
            .await
            .into_iter()
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Solved {
            lane: plan.lane.clone(),
            result,
            platform: platform(&again.platform)?,
            config: again.config.clone(),
            keys: Vec::new(),
            summary: verdicts::summary(&verdicts),
            attestations: self.attestations(again.attested.as_ref(), vertex).await?,
            annotations: plan.annotations.clone(),
            tag: again.tag.clone(),
            unpublishable: plan.unpublishable.clone(),
            output: matches!(plan.output, PlannedOutput::Product { .. }),
        })
    }

    /// What is returned when the Solve failed: the engine's error, with lines, and with what red gates found.
    async fn failed(
        &self,
        failure: Failure,
        definition: &Definition,
        lowered: &Lowered,
        plan: &Plan,
    ) -> Failure {
        let mut failure = failure;
        // The verdicts that the failed vertex waited for are there. Those of other gates may not be, and to ask for them
        // would run steps.
        let gates = failure
            .vertex()
            .map(|vertex| sealed_by(definition, &vertex, lowered))
            .unwrap_or_default();
        let red = verdicts::red(&self.verdicts(&gates).await);
        if !red.is_empty() {
            failure = failure.after(&red);
        }
        // The engine says what is not allowed, and not which step wants it.
        let refused = |name: &str| {
            failure.message().contains(name) && failure.message().contains("not allowed")
        };
        let mut wanted = plan.entitlements().into_iter();
        if let Some((name, span)) = wanted.find(|(name, _)| refused(name)) {
            let lines = failure.with_lines(self.sources, span);
            return lines.context(format!("a step needs --allow {name}"));
        }
        // Nor what to do about a secret or an agent that nobody passed.
        if let Some((what, span)) = missing::to_pass(plan, failure.message()) {
            return failure.with_lines(self.sources, span).context(what);
        }
        match &plan.output {
            PlannedOutput::Product { span, .. } if !failure.has_source() => {
                failure.with_lines(self.sources, span)
            }
            _ => failure,
        }
    }

    /// What gates run on: the engine's own platform.
    fn worker(&self, plan: &Plan) -> Result<Platform, Failure> {
        let own = self
            .bridge
            .workers()
            .iter()
            .flat_map(|worker| &worker.platforms)
            .next();
        own.map_or_else(|| platform(&plan.platform), |own| Ok(own.clone()))
    }

    fn exec_options(&self) -> ExecOptions {
        let opts = self.opts;
        ExecOptions {
            network: opts.network,
            hosts: opts.hosts.clone(),
            ulimits: opts
                .ulimits
                .iter()
                .map(|limit| (limit.name.clone(), limit.soft, limit.hard))
                .collect(),
            cgroup_parent: opts.cgroup_parent.clone().unwrap_or_default(),
            resources: opts.resources.clone(),
            shm_size: opts.shm_size.and_then(NonZeroU64::new),
            cache_namespace: opts.cache_namespace.clone().unwrap_or_default(),
            hostname: opts.hostname.clone().unwrap_or_default(),
            proxy: (opts.proxy != llb::Proxy::default()).then(|| opts.proxy.clone()),
        }
    }

    /// Whether everything that `--no-cache-filter` names is there. A name that is not would be dropped in silence.
    fn names_to_run_anew(&self, graph: &Graph) -> Result<(), Failure> {
        let NoCache::Only(names) = &self.opts.no_cache else {
            return Ok(());
        };
        let steps = graph.stages.iter().flat_map(|(stage, declared)| {
            let steps = declared.steps.iter();
            steps.map(move |step| format!("{stage}/{}", step.name.value))
        });
        let steps: Vec<String> = steps.collect();
        let known = || {
            let declared = graph.stages.keys().chain(graph.gates.keys());
            declared.chain(&steps).map(String::as_str)
        };
        let mut report = Report::default();
        for name in names {
            if known().any(|known| known.to_lowercase() == *name) {
                continue;
            }
            let message = format!("--no-cache-filter: there is no stage, step or gate `{name}`");
            report.push(
                Diagnostic::new(rule::REQUEST, message)
                    .at(&graph.table.span, "this graph")
                    .help(suggest(name, known().collect::<Vec<_>>())),
            );
        }
        report.into_result(()).map_err(|report| self.wrong(report))
    }

    fn wrong(&self, report: Report) -> Failure {
        Wrong {
            sources: self.sources.clone(),
            report,
        }
        .into()
    }
}

/// What the options ask of a graph.
fn asked(opts: &Opts, loaded: &Loaded) -> Request {
    let mut args = opts.args.clone();
    // The engine's exporters apply it by themselves; steps see it only where the file declares it.
    let epoch = "SOURCE_DATE_EPOCH";
    if let (Some(seconds), true) = (
        opts.source_date_epoch,
        loaded.graph.args.contains_key(epoch),
    ) {
        args.insert(epoch.to_owned(), seconds.to_string());
    }
    Request {
        target: opts.target.clone(),
        args,
        platforms: opts.platforms.iter().map(Platform::to_string).collect(),
        group: None,
    }
}

impl Failure {
    /// The same failure, also about the lines of a span.
    fn with_lines(self, sources: &Sources, span: &Span) -> Self {
        self.with_source(
            &wrong::source_file(sources, span),
            &[wrong::range(sources, span)],
        )
    }
}

fn platform(text: &str) -> Result<Platform, Failure> {
    text.parse()
        .map_err(|error: llb::Error| Failure::new(error.to_string()))
}

/// The gates whose verdicts a vertex of the definition waits for: none, unless it is a seal.
fn sealed_by<'a>(
    definition: &Definition,
    vertex: &str,
    lowered: &'a Lowered,
) -> Vec<&'a LoweredGate> {
    let is_it = |bytes: &&Vec<u8>| llb::Digest::of(bytes).to_string() == vertex;
    let Some(Ok(op)) = definition
        .as_pb()
        .def
        .iter()
        .find(is_it)
        .map(|bytes| pb::Op::decode(bytes.as_slice()))
    else {
        return Vec::new();
    };
    let waits_for = |gate: &&LoweredGate| {
        op.inputs
            .iter()
            .any(|input| input.digest == gate.assert.digest().to_string())
    };
    lowered.gates.iter().filter(waits_for).collect()
}

/// A platform as an image config has it.
fn platform_fields(platform: &Platform) -> BTreeMap<&'static str, &str> {
    let mut fields = BTreeMap::from([
        ("architecture", platform.architecture.as_str()),
        ("os", &platform.os),
    ]);
    let further = [
        ("variant", platform.variant.as_str()),
        ("os.version", &platform.os_version),
    ];
    fields.extend(further.into_iter().filter(|(_, value)| !value.is_empty()));
    fields
}
