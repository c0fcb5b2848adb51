//! Projections: the one report in the forms that other tools read. Each is a function of the
//! report and adds nothing to it.

mod github;
mod junit;
pub mod predicate;
mod sarif;
mod text;

use crate::exit::Failure;
use crate::gate::Gate;
use crate::merged::Merged;
use crate::report::{self, Asserted, Finding, FloorResult};
use crate::rule::{self, Rule};

/// A form of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Workflow commands of GitHub Actions, one line for each finding.
    Github,
    /// The report itself.
    Json,
    /// JUnit's XML: a suite for each gate, a case for each rule and floor.
    Junit,
    /// SARIF 2.1.0: a run for each gate.
    Sarif,
    /// For people: the first reason first.
    Text,
}

impl Format {
    /// Every form with its word, sorted.
    pub const ALL: [(&'static str, Self); 5] = [
        ("github", Self::Github),
        ("json", Self::Json),
        ("junit", Self::Junit),
        ("sarif", Self::Sarif),
        ("text", Self::Text),
    ];

    /// The form of this name.
    ///
    /// # Errors
    /// [`Failure::Usage`] with the list.
    pub fn named(name: &str) -> Result<Self, Failure> {
        let found = Self::ALL.iter().find(|(word, _)| *word == name);
        found.map(|(_, format)| *format).ok_or_else(|| {
            let known = Self::ALL.map(|(word, _)| word).join(", ");
            Failure::Usage(format!("no format `{name}`; there are: {known}"))
        })
    }

    /// The report in this form; `json` is its own.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] when it cannot be written, which is a bug.
    pub fn of(self, merged: &Merged, json: &[u8]) -> Result<Vec<u8>, Failure> {
        Ok(match self {
            Self::Github => github::of(merged).into_bytes(),
            Self::Json => json.to_vec(),
            Self::Junit => junit::of(merged)?,
            Self::Sarif => report::canonical(&sarif::of(merged))?,
            Self::Text => text::of(merged).into_bytes(),
        })
    }
}

/// Whether a red verdict of this gate fails anything.
fn blocks(report: &Asserted) -> bool {
    report.policy.resolved.effect.is_block()
}

/// The rules of the gate that made a report, with those of every gate, and with those about
/// reports from outside where it is one.
fn rules(report: &Asserted) -> Vec<Rule> {
    let own = Gate::named(&report.check).map_or(&[][..], |gate| gate.rules);
    let external = match report.external {
        Some(_) => &rule::EXTERNAL[..],
        None => &[],
    };
    let rules = own.iter().chain(&rule::COMMON).chain(external);
    rules.copied().collect()
}

/// What a finding says besides its rule and subject.
fn message(finding: &Finding) -> String {
    match (&finding.actual, &finding.expected) {
        (Some(actual), Some(expected)) => {
            format!("found {actual}, expected {expected}: {}", finding.why)
        }
        (Some(actual), None) => format!("found {actual}: {}", finding.why),
        _ => finding.why.clone(),
    }
}

/// What a floor that was not reached says.
fn below(floor: &FloorResult) -> String {
    let FloorResult {
        got, least, what, ..
    } = floor;
    format!("{what}: {got} counted, at least {least} expected")
}

/// The file of a finding's subject, where it has one: the archive or zip for what is in it.
fn file(finding: &Finding) -> Option<&[u8]> {
    // These are about the policy: their subject is a pattern.
    if finding.id == rule::STALE.id {
        return None;
    }
    let subject = finding.subject.bytes();
    let end = match subject.iter().position(|b| *b == b'!') {
        Some(at) => at,
        // A file's own name may have brackets, too; a member's stand at the end.
        None if subject.ends_with(b")") => subject.iter().rposition(|b| *b == b'(')?,
        None => subject.len(),
    };
    let path = &subject[..end];
    (!path.is_empty() && !path.contains(&b'*')).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    #[test]
    fn the_file_of_a_subject_is_what_contains_it() {
        let of = |id: &str, subject: &str| {
            let finding = Finding {
                actual: None,
                expected: None,
                id: id.to_owned(),
                subject: Name::from(subject),
                why: String::new(),
            };
            file(&finding).map(|path| String::from_utf8_lossy(path).into_owned())
        };
        for (subject, expected) in [
            ("lib/z.lib(a.obj)", Some("lib/z.lib")),
            ("w/x.whl!d/m (1).pyd", Some("w/x.whl")),
            ("bin/a (1).dll", Some("bin/a (1).dll")),
            ("bin/a.dll(b.dll)", Some("bin/a.dll")),
            ("**/av*.dll", None),
            ("", None),
        ] {
            assert_eq!(of("ARCH001", subject).as_deref(), expected, "{subject}");
        }
        assert_eq!(of(rule::STALE.id, "bin/protoc.exe"), None);
    }
}
