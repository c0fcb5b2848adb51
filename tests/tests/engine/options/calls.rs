//! `--call` and `--check`: as text, and as JSON of the shape that a Dockerfile's answers have.

use std::collections::BTreeSet;
use std::fs;

use engine_tests::{Example, buildx};
use serde_json::Value;

use super::lab::Lab;

/// A Dockerfile with one of each thing that answers tell of, and a warning.
const DOCKERFILE: &str = "\
# app is what is built
FROM scratch AS app
# WORD is a word
ARG WORD=x
COPY Dockerfile /
RUN --mount=type=secret,id=TOKEN,required=true --mount=type=ssh,required=true true
FROM app
copy Dockerfile /two
";

/// The keys of a document with the kinds of their values: `targets[].name: text`.
fn shape(value: &Value, at: &str, into: &mut BTreeSet<String>) {
    let kind = match value {
        Value::Object(map) => {
            for (key, value) in map {
                shape(value, &format!("{at}.{key}"), into);
            }
            return;
        }
        Value::Array(list) => {
            let at = format!("{at}[]");
            return list.iter().for_each(|value| shape(value, &at, into));
        }
        Value::String(_) => "text",
        Value::Number(_) => "number",
        Value::Bool(_) => "bool",
        Value::Null => return,
    };
    into.insert(format!("{at}: {kind}"));
}

fn shape_of(text: &str) -> BTreeSet<String> {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let mut found = BTreeSet::new();
    shape(&value, "", &mut found);
    found
}

pub(super) fn call(lab: &Lab) {
    lab.build(&["--call=build"]).pass("step ran");
    lab.build(&["--call=targets"])
        .pass("l (default)")
        .says("l/tree");
    lab.build(&["--call=outline"])
        .pass("WORD        none    what the step says")
        .says("TOKEN");
    lab.build(&["--call=subrequests.describe"])
        .pass("outline ")
        .says("plan ");
    lab.build(&["--call=plan"])
        .pass("  say: /bin/sh -eu /lanekit/.script/run")
        .says("argument WORD")
        .says("secret TOKEN, optional")
        .says("/lanekit/input.txt");
    let plan = lab.build(&["--call=plan,format=json"]).pass("").out;
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    assert_eq!(plan["schema"], "plan/1");
    assert_eq!(plan["stages"][0]["steps"][0]["step"], "say");
    lab.build(&["--call=nothing"])
        .fail("unsupported request frontend.nothing");
    alike(lab);
}

/// No key of our answers is unknown to who reads those of Dockerfiles, and none that those always have is missing.
fn alike(lab: &Lab) {
    lab.example.edit(
        "lanes.toml",
        "host  = [\"TOKEN\"]",
        "host  = [\"TOKEN\"]\nssh = true",
    );
    lab.example.edit(
        "lanes.toml",
        "about = \"a secret\"",
        "about = \"a secret\"\nneed = \"required\"",
    );
    let theirs = Example::of("");
    theirs.write("Dockerfile", DOCKERFILE);
    let directory = theirs.path().to_string_lossy().into_owned();
    // Of a Dockerfile's stage, what it starts from; a lane has steps for a platform instead.
    let differ =
        BTreeSet::from([".targets[].base: text", ".targets[].platform: text"].map(str::to_owned));
    for request in ["targets", "outline", "subrequests.describe"] {
        let call = format!("--call={request},format=json");
        let ours = lab.build(&[&call]).pass("").out;
        let theirs = buildx(lab.engine, &[&call, &directory], &[], b"");
        let theirs = shape_of(&theirs.pass("").out);
        let differences: BTreeSet<String> = shape_of(&ours)
            .symmetric_difference(&theirs)
            .filter(|key| !differ.contains(*key))
            .cloned()
            .collect();
        assert!(differences.is_empty(), "{request}: {differences:#?}");
    }
}

pub(super) fn check(lab: &Lab) {
    lab.build(&["--check"])
        .pass("Check complete, no warnings found.");
    lab.build(&["--check", "--target", "nope"])
        .fail("there is no lane `nope`");
    let json = ["--call=check,format=json"];
    let empty: Value = serde_json::from_str(&lab.build(&json).pass("").out).expect("JSON");
    assert_eq!(empty["warnings"], Value::Array(Vec::new()));

    // A warning: exit code 1 as of a Dockerfile, unless the caller does not want it.
    let theirs = Example::of("");
    theirs.write("Dockerfile", DOCKERFILE);
    let directory = theirs.path().to_string_lossy().into_owned();
    lab.example.edit(
        "lanes.toml",
        "env   = { ROW",
        "env   = { API_TOKEN = \"s3cr3tvalue\", ROW",
    );
    lab.build(&["--check"])
        .fail("Check complete, 1 warning has been found!")
        .says("WARNING: LK068 - ")
        .says(">>> ");
    let ours = lab.build(&json).fail("\"ruleName\": \"LK068\"");
    let said = buildx(lab.engine, &[json[0], &directory], &[], b"").fail("ruleName");
    let mut theirs = shape_of(&said.out);
    // The vertex that the text was read from, which is of no use to who has the text.
    theirs.retain(|key| !key.starts_with(".sources[].definition"));
    assert_eq!(shape_of(&ours.out), theirs);
    lab.build(&["--call=check,ignorestatus=true"])
        .pass("WARNING: LK068 - ");

    // What is listed and not there, without all of what is.
    lab.example.edit(
        "lanes.toml",
        "[\"input.txt\"]",
        "[\"input.txt\", \"conf/\"]",
    );
    lab.build(&["--check"])
        .fail("error[LK074]")
        .says("`conf/` is not in the context");
    lab.example.write("conf", "a file is no directory");
    lab.build(&["--check"])
        .fail("`conf/` is not in the context");
    fs::remove_file(lab.file("conf")).expect("a file");
    fs::create_dir_all(lab.file("conf/d")).expect("a directory");
    lab.build(&["--check"]).fail("Check complete, 1 warning");
    lab.example.edit(
        "lanes.toml",
        "[\"input.txt\", \"conf/\"]",
        "[\"input.txt\", \"conf/\", \"conf/d/\"]",
    );
    lab.build(&["--check"]).fail("Check complete, 1 warning");
    fs::remove_dir_all(lab.file("conf")).expect("a directory");
    std::os::unix::fs::symlink("elsewhere", lab.file("conf")).expect("a link");
    fs::create_dir_all(lab.file("elsewhere/d")).expect("a directory");
    lab.build(&["--check"]).fail("Check complete, 1 warning");
    lab.example
        .edit("lanes.toml", ", \"conf/\", \"conf/d/\"]", "]");

    let wrong = "output.tree  = { stage = \"ap\"";
    lab.example
        .edit("lanes.toml", "output.tree  = { stage = \"app\"", wrong);
    lab.build(&["--check"])
        .fail("error[LK005]")
        .says("lanes.toml:15");
    let json = lab.build(&json).fail("\"buildError\"");
    let error: Value = serde_json::from_str(&json.out).expect("JSON");
    let at = &error["buildError"]["location"]["ranges"][0]["start"];
    assert_eq!(at, &serde_json::json!({ "line": 15 }));
}
