//! Sources: what comes from outside the graph.

mod git;
mod http;
mod image;
mod local;
mod oci;

use std::collections::{BTreeMap, BTreeSet};

pub use git::Git;
pub use http::Http;
pub use image::{Image, ResolveMode};
pub use local::Local;
pub use oci::OciLayout;

use crate::caps::Cap;
use crate::proto::pb;
use crate::vertex::Vertex;
use crate::{Metadata, Output, Platform};

/// A source under construction. Attributes are added with what they need.
#[derive(Clone, Debug, Default)]
struct Attrs {
    attrs: BTreeMap<String, String>,
    needs: BTreeSet<Cap>,
}

impl Attrs {
    /// An attribute; an empty one is left out, because BuildKit's encoder and
    /// ours do not write it alike.
    fn set(&mut self, key: &str, value: impl Into<String>) {
        let value = value.into();
        if !value.is_empty() {
            self.attrs.insert(key.to_owned(), value);
        }
    }

    fn need(&mut self, cap: Cap) {
        self.needs.insert(cap);
    }

    fn build(self, identifier: String, platform: Option<&Platform>, metadata: Metadata) -> Output {
        let op = pb::op::Op::Source(pb::SourceOp {
            identifier,
            attrs: self.attrs,
        });
        Vertex::new(
            op,
            platform.map(Platform::to_pb),
            Vec::new(),
            self.needs,
            metadata,
        )
        .output(0)
    }
}
