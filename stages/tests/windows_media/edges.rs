//! Who takes whose files: the edges that the system really has, and no others.

use std::collections::{BTreeMap, BTreeSet};

use stages::keys::{By, Kind, Manifest};

use crate::common::{plan_with, request};
use crate::example::{Example, LANES, directory, text};

/// The stage of a node's id.
fn stage(id: &str) -> &str {
    id.split(['/', ':']).next().unwrap_or(id)
}

/// For each stage the stages whose trees it takes: its steps, and what is copied into its root. (Not
/// repositories, and not the record that all compiles take.)
fn edges(lane: &str) -> Edges {
    edges_of(&Example::read().manifest(lane, &[]))
}

pub(crate) type Edges = BTreeMap<String, BTreeSet<String>>;

fn edges_of(manifest: &Manifest) -> Edges {
    let mut edges = Edges::new();
    let takers = manifest
        .nodes
        .iter()
        .filter(|node| matches!(node.kind, Kind::Step | Kind::Copy));
    for node in takers {
        let of = edges.entry(stage(&node.id).to_owned()).or_default();
        let taken = node.inputs.values().filter(|input| input.by == By::Content);
        let taken = taken
            .map(|input| stage(&input.node))
            .filter(|input| !["git", "toolchain-environment"].contains(input));
        of.extend(taken.map(str::to_owned));
    }
    edges
}

fn takes(lane: &str, of: &str) -> String {
    let all = edges(lane);
    let one = all.get(of).unwrap_or_else(|| panic!("{lane} has no {of}"));
    one.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

#[test]
fn components_take_what_they_link_and_nothing_else() {
    for (stage, amd64, arm64) in [
        (
            "onnx",
            "python-free-threaded",
            "python python-free-threaded",
        ),
        ("ffmpeg", "onnx", "onnx"),
        (
            "pyav",
            "ffmpeg python-free-threaded",
            "ffmpeg python python-free-threaded",
        ),
        ("opencv", "ffmpeg onnx", "ffmpeg onnx python"),
        (
            "genai",
            "onnx python-free-threaded",
            "onnx python python-free-threaded",
        ),
        ("hailo", "", ""),
        (
            "litert",
            "python-free-threaded",
            "python python-free-threaded",
        ),
        ("tvm", "python-free-threaded", "python python-free-threaded"),
        (
            "iree",
            "python-free-threaded",
            "python python-free-threaded",
        ),
        (
            "gstreamer",
            "ffmpeg litert onnx opencv",
            "ffmpeg litert onnx opencv",
        ),
        ("opencv-gstreamer", "gstreamer opencv", "gstreamer opencv"),
        ("lavapipe", "", ""),
        ("vulkan-layers", "", ""),
        ("vs-runtime", "", ""),
        ("manifest", "", ""),
    ] {
        assert_eq!(takes("winamd64", stage), amd64, "{stage} for amd64");
        assert_eq!(takes("winarm64", stage), arm64, "{stage} for arm64");
    }
    assert_eq!(takes("winamd64", "litert-lm"), "");
}

#[test]
fn rocms_parts_take_no_media() {
    for stage in ["migraphx", "llama-hip", "llama-vulkan", "torch-rocm-wheels"] {
        assert_eq!(takes("winamd64-rocm", stage), "", "{stage}");
    }
    assert_eq!(takes("winamd64-rocm", "amdgpu-ep"), "migraphx onnx");
}

/// ONNX Runtime, and all that may run when its bytes are others: FFmpeg, PyAV behind it, OpenCV,
/// GenAI, GStreamer, OpenCV's plugin, the provider for MIGraphX, the wheels' dependencies. (What is
/// added to the image is no step, so it is not here.)
#[test]
fn an_onnx_runtime_bump_reaches_its_consumers_and_no_one_else() {
    let mut reached = BTreeSet::from(["onnx".to_owned()]);
    let edges = edges("winamd64-rocm");
    while let Some((more, _)) = edges
        .iter()
        .find(|(stage, inputs)| !reached.contains(*stage) && !inputs.is_disjoint(&reached))
    {
        reached.insert(more.clone());
    }
    let reached: Vec<&str> = reached.iter().map(String::as_str).collect();
    assert_eq!(
        reached.join(" "),
        "amdgpu-ep deps ffmpeg genai gstreamer onnx opencv opencv-gstreamer pyav"
    );
}

/// The steps of a lane, each with its variables, where these payloads are there with their hashes.
fn steps_with(lane: &str, there: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
    let example = Example::read().with_payloads();
    let bytes = |name: &str| there.contains(&name).then(|| name.as_bytes().to_vec());
    let plan = plan_with(&example.graph(), &request(lane, &[]), &bytes);
    let mut steps = BTreeMap::new();
    for stage in plan.expect("a plan").0.stages {
        for step in stage.steps {
            let names = step.env.into_keys().collect();
            steps.insert(format!("{}/{}", stage.name, step.name), names);
        }
    }
    steps
}

/// Steps that are another, or there, with the payload.
fn moved_by(lane: &str, payload: &str) -> String {
    let without = steps_with(lane, &[]);
    let with = steps_with(lane, &[payload]).into_iter();
    let moved = with.filter(|(step, names)| without.get(step) != Some(names));
    moved.map(|(step, _)| step).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_payload_turns_on_what_takes_it() {
    let qnn = "genai/build litert-lm/build litert/build onnx/build tvm/build";
    assert_eq!(moved_by("winamd64", "qnn"), qnn);
    assert_eq!(moved_by("winamd64", "tensorrt"), "");
    let there = steps_with("winamd64-nvidia", &["tensorrt"]);
    assert!(there["sdk-nvidia/tensorrt"].contains("TENSORRT_VERSION"));
    assert!(there["onnx/build"].contains("TENSORRT_ROOT"));
    assert!(!steps_with("winamd64-nvidia", &[]).contains_key("sdk-nvidia/tensorrt"));
}

/// It is never taken for absent.
#[test]
fn a_payload_with_another_hash_ends_the_build() {
    for (lane, payload) in [("winamd64", "qnn"), ("winamd64-nvidia", "tensorrt")] {
        let bytes = |name: &str| (name == payload).then(|| b"another".to_vec());
        let report = plan_with(&Example::read().graph(), &request(lane, &[]), &bytes);
        let report = report.expect_err("it is refused");
        let rules = report.diagnostics().iter().map(|one| one.rule.0);
        assert_eq!(rules.collect::<Vec<_>>(), ["LK021"], "{payload}");
    }
}

/// The names between backticks.
pub(crate) fn named(cell: &str) -> BTreeSet<String> {
    let names = cell.split('`').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

/// For each stage all that its bytes come of, in any lane.
pub(crate) fn reached(all: &mut Edges) {
    loop {
        let before = all.clone();
        for of in all.values_mut() {
            let more = of.iter().filter_map(|stage| before.get(stage)).flatten();
            let more: BTreeSet<String> = more.cloned().collect();
            of.extend(more);
        }
        if before == *all {
            return;
        }
    }
}

/// README.md's table: who, which trees it takes in any lane, why, and of whom its bytes never come.
#[test]
fn the_readers_table_of_edges_is_the_graphs() {
    let readme = text(&directory().join("README.md"));
    let (_, table) = readme.split_once("| stage | takes |").expect("a table");
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let (mut takes, mut never) = (Edges::new(), Edges::new());
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let &[who, of, why, not] = cells.as_slice() else {
            panic!("{row} has {} cells", cells.len());
        };
        assert!(named(of).is_empty() || !why.trim().is_empty(), "{row}");
        for stage in named(who) {
            let twice = takes.insert(stage.clone(), named(of)).is_some();
            assert!(!twice, "{stage} has two rows");
            never.insert(stage, named(not));
        }
    }
    let (mut edges, mut inputs) = (Edges::new(), Edges::new());
    for lane in LANES {
        let manifest = Example::read().manifest(lane, &[]);
        for (stage, of) in edges_of(&manifest) {
            edges.entry(stage).or_default().extend(of);
        }
        for node in &manifest.nodes {
            let of = node.inputs.values().map(|input| stage(&input.node));
            let entry = inputs.entry(stage(&node.id).to_owned()).or_default();
            entry.extend(of.map(str::to_owned));
        }
    }
    assert_eq!(takes, edges);
    reached(&mut inputs);
    for (stage, never) in never {
        let come: Vec<_> = inputs[&stage].intersection(&never).collect();
        assert!(come.is_empty(), "{stage} comes of {come:?}");
    }
}
