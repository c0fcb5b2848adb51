//! Capabilities: what an engine must know to run an op.
//!
//! Each op declares what it needs where the field is set; [`Caps`] is what an
//! engine has. Names and versions are facts of BuildKit's `solver/pb/caps.go`
//! and `frontend/gateway/pb/caps.go`. Two capabilities that BuildKit declares
//! but never announces (`exec.meta.removemountstubs.recursive`,
//! `file.copy.modestring`) are left out, because no engine would pass.

use std::collections::BTreeSet;

use crate::Digest;
use crate::proto::apicaps::ApiCap;

/// One capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cap {
    name: &'static str,
    since: &'static str,
}

impl Cap {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The BuildKit release that brought it; `<=` where only a release that has
    /// it is known.
    #[must_use]
    pub const fn since(self) -> &'static str {
        self.since
    }
}

macro_rules! caps {
    ($($(#[$doc:meta])* $id:ident = $name:literal, $since:literal;)*) => {
        $($(#[$doc])* pub const $id: Cap = Cap { name: $name, since: $since };)*

        /// All capabilities that this crate knows.
        pub const ALL: &[Cap] = &[$($id),*];
    };
}

caps! {
    /// Image sources.
    SOURCE_IMAGE = "source.image", "<=0.7";
    /// A resolve mode that must be obeyed.
    SOURCE_IMAGE_RESOLVE_MODE = "source.image.resolvemode", "<=0.7";
    /// An image that must have a certain digest.
    SOURCE_IMAGE_CHECKSUM = "source.image.checksum", "0.25";
    /// Directories of the client.
    SOURCE_LOCAL = "source.local", "<=0.7";
    /// A local source by a unique id.
    SOURCE_LOCAL_UNIQUE = "source.local.unique", "<=0.7";
    /// A local source of one session.
    SOURCE_LOCAL_SESSION = "source.local.sessionid", "<=0.7";
    /// Patterns of what to send.
    SOURCE_LOCAL_INCLUDE = "source.local.includepatterns", "<=0.7";
    /// Patterns of what not to send.
    SOURCE_LOCAL_EXCLUDE = "source.local.excludepatterns", "<=0.7";
    /// Paths to send, links followed.
    SOURCE_LOCAL_FOLLOW = "source.local.followpaths", "<=0.7";
    /// Which earlier transfer to start from.
    SOURCE_LOCAL_SHARED_KEY = "source.local.sharedkeyhint", "<=0.7";
    /// How to find what changed.
    SOURCE_LOCAL_DIFFER = "source.local.differ", "0.9";
    /// Git repositories.
    SOURCE_GIT = "source.git", "<=0.7";
    /// Keep `.git`.
    SOURCE_GIT_KEEP_DIR = "source.git.keepgitdir", "<=0.7";
    /// A remote by its full URL.
    SOURCE_GIT_FULL_URL = "source.git.fullurl", "<=0.8";
    /// Secrets for a remote over HTTP.
    SOURCE_GIT_HTTP_AUTH = "source.git.httpauth", "<=0.8";
    /// Known hosts for a remote over SSH.
    SOURCE_GIT_KNOWN_SSH_HOSTS = "source.git.knownsshhosts", "<=0.8";
    /// An SSH agent for a remote over SSH.
    SOURCE_GIT_MOUNT_SSH_SOCK = "source.git.mountsshsock", "<=0.8";
    /// A directory of the repository.
    SOURCE_GIT_SUBDIR = "source.git.subdir", "0.9";
    /// A commit that must be found.
    SOURCE_GIT_CHECKSUM = "source.git.checksum", "<=0.25";
    /// Leave submodules out.
    SOURCE_GIT_SKIP_SUBMODULES = "source.git.skipsubmodules", "<=0.25";
    /// File times of the commit.
    SOURCE_GIT_MTIME = "source.git.mtime", "0.29";
    /// Downloads.
    SOURCE_HTTP = "source.http", "<=0.7";
    /// A download with a known digest.
    SOURCE_HTTP_CHECKSUM = "source.http.checksum", "<=0.7";
    /// The mode of the downloaded file.
    SOURCE_HTTP_PERM = "source.http.perm", "<=0.7";
    /// The owner of the downloaded file. The spelling is BuildKit's.
    SOURCE_HTTP_UID_GID = "soruce.http.uidgid", "<=0.7";
    /// A secret for a download.
    SOURCE_HTTP_AUTH = "source.http.auth", "<=0.25";
    /// Images in OCI layouts.
    SOURCE_OCI_LAYOUT = "source.ocilayout", "0.11";
    /// Processes.
    EXEC_META_BASE = "exec.meta.base", "<=0.7";
    /// A parent control group.
    EXEC_META_CGROUP_PARENT = "exec.meta.cgroup.parent", "<=0.9";
    /// Another network than the sandbox.
    EXEC_META_NETWORK = "exec.meta.network", "<=0.7";
    /// Proxy settings.
    EXEC_META_PROXY = "exec.meta.proxyenv", "<=0.7";
    /// Another security mode than the sandbox.
    EXEC_META_SECURITY = "exec.meta.security", "<=0.7";
    /// The engine sets a default PATH.
    EXEC_META_SETS_DEFAULT_PATH = "exec.meta.setsdefaultpath", "<=0.7";
    /// Resource limits of the process.
    EXEC_META_ULIMIT = "exec.meta.ulimit", "<=0.9";
    /// Resource limits of the container.
    EXEC_META_LINUX_RESOURCES = "exec.meta.linux.resources", "0.31";
    /// Devices by their CDI name.
    EXEC_META_CDI = "exec.meta.cdi", "0.20";
    /// Bind mounts.
    EXEC_MOUNT_BIND = "exec.mount.bind", "<=0.7";
    /// Writable bind mounts whose changes are dropped.
    EXEC_MOUNT_BIND_DISCARD = "exec.mount.bind.readwrite-nooutput", "<=0.7";
    /// Cache mounts.
    EXEC_MOUNT_CACHE = "exec.mount.cache", "<=0.7";
    /// How writers share a cache mount.
    EXEC_MOUNT_CACHE_SHARING = "exec.mount.cache.sharing", "<=0.7";
    /// A part of an input.
    EXEC_MOUNT_SELECTOR = "exec.mount.selector", "<=0.7";
    /// Mounts in memory.
    EXEC_MOUNT_TMPFS = "exec.mount.tmpfs", "<=0.7";
    /// Mounts in memory with a limit.
    EXEC_MOUNT_TMPFS_SIZE = "exec.mount.tmpfs.size", "<=0.10";
    /// Secrets, as files and as environment.
    EXEC_MOUNT_SECRET = "exec.mount.secret", "<=0.7";
    /// SSH agents.
    EXEC_MOUNT_SSH = "exec.mount.ssh", "<=0.7";
    /// Whether the key follows the content of a mount.
    EXEC_MOUNT_CONTENT_CACHE = "exec.mount.cache.content", "0.13";
    /// Secrets as environment.
    EXEC_SECRET_ENV = "exec.secretenv", "0.10";
    /// Exit codes that count as success.
    EXEC_VALID_EXIT_CODE = "exec.validexitcode", "0.17";
    /// File ops.
    FILE_BASE = "file.base", "0.5";
    /// Patterns in what to remove.
    FILE_RM_WILDCARD = "file.rm.wildcard", "<=0.7";
    /// Patterns of what to copy.
    FILE_COPY_PATTERNS = "file.copy.includeexcludepatterns", "0.9";
    /// Paths that a copy must find.
    FILE_COPY_REQUIRED_PATHS = "file.copy.requiredpaths", "0.26";
    /// A copy that replaces what is of another kind.
    FILE_COPY_ALWAYS_REPLACE = "file.copy.alwaysreplaceexistingdestpaths", "0.14";
    /// Symbolic links.
    FILE_SYMLINK = "file.symlink.create", "0.19";
    /// Merges.
    MERGE = "mergeop", "0.10";
    /// Diffs.
    DIFF = "diffop", "0.10";
    /// Vertices that look up no cache.
    META_IGNORE_CACHE = "meta.ignorecache", "<=0.7";
    /// Names and other texts.
    META_DESCRIPTION = "meta.description", "<=0.7";
    /// Vertices that are, or are not, in exported caches.
    META_EXPORT_CACHE = "meta.exportcache", "<=0.7";
    /// Runs a ref without reading from it (of the gateway).
    GATEWAY_EVALUATE = "gateway.evaluate", "0.11";
    /// Runs what a Solve loads (of the gateway).
    GATEWAY_SOLVE_EVALUATE = "gateway.solve.evaluate", "0.8";
    /// Warnings (of the gateway).
    GATEWAY_WARNINGS = "gateway.warnings", "0.10";
    /// Graphs handed in (of the gateway).
    FRONTEND_INPUTS = "frontend.inputs", "<=0.7";
    /// Attestations by reference (of the gateway).
    REFERENCE_ATTESTATIONS = "reference.attestations", "0.11";
    /// What any source resolves to (of the gateway).
    SOURCE_META_RESOLVER = "source.metaresolver", "0.13";
}

/// The capabilities that an engine announced and that are enabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caps(BTreeSet<String>);

impl Caps {
    /// The enabled ones of an answer to `Ping`.
    #[must_use]
    pub fn of(announced: &[ApiCap]) -> Self {
        announced
            .iter()
            .filter(|cap| cap.enabled)
            .map(|cap| cap.id.clone())
            .collect()
    }

    /// All that this crate knows: a current engine, for tests and for graphs
    /// that are made without an engine.
    #[must_use]
    pub fn all() -> Self {
        ALL.iter().map(|cap| cap.name.to_owned()).collect()
    }

    /// The same without `cap`.
    #[must_use]
    pub fn without(mut self, cap: Cap) -> Self {
        self.0.remove(cap.name);
        self
    }

    /// Whether the engine has `cap`.
    #[must_use]
    pub fn supports(&self, cap: Cap) -> bool {
        self.has(cap.name)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

impl FromIterator<String> for Caps {
    fn from_iter<T: IntoIterator<Item = String>>(names: T) -> Self {
        Self(names.into_iter().collect())
    }
}

/// A capability that a vertex needs and the engine does not have.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The capability's name.
    pub cap: String,
    /// The vertex that needs it.
    pub vertex: Digest,
    /// The name of the vertex, where it has one.
    pub name: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disabled_capability_is_not_there() {
        let announced = |id: &str, enabled| ApiCap {
            id: id.to_owned(),
            enabled,
            ..ApiCap::default()
        };
        let caps = Caps::of(&[announced("mergeop", false), announced("file.base", true)]);
        assert!(caps.supports(FILE_BASE));
        assert!(!caps.supports(MERGE));
        assert!(!caps.supports(DIFF));
    }

    #[test]
    fn names_are_unique_and_never_those_that_no_engine_announces() {
        let names: BTreeSet<_> = ALL.iter().map(|cap| cap.name()).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(!names.contains("exec.meta.removemountstubs.recursive"));
        assert!(!names.contains("file.copy.modestring"));
        assert!(names.contains("soruce.http.uidgid"));
    }
}
