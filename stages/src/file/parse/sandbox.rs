//! How a command runs: its network is read beside this; here is what else it may do.

use std::net::IpAddr;

use toml::de::DeValue;

use super::super::read::{Fields, Text, text_of, wrong_type};
use super::super::{Device, Sandbox};
use super::mounts::size;
use super::{Value, when};
use crate::diag::{Diagnostic, Report, SourceId, Span, Spanned, rule};

/// The resource limits that Linux has, as `ulimit` and container engines call them.
const LIMITS: [&str; 15] = [
    "core",
    "cpu",
    "data",
    "fsize",
    "locks",
    "memlock",
    "msgqueue",
    "nice",
    "nofile",
    "nproc",
    "rss",
    "rtprio",
    "rttime",
    "sigpending",
    "stack",
];

/// The keys of a step that say how its command runs.
pub(super) const KEYS: [&str; 5] = ["security", "extra-hosts", "ulimit", "shm-size", "devices"];

pub(super) fn read(fields: &mut Fields<'_, '_>, report: &mut Report) -> Sandbox {
    let modes = [("sandbox", false), ("insecure", true)];
    Sandbox {
        insecure: fields.word("security", &modes, report).unwrap_or(false),
        hosts: hosts(fields, report),
        ulimits: limits(fields, report),
        shm_size: size(fields, "shm-size", report),
        devices: devices(fields, report),
    }
}

fn hosts(fields: &mut Fields<'_, '_>, report: &mut Report) -> Vec<(String, IpAddr)> {
    let source = fields.source();
    let named = fields.named("extra-hosts", report);
    let each = named.into_iter().filter_map(|(name, value)| {
        let text = text_of(source, value, "an address", report)?;
        let address = text.value.parse().ok();
        if address.is_none() || name.value.is_empty() {
            report.push(
                Diagnostic::new(rule::VALUE, format!("`{}` is no address", text.value))
                    .at(&text.span, "expected one of IPv4 or IPv6")
                    .help("extra-hosts = { \"cache.local\" = \"10.0.0.7\" }"),
            );
        }
        Some((name.value, address?))
    });
    each.collect()
}

fn limits(fields: &mut Fields<'_, '_>, report: &mut Report) -> Vec<(String, i64, i64)> {
    let source = fields.source();
    let named = fields.named("ulimit", report);
    let each = named
        .into_iter()
        .filter_map(|(name, value)| limit(source, name, value, report));
    each.collect()
}

fn limit(
    source: SourceId,
    name: Text,
    value: &Value<'_>,
    report: &mut Report,
) -> Option<(String, i64, i64)> {
    let span = Span::new(source, value.span());
    if !LIMITS.contains(&name.value.as_str()) {
        report.push(
            Diagnostic::new(rule::VALUE, format!("there is no limit `{}`", name.value))
                .at(&name.span, "unknown")
                .help(crate::diag::suggest(&name.value, LIMITS)),
        );
        return None;
    }
    let found = match value.get_ref() {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .ok()
            .map(|both| (both, both)),
        DeValue::String(text) => match text.split_once(':') {
            Some((soft, hard)) => soft.parse().ok().zip(hard.parse().ok()),
            None => text.parse().ok().map(|both| (both, both)),
        },
        other => {
            report.push(wrong_type(
                &span,
                "a limit",
                "a whole number, or \"soft:hard\"",
                other,
            ));
            return None;
        }
    };
    let good =
        found.filter(|(soft, hard)| *soft >= -1 && *hard >= -1 && (*hard == -1 || soft <= hard));
    if good.is_none() {
        report.push(
            Diagnostic::new(rule::VALUE, format!("`{}` cannot be this", name.value))
                .at(&span, "expected a number, or \"soft:hard\" with the first not above the second; -1 is no limit"),
        );
    }
    good.map(|(soft, hard)| (name.value, soft, hard))
}

/// Names, or tables that say whether the step can do without.
fn devices(fields: &mut Fields<'_, '_>, report: &mut Report) -> Vec<Device> {
    let source = fields.source();
    let mut found = Vec::new();
    for value in fields.list("devices", report) {
        let (name, optional, when) = match value.get_ref() {
            DeValue::Table(_) => {
                let Some(mut fields) = Fields::of(source, value, "an entry of `devices`", report)
                else {
                    continue;
                };
                let name = fields.need_text("name", report);
                let optional = fields.boolean("optional", report).unwrap_or(false);
                let when = when(&mut fields, report);
                fields.finish(report);
                (name, optional, when)
            }
            _ => (
                text_of(source, value, "an entry of `devices`", report),
                false,
                None,
            ),
        };
        let Some(Spanned { value: name, span }) = name else {
            continue;
        };
        let parts = name
            .split_once('/')
            .and_then(|(vendor, rest)| Some((vendor, rest.split_once('=')?)));
        if parts.is_none_or(|(vendor, (class, device))| {
            vendor.is_empty() || class.is_empty() || device.is_empty()
        }) {
            report.push(
                Diagnostic::new(rule::VALUE, format!("`{name}` is no device"))
                    .at(&span, "expected its CDI name")
                    .help("devices = [\"nvidia.com/gpu=all\"]"),
            );
            continue;
        }
        found.push(Device {
            name,
            optional,
            when,
        });
    }
    found
}
