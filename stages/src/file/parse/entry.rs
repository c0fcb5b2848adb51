//! Texts that perhaps only some lanes have: a text, or `{ value, when }`.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::super::model::LaneText;
use super::super::read::{Fields, Text, text_of};
use super::{Names, Value, when};
use crate::diag::{Report, SourceId};
use crate::file::When;
use crate::text::{Dollar, Template};

/// The entries of a list.
pub(super) fn entries(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    report: &mut Report,
) -> Vec<LaneText> {
    let source = fields.source();
    let what = format!("an entry of `{key}`");
    fields
        .list(key, report)
        .into_iter()
        .filter_map(|value| entry(source, &what, value, report))
        .collect()
}

/// A table of names to texts; with `variables`, of names that variables may have.
pub(super) fn constants(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    variables: bool,
    report: &mut Report,
) -> BTreeMap<String, LaneText> {
    let source = fields.source();
    fields
        .named(key, report)
        .into_iter()
        .filter(|(name, _)| !variables || Names::Variable.check(name, report))
        .collect::<Vec<_>>()
        .into_iter()
        .filter_map(|(name, value)| {
            let what = format!("`{}`", name.value);
            Some((name.value, entry(source, &what, value, report)?))
        })
        .collect()
}

fn entry(source: SourceId, what: &str, value: &Value<'_>, report: &mut Report) -> Option<LaneText> {
    let (text, when) = text(source, what, value, report)?;
    let text = Template::parse(&text, Dollar::Ours, report);
    Some(LaneText { text, when })
}

/// A text in which nothing is filled in, with its condition.
pub(super) fn text(
    source: SourceId,
    what: &str,
    value: &Value<'_>,
    report: &mut Report,
) -> Option<(Text, Option<When>)> {
    if !matches!(value.get_ref(), DeValue::Table(_)) {
        return Some((text_of(source, value, what, report)?, None));
    }
    let mut fields = Fields::of(source, value, what.to_owned(), report)?;
    let text = fields.need_text("value", report);
    let when = when(&mut fields, report);
    fields.finish(report);
    Some((text?, when))
}
