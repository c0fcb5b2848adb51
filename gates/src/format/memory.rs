//! A file as its loader maps it: addresses in memory, read from the file page by page.
//!
//! `object` takes a whole section to read one table in it. Sections are hundreds of megabytes in
//! libraries for accelerators, and their tables a few kilobytes; so only the pages that a table
//! touches are read.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use object::read::ReadRef;

use super::Fault;
use crate::limit;

/// Bytes that are read at a time.
const PAGE: u64 = 16 << 10;
/// Where the last of them ends, mostly.
const TAIL: u64 = 512;
/// How far apart names lie that are read in one row, at the most and on average.
const APART: u64 = 1 << 10;

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
    /// The piece that was asked for last, and its address: the next name lies in it, mostly.
    last: Cell<(u64, &'d [u8])>,
    /// Bytes that names may still have.
    room: Cell<usize>,
    /// Reads names into memory of theirs, where pages would hold them a second time.
    raw: Option<&'d dyn Raw>,
}

/// A file that is read into memory of the reader's.
pub trait Raw {
    /// Fills `bytes` from a place of the file; nothing when it does not have them.
    fn read(&self, at: u64, bytes: &mut [u8]) -> Option<()>;
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
            room: Cell::new(limit::NAMES_BYTES),
            raw: None,
        }
    }

    /// Reads rows of names from here: the same file.
    pub fn rows_from(&mut self, raw: &'d dyn Raw) {
        self.raw = Some(raw);
    }

    /// The bytes at an address; `what` is for the message.
    ///
    /// # Errors
    /// [`Fault::Damaged`] when no span holds all of them or the file is too short,
    /// [`Fault::Limit`] when too many pages were read.
    pub fn bytes<const N: usize>(&self, what: &str, address: u64) -> Result<[u8; N], Fault> {
        if let Some(near) = self.near(address).first_chunk() {
            return Ok(*near);
        }
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

    /// What lies in one piece in the file from an address on: nothing when memory is zero there,
    /// since the file does not hold it.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub fn piece(&self, what: &str, address: u64) -> Result<&'d [u8], Fault> {
        match self.near(address) {
            [] => self.far(what, address, self.span(what, address)?),
            near => Ok(near),
        }
    }

    /// The rest of the last piece, when the address lies in it.
    fn near(&self, address: u64) -> &'d [u8] {
        let (start, piece) = self.last.get();
        let inside = address.checked_sub(start);
        let inside = inside.and_then(|inside| usize::try_from(inside).ok());
        inside
            .and_then(|inside| piece.get(inside..))
            .unwrap_or_default()
    }

    /// [`Self::piece`] from the pages; `span` is the address's.
    fn far(&self, what: &str, address: u64, span: Span) -> Result<&'d [u8], Fault> {
        let inside = address - span.address;
        let held = span.held.saturating_sub(inside);
        if held == 0 {
            return Ok(&[]);
        }
        let at = span.offset.saturating_add(inside);
        let page = self.page(what, at / PAGE)?;
        let from = usize::try_from(at % PAGE).unwrap_or(usize::MAX);
        let piece = page.get(from..).unwrap_or_default();
        let piece = &piece[..piece.len().min(usize::try_from(held).unwrap_or(usize::MAX))];
        if piece.is_empty() {
            return Err(Fault::Damaged(format!("{what} lies behind the file's end")));
        }
        // Of spans that overlap the first counts, so what is near is known only where none does.
        if self.apart {
            self.last.set((address, piece));
        }
        Ok(piece)
    }

    /// The bytes up to the next zero, where they are in the file if they lie there in one piece.
    ///
    /// # Errors
    /// As [`Self::bytes`] and [`Self::spend`].
    pub fn text(&self, what: &str, address: u64) -> Result<Cow<'d, [u8]>, Fault> {
        let near = self.near(address);
        let text = match memchr::memchr(0, near) {
            Some(end) => Cow::Borrowed(&near[..end]),
            None => self.long(what, address)?,
        };
        self.spend(what, text.len())?;
        Ok(text)
    }

    /// Takes the bytes of a name from what all names together may have.
    ///
    /// # Errors
    /// [`Fault::Limit`] when it has more than [`limit::NAME_BYTES`], or all names more than
    /// [`limit::NAMES_BYTES`]: a table can name the same text a million times.
    pub fn spend(&self, what: &str, bytes: usize) -> Result<(), Fault> {
        if bytes > limit::NAME_BYTES {
            let most = limit::NAME_BYTES;
            return Err(Fault::Limit(format!(
                "NAME_BYTES: {what} is longer than {most}"
            )));
        }
        let room = self.room.get().checked_sub(bytes).ok_or_else(|| {
            let most = limit::NAMES_BYTES;
            Fault::Limit(format!("NAMES_BYTES: names of more than {most} bytes"))
        })?;
        self.room.set(room);
        Ok(())
    }

    /// Reads into `text` all from the first of some names to the end of the last, and hands back
    /// its address: theirs are `starts`, before each of them are `before` bytes that count. Nothing
    /// when they do not lie together in the file; what is wrong with one then, [`Self::text`] says.
    ///
    /// Linkers write them one behind the other, so that one read has them all.
    #[must_use]
    pub fn row(&self, starts: &[u32], before: u64, text: &mut Vec<u8>) -> Option<u64> {
        let first = u64::from(*starts.iter().min()?).checked_sub(before)?;
        let last = u64::from(*starts.iter().max()?);
        let span = self.span("", first).ok().filter(|_| self.apart)?;
        let held = span.held.saturating_sub(first - span.address);
        let reach = last - first;
        let most = (starts.len() as u64 * APART + PAGE).min(limit::TABLE_PAGES as u64 * PAGE);
        if reach < PAGE || reach >= held || reach > most {
            return None;
        }
        let at = span.offset.checked_add(first - span.address)?;
        let size = held.min(reach + TAIL).min(self.len.checked_sub(at)?);
        text.resize(usize::try_from(size).ok()?, 0);
        match self.raw {
            Some(raw) => raw.read(at, text)?,
            None => text.copy_from_slice(self.data.read_bytes_at(at, size).ok()?),
        }
        let reach = usize::try_from(reach).ok()?;
        let end = memchr::memchr(0, text.get(reach..)?)?;
        text.truncate(reach + end + 1);
        Some(first)
    }

    /// [`Self::text`] piece by piece.
    fn long(&self, what: &str, address: u64) -> Result<Cow<'d, [u8]>, Fault> {
        let span = self.span(what, address)?;
        let mut out = Vec::new();
        let mut at = address;
        loop {
            if at - span.address >= span.size {
                return Err(Fault::Damaged(format!("{what} has no end")));
            }
            let piece = self.far(what, at, span)?;
            let end = match piece {
                [] => Some(0),
                _ => memchr::memchr(0, piece),
            };
            match end {
                Some(end) if out.is_empty() => return Ok(Cow::Borrowed(&piece[..end])),
                Some(end) => out.extend_from_slice(&piece[..end]),
                None => out.extend_from_slice(piece),
            }
            if out.len() > limit::NAME_BYTES {
                self.spend(what, out.len())?;
            }
            if end.is_some() {
                return Ok(Cow::Owned(out));
            }
            at = at.saturating_add(piece.len() as u64);
        }
    }

    /// The span of an address.
    ///
    /// # Errors
    /// [`Fault::Damaged`] when there is none.
    pub fn span(&self, what: &str, address: u64) -> Result<Span, Fault> {
        let holds = |span: &&Span| address >= span.address && address - span.address < span.size;
        let span = self.spans.iter().find(holds);
        span.copied()
            .ok_or_else(|| Fault::Damaged(format!("{what} at 0x{address:x} lies in no section")))
    }

    /// Fills `out` with what lies at an address.
    ///
    /// # Errors
    /// As [`Self::bytes`].
    pub fn fill(&self, what: &str, address: u64, out: &mut [u8]) -> Result<(), Fault> {
        let span = self.span(what, address)?;
        if out.len() as u64 > span.room(address) {
            return Err(Fault::Damaged(format!(
                "{what} is cut by its section's end"
            )));
        }
        let (mut at, mut rest) = (address, out);
        while !rest.is_empty() {
            let piece = self.far(what, at, span)?;
            let count = piece.len().min(rest.len());
            if count == 0 {
                // What the file does not hold is zero, as in memory.
                rest.fill(0);
                return Ok(());
            }
            let (now, later) = rest.split_at_mut(count);
            now.copy_from_slice(&piece[..count]);
            (at, rest) = (at.saturating_add(count as u64), later);
        }
        Ok(())
    }

    fn page(&self, what: &str, number: u64) -> Result<&'d [u8], Fault> {
        let mut pages = self.pages.borrow_mut();
        if let Some(page) = pages.get(&number) {
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
        assert_eq!(&*memory.text("x", 0x1003).unwrap(), b"789");
        assert_eq!(memory.vec("x", 0x1000, 8).unwrap(), b"456789\0\0");
        for (address, count) in [(0xfff, 1), (0x1008, 1), (0x1004, 5), (0x1000, u64::MAX)] {
            assert!(memory.vec("x", address, count).is_err(), "{address:x}");
        }
    }

    #[test]
    fn a_name_ends_in_its_own_span() {
        let span = |held| Span {
            address: 0x1000,
            size: 8,
            offset: 0,
            held,
        };
        let text = |held| {
            let memory = Memory::new(b"0123456789".as_slice(), vec![span(held)]);
            memory.text("x", 0x1003).map(Cow::into_owned)
        };
        assert_eq!(text(7).unwrap(), b"3456");
        let fault = text(8).unwrap_err();
        assert!(fault.to_string().contains("has no end"), "{fault}");
    }

    #[test]
    fn of_spans_that_overlap_the_first_counts_whatever_was_read_before() {
        let span = |address, offset| Span {
            address,
            size: 4,
            offset,
            held: 4,
        };
        let memory = Memory::new(b"abcdWXYZ".as_slice(), vec![span(2, 4), span(0, 0)]);
        assert_eq!(memory.piece("x", 0).unwrap(), b"abcd");
        assert_eq!(memory.bytes("x", 2).unwrap(), *b"WX");
        let mut used = *b"??????";
        let cut = Memory::new(
            b"ab".as_slice(),
            vec![Span {
                held: 2,
                size: 8,
                ..span(0, 0)
            }],
        );
        cut.fill("x", 0, &mut used).unwrap();
        assert_eq!(used, *b"ab\0\0\0\0");
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
