//! What a change re-runs, before it is made: two manifests, and what is known of past builds.

mod cost;
mod report;

use std::collections::BTreeMap;
use std::ops::Index;

use serde::Serialize;

pub use cost::{Cost, cost};
pub(crate) use report::seconds;
pub use report::{Impact, Line, SCHEMA, impact};

use crate::keys::{By, Input, Kind, Manifest, Node};
use crate::lookup::Lookup;

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
    keys: Lookup<String, ()>,
    owns: Lookup<String, ()>,
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
        self.keys.insert(key.to_owned(), ());
        self.owns.insert(own.to_owned(), ());
    }
}

/// The fate of each node of a manifest.
#[derive(Debug)]
pub struct Fates<'m> {
    nodes: &'m [Node],
    /// Of the first nodes, as many as are decided.
    fates: Vec<Fate>,
    /// Places of those, by id.
    places: Lookup<&'m str, usize>,
}

impl<'m> Fates<'m> {
    /// The fate of a node.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<Fate> {
        self.places.get(id).map(|place| self.fates[*place])
    }

    /// The ids with their fates, each node behind what it consumes.
    pub fn iter(&self) -> impl Iterator<Item = (&'m str, Fate)> {
        let ids = self.nodes.iter().map(|node| node.id.as_str());
        ids.zip(self.fates.iter().copied())
    }
}

impl Index<&str> for Fates<'_> {
    type Output = Fate;

    /// The fate of a node that is known to be there.
    fn index(&self, id: &str) -> &Fate {
        match self.places.get(id) {
            Some(place) => &self.fates[*place],
            None => panic!("there is no node `{id}`"),
        }
    }
}

/// What becomes of the nodes of a manifest.
///
/// `other` says of nodes that ran whether they made other bytes than before, as far as that is
/// known: of a tree it is known once its build is over, since the copy that makes a tree comes
/// from the cache when the bytes are the same.
#[must_use]
pub fn fates<'m>(
    manifest: &'m Manifest,
    known: &Known,
    other: &BTreeMap<String, bool>,
) -> Fates<'m> {
    let count = manifest.nodes.len();
    let mut seen = Seen {
        known,
        fates: Fates {
            nodes: &manifest.nodes,
            fates: Vec::with_capacity(count),
            places: Lookup::with_capacity(count),
        },
        told: other,
        other: Vec::with_capacity(count),
    };
    for node in &manifest.nodes {
        seen.node(node);
    }
    seen.fates
}

/// What is decided of the nodes so far.
struct Seen<'m, 'k> {
    known: &'k Known,
    fates: Fates<'m>,
    /// What the caller knows of the bytes of nodes, by id.
    told: &'k BTreeMap<String, bool>,
    /// Whether the bytes of the decided nodes are other ones, as far as that is known.
    other: Vec<Option<bool>>,
}

impl<'m> Seen<'m, '_> {
    fn node(&mut self, node: &'m Node) {
        let told = self.told.get(&node.id).copied();
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
        let other = match fate {
            Fate::Cached => Some(false),
            _ if node.kind == Kind::Merge && told.is_none() => self.merged(node),
            _ => told,
        };
        self.fates.places.insert(&node.id, self.other.len());
        self.fates.fates.push(fate);
        self.other.push(other);
    }

    /// Whether the bytes of a node are other ones, as far as that is known.
    fn is_other(&self, id: &str) -> Option<bool> {
        let place = self.fates.places.get(id);
        place.and_then(|place| self.other[*place])
    }

    /// What an input makes of its consumer, all else being the same.
    fn through(&self, input: &Input) -> Fate {
        let fate = self.fates.get(&input.node).unwrap_or(Fate::Cached);
        match (self.is_other(&input.node), input.by) {
            (Some(false), _) => Fate::Cached,
            // Other bytes somewhere in it need not be other bytes in a part of it.
            (Some(true), By::Content) if input.part.is_empty() => Fate::Must,
            (_, By::Content) => fate.min(Fate::May),
            (_, By::Key) => fate,
        }
    }

    /// Trees put together are other ones when one of them is.
    fn merged(&self, node: &Node) -> Option<bool> {
        let parts = node.inputs.values();
        let parts: Vec<Option<bool>> = parts.map(|input| self.is_other(&input.node)).collect();
        match parts.contains(&Some(true)) {
            true => Some(true),
            false => parts
                .iter()
                .all(|part| *part == Some(false))
                .then_some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::sample::{manifest, node};

    /// A step that sees a product, of which the step behind it is `value`; `part` is what of it is seen.
    fn consumer(value: &str, part: &str) -> Manifest {
        let mut all = manifest(vec![
            node("a/build", Kind::Step, &[("env.A", value)], &[]),
            node(
                "a:tree",
                Kind::Tree,
                &[],
                &[("root", "a/build", By::Content)],
            ),
            node("b/build", Kind::Step, &[], &[("/a", "a:tree", By::Content)]),
            node("b/pack", Kind::Step, &[], &[("root", "b/build", By::Key)]),
        ]);
        for input in all.nodes[2].inputs.values_mut() {
            input.part = part.to_owned();
        }
        all.seal();
        all
    }

    fn fate(part: &str, tree: Option<bool>) -> [Fate; 2] {
        let (old, new) = (consumer("1", part), consumer("2", part));
        let told = tree.map(|tree| ("a:tree".to_owned(), tree));
        let fates = fates(&new, &Known::of(&old), &told.into_iter().collect());
        ["b/build", "b/pack"].map(|id| fates[id])
    }

    #[test]
    fn what_was_built_comes_from_the_cache_whatever_stands_before_it() {
        let (old, new) = (consumer("1", ""), consumer("2", ""));
        let mut known = Known::of(&old);
        known.add(&new.nodes[2].key, &new.nodes[2].own);
        let fates = fates(&new, &known, &BTreeMap::new());
        let ids = ["a/build", "b/build", "b/pack"];
        assert_eq!(
            ids.map(|id| fates[id]),
            [Fate::Must, Fate::Cached, Fate::Cached]
        );
    }

    #[test]
    fn other_bytes_of_a_product_run_who_sees_all_of_it_and_perhaps_who_sees_a_part() {
        assert_eq!(fate("", None), [Fate::May; 2]);
        assert_eq!(fate("", Some(true)), [Fate::Must; 2]);
        assert_eq!(fate("/lib", Some(true)), [Fate::May; 2]);
        assert_eq!(fate("/lib", Some(false)), [Fate::Cached; 2]);
    }
}
