//! Digests of the files that steps see, out of a directory of this machine.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use llb::Digest;
use stages::diag::Report;
use stages::ignore::Ignore;
use stages::plan::Plan;

/// How deep directories may lie in each other. What lies deeper is not read, and neither are rings of links.
const DEPTH: usize = 64;

/// A directory that steps take files from.
#[derive(Debug)]
pub struct DiskContents {
    root: PathBuf,
    ignore: Ignore,
    /// The ignore file's name.
    named: String,
    known: Mutex<BTreeMap<String, Option<String>>>,
}

impl DiskContents {
    /// The directory, with the ignore file of the lane file, else its own `.dockerignore`.
    ///
    /// # Errors
    /// Why the ignore file that counts cannot be read, a sentence: another one in its place would be another context.
    pub fn open(root: &Path, lane_file: &Path) -> Result<Self, String> {
        let usual = ".dockerignore";
        let name = lane_file.file_name().unwrap_or_default().to_string_lossy();
        let named = format!("{name}{usual}");
        let own = ignore_file(&lane_file.with_file_name(&named))?;
        let (named, text) = match own {
            Some(text) => (named, text),
            None => {
                let text = ignore_file(&root.join(usual))?;
                (usual.to_owned(), text.unwrap_or_default())
            }
        };
        Ok(Self {
            root: root.to_owned(),
            ignore: Ignore::parse(&text),
            named,
            known: Mutex::default(),
        })
    }

    /// The digest of a file's bytes, or of all names and bytes below a directory. Modes and times are not in it, since
    /// what a step sees has none of its own. Nothing when it is not there.
    pub fn digest(&self, path: &str) -> Option<String> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(digest) = known.get(path) {
            return digest.clone();
        }
        // Whoever else asks for it meanwhile waits: nothing is read twice.
        let digest = self.read(path, &self.root.join(path), 0);
        known.insert(path.to_owned(), digest.clone());
        digest
    }

    /// That nothing which a plan takes of the context is left out of it by the ignore file.
    ///
    /// # Errors
    /// Everything that is.
    pub fn sends(&self, plan: &Plan) -> Result<(), Report> {
        stages::ignore::check(plan, &self.ignore, &self.named)
    }

    /// Whether nothing is at a path; a link to nothing is nothing.
    #[must_use]
    pub fn lacks(&self, path: &str) -> bool {
        matches!(fs::metadata(self.root.join(path)), Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
    }

    /// The paths of all that is below a directory, relative to it; nothing when it is not there.
    #[must_use]
    pub fn below(&self, directory: &str) -> Option<Vec<String>> {
        let path = directory.trim_end_matches('/');
        let mut found = Vec::new();
        let mut open = vec![(String::new(), 0)];
        while let Some((below, depth)) = open.pop() {
            let whole = [path, &below].join("/");
            for name in names(&self.root.join(whole.trim_end_matches('/')))? {
                let below = [below.as_str(), &name].join("/");
                let below = below.trim_start_matches('/').to_owned();
                let whole = format!("{path}/{below}");
                if self.ignore.takes(&whole) {
                    continue;
                }
                let about = fs::symlink_metadata(self.root.join(&whole)).ok()?;
                if about.is_dir() && depth < DEPTH {
                    open.push((below.clone(), depth + 1));
                }
                found.push(below);
            }
        }
        Some(found)
    }

    fn read(&self, path: &str, at: &Path, depth: usize) -> Option<String> {
        // What a step names may be a link; what lies below a directory is taken as it is.
        let about = match depth {
            0 => fs::metadata(at),
            _ => fs::symlink_metadata(at),
        };
        let about = about.ok()?;
        if about.is_symlink() {
            let to = fs::read_link(at).ok()?;
            return Some(short(format!("link {}", to.display()).as_bytes()));
        }
        if about.is_file() {
            return fs::read(at).ok().map(|bytes| short(&bytes));
        }
        if !about.is_dir() || depth > DEPTH {
            return None;
        }
        let mut list = String::new();
        for name in names(at)? {
            let below = match path {
                "" => name.clone(),
                path => format!("{path}/{name}"),
            };
            if self.ignore.takes(&below) {
                continue;
            }
            let digest = self.read(&below, &at.join(&name), depth + 1);
            list.push_str(&format!("{name}\0{}\n", digest.unwrap_or_default()));
        }
        Some(short(list.as_bytes()))
    }
}

/// The text of an ignore file, which need not be there.
fn ignore_file(path: &Path) -> Result<Option<String>, String> {
    let unread = |why: String| format!("{} cannot be read: {why}", path.display());
    match fs::read(path) {
        Ok(bytes) => stages::file::text_of_bytes(bytes).map(Some).map_err(unread),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unread(error.to_string())),
    }
}

/// The names in a directory, sorted.
fn names(at: &Path) -> Option<Vec<String>> {
    let entries = fs::read_dir(at).ok()?;
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Some(names)
}

/// As in key manifests: 32 hex digits.
fn short(bytes: &[u8]) -> String {
    Digest::of(bytes).to_string()["sha256:".len()..][..32].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(root: &Path, path: &str) -> Option<String> {
        opened(root).expect("no ignore file is wrong").digest(path)
    }

    fn opened(root: &Path) -> Result<DiskContents, String> {
        DiskContents::open(root, &root.join("lanes.toml"))
    }

    #[test]
    fn an_ignore_file_that_is_no_text_is_an_error_and_no_other_stands_in_for_it() {
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("lanes.toml.dockerignore");
        fs::write(root.path().join(".dockerignore"), "a\n").unwrap();
        fs::write(&own, b"b\nc\xff\n").unwrap();
        let why = opened(root.path()).unwrap_err();
        let says =
            "lanes.toml.dockerignore cannot be read: it is not text: byte 3 (line 2) is not UTF-8";
        assert!(why.ends_with(says), "{why}");
        fs::remove_file(&own).unwrap();
        fs::create_dir(&own).unwrap();
        let why = opened(root.path()).unwrap_err();
        assert!(
            why.contains("lanes.toml.dockerignore cannot be read"),
            "{why}"
        );
        fs::remove_dir(&own).unwrap();
        assert_eq!(opened(root.path()).unwrap().named, ".dockerignore");
        fs::write(root.path().join(".dockerignore"), b"\xff").unwrap();
        let why = opened(root.path()).unwrap_err();
        assert!(why.contains(".dockerignore cannot be read"), "{why}");
    }

    #[test]
    fn names_and_bytes_count_and_nothing_else_does() {
        let root = tempfile::tempdir().unwrap();
        let file = |name: &str| root.path().join("d").join(name);
        fs::create_dir_all(file("sub")).unwrap();
        fs::write(file("a"), "1").unwrap();
        fs::write(file("sub/b"), "2").unwrap();
        let first = digest(root.path(), "d");
        assert!(first.is_some());
        fs::write(file("a"), "1").unwrap();
        assert_eq!(digest(root.path(), "d"), first, "written again");
        fs::write(file("sub/b"), "3").unwrap();
        let second = digest(root.path(), "d");
        assert_ne!(second, first, "other bytes");
        fs::rename(file("a"), file("c")).unwrap();
        assert_ne!(digest(root.path(), "d"), second, "another name");
        assert_eq!(digest(root.path(), "none"), None);
    }

    #[test]
    fn all_that_is_sent_of_a_directory_is_below_it() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("d/sub/deep")).unwrap();
        for file in ["d/a", "d/sub/b", "d/sub/deep/c", "d/x.tmp"] {
            fs::write(root.path().join(file), "1").unwrap();
        }
        fs::write(root.path().join(".dockerignore"), "**/*.tmp\n").unwrap();
        let contents = opened(root.path()).unwrap();
        let mut below = contents.below("d/").unwrap();
        below.sort();
        assert_eq!(below, ["a", "sub", "sub/b", "sub/deep", "sub/deep/c"]);
        assert_eq!(contents.below("none/"), None);
    }

    #[test]
    fn what_is_not_sent_does_not_count() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("d")).unwrap();
        fs::write(root.path().join("d/a"), "1").unwrap();
        fs::write(root.path().join(".dockerignore"), "**/*.tmp\n").unwrap();
        let first = digest(root.path(), "d");
        fs::write(root.path().join("d/x.tmp"), "1").unwrap();
        assert_eq!(digest(root.path(), "d"), first);
    }
}
