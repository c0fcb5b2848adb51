//! What is declared and used by nothing is an error: it would be dropped in silence.

use std::collections::BTreeSet;

use super::Graph;
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::text::ValueRef;

pub(super) fn check(graph: &Graph, report: &mut Report) {
    let mut used: BTreeSet<&str> = BTreeSet::new();
    for value in graph.values() {
        match value {
            ValueRef::Named(name) | ValueRef::Pin(name) | ValueRef::Arg(name) => {
                used.insert(name);
            }
            ValueRef::Lane(_) | ValueRef::Slot(_) | ValueRef::Arch(_) | ValueRef::Env(_) => {}
        }
    }
    let hosts: BTreeSet<&str> = graph
        .stages
        .values()
        .flat_map(|stage| &stage.steps)
        .flat_map(|step| &step.host)
        .map(|name| name.value.as_str())
        .collect();
    let mut unused = |kind: &str, name: &str, span: &Span, help: &str| {
        report.push(
            Diagnostic::new(rule::UNUSED, format!("{kind} `{name}` is used by nothing"))
                .at(span, "declared here")
                .help(help),
        );
    };
    for (name, pin) in &graph.pins {
        if graph.in_scope(name) && !used.contains(name.as_str()) {
            let help = "name it in a step's `args`, delete it, or take it out of scope: pins = [\"*\", \"!NAME\"]";
            unused("pin", name, &pin.span, help);
        }
    }
    for (name, arg) in &graph.args {
        if !used.contains(name.as_str()) {
            unused(
                "argument",
                name,
                &arg.span,
                "name it in a step's `args`, or delete it",
            );
        }
    }
    for (name, host) in &graph.hosts {
        if !hosts.contains(name.as_str()) {
            unused(
                "host setting",
                name,
                &host.span,
                "name it in a step's `host`, or delete it",
            );
        }
    }
}
