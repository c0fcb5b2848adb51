//! Reading with bounds, in a way that never takes an I/O error for a fact about the bytes.

mod blocks;

use std::cell::RefCell;
use std::io::{self, Read, Seek, SeekFrom};
use std::rc::Rc;

use object::read::{ReadCache, ReadCacheRange};

pub use blocks::Blocks;

use crate::format::memory::Raw;

/// What a file or an inflated zip member is read through.
pub trait ReadSeek: Read + Seek {}
impl<T: Read + Seek> ReadSeek for T {}

/// Positional, cached access to an input, as the parsers take it.
pub type Cache<'a> = ReadCache<Watched<'a>>;
/// A window of a [`Cache`]: the whole input, or one archive member.
pub type Window<'c, 'a> = ReadCacheRange<'c, Watched<'a>>;

/// A reader that remembers its first I/O error.
///
/// Parsers turn a failed read into "the file is broken". That is true when the file is too short
/// and false when the disk is. [`Trouble::take`] tells them apart afterwards.
///
/// A clone is a second way to the same input. They have one position: each must seek before it
/// reads.
#[derive(Clone)]
pub struct Watched<'a> {
    inner: Rc<RefCell<dyn ReadSeek + 'a>>,
    trouble: Trouble,
}

/// The I/O error that a [`Watched`] reader met, if any.
#[derive(Clone, Default)]
pub struct Trouble(Rc<RefCell<Option<io::Error>>>);

impl Trouble {
    /// The first error since the last call.
    #[must_use]
    pub fn take(&self) -> Option<io::Error> {
        self.0.borrow_mut().take()
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.0
                .borrow_mut()
                .get_or_insert_with(|| io::Error::new(error.kind(), error.to_string()));
        }
        result
    }
}

impl<'a> Watched<'a> {
    /// Watches `inner`.
    #[must_use]
    pub fn new(inner: impl ReadSeek + 'a) -> Self {
        Self {
            inner: Rc::new(RefCell::new(inner)),
            trouble: Trouble::default(),
        }
    }

    /// A handle on the errors to come.
    #[must_use]
    pub fn trouble(&self) -> Trouble {
        self.trouble.clone()
    }
}

impl Raw for Watched<'_> {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Option<()> {
        let mut input = self.clone();
        input.seek(SeekFrom::Start(at)).ok()?;
        input.read_exact(bytes).ok()
    }
}

impl Read for Watched<'_> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let result = self.inner.borrow_mut().read(buf);
        self.trouble.note(result)
    }
}

impl Seek for Watched<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // A negative offset is the parser's arithmetic over hostile bytes, not the disk's fault.
        let result = self.inner.borrow_mut().seek(to);
        match &result {
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => result,
            _ => self.trouble.note(result),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::read::ReadRef;

    struct BadDisk;
    impl Read for BadDisk {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("bad sector"))
        }
    }
    impl Seek for BadDisk {
        fn seek(&mut self, _: SeekFrom) -> io::Result<u64> {
            Ok(100)
        }
    }

    #[test]
    fn an_io_error_is_remembered_and_a_short_file_is_not_one() {
        let bad = Watched::new(BadDisk);
        let trouble = bad.trouble();
        let cache = ReadCache::new(bad);
        assert!((&cache).read_bytes_at(0, 4).is_err());
        assert_eq!(trouble.take().unwrap().to_string(), "bad sector");

        let short = Watched::new(io::Cursor::new(b"ab".to_vec()));
        let trouble = short.trouble();
        let cache = ReadCache::new(short);
        assert!((&cache).read_bytes_at(0, 4).is_err());
        assert!(trouble.take().is_none());
    }
}
