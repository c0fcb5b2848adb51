//! Why a step ran: what of its key differs from the build before, or what came of its inputs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::keys::{By, Change, Kind, Manifest, Node, changes};

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
        /// Why that one is another.
        why: Box<Why>,
    },
    /// What it sees has other bytes.
    Bytes {
        /// The nodes that made other bytes.
        nodes: Vec<String>,
        /// Why the first of them ran.
        why: Box<Why>,
    },
    /// All of it is the same: there is no record of it in the cache any more.
    Lost,
}

/// Two builds, and which nodes of the second one ran.
#[derive(Debug)]
pub struct Builds<'a> {
    old: BTreeMap<&'a str, &'a Node>,
    new: BTreeMap<&'a str, &'a Node>,
    ran: &'a BTreeSet<String>,
    /// What was found so far: steps in a row have the reasons before them in common.
    found: RefCell<BTreeMap<String, Why>>,
}

impl<'a> Builds<'a> {
    /// The manifests of two builds; `ran` are the ids of the nodes that the second one ran.
    #[must_use]
    pub fn new(old: &'a Manifest, new: &'a Manifest, ran: &'a BTreeSet<String>) -> Self {
        Self {
            old: old.by_id(),
            new: new.by_id(),
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
            let own = |nodes: &BTreeMap<&str, &'a Node>| {
                let node = nodes.get(input.node.as_str()).copied();
                node.map(|node| node.own.as_str())
            };
            if own(&self.old) != own(&self.new) {
                return Why::Behind {
                    node: input.node.clone(),
                    why: Box::new(self.why(&input.node)),
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
                why: Box::new(self.cause(first)),
                nodes: nodes.into_iter().collect(),
            },
        }
    }

    /// A step's name is in no key: one of the same key under another name was there before.
    fn renamed(&self, new: &Node) -> Why {
        if self.old.values().any(|old| old.key == new.key) {
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

    /// Where a chain of reasons begins: the last node that it names, and why that is another. What lies between says
    /// nothing more.
    fn root(&self) -> String {
        let (node, why) = match self {
            Self::Behind { node, why } => (node.clone(), why),
            Self::Bytes { nodes, why } => (products(nodes), why),
            _ => return self.line(),
        };
        match **why {
            Self::Behind { .. } | Self::Bytes { .. } => why.root(),
            _ => format!("{node}: {}", why.line()),
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
