//! *Merge*: the verdicts of a lane as one. Every expected gate has one, made with the policy that
//! is expected, and there is no other.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::exit::{Exit, Failure};
use crate::name::Name;
use crate::report::{self, Asserted};
use crate::verdict::{self, Expected};

/// The verdicts of a lane. Fields stand in the order of their JSON keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Merged {
    /// The exit code that goes with all of it.
    pub exit: u8,
    /// What each gate decided, by name.
    pub gates: Vec<Asserted>,
    /// Verdicts that are missing, that nobody expects, or that cannot be believed, by name.
    pub refused: Vec<Refused>,
    /// [`report::SCHEMA`].
    pub schema: String,
    /// `merge`.
    pub stage: Merge,
}

/// The word `merge`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Merge {
    /// The only value.
    Merge,
}

impl report::Staged for Merged {
    const STAGE: &'static str = "merge";
}

/// A gate without a verdict that counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Refused {
    /// Its name.
    pub gate: Name,
    /// What is wrong with its verdict.
    pub why: String,
}

/// A file that should be the verdict of a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// The gate's name, valid text or not: it may come from a file's name.
    pub gate: Name,
    /// The file.
    pub file: PathBuf,
}

impl Merged {
    /// Reads every expected verdict. The exit is 4 as soon as one is refused.
    #[must_use]
    pub fn of(expected: &[Expected], given: &[Given]) -> Self {
        let mut merged = Self::new(Vec::new());
        let mut refuse = |gate: &Name, why: String| {
            let gate = gate.clone();
            merged.refused.push(Refused { gate, why });
        };
        for expected in expected {
            let name = Name::from(expected.gate.as_str());
            let mut files = given.iter().filter(|given| given.gate == name);
            match (files.next(), files.next()) {
                (None, _) => refuse(&name, "its verdict is missing".to_owned()),
                (Some(_), Some(_)) => refuse(&name, "it has two verdicts".to_owned()),
                (Some(given), None) => match verdict::sealed(&given.file, expected) {
                    Ok(report) => merged.gates.push(report),
                    Err(failure) => {
                        // A report names no path of the machine.
                        let (text, file) = (failure.to_string(), given.file.display());
                        let why = text.strip_prefix(&format!("{file}: ")).unwrap_or(&text);
                        refuse(&name, why.to_owned());
                    }
                },
            }
        }
        for given in given {
            let known = |expected: &Expected| given.gate.bytes() == expected.gate.as_bytes();
            if !expected.iter().any(known) {
                refuse(&given.gate, "nobody expects a verdict of it".to_owned());
            }
        }
        merged.gates.sort_by(|a, b| a.gate.cmp(&b.gate));
        merged.refused.sort_by(|a, b| a.gate.cmp(&b.gate));
        merged.exit = merged.decide().code();
        merged
    }

    /// The verdicts of gates that just ran.
    #[must_use]
    pub fn new(gates: Vec<Asserted>) -> Self {
        let mut merged = Self {
            exit: Exit::Pass.code(),
            gates,
            refused: Vec::new(),
            schema: report::SCHEMA.to_owned(),
            stage: Merge::Merge,
        };
        merged.exit = merged.decide().code();
        merged
    }

    /// Reads a merged report, or the verdict of one gate as a lane of one.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] when it is neither, or contradicts itself.
    pub fn read(path: &std::path::Path) -> Result<Self, Failure> {
        if let Ok(asserted) = report::read::<Asserted>(path) {
            let expected = Expected {
                gate: asserted.gate,
                policy: None,
            };
            return Ok(Self::new(vec![verdict::sealed(path, &expected)?]));
        }
        let merged: Self = report::read(path)?;
        let refuse = |why: String| Failure::Unreadable(format!("{}: {why}", path.display()));
        for report in &merged.gates {
            verdict::believable(report).map_err(|why| refuse(format!("{}: {why}", report.gate)))?;
        }
        if merged.gates.is_empty() && merged.refused.is_empty() {
            return Err(refuse("no gate in it".to_owned()));
        }
        if merged.exit != merged.decide().code() {
            let why = "its exit code contradicts its verdicts";
            return Err(refuse(why.to_owned()));
        }
        Ok(merged)
    }

    /// How all of it ends: what a gate that only advises found fails nothing.
    #[must_use]
    pub fn decide(&self) -> Exit {
        let refused = match self.refused.is_empty() {
            true => Exit::Pass,
            false => Exit::Unreadable,
        };
        self.gates
            .iter()
            .filter(|report| report.policy.resolved.effect.is_block())
            .map(|report| verdict::exit(report.verdict))
            .fold(refused, Exit::worst)
    }
}
