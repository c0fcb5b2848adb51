//! Merges: file systems laid over each other.

use std::collections::BTreeSet;

use crate::proto::pb;
use crate::vertex::{Vertex, to_index};
use crate::{Error, Metadata, Output, caps};

/// File systems laid over each other, later ones on top.
///
/// Deletions in an input delete below it; merge copies of trees, not the trees
/// themselves, where that is not wanted.
#[derive(Clone, Debug)]
pub struct Merge {
    inputs: Vec<Output>,
    metadata: Metadata,
}

impl Merge {
    /// A merge of `inputs`, the lowest one first.
    #[must_use]
    pub fn new(inputs: impl IntoIterator<Item = Output>) -> Self {
        Self {
            inputs: inputs.into_iter().collect(),
            metadata: Metadata::default(),
        }
    }

    /// What is said about it.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// The merged file system.
    ///
    /// # Errors
    /// There are less than two inputs.
    pub fn build(self) -> Result<Output, Error> {
        if self.inputs.len() < 2 {
            return Err(Error::TooFewToMerge {
                inputs: self.inputs.len(),
            });
        }
        // Not collected in a set: an input may be there twice, and its order
        // counts.
        let inputs = (0..self.inputs.len())
            .map(|position| pb::MergeInput {
                input: to_index(position),
            })
            .collect();
        let op = pb::op::Op::Merge(pb::MergeOp { inputs });
        let caps = BTreeSet::from([caps::MERGE]);
        Ok(Vertex::new(op, None, self.inputs, caps, self.metadata).output(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FileOp, MkDir};

    #[test]
    fn less_than_two_inputs_are_no_merge() {
        let tree = FileOp::new(None)
            .mkdir(MkDir::new("/a", 0o755))
            .build()
            .unwrap();
        for inputs in [vec![], vec![tree]] {
            let count = inputs.len();
            assert_eq!(
                Merge::new(inputs).build(),
                Err(Error::TooFewToMerge { inputs: count })
            );
        }
    }
}
