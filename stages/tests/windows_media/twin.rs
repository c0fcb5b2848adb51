//! `examples/media-mini`, which really builds, has the shape of this graph: the same stages in each
//! lane, and each consumes the same others, but for what is named here.

use std::collections::{BTreeMap, BTreeSet};

use stages::keys::Kind;

use crate::example::Example;

/// The lanes of the twin, each with the one that it stands for.
const TWINS: [(&str, &str); 6] = [
    ("amd64", "winamd64"),
    ("amd64-nvidia", "winamd64-nvidia"),
    ("amd64-rocm", "winamd64-rocm"),
    ("arm64", "winarm64"),
    ("arm64-nvidia", "winarm64-nvidia"),
    ("llama-arm64-cuda/release", "llama-winarm64-cuda/release"),
];

/// An edge that one of both has alone.
struct Alone {
    /// The lanes of the twin with it, by how their names start.
    lanes: &'static str,
    /// Who consumes; a stage that is here alone has a row for each that it consumes.
    stage: &'static str,
    /// What it consumes.
    of: &'static str,
    why: &'static str,
}

/// What the twin has alone.
#[rustfmt::skip]
const TWIN: &[Alone] = &[
    Alone { lanes: "a", stage: "deps", of: "toolchain-environment", why: NUMPY },
    Alone { lanes: "a", stage: "deps", of: "python-free-threaded", why: NUMPY },
    Alone { lanes: "arm64", stage: "deps", of: "python", why: NUMPY },
    Alone { lanes: "amd64-rocm", stage: "torch-rocm-wheels", of: "python-free-threaded", why: "its script makes wheels for both interpreters" },
    Alone { lanes: "arm64", stage: "media", of: "python", why: "OpenCV's tree has cv2 alone, not the interpreter around it" },
    Alone { lanes: "a", stage: "final", of: "litert", why: "a text of a component lies beside the app" },
    Alone { lanes: "amd64", stage: "final", of: "lavapipe-icd", why: REGISTRY },
    Alone { lanes: "amd64", stage: "lavapipe-icd", of: "base", why: REGISTRY },
    Alone { lanes: "amd64", stage: "torch", of: "uv-seed", why: CACHE },
    Alone { lanes: "amd64-rocm", stage: "torch-rocm", of: "uv-seed", why: CACHE },
    Alone { lanes: "amd64", stage: "uv-seed", of: "base", why: CACHE },
    Alone { lanes: "a", stage: "suites", of: "image", why: "suites also run in the image without the app, and leave files" },
    Alone { lanes: "llama", stage: "llama-release", of: "llama-bundle", why: KEY },
];
const NUMPY: &str = "no network: what the wheels require is built and not downloaded";
const REGISTRY: &str = "on Linux a file registers the driver, and files come in a tree";
const CACHE: &str = "a cache that starts with content, which Windows does not have";

/// What the Windows graph has alone.
#[rustfmt::skip]
const WINDOWS: &[Alone] = &[
    Alone { lanes: "a", stage: "final", of: "scripts", why: SCRIPTS },
    Alone { lanes: "a", stage: "scripts", of: "base", why: SCRIPTS },
    Alone { lanes: "a", stage: "final-environment", of: "final", why: "the registry too has an environment: a step of its own writes it down" },
    Alone { lanes: "amd64", stage: "torch", of: "git", why: "no network: the twin's app is in its lane file" },
    Alone { lanes: "llama", stage: "llama-cpu-arm64", of: "git", why: SOURCES },
    Alone { lanes: "llama", stage: "ggml-cuda-arm64", of: "git", why: SOURCES },
    Alone { lanes: "llama", stage: "llama-signed", of: "llama-bundle", why: KEY },
    Alone { lanes: "llama", stage: "llama-signed", of: "base", why: KEY },
    Alone { lanes: "llama", stage: "llama-release", of: "llama-signed", why: KEY },
];
const SOURCES: &str = "no network: the twin's sources are in its directory";
const KEY: &str = "the twin has no key to sign with";
const SCRIPTS: &str = "the image has the modules that its users call; the twin's has a script";

/// For each stage of a lane the stages that it consumes: what it starts from, takes, adds or merges.
fn shape(example: &Example, lane: &str) -> BTreeMap<String, BTreeSet<String>> {
    let stage = |id: &str| id.split(['/', ':']).next().unwrap_or(id).to_owned();
    let mut shape: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for node in example.manifest(lane, &[]).nodes {
        match node.kind {
            Kind::Step | Kind::Copy | Kind::Tree | Kind::Merge => {}
            Kind::Image | Kind::Git | Kind::Inspect | Kind::Assert => continue,
        }
        let own = stage(&node.id);
        let inputs = node.inputs.values().map(|input| stage(&input.node));
        let others = inputs.filter(|other| *other != own).collect::<Vec<_>>();
        shape.entry(own).or_default().extend(others);
    }
    shape
}

/// A shape as lines, with what one of both has alone in this lane put to it.
fn lines(mut shape: BTreeMap<String, BTreeSet<String>>, more: &[Alone], lane: &str) -> String {
    for row in more.iter().filter(|row| lane.starts_with(row.lanes)) {
        assert!(!row.why.is_empty());
        let stage = shape.entry(row.stage.to_owned()).or_default();
        let new = stage.insert(row.of.to_owned());
        assert!(new, "{lane}: both have {} of {}", row.stage, row.of);
    }
    let line = |(stage, of): (&String, &BTreeSet<String>)| {
        let of: Vec<&str> = of.iter().map(String::as_str).collect();
        format!("{stage}: {}\n", of.join(" "))
    };
    shape.iter().map(line).collect()
}

#[test]
fn each_lane_of_the_twin_has_the_shape_of_its_own() {
    let (twin, windows) = (Example::named("media-mini"), Example::read());
    for row in TWIN.iter().chain(WINDOWS) {
        let mut lanes = TWINS.iter().map(|(mini, _)| mini);
        assert!(
            lanes.any(|mini| mini.starts_with(row.lanes)),
            "{}",
            row.lanes
        );
    }
    for (mini, lane) in TWINS {
        let (mini_shape, shape) = (shape(&twin, mini), shape(&windows, lane));
        let least = if mini.starts_with("llama") { 7 } else { 30 };
        assert!(shape.len() >= least, "{lane}: {} stages", shape.len());
        assert_eq!(lines(mini_shape, WINDOWS, mini), lines(shape, TWIN, mini));
    }
}

#[test]
fn the_twin_has_the_same_switches() {
    let (twin, windows) = (
        Example::named("media-mini").graph(),
        Example::read().graph(),
    );
    let switches =
        |graph: &stages::graph::Graph| graph.switches.keys().cloned().collect::<Vec<_>>();
    assert_eq!(switches(&twin), switches(&windows));
}
