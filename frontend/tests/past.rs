//! The verbs about what builds did and would do, on a machine without an engine.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const LANES: &str = r#"[graph]
name = "past"
versions = "versions.env"
default = "one"
[lane.one]
platform = "linux/amd64"
output.image = { stage = "final" }
[lane.two]
platform = "linux/amd64"
output.image = { stage = "other" }
[stage.base]
from = { image = "busybox:1.36" }
[stage.lib]
from = "base"
tree = ["/out/lib"]
[[stage.lib.step]]
name = "build"
args = ["LIB_VERSION"]
files = ["lib.txt"]
run = ["lib"]
[stage.final]
from = "base"
[[stage.final.step]]
name = "link"
uses = ["lib"]
run = ["link"]
[[stage.final.step]]
name = "index"
run = ["index"]
[stage.other]
from = "base"
[[stage.other.step]]
name = "build"
args = ["OTHER"]
run = ["other"]
"#;

struct Graph(tempfile::TempDir);

struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Graph {
    fn new() -> Self {
        let graph = Self(tempfile::tempdir().unwrap());
        graph.write("lanes.toml", LANES);
        graph.write("versions.env", "LIB_VERSION=1\nOTHER=1\n");
        graph.write("lib.txt", "lib\n");
        graph
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn run(&self, words: &str) -> Said {
        self.run_with(words, &[])
    }

    fn run_with(&self, words: &str, env: &[(&str, &str)]) -> Said {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lanekit"));
        command.env_clear().current_dir(self.path());
        command.args(words.split(' ')).envs(env.iter().copied());
        // For `--since`, which asks git.
        let output = command.env("PATH", std::env::var("PATH").unwrap()).output();
        let output = output.unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        Said {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    fn pass(&self, words: &str) -> String {
        let said = self.run(words);
        assert_eq!(said.code, Some(0), "{words}: {}{}", said.out, said.err);
        said.out
    }

    /// Keeps a build as `docker buildx build --progress=rawjson --metadata-file` tells it.
    fn record(&self, vertices: &[(&str, u64, bool)]) -> String {
        self.write("progress", &rawjson(vertices));
        self.write(
            "metadata.json",
            r#"{"buildx.build.ref":"default/default/x"}"#,
        );
        self.pass("record --progress progress --metadata metadata.json")
    }

    fn git(&self, words: &str) {
        let mut git = Command::new("git");
        git.current_dir(self.path()).env("HOME", self.path());
        git.args(["-c", "user.name=n", "-c", "user.email=n@example.com"]);
        let output = git.args(words.split(' ')).output().unwrap();
        assert!(output.status.success(), "git {words}: {output:?}");
    }
}

/// Vertices by name, each with its seconds and whether it came from the cache.
fn rawjson(vertices: &[(&str, u64, bool)]) -> String {
    let line = |(number, (name, seconds, cached)): (usize, &(&str, u64, bool))| {
        let vertex = json!({
            "digest": format!("sha256:{number}"),
            "name": name,
            "started": "2026-12-01T12:00:00Z",
            "completed": format!("2026-12-01T12:00:{seconds:02}Z"),
            "cached": cached,
        });
        format!("{}\n", json!({ "vertexes": [vertex] }))
    };
    let mut text: String = vertices.iter().enumerate().map(line).collect();
    // A layer that was fetched for the first of them.
    let transfer = json!({ "id": "layer", "vertex": "sha256:0", "current": 2048, "total": 2048 });
    text.push_str(&format!("{}\n", json!({ "statuses": [transfer] })));
    text + "WARN: a line of buildx itself\n"
}

const ALL: [(&str, u64, bool); 4] = [
    ("[lib/build] lib", 20, false),
    ("[lib] tree", 0, false),
    ("[final/link] link", 5, false),
    ("[final/index] index", 2, false),
];

#[test]
fn a_build_of_buildx_is_kept_with_times_bytes_and_reasons() {
    let graph = Graph::new();
    let first = graph.record(&ALL);
    assert!(
        first.starts_with("one: build 1 succeeded: 3 run in 27.0 s, 0 cached, 0.0 s saved\n"),
        "{first}"
    );
    graph.write("versions.env", "LIB_VERSION=2\nOTHER=1\n");
    // The tree's bytes are those of before: nothing behind it runs.
    let second = graph.record(&[
        ("[lib/build] lib", 21, false),
        ("[lib] tree", 0, true),
        ("[final/link] link", 0, true),
        ("[final/index] index", 0, true),
    ]);
    insta::assert_snapshot!(second, @r"
    one: build 2 succeeded: 1 run in 21.0 s, 2 cached, 7.0 s saved
      lib/build ran (21.0 s): env.LIB_VERSION: 1 → 2
    ");
    let ledger: Value = serde_json::from_str(&graph.pass("ledger")).unwrap();
    assert_eq!(ledger["schema"], "lanekit-ledger/1");
    assert_eq!(ledger["builds"][0]["totals"]["bytes"], 2048);
    assert_eq!(ledger["builds"][1]["number"], 2);
    assert_eq!(ledger["builds"][1]["engine"], "default");
    assert_eq!(
        graph.pass("explain"),
        "lib/build ran (21.0 s): env.LIB_VERSION: 1 → 2\n"
    );
}

#[test]
fn a_build_without_metadata_has_failed() {
    let graph = Graph::new();
    graph.write("progress", &rawjson(&ALL[..1]));
    let said = graph.pass("record --progress progress");
    assert!(
        said.starts_with(
            "one: build 1 FAILED: 1 run in 20.0 s, 0 cached, 0.0 s saved, 2 not reached\n"
        ),
        "{said}"
    );
    // What a step stands on came from the cache, also where nothing shows it.
    graph.write("progress", &rawjson(&ALL[2..3]));
    let said = graph.pass("record --progress progress");
    assert!(
        said.starts_with(
            "one: build 2 FAILED: 1 run in 5.0 s, 1 cached, 20.0 s saved, 1 not reached\n"
        ),
        "{said}"
    );
}

#[test]
fn a_changed_pin_and_a_changed_file_are_told_before_they_are_made() {
    let graph = Graph::new();
    graph.record(&ALL);
    insta::assert_snapshot!("impact_pin", graph.pass("impact LIB_VERSION=2"));
    insta::assert_snapshot!("impact_file", graph.pass("impact --file lib.txt"));
    insta::assert_snapshot!(
        "impact_markdown",
        graph.pass("impact --file lib.txt --format markdown")
    );
    let json: Value =
        serde_json::from_str(&graph.pass("impact LIB_VERSION=2 --workers 2 --format json"))
            .unwrap();
    insta::assert_snapshot!("impact_json", format!("{json:#}"));
    for nothing in ["impact OTHER=2", "impact --file README.md"] {
        let said = graph.pass(nothing);
        assert_eq!(said, "one: of 3 steps 0 must run, 0 may run\n", "{nothing}");
    }
    // What was built before comes from the cache again.
    graph.write("versions.env", "LIB_VERSION=2\nOTHER=1\n");
    graph.record(&ALL);
    let back = graph.pass("impact LIB_VERSION=1");
    assert!(
        back.starts_with("one: of 3 steps 0 must run, 0 may run"),
        "{back}"
    );
}

/// A reader sees first what is built when nobody names a lane.
#[test]
fn pictures_begin_with_the_default_lane() {
    let graph = Graph::new();
    let order = |text: &str| {
        (
            text.find("past: one").unwrap(),
            text.find("past: two").unwrap(),
        )
    };
    let (one, two) = order(&graph.pass("graph --format svg"));
    assert!(one < two);
    graph.write("lanes.toml", &LANES.replace("\"one\"", "\"two\""));
    let (one, two) = order(&graph.pass("graph --format svg"));
    assert!(two < one);
}

#[test]
fn a_change_over_budget_is_exit_1() {
    let graph = Graph::new();
    graph.record(&ALL);
    // 20 seconds must run; what only may run does not count.
    for (most, code) in [("19", 1), ("20", 0), ("60", 0)] {
        let said = graph.run(&format!("impact LIB_VERSION=2 --max-seconds {most}"));
        assert_eq!(said.code, Some(code), "{most}: {}{}", said.out, said.err);
        assert!(said.out.contains("lib/build"), "{}", said.out);
    }
}

#[test]
fn what_changed_since_a_revision_is_told() {
    let graph = Graph::new();
    graph.git("init --quiet");
    graph.git("add lanes.toml versions.env lib.txt");
    graph.git("commit --quiet --message first");
    let none = "one: of 3 steps 0 must run, 0 may run\n";
    assert_eq!(graph.pass("impact --since HEAD"), none);
    graph.write("lib.txt", "other\n");
    graph.write("versions.env", "LIB_VERSION=1\nOTHER=2\n");
    let said = graph.pass("impact --since HEAD");
    assert!(
        said.starts_with("one: of 3 steps 1 must run, 2 may run\n")
            && said.contains("lib/build: file lib.txt changed"),
        "{said}"
    );
    // What was stands before what is.
    graph.write("versions.env", "LIB_VERSION=2\nOTHER=1\n");
    let said = graph.pass("impact --since HEAD");
    assert!(said.contains("env.LIB_VERSION: 1 → 2"), "{said}");
    // The work tree and the index stay as they are.
    assert_eq!(
        fs::read_to_string(graph.path().join("lib.txt")).unwrap(),
        "other\n"
    );
    graph.git("diff --cached --quiet");
    let wrong = graph.run("impact --since nowhere");
    assert_eq!(wrong.code, Some(2), "{}", wrong.err);
    assert!(wrong.err.contains("no commit `nowhere`"), "{}", wrong.err);
}

#[test]
fn the_summary_of_a_build_goes_to_the_summary_of_the_job() {
    let graph = Graph::new();
    graph.write("progress", &rawjson(&ALL));
    graph.write("metadata.json", "{}");
    let words = "record --progress progress --metadata metadata.json";
    let job = graph.path().join("job.md");
    let env = [("GITHUB_STEP_SUMMARY", job.to_str().unwrap())];
    fs::write(&job, "before\n").unwrap();
    let said = graph.run_with(words, &env);
    assert_eq!(said.code, Some(0), "{}", said.err);
    insta::assert_snapshot!("job_summary", fs::read_to_string(&job).unwrap());
    // A file that was asked for goes before it.
    let said = graph.run_with(&format!("{words} --summary-md own.md"), &env);
    assert_eq!(said.code, Some(0), "{}", said.err);
    let own = fs::read_to_string(graph.path().join("own.md")).unwrap();
    assert!(own.starts_with("### one: build 2 "), "{own}");
    let job = fs::read_to_string(&job).unwrap();
    assert!(!job.contains("build 2"), "{job}");
}

#[test]
fn what_failed_was_cached_or_judged_is_kept_too() {
    let graph = Graph::new();
    graph.record(&ALL);
    // Of two vertices of one step one came from the cache: the step ran. A name that begins with another's is not it.
    graph.write("versions.env", "LIB_VERSION=2\nOTHER=1\n");
    let line = |digest: &str, name: &str, cached: bool, error: &str| {
        let vertex = json!({
            "digest": digest, "name": name, "cached": cached, "error": error,
            "started": "2026-12-01T12:00:00Z", "completed": "2026-12-01T12:00:03Z",
        });
        format!("{}\n", json!({ "vertexes": [vertex] }))
    };
    let told = [
        line("sha256:1", "[lib/build] lib", false, ""),
        line("sha256:2", "[lib/build] lib again", true, ""),
        line("sha256:3", "[lib] tree", true, ""),
        line("sha256:4", "[final/link] link", false, "exit code: 1"),
    ];
    graph.write("progress", &told.concat());
    let metadata =
        json!({ "frontend.lanekit.gates": { "gates": { "arch": { "verdict": "fail" } } } });
    graph.write("metadata.json", &metadata.to_string());
    graph.pass("record --progress progress --metadata metadata.json");
    let ledger: Value = serde_json::from_str(&graph.pass("ledger")).unwrap();
    let build = &ledger["builds"][1];
    assert_eq!(build["gates"], json!({ "arch": "fail" }), "{build:#}");
    let nodes = build["nodes"].as_object().unwrap();
    assert_eq!(
        nodes.keys().collect::<Vec<_>>(),
        ["final/link", "lib/build"]
    );
    assert_eq!(nodes["lib/build"]["end"], "ran");
    assert_eq!(nodes["lib/build"]["seconds"], 6.0, "of both vertices");
    assert_eq!(nodes["final/link"]["end"], "failed");
    assert_eq!(build["totals"]["failed"], 1);
}

#[test]
fn what_came_from_a_cache_is_known_from_then_on() {
    let graph = Graph::new();
    graph.record(&ALL);
    graph.write("versions.env", "LIB_VERSION=2\nOTHER=1\n");
    graph.record(&ALL.map(|(name, _, _)| (name, 0, true)));
    graph.write("versions.env", "LIB_VERSION=1\nOTHER=1\n");
    let said = graph.pass("impact LIB_VERSION=2");
    assert!(
        said.starts_with("one: of 3 steps 0 must run, 0 may run"),
        "{said}"
    );
}

#[test]
fn a_build_of_the_same_keys_lost_its_cache() {
    let graph = Graph::new();
    graph.record(&ALL);
    graph.record(&ALL);
    let said = graph.pass("explain");
    let lost = "its key is the same, so its cache record was lost";
    assert!(
        said.contains(&format!("final/index ran (2.0 s): {lost}")),
        "{said}"
    );
    assert!(said.contains("garbage collection"), "{said}");
}

#[test]
fn seconds_that_somebody_wrote_down_count_where_nothing_was_measured() {
    let graph = Graph::new();
    let times = |text: &str| {
        graph.write("times.json", text);
        graph.run("impact LIB_VERSION=2 --seconds times.json")
    };
    let known = r#"{"steps": {"lib/build": {"seconds": 90, "source": "a note"}, "final/index": {"seconds": null}}}"#;
    let said = times(known);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(
        said.out.contains("must      90 s  lib/build"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("90 s on the critical path (lib/build)"),
        "{}",
        said.out
    );
    assert!(
        said.out.contains("counted as nothing: 2 of them"),
        "{}",
        said.out
    );
    // What a build measured counts for more.
    graph.record(&ALL);
    let said = times(known);
    assert!(
        said.out.contains("must      20 s  lib/build"),
        "{}",
        said.out
    );
    for (text, wrong) in [
        ("{", "EOF while parsing"),
        ("{}", "missing field `steps` at line 1 column 2; expected"),
        (
            r#"{"steps": {"lib/bild": {"seconds": 1}, "x": {"seconds": 1}}}"#,
            "the graph has no step `lib/bild`; the graph has no step `x`",
        ),
        (
            r#"{"steps": {"lib/build": {"seconds": -1}}}"#,
            "`lib/build` takes less than no time",
        ),
    ] {
        let said = times(text);
        assert_eq!(said.code, Some(2), "{text}");
        assert!(
            said.err.contains("--seconds times.json: ") && said.err.contains(wrong),
            "{}",
            said.err
        );
    }
    let said = graph.run("impact LIB_VERSION=2 --seconds nowhere.json");
    assert_eq!(said.code, Some(2));
}

/// The page of costs of the large example says what the command says.
#[test]
fn the_page_of_costs_is_what_impact_says() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/windows-media");
    let page = fs::read_to_string(directory.join("COSTS.md")).unwrap();
    let rocm = "-t winamd64-rocm spikes=false";
    let helper = "--file windows/scripts/modules/WindowsGstPlugins.Common.psm1";
    for (change, words) in [
        ("an FFmpeg bump", "FFMPEG_VERSION=n9.1"),
        ("a PyAV bump", "PYAV_VERSION=20.0.0"),
        ("an ONNX Runtime bump", "ONNXRUNTIME_VERSION=v1.31.0"),
        ("a GenAI bump", "ONNXRUNTIME_GENAI_VERSION=v0.18.0"),
        ("an OpenCV bump", "OPENCV_VERSION=5.1.0"),
        ("a TVM bump", "TVM_REF=v0.28.0"),
        ("a GStreamer bump", "GSTREAMER_VERSION=1.30.0"),
        ("a Flutter bump", "FLUTTER_VERSION=3.48.0"),
        (
            "a new build date and revision",
            "BUILD_DATE=2026-12-02 VCS_REF=0123456",
        ),
        ("an edit of a helper of two steps", helper),
        ("ROCm's spikes off", rocm),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lanekit"));
        command
            .current_dir(&directory)
            .arg("impact")
            .args(words.split(' '));
        command.args([
            "--seconds",
            "ledger.json",
            "--format",
            "json",
            "--workers",
            "1",
        ]);
        // Nothing was built beside the example.
        command.env("LANEKIT_LEDGER", "nowhere");
        let output = command.output().unwrap();
        assert!(output.status.success(), "{change}: {output:?}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let of = |fate: &str| -> String {
            let lines = json["moved"].as_array().unwrap().iter();
            let of = lines.filter(|line| line["fate"] == fate).map(|line| {
                let step = line["step"].as_str().unwrap();
                match line["seconds"].as_f64() {
                    Some(seconds) => format!("`{step}` ({seconds:.0})"),
                    None => format!("`{step}`"),
                }
            });
            let of: Vec<String> = of.collect();
            if of.is_empty() {
                "–".into()
            } else {
                of.join(", ")
            }
        };
        let row = page
            .lines()
            .find(|line| line.starts_with(&format!("| {change} |")));
        let cells: Vec<&str> = row.expect(change).split(" | ").collect();
        assert_eq!(
            (cells[1], cells[3]),
            (of("must").as_str(), of("may").as_str()),
            "{change}"
        );
        let known = |cell: &str| cell.trim_end_matches(" + ?").parse::<f64>().unwrap();
        let total = |of: &str| json[of]["total"].as_f64().unwrap();
        assert_eq!(known(cells[2]), total("must").round(), "{change}");
        assert_eq!(
            known(cells[4]),
            (total("all") - total("must")).round(),
            "{change}"
        );
    }
}

#[test]
fn what_was_never_measured_is_counted_and_bars_are_no_columns() {
    let graph = Graph::new();
    graph.record(&ALL[..1]);
    let said = graph.pass("impact LIB_VERSION=a|b --format markdown");
    assert!(said.contains("env.LIB_VERSION: 1 → a\\|b |\n"), "{said}");
    assert!(
        said.contains("never measured, counted as nothing: 2 of them"),
        "{said}"
    );
}

/// Every command line that cannot be answered, with what it says.
#[test]
fn what_impact_cannot_answer_it_says() {
    let graph = Graph::new();
    for (words, code, says) in [
        ("impact", 2, "required arguments were not provided"),
        (
            "impact LIB_VERSIO=2",
            2,
            "`LIB_VERSIO` is no argument, switch or pin: did you mean `LIB_VERSION`?",
        ),
        ("impact LIB_VERSION", 2, "`LIB_VERSION` is not NAME=VALUE"),
        ("impact TARGETARCH=x", 1, "every lane has it"),
        ("impact LIB_VERSION=2 --workers 0", 2, "invalid value '0'"),
        (
            "impact LIB_VERSION=2 --max-seconds nan",
            2,
            "expected seconds",
        ),
        (
            "impact LIB_VERSION=2 --max-seconds -1",
            2,
            "expected seconds",
        ),
        (
            "impact LIB_VERSION=2 --max-seconds inf",
            2,
            "expected seconds",
        ),
    ] {
        let said = graph.run(words);
        assert_eq!(said.code, Some(code), "{words}: {}{}", said.out, said.err);
        assert!(said.err.contains(says), "{words}: {}", said.err);
        assert_eq!(said.out, "", "{words}");
    }
    // A file that no step sees re-runs nothing: that is said, and whether it is there.
    let unseen = graph.run("impact --file versions.env");
    assert_eq!(
        (unseen.code, unseen.err.as_str()),
        (Some(0), "lanekit: no step of lane one sees versions.env\n")
    );
    let absent = graph.run("impact --file lib.tx");
    assert_eq!(
        (absent.code, absent.err.as_str()),
        (
            Some(0),
            "lanekit: no step of lane one sees lib.tx, and the context has no such file\n"
        )
    );
    assert_eq!(graph.run("impact --file lib.txt").err, "");
    // The budget of nothing at all.
    graph.record(&ALL);
    let none = graph.run("impact LIB_VERSION=2 --max-seconds 0");
    assert_eq!(none.code, Some(1), "{}", none.err);
}

/// Files that are no graphs, and graphs that are none: an error with its place, in no time.
#[test]
fn files_that_are_no_graph_are_errors_of_impact() {
    let circle = LANES.replace("from = \"base\"\ntree", "from = \"final\"\ntree");
    let rows: [(&str, Vec<u8>, &str); 6] = [
        (
            "bytes",
            vec![0x5b, 0x67, 0xff, 0x00, 0x9f],
            "it is not text: byte 2 (line 1) is not UTF-8",
        ),
        ("nothing", Vec::new(), "a lane file has no `graph`"),
        ("half", LANES[..90].into(), "error[LK001]: this is not TOML"),
        (
            "huge",
            vec![b'#'; 50_000_000],
            "lanes.toml has 50000000 bytes; at most 2097152 are read",
        ),
        (
            "circle",
            circle.into(),
            "error[LK007]: stages consume each other in a circle",
        ),
        (
            "a deep list",
            format!("x = {}", "[".repeat(100_000)).into(),
            "error[LK001]: this is not TOML",
        ),
    ];
    for (name, bytes, says) in rows {
        let graph = Graph::new();
        fs::write(graph.path().join("lanes.toml"), bytes).unwrap();
        let begun = Instant::now();
        let said = graph.run("impact LIB_VERSION=2");
        let wrong = if name == "huge" { 2 } else { 1 };
        assert_eq!(said.code, Some(wrong), "{name}: {}", said.err);
        assert!(said.err.contains(says), "{name}: {}", said.err);
        assert_eq!(said.out, "", "{name}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{name}");
    }
    // What lies around the graph.
    let graph = Graph::new();
    for (file, bytes, words, code, says) in [
        (
            "versions.env",
            &b"\xff"[..],
            "LIB_VERSION=2",
            1,
            "versions.env cannot be read",
        ),
        (
            "s.json",
            b"[[[[",
            "LIB_VERSION=2 --seconds s.json",
            2,
            "--seconds s.json: ",
        ),
        (
            "s.json",
            b"{\"steps\":{\"lib/build\":{\"seconds\":-1}}}",
            "LIB_VERSION=2 --seconds s.json",
            2,
            "less than no time",
        ),
        (
            "f",
            b"",
            "LIB_VERSION=2 --context f",
            2,
            "--context f is no directory",
        ),
        (
            "f",
            b"",
            "LIB_VERSION=2 --context none",
            2,
            "--context none is no directory",
        ),
        ("f", b"", "--file= --target one", 2, "--file says nothing"),
    ] {
        graph.write("versions.env", "LIB_VERSION=1\nOTHER=1\n");
        fs::write(graph.path().join(file), bytes).unwrap();
        let said = graph.run(&format!("impact {words}"));
        assert_eq!(said.code, Some(code), "{words}: {}{}", said.out, said.err);
        assert!(said.err.contains(says), "{words}: {}", said.err);
        assert_eq!(said.out, "", "{words}");
    }
}

#[test]
fn what_was_wrong_in_a_revision_is_said_of_that_revision() {
    let graph = Graph::new();
    graph.git("init --quiet");
    graph.git("add versions.env lib.txt");
    graph.git("commit --quiet --message none");
    graph.write(
        "lanes.toml",
        &LANES.replace("uses = [\"lib\"]", "uses = [\"lob\"]"),
    );
    graph.git("add lanes.toml");
    graph.git("commit --quiet --message wrong");
    graph.write("lanes.toml", LANES);
    let absent = graph.run("impact --since HEAD~1");
    assert_eq!(
        (absent.code, absent.err.as_str()),
        (Some(2), "lanekit: --since: HEAD~1 has no lanes.toml\n")
    );
    let wrong = graph.run("impact --since HEAD");
    assert_eq!(wrong.code, Some(1), "{}", wrong.err);
    assert!(
        wrong.err.contains("there is no stage `lob`") && wrong.err.contains("--> HEAD:lanes.toml:"),
        "{}",
        wrong.err
    );
}

/// What is no build of this lane, or only a part of one, is not kept as one that succeeded.
#[test]
fn what_cannot_be_kept_is_said() {
    let graph = Graph::new();
    let whole = rawjson(&ALL);
    let cut = whole.lines().take(3).collect::<Vec<_>>().join("\n");
    let keys = |schema: &str| {
        let manifest = json!({ "schema": schema, "nodes": [] });
        json!({ "frontend.lanekit.keys": manifest }).to_string()
    };
    for (progress, metadata, says) in [
        ("", "{}", "progress: no step is in it"),
        (
            "#1 [lib/build] lib\n",
            "{}",
            "no step is in it: expected what",
        ),
        (&cut[..cut.len() - 9], "{}", "progress: line 3 is cut off"),
        (
            &rawjson(&[("[1/2] FROM busybox", 1, false)]),
            "{}",
            "nothing in it is of lane one",
        ),
        (&whole, "[1]", "metadata.json: expected the object"),
        (&whole, "no", "metadata.json: "),
        (
            &whole,
            &keys("lanekit-keys/9"),
            "found lanekit-keys/9, expected lanekit-keys/1",
        ),
        (&whole, &keys("lanekit-keys/1"), "missing field"),
        (
            &whole,
            r#"{"frontend.lanekit.keys":"x"}"#,
            "expected lanekit-keys/1, found no schema",
        ),
    ] {
        graph.write("progress", progress);
        graph.write("metadata.json", metadata);
        let said = graph.run("record --progress progress --metadata metadata.json");
        assert_eq!(said.code, Some(2), "{says}: {}{}", said.out, said.err);
        assert!(said.err.contains(says), "{says}: {}", said.err);
    }
    let ledger: Value = serde_json::from_str(&graph.pass("ledger")).unwrap();
    assert_eq!(ledger["builds"], json!([]));
    // Metadata of a frontend that sends no keys is no hindrance.
    graph.write("progress", &whole);
    graph.write("metadata.json", r#"{"containerimage.digest":"sha256:ab"}"#);
    graph.pass("record --progress progress --metadata metadata.json");
}

#[test]
fn builds_that_cannot_be_read_are_passed_over_and_that_is_said() {
    let graph = Graph::new();
    graph.record(&ALL);
    let runs = graph.path().join(".lanekit/runs.jsonl");
    let text = fs::read_to_string(&runs).unwrap();
    fs::write(&runs, format!("{text}garbage\n")).unwrap();
    let said = graph.run("explain");
    assert_eq!(said.code, Some(0));
    assert!(said.out.contains("lib/build ran"), "{}", said.out);
    assert!(
        said.err
            .contains("1 of the newest builds in .lanekit cannot be read"),
        "{}",
        said.err
    );
    // A lane's files that are damaged count as unknown; the next build writes them anew.
    for file in ["one.keys.json", "one.manifest.json"] {
        fs::write(graph.path().join(".lanekit").join(file), "{\"nodes\":3}").unwrap();
    }
    let said = graph.pass("impact LIB_VERSION=2");
    assert!(said.contains("never measured"), "{said}");
    graph.record(&ALL);
    assert_eq!(graph.run("explain").err, "");
    assert!(
        !graph
            .pass("impact LIB_VERSION=2")
            .contains("never measured")
    );
}

#[test]
fn a_ledger_that_cannot_be_written_is_an_error_with_its_place() {
    let graph = Graph::new();
    graph.write("progress", &rawjson(&ALL));
    graph.write("file", "");
    let words = "record --progress progress";
    let said = graph.run_with(words, &[("LANEKIT_LEDGER", "file/ledger")]);
    assert_eq!(said.code, Some(2));
    assert!(
        said.err.starts_with("lanekit: the ledger file/ledger: "),
        "{}",
        said.err
    );
}
