//! The gates over trees and counts, each green once and red for every reason that it has. Numbers
//! in comments are those of the false greens of the system that these gates come from.

#![allow(clippy::unwrap_used)]

mod tree;

use gates::policy::{Floor, Policy, SCHEMA};
use gates::report::Verdict;
use serde_json::{Value, json};
use tree::{Tree, floored, judge, look, told};

const ARM: &str = "windows/arm64";
const LINUX: &str = "linux/amd64";

/// The first six characters of every finding: its id.
fn ids(told: &[String]) -> Vec<&str> {
    told.iter().map(|t| t.split(' ').next().unwrap()).collect()
}

// ---- absent

fn absent(target: &str, files: &[(&str, &str)]) -> Vec<String> {
    let ask = json!({ "components": [{ "at": "lib/tvm", "not-on": ["windows/arm64"] }] });
    let told = told("absent", target, &Tree::of(files), ask);
    ids(&told).into_iter().map(str::to_owned).collect()
}

#[test]
fn a_component_is_there_or_said_to_be_absent() {
    let marker = (
        "lib/tvm/ABSENT-tvm.txt",
        "needs an LLVM that does not run here\n",
    );
    let there = ("lib/tvm/tvm.dll", "x");
    assert!(absent(LINUX, &[there]).is_empty());
    assert!(absent(ARM, &[marker]).is_empty());
    assert_eq!(absent(LINUX, &[("other", "")]), ["ABS001"]);
    assert_eq!(absent(ARM, &[("other", "")]), ["ABS001"]);
    assert_eq!(absent(LINUX, &[marker]), ["ABS001"], "it must be there");
    assert_eq!(absent(ARM, &[marker, there]), ["ABS002"]);
    assert_eq!(absent(ARM, &[there]), ["ABS005"]);
    assert_eq!(absent(ARM, &[(marker.0, " \n")]), ["ABS003"]);
    let of_other = ("lib/tvm/ABSENT-ON-AMD64.txt", "why");
    assert_eq!(absent(ARM, &[of_other]), ["ABS003"]);
    assert_eq!(
        absent(ARM, &[marker, ("lib/ABSENT-x.txt", "why")]),
        ["ABS004"]
    );
}

#[test]
fn an_empty_directory_is_no_component() {
    // 14: an empty directory and an absent component looked the same.
    let tree = Tree::of(&[("other", "")]);
    std::fs::create_dir_all(tree.path().join("lib/tvm/bin")).unwrap();
    let ask = json!({ "components": [{ "at": "lib/tvm" }] });
    assert_eq!(ids(&told("absent", LINUX, &tree, ask)), ["ABS001"]);
}

// ---- contract, coverage, overlap: the rest is beside the code

#[test]
fn a_contract_sees_the_tree_that_it_is_given() {
    let tree = Tree::of(&[("opt/app/bin/x", "")]);
    let ask = |seen: &[&str]| json!({ "env": { "APP": "/opt/app", "GONE": "/opt/gone", "ETC": "/etc/x" }, "seen": seen });
    assert_eq!(
        ids(&told("contract", LINUX, &tree, ask(&[]))),
        ["CON001", "CON001"]
    );
    assert_eq!(
        ids(&told("contract", LINUX, &tree, ask(&["/opt"]))),
        ["CON003", "CON001"]
    );
}

#[test]
fn a_release_holds_what_its_list_says_and_digests_that_are_right() {
    let digest = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    let files = [("a.zip", "x"), ("a.zip.sha256", digest), ("notes", "")];
    let ask = json!({ "entries": ["*.zip"], "companion": ".sha256", "ignore": ["notes"] });
    let run = |files: &[(&str, &str)], ask: &Value| {
        let told = told("coverage", LINUX, &Tree::of(files), ask.clone());
        ids(&told)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert!(run(&files, &ask).is_empty());
    assert_eq!(run(&files[1..], &ask), ["COV001", "COV002"]);
    assert_eq!(run(&[files[0]], &ask), ["COV003"]);
    assert_eq!(
        run(&[files[0], ("a.zip.sha256", "00  a.zip")], &ask),
        ["COV003"]
    );
    let no_ignore = json!({ "entries": ["*.zip"], "companion": ".sha256" });
    assert_eq!(run(&files, &no_ignore), ["COV002"]);
}

#[test]
fn the_index_of_a_release_has_every_file_of_it_and_no_other() {
    const X: &str = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";
    const Y: &str = "a1fce4363854ff888cff4b8e7875d600c2682390412a8cf79b37d0b11148b0fa";
    let ask = json!({
        "entries": ["arm64/a.zip", "amd64/b.zip"],
        "index": { "file": "all/SHA256SUMS", "elsewhere": ["cudart.zip"] },
    });
    let run = |index: &str, more: &[(&str, &str)]| {
        let mut files = vec![("arm64/a.zip", "x"), ("amd64/b.zip", "y")];
        files.extend_from_slice(more);
        if !index.is_empty() {
            files.push(("all/SHA256SUMS", index));
        }
        told("coverage", LINUX, &Tree::of(&files), ask.clone())
    };
    let cudart = format!("{}  cudart.zip", "ab".repeat(32));
    let right = format!("{X}  a.zip\r\n{Y} *./b.zip\n{cudart}\n");
    assert_eq!(run(&right, &[]), Vec::<String>::new());
    for (index, why) in [
        (String::new(), "all/SHA256SUMS: the index is not there"),
        (
            format!("{X}  a.zip\n{cudart}\n"),
            "amd64/b.zip: it is not in",
        ),
        (
            format!("{X}  a.zip\n{Y}  b.zip\n"),
            "cudart.zip: it is fetched from elsewhere, and not in",
        ),
        (
            format!("{X}  a.zip\n{X}  b.zip\n{cudart}\n"),
            "has another digest of it",
        ),
        (
            format!("{right}{X}  c.zip\n"),
            "c.zip: it is in `all/SHA256SUMS`, and not in the release",
        ),
        (format!("{right}{X}  a.zip\n"), "line 4 names a.zip again"),
        (
            format!("{right}{X} a.zip\n"),
            "line 4 is no digest with a name",
        ),
    ] {
        let told = run(&index, &[]);
        assert!(
            told.len() == 1 && told[0].starts_with("COV004 ") && told[0].contains(why),
            "{told:?}"
        );
    }
    let mut twice = ask.clone();
    twice["entries"] = json!(["*/a.zip", "amd64/b.zip"]);
    let files = [
        ("arm64/a.zip", "x"),
        ("other/a.zip", "x"),
        ("amd64/b.zip", "y"),
        ("all/SHA256SUMS", &right),
    ];
    let told = told("coverage", LINUX, &Tree::of(&files), twice);
    assert!(
        told.len() == 1 && told[0].contains("another file of the release has the same name"),
        "{told:?}"
    );
}

// ---- env

#[test]
fn every_scope_that_is_asked_for_must_be_there_and_clean() {
    let ask =
        json!({ "env": { "A": "1" }, "host": ["CACHE"], "scopes": ["process", "machine", "user"] });
    let process = ("process.json", r#"{"A":"1","PATH":"/bin"}"#);
    let machine = ("machine.json", r#"{"CACHE":"http://10.0.0.9/"}"#);
    let told = told("env", ARM, &Tree::of(&[process, machine]), ask);
    assert_eq!(
        ids(&told),
        ["ENV001", "ENV002", "ENV003", "ENV005"],
        "{told:?}"
    );
}

// ---- leak

#[test]
fn a_planted_value_is_found_in_files_names_links_and_zips() {
    let value = "http://cache.lan:8080/";
    let inner = gates::fixture::zip(&[("deep", value.as_bytes())]).unwrap();
    let zip = gates::fixture::zip(&[("inner.jar", &inner), ("clean", b"x")]).unwrap();
    let tree = Tree::of(&[("clean", "nothing here"), ("raw", value)]);
    tree.put("x.whl", &zip);
    tree.put("canary-value/empty", b"");
    let ask = json!({ "values": { "ENDPOINT": value, "NAME": "canary-value" } });
    let told = told("leak", LINUX, &tree, ask.clone());
    let want = [
        "LEK001 canary-value: the value of NAME stands in it, as it is",
        "LEK001 canary-value/empty: the value of NAME stands in it, as it is",
        "LEK001 raw: the value of ENDPOINT stands in it, as it is",
        "LEK001 x.whl!inner.jar!deep: the value of ENDPOINT stands in it, as it is",
    ];
    assert_eq!(told, want);
    tree.put("x.whl", &zip[..zip.len() / 2]);
    assert!(
        look("leak", LINUX, &tree, ask)
            .findings
            .iter()
            .any(|f| f.id == "LEK002")
    );
}

#[test]
fn nothing_was_looked_for_where_nothing_lies() {
    let ask = json!({ "values": { "ENDPOINT": "http://cache.lan:8080/" } });
    let tree = Tree::of(&[]);
    assert_eq!(look("leak", LINUX, &tree, ask.clone()).counts.inspected, 0);
    tree.put("a", b"");
    assert_eq!(look("leak", LINUX, &tree, ask).counts.inspected, 2);
}

// ---- manifest

#[test]
fn a_manifest_that_is_not_true_any_more_is_found() {
    let row = gates::arch_table::row(LINUX).unwrap();
    let tree = Tree::of(&[
        ("lib/a.so", "a"),
        ("w/x-1-py3-none-any.whl", "w"),
        ("lib/ABSENT-b.txt", "why\n"),
    ]);
    let ask = json!({ "env": { "A": "1" } });
    let write = || {
        let root = gates::walk::Root {
            path: tree.path().to_owned(),
            label: gates::name::Name::default(),
        };
        let ask = serde_json::from_value(ask.clone()).unwrap();
        let entries = gates::list::list(&root).unwrap();
        let manifest = gates::gate::manifest::write(&ask, &row.target(), false, &entries).unwrap();
        serde_json::to_vec(&manifest).unwrap()
    };
    assert_eq!(
        ids(&told("manifest", LINUX, &tree, ask.clone())),
        ["MAN004"]
    );
    let bytes = write();
    tree.put("MANIFEST.json", &bytes);
    assert_eq!(write(), bytes, "it does not list itself, and has no clock");
    assert!(told("manifest", LINUX, &tree, ask.clone()).is_empty());
    for (file, text, want) in [
        ("lib/a.so", "b", vec!["MAN003"]),
        ("lib/new", "n", vec!["MAN002"]),
        ("lib/new.so.1", "n", vec!["MAN002"]),
        ("bin/new.so", "n", vec!["MAN005", "MAN002"]),
        ("lib/ABSENT-b.txt", "other\n", vec!["MAN005", "MAN003"]),
    ] {
        let before = std::fs::read(tree.path().join(file)).ok();
        tree.put(file, text.as_bytes());
        assert_eq!(
            ids(&told("manifest", LINUX, &tree, ask.clone())),
            want,
            "{file}"
        );
        match before {
            Some(bytes) => tree.put(file, &bytes),
            None => std::fs::remove_file(tree.path().join(file)).unwrap(),
        }
    }
    assert_eq!(
        ids(&told(
            "manifest",
            LINUX,
            &tree,
            json!({ "env": { "A": "2" } })
        )),
        ["MAN005"]
    );
    std::fs::remove_file(tree.path().join("lib/a.so")).unwrap();
    assert_eq!(
        ids(&told("manifest", LINUX, &tree, ask)),
        ["MAN005", "MAN001"]
    );
}

// ---- floors

fn policy(floors: &[(&str, Value)], demand: Value) -> String {
    let floors: serde_json::Map<String, Value> = floors
        .iter()
        .map(|(k, v)| ((*k).to_owned(), v.clone()))
        .collect();
    json!({
        "schema": "gate-policy/1", "gate": "smoke", "check": "tests", "target": LINUX,
        "ask": { "suites": [{ "name": "s", "format": "lines", "output": "o" }] },
        "demand": demand, "floors": floors
    })
    .to_string()
}

#[test]
fn floors_lie_above_what_was_broken_and_near_what_was_measured() {
    // 1: a floor of 4 when the stale pattern still reached 5. 2: a number that was never there.
    let run = |floor: Value, demand: Value, ask: Value| {
        let tree = Tree::of(&[("smoke.json", &policy(&[("passed", floor)], demand))]);
        let told = told("floors", LINUX, &tree, ask);
        ids(&told)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let ask = || json!({ "of-measured": 90, "of-sections": 90 });
    let good = json!({ "least": 95, "measured": 100, "on": "2026-09-02", "broken": 50 });
    assert!(run(good.clone(), json!({}), ask()).is_empty());
    let with = |key: &str, value: Value| {
        let mut floor = good.clone();
        floor[key] = value;
        floor
    };
    assert_eq!(run(with("broken", json!(95)), json!({}), ask()), ["FLR001"]);
    assert_eq!(run(json!({ "least": 9 }), json!({}), ask()), ["FLR002"]);
    assert_eq!(
        run(json!({ "least": 9, "measured": 10 }), json!({}), ask()),
        ["FLR002"]
    );
    assert_eq!(run(with("least", json!(89)), json!({}), ask()), ["FLR003"]);
    assert!(
        run(with("least", json!(89)), json!({}), json!({})).is_empty(),
        "the ratio is a policy"
    );
    for (sections, red) in [(95, false), (105, false), (106, true), (94, true)] {
        let told = run(
            good.clone(),
            json!({ "sections": { "1": sections } }),
            ask(),
        );
        assert_eq!(
            told,
            if red { vec!["FLR004"] } else { vec![] },
            "{sections}"
        );
    }
    assert_eq!(
        run(with("least", json!(0)), json!({}), ask()),
        ["FLR001", "FLR003", "FLR005"]
    );
    let none = Tree::of(&[("smoke.json", &policy(&[], json!({}))), ("x.json", "{}")]);
    assert_eq!(
        ids(&told("floors", LINUX, &none, ask())),
        ["FLR005", "FLR005"]
    );
}

// ---- tests and exec

fn suite(files: &[(&str, &str)], demand: Value) -> gates::report::Asserted {
    let ask = json!({ "suites": [{ "name": "unit", "format": "lines", "output": "out", "exit": "code" }] });
    judge("tests", LINUX, &Tree::of(files), ask, demand)
}

#[test]
fn counts_floors_caps_and_sections_decide() {
    let out = "SECTION gpu: passed=2 failed=0 skipped=1\nTESTS: passed=2 failed=0 skipped=1\n";
    let green = [("out", out), ("code", "0\n")];
    let demand = json!({ "most": { "skipped": 1 }, "sections": { "gpu": 2 } });
    let asserted = suite(&green, demand);
    assert_eq!(asserted.verdict, Verdict::Pass, "{:?}", asserted.findings);
    assert_eq!(asserted.counts.by_class["passed"], 2);
    let ids = |demand: Value, files: &[(&str, &str)]| {
        let asserted = suite(files, demand);
        let ids: Vec<String> = asserted.findings.iter().map(|f| f.id.clone()).collect();
        ids
    };
    assert_eq!(ids(json!({ "most": { "skipped": 0 } }), &green), ["TST007"]);
    assert_eq!(ids(json!({ "sections": { "gpu": 3 } }), &green), ["TST008"]);
    // 8: a section that was skipped for ever because its verifier was not mounted.
    assert_eq!(ids(json!({ "sections": { "cpu": 1 } }), &green), ["TST008"]);
    // 16 and 10: a run that stops early, or whose import failed, has no summary.
    assert_eq!(
        ids(
            json!({}),
            &[("out", "SKIP: import failed\n"), ("code", "0")]
        ),
        ["TST002"]
    );
    assert_eq!(ids(json!({}), &[("code", "0")]), ["TST005"]);
    assert_eq!(
        ids(
            json!({}),
            &[green[0], green[1], ("late.out", "1 passed in 1s")]
        ),
        ["TST006"]
    );
    // 9: whatever failed was excused.
    assert_eq!(ids(json!({}), &[green[0], ("code", "1")]), ["TST003"]);
    assert_eq!(ids(json!({}), &[green[0], ("code", "none")]), ["TST002"]);
}

#[test]
fn numbers_that_runs_claim_add_up_to_no_small_one() {
    let half = "TESTS: passed=9223372036854775808 failed=0 skipped=9223372036854775808\n";
    let tree = Tree::of(&[("a", half), ("b", half), ("code", "0")]);
    let suite =
        |name: &str| json!({ "name": name, "format": "lines", "output": name, "exit": "code" });
    let ask = json!({ "suites": [suite("a"), suite("b")] });
    let demand = json!({ "most": { "skipped": 3 } });
    let capped = floored("tests", LINUX, &tree, ask, demand, "passed");
    let found: Vec<&str> = capped.findings.iter().map(|f| f.id.as_str()).collect();
    assert_eq!(found, ["TST007"]);
    assert_eq!(capped.counts.by_class["passed"], u64::MAX);
    assert_eq!(capped.floors[0].got, u64::MAX);
}

#[test]
fn a_command_that_was_not_run_is_no_verdict() {
    let row = gates::arch_table::row(LINUX).unwrap();
    let gate = gates::gate::Gate::named("exec").unwrap();
    let tree = Tree::of(&[("output", "hello\n")]);
    let root = gates::walk::Root {
        path: tree.path().to_owned(),
        label: gates::name::Name::default(),
    };
    let ask = serde_json::Map::new();
    let end = gate.inspect(&row, std::slice::from_ref(&root), &ask);
    assert_eq!(end.unwrap_err().exit().code(), 4);
    tree.put("exit", b"0\n");
    assert!(
        gate.inspect(&row, std::slice::from_ref(&root), &ask)
            .unwrap()
            .findings
            .is_empty()
    );
    tree.put("exit", b"3\n");
    assert_eq!(
        gate.inspect(&row, &[root], &ask).unwrap().findings[0].id,
        "EXE003"
    );
}

#[test]
fn the_policy_type_reads_what_the_floors_gate_writes() {
    let text = policy(&[("passed", json!({ "least": 1 }))], json!({}));
    let policy: Policy = serde_json::from_str(&text).unwrap();
    assert_eq!(policy.schema, SCHEMA);
    let floor: &Floor = &policy.floors["passed"];
    assert_eq!(floor.least, 1);
}
