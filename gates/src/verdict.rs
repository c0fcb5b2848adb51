//! *Assert*: a policy held against a report. *Seal*: whether every verdict is there and green.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use crate::arch_table;
use crate::exit::{Exit, Failure};
use crate::gate::{Gate, Object};
use crate::glob::Glob;
use crate::name::Name;
use crate::policy::{Allow, Loaded};
use crate::report::{
    self, Assert, Asserted, Exemption, Finding, FloorResult, Inspected, PolicyUsed, Verdict,
};
use crate::rule;

/// Findings that an asserted report lists; the rest is a number.
pub const MAX_FINDINGS: usize = 1_000;
/// Findings that are printed; the rest is a number, because step logs are clipped.
pub const MAX_PRINTED: usize = 20;
/// Subjects that a report lists for an allow entry.
const MAX_SUBJECTS: usize = 20;
/// The key of a report that says by which rules it was made.
pub const VERSION: &str = "check-version";

/// What of a report is not what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Foreign {
    /// The key of the report.
    pub what: &'static str,
    /// Its value.
    pub found: String,
    /// The value that it must have.
    pub expected: String,
}

/// What is foreign of a report that another check, version or target made, or that was asked
/// otherwise: the first such thing.
#[must_use]
pub fn foreign(report: &Inspected, gate: &Gate, target: &str, ask: &Object) -> Option<Foreign> {
    let json = |ask: &Object| serde_json::Value::Object(ask.clone()).to_string();
    [
        ("check", report.check.clone(), gate.name.to_owned()),
        (
            VERSION,
            report.check_version.to_string(),
            gate.version.to_string(),
        ),
        ("target", report.target.clone(), target.to_owned()),
        ("ask", json(&report.ask), json(ask)),
    ]
    .into_iter()
    .find(|(_, found, expected)| found != expected)
    .map(|(what, found, expected)| Foreign {
        what,
        found,
        expected,
    })
}

/// Holds the policy against what was seen.
///
/// # Errors
/// [`Failure::Usage`] when the policy is for a gate or target that there is not, or demands what
/// the gate does not know; [`Failure::Unreadable`] when the report is not the policy's.
pub fn judge(report: &Inspected, loaded: &Loaded) -> Result<Asserted, Failure> {
    let gate = Gate::named(&loaded.policy.check).map_err(Failure::Usage)?;
    let policy = &loaded.policy;
    if let Some(foreign) = foreign(report, gate, &policy.target, &policy.ask) {
        let Foreign {
            what,
            found,
            expected,
        } = foreign;
        return Err(Failure::Unreadable(format!(
            "a foreign report: its {what} is `{found}`, expected `{expected}`"
        )));
    }
    let demanded = gate
        .judge(report, &loaded.policy.demand)
        .map_err(Failure::Usage)?;
    let fold = arch_table::row(&policy.target)?.folds_case();
    let globs: Vec<Glob> = policy
        .allow
        .iter()
        .map(|a| Glob::new(&a.path, fold))
        .collect();
    let mut matched: Vec<(BTreeSet<&Name>, u64)> = vec![(BTreeSet::new(), 0); globs.len()];
    let mut exempt = |subject, is_finding| {
        let mut any = false;
        for (glob, (subjects, findings)) in globs.iter().zip(&mut matched) {
            if covers(glob, subject) {
                any = true;
                subjects.insert(subject);
                *findings += u64::from(is_finding);
            }
        }
        any
    };

    let items: Vec<_> = report
        .items
        .iter()
        .filter(|item| !exempt(&item.subject, false))
        .collect();
    let mut findings: Vec<Finding> = report
        .findings
        .iter()
        .chain(&demanded)
        // That a report is not accepted is nothing about a product: no exemption covers it.
        .filter(|finding| rule::is_external(&finding.id) || !exempt(&finding.subject, true))
        .cloned()
        .collect();
    let exemptions = policy
        .allow
        .iter()
        .zip(&matched)
        .map(exemption)
        .collect::<Vec<_>>();
    findings.extend(
        exemptions
            .iter()
            .filter(|e| e.matched == 0)
            .map(|e| Finding {
                actual: None,
                expected: None,
                id: rule::STALE.id.to_owned(),
                subject: Name::from(e.path.as_str()),
                why: format!(
                    "this allow entry matches nothing; remove it (its reason was: {})",
                    e.why
                ),
            }),
    );

    let floors: Vec<FloorResult> = policy
        .floors
        .iter()
        .map(|(what, floor)| {
            let counts = items.iter().map(|item| gate.count(what, item));
            let got = counts.fold(0, u64::saturating_add);
            FloorResult {
                got,
                least: floor.least,
                ok: got >= floor.least,
                what: what.clone(),
            }
        })
        .collect();
    let notes_omitted = report.notes.len().saturating_sub(MAX_FINDINGS) as u64;
    let omitted = findings.len().saturating_sub(MAX_FINDINGS);
    findings.truncate(MAX_FINDINGS);
    let verdict = decide(&findings, &floors);
    Ok(Asserted {
        check: report.check.clone(),
        check_version: report.check_version,
        counts: report.counts.clone(),
        exemptions,
        exit: exit(verdict).code(),
        external: report.external.clone(),
        findings,
        findings_omitted: omitted as u64,
        floors,
        gate: policy.gate.clone(),
        lists: report.lists.clone(),
        notes: report.notes.iter().take(MAX_FINDINGS).cloned().collect(),
        notes_omitted,
        policy: PolicyUsed {
            digest: loaded.digest.clone(),
            resolved: policy.clone(),
        },
        roots: report.roots.clone(),
        schema: report::SCHEMA.to_owned(),
        stage: Assert::Assert,
        target: report.target.clone(),
        verdict,
    })
}

fn decide(findings: &[Finding], floors: &[FloorResult]) -> Verdict {
    if !findings.is_empty() {
        Verdict::Fail
    } else if floors.iter().any(|floor| !floor.ok) {
        Verdict::Insufficient
    } else {
        Verdict::Pass
    }
}

/// The exit that goes with a verdict.
#[must_use]
pub const fn exit(verdict: Verdict) -> Exit {
    match verdict {
        Verdict::Pass => Exit::Pass,
        Verdict::Fail => Exit::Findings,
        Verdict::Insufficient => Exit::Coverage,
    }
}

/// Whether the glob matches the subject or what contains it: who allows a wheel allows its members.
fn covers(glob: &Glob, subject: &Name) -> bool {
    let bytes = subject.bytes();
    glob.matches(bytes)
        || bytes
            .iter()
            .enumerate()
            .any(|(at, byte)| matches!(byte, b'!' | b'(') && glob.matches(&bytes[..at]))
}

fn exemption((allow, (subjects, findings)): (&Allow, &(BTreeSet<&Name>, u64))) -> Exemption {
    Exemption {
        findings: *findings,
        matched: subjects.len() as u64,
        path: allow.path.clone(),
        subjects: subjects
            .iter()
            .take(MAX_SUBJECTS)
            .map(|name| (*name).clone())
            .collect(),
        why: allow.why.clone(),
    }
}

/// The verdict in a few lines: the first reason first, one line on the whole last.
#[must_use]
pub fn summary(report: &Asserted) -> String {
    // Writing to a string cannot fail.
    let mut out = String::new();
    for finding in report.findings.iter().take(MAX_PRINTED) {
        let _ = writeln!(out, "error: {finding}");
    }
    let total = report.findings_in_all();
    let hidden = total.saturating_sub(MAX_PRINTED as u64);
    if hidden > 0 {
        let _ = writeln!(out, "and {hidden} more");
    }
    for floor in report.floors.iter().filter(|floor| !floor.ok) {
        let FloorResult {
            got, least, what, ..
        } = floor;
        let _ = writeln!(
            out,
            "error: {} {what}: {got} counted, at least {least} expected",
            rule::FLOOR.id
        );
    }
    for exemption in report
        .exemptions
        .iter()
        .filter(|e| e.matched > 0)
        .take(MAX_PRINTED)
    {
        let Exemption {
            findings,
            matched,
            path,
            subjects,
            why,
        } = exemption;
        let shown: Vec<String> = subjects.iter().take(3).map(Name::to_string).collect();
        let more = if *matched > 3 { ", …" } else { "" };
        let _ = writeln!(
            out,
            "allowed: {path} covers {} on {}{more}: {why}",
            number(*findings, "finding"),
            shown.join(", ")
        );
    }
    let mut classes: BTreeMap<&str, (u64, Vec<String>)> = BTreeMap::new();
    for note in &report.notes {
        let (count, first) = classes.entry(&note.class).or_default();
        *count += 1;
        if first.len() < 3 {
            first.push(format!("{}: {}", note.subject, note.text));
        }
    }
    for (class, (count, first)) in classes {
        let more = if count > 3 { "; …" } else { "" };
        let _ = writeln!(out, "noted: {count} {class}: {}{more}", first.join("; "));
    }
    let state = match report.verdict {
        Verdict::Pass => "passed",
        Verdict::Fail => "failed",
        Verdict::Insufficient => "saw too little",
    };
    let floor = report.floors.iter().find(|floor| floor.what == "inspected");
    let seen = report.counts.inspected;
    let seen = match floor {
        Some(FloorResult { got, least, .. }) if *got < seen => {
            format!(
                "{got} inspected (at least {least}) and {} allowed",
                seen - got
            )
        }
        Some(FloorResult { least, .. }) => format!("{seen} inspected (at least {least})"),
        None => format!("{seen} inspected"),
    };
    let _ = writeln!(
        out,
        "gate {} for {} {state}: {seen}, {}",
        report.gate,
        report.target,
        number(total, "finding")
    );
    if let Some(why) = &report.policy.resolved.empty_ok {
        let _ = writeln!(out, "nothing need be there: {why}");
    }
    out
}

/// `1 finding`, `2 findings`.
#[must_use]
pub fn number(count: u64, thing: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{s}")
}

/// A verdict that a seal waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// The gate's name.
    pub gate: String,
    /// `sha256:…` of its policy file, when the caller wants to be sure of it.
    pub policy: Option<String>,
}

/// Reads an asserted report and makes sure that it is the expected one and contradicts itself
/// nowhere.
///
/// # Errors
/// [`Failure::Unreadable`] when it is missing, cut, foreign or inconsistent.
pub fn sealed(path: &Path, expected: &Expected) -> Result<Asserted, Failure> {
    let report: Asserted = report::read(path)?;
    let refuse = |why: String| Failure::Unreadable(format!("{}: {why}", path.display()));
    if report.gate != expected.gate {
        return Err(refuse(format!(
            "the verdict of gate `{}`, expected `{}`",
            report.gate, expected.gate
        )));
    }
    if let Some(digest) = &expected.policy
        && report.policy.digest != *digest
    {
        return Err(refuse(format!(
            "made with policy {}, expected {digest}",
            report.policy.digest
        )));
    }
    believable(&report).map_err(refuse)?;
    Ok(report)
}

/// Whether this lanegate's check made a verdict, and whether it agrees with itself.
///
/// # Errors
/// A sentence on what is foreign or contradicts.
pub fn believable(report: &Asserted) -> Result<(), String> {
    let gate = Gate::named(&report.check)?;
    if report.check_version != gate.version || report.policy.resolved.check != gate.name {
        return Err(format!(
            "made by `{}` {}, expected `{}` {}",
            report.policy.resolved.check, report.check_version, gate.name, gate.version
        ));
    }
    let wanted = &report.policy.resolved.floors;
    let held = |floor: &FloorResult| {
        wanted
            .get(&floor.what)
            .is_some_and(|w| w.least == floor.least)
            && floor.ok == (floor.got >= floor.least)
    };
    if report.floors.len() != wanted.len() || !report.floors.iter().all(held) {
        return Err("its floors contradict its policy".to_owned());
    }
    let verdict = decide(&report.findings, &report.floors);
    if report.verdict != verdict || report.exit != exit(verdict).code() {
        return Err("its verdict contradicts its findings".to_owned());
    }
    Ok(())
}
