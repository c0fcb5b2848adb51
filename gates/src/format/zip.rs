//! Zips: wheels, jars, packages. Members are inflated one at a time, and only when they matter.

use std::io::{BufReader, Read};

use zip::ZipArchive;
use zip::result::ZipError;

use super::Fault;
use crate::format::magic::HEAD;
use crate::input::Watched;
use crate::limit;

/// An open zip.
pub struct Zip<'a>(ZipArchive<BufReader<Watched<'a>>>);

/// One member of a zip.
pub enum Member {
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// Of no interest; not inflated.
    Plain,
    /// Its name and its content, checked against its checksum.
    Bytes(Vec<u8>, Vec<u8>),
    /// Its name and why it cannot be believed.
    Fault(Vec<u8>, Fault),
    /// This many bytes could not be had: not the zip's fault.
    NoMemory(u64),
}

impl<'a> Zip<'a> {
    /// Reads the list of members.
    ///
    /// # Errors
    /// A [`Fault`] when there is no whole list, or too long a one.
    pub fn open(input: Watched<'a>) -> Result<Self, Fault> {
        let zip = ZipArchive::new(BufReader::new(input)).map_err(|e| fault(&e))?;
        if zip.len() > limit::ZIP_MEMBERS {
            return Err(Fault::Limit(format!("ZIP_MEMBERS: {} members", zip.len())));
        }
        Ok(Self(zip))
    }

    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks that the list of members and what stands before each of them say the same: no name
    /// twice, no bytes shared, nothing unlisted. Readers differ in which of the two they believe.
    ///
    /// # Errors
    /// A [`Fault`] that says where they differ.
    pub fn consistent(&mut self) -> Result<(), Fault> {
        self.0.validate_header_consistency().map_err(|e| fault(&e))
    }

    /// Reads one member. `wanted` sees its first bytes, its size and its name, and decides whether
    /// the rest is inflated; `budget` is what may still be inflated in this zip.
    pub fn member(
        &mut self,
        index: usize,
        budget: &mut u64,
        wanted: impl Fn(&[u8], u64, &[u8]) -> bool,
    ) -> Member {
        let name = match self.0.by_index_raw(index) {
            Ok(file) => file.name_raw().to_vec(),
            Err(error) => return Member::Fault(Vec::new(), fault(&error)),
        };
        let mut file = match self.0.by_index(index) {
            Ok(file) => file,
            Err(error) => return Member::Fault(name, fault(&error)),
        };
        if file.is_dir() {
            return Member::Directory;
        }
        if file.is_symlink() {
            return Member::Link;
        }
        let (size, packed) = (file.size(), file.compressed_size());
        let mut bytes = Vec::new();
        if let Err(error) = file.by_ref().take(HEAD).read_to_end(&mut bytes) {
            return Member::Fault(name, Fault::Damaged(error.to_string()));
        }
        if !wanted(&bytes, size, &name) {
            return Member::Plain;
        }
        if let Some(why) = over(size, packed, *budget) {
            return Member::Fault(name, Fault::Limit(why));
        }
        let room = usize::try_from(size.saturating_sub(bytes.len() as u64)).unwrap_or(usize::MAX);
        if bytes.try_reserve_exact(room).is_err() {
            return Member::NoMemory(size);
        }
        // One byte more than announced is enough to see a lie.
        let rest = (size + 1).saturating_sub(bytes.len() as u64);
        match file.take(rest).read_to_end(&mut bytes) {
            Err(error) => Member::Fault(name, Fault::Damaged(error.to_string())),
            Ok(_) if bytes.len() as u64 != size => Member::Fault(
                name,
                Fault::Damaged(format!("announced as {size} bytes, it holds others")),
            ),
            Ok(_) => {
                *budget = budget.saturating_sub(size);
                Member::Bytes(name, bytes)
            }
        }
    }
}

/// Which bound a member of this size overruns.
fn over(size: u64, packed: u64, budget: u64) -> Option<String> {
    if size > limit::ZIP_MEMBER_BYTES {
        Some(format!("ZIP_MEMBER_BYTES: {size} bytes"))
    } else if size > limit::ZIP_RATIO_FROM && size / packed.max(1) > limit::ZIP_RATIO {
        Some(format!("ZIP_RATIO: {size} bytes from {packed}"))
    } else if size > budget {
        Some(format!(
            "ZIP_TOTAL_BYTES: more than {} bytes",
            limit::ZIP_TOTAL_BYTES
        ))
    } else {
        None
    }
}

fn fault(error: &ZipError) -> Fault {
    Fault::Damaged(error.to_string())
}
