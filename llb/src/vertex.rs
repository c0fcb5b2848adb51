//! Vertices and their outputs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use prost::Message as _;

use crate::caps::{Cap, Caps, Missing};
use crate::proto::pb;
use crate::{Digest, Metadata};

/// One output of a vertex: a file system that a later vertex can start from,
/// mount or copy. A cheap handle; an empty file system has no vertex, so where
/// scratch is possible it is `None` of an `Option<Output>`.
#[derive(Clone)]
pub struct Output {
    pub(crate) vertex: Arc<Vertex>,
    pub(crate) index: i64,
}

/// An op with its bytes and all that is said about it.
pub(crate) struct Vertex {
    pub(crate) bytes: Vec<u8>,
    pub(crate) digest: Digest,
    pub(crate) inputs: Vec<Output>,
    pub(crate) caps: BTreeSet<Cap>,
    pub(crate) metadata: Metadata,
}

impl Vertex {
    /// Encodes an op. Its inputs are those of `inputs`, whose indices it uses.
    pub(crate) fn new(
        kind: pb::op::Op,
        platform: Option<pb::Platform>,
        inputs: Vec<Output>,
        caps: BTreeSet<Cap>,
        metadata: Metadata,
    ) -> Arc<Self> {
        let op = pb::Op {
            inputs: inputs.iter().map(Output::to_pb).collect(),
            op: Some(kind),
            platform,
            constraints: None,
        };
        Self::of(op, inputs, caps, metadata)
    }

    /// Encodes a whole op.
    pub(crate) fn of(
        op: pb::Op,
        inputs: Vec<Output>,
        caps: BTreeSet<Cap>,
        metadata: Metadata,
    ) -> Arc<Self> {
        let bytes = canonical(op);
        Arc::new(Self {
            digest: Digest::of(&bytes),
            bytes,
            inputs,
            caps,
            metadata,
        })
    }

    /// Output `index` of this vertex.
    pub(crate) fn output(self: &Arc<Self>, index: i64) -> Output {
        Output {
            vertex: Arc::clone(self),
            index,
        }
    }

    /// All that an engine must know to run this vertex.
    pub(crate) fn needs(&self) -> impl Iterator<Item = &str> {
        self.caps
            .iter()
            .map(|cap| cap.name())
            .chain(self.metadata.needs())
    }
}

impl Drop for Vertex {
    /// Drops a long chain without recursion.
    fn drop(&mut self) {
        let mut rest = std::mem::take(&mut self.inputs);
        while let Some(output) = rest.pop() {
            if let Some(mut vertex) = Arc::into_inner(output.vertex) {
                rest.append(&mut vertex.inputs);
            }
        }
    }
}

impl Output {
    /// The digest of the vertex that makes this output. The engine names the
    /// vertex by the same digest.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.vertex.digest
    }

    /// Which output of its vertex this is.
    #[must_use]
    pub fn index(&self) -> i64 {
        self.index
    }

    /// The name that progress shows for the vertex, if it was given one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.vertex.metadata.name()
    }

    /// What the graph behind this output needs and `caps` does not have, by
    /// name of the capability, each with the first vertex that needs it.
    #[must_use]
    pub fn missing(&self, caps: &Caps) -> Vec<Missing> {
        let graph = self.graph();
        let mut found = BTreeMap::new();
        for vertex in &graph {
            for cap in vertex.needs().filter(|cap| !caps.has(cap)) {
                found.entry(cap).or_insert(vertex);
            }
        }
        found
            .into_iter()
            .map(|(cap, vertex)| Missing {
                cap: cap.to_owned(),
                vertex: vertex.digest,
                name: vertex.metadata.name().map(str::to_owned),
            })
            .collect()
    }

    /// Every vertex of the graph once, inputs before their users, in an order
    /// that only depends on the graph.
    pub(crate) fn graph(&self) -> Vec<Arc<Vertex>> {
        let mut seen = BTreeSet::new();
        self.walk(|vertex| seen.insert(vertex.digest))
    }

    /// Every handle to a vertex, also several with one digest, inputs before
    /// their users.
    pub(crate) fn handles(&self) -> Vec<Arc<Vertex>> {
        let mut seen = BTreeSet::new();
        self.walk(|vertex| seen.insert(Arc::as_ptr(vertex)))
    }

    fn walk(&self, mut first: impl FnMut(&Arc<Vertex>) -> bool) -> Vec<Arc<Vertex>> {
        let mut order = Vec::new();
        let mut stack = Vec::new();
        if first(&self.vertex) {
            stack.push((Arc::clone(&self.vertex), 0));
        }
        while let Some((vertex, next)) = stack.last_mut() {
            match vertex.inputs.get(*next) {
                Some(input) => {
                    *next += 1;
                    if first(&input.vertex) {
                        let input = Arc::clone(&input.vertex);
                        stack.push((input, 0));
                    }
                }
                None => order.extend(stack.pop().map(|(vertex, _)| vertex)),
            }
        }
        order
    }

    pub(crate) fn to_pb(&self) -> pb::Input {
        pb::Input {
            digest: self.vertex.digest.to_string(),
            index: self.index,
        }
    }

    fn id(&self) -> (Digest, i64) {
        (self.vertex.digest, self.index)
    }
}

impl PartialEq for Output {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Output {}

impl PartialOrd for Output {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Output {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.id().cmp(&other.id())
    }
}

impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.vertex.digest, self.index)
    }
}

/// The inputs of an op under construction, each once.
#[derive(Default)]
pub(crate) struct Inputs {
    list: Vec<Output>,
    index: BTreeMap<Output, i64>,
}

impl Inputs {
    /// The index of `output`, which is added if it is new.
    pub(crate) fn add(&mut self, output: &Output) -> i64 {
        if let Some(index) = self.index.get(output) {
            return *index;
        }
        let index = to_index(self.list.len());
        self.list.push(output.clone());
        self.index.insert(output.clone(), index);
        index
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn into_vec(self) -> Vec<Output> {
        self.list
    }
}

/// The index of no input and of no output.
pub(crate) const NONE: i64 = -1;

/// A position in a list, as it stands in an op.
pub(crate) fn to_index(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

/// The bytes that BuildKit makes of an op, which it hashes to name the vertex:
/// the oneof comes after all other fields.
///
/// It also writes map values that are empty, which prost does not; so no op of
/// this crate has one.
pub(crate) fn canonical(mut op: pb::Op) -> Vec<u8> {
    let kind = op.op.take();
    let mut bytes = op.encode_to_vec();
    let rest = pb::Op {
        op: kind,
        ..pb::Op::default()
    };
    bytes.extend(rest.encode_to_vec());
    bytes
}
