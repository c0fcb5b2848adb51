//! The key manifest: for every vertex of a plan that has a key, everything that makes the key, by
//! name. What is not in it re-runs nothing.
//!
//! A node has two keys. Its *key* stands for all that it is made from. Its *own key* leaves out
//! what reaches it by content alone (a tree that is mounted or copied): while that one is the
//! same, the node runs again only if the bytes that reach it changed.

mod diff;
mod make;
mod named;
#[cfg(test)]
pub(crate) mod sample;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use diff::{Change, changes};
pub(crate) use make::ROOT;
pub use make::{Contents, draft, make};
pub use named::Named;

use llb::Digest;

use crate::lookup::Lookup;
use crate::plan::ImageConfig;

/// Name and version of the form of a manifest.
pub const SCHEMA: &str = "lanekit-keys/1";

/// Everything that makes the keys of one plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`SCHEMA`].
    pub schema: String,
    /// The graph's name.
    pub graph: String,
    /// The lane's name.
    pub lane: String,
    /// What of it was asked for, as a `--target`; empty is the default lane.
    pub target: String,
    /// Arguments that the caller set.
    pub args: BTreeMap<String, String>,
    /// The images that were looked up, by the reference in the file.
    pub images: BTreeMap<String, ImageKey>,
    /// The commits that were looked up, by the names of git sources.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub gits: BTreeMap<String, GitKey>,
    /// What was found of payloads, by name; nothing for one that was absent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub payloads: BTreeMap<String, Option<PayloadKey>>,
    /// Each behind what it consumes.
    pub nodes: Vec<Node>,
}

/// What of a manifest was looked up: enough to plan again without asking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lookups {
    /// As [`Manifest::images`].
    pub images: BTreeMap<String, ImageKey>,
    /// As [`Manifest::gits`].
    #[serde(default)]
    pub gits: BTreeMap<String, GitKey>,
    /// As [`Manifest::payloads`].
    #[serde(default)]
    pub payloads: BTreeMap<String, Option<PayloadKey>>,
}

/// An image as an engine found it: enough to plan again without asking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ImageKey {
    /// With its digest; empty where nobody looked it up.
    pub reference: String,
    /// Its config: steps inherit environment, user and directory.
    pub config: ImageConfig,
    /// Windows' build number that it is made for; empty for none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub os_version: String,
}

/// A git source as an engine found it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitKey {
    /// The commit, in hex.
    pub commit: String,
    /// What the ref itself is.
    pub object: String,
}

/// A payload as it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadKey {
    /// Its path in its context.
    pub path: String,
    /// Of its bytes, in hex.
    pub sha256: String,
}

/// A vertex that has a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// `STAGE/STEP`, `STAGE:tree`, `gate:NAME/inspect`, …: one in each manifest.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// Stands for all that it is made from: 32 hex digits.
    pub key: String,
    /// The same without what reaches it by content alone.
    pub own: String,
    /// What its name in an engine's progress begins with.
    pub vertex: String,
    /// What makes its key, by name: `env.PATH`, `network`, …
    pub components: Named<String>,
    /// The files that it sees, by the place where they appear.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub files: Named<FileKey>,
    /// The nodes that it consumes, by the place where they appear.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub inputs: Named<Input>,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An image that a stage starts from.
    Image,
    /// A git source.
    Git,
    /// A step: a command, or a change to files.
    Step,
    /// Products put onto a root.
    Copy,
    /// A product taken out of a root.
    Tree,
    /// Trees put together.
    Merge,
    /// What a gate looks at.
    Inspect,
    /// What a gate says.
    Assert,
}

impl Kind {
    /// What it goes by in keys.
    fn name(self) -> &'static str {
        match self {
            Self::Image => "Image",
            Self::Git => "Git",
            Self::Step => "Step",
            Self::Copy => "Copy",
            Self::Tree => "Tree",
            Self::Merge => "Merge",
            Self::Inspect => "Inspect",
            Self::Assert => "Assert",
        }
    }
}

/// A file or directory that a node sees. Its path is not part of the key, its bytes are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileKey {
    /// Its path in the context; empty for a text of the lane file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub path: String,
    /// Of its bytes, or of all names and bytes of a directory; empty where nobody read it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
}

impl FileKey {
    /// Whether it is what a path of the context names, or one of both is below the other.
    fn meets(&self, path: &str) -> bool {
        let path = path.trim_matches('/');
        let holds = |directory: &str, path: &str| {
            let rest = path.strip_prefix(directory);
            directory.is_empty()
                || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        !self.path.is_empty() && (holds(&self.path, path) || holds(path, &self.path))
    }
}

/// A node as another one consumes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// The node's id.
    pub node: String,
    /// What of it enters the key.
    pub by: By,
    /// The part of it that is seen; empty is all of it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
}

/// What of an input enters the key of its consumer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// Its key: the consumer runs again whenever the input has another one.
    Key,
    /// Its bytes, whatever made them.
    Content,
}

impl Manifest {
    /// The node of this id.
    #[must_use]
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    /// What was looked up for it.
    #[must_use]
    pub fn lookups(&self) -> Lookups {
        Lookups {
            images: self.images.clone(),
            gits: self.gits.clone(),
            payloads: self.payloads.clone(),
        }
    }

    /// The nodes by their ids.
    #[must_use]
    pub fn by_id(&self) -> BTreeMap<&str, &Node> {
        self.nodes
            .iter()
            .map(|node| (node.id.as_str(), node))
            .collect()
    }

    /// Whether the bytes of every file are known.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let files = self.nodes.iter().flat_map(|node| node.files.values());
        files.into_iter().all(|file| !file.digest.is_empty())
    }

    /// Looks up the digests that are not known, and makes all keys anew.
    pub fn fill(&mut self, contents: &Contents<'_>) {
        for file in self
            .nodes
            .iter_mut()
            .flat_map(|node| node.files.values_mut())
        {
            if file.digest.is_empty() {
                file.digest = contents(&file.path).unwrap_or_default();
            }
        }
        self.seal();
    }

    /// Whether any node sees a file at a path of the context, above it or below it.
    #[must_use]
    pub fn sees(&self, path: &str) -> bool {
        let mut files = self.nodes.iter().flat_map(|node| node.files.values());
        files.any(|file| file.meets(path))
    }

    /// The same with files of other bytes at a path of the context, or below it.
    #[must_use]
    pub fn with_changed_file(&self, path: &str) -> Self {
        let mut changed = self.clone();
        for file in changed
            .nodes
            .iter_mut()
            .flat_map(|node| node.files.values_mut())
        {
            if file.meets(path) {
                file.digest.push_str(" changed");
            }
        }
        changed.seal_beside(self);
        changed
    }

    /// Makes the keys of all nodes from what they consist of.
    pub(crate) fn seal(&mut self) {
        self.seal_with(&Lookup::default());
    }

    /// The same beside a manifest that has its keys: a node that is the same in both gets the keys that it has there, and
    /// no digest is made of it.
    fn seal_beside(&mut self, other: &Self) {
        let nodes = other.nodes.iter();
        self.seal_with(&nodes.map(|node| (node.id.as_str(), node)).collect());
    }

    /// `known` are nodes that have their keys, by id.
    fn seal_with(&mut self, known: &Lookup<&str, &Node>) {
        // Places of nodes that were made, by id: each stands behind what it consumes.
        let mut places: Lookup<&str, usize> = Lookup::with_capacity(self.nodes.len());
        let mut made: Vec<(String, String)> = Vec::with_capacity(self.nodes.len());
        let (mut own, mut key) = (Hasher::default(), Hasher::default());
        for node in &self.nodes {
            let same = known.get(&node.id).filter(|same| {
                let input = |input: &Input| {
                    let here = places.get(&input.node).map(|place| &made[*place]);
                    let there = known.get(&input.node).map(|node| (&node.key, &node.own));
                    here.map(|(key, own)| (key, own)) == there
                };
                node.is_made_as(same) && node.inputs.values().all(input)
            });
            if let Some(same) = same {
                places.insert(&node.id, made.len());
                made.push((same.key.clone(), same.own.clone()));
                continue;
            }
            own.put(&["kind"], node.kind.name());
            for (name, value) in node.components.iter() {
                own.put(&[name], value);
            }
            for (at, file) in node.files.iter() {
                own.put(&["file ", at], &file.digest);
            }
            for (at, input) in node.inputs.iter() {
                let its = places.get(&input.node).map(|place| &made[*place]);
                let (its_key, its_own) = its.map_or(("", ""), |(key, own)| (key, own));
                match input.by {
                    By::Key => own.put(&["input ", at], its_own),
                    By::Content => own.put(&["content ", at], &input.part),
                }
                key.put(&[at], its_key);
            }
            let own = own.finish();
            key.put(&["own"], &own);
            places.insert(&node.id, made.len());
            made.push((key.finish(), own));
        }
        for (node, (key, own)) in self.nodes.iter_mut().zip(made) {
            (node.key, node.own) = (key, own);
        }
    }
}

impl Node {
    /// Whether both are made of the same, as far as they say it themselves: of an input they say which node it is.
    pub(crate) fn is_made_as(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.components == other.components
            && self.files == other.files
            && self.inputs == other.inputs
    }
}

/// A manifest whose keys are still to be made.
#[derive(Debug)]
pub struct Draft(Manifest);

impl Draft {
    /// The manifest.
    #[must_use]
    pub fn seal(self) -> Manifest {
        let Self(mut manifest) = self;
        manifest.seal();
        manifest
    }

    /// The same, where much of it is as in another manifest: no digest is made of that again.
    #[must_use]
    pub fn seal_beside(self, other: &Manifest) -> Manifest {
        let Self(mut manifest) = self;
        manifest.seal_beside(other);
        manifest
    }
}

/// Named values, each with its length, so that no two lists of them are one text.
#[derive(Default)]
struct Hasher(Vec<u8>);

impl Hasher {
    /// The name in parts.
    fn put(&mut self, name: &[&str], value: &str) {
        self.text(name);
        self.text(&[value]);
    }

    fn text(&mut self, parts: &[&str]) {
        self.number(parts.iter().map(|part| part.len()).sum());
        self.0.push(b':');
        for part in parts {
            self.0.extend_from_slice(part.as_bytes());
        }
        self.0.push(b';');
    }

    /// In decimal digits.
    fn number(&mut self, number: usize) {
        if number > 9 {
            self.number(number / 10);
        }
        self.0.push(b'0' + (number % 10) as u8);
    }

    /// The digest of all of them; what comes next is another list.
    fn finish(&mut self) -> String {
        let digest = short(&self.0);
        self.0.clear();
        digest
    }
}

/// 128 bits of the digest of bytes: 32 hex digits.
pub(crate) fn short(bytes: &[u8]) -> String {
    let mut digest = Digest::of(bytes).hex();
    digest.truncate(32);
    digest
}
