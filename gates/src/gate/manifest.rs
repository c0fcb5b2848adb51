//! The gate `manifest`: a product's own list of what it holds is true. `lanegate manifest` writes
//! that list.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Check, Keys, Names, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::format::magic::claims_binary;
use crate::list::{self, Entries, Entry};
use crate::name::Name;
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

/// The schema of manifests.
pub const SCHEMA: &str = "manifest/1";
/// What a manifest in a product is called unless the policy says otherwise.
pub const FILE: &str = "MANIFEST.json";

const MANIFEST_BYTES: u64 = 256 << 20;
/// What a contract's or marker's first line is cut to.
const LINE: usize = 200;

const MISSING: Rule = Rule::new("MAN001", "listed and not there");
const UNLISTED: Rule = Rule::new("MAN002", "there and not listed");
const DIFFERS: Rule = Rule::new("MAN003", "other bytes than listed");
const UNREADABLE: Rule = Rule::new("MAN004", "no manifest, or none that can be read");
const STALE: Rule = Rule::new("MAN005", "a manifest that says what is not so");

/// The gate.
pub struct Manifests;

impl Check for Manifests {
    const NAME: &'static str = "manifest";
    const ABOUT: &'static str = "a product's own list of what it holds is true";
    const VERSION: u32 = 1;
    const COUNTS: &'static [&'static str] = &["contracts", "files", "libraries", "names", "wheels"];
    const RULES: &'static [Rule] = &[MISSING, UNLISTED, DIFFERS, UNREADABLE, STALE];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let mut found = Seen::default();
        let file = Name::from(ask.file.as_str());
        let told = match tree.entries.get(&file) {
            Some(Entry::File(path, _)) => {
                let bytes = list::read(path, MANIFEST_BYTES)?.unwrap_or_default();
                serde_json::from_slice::<Manifest>(&bytes).map_err(|e| format!("no manifest: {e}"))
            }
            _ => Err("the manifest is not there".to_owned()),
        };
        match told {
            Err(why) => found.wrong(UNREADABLE, &file, why),
            Ok(told) if told.schema != SCHEMA => {
                let why = "a manifest of another schema";
                found.differs(UNREADABLE, &file, told.schema, SCHEMA, why);
            }
            Ok(told) => {
                let target = row.target();
                let fold = row.folds_case();
                let actual = write(ask, &target, fold, &tree.entries)?;
                compare(&told, &actual, ask.env.is_some(), &file, &mut found);
            }
        }
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// Files of the tree that are contracts of their own and are listed as such: patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contracts: Vec<String>,
    /// The environment of the image: the frontend fills it in. What the manifest says of it must
    /// be so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<Names>,
    /// Where the manifest lies in the tree.
    #[serde(default = "default_file")]
    pub file: String,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            contracts: Vec::new(),
            env: None,
            file: default_file(),
        }
    }
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        if self.file.trim().is_empty() {
            return Err("`file` is empty".to_owned());
        }
        Ok(())
    }
}

fn default_file() -> String {
    FILE.to_owned()
}

/// What a product holds. No time, no machine: the same tree has the same manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Manifest {
    /// Markers of absence, each with its first line.
    pub absent: BTreeMap<String, String>,
    /// Contract files, each with its digest.
    pub contracts: BTreeMap<String, String>,
    /// The environment that the product wants.
    pub env: Names,
    /// Every file with its sha256 and size.
    pub files: BTreeMap<String, File>,
    /// Directories with libraries in them.
    pub libraries: BTreeSet<String>,
    /// Symbolic links with their targets.
    pub links: BTreeMap<String, String>,
    /// [`SCHEMA`].
    pub schema: String,
    /// `windows/arm64`.
    pub target: String,
    /// Directories with wheels in them, each with its wheels.
    pub wheels: BTreeMap<String, BTreeSet<String>>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct File {
    /// Bytes.
    pub bytes: u64,
    /// In hex.
    pub sha256: String,
}

/// What the tree holds, the manifest itself left out.
///
/// # Errors
/// [`Failure::Unreadable`] for I/O and for names that are no text.
pub fn write(
    settings: &Ask,
    target: &str,
    fold: bool,
    entries: &Entries,
) -> Result<Manifest, Failure> {
    let contracts: Vec<_> = settings
        .contracts
        .iter()
        .map(|pattern| crate::glob::Glob::new(pattern, fold))
        .collect();
    let mut manifest = Manifest {
        env: settings.env.clone().unwrap_or_default(),
        schema: SCHEMA.to_owned(),
        target: target.to_owned(),
        ..Manifest::default()
    };
    for (name, entry) in entries {
        let text = std::str::from_utf8(name.bytes()).map_err(|_| {
            Failure::Unreadable(format!("{name}: a name that is no text cannot be listed"))
        })?;
        if text == settings.file {
            continue;
        }
        let (dir, base) = text.rsplit_once('/').unwrap_or(("", text));
        match entry {
            Entry::File(path, bytes) => {
                let sha256 = list::sha256(path)?;
                if contracts.iter().any(|glob| glob.matches(name.bytes())) {
                    manifest.contracts.insert(text.to_owned(), sha256.clone());
                }
                if base.starts_with("ABSENT-") {
                    let bytes = list::read(path, 64 << 10)?.unwrap_or_default();
                    let line = String::from_utf8_lossy(&bytes);
                    let line: String = line
                        .lines()
                        .next()
                        .unwrap_or_default()
                        .chars()
                        .take(LINE)
                        .collect();
                    manifest.absent.insert(text.to_owned(), line);
                }
                if base.ends_with(".whl") {
                    let store = manifest.wheels.entry(dir.to_owned()).or_default();
                    store.insert(base.to_owned());
                } else if claims_binary(base.as_bytes()) && is_library(base) {
                    manifest.libraries.insert(dir.to_owned());
                }
                let file = File {
                    bytes: *bytes,
                    sha256,
                };
                manifest.files.insert(text.to_owned(), file);
            }
            Entry::Link(target) => {
                let target = String::from_utf8_lossy(target).into_owned();
                manifest.links.insert(text.to_owned(), target);
            }
            Entry::Directory | Entry::Special => {}
        }
    }
    Ok(manifest)
}

fn is_library(base: &str) -> bool {
    let lower = base.to_ascii_lowercase();
    [".dll", ".so", ".dylib"]
        .iter()
        .any(|end| lower.ends_with(end))
        || lower.contains(".so.")
}

fn compare(told: &Manifest, actual: &Manifest, with_env: bool, file: &Name, found: &mut Seen) {
    for (name, is) in &actual.files {
        let subject = Name::from(name.as_str());
        match told.files.get(name) {
            None => found.wrong(UNLISTED, &subject, "there and not listed"),
            Some(said) if said != is => {
                let why = "other bytes than listed";
                found.differs(DIFFERS, &subject, &is.sha256, &said.sha256, why);
            }
            Some(_) => found.count("files", &subject, &[]),
        }
    }
    for name in told
        .files
        .keys()
        .filter(|name| !actual.files.contains_key(*name))
    {
        let subject = Name::from(name.as_str());
        found.wrong(MISSING, &subject, "listed and not there");
    }
    if told.links != actual.links {
        found.wrong(DIFFERS, file, "its symbolic links are others");
    }
    let stale: [(&str, bool); 5] = [
        ("target", told.target == actual.target),
        ("libraries", told.libraries == actual.libraries),
        ("wheels", told.wheels == actual.wheels),
        ("absent", told.absent == actual.absent),
        ("contracts", told.contracts == actual.contracts),
    ];
    let env = ("env", !with_env || told.env == actual.env);
    for (what, _) in stale.iter().chain([&env]).filter(|(_, right)| !right) {
        let why = format!("what it says under `{what}` is not so");
        found.wrong(STALE, file, why);
    }
    for dir in &actual.libraries {
        found.count("libraries", &Name::from(dir.as_str()), &[]);
    }
    for (dir, wheels) in &actual.wheels {
        let numbers = [("names", wheels.len() as u64)];
        found.count("wheels", &Name::from(dir.as_str()), &numbers);
    }
    for name in actual.contracts.keys() {
        found.count("contracts", &Name::from(name.as_str()), &[]);
    }
}
