//! What a file is, by its content, and which machine it is for.
//!
//! One module per format. The parsing is the crate `object`'s wherever it reads the thing; own
//! code judges whether the bytes that the headers speak of are there, and reads what `object`
//! does not: CHPE metadata (ARM64EC, ARM64X) and the triple of LLVM bitcode.

pub mod archive;
pub mod bitcode;
pub mod coff;
pub mod dynamic;
pub mod elf;
pub mod image;
pub mod magic;
pub mod memory;
pub mod names;
pub mod pe;
pub mod zip;

use std::borrow::Cow;
use std::fmt;

/// A machine class as reports spell it: `ARM64`, `ARM64X`, `ELF64 AArch64`.
pub type Class = Cow<'static, str>;

/// Why a file of a known format cannot be believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The file ends before what its headers announce, or a header makes no sense.
    Damaged(String),
    /// A named bound of [`crate::limit`] was overrun.
    Limit(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Damaged(why) => f.write_str(why),
            Self::Limit(why) => write!(f, "limit {why}"),
        }
    }
}

impl Fault {
    fn parse(error: &object::read::Error) -> Self {
        Self::Damaged(error.to_string())
    }

    /// `what` announces bytes up to `end` in a file of `len` bytes.
    fn require(what: &str, end: u64, len: u64) -> Result<(), Self> {
        if end <= len {
            Ok(())
        } else {
            Err(Self::Damaged(format!(
                "{what} ends at byte {end}, the file at {len}"
            )))
        }
    }
}

/// Code for an accelerator rather than for a machine that a target names (a shader, a GPU kernel,
/// a DSP skeleton): counted, never judged.
#[must_use]
pub fn is_device(class: &str) -> bool {
    class.ends_with(" (device)")
}
