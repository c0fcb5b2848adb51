//! SHA-256 digests, by which BuildKit names vertices.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

use crate::Error;

/// The SHA-256 of some bytes; written `sha256:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl Digest {
    /// Its 64 hex digits.
    #[must_use]
    pub fn hex(&self) -> String {
        let mut text = String::with_capacity(64);
        self.write_hex(&mut text);
        text
    }

    fn write_hex(&self, text: &mut String) {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        for byte in self.0 {
            for half in [byte >> 4, byte & 15] {
                text.push(char::from(DIGITS[usize::from(half)]));
            }
        }
    }
}

/// A digest that is made of bytes as they come.
#[derive(Clone, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Takes more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes that were taken.
    #[must_use]
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(71);
        text.push_str("sha256:");
        self.write_hex(&mut text);
        f.pad(&text)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = Error;

    /// Reads `sha256:` and 64 lower-case hex digits.
    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = || Error::Invalid {
            what: "digest",
            value: text.to_owned(),
            expected: "sha256: and 64 lower-case hex digits",
        };
        let hex = text.strip_prefix("sha256:").ok_or_else(invalid)?;
        if hex.len() != 64 {
            return Err(invalid());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks(2)) {
            for &digit in pair {
                let value = match digit {
                    b'0'..=b'9' => digit - b'0',
                    b'a'..=b'f' => digit - b'a' + 10,
                    _ => return Err(invalid()),
                };
                *byte = *byte << 4 | value;
            }
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_of_nothing_is_the_well_known_one() {
        assert_eq!(
            Digest::of(b"").to_string(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn bytes_in_parts_are_the_bytes() {
        let mut hasher = Hasher::default();
        hasher.update(b"la");
        hasher.update(b"ne");
        let digest = hasher.finish();
        assert_eq!(digest, Digest::of(b"lane"));
        assert_eq!(format!("sha256:{}", digest.hex()), digest.to_string());
    }

    #[test]
    fn text_and_digest_are_inverse() {
        let digest = Digest::of(b"lane");
        assert_eq!(digest.to_string().parse(), Ok(digest));
    }

    #[test]
    fn other_texts_are_refused() {
        let hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        for text in [
            "",
            hex,
            &format!("sha512:{hex}"),
            &format!("sha256:{}", &hex[1..]),
            &format!("sha256:{}", hex.to_uppercase()),
            &format!("sha256:é{}", &hex[2..]),
        ] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }
}
