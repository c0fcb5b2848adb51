//! A gate whose report is made outside of the build, by the way that docs/gates.md describes: the
//! tree is exported, `lanegate` runs there, and what it wrote goes with the next build.

use std::path::{Path, PathBuf};
use std::process::Command;

use engine_tests::{Build, Engine, Example, Outcome, Setup, docker};

/// A tree with a program that tests itself; `TESTS` is what it prints.
fn example() -> Example {
    let example = Example::of(&format!(
        r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "external"
[lane.amd64]
platform = "linux/amd64"
output.image = {{ stage = "image" }}
[stage.base]
from = {{ image = "busybox:1.36" }}
env.NONCE = "{}"
[stage.runtime]
from = "base"
tree = ["/opt/app"]
[[stage.runtime.step]]
name = "copy"
files = ["app/"]
network = "none"
run = ["sh", "-c", "mkdir /opt && cp -r app /opt"]
[stage.image]
from = "base"
add = ["runtime"]
[gate.device]
of = "runtime"
for = "image"
check = "exec"
ask = {{ format = "lines" }}
report = "reports/${{lane.target}}.json"
floor = [{{ passed = {{ least = 3 }} }}]
"#,
        engine_tests::nonce()
    ));
    for directory in ["app", "reports"] {
        std::fs::create_dir(example.file(directory)).expect("a directory");
    }
    tests(&example, "TESTS: passed=3 failed=0 skipped=0");
    example
}

/// What the program of the tree is to print.
fn tests(example: &Example, line: &str) {
    example.write("app/selftest", format!("echo '{line}'\n"));
}

/// The lanegate of the frontend's image.
fn lanegate(engine: &Engine, to: &Path) -> PathBuf {
    let container = docker(engine, &["create", &Setup::get().frontend, "none"]);
    let container = container.trim();
    let program = to.join("lanegate");
    let from = format!("{container}:/lanegate");
    docker(engine, &["cp", &from, &program.to_string_lossy()]);
    docker(engine, &["rm", container]);
    program
}

/// A tree with a program that tests it.
pub(crate) struct Tested {
    /// What is built to get the tree.
    pub(crate) target: &'static str,
    /// The program's path in it.
    pub(crate) program: &'static str,
    /// The file of the context that gets the report.
    pub(crate) report: &'static str,
}

fn hand_in(engine: &Engine, example: &Example, gate: &str) {
    let tested = Tested {
        target: "amd64/runtime",
        program: "opt/app/selftest",
        report: "reports/amd64.json",
    };
    report_of(Build::new(engine, example.path()), example, gate, &tested);
}

/// Exports the tree, runs its program and writes the report for this gate into the context.
pub(crate) fn report_of(build: Build<'_>, example: &Example, gate: &str, tested: &Tested) {
    let place = tempfile::tempdir().expect("a directory");
    let at = |name: &str| place.path().join(name).to_string_lossy().into_owned();
    let outcome = build
        .target(tested.target)
        .option("--output", format!("type=local,dest={}", at("out")))
        .pass();
    let names = outcome.names();
    assert!(
        !names.iter().any(|name| name.contains("[gate")),
        "{names:?}"
    );
    let program = lanegate(&Setup::get().engine, place.path());
    let run = |args: &[&str]| {
        let mut command = Command::new(&program);
        let ran = command.args(args).output().expect("it starts");
        let said = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{args:?}: {said}");
    };
    let test = at(&format!("out/{}", tested.program));
    run(&["run", "--out", &at("ran"), "--", "sh", &test]);
    let (root, of) = (format!("{}=", at("ran")), at("out"));
    let report = example.file(tested.report);
    run(&[
        "inspect",
        "exec",
        "--target",
        "linux/amd64",
        "--root",
        &root,
        "--ask",
        "format=lines",
        "--gate",
        gate,
        "--of",
        &of,
        "--report",
        &report.to_string_lossy(),
    ]);
}

/// Why no image comes out.
fn refused(engine: &Engine, example: &Example) -> String {
    let name = format!("refused-{}", engine_tests::nonce());
    let outcome: Outcome = Build::new(engine, example.path())
        .option("--output", format!("type=docker,name={name}"))
        .fail();
    assert_eq!(docker(engine, &["image", "ls", "-q", &name]), "");
    format!("{}\n{}", outcome.errors, outcome.all_logs())
}

#[test]
fn a_report_from_outside_lets_through_the_very_product_that_it_is_about() {
    for engine in Setup::get().engines() {
        let example = example();
        let told = refused(engine, &example);
        assert!(told.contains("EXT001 device: "), "missing: {told}");

        hand_in(engine, &example, "device");
        let outcome = Build::new(engine, example.path()).pass();
        let gate = &outcome.metadata["frontend.lanekit.gates"]["gates"]["device"];
        assert_eq!(gate["verdict"], "pass", "{}", outcome.metadata);
        let report = example.read("reports/amd64.json");

        // The product changes, its report does not.
        tests(&example, "TESTS: passed=4 failed=0 skipped=0");
        let told = refused(engine, &example);
        assert!(told.contains("EXT005 device: found sha256:"), "{told}");
        tests(&example, "TESTS: passed=3 failed=0 skipped=0");
        let outcome = Build::new(engine, example.path()).pass();
        assert!(outcome.steps_run().is_empty(), "{:?}", outcome.steps_run());

        example.write("reports/amd64.json", &report[..report.len() / 2]);
        let told = refused(engine, &example);
        assert!(told.contains("EXT002 device: "), "cut: {told}");
        hand_in(engine, &example, "smoke");
        let told = refused(engine, &example);
        assert!(told.contains("EXT003 device: found smoke"), "{told}");
    }
}

#[test]
fn a_report_from_outside_is_held_against_floors_and_its_own_findings() {
    let engine = &Setup::get().engine;
    let example = example();
    tests(&example, "TESTS: passed=2 failed=0 skipped=0");
    hand_in(engine, &example, "device");
    let told = refused(engine, &example);
    assert!(
        told.contains("GEN003 passed: 2 counted, at least 3"),
        "{told}"
    );
    tests(&example, "FAILED: gpu\nTESTS: passed=3 failed=1 skipped=0");
    hand_in(engine, &example, "device");
    let told = refused(engine, &example);
    assert!(told.contains("EXE001 command!gpu"), "{told}");

    // The reports still come out, and say which product a report must be of.
    let out = tempfile::tempdir().expect("a directory");
    let output = format!("type=local,dest={}", out.path().display());
    Build::new(engine, example.path())
        .target("amd64/gates")
        .option("--output", output)
        .pass();
    let seen = std::fs::read_to_string(out.path().join("device.json")).expect("a report");
    assert!(
        seen.contains("\"external\":{\"gate\":\"device\",\"of\":\"sha256:"),
        "{seen}"
    );
}
