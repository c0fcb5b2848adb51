//! One file with the digests of a whole release, as `sha256sum` writes it: who downloads a part of
//! the release takes only what stands there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::INDEX;
use crate::exit::Failure;
use crate::list;
use crate::loader::base;
use crate::name::Name;
use crate::seen::Seen;

/// Bytes of an index.
const MOST: u64 = 4 << 20;

/// What the index of a release is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Index {
    /// Its name, which begins with the label of an output.
    pub file: String,
    /// Names of files that are fetched from elsewhere and must stand in it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<String>,
}

impl Index {
    /// Holds the index at `path` against the files of a release.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] for I/O.
    pub(super) fn check(
        &self,
        path: &Path,
        files: &BTreeMap<&Name, &Path>,
        found: &mut Seen,
    ) -> Result<(), Failure> {
        let index = Name::from(self.file.as_str());
        let bytes = match list::read(path, MOST)? {
            Ok(bytes) => bytes,
            Err(size) => {
                let why = format!("{size} bytes, of which at most {MOST} are read");
                found.wrong(INDEX, &index, why);
                return Ok(());
            }
        };
        let told = lines(&bytes, &index, found);
        let mut known: BTreeSet<&[u8]> = BTreeSet::new();
        for (name, path) in files {
            let base = base(name.bytes());
            if !known.insert(base) {
                let why = "another file of the release has the same name: the index cannot tell them apart";
                found.wrong(INDEX, name, why);
                continue;
            }
            let actual = list::sha256(path)?;
            match told.get(base) {
                None => found.wrong(INDEX, name, format!("it is not in `{index}`")),
                Some(told) if *told == actual => found.count("indexed", name, &[]),
                Some(told) => {
                    let why = format!("`{index}` has another digest of it");
                    found.differs(INDEX, name, told, actual, why);
                }
            }
        }
        for name in &self.elsewhere {
            if told.contains_key(name.as_bytes()) {
                known.insert(name.as_bytes());
                found.count("indexed", &Name::from(name.as_str()), &[]);
            } else {
                let why = format!("it is fetched from elsewhere, and not in `{index}`");
                found.wrong(INDEX, &Name::from(name.as_str()), why);
            }
        }
        for name in told.keys().filter(|name| !known.contains(name.as_slice())) {
            let why = format!("it is in `{index}`, and not in the release");
            found.wrong(INDEX, &Name::new(name.as_slice()), why);
        }
        Ok(())
    }
}

/// Digests by name; a line that says neither is a finding.
fn lines(bytes: &[u8], index: &Name, found: &mut Seen) -> BTreeMap<Vec<u8>, String> {
    let mut told = BTreeMap::new();
    for (number, line) in (1..).zip(bytes.split(|b| *b == b'\n')) {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        let Some((digest, name)) = one(line) else {
            let why = format!("line {number} is no digest with a name, as sha256sum writes them");
            found.wrong(INDEX, index, why);
            continue;
        };
        if told.insert(name.to_vec(), digest).is_some() {
            let why = format!("line {number} names {} again", Name::new(name));
            found.wrong(INDEX, index, why);
        }
    }
    told
}

/// 64 digits, a space, a space or a star, and a name; `./` in front of that is nothing.
fn one(line: &[u8]) -> Option<(String, &[u8])> {
    let (digest, rest) = line.split_at_checked(64)?;
    let name = rest
        .strip_prefix(b"  ")
        .or_else(|| rest.strip_prefix(b" *"))?;
    let name = name.strip_prefix(b"./").unwrap_or(name);
    let digest = std::str::from_utf8(digest).ok()?.to_ascii_lowercase();
    let hex = digest.bytes().all(|b| b.is_ascii_hexdigit());
    (hex && !name.is_empty()).then_some((digest, name))
}
