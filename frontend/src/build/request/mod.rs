//! Sub-requests: what `docker buildx build --call=NAME` asks instead of a build.
//!
//! An answer has no file system, only metadata: `result.json`, `result.txt` and `version`, of which clients print
//! one (`frontend/subrequests` of BuildKit, `printResult` of buildx).

mod context;
mod lint;
mod wire;

use serde::Serialize;
use serde_json::json;
use stages::plan::{self, Facts};
use stages::view;

use super::context::Main;
use super::{Given, asked, files};
use crate::gateway::bridge::{Built, Outcome, Ref};
use crate::gateway::error::Failure;
use crate::lanefile::Wrong;

/// What a caller may ask: the request's id, its version, and what it is for. Clients put `frontend.` in front of the
/// name behind `--call`.
const REQUESTS: [(&str, &str, &str); 5] = [
    (
        "frontend.subrequests.describe",
        "1.0.0",
        "List these requests",
    ),
    (
        "frontend.lint",
        "1.0.0",
        "Check every lane of the lane file",
    ),
    (
        "frontend.outline",
        // Newer than what clients know, and with more: they print our text.
        "1.1.0",
        "List what a target takes: arguments, host settings, payloads",
    ),
    ("frontend.targets", "1.0.0", "List lanes and outputs"),
    (
        "frontend.plan",
        "1.0.0",
        "Show every step of a target with what it sees",
    ),
];

/// Whether this is answered without looking at a lane file.
pub(super) fn without_file(id: &str) -> Option<Outcome> {
    match id {
        "frontend.subrequests.describe" => Some(Ok(describe())),
        _ => None,
    }
}

/// Answers a request.
pub(super) async fn answer(given: &Given<'_>, main: &Main, id: &str) -> Outcome {
    if !REQUESTS.iter().any(|(name, ..)| *name == id) {
        return Err(Failure::unsupported_request(id));
    }
    let read = files::read(given.bridge, given.opts, main).await;
    if id == "frontend.lint" {
        return lint::answer(given, main, read).await;
    }
    let loaded = read?.loaded;
    match id {
        "frontend.targets" => {
            let all = view::targets(&loaded.graph);
            let text = view::targets_text(&all);
            Ok(answered(
                id,
                &wire::Targets::new(&loaded.sources, &all),
                text,
            ))
        }
        "frontend.outline" | "frontend.plan" => {
            let request = asked(given.opts, &loaded);
            let wrong = |report| {
                Failure::from(Wrong {
                    sources: loaded.sources.clone(),
                    report,
                })
            };
            let selection = plan::select(&loaded.graph, &request).map_err(wrong)?;
            // Images are not looked up, payloads are: which steps there are hangs on them.
            let mut facts = Facts::default();
            let build = given.build(&loaded.sources);
            let files = main.files.as_ref();
            build.payloads(&selection, files, &mut facts).await?;
            let selection = selection.knowing(&facts);
            let plan = plan::assume_with(&selection, &facts).map_err(wrong)?;
            if id == "frontend.plan" {
                let json = view::plan_json(&selection, &plan);
                return Ok(answered(id, &json, view::plan_text(&selection, &plan)));
            }
            let name = request.target.as_deref().unwrap_or_default();
            let outline = view::outline(&selection, &plan, name);
            let text = outline.text();
            let json = wire::Outline::new(&loaded.sources, &outline);
            Ok(answered(id, &json, text))
        }
        _ => Err(Failure::unsupported_request(id)),
    }
}

/// An answer: its JSON and its text.
fn answered(id: &str, json: &impl Serialize, text: String) -> Built {
    let version = REQUESTS
        .iter()
        .find(|(name, ..)| *name == id)
        .map_or("1.0.0", |(_, version, _)| version);
    let json = serde_json::to_string_pretty(json).unwrap_or_default();
    let metadata = [
        ("result.json", json),
        ("result.txt", text),
        ("version", version.to_owned()),
    ];
    Built {
        attestations: Default::default(),
        result: Ref::scratch().into(),
        metadata: metadata
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.into_bytes()))
            .collect(),
    }
}

fn describe() -> Built {
    let mut table = view::Table::new(1, &["NAME", "VERSION", "DESCRIPTION"]);
    let named = |name: &str| json!({ "name": name, "description": "" });
    let mut all = Vec::new();
    for (name, version, about) in REQUESTS {
        let shown = name.strip_prefix("frontend.").unwrap_or(name);
        table.row([shown, version, about]);
        let mut metadata = vec![named("result.json"), named("result.txt")];
        if name == "frontend.lint" {
            metadata.push(named("result.statuscode"));
        }
        let opts = match name {
            "frontend.outline" | "frontend.plan" => {
                json!([{ "name": "target", "description": "Lane, or LANE/OUTPUT" }])
            }
            _ => json!([]),
        };
        all.push(json!({
            "name": name,
            "version": version,
            "type": "rpc",
            "description": about,
            "opts": opts,
            "inputs": [],
            "metadata": metadata,
            "refs": [],
        }));
    }
    answered("frontend.subrequests.describe", &all, table.text())
}
