//! What a step sees besides files and products: caches, secrets, SSH agents, memory.

use std::num::NonZeroU64;

use toml::de::DeValue;

use super::super::read::{Fields, Text};
use super::super::{Access, Cache, Guarded, Sharing, Tmpfs};
use super::file_step::mode;
use super::{Value, template, when};
use crate::diag::{Diagnostic, Report, SourceId, Span, Spanned, rule};

/// The id of the agent that `--ssh default` passes.
const DEFAULT_AGENT: &str = "default";

pub(super) fn caches(fields: &mut Fields<'_, '_>, report: &mut Report) -> Vec<Cache> {
    let source = fields.source();
    fields
        .list("cache", report)
        .into_iter()
        .filter_map(|value| cache(source, value, report))
        .collect()
}

fn cache(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Cache> {
    const SHARINGS: [(&str, Sharing); 3] = [
        ("shared", Sharing::Shared),
        ("private", Sharing::Private),
        ("locked", Sharing::Locked),
    ];
    let mut fields = Fields::of(source, value, "an entry of `cache`", report)?;
    let id = fields.need_text("id", report);
    if fields.get("at").is_none() {
        report.push(fields.missing("at"));
    }
    let at = template(&mut fields, "at", report);
    let sharing = fields
        .word("sharing", &SHARINGS, report)
        .unwrap_or_default();
    let from = fields.text("from", report);
    let sub = template(&mut fields, "sub", report);
    let access = access(&mut fields, report);
    let when = when(&mut fields, report);
    let wrong = match (&from, &sub) {
        (Some(_), None) => Some("`from` needs `sub`: which part of the product is in it?"),
        (None, Some(_)) => Some("`sub` is for `from`: a part of which product?"),
        (Some(_), Some(_)) if access.is_said() => {
            Some("with `from`, modes and owners are those of the product")
        }
        _ => None,
    };
    if let Some(wrong) = wrong {
        report.push(Diagnostic::new(rule::VALUE, wrong).at(fields.span(), "this cache"));
    }
    let span = fields.span().clone();
    fields.finish(report);
    Some(Cache {
        id: id?,
        at: at?,
        sharing,
        from,
        sub,
        access,
        when,
        span,
    })
}

pub(super) fn secrets(fields: &mut Fields<'_, '_>, report: &mut Report) -> Vec<Guarded> {
    let source = fields.source();
    let list = fields.list("secret", report);
    let each = |value| guarded(source, value, "an entry of `secret`", None, report);
    list.into_iter().filter_map(each).collect()
}

/// `ssh = true` is the default agent.
pub(super) fn agents(fields: &mut Fields<'_, '_>, report: &mut Report) -> Vec<Guarded> {
    let source = fields.source();
    if let Some(value) = fields.get("ssh")
        && let DeValue::Boolean(on) = value.get_ref()
    {
        let span = Span::new(source, value.span());
        let agent = Guarded {
            id: Spanned::new(DEFAULT_AGENT.to_owned(), span.clone()),
            at: None,
            required: true,
            access: Access::default(),
            when: None,
            span,
        };
        return on.then_some(agent).into_iter().collect();
    }
    let list = fields.list("ssh", report);
    let each = |value| {
        guarded(
            source,
            value,
            "an entry of `ssh`",
            Some(DEFAULT_AGENT),
            report,
        )
    };
    list.into_iter().filter_map(each).collect()
}

fn guarded(
    source: SourceId,
    value: &Value<'_>,
    what: &'static str,
    default: Option<&str>,
    report: &mut Report,
) -> Option<Guarded> {
    let mut fields = Fields::of(source, value, what, report)?;
    let span = fields.span().clone();
    let usual = default.map(|id| Spanned::new(id.to_owned(), span.clone()));
    let id = match fields.text("id", report).or(usual) {
        Some(id) => Some(id),
        None => fields.need_text("id", report),
    };
    let at = template(&mut fields, "at", report);
    let required = fields.boolean("required", report).unwrap_or(true);
    let access = access(&mut fields, report);
    let when = when(&mut fields, report);
    fields.finish(report);
    Some(Guarded {
        id: id?,
        at,
        required,
        access,
        when,
        span,
    })
}

pub(super) fn memory(fields: &mut Fields<'_, '_>, report: &mut Report) -> Vec<Tmpfs> {
    let source = fields.source();
    fields
        .list("tmpfs", report)
        .into_iter()
        .filter_map(|value| tmpfs(source, value, report))
        .collect()
}

fn tmpfs(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Tmpfs> {
    let mut fields = Fields::of(source, value, "an entry of `tmpfs`", report)?;
    if fields.get("at").is_none() {
        report.push(fields.missing("at"));
    }
    let at = template(&mut fields, "at", report);
    let size = size(&mut fields, "size", report);
    let when = when(&mut fields, report);
    let span = fields.span().clone();
    fields.finish(report);
    Some(Tmpfs {
        at: at?,
        size,
        when,
        span,
    })
}

fn access(fields: &mut Fields<'_, '_>, report: &mut Report) -> Access {
    Access {
        mode: mode(fields, report),
        uid: id(fields, "uid", report),
        gid: id(fields, "gid", report),
    }
}

fn id(fields: &mut Fields<'_, '_>, key: &'static str, report: &mut Report) -> Option<u32> {
    let number = fields.integer(key, report)?;
    let id = u32::try_from(number.value).ok();
    if id.is_none() {
        report.push(
            Diagnostic::new(rule::VALUE, format!("`{key}` cannot be {}", number.value))
                .at(&number.span, "the largest is 4294967295"),
        );
    }
    id
}

/// A number of bytes: `"64MiB"`.
pub(super) fn size(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    report: &mut Report,
) -> Option<NonZeroU64> {
    let text: Text = fields.text(key, report)?;
    let size = bytes(&text.value);
    if size.is_none() {
        report.push(
            Diagnostic::new(rule::VALUE, format!("`{}` is no size", text.value))
                .at(&text.span, "expected a number of bytes, KiB, MiB or GiB")
                .help(format!("{key} = \"64MiB\"")),
        );
    }
    size
}

fn bytes(text: &str) -> Option<NonZeroU64> {
    const UNITS: [(&str, u64); 4] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("", 1),
    ];
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))?;
    let number: u64 = digits.trim_end().parse().ok()?;
    let size = number.checked_mul(unit)?;
    NonZeroU64::new(size).filter(|size| i64::try_from(size.get()).is_ok())
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn sizes_have_units_and_fit() {
        for (text, want) in [
            ("1", Some(1)),
            ("64MiB", Some(64 << 20)),
            ("2 GiB", Some(2 << 30)),
            ("3KiB", Some(3 << 10)),
            ("0", None),
            ("", None),
            ("MiB", None),
            ("1MB", None),
            ("-1", None),
            ("9999999999GiB", None),
            ("9223372036854775808", None),
        ] {
            assert_eq!(bytes(text).map(u64::from), want, "{text}");
        }
    }
}
