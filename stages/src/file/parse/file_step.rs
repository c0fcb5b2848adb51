//! Steps that change files and run nothing: `copy`, `write`, `mkdir`, `link`, `delete`.

use super::super::read::Fields;
use super::super::{CopyFrom, CopyStep, FileStep};
use super::sandbox;
use super::stage::context_path;
use super::{template, templates};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::text::{Dollar, Template};

/// The keys of a step that make it a file operation.
pub(super) const KEYS: [&str; 5] = ["copy", "write", "mkdir", "link", "delete"];

/// What a file operation has no use for: it runs nothing that could see it.
const SEEN: [&str; 13] = [
    "args", "cache", "env", "files", "host", "kits", "network", "secret", "ssh", "tmpfs", "user",
    "uses", "workdir",
];

pub(super) fn read(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    report: &mut Report,
) -> Option<FileStep> {
    let source = fields.source();
    let value = fields.get(key)?;
    for seen in SEEN.into_iter().chain(sandbox::KEYS) {
        if let Some(value) = fields.get(seen) {
            report.push(
                Diagnostic::new(rule::VALUE, format!("a step with `{key}` has no `{seen}`"))
                    .at(
                        &Span::new(source, value.span()),
                        "nothing runs that could see it",
                    )
                    .help("values stand in its texts as ${pin.NAME}, ${arg.NAME}; a condition is `when`"),
            );
        }
    }
    let mut inner = Fields::of(source, value, format!("`{key}` of a step"), report)?;
    let step = match key {
        "copy" => copy(&mut inner, report).map(FileStep::Copy),
        "write" => write(&mut inner, report),
        "mkdir" => mkdir(&mut inner, report),
        "link" => link(&mut inner, report),
        _ => delete(&mut inner, report),
    };
    inner.finish(report);
    step
}

fn copy(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<CopyStep> {
    let (stage, git) = (fields.text("stage", report), fields.text("git", report));
    let payload = fields.text("payload", report);
    let fetch = fields.text("fetch", report);
    let to = template(fields, "to", report);
    let only = templates(fields, "only", Dollar::Ours, report).unwrap_or_default();
    let except = templates(fields, "except", Dollar::Ours, report).unwrap_or_default();
    let (mode, owner) = (mode(fields, report), template(fields, "owner", report));
    let places: Vec<_> = [&stage, &git, &payload, &fetch]
        .into_iter()
        .flatten()
        .collect();
    if let [first, second, ..] = places.as_slice() {
        report.push(
            Diagnostic::new(rule::VALUE, "`copy` takes from one place")
                .at(&second.span, "the second")
                .related(&first.span, "the first"),
        );
        return None;
    }
    let named = payload
        .map(CopyFrom::Payload)
        .or(fetch.map(CopyFrom::Fetch));
    let from = match (stage, git, named) {
        (_, _, Some(named)) => named,
        (Some(stage), _, None) => CopyFrom::Stage(stage, template(fields, "from", report)),
        (None, Some(git), None) => {
            let path = fields.text("from", report);
            if path
                .as_ref()
                .is_some_and(|path| !context_path(path, report))
            {
                return None;
            }
            CopyFrom::Git(git, path)
        }
        (None, None, None) => {
            let path = fields.need_text("from", report)?;
            if !context_path(&path, report) {
                return None;
            }
            CopyFrom::Context(path)
        }
    };
    let whole = matches!(from, CopyFrom::Stage(_, None));
    let narrowed = to.is_some() || !only.is_empty() || !except.is_empty();
    if whole && narrowed {
        report.push(
            Diagnostic::new(rule::VALUE, "a whole tree is copied to its own paths")
                .at(fields.span(), "`to`, `only` and `except` need `from`")
                .help("copy = { stage = \"sdk\", from = \"/opt/sdk/include\", to = \"/usr/include\" }"),
        );
        return None;
    }
    if matches!(from, CopyFrom::Payload(_) | CopyFrom::Fetch(_))
        && (!only.is_empty() || !except.is_empty())
    {
        report.push(
            Diagnostic::new(rule::VALUE, "it is one file")
                .at(fields.span(), "`only` and `except` are for directories"),
        );
        return None;
    }
    if !whole && to.is_none() {
        report.push(fields.missing("to"));
        return None;
    }
    Some(CopyStep {
        from,
        to,
        only,
        except,
        mode,
        owner,
    })
}

fn write(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<FileStep> {
    let path = need(fields, "path", report);
    let text = need(fields, "text", report);
    let mode = mode(fields, report).unwrap_or(0o644);
    let owner = template(fields, "owner", report);
    Some(FileStep::Write {
        path: path?,
        text: text?,
        mode,
        owner,
    })
}

fn mkdir(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<FileStep> {
    let path = need(fields, "path", report);
    let mode = mode(fields, report).unwrap_or(0o755);
    let owner = template(fields, "owner", report);
    Some(FileStep::Mkdir {
        path: path?,
        mode,
        owner,
    })
}

fn link(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<FileStep> {
    let path = need(fields, "path", report);
    let to = need(fields, "to", report);
    Some(FileStep::Link {
        path: path?,
        to: to?,
    })
}

fn delete(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<FileStep> {
    let path = need(fields, "path", report);
    let optional = fields.boolean("optional", report).unwrap_or(false);
    Some(FileStep::Delete {
        path: path?,
        optional,
    })
}

fn need(fields: &mut Fields<'_, '_>, key: &'static str, report: &mut Report) -> Option<Template> {
    if fields.get(key).is_none() {
        report.push(fields.missing(key));
    }
    template(fields, key, report)
}

/// Permission bits as octal text: a whole number would be read as a decimal one.
pub(super) fn mode(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<u16> {
    let text = fields.text("mode", report)?;
    let octal = text.value.strip_prefix('0').filter(|rest| rest.len() == 3);
    let mode = octal.and_then(|rest| u16::from_str_radix(rest, 8).ok());
    if mode.is_none() {
        report.push(
            Diagnostic::new(rule::VALUE, format!("`{}` is no mode", text.value))
                .at(&text.span, "expected a `0` and three octal digits")
                .help("mode = \"0644\"; bits above those of user, group and others are lost by the engine"),
        );
    }
    mode
}
