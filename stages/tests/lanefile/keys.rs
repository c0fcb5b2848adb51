//! What is in a key, what is not, and what a change re-runs.

use std::collections::BTreeMap;

use stages::impact::{Fate, Known, fates};
use stages::keys::{self, Manifest};
use stages::lower::ExecOptions;

use crate::common::{load, plan, request};

const LANES: &str = include_str!("../../../tests/graphs/media/lanes.toml");
const PINS: &str = include_str!("../../../tests/graphs/media/versions.env");

/// The manifest of the arm64 lane, where each file's digest is its path.
fn manifest(lanes: &str, pins: &str) -> Manifest {
    let loaded = load(lanes, pins);
    let graph = loaded.graph.expect("a graph");
    let request = request("arm64", &[]);
    let (plan, facts) = plan(&graph, &request).expect("a plan");
    let contents = |path: &str| Some(format!("digest of {path}"));
    let options = ExecOptions::default();
    keys::make("g", &request, &plan, &facts, &options, &contents)
}

fn base() -> Manifest {
    manifest(LANES, PINS)
}

/// The fates of steps that a change moves, as text.
fn moved(now: &Manifest, other: &[(&str, bool)]) -> String {
    let other: BTreeMap<String, bool> = other.iter().map(|(id, b)| ((*id).into(), *b)).collect();
    let fates = fates(now, &Known::of(&base()), &other);
    let steps = now
        .nodes
        .iter()
        .filter(|node| node.kind == keys::Kind::Step);
    steps
        .filter_map(|node| match fates[node.id.as_str()] {
            Fate::Cached => None,
            fate => Some(format!(
                "{}:{}",
                node.id,
                format!("{fate:?}").to_lowercase()
            )),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn edited(from: &str, to: &str) -> Manifest {
    assert!(LANES.contains(from), "{from}");
    manifest(&LANES.replace(from, to), PINS)
}

#[test]
fn a_manifest_names_everything_that_makes_each_key() {
    let json = serde_json::to_string_pretty(&base()).expect("JSON");
    insta::assert_snapshot!(json);
    let read: Manifest = serde_json::from_str(&json).expect("the same");
    assert_eq!(read, base());
}

#[test]
fn a_pin_re_runs_who_names_it_and_perhaps_who_sees_its_bytes() {
    let onnx = manifest(
        LANES,
        &PINS.replace("ONNX_VERSION=1.23.0", "ONNX_VERSION=2"),
    );
    assert_eq!(
        moved(&onnx, &[]),
        "onnx/build:must ffmpeg/build:may opencv/build:may image/index:may"
    );
    let same = [("onnx:tree", false)];
    assert_eq!(moved(&onnx, &same), "onnx/build:must");
    let other = [
        ("onnx:tree", true),
        ("ffmpeg:tree", false),
        ("opencv:tree", false),
    ];
    assert_eq!(
        moved(&onnx, &other),
        "onnx/build:must ffmpeg/build:must opencv/build:must image/index:must"
    );
    let rocm = manifest(LANES, &PINS.replace("ROCM_VERSION=7.1", "ROCM_VERSION=8"));
    assert_eq!(moved(&rocm, &[]), "");
}

#[test]
fn a_tree_that_is_known_to_have_other_bytes_ran() {
    let onnx = PINS.replace("ONNX_VERSION=1.23.0", "ONNX_VERSION=2");
    let onnx = manifest(LANES, &onnx);
    let known = Known::of(&base());
    let tree = |other: Option<bool>| {
        let other = other.map(|other| ("ffmpeg:tree".to_owned(), other));
        fates(&onnx, &known, &other.into_iter().collect())["ffmpeg:tree"]
    };
    assert_eq!(tree(None), Fate::May);
    assert_eq!(tree(Some(true)), Fate::Must);
    assert_eq!(tree(Some(false)), Fate::Cached);
}

#[test]
fn a_chain_variable_re_runs_all_that_stands_on_it() {
    let lang = edited("env.LANG = \"C.UTF-8\"", "env.LANG = \"C\"");
    let steps = moved(&lang, &[]);
    assert_eq!(steps.matches(":must").count(), 7, "{steps}");
    assert!(!steps.contains("may"), "{steps}");
}

#[test]
fn a_file_re_runs_who_sees_its_bytes() {
    let header = base().with_changed_file("src/media.h");
    assert_eq!(moved(&header, &[]).matches("build:must").count(), 5);
    let one = base().with_changed_file("src/tvm.c");
    assert_eq!(moved(&one, &[]), "tvm/build:must image/index:may");
    assert_eq!(moved(&base().with_changed_file("src/none.c"), &[]), "");
    let all = base().with_changed_file("src");
    assert_eq!(moved(&all, &[]).matches("build:must").count(), 5);
}

#[test]
fn names_labels_gates_and_caches_are_in_no_steps_key() {
    for (from, to) in [
        ("name    = \"index\"", "name    = \"list\""),
        ("MEDIA_ROOT = \"/runtime\"", "MEDIA_ROOT = \"/elsewhere\""),
        ("least = 10", "least = 11"),
        ("id = \"media-objects\"", "id = \"other-objects\""),
    ] {
        let changed = edited(from, to);
        let steps: Vec<_> = moved(&changed, &[]).split(' ').map(str::to_owned).collect();
        assert_eq!(steps.join(" "), "", "{from}");
    }
}

#[test]
fn what_differs_is_said_by_name() {
    let (old, new) = (
        base(),
        edited(
            "\"OPTIMIZE\", \"TRIPLE=arch.clang-triple\"]\nhost",
            "\"TRIPLE=arch.clang-triple\"]\nhost",
        ),
    );
    let changes = keys::changes(
        old.node("litert/build").expect("a node"),
        new.node("litert/build").expect("a node"),
    );
    let names: Vec<&str> = changes.iter().map(|change| change.name.as_str()).collect();
    assert_eq!(names, ["env.OPTIMIZE"]);
    assert_eq!(changes[0].old.as_deref(), Some("2"));
    assert_eq!(changes[0].new, None);
}
