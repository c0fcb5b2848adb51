//! What a change costs: `COSTS.md` of the example, made from the graph and from the seconds in
//! `ledger.json`, against what the Dockerfiles ran again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::LazyLock;

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

/// A change: what it is called, before and after, which parts of the Dockerfiles ran again, and the reason.
struct Change {
    name: &'static str,
    old: Manifest,
    new: Manifest,
    there: Vec<&'static str>,
    why: &'static str,
}

impl Change {
    fn impact(&self) -> Impact {
        let seconds = ledger().0;
        impact(&self.old, &self.new, &Known::of(&self.old), &seconds, 1)
    }

    /// The steps that this change moves.
    fn moved(&self) -> BTreeSet<String> {
        let lines = self.impact().moved.into_iter();
        lines.map(|line| line.step).collect()
    }
}

/// The parts of the Dockerfiles, each with the steps of the ledger that took their seconds; none where nobody knows them.
/// What moved there moved whole: one image stood on the other.
#[rustfmt::skip]
const PARTS: [(&str, &[&str]); 18] = [
    ("scoop", &[]), ("vcpkg", &[]), ("Rust", &["base/rust"]),
    ("CPython", &[]), ("LLVM", &["patched-llvm/llvm"]),
    ("ONNX Runtime", &["onnx/build"]), ("FFmpeg with PyAV", &["ffmpeg/build"]), ("OpenCV", &["opencv/build"]),
    ("HailoRT", &[]), ("GenAI", &["genai/build"]), ("LiteRT", &["litert/build"]), ("TVM with IREE", &["tvm/build"]),
    ("merge", &["gstreamer/build"]), ("llama", &["llama-hip/build"]), ("torch", &["torch/app"]),
    ("PyTorch for ROCm", &["torch-rocm-wheels/torch", "torch-rocm-wheels/torchvision", "torch-rocm/install"]),
    ("final", &[]), ("sdk", &[]),
];

/// From one part to another, in the order of the chain.
fn from(first: &str, last: &str, without: &[&str]) -> Vec<&'static str> {
    let parts = PARTS.iter().map(|(name, _)| *name);
    let from = parts.skip_while(|name| *name != first).collect::<Vec<_>>();
    let end = from.iter().position(|name| *name == last).expect(last);
    let chain = from.into_iter().take(end + 1);
    chain.filter(|name| !without.contains(name)).collect()
}

/// Parts of the Dockerfiles with what is known of their seconds, and the sum; `?` where nobody wrote it down.
fn parts(of: &[&str]) -> (String, String) {
    let seconds = ledger().0;
    let (mut names, mut sum, mut unknown) = (Vec::new(), 0.0, false);
    for name in of {
        let (_, steps) = PARTS.iter().find(|(part, _)| part == name).expect(name);
        let known: f64 = steps.iter().map(|step| seconds[*step]).sum();
        unknown |= steps.is_empty();
        sum += known;
        let text = if steps.is_empty() {
            "?".to_owned()
        } else {
            format!("{known:.0}")
        };
        names.push(format!("{name} ({text})"));
    }
    (names.join(", "), total(sum, unknown))
}

/// A sum of seconds, some of which nobody may know.
fn total(seconds: f64, unknown: bool) -> String {
    // The sum of nothing is -0.
    format!("{:.0}{}", seconds + 0.0, if unknown { " + ?" } else { "" })
}

/// What [`changes`] makes, made once.
static CHANGES: LazyLock<Vec<Change>> = LazyLock::new(changes);

fn changes() -> Vec<Change> {
    let rocm_alone = ["llama", "PyTorch for ROCm"];
    let beside = ["LiteRT", "TVM with IREE", "llama", "PyTorch for ROCm"];
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
            from("FFmpeg with PyAV", "final", &beside),
            "one chain of images there; here HailoRT and GenAI take nothing of FFmpeg",
        ),
        change(
            "a PyAV bump",
            pinned("PYAV_VERSION", "20.0.0"),
            from("FFmpeg with PyAV", "final", &beside),
            "one RUN with FFmpeg there; here a stage that takes FFmpeg's tree",
        ),
        change(
            "an ONNX Runtime bump",
            pinned("ONNXRUNTIME_VERSION", "v1.31.0"),
            from("ONNX Runtime", "final", &beside),
            "all that links it may run; HailoRT does not",
        ),
        change(
            "a GenAI bump",
            pinned("ONNXRUNTIME_GENAI_VERSION", "v0.18.0"),
            from("GenAI", "final", &beside),
            "the merge compiled GStreamer, which takes nothing of GenAI",
        ),
        change(
            "an OpenCV bump",
            pinned("OPENCV_VERSION", "5.1.0"),
            from("OpenCV", "final", &beside),
            "GStreamer and its plugin take OpenCV; HailoRT and GenAI do not",
        ),
        change(
            "a TVM bump",
            pinned("TVM_REF", "v0.28.0"),
            from("TVM with IREE", "final", &rocm_alone),
            "GStreamer and IREE take nothing of TVM",
        ),
        change(
            "a GStreamer bump",
            pinned("GSTREAMER_VERSION", "1.30.0"),
            from("merge", "final", &rocm_alone),
            "the same compile; layers, staging and wheels stood behind it there",
        ),
        change(
            "a Flutter bump",
            pinned("FLUTTER_VERSION", "3.48.0"),
            from("scoop", "final", &rocm_alone),
            "one RUN of 19 arguments in the base there; here a tree that the final image takes",
        ),
        change(
            "a floor raised",
            edited(
                "gates/tree.toml",
                "requirements = { least = 10 }",
                "requirements = { least = 12 }",
            ),
            from("merge", "final", &rocm_alone),
            "the floors of dependencies stood above GStreamer's compile",
        ),
        change(
            "a new build date and revision",
            example.manifest("winamd64", &stamps),
            vec!["final"],
            "stamps are in labels alone; in final they stood above the RUN with Vulkan's loader and two copies",
        ),
        change(
            "a new cache endpoint",
            amd64(),
            from("scoop", "final", &rocm_alone),
            "a host setting is in no key; there it was an argument of every compile, 23 of 43 RUNs, and as the preseed's of the base from scoop on",
        ),
        change(
            "an edit of a helper of two steps",
            amd64().with_changed_file(helper),
            from("merge", "final", &rocm_alone),
            "who reads it lists it; there it was in one set of modules for eight RUNs. The image carries the modules, so it copies them again",
        ),
        change(
            "a comment in versions.env",
            edited(
                "versions.env",
                "FFMPEG_VERSION=",
                "# n9 next\nFFMPEG_VERSION=",
            ),
            from("CPython", "final", &rocm_alone),
            "the file was mounted whole; here steps see the pins that they name",
        ),
        change(
            "the target from amd64 to arm64",
            example.manifest("winarm64", &[]),
            [from("ONNX Runtime", "merge", &[]), vec!["final"]].concat(),
            "base, sdk and toolchain are one for both, here as there",
        ),
        Change {
            name: "ROCm's spikes off",
            old: rocm(&[]),
            new: rocm(&[("spikes", "false")]),
            there: from("ONNX Runtime", "final", &["LiteRT"]),
            why: "ONNX Runtime and TVM are told of it; PyTorch for ROCm stood behind media there",
        },
        Change {
            name: "a commit of the application",
            old: at_commit(&"12".repeat(20)),
            new: at_commit(&"56".repeat(20)),
            there: vec!["torch", "final"],
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
    let mut page = "# What a change costs\n\n\
        Written by a test from the graph and from [ledger.json](ledger.json); do not edit.\n\
        Of one change the command says the same: `lanekit impact FFMPEG_VERSION=n9.1 --seconds ledger.json`.\n\
        Seconds are those of a step without any cache, where somebody wrote them down; `?` is what nobody knows, and a step without a number has none.\n\
        What *must* run has another key. What *may* run does so only if the bytes that it takes are others.\n\
        On the right is what the Dockerfiles ran again: no step of theirs stops because bytes are equal.\n\n\
        | change | must run | s | may run | s | the Dockerfiles ran | s | why |\n|---|---|--:|---|--:|---|--:|---|\n"
        .to_owned();
    let changes = &*CHANGES;
    for change in changes {
        let impact = change.impact();
        let unknown = |fate| {
            let mut of = impact.moved.iter().filter(|line| line.fate == fate);
            of.any(|line| line.seconds.is_none())
        };
        let (must, all) = (impact.must.total, impact.all.total);
        let (there, seconds) = parts(&change.there);
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {} | {there} | {seconds} | {} |",
            change.name,
            steps(&impact, Fate::Must),
            total(must, unknown(Fate::Must)),
            steps(&impact, Fate::May),
            total(all - must, unknown(Fate::May)),
            change.why,
        );
    }
    page.push_str("\n## By which edges\n\nWho may run, and what that moved it takes.\n\n");
    for change in changes {
        let edges = edges(change);
        if !edges.is_empty() {
            let _ = writeln!(page, "- {}: {}.", change.name, edges.join("; "));
        }
    }
    page
}

/// The stages whose steps made what a node stands on or takes, through merges, copies and trees.
fn makers(manifest: &Manifest, node: &str, of: &mut BTreeSet<String>) {
    for input in manifest
        .node(node)
        .into_iter()
        .flat_map(|node| node.inputs.values())
    {
        let Some(other) = manifest.node(&input.node) else {
            continue;
        };
        if other.kind == Kind::Step {
            of.insert(other.id.clone());
        } else {
            makers(manifest, &other.id, of);
        }
    }
}

/// Each step that may run after a change, with the moved stages that it takes or stands on.
fn edges(change: &Change) -> Vec<String> {
    let impact = change.impact();
    let moved = change.moved();
    let stage = |step: &str| step.split('/').next().unwrap_or_default().to_owned();
    let may = impact.moved.iter().filter(|line| line.fate == Fate::May);
    let edges = may.map(|line| {
        let mut makers_of = BTreeSet::new();
        makers(&change.new, &line.step, &mut makers_of);
        let of: BTreeSet<String> = makers_of
            .intersection(&moved)
            .map(|step| format!("`{}`", stage(step)))
            .collect();
        assert!(
            !of.is_empty(),
            "{}: {} moves for nothing",
            change.name,
            line.step
        );
        format!(
            "`{}` of {}",
            line.step,
            of.into_iter().collect::<Vec<_>>().join(", ")
        )
    });
    edges.collect()
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

/// The steps that a change moves.
fn moved(name: &str) -> BTreeSet<String> {
    let change = CHANGES.iter().find(|change| change.name == name);
    change.expect(name).moved()
}

#[test]
fn floors_stamps_endpoint_and_comment_re_run_nothing() {
    for name in [
        "a floor raised",
        "a new build date and revision",
        "a new cache endpoint",
        "a comment in versions.env",
    ] {
        assert_eq!(moved(name), BTreeSet::new(), "{name}");
    }
}

#[test]
fn a_pyav_bump_re_runs_no_onnx_and_no_compile_but_its_own() {
    let moved = moved("a PyAV bump");
    let builds: Vec<&String> = moved
        .iter()
        .filter(|step| step.ends_with("/build"))
        .collect();
    assert_eq!(builds, ["pyav/build"]);
    assert!(!moved.contains("onnx/build"));
}

#[test]
fn a_commit_of_the_application_and_a_flutter_bump_re_run_no_compile() {
    for (name, first) in [
        ("a commit of the application", "torch/app"),
        ("a Flutter bump", "flutter/install"),
    ] {
        let moved = moved(name);
        assert!(moved.contains(first), "{name}: {moved:?}");
        assert!(
            moved.iter().all(|step| !step.ends_with("/build")),
            "{name}: {moved:?}"
        );
    }
}

/// With itself: what links ONNX Runtime, and the application, which installs its wheel. PyAV is behind FFmpeg.
#[test]
fn an_onnx_runtime_bump_reaches_eight_components() {
    let example = Example::read();
    let (old, new) = (
        example.manifest("winamd64-rocm", &[]),
        example
            .pinned("ONNXRUNTIME_VERSION", "v1.31.0")
            .manifest("winamd64-rocm", &[]),
    );
    let moved = impact(&old, &new, &Known::of(&old), &BTreeMap::new(), 1)
        .moved
        .into_iter();
    let steps = moved.map(|line| line.step);
    let components: BTreeSet<String> = steps
        .filter(|step| step.ends_with("/build") || step == "torch/app")
        .collect();
    let of = [
        "onnx/build",
        "ffmpeg/build",
        "opencv/build",
        "genai/build",
        "gstreamer/build",
        "opencv-gstreamer/build",
        "amdgpu-ep/build",
        "torch/app",
        "pyav/build",
    ];
    assert_eq!(components, of.map(str::to_owned).into());
}

/// Nothing re-runs less than what depends on it: each consumer of the system's own list of edges, by the tree that it takes.
#[test]
fn each_consumer_moves_with_what_it_takes() {
    #[rustfmt::skip]
    let edges = [
        ("ONNXRUNTIME_VERSION", "onnx", &["ffmpeg/build", "opencv/build", "genai/build", "gstreamer/build", "amdgpu-ep/build", "deps/download"][..]),
        ("FFMPEG_VERSION", "ffmpeg", &["pyav/build", "opencv/build", "gstreamer/build"]),
        ("OPENCV_VERSION", "opencv", &["gstreamer/build", "opencv-gstreamer/build"]),
        ("GSTREAMER_VERSION", "gstreamer", &["opencv-gstreamer/build"]),
        ("LITERT_VERSION", "litert", &["gstreamer/build", "deps/download"]),
        ("ONNXRUNTIME_GENAI_VERSION", "genai", &["deps/download"]),
        ("PYAV_VERSION", "pyav", &["deps/download"]),
        ("TVM_REF", "tvm", &["deps/download"]),
        ("IREE_VERSION", "iree", &["deps/download"]),
        ("MIGRAPHX_WINDOWS_COMMIT", "migraphx", &["amdgpu-ep/build"]),
        ("PYTORCH_VERSION", "torch-rocm-wheels", &["torch-rocm/install"]),
    ];
    let old = Example::read().manifest("winamd64-rocm", &[]);
    for (pin, stage, consumers) in edges {
        let new = Example::read()
            .pinned(pin, "9")
            .manifest("winamd64-rocm", &[]);
        let moved = impact(&old, &new, &Known::of(&old), &BTreeMap::new(), 1).moved;
        let moved: BTreeSet<String> = moved.into_iter().map(|line| line.step).collect();
        for consumer in consumers {
            assert!(moved.contains(*consumer), "{pin}: {consumer} stays");
            let mut of = BTreeSet::new();
            makers(&new, consumer, &mut of);
            let edge = of.iter().any(|step| step.split('/').next() == Some(stage));
            assert!(edge, "{consumer} takes nothing of {stage}");
        }
        // All of these are in the image, and the application is installed there.
        assert!(
            moved.contains("torch/app") || stage == "torch-rocm-wheels",
            "{pin}"
        );
        assert!(moved.contains("smoke/suite"), "{pin}");
    }
}

/// Wheels, libraries and programs are of one interpreter. These alone have nothing of it.
#[test]
fn a_python_bump_reaches_all_but_these() {
    let example = Example::read();
    let old = example.manifest("winarm64", &[]);
    let new = example
        .pinned("PYTHON_VERSION", "3.99.0")
        .manifest("winarm64", &[]);
    let moved = impact(&old, &new, &Known::of(&old), &BTreeMap::new(), 1).moved;
    let moved: BTreeSet<String> = moved.into_iter().map(|line| line.step).collect();
    let steps = new.nodes.iter().filter(|node| node.kind == Kind::Step);
    let stay = steps
        .filter(|node| !moved.contains(&node.id))
        .filter_map(|node| node.id.split('/').next());
    let stay: BTreeSet<&str> = stay.collect();
    assert_eq!(
        stay.into_iter().collect::<Vec<_>>().join(" "),
        "base flutter lavapipe scripts vs-runtime"
    );
}
