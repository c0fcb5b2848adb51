//! Code for GPUs in a file: AMD's code objects, bundles of them (compressed too), CUDA's fat
//! binaries; as files of their own, in sections of programs, objects and libraries, or anywhere
//! in a container that is no binary.
//!
//! Only headers are read, in ascending order, and nothing is kept of what they stand before: a
//! library of a gigabyte takes no more memory than a small one. A compressed bundle is inflated
//! into nowhere but its decoder's window.

mod bundle;
mod cuda;
mod search;
mod sections;
mod source;
mod target;

pub use target::Target;

use object::read::ReadRef;

use super::magic::Magic;
use super::{Fault, archive};
use crate::limit;
use crate::scan::Entry;
use source::{Source, Span};

/// Code for one processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code {
    /// The processor, as its makers' tools write it: `gfx90a:xnack-`, `sm_90a`, `compute_80`.
    pub target: Target,
    /// What a bundle says that it is, when that is something else.
    pub said: Option<String>,
    /// Why no driver can load it: it is not linked.
    pub unlinked: Option<&'static str>,
}

/// The code in one file.
#[derive(Debug, Default)]
pub struct Found {
    /// Each piece, in the order of the file, with the section or member that it lies in.
    pub codes: Vec<(Place, Code)>,
    /// How many bundles and fat binaries.
    pub bundles: u64,
    /// What cannot be read.
    pub faults: Vec<(Place, Fault)>,
    /// Bytes that bundles were inflated to.
    inflated: u64,
}

/// Where in a file: a section or a member; empty for the file itself.
pub type Place = Vec<u8>;

impl Found {
    fn code(&mut self, place: &[u8], code: Code) -> Result<(), Fault> {
        if self.codes.len() == limit::DEVICE_CODES {
            let text = format!("DEVICE_CODES: more than {}", limit::DEVICE_CODES);
            return Err(Fault::Limit(text));
        }
        self.codes.push((place.to_vec(), code));
        Ok(())
    }

    fn keep(&mut self, place: &[u8], result: Result<(), Fault>) {
        if let Err(fault) = result {
            self.faults.push((place.to_vec(), fault));
        }
    }
}

/// What begins with a magic number of this module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Bundle,
    Compressed,
    FatBinary,
}

impl Form {
    fn of(head: &[u8]) -> Option<Self> {
        match head {
            _ if head.starts_with(bundle::MAGIC) => Some(Self::Bundle),
            _ if head.starts_with(bundle::COMPRESSED) => Some(Self::Compressed),
            _ if head.starts_with(&cuda::MAGIC) => Some(Self::FatBinary),
            _ => None,
        }
    }
}

/// Whether a file that begins so is device code by itself.
#[must_use]
pub fn is_device_file(head: &[u8]) -> bool {
    Form::of(head).is_some()
}

/// Finds the code in a file. With `anywhere`, code objects and bundles are looked for at every
/// byte of a file that is no binary.
#[must_use]
pub fn look(entry: &Entry<'_, '_>, anywhere: bool) -> Found {
    let mut found = Found::default();
    match entry.magic {
        Magic::Archive => {
            let list = archive::read(entry.whole());
            for fault in list.faults {
                found.faults.push((Place::new(), fault));
            }
            for member in &list.members {
                let window = entry.cache.range(member.offset, member.size);
                let head = window.read_bytes_at(0, member.size.min(64));
                let magic = super::magic::sniff(head.unwrap_or_default(), member.size);
                let span = Span::new(&entry.raw, member.offset, member.size);
                binary(magic, window, span, member.name, &mut found);
            }
        }
        magic => {
            let span = Span::new(&entry.raw, 0, entry.len);
            binary(magic, entry.whole(), span, &[], &mut found);
            let mut head = [0; 24];
            let count = usize::try_from(entry.len).map_or(24, |len| len.min(24));
            let span = Span::new(&entry.raw, 0, entry.len);
            if magic == Magic::Other && span.clone().read(0, &mut head[..count]).is_ok() {
                let result = match Form::of(&head) {
                    Some(_) => run(span, &[], &mut found),
                    None if anywhere => search::code(span, &mut found),
                    None => Ok(()),
                };
                found.keep(&[], result);
            }
        }
    }
    found
}

/// Looks into the sections of a program, library or object; AMD's and CUDA's own are the code.
fn binary<'d, R: ReadRef<'d>>(
    magic: Magic,
    data: R,
    span: Span<'_>,
    place: &[u8],
    found: &mut Found,
) {
    if magic == Magic::Elf {
        match target::object(&mut span.clone(), 0, span.len()) {
            Ok(None) => {}
            Ok(Some(code)) => {
                let result = found.code(place, code);
                return found.keep(place, result);
            }
            Err(fault) => return found.keep(place, Err(fault)),
        }
    }
    let sections = match sections::read(magic, data) {
        Ok(sections) => sections,
        Err(fault) => return found.keep(place, Err(fault)),
    };
    for section in sections {
        let place = match place {
            [] => section.name,
            member => [member, b")(", &section.name].concat(),
        };
        let result = match span.part(section.offset, section.size) {
            Ok(part) => run(part, &place, found),
            Err(fault) => Err(fault),
        };
        found.keep(&place, result);
    }
}

/// Reads bundles and fat binaries that follow each other, with zeros between them.
fn run(mut span: Span<'_>, place: &[u8], found: &mut Found) -> Result<(), Fault> {
    let len = span.len();
    let mut at = 0;
    while let Some(start) = span.skip_zeros(at)? {
        let mut head = [0; 24];
        let count = usize::try_from(len - start).map_or(24, |rest| rest.min(24));
        span.read(start, &mut head[..count])?;
        let part = span.part(start, len - start)?;
        found.bundles += 1;
        let used = match Form::of(&head) {
            Some(Form::Bundle) => bundle::plain(part, place, found),
            Some(Form::Compressed) => bundle::compressed(part, place, found),
            Some(Form::FatBinary) => cuda::fat_binary(part, place, found),
            None => Err(Fault::Damaged("neither a bundle nor padding".to_owned())),
        };
        let used = used.map_err(|fault| match fault {
            Fault::Damaged(why) => Fault::Damaged(format!("at byte {start}: {why}")),
            limit => limit,
        })?;
        at = start + used.max(1);
    }
    Ok(())
}
