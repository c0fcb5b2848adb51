//! `lint` of any table that has a place of its own, and `[pin-rule.NAME]`.

use toml::de::{DeTable, DeValue};

use super::super::lint::{AllowLint, PinDemand, PinRule};
use super::super::read::{Fields, text_of};
use super::Value;
use crate::diag::{Diagnostic, Report, SourceId, Span, Spanned, rule};

/// Every `lint` of the file, with the places that it is about. The tables themselves only
/// know the key: what it says is the lints' matter, not theirs.
pub(super) fn allowed(source: SourceId, root: &DeTable<'_>, report: &mut Report) -> Vec<AllowLint> {
    let mut all = Vec::new();
    for (key, value) in root.iter() {
        let name = key.get_ref().as_ref();
        match value.get_ref() {
            // The keys of a slot are names of its choices.
            _ if name == "slot" => {}
            DeValue::Table(_) if name == "graph" => of_table(source, value, true, &mut all, report),
            DeValue::Table(entries) => {
                for (_, entry) in entries.iter() {
                    of_table(source, entry, false, &mut all, report);
                    inside(source, entry, &mut all, report);
                }
            }
            DeValue::Array(entries) => {
                for entry in entries.iter() {
                    of_table(source, entry, false, &mut all, report);
                }
            }
            _ => {}
        }
    }
    all
}

/// Steps of a stage and outputs of a lane have places of their own.
fn inside(source: SourceId, of: &Value<'_>, all: &mut Vec<AllowLint>, report: &mut Report) {
    let DeValue::Table(table) = of.get_ref() else {
        return;
    };
    if let Some(DeValue::Array(steps)) = table.get("step").map(|v| v.get_ref()) {
        for step in steps.iter() {
            of_table(source, step, false, all, report);
        }
    }
    if let Some(DeValue::Table(outputs)) = table.get("output").map(|v| v.get_ref()) {
        for (_, output) in outputs.iter() {
            of_table(source, output, false, all, report);
        }
    }
}

fn of_table(
    source: SourceId,
    value: &Value<'_>,
    everywhere: bool,
    all: &mut Vec<AllowLint>,
    report: &mut Report,
) {
    let DeValue::Table(table) = value.get_ref() else {
        return;
    };
    if !table.contains_key("lint") {
        return;
    }
    let mut places = vec![Span::new(source, value.span())];
    pieces(source, table, &mut places);
    let mut fields = Fields::new(source, table, Span::new(source, value.span()), "this table");
    for entry in fields.list("lint", report) {
        let places = (!everywhere).then(|| places.clone());
        all.extend(allow(source, entry, places, report));
    }
}

/// The places of all keys and values of a table.
fn pieces(source: SourceId, table: &DeTable<'_>, places: &mut Vec<Span>) {
    for (key, value) in table.iter() {
        if key.get_ref() == "lint" {
            continue;
        }
        places.push(Span::new(source, key.span()));
        match value.get_ref() {
            DeValue::Table(inner) => pieces(source, inner, places),
            DeValue::Array(list) => {
                places.push(Span::new(source, value.span()));
                for inner in list.iter() {
                    if let DeValue::Table(inner) = inner.get_ref() {
                        pieces(source, inner, places);
                    }
                }
            }
            _ => places.push(Span::new(source, value.span())),
        }
    }
}

fn allow(
    source: SourceId,
    value: &Value<'_>,
    places: Option<Vec<Span>>,
    report: &mut Report,
) -> Option<AllowLint> {
    let mut fields = Fields::of(source, value, "an entry of `lint`", report)?;
    let rule = fields.need_text("allow", report);
    let why = fields.need_text("why", report);
    let name = match places {
        Some(_) => fields.text("name", report),
        None => {
            if fields.get("name").is_none() {
                let help = "a lint of the whole graph is allowed for one name: name = \"…\"";
                report.push(fields.missing("name").help(help));
            }
            fields.text("name", report)
        }
    };
    fields.finish(report);
    Some(AllowLint {
        rule: rule?,
        why: why?,
        name,
        places,
    })
}

pub(super) fn pin_rule(
    fields: &mut Fields<'_, '_>,
    span: Span,
    report: &mut Report,
) -> Option<PinRule> {
    let source = fields.source();
    let has_equal = fields.get("equal").is_some();
    let equal = fields.texts("equal", report);
    let lead = fields.text("lead", report);
    let value = fields.text("for", report);
    let pins = fields.texts("pins", report);
    let has_hold = fields.get("hold").is_some();
    let hold = fields
        .named("hold", report)
        .into_iter()
        .filter_map(|(name, value)| {
            let text = text_of(source, value, "the value of a held pin", report)?;
            Some((name.value, Spanned::new(text.value, name.span)))
        })
        .collect();
    let why = fields.need_text("why", report);
    let demand = match (has_equal, lead, value, has_hold) {
        (true, None, None, false) if pins.is_empty() => PinDemand::Equal(equal),
        (false, Some(lead), Some(value), false) if !pins.is_empty() => {
            PinDemand::Lead { lead, value, pins }
        }
        (false, None, None, true) if pins.is_empty() => PinDemand::Hold(hold),
        _ => {
            report.push(
                Diagnostic::new(rule::VALUE, "a pin rule demands one thing")
                    .at(fields.span(), "this rule")
                    .help("equal = [\"A\", \"B\"]; or lead = \"A\", for = \"1.2\", pins = [\"B_*\"]; or hold = { A = \"1.2\" }"),
            );
            return None;
        }
    };
    Some(PinRule {
        demand,
        why: why?,
        span,
    })
}
