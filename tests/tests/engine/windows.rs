//! The lanes of `examples/windows-media`, as far as an engine on Linux can take them: it loads every
//! vertex by our digest, refuses none, and asks for the first image. Nothing of Windows runs here.

use std::collections::BTreeMap;

use engine_tests::{Build, Example, Setup};
use llb::{Caps, Definition, Digest, Image, Output, Platform};
use stages::lower::{self, Context, ExecOptions, Host};
use stages::plan::{self, ImageSource};

use crate::common;
use crate::example::{Example as Windows, LANES};

/// Nobody listens there, so no image is found, at once and with or without a network.
const NOWHERE: &str = "127.0.0.1:1";

/// An image that is not there.
fn image(name: &str, platform: &Platform) -> (String, Output) {
    let reference = format!("{NOWHERE}/{name}@{}", Digest::of(name.as_bytes()));
    let parsed = reference.parse().expect("a reference");
    (reference, Image::new(parsed, platform.clone()).build())
}

/// The LLB of a target, as a worker on Windows gets it. All that it starts from is not there.
fn definition(windows: &Windows, target: &str) -> Definition {
    let loaded = windows.load();
    let graph = windows.graph();
    let request = common::request(target, &[]);
    let (_, mut facts) = common::plan(&graph, &request).expect("a plan");
    let worker = Platform::new("windows", "amd64");
    let (base, _) = image("servercore", &worker);
    for fact in facts.images.values_mut() {
        let reference = base.clone();
        fact.source = ImageSource::Registry { reference };
    }
    let selection = plan::select(&graph, &request).expect("a target");
    let plan = plan::plan(&selection.knowing(&facts), &facts).expect("a plan");
    let host = Host {
        caps: &Caps::all(),
        payloads: &BTreeMap::new(),
        // One of a session would have another digest for each.
        context: Context::Output(image("context", &worker).1),
        lanegate: Some(image("lanegate", &Platform::new("linux", "amd64")).1),
        worker,
        no_cache: &|_| false,
        exec: ExecOptions::default(),
    };
    let lowered = lower::lower(&plan, &facts, &loaded.sources, &host).expect("LLB");
    Definition::new(&lowered.result)
}

#[test]
fn every_vertex_of_every_windows_lane_is_loaded() {
    let setup = Setup::get();
    let windows = Windows::read();
    for lane in LANES {
        let definition = definition(&windows, lane);
        let example = Example::of("");
        example.write("lanes.toml", definition.to_bytes());
        let ops = &definition.as_pb().def;
        assert!(ops.len() > 20, "{lane}: {} ops", ops.len());
        for engine in setup.engines() {
            let outcome = Build::new(engine, example.path())
                .without_bases()
                .option("--build-arg", format!("BUILDKIT_SYNTAX={}", setup.replay))
                .fail();
            let at = format!("{lane} on {}", engine.kind);
            // The last one only names the result.
            for op in &ops[..ops.len() - 1] {
                let digest = Digest::of(op).to_string();
                assert!(
                    outcome.loaded.contains(&digest),
                    "{at}: {digest}\n{}",
                    outcome.errors
                );
            }
            let refused = format!("dial tcp {NOWHERE}: connect: connection refused");
            assert!(
                outcome.errors.contains(&refused),
                "{at}: {}",
                outcome.errors
            );
        }
    }
}
