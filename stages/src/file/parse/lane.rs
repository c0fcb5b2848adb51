//! `[lane.NAME]` with its outputs, and `[switch.NAME]`: who builds what, and under which tag.

use super::super::model::*;
use super::super::read::{Fields, text_of};
use super::condition::when;
use super::stage::file;
use super::{Names, table_of, template};
use crate::diag::{Diagnostic, Report, Span, rule};

pub(super) fn lane(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Lane> {
    let source = fields.source();
    let platform = fields.need_text("platform", report);
    let target = fields.text("target", report);
    let slots = fields
        .named("slot", report)
        .into_iter()
        .filter_map(|(name, value)| {
            text_of(source, value, "the choice of a slot", report).map(|v| (name.value, v))
        })
        .collect();
    let set = fields
        .named("set", report)
        .into_iter()
        .filter(|(name, _)| Names::Variable.check(name, report))
        .collect::<Vec<_>>()
        .into_iter()
        .filter_map(|(name, value)| {
            text_of(source, value, "a constant of a lane", report).map(|v| (name.value, v))
        })
        .collect();
    let outputs = table_of(fields, "output", Names::Word, report, output);
    Some(Lane {
        platform: platform?,
        target,
        slots,
        set,
        outputs,
        span,
    })
}

pub(super) fn group(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Group> {
    if fields.get("lanes").is_none() {
        let missing = fields.missing("lanes");
        report.push(missing.help("lanes = [\"amd64\", \"arm64\"]"));
    }
    Some(Group {
        lanes: fields.texts("lanes", report),
        output: fields.text("output", report),
        tag: template(fields, "tag", report),
        span,
    })
}

fn output(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Output> {
    let root = template(fields, "root", report);
    let tag = template(fields, "tag", report);
    let attest = fields.boolean("attest", report).unwrap_or_default();
    let source = fields.source();
    let add: Vec<File> = fields
        .list("add", report)
        .into_iter()
        .filter_map(|value| file(source, value, report))
        .collect();
    let wrong = if root.is_none() && !add.is_empty() {
        Some("only a bundle has files beside it: it has a `root`")
    } else if add
        .iter()
        .any(|file| !matches!(file.source, FileSource::Context))
    {
        Some("files beside a bundle are of the context")
    } else if root.is_some() && attest {
        Some("only an image has attestations, and a bundle is none: leave out `attest`")
    } else {
        None
    };
    if let Some(why) = wrong {
        report.push(Diagnostic::new(rule::VALUE, why).at(&span, "this output"));
    }
    let when = when(fields, report);
    let stage = fields.need_text("stage", report)?;
    Some(Output {
        stage,
        root,
        add,
        tag,
        attest,
        when,
        span,
    })
}

pub(super) fn switch(
    fields: &mut Fields<'_, '_>,
    span: Span,
    report: &mut Report,
) -> Option<Switch> {
    let default = fields.boolean("default", report);
    if default.is_none() && fields.get("default").is_none() {
        report.push(fields.missing("default").help("default = true"));
    }
    let tag_part = tag_part(fields, ["true", "false"], report);
    let about = fields.need_text("about", report)?;
    Some(Switch {
        default: default?,
        about,
        tag_part,
        span,
    })
}

/// `tag-part = { false = "-nospikes" }`: a value that is not named adds nothing.
pub(super) fn tag_part(
    fields: &mut Fields<'_, '_>,
    [on, off]: [&'static str; 2],
    report: &mut Report,
) -> Option<TagPart> {
    let source = fields.source();
    let value = fields.get("tag-part")?;
    let mut inner = Fields::of(source, value, "`tag-part`", report)?;
    let span = inner.span().clone();
    let mut part = |key: &'static str, report: &mut Report| {
        let text = inner.text(key, report)?;
        let good = text
            .value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        if !good {
            let message = format!("`{}` cannot be part of a tag", text.value);
            report.push(
                Diagnostic::new(rule::VALUE, message)
                    .at(&text.span, "expected letters, digits, `.`, `_` and `-`"),
            );
        }
        Some(text.value)
    };
    let parts = TagPart {
        on: part(on, report).unwrap_or_default(),
        off: part(off, report).unwrap_or_default(),
    };
    inner.finish(report);
    if parts.on == parts.off {
        let message = format!("`{on}` and `{off}` have one tag part");
        report.push(
            Diagnostic::new(rule::VALUE, message)
                .at(&span, "a tag would stand for two contents")
                .help(format!("tag-part = {{ {off} = \"-plain\" }}")),
        );
    }
    Some(parts)
}
