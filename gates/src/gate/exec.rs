//! The gate `exec`: a command that ran in the product's own environment, and what it counted.
//!
//! The run itself is `lanegate run`, inside the product; it leaves `output` and `exit`. This looks
//! at those two.

use serde::{Deserialize, Serialize};

use super::suites::{self, Demand, Rules};
use super::{Check, Keys};
use crate::arch_table::Row;
use crate::counts::Format;
use crate::exit::Failure;
use crate::list::{self, Entry};
use crate::name::Name;
use crate::report::{Finding, Inspected};
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

/// The file with what the command printed.
pub const OUTPUT: &str = "output";
/// The file with its exit code.
pub const EXIT: &str = "exit";

const RULES: Rules = Rules {
    failed: Rule::new("EXE001", "a test of the command failed"),
    summary: Rule::new("EXE002", "the command's numbers cannot be believed"),
    exit: Rule::new("EXE003", "the command ended badly and told of no failure"),
    crash: Rule::new("EXE004", "the command crashed"),
    most: Rule::new("EXE005", "the command counts more than a cap allows"),
    section: Rule::new("EXE006", "a section of the command is below its floor"),
};

/// The gate.
pub struct Exec;

impl Check for Exec {
    const NAME: &'static str = "exec";
    const ABOUT: &'static str = "a command ran in the product and counted what it did";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] = suites::COUNTS;
    const RULES: &'static [Rule] = &RULES.all();
    type Ask = Ask;
    type Demand = Demand;

    fn inspect(_: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let format = format(ask).map_err(Failure::Usage)?;
        let mut found = Seen::default();
        let file = |name: &str| match tree.entries.get(&Name::from(name)) {
            Some(Entry::File(path, _)) => Ok(path),
            _ => Err(Failure::Unreadable(format!(
                "no `{name}`: the command was not run"
            ))),
        };
        let output = match list::read(file(OUTPUT)?, crate::run::OUTPUT_BYTES)? {
            Ok(output) => Some(output),
            Err(size) => {
                let why = format!(
                    "{size} bytes of output, at most {} are read",
                    crate::run::OUTPUT_BYTES
                );
                found.wrong(RULES.summary, &Name::from("command"), why);
                None
            }
        };
        let exit = list::read(file(EXIT)?, 64)?.unwrap_or_default();
        let exit = String::from_utf8_lossy(&exit);
        let exit: i64 = exit
            .trim()
            .parse()
            .map_err(|_| Failure::Unreadable(format!("`{EXIT}` holds no number")))?;
        if let Some(output) = output {
            let skip = ask.skip_says.as_deref();
            suites::judge("command", format, &output, exit, skip, &RULES, &mut found);
        }
        Ok(tree.seen(found))
    }

    fn judge(report: &Inspected, demand: &Demand) -> Vec<Finding> {
        suites::demanded(report, demand, &RULES)
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// Who wrote the output: a word of [`Format::ALL`]; without it the exit code counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// A text in the lines of tests that skipped themselves and count as passed otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skip_says: Option<String>,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        format(self).map(|_| ())
    }
}

fn format(settings: &Ask) -> Result<Format, String> {
    let Some(word) = &settings.format else {
        return Ok(Format::Exit);
    };
    Format::of(word).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|(word, _)| *word).collect();
        format!("no format `{word}`; there are: {}", known.join(", "))
    })
}
