//! `[stage.NAME.image]`: what only the product's config carries.

use std::collections::BTreeMap;

use toml::de::DeValue;

use super::super::model::*;
use super::super::read::{Fields, Text, wrong_type};
use super::entry::{constants, entries, text};
use super::{Value, template, templates, worded, words};
use crate::diag::{Diagnostic, Report, SourceId, Span, rule};
use crate::text::{Dollar, Template};

pub(super) fn image(source: SourceId, value: &Value<'_>, report: &mut Report) -> ImageTable {
    let Some(mut fields) = Fields::of(source, value, "`image`", report) else {
        return ImageTable::default();
    };
    let table = ImageTable {
        env: constants(&mut fields, "env", true, report),
        labels: keyed(&mut fields, "labels", report),
        annotations: keyed(&mut fields, "annotations", report),
        entrypoint: words(&mut fields, "entrypoint", Dollar::Shell, report),
        cmd: templates(&mut fields, "cmd", Dollar::Shell, report),
        shell: shell(&mut fields, report),
        user: worded(&mut fields, "user", report),
        workdir: template(&mut fields, "workdir", report),
        stop_signal: template(&mut fields, "stop-signal", report),
        volumes: entries(&mut fields, "volumes", report),
        ports: fields
            .list("ports", report)
            .into_iter()
            .filter_map(|value| port(source, value, report))
            .collect(),
        healthcheck: fields
            .get("healthcheck")
            .and_then(|value| healthcheck(source, value, report)),
    };
    fields.finish(report);
    table
}

/// Labels or annotations: each has a name.
fn keyed(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    report: &mut Report,
) -> BTreeMap<String, LaneText> {
    let mut all = constants(fields, key, false, report);
    if let Some(empty) = all.remove("") {
        let message = format!("an entry of `{key}` has no name");
        report.push(Diagnostic::new(rule::VALUE, message).at(&empty.text.span, "what is this?"));
    }
    all
}

fn shell(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<Vec<Template>> {
    let words = words(fields, "shell", Dollar::Ours, report)?;
    if let DeValue::Array(list) = fields.get("shell")?.get_ref()
        && list.is_empty()
    {
        report.push(fields.no_command("shell").at(fields.span(), "here"));
    }
    Some(words)
}

/// `8080`, `8080/tcp`, `53/udp`, `9000/sctp`: with the protocol, as configs have it.
fn port(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Port> {
    let (text, when) = text(source, "an entry of `ports`", value, report)?;
    let (number, protocol) = text.value.split_once('/').unwrap_or((&text.value, "tcp"));
    let digits = number.bytes().all(|b| b.is_ascii_digit());
    let number = number.parse::<u16>().ok().filter(|n| digits && *n > 0);
    match (number, protocol) {
        (Some(number), "tcp" | "udp" | "sctp") => Some(Port {
            port: format!("{number}/{protocol}"),
            when,
        }),
        _ => {
            let message = format!("`{}` is not a port", text.value);
            report.push(
                Diagnostic::new(rule::VALUE, message)
                    .at(&text.span, "expected 8080, 8080/tcp, 53/udp or 9000/sctp"),
            );
            None
        }
    }
}

/// `"none"`, or a table with `cmd` or `script`.
fn healthcheck(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Healthcheck> {
    let span = Span::new(source, value.span());
    match value.get_ref() {
        DeValue::String(text) if text == "none" => return Some(Healthcheck::None),
        DeValue::Table(_) => {}
        other => {
            let want = "`none`, or a table with `cmd` or `script`";
            report.push(wrong_type(&span, "`healthcheck`", want, other));
            return None;
        }
    }
    let mut fields = Fields::of(source, value, "`healthcheck`", report)?;
    let cmd = templates(&mut fields, "cmd", Dollar::Shell, report);
    let script = fields
        .text("script", report)
        .map(|text| Template::parse(&text, Dollar::Shell, report));
    let mut time = |key: &'static str, report: &mut Report| {
        let text = fields.text(key, report)?;
        duration(&text, report)
    };
    let times = HealthTimes {
        interval: time("interval", report),
        timeout: time("timeout", report),
        start_period: time("start-period", report),
        start_interval: time("start-interval", report),
    };
    let retries = fields.integer("retries", report).map(|n| n.value);
    let test = match (cmd, script) {
        (Some(cmd), None) if !cmd.is_empty() => Some(HealthTest::Cmd(cmd)),
        (None, Some(script)) => Some(HealthTest::Script(script)),
        _ => {
            report.push(
                Diagnostic::new(rule::VALUE, "a health check has either `cmd` or `script`")
                    .at(&span, "here")
                    .help("healthcheck = { cmd = [\"app\", \"ping\"], interval = \"30s\" }"),
            );
            None
        }
    };
    fields.finish(report);
    Some(Healthcheck::Test {
        test: test?,
        times,
        retries,
    })
}

/// A time such as `1m30s` or `500ms`, in nanoseconds; engines take none below a millisecond.
fn duration(text: &Text, report: &mut Report) -> Option<u64> {
    const UNITS: [(&str, u64); 4] = [
        ("ms", 1_000_000),
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
    ];
    let read = |mut rest: &str| {
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let number: u64 = rest[..digits].parse().ok()?;
            rest = &rest[digits..];
            let (unit, size) = UNITS.iter().find(|(unit, _)| rest.starts_with(unit))?;
            rest = &rest[unit.len()..];
            total = total.checked_add(number.checked_mul(*size)?)?;
        }
        Some(total).filter(|total| *total > 0 && i64::try_from(*total).is_ok())
    };
    let time = read(&text.value);
    if time.is_none() {
        let message = format!("`{}` is not a time", text.value);
        report.push(
            Diagnostic::new(rule::VALUE, message)
                .at(&text.span, "expected a time such as 30s, 1m30s or 500ms"),
        );
    }
    time
}
