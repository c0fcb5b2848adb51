//! What of a node differs between two manifests.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

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
    // Most pairs are the same, and then no names need be made.
    if (&old.components, &old.files, &old.inputs) == (&new.components, &new.files, &new.inputs) {
        return Vec::new();
    }
    let (before, after) = (flat(old), flat(new));
    let names: BTreeSet<&str> = before.keys().chain(after.keys()).map(|n| &**n).collect();
    let text = |value: Option<&Cow<'_, str>>| value.map(|value| value.clone().into_owned());
    names
        .into_iter()
        .filter(|name| before.get(*name) != after.get(*name))
        .map(|name| Change {
            name: name.to_owned(),
            old: text(before.get(name)),
            new: text(after.get(name)),
        })
        .collect()
}

fn flat(node: &Node) -> BTreeMap<Cow<'_, str>, Cow<'_, str>> {
    let components = node.components.iter();
    let components = components.map(|(name, value)| (name.into(), value.into()));
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
        (Cow::from(name), Cow::from(&file.digest))
    });
    let inputs = node.inputs.iter().map(|(at, input)| {
        let what = match (input.by, input.part.as_str()) {
            (By::Key, _) | (By::Content, "") => Cow::from(&input.node),
            (By::Content, part) => Cow::from(format!("{part} of {}", input.node)),
        };
        (Cow::from(format!("input {at}")), what)
    });
    components.chain(files).chain(inputs).collect()
}
