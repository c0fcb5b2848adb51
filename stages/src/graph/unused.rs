//! What is declared and used by nothing is an error: it would be dropped in silence.

use std::collections::BTreeSet;

use super::setting::Reach;
use super::{Graph, Setting};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::text::ValueRef;

pub(super) fn check(graph: &Graph, reaches: &[Reach<'_>], report: &mut Report) {
    names(graph, report);
    // Which stages lanes reach is known only where every name is.
    if report.is_empty() {
        unreached(graph, reaches, report);
    }
}

/// Stages, choices and gates that no lane comes to, and rows that hold in no lane.
fn unreached(graph: &Graph, reaches: &[Reach<'_>], report: &mut Report) {
    let mut dead = |what: String, span: &Span, help: &str| {
        report.push(
            Diagnostic::new(rule::UNUSED, what)
                .at(span, "declared here")
                .help(help),
        );
    };
    for (name, stage) in &graph.stages {
        let reached = |reach: &Reach<'_>| reach.stages.contains(name.as_str());
        if !reaches.iter().any(reached) {
            dead(
                format!("stage `{name}` is in no lane's output"),
                &stage.span,
                "let an output or another stage name it, or delete it",
            );
        }
    }
    let looked_at = graph.slots_looked_at();
    for (name, slot) in &graph.slots {
        if !looked_at.contains(name.as_str()) {
            dead(
                format!("slot `{name}` is used by nothing"),
                &slot.span,
                "let a stage start from it, or a `when` or value look at it, or delete it",
            );
        }
    }
    for (slot_name, slot) in &graph.slots {
        for (name, choice) in &slot.choices {
            let taken = |reach: &Reach<'_>| {
                let choice = reach.setting.choice(slot_name);
                choice.is_some_and(|(taken, _)| taken == name)
            };
            if !reaches.iter().any(taken) {
                dead(
                    format!("no lane takes choice `{name}` of slot `{slot_name}`"),
                    &choice.span,
                    "give a lane this choice, or delete it",
                );
            }
        }
    }
    for (name, gate) in &graph.gates {
        let applies = |reach: &&Reach<'_>| {
            reach.stages.contains(gate.subject().value.as_str())
                && reach.setting.holds(gate.when.as_ref())
        };
        let lanes: Vec<&Setting<'_>> = reaches
            .iter()
            .filter(applies)
            .map(|reach| &reach.setting)
            .collect();
        if lanes.is_empty() {
            dead(
                format!("gate `{name}` checks nothing in any lane"),
                &gate.span,
                "its product is in no output, or its `when` never holds",
            );
            continue;
        }
        let floors = gate.floors.iter().map(|floor| floor.when.as_ref());
        let allows = gate.allow.iter().map(|allow| allow.when.as_ref());
        let own = gate
            .ask
            .conditions()
            .into_iter()
            .chain(gate.demand.conditions());
        for when in floors.chain(allows).flatten().chain(own) {
            if !lanes.iter().any(|setting| setting.holds(Some(when))) {
                dead(
                    format!("this condition of gate `{name}` holds in no lane"),
                    &when.span,
                    "correct it, or delete the row",
                );
            }
        }
    }
}

fn names(graph: &Graph, report: &mut Report) {
    let (mut used, mut gits) = (BTreeSet::new(), BTreeSet::new());
    let (values, patterns) = graph.named();
    used.extend(patterns);
    for value in values {
        match value {
            ValueRef::Named(name) | ValueRef::Pin(name) | ValueRef::Arg(name) => {
                used.insert(name.as_str());
            }
            ValueRef::Commit(name) => _ = gits.insert(name.as_str()),
            ValueRef::Lane(_)
            | ValueRef::Set(_)
            | ValueRef::Slot(_)
            | ValueRef::Switch(_)
            | ValueRef::Payload(_)
            | ValueRef::Arch(_)
            | ValueRef::Env(_)
            | ValueRef::Platform(_) => {}
        }
    }
    let hosts: BTreeSet<&str> = graph
        .brings()
        .flat_map(|brings| &brings.host)
        .map(|name| name.value.as_str())
        .collect();
    let steps = || graph.stages.values().flat_map(|stage| &stage.steps);
    let kits: BTreeSet<&str> = steps()
        .flat_map(|step| &step.kits)
        .map(|name| name.value.as_str())
        .collect();
    let switches = graph.switches_looked_at();
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
    let constants = graph.constants_looked_at();
    for lane in graph.lanes.values() {
        for (name, text) in &lane.set {
            if !constants.contains(name.as_str()) {
                let help = "name it as lane.set.NAME, or delete it";
                unused("constant", name, &text.span, help);
            }
        }
    }
    let stages = graph.stages.values().flat_map(|stage| graph.gits_of(stage));
    gits.extend(stages.map(|name| name.value));
    for (name, git) in &graph.gits {
        if !gits.contains(name.as_str()) {
            let help = "take files of it: files = [{ git, at }], name its commit, or delete it";
            unused("git source", name, &git.span, help);
        }
    }
    let fetches = graph.fetches_used();
    for (name, fetch) in &graph.fetches {
        if !fetches.contains(name.as_str()) {
            let help = "take it: files = [{ fetch = \"NAME\", at = \"/dir\" }], or delete it";
            unused("download", name, &fetch.span, help);
        }
    }
    let payloads = graph.payloads_used();
    for (name, payload) in &graph.payloads {
        if !payloads.contains(name.as_str()) {
            let help =
                "take it: files = [{ payload = \"NAME\" }], let a `when` look at it, or delete it";
            unused("payload", name, &payload.span, help);
        }
    }
    for (name, kit) in &graph.kits {
        if !kits.contains(name.as_str()) {
            unused(
                "kit",
                name,
                &kit.span,
                "name it in a step's `kits`, or delete it",
            );
        }
    }
    for (name, switch) in &graph.switches {
        if !switches.contains(name.as_str()) {
            unused(
                "switch",
                name,
                &switch.span,
                "let a `when` look at it, or delete it",
            );
        }
    }
}
