//! Downloads: the engine holds what it gets against the hash.

use llb::{Digest, Http, Output};

use super::{Failed, Lowering};
use crate::diag::rule;

impl Lowering<'_> {
    /// A file system with just the file of a download.
    pub(super) fn fetch(&self, name: &str) -> Result<Output, Failed> {
        let Some(download) = self.plan.fetches.get(name) else {
            let text = format!("download `{name}` is not in the plan");
            return Err(Failed::new(rule::ENGINE, text));
        };
        let made = || {
            let digest: Digest = format!("sha256:{}", download.sha256).parse()?;
            Http::new(&download.url)?
                .checksum(digest)
                .filename(&download.filename)
        };
        let made = made().map_err(|error: llb::Error| {
            Failed::new(rule::VALUE, format!("download `{name}`: {error}")).within(&download.span)
        })?;
        let metadata = self.metadata(format!("[fetch] {name}"), &download.span);
        Ok(made.metadata(metadata).build())
    }
}
