//! Looks for many texts at once, each in the encodings in which a value ends up in files.
//!
//! One pass: four bytes at a time are looked up in a table of bits, and only where that says
//! "perhaps" the texts that begin so are compared.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

/// Bytes of a text by which it is found.
const KEY: usize = 4;

/// What is looked for.
#[derive(Debug, Clone, Default)]
pub struct Needles {
    names: BTreeSet<String>,
    /// By their first bytes.
    by_key: BTreeMap<[u8; KEY], Vec<Needle>>,
    bits: Bits,
    longest: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Needle {
    bytes: Vec<u8>,
    name: String,
    encoding: &'static str,
}

/// One bit for each hash of [`KEY`] bytes.
#[derive(Debug, Clone)]
struct Bits(Vec<u64>);

impl Default for Bits {
    fn default() -> Self {
        Self(vec![0; 1 << 10])
    }
}

impl Bits {
    const fn place(key: [u8; KEY]) -> (usize, u64) {
        let hash = u32::from_le_bytes(key).wrapping_mul(0x9e37_79b1) >> 16;
        ((hash >> 6) as usize, 1 << (hash & 63))
    }

    fn set(&mut self, key: [u8; KEY]) {
        let (word, bit) = Self::place(key);
        self.0[word] |= bit;
    }

    fn has(&self, key: [u8; KEY]) -> bool {
        let (word, bit) = Self::place(key);
        self.0[word] & bit != 0
    }
}

impl Needles {
    /// Adds a value under a name, in every encoding.
    pub fn add(&mut self, name: &str, value: &[u8]) {
        self.names.insert(name.to_owned());
        for (encoding, bytes) in encodings(value) {
            let Some(key) = bytes.first_chunk::<KEY>() else {
                continue;
            };
            self.bits.set(*key);
            self.longest = self.longest.max(bytes.len());
            let needle = Needle {
                name: name.to_owned(),
                encoding,
                bytes: bytes.clone(),
            };
            let same = self.by_key.entry(*key).or_default();
            // Two encodings that are the same bytes are told as the first.
            if !same
                .iter()
                .any(|n| n.bytes == needle.bytes && n.name == needle.name)
            {
                same.push(needle);
            }
        }
    }

    /// The names of the values.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

/// A value as it may stand in a file.
fn encodings(value: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let mut all = vec![("as it is", value.to_vec())];
    if let Ok(text) = std::str::from_utf8(value) {
        let units: Vec<u16> = text.encode_utf16().collect();
        all.push((
            "in UTF-16",
            units.iter().flat_map(|u| u.to_le_bytes()).collect(),
        ));
        all.push((
            "in UTF-16BE",
            units.iter().flat_map(|u| u.to_be_bytes()).collect(),
        ));
        // As JSON and many sources have it: `\` twice, as in Windows paths.
        all.push((
            "escaped",
            text.replace('\\', "\\\\").replace('"', "\\\"").into_bytes(),
        ));
    }
    let hex = crate::name::hex(value);
    all.push(("in hex", hex.to_ascii_uppercase().into_bytes()));
    all.push(("in hex", hex.into_bytes()));
    for spared in ["-._~", "-._~/", "-._~/:"] {
        for upper in [true, false] {
            all.push(("URL-encoded", percent(value, spared, upper)));
        }
    }
    for shift in 0..3 {
        for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
            let shifted = [&[0; 3][..shift], value].concat();
            let text = engine.encode(&shifted).into_bytes();
            // Digits that neighbours have a part in are not ours.
            let start = (shift * 8).div_ceil(6);
            let end = shifted.len() * 8 / 6;
            all.push((
                "in base64",
                text.get(start..end).unwrap_or_default().to_vec(),
            ));
        }
    }
    all
}

fn percent(value: &[u8], spared: &str, upper: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in value {
        if byte.is_ascii_alphanumeric() || spared.as_bytes().contains(byte) {
            out.push(*byte);
        } else if upper {
            out.extend(format!("%{byte:02X}").into_bytes());
        } else {
            out.extend(format!("%{byte:02x}").into_bytes());
        }
    }
    out
}

/// One search through bytes that come in pieces.
#[derive(Debug)]
pub struct Search<'n> {
    needles: &'n Needles,
    /// The end of what came before, where a needle may begin.
    rest: Vec<u8>,
    hits: BTreeSet<(&'n str, &'static str)>,
}

impl<'n> Search<'n> {
    /// A search for these.
    #[must_use]
    pub const fn new(needles: &'n Needles) -> Self {
        Self {
            needles,
            rest: Vec::new(),
            hits: BTreeSet::new(),
        }
    }

    /// Looks at the next piece.
    pub fn feed(&mut self, piece: &[u8]) {
        if self.needles.longest == 0 {
            return;
        }
        let keep = self.needles.longest - 1;
        self.rest.extend_from_slice(&piece[..piece.len().min(keep)]);
        let rest = std::mem::take(&mut self.rest);
        self.scan(&rest);
        self.scan(piece);
        let from = piece.len().saturating_sub(keep);
        self.rest = if from == 0 { rest } else { Vec::new() };
        if from > 0 {
            self.rest.extend_from_slice(&piece[from..]);
        }
        let over = self.rest.len().saturating_sub(keep);
        self.rest.drain(..over);
    }

    fn scan(&mut self, bytes: &[u8]) {
        for (at, window) in bytes.windows(KEY).enumerate() {
            let Some(key) = window.first_chunk::<KEY>() else {
                continue;
            };
            if !self.needles.bits.has(*key) {
                continue;
            }
            let Some(needles) = self.needles.by_key.get(key) else {
                continue;
            };
            for needle in needles {
                if bytes[at..].starts_with(&needle.bytes) {
                    self.hits.insert((&needle.name, needle.encoding));
                }
            }
        }
    }

    /// What was found: the value's name and its encoding.
    pub fn hits(&self) -> impl Iterator<Item = (&'n str, &'static str)> {
        self.hits.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::STANDARD;
    use proptest::prelude::*;

    use super::*;

    const VALUE: &str = r"http://cache.lan:8080/dir\é";

    fn found(bytes: &[u8], piece: usize) -> Vec<&'static str> {
        let mut needles = Needles::default();
        needles.add("V", VALUE.as_bytes());
        let mut search = Search::new(&needles);
        for piece in bytes.chunks(piece) {
            search.feed(piece);
        }
        search.hits().map(|(_, encoding)| encoding).collect()
    }

    #[test]
    fn every_encoding_is_found_at_every_place_and_in_any_pieces() {
        let utf16: Vec<u8> = VALUE.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let hex = crate::name::hex(VALUE.as_bytes());
        for pad in 0..7 {
            let around = |inner: &[u8]| [&vec![b'x'; pad][..], inner, b"yy"].concat();
            let base64 = STANDARD.encode(around(VALUE.as_bytes()));
            for (bytes, encoding) in [
                (around(VALUE.as_bytes()), "as it is"),
                (around(&utf16), "in UTF-16"),
                (around(hex.as_bytes()), "in hex"),
                (
                    around(b"http%3A%2F%2Fcache.lan%3A8080%2Fdir%5C%C3%A9"),
                    "URL-encoded",
                ),
                (around(b"http://cache.lan:8080/dir%5c%c3%a9"), "URL-encoded"),
                (
                    around(r"http://cache.lan:8080/dir\\é".as_bytes()),
                    "escaped",
                ),
                (base64.into_bytes(), "in base64"),
            ] {
                for piece in [1, 3, 7, 1000] {
                    assert_eq!(found(&bytes, piece), [encoding], "{pad} {piece}");
                }
            }
        }
    }

    #[test]
    fn a_part_of_a_value_is_not_the_value() {
        assert!(found(&VALUE.as_bytes()[1..], 1000).is_empty());
        assert!(found(b"", 1).is_empty());
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            bytes in proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'b')], 0..200),
            piece in 1_usize..20
        ) {
            let mut needles = Needles::default();
            needles.add("V", b"abaabb");
            needles.add("W", b"bbbbbbbbb");
            let run = |piece: usize| {
                let mut search = Search::new(&needles);
                for piece in bytes.chunks(piece) {
                    search.feed(piece);
                }
                search.hits().collect::<Vec<_>>()
            };
            prop_assert_eq!(run(piece), run(1000));
        }
    }
}
