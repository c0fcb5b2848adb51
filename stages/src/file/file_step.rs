//! Steps that change files and run nothing, as they are declared.

use super::read::Text;
use crate::text::Template;

/// A change to the files of a root, without a command.
#[derive(Debug, Clone)]
pub enum FileStep {
    /// Files of another stage or of the context.
    Copy(CopyStep),
    /// A file with this text.
    Write {
        /// Its path.
        path: Template,
        /// Its text.
        text: Template,
        /// Its permission bits.
        mode: u16,
        /// Who owns it.
        owner: Option<Template>,
    },
    /// A directory, and those above it.
    Mkdir {
        /// Its path.
        path: Template,
        /// Its permission bits.
        mode: u16,
        /// Who owns it.
        owner: Option<Template>,
    },
    /// A symbolic link.
    Link {
        /// Its path.
        path: Template,
        /// What it says.
        to: Template,
    },
    /// A file, or a directory with all that is in it, taken away.
    Delete {
        /// Its path or pattern.
        path: Template,
        /// Whether it may be missing.
        optional: bool,
    },
}

/// Where a [`CopyStep`] takes its files from.
#[derive(Debug, Clone)]
pub enum CopyFrom {
    /// Another stage's product: all of its tree, or a path or pattern of it.
    Stage(Text, Option<Template>),
    /// A file of the context, or a directory with a `/` at its end.
    Context(Text),
    /// A file or directory of a git source, or all of it.
    Git(Text, Option<Text>),
    /// A payload.
    Payload(Text),
    /// A download.
    Fetch(Text),
}

/// `copy` of a step.
#[derive(Debug, Clone)]
pub struct CopyStep {
    /// What is copied.
    pub from: CopyFrom,
    /// Where to; without one, to its own path.
    pub to: Option<Template>,
    /// What of a directory: patterns below it.
    pub only: Vec<Template>,
    /// What of a directory not: patterns below it.
    pub except: Vec<Template>,
    /// Permission bits of all that is copied, in place of its own.
    pub mode: Option<u16>,
    /// Who owns all that is copied, in place of root.
    pub owner: Option<Template>,
}

impl FileStep {
    /// The stage whose product it takes.
    pub fn stage(&self) -> Option<&Text> {
        match self {
            Self::Copy(CopyStep {
                from: CopyFrom::Stage(stage, _),
                ..
            }) => Some(stage),
            _ => None,
        }
    }

    /// The git source that it takes.
    pub fn git(&self) -> Option<&Text> {
        match self {
            Self::Copy(CopyStep {
                from: CopyFrom::Git(git, _),
                ..
            }) => Some(git),
            _ => None,
        }
    }

    /// The payload that it takes.
    pub fn payload(&self) -> Option<&Text> {
        match self {
            Self::Copy(CopyStep {
                from: CopyFrom::Payload(payload),
                ..
            }) => Some(payload),
            _ => None,
        }
    }

    /// The download that it takes.
    pub fn fetch(&self) -> Option<&Text> {
        match self {
            Self::Copy(CopyStep {
                from: CopyFrom::Fetch(fetch),
                ..
            }) => Some(fetch),
            _ => None,
        }
    }

    /// Its texts with values.
    pub fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Copy(copy) => {
                let sub = match &copy.from {
                    CopyFrom::Stage(_, sub) => sub.as_ref(),
                    CopyFrom::Context(_)
                    | CopyFrom::Git(..)
                    | CopyFrom::Payload(_)
                    | CopyFrom::Fetch(_) => None,
                };
                let patterns = copy.only.iter().chain(&copy.except);
                let places = sub.into_iter().chain(&copy.to).chain(&copy.owner);
                places.chain(patterns).collect()
            }
            Self::Write {
                path, text, owner, ..
            } => [path, text].into_iter().chain(owner).collect(),
            Self::Mkdir { path, owner, .. } => [path].into_iter().chain(owner).collect(),
            Self::Link { path, to } => vec![path, to],
            Self::Delete { path, .. } => vec![path],
        }
    }
}
