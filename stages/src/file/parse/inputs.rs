//! `[payload.NAME]` and `[fetch.NAME]`.

use super::super::inputs::{ABSENT, Fetch, PRESENT, Payload, Sum, sha256_of};
use super::super::read::{Fields, Text};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::text::{Dollar, Template, is_variable};

pub(super) fn payload(
    fields: &mut Fields<'_, '_>,
    span: Span,
    report: &mut Report,
) -> Option<Payload> {
    let about = fields.text("about", report);
    let context = fields.text("context", report);
    if let Some(context) = context.as_ref().filter(|name| !is_context(&name.value)) {
        report.push(
            Diagnostic::new(rule::VALUE, format!("no context is called `{}`", context.value))
                .at(
                    &context.span,
                    "expected small letters, digits, `.`, `_`, `-`, with a letter or digit at both ends",
                )
                .help("clients pass no other: --build-context NAME=DIRECTORY"),
        );
    }
    let path = fields.need_text("path", report);
    let path = path.filter(|path| place(path, report));
    let given = fields.text("sha256", report);
    let empty_ok = fields.text("empty-ok", report);
    let tag_part = super::lane::tag_part(fields, [PRESENT, ABSENT], report);
    if given.is_none() && empty_ok.is_none() {
        report.push(
            fields
                .missing("sha256")
                .help("sha256 = \"PIN\", or 64 hexadecimal digits; where nobody can know it, empty-ok = \"why\""),
        );
        return None;
    }
    let sha256 = match given {
        Some(text) => Some(sum(text, report)?),
        None => None,
    };
    if let (Some(Sum::Literal(_, at)), Some(empty_ok)) = (&sha256, &empty_ok) {
        report.push(
            Diagnostic::new(rule::VALUE, "`empty-ok` is for a hash that may be empty")
                .at(&empty_ok.span, "why nobody may know it")
                .related(at, "it is known"),
        );
    }
    Some(Payload {
        about,
        path: path?,
        context,
        sha256,
        empty_ok,
        tag_part,
        span,
    })
}

pub(super) fn fetch(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Fetch> {
    let url = fields.need_text("url", report);
    let url = url.map(|url| Template::parse(&url, Dollar::Ours, report));
    let filename = fields.text("filename", report);
    let given = fields.text("sha256", report);
    let plain = |name: &str| !name.is_empty() && name != "." && name != "..";
    if let Some(name) = filename.as_ref().filter(|name| {
        !plain(&name.value)
            || name.value.contains(['/', '\\'])
            || name.value.contains(char::is_control)
    }) {
        report.push(
            Diagnostic::new(
                rule::VALUE,
                format!("`{}` is no name of a file", name.value),
            )
            .at(&name.span, "expected a name without `/`"),
        );
        return None;
    }
    if fields.get("sha256").is_none() {
        report.push(
            fields
                .missing("sha256")
                .help("sha256 = \"PIN\", or 64 hexadecimal digits"),
        );
        return None;
    }
    let sha256 = sum(given?, report);
    Some(Fetch {
        url: url?,
        sha256: sha256?,
        filename,
        span,
    })
}

/// Whether clients pass a context of this name on as it is: they take it for the name of an image.
fn is_context(name: &str) -> bool {
    let word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let all = name.chars().all(|c| word(c) || ".-_".contains(c));
    all && name.starts_with(word) && name.ends_with(word)
}

/// A hash, or the pin that has it.
fn sum(text: Text, report: &mut Report) -> Option<Sum> {
    if let Some(digits) = sha256_of(&text.value) {
        return Some(Sum::Literal(digits, text.span));
    }
    if is_variable(&text.value) {
        return Some(Sum::Pin(text));
    }
    report.push(
        Diagnostic::new(rule::VALUE, format!("`{}` is no SHA-256", text.value)).at(
            &text.span,
            "expected 64 hexadecimal digits, or the name of a pin",
        ),
    );
    None
}

/// Whether a path names one file below a context, by a pattern in its last part perhaps.
fn place(path: &Text, report: &mut Report) -> bool {
    let text = path.value.as_str();
    let (directory, name) = text.rsplit_once('/').unwrap_or(("", text));
    let parts = text.split('/');
    let plain = |part: &str| !part.is_empty() && part != "." && part != "..";
    let wrong = if text.starts_with('/') || text.contains('\\') {
        Some("expected a path of the context, with `/`")
    } else if name.is_empty() {
        Some("expected one file, and this is a directory")
    } else if !parts.into_iter().all(plain) {
        Some("expected a plain path below the context")
    } else if directory.contains(['*', '?']) || text.contains(['[', ']', '{', '}']) {
        Some("only the last part may be a pattern, with `*` and `?`")
    } else if name.chars().all(|c| c == '*' || c == '?') {
        Some("every file matches: say more of its name")
    } else {
        None
    };
    if let Some(why) = wrong {
        report.push(
            Diagnostic::new(rule::PATH, format!("`{text}` names no file of the context"))
                .at(&path.span, why)
                .help("path = \"downloads/sdk.zip\", or \"downloads/sdk-*.zip\""),
        );
    }
    wrong.is_none()
}
