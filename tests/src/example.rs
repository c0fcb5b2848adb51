//! A copy of an example that a test may change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

/// A directory with a lane file and what belongs to it, gone when dropped.
#[derive(Debug)]
pub struct Example {
    directory: TempDir,
}

impl Example {
    /// A copy of `graphs/media` that no build had before: its base stage has a variable of its own,
    /// so no step is in any cache, and its product has bytes of its own, so no gate is.
    ///
    /// # Panics
    /// When the example is not what it was.
    pub fn fresh() -> Self {
        let example = Self::media();
        let (lang, nonce) = ("env.LANG = \"C.UTF-8\"", nonce());
        example.edit(
            "lanes.toml",
            lang,
            &format!("{lang}\nenv.NONCE = \"{nonce}\""),
        );
        example.edit(
            "versions.env",
            "TVM_VERSION=",
            &format!("TVM_VERSION={nonce}-"),
        );
        example
    }

    /// A copy of `graphs/media`: few stages, a step each, and one gate.
    ///
    /// # Panics
    /// When it cannot be copied.
    pub fn media() -> Self {
        Self::copy_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs/media"))
    }

    /// A copy of `examples/NAME`.
    ///
    /// # Panics
    /// When it cannot be copied.
    pub fn copy(name: &str) -> Self {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        Self::copy_of(&examples.join(name))
    }

    /// A copy of a directory.
    ///
    /// # Panics
    /// When it cannot be copied.
    pub fn copy_of(from: &Path) -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        copy_tree(from, directory.path());
        Self { directory }
    }

    /// A directory with just this lane file.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn of(lanes: &str) -> Self {
        let example = Self {
            directory: tempfile::tempdir().expect("a directory"),
        };
        example.write("lanes.toml", lanes);
        example
    }

    /// A copy of it as it is now.
    ///
    /// # Panics
    /// When it cannot be copied.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::copy_of(self.path())
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Writes a file.
    ///
    /// # Panics
    /// When it cannot be written.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.file(name), content).expect("a file is written");
    }

    /// A file's text.
    ///
    /// # Panics
    /// When there is no such text.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).expect("a file is read")
    }

    /// Replaces text in a file.
    ///
    /// # Panics
    /// When the text is not there: a test that changes nothing shows nothing.
    pub fn edit(&self, name: &str, from: &str, to: &str) {
        let text = self.read(name);
        assert!(text.contains(from), "{name} does not hold {from:?}");
        self.write(name, text.replace(from, to));
    }
}

/// A text that was never used before.
pub fn nonce() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map(|d| d.as_nanos())
        .unwrap_or_default();
    format!(
        "{now:x}-{}-{}",
        process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    )
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory is made");
    for entry in fs::read_dir(from).expect("a directory is read") {
        let entry = entry.expect("an entry is read");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a kind of file").is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a file is copied");
        }
    }
}
