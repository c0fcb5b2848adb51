//! Diffs: what one file system has over another.

use std::collections::BTreeSet;

use crate::proto::pb;
use crate::vertex::Vertex;
use crate::{Metadata, Output, caps};

/// What an upper file system has over a lower one, deletions included.
#[derive(Clone, Debug)]
pub struct Diff {
    lower: Output,
    upper: Output,
    metadata: Metadata,
}

impl Diff {
    /// What `upper` has over `lower`. Over scratch that would be `upper`
    /// itself, so both are there.
    #[must_use]
    pub fn new(lower: Output, upper: Output) -> Self {
        Self {
            lower,
            upper,
            metadata: Metadata::default(),
        }
    }

    /// What is said about it.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// The difference as a file system.
    #[must_use]
    pub fn build(self) -> Output {
        let op = pb::op::Op::Diff(pb::DiffOp {
            lower: Some(pb::LowerDiffInput { input: 0 }),
            upper: Some(pb::UpperDiffInput { input: 1 }),
        });
        let caps = BTreeSet::from([caps::DIFF]);
        let inputs = vec![self.lower, self.upper];
        Vertex::new(op, None, inputs, caps, self.metadata).output(0)
    }
}
