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
fn a_floor_of_what_a_gate_does_not_count_is_found_without_an_engine() {
    let gate = "tree = [\"/t\"]\n[[stage.hello.step]]\nname = \"s\"\nrun = [\"true\"]\n\
        [gate.arch]\nof = \"hello\"\ncheck = \"arch\"\nfloor = [{ wheels = { least = 1 } }]\n";
    let wrong = directory(&format!("{LANES}{gate}"), "BUSYBOX=1.36\n");
    let (code, _, stderr) = texts(&lanekit(wrong.path(), &["check"]));
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains("LK011") && stderr.contains("wheels"),
        "{stderr}"
    );
    let right = format!("{LANES}{}", gate.replace("wheels", "inspected"));
    let right = directory(&right, "BUSYBOX=1.36\n");
    assert_eq!(texts(&lanekit(right.path(), &["check"])).0, Some(0));
}

#[test]
fn a_payload_on_the_disk_is_held_against_its_hash() {
    let payload = "[[stage.hello.step]]\nname = \"s\"\nfiles = [{ payload = \"sdk\" }]\nrun = [\"true\"]\n\
        [payload.sdk]\npath = \"sdk.zip\"\nsha256 = \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"\n";
    let files = directory(&format!("{LANES}{payload}"), "BUSYBOX=1.36\n");
    let check = || texts(&lanekit(files.path(), &["check"]));
    assert_eq!(check().0, Some(0), "nobody has to have it");
    let sdk = files.path().join("sdk.zip");
    std::fs::write(&sdk, "abc").unwrap();
    assert_eq!(check().0, Some(0));
    let (_, plan, _) = texts(&lanekit(files.path(), &["plan"]));
    assert!(plan.contains("payload.sdk=present"), "{plan}");
    std::fs::write(&sdk, "abd").unwrap();
    let (code, _, stderr) = check();
    assert!(code == Some(1) && stderr.contains("LK021"), "{stderr}");
    assert_eq!(texts(&lanekit(files.path(), &["plan"])).0, Some(1));
}

#[test]
fn a_file_that_is_left_out_of_the_context_is_found_without_an_engine() {
    let step = "[[stage.hello.step]]\nname = \"s\"\nfiles = [\"build.sh\"]\nrun = [\"sh\", \"build.sh\"]\n";
    let files = directory(&format!("{LANES}{step}"), "BUSYBOX=1.36\n");
    let check = || texts(&lanekit(files.path(), &["check"]));
    std::fs::write(files.path().join("build.sh"), "").unwrap();
    std::fs::write(files.path().join(".dockerignore"), "*.sh\n").unwrap();
    let (code, _, stderr) = check();
    let says = "error[LK050]: `build.sh` is left out of the context by .dockerignore";
    assert!(code == Some(1) && stderr.contains(says), "{stderr}");
    // That of the lane file goes before it.
    std::fs::write(files.path().join("lanes.toml.dockerignore"), "*.txt\n").unwrap();
    assert_eq!(check().0, Some(0));
    std::fs::write(files.path().join("lanes.toml.dockerignore"), "*.sh\n").unwrap();
    let (code, _, stderr) = check();
    let says = "left out of the context by lanes.toml.dockerignore";
    assert!(code == Some(1) && stderr.contains(says), "{stderr}");
}

#[test]
fn nothing_is_wrong_or_doubtful_in_the_examples() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let all = std::fs::read_dir(&examples).unwrap();
    let names = all.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter(|name| examples.join(name).is_dir()).collect();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let file = format!("{name}/lanes.toml");
        let (code, _, stderr) = texts(&lanekit(&examples, &["check", "--deny-warnings", &file]));
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{name}");
    }
}

#[test]
fn a_file_that_is_listed_and_not_there_is_found_without_an_engine() {
    let step = "[[stage.hello.step]]\nname = \"s\"\nfiles = [\"build.sh\", \"lib/\"]\nrun = [\"sh\", \"build.sh\"]\n";
    let files = directory(&format!("{LANES}{step}"), "BUSYBOX=1.36\n");
    let check = || texts(&lanekit(files.path(), &["check"]));
    let (code, _, stderr) = check();
    assert_eq!(code, Some(1));
    for path in ["build.sh", "lib/"] {
        let says = format!("error[LK074]: `{path}` is not in the context");
        assert!(stderr.contains(&says), "{stderr}");
    }
    std::fs::write(files.path().join("build.sh"), ". lib/a.sh\n").unwrap();
    // A file is no directory.
    std::fs::write(files.path().join("lib"), "").unwrap();
    let (code, _, stderr) = check();
    assert!(code == Some(1) && stderr.contains("`lib/` is not in the context"));
    std::fs::remove_file(files.path().join("lib")).unwrap();
    std::fs::create_dir(files.path().join("lib")).unwrap();
    assert_eq!(check().0, Some(0));
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

const SEEN: &str = r#"[graph]
name = "seen"
versions = "versions.env"
[arg.LEVEL]
default = "2"
about = "how hard"
[host.ENDPOINT]
about = "compile cache"
[switch.extra]
default = false
about = "more"
tag-part = { true = "-extra" }
[kit.cache]
host = ["ENDPOINT"]
env = { CACHE = "/cache" }
cache = [{ id = "objects", at = "/cache" }]
[lane.amd64]
platform = "linux/amd64"
output.image = { stage = "app", tag = "app:1" }
[stage.base]
from = { image = "busybox:1.36" }
env.LANG = "C"
env.PATH = { prepend = ["/opt/bin"] }
[stage.lib]
from = "base"
tree = ["/lib/x"]
[[stage.lib.step]]
name = "lib"
run = ["make"]
[stage.app]
from = "base"
[[stage.app.step]]
name = "build"
kits = ["cache"]
args = ["LEVEL", "V=APP_VERSION", "SYSTEM=lane.target-os", "MORE=switch.extra"]
files = ["main.c"]
uses = ["lib"]
run = ["make", "app"]
"#;

#[test]
fn a_plan_shows_each_input_with_what_it_is_made_of_and_who_brought_it() {
    let right = directory(SEEN, "APP_VERSION=1.5\n");
    let (code, stdout, stderr) = texts(&lanekit(
        right.path(),
        &["plan", "amd64/image", "--build-arg", "LEVEL=3"],
    ));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    insta::assert_snapshot!(stdout);
    let (code, _, stderr) = texts(&lanekit(right.path(), &["plan", "amd46"]));
    assert_eq!(code, Some(1));
    assert!(stderr.contains("there is no lane `amd46`"), "{stderr}");
    let bad = lanekit(right.path(), &["plan", "--build-arg", "LEVEL"]);
    assert_eq!(bad.status.code(), Some(2));
}

#[test]
fn json_names_its_schema_and_is_the_same_every_time() {
    let right = directory(SEEN, "APP_VERSION=1.5\n");
    let verbs = [
        (vec!["plan"], "plan/1"),
        (vec!["targets"], "targets/1"),
        (vec!["tags"], "tags/1"),
        (vec!["arch-table"], "arch-table/1"),
    ];
    for (verb, schema) in verbs {
        let args = [verb, vec!["--format", "json"]].concat();
        let (code, stdout, _) = texts(&lanekit(right.path(), &args));
        let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!((code, &json["schema"]), (Some(0), &schema.into()));
        assert_eq!(stdout, texts(&lanekit(right.path(), &args)).1);
    }
    let (_, stdout, _) = texts(&lanekit(right.path(), &["plan", "--format", "json"]));
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    let inputs = json["stages"][2]["steps"][0]["inputs"].as_array().unwrap();
    let level = inputs
        .iter()
        .find(|input| input["name"] == "LEVEL")
        .unwrap();
    assert_eq!(level["value"], "2");
    assert_eq!(level["made-of"], "argument LEVEL");
}

#[test]
fn tags_targets_rules_and_the_arch_table_are_tables() {
    let right = directory(SEEN, "APP_VERSION=1.5\n");
    let said = |args: &[&str]| {
        let (code, stdout, stderr) = texts(&lanekit(right.path(), args));
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{args:?}");
        stdout
    };
    insta::assert_snapshot!(said(&["tags"]) + &said(&["targets", "-f", "lanes.toml"]));
    assert!(said(&["arch-table"]).contains("wheel-tag"));
    assert!(said(&["rules", "lk008"]).starts_with("LK008: declared and used by nothing"));
    assert!(said(&["rules"]).contains("LK050"));
    assert_eq!(
        lanekit(right.path(), &["rules", "LK999"]).status.code(),
        Some(2)
    );
}

#[cfg(feature = "cli")]
#[test]
fn completions_and_the_manual_page_know_every_verb() {
    let here = Path::new("/");
    let (code, man, _) = texts(&lanekit(here, &["man"]));
    assert_eq!(code, Some(0));
    let (_, bash, _) = texts(&lanekit(here, &["completions", "bash"]));
    for verb in ["check", "plan", "targets", "tags", "arch-table", "rules"] {
        let page = format!(".TH lanekit-{verb} 1").replace('-', "-");
        assert!(man.contains(&page) && bash.contains(verb), "{verb}");
    }
    assert_eq!(
        lanekit(here, &["completions", "csh"]).status.code(),
        Some(2)
    );
}

#[test]
fn warnings_are_shown_and_stop_only_who_asks_for_it() {
    let lanes = format!(
        "{LANES}[[stage.hello.step]]\nname = \"build\"\nfiles = [\"build.sh\"]\nrun = [\"sh\", \"build.sh\"]\n"
    );
    let doubtful = directory(&lanes, "BUSYBOX=1.36\n");
    std::fs::write(doubtful.path().join("build.sh"), ". lib/common.sh\n").unwrap();
    let (code, stdout, stderr) = texts(&lanekit(doubtful.path(), &["check"]));
    assert_eq!(code, Some(0));
    assert!(stdout.contains("nothing is wrong"), "{stdout}");
    assert!(
        stderr.contains("warning[LK065]") && stderr.contains("build.sh:1"),
        "{stderr}"
    );
    let (code, stdout, stderr) = texts(&lanekit(doubtful.path(), &["check", "--deny-warnings"]));
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("warning[LK065]"), "{stderr}");
}

#[test]
fn the_schema_is_the_one_that_is_checked_in() {
    let empty = tempfile::tempdir().unwrap();
    let (code, stdout, _) = texts(&lanekit(empty.path(), &["schema"]));
    assert_eq!(code, Some(0));
    assert_eq!(stdout, include_str!("../../docs/lanes.schema.json"));
}

/// The large example, with its scripts: nothing is wrong, and nothing is doubtful.
#[test]
fn windows_media_is_clean() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/windows-media");
    let (code, stdout, stderr) = texts(&lanekit(&example, &["check", "--deny-warnings"]));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("nothing is wrong (lanes: 6, "), "{stdout}");
}
