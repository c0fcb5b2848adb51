//! What differs between two products of one step.

mod bytes;
mod product;
mod regions;
mod report;

use std::io;
use std::path::Path;

use serde::Serialize;

pub use bytes::Bytes;
use product::{Entry, Product};
pub use report::SCHEMA;

/// What came of two runs of a step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// How many paths both products have together.
    pub paths: usize,
    /// What differs, by path.
    pub differences: Vec<Difference>,
    /// Files with another time: no key has times.
    pub times: usize,
}

/// A path that differs, and how.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The path, without a `/` in front.
    pub path: String,
    /// What of it differs: at least one thing.
    pub how: Vec<How>,
}

/// How a path differs: in the first product, and in the second.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// Only the first product has it.
    OnlyFirst,
    /// Only the second product has it.
    OnlySecond,
    /// It is another kind of thing: `file`, `directory`, …
    Kind(&'static str, &'static str),
    /// Its mode.
    Mode(u32, u32),
    /// The numbers of its owner and group.
    Owner(String, String),
    /// What it links to.
    Link(String, String),
    /// Its bytes.
    Bytes(Bytes),
}

/// Compares two products, each a tar.
///
/// # Errors
/// When one cannot be read, or is no tar.
pub fn compare(first: &Path, second: &Path) -> io::Result<Comparison> {
    let (first, second) = (Product::open(first)?, Product::open(second)?);
    let mut comparison = Comparison {
        paths: 0,
        differences: Vec::new(),
        times: 0,
    };
    for (path, one) in &first.entries {
        let how = match second.entries.get(path) {
            None => vec![How::OnlyFirst],
            Some(other) => {
                comparison.times += usize::from(one.time != other.time && one.kind == "file");
                let mut how = headers(one, other);
                how.extend(contents((&first, one), (&second, other))?.map(How::Bytes));
                how
            }
        };
        comparison.push(path, how);
    }
    let added = second.entries.keys();
    for path in added.filter(|path| !first.entries.contains_key(*path)) {
        comparison.push(path, vec![How::OnlySecond]);
    }
    comparison.differences.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(comparison)
}

impl Comparison {
    fn push(&mut self, path: &str, how: Vec<How>) {
        self.paths += 1;
        if !how.is_empty() {
            let path = path.to_owned();
            self.differences.push(Difference { path, how });
        }
    }

    /// Whether both products are the same, as keys see it.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.differences.is_empty()
    }
}

fn headers(one: &Entry, other: &Entry) -> Vec<How> {
    let mut how = Vec::new();
    if one.kind != other.kind {
        how.push(How::Kind(one.kind, other.kind));
    }
    if one.mode != other.mode {
        how.push(How::Mode(one.mode, other.mode));
    }
    if one.owner != other.owner {
        how.push(How::Owner(one.owner.clone(), other.owner.clone()));
    }
    if one.link != other.link {
        how.push(How::Link(one.link.clone(), other.link.clone()));
    }
    how
}

/// Files above this are not looked into: that they differ is said, and where they begin to.
const MOST: u64 = 256 << 20;

fn contents(first: (&Product, &Entry), second: (&Product, &Entry)) -> io::Result<Option<Bytes>> {
    let (one, other) = (first.1, second.1);
    if one.kind != "file" || other.kind != "file" {
        return Ok(None);
    }
    let Some(at) = product::first_difference(first, second)? else {
        return Ok(None);
    };
    if one.size.max(other.size) > MOST {
        return Ok(Some(Bytes::unread((one.size, other.size), at)));
    }
    let (old, new) = (first.0.read(one)?, second.0.read(other)?);
    Ok(Some(Bytes::of(&old, &new)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    type File<'a> = (&'a str, u32, u64, &'a [u8]);

    fn tar(files: &[File<'_>]) -> tempfile::NamedTempFile {
        let mut tar = tar::Builder::new(Vec::new());
        for (path, mode, time, data) in files {
            let mut header = tar::Header::new_gnu();
            header.set_mode(*mode);
            header.set_uid(0);
            header.set_gid(0);
            header.set_mtime(*time);
            header.set_size(data.len() as u64);
            tar.append_data(&mut header, path, *data).unwrap();
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), tar.into_inner().unwrap()).unwrap();
        file
    }

    fn compared(first: &[File<'_>], second: &[File<'_>]) -> Comparison {
        compare(tar(first).path(), tar(second).path()).unwrap()
    }

    #[test]
    fn times_alone_are_no_difference() {
        let file = |time| [("out/a", 0o644, time, &b"a"[..])];
        let found = compared(&file(1), &file(2));
        assert!(found.is_same(), "{found:?}");
        assert_eq!((found.paths, found.times), (1, 1));
    }

    #[test]
    fn everything_that_differs_is_named() {
        let first: [File<'_>; 4] = [
            ("bytes", 0o644, 0, b"at 12:00:01\n"),
            ("gone", 0o644, 0, b""),
            ("mode", 0o644, 0, b""),
            ("same", 0o644, 0, b"same"),
        ];
        let second: [File<'_>; 4] = [
            ("bytes", 0o644, 0, b"at 12:00:03\n"),
            ("mode", 0o755, 0, b""),
            ("new", 0o644, 0, b""),
            ("same", 0o644, 0, b"same"),
        ];
        let found = compared(&first, &second);
        insta::assert_snapshot!(found.text("stage/step"));
        assert_eq!(found.paths, 5);
    }
}
