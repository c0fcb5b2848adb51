//! The files of the ledger.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use llb::Digest;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stages::keys::{Lookups, Manifest};

use super::run::Run;

/// How many builds are kept.
pub const MAX_RUNS: usize = 500;
/// How many bytes of builds are kept.
pub const MAX_BYTES: u64 = 32 << 20;
/// How many keys of a node are kept: the cache may still have what was built before the last change.
const KEYS: usize = 8;
/// How many digits of a line's digest stand before it.
const CHECK: usize = 16;

/// A ledger on disk.
#[derive(Debug)]
pub struct Ledger {
    directory: PathBuf,
}

/// What is known of the nodes of a lane.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct History {
    /// By id.
    pub nodes: BTreeMap<String, Learnt>,
    /// What was looked up for the lane's last build: as in its manifest, which is the larger file by far.
    #[serde(default)]
    pub lookups: Option<Lookups>,
}

/// What is known of a node.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Learnt {
    /// How long it took when it last ran, in seconds.
    #[serde(default)]
    pub seconds: f64,
    /// Pairs of key and own key that were built, the newest last.
    #[serde(default)]
    pub keys: Vec<(String, String)>,
}

impl Learnt {
    /// A key that is in the cache now.
    pub(super) fn built(&mut self, key: &str, own: &str) {
        self.keys.retain(|(known, _)| known != key);
        self.keys.push((key.to_owned(), own.to_owned()));
        let surplus = self.keys.len().saturating_sub(KEYS);
        self.keys.drain(..surplus);
    }
}

impl History {
    /// The keys that were built, each with the own one of the same node.
    pub fn keys(&self) -> impl Iterator<Item = (&str, &str)> {
        let keys = self.nodes.values().flat_map(|node| &node.keys);
        keys.map(|(key, own)| (key.as_str(), own.as_str()))
    }

    /// How long each node took, in seconds, as far as that is known.
    #[must_use]
    pub fn seconds(&self) -> BTreeMap<String, f64> {
        let ran = self.nodes.iter().filter(|(_, node)| node.seconds > 0.0);
        ran.map(|(id, node)| (id.clone(), node.seconds)).collect()
    }
}

impl Ledger {
    /// The ledger of a directory, which need not be there yet.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self {
            directory: directory.to_owned(),
        }
    }

    /// Where a lane file's builds are kept: `LANEKIT_LEDGER`, else `.lanekit` beside it.
    #[must_use]
    pub fn beside(lane_file: &Path) -> Self {
        match std::env::var_os("LANEKIT_LEDGER").filter(|path| !path.is_empty()) {
            Some(path) => Self::new(Path::new(&path)),
            None => Self::new(&lane_file.with_file_name(".lanekit")),
        }
    }

    /// Its directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Nobody else changes the ledger while the file that is handed back is open.
    ///
    /// # Errors
    /// When the directory cannot be written.
    pub fn lock(&self) -> io::Result<File> {
        fs::create_dir_all(&self.directory)?;
        // It stays out of version control by itself.
        let ignore = self.directory.join(".gitignore");
        if !ignore.exists() {
            fs::write(ignore, "*\n")?;
        }
        let lock = File::create(self.directory.join("lock"))?;
        lock.lock()?;
        Ok(lock)
    }

    /// The manifest of a lane's last build.
    #[must_use]
    pub fn manifest(&self, lane: &str) -> Option<Manifest> {
        self.read(&self.of(lane, "manifest"))
    }

    /// What was looked up for a lane's last build, by its manifest.
    #[must_use]
    pub fn lookups(&self, lane: &str) -> Option<Lookups> {
        self.read(&self.of(lane, "manifest"))
    }

    /// What is known of a lane's nodes.
    #[must_use]
    pub fn history(&self, lane: &str) -> History {
        self.read(&self.of(lane, "keys")).unwrap_or_default()
    }

    /// What is known of the nodes of every lane, by the lane.
    #[must_use]
    pub fn histories(&self) -> BTreeMap<String, History> {
        let Ok(entries) = fs::read_dir(&self.directory) else {
            return BTreeMap::new();
        };
        let one = |path: PathBuf| {
            let lane = path
                .file_name()?
                .to_str()?
                .strip_suffix(".keys.json")?
                .to_owned();
            Some((lane, self.read(&path)?))
        };
        let paths = entries.flatten().map(|entry| entry.path());
        paths.filter_map(one).collect()
    }

    fn of(&self, lane: &str, what: &str) -> PathBuf {
        self.directory.join(format!("{lane}.{what}.json"))
    }

    fn runs_file(&self) -> PathBuf {
        self.directory.join("runs.jsonl")
    }

    /// What cannot be read is as if it were not there: the next build writes it anew.
    fn read<T: DeserializeOwned>(&self, path: &Path) -> Option<T> {
        let bytes = fs::read(path).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Keeps what a lane's last build was. The lock must be held.
    ///
    /// # Errors
    /// When it cannot be written; what was there before is then still there.
    pub fn keep(&self, manifest: &Manifest, history: &History) -> io::Result<()> {
        self.replace(&self.of(&manifest.lane, "manifest"), manifest)?;
        self.replace(&self.of(&manifest.lane, "keys"), history)
    }

    fn replace(&self, path: &Path, what: &impl Serialize) -> io::Result<()> {
        let new = path.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec(what)?)?;
        file.sync_all()?;
        fs::rename(new, path)
    }

    /// The builds, the oldest first, and how many lines could not be read.
    #[must_use]
    pub fn runs(&self) -> (Vec<Run>, usize) {
        let text = fs::read(self.runs_file()).unwrap_or_default();
        let lines: Vec<Option<Run>> = lines(&text).map(parse).collect();
        let torn = lines.iter().filter(|line| line.is_none()).count();
        (lines.into_iter().flatten().collect(), torn)
    }

    /// The last build that fits, without reading all of them, and how many lines behind it could not be read.
    #[must_use]
    pub fn last(&self, fits: impl Fn(&Run) -> bool) -> (Option<Run>, usize) {
        let bytes = fs::read(self.runs_file()).unwrap_or_default();
        let newest_first = bytes.rsplit(|byte| *byte == b'\n');
        let mut torn = 0;
        for line in newest_first.filter(|line| !line.is_empty()) {
            match parse(line) {
                Some(run) if fits(&run) => return (Some(run), torn),
                Some(_) => {}
                None => torn += 1,
            }
        }
        (None, torn)
    }

    /// One more build; it gets the next number. The lock must be held.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn append(&self, run: &mut Run) -> io::Result<()> {
        run.number = self.last(|_| true).0.map_or(1, |last| last.number + 1);
        let json = serde_json::to_string(run)?;
        let mut file = OpenOptions::new()
            .create(true)
            .read(true)
            .append(true)
            .open(self.runs_file())?;
        let mut line = String::new();
        if torn(&mut file)? {
            line.push('\n');
        }
        line.push_str(&format!("{} {json}\n", check(json.as_bytes())));
        file.write_all(line.as_bytes())?;
        file.sync_all()?;
        self.trim()
    }

    /// Drops the oldest builds of a ledger that is too large: half of what may be is left.
    fn trim(&self) -> io::Result<()> {
        let bytes = fs::read(self.runs_file())?;
        let all: Vec<&[u8]> = lines(&bytes).collect();
        if bytes.len() as u64 <= MAX_BYTES && all.len() <= MAX_RUNS {
            return Ok(());
        }
        let mut kept = Vec::new();
        let mut size = 0;
        for line in all.iter().rev().take(MAX_RUNS / 2) {
            size += line.len() as u64 + 1;
            // The newest one stays, however large it is.
            if size > MAX_BYTES / 2 && !kept.is_empty() {
                break;
            }
            kept.push(*line);
        }
        kept.reverse();
        let new = self.runs_file().with_extension("new");
        let mut file = File::create(&new)?;
        for line in kept {
            file.write_all(line)?;
            file.write_all(b"\n")?;
        }
        file.sync_all()?;
        fs::rename(new, self.runs_file())
    }
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
}

/// Whether the last line has no end.
fn torn(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

fn check(json: &[u8]) -> String {
    Digest::of(json).to_string()["sha256:".len()..][..CHECK].to_owned()
}

/// A line with its checksum; nothing when either is wrong.
fn parse(line: &[u8]) -> Option<Run> {
    let (sum, rest) = line.split_at_checked(CHECK)?;
    let json = rest.strip_prefix(b" ")?;
    (check(json).as_bytes() == sum).then_some(())?;
    serde_json::from_slice(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(lane: &str) -> Run {
        Run {
            lane: lane.to_owned(),
            ..Run::default()
        }
    }

    #[test]
    fn the_last_eight_keys_of_a_node_are_known_the_newest_last() {
        let mut learnt = Learnt::default();
        for key in 0..=KEYS {
            learnt.built(&key.to_string(), "");
        }
        learnt.built("4", "");
        let keys: Vec<&str> = learnt.keys.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["1", "2", "3", "5", "6", "7", "8", "4"]);
    }

    #[test]
    fn a_torn_line_is_passed_over_and_the_next_one_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(directory.path());
        let _lock = ledger.lock().unwrap();
        ledger.append(&mut run("a")).unwrap();
        let file = ledger.runs_file();
        let whole = fs::read(&file).unwrap();
        // Whatever part of a second line a crash left.
        for cut in 1..whole.len() {
            let mut text = whole.clone();
            text.extend(&whole[..cut]);
            fs::write(&file, text).unwrap();
            let mut next = run("b");
            ledger.append(&mut next).unwrap();
            let (runs, _) = ledger.runs();
            let lanes: Vec<&str> = runs.iter().map(|run| run.lane.as_str()).collect();
            // A line of which only the end is missing is whole.
            let want: &[&str] = if cut + 1 == whole.len() {
                &["a", "a", "b"]
            } else {
                &["a", "b"]
            };
            assert_eq!(lanes, want, "{cut}");
        }
    }

    #[test]
    fn a_bit_that_flipped_is_seen() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(directory.path());
        let _lock = ledger.lock().unwrap();
        ledger.append(&mut run("abc")).unwrap();
        let text = fs::read_to_string(ledger.runs_file()).unwrap();
        fs::write(ledger.runs_file(), text.replace("abc", "abd")).unwrap();
        let (runs, torn) = ledger.runs();
        assert_eq!((runs.len(), torn), (0, 1));
    }

    #[test]
    fn the_oldest_builds_go() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(directory.path());
        let _lock = ledger.lock().unwrap();
        let mut big = run(&"x".repeat(3 << 20));
        for _ in 0..12 {
            ledger.append(&mut big).unwrap();
        }
        let (runs, _) = ledger.runs();
        assert!(
            runs.len() < 12 && runs.last().unwrap().number == 12,
            "{}",
            runs.len()
        );
        assert!(fs::metadata(ledger.runs_file()).unwrap().len() <= MAX_BYTES);
    }

    #[test]
    fn builds_that_end_at_once_get_numbers_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let ledger = Ledger::new(directory.path());
                    let _lock = ledger.lock().unwrap();
                    ledger.append(&mut run("l")).unwrap();
                });
            }
        });
        let (runs, torn) = Ledger::new(directory.path()).runs();
        let numbers: Vec<u64> = runs.iter().map(|run| run.number).collect();
        assert_eq!((numbers, torn), ((1..=8).collect(), 0));
    }
}
