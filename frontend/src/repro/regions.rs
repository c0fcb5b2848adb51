//! The parts of a binary file, as far as its format says: headers with clocks, sections, members.
//!
//! The places of fields are those of Microsoft's PE format, System V's archive and PKWARE's APPNOTE.

use std::io::Cursor;
use std::ops::Range;

use jiff::Timestamp;
use object::read::archive::ArchiveFile;
use object::read::pe::{ImageNtHeaders, PeFile32, PeFile64};
use object::{LittleEndian as LE, Object as _, ObjectSection as _, ReadRef as _};

/// What a file consists of. An offset belongs to the smallest part that has it.
#[derive(Debug, Default)]
pub(super) struct Regions {
    list: Vec<Region>,
    members: Vec<String>,
}

/// One part.
#[derive(Debug, Clone)]
pub(super) struct Region {
    pub(super) range: Range<u64>,
    pub(super) name: String,
    pub(super) says: Says,
}

/// What the bytes of a part say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// Nothing that can be shown.
    Bytes,
    /// Seconds since 1970, in four bytes.
    Time,
    /// A number in four bytes.
    Number,
    /// A text of digits.
    Text,
}

impl Says {
    /// What it says, for people.
    pub(super) fn read(self, bytes: &[u8]) -> Option<String> {
        let number = || Some(u32::from_le_bytes(bytes.try_into().ok()?));
        match self {
            Self::Bytes => None,
            Self::Number => Some(format!("{:#x}", number()?)),
            Self::Time => {
                let seconds = number()?;
                let time = Timestamp::from_second(seconds.into()).ok()?;
                Some(format!("{time}"))
            }
            Self::Text => Some(String::from_utf8_lossy(bytes).trim().to_owned()),
        }
    }
}

const ARCHIVE: &[u8] = b"!<arch>\n";
const ZIP: &[u8] = b"PK";
const GZIP: &[u8] = &[0x1f, 0x8b];
const MZ: &[u8] = b"MZ";

impl Regions {
    /// The parts of a file.
    pub(super) fn of(data: &[u8]) -> Self {
        let mut regions = Self::default();
        regions.add(data, 0, "");
        regions
            .list
            .sort_by_key(|region| region.range.end - region.range.start);
        regions
    }

    /// The smallest part that has an offset.
    pub(super) fn at(&self, offset: u64) -> Option<&Region> {
        self.list
            .iter()
            .find(|region| region.range.contains(&offset))
    }

    /// All parts by name, in the order of the file.
    pub(super) fn named(&self) -> impl Iterator<Item = (&str, &Range<u64>)> {
        let mut list: Vec<&Region> = self.list.iter().collect();
        list.sort_by_key(|region| region.range.start);
        list.into_iter()
            .map(|region| (region.name.as_str(), &region.range))
    }

    /// The names of an archive's members, in their order.
    pub(super) fn members(&self) -> &[String] {
        &self.members
    }

    fn push(&mut self, start: u64, length: u64, name: String, says: Says) {
        let range = start..start.saturating_add(length);
        self.list.push(Region { range, name, says });
    }

    /// What does not keep to its format has no parts.
    fn add(&mut self, data: &[u8], at: u64, prefix: &str) {
        if data.starts_with(ARCHIVE) && prefix.is_empty() {
            let _ = self.archive(data);
        } else if data.starts_with(ZIP) && prefix.is_empty() {
            let _ = self.zip(data);
        } else if data.starts_with(GZIP) {
            self.push(at + 4, 4, format!("{prefix}gzip time"), Says::Time);
        } else {
            let _ = self.object(data, at, prefix);
        }
    }

    fn archive(&mut self, data: &[u8]) -> object::read::Result<()> {
        // A header: name 16, date 12, user 6, group 6, mode 8, size 10, end 2.
        const HEADER: u64 = 60;
        for member in ArchiveFile::parse(data)?.members() {
            let member = member?;
            let name = String::from_utf8_lossy(member.name()).into_owned();
            let (start, size) = member.file_range();
            let header = start.saturating_sub(HEADER);
            for (at, length, what) in [(16, 12, "date"), (28, 12, "owner"), (40, 8, "mode")] {
                self.push(header + at, length, format!("{name}: {what}"), Says::Text);
            }
            self.push(start, size, name.clone(), Says::Bytes);
            if let Ok(inner) = data.read_bytes_at(start, size) {
                self.add(inner, start, &format!("{name}: "));
            }
            self.members.push(name);
        }
        Ok(())
    }

    fn zip(&mut self, data: &[u8]) -> zip::result::ZipResult<()> {
        let mut zip = zip::ZipArchive::new(Cursor::new(data))?;
        let mut starts = Vec::new();
        for number in 0..zip.len() {
            let file = zip.by_index_raw(number)?;
            let name = file.name()?.into_owned();
            // A local header has the time at 10, a central one at 12: two bytes each for time and date.
            self.push(
                file.header_start() + 10,
                4,
                format!("{name}: time"),
                Says::Bytes,
            );
            let central = file.central_header_start();
            self.push(
                central + 12,
                4,
                format!("{name}: time in the directory"),
                Says::Bytes,
            );
            self.push(
                central + 38,
                4,
                format!("{name}: mode in the directory"),
                Says::Number,
            );
            if let Some(start) = file.data_start() {
                self.push(start, file.compressed_size(), name.clone(), Says::Bytes);
            }
            starts.push((file.header_start(), name));
        }
        // The order is that of the bytes.
        starts.sort();
        self.members = starts.into_iter().map(|(_, name)| name).collect();
        Ok(())
    }

    fn object(&mut self, data: &[u8], at: u64, prefix: &str) -> object::read::Result<()> {
        if data.starts_with(MZ) {
            match object::FileKind::parse(data)? {
                object::FileKind::Pe32 => self.pe(&PeFile32::parse(data)?, at, prefix),
                _ => self.pe(&PeFile64::parse(data)?, at, prefix),
            }
        }
        let kind = object::FileKind::parse(data)?;
        match kind {
            object::FileKind::Coff => {
                self.push(at + 4, 4, format!("{prefix}COFF time stamp"), Says::Time);
            }
            object::FileKind::CoffImport => {
                self.push(
                    at + 8,
                    4,
                    format!("{prefix}import object time stamp"),
                    Says::Time,
                );
                return Ok(());
            }
            _ => {}
        }
        for section in object::File::parse(data)?.sections() {
            let name = section.name().unwrap_or_default();
            if let Some((start, size)) = section.file_range() {
                self.push(at + start, size, format!("{prefix}{name}"), Says::Bytes);
            }
        }
        Ok(())
    }

    fn pe<P: ImageNtHeaders>(
        &mut self,
        file: &object::read::pe::PeFile<'_, P>,
        at: u64,
        prefix: &str,
    ) {
        let nt = u64::from(file.dos_header().nt_headers_offset());
        // Behind the signature the file header has the time at 4; the optional header begins at 20 and has the sum at 64.
        self.push(at + nt + 8, 4, format!("{prefix}PE time stamp"), Says::Time);
        self.push(
            at + nt + 24 + 64,
            4,
            format!("{prefix}PE checksum"),
            Says::Number,
        );
        let directories = [
            (
                object::pe::IMAGE_DIRECTORY_ENTRY_EXPORT,
                40,
                "export time stamp",
            ),
            (
                object::pe::IMAGE_DIRECTORY_ENTRY_RESOURCE,
                16,
                "resource time stamp",
            ),
            (
                object::pe::IMAGE_DIRECTORY_ENTRY_DEBUG,
                28,
                "debug time stamp",
            ),
        ];
        for (index, length, name) in directories {
            let Some(directory) = file.data_directories().get(index) else {
                continue;
            };
            let Some((start, _)) = file
                .section_table()
                .pe_file_range_at(directory.virtual_address.get(LE))
            else {
                continue;
            };
            // A debug directory has several entries; the others are one.
            let count = match index {
                object::pe::IMAGE_DIRECTORY_ENTRY_DEBUG => {
                    u64::from(directory.size.get(LE)) / length
                }
                _ => 1,
            };
            for number in 0..count.min(16) {
                let place = at + u64::from(start) + number * length + 4;
                self.push(place, 4, format!("{prefix}{name}"), Says::Time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn named(data: &[u8], offset: u64) -> String {
        Regions::of(data)
            .at(offset)
            .map_or_else(String::new, |region| region.name.clone())
    }

    #[test]
    fn members_of_an_archive_and_their_dates_are_named() {
        let header =
            |name: &str| format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", 1, 0, 0, 644, 4);
        let text = format!("!<arch>\n{}aaaa{}bbbb", header("a.o/"), header("b.o/"));
        let regions = Regions::of(text.as_bytes());
        assert_eq!(regions.members(), ["a.o", "b.o"]);
        assert_eq!(named(text.as_bytes(), 8 + 16), "a.o: date");
        assert_eq!(named(text.as_bytes(), 8 + 60), "a.o");
        assert_eq!(named(text.as_bytes(), 8 + 64 + 60), "b.o");
    }

    #[test]
    fn what_is_no_such_format_has_no_parts() {
        for data in [
            &b"!<arch>\nxx"[..],
            b"PK\x03\x04",
            b"MZ",
            b"\x7fELF",
            b"",
            b"\x1f\x8b",
        ] {
            let regions = Regions::of(data);
            assert!(regions.at(0).is_none(), "{data:?}: {regions:?}");
        }
    }

    #[test]
    fn the_sections_of_this_very_program_are_named() {
        let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let regions = Regions::of(&program);
        let names: Vec<&str> = regions.named().map(|(name, _)| name).collect();
        assert!(
            names.contains(&".text") && names.contains(&".rodata"),
            "{names:?}"
        );
    }

    #[test]
    fn a_pe_has_its_clocks_named() {
        let mut pe = vec![0; 0x400];
        pe[..2].copy_from_slice(b"MZ");
        pe[0x3c] = 0x80;
        pe[0x80..0x84].copy_from_slice(b"PE\0\0");
        pe[0x84..0x86].copy_from_slice(&0xaa64_u16.to_le_bytes());
        pe[0x94..0x96].copy_from_slice(&(112_u16 + 128).to_le_bytes());
        pe[0x98..0x9a].copy_from_slice(&0x20b_u16.to_le_bytes());
        pe[0x98 + 108] = 16;
        assert_eq!(named(&pe, 0x88), "PE time stamp");
        assert_eq!(named(&pe, 0x80 + 24 + 64), "PE checksum");
        assert_eq!(
            Says::Time.read(&1_764_684_000_u32.to_le_bytes()).unwrap(),
            "2025-12-02T14:00:00Z"
        );
    }
}
