use super::Attrs;
use crate::error::{Error, filled};
use crate::{Metadata, Output, caps};

/// A checkout of a git repository.
#[derive(Clone, Debug)]
pub struct Git {
    /// Host and path, without protocol and user.
    id: String,
    reference: String,
    subdir: String,
    attrs: Attrs,
    metadata: Metadata,
}

impl Git {
    /// The repository at `remote`: a URL (`https`, `http`, `ssh`, `git`) or
    /// `user@host:path`.
    ///
    /// For SSH remotes the engine uses the client's default SSH agent.
    ///
    /// # Errors
    /// The remote is none of these, or has a fragment.
    pub fn new(remote: &str) -> Result<Self, Error> {
        let invalid = || Error::Invalid {
            what: "git remote",
            value: remote.to_owned(),
            expected: "a URL (https, http, ssh, git) without fragment, or user@host:path",
        };
        if remote.contains('#') || remote.contains(char::is_whitespace) {
            return Err(invalid());
        }
        let (ssh, host, path) = match remote.split_once("://") {
            Some((protocol, rest)) => {
                let ssh = match protocol {
                    "ssh" => true,
                    "http" | "https" | "git" => false,
                    _ => return Err(invalid()),
                };
                let (host, path) = rest.split_once('/').ok_or_else(invalid)?;
                (ssh, host, path)
            }
            None => {
                let (user, rest) = remote.split_once('@').ok_or_else(invalid)?;
                let (host, path) = rest.split_once(':').ok_or_else(invalid)?;
                filled("git user", user)?;
                (true, host, path)
            }
        };
        let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
        let path = path.trim_matches('/');
        if host.is_empty() || path.is_empty() {
            return Err(invalid());
        }
        let mut attrs = Attrs::default();
        attrs.need(caps::SOURCE_GIT);
        attrs.need(caps::SOURCE_GIT_FULL_URL);
        attrs.set("git.fullurl", remote);
        if ssh {
            attrs.set("git.mountsshsock", "default");
            attrs.need(caps::SOURCE_GIT_MOUNT_SSH_SOCK);
        }
        Ok(Self {
            id: format!("{host}/{path}"),
            reference: String::new(),
            subdir: String::new(),
            attrs,
            metadata: Metadata::default(),
        })
    }

    /// A branch, tag or commit; by default the remote's default branch.
    ///
    /// # Errors
    /// It is empty, has a character that ends it (`#`, `:`, white space), or begins as an option does.
    pub fn reference(mut self, reference: &str) -> Result<Self, Error> {
        if reference.is_empty()
            || reference.starts_with('-')
            || reference.contains(|c: char| "#:".contains(c) || c.is_whitespace())
        {
            return Err(Error::Invalid {
                what: "git reference",
                value: reference.to_owned(),
                expected: "a branch, tag or commit",
            });
        }
        reference.clone_into(&mut self.reference);
        Ok(self)
    }

    /// The commit that the reference must lead to, by its full or shortened
    /// hex id.
    ///
    /// # Errors
    /// It is not 7 to 64 hex digits.
    pub fn checksum(mut self, commit: &str) -> Result<Self, Error> {
        if !(7..=64).contains(&commit.len()) || !commit.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(Error::Invalid {
                what: "git commit",
                value: commit.to_owned(),
                expected: "7 to 64 hex digits",
            });
        }
        self.attrs.set("git.checksum", commit);
        self.attrs.need(caps::SOURCE_GIT_CHECKSUM);
        Ok(self)
    }

    /// Only this directory of the repository.
    ///
    /// # Errors
    /// It has a `..`.
    pub fn subdir(mut self, path: &str) -> Result<Self, Error> {
        self.subdir = crate::path::absolute("git sub-directory", &format!("/{path}"))?
            .trim_start_matches('/')
            .to_owned();
        if !self.subdir.is_empty() {
            self.attrs.need(caps::SOURCE_GIT_SUBDIR);
        }
        Ok(self)
    }

    /// Keep the `.git` directory.
    #[must_use]
    pub fn keep_git_dir(mut self) -> Self {
        self.attrs.set("git.keepgitdir", "true");
        self.attrs.need(caps::SOURCE_GIT_KEEP_DIR);
        self
    }

    /// Leave submodules out.
    #[must_use]
    pub fn skip_submodules(mut self) -> Self {
        self.attrs.set("git.skipsubmodules", "true");
        self.attrs.need(caps::SOURCE_GIT_SKIP_SUBMODULES);
        self
    }

    /// A secret with the token for a remote over HTTP.
    #[must_use]
    pub fn auth_token_secret(mut self, secret: &str) -> Self {
        if !secret.is_empty() {
            self.attrs.set("git.authtokensecret", secret);
            self.attrs.need(caps::SOURCE_GIT_HTTP_AUTH);
        }
        self
    }

    /// The host keys (lines of `known_hosts`) of a remote over SSH.
    #[must_use]
    pub fn known_ssh_hosts(mut self, lines: &str) -> Self {
        if !lines.is_empty() {
            self.attrs.set("git.knownsshhosts", lines);
            self.attrs.need(caps::SOURCE_GIT_KNOWN_SSH_HOSTS);
        }
        self
    }

    /// What is said about it.
    #[must_use]
    pub fn metadata(mut self, metadata: Metadata) -> Self {
        self.metadata = metadata;
        self
    }

    /// The checkout.
    #[must_use]
    pub fn build(self) -> Output {
        let mut identifier = format!("git://{}", self.id);
        if !self.reference.is_empty() || !self.subdir.is_empty() {
            identifier.push('#');
            identifier.push_str(&self.reference);
        }
        if !self.subdir.is_empty() {
            identifier.push(':');
            identifier.push_str(&self.subdir);
        }
        self.attrs.build(identifier, None, self.metadata)
    }
}
