//! The examples use all of the language, and are what the schema takes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde_json::Value;
use stages::file::keys::{Form, Key, Table, tables};
use toml::de::DeTable;

use crate::table::{against, json_of};

/// Keys that no example uses, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("git", "subdir", GIT),
    ("git", "submodules", GIT),
    ("git", "git-dir", GIT),
    ("copy", "git", GIT),
    (
        "output",
        "attest",
        "statements go with images that have a name; tests/tests/engine/attestations.rs has one",
    ),
    (
        "gate",
        "report",
        "it is about the bytes of one build; tests/tests/engine/external.rs makes one",
    ),
    ("step", "security", ALLOWED),
    ("step", "devices", ALLOWED),
    ("device", "name", ALLOWED),
    ("device", "optional", ALLOWED),
    (
        "step",
        "shell",
        "the scripts of the examples run in the shell that there is",
    ),
    (
        "step",
        "command-line",
        "a step of Windows, which the examples that run have none of",
    ),
];
const GIT: &str = "a repository needs a server; tests/tests/engine/git.rs has one";
const ALLOWED: &str =
    "the caller must allow it to the engine, which would be needed for every build";

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

#[test]
fn every_key_is_used_by_an_example_or_is_an_exception_with_a_reason() {
    let file = tables()[0];
    let mut seen = BTreeSet::new();
    for (name, text) in files() {
        let parsed = DeTable::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        used(file, &json_of(parsed.get_ref()), &mut seen);
    }
    let exceptions: BTreeMap<_, _> = EXCEPTIONS
        .iter()
        .map(|(table, key, why)| ((*table, *key), *why))
        .collect();
    assert_eq!(exceptions.len(), EXCEPTIONS.len(), "one is there twice");
    let (mut unused, mut stale) = (BTreeSet::new(), exceptions.clone());
    for table in tables() {
        for key in table.keys() {
            let called = called(table, key);
            let is_used = seen.contains(&identity(table, key));
            match exceptions.get(&called) {
                Some(_) if !is_used => drop(stale.remove(&called)),
                None if !is_used => drop(unused.insert(called)),
                _ => {}
            }
        }
    }
    assert!(unused.is_empty(), "no example uses {unused:#?}");
    assert!(stale.is_empty(), "no exceptions any more: {stale:#?}");
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
