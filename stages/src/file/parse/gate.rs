//! `[gate.NAME]`: what it checks, its floors and its exemptions.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::super::model::*;
use super::super::read::{Fields, text_of, wrong_type};
use super::condition::when;
use super::{Value, templates};
use crate::diag::{Diagnostic, Report, SourceId, Span, rule};
use crate::text::{Dollar, Template};

pub(super) fn gate(fields: &mut Fields<'_, '_>, _: Span, report: &mut Report) -> Option<Gate> {
    const EFFECTS: [(&str, Effect); 2] = [("block", Effect::Block), ("advise", Effect::Advise)];
    let source = fields.source();
    let when = when(fields, report);
    let of = fields.need_text("of", report);
    if fields.get("check").is_none() {
        report.push(fields.missing("check").help("check = \"arch\""));
    }
    let check = fields.word("check", &CHECKS.map(|check| (check, check)), report);
    let belongs = fields.text("for", report);
    let against = fields.texts("against", report);
    let ask = object(fields, "ask", report);
    let demand = object(fields, "demand", report);
    let given = fields.text("report", report);
    let given = given.map(|text| Template::parse(&text, Dollar::Ours, report));
    let effect = fields.word("effect", &EFFECTS, report).unwrap_or_default();
    let roots = templates(fields, "roots", Dollar::Ours, report).unwrap_or_default();
    let hold = fields.texts("hold", report);
    let allow = fields
        .list("allow", report)
        .into_iter()
        .filter_map(|value| allow(source, value, report))
        .collect();
    let floors = fields
        .list("floor", report)
        .into_iter()
        .filter_map(|value| floor(source, value, report))
        .collect();
    let empty_ok = fields.text("empty-ok", report);
    let skippable = fields.boolean("skippable", report).unwrap_or_default();
    let span = fields.whole_span();
    Some(Gate {
        when,
        of: of?,
        belongs,
        against,
        check: check?,
        ask,
        demand,
        report: given,
        effect,
        roots,
        hold,
        allow,
        floors,
        empty_ok,
        skippable,
        span,
    })
}

fn allow(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Allow> {
    let mut fields = Fields::of(source, value, "an entry of `allow`", report)?;
    let path = fields.need_text("path", report);
    let why = fields.need_text("why", report);
    let when = when(&mut fields, report);
    fields.finish(report);
    Some(Allow {
        path: path?,
        why: why?,
        when,
    })
}

fn floor(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Floor> {
    let mut fields = Fields::of(source, value, "a floor", report)?;
    let when = when(&mut fields, report);
    let mut measures = BTreeMap::new();
    for what in COUNTS {
        if let Some(value) = fields.get(what) {
            measures.extend(measure(source, value, what, report).map(|measure| (what, measure)));
        }
    }
    if !COUNTS.iter().any(|what| fields.get(what).is_some()) {
        report.push(
            fields
                .missing("inspected")
                .help("inspected = { least = 100 }, or another of what the gate counts"),
        );
    }
    let span = fields.span().clone();
    fields.finish(report);
    Some(Floor {
        when,
        measures,
        span,
    })
}

/// A table of keys that lanegate knows; without it an empty one.
fn object(fields: &mut Fields<'_, '_>, key: &'static str, report: &mut Report) -> Json {
    let source = fields.source();
    let none = || Json::Table(BTreeMap::new(), None);
    let Some(value) = fields.get(key) else {
        return none();
    };
    match value.get_ref() {
        DeValue::Table(_) => json(source, value, report).unwrap_or_else(none),
        other => {
            let span = Span::new(source, value.span());
            report.push(wrong_type(
                &span,
                format_args!("`{key}` of a gate"),
                "a table",
                other,
            ));
            none()
        }
    }
}

fn json(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Json> {
    let span = Span::new(source, value.span());
    let mut no = |want: &str, found: &DeValue<'_>| {
        report.push(wrong_type(&span, "a gate's own key", want, found));
        None
    };
    match value.get_ref() {
        DeValue::String(_) => {
            let text = text_of(source, value, "a gate's own key", report)?;
            Some(Json::Text(Template::parse(&text, Dollar::Ours, report)))
        }
        DeValue::Boolean(on) => Some(Json::Bool(*on)),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => Some(Json::Whole(number)),
            Err(_) => no("a whole number of 64 bits", value.get_ref()),
        },
        found @ (DeValue::Float(_) | DeValue::Datetime(_)) => no(
            "a text, a whole number, true or false, a list or a table",
            found,
        ),
        DeValue::Array(list) => {
            let list = list.iter().filter_map(|value| json(source, value, report));
            Some(Json::List(list.collect()))
        }
        DeValue::Table(_) => {
            let mut fields = Fields::of(source, value, "a table of a gate's keys", report)?;
            let when = when(&mut fields, report);
            let entries = fields.entries().into_iter();
            let table = entries
                .filter(|(key, _)| key.value != "when")
                .filter_map(|(key, value)| Some((key.value, json(source, value, report)?)));
            Some(Json::Table(table.collect(), when))
        }
    }
}

fn measure(
    source: SourceId,
    value: &Value<'_>,
    what: &str,
    report: &mut Report,
) -> Option<Measure> {
    let mut fields = Fields::of(source, value, format!("`{what}`"), report)?;
    let least = fields.integer("least", report);
    if least.is_none() && fields.get("least").is_none() {
        report.push(fields.missing("least"));
    }
    let measured = fields.integer("measured", report);
    let broken = fields.integer("broken", report);
    let on = match fields.get("on") {
        None => None,
        Some(value) => match value.get_ref() {
            DeValue::Datetime(date) if date.date.is_some() && date.time.is_none() => {
                Some(date.to_string())
            }
            other => {
                let span = Span::new(source, value.span());
                report.push(wrong_type(
                    &span,
                    "`on`",
                    "a date such as 2026-09-02",
                    other,
                ));
                None
            }
        },
    };
    if let Some(least) = &least {
        let mut bad = |why: String, help: &str| {
            report.push(
                Diagnostic::new(rule::GATE, why)
                    .at(&least.span, "this floor")
                    .help(help),
            );
        };
        if least.value == 0 {
            bad(
                "a floor of zero lets an empty tree pass".into(),
                "say why nothing needs to be inspected: empty-ok = \"…\"",
            );
        }
        if let Some(broken) = broken.as_ref().filter(|broken| least.value <= broken.value) {
            let why = format!(
                "the floor is not above {}, which a broken tree had",
                broken.value
            );
            bad(why, "a floor must lie above the last broken state");
        }
        if let Some(measured) = measured.as_ref().filter(|m| m.value < least.value) {
            bad(
                format!("the floor is above what was measured ({})", measured.value),
                "measure again",
            );
        }
    }
    fields.finish(report);
    Some(Measure {
        least: least?,
        measured: measured.map(|m| m.value),
        on,
        broken: broken.map(|b| b.value),
    })
}
