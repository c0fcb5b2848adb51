//! Who built a file: what compilers and linkers leave in it of themselves.
//!
//! Each trace is a [`Print`]: a kind and a text, `linker 14.44`. Those of tables are read here;
//! those that stand anywhere among the bytes are found by [`anywhere`], piece by piece.

mod anywhere;

use std::collections::BTreeSet;
use std::fmt;

use object::Endianness;
use object::elf;
use object::pe;
use object::read::elf::{FileHeader, SectionHeader};
use object::read::pe::RichHeaderInfo;
use object::read::{ReadRef, StringTable};

use super::Fault;
use super::image::Image;
use crate::limit;
use crate::name::{Name, hex};

pub use anywhere::anywhere;

/// A kind of trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A managed program: the version of the run-time that it was written for.
    Clr,
    /// What a compiler or linker calls itself: `.comment` of ELF, `GCC: (…)` in images.
    Comment,
    /// The version in Go's build information.
    Go,
    /// The linker's version in an image's header. GNU ld writes its own (2.40), lld always 14.0.
    Linker,
    /// A text that the policy looks for.
    Mark,
    /// A tool of Microsoft's and its build, of the record that its linker leaves.
    Rich,
    /// The commit of a Rust compiler, in paths of its library.
    Rustc,
    /// Where the linker put the debug information.
    Pdb,
    /// The digest by which debug information is found.
    BuildId,
}

/// All kinds, with the word for each.
pub const KINDS: [(Kind, &str); 9] = [
    (Kind::BuildId, "build-id"),
    (Kind::Clr, "clr"),
    (Kind::Comment, "comment"),
    (Kind::Go, "go"),
    (Kind::Linker, "linker"),
    (Kind::Mark, "mark"),
    (Kind::Pdb, "pdb"),
    (Kind::Rich, "rich"),
    (Kind::Rustc, "rustc"),
];

impl Kind {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        let found = KINDS.iter().find(|(kind, _)| *kind == self);
        found.map_or("", |(_, word)| word)
    }

    /// Whether it tells one builder from another. Every image has some version of a linker, and a
    /// digest says nothing of whose it is.
    #[must_use]
    pub const fn tells(self) -> bool {
        !matches!(self, Self::BuildId | Self::Linker)
    }

    /// Whether files of one build have it in common: not so the digest and place of each.
    #[must_use]
    pub const fn is_common(self) -> bool {
        !matches!(self, Self::Pdb | Self::BuildId)
    }
}

/// A trace of who built a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Print {
    /// What it is.
    pub kind: Kind,
    /// What it says; nothing that could confuse a terminal.
    pub text: String,
}

impl Print {
    /// A trace of this text.
    #[must_use]
    pub fn new(kind: Kind, text: &[u8]) -> Self {
        let mut shown = String::new();
        for c in String::from_utf8_lossy(text).chars() {
            match c {
                // Paths are shown, and matched, as they are written.
                '\\' | '\'' | '"' => shown.push(c),
                c => shown.extend(c.escape_debug()),
            }
        }
        Self { kind, text: shown }
    }
}

impl fmt::Display for Print {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind.word(), self.text)
    }
}

/// The traces in a PE image's tables.
///
/// # Errors
/// A [`Fault`] when the image or one of the tables cannot be read.
pub fn of_image<'d, R: ReadRef<'d>>(data: R) -> Result<BTreeSet<Print>, Fault> {
    let image = Image::open(data)?;
    let (major, minor) = image.header.linker;
    let mut prints = BTreeSet::from([text(Kind::Linker, format!("{major}.{minor:02}"))]);
    prints.extend(rich(data)?);
    if let Some((rva, _)) = image.directory(pe::IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR) {
        let header = image.bytes(rva, 8)?;
        let [_, _, _, _, a, b, c, d] = header[..] else {
            return Err(Fault::Damaged("the managed header is cut".to_owned()));
        };
        let version = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        prints.insert(text(Kind::Clr, format!("{}.{}", version.0, version.1)));
    }
    if let Some((rva, size)) = image.directory(pe::IMAGE_DIRECTORY_ENTRY_DEBUG) {
        prints.extend(debug(data, &image, rva, size)?);
    }
    Ok(prints)
}

fn text(kind: Kind, text: String) -> Print {
    Print { kind, text }
}

/// The record of Microsoft's linker between the DOS stub and the header.
fn rich<'d, R: ReadRef<'d>>(data: R) -> Result<BTreeSet<Print>, Fault> {
    let dos = pe::ImageDosHeader::parse(data).map_err(|e| Fault::parse(&e))?;
    let at = u64::from(dos.nt_headers_offset());
    if at > limit::STUB_BYTES {
        return Err(Fault::Limit(format!(
            "STUB_BYTES: the header is at byte {at}"
        )));
    }
    let Some(record) = RichHeaderInfo::parse(data, at) else {
        return Ok(BTreeSet::new());
    };
    let of = |entry: object::read::pe::RichHeaderEntry| {
        let (tool, build) = (entry.comp_id >> 16, entry.comp_id & 0xffff);
        text(Kind::Rich, format!("{tool}.{build}"))
    };
    Ok(record.unmasked_entries().map(of).collect())
}

/// The most that all texts of a file's tables have: tables can name the same bytes again and again.
const TEXT_BYTES: u64 = limit::NAME_BYTES as u64 * 16;

/// What is left of `room` behind `what`.
fn spend(room: u64, size: u64, what: &str) -> Result<u64, Fault> {
    room.checked_sub(size).ok_or_else(|| {
        Fault::Limit(format!(
            "NAME_BYTES: {what}, {size} bytes and more than {TEXT_BYTES} in all"
        ))
    })
}

/// Where the debug information is, as the debug directory says.
fn debug<'d, R: ReadRef<'d>>(
    data: R,
    image: &Image<'d, R>,
    rva: u32,
    size: u32,
) -> Result<BTreeSet<Print>, Fault> {
    const ENTRY: usize = 28;
    const CODE_VIEW: u32 = 2;
    if size as usize / ENTRY > limit::NOTES {
        return Err(Fault::Limit(format!(
            "NOTES: a debug directory of {size} bytes"
        )));
    }
    let directory = image.bytes(rva, size.into())?;
    let (mut prints, mut room) = (BTreeSet::new(), TEXT_BYTES);
    for entry in directory.chunks_exact(ENTRY) {
        let word = |at: usize| {
            let bytes = entry.get(at..at + 4).and_then(|b| b.try_into().ok());
            u32::from_le_bytes(bytes.unwrap_or_default())
        };
        let (kind, size, at) = (word(12), u64::from(word(16)), u64::from(word(24)));
        if kind != CODE_VIEW || at == 0 {
            continue;
        }
        let size = size.min(limit::NAME_BYTES as u64);
        room = spend(room, size, "the places of debug information")?;
        let record = data.read_bytes_at(at, size).map_err(|()| {
            Fault::Damaged(
                "the place of the debug information lies behind the file's end".to_owned(),
            )
        })?;
        // Its other form, of the last century, has no digest.
        let Some(record) = record.strip_prefix(b"RSDS") else {
            continue;
        };
        let Some((guid, path)) = record.split_first_chunk::<20>() else {
            return Err(Fault::Damaged(
                "the place of the debug information is cut".to_owned(),
            ));
        };
        let path = path.split(|b| *b == 0).next().unwrap_or_default();
        if !path.is_empty() {
            prints.insert(Print::new(Kind::Pdb, path));
        }
        prints.insert(text(Kind::BuildId, hex(&guid[..16])));
    }
    Ok(prints)
}

/// The traces in an ELF file's sections.
///
/// # Errors
/// A [`Fault`] when the file or one of the sections cannot be read.
pub fn of_elf<'d, R: ReadRef<'d>>(data: R) -> Result<BTreeSet<Print>, Fault> {
    let class = super::elf::read(data)?;
    if class.starts_with("ELF64") {
        sections::<elf::FileHeader64<Endianness>, R>(data)
    } else {
        sections::<elf::FileHeader32<Endianness>, R>(data)
    }
}

fn sections<'d, Elf, R>(data: R) -> Result<BTreeSet<Print>, Fault>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    let parse = |e: object::read::Error| Fault::parse(&e);
    let header = Elf::parse(data).map_err(parse)?;
    let endian = header.endian().map_err(parse)?;
    let sections = header.section_headers(endian, data).map_err(parse)?;
    // A file may be without names of sections.
    let names = match header.e_shstrndx(endian).0 {
        0 => StringTable::default(),
        _ => header
            .section_strings(endian, data, sections)
            .map_err(parse)?,
    };
    let (mut prints, mut room) = (BTreeSet::new(), TEXT_BYTES);
    for section in sections {
        let name = named(section, endian, names);
        if name == b".comment" || section.sh_type(endian) == elf::SHT_NOTE {
            let size: u64 = section.sh_size(endian).into();
            room = spend(room, size, &Name::new(name).to_string())?;
        }
        if name == b".comment" {
            let bytes = section.data(endian, data).map_err(parse)?;
            let texts = bytes.split(|b| *b == 0).filter(|text| !text.is_empty());
            prints.extend(texts.map(|text| Print::new(Kind::Comment, text)));
        }
        prints.extend(build_id::<Elf, R>(section, endian, data)?);
        if prints.len() > limit::FINGERPRINTS {
            return Err(Fault::Limit(format!(
                "FINGERPRINTS: more than {}",
                limit::FINGERPRINTS
            )));
        }
    }
    Ok(prints)
}

/// A section's name; none when the file has no table of them.
fn named<'d, S: SectionHeader, R: ReadRef<'d>>(
    section: &S,
    endian: S::Endian,
    names: StringTable<'d, R>,
) -> &'d [u8] {
    section.name(endian, names).unwrap_or_default()
}

/// NT_GNU_BUILD_ID of a section of notes.
fn build_id<'d, Elf, R>(
    section: &Elf::SectionHeader,
    endian: Endianness,
    data: R,
) -> Result<Option<Print>, Fault>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    const BUILD_ID: u32 = 3;
    let parse = |e: object::read::Error| Fault::parse(&e);
    let Some(mut notes) = section.notes(endian, data).map_err(parse)? else {
        return Ok(None);
    };
    for _ in 0..limit::NOTES {
        match notes.next().map_err(parse)? {
            Some(note) if note.name() == b"GNU" && note.n_type(endian).0 == BUILD_ID => {
                return Ok(Some(text(Kind::BuildId, hex(note.desc()))));
            }
            Some(_) => {}
            None => return Ok(None),
        }
    }
    Err(Fault::Limit(format!(
        "NOTES: more than {} notes",
        limit::NOTES
    )))
}

#[cfg(all(test, feature = "fixtures"))]
mod tests {
    use super::*;
    use crate::fixture::{self, ARM64, traced_dll, traced_elf};

    fn texts(prints: &BTreeSet<Print>) -> Vec<String> {
        prints.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_image_tells_its_linker_its_tools_and_where_its_debug_information_is() {
        let bytes = traced_dll(ARM64, &[(261, 33808), (258, 33808)], Some(r"D:\a\x.pdb"));
        assert_eq!(
            texts(&of_image(bytes.as_slice()).unwrap()),
            [
                "linker 14.00",
                "rich 258.33808",
                "rich 261.33808",
                r"pdb D:\a\x.pdb",
                "build-id abababababababababababababababab",
            ]
        );
        let plain = fixture::dll(ARM64);
        assert_eq!(
            texts(&of_image(plain.as_slice()).unwrap()),
            ["linker 14.00"]
        );
    }

    #[test]
    fn a_shared_object_tells_what_its_tools_call_themselves_and_its_build_id() {
        let comments = ["GCC: (Debian 12.2.0-14) 12.2.0", "Linker: LLD 19.1.7"];
        let bytes = traced_elf(183, &comments, &[0x12, 0x34]);
        assert_eq!(
            texts(&of_elf(bytes.as_slice()).unwrap()),
            [
                "comment GCC: (Debian 12.2.0-14) 12.2.0",
                "comment Linker: LLD 19.1.7",
                "build-id 1234",
            ]
        );
        assert!(
            of_elf(fixture::elf(64, false, 183).as_slice())
                .unwrap()
                .is_empty()
        );
    }

    #[test]
    fn a_table_that_cannot_be_read_is_a_fault_and_not_no_traces() {
        let whole = traced_dll(ARM64, &[], Some("x.pdb"));
        for (at, value) in [
            (fixture::PE_DIRECTORIES + 48, 0x00ff_0000_u32),
            (fixture::PE_DIRECTORIES + 52, u32::MAX),
            (0x300 + 24, 0x00ff_0000),
            (0x300 + 16, 8),
        ] {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            assert!(of_image(bytes.as_slice()).is_err(), "{at:x}");
        }
        let whole = traced_elf(183, &["x"], &[1; 20]);
        let mut bytes = whole.clone();
        // The length of the note's name.
        bytes[72..76].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(of_elf(bytes.as_slice()).is_err());
        for end in 0..whole.len() {
            assert!(of_elf(&whole[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn sections_that_share_a_long_text_are_bounded() {
        let mut bytes = traced_elf(183, &["x"], &[1; 20]);
        let section = |bytes: &[u8], index: usize| {
            let table = u64::from_le_bytes(bytes[40..48].try_into().unwrap());
            usize::try_from(table).unwrap() + index * 64
        };
        let count = usize::from(u16::from_le_bytes([bytes[60], bytes[61]]));
        let comment = (0..count)
            .map(|index| section(&bytes, index))
            .find(|at| bytes[at + 4] == 1)
            .unwrap();
        // Sixty more of it, each with 60 kB of the file.
        let header = bytes[comment..comment + 64].to_vec();
        let (table, end) = (section(&bytes, 0), section(&bytes, count));
        let mut headers = bytes[table..end].to_vec();
        let long = bytes.len() as u64;
        bytes.resize(bytes.len() + 60_100, b'c');
        for index in 0..60_u64 {
            let mut header = header.clone();
            header[24..32].copy_from_slice(&(long + index).to_le_bytes());
            header[32..40].copy_from_slice(&60_000_u64.to_le_bytes());
            headers.extend_from_slice(&header);
        }
        let at = bytes.len() as u64;
        bytes[40..48].copy_from_slice(&at.to_le_bytes());
        bytes[60..62].copy_from_slice(&(u16::try_from(count).unwrap() + 60).to_le_bytes());
        bytes.extend_from_slice(&headers);
        let fault = of_elf(bytes.as_slice()).unwrap_err();
        assert!(fault.to_string().contains("NAME_BYTES"), "{fault}");
    }
}
