//! The tags of the system's driver (facts of its golden table), and where we differ, each by name.

use std::collections::BTreeMap;

use stages::view::tags;

use crate::example::Example;

const AT: &str = "docker.io/local/kataglyphis:bk-";

/// The driver's table: lane, what it is, tag without its beginning.
const GOLDEN: [(&str, &str, &str); 19] = [
    ("winamd64", "base", "windows-base"),
    ("winamd64", "toolchain", "windows-toolchain"),
    ("winamd64", "media", "windows-media"),
    ("winamd64", "torch", "windows-torch"),
    ("winamd64", "image", "winamd64"),
    ("winamd64-nvidia", "sdk", "windows-sdk-nvidia"),
    ("winamd64-nvidia", "toolchain", "windows-toolchain-nvidia"),
    ("winamd64-nvidia", "media", "windows-media-nvidia"),
    ("winamd64-nvidia", "torch", "windows-torch-nvidia"),
    ("winamd64-nvidia", "image", "winamd64-nvidia"),
    ("winamd64-rocm", "sdk", "windows-sdk-rocm"),
    ("winamd64-rocm", "toolchain", "windows-toolchain-rocm"),
    ("winamd64-rocm", "media", "windows-media-rocm"),
    ("winamd64-rocm", "torch", "windows-torch-rocm"),
    ("winamd64-rocm", "image", "winamd64-rocm"),
    ("winarm64", "media", "windows-media-arm64"),
    ("winarm64", "image", "winarm64"),
    ("winarm64-nvidia", "media", "windows-media-nvidia-arm64"),
    ("winarm64-nvidia", "image", "winarm64-nvidia"),
];

/// With the switches at their defaults the tags are the driver's. What it has besides and we do
/// not: names of media-core, litert, tvm, migraphx and llama, which only handed files on, and
/// of the plain sdk, which is the base.
#[test]
fn the_tags_are_those_of_the_golden_table() {
    let graph = Example::read().graph();
    let ours: BTreeMap<(String, String), String> = tags(&graph)
        .into_iter()
        .filter(|row| row.switches.is_empty() && row.payloads.is_empty())
        .filter_map(|row| Some(((row.lane, row.output), row.tag?)))
        .collect();
    let golden = GOLDEN.iter().map(|(lane, output, tag)| {
        (
            ((*lane).to_owned(), (*output).to_owned()),
            format!("{AT}{tag}"),
        )
    });
    assert_eq!(ours, golden.collect());
}

/// The driver wrote one tag for two contents where a switch was turned. Here the switch is in it.
#[test]
fn a_switch_that_makes_another_content_makes_another_tag() {
    let graph = Example::read().graph();
    for row in tags(&graph) {
        let tag = row.tag.unwrap_or_default();
        for (switch, end) in [("stock-llvm", "-stock"), ("spikes", "-nospikes")] {
            let turned = row.switches.keys().any(|name| name == switch);
            let changes = !tag.is_empty();
            assert_eq!(turned && changes, tag.ends_with(end), "{} {tag}", row.lane);
        }
    }
}

/// The driver wrote one tag with and without what licences keep out of the repository.
#[test]
fn a_payload_is_in_the_tag_of_every_output_that_it_changes() {
    let graph = Example::read().graph();
    let rows = tags(&graph);
    let with = |payload: &str| {
        let rows = rows.iter().filter(|row| row.payloads.contains(payload));
        let names = rows.map(|row| {
            let tag = row.tag.as_deref().unwrap_or_default();
            (
                format!("{}/{}", row.lane, row.output),
                tag.rsplit('-').next(),
            )
        });
        names.collect::<BTreeMap<_, _>>()
    };
    let (qnn, tensorrt) = (with("qnn"), with("tensorrt"));
    assert!(qnn.values().all(|end| *end == Some("qnn")), "{qnn:?}");
    assert!(
        tensorrt.values().all(|end| *end == Some("trt")),
        "{tensorrt:?}"
    );
    for lane in ["winamd64", "winarm64", "winamd64-rocm", "winamd64-nvidia"] {
        assert!(qnn.contains_key(&format!("{lane}/image")), "{qnn:?}");
        assert!(!qnn.contains_key(&format!("{lane}/toolchain")), "{qnn:?}");
        let nvidia = lane.ends_with("nvidia");
        assert_eq!(
            tensorrt.contains_key(&format!("{lane}/image")),
            nvidia,
            "{lane}"
        );
    }
}

/// The driver's tags of the sdk and toolchain for CUDA stood for one content a target. Here the
/// libraries for arm64 are a tree of their own, so there is one content, as the tag says.
#[test]
fn the_toolchain_with_cuda_is_one_for_both_targets() {
    let example = Example::read();
    let amd64 = example.manifest("winamd64-nvidia", &[]);
    let arm64 = example.manifest("winarm64-nvidia", &[]);
    for step in ["sdk-nvidia/cuda", "cpython/build", "patched-llvm/llvm"] {
        let key = |manifest: &stages::keys::Manifest| manifest.node(step).expect(step).key.clone();
        assert_eq!(key(&amd64), key(&arm64), "{step}");
    }
}
