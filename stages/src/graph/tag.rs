//! What switches and payloads add to tags, so that no tag stands for two contents.

use std::collections::BTreeSet;

use super::{Graph, Setting, brings_conditions, check, stage_conditions};
use crate::file::{Brings, FileStep, Output, Stage, When};
use crate::text::{ArgEntry, Template, ValueRef};

/// What may be one way or the other in a lane, so that its product may be two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn<'g> {
    /// A switch.
    Switch(&'g str),
    /// A payload: there, or not.
    Payload(&'g str),
}

impl<'g> Setting<'g> {
    /// What the switches and then the payloads add to the tag of an output, whose text is `text`.
    ///
    /// # Errors
    /// What makes the product another than it is by default, and is in no part of the tag. Nobody
    /// has a payload by default.
    pub fn tag_part(
        &self,
        output: &'g Output,
        text: Option<&Template>,
    ) -> Result<String, Vec<Turn<'g>>> {
        let switches = self.graph.switches.iter().map(|(name, switch)| {
            let on = self.switches.get(name.as_str()).copied();
            let on = on.unwrap_or(switch.default);
            let plain = on == switch.default;
            (Turn::Switch(name), &switch.tag_part, on, plain)
        });
        let payloads = self.graph.payloads.iter().map(|(name, payload)| {
            let there = self.has_payload(name);
            (Turn::Payload(name), &payload.tag_part, there, !there)
        });
        let mut whole = String::new();
        let mut nameless = Vec::new();
        for (turn, part, on, plain) in switches.chain(payloads) {
            let says = match part {
                Some(part) if on => part.on.as_str(),
                Some(part) => part.off.as_str(),
                None if plain || turn.is_named_by(text) => "",
                None if self.depends_on(output, turn) => {
                    nameless.push(turn);
                    continue;
                }
                None => "",
            };
            if !says.is_empty() && self.depends_on(output, turn) {
                whole.push_str(says);
            }
        }
        if nameless.is_empty() {
            Ok(whole)
        } else {
            Err(nameless)
        }
    }

    /// Whether what comes out would be something else with this turned.
    pub(crate) fn depends_on(&self, output: &'g Output, turn: Turn<'g>) -> bool {
        let mut turned = self.clone();
        match turn {
            Turn::Switch(name) => {
                turned.switches.entry(name).and_modify(|on| *on = !*on);
            }
            Turn::Payload(name) => {
                turned.payloads.insert(name, !self.has_payload(name));
            }
        }
        if !turned.holds(output.when.as_ref()) {
            // Then nothing comes out that could be something else.
            return false;
        }
        let stage = output.stage.value.as_str();
        let (here, there) = (self.behind([stage]), turned.behind([stage]));
        let differs = |when: &When| self.holds(Some(when)) != turned.holds(Some(when));
        here != there
            || output.add.iter().flat_map(|file| &file.when).any(differs)
            || turn.is_named_by(output.root.as_ref())
            || here
                .iter()
                .filter_map(|name| self.graph.stages.get(*name))
                .any(|stage| self.differs(&turned, stage, turn))
    }

    /// Whether a stage that both settings have is another one in the second.
    fn differs(&self, turned: &Self, stage: &'g Stage, turn: Turn<'_>) -> bool {
        let differs = |when: &When| self.holds(Some(when)) != turned.holds(Some(when));
        let start = |setting: &Self| {
            let from = stage.from.as_ref()?;
            setting.start(from).map(|name| name.value.clone())
        };
        start(self) != start(turned)
            || stage_conditions(stage).any(differs)
            || names(self.graph, stage, turn)
            || self.takes(stage, turn)
            || turned.takes(stage, turn)
            || kits(self.graph, stage).any(|(when, brings)| {
                when.is_some_and(differs) || brings_conditions(brings).any(differs)
            })
    }

    /// Whether a step that the lane has takes this payload.
    fn takes(&self, stage: &'g Stage, turn: Turn<'_>) -> bool {
        let Turn::Payload(wanted) = turn else {
            return false;
        };
        self.steps(stage).any(|step| {
            let brings = self.brings(step).into_iter();
            let mut files = brings
                .flat_map(|brings| &brings.files)
                .filter(|file| self.holds(file.when.as_ref()))
                .filter_map(|file| file.payload())
                .chain(step.file().and_then(FileStep::payload));
            files.any(|name| name.value == wanted)
        })
    }
}

impl Turn<'_> {
    fn is(self, value: &ValueRef) -> bool {
        match (self, value) {
            (Self::Switch(wanted), ValueRef::Switch(name) | ValueRef::Named(name))
            | (Self::Payload(wanted), ValueRef::Payload(name)) => name == wanted,
            _ => false,
        }
    }

    /// Whether a text has its value, and so is another one with it turned.
    fn is_named_by(self, text: Option<&Template>) -> bool {
        text.is_some_and(|text| text.values().any(|value| self.is(value)))
    }
}

/// The kits that steps of a stage name.
fn kits<'g>(
    graph: &'g Graph,
    stage: &'g Stage,
) -> impl Iterator<Item = (Option<&'g When>, &'g Brings)> {
    let names: BTreeSet<&str> = stage
        .steps
        .iter()
        .flat_map(|step| &step.kits)
        .map(|kit| kit.value.as_str())
        .collect();
    names
        .into_iter()
        .filter_map(|name| graph.kits.get(name))
        .map(|kit| (kit.when.as_ref(), &kit.brings))
}

/// Whether a text or an argument of a stage has the value of what is turned.
fn names(graph: &Graph, stage: &Stage, turn: Turn<'_>) -> bool {
    let mut found = false;
    let mut look = |value: &ValueRef| found |= turn.is(value);
    check::templates_of(stage, |template| template.values().for_each(&mut look));
    let brings = stage.steps.iter().flat_map(|step| graph.all_brings(step));
    for brings in brings {
        check::templates_of_brings(brings, &mut |template| {
            template.values().for_each(&mut look);
        });
        for entry in &brings.args {
            if let ArgEntry::One { value, .. } = entry {
                look(value);
            }
        }
    }
    found
}
