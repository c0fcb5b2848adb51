//! Code objects anywhere in a file, as containers of their own kind hold them (IREE's modules).

use memchr::memmem::Finder;

use super::source::{Source as _, Span};
use super::{Fault, Found, target};

/// Bytes that are looked through at a time.
const BLOCK: usize = 1 << 18;
/// Bytes that a block shares with the next.
const SHARED: usize = 4;

/// Looks at every byte.
pub(super) fn code(mut span: Span<'_>, found: &mut Found) -> Result<(), Fault> {
    let elf = Finder::new(b"\x7fELF");
    let len = span.len();
    let mut block = vec![0; BLOCK];
    let mut at = 0;
    while at < len {
        let count = usize::try_from(len - at).map_or(BLOCK, |rest| rest.min(BLOCK));
        span.read(at, &mut block[..count])?;
        for place in elf.find_iter(&block[..count]) {
            // What lies across two blocks is found in the second.
            let last = at + count as u64 == len;
            if !last && place >= count - SHARED {
                continue;
            }
            let start = at + place as u64;
            // Four bytes stand anywhere by chance: what is no device code is nothing.
            if let Some(code) = target::object(&mut span, start, len - start)? {
                found.code(&[], code)?;
            }
        }
        at += if count < BLOCK { count } else { count - SHARED } as u64;
    }
    Ok(())
}
