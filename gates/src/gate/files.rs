//! The gate `files`: what must be there is, what must not be there is not, and what must be the
//! same bytes is.

use serde::{Deserialize, Serialize};

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::glob::Glob;
use crate::list::{self, Entries, Entry};
use crate::name::Name;
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

const REQUIRED: Rule = Rule::new("FIL001", "a file that must be there is not");
const FORBIDDEN: Rule = Rule::new("FIL002", "a file that must not be there is");
const EQUAL: Rule = Rule::new("FIL003", "a file has other bytes than it must");
const LICENCE: Rule = Rule::new("FIL004", "a licence text is missing");
const PATH: Rule = Rule::new("FIL005", "a directory stands on the search path");

/// The gate.
pub struct Files;

impl Check for Files {
    const NAME: &'static str = "files";
    const ABOUT: &'static str = "required, forbidden, equal files and licence texts";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] =
        &["equal", "forbidden", "licences", "off-path", "required"];
    const RULES: &'static [Rule] = &[REQUIRED, FORBIDDEN, EQUAL, LICENCE, PATH];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let found = look(ask, row.folds_case(), &tree.entries)?;
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told. Paths are globs as in allow entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// Files whose bytes are given by a digest or by another file.
    #[serde(default)]
    pub equal: Vec<Equal>,
    /// What must not be there.
    #[serde(default)]
    pub forbidden: Vec<Forbidden>,
    /// Licence texts that must go along.
    #[serde(default)]
    pub licences: Vec<Licence>,
    /// Directories that must not be on a search path.
    #[serde(default)]
    pub off_path: Vec<String>,
    /// The search path of the product, when `off-path` is used: the frontend fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search_path: Option<String>,
    /// What must be there.
    #[serde(default)]
    pub required: Vec<Required>,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        check(self)
    }
}

/// Something that must be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Required {
    /// Which files.
    pub path: String,
    /// How many at least.
    #[serde(default = "one")]
    pub least: u64,
}

/// Something that must not be there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Forbidden {
    /// Which files, directories or links.
    pub path: String,
    /// Why not.
    pub why: String,
}

/// Files that must have given bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Equal {
    /// Which files; at least one.
    pub path: String,
    /// Their sha256 in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Or the file of the tree that they equal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// A licence text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Licence {
    /// A text that it contains, so that an empty file or another licence does not do.
    pub contains: String,
    /// Files that make it necessary; without any of them it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
    /// Where it lies.
    pub path: String,
}

const fn one() -> u64 {
    1
}

/// The largest licence text.
const LICENCE_BYTES: u64 = 16 << 20;

/// Looks at the tree.
///
/// # Errors
/// [`Failure::Usage`] for settings that mean nothing, [`Failure::Unreadable`] for I/O.
pub fn look(settings: &Ask, fold: bool, entries: &Entries) -> Result<Seen, Failure> {
    check(settings).map_err(Failure::Usage)?;
    let mut look = Look {
        fold,
        entries,
        found: Seen::default(),
    };
    for required in &settings.required {
        look.required(required);
    }
    for forbidden in &settings.forbidden {
        look.forbidden(forbidden);
    }
    for equal in &settings.equal {
        look.equal(equal)?;
    }
    for licence in &settings.licences {
        look.licence(licence)?;
    }
    if let Some(path) = &settings.search_path {
        for dir in &settings.off_path {
            look.off_path(dir, path);
        }
    }
    Ok(look.found)
}

/// Whether the settings ask for something that can be answered.
///
/// # Errors
/// What is wrong with them.
pub fn check(settings: &Ask) -> Result<(), String> {
    let Ask {
        equal,
        forbidden,
        licences,
        off_path,
        search_path,
        required,
    } = settings;
    if [
        equal.len(),
        forbidden.len(),
        licences.len(),
        off_path.len(),
        required.len(),
    ] == [0; 5]
    {
        return Err(
            "nothing is asked: say `required`, `forbidden`, `equal`, `licences` or `off-path`"
                .to_owned(),
        );
    }
    if !off_path.is_empty() && search_path.is_none() {
        return Err("`off-path` without the product's search path".to_owned());
    }
    for entry in required {
        if entry.least == 0 {
            return Err(format!("required `{}`: `least` is 0", entry.path));
        }
    }
    for entry in forbidden {
        if entry.why.trim().is_empty() {
            return Err(format!("forbidden `{}`: `why` is empty", entry.path));
        }
    }
    for Equal { path, sha256, to } in equal {
        let hex = |text: &String| text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit());
        match (sha256, to) {
            (Some(digest), None) if hex(digest) => {}
            (Some(digest), None) => {
                return Err(format!("equal `{path}`: `{digest}` is no sha256 in hex"));
            }
            (None, Some(_)) => {}
            _ => return Err(format!("equal `{path}`: say `sha256` or `to`")),
        }
    }
    for licence in licences {
        if licence.contains.trim().is_empty() {
            return Err(format!("licence `{}`: `contains` is empty", licence.path));
        }
    }
    Ok(())
}

struct Look<'l> {
    fold: bool,
    entries: &'l Entries,
    found: Seen,
}

impl<'l> Look<'l> {
    fn matching(&self, pattern: &str) -> Vec<(&'l Name, &'l Entry)> {
        let glob = Glob::new(pattern, self.fold);
        let all = self.entries.iter();
        all.filter(|(name, _)| glob.matches(name.bytes())).collect()
    }

    fn files(&self, pattern: &str) -> Vec<(&'l Name, &'l std::path::Path)> {
        self.matching(pattern)
            .into_iter()
            .filter_map(|(name, entry)| match entry {
                Entry::File(path, _) => Some((name, path.as_path())),
                _ => None,
            })
            .collect()
    }

    fn required(&mut self, required: &Required) {
        let files = self.files(&required.path);
        let got = files.len() as u64;
        let subject = Name::from(required.path.as_str());
        if got < required.least {
            self.found.differs(
                REQUIRED,
                &subject,
                got.to_string(),
                format!("at least {}", required.least),
                "files that must be there are not",
            );
        }
        for (name, _) in files {
            self.found.count("required", name, &[]);
        }
    }

    fn forbidden(&mut self, forbidden: &Forbidden) {
        for (name, _) in self.matching(&forbidden.path) {
            let why = format!("must not be there: {}", forbidden.why);
            self.found.wrong(FORBIDDEN, name, why);
        }
        // That nothing is there says nothing of a tree without anything.
        if !self.entries.is_empty() {
            let subject = Name::from(forbidden.path.as_str());
            self.found.count("forbidden", &subject, &[]);
        }
    }

    fn equal(&mut self, equal: &Equal) -> Result<(), Failure> {
        let subject = Name::from(equal.path.as_str());
        // A file is equal to itself, which says nothing.
        let mut itself = None;
        let expected = match (&equal.sha256, &equal.to) {
            (Some(digest), _) => digest.to_ascii_lowercase(),
            (None, Some(to)) => match self.files(to)[..] {
                [(name, path)] => {
                    itself = Some(name);
                    list::sha256(path)?
                }
                ref other => {
                    let why = format!("`to` names {} files, expected 1: {to}", other.len());
                    self.found.wrong(EQUAL, &subject, why);
                    return Ok(());
                }
            },
            (None, None) => return Ok(()),
        };
        let mut files = self.files(&equal.path);
        files.retain(|(name, _)| Some(*name) != itself);
        if files.is_empty() {
            let why = "no file is there to compare";
            self.found.wrong(EQUAL, &subject, why);
        }
        for (name, path) in files {
            let actual = list::sha256(path)?;
            if actual != expected {
                let why = "its bytes are others";
                self.found
                    .differs(EQUAL, name, actual, expected.as_str(), why);
            }
            self.found.count("equal", name, &[]);
        }
        Ok(())
    }

    fn licence(&mut self, licence: &Licence) -> Result<(), Failure> {
        if let Some(of) = &licence.of
            && self.files(of).is_empty()
        {
            return Ok(());
        }
        let subject = Name::from(licence.path.as_str());
        let files = self.files(&licence.path);
        let mut right = false;
        for (name, path) in &files {
            let has = match list::read(path, LICENCE_BYTES)? {
                Ok(bytes) => String::from_utf8_lossy(&bytes).contains(&licence.contains),
                Err(_) => false,
            };
            if has {
                self.found.count("licences", name, &[]);
            }
            right |= has;
        }
        if !right {
            let why = match files.len() {
                0 => "the licence text is not there".to_owned(),
                _ => format!("no file there contains `{}`", licence.contains),
            };
            self.found.wrong(LICENCE, &subject, why);
        }
        Ok(())
    }

    fn off_path(&mut self, dir: &str, path: &str) {
        let form = |text: &str| {
            let text = text.replace('\\', "/");
            let text = text.trim_end_matches('/');
            if self.fold {
                text.to_ascii_lowercase()
            } else {
                text.to_owned()
            }
        };
        let separator = if self.fold { ';' } else { ':' };
        let subject = Name::from(dir);
        if path.split(separator).any(|entry| form(entry) == form(dir)) {
            let why = "it is on the search path, where its libraries come before others";
            self.found.wrong(PATH, &subject, why);
        }
        self.found.count("off-path", &subject, &[]);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::walk::Root;

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Entries) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let root = Root {
            path: dir.path().to_owned(),
            label: Name::default(),
        };
        let entries = list::list(&root).unwrap();
        (dir, entries)
    }

    fn ids(json: &str, files: &[(&str, &str)]) -> Vec<String> {
        let settings: Ask = serde_json::from_str(json).unwrap();
        let (_dir, entries) = tree(files);
        let found = look(&settings, false, &entries).unwrap();
        found.ids().into_iter().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_asked_for_is_looked_at() {
        let files = [
            ("bin/a.so", "x"),
            ("bin/b.so", "x"),
            ("LICENSE", "Apache License"),
        ];
        let all = r#"{
            "required": [{"path": "bin/*.so", "least": 2}],
            "forbidden": [{"path": "**/dxil.dll", "why": "not ours to ship"}],
            "equal": [{"path": "bin/a.so", "to": "bin/b.so"}],
            "licences": [{"path": "LICENSE", "contains": "Apache"}],
            "off-path": ["/opt/llama"], "search-path": "/usr/bin:/opt"
        }"#;
        assert!(ids(all, &files).is_empty());
        for (from, to, id) in [
            ("\"least\": 2", "\"least\": 3", "FIL001"),
            ("**/dxil.dll", "**/b.so", "FIL002"),
            ("\"to\": \"bin/b.so\"", "\"to\": \"LICENSE\"", "FIL003"),
            ("\"to\": \"bin/b.so\"", "\"to\": \"gone\"", "FIL003"),
            ("\"path\": \"bin/a.so\"", "\"path\": \"bin/gone\"", "FIL003"),
            ("\"to\": \"bin/b.so\"", "\"to\": \"bin/a.so\"", "FIL003"),
            ("\"Apache\"", "\"MIT\"", "FIL004"),
            ("\"LICENSE\"", "\"COPYING\"", "FIL004"),
            ("/usr/bin:/opt", "/usr/bin:/opt/llama/", "FIL005"),
        ] {
            assert!(all.contains(from), "{from}");
            assert_eq!(ids(&all.replace(from, to), &files), [id], "{to}");
        }
    }

    #[test]
    fn an_empty_tree_has_nothing_forbidden_and_counts_nothing() {
        let settings: Ask =
            serde_json::from_str(r#"{"forbidden": [{"path": "**/x", "why": "no"}]}"#).unwrap();
        for (files, counted) in [(&[][..], 0), (&[("a", "")][..], 1)] {
            let (_dir, entries) = tree(files);
            let found = look(&settings, false, &entries).unwrap();
            assert_eq!(found.items.len(), counted);
        }
    }

    #[test]
    fn a_name_that_only_looks_alike_is_not_the_file() {
        // `gst*webrtc*` once took gstrswebrtc for gstwebrtc.
        let required = r#"{"required": [{"path": "lib/gstwebrtc.dll"}]}"#;
        assert_eq!(ids(required, &[("lib/gstrswebrtc.dll", "")]), ["FIL001"]);
    }

    #[test]
    fn a_licence_is_needed_where_its_files_are() {
        let json =
            r#"{"licences": [{"path": "VK.txt", "contains": "Vulkan", "of": "**/vulkan-1.dll"}]}"#;
        assert!(ids(json, &[("a", "")]).is_empty());
        assert_eq!(ids(json, &[("bin/vulkan-1.dll", "")]), ["FIL004"]);
        assert_eq!(
            ids(json, &[("bin/vulkan-1.dll", ""), ("VK.txt", "")]),
            ["FIL004"]
        );
    }

    #[test]
    fn settings_that_ask_nothing_are_no_settings() {
        for json in [
            "{}",
            r#"{"required": [{"path": "a", "least": 0}]}"#,
            r#"{"forbidden": [{"path": "a", "why": " "}]}"#,
            r#"{"equal": [{"path": "a"}]}"#,
            r#"{"equal": [{"path": "a", "sha256": "12"}]}"#,
            r#"{"off-path": ["/a"]}"#,
            r#"{"licences": [{"path": "a", "contains": ""}]}"#,
        ] {
            let settings: Ask = serde_json::from_str(json).unwrap();
            assert!(check(&settings).is_err(), "{json}");
        }
    }
}
