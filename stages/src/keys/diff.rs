//! What of a node differs between two manifests.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{By, Node};

/// A component that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its name: `env.PATH`, `file src/onnx.c`, `input /runtime/ffmpeg`.
    pub name: String,
    /// What it was; nothing when it was not there.
    pub old: Option<String>,
    /// What it is; nothing when it is not there.
    pub new: Option<String>,
}

/// The components that differ, files and inputs included, by name. Inputs count by the node that
/// stands there, not by what that one is made of.
#[must_use]
pub fn changes(old: &Node, new: &Node) -> Vec<Change> {
    let (before, after) = (flat(old), flat(new));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| Change {
            name: name.clone(),
            old: before.get(name).cloned(),
            new: after.get(name).cloned(),
        })
        .collect()
}

fn flat(node: &Node) -> std::collections::BTreeMap<String, String> {
    let components = node.components.clone().into_iter();
    let files = node.files.iter().map(|(at, file)| {
        let name = match file.path.as_str() {
            "" => format!("script {at}"),
            path => format!("file {path}"),
        };
        // At its usual place a file goes by its path; elsewhere the place says which it is.
        let usual = at.ends_with(&file.path);
        let name = if usual {
            name
        } else {
            format!("{name} at {at}")
        };
        (name, file.digest.clone())
    });
    let inputs = node.inputs.iter().map(|(at, input)| {
        let what = match (input.by, input.part.as_str()) {
            (By::Key, _) | (By::Content, "") => input.node.clone(),
            (By::Content, part) => format!("{part} of {}", input.node),
        };
        (format!("input {at}"), what)
    });
    components.chain(files).chain(inputs).collect()
}
