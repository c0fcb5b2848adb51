//! What a caller changes for one run: gates that are skipped, pins with another value. Such a run
//! is possible, is marked, and has no tag.

use std::collections::{BTreeMap, BTreeSet};

use super::Request;
use super::host::WAIVED;
use crate::diag::{Diagnostic, Report, rule, suggest};
use crate::graph::{Graph, lint};

/// Names of build arguments that are lanekit's own.
pub const RESERVED: &str = "LANEKIT_";
/// Gates that are skipped, with commas between.
const SKIP_GATE: &str = "LANEKIT_SKIP_GATE";
/// In front of the name of a pin: a build argument that gives it another value for one run.
pub const PIN: &str = "LANEKIT_PIN_";

/// What is other in this run than the file says.
#[derive(Debug, Clone, Default)]
pub struct Unverified<'g> {
    /// Gates that do not check.
    pub gates: BTreeSet<&'g str>,
    /// Pins with another value: those that the caller gives, and what is made of them.
    pub pins: BTreeMap<&'g str, String>,
    /// The pins that the caller gives.
    pub(super) given: BTreeSet<&'g str>,
}

impl<'g> Unverified<'g> {
    /// Reads the reserved arguments of a request.
    pub(super) fn of(graph: &'g Graph, request: &Request, report: &mut Report) -> Self {
        let mut unverified = Self::default();
        for (name, value) in &request.args {
            if name == SKIP_GATE {
                unverified.skip(graph, value, report);
            } else if let Some(pin) = name.strip_prefix(PIN) {
                match graph.pins.get_key_value(pin) {
                    Some((pin, _)) => {
                        report.extend(lint::given(graph, pin, value, name));
                        unverified.pins.insert(pin, value.clone());
                        unverified.given.insert(pin);
                    }
                    None => report.push(unknown(graph, "pin", pin, graph.pins.keys())),
                }
            } else if name == WAIVED {
                let message = format!("`{WAIVED}` is a secret, not an argument");
                report.push(
                    Diagnostic::new(rule::REQUEST, message)
                        .at(
                            &graph.table.span,
                            "as a build argument it would be in keys and history",
                        )
                        .help(format!("--secret id={WAIVED},env={WAIVED}")),
                );
            } else if name.starts_with(RESERVED) {
                let message = format!("lanekit has no argument `{name}`");
                report.push(
                    Diagnostic::new(rule::REQUEST, message)
                        .at(&graph.table.span, "this graph")
                        .help(format!("known: {SKIP_GATE}=GATE,…, {PIN}NAME=VALUE")),
                );
            }
        }
        match graph.derived_of(&unverified.pins) {
            Ok(made) => {
                for (name, value) in made {
                    unverified.pins.entry(name).or_insert(value);
                }
            }
            Err(wrong) => report.extend(wrong),
        }
        unverified
    }

    fn skip(&mut self, graph: &'g Graph, names: &str, report: &mut Report) {
        for name in names.split(',').map(str::trim).filter(|n| !n.is_empty()) {
            match graph.gates.get_key_value(name) {
                None => report.push(unknown(graph, "gate", name, graph.gates.keys())),
                Some((_, gate)) if !gate.skippable => report.push(
                    Diagnostic::new(rule::REQUEST, format!("gate `{name}` is never skipped"))
                        .at(&gate.span, "it is not `skippable`")
                        .help("skippable = true in the gate lets a caller skip it"),
                ),
                Some((name, _)) => {
                    self.gates.insert(name);
                }
            }
        }
    }

    /// What is other, each a sentence.
    pub(super) fn reasons(&self) -> Vec<String> {
        let gates = self.gates.iter();
        let gates = gates.map(|gate| format!("gate `{gate}` was skipped"));
        let pins = self.given.iter();
        let pins = pins.map(|pin| format!("pin `{pin}` was given for this run"));
        gates.chain(pins).collect()
    }
}

fn unknown<'a>(
    graph: &Graph,
    kind: &str,
    name: &str,
    known: impl Iterator<Item = &'a String> + Clone,
) -> Diagnostic {
    Diagnostic::new(rule::REQUEST, format!("there is no {kind} `{name}`"))
        .at(&graph.table.span, "this graph")
        .help(suggest(name, known.map(String::as_str)))
}
