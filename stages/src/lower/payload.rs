//! Payloads: the very files that were looked at.

use llb::{Error, Local, Metadata, Output};

use super::{Failed, Lowering};
use crate::diag::rule;

/// A payload out of a directory of the client: `path` is its place there, or a pattern. No ignore
/// file takes it out: it was named for what it is.
///
/// # Errors
/// The session is empty or no id.
pub fn payload_of_client(
    name: &str,
    path: &str,
    local: &str,
    session: &str,
) -> Result<Output, Error> {
    let files = Local::of_session(local, session)?
        .follow([path])
        // An own hint: other transfers of this directory have other patterns.
        .shared_key_hint(&format!("lanekit-payload-{name}"))
        .metadata(Metadata::named(format!("[payload] load {name}")));
    Ok(files.build())
}

impl Lowering<'_> {
    /// The files that have a payload: what was measured is what a step gets.
    pub(super) fn payload(&self, name: &str) -> Result<Output, Failed> {
        self.host.payloads.get(name).cloned().ok_or_else(|| {
            let text = format!("payload `{name}` was not looked for");
            Failed::new(rule::ENGINE, text)
        })
    }
}
