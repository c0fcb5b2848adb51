//! Bytes that are read in ascending order and not kept.

use std::io::{self, Read, Seek as _, SeekFrom};

use crate::format::Fault;
use crate::input::Watched;

/// Where headers are read from.
pub(super) trait Source {
    /// Fills `out` with the bytes at `at`, which never lies before the end of what was read last
    /// when bytes come out of a decoder.
    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<(), Fault>;
}

/// A part of a file.
#[derive(Clone)]
pub(super) struct Span<'a> {
    file: Watched<'a>,
    start: u64,
    len: u64,
    /// For [`Read`].
    at: u64,
}

impl<'a> Span<'a> {
    pub(super) fn new(file: &Watched<'a>, start: u64, len: u64) -> Self {
        Self {
            file: file.clone(),
            start,
            len,
            at: 0,
        }
    }

    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// How many bytes were taken by [`Read`].
    pub(super) const fn used(&self) -> u64 {
        self.at
    }

    /// A part of the part.
    pub(super) fn part(&self, offset: u64, len: u64) -> Result<Self, Fault> {
        Fault::require("it", offset.saturating_add(len), self.len)?;
        Ok(Self::new(&self.file, self.start + offset, len))
    }

    /// The place of the first byte from `at` on that is not zero.
    pub(super) fn skip_zeros(&mut self, mut at: u64) -> Result<Option<u64>, Fault> {
        let mut block = [0; 4096];
        while at < self.len {
            let count = usize::try_from(self.len - at).map_or(block.len(), |n| n.min(block.len()));
            Source::read(self, at, &mut block[..count])?;
            if let Some(inside) = block[..count].iter().position(|byte| *byte != 0) {
                return Ok(Some(at + inside as u64));
            }
            at += count as u64;
        }
        Ok(None)
    }
}

impl Source for Span<'_> {
    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<(), Fault> {
        let end = at.saturating_add(out.len() as u64);
        Fault::require("it", end, self.len)?;
        let result = self.file.seek(SeekFrom::Start(self.start + at));
        result
            .and_then(|_| self.file.read_exact(out))
            .map_err(|_| Fault::Damaged(format!("it ends at byte {end}, and the file before")))
    }
}

impl Read for Span<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let rest = self.len.saturating_sub(self.at);
        let count = usize::try_from(rest).map_or(buf.len(), |rest| rest.min(buf.len()));
        // Others read the same file in between.
        self.file.seek(SeekFrom::Start(self.start + self.at))?;
        let read = self.file.read(&mut buf[..count])?;
        self.at += read as u64;
        Ok(read)
    }
}

/// What a decoder makes of a part.
pub(super) struct Inflated<R> {
    decoder: R,
    at: u64,
    len: u64,
}

impl<R: Read> Inflated<R> {
    pub(super) const fn new(decoder: R, len: u64) -> Self {
        Self {
            decoder,
            at: 0,
            len,
        }
    }

    /// Reads to the end: it must be where it was announced.
    pub(super) fn finish(mut self) -> Result<R, Fault> {
        let rest = self.len - self.at;
        let mut more = self.decoder.by_ref().take(rest.saturating_add(1));
        let read = io::copy(&mut more, &mut io::sink()).map_err(|e| damaged(&e))?;
        match read == rest {
            true => Ok(self.decoder),
            false => Err(Fault::Damaged(format!(
                "announced as {} bytes inflated, it holds {}",
                self.len,
                if read > rest { "more" } else { "less" },
            ))),
        }
    }
}

fn damaged(error: &io::Error) -> Fault {
    Fault::Damaged(format!("it cannot be inflated: {error}"))
}

impl<R: Read> Source for Inflated<R> {
    fn read(&mut self, at: u64, out: &mut [u8]) -> Result<(), Fault> {
        let end = at.saturating_add(out.len() as u64);
        Fault::require("it", end, self.len)?;
        let gap = at
            .checked_sub(self.at)
            .ok_or_else(|| Fault::Damaged("its parts overlap".to_owned()))?;
        let skipped = io::copy(&mut self.decoder.by_ref().take(gap), &mut io::sink());
        if skipped.map_err(|e| damaged(&e))? != gap {
            return Err(Fault::Damaged("it is inflated to less than it says".into()));
        }
        self.decoder.read_exact(out).map_err(|e| damaged(&e))?;
        self.at = end;
        Ok(())
    }
}
