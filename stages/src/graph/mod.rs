//! Documents and pins → one graph in which every name is known.
//!
//! All lanes are checked at once, whichever is built: an error in the lane that nobody built
//! today is found today.

mod check;
mod cycle;
mod gates;
mod unused;

use std::collections::BTreeMap;

use crate::arch::{ArchTable, Target};
use crate::diag::{Diagnostic, Report, Spanned, rule};
use crate::file::{
    Arg, Attribute, Document, From, Gate, GraphTable, Host, Lane, Output, Pins, Slot, Stage, When,
};
use crate::text::{LaneField, ValueRef};

/// Everything that a lane file declares, checked.
#[derive(Debug, Clone)]
pub struct Graph {
    /// `[graph]`
    pub table: GraphTable,
    /// Pins of our scope and of others' that a step names.
    pub pins: Pins,
    /// `[arg.NAME]`
    pub args: BTreeMap<String, Arg>,
    /// `[host.NAME]`
    pub hosts: BTreeMap<String, Host>,
    /// `[slot.NAME]`
    pub slots: BTreeMap<String, Slot>,
    /// `[lane.NAME]`
    pub lanes: BTreeMap<String, Lane>,
    /// `[stage.NAME]`
    pub stages: BTreeMap<String, Stage>,
    /// `[gate.NAME]`
    pub gates: BTreeMap<String, Gate>,
}

/// Makes the graph of a lane file and its pins.
///
/// # Errors
/// Every name that nothing declares, every name for two things, cycles, what nothing uses,
/// gates that could not decide.
pub fn resolve(document: Document, pins: Pins) -> Result<Graph, Report> {
    let graph = Graph {
        table: document.graph,
        pins,
        args: document.args,
        hosts: document.hosts,
        slots: document.slots,
        lanes: document.lanes,
        stages: document.stages,
        gates: document.gates,
    };
    let mut report = Report::default();
    check::names(&graph, &mut report);
    // What follows walks along names, so all of them must be known.
    if !report.is_empty() {
        return Err(report).or_else(|r| r.into_result(graph));
    }
    cycle::check(&graph, &mut report);
    if report.is_empty() {
        gates::check(&graph, &mut report);
    }
    unused::check(&graph, &mut report);
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
    /// The stages that `stage` names, with how it takes each; slots stand for all their choices.
    pub fn edges<'a>(&'a self, stage: &'a Stage) -> Vec<(&'a Spanned<String>, Edge)> {
        let mut edges = Vec::new();
        match &stage.from {
            Some(From::Stage(name)) => edges.push((name, Edge::Start)),
            Some(From::Slot(slot)) => {
                let choices = self
                    .slots
                    .get(&slot.value)
                    .into_iter()
                    .flat_map(|s| s.choices.values());
                edges.extend(choices.map(|choice| (&choice.stage, Edge::Start)));
            }
            Some(From::Image(_) | From::Scratch(_)) | None => {}
        }
        let trees = stage.merge.iter().chain(&stage.add);
        edges.extend(trees.map(|name| (name, Edge::Tree)));
        let uses = stage.steps.iter().flat_map(|step| &step.uses);
        edges.extend(uses.map(|used| (&used.stage, Edge::Tree)));
        edges
    }

    /// Whether a stage's product is a tree.
    pub fn is_tree(&self, stage: &Stage) -> bool {
        !stage.tree.is_empty() || !stage.merge.is_empty()
    }

    /// The stage that a lane starts from at `from`, or nothing for an image or scratch.
    pub fn start<'a>(&'a self, from: &'a From, lane: &'a Lane) -> Option<&'a str> {
        match from {
            From::Stage(name) => Some(&name.value),
            From::Slot(slot) => {
                let choice = lane.slots.get(&slot.value)?;
                let choices = &self.slots.get(&slot.value)?.choices;
                Some(&choices.get(&choice.value)?.stage.value)
            }
            From::Image(_) | From::Scratch(_) => None,
        }
    }

    /// What a lane builds for; its own platform when it says nothing.
    pub fn target(&self, lane: &Lane) -> Option<Target> {
        let os = lane.platform.value.split('/').next().unwrap_or_default();
        let name = lane.target.as_ref().unwrap_or(&lane.platform);
        ArchTable::builtin().find(&name.value, os)
    }

    /// The value of an attribute of a lane.
    pub fn attribute(&self, name: &str, lane: &Lane, field: LaneField) -> Option<String> {
        Some(match field {
            LaneField::Name => name.to_owned(),
            LaneField::Platform => lane.platform.value.clone(),
            LaneField::Target => self.target(lane)?.arch,
            LaneField::TargetOs => self.target(lane)?.os,
        })
    }

    /// Whether a condition holds in a lane. No condition always holds.
    pub fn holds(&self, when: Option<&When>, name: &str, lane: &Lane) -> bool {
        when.is_none_or(|when| {
            when.clauses.iter().all(|clause| {
                let value = match &clause.what {
                    Attribute::Lane(field) => self.attribute(name, lane, *field),
                    Attribute::Slot(slot) => lane.slots.get(&slot.value).map(|c| c.value.clone()),
                };
                value.is_some_and(|value| clause.any_of.iter().any(|any| any.value == value))
            })
        })
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

    /// Every value that the graph names anywhere, for the checks of what is used.
    fn values(&self) -> Vec<&ValueRef> {
        let mut values = Vec::new();
        for lane in self.lanes.values() {
            for output in lane.outputs.values() {
                values.extend(
                    output
                        .root
                        .iter()
                        .chain(&output.tag)
                        .flat_map(|t| t.values()),
                );
            }
        }
        for stage in self.stages.values() {
            check::templates_of(stage, |template| values.extend(template.values()));
            let args = stage.steps.iter().flat_map(|step| &step.args);
            values.extend(args.map(|entry| &entry.value));
        }
        let roots = self.gates.values().flat_map(|gate| &gate.roots);
        values.extend(roots.flat_map(|t| t.values()));
        values
    }

    /// Whether a pin is in our scope: the last pattern that matches decides.
    fn in_scope(&self, pin: &str) -> bool {
        if self.table.pins.is_empty() {
            return true;
        }
        let mut inside = false;
        for pattern in &self.table.pins {
            let (glob, keep) = match pattern.value.strip_prefix('!') {
                Some(rest) => (rest, false),
                None => (pattern.value.as_str(), true),
            };
            if globset::Glob::new(glob).is_ok_and(|g| g.compile_matcher().is_match(pin)) {
                inside = keep;
            }
        }
        inside
    }
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
