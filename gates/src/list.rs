//! A tree as names: every file, directory and link under the path that it has, for checks that
//! ask what is where. ([`crate::walk`] asks which bytes there are, and counts a hard link once.)

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::exit::Failure;
use crate::limit;
use crate::name::{Name, hex};
use crate::report::{Counts, RootCount};
use crate::seen::Seen;
use crate::walk::Root;

/// What lies under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A regular file: where, and how many bytes.
    File(PathBuf, u64),
    /// A directory.
    Directory,
    /// A symbolic link with its target.
    Link(Vec<u8>),
    /// A device, socket or pipe.
    Special,
}

impl Entry {
    /// The word for it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::File(..) => "file",
            Self::Directory => "directory",
            Self::Link(_) => "link",
            Self::Special => "device, socket or pipe",
        }
    }
}

/// All entries below a root, by the name that reports have for them.
pub type Entries = BTreeMap<Name, Entry>;

/// Lists what lies below a root; a root that is a file is listed under its own name.
///
/// # Errors
/// [`Failure::Unreadable`] when the root is missing, something cannot be listed, or there are more
/// than [`limit::TREE_ENTRIES`].
pub fn list(root: &Root) -> Result<Entries, Failure> {
    let mut entries = Entries::new();
    let meta = fs::metadata(&root.path).map_err(|e| io(&root.path, &e))?;
    if meta.is_file() {
        let base = root.path.file_name().unwrap_or_default();
        let name = root.label.join(base.as_encoded_bytes());
        entries.insert(name, Entry::File(root.path.clone(), meta.len()));
        return Ok(entries);
    }
    let mut open = vec![(root.path.clone(), root.label.clone())];
    while let Some((dir, name)) = open.pop() {
        for entry in fs::read_dir(&dir).map_err(|e| io(&dir, &e))? {
            let entry = entry.map_err(|e| io(&dir, &e))?;
            if entries.len() == limit::TREE_ENTRIES {
                let why = format!("TREE_ENTRIES: more than {} entries", limit::TREE_ENTRIES);
                return Err(Failure::Unreadable(format!("{}: {why}", root.label)));
            }
            let path = entry.path();
            let name = name.join(entry.file_name().as_encoded_bytes());
            let kind = entry.file_type().map_err(|e| io(&path, &e))?;
            let entry = if kind.is_symlink() {
                let target = fs::read_link(&path).map_err(|e| io(&path, &e))?;
                Entry::Link(target.as_os_str().as_encoded_bytes().to_vec())
            } else if kind.is_dir() {
                open.push((path, name.clone()));
                Entry::Directory
            } else if kind.is_file() {
                let len = entry.metadata().map_err(|e| io(&path, &e))?.len();
                Entry::File(path, len)
            } else {
                Entry::Special
            };
            entries.insert(name, entry);
        }
    }
    Ok(entries)
}

/// Several trees as names.
#[derive(Debug, Clone, Default)]
pub struct Listed {
    /// All entries.
    pub entries: Entries,
    counts: Counts,
    roots: Vec<RootCount>,
}

impl Listed {
    /// What was found in them, with how much there is.
    #[must_use]
    pub fn seen(self, mut seen: Seen) -> Seen {
        seen.counts.add(&self.counts);
        seen.roots = self.roots;
        seen
    }

    /// The roots, in the order they were given.
    #[must_use]
    pub fn roots(&self) -> &[RootCount] {
        &self.roots
    }

    /// The files with where they lie, in the order of their names.
    pub fn files(&self) -> impl Iterator<Item = (&Name, &Path)> {
        self.entries.iter().filter_map(|(name, entry)| match entry {
            Entry::File(path, _) => Some((name, path.as_path())),
            _ => None,
        })
    }
}

/// Lists several trees.
///
/// # Errors
/// As [`list`].
pub fn listed(roots: &[Root]) -> Result<Listed, Failure> {
    let mut listed = Listed::default();
    for root in roots {
        let mut entries = list(root)?;
        let (mut files, mut bytes) = (0, 0);
        for entry in entries.values() {
            match entry {
                Entry::File(_, size) => {
                    files += 1;
                    bytes += size;
                }
                Entry::Link(_) => listed.counts.links += 1,
                Entry::Special => listed.counts.special += 1,
                Entry::Directory => {}
            }
        }
        listed.counts.files += files;
        listed.roots.push(RootCount {
            bytes,
            files,
            label: root.label.clone(),
        });
        listed.entries.append(&mut entries);
    }
    Ok(listed)
}

/// A file's bytes, when it has at most `most`.
///
/// # Errors
/// [`Failure::Unreadable`] for an I/O error; `Ok(Err(size))` when the file is larger.
pub fn read(path: &Path, most: u64) -> Result<Result<Vec<u8>, u64>, Failure> {
    let file = File::open(path).map_err(|e| io(path, &e))?;
    let size = file.metadata().map_err(|e| io(path, &e))?.len();
    if size > most {
        return Ok(Err(size));
    }
    let mut bytes = Vec::new();
    file.take(most)
        .read_to_end(&mut bytes)
        .map_err(|e| io(path, &e))?;
    Ok(Ok(bytes))
}

/// The sha256 of a file, in hex.
///
/// # Errors
/// [`Failure::Unreadable`] for an I/O error.
pub fn sha256(path: &Path) -> Result<String, Failure> {
    let mut file = File::open(path).map_err(|e| io(path, &e))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(|e| io(path, &e))? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

fn io(path: &Path, error: &std::io::Error) -> Failure {
    Failure::io(
        &Name::new(path.as_os_str().as_encoded_bytes()).to_string(),
        error,
    )
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_name_stands_with_its_kind_and_links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |p: &str| dir.path().join(p);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/a"), "12").unwrap();
        fs::hard_link(at("sub/a"), at("b")).unwrap();
        symlink(".", at("sub/loop")).unwrap();
        let root = Root {
            path: dir.path().to_owned(),
            label: Name::from("t"),
        };
        let entries = list(&root).unwrap();
        let told: Vec<String> = entries
            .iter()
            .map(|(name, entry)| format!("{name} {}", entry.kind()))
            .collect();
        assert_eq!(
            told,
            [
                "t/b file",
                "t/sub directory",
                "t/sub/a file",
                "t/sub/loop link"
            ]
        );
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        fs::write(at("b"), "").unwrap();
        assert_eq!(sha256(&at("b")).unwrap(), empty);
        assert_eq!(read(&at("b"), 0).unwrap(), Ok(Vec::new()));
        fs::write(at("b"), "123").unwrap();
        assert_eq!(read(&at("b"), 2).unwrap(), Err(3));
    }
}
