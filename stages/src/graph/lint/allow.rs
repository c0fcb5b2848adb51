//! LK060: an entry of `lint` that allows nothing.

use super::super::Graph;
use super::Seen;
use crate::diag::{Diagnostic, Report, rule, suggest};
use crate::file::AllowLint;

/// What no entry of `lint` allows.
#[must_use]
pub fn keep(graph: &Graph, found: Report) -> Report {
    let mut kept = Report::default();
    for diagnostic in found.diagnostics() {
        if !graph.lint.iter().any(|allow| allows(allow, diagnostic)) {
            kept.push(diagnostic.clone());
        }
    }
    kept
}

fn allows(allow: &AllowLint, diagnostic: &Diagnostic) -> bool {
    let name = |name: &str| diagnostic.message.contains(&format!("`{name}`"));
    allow.rule.value == diagnostic.rule.0
        && rule::LINTS.contains(&diagnostic.rule)
        && allow.name.as_ref().is_none_or(|text| name(&text.value))
        && diagnostic
            .at
            .as_ref()
            .is_some_and(|(span, _)| allow.covers(span))
}

/// `found` is everything that was found, allowed or not.
pub(super) fn check(seen: &Seen<'_>, found: &Report, report: &mut Report) {
    for allow in &seen.graph.lint {
        let known = rule::LINTS.iter().find(|lint| lint.0 == allow.rule.value);
        let Some(lint) = known else {
            let message = format!("`{}` is no lint", allow.rule.value);
            let help = suggest(&allow.rule.value, rule::LINTS.iter().map(|lint| lint.0));
            report.push(
                Diagnostic::new(rule::ALLOW, message)
                    .at(&allow.rule.span, "named here")
                    .help(help),
            );
            continue;
        };
        // What nobody looked at says nothing.
        let blind = seen.files.is_none() && rule::OF_CONTEXT.contains(lint);
        if blind || rule::OF_PLANS.contains(lint) {
            continue;
        }
        if !found.diagnostics().iter().any(|one| allows(allow, one)) {
            report.push(
                Diagnostic::new(
                    rule::ALLOW,
                    format!("{lint} is allowed where it does not fire"),
                )
                .at(&allow.rule.span, "nothing to allow")
                .help("delete the entry: the next one of this kind would pass in silence"),
            );
        }
    }
}
