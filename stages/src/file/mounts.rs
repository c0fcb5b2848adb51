//! What a step sees besides files and products, and what it may do, as they are declared.

use std::net::IpAddr;
use std::num::NonZeroU64;

use super::When;
use super::read::Text;
use crate::diag::Span;
use crate::text::Template;

/// How concurrent steps share a cache mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sharing {
    /// At the same time.
    #[default]
    Shared,
    /// Each its own.
    Private,
    /// One after the other.
    Locked,
}

/// A cache mount.
#[derive(Debug, Clone)]
pub struct Cache {
    /// Which cache.
    pub id: Text,
    /// Where it appears.
    pub at: Template,
    /// How it is shared.
    pub sharing: Sharing,
    /// A stage whose product is in it when it is new.
    pub from: Option<Text>,
    /// The part of that product.
    pub sub: Option<Template>,
    /// Who may do what in it, when it is new.
    pub access: Access,
    /// In which lanes it is there.
    pub when: Option<When>,
    /// Where it was written.
    pub span: Span,
}

/// Mode and owner of something that is mounted; what is not said is the engine's default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Access {
    /// Permission bits.
    pub mode: Option<u16>,
    /// The user, by number.
    pub uid: Option<u32>,
    /// The group, by number.
    pub gid: Option<u32>,
}

impl Access {
    /// Whether anything is said.
    pub fn is_said(self) -> bool {
        self != Self::default()
    }
}

/// A secret as a file, or an SSH agent as a socket, that the caller passes.
#[derive(Debug, Clone)]
pub struct Guarded {
    /// How the caller calls it.
    pub id: Text,
    /// Where it appears, in place of the usual place.
    pub at: Option<Template>,
    /// Whether the step fails without it.
    pub required: bool,
    /// Who may read it.
    pub access: Access,
    /// In which lanes it is there.
    pub when: Option<When>,
    /// Where it was written.
    pub span: Span,
}

/// A directory in memory, gone after the step.
#[derive(Debug, Clone)]
pub struct Tmpfs {
    /// Where it appears.
    pub at: Template,
    /// The most that it holds, in bytes.
    pub size: Option<NonZeroU64>,
    /// In which lanes it is there.
    pub when: Option<When>,
    /// Where it was written.
    pub span: Span,
}

/// What a command may do besides reading and writing files. Part of its key, but for addresses.
#[derive(Debug, Clone, Default)]
pub struct Sandbox {
    /// Whether it has the host's privileges.
    pub insecure: bool,
    /// Names and addresses in its hosts file.
    pub hosts: Vec<(String, IpAddr)>,
    /// Limits: name, soft, hard.
    pub ulimits: Vec<(String, i64, i64)>,
    /// Size of `/dev/shm` in bytes.
    pub shm_size: Option<NonZeroU64>,
    /// Devices.
    pub devices: Vec<Device>,
}

/// A device of the host.
#[derive(Debug, Clone)]
pub struct Device {
    /// Its CDI name.
    pub name: String,
    /// Whether the command can do without.
    pub optional: bool,
    /// In which lanes it is there.
    pub when: Option<When>,
}
