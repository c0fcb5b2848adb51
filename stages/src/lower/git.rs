//! Git sources, at the commit that was looked up.

use llb::{Git, Output, caps};

use super::{Failed, Lowering};
use crate::diag::rule;
use crate::plan::GitSource;

/// The secret with a token for private repositories, as every client of BuildKit calls it.
const TOKEN: &str = "GIT_AUTH_TOKEN";

/// The source as an op, at its own ref: what is looked up.
///
/// # Errors
/// A URL, ref or directory that cannot be one.
pub fn git(source: &GitSource) -> Result<Git, llb::Error> {
    let mut git = Git::new(&source.url)?.subdir(&source.subdir)?;
    if !source.reference.is_empty() {
        git = git.reference(&source.reference)?;
    }
    if source.git_dir {
        git = git.keep_git_dir();
    }
    if !source.submodules {
        git = git.skip_submodules();
    }
    if source.url.starts_with("http") {
        git = git.auth_token_secret(TOKEN);
    }
    Ok(git)
}

impl Lowering<'_> {
    /// The files of a source. The engine holds the ref against what was looked up, so that a
    /// branch that moves in between fails the build; where it cannot, the commit itself is fetched.
    pub(super) fn checkout(&self, name: &str) -> Result<Output, Failed> {
        let (Some(source), Some(found)) = (self.plan.gits.get(name), self.facts.gits.get(name))
        else {
            let text = format!("git source `{name}` was not looked up");
            return Err(Failed::new(rule::ENGINE, text));
        };
        let wrong = |error: llb::Error| {
            Failed::new(rule::VALUE, format!("git source `{name}`: {error}")).within(&source.span)
        };
        let mut op = git(source).map_err(wrong)?;
        if self.host.caps.supports(caps::SOURCE_GIT_CHECKSUM) {
            op = op.checksum(&found.object).map_err(wrong)?;
        } else {
            op = op.reference(&found.commit).map_err(wrong)?;
        }
        let metadata = self.metadata(format!("[git] {name}"), &source.span);
        Ok(op.metadata(metadata).build())
    }
}
