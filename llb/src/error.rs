//! What can be wrong with an op.

use std::fmt;

use crate::Digest;

/// Why an op or a definition was refused.
///
/// Each is something that BuildKit would refuse later or, worse, take to mean
/// something else.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A value that must not be empty is empty.
    Empty {
        /// Which value.
        what: &'static str,
    },
    /// A value has characters or a shape that it may not have.
    Invalid {
        /// Which value.
        what: &'static str,
        /// The value.
        value: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A name is given twice where it must be unique.
    Twice {
        /// What the name is of.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The key of a writable mount cannot follow the bytes of a part of its
    /// input: the rest of the input would come back from another build.
    ContentOfPart {
        /// Where the mount is.
        dest: String,
    },
    /// Windows workers cannot do this.
    NotOnWindows {
        /// What was asked for.
        what: &'static str,
    },
    /// An exec whose result nothing can use.
    NoOutput,
    /// This place of the exec makes no output.
    NotAnOutput {
        /// The place asked for.
        dest: String,
    },
    /// A file op without an action.
    NoAction,
    /// An owner by name needs a base whose user database knows the name.
    OwnerNameOnScratch {
        /// The name.
        name: String,
    },
    /// A merge needs at least two inputs.
    TooFewToMerge {
        /// How many there were.
        inputs: usize,
    },
    /// A definition made elsewhere does not hold together.
    Definition {
        /// The vertex, where one is to blame.
        vertex: Option<Digest>,
        /// What is wrong.
        why: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty { what } => write!(f, "{what} must not be empty"),
            Self::Invalid {
                what,
                value,
                expected,
            } => write!(f, "{what} {value:?} must be {expected}"),
            Self::Twice { what, name } => write!(f, "{what} {name:?} is given twice"),
            Self::ContentOfPart { dest } => write!(
                f,
                "the mount at {dest:?} is writable and selects a part of its input, \
                 so its key cannot follow the content"
            ),
            Self::NotOnWindows { what } => write!(f, "{what} does not work on Windows workers"),
            Self::NoOutput => f.write_str("no mount of the exec makes an output"),
            Self::NotAnOutput { dest } => write!(f, "{dest:?} is not an output of the exec"),
            Self::NoAction => f.write_str("a file op needs at least one action"),
            Self::OwnerNameOnScratch { name } => {
                write!(
                    f,
                    "owner {name:?} cannot be looked up in scratch: use a number"
                )
            }
            Self::TooFewToMerge { inputs } => {
                write!(f, "a merge needs at least two inputs, found {inputs}")
            }
            Self::Definition { vertex, why } => {
                f.write_str("invalid definition: ")?;
                if let Some(vertex) = vertex {
                    write!(f, "vertex {vertex}: ")?;
                }
                f.write_str(why)
            }
        }
    }
}

impl std::error::Error for Error {}

/// Refuses an empty `value`.
pub(crate) fn filled(what: &'static str, value: &str) -> Result<(), Error> {
    if value.is_empty() {
        return Err(Error::Empty { what });
    }
    Ok(())
}
