//! Zips: wheels, jars, packages. Members are inflated one at a time, and only when they matter.

use std::cell::Cell;
use std::io::{BufReader, Read};
use std::sync::{Mutex, MutexGuard, PoisonError};

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
    /// Its name and its content, checked against its checksum; keep [`Large`] as long as that.
    Bytes(Vec<u8>, Vec<u8>, Option<Large>),
    /// Its name and why it cannot be believed.
    Fault(Vec<u8>, Fault),
    /// This many bytes could not be had: not the zip's fault.
    NoMemory(u64),
}

/// The right to have a large member in memory. One thread has it at a time, and then for what is
/// nested in the member too: so memory does not grow with the number of cores.
pub struct Large {
    _turn: MutexGuard<'static, ()>,
}

/// Bytes from which a member is large.
const LARGE: u64 = 64 << 20;
/// Whose turn it is.
static TURN: Mutex<()> = Mutex::new(());
thread_local! {
    static HELD: Cell<bool> = const { Cell::new(false) };
}

impl Large {
    /// Waits for the right, when a member of this size needs it and this thread has it not yet.
    fn of(size: u64) -> Option<Self> {
        if size < LARGE || HELD.replace(true) {
            return None;
        }
        // Who panics while it is his turn leaves nothing half done.
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Self { _turn: turn })
    }
}

impl Drop for Large {
    fn drop(&mut self) {
        HELD.set(false);
    }
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
        let large = Large::of(size);
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
                Member::Bytes(name, bytes, large)
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

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn of_large_members_one_is_in_memory_at_a_time_and_what_is_nested_in_it() {
        let content = vec![7; usize::try_from(LARGE).unwrap()];
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let stored = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        zip.start_file("m", stored).unwrap();
        zip.write_all(&content).unwrap();
        drop(content);
        let bytes = zip.finish().unwrap().into_inner();
        let take = || {
            let mut zip = Zip::open(Watched::new(Cursor::new(&bytes[..]))).unwrap();
            let mut budget = limit::ZIP_TOTAL_BYTES;
            match zip.member(0, &mut budget, |_, _, _| true) {
                Member::Bytes(_, bytes, large) => (bytes.len(), large),
                _ => panic!("no bytes"),
            }
        };
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let (_, large) = take();
                    assert!(large.is_some());
                    most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(100));
                    // Does not wait for itself.
                    assert!(take().1.is_none());
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert_eq!(most.into_inner(), 1);
    }
}
