//! What once looked green in the system that these gates come from and was not: 22 cases, each with
//! the measure against it and the test that goes red when the measure is taken out.
//!
//! The table names tests of other files where they stand beside the code that they are about; a
//! test here holds the table against those files.

#![allow(clippy::unwrap_used)]

mod tree;

use std::fs;
use std::path::Path;

use gates::fixture::{self, AMD64, ARM64};
use gates::policy::{Allow, Floor, Loaded, Policy, SCHEMA};
use gates::report::{Asserted, Verdict};
use gates::verdict;
use serde_json::{Value, json};
use tree::{Tree, judge, look, told};

/// Number, what was green, the measure, file and name of the test.
type Case = (u32, &'static str, &'static str, &'static str, &'static str);

const HERE: &str = "gates/tests/false_greens.rs";
const TREES: &str = "gates/tests/gates_trees.rs";
const WHEELS: &str = "gates/tests/gates_wheel.rs";

const CASES: [Case; 22] = [
    (
        1,
        "a floor below what the broken build still reached",
        "a floor lies above `broken`: the policy is refused, and FLR001",
        HERE,
        "fg01_a_floor_that_the_broken_build_reached_is_refused",
    ),
    (
        2,
        "a floor that got lost was a floor of 0",
        "no value means off: no floor, 0 and null are refused",
        HERE,
        "fg02_a_floor_that_got_lost_is_refused",
    ),
    (
        3,
        "an override dropped the other alternatives of a list of exemptions",
        "entries add up and each must match something",
        HERE,
        "fg03_each_of_several_exemptions_must_match",
    ),
    (
        4,
        "fewer requirements were greener",
        "floors on wheels, requirements and edges",
        HERE,
        "fg04_a_store_without_requirements_is_below_its_floor",
    ),
    (
        5,
        "lines that end with CRLF had no requirements",
        "headers are read whatever their lines end with",
        WHEELS,
        "line_ends_and_folds_hide_no_requirement",
    ),
    (
        6,
        "the export that was looked for is one that plugins no longer have",
        "the gate `plugin`: the exact name, and it is there as code",
        "gates/tests/natives/plugin.rs",
        "an_export_that_is_missing_or_no_code_is_found",
    ),
    (
        7,
        "a pattern took another plugin's file",
        "a required file is named exactly",
        "gates/src/gate/files.rs",
        "a_name_that_only_looks_alike_is_not_the_file",
    ),
    (
        8,
        "a verifier that was not mounted skipped its section for ever",
        "a verdict that is not there does not seal",
        HERE,
        "fg08_a_verdict_that_is_not_there_seals_nothing",
    ),
    (
        9,
        "a smoke test whose failures were all excused",
        "a failure is a finding, and nothing that passed is below the floor",
        HERE,
        "fg09_failures_that_are_excused_are_no_passes",
    ),
    (
        10,
        "a broken import printed SKIP",
        "a run without its framework's summary is an error",
        HERE,
        "fg10_a_skip_that_is_printed_is_no_summary",
    ),
    (
        11,
        "one filter swallowed what another one was to find",
        "an exemption covers its own subjects, and every other finding stays",
        HERE,
        "fg11_an_exemption_swallows_no_other_finding",
    ),
    (
        12,
        "a version that could not be read was a SKIP",
        "what cannot be read is a finding",
        HERE,
        "fg12_a_version_that_cannot_be_read_is_a_finding",
    ),
    (
        13,
        "a library in a directory that was not scanned was called missing and fetched from elsewhere",
        "the finding says where it lies; `search` names the directory; nothing is repaired",
        HERE,
        "fg13_a_library_aside_is_told_where_it_lies",
    ),
    (
        14,
        "an absent component and an empty directory looked the same",
        "a directory without a file is no component",
        TREES,
        "an_empty_directory_is_no_component",
    ),
    (
        15,
        "a check went around the entrypoint",
        "`via = \"entrypoint\"` runs the command as the image would",
        "stages/tests/lanefile/gates.rs",
        "every_kind_of_gate_has_its_mounts_keys_and_secrets",
    ),
    (
        16,
        "an early exit made the later checks dead",
        "everything wrong is collected, and decided on once",
        HERE,
        "fg16_nothing_stops_at_the_first_finding",
    ),
    (
        17,
        "the right machine under the build interpreter's suffix",
        "WHL004: the suffix is the target's",
        WHEELS,
        "the_host_s_suffix_on_the_target_s_machine_is_found",
    ),
    (
        18,
        "everything was right but the exported data, which was zero",
        "the gate `data`: exported bytes against expected ones",
        "gates/tests/natives/data.rs",
        "the_bytes_of_an_export_are_compared_in_images_of_every_width",
    ),
    (
        19,
        "a byte that was shifted by 8 in a type of 8 bits: half of a machine's number",
        "machines are compared by all of their bits",
        HERE,
        "fg19_both_bytes_of_a_machine_count",
    ),
    (
        20,
        "of two wheels of one name only one was looked at",
        "every file counts under its own path",
        HERE,
        "fg20_wheels_of_one_name_are_all_looked_at",
    ),
    (
        21,
        "tests for another machine ran, because the system emulates it",
        "test programs pass the gate `arch` like products",
        HERE,
        "fg21_a_test_program_for_an_emulated_machine_is_found",
    ),
    (
        22,
        "an exemption outlived its reason",
        "an exemption that matches nothing is a finding",
        HERE,
        "fg22_an_exemption_that_matches_nothing_is_found",
    ),
];

const ARM: &str = "windows/arm64";

#[test]
fn every_case_names_a_test_that_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for (index, (number, what, measure, file, test)) in CASES.iter().enumerate() {
        assert_eq!(index + 1, usize::try_from(*number).unwrap());
        assert!(!what.is_empty() && !measure.is_empty());
        let text = fs::read_to_string(root.join(file)).unwrap();
        let test = format!("#[test]\nfn {test}()");
        let inner = test.replace("\nfn", "\n    fn");
        assert!(
            text.contains(&test) || text.contains(&inner),
            "{number}: no {test} in {file}"
        );
    }
}

/// The verdict of `arch` or another gate with these exemptions and this floor.
fn verdict_of(gate: &str, tree: &Tree, ask: Value, allow: &[&str], floor: (&str, u64)) -> Asserted {
    let seen = look(gate, ARM, tree, ask);
    let policy = Policy {
        allow: allow
            .iter()
            .map(|path| Allow {
                path: (*path).to_owned(),
                why: "a reason".to_owned(),
            })
            .collect(),
        ask: seen.ask.clone(),
        check: gate.to_owned(),
        demand: serde_json::Map::new(),
        effect: Default::default(),
        empty_ok: None,
        floors: [(
            floor.0.to_owned(),
            Floor {
                broken: None,
                least: floor.1,
                measured: None,
                on: None,
            },
        )]
        .into(),
        gate: "g".to_owned(),
        schema: SCHEMA.to_owned(),
        target: ARM.to_owned(),
    };
    verdict::judge(&seen, &Loaded::of(policy).unwrap()).unwrap()
}

fn ids(report: &Asserted) -> Vec<String> {
    report
        .findings
        .iter()
        .map(|f| format!("{} {}", f.id, f.subject))
        .collect()
}

/// A policy with these floors, as a file.
fn policy(floors: &str) -> Result<Loaded, String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("policy.json");
    let text =
        format!(r#"{{"check":"arch","gate":"g","schema":"{SCHEMA}","target":"{ARM}"{floors}}}"#);
    fs::write(&file, text).unwrap();
    Loaded::read(&file).map_err(|failure| failure.to_string())
}

#[test]
fn fg01_a_floor_that_the_broken_build_reached_is_refused() {
    let floor = |least: u32, broken: u32| {
        policy(&format!(
            r#","floors":{{"inspected":{{"least":{least},"broken":{broken}}}}}"#
        ))
    };
    assert!(floor(4, 5).unwrap_err().contains("broken build"));
    assert!(floor(5, 5).unwrap_err().contains("broken build"));
    assert!(floor(6, 5).is_ok());
}

#[test]
fn fg02_a_floor_that_got_lost_is_refused() {
    for lost in [
        "",
        r#","floors":{}"#,
        r#","floors":{"inspected":{}}"#,
        r#","floors":{"inspected":{"least":0}}"#,
        r#","floors":{"inspected":{"least":null}}"#,
        r#","floors":{"inspected":{"least":""}}"#,
    ] {
        assert!(policy(lost).is_err(), "{lost}");
    }
    assert!(policy(r#","floors":{"inspected":{"least":1}}"#).is_ok());
}

fn dlls(files: &[(&str, u16)]) -> Tree {
    let tree = Tree::new();
    for (name, machine) in files {
        tree.put(name, &fixture::dll(*machine));
    }
    tree
}

#[test]
fn fg03_each_of_several_exemptions_must_match() {
    let tree = dlls(&[
        ("a.dll", ARM64),
        ("host/x.dll", AMD64),
        ("tools/y.dll", AMD64),
    ]);
    let run = |allow: &[&str]| {
        ids(&verdict_of(
            "arch",
            &tree,
            json!({}),
            allow,
            ("inspected", 1),
        ))
    };
    assert_eq!(run(&["host/**", "tools/**"]), [""; 0]);
    assert_eq!(run(&["host/**"]), ["ARCH001 tools/y.dll"]);
    let gone = run(&["host/**", "tools/**", "gone/**"]);
    assert!(gone.len() == 1 && gone[0].contains("gone/**"), "{gone:?}");
}

/// A wheel without natives that requires these.
fn wheel(name: &str, requires: &str) -> Vec<u8> {
    let metadata = format!("Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n{requires}");
    fixture::zip(&[
        (
            &format!("{name}-1.0.dist-info/METADATA"),
            metadata.as_bytes(),
        ),
        (
            &format!("{name}-1.0.dist-info/WHEEL"),
            b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
    ])
    .unwrap()
}

fn store(wheels: &[(&str, &str)]) -> Tree {
    let tree = Tree::new();
    for (name, requires) in wheels {
        tree.put(
            &format!("{name}-1.0-py3-none-any.whl"),
            &wheel(name, requires),
        );
    }
    tree
}

#[test]
fn fg04_a_store_without_requirements_is_below_its_floor() {
    let ask = || json!({ "python": "3.14" });
    let run = |tree: &Tree, floor| verdict_of("deps", tree, ask(), &[], floor).verdict;
    let whole = store(&[("a", "Requires-Dist: b\n"), ("b", "")]);
    let lost = store(&[("a", ""), ("b", "")]);
    assert_eq!(run(&whole, ("requirements", 1)), Verdict::Pass);
    assert_eq!(run(&lost, ("requirements", 1)), Verdict::Insufficient);
    assert_eq!(run(&lost, ("edges", 1)), Verdict::Insufficient);
}

#[test]
fn fg08_a_verdict_that_is_not_there_seals_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let expected = verdict::Expected {
        gate: "g".to_owned(),
        policy: None,
    };
    let end = verdict::sealed(&dir.path().join("report.json"), &expected);
    assert_eq!(end.unwrap_err().exit().code(), 4);
}

fn suite(out: &str, code: &str) -> Asserted {
    let tree = Tree::of(&[("out", out), ("code", code)]);
    let ask = json!({ "suites": [{ "name": "smoke", "format": "lines", "output": "out", "exit": "code" }] });
    verdict_of("tests", &tree, ask, &[], ("passed", 1))
}

#[test]
fn fg09_failures_that_are_excused_are_no_passes() {
    let excused = suite("TESTS: passed=0 failed=7 skipped=0\n", "0\n");
    assert_eq!(excused.verdict, Verdict::Fail, "{:?}", excused.findings);
    let skipped = suite("TESTS: passed=0 failed=0 skipped=7\n", "0\n");
    assert_eq!(
        skipped.verdict,
        Verdict::Insufficient,
        "{:?}",
        skipped.findings
    );
}

#[test]
fn fg10_a_skip_that_is_printed_is_no_summary() {
    let report = suite("SKIP: import failed\n", "0\n");
    assert!(ids(&report)[0].starts_with("TST002"), "{:?}", ids(&report));
}

#[test]
fn fg11_an_exemption_swallows_no_other_finding() {
    let tree = dlls(&[("a.dll", AMD64), ("aa.dll", AMD64), ("b.dll", ARM64)]);
    let report = verdict_of("arch", &tree, json!({}), &["a.dll"], ("inspected", 1));
    assert_eq!(ids(&report), ["ARCH001 aa.dll"]);
    assert_eq!(report.verdict, Verdict::Fail);
}

#[test]
fn fg12_a_version_that_cannot_be_read_is_a_finding() {
    let tree = store(&[("a", "Requires-Dist: b >= one.two\n"), ("b", "")]);
    let found = told("deps", ARM, &tree, json!({ "python": "3.14" }));
    assert!(
        found.len() == 1 && found[0].starts_with("DEP004"),
        "{found:?}"
    );
}

#[test]
fn fg13_a_library_aside_is_told_where_it_lies() {
    let app = fixture::Pe {
        imports: vec![("f.dll", vec!["f"])],
        ..fixture::Pe::default()
    };
    let library = fixture::Pe {
        exports: vec![("f", fixture::Export::Code)],
        ..fixture::Pe::default()
    };
    let tree = Tree::new();
    tree.put("bin/app.exe", &app.dll(ARM64));
    tree.put("opt/f.dll", &library.dll(ARM64));
    let found = told("imports", ARM, &tree, json!({}));
    assert!(
        found.len() == 1 && found[0].contains("opt/f.dll"),
        "{found:?}"
    );
    assert!(found[0].starts_with("IMP003"), "{found:?}");
    let search = json!({ "search": [{ "dir": "opt" }] });
    assert_eq!(told("imports", ARM, &tree, search), [""; 0]);
    assert!(!tree.path().join("bin/f.dll").exists());
}

#[test]
fn fg16_nothing_stops_at_the_first_finding() {
    let tree = dlls(&[("a.dll", AMD64), ("b.dll", AMD64), ("d.dll", ARM64)]);
    tree.put("c.dll", b"");
    let report = verdict_of("arch", &tree, json!({}), &["gone"], ("inspected", 9));
    let ids: Vec<String> = report.findings.iter().map(|f| f.id.clone()).collect();
    for id in ["ARCH001", "ARCH004", "GEN001"] {
        assert!(ids.iter().any(|found| found == id), "{id}: {ids:?}");
    }
    assert_eq!(ids.iter().filter(|id| *id == "ARCH001").count(), 2);
    assert!(
        report.floors.iter().any(|floor| !floor.ok),
        "the floor is told too"
    );
}

#[test]
fn fg19_both_bytes_of_a_machine_count() {
    // 0x8664 and 0xaa64 have the low byte in common.
    let tree = dlls(&[("a.dll", AMD64)]);
    assert_eq!(told("arch", ARM, &tree, json!({})).len(), 1);
    assert_eq!(told("arch", "windows/amd64", &tree, json!({})), [""; 0]);
}

#[test]
fn fg20_wheels_of_one_name_are_all_looked_at() {
    let tree = Tree::new();
    let pip = |machine| fixture::zip(&[("pip/t.exe", &fixture::exe(machine))]).unwrap();
    tree.put("314/pip-25.0-py3-none-any.whl", &pip(ARM64));
    tree.put("314t/pip-25.0-py3-none-any.whl", &pip(AMD64));
    let report = verdict_of("arch", &tree, json!({}), &[], ("zip-members", 2));
    assert_eq!(
        ids(&report),
        ["ARCH001 314t/pip-25.0-py3-none-any.whl!pip/t.exe"]
    );
    assert!(report.floors.iter().all(|floor| floor.ok), "both count");
}

#[test]
fn fg21_a_test_program_for_an_emulated_machine_is_found() {
    let tree = Tree::new();
    tree.put("tests/unit.exe", &fixture::exe(AMD64));
    let report = judge("arch", ARM, &tree, json!({}), json!({}));
    assert_eq!(ids(&report), ["ARCH001 tests/unit.exe"]);
}

#[test]
fn fg22_an_exemption_that_matches_nothing_is_found() {
    let tree = dlls(&[("a.dll", ARM64)]);
    let run = |allow: &[&str]| verdict_of("arch", &tree, json!({}), allow, ("inspected", 1));
    assert_eq!(run(&[]).verdict, Verdict::Pass);
    let stale = run(&["old/**"]);
    assert_eq!(stale.verdict, Verdict::Fail);
    assert!(ids(&stale)[0].starts_with("GEN001"), "{:?}", ids(&stale));
}
