//! `env` of a stage: edits of variables.

use toml::de::DeValue;

use super::super::model::{Env, EnvChange, EnvEdit};
use super::super::read::{Fields, text_of};
use super::condition::when;
use super::entry::entries;
use super::{Names, template};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::text::{Dollar, Template};

pub(super) fn edits(fields: &mut Fields<'_, '_>, report: &mut Report) -> Env {
    let source = fields.source();
    let mut env = Env::new();
    for (name, value) in fields.named("env", report) {
        if !Names::Variable.check(&name, report) {
            continue;
        }
        let what = format!("env `{}`", name.value);
        let edit = match value.get_ref() {
            DeValue::Table(table) => {
                let span = Span::new(source, value.span());
                let mut inner = Fields::new(source, table, span, what);
                let edit = edit(&mut inner, name.span, report);
                inner.finish(report);
                edit
            }
            _ => text_of(source, value, &what, report).map(|text| EnvEdit {
                change: EnvChange::Set(Template::parse(&text, Dollar::Ours, report)),
                when: None,
                config: true,
                span: name.span,
            }),
        };
        if let Some(edit) = edit {
            env.insert(name.value, edit);
        }
    }
    env
}

fn edit(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<EnvEdit> {
    let value = template(fields, "value", report);
    let unset = fields.boolean("unset", report).unwrap_or(false);
    let set = fields.get("set").map(|_| entries(fields, "set", report));
    let prepend = entries(fields, "prepend", report);
    let append = entries(fields, "append", report);
    let list = set.is_some() || !prepend.is_empty() || !append.is_empty();
    let when = when(fields, report);
    let config = fields.boolean("config", report).unwrap_or(true);
    let change = match (value, unset, list) {
        (Some(value), false, false) => EnvChange::Set(value),
        (None, true, false) => EnvChange::Unset,
        (None, false, true) => EnvChange::List {
            set,
            prepend,
            append,
        },
        _ => {
            report.push(
                Diagnostic::new(rule::VALUE, "an edit of a variable does one thing")
                    .at(fields.span(), "this edit")
                    .help("value = \"…\", or unset = true, or set, prepend and append with lists"),
            );
            return None;
        }
    };
    Some(EnvEdit {
        change,
        when,
        config,
        span,
    })
}
