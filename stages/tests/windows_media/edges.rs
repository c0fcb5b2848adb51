//! Who takes whose files: the edges that the system really has, and no others.

use std::collections::{BTreeMap, BTreeSet};

use stages::keys::{By, Kind};

use crate::example::Example;

/// The stage of a node's id.
fn stage(id: &str) -> &str {
    id.split(['/', ':']).next().unwrap_or(id)
}

/// For each stage the stages whose trees it takes: its steps, and what is copied into its root.
fn edges(lane: &str) -> BTreeMap<String, BTreeSet<String>> {
    let manifest = Example::read().manifest(lane, &[]);
    let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let takers = manifest
        .nodes
        .iter()
        .filter(|node| matches!(node.kind, Kind::Step | Kind::Copy));
    for node in takers {
        let of = edges.entry(stage(&node.id).to_owned()).or_default();
        let taken = node.inputs.values().filter(|input| input.by == By::Content);
        let taken = taken
            .map(|input| stage(&input.node))
            .filter(|input| *input != "toolchain-environment");
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
