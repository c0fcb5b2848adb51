//! LK061 to LK063: hashes that are none, hashes that are missing, pins that belong together.

use std::collections::BTreeSet;

use super::Seen;
use crate::diag::{Diagnostic, Report, rule, suggest};
use crate::file::{Pin, PinDemand, PinRule};

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

fn hash(name: &str, pin: &Pin, report: &mut Report) {
    let Some((end, lengths)) = HASHES.iter().find(|(end, _)| name.ends_with(end)) else {
        return;
    };
    if pin.value.is_empty() {
        report.push(
            Diagnostic::new(rule::EMPTY_HASH, format!("pin `{name}` is empty: what it is for is not checked"))
                .at(&pin.span, "no hash")
                .help("write the hash down; where it cannot be known, allow it on [graph]: lint = [{ allow = \"LK062\", name = \"…\", why = \"…\" }]"),
        );
        return;
    }
    let digits = match pin.value.split_once(':') {
        Some(("sha256" | "sha512" | "sha1", digits)) => digits,
        _ => &pin.value,
    };
    let good = lengths.contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if !good {
        let lengths: Vec<String> = lengths.iter().map(usize::to_string).collect();
        report.push(
            Diagnostic::new(rule::HASH, format!("pin `{name}` is no hash"))
                .at(
                    &pin.span,
                    format!("found {} characters", digits.chars().count()),
                )
                .help(format!(
                    "a name that ends with {end} has {} hexadecimal digits",
                    lengths.join(" or ")
                )),
        );
    }
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
