//! What gates decided goes with an image as in-toto statements, where that is asked for.

use std::path::Path;

use engine_tests::{Build, Engine, Example, Outcome, Setup, layout};
use gates::fixture::{AMD64, ARM64, dll};
use serde_json::Value;

/// A tree with one library for each machine: `good` passes, `known` only advises and is red.
fn example(attest: bool) -> Example {
    let example = Example::of(&format!(
        r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "attested"
[lane.arm64]
platform = "linux/amd64"
target = "windows/arm64"
output.image = {{ stage = "image", attest = {attest} }}
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
[gate.good]
of = "product"
check = "arch"
allow = [{{ path = "out/b.dll", why = "a tool of the host" }}]
floor = [{{ inspected = {{ least = 1 }} }}]
[gate.known]
of = "product"
check = "arch"
effect = "advise"
floor = [{{ inspected = {{ least = 2 }} }}]
"#,
        engine_tests::nonce()
    ));
    std::fs::create_dir(example.file("product")).expect("a directory");
    example.write("product/a.dll", dll(ARM64));
    example.write("product/b.dll", dll(AMD64));
    example
}

fn exported(engine: &Engine, example: &Example, to: &Path, kind: &str) -> Outcome {
    let output = format!("{kind},dest={}", to.display());
    Build::new(engine, example.path())
        .option("--provenance", "false")
        .option("--output", output)
        .pass()
}

/// The image's manifest, and the statements of a layout.
fn read(place: &Path) -> (Value, Vec<Value>) {
    let index = layout::index(place);
    let top = layout::json(place, &index["manifests"][0]);
    let Some(manifests) = top["manifests"].as_array() else {
        return (index["manifests"][0].clone(), Vec::new());
    };
    let is_attestation = |manifest: &&Value| {
        manifest["annotations"]["vnd.docker.reference.type"] == "attestation-manifest"
    };
    let image = manifests.iter().find(|manifest| !is_attestation(manifest));
    let statements = manifests.iter().filter(is_attestation);
    let statements = statements.flat_map(|manifest| {
        let manifest = layout::json(place, manifest);
        let layers = manifest["layers"].as_array().cloned().unwrap_or_default();
        layers.into_iter().map(|layer| layout::json(place, &layer))
    });
    (image.expect("an image").clone(), statements.collect())
}

const NAMED: &str = "type=oci,tar=false,attestation-inline=true,name=docker.io/lanekit/attested:1";

#[test]
fn an_image_carries_a_statement_of_each_gate_about_itself() {
    let engine = &Setup::get().engine;
    let out = tempfile::tempdir().expect("a directory");
    exported(engine, &example(true), out.path(), NAMED);
    let (image, mut statements) = read(out.path());
    let gate = |statement: &Value| {
        let gate = &statement["predicate"]["gate-report"]["gate"];
        gate.as_str().expect("a gate").to_owned()
    };
    statements.sort_by_key(gate);
    let gates: Vec<String> = statements.iter().map(gate).collect();
    assert_eq!(gates, ["good", "known"]);
    for statement in &statements {
        let kind = "https://in-toto.io/attestation/test-result/v0.1";
        assert_eq!(statement["predicateType"], kind);
        let subject = &statement["subject"][0];
        let name = subject["name"].as_str().expect("a name");
        assert!(name.contains("lanekit/attested"), "{name}");
        let digest = image["digest"].as_str().expect("a digest");
        let of = subject["digest"]["sha256"].as_str().expect("a digest");
        assert_eq!(format!("sha256:{of}"), digest, "about this image");
    }
    let [good, known] = [&statements[0]["predicate"], &statements[1]["predicate"]];
    assert_eq!(good["result"], "PASSED");
    assert_eq!(known["result"], "WARNED");
    assert_eq!(known["warnedTests"], serde_json::json!(["ARCH001"]));
    assert_eq!(good["gate-report"]["floors"][0]["got"], 1);
    let policy = &good["gate-report"]["policy"]["digest"];
    let configured = good["configuration"][0]["digest"]["sha256"].as_str();
    assert_eq!(
        policy.as_str(),
        configured.map(|hex| format!("sha256:{hex}")).as_deref()
    );
}

#[test]
fn without_being_asked_for_there_is_no_statement_and_files_never_have_any() {
    let engine = &Setup::get().engine;
    let out = tempfile::tempdir().expect("a directory");
    let bare = example(false);
    exported(engine, &bare, out.path(), NAMED);
    let (plain, statements) = read(out.path());
    assert_eq!(statements, Vec::<Value>::new());

    // The same image, asked for: its config and layers stay.
    bare.edit("lanes.toml", "attest = false", "attest = true");
    let attested = tempfile::tempdir().expect("a directory");
    let outcome = exported(engine, &bare, attested.path(), NAMED);
    assert!(outcome.steps_run().is_empty(), "{:?}", outcome.steps_run());
    let image = read(attested.path()).0;
    let parts = |place: &Path, image: &Value| {
        let manifest = layout::json(place, image);
        let digests = |list: &Value| {
            let list = list.as_array().expect("layers").iter();
            list.map(|one| one["digest"].to_string())
                .collect::<Vec<_>>()
        };
        (
            manifest["config"]["digest"].to_string(),
            digests(&manifest["layers"]),
        )
    };
    assert_eq!(parts(attested.path(), &image), parts(out.path(), &plain));

    let files = tempfile::tempdir().expect("a directory");
    exported(engine, &bare, files.path(), "type=local");
    let mut names: Vec<_> = std::fs::read_dir(files.path()).expect("files").collect();
    names.retain(|name| {
        let name = name.as_ref().expect("a file").file_name();
        name.to_string_lossy().ends_with(".json")
    });
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn an_engine_that_drops_statements_is_told_of() {
    let Some(engine) = &Setup::get().graphdriver else {
        engine_tests::skipped::<()>("statements on a graph driver", "there is no such engine");
        return;
    };
    let outcome = Build::new(engine, example(true).path()).pass();
    let warned = outcome.warnings.iter().any(|warning| {
        warning.contains(
            "the image has no attestations of its gates: the engine keeps images in a graph driver",
        )
    });
    assert!(warned, "{:?}", outcome.warnings);
}
