//! A gate's own keys: what the file says, and what only the plan knows.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::build::Planner;
use crate::diag::{Diagnostic, rule, suggest};
use crate::file::{Gate, Json};

/// What inspect is told. Where a gate looks at the product's config, that is filled in.
pub(super) fn ask(
    planner: &mut Planner<'_, '_>,
    gate: &Gate,
    subject: usize,
    seen: &[&str],
) -> Option<Map<String, Value>> {
    let mut ask = object(planner, &gate.ask)?;
    let config = &planner.inherited[subject].config;
    let env = config.env_map();
    let names = || {
        env.iter()
            .map(|(name, value)| (name.clone(), value.as_str().into()))
    };
    let mut put = |key: &str, value: Value| {
        ask.entry(key).or_insert(value);
    };
    match gate.check {
        "contract" => {
            put("env", Value::Object(names().collect()));
            if seen != ["/"] {
                put(
                    "seen",
                    seen.iter().map(|place| Value::from(*place)).collect(),
                );
            }
        }
        "env" => {
            put("env", Value::Object(names().collect()));
            let host = planner.selection.graph.hosts.keys();
            put(
                "host",
                host.map(|name| Value::from(name.as_str())).collect(),
            );
        }
        "files" if gate_names(&gate.ask, "off-path") => {
            let path = env
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case("PATH"));
            put("search-path", path.map_or("", |(_, value)| value).into());
        }
        _ => {}
    }
    Some(ask)
}

/// What assert holds against a report.
pub(super) fn demand(planner: &mut Planner<'_, '_>, gate: &Gate) -> Option<Map<String, Value>> {
    object(planner, &gate.demand)
}

/// The host settings that `leak` looks for: they must be some.
pub(super) fn host(
    planner: &mut Planner<'_, '_>,
    name: &str,
    gate: &Gate,
    ask: &Map<String, Value>,
) -> Option<Vec<String>> {
    let Some(Value::Array(wanted)) = ask.get("host").filter(|_| gate.check == "leak") else {
        return Some(Vec::new());
    };
    let hosts = &planner.selection.graph.hosts;
    let wanted: Vec<&str> = wanted.iter().filter_map(Value::as_str).collect();
    for unknown in wanted.iter().filter(|wanted| !hosts.contains_key(**wanted)) {
        planner.report.push(
            Diagnostic::new(
                rule::GATE_KEYS,
                format!("gate `{name}` looks for `{unknown}`, and no host setting is called so"),
            )
            .at(&gate.span, "in `host` of its `ask`")
            .help(suggest(unknown, hosts.keys().map(String::as_str))),
        );
    }
    Some(wanted.into_iter().map(str::to_owned).collect())
}

fn gate_names(json: &Json, key: &str) -> bool {
    matches!(json, Json::Table(table, _) if table.contains_key(key))
}

fn object(planner: &mut Planner<'_, '_>, json: &Json) -> Option<Map<String, Value>> {
    match fill(planner, json)? {
        Some(Value::Object(object)) => Some(object),
        _ => Some(Map::new()),
    }
}

/// The value in this lane; `Some(None)` where the lane does not have it.
#[allow(clippy::option_option)]
fn fill(planner: &mut Planner<'_, '_>, json: &Json) -> Option<Option<Value>> {
    Some(Some(match json {
        Json::Whole(number) => (*number).into(),
        Json::Bool(on) => (*on).into(),
        Json::Text(template) => {
            let none = BTreeMap::new();
            let text = planner
                .selection
                .fill(template, &none, &mut planner.report)?;
            text.into()
        }
        Json::List(list) => {
            let mut values = Vec::new();
            for json in list {
                values.extend(fill(planner, json)?);
            }
            Value::Array(values)
        }
        Json::Table(table, when) => {
            if !planner.selection.setting.holds(when.as_ref()) {
                return Some(None);
            }
            let mut object = Map::new();
            for (key, json) in table {
                object.extend(fill(planner, json)?.map(|value| (key.clone(), value)));
            }
            Value::Object(object)
        }
    }))
}
