//! Why a step ran: what of its key differs from the build before, or what came of its inputs.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::keys::{By, Change, Kind, Manifest, Node, changes};
use crate::lookup::Lookup;

/// Why a node ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No build before this one is known to have made it.
    First,
    /// The caller said that the cache does not count.
    Asked,
    /// Components of its key are others.
    Changed(Vec<Change>),
    /// What it stands on has another key.
    Behind {
        /// The node that it stands on.
        node: String,
        /// Why that one is another: of a chain, where it began.
        why: Box<Why>,
    },
    /// What it sees has other bytes.
    Bytes {
        /// The nodes that made other bytes.
        nodes: Vec<String>,
        /// Why the first of them ran: of a chain, where it began.
        why: Box<Why>,
    },
    /// All of it is the same: there is no record of it in the cache any more.
    Lost,
}

/// The nodes of a manifest by their ids.
fn by_id(manifest: &Manifest) -> Lookup<&str, &Node> {
    let nodes = manifest.nodes.iter();
    nodes.map(|node| (node.id.as_str(), node)).collect()
}

/// Two builds, and which nodes of the second one ran.
#[derive(Debug)]
pub struct Builds<'a> {
    old: Lookup<&'a str, &'a Node>,
    new: Lookup<&'a str, &'a Node>,
    /// The keys of the nodes of the first one.
    keys: Lookup<&'a str, ()>,
    ran: &'a BTreeSet<String>,
    /// What was found so far: steps in a row have the reasons before them in common.
    found: RefCell<Lookup<String, Why>>,
}

impl<'a> Builds<'a> {
    /// The manifests of two builds; `ran` are the ids of the nodes that the second one ran.
    #[must_use]
    pub fn new(old: &'a Manifest, new: &'a Manifest, ran: &'a BTreeSet<String>) -> Self {
        Self {
            old: by_id(old),
            new: by_id(new),
            keys: old
                .nodes
                .iter()
                .map(|node| (node.key.as_str(), ()))
                .collect(),
            ran,
            found: RefCell::default(),
        }
    }

    /// Why a node of the second build ran.
    #[must_use]
    pub fn why(&self, id: &str) -> Why {
        let known = self.found.borrow().get(id).cloned();
        known.unwrap_or_else(|| {
            let why = self.find(id);
            let mut found = self.found.borrow_mut();
            found.insert(id.to_owned(), why.clone());
            why
        })
    }

    fn find(&self, id: &str) -> Why {
        let Some(new) = self.new.get(id) else {
            return Why::First;
        };
        let Some(old) = self.old.get(id) else {
            return self.renamed(new);
        };
        if old.key == new.key {
            return Why::Lost;
        }
        let changes = changes(old, new);
        if !changes.is_empty() {
            return Why::Changed(changes);
        }
        let stands_on = new.inputs.values().filter(|input| input.by == By::Key);
        for input in stands_on {
            let own = |nodes: &Lookup<&str, &'a Node>| {
                let node = nodes.get(&input.node).copied();
                node.map(|node| node.own.as_str())
            };
            if own(&self.old) != own(&self.new) {
                return Why::Behind {
                    node: input.node.clone(),
                    why: Box::new(self.why(&input.node).origin()),
                };
            }
        }
        let mut nodes = BTreeSet::new();
        for input in new.inputs.values() {
            self.other_bytes(&input.node, &mut nodes);
        }
        match nodes.first() {
            None => Why::Lost,
            Some(first) => Why::Bytes {
                why: Box::new(self.cause(first).origin()),
                nodes: nodes.into_iter().collect(),
            },
        }
    }

    /// A step's name is in no key: one of the same key under another name was there before.
    fn renamed(&self, new: &Node) -> Why {
        if self.keys.contains(&new.key) {
            Why::Lost
        } else {
            Why::First
        }
    }

    /// The nodes that made other bytes, as far as they reach a node: what is only put together is
    /// looked through.
    fn other_bytes(&self, id: &str, found: &mut BTreeSet<String>) {
        let Some(node) = self.new.get(id) else {
            return;
        };
        let same = self.old.get(id).is_some_and(|old| old.key == node.key);
        if same {
            return;
        }
        match node.kind {
            Kind::Merge | Kind::Copy => {
                for input in node.inputs.values() {
                    self.other_bytes(&input.node, found);
                }
            }
            // Looked up, not run: another key is all that is known.
            Kind::Git | Kind::Image => {
                found.insert(id.to_owned());
            }
            Kind::Tree | Kind::Step | Kind::Inspect | Kind::Assert => {
                if self.ran.contains(id) {
                    found.insert(id.to_owned());
                }
            }
        }
    }

    /// Why a product is another: why the step behind it ran.
    fn cause(&self, id: &str) -> Why {
        let made_by = self.new.get(id).filter(|node| node.kind == Kind::Tree);
        match made_by.and_then(|node| node.inputs.values().next()) {
            Some(input) if changed_paths(self, id).is_none() => self.why(&input.node),
            _ => changed_paths(self, id).unwrap_or_else(|| self.why(id)),
        }
    }
}

/// The paths of a tree, where they are others than before.
fn changed_paths(builds: &Builds<'_>, id: &str) -> Option<Why> {
    let (old, new) = (builds.old.get(id)?, builds.new.get(id)?);
    let changes = changes(old, new);
    (!changes.is_empty()).then_some(Why::Changed(changes))
}

/// How much of a value is shown, in characters.
const SHOWN: usize = 60;
/// How many changes are shown in one line.
const MOST: usize = 3;

impl Why {
    /// In one line, as what is said after "ran: ".
    #[must_use]
    pub fn line(&self) -> String {
        match self {
            Self::First => "no earlier build of it is known".to_owned(),
            Self::Asked => "the build was told to ignore the cache".to_owned(),
            Self::Changed(changes) => changed(changes),
            Self::Behind { node, why } => {
                format!("it stands on {node}, which is another ({})", why.root())
            }
            Self::Bytes { nodes, why } => {
                let made = match nodes.as_slice() {
                    [one] => format!("its input {} has other bytes", product(one)),
                    more => format!("its inputs {} have other bytes", products(more)),
                };
                format!("{made} ({})", why.root())
            }
            Self::Lost => "its key is the same, so its cache record was lost".to_owned(),
        }
    }

    /// The end of a chain of reasons, where that is long. A reason holds this and no more, so it is of one size however
    /// long the chain is: a step behind thousands of others has a reason too.
    fn origin(self) -> Self {
        match self {
            Self::Behind { why, .. } | Self::Bytes { why, .. } if why.goes_on() => *why,
            other => other,
        }
    }

    /// Whether this is the reason of something before it.
    fn goes_on(&self) -> bool {
        matches!(self, Self::Behind { .. } | Self::Bytes { .. })
    }

    /// Where a chain of reasons begins: the last node that it names, and why that is another. What lies between says
    /// nothing more.
    fn root(&self) -> String {
        let (node, why) = match self {
            Self::Behind { node, why } => (node.clone(), why),
            Self::Bytes { nodes, why } => (products(nodes), why),
            _ => return self.line(),
        };
        match why.goes_on() {
            true => why.root(),
            false => format!("{node}: {}", why.line()),
        }
    }

    /// What to look at, where something can be done about it.
    #[must_use]
    pub fn help(&self) -> Option<&'static str> {
        match self {
            Self::Lost => Some(
                "garbage collection, a prune, another builder, or a cache import that was dropped: \
                 compare `docker buildx du` with the collection limits of the engine, `docker \
                 buildx ls` with the builder of the last build, and look for warnings about \
                 --cache-from",
            ),
            Self::Bytes { why, .. } if matches!(**why, Self::Lost) => Some(
                "the step behind it made other bytes from the same inputs: `lanekit repro STEP` \
                 shows what differs between two runs of it",
            ),
            _ => None,
        }
    }
}

/// A tree is called by its stage.
fn product(node: &str) -> &str {
    node.strip_suffix(":tree").unwrap_or(node)
}

fn products(nodes: &[String]) -> String {
    let nodes: Vec<&str> = nodes.iter().map(|node| product(node)).collect();
    nodes.join(", ")
}

fn changed(changes: &[Change]) -> String {
    let mut shown: Vec<String> = changes.iter().take(MOST).map(one).collect();
    if changes.len() > MOST {
        shown.push(format!("and {} more", changes.len() - MOST));
    }
    shown.join(", ")
}

fn one(change: &Change) -> String {
    let Change { name, old, new } = change;
    let by_digest = name.starts_with("file ") || name.starts_with("script ");
    match (old, new) {
        (Some(_), Some(_)) if by_digest => format!("{name} changed"),
        (Some(old), Some(new)) => format!("{name}: {} → {}", quoted(old), quoted(new)),
        (Some(_), None) => format!("{name} is gone"),
        (None, Some(new)) if !by_digest => format!("{name} is new: {}", quoted(new)),
        (None, _) => format!("{name} is new"),
    }
}

fn quoted(value: &str) -> String {
    if value.is_empty() {
        return "(empty)".to_owned();
    }
    let line = value.replace(['\n', '\r', '\t'], " ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::sample::{manifest, node};

    /// Steps in a row, each on the root of the one before or on its bytes; `first` is a variable of the first one.
    fn row(length: usize, by: By, first: &str) -> Manifest {
        let one = |number: usize| {
            let id = format!("s/{number}");
            match number.checked_sub(1).map(|before| format!("s/{before}")) {
                None => node(&id, Kind::Step, &[("env.V", first)], &[]),
                Some(before) => node(&id, Kind::Step, &[], &[("root", &before, by)]),
            }
        };
        manifest((0..length).map(one).collect())
    }

    /// Two trees and what is put together of them, seen by a step: `a` and `b` are variables of the steps behind them.
    fn two_trees(a: &str, b: &str) -> Manifest {
        let by_bytes = |id: &'static str| [("root", id, By::Content)];
        let parts = [("part.0", "a:tree", By::Key), ("part.1", "b:tree", By::Key)];
        manifest(vec![
            node("a/build", Kind::Step, &[("env.A", a)], &[]),
            node(
                "a:tree",
                Kind::Tree,
                &[("tree./out/a", "")],
                &by_bytes("a/build"),
            ),
            node("b/build", Kind::Step, &[("env.B", b)], &[]),
            node(
                "b:tree",
                Kind::Tree,
                &[("tree./out/b", "")],
                &by_bytes("b/build"),
            ),
            node("all:merge", Kind::Merge, &[], &parts),
            node(
                "final/index",
                Kind::Step,
                &[],
                &[("/all", "all:merge", By::Content)],
            ),
        ])
    }

    fn why(old: &Manifest, new: &Manifest, ran: &[&str], id: &str) -> Why {
        let ran = ran.iter().map(|id| (*id).to_owned()).collect();
        Builds::new(old, new, &ran).why(id)
    }

    #[test]
    fn what_is_put_together_is_looked_through_to_what_made_other_bytes() {
        let (old, new) = (two_trees("1", "1"), two_trees("2", "2"));
        // The other tree has another key too, but the bytes of before: it came from the cache.
        let ran = ["a/build", "a:tree", "b/build", "all:merge", "final/index"];
        assert_eq!(
            why(&old, &new, &ran, "final/index").line(),
            "its input a has other bytes (env.A: 1 → 2)"
        );
        let ran = [&ran[..], &["b:tree"]].concat();
        assert_eq!(
            why(&old, &new, &ran, "final/index").line(),
            "its inputs a, b have other bytes (env.A: 1 → 2)"
        );
    }

    #[test]
    fn a_tree_of_other_paths_says_so_whatever_its_step_did() {
        let (old, mut new) = (two_trees("1", "1"), two_trees("2", "1"));
        let paths = [("tree./out/a", ""), ("tree./etc", "")];
        new.nodes[1] = node(
            "a:tree",
            Kind::Tree,
            &paths,
            &[("root", "a/build", By::Content)],
        );
        new.seal();
        assert_eq!(
            why(&old, &new, &["a/build", "a:tree"], "final/index").line(),
            "its input a has other bytes (tree./etc is new: (empty))"
        );
    }

    #[test]
    fn a_step_of_the_same_key_ran_since_the_cache_lost_its_record() {
        let old = two_trees("1", "1");
        let lost = why(&old, &old, &["a/build"], "a/build");
        assert_eq!(lost, Why::Lost);
        assert!(
            lost.help()
                .is_some_and(|help| help.contains("garbage collection"))
        );
        // Its bytes are others all the same: it is not reproducible.
        let again = Why::Bytes {
            nodes: vec!["a:tree".to_owned()],
            why: Box::new(Why::Lost),
        };
        assert!(
            again
                .help()
                .is_some_and(|help| help.contains("lanekit repro"))
        );
        assert_eq!(Why::First.help(), None);
    }

    #[test]
    fn a_name_is_in_no_key() {
        let step =
            |id: &str, value: &str| manifest(vec![node(id, Kind::Step, &[("env.V", value)], &[])]);
        let (old, renamed, other) = (step("s/old", "1"), step("s/new", "1"), step("s/new", "2"));
        assert_eq!(why(&old, &renamed, &["s/new"], "s/new"), Why::Lost);
        assert_eq!(why(&old, &other, &["s/new"], "s/new"), Why::First);
        assert_eq!(why(&old, &other, &[], "s/none"), Why::First);
    }

    #[test]
    fn another_part_of_a_product_is_another_input() {
        let sees = |part: &str| {
            let mut all = two_trees("1", "1");
            for input in all.nodes[5].inputs.values_mut() {
                input.part = part.to_owned();
            }
            all.seal();
            all
        };
        assert_eq!(
            why(&sees(""), &sees("/lib"), &[], "final/index").line(),
            "input /all: all:merge → /lib of all:merge"
        );
    }

    #[test]
    fn changes_are_said_in_the_order_of_their_names_and_at_most_three() {
        let step = |values: &[(&str, &str)]| manifest(vec![node("s/s", Kind::Step, values, &[])]);
        let old = step(&[("cwd", "/"), ("env.B", "1"), ("env.C", ""), ("env.D", "1")]);
        let new = step(&[
            ("cwd", "/src"),
            ("env.A", "2"),
            ("env.C", "3"),
            ("env.D", "1"),
        ]);
        assert_eq!(
            why(&old, &new, &["s/s"], "s/s").line(),
            "cwd: / → /src, env.A is new: 2, env.B is gone, and 1 more"
        );
    }

    #[test]
    fn a_reason_behind_many_steps_is_short_and_can_be_read_back() {
        for (by, line) in [
            (
                By::Key,
                "it stands on s/998, which is another (s/0: env.V: 1 → 2)",
            ),
            (
                By::Content,
                "its input s/998 has other bytes (s/0: env.V: 1 → 2)",
            ),
        ] {
            let (old, new) = (row(1_000, by, "1"), row(1_000, by, "2"));
            let ran = new.nodes.iter().map(|node| node.id.clone()).collect();
            let builds = Builds::new(&old, &new, &ran);
            let whys: Vec<Why> = new.nodes.iter().map(|node| builds.why(&node.id)).collect();
            let last = whys.last().unwrap();
            assert_eq!(last.line(), line);
            let json = serde_json::to_string(last).unwrap();
            assert!(json.len() < 300, "{json}");
            assert_eq!(serde_json::from_str::<Why>(&json).unwrap(), *last);
        }
    }
}
