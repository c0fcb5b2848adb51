//! What an exec sees besides its root: mounts.

use std::collections::BTreeSet;
use std::num::NonZeroU64;

use crate::caps::{self, Cap};
use crate::error::{Error, filled};
use crate::proto::pb;
use crate::{Output, path};

/// Whether the key of an exec follows the bytes of an input, so that an input
/// that was made again with the same bytes re-runs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentCache {
    /// Follow them for mounts, but not for the root.
    #[default]
    Default,
    /// Follow them. Costs a hash of the selected files when the exec is not
    /// found by its inputs' keys.
    On,
    /// Do not follow them.
    Off,
}

impl ContentCache {
    pub(crate) fn to_pb(self) -> i32 {
        match self {
            Self::Default => pb::MountContentCache::Default,
            Self::On => pb::MountContentCache::On,
            Self::Off => pb::MountContentCache::Off,
        }
        .into()
    }
}

/// What becomes of a mounted input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It cannot be written to.
    ReadOnly,
    /// It cannot be written to, and is handed on as the output.
    Sealed,
    /// What is written is the output.
    Writable,
    /// What is written is dropped.
    Discard,
}

impl Access {
    pub(crate) fn makes_output(self) -> bool {
        matches!(self, Self::Sealed | Self::Writable)
    }

    pub(crate) fn is_readonly(self) -> bool {
        matches!(self, Self::ReadOnly | Self::Sealed)
    }
}

/// A file system at some place of an exec.
///
/// Do not mount an input twice in one exec: of two mounts of one input, the
/// last one decides how its key is made.
#[derive(Clone, Debug)]
pub struct Bind {
    pub(crate) input: Option<Output>,
    pub(crate) access: Access,
    pub(crate) selector: Option<String>,
    pub(crate) content: ContentCache,
}

impl Bind {
    fn new(input: Option<Output>, access: Access) -> Self {
        Self {
            input,
            access,
            selector: None,
            content: ContentCache::Default,
        }
    }

    /// `input`, read-only.
    #[must_use]
    pub fn read_only(input: Output) -> Self {
        Self::new(Some(input), Access::ReadOnly)
    }

    /// `input`, read-only and handed on: the output of this mount is the input
    /// itself, so what hangs behind it depends on the exec but not on anything
    /// that the exec made. This is how a gate lets a product through.
    #[must_use]
    pub fn sealed(input: Output) -> Self {
        Self::new(Some(input), Access::Sealed)
    }

    /// `input`, writable; the output of this mount is what became of it.
    #[must_use]
    pub fn writable(input: Output) -> Self {
        Self::new(Some(input), Access::Writable)
    }

    /// `input`, writable, and what is written is dropped.
    #[must_use]
    pub fn discard(input: Output) -> Self {
        Self::new(Some(input), Access::Discard)
    }

    /// An empty directory; the output of this mount is what is written there.
    #[must_use]
    pub fn scratch() -> Self {
        Self::new(None, Access::Writable)
    }

    /// Mount just this file or directory of the input. Of a sealed mount the
    /// output is still the whole input.
    ///
    /// # Errors
    /// The path is not absolute with slashes, or has a `..`.
    pub fn selector(mut self, path: &str) -> Result<Self, Error> {
        let path = path::absolute("selector", path)?;
        self.selector = (path != "/").then_some(path);
        Ok(self)
    }

    /// Whether the key follows the bytes of what is mounted.
    #[must_use]
    pub fn content(mut self, content: ContentCache) -> Self {
        self.content = content;
        self
    }
}

/// A directory that outlives the build, on the worker.
#[derive(Clone, Debug)]
pub struct Cache {
    id: String,
    sharing: Sharing,
    pub(crate) from: Option<Output>,
    selector: Option<String>,
}

/// What happens when several steps use one cache at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sharing {
    /// All write to it.
    #[default]
    Shared,
    /// Each gets one of its own.
    Private,
    /// One waits for the other.
    Locked,
}

impl Cache {
    /// The cache called `id`.
    ///
    /// The id is not part of the exec's key, unless it is also the place of
    /// the mount and the sharing is [`Sharing::Shared`].
    ///
    /// # Errors
    /// The id is empty.
    pub fn new(id: &str, sharing: Sharing) -> Result<Self, Error> {
        filled("cache id", id)?;
        Ok(Self {
            id: id.to_owned(),
            sharing,
            from: None,
            selector: None,
        })
    }

    /// What is in it when it is new: the files of an input, with whose key it enters the exec's.
    #[must_use]
    pub fn from(mut self, input: Output) -> Self {
        self.from = Some(input);
        self
    }

    /// Just this directory of what it begins with.
    ///
    /// # Errors
    /// The path is not absolute with slashes, or has a `..`.
    pub fn selector(mut self, path: &str) -> Result<Self, Error> {
        let path = path::absolute("selector", path)?;
        self.selector = (path != "/").then_some(path);
        Ok(self)
    }
}

/// A directory in memory, gone after the step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tmpfs {
    size: Option<NonZeroU64>,
}

impl Tmpfs {
    /// Without a limit of its own.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// At most `bytes`. At `/dev/shm` this is the size of the shared memory.
    #[must_use]
    pub fn size(mut self, bytes: NonZeroU64) -> Self {
        self.size = Some(bytes);
        self
    }
}

/// A secret of the session as a file. Its value is in no key.
#[derive(Clone, Debug)]
pub struct Secret(Guarded);

/// An SSH agent of the session as a socket. The step finds it by
/// `SSH_AUTH_SOCK`, which has to be set to the place of the mount.
#[derive(Clone, Debug)]
pub struct Ssh(Guarded);

#[derive(Clone, Debug)]
struct Guarded {
    id: String,
    uid: u32,
    gid: u32,
    mode: u32,
    optional: bool,
}

macro_rules! guarded {
    ($type:ident, $what:literal, $mode:literal) => {
        impl $type {
            /// The one that the client calls `id`, readable by user 0 alone.
            ///
            /// # Errors
            /// The id is empty.
            pub fn new(id: &str) -> Result<Self, Error> {
                filled($what, id)?;
                Ok(Self(Guarded {
                    id: id.to_owned(),
                    uid: 0,
                    gid: 0,
                    mode: $mode,
                    optional: false,
                }))
            }

            /// Who owns it.
            #[must_use]
            pub fn owner(mut self, uid: u32, gid: u32) -> Self {
                self.0.uid = uid;
                self.0.gid = gid;
                self
            }

            /// Its permission bits.
            #[must_use]
            pub fn mode(mut self, mode: u16) -> Self {
                self.0.mode = u32::from(mode & 0o777);
                self
            }

            /// Whether the step also runs without it.
            #[must_use]
            pub fn optional(mut self, optional: bool) -> Self {
                self.0.optional = optional;
                self
            }
        }
    };
}

guarded!(Secret, "secret id", 0o400);
guarded!(Ssh, "SSH agent id", 0o600);

/// Any mount.
#[derive(Clone, Debug)]
pub enum Mount {
    /// A file system.
    Bind(Bind),
    /// A cache.
    Cache(Cache),
    /// Memory.
    Tmpfs(Tmpfs),
    /// A secret.
    Secret(Secret),
    /// An SSH agent.
    Ssh(Ssh),
}

impl From<Bind> for Mount {
    fn from(mount: Bind) -> Self {
        Self::Bind(mount)
    }
}

impl From<Cache> for Mount {
    fn from(mount: Cache) -> Self {
        Self::Cache(mount)
    }
}

impl From<Tmpfs> for Mount {
    fn from(mount: Tmpfs) -> Self {
        Self::Tmpfs(mount)
    }
}

impl From<Secret> for Mount {
    fn from(mount: Secret) -> Self {
        Self::Secret(mount)
    }
}

impl From<Ssh> for Mount {
    fn from(mount: Ssh) -> Self {
        Self::Ssh(mount)
    }
}

impl Mount {
    /// What this is, if Windows workers do not have it.
    pub(crate) fn not_on_windows(&self) -> Option<&'static str> {
        match self {
            Self::Bind(_) | Self::Cache(_) => None,
            Self::Tmpfs(_) => Some("a tmpfs mount"),
            Self::Secret(_) => Some("a secret mount (a secret as environment does)"),
            Self::Ssh(_) => Some("an SSH agent mount"),
        }
    }

    /// The mount at `dest`, without input and output.
    pub(crate) fn to_pb(&self, dest: &str, needs: &mut BTreeSet<Cap>) -> pb::Mount {
        let mut mount = pb::Mount {
            dest: dest.to_owned(),
            input: crate::vertex::NONE,
            output: crate::vertex::NONE,
            ..pb::Mount::default()
        };
        match self {
            Self::Bind(bind) => {
                needs.insert(caps::EXEC_MOUNT_BIND);
                if let Some(selector) = &bind.selector {
                    needs.insert(caps::EXEC_MOUNT_SELECTOR);
                    mount.selector.clone_from(selector);
                }
                if bind.content != ContentCache::Default {
                    needs.insert(caps::EXEC_MOUNT_CONTENT_CACHE);
                    mount.content_cache = bind.content.to_pb();
                }
                if bind.access == Access::Discard {
                    needs.insert(caps::EXEC_MOUNT_BIND_DISCARD);
                }
                mount.readonly = bind.access.is_readonly();
            }
            Self::Cache(cache) => {
                needs.insert(caps::EXEC_MOUNT_CACHE);
                needs.insert(caps::EXEC_MOUNT_CACHE_SHARING);
                if let Some(selector) = &cache.selector {
                    needs.insert(caps::EXEC_MOUNT_SELECTOR);
                    mount.selector.clone_from(selector);
                }
                mount.mount_type = pb::MountType::Cache.into();
                mount.cache_opt = Some(pb::CacheOpt {
                    id: cache.id.clone(),
                    sharing: match cache.sharing {
                        Sharing::Shared => pb::CacheSharingOpt::Shared,
                        Sharing::Private => pb::CacheSharingOpt::Private,
                        Sharing::Locked => pb::CacheSharingOpt::Locked,
                    }
                    .into(),
                });
            }
            Self::Tmpfs(tmpfs) => {
                needs.insert(caps::EXEC_MOUNT_TMPFS);
                let size = tmpfs.size.map_or(0, NonZeroU64::get);
                if size > 0 {
                    needs.insert(caps::EXEC_MOUNT_TMPFS_SIZE);
                }
                mount.mount_type = pb::MountType::Tmpfs.into();
                mount.tmpfs_opt = Some(pb::TmpfsOpt {
                    size: i64::try_from(size).unwrap_or(i64::MAX),
                });
            }
            Self::Secret(Secret(secret)) => {
                needs.insert(caps::EXEC_MOUNT_SECRET);
                mount.mount_type = pb::MountType::Secret.into();
                mount.secret_opt = Some(pb::SecretOpt {
                    id: secret.id.clone(),
                    uid: secret.uid,
                    gid: secret.gid,
                    mode: secret.mode,
                    optional: secret.optional,
                });
            }
            Self::Ssh(Ssh(ssh)) => {
                needs.insert(caps::EXEC_MOUNT_SSH);
                mount.mount_type = pb::MountType::Ssh.into();
                mount.ssh_opt = Some(pb::SshOpt {
                    id: ssh.id.clone(),
                    uid: ssh.uid,
                    gid: ssh.gid,
                    mode: ssh.mode,
                    optional: ssh.optional,
                });
            }
        }
        mount
    }
}
