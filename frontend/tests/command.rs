//! `lanekit` as a command.
#![allow(missing_docs, clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output};

const LANES: &str = r#"[graph]
name = "hello"
versions = "versions.env"
[lane.amd64]
platform = "linux/amd64"
output.image = { stage = "hello" }
[stage.hello]
from = { image = "busybox:${pin.BUSYBOX}" }
"#;

fn lanekit(directory: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lanekit"))
        .env_clear()
        .current_dir(directory)
        .args(args)
        .output()
        .unwrap()
}

fn texts(output: &Output) -> (Option<i32>, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

fn directory(lanes: &str, pins: &str) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("lanes.toml"), lanes).unwrap();
    std::fs::write(directory.path().join("versions.env"), pins).unwrap();
    directory
}

#[test]
fn a_right_file_is_counted() {
    let right = directory(LANES, "BUSYBOX=1.36\n");
    let said = "lanes.toml: nothing is wrong (lanes: 1, stages: 1, gates: 0, pins: 1)\n";
    assert_eq!(
        texts(&lanekit(right.path(), &["check"])),
        (Some(0), said.to_owned(), String::new())
    );
}

#[test]
fn what_is_wrong_is_a_picture_and_exit_1() {
    let wrong = directory(
        &LANES.replace("stage = \"hello\"", "stage = \"helo\""),
        "BUSYBOX=1.36\n",
    );
    let (code, stdout, stderr) = texts(&lanekit(wrong.path(), &["check", "lanes.toml"]));
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    insta::assert_snapshot!(stderr);
}

#[test]
fn a_file_of_another_directory_is_checked_with_the_pins_beside_it() {
    let right = directory(LANES, "BUSYBOX=1.36\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let path = right.path().join("lanes.toml");
    assert_eq!(
        lanekit(elsewhere.path(), &["check", path.to_str().unwrap()])
            .status
            .code(),
        Some(0)
    );
    std::fs::remove_file(right.path().join("versions.env")).unwrap();
    let (code, _, stderr) = texts(&lanekit(
        elsewhere.path(),
        &["check", path.to_str().unwrap()],
    ));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("the pins file is not there"), "{stderr}");
}

#[test]
fn included_files_are_checked_with_the_lane_file() {
    let (top, stage) = LANES.split_at(LANES.find("[stage.hello]").unwrap());
    let include = "name = \"hello\"\ninclude = [\"stages/*.toml\"]";
    let top = top.replace("name = \"hello\"", include);
    let right = directory(&top, "BUSYBOX=1.36\n");
    let stages = right.path().join("stages");
    std::fs::create_dir(&stages).unwrap();
    std::fs::write(stages.join("hello.toml"), stage).unwrap();
    std::fs::write(stages.join("note.md"), "no").unwrap();
    let (code, _, stderr) = texts(&lanekit(right.path(), &["check"]));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));

    std::fs::write(
        stages.join("more.toml"),
        format!("{stage}fiels = 1\n[graph]\nname = \"x\"\n"),
    )
    .unwrap();
    let (code, _, stderr) = texts(&lanekit(right.path(), &["check"]));
    assert_eq!(code, Some(1));
    insta::assert_snapshot!("included_and_wrong", stderr);
    std::fs::write(stages.join("more.toml"), stage).unwrap();
    let (_, _, stderr) = texts(&lanekit(right.path(), &["check"]));
    insta::assert_snapshot!("included_twice", stderr);
    std::fs::remove_dir_all(&stages).unwrap();
    let (code, _, stderr) = texts(&lanekit(right.path(), &["check"]));
    assert_eq!(code, Some(1));
    insta::assert_snapshot!("included_nothing", stderr);
}

#[test]
fn what_cannot_be_read_and_bad_usage_are_exit_2() {
    let empty = tempfile::tempdir().unwrap();
    let (code, _, stderr) = texts(&lanekit(empty.path(), &["check"]));
    assert_eq!(code, Some(2));
    assert!(stderr.starts_with("lanekit: lanes.toml: "), "{stderr}");
    let (code, _, stderr) = texts(&lanekit(empty.path(), &["check", "."]));
    assert_eq!(
        (code, stderr.as_str()),
        (Some(2), "lanekit: . is a directory, not a file\n")
    );
    assert_eq!(
        lanekit(empty.path(), &["frobnicate"]).status.code(),
        Some(2)
    );
    assert_eq!(lanekit(empty.path(), &[]).status.code(), Some(2));
    assert_eq!(lanekit(empty.path(), &["--version"]).status.code(), Some(0));
}

/// A pipe or a device may never end; this one would, so the test cannot hang.
#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_not_read() {
    let (code, stdout, stderr) = texts(&lanekit(Path::new("/"), &["check", "/dev/null"]));
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("/dev/null is no regular file"), "{stderr}");
}

#[test]
fn every_example_is_right() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut count = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let directory = entry.unwrap().path();
        if directory.join("lanes.toml").exists() {
            let (code, _, stderr) = texts(&lanekit(&directory, &["check"]));
            assert_eq!((code, stderr.as_str()), (Some(0), ""), "{directory:?}");
            count += 1;
        }
    }
    assert!(count >= 2);
}

/// What only the plan of a lane shows: trees in each other's way, mounts in mounts, values that a target lacks.
#[test]
fn every_lane_is_planned_whichever_would_be_built() {
    let lanes = r#"[graph]
name = "planned"
default = "right"
[lane.right]
platform = "linux/amd64"
output.image = { stage = "right" }
[lane.wrong]
platform = "linux/amd64"
output.image = { stage = "wrong" }
[stage.right]
from = "scratch"
[stage.a]
from = { image = "busybox:1.36" }
tree = ["/opt"]
[stage.b]
from = "a"
tree = ["/opt/b"]
[stage.wrong]
from = { image = "busybox:1.36" }
add = ["a", "b"]
[[stage.wrong.step]]
name = "s"
cache = [{ id = "x", at = "/c" }, { id = "y", at = "/c/d" }]
run = ["${arch.msvc-lib}", "${env.NOBODY_KNOWS}"]
"#;
    let wrong = directory(lanes, "");
    let (code, _, stderr) = texts(&lanekit(wrong.path(), &["check"]));
    assert_eq!(code, Some(1));
    for said in ["LK010", "LK015", "msvc-lib", "/c/d"] {
        assert!(stderr.contains(said), "{said}: {stderr}");
    }
    assert!(!stderr.contains("NOBODY_KNOWS` before"), "{stderr}");
}
