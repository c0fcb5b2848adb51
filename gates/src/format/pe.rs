//! PE images: DLLs, programs, Python modules, drivers, EFI.

use object::LittleEndian as LE;
use object::pe;
use object::read::ReadRef;
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, optional_header_magic};

use super::coff::class;
use super::{Class, Fault};

/// IMAGE_LOAD_CONFIG_DIRECTORY64.CHPEMetadataPointer; `Size` must reach behind it to count.
const CHPE_AT: u32 = 0xc8;

/// Reads an image's machine and checks that all that its headers speak of is in the file.
///
/// The header's machine number is not the whole truth: hybrid images name it `AMD64` (ARM64EC) or
/// `ARM64` (ARM64X) and carry CHPE metadata besides.
///
/// # Errors
/// A [`Fault`] when the image is cut or damaged.
pub fn read<'d, R: ReadRef<'d>>(data: R) -> Result<Class, Fault> {
    match optional_header_magic(data).map_err(|e| Fault::parse(&e))? {
        pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC => image::<pe::ImageNtHeaders32, R>(data),
        pe::IMAGE_NT_OPTIONAL_HDR64_MAGIC => image::<pe::ImageNtHeaders64, R>(data),
        other => Err(Fault::Damaged(format!(
            "no optional header has magic 0x{other:04x}"
        ))),
    }
}

fn image<'d, Pe: ImageNtHeaders, R: ReadRef<'d>>(data: R) -> Result<Class, Fault> {
    let parse = |e: object::read::Error| Fault::parse(&e);
    let len = data.len().unwrap_or(0);
    let dos = pe::ImageDosHeader::parse(data).map_err(parse)?;
    let mut offset = u64::from(dos.nt_headers_offset());
    let (nt, directories) = Pe::parse(data, &mut offset).map_err(parse)?;
    let sections = nt.sections(data, offset).map_err(parse)?;
    Fault::require(
        "the headers",
        nt.optional_header().size_of_headers().into(),
        len,
    )?;
    for (index, section) in sections.enumerate() {
        let start = u64::from(section.pointer_to_raw_data.get(LE));
        if start != 0 {
            let end = start + u64::from(section.size_of_raw_data.get(LE));
            Fault::require(&format!("section {index}"), end, len)?;
        }
    }
    // The certificate table is the one directory that is a place in the file, not in memory.
    if let Some(certificates) = directories.get(pe::IMAGE_DIRECTORY_ENTRY_SECURITY) {
        let (start, size) = certificates.address_range();
        if start != 0 {
            Fault::require("the signature", u64::from(start) + u64::from(size), len)?;
        }
    }
    let header = nt.file_header();
    let symbols = u64::from(header.pointer_to_symbol_table.get(LE));
    let count = u64::from(header.number_of_symbols.get(LE));
    if symbols != 0 && count != 0 {
        Fault::require("the symbol table", symbols + count * 18, len)?;
    }
    let machine = header.machine.get(LE);
    let hybrid = nt.is_type_64()
        && matches!(
            machine,
            pe::IMAGE_FILE_MACHINE_AMD64 | pe::IMAGE_FILE_MACHINE_ARM64
        )
        && match directories.get(pe::IMAGE_DIRECTORY_ENTRY_LOAD_CONFIG) {
            Some(directory) if directory.virtual_address.get(LE) != 0 => {
                let rva = directory.virtual_address.get(LE);
                chpe(data, sections.pe_file_range_at(rva))?
            }
            _ => false,
        };
    Ok(match (hybrid, machine) {
        (true, pe::IMAGE_FILE_MACHINE_AMD64) => "ARM64EC".into(),
        (true, _) => "ARM64X".into(),
        (false, machine) => class(machine.0),
    })
}

/// Whether the load configuration at this place of the file points at CHPE metadata.
fn chpe<'d, R: ReadRef<'d>>(data: R, range: Option<(u32, u32)>) -> Result<bool, Fault> {
    let damaged = || Fault::Damaged("the load configuration lies in no section".to_owned());
    let (start, room) = range.ok_or_else(damaged)?;
    if room < 4 {
        return Err(damaged());
    }
    let start = u64::from(start);
    let size = data
        .read_at::<object::U32<LE>>(start)
        .map_err(|()| damaged())?
        .get(LE);
    if size.min(room) < CHPE_AT + 8 {
        return Ok(false);
    }
    let pointer = data
        .read_at::<object::U64<LE>>(start + u64::from(CHPE_AT))
        .map_err(|()| damaged())?;
    Ok(pointer.get(LE) != 0)
}

#[cfg(all(test, feature = "fixtures"))]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn plain_images_are_what_their_header_says() {
        for (machine, name) in [(0x8664, "AMD64"), (0xaa64, "ARM64"), (0x014c, "I386")] {
            assert_eq!(read(fixture::dll(machine).as_slice()).unwrap(), name);
        }
    }

    #[test]
    fn chpe_metadata_makes_an_image_hybrid() {
        assert_eq!(
            read(fixture::hybrid_dll(0xaa64).as_slice()).unwrap(),
            "ARM64X"
        );
        assert_eq!(
            read(fixture::hybrid_dll(0x8664).as_slice()).unwrap(),
            "ARM64EC"
        );
    }

    #[test]
    fn every_cut_is_a_fault() {
        for whole in [
            fixture::dll(0x014c),
            fixture::dll(0xaa64),
            fixture::hybrid_dll(0xaa64),
        ] {
            for end in 0..whole.len() {
                assert!(
                    read(&whole[..end]).is_err(),
                    "cut at {end} of {}",
                    whole.len()
                );
            }
        }
    }

    #[test]
    fn a_load_configuration_outside_every_section_is_a_fault_not_a_plain_image() {
        let mut image = fixture::hybrid_dll(0x8664);
        let at = fixture::PE_DIRECTORIES + 10 * 8;
        image[at..at + 4].copy_from_slice(&0x00ff_0000_u32.to_le_bytes());
        assert!(matches!(read(image.as_slice()), Err(Fault::Damaged(_))));
    }
}
