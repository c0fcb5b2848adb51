//! Lists a tree: every entry once, in the order of its name's bytes, links not followed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::limit;
use crate::name::Name;
use crate::parallel::in_parallel;

/// A directory (or a single file) to look at, and the name it goes by in reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// Where it lies.
    pub path: PathBuf,
    /// What names of its files begin with; may be empty.
    pub label: Name,
}

/// What a walk found.
#[derive(Debug, Default)]
pub struct Tree {
    /// Regular files, sorted by name; several hard links are one, under the first.
    pub files: Vec<File>,
    /// Symbolic links and reparse points, sorted by name.
    pub links: Vec<Link>,
    /// Further names of files already listed.
    pub hard_links: u64,
    /// Devices, sockets, pipes.
    pub special: u64,
    /// Files and bytes of each root, in the order the roots were given.
    pub roots: Vec<(Name, u64, u64)>,
    /// The walk stopped at [`limit::TREE_ENTRIES`].
    pub cut: bool,
}

/// A symbolic link. It is not followed; where it leads to is for loaders' rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Its name in reports.
    pub name: Name,
    /// What it says.
    pub target: Vec<u8>,
}

/// A regular file.
#[derive(Debug)]
pub struct File {
    /// Its name in reports: label and path, `/` between them.
    pub name: Name,
    /// Its further names: hard links.
    pub also: Vec<Name>,
    /// Where it lies.
    pub path: PathBuf,
    id: Option<(u64, u64)>,
}

/// Walks the roots.
///
/// # Errors
/// [`Failure::Unreadable`] when a root is missing or anything below it cannot be listed.
pub fn walk(roots: &[Root]) -> Result<Tree, Failure> {
    let mut tree = Tree::default();
    let mut entries = 0;
    for root in roots {
        let mut found = start(root)?;
        let mut open = std::mem::take(&mut found.open);
        // One level after the other, the directories of each on all cores.
        while !open.is_empty() && !tree.cut {
            let left = limit::TREE_ENTRIES - entries;
            let listed = in_parallel(&open, |(path, name)| list(path, name, left))?;
            open.clear();
            for dir in listed {
                entries += dir.entries;
                tree.cut |= entries > limit::TREE_ENTRIES;
                entries = entries.min(limit::TREE_ENTRIES);
                open.extend(dir.open);
                found.files.extend(dir.files);
                tree.links.extend(dir.links);
                tree.special += dir.special;
            }
        }
        let bytes = found.files.iter().map(|(_, bytes)| bytes).sum();
        tree.roots
            .push((root.label.clone(), found.files.len() as u64, bytes));
        tree.files
            .extend(found.files.into_iter().map(|(file, _)| file));
    }
    tree.files.sort_by(|a, b| a.name.cmp(&b.name));
    tree.links.sort_by(|a, b| a.name.cmp(&b.name));
    let mut first = BTreeMap::new();
    for file in std::mem::take(&mut tree.files) {
        let place = tree.files.len();
        let first = file.id.map(|id| *first.entry(id).or_insert(place));
        match first.and_then(|first| tree.files.get_mut(first)) {
            Some(first) => {
                first.also.push(file.name);
                tree.hard_links += 1;
            }
            None => tree.files.push(file),
        }
    }
    Ok(tree)
}

/// What a directory, or a root, holds.
#[derive(Default)]
struct Listed {
    entries: usize,
    /// The directories in it.
    open: Vec<(PathBuf, Name)>,
    /// The files in it and their bytes.
    files: Vec<(File, u64)>,
    links: Vec<Link>,
    special: u64,
}

impl Listed {
    fn file(&mut self, path: PathBuf, name: Name, meta: &fs::Metadata) {
        let file = File {
            name,
            also: Vec::new(),
            path,
            id: id(meta),
        };
        self.files.push((file, meta.len()));
    }
}

/// Where a root begins: a directory, or one file.
fn start(root: &Root) -> Result<Listed, Failure> {
    // A root that is itself a link is meant; only below it links are not followed.
    let meta = fs::metadata(&root.path).map_err(|e| io(&root.path, &e))?;
    let mut listed = Listed::default();
    if meta.is_dir() {
        listed.open.push((root.path.clone(), root.label.clone()));
    } else if meta.is_file() {
        let name = match root.path.file_name() {
            Some(base) => root.label.join(&name_bytes(base)),
            None => root.label.clone(),
        };
        listed.file(root.path.clone(), name, &meta);
    } else {
        return Err(Failure::Unreadable(format!(
            "{}: neither a directory nor a file",
            root.label
        )));
    }
    Ok(listed)
}

/// Lists one directory, of which at most `left` entries and one more count.
fn list(dir: &Path, name: &Name, left: usize) -> Result<Listed, Failure> {
    let mut listed = Listed::default();
    for entry in fs::read_dir(dir).map_err(|e| io(dir, &e))? {
        let entry = entry.map_err(|e| io(dir, &e))?;
        listed.entries += 1;
        if listed.entries > left {
            break;
        }
        let path = entry.path();
        let name = name.join(&name_bytes(&entry.file_name()));
        let kind = entry.file_type().map_err(|e| io(&path, &e))?;
        if kind.is_symlink() {
            let target = fs::read_link(&path).map_err(|e| io(&path, &e))?;
            let target = name_bytes(target.as_os_str());
            listed.links.push(Link { name, target });
        } else if kind.is_dir() {
            listed.open.push((path, name));
        } else if kind.is_file() {
            let meta = entry.metadata().map_err(|e| io(&path, &e))?;
            listed.file(path, name, &meta);
        } else {
            listed.special += 1;
        }
    }
    Ok(listed)
}

fn io(path: &Path, error: &std::io::Error) -> Failure {
    let name = Name::new(path.as_os_str().as_encoded_bytes());
    Failure::io(&name.to_string(), error)
}

/// The bytes of a file name; on Windows, where names are UTF-16, their WTF-8.
fn name_bytes(name: &OsStr) -> Vec<u8> {
    name.as_encoded_bytes().to_vec()
}

#[cfg(unix)]
fn id(meta: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    (meta.nlink() > 1).then(|| (meta.dev(), meta.ino()))
}

#[cfg(not(unix))]
fn id(_: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn root(dir: &tempfile::TempDir) -> Root {
        Root {
            path: dir.path().to_owned(),
            label: Name::from("t"),
        }
    }

    #[test]
    fn links_are_listed_not_followed_and_hard_links_count_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |p: &str| dir.path().join(p);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("sub/z"), "12").unwrap();
        fs::hard_link(at("sub/z"), at("a")).unwrap();
        symlink("a", at("link")).unwrap();
        symlink(".", at("sub/loop")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket.dll")).unwrap();
        let tree = walk(&[root(&dir)]).unwrap();
        let names: Vec<String> = tree.files.iter().map(|f| f.name.to_string()).collect();
        assert_eq!(
            names,
            ["t/a"],
            "the first name in byte order stands for both"
        );
        assert_eq!(tree.files[0].also, [Name::from("t/sub/z")]);
        assert_eq!((tree.links.len(), tree.hard_links, tree.special), (3, 1, 1));
        assert_eq!(tree.roots, [(Name::from("t"), 2, 4)]);
    }

    #[test]
    fn a_missing_root_is_unreadable_and_a_dangling_one_too() {
        let dir = tempfile::tempdir().unwrap();
        let mut gone = root(&dir);
        gone.path = dir.path().join("gone");
        assert_eq!(
            walk(std::slice::from_ref(&gone)).unwrap_err().exit().code(),
            4
        );
        symlink("nowhere", &gone.path).unwrap();
        assert_eq!(walk(&[gone]).unwrap_err().exit().code(), 4);
    }

    #[test]
    fn names_that_are_no_text_are_kept() {
        use std::os::unix::ffi::OsStrExt;
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(OsStr::from_bytes(b"\xff.dll")), "").unwrap();
        let tree = walk(&[root(&dir)]).unwrap();
        assert_eq!(tree.files[0].name.bytes(), b"t/\xff.dll");
    }
}
