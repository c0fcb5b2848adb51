//! A tree that a test makes, and what a gate says of it.

#![allow(clippy::unwrap_used)]

use std::fs;

use gates::arch_table;
use gates::gate::{Gate, Object};
use gates::name::Name;
use gates::policy::{Floor, Loaded, Policy, SCHEMA};
use gates::report::{Asserted, Inspected};
use gates::verdict;
use gates::walk::Root;
use serde_json::Value;

/// A directory of a test.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    #[allow(dead_code)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let tree = Self::new();
        for (name, text) in files {
            tree.put(name, text.as_bytes());
        }
        tree
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    #[allow(dead_code)]
    pub(crate) fn path(&self) -> &std::path::Path {
        self.0.path()
    }

    fn root(&self) -> Root {
        Root {
            path: self.0.path().to_owned(),
            label: Name::default(),
        }
    }
}

fn object(value: Value) -> Object {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// What a gate sees in a tree.
pub(crate) fn look(gate: &str, target: &str, tree: &Tree, ask: Value) -> Inspected {
    let row = arch_table::row(target).unwrap();
    let gate = Gate::named(gate).unwrap();
    gate.inspect(&row, &[tree.root()], &object(ask)).unwrap()
}

/// The findings, as they are printed.
pub(crate) fn told(gate: &str, target: &str, tree: &Tree, ask: Value) -> Vec<String> {
    let seen = look(gate, target, tree, ask);
    seen.findings.iter().map(ToString::to_string).collect()
}

/// A verdict with a floor of one thing.
#[allow(dead_code)]
pub(crate) fn judge(gate: &str, target: &str, tree: &Tree, ask: Value, demand: Value) -> Asserted {
    floored(gate, target, tree, ask, demand, "inspected")
}

/// A verdict with a floor of one of what the gate counts.
#[allow(dead_code)]
pub(crate) fn floored(
    gate: &str,
    target: &str,
    tree: &Tree,
    ask: Value,
    demand: Value,
    what: &str,
) -> Asserted {
    let ask = Gate::named(gate).unwrap().ask(&object(ask)).unwrap();
    let floor = Floor {
        broken: None,
        least: 1,
        measured: None,
        on: None,
    };
    let policy = Policy {
        allow: Vec::new(),
        ask: ask.clone(),
        check: gate.to_owned(),
        demand: object(demand),
        effect: Default::default(),
        empty_ok: None,
        floors: [(what.to_owned(), floor)].into(),
        gate: "g".to_owned(),
        schema: SCHEMA.to_owned(),
        target: target.to_owned(),
    };
    let seen = look(gate, target, tree, Value::Object(ask));
    verdict::judge(&seen, &Loaded::of(policy).unwrap()).unwrap()
}
