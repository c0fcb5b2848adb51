//! One build in an engine: from the options to the answer.
//!
//! Read the lane file and its pins, check the graph, choose the lane, look its images up, plan, make LLB, and hand
//! all of it to the engine in one Solve: only what is in that one result is in exported caches too.

mod files;
mod images;
mod refuse;
mod request;
mod verdicts;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use llb::proto::pb;
use llb::{Definition, Platform, SourceFile};
use prost::Message as _;
use stages::diag::{Report, Sources, Span};
use stages::lower::{self, Context, ExecOptions, Host, Lowered, LoweredGate};
use stages::plan::{self, Facts, Plan, PlannedOutput, Request};

use crate::gateway::bridge::{Bridge, Built, Evaluate, Outcome, Warning};
use crate::gateway::error::Failure;
use crate::gateway::opts::{NoCache, Opts};
use crate::gateway::{frontend_image, wrong};
use crate::lanefile::{Loaded, Wrong};

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
    refuse::check(&opts).map_err(|errors| Failure::new(errors.to_string()))?;
    let inputs = bridge.inputs().await?;
    if let Some(id) = &opts.request {
        let asked = |loaded: &Loaded| asked(&opts, loaded);
        return request::answer(bridge, &opts, &inputs, id, asked).await;
    }
    let files::Read { loaded, vertex } = files::read(bridge, &opts, &inputs).await?;
    let build = Build {
        bridge,
        opts: &opts,
        sources: &loaded.sources,
        image,
    };
    let (plan, facts, used) = build.plan(&loaded).await?;
    build.warn(&vertex, &used).await;
    let context = match files::given(&inputs, "context")? {
        None => Context::Session(opts.session_of("context").to_owned()),
        Some(context) => Context::Output(context),
    };
    build.solve(&plan, &facts, &context).await
}

/// What every part of a build needs.
struct Build<'a> {
    bridge: &'a Bridge,
    opts: &'a Opts,
    sources: &'a Sources,
    image: &'a Path,
}

impl Build<'_> {
    /// The plan of what was asked for, and the keys of the named contexts that it takes images from.
    async fn plan(&self, loaded: &Loaded) -> Result<(Plan, Facts, Vec<String>), Failure> {
        let request = asked(self.opts, loaded);
        let selection =
            plan::select(&loaded.graph, &request).map_err(|report| self.wrong(report))?;
        let wanted = selection.images().map_err(|report| self.wrong(report))?;
        let platform = platform(&selection.setting.lane.platform.value).map_err(|failure| {
            failure.with_lines(self.sources, &selection.setting.lane.platform.span)
        })?;
        let (facts, used) = self.images(&wanted, &platform).await?;
        let mut plan = plan::plan(&selection, &facts).map_err(|report| self.wrong(report))?;
        if let PlannedOutput::Product { config, .. } = &mut plan.output {
            config.labels.extend(self.opts.labels.clone());
        }
        Ok((plan, facts, used))
    }

    async fn solve(&self, plan: &Plan, facts: &Facts, context: &Context) -> Outcome {
        let lanegate = if plan.gates.is_empty() {
            None
        } else {
            frontend_image::output(self.image)?
        };
        let lower = |no_cache: &NoCache| {
            let covers = |name: &str| no_cache.covers(name);
            let host = Host {
                caps: self.bridge.caps(),
                context: context.clone(),
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
        let mut metadata = BTreeMap::from([
            ("containerimage.config".to_owned(), again.config.clone()),
            (
                "refs.platforms".to_owned(),
                refs_platforms(&platform(&again.platform)?),
            ),
        ]);
        if let Some(summary) = verdicts::summary(&verdicts) {
            metadata.insert("frontend.lanekit.gates".to_owned(), summary);
        }
        if let PlannedOutput::Product { .. } = &plan.output {
            metadata.insert(
                "frontend.lanekit.publishable".to_owned(),
                verdicts::publishable(&plan.unpublishable),
            );
        }
        if let Some(tag) = &again.tag {
            metadata.insert("frontend.lanekit.tag".to_owned(), tag.clone().into_bytes());
        }
        Ok(Built { result, metadata })
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
            hostname: opts.hostname.clone().unwrap_or_default(),
            proxy: (opts.proxy != llb::Proxy::default()).then(|| opts.proxy.clone()),
        }
    }

    /// Tells of what was given and changes nothing.
    async fn warn(&self, vertex: &llb::Digest, used: &[String]) {
        let mut idle: Vec<String> = self
            .opts
            .unknown
            .iter()
            .map(|name| format!("option {name}: lanekit does not know it"))
            .collect();
        for (name, _) in self.opts.contexts.iter() {
            // The frontend's own image may be replaced by a context too, before anything here runs.
            if !used.iter().any(|key| key == name)
                && !self
                    .opts
                    .contexts
                    .is_frontend(name, self.opts.source.as_deref())
            {
                idle.push(format!(
                    "context {name}: no stage of this lane starts from it"
                ));
            }
        }
        // They are about no line, so the file's name is all of it that they need.
        let lane_file = self.sources.iter().next();
        let file = lane_file.map(|(_, source)| SourceFile::new(&source.name, "TOML", b"").to_pb());
        for short in idle {
            let file = file.clone();
            let warning = Warning {
                vertex: vertex.to_string(),
                short,
                file,
                ..Warning::default()
            };
            self.bridge.warn(warning).await;
        }
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

/// What the one result is for (`exporter/containerimage/exptypes`).
fn refs_platforms(platform: &Platform) -> Vec<u8> {
    let mut fields = BTreeMap::from([
        ("architecture", &platform.architecture),
        ("os", &platform.os),
    ]);
    let further = [
        ("variant", &platform.variant),
        ("os.version", &platform.os_version),
    ];
    fields.extend(further.into_iter().filter(|(_, value)| !value.is_empty()));
    serde_json::json!({ "Platforms": [{ "ID": platform.to_string(), "Platform": fields }] })
        .to_string()
        .into_bytes()
}
