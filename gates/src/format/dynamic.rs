//! What an ELF file says to the dynamic loader.

use object::elf;
use object::read::ReadRef;
use object::read::StringTable;
use object::read::elf::{Dyn, FileHeader, ProgramHeader, SectionHeader, SectionTable};
use object::{Endian, Endianness};

use super::memory::{Memory, Span};
use super::{Class, Fault};
use crate::limit;

/// Bytes of a name.
pub type Text = Box<[u8]>;

/// What a program or shared object says to the loader.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dynamic {
    /// Its machine class.
    pub class: Class,
    /// e_type: 1 object, 2 program at a fixed address, 3 shared object or program.
    pub kind: u16,
    /// The loader that it asks for.
    pub interpreter: Option<Box<[u8]>>,
    /// Whether it has a dynamic section at all.
    pub dynamic: bool,
    /// DF_1_PIE: a program that may be loaded anywhere.
    pub pie: bool,
    /// The libraries that it needs.
    pub needed: Vec<Box<[u8]>>,
    /// The name that it has for itself.
    pub soname: Option<Box<[u8]>>,
    /// DT_RPATH, split at the colons.
    pub rpath: Vec<Box<[u8]>>,
    /// DT_RUNPATH, split at the colons.
    pub runpath: Vec<Box<[u8]>>,
    /// Versions that it needs: of which library, and which. Weak ones are left out.
    pub needs: Vec<(Text, Text)>,
    /// Versions that it defines.
    pub defines: Vec<Box<[u8]>>,
    /// What it says of its stack; nothing makes an old loader take an executable one.
    pub stack: Stack,
}

impl Dynamic {
    /// Whether it is started and not loaded: it has a fixed address, a loader or the mark of a
    /// program. (A C library has a loader's name in it too, and may be started; it has a name
    /// of its own.)
    #[must_use]
    pub fn is_program(&self) -> bool {
        const FIXED: u16 = 2;
        self.kind == FIXED || self.pie || (self.interpreter.is_some() && self.soname.is_none())
    }
}

/// What PT_GNU_STACK says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stack {
    /// There is none.
    #[default]
    Unsaid,
    /// Data only.
    Data,
    /// Code may run on it.
    Executable,
}

/// One symbol that a shared object defines for others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defined {
    /// Its name.
    pub name: Box<[u8]>,
    /// Its address.
    pub address: u64,
    /// Its size.
    pub size: u64,
    /// STT_*: 1 data, 2 code, 10 code that chooses code.
    pub kind: u8,
}

/// Reads what an ELF file says to the loader.
///
/// # Errors
/// A [`Fault`] when the file or a table is cut or damaged.
pub fn read<'d, R: ReadRef<'d>>(data: R) -> Result<Dynamic, Fault> {
    let class = super::elf::read(data)?;
    if class.starts_with("ELF64") {
        dynamic::<elf::FileHeader64<Endianness>, R>(data, class)
    } else {
        dynamic::<elf::FileHeader32<Endianness>, R>(data, class)
    }
}

/// Reads the symbols that an ELF file defines for others, sorted by name.
///
/// # Errors
/// A [`Fault`] when the table is cut or damaged.
pub fn defined<'d, R: ReadRef<'d>>(data: R) -> Result<Vec<Defined>, Fault> {
    let class = super::elf::read(data)?;
    if class.starts_with("ELF64") {
        symbols::<elf::FileHeader64<Endianness>, R>(data)
    } else {
        symbols::<elf::FileHeader32<Endianness>, R>(data)
    }
}

/// `count` bytes at an address, as they are in memory at load.
///
/// # Errors
/// A [`Fault`] when no segment holds them.
pub fn bytes<'d, R: ReadRef<'d>>(data: R, address: u64, count: u64) -> Result<Vec<u8>, Fault> {
    let class = super::elf::read(data)?;
    let memory = if class.starts_with("ELF64") {
        memory::<elf::FileHeader64<Endianness>, R>(data)?
    } else {
        memory::<elf::FileHeader32<Endianness>, R>(data)?
    };
    memory.vec("data", address, count)
}

fn parse(error: object::read::Error) -> Fault {
    Fault::parse(&error)
}

fn memory<'d, Elf, R>(data: R) -> Result<Memory<'d, R>, Fault>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    let header = Elf::parse(data).map_err(parse)?;
    let endian = header.endian().map_err(parse)?;
    let segments = header.program_headers(endian, data).map_err(parse)?;
    let loaded = segments.iter().filter(|s| s.p_type(endian) == elf::PT_LOAD);
    let span = |segment: &Elf::ProgramHeader| {
        let (offset, held) = segment.file_range(endian);
        let size = segment.p_memsz(endian).into();
        Span {
            address: segment.p_vaddr(endian).into(),
            size,
            offset,
            held: held.min(size),
        }
    };
    Ok(Memory::new(data, loaded.map(span).collect()))
}

fn dynamic<'d, Elf, R>(data: R, class: Class) -> Result<Dynamic, Fault>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    let header = Elf::parse(data).map_err(parse)?;
    let endian = header.endian().map_err(parse)?;
    let memory = memory::<Elf, R>(data)?;
    let mut out = Dynamic {
        class,
        kind: header.e_type(endian).0,
        ..Dynamic::default()
    };
    for segment in header.program_headers(endian, data).map_err(parse)? {
        let (offset, size) = segment.file_range(endian);
        match segment.p_type(endian) {
            elf::PT_GNU_STACK if segment.p_flags(endian).0 & elf::PF_X.0 != 0 => {
                out.stack = Stack::Executable;
            }
            elf::PT_GNU_STACK => out.stack = Stack::Data,
            elf::PT_INTERP => {
                let size = size.min(limit::NAME_BYTES as u64);
                let text = data.read_bytes_at(offset, size).map_err(|()| {
                    Fault::Damaged("the interpreter lies behind the file's end".to_owned())
                })?;
                let end = text.iter().position(|b| *b == 0).unwrap_or(text.len());
                out.interpreter = Some(text[..end].into());
            }
            // A separated debug file keeps the header without the bytes.
            elf::PT_DYNAMIC if size > 0 => {
                if size > limit::DYNAMIC_BYTES {
                    return Err(Fault::Limit(format!("DYNAMIC_BYTES: {size} bytes")));
                }
                let entries = segment.dynamic(endian, data).map_err(parse)?;
                let entries = entries.unwrap_or_default();
                let entries: Vec<(i64, u64)> = entries
                    .iter()
                    .map(|e| (e.tag(endian).0, e.val(endian)))
                    .take_while(|(tag, _)| *tag != 0)
                    .collect();
                out.dynamic = true;
                table(&mut out, &memory, endian, &entries)?;
            }
            _ => {}
        }
    }
    Ok(out)
}

const NEEDED: i64 = 1;
const STRTAB: i64 = 5;
const SONAME: i64 = 14;
const RPATH: i64 = 15;
const RUNPATH: i64 = 29;
const FLAGS_1: i64 = 0x6fff_fffb;
const VERDEF: i64 = 0x6fff_fffc;
const VERDEFNUM: i64 = 0x6fff_fffd;
const VERNEED: i64 = 0x6fff_fffe;
const VERNEEDNUM: i64 = 0x6fff_ffff;

/// Reads the dynamic section's entries.
fn table<'d, R: ReadRef<'d>>(
    out: &mut Dynamic,
    memory: &Memory<'d, R>,
    endian: Endianness,
    entries: &[(i64, u64)],
) -> Result<(), Fault> {
    let first = |wanted| entries.iter().find(|(tag, _)| *tag == wanted).map(|e| e.1);
    let strings = first(STRTAB);
    let text = |offset: u64| {
        let strings = strings.ok_or_else(|| {
            Fault::Damaged("the dynamic section has names and no table of them".to_owned())
        })?;
        let text = memory.text(
            "a name of the dynamic section",
            strings.saturating_add(offset),
        )?;
        Ok::<Box<[u8]>, Fault>(text.into())
    };
    let paths = |offset| {
        let joined = text(offset)?;
        let parts = joined.split(|byte| *byte == b':');
        Ok::<Vec<Box<[u8]>>, Fault>(parts.map(Into::into).collect())
    };
    for (tag, value) in entries {
        match *tag {
            NEEDED => out.needed.push(text(*value)?),
            SONAME => out.soname = Some(text(*value)?),
            RPATH => out.rpath = paths(*value)?,
            RUNPATH => out.runpath = paths(*value)?,
            FLAGS_1 => {
                const PIE: u64 = 0x0800_0000;
                out.pie = value & PIE != 0;
            }
            _ => {}
        }
    }
    let u16_of = |bytes: &[u8], at: usize| endian.read_u16([bytes[at], bytes[at + 1]]);
    let u32_of = |bytes: &[u8], at: usize| {
        endian.read_u32([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    };
    let mut budget = limit::VERSIONS;
    let mut spend = || {
        budget = budget
            .checked_sub(1)
            .ok_or_else(|| Fault::Limit(format!("VERSIONS: more than {}", limit::VERSIONS)))?;
        Ok::<(), Fault>(())
    };
    if let Some(mut at) = first(VERNEED) {
        for _ in 0..first(VERNEEDNUM).unwrap_or(0) {
            spend()?;
            let need: [u8; 16] = memory.bytes("the needed versions", at)?;
            let file = text(u32_of(&need, 4).into())?;
            let mut aux_at = at.saturating_add(u32_of(&need, 8).into());
            for _ in 0..u16_of(&need, 2) {
                spend()?;
                let aux: [u8; 16] = memory.bytes("a needed version", aux_at)?;
                const WEAK: u16 = 2;
                if u16_of(&aux, 4) & WEAK == 0 {
                    memory.spend("a needed library", file.len())?;
                    out.needs
                        .push((file.clone(), text(u32_of(&aux, 8).into())?));
                }
                aux_at = aux_at.saturating_add(u32_of(&aux, 12).into());
            }
            at = at.saturating_add(u32_of(&need, 12).into());
        }
    }
    if let Some(mut at) = first(VERDEF) {
        for _ in 0..first(VERDEFNUM).unwrap_or(0) {
            spend()?;
            let define: [u8; 20] = memory.bytes("the defined versions", at)?;
            let aux_at = at.saturating_add(u32_of(&define, 12).into());
            let aux: [u8; 8] = memory.bytes("a defined version", aux_at)?;
            out.defines.push(text(u32_of(&aux, 0).into())?);
            at = at.saturating_add(u32_of(&define, 16).into());
        }
    }
    Ok(())
}

fn symbols<'d, Elf, R>(data: R) -> Result<Vec<Defined>, Fault>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    use object::read::elf::Sym as _;
    let header = Elf::parse(data).map_err(parse)?;
    let endian = header.endian().map_err(parse)?;
    let sections = header.section_headers(endian, data).map_err(parse)?;
    // Names of sections are not needed, and a file may be without.
    let sections = SectionTable::<Elf, R>::new(sections, StringTable::default());
    let size = sections
        .iter()
        .filter(|section| section.sh_type(endian) == elf::SHT_DYNSYM)
        .map(|section| section.sh_size(endian).into())
        .max();
    match size {
        Some(size) if size > limit::EXPORTS as u64 * 24 => {
            return Err(Fault::Limit(format!("EXPORTS: a table of {size} bytes")));
        }
        Some(_) => {}
        // Without section headers the table has no length.
        None => {
            let segments = header.program_headers(endian, data).map_err(parse)?;
            if segments.iter().any(|s| s.p_type(endian) == elf::PT_DYNAMIC) {
                let text = "no section says how many dynamic symbols there are";
                return Err(Fault::Damaged(text.to_owned()));
            }
        }
    }
    let table = sections
        .symbols(endian, data, elf::SHT_DYNSYM)
        .map_err(parse)?;
    let mut out = Vec::new();
    let mut room = limit::NAMES_BYTES;
    for symbol in table.symbols().iter() {
        let local = symbol.st_bind() == elf::STB_LOCAL;
        if local || symbol.st_shndx(endian) == elf::SHN_UNDEF || symbol.st_name(endian) == 0 {
            continue;
        }
        let name = symbol.name(endian, table.strings()).map_err(parse)?;
        room = room.checked_sub(name.len()).ok_or_else(|| {
            let most = limit::NAMES_BYTES;
            Fault::Limit(format!("NAMES_BYTES: names of more than {most} bytes"))
        })?;
        out.push(Defined {
            name: name.into(),
            address: symbol.st_value(endian).into(),
            size: symbol.st_size(endian).into(),
            kind: symbol.st_type().0,
        });
    }
    out.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(out)
}

#[cfg(all(test, feature = "fixtures"))]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn what_a_shared_object_says_is_read() {
        let bytes = fixture::Elf {
            needed: vec!["libc.so.6", "libz.so.1"],
            soname: Some("libx.so.1"),
            runpath: Some("$ORIGIN/../lib:/opt/lib"),
            interpreter: Some("/lib64/ld-linux-x86-64.so.2"),
            needs: vec![("libc.so.6", vec!["GLIBC_2.17", "GLIBC_2.34"])],
            defines: vec!["libx.so.1", "X_1.0"],
            stack: Some(7),
            data: vec![("table", vec![1, 2, 3])],
            code: vec!["run"],
            ..fixture::Elf::default()
        }
        .shared(62);
        let found = read(bytes.as_slice()).unwrap();
        let text = |list: &[Box<[u8]>]| -> Vec<String> {
            list.iter()
                .map(|b| String::from_utf8_lossy(b).into_owned())
                .collect()
        };
        assert_eq!(text(&found.needed), ["libc.so.6", "libz.so.1"]);
        assert_eq!(text(&found.runpath), ["$ORIGIN/../lib", "/opt/lib"]);
        assert_eq!(text(&found.defines), ["libx.so.1", "X_1.0"]);
        assert_eq!(found.needs.len(), 2);
        assert_eq!(found.stack, Stack::Executable);
        assert_eq!(
            found.interpreter.as_deref(),
            Some(&b"/lib64/ld-linux-x86-64.so.2"[..])
        );
        let symbols = defined(bytes.as_slice()).unwrap();
        assert_eq!(symbols.len(), 2);
        assert_eq!((&*symbols[0].name, symbols[0].kind), (&b"run"[..], 2));
        let table = &symbols[1];
        assert_eq!(
            super::bytes(bytes.as_slice(), table.address, table.size).unwrap(),
            [1, 2, 3]
        );
    }

    #[test]
    fn one_long_name_that_everything_has_is_bounded() {
        let long: &'static str = Box::leak("n".repeat(60_000).into_boxed_str());
        let mut code = vec!["f"; 5_000];
        code[0] = long;
        let elf = fixture::Elf {
            code,
            ..fixture::Elf::default()
        };
        let mut bytes = elf.shared(62);
        let word = |bytes: &[u8], at: usize| {
            let word = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
            usize::try_from(word).unwrap()
        };
        let symbols = word(&bytes, word(&bytes, 40) + 64 + 24);
        for at in (2..=5_000).map(|index| symbols + index * 24) {
            bytes.copy_within(symbols + 24..symbols + 28, at);
        }
        let fault = defined(bytes.as_slice()).unwrap_err();
        assert!(fault.to_string().contains("NAMES_BYTES"), "{fault}");

        let elf = fixture::Elf {
            needs: vec![(long, vec!["A_1"; 5_000])],
            ..fixture::Elf::default()
        };
        let fault = read(elf.shared(62).as_slice()).unwrap_err();
        assert!(fault.to_string().contains("NAMES_BYTES"), "{fault}");
    }

    #[test]
    fn every_cut_is_a_fault() {
        let elf = fixture::Elf {
            needed: vec!["libc.so.6"],
            ..fixture::Elf::default()
        };
        let whole = elf.shared(183);
        for end in 0..whole.len() {
            assert!(
                read(&whole[..end]).is_err(),
                "cut at {end} of {}",
                whole.len()
            );
        }
    }
}
