//! The sections of programs, libraries and objects that hold device code.

use object::LittleEndian as LE;
use object::pe;
use object::read::coff::CoffHeader;
use object::read::elf::{FileHeader, SectionHeader as _};
use object::read::pe::{ImageNtHeaders, optional_header_magic};
use object::read::{ReadRef, StringTable};
use object::{Endianness, elf};

use crate::format::Fault;
use crate::format::magic::Magic;
use crate::limit;

/// Names of sections with bundles, fat binaries, and those of code that is linked once more.
const NAMES: [&[u8]; 3] = [b".hip_fatbin", b".nv_fatbin", b"__nv_relfatbin"];

/// A section.
pub(super) struct Section {
    /// Its name.
    pub(super) name: Vec<u8>,
    /// Where it begins in the file.
    pub(super) offset: u64,
    /// How long it is.
    pub(super) size: u64,
}

/// The sections with device code; none for what has no sections.
///
/// # Errors
/// A [`Fault`] when the table of sections cannot be read.
pub(super) fn read<'d, R: ReadRef<'d>>(magic: Magic, data: R) -> Result<Vec<Section>, Fault> {
    match magic {
        Magic::Pe => match optional_header_magic(data).map_err(|e| Fault::parse(&e))? {
            pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC => image::<pe::ImageNtHeaders32, R>(data),
            _ => image::<pe::ImageNtHeaders64, R>(data),
        },
        Magic::Elf => match data.read_bytes_at(4, 1) {
            Ok([1]) => elf_file::<elf::FileHeader32<Endianness>, R>(data),
            _ => elf_file::<elf::FileHeader64<Endianness>, R>(data),
        },
        Magic::Coff => object::<pe::ImageFileHeader, R>(data),
        // Other anonymous objects have no sections.
        Magic::Anonymous => match data.read_at::<pe::AnonObjectHeader>(0) {
            Ok(header) if header.class_id == pe::ANON_OBJECT_HEADER_BIGOBJ_CLASS_ID => {
                object::<pe::AnonObjectHeaderBigobj, R>(data)
            }
            _ => Ok(Vec::new()),
        },
        _ => Ok(Vec::new()),
    }
}

fn image<'d, Pe: ImageNtHeaders, R: ReadRef<'d>>(data: R) -> Result<Vec<Section>, Fault> {
    let parse = |e: object::read::Error| Fault::parse(&e);
    let dos = pe::ImageDosHeader::parse(data).map_err(parse)?;
    let mut offset = u64::from(dos.nt_headers_offset());
    let (nt, _) = Pe::parse(data, &mut offset).map_err(parse)?;
    let sections = nt.sections(data, offset).map_err(parse)?;
    let header = nt.file_header();
    let (symbols, count) = (
        header.pointer_to_symbol_table.get(LE),
        header.number_of_symbols.get(LE),
    );
    let strings = strings(data, symbols.into(), u64::from(count) * 18);
    let found = sections.iter().filter_map(|section| {
        // Zeros behind what is in memory fill the file up; padding is no matter.
        let (offset, size) = section.pe_file_range();
        named(section, strings, offset.into(), size.into()).transpose()
    });
    found.collect()
}

fn object<'d, H: CoffHeader, R: ReadRef<'d>>(data: R) -> Result<Vec<Section>, Fault> {
    let parse = |e: object::read::Error| Fault::parse(&e);
    let mut offset = 0;
    let header = H::parse(data, &mut offset).map_err(parse)?;
    let sections = header.sections(data, offset).map_err(parse)?;
    let size = if H::is_type_bigobj() { 20 } else { 18 };
    let symbols = u64::from(header.pointer_to_symbol_table());
    let strings = strings(data, symbols, u64::from(header.number_of_symbols()) * size);
    let found = sections.iter().filter_map(|section| {
        let (offset, size) = section.coff_file_range()?;
        named(section, strings, offset.into(), size.into()).transpose()
    });
    found.collect()
}

/// The table of long names, behind the symbols.
fn strings<'d, R: ReadRef<'d>>(data: R, symbols: u64, size: u64) -> StringTable<'d, R> {
    match symbols {
        0 => StringTable::default(),
        at => StringTable::new(data, at.saturating_add(size), data.len().unwrap_or(0)),
    }
}

fn named<'d, R: ReadRef<'d>>(
    section: &'d pe::ImageSectionHeader,
    strings: StringTable<'d, R>,
    offset: u64,
    size: u64,
) -> Result<Option<Section>, Fault> {
    let raw = section.raw_name();
    let name = match raw {
        [b'/', ..] => section.name(strings).map_err(|e| Fault::parse(&e))?,
        raw => raw,
    };
    // Images cut names off after eight bytes.
    let is = |known: &&[u8]| *known == name || raw.len() == 8 && known.starts_with(raw);
    Ok((size > 0 && NAMES.iter().any(is)).then(|| Section {
        name: name.to_vec(),
        offset,
        size,
    }))
}

fn elf_file<'d, Elf, R>(data: R) -> Result<Vec<Section>, Fault>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    let parse = |e: object::read::Error| Fault::parse(&e);
    let header = Elf::parse(data).map_err(parse)?;
    let endian = header.endian().map_err(parse)?;
    let count = u64::from(header.shnum(endian, data).map_err(parse)?);
    if count > limit::SECTIONS {
        return Err(Fault::Limit(format!("SECTIONS: {count} sections")));
    }
    // A file may be without names of sections.
    if header.e_shstrndx(endian).0 == 0 {
        return Ok(Vec::new());
    }
    let sections = header.sections(endian, data).map_err(parse)?;
    let mut out = Vec::new();
    for section in sections.iter() {
        let Some((offset, size)) = section.file_range(endian) else {
            continue;
        };
        let name = sections.section_name(endian, section).map_err(parse)?;
        if size > 0 && NAMES.contains(&name) {
            out.push(Section {
                name: name.to_vec(),
                offset,
                size,
            });
        }
    }
    Ok(out)
}
