//! Where an image keeps its signatures, and what they are about: all bytes but the checksum, the
//! place of the signatures, and the signatures (Windows Authenticode Portable Executable
//! Signature Format).

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use object::LittleEndian as LE;
use object::pe;
use object::read::ReadRef;
use object::read::pe::{ImageNtHeaders, optional_header_magic};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

use super::algorithm::Hash;
use crate::format::Fault;
use crate::limit;

/// The places in an image that signatures leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// The checksum in the header.
    checksum: Range<u64>,
    /// The directory entry that says where the signatures are.
    entry: Range<u64>,
    /// The signatures; they are the last thing in the file.
    table: Range<u64>,
}

/// Where signatures are, and the DER of each.
pub type Found = (Layout, Vec<Vec<u8>>);

/// Finds the signatures of an image: its layout and each signature's DER. None when it is not
/// signed.
///
/// # Errors
/// A [`Fault`] when the image is damaged, or has bytes that no signature is about.
pub fn read<'d, R: ReadRef<'d>>(data: R) -> Result<Option<Found>, Fault> {
    crate::format::pe::read(data)?;
    match optional_header_magic(data).map_err(|e| Fault::Damaged(e.to_string()))? {
        pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC => image::<pe::ImageNtHeaders32, R>(data),
        _ => image::<pe::ImageNtHeaders64, R>(data),
    }
}

fn image<'d, Pe: ImageNtHeaders, R: ReadRef<'d>>(data: R) -> Result<Option<Found>, Fault> {
    /// From the signature `PE` on: the file header, and in the optional header the checksum.
    const CHECKSUM: u64 = 4 + 20 + 64;
    let damaged = |why: &str| Fault::Damaged(why.to_owned());
    let parse = |e: object::read::Error| Fault::Damaged(e.to_string());
    let len = data.len().unwrap_or(0);
    let dos = pe::ImageDosHeader::parse(data).map_err(parse)?;
    let start = u64::from(dos.nt_headers_offset());
    let mut offset = start;
    let (nt, directories) = Pe::parse(data, &mut offset).map_err(parse)?;
    let Some(directory) = directories.get(pe::IMAGE_DIRECTORY_ENTRY_SECURITY) else {
        return Ok(None);
    };
    let at = u64::from(directory.virtual_address.get(LE));
    let size = u64::from(directory.size.get(LE));
    if at == 0 && size == 0 {
        return Ok(None);
    }
    if size > limit::SIGNATURE_BYTES {
        return Err(Fault::Limit(format!(
            "SIGNATURE_BYTES: signatures of {size} bytes"
        )));
    }
    let first = if nt.is_type_64() { 112 } else { 96 };
    let entry = start + 24 + first + 8 * pe::IMAGE_DIRECTORY_ENTRY_SECURITY as u64;
    let layout = Layout {
        checksum: start + CHECKSUM..start + CHECKSUM + 4,
        entry: entry..entry + 8,
        table: at..at + size,
    };
    if layout.table.end != len {
        return Err(Fault::Damaged(format!(
            "the signatures end at byte {}, the file at {len}: no signature is about what is between",
            layout.table.end
        )));
    }
    if at < layout.entry.end {
        return Err(damaged("the signatures lie in the headers"));
    }
    let table = data
        .read_bytes_at(at, size)
        .map_err(|()| damaged("the signatures lie behind the file's end"))?;
    Ok(Some((layout, entries(table)?)))
}

/// The entries of the table: a length, two numbers, DER, and zeros up to a multiple of 8.
fn entries(mut table: &[u8]) -> Result<Vec<Vec<u8>>, Fault> {
    const MOST: usize = 16;
    const PKCS: u16 = 2;
    let mut all = Vec::new();
    while !table.is_empty() {
        let cut = || Fault::Damaged("the table of signatures is cut".to_owned());
        let (head, _) = table.split_first_chunk::<8>().ok_or_else(cut)?;
        let [a, b, c, d, _, _, kind @ ..] = *head;
        let size = u32::from_le_bytes([a, b, c, d]) as usize;
        let body = table.get(8..size).ok_or_else(cut)?;
        if u16::from_le_bytes(kind) != PKCS {
            return Err(Fault::Damaged("a signature that is no PKCS #7".to_owned()));
        }
        let used = size_of(body)
            .filter(|used| *used <= body.len())
            .ok_or_else(cut)?;
        let padding = &body[used..];
        if padding.len() > 7 || padding.iter().any(|b| *b != 0) {
            return Err(Fault::Damaged(format!(
                "{} bytes behind a signature's end, which no signature is about",
                padding.len()
            )));
        }
        if all.len() == MOST {
            return Err(Fault::Limit(format!(
                "SIGNATURE_BYTES: more than {MOST} signatures"
            )));
        }
        all.push(body[..used].to_vec());
        let next = size.next_multiple_of(8).min(table.len());
        if table[size..next].iter().any(|b| *b != 0) {
            return Err(Fault::Damaged("bytes between two signatures".to_owned()));
        }
        table = &table[next..];
    }
    Ok(all)
}

/// How long the DER is that begins here, by its own length.
fn size_of(bytes: &[u8]) -> Option<usize> {
    let (_, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    if *first < 0x80 {
        return Some(2 + usize::from(*first));
    }
    let count = usize::from(first & 0x7f);
    if !(1..=4).contains(&count) {
        return None;
    }
    let length = rest
        .get(..count)?
        .iter()
        .fold(0, |sum, b| sum << 8 | usize::from(*b));
    length.checked_add(2 + count)
}

impl Layout {
    /// The digest of what signatures are about, by each of these hashes.
    ///
    /// # Errors
    /// An I/O error.
    pub fn digests(
        &self,
        image: &mut (impl Read + Seek + ?Sized),
        hashes: &[Hash],
    ) -> io::Result<Vec<Vec<u8>>> {
        let mut states: Vec<State> = hashes.iter().map(|hash| State::new(*hash)).collect();
        let ends = [self.checksum.start, self.entry.start, self.table.start];
        let starts = [0, self.checksum.end, self.entry.end];
        let mut piece = vec![0; 256 << 10];
        for (start, end) in starts.into_iter().zip(ends) {
            image.seek(SeekFrom::Start(start))?;
            let mut part = (&mut *image).take(end.saturating_sub(start));
            loop {
                match part.read(&mut piece) {
                    Ok(0) => break,
                    Ok(count) => states.iter_mut().for_each(|s| s.update(&piece[..count])),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(states.into_iter().map(State::end).collect())
    }
}

/// A hash on its way.
enum State {
    Sha256(Sha256),
    Sha384(Sha384),
    Sha512(Sha512),
}

impl State {
    fn new(hash: Hash) -> Self {
        match hash {
            Hash::Sha256 => Self::Sha256(Sha256::new()),
            Hash::Sha384 => Self::Sha384(Sha384::new()),
            Hash::Sha512 => Self::Sha512(Sha512::new()),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(state) => state.update(bytes),
            Self::Sha384(state) => state.update(bytes),
            Self::Sha512(state) => state.update(bytes),
        }
    }

    fn end(self) -> Vec<u8> {
        match self {
            Self::Sha256(state) => state.finalize().to_vec(),
            Self::Sha384(state) => state.finalize().to_vec(),
            Self::Sha512(state) => state.finalize().to_vec(),
        }
    }
}
