//! A file that is read by position, a block at a time.
//!
//! Parsers read headers of a few bytes, here and there. A system call for each of them, and one to
//! seek before it, would be most of the time that a large tree takes.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes that are read for the sake of a few.
const BLOCK: usize = 8 << 10;

/// A file, and the block of it that was read last.
pub struct Blocks {
    file: File,
    len: u64,
    at: u64,
    block: Vec<u8>,
    start: u64,
}

impl Blocks {
    /// Reads `file`.
    ///
    /// # Errors
    /// The file's length cannot be had.
    pub fn new(mut file: File) -> io::Result<Self> {
        // Not its metadata: files of /proc say 0 there.
        let len = file.seek(SeekFrom::End(0))?;
        Ok(Self {
            file,
            len,
            at: 0,
            block: Vec::new(),
            start: 0,
        })
    }

    /// What the block has from the position on.
    fn held(&self) -> &[u8] {
        let inside = self.at.checked_sub(self.start);
        let from = inside.and_then(|inside| usize::try_from(inside).ok());
        from.and_then(|from| self.block.get(from..))
            .unwrap_or_default()
    }
}

impl Read for Blocks {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.held().is_empty() {
            if buf.len() >= BLOCK {
                let read = read_at(&mut self.file, buf, self.at)?;
                self.at += read as u64;
                return Ok(read);
            }
            let mut block = std::mem::take(&mut self.block);
            block.resize(BLOCK, 0);
            let read = read_at(&mut self.file, &mut block, self.at)?;
            block.truncate(read);
            (self.block, self.start) = (block, self.at);
        }
        let held = self.held();
        let count = held.len().min(buf.len());
        buf[..count].copy_from_slice(&held[..count]);
        self.at += count as u64;
        Ok(count)
    }
}

impl Seek for Blocks {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

#[cfg(unix)]
fn read_at(file: &mut File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buf, at)
}

#[cfg(not(unix))]
fn read_at(file: &mut File, buf: &mut [u8], at: u64) -> io::Result<usize> {
    file.seek(SeekFrom::Start(at))?;
    file.read(buf)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::{Cursor, Write as _};

    proptest! {
        #[test]
        fn blocks_read_what_the_file_has(
            len in 0_u32..40_000,
            reads in proptest::collection::vec((0_u64..45_000, 0_u64..20_000), 1..20),
        ) {
            let bytes: Vec<u8> = (0..len).map(|at| (at * 7 / 3).to_le_bytes()[0]).collect();
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            let (mut blocks, mut plain) = (Blocks::new(file).unwrap(), Cursor::new(bytes));
            for (at, count) in reads {
                let read = |from: &mut dyn crate::input::ReadSeek| {
                    from.seek(SeekFrom::Start(at)).unwrap();
                    let mut out = Vec::new();
                    let got = (&mut *from).take(count).read_to_end(&mut out).unwrap();
                    (got, out, from.stream_position().unwrap(), from.seek(SeekFrom::End(0)).unwrap())
                };
                prop_assert_eq!(read(&mut blocks), read(&mut plain));
            }
        }
    }

    #[test]
    fn a_place_before_the_file_is_no_place() {
        let mut blocks = Blocks::new(tempfile::tempfile().unwrap()).unwrap();
        let error = blocks.seek(SeekFrom::End(-1)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
