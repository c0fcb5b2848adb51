//! `tree` of a stage: what of its root is the product.

use toml::de::DeValue;

use super::super::model::TreeEntry;
use super::super::read::{Fields, text_of};
use super::{Value, template, templates, when};
use crate::diag::{Diagnostic, Report, SourceId, Span, rule};
use crate::text::{Dollar, Template};

/// The entries: paths, or tables that say what of a directory it is.
pub(super) fn entries(fields: &mut Fields<'_, '_>, report: &mut Report) -> Vec<TreeEntry> {
    let source = fields.source();
    if let Some(value) = fields.get("tree")
        && value
            .get_ref()
            .as_array()
            .is_some_and(|list| list.is_empty())
    {
        report.push(
            Diagnostic::new(rule::VALUE, "a tree of nothing is no product")
                .at(&Span::new(source, value.span()), "name the paths")
                .help("without `tree` the whole root is the product"),
        );
    }
    fields
        .list("tree", report)
        .into_iter()
        .filter_map(|value| entry(source, value, report))
        .collect()
}

fn entry(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<TreeEntry> {
    let DeValue::Table(_) = value.get_ref() else {
        let text = text_of(source, value, "an entry of `tree`", report)?;
        return Some(TreeEntry {
            at: Template::parse(&text, Dollar::Ours, report),
            only: Vec::new(),
            except: Vec::new(),
            when: None,
        });
    };
    let mut fields = Fields::of(source, value, "an entry of `tree`", report)?;
    if fields.get("at").is_none() {
        report.push(fields.missing("at"));
    }
    let at = template(&mut fields, "at", report);
    let only = templates(&mut fields, "only", Dollar::Ours, report).unwrap_or_default();
    let except = templates(&mut fields, "except", Dollar::Ours, report).unwrap_or_default();
    let when = when(&mut fields, report);
    fields.finish(report);
    Some(TreeEntry {
        at: at?,
        only,
        except,
        when,
    })
}
