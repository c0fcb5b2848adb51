//! `lanekit explain`: why the steps of a build ran. `lanekit ledger`: the builds, for machines.

use std::path::PathBuf;

use clap::Args;
use stages::keys::Kind;

use super::{Stop, note, print};
use crate::ledger::{Ledger, NodeRun, Run};
use crate::progress::End;

/// Why steps ran.
#[derive(Args, Debug)]
pub(in crate::command) struct Explain {
    /// STAGE/STEP, or the start of such a name; without it every step that ran
    step: Option<String>,
    /// The lane; without it that of the last build
    #[arg(long)]
    lane: Option<String>,
    /// The number of a build; without it the last one
    #[arg(long)]
    build: Option<u64>,
    /// The lane file, beside which the ledger is
    #[arg(long, short, default_value = "lanes.toml", value_name = "FILE")]
    file: PathBuf,
    /// JSON in place of text
    #[arg(long)]
    json: bool,
}

impl Explain {
    pub(super) fn run(&self) -> Result<(), Stop> {
        let ledger = Ledger::beside(&self.file);
        let fits = |run: &Run| {
            self.lane.as_ref().is_none_or(|lane| run.lane == *lane)
                && self.build.is_none_or(|number| run.number == number)
        };
        let (run, torn) = ledger.last(fits);
        if torn > 0 {
            note(&format!(
                "{torn} of the newest builds in {} cannot be read, and are passed over: they are damaged, or of a newer lanekit",
                ledger.directory().display()
            ));
        }
        let Some(run) = run else {
            return Err(Stop::Unable(
                "the ledger has no such build: `lanekit build` and `lanekit record` keep them"
                    .to_owned(),
            ));
        };
        if self.json {
            let json = serde_json::to_string_pretty(&run);
            return print(&(json.map_err(|error| Stop::Unable(error.to_string()))? + "\n"));
        }
        print(&self.text(&run, &ledger)?)
    }

    fn text(&self, run: &Run, ledger: &Ledger) -> Result<String, Stop> {
        let wanted = |id: &str| {
            self.step
                .as_ref()
                .is_none_or(|step| id.starts_with(step.as_str()))
        };
        let steps = run.nodes.iter().filter(|(_, node)| node.kind == Kind::Step);
        let shown: Vec<_> = steps.filter(|(id, _)| wanted(id)).collect();
        if let (Some(step), true) = (&self.step, shown.is_empty()) {
            let manifest = ledger.manifest(&run.lane);
            let known = manifest.is_some_and(|manifest| {
                manifest
                    .nodes
                    .iter()
                    .any(|node| node.id.starts_with(step.as_str()))
            });
            if !known {
                return Err(Stop::Unable(format!(
                    "lane {} has no step `{step}`",
                    run.lane
                )));
            }
            return Ok(format!(
                "{step} came from the cache in build {}\n",
                run.number
            ));
        }
        if shown.is_empty() {
            return Ok(format!(
                "{}: nothing ran in build {}\n",
                run.lane, run.number
            ));
        }
        let mut text = String::new();
        let mut said = None;
        for (id, node) in shown {
            text.push_str(&line(id, node));
            // The same advice once.
            if let Some(help) = node.why.help().filter(|help| said != Some(*help)) {
                text.push_str(&format!("  look at: {help}\n"));
                said = Some(help);
            }
        }
        Ok(text)
    }
}

fn line(id: &str, node: &NodeRun) -> String {
    let what = match node.end {
        End::Failed => "failed",
        End::Cancelled => "was cancelled",
        End::Ran | End::Cached | End::Unseen => "ran",
    };
    format!("{id} {what} ({:.1} s): {}\n", node.seconds, node.why.line())
}

/// The ledger.
#[derive(Args, Debug)]
pub(in crate::command) struct Export {
    /// The lane file, beside which the ledger is
    #[arg(long, short, default_value = "lanes.toml", value_name = "FILE")]
    file: PathBuf,
}

impl Export {
    /// All builds as JSON.
    pub(super) fn run(&self) -> Result<(), Stop> {
        let (runs, torn) = Ledger::beside(&self.file).runs();
        let json = serde_json::json!({
            "schema": "lanekit-ledger/1",
            "unreadable": torn,
            "builds": runs,
        });
        print(&format!("{json:#}\n"))
    }
}
