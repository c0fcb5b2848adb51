//! Conditions: `when = { lane.target = "arm64", slot.sdk = ["plain", "rocm"], not = { … }, any = [ … ] }`.

use toml::de::DeValue;

use super::super::inputs::{ABSENT, PRESENT};
use super::super::model::{Attribute, Clause, RequestField, When};
use super::super::read::{Fields, Text, text_of, wrong_type};
use super::Value;
use crate::diag::{Diagnostic, Report, SourceId, Span, Spanned, rule, suggest};
use crate::text::LaneField;

/// The condition of a table, when it has one.
pub(super) fn when(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<When> {
    let source = fields.source();
    let value = fields.get("when")?;
    read(source, value, report)
}

fn read(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<When> {
    let fields = Fields::of(source, value, "a condition", report)?;
    let span = fields.span().clone();
    let mut when = When {
        clauses: Vec::new(),
        not: None,
        any: Vec::new(),
        span,
    };
    for (key, value) in fields.entries() {
        match key.value.as_str() {
            "not" => when.not = read(source, value, report).map(Box::new),
            "any" => match value.get_ref() {
                DeValue::Array(list) => {
                    if list.is_empty() {
                        report.push(
                            Diagnostic::new(rule::VALUE, "`any` of nothing never holds").at(
                                &Span::new(source, value.span()),
                                "expected one condition at least",
                            ),
                        );
                    }
                    when.any = list
                        .iter()
                        .filter_map(|v| read(source, v, report))
                        .collect();
                }
                other => {
                    let span = Span::new(source, value.span());
                    report.push(wrong_type(&span, "`any`", "a list of conditions", other));
                }
            },
            "lane" | "slot" | "switch" | "payload" | "request" => {
                let what = format!("`{}`", key.value);
                if let Some(inner) = Fields::of(source, value, what, report) {
                    for (name, value) in inner.entries() {
                        if (key.value.as_str(), name.value.as_str()) == ("lane", "set") {
                            when.clauses.extend(constants(source, value, report));
                        } else {
                            when.clauses
                                .extend(clause(source, &key.value, name, value, report));
                        }
                    }
                }
            }
            other => report.push(
                Diagnostic::new(
                    rule::UNKNOWN_NAME,
                    format!("a condition cannot look at `{other}`"),
                )
                .at(
                    &key.span,
                    "expected lane.…, slot.…, switch.…, payload.…, request.…, not or any",
                )
                .help("when = { lane.target = \"arm64\", slot.sdk = [\"plain\", \"rocm\"] }"),
            ),
        }
    }
    if fields.is_empty() {
        report.push(
            Diagnostic::new(rule::VALUE, "a condition without a demand always holds")
                .at(&when.span, "empty"),
        );
    }
    Some(when)
}

/// `lane.set = { NAME = "…" }`
fn constants(source: SourceId, value: &Value<'_>, report: &mut Report) -> Vec<Clause> {
    let Some(fields) = Fields::of(source, value, "`lane.set`", report) else {
        return Vec::new();
    };
    let clause = |(name, value): (Text, &Value<'_>)| {
        let what = format!("`lane.set.{}`", name.value);
        Clause {
            what: Attribute::Set(name.value),
            span: name.span,
            any_of: values(source, value, &what, report),
        }
    };
    fields.entries().into_iter().map(clause).collect()
}

/// A text, or a list of which one will do.
fn values(source: SourceId, value: &Value<'_>, what: &str, report: &mut Report) -> Vec<Text> {
    match value.get_ref() {
        DeValue::Array(values) if values.is_empty() => {
            report.push(
                Diagnostic::new(rule::VALUE, format!("{what} is never one of nothing")).at(
                    &Span::new(source, value.span()),
                    "expected a text, or a list of some",
                ),
            );
            Vec::new()
        }
        DeValue::Array(values) => values
            .iter()
            .filter_map(|v| text_of(source, v, what, report))
            .collect(),
        _ => text_of(source, value, what, report).into_iter().collect(),
    }
}

fn clause(
    source: SourceId,
    namespace: &str,
    name: Text,
    value: &Value<'_>,
    report: &mut Report,
) -> Option<Clause> {
    let what = format!("`{namespace}.{}`", name.value);
    if namespace == "switch" {
        return match value.get_ref() {
            DeValue::Boolean(on) => {
                let on = Spanned::new(on.to_string(), Span::new(source, value.span()));
                Some(Clause {
                    what: Attribute::Switch(name.value),
                    span: name.span,
                    any_of: vec![on],
                })
            }
            other => {
                let span = Span::new(source, value.span());
                report.push(wrong_type(&span, &what, "true or false", other));
                None
            }
        };
    }
    let any_of = values(source, value, &what, report);
    if namespace == "request" {
        let field = match name.value.as_str() {
            "stage" => RequestField::Stage,
            "output" => RequestField::Output,
            other => {
                report.push(
                    Diagnostic::new(rule::UNKNOWN_NAME, format!("a request has no `{other}`"))
                        .at(&name.span, "unknown")
                        .help(suggest(other, ["stage", "output"])),
                );
                return None;
            }
        };
        return Some(Clause {
            what: Attribute::Request(field),
            span: name.span,
            any_of,
        });
    }
    if namespace == "payload" {
        for value in &any_of {
            if ![PRESENT, ABSENT].contains(&value.value.as_str()) {
                report.push(
                    Diagnostic::new(rule::VALUE, format!("a payload is never `{}`", value.value))
                        .at(&value.span, "expected present or absent")
                        .help(suggest(&value.value, [PRESENT, ABSENT])),
                );
            }
        }
        return Some(Clause {
            what: Attribute::Payload(name.value),
            span: name.span,
            any_of,
        });
    }
    if namespace == "slot" {
        return Some(Clause {
            what: Attribute::Slot(name.value),
            span: name.span,
            any_of,
        });
    }
    match LaneField::named(&name.value) {
        Some(field) => Some(Clause {
            what: Attribute::Lane(field),
            span: name.span,
            any_of,
        }),
        None => {
            report.push(
                Diagnostic::new(
                    rule::UNKNOWN_NAME,
                    format!("a lane has no `{}`", name.value),
                )
                .at(&name.span, "unknown")
                .help(suggest(&name.value, LaneField::names().chain(["set"]))),
            );
            None
        }
    }
}

/// The entries of `same-for`.
pub(super) fn attributes(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    report: &mut Report,
) -> Vec<Spanned<Attribute>> {
    let mut found = Vec::new();
    for text in fields.texts(key, report) {
        match Attribute::parse(&text.value) {
            Some(attribute) => found.push(Spanned::new(attribute, text.span)),
            None => {
                let lane = LaneField::names().map(|name| format!("lane.{name}"));
                let known: Vec<String> = lane.collect();
                report.push(
                    Diagnostic::new(
                        rule::UNKNOWN_NAME,
                        format!("`{}` is no attribute of a lane", text.value),
                    )
                    .at(
                        &text.span,
                        "expected lane.…, slot.NAME, switch.NAME or payload.NAME",
                    )
                    .help(suggest(&text.value, known.iter().map(String::as_str))),
                );
            }
        }
    }
    found
}
