//! Reports: what *inspect* saw, and what *assert* made of it. Schema `gate-report/1`.
//!
//! Canonical JSON: keys sorted, one line feed at the end, no clock and no path of this machine.
//! A report that is read back must be canonical to the byte, so a cut or edited one is refused.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::gate::Object;
use crate::name::Name;
use crate::policy::Policy;

/// The schema of both kinds of report.
pub const SCHEMA: &str = "gate-report/1";

/// Bytes of a report that is read back: one about half a million binaries is smaller.
pub const MAX_BYTES: u64 = 64 << 20;

/// What *inspect* saw. Fields stand in the order of their JSON keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Inspected {
    /// What the gate was told to look for, defaults and all; empty for most.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub ask: Object,
    /// The check: `arch`.
    pub check: String,
    /// The number of the check's rules; another number judges otherwise.
    pub check_version: u32,
    /// How much was seen.
    pub counts: Counts,
    /// What it is bound to, where it was made outside of the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<External>,
    /// Everything wrong, sorted by subject, then rule.
    pub findings: Vec<Finding>,
    /// Everything that was inspected, sorted by subject.
    pub items: Vec<Item>,
    /// The lists of names that the gate used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<List>,
    /// What is worth telling and not wrong, sorted by class and subject.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// The roots, in the order they were given.
    pub roots: Vec<RootCount>,
    /// [`SCHEMA`].
    pub schema: String,
    /// `inspect`.
    pub stage: Inspect,
    /// The target, canonically: `windows/arm64`.
    pub target: String,
}

/// What a report that was made outside of a build is bound to ([`mod@crate::external`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct External {
    /// The gate that it is for, by its name in the lane file.
    pub gate: String,
    /// The digest of the product that it is about: `sha256:…`.
    pub of: String,
}

/// The word `inspect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inspect {
    /// The only value.
    Inspect,
}

/// The word `assert`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assert {
    /// The only value.
    Assert,
}

/// How much was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Counts {
    /// Members of archives whose machine was read.
    pub archive_members: u64,
    /// Machines read, by class; members of archives each count.
    pub by_class: BTreeMap<String, u64>,
    /// Items, by kind.
    pub by_kind: BTreeMap<String, u64>,
    /// Code for accelerators; not inspected, not judged.
    pub device: u64,
    /// Regular files, hard links to the same one counted once.
    pub files: u64,
    /// Further names of files that are counted already.
    pub hard_links: u64,
    /// Items: what was inspected. This is what a floor is about.
    pub inspected: u64,
    /// Text that stands for a library.
    pub linker_scripts: u64,
    /// Symbolic links; not followed.
    pub links: u64,
    /// Files and members that are no binaries and do not claim to be.
    pub other: u64,
    /// Devices, sockets, pipes.
    pub special: u64,
    /// Files and members that should be binaries and could not be read as such: each a finding.
    pub unreadable: u64,
    /// Inspected items that lie in zips.
    pub zip_members: u64,
}

impl Counts {
    /// Adds what another part of the tree held.
    pub fn add(&mut self, other: &Self) {
        let Self {
            archive_members,
            by_class,
            by_kind,
            device,
            files,
            hard_links,
            inspected,
            linker_scripts,
            links,
            other: rest,
            special,
            unreadable,
            zip_members,
        } = other;
        for (sum, part) in [
            (&mut self.archive_members, archive_members),
            (&mut self.device, device),
            (&mut self.files, files),
            (&mut self.hard_links, hard_links),
            (&mut self.inspected, inspected),
            (&mut self.linker_scripts, linker_scripts),
            (&mut self.links, links),
            (&mut self.other, rest),
            (&mut self.special, special),
            (&mut self.unreadable, unreadable),
            (&mut self.zip_members, zip_members),
        ] {
            *sum = sum.saturating_add(*part);
        }
        for (sums, parts) in [(&mut self.by_class, by_class), (&mut self.by_kind, by_kind)] {
            for (key, part) in parts {
                let sum = sums.entry(key.clone()).or_default();
                *sum = sum.saturating_add(*part);
            }
        }
    }
}

/// Something wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Finding {
    /// What was found, where that is a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// What was expected, where that is a value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The rule: `ARCH001`; docs/gates.md lists them.
    pub id: String,
    /// What it is about: a file, `archive(member)`, `zip!member`, or an allow entry's pattern.
    pub subject: Name,
    /// The reason, in words.
    pub why: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: ", self.id, self.subject)?;
        if let Some(actual) = &self.actual {
            write!(f, "found {actual}")?;
            if let Some(expected) = &self.expected {
                write!(f, ", expected {expected}")?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.why)
    }
}

/// Something worth telling that is not wrong: an import that the driver supplies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Note {
    /// What kind of note: `driver`.
    pub class: String,
    /// What it is about.
    pub subject: Name,
    /// The note.
    pub text: String,
}

/// A list of names that came with lanegate and decided something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct List {
    /// `sha256:…` of its bytes.
    pub digest: String,
    /// Its name.
    pub name: String,
    /// Where the names come from.
    pub source: String,
    /// Its version.
    pub version: String,
}

/// Something that was inspected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Item {
    /// What was read of it, counted: `arch` has one count per machine class.
    pub classes: BTreeMap<String, u64>,
    /// What it is: `pe`, `coff`, `archive`, `elf`, `bitcode`, `import` or `mach-o` for `arch`.
    pub kind: String,
    /// Its name.
    pub subject: Name,
}

/// One root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RootCount {
    /// Bytes of its regular files.
    pub bytes: u64,
    /// Regular files.
    pub files: u64,
    /// Its label.
    pub label: Name,
}

/// What *assert* decided. Fields stand in the order of their JSON keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Asserted {
    /// The check: `arch`.
    pub check: String,
    /// The number of the check's rules.
    pub check_version: u32,
    /// What *inspect* counted.
    pub counts: Counts,
    /// Every allow entry and what it matched.
    pub exemptions: Vec<Exemption>,
    /// The exit code that goes with the verdict.
    pub exit: u8,
    /// The gate and product that the report is bound to, where it was made outside of the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub external: Option<External>,
    /// What is wrong and not allowed; the first [`crate::verdict::MAX_FINDINGS`].
    pub findings: Vec<Finding>,
    /// Findings beyond those.
    pub findings_omitted: u64,
    /// Every floor and what was reached.
    pub floors: Vec<FloorResult>,
    /// The gate's name.
    pub gate: String,
    /// The lists of names that the gate used.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lists: Vec<List>,
    /// What is worth telling and not wrong; the first [`crate::verdict::MAX_FINDINGS`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<Note>,
    /// Notes beyond those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub notes_omitted: u64,
    /// The policy, and the digest of the bytes it was read from.
    pub policy: PolicyUsed,
    /// The roots.
    pub roots: Vec<RootCount>,
    /// [`SCHEMA`].
    pub schema: String,
    /// `assert`.
    pub stage: Assert,
    /// The target.
    pub target: String,
    /// The decision.
    pub verdict: Verdict,
}

impl Asserted {
    /// How many findings there are, those that are left out too. A report may claim any number.
    #[must_use]
    pub fn findings_in_all(&self) -> u64 {
        (self.findings.len() as u64).saturating_add(self.findings_omitted)
    }
}

/// The policy as it was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PolicyUsed {
    /// `sha256:…` of the policy file's bytes.
    pub digest: String,
    /// Its content.
    pub resolved: Policy,
}

/// One allow entry and what it matched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Exemption {
    /// How many findings it covered.
    pub findings: u64,
    /// How many items and findings it matched.
    pub matched: u64,
    /// The pattern.
    pub path: String,
    /// The first few subjects it matched.
    pub subjects: Vec<Name>,
    /// The reason that the file gives.
    pub why: String,
}

/// One floor and what was reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FloorResult {
    /// Inspected and not exempt.
    pub got: u64,
    /// The floor.
    pub least: u64,
    /// Whether it was reached.
    pub ok: bool,
    /// What is counted.
    pub what: String,
}

/// A decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Exit code 1: there are findings.
    Fail,
    /// Exit code 3: fewer things were inspected than a floor demands.
    Insufficient,
    /// Exit code 0.
    Pass,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The canonical bytes of a report.
///
/// # Errors
/// [`Failure::Unreadable`] when it cannot be put as JSON, which is a bug.
pub fn canonical<T: Serialize>(report: &T) -> Result<Vec<u8>, Failure> {
    let mut bytes = serde_json::to_vec(report)
        .map_err(|e| Failure::Unreadable(format!("the report cannot be written: {e}")))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Writes a report.
///
/// # Errors
/// [`Failure::Unreadable`] when the file cannot be written.
pub fn write<T: Serialize>(report: &T, path: &Path) -> Result<(), Failure> {
    store(&canonical(report)?, path)
}

/// Writes a report's bytes.
///
/// # Errors
/// [`Failure::Unreadable`] when the file cannot be written.
pub fn store(bytes: &[u8], path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    fs::write(path, bytes).map_err(|e| Failure::io(&format!("{shown} cannot be written"), &e))
}

/// A report of one stage.
pub trait Staged: Serialize + DeserializeOwned {
    /// What its `stage` says.
    const STAGE: &'static str;
}

impl Staged for Inspected {
    const STAGE: &'static str = "inspect";
}

impl Staged for Asserted {
    const STAGE: &'static str = "assert";
}

/// Reads a report of the stage that `T` is for.
///
/// # Errors
/// [`Failure::Unreadable`] when it is missing, larger than [`MAX_BYTES`], cut, edited, or of another
/// schema or stage.
pub fn read<T: Staged>(path: &Path) -> Result<T, Failure> {
    let shown = path.display().to_string();
    let io = |error| Failure::io(&shown, &error);
    let refuse = |why: String| Failure::Unreadable(format!("{shown}: {why}"));
    let file = File::open(path).map_err(io)?;
    if file.metadata().map_err(io)?.len() > MAX_BYTES {
        return Err(refuse(format!("more than {MAX_BYTES} bytes are no report")));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).map_err(io)?;

    #[derive(Deserialize)]
    struct Head {
        schema: String,
        #[serde(default)]
        stage: String,
    }
    let head: Head =
        serde_json::from_slice(&bytes).map_err(|e| refuse(format!("not a whole report: {e}")))?;
    if head.schema != SCHEMA {
        return Err(refuse(format!(
            "schema `{}`, expected `{SCHEMA}`",
            head.schema
        )));
    }
    if head.stage != T::STAGE {
        return Err(refuse(format!(
            "a report of `{}`, expected one of `{}`",
            head.stage,
            T::STAGE
        )));
    }
    let report: T =
        serde_json::from_slice(&bytes).map_err(|e| refuse(format!("not a whole report: {e}")))?;
    if canonical(&report)? != bytes {
        return Err(refuse("not as lanegate wrote it".to_owned()));
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the keys of every object in this JSON text are in byte order.
    fn sorted(value: &serde_json::Value, text: &str) -> bool {
        // serde_json's map sorts: if writing it again gives the same text, the text was sorted.
        serde_json::to_string(value).unwrap() == text
    }

    fn sample() -> Inspected {
        Inspected {
            ask: Object::new(),
            check: "arch".to_owned(),
            check_version: 1,
            counts: Counts::default(),
            external: Some(External {
                gate: "g".to_owned(),
                of: "o".to_owned(),
            }),
            findings: vec![Finding {
                actual: Some("AMD64".to_owned()),
                expected: Some("ARM64".to_owned()),
                id: "ARCH001".to_owned(),
                subject: Name::new(*b"\xff"),
                why: "w".to_owned(),
            }],
            items: vec![Item {
                classes: BTreeMap::from([("AMD64".to_owned(), 1)]),
                kind: "pe".to_owned(),
                subject: Name::from("a"),
            }],
            lists: vec![List {
                digest: "d".to_owned(),
                name: "n".to_owned(),
                source: "s".to_owned(),
                version: "1".to_owned(),
            }],
            notes: vec![Note {
                class: "c".to_owned(),
                subject: Name::default(),
                text: "t".to_owned(),
            }],
            roots: vec![RootCount {
                bytes: 1,
                files: 1,
                label: Name::default(),
            }],
            schema: SCHEMA.to_owned(),
            stage: Inspect::Inspect,
            target: "windows/arm64".to_owned(),
        }
    }

    #[test]
    fn counts_of_two_parts_never_start_again_at_0() {
        let mut counts = Counts {
            by_class: BTreeMap::from([("passed".to_owned(), u64::MAX)]),
            files: u64::MAX,
            ..Counts::default()
        };
        counts.add(&counts.clone());
        assert_eq!(
            (counts.by_class["passed"], counts.files),
            (u64::MAX, u64::MAX)
        );
    }

    #[test]
    fn keys_are_sorted_everywhere() {
        let text = serde_json::to_string(&sample()).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(sorted(&value, &text), "{text}");
    }

    #[test]
    fn a_report_survives_a_round_and_every_cut_of_it_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        let report = sample();
        write(&report, &path).unwrap();
        assert_eq!(read::<Inspected>(&path).unwrap(), report);
        let whole = fs::read(&path).unwrap();
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            assert_eq!(
                read::<Inspected>(&path).unwrap_err().exit().code(),
                4,
                "cut at {end}"
            );
        }
        let text = String::from_utf8(whole).unwrap();
        for (from, to) in [
            ("gate-report/1", "gate-report/2"),
            ("\"stage\":\"inspect\"", "\"stage\":\"assert\""),
            ("\"why\":\"w\"", "\"why\": \"w\""),
            ("\"why\":\"w\"", "\"why\":\"w\",\"new\":1"),
        ] {
            assert!(text.contains(from));
            fs::write(&path, text.replacen(from, to, 1)).unwrap();
            assert_eq!(
                read::<Inspected>(&path).unwrap_err().exit().code(),
                4,
                "{to}"
            );
        }
    }
}
