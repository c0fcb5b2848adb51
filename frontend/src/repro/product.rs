//! A product as a tar file: what it holds, and where the bytes of its files lie.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

/// A tar that stays on disk.
pub(super) struct Product {
    file: RefCell<File>,
    /// By path, without a `/` at either end.
    pub(super) entries: BTreeMap<String, Entry>,
}

/// What one path of it is.
pub(super) struct Entry {
    /// `file`, `directory`, `link`, `hard link` or `device`.
    pub(super) kind: &'static str,
    pub(super) mode: u32,
    /// `USER:GROUP`, as numbers.
    pub(super) owner: String,
    /// Seconds since 1970.
    pub(super) time: u64,
    /// What it links to; empty for no link.
    pub(super) link: String,
    pub(super) size: u64,
    /// Where its bytes begin in the tar.
    at: u64,
}

impl Product {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut archive = tar::Archive::new(BufReader::new(File::open(path)?));
        let mut entries = BTreeMap::new();
        for entry in archive.entries()? {
            let entry = entry?;
            let header = entry.header();
            let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            let link = entry.link_name_bytes().unwrap_or_default();
            let found = Entry {
                kind: kind(header.entry_type()),
                mode: header.mode()?,
                owner: format!("{}:{}", header.uid()?, header.gid()?),
                time: header.mtime()?,
                link: String::from_utf8_lossy(&link).into_owned(),
                size: entry.size(),
                at: entry.raw_file_position(),
            };
            let path = path.trim_start_matches("./").trim_matches('/');
            if !path.is_empty() && path != "." {
                entries.insert(path.to_owned(), found);
            }
        }
        let file = RefCell::new(File::open(path)?);
        Ok(Self { file, entries })
    }

    /// The bytes of a file.
    pub(super) fn read(&self, entry: &Entry) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(entry.size).map_err(io::Error::other)?];
        self.read_at(entry, 0, &mut bytes)?;
        Ok(bytes)
    }

    fn read_at(&self, entry: &Entry, from: u64, buffer: &mut [u8]) -> io::Result<()> {
        let mut file = self.file.borrow_mut();
        file.seek(SeekFrom::Start(entry.at + from))?;
        file.read_exact(buffer)
    }
}

fn kind(entry: tar::EntryType) -> &'static str {
    match entry {
        tar::EntryType::Directory => "directory",
        tar::EntryType::Symlink => "link",
        tar::EntryType::Link => "hard link",
        tar::EntryType::Regular | tar::EntryType::Continuous | tar::EntryType::GNUSparse => "file",
        _ => "device",
    }
}

/// How many bytes are compared at a time.
const CHUNK: u64 = 1 << 20;

/// Where two files begin to differ; nothing when they do not.
pub(super) fn first_difference(
    (first, one): (&Product, &Entry),
    (second, other): (&Product, &Entry),
) -> io::Result<Option<u64>> {
    let common = one.size.min(other.size);
    let mut at = 0;
    while at < common {
        let length = CHUNK.min(common - at) as usize;
        let (mut old, mut new) = (vec![0; length], vec![0; length]);
        first.read_at(one, at, &mut old)?;
        second.read_at(other, at, &mut new)?;
        if let Some(found) = old.iter().zip(&new).position(|(a, b)| a != b) {
            return Ok(Some(at + found as u64));
        }
        at += length as u64;
    }
    Ok((one.size != other.size).then_some(common))
}
