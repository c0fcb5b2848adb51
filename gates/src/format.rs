//! What a file is, by its content, and which machine it is for.
//!
//! One module per format. The parsing is the crate `object`'s wherever it reads the thing; own
//! code judges whether the bytes that the headers speak of are there, and reads what `object`
//! does not: CHPE metadata (ARM64EC, ARM64X), the triple of LLVM bitcode, bundles of code for GPUs.

pub mod archive;
pub mod bitcode;
pub mod coff;
pub mod device;
pub mod dynamic;
pub mod elf;
pub mod exported;
pub mod image;
pub mod magic;
pub mod maker;
pub mod memory;
pub mod names;
pub mod pe;
pub mod zip;

use std::borrow::Cow;
use std::fmt;

use object::read::ReadRef;

use magic::Magic;

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

/// What a reader made of a file: its class, none if the format does not tell, or why not.
pub type Machine = Result<Option<Class>, Fault>;

/// Reads which machine a binary is for; its bytes begin with `kind`'s.
///
/// # Errors
/// A [`Fault`] when it is cut or damaged.
pub fn machine<'d, R: ReadRef<'d>>(kind: Magic, data: R) -> Machine {
    match kind {
        Magic::Pe => pe::read(data).map(Some),
        Magic::Elf => elf::read(data).map(Some),
        Magic::Coff => coff::read(data).map(Some),
        Magic::Import => coff::read_import(data).map(Some),
        Magic::Anonymous => coff::read_anonymous(data).map(Some),
        Magic::Bitcode => bitcode::read(data),
        // No target takes it, so its processor does not matter.
        _ => Ok(Some("Mach-O".into())),
    }
}

/// The word that sentences have for a format.
#[must_use]
pub const fn noun(kind: Magic) -> &'static str {
    match kind {
        Magic::Pe => "PE image",
        Magic::Elf => "ELF file",
        Magic::Coff | Magic::Anonymous => "COFF object",
        Magic::Import => "import object",
        Magic::Bitcode => "bitcode",
        Magic::MachO => "mach-o",
        Magic::Archive | Magic::ThinArchive => "archive",
        Magic::Zip => "zip",
        Magic::Empty | Magic::LinkerScript | Magic::Other => "file",
    }
}
