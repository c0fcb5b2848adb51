//! Verbs that show what a lane file says: `plan`, `targets`, `tags`, `arch-table`, `rules`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};
use stages::arch::ArchTable;
use stages::plan::{self, Facts, Request};
use stages::view::{self, Table};

use super::{Stop, load, payload_facts, print};
use crate::lanefile::{Loaded, Wrong};
use crate::rules;

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Format {
    /// For people
    #[default]
    Table,
    /// For programs, with the name and version of its schema
    Json,
}

/// What every verb over a lane file takes.
#[derive(Args)]
pub(super) struct Read {
    /// The lane file
    #[arg(short, long, default_value = "lanes.toml")]
    file: PathBuf,
    /// How the answer is written
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// What `lanekit plan` takes.
#[derive(Args)]
pub(super) struct Plan {
    /// LANE, LANE/OUTPUT, LANE/STAGE or LANE/gates; without one the default lane
    target: Option<String>,
    /// A value of the caller, NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE")]
    build_arg: Vec<String>,
    #[command(flatten)]
    read: Read,
}

pub(super) fn plan(asked: &Plan) -> Result<(), Stop> {
    let Loaded { sources, graph, .. } = load(&asked.read.file)?;
    let request = Request {
        target: asked.target.clone(),
        args: arguments(&asked.build_arg)?,
        platforms: Vec::new(),
        group: None,
    };
    let wrong = |report| {
        Stop::Wrong(Wrong {
            sources: sources.clone(),
            report,
        })
    };
    let selection = plan::select(&graph, &request).map_err(wrong)?;
    let root = asked.read.file.parent().unwrap_or(Path::new(""));
    let facts = Facts {
        payloads: payload_facts(root, &graph)?,
        ..Facts::default()
    };
    let selection = selection.knowing(&facts);
    let plan = plan::assume_with(&selection, &facts).map_err(wrong)?;
    print(&match asked.read.format {
        Format::Table => view::plan_text(&selection, &plan),
        Format::Json => pretty(&view::plan_json(&selection, &plan)),
    })
}

fn arguments(given: &[String]) -> Result<BTreeMap<String, String>, Stop> {
    let pair = |arg: &String| {
        let (name, value) = arg
            .split_once('=')
            .ok_or_else(|| Stop::Unable(format!("--build-arg {arg}: NAME=VALUE is expected")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    given.iter().map(pair).collect()
}

pub(super) fn targets(asked: &Read) -> Result<(), Stop> {
    let Loaded { graph, .. } = load(&asked.file)?;
    let all = view::targets(&graph);
    print(&match asked.format {
        Format::Table => view::targets_text(&all),
        Format::Json => {
            let target = |listed: &view::Listed<'_>| {
                json!({
                    "target": listed.name,
                    "default": listed.default,
                    "about": listed.about,
                    "platform": listed.platform,
                })
            };
            let targets: Vec<Value> = all.iter().map(target).collect();
            pretty(&json!({ "schema": "targets/1", "targets": targets }))
        }
    })
}

pub(super) fn tags(asked: &Read) -> Result<(), Stop> {
    let Loaded { graph, .. } = load(&asked.file)?;
    let rows = view::tags(&graph);
    let joined = |pairs: Vec<String>| pairs.join(" ");
    print(&match asked.format {
        Format::Table => {
            let mut table = Table::new(2, &["LANE/OUTPUT", "SLOTS", "SWITCHES", "PAYLOADS", "TAG"]);
            for row in &rows {
                let slots = row.slots.iter().map(|(k, v)| format!("{k}={v}")).collect();
                let switches = row
                    .switches
                    .iter()
                    .map(|(k, v)| format!("{k}={v}"))
                    .collect();
                let tag = match (&row.tag, row.unpublishable.as_slice()) {
                    (Some(tag), _) => tag.clone(),
                    (None, []) => "-".to_owned(),
                    (None, why) => format!("none: {}", why.join("; ")),
                };
                let name = format!("{}/{}", row.lane, row.output);
                let payloads = row.payloads.iter().cloned().collect();
                table.row([name, joined(slots), joined(switches), joined(payloads), tag]);
            }
            table.text()
        }
        Format::Json => {
            let row = |row: &view::TagRow| {
                json!({
                    "lane": row.lane,
                    "output": row.output,
                    "slots": row.slots,
                    "switches": row.switches,
                    "payloads": row.payloads,
                    "tag": row.tag,
                    "unpublishable": row.unpublishable,
                })
            };
            let tags: Vec<Value> = rows.iter().map(row).collect();
            pretty(&json!({ "schema": "tags/1", "tags": tags }))
        }
    })
}

pub(super) fn arch_table(format: Format) -> Result<(), Stop> {
    let table = ArchTable::builtin();
    let keys = table.keys();
    print(&match format {
        Format::Table => {
            let targets: Vec<String> = table.targets().map(ToString::to_string).collect();
            let titles: Vec<&str> = std::iter::once("COLUMN")
                .chain(targets.iter().map(String::as_str))
                .collect();
            let mut text = Table::new(2, &titles);
            for key in keys {
                let facts = table
                    .targets()
                    .map(|target| table.fact(target, key).unwrap_or("-"));
                text.row(std::iter::once(key).chain(facts));
            }
            text.text()
        }
        Format::Json => {
            let row = |target: &stages::arch::Target| {
                let facts: BTreeMap<&str, &str> = keys
                    .iter()
                    .filter_map(|key| Some((*key, table.fact(target, key)?)))
                    .collect();
                (target.to_string(), json!(facts))
            };
            let rows: BTreeMap<String, Value> = table.targets().map(row).collect();
            pretty(&json!({ "schema": "arch-table/1", "targets": rows }))
        }
    })
}

/// One rule as the documents write it up, or the list of all.
pub(super) fn rules(id: Option<&str>) -> Result<(), Stop> {
    let Some(id) = id else {
        let mut table = Table::new(2, &["RULE", "WHAT IT IS"]);
        for rule in rules::all() {
            table.row([rule.id, rule.title]);
        }
        return print(&table.text());
    };
    match rules::find(id) {
        Some(rule) => print(&format!("{}: {}\n\n{}\n", rule.id, rule.title, rule.text)),
        None => Err(Stop::Unable(format!(
            "there is no rule {id}: `lanekit rules` lists them"
        ))),
    }
}

fn pretty(json: &Value) -> String {
    format!("{json:#}\n")
}
