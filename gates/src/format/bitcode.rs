//! LLVM bitcode (link-time optimisation): which triple it is for.
//!
//! `object` does not know the format. This reads as much of the bitstream (LLVM's BitCodeFormat
//! document) as lies before the one record that matters here, MODULE_CODE_TRIPLE.

use object::read::ReadRef;

use super::{Class, Fault};
use crate::limit;

const MODULE_BLOCK: u64 = 8;
const TRIPLE: u64 = 2;
const CHUNK: u64 = 4096;

/// Reads the machine class of the module's triple: in the PE spelling for Windows, else in the
/// ELF spelling, `… (device)` for accelerators. `Ok(None)`: no triple, or one nobody knows here.
///
/// # Errors
/// A [`Fault`] when the stream is cut or damaged before the triple.
pub fn read<'d, R: ReadRef<'d>>(data: R) -> Result<Option<Class>, Fault> {
    Ok(triple(data)?.as_deref().and_then(class))
}

/// Reads the module's triple, `aarch64-pc-windows-msvc`.
///
/// # Errors
/// A [`Fault`] when the stream is cut or damaged before the triple.
pub fn triple<'d, R: ReadRef<'d>>(data: R) -> Result<Option<String>, Fault> {
    let len = data.len().unwrap_or(0);
    let head = data
        .read_bytes_at(0, 4)
        .map_err(|()| Fault::Damaged("the bitcode header is cut".to_owned()))?;
    let (start, end) = if head == [0xde, 0xc0, 0x17, 0x0b] {
        // The wrapper: magic, version, offset, size, CPU type.
        let word = |at| {
            data.read_at::<object::U32<object::LittleEndian>>(at)
                .map(|word| u64::from(word.get(object::LittleEndian)))
                .map_err(|()| Fault::Damaged("the bitcode wrapper is cut".to_owned()))
        };
        let (offset, size) = (word(8)?, word(12)?);
        Fault::require("the wrapped bitcode", offset + size, len)?;
        (offset, offset + size)
    } else {
        (0, len)
    };
    let mut bits = Bits {
        data,
        at: (start + 4) * 8,
        end: end * 8,
        origin: start,
        chunk: (u64::MAX, &[]),
        steps: 0,
    };
    bits.top()
}

/// The class that goes with a triple.
fn class(triple: &str) -> Option<Class> {
    let (cpu, rest) = triple.split_once('-')?;
    let windows = rest.contains("windows");
    let class = match (cpu, windows) {
        ("x86_64" | "amd64", true) => "AMD64",
        ("x86_64" | "amd64", false) => "ELF64 X86-64",
        ("arm64ec", _) => "ARM64EC",
        ("aarch64" | "arm64", true) => "ARM64",
        ("aarch64" | "arm64", false) => "ELF64 AArch64",
        ("i386" | "i486" | "i586" | "i686", true) => "I386",
        ("i386" | "i486" | "i586" | "i686", false) => "ELF32 Intel 80386",
        ("riscv64", false) => "ELF64 RISC-V",
        _ if ["amdgcn", "nvptx", "spir", "bpf", "hexagon"]
            .iter()
            .any(|d| cpu.starts_with(d)) =>
        {
            return Some(format!("{cpu} (device)").into());
        }
        _ => return None,
    };
    Some(class.into())
}

#[derive(Clone, Copy)]
enum Operand {
    Literal(u64),
    Fixed(u64),
    Vbr(u64),
    Array,
    Char6,
    Blob,
}

struct Bits<'d, R: ReadRef<'d>> {
    data: R,
    /// Positions in bits from the start of the file; `origin` is where the magic stands, in bytes.
    at: u64,
    end: u64,
    origin: u64,
    chunk: (u64, &'d [u8]),
    steps: usize,
}

impl<'d, R: ReadRef<'d>> Bits<'d, R> {
    /// Skips blocks up to the module block and looks into that.
    fn top(&mut self) -> Result<Option<String>, Fault> {
        while self.at + 64 <= self.end {
            self.step()?;
            if self.fixed(2)? != 1 {
                return Err(damaged("something else than a block at the top"));
            }
            let (block, width, end) = self.enter()?;
            if block == MODULE_BLOCK {
                return self.module(width, end);
            }
            self.at = end;
        }
        Ok(None)
    }

    /// Reads the records of the module block; blocks inside it are skipped.
    fn module(&mut self, width: u64, end: u64) -> Result<Option<String>, Fault> {
        let mut abbreviations: Vec<Vec<Operand>> = Vec::new();
        while self.at < end {
            self.step()?;
            let record = match self.fixed(width)? {
                0 => break,
                1 => {
                    let (_, _, end) = self.enter()?;
                    self.at = end;
                    continue;
                }
                2 => {
                    let abbreviation = self.abbreviation()?;
                    abbreviations.push(abbreviation);
                    continue;
                }
                3 => self.unabbreviated()?,
                id => {
                    let index = usize::try_from(id - 4).unwrap_or(usize::MAX);
                    let Some(abbreviation) = abbreviations.get(index).cloned() else {
                        return Err(damaged("an abbreviation that nobody defined"));
                    };
                    self.abbreviated(&abbreviation)?
                }
            };
            if let [TRIPLE, text @ ..] = record.as_slice() {
                let bytes = text
                    .iter()
                    .map(|c| u8::try_from(*c).unwrap_or(b'?'))
                    .collect();
                return Ok(String::from_utf8(bytes).ok());
            }
        }
        Ok(None)
    }

    fn enter(&mut self) -> Result<(u64, u64, u64), Fault> {
        let block = self.vbr(8)?;
        let width = self.vbr(4)?;
        self.align()?;
        let words = self.fixed(32)?;
        let end = self.at + words * 32;
        if !(2..=32).contains(&width) {
            return Err(damaged("an abbreviation width out of range"));
        }
        Fault::require("a bitcode block", end / 8, self.end / 8)?;
        Ok((block, width, end))
    }

    fn abbreviation(&mut self) -> Result<Vec<Operand>, Fault> {
        let count = self.vbr(5)?;
        let mut operands = Vec::new();
        for _ in 0..count {
            self.step()?;
            operands.push(if self.fixed(1)? == 1 {
                Operand::Literal(self.vbr(8)?)
            } else {
                match self.fixed(3)? {
                    1 => Operand::Fixed(self.width()?),
                    2 => Operand::Vbr(self.width()?),
                    3 => Operand::Array,
                    4 => Operand::Char6,
                    5 => Operand::Blob,
                    _ => return Err(damaged("an unknown encoding")),
                }
            });
        }
        Ok(operands)
    }

    fn width(&mut self) -> Result<u64, Fault> {
        let width = self.vbr(5)?;
        if width > 64 {
            return Err(damaged("a field of more than 64 bits"));
        }
        Ok(width)
    }

    fn unabbreviated(&mut self) -> Result<Vec<u64>, Fault> {
        let mut record = vec![self.vbr(6)?];
        let count = self.vbr(6)?;
        for _ in 0..count {
            self.step()?;
            record.push(self.vbr(6)?);
        }
        Ok(record)
    }

    fn abbreviated(&mut self, abbreviation: &[Operand]) -> Result<Vec<u64>, Fault> {
        let mut record = Vec::new();
        let mut operands = abbreviation.iter();
        while let Some(operand) = operands.next() {
            match operand {
                Operand::Array => {
                    let count = self.vbr(6)?;
                    let Some(element) = operands.next() else {
                        return Err(damaged("an array of nothing"));
                    };
                    for _ in 0..count {
                        self.step()?;
                        record.push(self.scalar(*element)?);
                    }
                }
                Operand::Blob => {
                    let size = self.vbr(6)?;
                    self.align()?;
                    Fault::require("a blob", (self.at / 8).saturating_add(size), self.end / 8)?;
                    self.at += size.next_multiple_of(4) * 8;
                }
                operand => record.push(self.scalar(*operand)?),
            }
        }
        Ok(record)
    }

    fn scalar(&mut self, operand: Operand) -> Result<u64, Fault> {
        const CHAR6: &[u8; 64] =
            b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
        match operand {
            Operand::Literal(value) => Ok(value),
            Operand::Fixed(width) => self.fixed(width),
            Operand::Vbr(width) => self.vbr(width),
            Operand::Char6 => {
                let index = usize::try_from(self.fixed(6)?).unwrap_or(0);
                Ok(u64::from(CHAR6[index & 63]))
            }
            Operand::Array | Operand::Blob => Err(damaged("an array of arrays")),
        }
    }

    /// A number of `width` bits, at most 64.
    fn fixed(&mut self, width: u64) -> Result<u64, Fault> {
        if self.at + width > self.end {
            return Err(damaged("the stream ends in a record"));
        }
        let mut value = 0;
        let mut got = 0;
        while got < width {
            let byte = u64::from(self.byte(self.at / 8)?);
            let skip = self.at % 8;
            let take = (8 - skip).min(width - got);
            value |= (byte >> skip & ((1 << take) - 1)) << got;
            got += take;
            self.at += take;
        }
        Ok(value)
    }

    /// A number in groups of `width` bits, the top one of each saying that more follow.
    fn vbr(&mut self, width: u64) -> Result<u64, Fault> {
        if !(2..=32).contains(&width) {
            return Err(damaged("a variable-width field out of range"));
        }
        let (mut value, mut shift) = (0_u64, 0);
        loop {
            let group = self.fixed(width)?;
            let more = 1 << (width - 1);
            if shift > 63 {
                return Err(damaged("a number of more than 64 bits"));
            }
            value |= (group & (more - 1)) << shift;
            if group & more == 0 {
                return Ok(value);
            }
            shift += width - 1;
        }
    }

    fn align(&mut self) -> Result<(), Fault> {
        let origin = self.origin * 8;
        let at = origin + (self.at - origin).next_multiple_of(32);
        if at > self.end {
            return Err(damaged("the stream ends in a block header"));
        }
        self.at = at;
        Ok(())
    }

    fn byte(&mut self, at: u64) -> Result<u8, Fault> {
        let start = at / CHUNK * CHUNK;
        if self.chunk.0 != start {
            let len = self.data.len().unwrap_or(0);
            let bytes = self
                .data
                .read_bytes_at(start, CHUNK.min(len.saturating_sub(start)))
                .map_err(|()| damaged("the stream ends in a record"))?;
            self.chunk = (start, bytes);
        }
        usize::try_from(at - start)
            .ok()
            .and_then(|index| self.chunk.1.get(index).copied())
            .ok_or_else(|| damaged("the stream ends in a record"))
    }

    fn step(&mut self) -> Result<(), Fault> {
        self.steps += 1;
        if self.steps > limit::BITCODE_STEPS {
            let text = format!(
                "BITCODE_STEPS: no triple in {} records",
                limit::BITCODE_STEPS
            );
            return Err(Fault::Limit(text));
        }
        Ok(())
    }
}

fn damaged(what: &str) -> Fault {
    Fault::Damaged(format!("not LLVM bitcode: {what}"))
}

#[cfg(all(test, feature = "fixtures"))]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn the_triple_is_read_with_and_without_the_wrapper() {
        for wrapped in [false, true] {
            let bytes = fixture::bitcode("aarch64-pc-windows-msvc19.44.0", wrapped);
            let triple = triple(bytes.as_slice()).unwrap().unwrap();
            assert_eq!(triple, "aarch64-pc-windows-msvc19.44.0");
            assert_eq!(read(bytes.as_slice()).unwrap().unwrap(), "ARM64");
        }
    }

    #[test]
    fn triples_map_to_the_class_of_what_they_link_into() {
        for (triple, expected) in [
            ("x86_64-pc-windows-msvc", Some("AMD64")),
            ("arm64ec-pc-windows-msvc", Some("ARM64EC")),
            ("x86_64-unknown-linux-gnu", Some("ELF64 X86-64")),
            ("riscv64-unknown-linux-gnu", Some("ELF64 RISC-V")),
            ("amdgcn-amd-amdhsa", Some("amdgcn (device)")),
            ("z80-unknown-cpm", None),
            ("", None),
        ] {
            assert_eq!(class(triple).as_deref(), expected, "{triple}");
        }
    }

    #[test]
    fn a_module_without_a_triple_is_unknown_and_a_cut_one_is_a_fault_or_unknown() {
        let none = fixture::bitcode("", false);
        assert_eq!(read(none.as_slice()).unwrap(), None);
        let whole = fixture::bitcode("x86_64-pc-windows-msvc", false);
        for end in 0..whole.len() {
            assert!(!matches!(read(&whole[..end]), Ok(Some(_))), "cut at {end}");
        }
    }
}
