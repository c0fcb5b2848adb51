//! Documents and pins → one graph in which every name is known.
//!
//! All lanes are checked at once, whichever is built: an error in the lane that nobody built
//! today is found today.

mod arguments;
mod check;
mod cycle;
mod fetches;
mod gates;
mod group;
pub mod instance;
pub mod lint;
mod payloads;
mod pins;
mod presence;
mod setting;
mod slots;
mod stamp;
mod tag;
mod templates;
mod unused;

use std::collections::{BTreeMap, BTreeSet};

use fast_glob::glob_match;

use crate::diag::{Diagnostic, Report, Spanned, rule};
use crate::file::{
    AllowLint, Arg, Attribute, Brings, Derived, Document, Fetch, From, Gate, Git, GraphTable,
    Group, Host, Kit, Lane, Output, Payload, PinRule, Pins, Refuse, Slot, Stage, Step, Switch,
    When,
};
use crate::text::{ArgEntry, Template, ValueRef};

pub use setting::{Asked, Setting};
pub use tag::Turn;
pub(crate) use tag::names_argument;

/// Everything that a lane file declares, checked.
#[derive(Debug, Clone)]
pub struct Graph {
    /// `[graph]`
    pub table: GraphTable,
    /// Pins of our scope and of others' that a step names.
    pub pins: Pins,
    /// `[pin.NAME]`, which are among the pins too.
    pub derived: BTreeMap<String, Derived>,
    /// `[arg.NAME]`
    pub args: BTreeMap<String, Arg>,
    /// `[host.NAME]`
    pub hosts: BTreeMap<String, Host>,
    /// `[switch.NAME]`
    pub switches: BTreeMap<String, Switch>,
    /// `[kit.NAME]`
    pub kits: BTreeMap<String, Kit>,
    /// `[[refuse]]`
    pub refuse: Vec<Refuse>,
    /// `[slot.NAME]`
    pub slots: BTreeMap<String, Slot>,
    /// `[git.NAME]`
    pub gits: BTreeMap<String, Git>,
    /// `[fetch.NAME]`
    pub fetches: BTreeMap<String, Fetch>,
    /// `[payload.NAME]`
    pub payloads: BTreeMap<String, Payload>,
    /// `[lane.NAME]`
    pub lanes: BTreeMap<String, Lane>,
    /// `[group.NAME]`
    pub groups: BTreeMap<String, Group>,
    /// `[stage.NAME]`
    pub stages: BTreeMap<String, Stage>,
    /// `[gate.NAME]`
    pub gates: BTreeMap<String, Gate>,
    /// `[pin-rule.NAME]`
    pub pin_rules: BTreeMap<String, PinRule>,
    /// What lints are allowed, and where.
    pub lint: Vec<AllowLint>,
}

/// Makes the graph of a lane file and its pins.
///
/// # Errors
/// Every name that nothing declares, every name for two things, cycles, what nothing uses,
/// gates that could not decide.
pub fn resolve(document: Document, pins: Pins) -> Result<Graph, Report> {
    let mut graph = Graph {
        table: document.graph,
        pins,
        derived: document.derived,
        args: document.args,
        hosts: document.hosts,
        switches: document.switches,
        kits: document.kits,
        refuse: document.refuse,
        slots: document.slots,
        gits: document.gits,
        fetches: document.fetches,
        payloads: document.payloads,
        lanes: document.lanes,
        groups: document.groups,
        stages: document.stages,
        gates: document.gates,
        pin_rules: document.pin_rules,
        lint: document.lint,
    };
    let mut report = Report::default();
    pins::derive(&mut graph, &mut report);
    check::names(&graph, &mut report);
    // What follows walks along names, so all of them must be known.
    if !report.is_empty() {
        return Err(report).or_else(|r| r.into_result(graph));
    }
    slots::check(&graph, &mut report);
    cycle::check(&graph, &mut report);
    // How far each lane goes is known where every name is, and nothing goes in a circle.
    let reaches = match report.is_empty() {
        true => graph.reaches(),
        false => Vec::new(),
    };
    if report.is_empty() {
        presence::check(&graph, &reaches, &mut report);
        instance::check(&graph, &mut report);
        gates::check(&graph, &reaches, &mut report);
    }
    payloads::check(&graph, &mut report);
    fetches::check(&graph, &mut report);
    stamp::check(&graph, &mut report);
    let mut unused = Report::default();
    if report.is_empty() {
        unused::check(&graph, &reaches, &mut unused);
    }
    drop(reaches);
    report.extend(lint::keep(&graph, unused));
    report.into_result(graph)
}

/// How one stage takes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Its root, to go on with.
    Start,
    /// Its product as a tree.
    Tree,
}

impl Graph {
    /// The stages that `stage` names, with how it takes each, whatever the conditions say; slots
    /// stand for all their choices.
    pub fn edges<'a>(&'a self, stage: &'a Stage) -> Vec<(&'a Spanned<String>, Edge)> {
        let mut edges = Vec::new();
        match &stage.from {
            Some(From::Stage(name)) => edges.push((name, Edge::Start)),
            Some(From::First(names)) => edges.extend(names.iter().map(|name| (name, Edge::Start))),
            Some(From::Slot(slot)) => {
                let choices = self
                    .slots
                    .get(&slot.value)
                    .into_iter()
                    .flat_map(|s| s.choices.values());
                edges.extend(choices.map(|choice| (&choice.stage, Edge::Start)));
            }
            Some(From::Image(..) | From::Scratch(_)) | None => {}
        }
        let trees = stage.merge.iter().chain(&stage.add);
        edges.extend(trees.map(|part| (&part.stage, Edge::Tree)));
        let uses = stage
            .steps
            .iter()
            .flat_map(|step| self.all_brings(step))
            .flat_map(|b| &b.uses);
        edges.extend(uses.map(|used| (&used.stage, Edge::Tree)));
        let caches = stage
            .steps
            .iter()
            .flat_map(|step| self.all_brings(step))
            .flat_map(|b| &b.cache);
        edges.extend(caches.filter_map(|cache| Some((cache.from.as_ref()?, Edge::Tree))));
        let files = stage.steps.iter().filter_map(Step::file);
        edges.extend(files.filter_map(|file| Some((file.stage()?, Edge::Tree))));
        edges
    }

    /// What a step declares and what its kits bring, whatever the conditions say.
    pub fn all_brings<'a>(&'a self, step: &'a Step) -> impl Iterator<Item = &'a Brings> {
        let kits = step.kits.iter().filter_map(|kit| self.kits.get(&kit.value));
        std::iter::once(&step.sees).chain(kits.map(|kit| &kit.brings))
    }

    /// The names of git sources that a stage takes files or a commit of, whatever the conditions
    /// say.
    pub fn gits_of<'a>(&'a self, stage: &'a Stage) -> Vec<Spanned<&'a str>> {
        let mut names = Vec::new();
        let mut commits = |template: &'a Template| {
            names.extend(template.commits());
        };
        templates::templates_of(stage, &mut commits);
        for brings in stage.steps.iter().flat_map(|step| self.all_brings(step)) {
            templates::templates_of_brings(brings, &mut commits);
        }
        for brings in stage.steps.iter().flat_map(|step| self.all_brings(step)) {
            for entry in &brings.args {
                if let ArgEntry::One {
                    value: ValueRef::Commit(name),
                    span,
                    ..
                } = entry
                {
                    names.push(Spanned::new(name.as_str(), span.clone()));
                }
            }
            names.extend(brings.files.iter().filter_map(|file| file.git()).map(text));
        }
        let files = stage.steps.iter().filter_map(Step::file);
        names.extend(files.filter_map(|file| file.git()).map(text));
        names
    }

    /// The names of the constants that lanes set.
    fn constants(&self) -> BTreeSet<&String> {
        self.lanes
            .values()
            .flat_map(|lane| lane.set.keys())
            .collect()
    }

    /// Whether any lane sets this constant.
    fn sets(&self, name: &str) -> bool {
        self.lanes.values().any(|lane| lane.set.contains_key(name))
    }

    /// Whether a stage's product is a tree.
    pub fn is_tree(&self, stage: &Stage) -> bool {
        !stage.tree.is_empty() || !stage.merge.is_empty()
    }

    /// The names of pins of our scope and arguments that a pattern of `args` stands for.
    pub fn matching<'a>(&'a self, pattern: &str) -> Vec<&'a str> {
        let taken = |name: &&str| glob_match(pattern, name);
        let pins = self.pins.keys().map(String::as_str).filter(taken);
        let mut names: Vec<&str> = pins.filter(|name| self.in_scope(name)).collect();
        names.extend(self.args.keys().map(String::as_str).filter(taken));
        names.sort_unstable();
        names
    }

    /// The output of a lane that its bare name stands for: `image`, or the only one.
    pub fn default_output<'a>(&self, lane: &'a Lane) -> Option<(&'a str, &'a Output)> {
        let only = || {
            if lane.outputs.len() == 1 {
                lane.outputs.iter().next()
            } else {
                None
            }
        };
        lane.outputs
            .get_key_value("image")
            .or_else(only)
            .map(|(name, output)| (name.as_str(), output))
    }

    /// What the graph names anywhere: values, and names by pattern.
    fn named(&self) -> (Vec<&ValueRef>, Vec<&str>) {
        let mut values = Vec::new();
        values.extend(
            self.outputs()
                .flat_map(Output::templates)
                .flat_map(|text| text.values()),
        );
        let tags = self.groups.values().flat_map(|group| &group.tag);
        values.extend(tags.flat_map(|tag| tag.values()));
        let mut patterns = Vec::new();
        for stage in self.stages.values() {
            templates::templates_of(stage, |template| values.extend(template.values()));
        }
        for brings in self.brings() {
            templates::templates_of_brings(brings, &mut |template| {
                values.extend(template.values())
            });
            for entry in &brings.args {
                match entry {
                    ArgEntry::One { value, .. } => values.push(value),
                    ArgEntry::Matching { pattern, .. } => patterns.extend(self.matching(pattern)),
                }
            }
        }
        for git in self.gits.values() {
            values.extend(git.templates().flat_map(|text| text.values()));
        }
        let files = self.brings().filter_map(|brings| brings.pins_file.as_ref());
        patterns.extend(files.flat_map(|file| self.projected(file)));
        patterns.extend(
            self.derived
                .values()
                .map(|derived| derived.from.value.as_str()),
        );
        patterns.extend(self.pins_of_payloads());
        patterns.extend(self.pins_of_fetches());
        let urls = self.fetches.values().map(|fetch| &fetch.url);
        values.extend(urls.flat_map(|url| url.values()));
        for gate in self.gates.values() {
            values.extend(gate.templates().flat_map(|text| text.values()));
        }
        (values, patterns)
    }

    /// Every condition of the file.
    fn conditions(&self) -> Vec<&When> {
        let mut all: Vec<&When> = Vec::new();
        for stage in self.stages.values() {
            all.extend(stage_conditions(stage));
        }
        for kit in self.kits.values() {
            all.extend(brings_conditions(&kit.brings).chain(&kit.when));
        }
        let choices = self.slots.values().flat_map(|slot| slot.choices.values());
        all.extend(choices.flat_map(|choice| &choice.when));
        all.extend(self.refuse.iter().map(|refuse| &refuse.when));
        all.extend(self.outputs().flat_map(Output::conditions));
        for gate in self.gates.values() {
            all.extend(gate.conditions());
        }
        all
    }

    /// What comes out of the lanes.
    fn outputs(&self) -> impl Iterator<Item = &Output> {
        self.lanes.values().flat_map(|lane| lane.outputs.values())
    }

    /// The conditions of outputs, steps, kits and entries: those that take a part away where they do
    /// not hold, and say nothing of it.
    fn conditions_of_parts(&self) -> Vec<&When> {
        let mut all: Vec<&When> = Vec::new();
        for stage in self.stages.values() {
            all.extend(entry_conditions(stage).chain(stage.image.conditions()));
            let steps = stage.steps.iter();
            all.extend(steps.flat_map(|step| device_conditions(step).chain(&step.when)));
        }
        all.extend(self.brings().flat_map(brings_conditions));
        all.extend(self.kits.values().flat_map(|kit| &kit.when));
        all.extend(self.outputs().flat_map(Output::conditions));
        all
    }

    /// The switches that a condition or a step looks at.
    fn switches_looked_at(&self) -> BTreeSet<&str> {
        if self.switches.is_empty() {
            return BTreeSet::new();
        }
        let conditions = self.looked_at().into_iter().filter_map(|what| match what {
            Attribute::Switch(name) => Some(name.as_str()),
            _ => None,
        });
        let values = self.named().0.into_iter().filter_map(|value| match value {
            ValueRef::Switch(name) => Some(name.as_str()),
            _ => None,
        });
        conditions.chain(values).collect()
    }

    /// The constants of lanes that a condition or a text looks at.
    fn constants_looked_at(&self) -> BTreeSet<&str> {
        if self.constants().is_empty() {
            return BTreeSet::new();
        }
        let conditions = self.looked_at().into_iter().filter_map(|what| match what {
            Attribute::Set(name) => Some(name.as_str()),
            _ => None,
        });
        let values = self.named().0.into_iter().filter_map(|value| match value {
            ValueRef::Set(name) => Some(name.as_str()),
            _ => None,
        });
        conditions.chain(values).collect()
    }

    /// What the conditions look at.
    fn looked_at(&self) -> Vec<&Attribute> {
        let mut open = self.conditions();
        let mut found = Vec::new();
        while let Some(when) = open.pop() {
            open.extend(when.not.as_deref().into_iter().chain(&when.any));
            found.extend(when.clauses.iter().map(|clause| &clause.what));
        }
        found
    }

    /// The slots that a stage starts from, or that a condition or value looks at.
    fn slots_looked_at(&self) -> BTreeSet<&str> {
        if self.slots.is_empty() {
            return BTreeSet::new();
        }
        let mut open = self.conditions();
        let mut slots = BTreeSet::new();
        while let Some(when) = open.pop() {
            open.extend(when.not.as_deref().into_iter().chain(&when.any));
            for clause in &when.clauses {
                if let Attribute::Slot(name) = &clause.what {
                    slots.insert(name.as_str());
                }
            }
        }
        slots.extend(self.named().0.into_iter().filter_map(|value| match value {
            ValueRef::Slot(name) => Some(name.as_str()),
            _ => None,
        }));
        slots.extend(self.stages.values().filter_map(|stage| match &stage.from {
            Some(From::Slot(slot)) => Some(slot.value.as_str()),
            _ => None,
        }));
        slots
    }

    /// What every step declares and every kit brings.
    fn brings(&self) -> impl Iterator<Item = &Brings> {
        let steps = self
            .stages
            .values()
            .flat_map(|stage| &stage.steps)
            .map(|step| &step.sees);
        steps.chain(self.kits.values().map(|kit| &kit.brings))
    }

    /// Whether a pin is in our scope: the last pattern that matches decides.
    fn in_scope(&self, pin: &str) -> bool {
        if self.table.pins.is_empty() || self.derived.contains_key(pin) {
            return true;
        }
        let mut inside = false;
        for pattern in &self.table.pins {
            let (glob, keep) = match pattern.value.strip_prefix('!') {
                Some(rest) => (rest, false),
                None => (pattern.value.as_str(), true),
            };
            if glob_match(glob, pin) {
                inside = keep;
            }
        }
        inside
    }
}

/// The conditions of a stage: its own, and those of its steps, its entries and its image's.
fn stage_conditions(stage: &Stage) -> impl Iterator<Item = &When> {
    let steps = stage.steps.iter().flat_map(|step| {
        let entries = brings_conditions(&step.sees).chain(device_conditions(step));
        entries.chain(&step.when)
    });
    let entries = entry_conditions(stage).chain(stage.image.conditions());
    stage.when.iter().chain(entries).chain(steps)
}

/// The conditions of the devices of a step.
fn device_conditions(step: &Step) -> impl Iterator<Item = &When> {
    step.sandbox.devices.iter().flat_map(|device| &device.when)
}

/// The conditions of a stage's entries: neither its own nor those of its steps and its image.
fn entry_conditions(stage: &Stage) -> impl Iterator<Item = &When> {
    let parts = stage.merge.iter().chain(&stage.add);
    let parts = parts.flat_map(|part| &part.when);
    let tree = stage.tree.iter().flat_map(|entry| &entry.when);
    let conflicts = stage.conflict.iter().flat_map(|conflict| &conflict.when);
    let edits = stage.env.values();
    let edits = edits.flat_map(|edit| {
        let parts = edit.change.parts().flat_map(|part| &part.when);
        edit.when.iter().chain(parts)
    });
    tree.chain(parts).chain(conflicts).chain(edits)
}

/// The conditions of what a step sees or a kit brings.
fn brings_conditions(brings: &Brings) -> impl Iterator<Item = &When> {
    let files = brings.files.iter().flat_map(|file| &file.when);
    let uses = brings.uses.iter().flat_map(|used| &used.when);
    let caches = brings.cache.iter().flat_map(|cache| &cache.when);
    let guarded = brings.secret.iter().chain(&brings.ssh);
    let guarded = guarded.flat_map(|mount| &mount.when);
    let memory = brings.tmpfs.iter().flat_map(|mount| &mount.when);
    let env = brings.env.values().flat_map(|entry| &entry.when);
    let pins = brings.pins_file.iter().flat_map(|file| &file.when);
    let mounts = caches.chain(guarded).chain(memory).chain(pins);
    files.chain(uses).chain(env).chain(mounts)
}

fn text(name: &Spanned<String>) -> Spanned<&str> {
    Spanned::new(name.value.as_str(), name.span.clone())
}

/// An unknown name, with the nearest known one.
fn unknown<'a>(
    kind: &str,
    name: &Spanned<String>,
    known: impl IntoIterator<Item = &'a String> + Clone,
) -> Diagnostic {
    let known: Vec<&str> = known.into_iter().map(String::as_str).collect();
    Diagnostic::new(
        rule::UNKNOWN_NAME,
        format!("there is no {kind} `{}`", name.value),
    )
    .at(&name.span, "named here")
    .help(crate::diag::suggest(&name.value, known.iter().copied()))
}
