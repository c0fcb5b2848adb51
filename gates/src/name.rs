//! Names are bytes: what a file system, an archive or a zip says, valid text or not.

use std::ffi::OsString;
use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of something inspected: `lib/z.lib(foo.obj)`, `wheels/x.whl!x/m.pyd`.
///
/// As JSON it is a string when it is UTF-8, else `{"bytes":"hex"}`; printed, whatever could
/// confuse a terminal is escaped.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Name(Vec<u8>);

impl Name {
    /// A name of these bytes.
    #[must_use]
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A path below this one.
    #[must_use]
    pub fn join(&self, part: &[u8]) -> Self {
        let mut bytes = self.0.clone();
        if !bytes.is_empty() && !bytes.ends_with(b"/") {
            bytes.push(b'/');
        }
        bytes.extend_from_slice(part);
        Self(bytes)
    }

    /// A member of an archive of this name: `z.lib(foo.obj)`.
    #[must_use]
    pub fn archive_member(&self, member: &[u8]) -> Self {
        Self([&self.0, b"(".as_slice(), member, b")"].concat())
    }

    /// A member of a zip of this name: `x.whl!m.pyd`.
    #[must_use]
    pub fn zip_member(&self, member: &[u8]) -> Self {
        Self([&self.0, b"!".as_slice(), member].concat())
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self::new(text.as_bytes())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for chunk in self.0.utf8_chunks() {
            for c in chunk.valid().chars() {
                match c {
                    '\'' | '"' => write!(f, "{c}")?,
                    c => write!(f, "{}", c.escape_debug())?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    bytes: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Json {
    Text(String),
    Raw(Raw),
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match std::str::from_utf8(&self.0) {
            Ok(text) => serializer.serialize_str(text),
            Err(_) => Raw {
                bytes: hex(&self.0),
            }
            .serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Json::deserialize(deserializer)? {
            Json::Text(text) => Ok(Self(text.into_bytes())),
            Json::Raw(raw) => unhex(&raw.bytes)
                .map(Self)
                .ok_or_else(|| D::Error::custom("`bytes` is not lower-case hex")),
        }
    }
}

/// A name as this system's file names are: the same bytes where those are bytes.
#[must_use]
pub fn os(name: &[u8]) -> OsString {
    #[cfg(unix)]
    return std::os::unix::ffi::OsStringExt::from_vec(name.to_vec());
    #[cfg(not(unix))]
    return String::from_utf8_lossy(name).into_owned().into();
}

/// Lower-case hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    bytes.iter().fold(String::new(), |mut out, byte| {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
        out
    })
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| match b {
        b'0'..=b'9' => Some(b - b'0'),
        b'a'..=b'f' => Some(b - b'a' + 10),
        _ => None,
    };
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    pairs
        .iter()
        .map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_text_survives_json_and_prints_escaped() {
        let name = Name::new(*b"bin/\xff\x1b[31m.dll");
        let json = serde_json::to_string(&name).unwrap();
        assert_eq!(json, r#"{"bytes":"62696e2fff1b5b33316d2e646c6c"}"#);
        assert_eq!(serde_json::from_str::<Name>(&json).unwrap(), name);
        assert_eq!(name.to_string(), r"bin/\xff\u{1b}[31m.dll");
    }

    #[test]
    fn text_names_are_plain_json_strings() {
        let name = Name::from("lib/größe.lib").archive_member(b"a.obj");
        let json = serde_json::to_string(&name).unwrap();
        assert_eq!(json, "\"lib/größe.lib(a.obj)\"");
        assert_eq!(serde_json::from_str::<Name>(&json).unwrap(), name);
        assert!(serde_json::from_str::<Name>(r#"{"bytes":"6"}"#).is_err());
        assert!(serde_json::from_str::<Name>(r#"{"bytes":"6F"}"#).is_err());
    }
}
