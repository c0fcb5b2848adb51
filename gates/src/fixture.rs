//! Small binaries of every format, made here, for tests and demos (feature `fixtures`).
//!
//! They are as small as their format allows and true to it: other readers accept them too.

mod device;
mod linked;
mod traced;

pub use device::{bundle, code_object, compressed, dll_with, elf_with, fat_binary};
pub use linked::{Elf, Export, Pe};
pub use traced::{traced_dll, traced_elf};

/// File offset of the data directories of a PE32+ [`dll`].
pub const PE_DIRECTORIES: usize = 0x40 + 24 + 112;

/// IMAGE_FILE_MACHINE_AMD64.
pub const AMD64: u16 = 0x8664;
/// IMAGE_FILE_MACHINE_ARM64.
pub const ARM64: u16 = 0xaa64;
/// IMAGE_FILE_MACHINE_ARM64EC.
pub const ARM64EC: u16 = 0xa641;
/// IMAGE_FILE_MACHINE_I386: its images are PE32, all others PE32+.
pub const I386: u16 = 0x014c;

/// Bytes put one after the other, little-endian unless told otherwise.
#[derive(Default)]
struct Out {
    bytes: Vec<u8>,
    big: bool,
}

impl Out {
    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend_from_slice(bytes);
        self
    }
    fn u16(&mut self, value: u16) -> &mut Self {
        let bytes = if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        };
        self.raw(&bytes)
    }
    fn u32(&mut self, value: u32) -> &mut Self {
        let bytes = if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        };
        self.raw(&bytes)
    }
    fn u64(&mut self, value: u64) -> &mut Self {
        let bytes = if self.big {
            value.to_be_bytes()
        } else {
            value.to_le_bytes()
        };
        self.raw(&bytes)
    }
    /// A word of 32 or 64 bits.
    fn word(&mut self, bits: u8, value: u64) -> &mut Self {
        if bits == 64 {
            self.u64(value)
        } else {
            self.u32(value as u32)
        }
    }
    fn zeros(&mut self, count: usize) -> &mut Self {
        self.bytes.resize(self.bytes.len() + count, 0);
        self
    }
    fn pad_to(&mut self, size: usize) -> &mut Self {
        self.bytes.resize(size, 0);
        self
    }
}

/// A DLL for this machine: one section of code, nothing imported.
#[must_use]
pub fn dll(machine: u16) -> Vec<u8> {
    image(machine, 0x2000, None)
}

/// A program for this machine.
#[must_use]
pub fn exe(machine: u16) -> Vec<u8> {
    image(machine, 0, None)
}

/// A DLL with CHPE metadata: ARM64X when the header says [`ARM64`], ARM64EC when it says [`AMD64`].
#[must_use]
pub fn hybrid_dll(machine: u16) -> Vec<u8> {
    image(machine, 0x2000, Some(0x1_8000_1100))
}

fn image(machine: u16, kind: u16, chpe: Option<u64>) -> Vec<u8> {
    let wide = machine != I386;
    let mut out = Out::default();
    // The DOS header: magic and the place of the real one.
    out.raw(b"MZ").zeros(58).u32(0x40);
    out.raw(b"PE\0\0");
    let optional = if wide { 112 } else { 96 } + 16 * 8;
    let characteristics = 0x0022 | kind;
    out.u16(machine)
        .u16(1)
        .u32(0)
        .u32(0)
        .u32(0)
        .u16(optional)
        .u16(characteristics);
    // The optional header. Code lies at RVA 0x1000, in the file at 0x200.
    out.u16(if wide { 0x20b } else { 0x10b }).raw(&[14, 0]);
    out.u32(0x200).u32(0).u32(0).u32(0x1000).u32(0x1000);
    if wide {
        out.u64(0x1_8000_0000);
    } else {
        out.u32(0).u32(0x1000_0000);
    }
    out.u32(0x1000)
        .u32(0x200)
        .u16(6)
        .u16(0)
        .u16(0)
        .u16(0)
        .u16(6)
        .u16(0);
    out.u32(0).u32(0x2000).u32(0x200).u32(0).u16(2).u16(0x0160);
    let bits = if wide { 64 } else { 32 };
    out.word(bits, 0x10_0000)
        .word(bits, 0x1000)
        .word(bits, 0x10_0000)
        .word(bits, 0x1000);
    out.u32(0).u32(16);
    for directory in 0..16 {
        // The load configuration; its size is the one of the structure up to CHPE.
        match (directory, chpe) {
            (10, Some(_)) => out.u32(0x1010).u32(0xd0),
            _ => out.u64(0),
        };
    }
    out.raw(b".text\0\0\0")
        .u32(0x200)
        .u32(0x1000)
        .u32(0x200)
        .u32(0x200);
    out.zeros(12).u32(0x6000_0020);
    out.pad_to(0x200);
    out.raw(&[0xc3; 16]);
    if let Some(pointer) = chpe {
        out.u32(0xd0).pad_to(0x210 + 0xc8).u64(pointer);
    }
    out.pad_to(0x400);
    out.bytes
}

/// A COFF object: one section with a relocation, one symbol with a long name.
#[must_use]
pub fn coff(machine: u16) -> Vec<u8> {
    let mut out = Out::default();
    out.u16(machine)
        .u16(1)
        .u32(0)
        .u32(20 + 40 + 8 + 10)
        .u32(1)
        .u16(0)
        .u16(0);
    object_body(&mut out, 20, false);
    out.bytes
}

/// The same as [`coff`] in the form that `/bigobj` makes.
#[must_use]
pub fn bigobj(machine: u16) -> Vec<u8> {
    const CLASS_ID: [u8; 16] = [
        0xc7, 0xa1, 0xba, 0xd1, 0xee, 0xba, 0xa9, 0x4b, 0xaf, 0x20, 0xfa, 0xf6, 0x6a, 0xa4, 0xdc,
        0xb8,
    ];
    let mut out = Out::default();
    out.u16(0)
        .u16(0xffff)
        .u16(2)
        .u16(machine)
        .u32(0)
        .raw(&CLASS_ID);
    out.u32(0)
        .u32(0)
        .u32(0)
        .u32(0)
        .u32(1)
        .u32(56 + 40 + 8 + 10)
        .u32(1);
    object_body(&mut out, 56, true);
    out.bytes
}

fn object_body(out: &mut Out, header: u32, wide: bool) {
    out.raw(b".text\0\0\0")
        .u32(0)
        .u32(0)
        .u32(8)
        .u32(header + 40);
    out.u32(header + 48).u32(0).u16(1).u16(0).u32(0x6050_0020);
    out.raw(&[0xc3; 8]);
    out.u32(0).u32(0).u16(1);
    out.u32(0).u32(4).u32(0);
    if wide {
        out.u32(1);
    } else {
        out.u16(1);
    }
    out.u16(0x20).raw(&[2, 0]);
    let name = b"a_symbol_with_a_long_name\0";
    out.u32(4 + name.len() as u32).raw(name);
}

/// A short import: `symbol` of `dll`, as import libraries hold one per symbol.
#[must_use]
pub fn import(machine: u16, symbol: &str, dll: &str) -> Vec<u8> {
    let mut out = Out::default();
    let size = symbol.len() + dll.len() + 2;
    out.u16(0)
        .u16(0xffff)
        .u16(0)
        .u16(machine)
        .u32(0)
        .u32(size as u32)
        .u16(0)
        .u16(1 << 2);
    out.raw(symbol.as_bytes())
        .raw(&[0])
        .raw(dll.as_bytes())
        .raw(&[0]);
    out.bytes
}

/// An archive of these members with a GNU symbol index: one symbol per member, named after it.
#[must_use]
pub fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let symbols: Vec<String> = members
        .iter()
        .map(|(name, _)| format!("in_{name}"))
        .collect();
    let symbols: Vec<&str> = symbols.iter().map(String::as_str).collect();
    archive_with_symbols(members, &symbols)
}

/// An archive whose index lists `symbols`, all of them in the first member or, when there are as
/// many symbols as members, each in its own.
#[must_use]
pub fn archive_with_symbols(members: &[(&str, &[u8])], symbols: &[&str]) -> Vec<u8> {
    let mut names = Vec::new();
    let headers: Vec<String> = members
        .iter()
        .map(|(name, _)| {
            if name.len() < 16 {
                return format!("{name}/");
            }
            let at = names.len();
            names.extend_from_slice(name.as_bytes());
            names.extend_from_slice(b"/\n");
            format!("/{at}")
        })
        .collect();
    let index_size = 4 + symbols.iter().map(|s| 4 + s.len() + 1).sum::<usize>();
    let mut at = 8 + 60 + index_size.next_multiple_of(2);
    if !names.is_empty() {
        at += 60 + names.len().next_multiple_of(2);
    }
    let places: Vec<usize> = members
        .iter()
        .map(|(_, bytes)| {
            let place = at;
            at += 60 + bytes.len().next_multiple_of(2);
            place
        })
        .collect();
    let mut index = Out {
        big: true,
        ..Out::default()
    };
    index.u32(symbols.len() as u32);
    for which in 0..symbols.len() {
        let member = if symbols.len() == members.len() {
            which
        } else {
            0
        };
        index.u32(places.get(member).copied().unwrap_or(0) as u32);
    }
    for symbol in symbols {
        index.raw(symbol.as_bytes()).raw(&[0]);
    }
    let mut out = b"!<arch>\n".to_vec();
    archive_member(&mut out, "/", &index.bytes);
    if !names.is_empty() {
        archive_member(&mut out, "//", &names);
    }
    for ((_, bytes), name) in members.iter().zip(&headers) {
        archive_member(&mut out, name, bytes);
    }
    out
}

fn archive_member(out: &mut Vec<u8>, name: &str, bytes: &[u8]) {
    let header = format!(
        "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
        0,
        0,
        0,
        644,
        bytes.len()
    );
    out.extend_from_slice(header.as_bytes());
    out.extend_from_slice(bytes);
    if bytes.len() % 2 == 1 {
        out.push(b'\n');
    }
}

/// An import library as linkers make them: a descriptor object of `native` machine and one short
/// import of `machine` for each symbol. With two different machines: an ARM64EC-only library.
#[must_use]
pub fn import_library(native: u16, machine: u16, symbols: &[&str]) -> Vec<u8> {
    let descriptor = coff(native);
    let imports: Vec<Vec<u8>> = symbols
        .iter()
        .map(|s| import(machine, s, "f.dll"))
        .collect();
    let mut members: Vec<(&str, &[u8])> = vec![("f.dll", &descriptor)];
    members.extend(imports.iter().map(|bytes| ("f.dll", bytes.as_slice())));
    let mut index = vec!["__IMPORT_DESCRIPTOR_f"];
    if native == machine {
        index.extend(symbols);
    }
    archive_with_symbols(&members, &index)
}

/// An ELF shared object: one section of data, the section headers at the end.
#[must_use]
pub fn elf(bits: u8, big: bool, machine: u16) -> Vec<u8> {
    let mut out = Out {
        big,
        ..Out::default()
    };
    let (header, section) = if bits == 64 { (64, 64) } else { (52, 40) };
    let names = b"\0.data\0.shstrtab\0";
    let data_at = header;
    let names_at = data_at + 16;
    let sections_at = names_at + names.len() + 7;
    out.raw(b"\x7fELF")
        .raw(&[bits / 32, 1 + u8::from(big), 1, 0])
        .zeros(8);
    out.u16(3)
        .u16(machine)
        .u32(1)
        .word(bits, 0)
        .word(bits, 0)
        .word(bits, sections_at as u64);
    out.u32(0)
        .u16(header as u16)
        .u16(0)
        .u16(0)
        .u16(section)
        .u16(3)
        .u16(2);
    out.raw(&[0x2a; 16]).raw(names).zeros(7);
    out.zeros(section.into());
    for (name, kind, at, size) in [(1, 1, data_at, 16), (7, 3, names_at, names.len())] {
        out.u32(name).u32(kind).word(bits, 0).word(bits, 0);
        out.word(bits, at as u64).word(bits, size as u64);
        out.u32(0).u32(0).word(bits, 1).word(bits, 0);
    }
    out.bytes
}

/// A bitcode module that holds this triple and nothing else; an empty triple leaves it out.
#[must_use]
pub fn bitcode(triple: &str, wrapped: bool) -> Vec<u8> {
    let mut module = BitsOut::default();
    // VERSION 2, unabbreviated; then the triple the way LLVM writes it: by an abbreviation of an
    // array of bytes.
    module.fixed(3, 3).vbr(6, 1).vbr(6, 1).vbr(6, 2);
    if !triple.is_empty() {
        module.fixed(3, 2).vbr(5, 3);
        module.fixed(1, 1).vbr(8, 2);
        module.fixed(1, 0).fixed(3, 3);
        module.fixed(1, 0).fixed(3, 1).vbr(5, 8);
        module.fixed(3, 4).vbr(6, triple.len() as u64);
        for byte in triple.bytes() {
            module.fixed(8, byte.into());
        }
    }
    module.fixed(3, 0).align();
    let mut file = BitsOut::default();
    file.fixed(32, 0xdec0_4342);
    // An identification block to skip, then the module block.
    file.fixed(2, 1)
        .vbr(8, 13)
        .vbr(4, 5)
        .align()
        .fixed(32, 1)
        .fixed(32, 0);
    file.fixed(2, 1)
        .vbr(8, 8)
        .vbr(4, 3)
        .align()
        .fixed(32, module.bits.len() as u64 / 32);
    file.bits.extend(&module.bits);
    let bytes = file.bytes();
    if !wrapped {
        return bytes;
    }
    let mut out = Out::default();
    out.u32(0x0b17_c0de)
        .u32(0)
        .u32(20)
        .u32(bytes.len() as u32)
        .u32(7)
        .raw(&bytes)
        .zeros(12);
    out.bytes
}

#[derive(Default)]
struct BitsOut {
    bits: Vec<bool>,
}

impl BitsOut {
    fn fixed(&mut self, width: u32, value: u64) -> &mut Self {
        self.bits
            .extend((0..width).map(|bit| value >> bit & 1 == 1));
        self
    }
    fn vbr(&mut self, width: u32, mut value: u64) -> &mut Self {
        let more = 1 << (width - 1);
        while value >= more {
            self.fixed(width, value & (more - 1) | more);
            value >>= width - 1;
        }
        self.fixed(width, value)
    }
    fn align(&mut self) -> &mut Self {
        self.bits
            .resize(self.bits.len().next_multiple_of(32), false);
        self
    }
    fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| {
            bits.iter()
                .rev()
                .fold(0, |byte, bit| byte << 1 | u8::from(*bit))
        };
        self.bits.chunks(8).map(byte).collect()
    }
}

/// A zip of these members, deflated.
///
/// # Errors
/// When the zip writer refuses a name.
pub fn zip(members: &[(&str, &[u8])]) -> std::io::Result<Vec<u8>> {
    use std::io::Write as _;
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default()
        .compression_method(zip::CompressionMethod::Deflated)
        .last_modified_time(zip::DateTime::default());
    for (name, bytes) in members {
        out.start_file(*name, options)?;
        out.write_all(bytes)?;
    }
    Ok(out.finish()?.into_inner())
}
