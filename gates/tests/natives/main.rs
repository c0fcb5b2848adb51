//! The gates over programs and libraries: small trees, and what each gate finds in them.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

mod data;
mod elf;
mod gpu;
mod imports;
mod plugin;

use std::fs;

use gates::arch_table;
use gates::gate::{Gate, Object};
use gates::name::Name;
use gates::report::Inspected;
use gates::walk::Root;
use serde_json::Value;

/// A tree to look at, in a directory of its own.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (name, bytes) in files {
            tree.put(name, bytes);
        }
        tree
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn inspect(&self, gate: &str, target: &str, ask: Value) -> Inspected {
        let root = Root {
            path: self.0.path().to_owned(),
            label: Name::default(),
        };
        let Value::Object(ask) = ask else {
            panic!("no object: {ask}")
        };
        let ask: Object = ask;
        Gate::named(gate)
            .unwrap()
            .inspect(&arch_table::row(target).unwrap(), &[root], &ask)
            .unwrap()
    }
}

/// The findings as they are printed.
fn findings(report: &Inspected) -> Vec<String> {
    report.findings.iter().map(ToString::to_string).collect()
}
