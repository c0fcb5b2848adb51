//! `lanekit graph`: pictures of lanes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stages::graph::Graph;
use stages::keys::{self, Manifest};
use stages::plan::Facts;
use stages::view::graph::{self, Lane, LastRun, Levers, Past, Picture, State};

use super::client::{Asked, facts};
use super::{Stop, print};
use crate::ledger::Ledger;
use crate::progress::End;

/// Pictures of lanes.
#[derive(Args, Debug)]
pub(in crate::command) struct GraphOf {
    /// LANE, LANE/OUTPUT, LANE/STAGE or LANE/gates; without one all lanes
    #[arg(value_name = "TARGET")]
    targets: Vec<String>,
    /// What is drawn
    #[arg(long, value_enum, default_value_t = Format::Html)]
    format: Format,
    /// The file that is written; without it standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The lane file
    #[arg(long, short, default_value = "lanes.toml", value_name = "FILE")]
    file: PathBuf,
    /// The directory that steps take files from; without it that of the lane file
    #[arg(long, value_name = "DIRECTORY")]
    context: Option<PathBuf>,
    /// Arguments, as for a build
    #[arg(long = "build-arg", value_name = "NAME=VALUE")]
    args: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A flowchart for Markdown
    Mermaid,
    /// For Graphviz
    Dot,
    /// A drawing
    Svg,
    /// A page for a browser, to search, fold and ask
    Html,
}

impl GraphOf {
    pub(super) fn run(&self) -> Result<(), Stop> {
        let picture = self.picture()?;
        let text = match self.format {
            Format::Mermaid => graph::mermaid(&picture),
            Format::Dot => graph::dot(&picture),
            Format::Svg => graph::svg(&picture),
            Format::Html => graph::html(&picture),
        };
        match &self.out {
            None => print(&text),
            Some(path) => fs::write(path, text)
                .map_err(|error| Stop::Unable(format!("{}: {error}", path.display()))),
        }
    }

    fn picture(&self) -> Result<Picture, Stop> {
        let mut client = Asked {
            target: None,
            file: self.file.clone(),
            context: self.context.clone(),
            args: self.args.clone(),
        }
        .open()?;
        let ledger = Ledger::beside(&self.file);
        let targets = match self.targets.as_slice() {
            [] => all(&client.loaded.graph),
            some => some.to_vec(),
        };
        let mut lanes = Vec::new();
        for target in targets {
            client.request.target = Some(target.clone());
            let bare = client.plan(&client.request, &Facts::default())?;
            let before = ledger.manifest(&bare.lane);
            let facts = before
                .as_ref()
                .map(|before| facts(before.lookups()))
                .unwrap_or_default();
            let plan = client.plan(&client.request, &facts)?;
            let manifest = client.manifest(&client.request, &facts)?;
            let past = past(&ledger, &bare.lane);
            let mut lane: Lane = graph::lane(&target, &plan, &manifest, &past);
            not_reached(&mut lane);
            let contents = |path: &str| client.contents.digest(path);
            (lane.levers, lane.unasked) = graph::levers(
                &lane,
                &Levers {
                    graph: &client.loaded.graph,
                    request: &client.request,
                    facts: &facts,
                    contents: &contents,
                    manifest: &manifest,
                    most: graph::MOST_NODES,
                },
            );
            lanes.push(lane);
        }
        Ok(Picture {
            schema: graph::SCHEMA,
            graph: client.loaded.graph.table.name.value.clone(),
            lanes,
        })
    }
}

/// Every lane by its own name, or by the outputs that it has where the name stands for none of them; first the one that
/// is built when the caller names none.
fn all(graph: &Graph) -> Vec<String> {
    let default = graph.table.default.as_ref().map(|name| name.value.as_str());
    let mut lanes: Vec<_> = graph.lanes.iter().collect();
    lanes.sort_by_key(|(name, _)| Some(name.as_str()) != default);
    lanes
        .into_iter()
        .flat_map(|(name, lane)| {
            let setting = graph.setting(name, lane);
            let bare = graph.default_output(lane);
            match bare.filter(|(_, output)| setting.holds(output.when.as_ref())) {
                Some(_) => vec![name.clone()],
                None => {
                    let outputs = setting.outputs();
                    outputs
                        .map(|(output, _)| format!("{name}/{output}"))
                        .collect()
                }
            }
        })
        .collect()
}

/// What the ledger knows of a lane.
fn past(ledger: &Ledger, lane: &str) -> Past {
    let mut past = Past {
        seconds: ledger.history(lane).seconds(),
        ..Past::default()
    };
    let (runs, _) = ledger.runs();
    for run in runs.iter().rev().filter(|run| run.lane == lane) {
        for (id, node) in &run.nodes {
            if past.build.is_none() {
                past.states.insert(id.clone(), state(node.end));
            }
            let last = || LastRun::new(run.number, &node.why);
            past.last.entry(id.clone()).or_insert_with(last);
        }
        if past.build.is_none() {
            if let Some(manifest) = ledger.manifest(lane) {
                cached(&manifest, &mut past.states);
            }
            past.verdicts.clone_from(&run.gates);
            past.build = Some(graph::Build {
                number: run.number,
                at: run.at.clone(),
                ok: run.ok,
            });
        }
    }
    past
}

/// What a build had and did not run came from the cache, unless it stands behind what did not come to its end.
fn cached(manifest: &Manifest, states: &mut BTreeMap<String, State>) {
    let mut stopped = BTreeSet::new();
    for node in &manifest.nodes {
        let stops = matches!(states.get(&node.id), Some(State::Failed | State::Cancelled));
        let behind = |input: &keys::Input| stopped.contains(input.node.as_str());
        if stops || node.inputs.values().any(behind) {
            stopped.insert(node.id.as_str());
        } else {
            states.entry(node.id.clone()).or_insert(State::Cached);
        }
    }
}

/// What waits for what did not come to its end was not reached either: keys know nothing of waiting.
fn not_reached(lane: &mut Lane) {
    let stops = |node: &graph::Node| matches!(node.state, State::Failed | State::Cancelled);
    let mut stopped: BTreeSet<usize> = BTreeSet::new();
    let mut todo: Vec<usize> = (0..lane.nodes.len())
        .filter(|node| stops(&lane.nodes[*node]))
        .collect();
    while let Some(node) = todo.pop() {
        if stopped.insert(node) {
            let behind = lane.edges.iter().filter(|edge| edge.from == node);
            todo.extend(behind.map(|edge| edge.to));
        }
    }
    for node in stopped {
        let node = &mut lane.nodes[node];
        if node.state == State::Cached {
            node.state = State::Unknown;
        }
    }
}

fn state(end: End) -> State {
    match end {
        End::Unseen | End::Cached => State::Cached,
        End::Cancelled => State::Cancelled,
        End::Failed => State::Failed,
        End::Ran => State::Ran,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_behind_a_failed_step_did_not_come_from_the_cache() {
        let node = |id: &str, behind: Option<&str>| {
            let input = |node: &str| {
                let by = keys::By::Key;
                (
                    String::new(),
                    keys::Input {
                        node: node.into(),
                        by,
                        part: String::new(),
                    },
                )
            };
            keys::Node {
                id: id.into(),
                kind: keys::Kind::Step,
                key: String::new(),
                own: String::new(),
                vertex: String::new(),
                components: Default::default(),
                files: Default::default(),
                inputs: behind.into_iter().map(input).collect(),
            }
        };
        let manifest = Manifest {
            schema: String::new(),
            graph: String::new(),
            lane: "l".into(),
            target: String::new(),
            args: BTreeMap::new(),
            images: BTreeMap::new(),
            gits: BTreeMap::new(),
            payloads: BTreeMap::new(),
            nodes: vec![
                node("a", None),
                node("b", Some("a")),
                node("c", Some("b")),
                node("d", None),
            ],
        };
        let mut states = BTreeMap::from([("b".to_owned(), State::Failed)]);
        cached(&manifest, &mut states);
        let found: Vec<_> = states
            .iter()
            .map(|(id, state)| format!("{id} {}", state.word()))
            .collect();
        assert_eq!(found, ["a cached", "b failed", "d cached"]);
    }
}
