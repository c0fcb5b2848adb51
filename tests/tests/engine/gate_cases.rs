//! One product after another before the arch gate: the right one passes, each wrong one is
//! refused, with its reason first, without an image, and before the held stage.

use engine_tests::{Build, Engine, Example, Outcome, Setup, docker};
use gates::fixture::{AMD64, ARM64, archive, coff, dll};

const LEAST_3: &str = "[[gate.arch.floor]]\ninspected = { least = 3 }";

/// A product of these files, with this end of the gate's table.
fn product(files: &[(&str, Vec<u8>)], gate: &str) -> Example {
    let example = Example::of(&format!(
        r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "case"
[lane.arm64]
platform = "linux/amd64"
target = "windows/arm64"
output.image = {{ stage = "image" }}
[stage.base]
from = {{ image = "busybox:1.36" }}
env.NONCE = "{}"
[stage.product]
from = "base"
tree = ["/out"]
[[stage.product.step]]
name = "copy"
files = ["product/"]
network = "none"
run = ["cp", "-r", "product", "/out"]
[stage.image]
from = "base"
add = ["product"]
[[stage.image.step]]
name = "held"
network = "none"
run = ["touch", "/held"]
[gate.arch]
of = "product"
check = "arch"
hold = ["image"]
{gate}
"#,
        engine_tests::nonce()
    ));
    std::fs::create_dir(example.file("product")).expect("a directory");
    for (name, content) in files {
        example.write(&format!("product/{name}"), content);
    }
    example
}

fn right() -> Vec<(&'static str, Vec<u8>)> {
    let library = archive(&[
        ("a.obj", &coff(ARM64)),
        ("b.obj", &coff(ARM64)),
        ("c.obj", &coff(ARM64)),
    ]);
    vec![
        ("a.dll", dll(ARM64)),
        ("b.dll", dll(ARM64)),
        ("c.lib", library),
    ]
}

/// Builds with a name for the image, which must not exist afterwards; returns the outcome.
fn refused(engine: &Engine, example: &Example) -> Outcome {
    let name = format!("refused-{}", engine_tests::nonce());
    let outcome = Build::new(engine, example.path())
        .option("--output", format!("type=docker,name={name}"))
        .fail();
    assert_eq!(
        docker(engine, &["image", "ls", "-q", &name]),
        "",
        "no image comes out"
    );
    assert!(
        !outcome.steps_started().contains("image/held"),
        "the held stage does not start"
    );
    outcome
}

/// The refusal names the gate's lines, the reason, and lanegate's exit code.
fn assert_refusal(engine: &Engine, example: &Example, code: u8, reason: &str) {
    let outcome = refused(engine, example);
    let said = format!("{}\n{}", outcome.errors, outcome.all_logs());
    assert!(
        said.contains(&format!("exit code: {code}")),
        "on {}: {said}",
        engine.kind
    );
    assert!(said.contains(reason), "on {}: {said}", engine.kind);
    assert!(
        outcome.errors.contains("[gate.arch]"),
        "on {}: {said}",
        engine.kind
    );
}

#[test]
fn the_right_tree_passes() {
    for engine in Setup::get().engines() {
        let outcome = Build::new(engine, product(&right(), LEAST_3).path()).pass();
        assert!(outcome.steps_run().contains("image/held"));
        let gate = &outcome.metadata["frontend.lanekit.gates"]["gates"]["arch"];
        assert_eq!(gate["verdict"], "pass", "{}", outcome.metadata);
        assert_eq!(gate["inspected"], 3);
    }
}

#[test]
fn one_wrong_dll_is_a_finding() {
    for engine in Setup::get().engines() {
        let mut files = right();
        files[1].1 = dll(AMD64);
        assert_refusal(engine, &product(&files, LEAST_3), 1, "out/b.dll");
    }
}

#[test]
fn a_wrong_member_in_the_middle_of_an_archive_is_a_finding() {
    for engine in Setup::get().engines() {
        let mut files = right();
        files[2].1 = archive(&[
            ("a.obj", &coff(ARM64)),
            ("b.obj", &coff(AMD64)),
            ("c.obj", &coff(ARM64)),
        ]);
        assert_refusal(engine, &product(&files, LEAST_3), 1, "b.obj");
    }
}

#[test]
fn a_truncated_dll_is_a_finding() {
    for engine in Setup::get().engines() {
        let mut files = right();
        let half = files[0].1.len() / 2;
        files[0].1.truncate(half);
        assert_refusal(engine, &product(&files, LEAST_3), 1, "out/a.dll");
    }
}

#[test]
fn a_tree_without_binaries_is_below_its_floor() {
    for engine in Setup::get().engines() {
        let example = product(&[("README.txt", b"no binaries".to_vec())], LEAST_3);
        assert_refusal(engine, &example, 3, "inspected");
    }
}

#[test]
fn an_empty_tree_is_below_its_floor() {
    for engine in Setup::get().engines() {
        let example = product(&[], LEAST_3);
        example.edit(
            "lanes.toml",
            "files = [\"product/\"]\nnetwork = \"none\"\nrun = [\"cp\", \"-r\", \"product\", \"/out\"]",
            "network = \"none\"\nrun = [\"mkdir\", \"/out\"]",
        );
        assert_refusal(engine, &example, 3, "inspected");
    }
}

#[test]
fn a_stale_exemption_is_a_finding() {
    for engine in Setup::get().engines() {
        let gate =
            format!("allow = [{{ path = \"**/protoc.exe\", why = \"host tool\" }}]\n{LEAST_3}");
        assert_refusal(engine, &product(&right(), &gate), 1, "protoc.exe");
    }
}

#[test]
fn an_exemption_that_matches_lets_its_file_through() {
    let engine = &Setup::get().engine;
    let mut files = right();
    files.push(("protoc.exe", dll(AMD64)));
    let gate = format!("allow = [{{ path = \"**/protoc.exe\", why = \"host tool\" }}]\n{LEAST_3}");
    Build::new(engine, product(&files, &gate).path()).pass();
}

#[test]
fn a_floor_of_zero_is_refused_before_any_step() {
    let engine = &Setup::get().engine;
    let example = product(&right(), "[[gate.arch.floor]]\ninspected = { least = 0 }");
    let outcome = refused(engine, &example);
    assert!(
        outcome
            .errors
            .contains("a floor of zero lets an empty tree pass"),
        "{}",
        outcome.errors
    );
    assert!(outcome.steps_started().is_empty());
}

#[test]
fn the_report_of_a_red_gate_can_be_taken_out() {
    let engine = &Setup::get().engine;
    let mut files = right();
    files[1].1 = dll(AMD64);
    let example = product(&files, LEAST_3);
    refused(engine, &example);
    let out = tempfile::tempdir().expect("a directory");
    let outcome = Build::new(engine, example.path())
        .target("arm64/gates")
        .option(
            "--output",
            format!("type=local,dest={}", out.path().display()),
        )
        .pass();
    assert!(
        outcome.vertex("[gate arch] inspect").cached,
        "the red build kept the report"
    );
    let report = std::fs::read_to_string(out.path().join("arch.json")).expect("a report");
    assert!(
        report.contains("out/b.dll") && report.contains("\"schema\":\"gate-report/1\""),
        "{report}"
    );
    let lane = |file| std::fs::read_to_string(out.path().join("lane").join(file)).expect(file);
    let merged = lane("report.json");
    assert!(
        merged.starts_with("{\"exit\":1,") && merged.contains("\"stage\":\"merge\""),
        "{merged}"
    );
    assert!(lane("junit.xml").contains("failures=\"1\""));
    assert!(lane("report.sarif").contains("\"uri\":\"out/b.dll\""));
}
