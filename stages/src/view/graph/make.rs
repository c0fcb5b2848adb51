//! Plan, keys and past builds → the picture of a lane.

use std::collections::{BTreeMap, BTreeSet};

use super::{By, Edge, Group, GroupKind, Kind, Lane, Node, Past, State};
use crate::impact::cost;
use crate::keys::{self, Manifest};
use crate::plan::{Plan, PlannedOutput, Start};

/// The picture of a plan with these keys, without its levers.
///
/// What only carries bytes from one step to another (a tree, a copy into a root) is no node of its own: it is part of
/// an edge.
#[must_use]
pub fn lane(target: &str, plan: &Plan, manifest: &Manifest, past: &Past) -> Lane {
    let mut maker = Maker {
        plan,
        manifest,
        past,
        by_id: manifest.by_id(),
        groups: Vec::new(),
        nodes: Vec::new(),
        index: BTreeMap::new(),
        products: Vec::new(),
        starts: BTreeMap::new(),
        edges: BTreeSet::new(),
    };
    for git in plan.gits.keys() {
        let id = format!("git:{git}");
        maker.group(git, GroupKind::Git, vec![(id, Kind::Git, git.clone())]);
    }
    for stage in 0..plan.stages.len() {
        maker.stage(stage);
    }
    for gate in &plan.gates {
        let id = format!("gate:{}", gate.name);
        let member = (id, Kind::Gate, gate.check.to_owned());
        maker.group(&gate.name, GroupKind::Gate, vec![member]);
    }
    maker.output();
    maker.edges();
    maker.finish(target)
}

struct Maker<'a> {
    plan: &'a Plan,
    manifest: &'a Manifest,
    past: &'a Past,
    by_id: BTreeMap<&'a str, &'a keys::Node>,
    groups: Vec<Group>,
    nodes: Vec<Node>,
    /// Nodes by the ids of the manifest.
    index: BTreeMap<String, usize>,
    /// The node that makes the product of each stage.
    products: Vec<usize>,
    /// By the first node of a stage: the product that the stage starts from.
    starts: BTreeMap<usize, usize>,
    edges: BTreeSet<Edge>,
}

impl Maker<'_> {
    fn group(&mut self, name: &str, kind: GroupKind, members: Vec<(String, Kind, String)>) {
        let start = self.nodes.len();
        for (id, kind, label) in members {
            self.node(id, kind, label);
        }
        self.groups.push(Group {
            name: name.to_owned(),
            kind,
            nodes: start..self.nodes.len(),
        });
    }

    fn node(&mut self, id: String, kind: Kind, label: String) {
        // A gate is two vertices and one thing.
        let parts = match kind {
            Kind::Gate => vec![format!("{id}/inspect"), format!("{id}/assert")],
            _ => vec![id.clone()],
        };
        let known = |part: &String| self.past.seconds.get(part).copied();
        let seconds: f64 = parts.iter().filter_map(known).sum();
        let states = parts.iter().filter_map(|part| self.past.states.get(part));
        let last = parts.iter().rev().find_map(|part| self.past.last.get(part));
        let verdict = match kind {
            Kind::Gate => id.strip_prefix("gate:"),
            _ => None,
        };
        let made = parts
            .iter()
            .filter_map(|part| self.by_id.get(part.as_str()));
        self.index
            .extend(parts.iter().map(|part| (part.clone(), self.nodes.len())));
        self.nodes.push(Node {
            kind,
            group: self.groups.len(),
            label,
            seconds: (seconds > 0.0).then_some(seconds),
            state: states.max().copied().unwrap_or(State::Unknown),
            verdict: verdict.and_then(|name| self.past.verdicts.get(name).cloned()),
            last: last.cloned(),
            components: made.flat_map(|node| components(node)).collect(),
            id,
        });
    }

    fn stage(&mut self, number: usize) {
        let stage = &self.plan.stages[number];
        let name = &stage.name;
        let mut members = Vec::new();
        if let Start::Image(reference) = &stage.start {
            members.push((format!("{name}:from"), Kind::Image, reference.clone()));
        }
        if let Start::Merge(merge) = &stage.start {
            let label = format!("merge of {}", merge.parts.len());
            members.push((format!("{name}:merge"), Kind::Merge, label));
        }
        if !stage.add.is_empty() {
            let label = format!("add {}", stage.add.len());
            members.push((format!("{name}:add"), Kind::Add, label));
        }
        for step in &stage.steps {
            let id = format!("{name}/{}", step.name);
            members.push((id, Kind::Step, step.name.clone()));
        }
        // An empty file system has no vertex, and a merge of one tree is that tree.
        members.retain(|(id, ..)| self.by_id.contains_key(id.as_str()));
        let below = match &stage.start {
            Start::Stage(from) => Some(self.products[*from]),
            Start::Merge(merge) => merge.parts.first().map(|part| self.products[part.stage]),
            Start::Scratch | Start::Image(_) => None,
        };
        let is_same = members.is_empty();
        if is_same {
            let label = match below {
                Some(below) => format!("same as {}", self.groups[self.nodes[below].group].name),
                None => "nothing".to_owned(),
            };
            members.push((name.clone(), Kind::Same, label));
        }
        let first = self.nodes.len();
        self.group(name, GroupKind::Stage, members);
        let product = self.nodes.len() - 1;
        self.index.insert(format!("{name}:tree"), product);
        match below {
            Some(from) if is_same => self.edge(from, product, By::Key),
            Some(from) => _ = self.starts.insert(first, from),
            None => {}
        }
        self.products.push(product);
    }

    fn output(&mut self) {
        let (label, from) = match &self.plan.output {
            PlannedOutput::Product {
                stage, root, tag, ..
            } => {
                let label = match (tag, root) {
                    (Some(tag), _) => tag.clone(),
                    (None, Some(root)) => format!("bundle of {root}"),
                    (None, None) => "image".to_owned(),
                };
                (label, Some(self.products[*stage]))
            }
            PlannedOutput::Gates => ("reports of gates".to_owned(), None),
        };
        let member = ("output".to_owned(), Kind::Output, label);
        self.group("output", GroupKind::Output, vec![member]);
        let output = self.nodes.len() - 1;
        if let Some(from) = from {
            self.edge(from, output, By::Key);
        }
        for gate in &self.plan.gates {
            if let Some(&gate) = self.index.get(&format!("gate:{}/assert", gate.name)) {
                self.edge(gate, output, By::Wait);
            }
        }
    }

    fn edge(&mut self, from: usize, to: usize, by: By) {
        self.edges.insert(Edge { from, to, by });
    }

    fn edges(&mut self) {
        for made in &self.manifest.nodes {
            let Some(&to) = self.index.get(&made.id) else {
                continue;
            };
            let mut found = Vec::new();
            self.sources(made, to, &mut found);
            for (from, by) in found {
                if from != to {
                    self.edge(from, to, by);
                }
            }
        }
        for gate in &self.plan.gates {
            let Some(&from) = self.index.get(&format!("gate:{}/assert", gate.name)) else {
                continue;
            };
            for held in &gate.hold {
                let held = self.plan.stages[*held].name.as_str();
                let group = self
                    .groups
                    .iter()
                    .find(|group| group.kind == GroupKind::Stage && group.name == held);
                if let Some(first) = group.map(|group| group.nodes.start) {
                    self.edge(from, first, By::Wait);
                }
            }
        }
    }

    /// The nodes that another is made of, looking through copies.
    fn sources(&self, made: &keys::Node, to: usize, found: &mut Vec<(usize, By)>) {
        for (at, input) in made.inputs.iter() {
            let Some(source) = self.by_id.get(input.node.as_str()) else {
                continue;
            };
            let Some(&node) = self.index.get(&input.node) else {
                self.sources(source, to, found);
                continue;
            };
            // The copy that makes a tree has the key of its bytes.
            let by = match input.by {
                keys::By::Key if source.kind != keys::Kind::Tree => By::Key,
                _ => By::Content,
            };
            // A stage that adds nothing stands between all the same.
            let start = self.starts.get(&to).filter(|_| at == keys::ROOT);
            found.push((start.copied().unwrap_or(node), by));
        }
    }

    fn finish(self, target: &str) -> Lane {
        let all: BTreeSet<&str> = self.by_id.keys().copied().collect();
        let cost = cost(self.manifest, &all, &self.past.seconds, 1);
        let mut path: Vec<usize> = Vec::new();
        for node in cost.path.iter().filter_map(|id| self.index.get(id)) {
            if path.last() != Some(node) {
                path.push(*node);
            }
        }
        // The strongest of several edges between two nodes says it.
        let mut edges: Vec<Edge> = self.edges.into_iter().collect();
        edges.dedup_by_key(|edge| (edge.from, edge.to));
        Lane {
            target: target.to_owned(),
            platform: self.plan.platform.clone(),
            build: self.past.build.clone(),
            groups: self.groups,
            nodes: self.nodes,
            edges,
            critical: cost.critical,
            path,
            levers: Vec::new(),
            unasked: 0,
        }
    }
}

/// What makes the key of a node, by name.
fn components(node: &keys::Node) -> impl Iterator<Item = (String, String)> {
    let components = node.components.iter();
    let components = components.map(|(name, value)| (name.clone(), value.clone()));
    let files = node.files.iter().map(|(at, file)| {
        let what = match (file.path.as_str(), file.digest.as_str()) {
            ("", digest) => format!("script {digest}"),
            (path, "") => format!("{path} (not read)"),
            (path, digest) => format!("{path} {digest}"),
        };
        (format!("file {at}"), what)
    });
    let inputs = node.inputs.iter().map(|(at, input)| {
        let by = match input.by {
            keys::By::Key => "key",
            keys::By::Content => "content",
        };
        let part = match input.part.as_str() {
            "" => String::new(),
            part => format!("{part} of "),
        };
        (
            format!("input {at}"),
            format!("{part}{} by {by}", input.node),
        )
    });
    components.chain(files).chain(inputs)
}
