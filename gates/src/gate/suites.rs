//! The gate `tests`: what test runs said of themselves, held against what was expected of them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Check, Keys};
use crate::arch_table::Row;
use crate::counts::{Counts, Format, Summary};
use crate::exit::Failure;
use crate::list::{self, Entry, Listed};
use crate::name::Name;
use crate::report::{Finding, Inspected};
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

/// What floors and caps can be about.
pub(super) const COUNTS: &[&str] = &["failed", "passed", "sections", "skipped", "suites"];

/// The largest output of a suite, in bytes.
const OUTPUT_BYTES: u64 = 256 << 20;
/// Failed tests that are told one by one.
const FAILURES: usize = 1_000;

const RULES: Rules = Rules {
    failed: Rule::new("TST001", "a test failed"),
    summary: Rule::new("TST002", "an output whose numbers cannot be believed"),
    exit: Rule::new("TST003", "a run that ended badly and told of no failure"),
    crash: Rule::new("TST004", "a run that crashed"),
    most: Rule::new("TST007", "more than a cap allows"),
    section: Rule::new("TST008", "a section below its floor"),
};
const MISSING: Rule = Rule::new("TST005", "a suite without its output");
const UNLISTED: Rule = Rule::new("TST006", "an output that belongs to no suite");

/// What can be wrong with a run, under the ids of the gate that looks at it.
pub(super) struct Rules {
    pub(super) failed: Rule,
    pub(super) summary: Rule,
    pub(super) exit: Rule,
    pub(super) crash: Rule,
    pub(super) most: Rule,
    pub(super) section: Rule,
}

impl Rules {
    pub(super) const fn all(&self) -> [Rule; 6] {
        [
            self.failed,
            self.summary,
            self.exit,
            self.crash,
            self.most,
            self.section,
        ]
    }
}

/// What *assert* holds against a report, besides floors.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Demand {
    /// The most that is allowed of what floors can be about: `{ "skipped": 3 }`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub most: BTreeMap<String, u64>,
    /// The least that must have passed in each section, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sections: BTreeMap<String, u64>,
}

impl Keys for Demand {
    fn check(&self) -> Result<(), String> {
        match self
            .most
            .keys()
            .find(|what| !COUNTS.contains(&what.as_str()))
        {
            Some(what) => Err(format!(
                "most: nothing is counted as `{what}`; known: {}",
                COUNTS.join(", ")
            )),
            None => Ok(()),
        }
    }
}

/// What a report does not have of what is demanded.
pub(super) fn demanded(report: &Inspected, demand: &Demand, rules: &Rules) -> Vec<Finding> {
    let mut seen = Seen::default();
    for (what, most) in &demand.most {
        let counts = report.items.iter().map(|item| Tests::count(what, item));
        let got = counts.fold(0_u64, u64::saturating_add);
        if got > *most {
            let expected = format!("at most {most}");
            let why = "more than the policy allows";
            seen.differs(
                rules.most,
                &Name::from(what.as_str()),
                got.to_string(),
                expected,
                why,
            );
        }
    }
    for (section, least) in &demand.sections {
        let subject = Name::from(section.as_str());
        let of_section = report
            .items
            .iter()
            .find(|item| item.kind == "sections" && item.subject == subject);
        let got = of_section.map(|item| {
            item.classes
                .get("section-passed")
                .copied()
                .unwrap_or_default()
        });
        if got.is_none_or(|got| got < *least) {
            let got = got.map_or_else(|| "no such section".to_owned(), |got| got.to_string());
            let why = "fewer tests of a section passed than its floor";
            seen.differs(
                rules.section,
                &subject,
                got,
                format!("at least {least}"),
                why,
            );
        }
    }
    seen.findings
}

/// The gate.
pub struct Tests;

impl Check for Tests {
    const NAME: &'static str = "tests";
    const ABOUT: &'static str = "what test runs said of themselves";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] = COUNTS;
    const RULES: &'static [Rule] = &[
        RULES.failed,
        RULES.summary,
        RULES.exit,
        RULES.crash,
        MISSING,
        UNLISTED,
        RULES.most,
        RULES.section,
    ];
    type Ask = Ask;
    type Demand = Demand;

    fn inspect(_: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let mut found = Seen::default();
        let mut used = BTreeSet::new();
        for suite in &ask.suites {
            let format = format(suite).map_err(Failure::Usage)?;
            let mut read = |path: &Option<String>, found: &mut Seen| match path {
                None => Ok(None),
                Some(path) => {
                    used.insert(Name::from(path.as_str()));
                    file(&tree, suite, path, found).map(Some)
                }
            };
            let output = read(&suite.output, &mut found)?;
            let exit = read(&suite.exit, &mut found)?;
            if output == Some(None) || exit == Some(None) {
                continue;
            }
            let exit = match exit.flatten() {
                None => 0,
                Some(text) => match String::from_utf8_lossy(&text).trim().parse() {
                    Ok(code) => code,
                    Err(_) => {
                        let subject = Name::from(suite.name.as_str());
                        found.wrong(RULES.summary, &subject, "its exit code is no number");
                        continue;
                    }
                },
            };
            judge(
                &suite.name,
                format,
                &output.flatten().unwrap_or_default(),
                exit,
                suite.skip_says.as_deref(),
                &RULES,
                &mut found,
            );
        }
        for (name, entry) in &tree.entries {
            if matches!(entry, Entry::File(..)) && !used.contains(name) {
                found.wrong(UNLISTED, name, "an output that belongs to no suite");
            }
        }
        Ok(tree.seen(found))
    }

    fn judge(report: &Inspected, demand: &Demand) -> Vec<Finding> {
        demanded(report, demand, &RULES)
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// The suites; every file of the tree must belong to one.
    pub suites: Vec<Suite>,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        let Self { suites } = self;
        if suites.is_empty() {
            return Err("`suites` is empty".to_owned());
        }
        let (mut names, mut outputs) = (BTreeSet::new(), BTreeSet::new());
        for suite in suites {
            if let Some(output) = &suite.output
                && !outputs.insert(output)
            {
                return Err(format!(
                    "`{output}` is the output of two suites, and would count twice"
                ));
            }
            if !names.insert(&suite.name) {
                return Err(format!("suite `{}` stands twice", suite.name));
            }
            format(suite)?;
        }
        Ok(())
    }
}

/// One run of tests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Suite {
    /// The file with its exit code as a decimal number; without it, the output alone counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit: Option<String>,
    /// Who wrote the output: a word of [`Format::ALL`].
    pub format: String,
    /// What it is called.
    pub name: String,
    /// The file with its output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// A text in the lines of tests that skipped themselves and count as passed otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_says: Option<String>,
}

fn format(suite: &Suite) -> Result<Format, String> {
    let format = Format::of(&suite.format).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|(word, _)| *word).collect();
        let (name, word) = (&suite.name, &suite.format);
        format!(
            "suite `{name}`: no format `{word}`; there are: {}",
            known.join(", ")
        )
    })?;
    match (format, &suite.output, &suite.exit) {
        (Format::Exit, _, None) => Err(format!(
            "suite `{}`: format `exit` needs `exit`",
            suite.name
        )),
        (Format::Exit, ..) | (_, Some(_), _) => Ok(format),
        (_, None, _) => Err(format!("suite `{}`: `output` is missing", suite.name)),
    }
}

/// A file of a suite; none, with a finding, when it is not there.
fn file(
    tree: &Listed,
    suite: &Suite,
    path: &str,
    found: &mut Seen,
) -> Result<Option<Vec<u8>>, Failure> {
    let subject = Name::from(path);
    let Some(Entry::File(at, _)) = tree.entries.get(&subject) else {
        let why = format!("suite `{}` has left no such file", suite.name);
        found.wrong(MISSING, &subject, why);
        return Ok(None);
    };
    match list::read(at, OUTPUT_BYTES)? {
        Ok(bytes) => Ok(Some(bytes)),
        Err(size) => {
            let why = format!("{size} bytes of output, at most {OUTPUT_BYTES} are read");
            found.wrong(RULES.summary, &subject, why);
            Ok(None)
        }
    }
}

/// Judges one run by its output and its exit code.
pub(super) fn judge(
    name: &str,
    format: Format,
    output: &[u8],
    exit: i64,
    skip_says: Option<&str>,
    rules: &Rules,
    found: &mut Seen,
) {
    let subject = Name::from(name);
    if let Some(crash) = crash(exit) {
        found.wrong(rules.crash, &subject, format!("it crashed: {crash}"));
    }
    let mut summary = match (format, exit) {
        (Format::Exit, 0) => Summary {
            counts: Counts {
                passed: 1,
                ..Counts::default()
            },
            ..Summary::default()
        },
        (Format::Exit, _) => Summary::default(),
        _ => match format.read(output) {
            Ok(summary) => summary,
            Err(why) => {
                found.wrong(rules.summary, &subject, why);
                return;
            }
        },
    };
    if let Some(says) = skip_says.filter(|says| !says.is_empty()) {
        let text = String::from_utf8_lossy(output);
        let said = text.lines().filter(|line| line.contains(says)).count() as u64;
        let moved = said.min(summary.counts.passed);
        summary.counts.passed -= moved;
        summary.counts.skipped += moved;
    }
    if exit != 0 && summary.counts.failed == 0 && crash(exit).is_none() {
        let why = format!("it ended with {exit} and told of no failed test");
        found.wrong(rules.exit, &subject, why);
        summary.counts.failed = 1;
    }
    let mut told = 0;
    for failure in summary.failures.iter().take(FAILURES) {
        let subject = subject.zip_member(failure.as_bytes());
        found.wrong(rules.failed, &subject, "the test failed");
        told += 1;
    }
    let more = summary.counts.failed.saturating_sub(told);
    if more > 0
        && !found
            .findings
            .iter()
            .any(|f| f.id == rules.exit.id && f.subject == subject)
    {
        let why = match told {
            0 => format!("{more} tests failed"),
            _ => format!("{more} more tests failed"),
        };
        found.wrong(rules.failed, &subject, why);
    }
    let Counts {
        passed,
        failed,
        skipped,
    } = summary.counts;
    let numbers = [("failed", failed), ("passed", passed), ("skipped", skipped)];
    found.count("suites", &subject, &numbers);
    for (section, counts) in &summary.sections {
        let subject = Name::from(section.as_str());
        found.count("sections", &subject, &[("section-passed", counts.passed)]);
    }
}

/// What an exit code says about a crash: NTSTATUS values of Windows, signals as shells add 128.
#[must_use]
pub fn crash(exit: i64) -> Option<String> {
    // Windows codes come as signed and as unsigned numbers.
    let status = match exit {
        0..=255 => return signal(exit - 128).filter(|_| exit > 128),
        -64..=-1 => return signal(-exit),
        other => u32::try_from(other & 0xffff_ffff).ok()?,
    };
    let name = match status {
        0xC000_0005 => "ACCESS_VIOLATION",
        0xC000_0017 => "NO_MEMORY",
        0xC000_001D => "ILLEGAL_INSTRUCTION",
        0xC000_007B => "INVALID_IMAGE_FORMAT: a library of another machine",
        0xC000_0094 => "INTEGER_DIVIDE_BY_ZERO",
        0xC000_00FD => "STACK_OVERFLOW",
        0xC000_0135 => "DLL_NOT_FOUND",
        0xC000_0138 => "ORDINAL_NOT_FOUND",
        0xC000_0139 => "ENTRYPOINT_NOT_FOUND",
        0xC000_013A => "CONTROL_C_EXIT",
        0xC000_0142 => "DLL_INIT_FAILED",
        0xC000_0374 => "HEAP_CORRUPTION",
        0xC000_0409 => "STACK_BUFFER_OVERRUN: abort or a failed security check",
        0xC000_0000..=0xCFFF_FFFF => "an NTSTATUS error",
        _ => return None,
    };
    Some(format!("0x{status:08X} {name}"))
}

fn signal(number: i64) -> Option<String> {
    let name = match number {
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        31 => "SIGSYS",
        _ => return None,
    };
    Some(format!("signal {number} {name}"))
}

#[cfg(test)]
#[path = "suites_tests.rs"]
mod unit;
