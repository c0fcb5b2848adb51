//! What a change costs: `COSTS.md` of the example, made from the graph and from the seconds in
//! `ledger.json`, against what the Dockerfiles ran again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;
use stages::impact::{Fate, Impact, Known, impact};
use stages::keys::{self, Kind, Manifest};
use stages::lower::ExecOptions;
use stages::plan;

use crate::common::{facts, request};
use crate::example::{Example, LANES, directory, text};

/// The seconds that are known, by step, and the steps that the ledger names.
fn ledger() -> (BTreeMap<String, f64>, BTreeSet<String>) {
    let json: Value = serde_json::from_str(&text(&directory().join("ledger.json"))).expect("JSON");
    let steps = json["steps"].as_object().expect("steps");
    let mut seconds = BTreeMap::new();
    for (step, entry) in steps {
        let source = entry["source"].as_str().expect("a source");
        match entry["seconds"].as_f64() {
            Some(known) => {
                assert_ne!(source, "unknown", "{step}");
                seconds.insert(step.clone(), known);
            }
            None => assert_eq!(source, "unknown", "{step}"),
        }
    }
    (seconds, steps.keys().cloned().collect())
}

#[test]
fn the_ledger_names_every_step_and_no_other() {
    let example = Example::read();
    let mut steps = BTreeSet::new();
    for lane in LANES {
        let manifest = example.manifest(lane, &[]);
        let of = manifest
            .nodes
            .into_iter()
            .filter(|node| node.kind == Kind::Step);
        steps.extend(of.map(|node| node.id));
    }
    assert_eq!(ledger().1, steps);
}

/// The manifest where the application's branch stands at this commit.
fn at_commit(commit: &str) -> Manifest {
    let graph = Example::read().graph();
    let request = request("winamd64", &[]);
    let selection = plan::select(&graph, &request).expect("a selection");
    let mut facts = facts(&selection);
    commit.clone_into(&mut facts.gits.get_mut("app").expect("the application").commit);
    let plan = plan::plan(&selection, &facts).expect("a plan");
    let contents = |path: &str| Some(format!("digest of {path}"));
    keys::make(
        "windows-media",
        &request,
        &plan,
        &facts,
        &ExecOptions::default(),
        &contents,
    )
}

/// A change: what it is called, before and after, and what the Dockerfiles ran again, with the
/// seconds that are known of that and the reason.
struct Change {
    name: &'static str,
    old: Manifest,
    new: Manifest,
    there: (&'static str, u32),
    why: &'static str,
}

fn changes() -> Vec<Change> {
    let example = Example::read();
    let amd64 = || example.manifest("winamd64", &[]);
    let rocm = |args: &[(&str, &str)]| example.manifest("winamd64-rocm", args);
    let pinned = |name: &str, value: &str| {
        example
            .clone()
            .pinned(name, value)
            .manifest("winamd64", &[])
    };
    let edited = |file: &str, from: &str, to: &str| {
        example
            .clone()
            .with(file, from, to)
            .manifest("winamd64", &[])
    };
    let change = |name, new, there, why| Change {
        name,
        old: amd64(),
        new,
        there,
        why,
    };
    let stamps = [
        ("BUILD_DATE", "2026-12-02T00:00:00Z"),
        ("VCS_REF", "0123456"),
    ];
    let helper = "windows/scripts/modules/WindowsGstPlugins.Common.psm1";
    vec![
        change(
            "an FFmpeg bump",
            pinned("FFMPEG_VERSION", "n9.1"),
            ("FFmpeg, OpenCV, HailoRT, GenAI, merge, torch, final", 7277),
            "one chain of images there; here HailoRT and GenAI take nothing of FFmpeg",
        ),
        change(
            "a PyAV bump",
            pinned("PYAV_VERSION", "20.0.0"),
            ("FFmpeg, OpenCV, HailoRT, GenAI, merge, torch, final", 7277),
            "one RUN with FFmpeg there; here a stage that takes FFmpeg's tree",
        ),
        change(
            "an ONNX Runtime bump",
            pinned("ONNXRUNTIME_VERSION", "v1.31.0"),
            (
                "ONNX Runtime, FFmpeg, OpenCV, HailoRT, GenAI, merge, torch, final",
                8300,
            ),
            "all that links it may run; HailoRT does not",
        ),
        change(
            "a GenAI bump",
            pinned("ONNXRUNTIME_GENAI_VERSION", "v0.18.0"),
            ("GenAI, merge, torch, final", 5688),
            "the merge compiled GStreamer, which takes nothing of GenAI",
        ),
        change(
            "an OpenCV bump",
            pinned("OPENCV_VERSION", "5.1.0"),
            ("OpenCV, HailoRT, GenAI, merge, torch, final", 6547),
            "GStreamer and its plugin take OpenCV; HailoRT and GenAI do not",
        ),
        change(
            "a TVM bump",
            pinned("TVM_REF", "v0.28.0"),
            ("TVM with IREE, merge, torch, final", 7919),
            "GStreamer and IREE take nothing of TVM",
        ),
        change(
            "a GStreamer bump",
            pinned("GSTREAMER_VERSION", "1.30.0"),
            ("merge, torch, final", 5087),
            "the same compile; layers, staging and wheels stood behind it there",
        ),
        change(
            "a Flutter bump",
            pinned("FLUTTER_VERSION", "3.48.0"),
            ("scoop, vcpkg, Rust, and every image on base", 20216),
            "one RUN of 19 arguments in the base there; here a tree that the final image takes",
        ),
        change(
            "a floor raised",
            edited(
                "gates/tree.toml",
                "requirements = { least = 10 }",
                "requirements = { least = 12 }",
            ),
            ("merge, torch, final", 5087),
            "the floors of dependencies stood above GStreamer's compile",
        ),
        change(
            "a new build date and revision",
            example.manifest("winamd64", &stamps),
            ("Vulkan loader and two copies of final", 0),
            "stamps are in labels alone; in final they stood above a RUN",
        ),
        change(
            "a new cache endpoint",
            amd64(),
            ("23 of 43 RUNs: every compile", 18416),
            "a host setting is in no key; there it was an argument of every compile",
        ),
        change(
            "an edit of a helper of two steps",
            amd64().with_changed_file(helper),
            ("ten RUNs of merge, torch, final", 5087),
            "who reads it lists it; there it was in one set of modules for all ten. The image carries the modules, so it copies them again",
        ),
        change(
            "a comment in versions.env",
            edited(
                "versions.env",
                "FFMPEG_VERSION=",
                "# n9 next\nFFMPEG_VERSION=",
            ),
            ("CPython, LLVM, and all behind them", 18416),
            "the file was mounted whole; here steps see the pins that they name",
        ),
        change(
            "the target from amd64 to arm64",
            example.manifest("winarm64", &[]),
            ("every image from media on", 13894),
            "base, sdk and toolchain are one for both, here as there",
        ),
        Change {
            name: "ROCm's spikes off",
            old: rocm(&[]),
            new: rocm(&[("spikes", "false")]),
            there: (
                "ONNX Runtime to GenAI, TVM, merge, llama, torch, final",
                15618,
            ),
            why: "ONNX Runtime and TVM are told of it; PyTorch for ROCm stood behind media there",
        },
        Change {
            name: "a commit of the application",
            old: at_commit(&"12".repeat(20)),
            new: at_commit(&"56".repeat(20)),
            there: ("torch, final", 773),
            why: "the same: what is installed there is installed here",
        },
    ]
}

fn steps(impact: &Impact, fate: Fate) -> String {
    let of = impact.moved.iter().filter(|line| line.fate == fate);
    let names: Vec<String> = of
        .map(|line| match line.seconds {
            Some(seconds) => format!("`{}` ({seconds:.0})", line.step),
            None => format!("`{}`", line.step),
        })
        .collect();
    if names.is_empty() {
        "–".to_owned()
    } else {
        names.join(", ")
    }
}

fn page() -> String {
    let seconds = ledger().0;
    let mut page = "# What a change costs\n\n\
        Written by a test from the graph and from [ledger.json](ledger.json); do not edit.\n\
        Seconds are those of a step without any cache, where somebody wrote them down; a step without a number has none.\n\
        What *must* run has another key. What *may* run does so only if the bytes that it takes are others.\n\
        On the right is what the Dockerfiles ran again: no step of theirs stops because bytes are equal.\n\n\
        | change | must run | s | may run | s | the Dockerfiles ran | s | why |\n|---|---|--:|---|--:|---|--:|---|\n"
        .to_owned();
    for change in changes() {
        let impact = impact(
            &change.old,
            &change.new,
            &Known::of(&change.old),
            &seconds,
            1,
        );
        // The sum of nothing is -0.
        let (must, all) = (impact.must.total + 0.0, impact.all.total + 0.0);
        let _ = writeln!(
            page,
            "| {} | {} | {must:.0} | {} | {:.0} | {} | {} | {} |",
            change.name,
            steps(&impact, Fate::Must),
            steps(&impact, Fate::May),
            all - must,
            change.there.0,
            change.there.1,
            change.why,
        );
    }
    page
}

#[test]
fn the_page_of_costs_is_what_the_graph_says() {
    let path = directory().join("COSTS.md");
    let page = page();
    if std::env::var("INSTA_UPDATE").is_ok_and(|how| how == "always") {
        std::fs::write(&path, &page).expect("COSTS.md");
    }
    assert_eq!(text(&path), page, "write it again with INSTA_UPDATE=always");
}

/// What must hold whatever the table says.
#[test]
fn what_compiles_nothing_compiles_nothing() {
    let seconds = ledger().0;
    for change in changes() {
        let impact = impact(
            &change.old,
            &change.new,
            &Known::of(&change.old),
            &seconds,
            1,
        );
        let moved: Vec<&str> = impact.moved.iter().map(|line| line.step.as_str()).collect();
        match change.name {
            "a floor raised"
            | "a new build date and revision"
            | "a new cache endpoint"
            | "a comment in versions.env" => {
                assert_eq!(moved, [""; 0], "{}", change.name);
            }
            "a PyAV bump" => {
                assert!(!moved.contains(&"onnx/build") && !moved.contains(&"ffmpeg/build"))
            }
            "a commit of the application" | "a Flutter bump" => {
                assert!(
                    moved.iter().all(|step| !step.ends_with("/build")),
                    "{}: {moved:?}",
                    change.name
                );
            }
            _ => assert!(!moved.is_empty(), "{}", change.name),
        }
    }
}
