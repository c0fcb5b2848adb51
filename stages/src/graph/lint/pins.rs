//! LK061 to LK063: hashes that are none, hashes that are missing, pins that belong together.

use std::collections::BTreeSet;

use super::{Seen, keep};
use crate::diag::{Diagnostic, Report, Span, rule, suggest};
use crate::file::{Pin, PinDemand, PinRule};
use crate::graph::Graph;

/// What a pin of this name must look like: ends of names, lengths in hexadecimal digits, and
/// whether an algorithm may stand before it.
const HASHES: [(&str, &[usize]); 5] = [
    ("_SHA256", &[64]),
    ("_SHA512", &[128]),
    ("_SHA1", &[40]),
    ("_COMMIT", &[40, 64]),
    ("_DIGEST", &[64, 128]),
];

pub(super) fn check(seen: &Seen<'_>, report: &mut Report) {
    let graph = seen.graph;
    for (name, pin) in graph.pins.iter().filter(|(name, _)| graph.in_scope(name)) {
        // A payload says why its hash may be empty, and tells what it measured in its place.
        let explained = pin.value.is_empty() && graph.may_be_empty(name).is_some();
        if !explained {
            hash(name, pin, report);
        }
    }
    for (name, rule) in &graph.pin_rules {
        demand(seen, name, rule, report);
    }
}

/// LK061 for a value that a caller gives a pin for one run; `as_what` is the argument's name. What
/// the file allows of the pin is allowed here.
pub fn given(graph: &Graph, name: &str, value: &str, as_what: &str) -> Report {
    let mut report = Report::default();
    let label = |found| format!("{as_what} gives it {found}");
    let looked_at = graph.in_scope(name) && !value.is_empty();
    let pin = graph.pins.get(name).filter(|_| looked_at);
    if let Some(wrong) = pin.and_then(|pin| no_hash(name, value, &pin.span, label)) {
        report.push(wrong);
    }
    keep(graph, report)
}

fn hash(name: &str, pin: &Pin, report: &mut Report) {
    if pin.value.is_empty() && HASHES.iter().any(|(end, _)| name.ends_with(end)) {
        report.push(
            Diagnostic::new(rule::EMPTY_HASH, format!("pin `{name}` is empty: what it is for is not checked"))
                .at(&pin.span, "no hash")
                .help("write the hash down; where it cannot be known, allow it on [graph]: lint = [{ allow = \"LK062\", name = \"…\", why = \"…\" }]"),
        );
        return;
    }
    let label = |found| format!("found {found}");
    if let Some(wrong) = no_hash(name, &pin.value, &pin.span, label) {
        report.push(wrong);
    }
}

/// What is wrong with the value of a pin whose name says that it is a hash; `label` tells how many
/// characters were found.
fn no_hash(
    name: &str,
    value: &str,
    span: &Span,
    label: impl FnOnce(String) -> String,
) -> Option<Diagnostic> {
    let (end, lengths) = HASHES.iter().find(|(end, _)| name.ends_with(end))?;
    let digits = match value.split_once(':') {
        Some(("sha256" | "sha512" | "sha1", digits)) => digits,
        _ => value,
    };
    if lengths.contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let found = label(format!("{} characters", digits.chars().count()));
    let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
    let diagnostic = Diagnostic::new(rule::HASH, format!("pin `{name}` is no hash"));
    Some(diagnostic.at(span, found).help(format!(
        "a name that ends with {end} has {} hexadecimal digits",
        lengths.join(" or ")
    )))
}

fn demand(seen: &Seen<'_>, name: &str, of: &PinRule, report: &mut Report) {
    let graph = seen.graph;
    let mut wrong = |message: String, help: String, pins: &[&Pin]| {
        let mut diagnostic = Diagnostic::new(rule::PIN_RULE, message)
            .at(&of.span, of.why.value.clone())
            .help(help);
        for pin in pins {
            diagnostic = diagnostic.related(&pin.span, "");
        }
        report.push(diagnostic);
    };
    let mut unknown = BTreeSet::new();
    let mut pin = |name: &str| {
        let found = graph.pins.get(name);
        if found.is_none() {
            unknown.insert(name.to_owned());
        }
        found
    };
    match &of.demand {
        PinDemand::Equal(names) => {
            let pins: Vec<&Pin> = names.iter().filter_map(|name| pin(&name.value)).collect();
            let values: BTreeSet<&str> = pins.iter().map(|pin| pin.value.as_str()).collect();
            if values.len() > 1 {
                let names: Vec<&str> = names.iter().map(|name| name.value.as_str()).collect();
                let message = format!("pins of rule `{name}` are not equal: {}", names.join(", "));
                wrong(message, "give them one value".into(), &pins);
            }
        }
        PinDemand::Lead { lead, value, pins } => {
            if let Some(leader) = pin(&lead.value)
                && leader.value != value.value
            {
                let message = format!(
                    "pin `{}` of rule `{name}` moved from {} to {}",
                    lead.value, value.value, leader.value
                );
                let pins: Vec<&str> = pins.iter().map(|pin| pin.value.as_str()).collect();
                let help = format!(
                    "look at {} again, then write for = \"{}\"",
                    pins.join(", "),
                    leader.value
                );
                wrong(message, help, &[leader]);
            }
            for follower in pins {
                if follower.value.contains('*') {
                    if graph.matching(&follower.value).is_empty() {
                        unknown.insert(follower.value.clone());
                    }
                } else if !graph.pins.contains_key(&follower.value) {
                    unknown.insert(follower.value.clone());
                }
            }
        }
        PinDemand::Hold(held) => {
            for (held, value) in held {
                if let Some(found) = pin(held)
                    && found.value != value.value
                {
                    let message = format!(
                        "pin `{held}` is held at {} by rule `{name}`, and is {}",
                        value.value, found.value
                    );
                    wrong(
                        message,
                        "put it back, or change the rule with its reason".into(),
                        &[found],
                    );
                }
            }
        }
    }
    for pin in unknown {
        report.push(
            Diagnostic::new(rule::PIN_RULE, format!("there is no pin `{pin}`"))
                .at(&of.span, format!("rule `{name}` names it"))
                .help(suggest(&pin, graph.pins.keys().map(String::as_str))),
        );
    }
}
