//! The verbs about what builds did and would do, on a machine without an engine.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::Command;

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
