//! `[gate.NAME]`: what it checks, its floors and its exemptions.

use toml::de::DeValue;

use super::super::model::*;
use super::super::read::{Fields, wrong_type};
use super::condition::when;
use super::{Value, templates};
use crate::diag::{Diagnostic, Report, SourceId, Span, rule};
use crate::text::Dollar;

pub(super) fn gate(fields: &mut Fields<'_, '_>, _: Span, report: &mut Report) -> Option<Gate> {
    const CHECKS: [(&str, Check); 1] = [("arch", Check::Arch)];
    let source = fields.source();
    let when = when(fields, report);
    let of = fields.need_text("of", report);
    if fields.get("check").is_none() {
        report.push(fields.missing("check").help("check = \"arch\""));
    }
    let check = fields.word("check", &CHECKS, report);
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
        check: check?,
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
    if let Some(why) = why.as_ref().filter(|why| why.value.trim().is_empty()) {
        report.push(
            Diagnostic::new(rule::VALUE, "an exemption needs a reason").at(&why.span, "empty"),
        );
    }
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
    let inspected = match fields.get("inspected") {
        Some(value) => measure(source, value, report),
        None => {
            report.push(
                fields
                    .missing("inspected")
                    .help("inspected = { least = 100 }"),
            );
            None
        }
    };
    let span = fields.span().clone();
    fields.finish(report);
    Some(Floor {
        when,
        inspected: inspected?,
        span,
    })
}

fn measure(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Measure> {
    let mut fields = Fields::of(source, value, "`inspected`", report)?;
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
