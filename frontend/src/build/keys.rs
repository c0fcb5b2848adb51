//! The key manifest of a build, for `--metadata-file`.

use base64::Engine as _;
use stages::keys::{self, Manifest};
use stages::lower::ExecOptions;
use stages::plan::{Facts, Plan, Request};

use crate::lanefile::Loaded;

/// The most that is sent back, in bytes: engines keep it with the build's history. A larger manifest comes without its
/// nodes, which whoever has the lane file can make again from the rest.
const MAX: usize = 256 << 10;

/// The manifest as JSON in base64, which clients write out as JSON. It has no digests of files: the frontend does not
/// read what steps see.
pub(super) fn metadata(
    loaded: &Loaded,
    request: &Request,
    plan: &Plan,
    facts: &Facts,
    options: &ExecOptions,
) -> Vec<u8> {
    let graph = &loaded.graph.table.name.value;
    let mut manifest = keys::make(graph, request, plan, facts, options, &|_| None);
    let mut text = encode(&manifest);
    if text.len() > MAX {
        manifest.nodes.clear();
        text = encode(&manifest);
    }
    text.into_bytes()
}

fn encode(manifest: &Manifest) -> String {
    let json = serde_json::to_vec(manifest).unwrap_or_default();
    base64::engine::general_purpose::STANDARD.encode(json)
}
