//! What a step does: a command, or a change to files.

use super::{StageIndex, TreePath};

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Runs a command: on Linux words, without what unsets empty host settings; on Windows one
    /// text, the whole command line.
    Run(Vec<String>),
    /// Changes files, and runs nothing.
    File(FileWork),
}

/// A change to the files of a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWork {
    /// Files of somewhere else.
    Copy(FileCopy),
    /// A file with this text.
    Write {
        /// Its path.
        path: String,
        /// Its text.
        text: String,
        /// Its permission bits.
        mode: u16,
        /// Who owns it; root without one.
        owner: Option<Owner>,
    },
    /// A directory, and those above it.
    Mkdir {
        /// Its path.
        path: String,
        /// Its permission bits.
        mode: u16,
        /// Who owns it; root without one.
        owner: Option<Owner>,
    },
    /// A symbolic link.
    Link {
        /// Its path.
        path: String,
        /// What it says.
        to: String,
    },
    /// A path or pattern taken away, with all that is in it.
    Delete {
        /// The path or pattern.
        path: String,
        /// Whether it may be missing.
        optional: bool,
    },
}

/// Files of somewhere else, copied into a root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCopy {
    /// What is copied, and where to.
    pub from: CopySource,
    /// What of a directory, as patterns below it; none is all of it.
    pub only: Vec<String>,
    /// What of a directory not, as patterns below it.
    pub except: Vec<String>,
    /// Permission bits of all that is copied, in place of its own.
    pub mode: Option<u16>,
    /// Who owns all that is copied, in place of who does.
    pub owner: Option<Owner>,
}

/// What a [`FileCopy`] takes. A place that ends with `/` is a directory into which it is put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CopySource {
    /// All of a tree, to its own paths.
    Tree {
        /// The stage.
        stage: StageIndex,
        /// The tree's paths.
        paths: Vec<TreePath>,
    },
    /// A path or pattern of a product.
    Part {
        /// The stage.
        stage: StageIndex,
        /// The path or pattern.
        path: String,
        /// Where to.
        to: String,
    },
    /// A file or directory of a git source.
    Git {
        /// The source's name.
        git: String,
        /// Its path, without a `/` at either end; empty is all of it.
        path: String,
        /// Where to.
        to: String,
    },
    /// A payload.
    Payload {
        /// Its name.
        payload: String,
        /// Its path in its context.
        path: String,
        /// Where to.
        to: String,
    },
    /// A download.
    Fetch {
        /// Its name.
        fetch: String,
        /// What its file is called.
        path: String,
        /// Where to.
        to: String,
    },
    /// A file or directory of the context.
    Context {
        /// Its path, without a `/` at either end.
        path: String,
        /// Where to.
        to: String,
    },
}

/// Who owns a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The user.
    pub user: OwnerId,
    /// The group; without one that of the user.
    pub group: Option<OwnerId>,
}

/// A user or group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerId {
    /// By number.
    Number(u32),
    /// By name, as the root's own files have it.
    Name(String),
}
