//! The gate `census`: who built each binary, by the traces that compilers and linkers leave.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Check, Keys, Names};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::format::magic::{self, Magic};
use crate::format::maker::{self, KINDS, Kind, Print};
use crate::format::{Fault, noun};
use crate::glob::Glob;
use crate::input::ReadSeek;
use crate::limit;
use crate::name::Name;
use crate::report::{Finding, Inspected, Item};
use crate::rule::{self, Rule};
use crate::scan::{self, Entry, Part, Visit};
use crate::search::{Needles, Search};
use crate::seen::Seen;
use crate::walk::Root;

const OTHER: Rule = Rule::new("CEN001", "built by something else than expected");
const FORBIDDEN: Rule = Rule::new("CEN002", "built by what may not build it");
const UNUSED: Rule = Rule::new("CEN003", "a key of the gate that fits nothing");

/// The gate.
pub struct Census;

impl Check for Census {
    const NAME: &'static str = "census";
    const ABOUT: &'static str = "who built each binary, by the traces of compilers and linkers";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] = &["archive", "coff", "elf", "known", "pe"];
    const RULES: &'static [Rule] = &[OTHER, FORBIDDEN, UNUSED];
    type Ask = Ask;
    type Demand = Demand;

    fn inspect(_row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let mut marks = Needles::default();
        for (name, text) in &ask.marks {
            marks.add(name, text.as_bytes());
        }
        let Part { mut seen, facts } = scan::tree(roots, &Binaries { marks })?.part;
        for binary in &facts {
            binary.tell(&mut seen);
        }
        Ok(seen)
    }

    fn judge(report: &Inspected, demand: &Demand) -> Vec<Finding> {
        let mut seen = Seen::default();
        let fold = report.target.starts_with("windows/");
        for bound in &demand.expected {
            expected(bound, fold, &report.items, &mut seen);
        }
        for bound in &demand.forbidden {
            forbidden(bound, fold, &report.items, &mut seen);
        }
        seen.findings
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Ask {
    /// Texts that tell a build, by the name that it goes by: a directory of its sources, a marker
    /// of its ABI. Looked for in every encoding, each that is found is a trace `mark NAME`.
    pub marks: Names,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        const SHORTEST: usize = 6;
        match self.marks.iter().find(|(_, text)| text.len() < SHORTEST) {
            Some((name, text)) => Err(format!(
                "mark `{name}` has {} bytes, and stands in any file by chance; at least {SHORTEST}",
                text.len()
            )),
            None => Ok(()),
        }
    }
}

/// What *assert* holds against a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Demand {
    /// Who must have built what.
    pub expected: Vec<Expected>,
    /// Who may not have.
    pub forbidden: Vec<Forbidden>,
}

/// Who must have built some files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Expected {
    /// A glob over files; at least one must be there.
    #[serde(default = "everything")]
    pub of: String,
    /// Globs over traces. Of each kind that they speak of every trace of a file fits one of them,
    /// and a file has at least one such trace.
    pub is: Vec<String>,
}

/// Who may not have built some files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Forbidden {
    /// A glob over files; at least one must be there.
    #[serde(default = "everything")]
    pub of: String,
    /// Globs over traces that no such file may have.
    pub is: Vec<String>,
    /// The reason.
    pub why: String,
}

fn everything() -> String {
    "**".to_owned()
}

impl Keys for Demand {
    fn check(&self) -> Result<(), String> {
        let expected = self.expected.iter().map(|bound| &bound.is);
        let forbidden = self.forbidden.iter().map(|bound| &bound.is);
        for is in expected.chain(forbidden) {
            if is.is_empty() {
                return Err("`is` is empty".to_owned());
            }
            if let Some(text) = is.iter().find(|text| kind(text).is_none()) {
                let words = KINDS.map(|(_, word)| word).join(", ");
                return Err(format!("`{text}` does not begin with one of {words}"));
            }
        }
        match self.forbidden.iter().find(|b| b.why.trim().is_empty()) {
            Some(bound) => Err(format!(
                "`forbidden` of {} needs a reason (`why`)",
                bound.of
            )),
            None => Ok(()),
        }
    }
}

/// The word that a trace or a glob over traces begins with.
fn kind(text: &str) -> Option<&'static str> {
    let word = text.split(' ').next().unwrap_or_default();
    KINDS
        .iter()
        .map(|(_, known)| *known)
        .find(|known| *known == word)
}

/// A binary and its traces.
struct Binary {
    name: Name,
    kind: &'static str,
    prints: BTreeSet<Print>,
}

impl Binary {
    fn tell(&self, seen: &mut Seen) {
        let class = |print: &Print| (print.to_string(), 1);
        let common = self.prints.iter().filter(|print| print.kind.is_common());
        let mut classes: BTreeMap<String, u64> = common.map(class).collect();
        let known = self.prints.iter().any(|print| print.kind.tells());
        classes.insert("known".to_owned(), known.into());
        seen.item(&self.name, self.kind, classes);
        // Traces that each file has for itself would make the sums as long as the list.
        let own = self.prints.iter().filter(|print| !print.kind.is_common());
        if let Some(item) = seen.items.last_mut() {
            item.classes.extend(own.map(class));
        }
    }
}

/// Reads the traces of every binary.
struct Binaries {
    marks: Needles,
}

impl Visit for Binaries {
    type Fact = Binary;

    fn wants(&self, head: &[u8], size: u64, _name: &[u8]) -> bool {
        word(magic::sniff(head, size)).is_some()
    }

    fn visit(&self, entry: &Entry<'_, '_>, part: &mut Part<Binary>) -> Result<(), Failure> {
        let Some(kind) = word(entry.magic) else {
            part.seen.counts.other += 1;
            return Ok(());
        };
        let prints = match entry.magic {
            Magic::Pe => maker::of_image(entry.whole()),
            Magic::Elf => maker::of_elf(entry.whole()),
            _ => Ok(BTreeSet::new()),
        };
        let prints = prints.unwrap_or_else(|fault| {
            let what = noun(entry.magic);
            part.seen.fault(rule::DAMAGED, entry.name, what, &fault);
            BTreeSet::new()
        });
        part.facts.push(Binary {
            name: entry.name.clone(),
            kind,
            prints,
        });
        Ok(())
    }

    fn reads(&self, magic: Magic) -> bool {
        word(magic).is_some()
    }

    fn read(
        &self,
        name: &Name,
        bytes: &mut dyn ReadSeek,
        part: &mut Part<Binary>,
    ) -> Result<(), Failure> {
        let mut search = Search::new(&self.marks);
        let (prints, over) = maker::anywhere(bytes, |piece| search.feed(piece))
            .map_err(|error| Failure::io(&name.to_string(), &error))?;
        if over {
            let text = format!("FINGERPRINTS: more than {}", limit::FINGERPRINTS);
            part.seen
                .fault(rule::DAMAGED, name, "", &Fault::Limit(text));
        }
        if let Some(binary) = part.facts.last_mut() {
            binary.prints.extend(prints);
            let marks = search
                .hits()
                .map(|(mark, _)| Print::new(Kind::Mark, mark.as_bytes()));
            binary.prints.extend(marks);
        }
        Ok(())
    }
}

/// The word for a binary that somebody compiled or linked.
const fn word(magic: Magic) -> Option<&'static str> {
    match magic {
        Magic::Pe => Some("pe"),
        Magic::Elf => Some("elf"),
        Magic::Archive => Some("archive"),
        Magic::Coff | Magic::Anonymous => Some("coff"),
        _ => None,
    }
}

/// Globs over traces, and which of them fitted one.
struct Globs<'g> {
    list: Vec<(&'g str, Glob, bool)>,
}

impl<'g> Globs<'g> {
    /// Case does not count, nor which way the strokes in a path lean.
    fn new(is: &'g [String]) -> Self {
        let glob = |text: &'g String| (text.as_str(), Glob::new(text, true), false);
        Self {
            list: is.iter().map(glob).collect(),
        }
    }

    fn fits(&mut self, print: &str) -> bool {
        let mut any = false;
        for (_, glob, met) in &mut self.list {
            if glob.matches(print.as_bytes()) {
                *met = true;
                any = true;
            }
        }
        any
    }
}

/// The items that a glob over files matches; none is a finding.
fn covered<'i>(
    of: &str,
    fold: bool,
    key: &str,
    items: &'i [Item],
    seen: &mut Seen,
) -> Vec<&'i Item> {
    let glob = Glob::new(of, fold);
    let of_them = |item: &&Item| glob.matches(item.subject.bytes());
    let found: Vec<&Item> = items.iter().filter(of_them).collect();
    if found.is_empty() {
        let why = format!("`{key}` is about binaries of which none is there");
        seen.wrong(UNUSED, &Name::from(of), why);
    }
    found
}

fn expected(bound: &Expected, fold: bool, items: &[Item], seen: &mut Seen) {
    let kinds: BTreeSet<&str> = bound.is.iter().filter_map(|text| kind(text)).collect();
    let mut globs = Globs::new(&bound.is);
    let covered = covered(&bound.of, fold, "expected", items, seen);
    for item in &covered {
        let spoken_of = |print: &&String| kind(print).is_some_and(|kind| kinds.contains(kind));
        let prints: Vec<&String> = item.classes.keys().filter(spoken_of).collect();
        let wrong: Vec<&str> = prints
            .iter()
            .filter(|print| !globs.fits(print))
            .map(|print| print.as_str())
            .collect();
        if prints.is_empty() || !wrong.is_empty() {
            let why = match prints.is_empty() {
                true => "nothing of these kinds tells who built it",
                false => "built by something else than expected",
            };
            let expected = bound.is.join(" or ");
            seen.differs(OTHER, &item.subject, wrong.join(", "), expected, why);
        }
    }
    for (text, _, met) in &globs.list {
        if !met && !covered.is_empty() {
            let why = format!(
                "`expected` of {} allows it, and nothing is built so",
                bound.of
            );
            seen.wrong(UNUSED, &Name::from(*text), why);
        }
    }
}

fn forbidden(bound: &Forbidden, fold: bool, items: &[Item], seen: &mut Seen) {
    let mut globs = Globs::new(&bound.is);
    for item in covered(&bound.of, fold, "forbidden", items, seen) {
        for print in item.classes.keys() {
            if kind(print).is_some() && globs.fits(print) {
                let why = format!("{print}: {}", bound.why);
                seen.wrong(FORBIDDEN, &item.subject, why);
            }
        }
    }
}
