//! A file as its loader maps it: addresses in memory, read from the file page by page.
//!
//! `object` takes a whole section to read one table in it. Sections are hundreds of megabytes in
//! libraries for accelerators, and their tables a few kilobytes; so only the pages that a table
//! touches are read.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use object::read::ReadRef;

use super::Fault;
use crate::limit;

/// Bytes that are read at a time.
const PAGE: u64 = 16 << 10;

/// A part of a file and where it lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Where it begins in memory.
    pub address: u64,
    /// How long it is in memory; what the file does not hold of it is zero.
    pub size: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// How much of it the file holds.
    pub held: u64,
}

/// A mapped file.
pub struct Memory<'d, R: ReadRef<'d>> {
    data: R,
    len: u64,
    spans: Vec<Span>,
    /// Whether no two spans overlap.
    apart: bool,
    pages: RefCell<BTreeMap<u64, &'d [u8]>>,
    /// The page that was asked for last: the next name lies in it, mostly.
    last: Cell<Option<(u64, &'d [u8])>>,
    /// The span that was asked for last.
    last_span: Cell<usize>,
    /// Bytes that names may still have.
    room: Cell<usize>,
}

impl<'d, R: ReadRef<'d>> Memory<'d, R> {
    /// Maps these spans of a file; of two that overlap the first counts.
    #[must_use]
    pub fn new(data: R, spans: Vec<Span>) -> Self {
        Self {
            data,
            len: data.len().unwrap_or(0),
            apart: apart(&spans),
            spans,
            pages: RefCell::default(),
            last: Cell::default(),
            last_span: Cell::default(),
            room: Cell::new(limit::NAMES_BYTES),
        }
    }

    /// The bytes at an address; `what` is for the message.
    ///
    /// # Errors
    /// [`Fault::Damaged`] when no span holds all of them or the file is too short,
    /// [`Fault::Limit`] when too many pages were read.
    pub fn bytes<const N: usize>(&self, what: &str, address: u64) -> Result<[u8; N], Fault> {
        let mut out = [0; N];
        self.fill(what, address, &mut out)?;
        Ok(out)
    }

    /// `count` bytes at an address.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub fn vec(&self, what: &str, address: u64, count: u64) -> Result<Vec<u8>, Fault> {
        let room = self.span(what, address)?.room(address);
        if count > room {
            return Err(Fault::Damaged(format!(
                "{what} ends {} bytes behind its section",
                count - room
            )));
        }
        let count = usize::try_from(count)
            .ok()
            .filter(|_| count <= limit::TABLE_PAGES as u64 * PAGE)
            .ok_or_else(|| Fault::Limit(format!("TABLE_PAGES: {what} of {count} bytes")))?;
        let mut out = vec![0; count];
        self.fill(what, address, &mut out)?;
        Ok(out)
    }

    /// What lies in one piece in the file from an address on: at least one byte, unless the file
    /// does not hold what is there.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub fn piece(&self, what: &str, address: u64) -> Result<&'d [u8], Fault> {
        let span = self.span(what, address)?;
        let inside = address - span.address;
        let held = span.held.saturating_sub(inside);
        if held == 0 {
            return Ok(&[]);
        }
        let at = span.offset.saturating_add(inside);
        let page = self.page(what, at / PAGE)?;
        let from = usize::try_from(at % PAGE).unwrap_or(usize::MAX);
        let piece = page.get(from..).unwrap_or_default();
        Ok(&piece[..piece.len().min(usize::try_from(held).unwrap_or(usize::MAX))])
    }

    /// The bytes up to the next zero.
    ///
    /// # Errors
    /// As [`Self::bytes`]; [`Fault::Limit`] when there is no zero for [`limit::NAME_BYTES`], or
    /// when all names have more than [`limit::NAMES_BYTES`].
    pub fn text(&self, what: &str, address: u64) -> Result<Vec<u8>, Fault> {
        let mut out = Vec::new();
        self.append(what, address, &mut out)?;
        Ok(out)
    }

    /// Takes the bytes of a name from what all names together may have: a table can name the same
    /// text a million times.
    ///
    /// # Errors
    /// [`Fault::Limit`] when that is used up.
    pub fn spend(&self, bytes: usize) -> Result<(), Fault> {
        let room = self.room.get().checked_sub(bytes).ok_or_else(|| {
            let most = limit::NAMES_BYTES;
            Fault::Limit(format!("NAMES_BYTES: names of more than {most} bytes"))
        })?;
        self.room.set(room);
        Ok(())
    }

    /// Appends the bytes up to the next zero to `out`.
    ///
    /// # Errors
    /// As [`Self::text`]; `out` may then have a part of them.
    pub fn append(&self, what: &str, address: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
        let before = out.len();
        self.read(what, address, out)?;
        self.spend(out.len() - before)
    }

    fn read(&self, what: &str, address: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
        let span = self.span(what, address)?;
        let before = out.len();
        let mut at = address;
        loop {
            let inside = at - span.address;
            if inside >= span.size {
                return Err(Fault::Damaged(format!("{what} has no end")));
            }
            if inside >= span.held {
                return Ok(());
            }
            let page = self.page(what, (span.offset.saturating_add(inside)) / PAGE)?;
            let from = usize::try_from((span.offset + inside) % PAGE).unwrap_or(usize::MAX);
            let room = usize::try_from(span.held - inside).unwrap_or(usize::MAX);
            let piece = page.get(from..).unwrap_or_default();
            let piece = &piece[..piece.len().min(room)];
            if piece.is_empty() {
                return Err(Fault::Damaged(format!("{what} lies behind the file's end")));
            }
            if let Some(end) = memchr::memchr(0, piece) {
                out.extend_from_slice(&piece[..end]);
                return Ok(());
            }
            out.extend_from_slice(piece);
            at += piece.len() as u64;
            if out.len() - before > limit::NAME_BYTES {
                return Err(Fault::Limit(format!(
                    "NAME_BYTES: {what} is longer than {}",
                    limit::NAME_BYTES
                )));
            }
        }
    }

    /// The span of an address.
    ///
    /// # Errors
    /// [`Fault::Damaged`] when there is none.
    pub fn span(&self, what: &str, address: u64) -> Result<Span, Fault> {
        let holds = |span: &Span| address >= span.address && address - span.address < span.size;
        // Of spans that overlap the first counts, so the last one is tried first only where it
        // is the only one.
        let last = self.last_span.get();
        if self.apart
            && let Some(span) = self.spans.get(last).filter(|span| holds(span))
        {
            return Ok(*span);
        }
        let at =
            self.spans.iter().position(holds).ok_or_else(|| {
                Fault::Damaged(format!("{what} at 0x{address:x} lies in no section"))
            })?;
        self.last_span.set(at);
        Ok(self.spans[at])
    }

    fn fill(&self, what: &str, address: u64, out: &mut [u8]) -> Result<(), Fault> {
        let span = self.span(what, address)?;
        if out.len() as u64 > span.room(address) {
            return Err(Fault::Damaged(format!(
                "{what} is cut by its section's end"
            )));
        }
        let inside = address - span.address;
        let held = span.held.saturating_sub(inside).min(out.len() as u64);
        // What the file does not hold stays zero, as in memory.
        let mut done = 0;
        while done < held {
            let at = span.offset.saturating_add(inside).saturating_add(done);
            let page = self.page(what, at / PAGE)?;
            let from = usize::try_from(at % PAGE).unwrap_or(usize::MAX);
            let piece = page.get(from..).unwrap_or_default();
            let piece = &piece[..piece.len().min(usize::try_from(held - done).unwrap_or(0))];
            if piece.is_empty() {
                return Err(Fault::Damaged(format!("{what} lies behind the file's end")));
            }
            let start = usize::try_from(done).unwrap_or(usize::MAX);
            if let Some(place) = out.get_mut(start..start + piece.len()) {
                place.copy_from_slice(piece);
            }
            done += piece.len() as u64;
        }
        Ok(())
    }

    fn page(&self, what: &str, number: u64) -> Result<&'d [u8], Fault> {
        if let Some((last, page)) = self.last.get()
            && last == number
        {
            return Ok(page);
        }
        let mut pages = self.pages.borrow_mut();
        if let Some(page) = pages.get(&number) {
            self.last.set(Some((number, page)));
            return Ok(page);
        }
        if pages.len() >= limit::TABLE_PAGES {
            return Err(Fault::Limit(format!(
                "TABLE_PAGES: tables are spread over more than {} pages",
                limit::TABLE_PAGES
            )));
        }
        let start = number.saturating_mul(PAGE);
        let size = self.len.saturating_sub(start).min(PAGE);
        let page = match size {
            0 => None,
            size => self.data.read_bytes_at(start, size).ok(),
        };
        let page =
            page.ok_or_else(|| Fault::Damaged(format!("{what} lies behind the file's end")))?;
        pages.insert(number, page);
        self.last.set(Some((number, page)));
        Ok(page)
    }
}

/// Whether no two spans overlap.
fn apart(spans: &[Span]) -> bool {
    let mut places: Vec<(u64, u64)> = spans.iter().map(|s| (s.address, s.size)).collect();
    places.sort_unstable();
    places
        .windows(2)
        .all(|pair| pair[1].0 - pair[0].0 >= pair[0].1)
}

impl Span {
    /// How many bytes lie from an address in it to its end.
    const fn room(&self, address: u64) -> u64 {
        self.size - (address - self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_file_does_not_hold_is_zero_and_what_no_span_holds_is_a_fault() {
        let file = b"0123456789".as_slice();
        let span = Span {
            address: 0x1000,
            size: 8,
            offset: 4,
            held: 6,
        };
        let memory = Memory::new(file, vec![span]);
        assert_eq!(memory.bytes("x", 0x1004).unwrap(), *b"89\0\0");
        assert_eq!(memory.text("x", 0x1003).unwrap(), b"789");
        assert_eq!(memory.vec("x", 0x1000, 8).unwrap(), b"456789\0\0");
        for (address, count) in [(0xfff, 1), (0x1008, 1), (0x1004, 5), (0x1000, u64::MAX)] {
            assert!(memory.vec("x", address, count).is_err(), "{address:x}");
        }
    }

    #[test]
    fn a_span_beyond_the_file_is_a_fault_at_any_offset() {
        for offset in [3, 4, 1 << 40, u64::MAX - 3] {
            let span = Span {
                address: 0,
                size: u64::MAX,
                offset,
                held: u64::MAX,
            };
            let memory = Memory::new(b"abc".as_slice(), vec![span]);
            assert!(memory.bytes::<4>("x", 0).is_err());
            assert!(memory.text("x", 0).is_err());
            assert!(memory.text("x", u64::MAX - 1).is_err());
        }
    }

    #[test]
    fn a_name_without_an_end_is_bounded() {
        let file = vec![b'a'; limit::NAME_BYTES + 100_000];
        let span = Span {
            address: 0,
            size: u64::MAX,
            offset: 0,
            held: u64::MAX,
        };
        let memory = Memory::new(file.as_slice(), vec![span]);
        assert!(matches!(memory.text("x", 0), Err(Fault::Limit(_))));
    }

    #[test]
    fn the_same_name_again_and_again_is_bounded() {
        let file = [vec![b'a'; limit::NAME_BYTES - 1], vec![0]].concat();
        let span = Span {
            address: 0,
            size: 1 << 20,
            offset: 0,
            held: file.len() as u64,
        };
        let memory = Memory::new(file.as_slice(), vec![span]);
        let fault = (0..5_000).find_map(|_| memory.text("x", 0).err()).unwrap();
        assert!(fault.to_string().contains("NAMES_BYTES"), "{fault}");
    }
}
