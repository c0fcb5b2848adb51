//! Git sources: their refs are looked up all at once, so that steps and labels can name the commits.

use std::collections::BTreeMap;

use llb::Metadata;
use stages::lower;
use stages::plan::{Commit, GitSource};

use super::Build;
use crate::gateway::bridge::{Evaluate, Ref};
use crate::gateway::error::Failure;
use crate::gateway::join::join_all;

/// The most of a file in `.git` that is read, in bytes.
const MAX_REF: u64 = 4096;

impl Build<'_> {
    /// What the refs of these sources stand for, by the sources' names.
    pub(super) async fn gits(
        &self,
        wanted: &[GitSource],
    ) -> Result<BTreeMap<String, Commit>, Failure> {
        let looked = join_all(wanted.iter().map(|source| self.commit(source))).await;
        let (mut found, mut failures) = (BTreeMap::new(), Vec::new());
        for (source, looked) in wanted.iter().zip(looked) {
            match looked {
                Ok(commit) => {
                    found.insert(source.name.clone(), commit);
                }
                Err(failure) => failures.push(
                    failure
                        .context(format!("git source {}", source.name))
                        .with_lines(self.sources, &source.span),
                ),
            }
        }
        match Failure::all(failures) {
            Some(failure) => Err(failure),
            None => Ok(found),
        }
    }

    async fn commit(&self, source: &GitSource) -> Result<Commit, Failure> {
        let wrong = |error: llb::Error| Failure::new(error.to_string());
        let git = lower::git(source).map_err(wrong)?;
        let shown = format!("[git] look {} up", source.name);
        if let Some(commit) = self.bridge.resolve_git(&git.build(), &shown).await? {
            return Ok(commit);
        }
        // Engines that answer for images alone: the checkout itself says which commit it is.
        let whole = GitSource {
            subdir: String::new(),
            git_dir: true,
            ..source.clone()
        };
        let git = lower::git(&whole).map_err(wrong)?;
        let checkout = git.metadata(Metadata::named(shown)).build();
        let definition = llb::Definition::new(&checkout).into();
        let made = self.bridge.solve(definition, Evaluate::Later, &[]).await?;
        let mut head = self.line(&made, ".git/HEAD").await?;
        if let Some(name) = head.strip_prefix("ref: ") {
            head = self.line(&made, &format!(".git/{name}")).await?;
        }
        if head.len() < 40 || !head.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(Failure::new(format!("its HEAD is `{head}`, not a commit")));
        }
        Ok(Commit {
            object: head.clone(),
            commit: head,
        })
    }

    async fn line(&self, of: &Ref, path: &str) -> Result<String, Failure> {
        let bytes = self.bridge.read_file(of, path, MAX_REF).await?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }
}
