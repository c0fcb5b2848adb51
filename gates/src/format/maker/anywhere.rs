//! Traces that stand anywhere among the bytes of a file.

use std::collections::BTreeSet;
use std::io;

use memchr::memmem;

use super::{Kind, Print};
use crate::input::ReadSeek;
use crate::limit;

/// The most that a trace takes, with what stands before it.
const REACH: usize = 512;

/// Bytes that are read at a time.
const PIECE: usize = 256 << 10;

/// The traces among all bytes, and whether there are more than [`limit::FINGERPRINTS`]. Each piece
/// is shown to `also` too.
///
/// # Errors
/// An I/O error.
pub fn anywhere(
    bytes: &mut dyn ReadSeek,
    mut also: impl FnMut(&[u8]),
) -> io::Result<(BTreeSet<Print>, bool)> {
    let mut prints = Prints::default();
    let mut piece = vec![0; PIECE];
    loop {
        match bytes.read(&mut piece) {
            Ok(0) => return Ok(prints.end()),
            Ok(count) => {
                prints.feed(&piece[..count]);
                also(&piece[..count]);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Finds traces in bytes that come in pieces.
#[derive(Debug, Default)]
struct Prints {
    /// What is not looked at yet.
    bytes: Vec<u8>,
    /// How many bytes in front of that were: 1, but none at the file's start.
    before: usize,
    found: BTreeSet<Print>,
    /// There are more than are kept.
    over: bool,
}

impl Prints {
    /// Looks at the next piece.
    fn feed(&mut self, piece: &[u8]) {
        self.bytes.extend_from_slice(piece);
        // What begins behind this may end in the next piece.
        let end = self.bytes.len().saturating_sub(REACH);
        if end > self.before {
            self.look(end);
            self.bytes.drain(..end - 1);
            self.before = 1;
        }
    }

    /// Ends the bytes: what was found, and whether there was more than is kept.
    fn end(mut self) -> (BTreeSet<Print>, bool) {
        self.look(self.bytes.len());
        (self.found, self.over)
    }

    /// Looks for traces that begin before `end`.
    fn look(&mut self, end: usize) {
        for (text, read) in TEXTS {
            for at in memmem::find_iter(&self.bytes, text) {
                if at >= end {
                    break;
                }
                if at >= self.before
                    && let Some(print) = read(&self.bytes, at)
                {
                    self.found.insert(print);
                }
                if self.found.len() > limit::FINGERPRINTS {
                    self.over = true;
                    self.found.pop_last();
                }
            }
        }
    }
}

/// Reads the trace at a place; nothing when it is none.
type Read = fn(&[u8], usize) -> Option<Print>;

/// What each trace begins with, and how it is read.
const TEXTS: [(&[u8], Read); 4] = [
    (b"GCC: (", comment),
    (b"/rustc/", rustc),
    (b"\\rustc\\", rustc),
    (b"\xff Go buildinf:", go),
];

/// A whole text between zeros: `GCC: (GNU) 12-win32`.
fn comment(bytes: &[u8], at: usize) -> Option<Print> {
    if at.checked_sub(1).is_some_and(|before| bytes[before] != 0) {
        return None;
    }
    let text = bytes[at..].iter().take(REACH / 2);
    let text: Vec<u8> = text.copied().take_while(|b| *b != 0).collect();
    let printable = text.iter().all(|b| (0x20..0x7f).contains(b));
    (printable && text.len() < REACH / 2).then(|| Print::new(Kind::Comment, &text))
}

/// The commit in a path of Rust's library: `/rustc/82e1…/library/std`.
fn rustc(bytes: &[u8], at: usize) -> Option<Print> {
    const SHA1: usize = 40;
    let commit = bytes.get(at + 7..at + 7 + SHA1)?;
    let hex = commit.iter().all(u8::is_ascii_hexdigit);
    hex.then(|| Print::new(Kind::Rustc, commit))
}

/// The version in Go's build information (debug/buildinfo): behind the magic the size of
/// pointers and a byte of flags, and at byte 32, where flag 2 says so, a length and the text.
fn go(bytes: &[u8], at: usize) -> Option<Print> {
    const INLINE: u8 = 2;
    let (pointer, flags) = (*bytes.get(at + 14)?, *bytes.get(at + 15)?);
    if flags & INLINE == 0 {
        // Before 1.18 the version stood elsewhere.
        let plausible = matches!((pointer, flags), (4 | 8, 0 | 1));
        return plausible.then(|| Print::new(Kind::Go, b"before 1.18"));
    }
    let length = usize::from(*bytes.get(at + 32)?);
    let text = bytes.get(at + 33..at + 33 + length)?;
    let version = text.starts_with(b"go") || text.starts_with(b"devel ");
    (flags == INLINE && version).then(|| Print::new(Kind::Go, text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(bytes: &[u8], piece: usize) -> Vec<String> {
        let mut prints = Prints::default();
        for piece in bytes.chunks(piece) {
            prints.feed(piece);
        }
        let (found, _) = prints.end();
        found.iter().map(ToString::to_string).collect()
    }

    fn sample() -> Vec<u8> {
        let go = [
            b"\xff Go buildinf:\x08\x02".as_slice(),
            &[0; 16],
            b"\x08go1.22.1...",
        ]
        .concat();
        [
            b"\0GCC: (GNU) 12-win32\0".as_slice(),
            b"x/rustc/82e1608dfa6e0b5569232559e3d385fea5a93112/library/core/src/x.rs",
            &go,
            b"\0GCC: (GNU) 13-posix\0",
        ]
        .concat()
    }

    #[test]
    fn traces_are_found_in_pieces_of_any_size() {
        let wanted = [
            "comment GCC: (GNU) 12-win32",
            "comment GCC: (GNU) 13-posix",
            "go go1.22.1",
            "rustc 82e1608dfa6e0b5569232559e3d385fea5a93112",
        ];
        for pad in [0, 1, 500, 1023, 1024, 5000] {
            let bytes = [vec![0; pad], sample()].concat();
            for piece in [1, 3, 64, 511, 512, 513, 1024, 1 << 20] {
                assert_eq!(found(&bytes, piece), wanted, "{pad} {piece}");
            }
        }
    }

    #[test]
    fn what_only_looks_like_a_trace_is_none() {
        let long = [b"\0GCC: (".as_slice(), &[b'x'; 600], b"\0"].concat();
        for bytes in [
            b"usage GCC: (see the manual)\0".as_slice(),
            b"\0GCC: (\x01\x02)\0",
            b"/rustc/not-a-commit-of-forty-hexadecimal-digits/",
            b"/rustc/82e1608dfa6e0b556923",
            b"\xff Go buildinf:",
            &long,
        ] {
            assert_eq!(found(bytes, 1000), Vec::<String>::new());
        }
    }

    #[test]
    fn there_are_not_more_than_the_bound() {
        let mut prints = Prints::default();
        for n in 0..limit::FINGERPRINTS + 10 {
            prints.feed(format!("/rustc/{n:040}/").as_bytes());
        }
        let (found, over) = prints.end();
        assert!(over && found.len() == limit::FINGERPRINTS);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            parts in proptest::collection::vec(0_usize..6, 0..40), piece in 1_usize..2000
        ) {
            let texts: [&[u8]; 6] = [
                b"\0GCC: (a) 1\0", b"/rustc/82e1608dfa6e0b5569232559e3d385fea5a93112",
                &[0; 300], b"GCC: (", b"xxxxxxxxxxxx", &[b'y'; 257],
            ];
            let bytes: Vec<u8> = parts.iter().flat_map(|n| texts[*n].iter().copied()).collect();
            prop_assert_eq!(found(&bytes, piece), found(&bytes, 1 << 20));
        }
    }
}
