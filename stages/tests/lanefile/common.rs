//! A lane file on its way through the crate, without an engine.

use std::collections::BTreeMap;

use ::llb::{Caps, Digest, Image, Output, Platform};
use stages::diag::{Report, Sources};
use stages::file;
use stages::graph::{self, Graph};
use stages::keys::{self, Manifest};
use stages::lower::{self, Context, ExecOptions, Host, Lowered};
use stages::plan::{self, Facts, ImageConfig, ImageFact, ImageSource, PayloadFact, Plan, Request};

/// Texts and the graph that they make, or everything that is wrong with them.
pub(crate) struct Loaded {
    pub(crate) sources: Sources,
    pub(crate) graph: Result<Graph, Report>,
}

/// Reads a lane file and its pins.
pub(crate) fn load(lanes: &str, pins: &str) -> Loaded {
    let mut sources = Sources::default();
    let lanes = sources.add("lanes.toml", lanes);
    let pins = sources.add("versions.env", pins);
    let mut report = Report::default();
    let pins = file::parse_pins(&sources, pins, &mut report);
    let graph = file::parse(&sources, lanes).and_then(|document| {
        let graph = graph::resolve(document, pins)
            .and_then(|graph| stages::view::check_tags(&graph).map(|()| graph));
        report.into_result(()).and(graph)
    });
    Loaded { sources, graph }
}

/// What an engine would say of every image.
pub(crate) fn facts(selection: &plan::Selection<'_>) -> Facts {
    let windows = selection.setting.lane.platform.value.starts_with("windows");
    let (json, os_version): (&[u8], _) = if windows {
        (br#"{"config":{"WorkingDir":"C:\\"}}"#, "10.0.20348.2113")
    } else {
        (
            br#"{"config":{"Env":["PATH=/usr/bin:/bin"],"Cmd":["sh"],"WorkingDir":"/home"}}"#,
            "",
        )
    };
    let config = ImageConfig::from_image(json).expect("an image config");
    let images = selection
        .images()
        .expect("references")
        .into_iter()
        .map(|image| {
            let digest = "sha256:".to_owned() + &"ab".repeat(32);
            let reference = match image.value.contains('@') {
                true => format!("docker.io/library/{}", image.value),
                false => format!("docker.io/library/{}@{digest}", image.value),
            };
            let source = ImageSource::Registry { reference };
            (
                image.value,
                ImageFact {
                    source,
                    config: config.clone(),
                    os_version: os_version.to_owned(),
                    given: false,
                },
            )
        });
    let gits = selection
        .gits()
        .expect("git sources")
        .into_iter()
        .map(|git| {
            let commit = plan::Commit {
                commit: "12".repeat(20),
                object: "34".repeat(20),
            };
            (git.name, commit)
        });
    Facts {
        images: images.collect(),
        gits: gits.collect(),
        payloads: BTreeMap::new(),
    }
}

/// A request by target and arguments.
pub(crate) fn request(target: &str, args: &[(&str, &str)]) -> Request {
    let args: BTreeMap<String, String> = args
        .iter()
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect();
    Request {
        target: Some(target.to_owned()),
        args,
        platforms: Vec::new(),
        group: None,
    }
}

/// The plan of a request.
pub(crate) fn plan(graph: &Graph, request: &Request) -> Result<(Plan, Facts), Report> {
    plan_with(graph, request, &|_| None)
}

/// The plan of a request where some payloads are there, each with these bytes.
pub(crate) fn plan_with(
    graph: &Graph,
    request: &Request,
    payloads: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> Result<(Plan, Facts), Report> {
    let fact = |(name, payload): (&String, &file::Payload)| {
        let fact = match payloads(name) {
            None => PayloadFact::Absent,
            Some(bytes) => PayloadFact::Present {
                path: payload.path.value.replace('*', "1"),
                sha256: Digest::of(&bytes).hex(),
            },
        };
        (name.clone(), fact)
    };
    let payloads = graph.payloads.iter().map(fact).collect();
    let known = Facts {
        payloads,
        ..Facts::default()
    };
    let selection = plan::select(graph, request)?.knowing(&known);
    let facts = Facts {
        payloads: known.payloads,
        ..facts(&selection)
    };
    plan::plan(&selection, &facts).map(|plan| (plan, facts))
}

/// The manifest of a target, with the digests of files that `contents` knows.
pub(crate) fn manifest(
    loaded: &Loaded,
    target: &str,
    options: &ExecOptions,
    contents: &dyn Fn(&str) -> Option<String>,
) -> Manifest {
    let graph = loaded.graph.as_ref().expect("a graph");
    let request = request(target, &[]);
    let (plan, facts) = plan(graph, &request).expect("a plan");
    keys::make("g", &request, &plan, &facts, options, contents)
}

/// The LLB of a request on an engine with these capabilities.
pub(crate) fn lower(loaded: &Loaded, request: &Request, caps: &Caps) -> Result<Lowered, Report> {
    lower_on(loaded, request, caps, Platform::new("linux", "amd64"))
}

/// The LLB of a request on an engine of this platform.
pub(crate) fn lower_on(
    loaded: &Loaded,
    request: &Request,
    caps: &Caps,
    worker: Platform,
) -> Result<Lowered, Report> {
    let graph = loaded.graph.as_ref().map_err(Clone::clone)?;
    let (plan, facts) = plan(graph, request)?;
    lower_with(loaded, &plan, &facts, caps, worker, ExecOptions::default())
}

/// The LLB of a plan, with what the caller demands of every step.
pub(crate) fn lower_with(
    loaded: &Loaded,
    plan: &Plan,
    facts: &Facts,
    caps: &Caps,
    worker: Platform,
    exec: ExecOptions,
) -> Result<Lowered, Report> {
    lower_from(
        loaded,
        plan,
        facts,
        caps,
        worker,
        exec,
        lanegate("frontend"),
    )
}

/// The same, with `lanegate` from elsewhere.
pub(crate) fn lower_from(
    loaded: &Loaded,
    plan: &Plan,
    facts: &Facts,
    caps: &Caps,
    worker: Platform,
    exec: ExecOptions,
    lanegate: Output,
) -> Result<Lowered, Report> {
    let payloads = plan.payloads.iter().filter_map(|(name, fact)| match fact {
        PayloadFact::Absent => None,
        PayloadFact::Present { path, .. } => {
            let files = lower::payload_of_client(name, path, "context", "session");
            Some((name.clone(), files.expect("a local source")))
        }
    });
    let payloads = payloads.collect();
    let host = Host {
        caps,
        payloads: &payloads,
        context: Context::Session("session".into()),
        lanegate: Some(lanegate),
        worker,
        no_cache: &|_| false,
        exec,
    };
    lower::lower(plan, facts, &loaded.sources, &host)
}

/// `lanegate` in an image of this name.
pub(crate) fn lanegate(image: &str) -> Output {
    let reference = format!("docker.io/lanekit/{image}:test@sha256:{}", "cd".repeat(32));
    Image::new(
        reference.parse().expect("a reference"),
        Platform::new("linux", "amd64"),
    )
    .build()
}

/// What is wrong, as people see it.
pub(crate) fn rendered(loaded: &Loaded) -> String {
    match &loaded.graph {
        Ok(_) => "nothing is wrong".into(),
        Err(report) => report.render(&loaded.sources, false),
    }
}
