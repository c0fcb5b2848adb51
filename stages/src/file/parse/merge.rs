//! `merge`, `conflict` and `add`: trees that are put together.

use toml::de::DeValue;

use super::super::model::{Conflict, Part, Take};
use super::super::read::{Fields, text_of};
use super::{Value, template, when};
use crate::diag::{Diagnostic, Report, SourceId, Span, rule};
use crate::text::{Dollar, Template};

/// The entries of `merge` or `add`: stages, or tables that say more.
pub(super) fn parts(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    report: &mut Report,
) -> Vec<Part> {
    let source = fields.source();
    fields
        .list(key, report)
        .into_iter()
        .filter_map(|value| part(source, value, key, report))
        .collect()
}

fn part(source: SourceId, value: &Value<'_>, key: &str, report: &mut Report) -> Option<Part> {
    let what = format!("an entry of `{key}`");
    let span = Span::new(source, value.span());
    let DeValue::Table(_) = value.get_ref() else {
        return Some(Part {
            stage: text_of(source, value, &what, report)?,
            from: None,
            to: None,
            when: None,
            absent: None,
            span,
        });
    };
    let mut fields = Fields::of(source, value, what, report)?;
    let when = when(&mut fields, report);
    let stage = fields.need_text("stage", report);
    let (mut from, mut to, mut absent) = (None, None, None);
    if key == "merge" {
        from = template(&mut fields, "from", report);
        to = template(&mut fields, "to", report);
        absent = marker(&mut fields, report);
        if let (None, Some(to)) = (&from, &to) {
            report.push(
                Diagnostic::new(
                    rule::VALUE,
                    "`to` needs `from`: a tree may have several roots",
                )
                .at(&to.span, "what goes here?"),
            );
        }
    }
    fields.finish(report);
    Some(Part {
        stage: stage?,
        from,
        to,
        when,
        absent,
        span,
    })
}

/// The text of the marker that stands where the tree would be.
fn marker(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<Template> {
    let other = fields.word("else", &[("absent-marker", ())], report);
    let why = fields.text("why", report);
    let wrong = match (other, &why) {
        (Some(()), None) => "`else` needs `why`: the marker says it",
        (None, Some(_)) => "`why` is for `else = \"absent-marker\"`",
        _ => return why.map(|why| Template::parse(&why, Dollar::Ours, report)),
    };
    report.push(Diagnostic::new(rule::VALUE, wrong).at(fields.span(), "this entry"));
    None
}

/// The entries of `conflict`.
pub(super) fn conflicts(fields: &mut Fields<'_, '_>, report: &mut Report) -> Vec<Conflict> {
    let source = fields.source();
    fields
        .list("conflict", report)
        .into_iter()
        .filter_map(|value| conflict(source, value, report))
        .collect()
}

fn conflict(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Conflict> {
    let mut fields = Fields::of(source, value, "an entry of `conflict`", report)?;
    if fields.get("path").is_none() {
        report.push(
            fields
                .missing("path")
                .help("a pattern: path = \"**/__pycache__/**\""),
        );
    }
    let path = template(&mut fields, "path", report);
    let take = fields.need_text("take", report);
    let why = fields.need_text("why", report);
    let when = when(&mut fields, report);
    fields.finish(report);
    Some(Conflict {
        path: path?,
        take: match take? {
            any if any.value == "any" => Take::Any,
            stage => Take::Stage(stage),
        },
        why: why?,
        when,
    })
}
