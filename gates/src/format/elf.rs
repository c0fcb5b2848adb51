//! ELF: programs, shared objects, relocatable objects.

use object::elf;
use object::read::ReadRef;
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader};

use super::{Class, Fault};
use crate::limit;

/// e_machine numbers and the names that readelf prints.
const MACHINES: [(u16, &str); 16] = [
    (2, "Sparc"),
    (3, "Intel 80386"),
    (8, "MIPS"),
    (20, "PowerPC"),
    (21, "PowerPC64"),
    (22, "S/390"),
    (40, "ARM"),
    (43, "SPARC V9"),
    (62, "X86-64"),
    (164, "Hexagon (device)"),
    (183, "AArch64"),
    (190, "CUDA (device)"),
    (205, "Intel GT (device)"),
    (224, "AMDGPU (device)"),
    (243, "RISC-V"),
    (258, "LoongArch"),
];

/// Reads the class and checks that all that the headers speak of is in the file.
///
/// # Errors
/// A [`Fault`] when the file is cut or damaged.
pub fn read<'d, R: ReadRef<'d>>(data: R) -> Result<Class, Fault> {
    let ident = data
        .read_bytes_at(0, 16)
        .map_err(|()| Fault::Damaged("the ELF identification is cut".to_owned()))?;
    match ident[4] {
        1 => file::<elf::FileHeader32<object::Endianness>, R>(data, 32),
        2 => file::<elf::FileHeader64<object::Endianness>, R>(data, 64),
        other => Err(Fault::Damaged(format!("no ELF class has number {other}"))),
    }
}

fn file<'d, Elf: FileHeader, R: ReadRef<'d>>(data: R, bits: u8) -> Result<Class, Fault> {
    let parse = |e: object::read::Error| Fault::parse(&e);
    let len = data.len().unwrap_or(0);
    let header = Elf::parse(data).map_err(parse)?;
    let endian = header.endian().map_err(parse)?;
    let count = u64::from(header.shnum(endian, data).map_err(parse)?);
    if count > limit::SECTIONS {
        return Err(Fault::Limit(format!("SECTIONS: {count} sections")));
    }
    let sections = header.section_headers(endian, data).map_err(parse)?;
    for (index, section) in sections.iter().enumerate() {
        if let Some((start, size)) = section.file_range(endian)
            && section.sh_type(endian) != elf::SHT_NULL
        {
            Fault::require(&format!("section {index}"), start.saturating_add(size), len)?;
        }
    }
    let segments = header.program_headers(endian, data).map_err(parse)?;
    // A separated debug file keeps its segments' headers without their bytes: sections decide.
    if sections.is_empty() {
        for (index, segment) in segments.iter().enumerate() {
            let (start, size) = segment.file_range(endian);
            if segment.p_type(endian) == elf::PT_LOAD {
                Fault::require(&format!("segment {index}"), start.saturating_add(size), len)?;
            }
        }
    }
    Ok(class(bits, header.is_little_endian(), header.e_machine(endian).0).into())
}

/// `ELF64 AArch64`; big-endian files say so.
fn class(bits: u8, little: bool, machine: u16) -> String {
    let name = MACHINES
        .iter()
        .find(|(number, _)| *number == machine)
        .map_or_else(
            || format!("machine {machine}"),
            |(_, name)| (*name).to_owned(),
        );
    let big = if little { "" } else { "-BE" };
    format!("ELF{bits}{big} {name}")
}

#[cfg(all(test, feature = "fixtures"))]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn class_bits_and_endianness_are_told_apart() {
        for (bits, big, machine, name) in [
            (64, false, 183, "ELF64 AArch64"),
            (64, false, 62, "ELF64 X86-64"),
            (32, false, 62, "ELF32 X86-64"),
            (32, false, 3, "ELF32 Intel 80386"),
            (64, true, 21, "ELF64-BE PowerPC64"),
            (64, false, 224, "ELF64 AMDGPU (device)"),
            (64, false, 9999, "ELF64 machine 9999"),
        ] {
            assert_eq!(
                read(fixture::elf(bits, big, machine).as_slice()).unwrap(),
                name
            );
        }
    }

    #[test]
    fn every_cut_is_a_fault() {
        for whole in [fixture::elf(64, false, 183), fixture::elf(32, true, 8)] {
            for end in 0..whole.len() {
                assert!(
                    read(&whole[..end]).is_err(),
                    "cut at {end} of {}",
                    whole.len()
                );
            }
        }
    }
}
