//! What a change re-runs, before it is made: two manifests, and what is known of past builds.

mod cost;
mod report;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

pub use cost::{Cost, cost};
pub(crate) use report::seconds;
pub use report::{Impact, Line, SCHEMA, impact};

use crate::keys::{By, Input, Kind, Manifest, Node};

/// What will become of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It comes from the cache.
    Cached,
    /// It runs if what it stands behind makes other bytes than before.
    May,
    /// It runs.
    Must,
}

/// What past builds left in the cache, by both keys of a node.
#[derive(Debug, Clone, Default)]
pub struct Known {
    keys: BTreeSet<String>,
    owns: BTreeSet<String>,
}

impl Known {
    /// What a build of a manifest leaves.
    #[must_use]
    pub fn of(manifest: &Manifest) -> Self {
        let mut known = Self::default();
        for node in &manifest.nodes {
            known.add(&node.key, &node.own);
        }
        known
    }

    /// Whether a node of this key was built.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.keys.contains(key)
    }

    /// One more node that was built.
    pub fn add(&mut self, key: &str, own: &str) {
        self.keys.insert(key.to_owned());
        self.owns.insert(own.to_owned());
    }
}

/// The fate of each node of a manifest, by id.
///
/// `other` says of nodes that ran whether they made other bytes than before, as far as that is
/// known: of a tree it is known once its build is over, since the copy that makes a tree comes
/// from the cache when the bytes are the same.
#[must_use]
pub fn fates<'m>(
    manifest: &'m Manifest,
    known: &Known,
    other: &BTreeMap<String, bool>,
) -> BTreeMap<&'m str, Fate> {
    let mut seen = Seen {
        known,
        fates: BTreeMap::new(),
        other: other
            .iter()
            .map(|(id, other)| (id.as_str(), *other))
            .collect(),
    };
    for node in &manifest.nodes {
        seen.node(node);
    }
    seen.fates
}

/// What is decided of the nodes so far.
struct Seen<'m, 'k> {
    known: &'k Known,
    fates: BTreeMap<&'m str, Fate>,
    /// Whether the bytes of a node are other ones.
    other: BTreeMap<&'k str, bool>,
}

impl<'m: 'k, 'k> Seen<'m, 'k> {
    fn node(&mut self, node: &'m Node) {
        let told = self.other.get(node.id.as_str()).copied();
        let fate = match told {
            _ if self.known.keys.contains(&node.key) => Fate::Cached,
            _ if !self.known.owns.contains(&node.own) => Fate::Must,
            Some(true) => Fate::Must,
            Some(false) => Fate::Cached,
            // Only what stands before it can make it run.
            None => {
                let inputs = node.inputs.values();
                inputs
                    .map(|input| self.through(input))
                    .max()
                    .unwrap_or(Fate::Cached)
            }
        };
        if fate == Fate::Cached {
            self.other.insert(&node.id, false);
        } else if node.kind == Kind::Merge && told.is_none() {
            self.merged(node);
        }
        self.fates.insert(&node.id, fate);
    }

    /// What an input makes of its consumer, all else being the same.
    fn through(&self, input: &Input) -> Fate {
        let fate = self.fates.get(input.node.as_str()).copied();
        let fate = fate.unwrap_or(Fate::Cached);
        match (self.other.get(input.node.as_str()), input.by) {
            (Some(false), _) => Fate::Cached,
            // Other bytes somewhere in it need not be other bytes in a part of it.
            (Some(true), By::Content) if input.part.is_empty() => Fate::Must,
            (_, By::Content) => fate.min(Fate::May),
            (_, By::Key) => fate,
        }
    }

    /// Trees put together are other ones when one of them is.
    fn merged(&mut self, node: &'m Node) {
        let parts = node.inputs.values();
        let parts: Vec<Option<bool>> = parts
            .map(|input| self.other.get(input.node.as_str()).copied())
            .collect();
        if parts.contains(&Some(true)) {
            self.other.insert(&node.id, true);
        } else if parts.iter().all(|part| *part == Some(false)) {
            self.other.insert(&node.id, false);
        }
    }
}
