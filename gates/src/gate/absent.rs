//! The gate `absent`: what a target does not have is said to be absent, with a reason; what it has
//! is there.

use std::collections::BTreeSet;

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

/// What a marker's name begins with; `.txt` stands behind.
const MARKER: &[u8] = b"ABSENT-";
const MARKER_BYTES: u64 = 64 << 10;

const SILENT: Rule = Rule::new(
    "ABS001",
    "a component that is not there, and nothing says why",
);
const BOTH: Rule = Rule::new("ABS002", "a marker beside what it says is absent");
const TEXT: Rule = Rule::new("ABS003", "a marker without a reason, or of another target");
const STRANGER: Rule = Rule::new("ABS004", "a marker of nothing that is declared");
const PRESENT: Rule = Rule::new("ABS005", "a component that must be absent here is there");

/// The gate.
pub struct Absent;

impl Check for Absent {
    const NAME: &'static str = "absent";
    const ABOUT: &'static str = "what a target does not have is said to be absent, with a reason";
    const VERSION: u32 = 1;
    const COUNTS: &'static [&'static str] = &["absent", "components", "present"];
    const RULES: &'static [Rule] = &[SILENT, BOTH, TEXT, STRANGER, PRESENT];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let target = row.target();
        let mut look = Look {
            fold: row.folds_case(),
            entries: &tree.entries,
            found: Seen::default(),
            declared: BTreeSet::new(),
        };
        for component in &ask.components {
            let here = !component
                .not_on
                .iter()
                .any(|not| crate::arch_table::row(not).is_ok_and(|row| row.target() == target));
            look.component(component, here, &target)?;
        }
        for name in tree.entries.keys().filter(|name| is_marker(name)) {
            if !look.declared.contains(name) {
                let why = "it speaks of nothing that is declared";
                look.found.wrong(STRANGER, name, why);
            }
        }
        let found = look.found;
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// What can be there or be absent.
    pub components: Vec<Component>,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        let Self { components } = self;
        if components.is_empty() {
            return Err("`components` is empty".to_owned());
        }
        for target in components.iter().flat_map(|c| &c.not_on) {
            crate::arch_table::row(target).map_err(|e| format!("not-on: {e}"))?;
        }
        Ok(())
    }
}

/// Something that a target has or does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Component {
    /// Its directory, where the marker stands when it is absent.
    pub at: String,
    /// Files of it that are there when it is; everything below `at` without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Targets that do not have it. Everywhere else it must be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_on: Vec<String>,
}

fn is_marker(name: &Name) -> bool {
    let base = name
        .bytes()
        .rsplit(|b| *b == b'/')
        .next()
        .unwrap_or_default();
    base.starts_with(MARKER) && base.ends_with(b".txt")
}

struct Look<'l> {
    fold: bool,
    entries: &'l Entries,
    found: Seen,
    declared: BTreeSet<Name>,
}

impl Look<'_> {
    fn component(
        &mut self,
        component: &Component,
        here: bool,
        target: &str,
    ) -> Result<(), Failure> {
        let at = component.at.trim_matches(['/', '\\']).replace('\\', "/");
        let subject = Name::from(component.at.as_str());
        let below = Glob::new(&format!("{at}/**"), self.fold);
        let beside = Glob::new(&format!("{at}/*"), self.fold);
        let is_file = |entry: &Entry| matches!(entry, Entry::File(..) | Entry::Link(_));
        let files: Vec<Glob> = component
            .files
            .iter()
            .map(|pattern| Glob::new(pattern, self.fold))
            .collect();
        // Directories do not count: an empty one is what an absent component leaves behind.
        let present = self.entries.iter().any(|(name, entry)| {
            is_file(entry)
                && !is_marker(name)
                && match files.as_slice() {
                    [] => below.matches(name.bytes()),
                    files => files.iter().any(|file| file.matches(name.bytes())),
                }
        });
        let markers: Vec<(&Name, &Entry)> = self
            .entries
            .iter()
            .filter(|(name, _)| is_marker(name) && beside.matches(name.bytes()))
            .collect();
        self.declared
            .extend(markers.iter().map(|(name, _)| (*name).clone()));
        match (here, present, markers.first()) {
            (true, false, Some((marker, _))) => {
                let why = format!("{target} has this component; the marker says it has not");
                self.found.wrong(SILENT, marker, why);
            }
            (true, false, None) => {
                let why = "the component is not there, and nothing says why";
                self.found.wrong(SILENT, &subject, why);
            }
            (_, true, Some((marker, _))) => {
                let why = "it says absent, and the component is there";
                self.found.wrong(BOTH, marker, why);
            }
            (false, true, None) => {
                let why = format!("{target} does not have this component, and it is there");
                self.found.wrong(PRESENT, &subject, why);
            }
            (false, false, None) => {
                let why = "the component is absent here, and no marker says why";
                self.found.wrong(SILENT, &subject, why);
            }
            (false, false, Some(_)) | (true, true, None) => {}
        }
        for (name, entry) in &markers {
            self.text(name, entry, target)?;
        }
        let state = if present { "present" } else { "absent" };
        self.found.count("components", &subject, &[(state, 1)]);
        Ok(())
    }

    /// A marker gives a reason, and speaks of no other target.
    fn text(&mut self, name: &Name, entry: &Entry, target: &str) -> Result<(), Failure> {
        let text = match entry {
            Entry::File(path, _) => list::read(path, MARKER_BYTES)?.unwrap_or_default(),
            _ => Vec::new(),
        };
        let text = String::from_utf8_lossy(&text);
        if text.trim().is_empty() {
            self.found.wrong(TEXT, name, "it gives no reason");
        }
        let base = String::from_utf8_lossy(name.bytes()).into_owned();
        let base = base.rsplit('/').next().unwrap_or_default().to_owned();
        let on = base
            .strip_prefix("ABSENT-ON-")
            .and_then(|rest| rest.strip_suffix(".txt"));
        let arch = target.rsplit('/').next().unwrap_or_default();
        if let Some(on) = on
            && !on.eq_ignore_ascii_case(arch)
        {
            self.found
                .differs(TEXT, name, on, arch, "a marker of another target");
        }
        Ok(())
    }
}
