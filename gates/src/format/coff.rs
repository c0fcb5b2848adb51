//! COFF objects, `/bigobj` objects and the short imports of import libraries.

use object::LittleEndian as LE;
use object::pe;
use object::read::ReadRef;
use object::read::coff::{CoffHeader, ImportFile};

use super::{Class, Fault};
use crate::limit;

/// IMAGE_FILE_MACHINE_* numbers and the names that lanegate prints (PE format specification).
const MACHINES: [(u16, &str); 17] = [
    (0x0000, "UNKNOWN"),
    (0x014c, "I386"),
    (0x0166, "R4000"),
    (0x01c0, "ARM"),
    (0x01c2, "THUMB"),
    (0x01c4, "ARMNT"),
    (0x01f0, "POWERPC"),
    (0x0200, "IA64"),
    (0x0ebc, "EBC"),
    (0x3a64, "CHPE-X86"),
    (0x5032, "RISCV32"),
    (0x5064, "RISCV64"),
    (0x6264, "LOONGARCH64"),
    (0x8664, "AMD64"),
    (0xa641, "ARM64EC"),
    (0xa64e, "ARM64X"),
    (0xaa64, "ARM64"),
];

/// The class of a machine number.
#[must_use]
pub fn class(machine: u16) -> Class {
    MACHINES
        .iter()
        .find(|(number, _)| *number == machine)
        .map_or_else(
            || format!("0x{machine:04x}").into(),
            |(_, name)| (*name).into(),
        )
}

/// Whether `head` begins a COFF object of `len` bytes. COFF has no magic, so everything that the
/// header says must add up: a known machine, no optional header, tables inside the file.
#[must_use]
pub fn plausible(head: &[u8], len: u64) -> bool {
    let Some(Ok(header)) = head.get(..20).map(<[u8; 20]>::try_from) else {
        return false;
    };
    let u16_at = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
    let u32_at = |at: usize| u64::from(u16_at(at)) | u64::from(u16_at(at + 2)) << 16;
    let (machine, sections) = (u16_at(0), u64::from(u16_at(2)));
    let (symbols, count) = (u32_at(8), u32_at(12));
    machine != 0
        && MACHINES.iter().any(|(number, _)| *number == machine)
        && u16_at(16) == 0
        && (1..=0xfeff).contains(&sections)
        && 20 + sections * 40 <= len
        && symbols + count * 18 <= len
        && (symbols != 0 || count == 0)
}

/// Reads a COFF object and checks that all that it speaks of is in it.
///
/// # Errors
/// A [`Fault`] when it is cut or damaged.
pub fn read<'d, R: ReadRef<'d>>(data: R) -> Result<Class, Fault> {
    object::<pe::ImageFileHeader, R>(data)
}

/// Reads an object that begins with `0000 FFFF` and a version of at least 1.
///
/// # Errors
/// A [`Fault`] when it is cut or damaged.
pub fn read_anonymous<'d, R: ReadRef<'d>>(data: R) -> Result<Class, Fault> {
    let header = data
        .read_at::<pe::AnonObjectHeader>(0)
        .map_err(|()| Fault::Damaged("the header of the anonymous object is cut".to_owned()))?;
    if header.class_id == pe::ANON_OBJECT_HEADER_BIGOBJ_CLASS_ID {
        object::<pe::AnonObjectHeaderBigobj, R>(data)
    } else {
        // A compiler's intermediate form (cl /GL): only the header is public.
        let len = data.len().unwrap_or(0);
        let end = 32 + u64::from(header.size_of_data.get(LE));
        Fault::require("the anonymous object", end, len)?;
        Ok(class(header.machine.get(LE).0))
    }
}

/// Reads a short import: one symbol of one DLL.
///
/// # Errors
/// A [`Fault`] when it is cut or damaged.
pub fn read_import<'d, R: ReadRef<'d>>(data: R) -> Result<Class, Fault> {
    ImportFile::parse(data).map_err(|e| Fault::parse(&e))?;
    let header = data
        .read_at::<pe::ImportObjectHeader>(0)
        .map_err(|()| Fault::Damaged("the import header is cut".to_owned()))?;
    Ok(class(header.machine.get(LE).0))
}

fn object<'d, H: CoffHeader, R: ReadRef<'d>>(data: R) -> Result<Class, Fault> {
    let parse = |e: object::read::Error| Fault::parse(&e);
    let len = data.len().unwrap_or(0);
    let mut offset = 0;
    let header = H::parse(data, &mut offset).map_err(parse)?;
    let count = u64::from(header.number_of_sections());
    if count > limit::SECTIONS {
        return Err(Fault::Limit(format!("SECTIONS: {count} sections")));
    }
    let sections = header.sections(data, offset).map_err(parse)?;
    for (index, section) in sections.enumerate() {
        if let Some((start, size)) = section.coff_file_range()
            && start != 0
        {
            let end = u64::from(start) + u64::from(size);
            Fault::require(&format!("section {index}"), end, len)?;
        }
        let relocations = u64::from(section.number_of_relocations.get(LE));
        if relocations != 0 {
            let end = u64::from(section.pointer_to_relocations.get(LE)) + relocations * 10;
            Fault::require(&format!("the relocations of section {index}"), end, len)?;
        }
    }
    let symbols = u64::from(header.pointer_to_symbol_table());
    if symbols != 0 {
        let size = if H::is_type_bigobj() { 20 } else { 18 };
        let end = symbols + u64::from(header.number_of_symbols()) * size;
        Fault::require("the symbol table", end, len)?;
        strings(data, end, len)?;
    }
    Ok(class(header.machine().0))
}

/// The string table behind the symbols: its length word is always there and counts itself.
fn strings<'d, R: ReadRef<'d>>(data: R, at: u64, len: u64) -> Result<(), Fault> {
    Fault::require("the length of the string table", at + 4, len)?;
    let word = data
        .read_at::<object::U32<LE>>(at)
        .map_err(|()| Fault::Damaged("the string table cannot be read".to_owned()))?;
    Fault::require("the string table", at + u64::from(word.get(LE)), len)
}

#[cfg(all(test, feature = "fixtures"))]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn objects_bigobjs_and_imports_tell_their_machine() {
        let obj = fixture::coff(0xaa64);
        assert_eq!(read(obj.as_slice()).unwrap(), "ARM64");
        assert!(plausible(&obj, obj.len() as u64));
        assert_eq!(
            read_anonymous(fixture::bigobj(0x8664).as_slice()).unwrap(),
            "AMD64"
        );
        assert_eq!(
            read_import(fixture::import(0xa641, "f", "f.dll").as_slice()).unwrap(),
            "ARM64EC"
        );
    }

    #[test]
    fn a_number_without_a_name_is_printed_as_a_number() {
        assert_eq!(class(0x1234), "0x1234");
    }

    #[test]
    fn every_cut_is_a_fault() {
        for whole in [
            fixture::coff(0xaa64),
            fixture::bigobj(0xaa64),
            fixture::import(0xaa64, "f", "f.dll"),
        ] {
            let reader = match whole[..6] {
                [0, 0, 0xff, 0xff, 0, _] => read_import::<&[u8]>,
                [0, 0, 0xff, 0xff, ..] => read_anonymous::<&[u8]>,
                _ => read::<&[u8]>,
            };
            assert!(reader(&whole).is_ok());
            for end in 0..whole.len() {
                assert!(reader(&whole[..end]).is_err(), "cut at {end}");
            }
        }
    }

    #[test]
    fn data_that_begins_with_a_machine_number_is_no_object() {
        let mut data = vec![0x64, 0x86];
        data.extend_from_slice(&[b'x'; 200]);
        assert!(!plausible(&data, 202));
    }
}
