//! Plugins that a contract asks for.

use std::fs;
use std::os::unix::fs::symlink;

use gates::fixture::{AMD64, ARM64, Elf, Export, Pe};
use serde_json::{Value, json};

use super::{Tree, findings};

const TARGET: &str = "windows/arm64";

fn plugin(exports: &[(&'static str, Export)]) -> Vec<u8> {
    Pe {
        exports: exports.to_vec(),
        ..Pe::default()
    }
    .dll(ARM64)
}

fn row(file: &str, export: &str) -> Value {
    json!({"file": file, "exports": [export], "why": "webrtc"})
}

fn look(files: &[(&str, Vec<u8>)], ask: Value) -> Vec<String> {
    findings(&Tree::new(files).inspect("plugin", TARGET, ask))
}

fn one(found: &[String], start: &str) {
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with(start), "{found:#?}");
}

#[test]
fn a_plugin_is_its_exact_file_with_code_under_the_exact_name() {
    let files = [("lib/gstnice.dll", plugin(&[("get_desc", Export::Code)]))];
    let report = Tree::new(&files).inspect(
        "plugin",
        TARGET,
        json!({"plugins": [row("lib/gstnice.dll", "get_desc")]}),
    );
    assert_eq!(findings(&report), [""; 0]);
    let counts = &report.counts.by_class;
    assert_eq!((counts["plugins"], counts["symbols"]), (1, 1));
    for file in ["lib/gstwebrtc.dll", "gstnice.dll", "lib/GstNice.dll"] {
        let found = look(&files, json!({"plugins": [row(file, "get_desc")]}));
        one(&found, &format!("PLG001 {file}: webrtc"));
        let like = file.to_lowercase().ends_with("gstnice.dll");
        assert_eq!(found[0].contains("there is lib/gstnice.dll"), like);
    }
}

#[test]
fn an_export_that_is_missing_or_no_code_is_found() {
    let files = [(
        "p.dll",
        plugin(&[
            ("away", Export::Forward("other.run")),
            ("table", Export::Data(vec![1, 2, 3, 4])),
        ]),
    )];
    for (name, why) in [
        ("gst_plugin_desc", "not exported"),
        ("away", "forwarded to other.run"),
        ("table", "data"),
    ] {
        let found = look(&files, json!({"plugins": [row("p.dll", name)]}));
        one(&found, &format!("PLG003 p.dll({name}): it is "));
        assert!(found[0].contains(why), "{found:#?}");
    }
    let elf = Elf {
        code: vec!["run"],
        data: vec![("table", vec![1])],
        ..Elf::default()
    };
    let tree = Tree::new(&[("p.so", elf.shared(62))]);
    for (name, bad) in [("run", 0), ("table", 1), ("ru", 1), ("runs", 1)] {
        let ask = json!({"plugins": [row("p.so", name)]});
        let found = findings(&tree.inspect("plugin", "linux/amd64", ask));
        assert_eq!(found.len(), bad, "{name}: {found:#?}");
    }
}

#[test]
fn what_a_target_does_not_have_must_not_be_there() {
    let files = [("p.dll", plugin(&[("f", Export::Code)]))];
    let mut row = row("p.dll", "f");
    row["absent-on"] = json!({"windows/arm64": "no driver"});
    let ask = json!({"plugins": [row]});
    one(
        &look(&files, ask.clone()),
        "PLG002 p.dll: windows/arm64 does not have it: no driver",
    );
    let spelled = [("P.DLL", files[0].1.clone())];
    one(
        &look(&spelled, ask.clone()),
        "PLG002 P.DLL: windows/arm64 does not have it: no driver",
    );
    let report = Tree::new(&[("q", vec![])]).inspect("plugin", TARGET, ask.clone());
    assert_eq!(findings(&report), [""; 0]);
    assert_eq!(report.counts.by_kind["absent"], 1);
    let empty = Tree::new(&[]).inspect("plugin", TARGET, ask.clone());
    assert_eq!(empty.counts.inspected, 0);
    let amd = Tree::new(&[("q", vec![])]).inspect("plugin", "windows/amd64", ask);
    one(&findings(&amd), "PLG001 p.dll: ");
}

#[test]
fn a_file_among_the_plugins_must_be_in_the_contract() {
    let files = [
        ("p/a.dll", plugin(&[("f", Export::Code)])),
        ("p/b.dll", plugin(&[("f", Export::Code)])),
    ];
    let ask = json!({"plugins": [row("p/a.dll", "f")], "within": ["p/*.dll"]});
    one(&look(&files, ask), "PLG004 p/b.dll: ");
}

#[test]
fn further_names_of_a_file_count_as_the_first_does() {
    let tree = Tree::new(&[("a/0.dll", plugin(&[("f", Export::Code)]))]);
    fs::create_dir(tree.0.path().join("p")).unwrap();
    let at = |name: &str| tree.0.path().join(name);
    fs::hard_link(at("a/0.dll"), at("p/hard.dll")).unwrap();
    symlink("../a/0.dll", at("p/soft.dll")).unwrap();
    let see = |ask: Value| findings(&tree.inspect("plugin", TARGET, ask));
    assert_eq!(see(json!({"plugins": [row("p/hard.dll", "f")]})), [""; 0]);
    one(
        &see(json!({"plugins": [row("p/hard.dll", "g")]})),
        "PLG003 p/hard.dll(g): it is not exported",
    );
    one(
        &see(json!({"plugins": [row("p/soft.dll", "f")]})),
        "PLG001 p/soft.dll: webrtc (there is a link of this name, no file)",
    );
    for name in ["p/hard.dll", "p/soft.dll"] {
        let mut row = row(name, "f");
        row["absent-on"] = json!({"windows/arm64": "no driver"});
        let start = format!("PLG002 {name}: windows/arm64 does not have it");
        assert!(see(json!({"plugins": [row]}))[0].starts_with(&start));
    }
    let ask = json!({"plugins": [row("a/0.dll", "f")], "within": ["p/*.dll"]});
    let found = see(ask);
    assert!(found[0].starts_with("PLG004 p/hard.dll: "), "{found:#?}");
    assert!(found[1].starts_with("PLG004 p/soft.dll: "), "{found:#?}");
}

#[test]
fn a_contract_of_the_tree_is_read_and_a_bad_one_is_found() {
    let good = "[[plugins]]\nfile = \"a.dll\"\nexports = [\"f\"]\nwhy = \"w\"\n\
                absent-on = { \"windows/amd64\" = \"none\" }\n";
    let dll = ("a.dll", plugin(&[("f", Export::Code)]));
    let at = |text: &str| {
        let files = [dll.clone(), ("etc/c.toml", text.as_bytes().to_vec())];
        look(&files, json!({"contract": "etc/c.toml"}))
    };
    assert_eq!(at(good), [""; 0]);
    one(&at(&good.replace("\"f\"", "\"g\"")), "PLG003 a.dll(g): ");
    for wrong in [
        "",
        "plugins = []",
        "plugin = 1",
        "[[plugins]]\nfile = 1\nexports = []\nwhy = \"\"",
        &good.replace("exports = [\"f\"]", "exports = []"),
        &good.replace("why = \"w\"", "why = \" \""),
        &good.replace("windows/amd64", "windows/amd46"),
        &good.repeat(2),
        "[[plugins]",
        "\u{0}",
    ] {
        let found = at(wrong);
        assert!(
            found.iter().any(|f| f.starts_with("PLG005 etc/c.toml: ")),
            "{wrong}: {found:#?}"
        );
    }
    one(
        &look(std::slice::from_ref(&dll), json!({"contract": "gone.toml"})),
        "PLG005 gone.toml: it is not",
    );
}

#[test]
fn a_cut_plugin_is_found() {
    for bytes in [
        Vec::new(),
        b"text".to_vec(),
        plugin(&[("f", Export::Code)])[..600].to_vec(),
    ] {
        let found = look(&[("p.dll", bytes)], json!({"plugins": [row("p.dll", "f")]}));
        one(&found, "GEN004 p.dll: ");
    }
    let whole = Pe {
        exports: vec![("f", Export::Code)],
        ..Pe::default()
    }
    .dll(AMD64);
    let tree = Tree::new(&[]);
    for end in 0..whole.len() {
        tree.put("p.dll", &whole[..end]);
        let ask = json!({"plugins": [row("p.dll", "f")]});
        let report = tree.inspect("plugin", "windows/amd64", ask);
        assert!(!report.findings.is_empty(), "cut at {end}");
    }
}
