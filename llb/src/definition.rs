//! Definitions: a graph as BuildKit's `Solve` takes it.

use std::borrow::Cow;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use prost::Message as _;

use crate::proto::pb;
use crate::vertex::{Vertex, canonical};
use crate::{Digest, Error, Location, Metadata, Output, Range, SourceFile};

/// A graph with one result, ready to be sent.
///
/// The same graph always makes the same bytes. A scratch result has no
/// definition: BuildKit takes an empty ref for it instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    wire: pb::Definition,
    head: Digest,
}

impl Definition {
    /// The graph that makes `result`. Vertices of one digest become one, with
    /// the metadata of all of them; where they differ, the first one counts.
    #[must_use]
    pub fn new(result: &Output) -> Self {
        let handles = result.handles();
        let mut order = Vec::with_capacity(handles.len());
        let mut said: BTreeMap<Digest, Said<'_>> = BTreeMap::new();
        for vertex in &handles {
            match said.entry(vertex.digest) {
                Entry::Vacant(new) => {
                    order.push(vertex);
                    new.insert(Said::of(vertex));
                }
                Entry::Occupied(mut known) => known.get_mut().also_of(vertex),
            }
        }

        let mut def: Vec<_> = order.iter().map(|vertex| vertex.bytes.clone()).collect();
        def.push(canonical(pb::Op {
            inputs: vec![result.to_pb()],
            ..pb::Op::default()
        }));
        let source = source(order.iter().filter_map(|vertex| {
            let said = said.get(&vertex.digest)?;
            Some((vertex.digest, &*said.metadata.locations))
        }));
        let metadata = said
            .into_iter()
            .map(|(digest, said)| (digest.to_string(), said.to_pb()))
            .collect();
        Self {
            wire: pb::Definition {
                def,
                metadata,
                source,
            },
            head: result.digest(),
        }
    }

    /// The digest of the vertex that makes the result.
    #[must_use]
    pub fn head(&self) -> Digest {
        self.head
    }

    /// The wire form.
    #[must_use]
    pub fn to_pb(&self) -> pb::Definition {
        self.wire.clone()
    }

    /// The wire form, borrowed.
    #[must_use]
    pub fn as_pb(&self) -> &pb::Definition {
        &self.wire
    }

    /// The bytes, as `buildctl build` reads them from its standard input.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.wire.encode_to_vec()
    }
}

/// What is said about the vertices of one digest, and what they need.
struct Said<'a> {
    metadata: Cow<'a, Metadata>,
    needs: BTreeSet<&'a str>,
}

impl<'a> Said<'a> {
    fn of(vertex: &'a Vertex) -> Self {
        Self {
            metadata: Cow::Borrowed(&vertex.metadata),
            needs: vertex.needs().collect(),
        }
    }

    fn also_of(&mut self, vertex: &'a Vertex) {
        self.needs.extend(vertex.needs());
        if *self.metadata != vertex.metadata {
            self.metadata.to_mut().merge(&vertex.metadata);
        }
    }

    fn to_pb(&self) -> pb::OpMetadata {
        let metadata = &self.metadata;
        pb::OpMetadata {
            ignore_cache: metadata.ignore_cache,
            description: metadata.description.clone(),
            export_cache: metadata.export_cache.map(|value| pb::ExportCache { value }),
            caps: self
                .needs
                .iter()
                .map(|cap| ((*cap).to_owned(), true))
                .collect(),
            progress_group: metadata.group.clone(),
            linux_resources: metadata.resources.clone(),
        }
    }
}

impl From<Definition> for pb::Definition {
    fn from(definition: Definition) -> Self {
        definition.wire
    }
}

/// The source map: each file once, in the order of its first use.
fn source<'a>(vertices: impl Iterator<Item = (Digest, &'a [Location])>) -> Option<pb::Source> {
    let mut files: Vec<&SourceFile> = Vec::new();
    let mut locations = BTreeMap::new();
    for (digest, places) in vertices {
        if places.is_empty() {
            continue;
        }
        let places = places
            .iter()
            .map(|place| {
                let index = files.iter().position(|file| file.is(&place.file));
                let index = index.unwrap_or_else(|| {
                    files.push(&place.file);
                    files.len() - 1
                });
                pb::Location {
                    source_index: i32::try_from(index).unwrap_or(i32::MAX),
                    ranges: place.ranges.iter().copied().map(Range::to_pb).collect(),
                }
            })
            .collect();
        locations.insert(digest.to_string(), pb::Locations { locations: places });
    }
    if files.is_empty() {
        return None;
    }
    Some(pb::Source {
        locations,
        infos: files.into_iter().map(SourceFile::to_pb).collect(),
    })
}

impl Output {
    /// The result of a definition made elsewhere: an input of the frontend, or
    /// the frontend's own image. Its ops keep their bytes, and so their
    /// digests. `None` is scratch, for which a definition is empty.
    ///
    /// # Errors
    /// Bytes that are no op, a vertex without its input, a last op that names
    /// no result.
    pub fn from_definition(wire: &pb::Definition) -> Result<Option<Self>, Error> {
        let Some((last, def)) = wire.def.split_last() else {
            return Ok(None);
        };
        let mut ops = BTreeMap::new();
        for bytes in def {
            ops.insert(Digest::of(bytes), (bytes, decode(bytes)?));
        }
        let terminal = decode(last)?;
        let Some(result) = terminal.inputs.first() else {
            return Err(Error::Definition {
                vertex: None,
                why: "the last op names no result",
            });
        };

        let files: Vec<_> = wire
            .source
            .iter()
            .flat_map(|source| source.infos.iter().cloned().map(SourceFile::from_pb))
            .collect();
        let mut made: BTreeMap<Digest, Arc<Vertex>> = BTreeMap::new();
        let (head, _) = input(result, None)?;
        let mut stack = vec![head];
        while let Some(&digest) = stack.last() {
            if made.contains_key(&digest) {
                stack.pop();
                continue;
            }
            let Some((bytes, op)) = ops.get(&digest) else {
                return Err(Error::Definition {
                    vertex: Some(digest),
                    why: "it is used but not there",
                });
            };
            let mut inputs = Vec::with_capacity(op.inputs.len());
            let mut waiting = false;
            for edge in &op.inputs {
                let (from, index) = input(edge, Some(digest))?;
                match made.get(&from) {
                    Some(vertex) => inputs.push(vertex.output(index)),
                    None => {
                        // Bytes cannot hold their own digest, so this ends.
                        stack.push(from);
                        waiting = true;
                    }
                }
            }
            if !waiting {
                let vertex = Vertex {
                    bytes: bytes.to_vec(),
                    digest,
                    inputs,
                    caps: BTreeSet::new(),
                    metadata: metadata(wire, digest, &files),
                };
                made.insert(digest, Arc::new(vertex));
                stack.pop();
            }
        }
        let (head, index) = input(result, None)?;
        Ok(made.get(&head).map(|vertex| vertex.output(index)))
    }
}

fn decode(bytes: &[u8]) -> Result<pb::Op, Error> {
    pb::Op::decode(bytes).map_err(|_| Error::Definition {
        vertex: Some(Digest::of(bytes)),
        why: "its bytes are no op",
    })
}

fn input(edge: &pb::Input, vertex: Option<Digest>) -> Result<(Digest, i64), Error> {
    let invalid = |why| Error::Definition { vertex, why };
    let digest = edge
        .digest
        .parse()
        .map_err(|_| invalid("an input is not named by a digest"))?;
    if edge.index < 0 {
        return Err(invalid("an input has a negative index"));
    }
    Ok((digest, edge.index))
}

fn metadata(wire: &pb::Definition, digest: Digest, files: &[SourceFile]) -> Metadata {
    let key = digest.to_string();
    let own = wire.metadata.get(&key).cloned().unwrap_or_default();
    let places = wire
        .source
        .as_ref()
        .and_then(|source| source.locations.get(&key));
    let locations = places
        .iter()
        .flat_map(|places| &places.locations)
        .filter_map(|place| {
            let file = files.get(usize::try_from(place.source_index).ok()?)?;
            let ranges = place.ranges.iter().copied().map(Range::from_pb);
            Some(Location::new(file, ranges))
        })
        .collect();
    Metadata {
        ignore_cache: own.ignore_cache,
        export_cache: own.export_cache.map(|export| export.value),
        description: own.description,
        group: own.progress_group,
        resources: own.linux_resources,
        locations,
        caps: own
            .caps
            .into_iter()
            .filter_map(|(cap, needed)| needed.then_some(cap))
            .collect(),
    }
}
