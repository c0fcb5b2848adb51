//! What a request comes to: every step with each thing that it sees, and who brought it there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Table;
use crate::file::{Brings, Step};
use crate::graph::instance::Instance;
use crate::plan::{
    FileWork, Plan, PlannedOutput, PlannedStage, PlannedStep, Product, Selection, StageIndex,
    Start, StepFile, Work,
};
use crate::text::{ArgEntry, LaneField, ValueRef};

/// How much of a value a row of text shows, in characters.
const SHOWN: usize = 60;

/// One thing that a step sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// `arg`, `env`, `host`, `file`, `script`, `git`, `payload`, `fetch`, `use`, `copy`, `cache`, `secret`, `ssh`, `tmpfs`.
    pub kind: &'static str,
    /// Its name: a variable, a path, a stage.
    pub name: String,
    /// Its value, or where it appears. A variable without one is absent: the step does not see it.
    pub value: Option<String>,
    /// What it was made of: `pin X`, `argument X`, `lane.target`, a constant.
    pub made_of: String,
    /// Who brought it: the step, a kit, a stage by its chain env, the image.
    pub by: String,
}

/// What every step of a plan sees, in the order of stages and steps. For a plan without an engine
/// ([`crate::plan::assume`]) that is without the environment of images.
#[must_use]
pub fn inputs<'p>(
    selection: &Selection<'_>,
    plan: &'p Plan,
) -> Vec<(&'p PlannedStage, &'p PlannedStep, Vec<Input>)> {
    let mut all = Vec::new();
    for (index, stage) in plan.stages.iter().enumerate() {
        let declared = selection.graph.stages.get(&stage.name);
        for step in &stage.steps {
            let source = declared.and_then(|stage| {
                let mut steps = stage.steps.iter();
                steps.find(|declared| declared.name.value == step.name)
            });
            let brought = source.map_or_else(Vec::new, |step| brought(selection, step));
            let view = View {
                selection,
                plan,
                brought,
            };
            all.push((stage, step, view.inputs(index, step)));
        }
    }
    all
}

/// What a step declares and what its kits bring in this lane, each with who it is.
fn brought<'g>(selection: &Selection<'g>, step: &'g Step) -> Vec<(String, &'g Brings)> {
    let setting = &selection.setting;
    let kits = step.kits.iter().filter_map(|name| {
        let kit = setting.graph.kits.get(&name.value)?;
        setting
            .holds(kit.when.as_ref())
            .then(|| (format!("kit {}", name.value), &kit.brings))
    });
    let own = ("step".to_owned(), &step.sees);
    std::iter::once(own).chain(kits).collect()
}

/// What the inputs of one step are found in.
struct View<'a> {
    selection: &'a Selection<'a>,
    plan: &'a Plan,
    brought: Vec<(String, &'a Brings)>,
}

impl View<'_> {
    fn inputs(&self, stage: StageIndex, step: &PlannedStep) -> Vec<Input> {
        let mut inputs = Vec::new();
        let named = self.variables(step, &mut inputs);
        self.inherited(stage, step, &named, &mut inputs);
        for setting in &step.host {
            inputs.push(Input {
                kind: "host",
                name: setting.name.clone(),
                value: None,
                made_of: format!("secret {}, {}", setting.name, setting.shown()),
                by: self.by(|brings| brings.host.iter().any(|name| name.value == setting.name)),
            });
        }
        self.files(step, &mut inputs);
        self.products(step, &mut inputs);
        self.mounts(step, &mut inputs);
        inputs
    }

    /// Variables that the step or a kit names; also the names.
    fn variables(&self, step: &PlannedStep, inputs: &mut Vec<Input>) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        let mut add = |kind, name: &str, made_of: String, by: &str| {
            named.insert(name.to_owned());
            inputs.push(Input {
                kind,
                name: name.to_owned(),
                value: step.env.get(name).cloned(),
                made_of,
                by: by.to_owned(),
            });
        };
        for (by, brings) in &self.brought {
            for entry in &brings.args {
                match entry {
                    ArgEntry::One { name, value, .. } => add("arg", name, self.made_of(value), by),
                    ArgEntry::Matching { pattern, .. } => {
                        for name in self.selection.graph.matching(pattern) {
                            let value = ValueRef::Named(name.to_owned());
                            add(
                                "arg",
                                name,
                                format!("{} by {pattern}", self.made_of(&value)),
                                by,
                            );
                        }
                    }
                }
            }
            for (name, entry) in &brings.env {
                if self.selection.setting.holds(entry.when.as_ref()) {
                    add("env", name, "constant".to_owned(), by);
                }
            }
        }
        named
    }

    /// Variables of the stages that it starts from, the nearest one that sets it first, and of the image.
    fn inherited(
        &self,
        stage: StageIndex,
        step: &PlannedStep,
        named: &BTreeSet<String>,
        inputs: &mut Vec<Input>,
    ) {
        let mut chain = Vec::new();
        let mut at = Some(stage);
        while let Some(index) = at {
            let stage = &self.plan.stages[index];
            chain.push(&stage.name);
            at = match (&stage.start, &stage.product) {
                (Start::Stage(from), _) => Some(*from),
                _ => None,
            };
        }
        let edited = chain.iter().flat_map(|stage| {
            let declared = self.selection.graph.stages.get(*stage);
            declared.into_iter().flat_map(|stage| stage.env.keys())
        });
        // The nearest stage that sets it; a variable that none sets is the image's.
        let sets = |name: &String| {
            let mut stages = chain.iter();
            let by = stages.find(|stage| {
                let declared = self.selection.graph.stages.get(**stage);
                declared.is_some_and(|stage| stage.env.contains_key(name))
            });
            by.map_or_else(|| "image".to_owned(), |stage| format!("stage {stage}"))
        };
        // Added to what an image has, which nobody looked up.
        let unknown: BTreeSet<&String> = edited
            .filter(|name| !step.env.contains_key(*name) && !named.contains(*name))
            .collect();
        for name in unknown {
            inputs.push(Input {
                kind: "env",
                name: name.clone(),
                value: None,
                made_of: "chain env and the image's".to_owned(),
                by: sets(name),
            });
        }
        for (name, value) in step.env.iter().filter(|(name, _)| !named.contains(*name)) {
            inputs.push(Input {
                kind: "env",
                name: name.clone(),
                value: Some(value.clone()),
                made_of: "chain env".to_owned(),
                by: sets(name),
            });
        }
    }

    fn files(&self, step: &PlannedStep, inputs: &mut Vec<Input>) {
        for (at, files) in &step.files {
            for file in files {
                let place = |to: &str| {
                    let path = format!("{}/{to}", at.trim_end_matches('/'));
                    Some(self.plan.place(&path))
                };
                let by = |from: &str| {
                    self.by(|brings| {
                        let mut files = brings.files.iter();
                        files.any(|file| file.from.value.trim_matches('/') == from)
                    })
                };
                inputs.push(match file {
                    StepFile::Context { from, to } => Input {
                        kind: "file",
                        name: from.clone(),
                        value: place(to),
                        made_of: "context".to_owned(),
                        by: by(from),
                    },
                    StepFile::Git { git, from, to } => Input {
                        kind: "git",
                        name: from.clone(),
                        value: place(to),
                        made_of: format!("git {git}"),
                        by: by(from),
                    },
                    StepFile::Payload { payload, from, to } => Input {
                        kind: "payload",
                        name: from.clone(),
                        value: place(to),
                        made_of: format!("payload {payload}"),
                        by: self.by(|brings| {
                            let mut taken = brings.files.iter().filter_map(|file| file.payload());
                            taken.any(|taken| taken.value == *payload)
                        }),
                    },
                    StepFile::Fetch { fetch, from, to } => Input {
                        kind: "fetch",
                        name: from.clone(),
                        value: place(to),
                        made_of: format!("download {fetch}"),
                        by: self.by(|brings| {
                            let mut taken = brings.files.iter().filter_map(|file| file.fetch());
                            taken.any(|taken| taken.value == *fetch)
                        }),
                    },
                    StepFile::Script { to, .. } => Input {
                        kind: "script",
                        name: to.clone(),
                        value: place(to),
                        made_of: "script".to_owned(),
                        by: "step".to_owned(),
                    },
                });
            }
        }
    }

    fn products(&self, step: &PlannedStep, inputs: &mut Vec<Input>) {
        let name = |stage: StageIndex| self.plan.stages[stage].name.as_str();
        let mounts = step.uses.iter().map(|used| {
            let part = format!("{}:{}", name(used.stage), self.plan.place(&used.sub));
            ("use", used.stage, part, Some(self.plan.place(&used.at)))
        });
        let copies = step
            .copies
            .iter()
            .map(|used| ("copy", used.stage, name(used.stage).to_owned(), None));
        for (kind, stage, part, at) in mounts.chain(copies) {
            let stage = name(stage);
            inputs.push(Input {
                kind,
                name: part,
                value: at,
                made_of: format!("stage {stage}"),
                by: self.by(|brings| brings.uses.iter().any(|used| used.stage.value == *stage)),
            });
        }
    }

    fn mounts(&self, step: &PlannedStep, inputs: &mut Vec<Input>) {
        let mut add = |kind, name: &str, at: &str, made_of: &str, by| {
            inputs.push(Input {
                kind,
                name: name.to_owned(),
                value: Some(self.plan.place(at)),
                made_of: made_of.to_owned(),
                by,
            });
        };
        for cache in &step.cache {
            let by = self.by(|brings| brings.cache.iter().any(|c| c.id.value == cache.id));
            add("cache", &cache.id, &cache.at, "cache", by);
        }
        for secret in &step.secrets {
            let by = self.by(|brings| brings.secret.iter().any(|s| s.id.value == secret.id));
            add("secret", &secret.id, &secret.at, "caller", by);
        }
        for agent in &step.ssh {
            let by = self.by(|brings| brings.ssh.iter().any(|s| s.id.value == agent.id));
            add("ssh", &agent.id, &agent.at, "caller", by);
        }
        for (at, _) in &step.tmpfs {
            let by = self.by(|brings| !brings.tmpfs.is_empty());
            add("tmpfs", at, at, "memory", by);
        }
    }

    /// The first that brings something.
    fn by(&self, brings: impl Fn(&Brings) -> bool) -> String {
        let mut brought = self.brought.iter();
        let found = brought.find(|(_, brought)| brings(brought));
        found.map_or_else(|| "step".to_owned(), |(by, _)| by.clone())
    }

    fn made_of(&self, value: &ValueRef) -> String {
        let graph = self.selection.graph;
        match value {
            ValueRef::Named(name) | ValueRef::Arg(name) if graph.args.contains_key(name) => {
                format!("argument {name}")
            }
            ValueRef::Named(name) if graph.switches.contains_key(name) => format!("switch {name}"),
            ValueRef::Named(name) | ValueRef::Arg(name) | ValueRef::Pin(name) => {
                format!("pin {name}")
            }
            ValueRef::Lane(field) => {
                let mut names = LaneField::names();
                let name = names.find(|name| LaneField::named(name) == Some(*field));
                format!("lane.{}", name.unwrap_or_default())
            }
            ValueRef::Set(name) => format!("lane.set.{name}"),
            ValueRef::Slot(name) => format!("slot.{name}"),
            ValueRef::Switch(name) => format!("switch.{name}"),
            ValueRef::Payload(name) => format!("payload.{name}"),
            ValueRef::Arch(name) => format!("arch.{name}"),
            ValueRef::Commit(name) => format!("commit of git {name}"),
            ValueRef::Env(name) => format!("env.{name}"),
            ValueRef::Platform(arg) => format!("predefined {}", arg.name()),
        }
    }
}

/// What a step does, in a line.
fn work(plan: &Plan, step: &PlannedStep) -> String {
    match &step.work {
        Work::Run(argv) => step.behind.clone().unwrap_or_else(|| argv.join(" ")),
        Work::File(FileWork::Copy(_)) => "copy files".to_owned(),
        Work::File(FileWork::Write { path, .. }) => format!("write {}", plan.place(path)),
        Work::File(FileWork::Mkdir { path, .. }) => {
            format!("make the directory {}", plan.place(path))
        }
        Work::File(FileWork::Link { path, .. }) => format!("link {}", plan.place(path)),
        Work::File(FileWork::Delete { path, .. }) => format!("delete {}", plan.place(path)),
    }
}

fn start(plan: &Plan, stage: &PlannedStage) -> String {
    let name = |index: &StageIndex| plan.stages[*index].name.as_str();
    match &stage.start {
        Start::Scratch => "nothing".to_owned(),
        Start::Image(image) => format!("image {image}"),
        Start::Stage(from) => format!("stage {}", name(from)),
        Start::Merge(merge) => {
            let parts: Vec<&str> = merge.parts.iter().map(|part| name(&part.stage)).collect();
            format!("trees {}", parts.join(", "))
        }
    }
}

/// The stage with what it reads of the lane: lanes in which that is equal share it.
fn instance<'a>(instances: &'a BTreeMap<&str, Instance<'_>>, stage: &'a PlannedStage) -> &'a str {
    let found = instances.get(stage.name.as_str());
    found.map_or(&stage.name, |instance| &instance.id)
}

fn product(plan: &Plan, stage: &PlannedStage) -> Vec<String> {
    match &stage.product {
        Product::Root => Vec::new(),
        Product::Tree(paths) => paths.iter().map(|path| plan.place(path.as_str())).collect(),
    }
}

/// The plan as text: a heading for each stage, a table for each step.
#[must_use]
pub fn plan_text(selection: &Selection<'_>, plan: &Plan) -> String {
    let mut text = format!("lane {}, steps on {}\n", plan.lane, plan.platform);
    for payload in super::payloads(selection, plan) {
        let super::PayloadRow {
            name, path, state, ..
        } = payload;
        text.push_str(&format!("payload {name} is {state}: {path}\n"));
    }
    for why in &plan.unpublishable {
        text.push_str(&format!("it has no tag: {why}\n"));
    }
    let inputs = inputs(selection, plan);
    let mut left = inputs.as_slice();
    let instances = selection.setting.instances();
    for stage in &plan.stages {
        let product = match product(plan, stage) {
            paths if paths.is_empty() => "root".to_owned(),
            paths => format!("tree {}", paths.join(", ")),
        };
        text.push_str(&format!(
            "\n[{}] from {}, hands on its {product}\n",
            instance(&instances, stage),
            start(plan, stage)
        ));
        let (own, rest) = left.split_at(stage.steps.len().min(left.len()));
        left = rest;
        for (_, step, inputs) in own {
            text.push_str(&format!("  {}: {}\n", step.name, cut(&work(plan, step))));
            let mut table = Table::new(2, &["    INPUT", "NAME", "VALUE", "MADE OF", "BY"]);
            for input in inputs {
                let value = input.value.as_deref().map_or_else(|| "-".to_owned(), cut);
                table.row([
                    format!("    {}", input.kind),
                    input.name.clone(),
                    value,
                    input.made_of.clone(),
                    input.by.clone(),
                ]);
            }
            if !inputs.is_empty() {
                text.push_str(&table.text());
            }
        }
    }
    for gate in &plan.gates {
        let report = gate.report.as_ref();
        let report = report.map(|path| format!(", by the report {path}"));
        text.push_str(&format!(
            "\n(gate {}) of {}{}\n",
            gate.name,
            plan.stages[gate.of].name,
            report.unwrap_or_default()
        ));
    }
    text
}

fn cut(text: &str) -> String {
    let line = text.replace(['\n', '\r', '\t'], " ");
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// The plan as JSON, schema `plan/1`.
#[must_use]
pub fn plan_json(selection: &Selection<'_>, plan: &Plan) -> Value {
    let mut steps: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (stage, step, inputs) in inputs(selection, plan) {
        let input = |input: &Input| {
            json!({
                "kind": input.kind,
                "name": input.name,
                "value": input.value,
                "made-of": input.made_of,
                "by": input.by,
            })
        };
        steps.entry(&stage.name).or_default().push(json!({
            "step": step.name,
            "work": work(plan, step),
            "argv": step.argv(),
            "network": match step.network {
                crate::file::Network::None => "none",
                _ => "default",
            },
            "cwd": plan.place(&step.cwd),
            "user": step.user,
            "inputs": inputs.iter().map(input).collect::<Vec<_>>(),
        }));
    }
    let instances = selection.setting.instances();
    let stages = plan.stages.iter().map(|stage| {
        json!({
            "stage": stage.name,
            "instance": instance(&instances, stage),
            "from": start(plan, stage),
            "add": stage.add.iter().map(|add| &plan.stages[*add].name).collect::<Vec<_>>(),
            "tree": product(plan, stage),
            "steps": steps.get(stage.name.as_str()).cloned().unwrap_or_default(),
        })
    });
    let gates = plan.gates.iter().map(|gate| {
        json!({
            "gate": gate.name,
            "of": plan.stages[gate.of].name,
            "report": gate.report,
            "target": gate.target.to_string(),
            "hold": gate.hold.iter().map(|held| &plan.stages[*held].name).collect::<Vec<_>>(),
        })
    });
    let tag = match &plan.output {
        PlannedOutput::Product { tag, .. } => tag.clone(),
        PlannedOutput::Gates => None,
    };
    let payloads = super::payloads(selection, plan).into_iter();
    let payloads = payloads.map(|payload| (payload.name, payload.state));
    json!({
        "schema": "plan/1",
        "lane": plan.lane,
        "platform": plan.platform,
        "tag": tag,
        "unpublishable": plan.unpublishable,
        "payloads": payloads.collect::<BTreeMap<_, _>>(),
        "stages": stages.collect::<Vec<_>>(),
        "gates": gates.collect::<Vec<_>>(),
        "context": plan.context,
    })
}
