//! One build, as the ledger keeps it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Bound;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use stages::explain::{Builds, Why};
use stages::keys::{Kind, Manifest, Node};

use super::store::Ledger;
use crate::progress::{End, Progress, Vertex};

/// A build.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Run {
    /// Counts builds of a ledger, from 1.
    pub number: u64,
    /// When it was recorded, in RFC 3339.
    pub at: String,
    /// The graph's name.
    pub graph: String,
    /// The lane's name.
    pub lane: String,
    /// What of it was built.
    pub target: String,
    /// Where it was built.
    pub engine: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// What was counted of its steps.
    pub totals: Totals,
    /// What the gates said, by name.
    pub gates: BTreeMap<String, String>,
    /// The nodes that did not come from the cache, by id.
    pub nodes: BTreeMap<String, NodeRun>,
}

/// Numbers of a build.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Steps that ran to their end.
    pub ran: usize,
    /// Steps that came from the cache, or that nothing needed.
    pub cached: usize,
    /// Steps that failed or were cancelled.
    pub failed: usize,
    /// Steps that a build which failed did not come to.
    #[serde(default)]
    pub unreached: usize,
    /// Seconds of the steps that ran, one after the other.
    pub seconds: f64,
    /// Seconds that the cached steps took when they last ran.
    pub saved: f64,
    /// Bytes that the engine says were transferred: layers, contexts, exports.
    #[serde(default)]
    pub bytes: u64,
}

/// A node of a build.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NodeRun {
    /// What it is.
    pub kind: Kind,
    /// Its key.
    pub key: String,
    /// How it ended.
    pub end: End,
    /// How long it took.
    pub seconds: f64,
    /// Why it ran.
    pub why: Why,
}

/// What is recorded of a build.
pub struct Record<'a> {
    /// Its keys.
    pub manifest: &'a Manifest,
    /// What the engine said.
    pub progress: &'a Progress,
    /// Where it was built.
    pub engine: String,
    /// Whether it succeeded.
    pub ok: bool,
    /// Whether the caller wanted the cache to be ignored, for a node of this stage or gate.
    pub no_cache: &'a dyn Fn(&str) -> bool,
    /// `--metadata-file`, or null.
    pub metadata: &'a Value,
}

/// Keeps a build, and hands back what is kept.
///
/// # Errors
/// When the ledger cannot be written.
pub fn record(ledger: &Ledger, record: &Record<'_>) -> io::Result<Run> {
    let _lock = ledger.lock()?;
    let manifest = record.manifest;
    let before = ledger.manifest(&manifest.lane);
    let mut history = ledger.history(&manifest.lane);
    let ends = ends(manifest, record.progress);
    let ran: BTreeSet<String> = ends
        .iter()
        .filter(|(_, (end, _))| *end == End::Ran)
        .map(|(id, _)| (*id).to_owned())
        .collect();
    let reached = reached(manifest, &ends);
    let builds = before.as_ref().map(|old| Builds::new(old, manifest, &ran));
    let mut run = Run {
        at: Timestamp::now().to_string(),
        graph: manifest.graph.clone(),
        lane: manifest.lane.clone(),
        target: manifest.target.clone(),
        engine: record.engine.clone(),
        ok: record.ok,
        gates: gates(record.metadata),
        ..Run::default()
    };
    let vertices = record.progress.vertices.values();
    run.totals.bytes = vertices.map(Vertex::bytes).sum();
    for node in &manifest.nodes {
        let (end, seconds) = ends.get(&*node.id).copied().unwrap_or((End::Unseen, 0.0));
        let learnt = history.nodes.entry(node.id.clone()).or_default();
        match end {
            End::Unseen if !record.ok && !reached.contains(&*node.id) => {
                run.totals.unreached += usize::from(node.kind == Kind::Step);
            }
            _ => run.totals.count(node, end, seconds, learnt.seconds),
        }
        if matches!(end, End::Ran | End::Cached) {
            learnt.built(&node.key, &node.own);
        }
        if end == End::Ran {
            learnt.seconds = seconds;
        }
        if matches!(end, End::Cached | End::Unseen) {
            continue;
        }
        let why = match &builds {
            None => Why::First,
            Some(_) if (record.no_cache)(named(node)) => Why::Asked,
            Some(builds) => builds.why(&node.id),
        };
        let kept = NodeRun {
            kind: node.kind,
            key: node.key.clone(),
            end,
            seconds,
            why,
        };
        run.nodes.insert(node.id.clone(), kept);
    }
    history.lookups = Some(manifest.lookups());
    ledger.append(&mut run)?;
    ledger.keep(manifest, &history)?;
    Ok(run)
}

impl Totals {
    fn count(&mut self, node: &Node, end: End, seconds: f64, earlier: f64) {
        if node.kind != Kind::Step {
            return;
        }
        match end {
            End::Ran => {
                self.ran += 1;
                self.seconds += seconds;
            }
            End::Cached | End::Unseen => {
                self.cached += 1;
                self.saved += earlier;
            }
            End::Failed | End::Cancelled => self.failed += 1,
        }
    }
}

/// The stage or gate of a node.
fn named(node: &Node) -> &str {
    let id = node.id.strip_prefix("gate:").unwrap_or(&node.id);
    id.split(['/', ':']).next().unwrap_or(id)
}

/// Whether an engine said anything of the nodes of a manifest.
#[must_use]
pub fn tells(progress: &Progress, manifest: &Manifest) -> bool {
    !ends(manifest, progress).is_empty()
}

/// How each node ended, and how long it took. A node with several vertices ended as the one that did the most.
#[must_use]
pub(super) fn ends<'m>(
    manifest: &'m Manifest,
    progress: &Progress,
) -> BTreeMap<&'m str, (End, f64)> {
    let mut by_vertex: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for node in &manifest.nodes {
        by_vertex.entry(&node.vertex).or_default().push(&node.id);
    }
    let mut ends: BTreeMap<&str, (End, f64)> = BTreeMap::new();
    for vertex in progress.vertices.values() {
        let Some(ids) = of(&by_vertex, vertex) else {
            continue;
        };
        for id in ids {
            let known = ends.entry(id).or_insert((End::Unseen, 0.0));
            known.0 = known.0.max(vertex.end());
            known.1 += vertex.seconds();
        }
    }
    ends
}

/// The nodes that the engine came to: those that it showed, and what these stand on, which need not be shown.
fn reached<'m>(manifest: &'m Manifest, ends: &BTreeMap<&'m str, (End, f64)>) -> BTreeSet<&'m str> {
    let seen = ends.iter().filter(|(_, (end, _))| *end != End::Unseen);
    let mut reached: BTreeSet<&str> = seen.map(|(id, _)| *id).collect();
    // What a node takes stands before it.
    for node in manifest.nodes.iter().rev() {
        if reached.contains(&*node.id) {
            reached.extend(node.inputs.values().map(|input| &*input.node));
        }
    }
    reached
}

/// The nodes whose names a vertex has: those of the longest beginning.
fn of<'m>(by_vertex: &BTreeMap<&'m str, Vec<&'m str>>, vertex: &Vertex) -> Option<Vec<&'m str>> {
    let name = vertex.name.as_str();
    let range = (Bound::Unbounded, Bound::Included(name));
    let (beginning, ids) = by_vertex.range::<str, _>(range).next_back()?;
    name.starts_with(beginning).then(|| ids.clone())
}

/// What the gates said, out of the metadata of a build.
fn gates(metadata: &Value) -> BTreeMap<String, String> {
    let gates = metadata["frontend.lanekit.gates"]["gates"].as_object();
    let verdict = |gate: &Value| gate["verdict"].as_str().unwrap_or("unknown").to_owned();
    gates
        .into_iter()
        .flatten()
        .map(|(name, gate)| (name.clone(), verdict(gate)))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Two steps, a gate, and two sources of which one's name begins with the other's.
    fn manifest() -> Manifest {
        let node = |id: &str, kind: &str, vertex: &str| json!({ "id": id, "kind": kind, "key": id, "own": id, "vertex": vertex, "components": {} });
        let manifest = json!({
            "schema": "", "graph": "g", "lane": "l", "target": "l", "args": {}, "images": {},
            "nodes": [
                node("git:a", "git", "[git] a"),
                node("git:ab", "git", "[git] ab"),
                node("s/run", "step", "[s/run] "),
                node("t/run", "step", "[t/run] "),
                node("gate:g/inspect", "inspect", "[gate g] inspect"),
            ],
        });
        serde_json::from_value(manifest).expect("a manifest")
    }

    /// What an engine says of vertices, each with its error; each takes two seconds.
    fn progress(vertices: &[(&str, &str)]) -> Progress {
        let mut progress = Progress::new(None);
        for (number, (name, error)) in vertices.iter().enumerate() {
            let vertex = json!({
                "digest": format!("sha256:{number}"), "name": name, "error": error,
                "started": "2026-12-01T12:00:00Z", "completed": "2026-12-01T12:00:02Z",
            });
            progress.line(&json!({ "vertexes": [vertex] }).to_string());
        }
        progress
    }

    #[test]
    fn a_vertex_is_of_the_node_with_the_longest_beginning() {
        let manifest = manifest();
        let progress = progress(&[("[git] ab", "")]);
        let ends: Vec<&str> = ends(&manifest, &progress).into_keys().collect();
        assert_eq!(ends, ["git:ab"]);
    }

    #[test]
    fn what_was_told_to_ignore_the_cache_says_so_and_all_else_that_ran_lost_it() {
        let directory = tempfile::tempdir().unwrap();
        let ledger = Ledger::new(directory.path());
        let manifest = manifest();
        let all = ["[s/run] x", "[t/run] x", "[gate g] inspect"].map(|name| (name, ""));
        let told = |no_cache: &dyn Fn(&str) -> bool| {
            let build = Record {
                manifest: &manifest,
                progress: &progress(&all),
                engine: String::new(),
                ok: true,
                no_cache,
                metadata: &Value::Null,
            };
            let nodes = record(&ledger, &build).expect("a ledger").nodes;
            nodes.into_values().map(|node| node.why).collect::<Vec<_>>()
        };
        assert_eq!(told(&|_| false), [Why::First, Why::First, Why::First]);
        let of_some = told(&|name| ["s", "g"].contains(&name));
        assert_eq!(of_some, [Why::Asked, Why::Asked, Why::Lost]);
        let history = ledger.history(&manifest.lane);
        assert_eq!(history.lookups, Some(manifest.lookups()));
    }

    #[test]
    fn what_was_cancelled_failed_too() {
        let directory = tempfile::tempdir().unwrap();
        let build = Record {
            manifest: &manifest(),
            progress: &progress(&[
                ("[s/run] x", "exit code: 1"),
                ("[t/run] x", "process: context canceled"),
            ]),
            engine: String::new(),
            ok: false,
            no_cache: &|_| false,
            metadata: &Value::Null,
        };
        let run = record(&Ledger::new(directory.path()), &build).unwrap();
        let ends: Vec<End> = run.nodes.values().map(|node| node.end).collect();
        assert_eq!(ends, [End::Failed, End::Cancelled]);
        assert_eq!((run.totals.failed, run.totals.ran), (2, 0));
    }
}
