//! Workflow commands of GitHub Actions: a runner turns such lines of a step's output into
//! annotations. The file is where the product's tree has it.

use std::fmt::Write as _;

use super::{below, blocks, file, message, rules};
use crate::merged::Merged;
use crate::name::Name;
use crate::report::Asserted;
use crate::rule::FLOOR;
use crate::verdict::MAX_PRINTED;

pub(super) fn of(merged: &Merged) -> String {
    let mut out = String::new();
    for refused in &merged.refused {
        let title = format!("gate {}", refused.gate);
        annotation(&mut out, "error", None, &title, &refused.why);
    }
    // What fails the build stands first: a runner shows ten annotations of a step.
    let (first, last): (Vec<_>, Vec<_>) = merged.gates.iter().partition(|report| blocks(report));
    for report in first.into_iter().chain(last) {
        gate(&mut out, report);
    }
    out
}

fn gate(out: &mut String, report: &Asserted) {
    let level = if blocks(report) { "error" } else { "warning" };
    let rules = rules(report);
    for finding in report.findings.iter().take(MAX_PRINTED) {
        let rule = rules.iter().find(|rule| rule.id == finding.id);
        let title = rule.map_or("", |rule| rule.title);
        let title = format!("{} {title} (gate {})", finding.id, report.gate);
        let path = file(finding).map(|path| Name::new(path).to_string());
        let text = format!("{}: {}", finding.subject, message(finding));
        annotation(out, level, path.as_deref(), &title, &text);
    }
    let total = report.findings_in_all();
    if total > MAX_PRINTED as u64 {
        let text = format!("and {} more findings", total - MAX_PRINTED as u64);
        annotation(out, level, None, &format!("gate {}", report.gate), &text);
    }
    for floor in report.floors.iter().filter(|floor| !floor.ok) {
        let title = format!("{} {} (gate {})", FLOOR.id, FLOOR.title, report.gate);
        annotation(out, level, None, &title, &below(floor));
    }
}

fn annotation(out: &mut String, level: &str, file: Option<&str>, title: &str, text: &str) {
    let file = file.map(|file| format!("file={},", property(file)));
    // Writing to a string cannot fail.
    let _ = writeln!(
        out,
        "::{level} {}title={}::{}",
        file.unwrap_or_default(),
        property(title),
        data(text)
    );
}

/// The text of a command: what would end its line is escaped.
fn data(text: &str) -> String {
    text.replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// A property's value: what would end it is escaped, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
