//! The examples use all of the language, and are what the schema takes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stages::file::keys::{Form, Key, Table, tables};
use toml::de::DeTable;

use crate::table::{against, json_of};

/// Every file of the examples, parsed, by its path below `examples/`.
fn files() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut open = vec![top.clone()];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).expect("a directory") {
            let path: PathBuf = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|end| end == "toml") {
                let name = path.strip_prefix(&top).expect("below it");
                let text = std::fs::read_to_string(&path).expect("a text");
                found.push((name.to_string_lossy().into_owned(), text));
            }
        }
    }
    assert!(found.len() >= 2, "{found:?}");
    found.sort();
    found
}

/// What a key is called in the lists here. What gates count is one key, whatever is counted.
fn called(table: &Table, key: &Key) -> (&'static str, &'static str) {
    match table.name {
        "floor" if key.name != "when" => ("floor", "a count"),
        name => (name, key.name),
    }
}

/// The keys that a value uses, by what they are: tables share `when`, `lint` and others.
fn used(table: &'static Table, value: &Value, into: &mut BTreeSet<(&'static str, &'static str)>) {
    let Value::Object(map) = value else { return };
    for key in table.keys() {
        if let Some(value) = map.get(key.name) {
            into.insert(identity(table, key));
            inside(key.form, value, into);
        }
    }
}

fn inside(form: Form, value: &Value, into: &mut BTreeSet<(&'static str, &'static str)>) {
    match (form, value) {
        (Form::Table(table), _) => used(table, value, into),
        (Form::List(form), Value::Array(list)) => list.iter().for_each(|v| inside(*form, v, into)),
        (Form::Names(_, form), Value::Object(map)) => {
            map.values().for_each(|v| inside(*form, v, into));
        }
        (Form::Any(forms), _) => forms.iter().for_each(|form| inside(*form, value, into)),
        _ => {}
    }
}

/// The same key in several tables has the same words about it.
fn identity(table: &'static Table, key: &'static Key) -> (&'static str, &'static str) {
    match called(table, key) {
        counts @ ("floor", "a count") => counts,
        (_, name) => (name, key.about),
    }
}

/// The keys that no file of these examples uses.
fn unused(examples: &[&str]) -> BTreeSet<(&'static str, &'static str)> {
    let tables = tables();
    let mut seen = BTreeSet::new();
    for (name, text) in files() {
        let example = name.split('/').next().unwrap_or(&name);
        if examples.is_empty() || examples.contains(&example) {
            let parsed = DeTable::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            used(tables[0], &json_of(parsed.get_ref()), &mut seen);
        }
    }
    let keys = tables
        .iter()
        .flat_map(|table| table.keys().map(move |key| (table, key)));
    let unused = keys.filter(|(table, key)| !seen.contains(&identity(table, key)));
    unused.map(|(table, key)| called(table, key)).collect()
}

#[test]
fn every_key_is_used_by_an_example() {
    assert_eq!(unused(&[]), BTreeSet::new());
}

/// What media-mini has no use for, as docs/decisions/0090-media-mini.md says, is in another example that is built or planned.
#[test]
fn media_mini_uses_every_key_but_those_of_what_it_has_not() {
    #[rustfmt::skip]
    let others: [(&str, &[(&str, &str)]); 3] = [
        ("inputs", &[
            ("copy", "fetch"), ("copy", "git"), ("copy", "payload"), ("device", "name"), ("device", "optional"),
            ("fetch", "filename"), ("fetch", "sha256"), ("fetch", "url"), ("file", "fetch"), ("file", "git"),
            ("file", "payload"), ("files", "fetch"), ("files", "git"), ("files", "payload"), ("from", "pull"),
            ("gate", "report"), ("git", "git-dir"), ("git", "ref"), ("git", "subdir"), ("git", "submodules"),
            ("git", "url"), ("output", "attest"), ("payload", "context"), ("payload", "empty-ok"), ("payload", "path"),
            ("payload", "sha256"), ("payload", "tag-part"), ("payload-tag-part", "absent"), ("payload-tag-part", "present"), ("step", "devices"),
            ("step", "security"), ("when", "payload"),
        ]),
        ("notices", &[("file", "group"), ("group", "lanes"), ("group", "output"), ("group", "tag")]),
        ("windows-app", &[("step", "command-line")]),
    ];
    let elsewhere = others.iter().flat_map(|(_, keys)| *keys).copied();
    assert_eq!(unused(&["media-mini"]), elsewhere.collect());
    for (example, keys) in others {
        let missing = unused(&[example]);
        let here = keys.iter().filter(|key| missing.contains(*key));
        assert_eq!(
            here.collect::<Vec<_>>(),
            Vec::<&(&str, &str)>::new(),
            "{example}"
        );
    }
}

#[test]
fn the_schema_takes_every_file_of_the_examples() {
    for (name, mut text) in files() {
        // An included file has what a lane file must have in another one.
        if !text.contains("[graph]") {
            text.insert_str(0, "[graph]\nname = \"fragment\"\n[lane.l]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"s\" }\n");
        }
        assert_eq!(against(&text), Vec::<String>::new(), "{name}");
    }
}
