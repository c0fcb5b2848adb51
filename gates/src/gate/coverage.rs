//! The gate `coverage`: a release holds what its list says, no more and no less, over all of its
//! outputs.

mod index;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::glob::Glob;
use crate::list;
use crate::name::Name;
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;
use index::Index;

const MISSING: Rule = Rule::new("COV001", "on the list and not in the release");
const UNLISTED: Rule = Rule::new("COV002", "in the release and not on the list");
const COMPANION: Rule = Rule::new("COV003", "a companion is missing or has another digest");
const INDEX: Rule = Rule::new("COV004", "the index of digests is not that of the release");

/// The gate.
pub struct Coverage;

impl Check for Coverage {
    const NAME: &'static str = "coverage";
    const ABOUT: &'static str = "a release holds what its list says, over all outputs";
    const VERSION: u32 = 1;
    const COUNTS: &'static [&'static str] = &["companions", "entries", "indexed"];
    const RULES: &'static [Rule] = &[MISSING, UNLISTED, COMPANION, INDEX];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let fold = row.folds_case();
        let mut found = Seen::default();
        let mut known: BTreeSet<&Name> = BTreeSet::new();
        let mut listed: BTreeMap<&Name, &Path> = BTreeMap::new();
        let files: Vec<(&Name, &Path)> = tree.files().collect();
        for pattern in &ask.entries {
            let glob = Glob::new(pattern, fold);
            let subject = Name::from(pattern.as_str());
            let mut any = false;
            for (name, path) in files.iter().filter(|(name, _)| glob.matches(name.bytes())) {
                let suffix = ask.companion.as_deref().unwrap_or_default().as_bytes();
                if !suffix.is_empty() && name.bytes().ends_with(suffix) {
                    continue;
                }
                if ask.is_index(name) {
                    continue;
                }
                any = true;
                known.insert(name);
                listed.insert(name, path);
                if !suffix.is_empty() {
                    let companion = Name::new([name.bytes(), suffix].concat());
                    match files.iter().find(|(other, _)| **other == companion) {
                        None => {
                            let why = format!("`{companion}` is not there");
                            found.wrong(COMPANION, name, why);
                        }
                        Some((other, beside)) => {
                            known.insert(other);
                            digest(path, beside, other, &mut found)?;
                        }
                    }
                }
            }
            if any {
                found.count("entries", &subject, &[]);
            } else {
                found.wrong(MISSING, &subject, "on the list and not there");
            }
        }
        if let Some(index) = &ask.index {
            match files.iter().find(|(name, _)| ask.is_index(name)) {
                Some((name, path)) => {
                    known.insert(name);
                    index.check(path, &listed, &mut found)?;
                }
                None => {
                    let subject = Name::from(index.file.as_str());
                    found.wrong(INDEX, &subject, "the index is not there");
                }
            }
        }
        let ignore: Vec<Glob> = ask.ignore.iter().map(|p| Glob::new(p, fold)).collect();
        for (name, _) in &files {
            if !known.contains(name) && !ignore.iter().any(|glob| glob.matches(name.bytes())) {
                found.wrong(UNLISTED, name, "there and not on the list");
            }
        }
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// What a file with a digest beside it is called, behind the file's own name: `.sha256`.
    /// Every entry needs one then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub companion: Option<String>,
    /// The list: names or patterns, each beginning with the label of an output.
    pub entries: Vec<String>,
    /// The file with the digests of all entries, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<Index>,
    /// What may lie there besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
}

impl Ask {
    fn is_index(&self, name: &Name) -> bool {
        let index = self.index.as_ref();
        index.is_some_and(|index| index.file.as_bytes() == name.bytes())
    }
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        if self.entries.is_empty() {
            return Err("`entries` is empty".to_owned());
        }
        match self.companion.as_deref() {
            Some("") => Err("`companion` is empty".to_owned()),
            _ => Ok(()),
        }
    }
}

/// Holds a file against the digest beside it: the first word of that, as `sha256sum` writes it.
fn digest(path: &Path, beside: &Path, name: &Name, found: &mut Seen) -> Result<(), Failure> {
    let text = list::read(beside, 4096)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let told = text.split_whitespace().next().unwrap_or_default();
    let told = told
        .strip_prefix("sha256:")
        .unwrap_or(told)
        .to_ascii_lowercase();
    let actual = list::sha256(path)?;
    if told == actual {
        found.count("companions", name, &[]);
    } else {
        let why = "the digest is not that of the file beside it";
        found.differs(COMPANION, name, told, actual, why);
    }
    Ok(())
}
