//! What switches and payloads add to tags, so that no tag stands for two contents.

use std::collections::BTreeSet;

use super::{Graph, Setting, brings_conditions, stage_conditions, templates};
use crate::file::{Brings, FileStep, Output, Stage, Step, When};
use crate::text::{ArgEntry, Template, ValueRef};

/// What may be one way or the other in a lane, so that its product may be two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn<'g> {
    /// A switch.
    Switch(&'g str),
    /// A payload: there, or not.
    Payload(&'g str),
}

/// What a text may have the value of.
#[derive(Debug, Clone, Copy)]
enum Valued<'a> {
    Turn(Turn<'a>),
    Arg(&'a str),
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
            || self.names_itself(output, Valued::Turn(turn))
            || here
                .iter()
                .filter_map(|name| self.graph.stages.get(*name))
                .any(|stage| self.differs(&turned, stage, turn))
    }

    /// Whether what comes out has the value of an argument somewhere: no condition looks at one, so its texts are all
    /// that it moves.
    pub(crate) fn has_argument(&self, output: &'g Output, name: &str) -> bool {
        let arg = Valued::Arg(name);
        let behind = self.behind([output.stage.value.as_str()]).into_iter();
        let mut stages = behind.filter_map(|name| self.graph.stages.get(name));
        self.names_itself(output, arg) || stages.any(|stage| self.names(stage, arg))
    }

    /// Whether an output's own texts have the value.
    fn names_itself(&self, output: &Output, value: Valued<'_>) -> bool {
        let beside = output
            .add
            .iter()
            .filter(|file| self.holds(file.when.as_ref()));
        let texts = beside.filter_map(|file| file.at.as_ref());
        let mut texts = texts.chain(&output.root);
        texts.any(|text| value.is_in(text))
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
            || self.names(stage, Valued::Turn(turn))
            || turned.names(stage, Valued::Turn(turn))
            || self.takes(stage, turn)
            || turned.takes(stage, turn)
            || kits(self.graph, stage).any(|(when, brings)| {
                when.is_some_and(differs) || brings_conditions(brings).any(differs)
            })
    }

    /// Whether a text or an argument of a stage in this lane, or of a source that it takes, has the value.
    fn names(&self, stage: &'g Stage, value: Valued<'_>) -> bool {
        let mut found = false;
        let mut look = |text: &Template| {
            found |= text.values().any(|one| self.is_made_of(one, value));
        };
        templates::templates_of_work(stage, &mut look);
        templates::templates_of_image(stage, &mut look);
        for step in self.steps(stage) {
            templates::templates_of_step(step, &mut look);
            for brings in self.brings(step) {
                templates::templates_of_brings(brings, &mut look);
            }
        }
        found
            || self
                .steps(stage)
                .any(|step| self.takes_by_name(step, value))
    }

    /// Whether an entry of a step's `args` has the value, or a source of its files is found by it.
    fn takes_by_name(&self, step: &'g Step, value: Valued<'_>) -> bool {
        let brings = self.brings(step);
        let mut args = brings.iter().flat_map(|brings| &brings.args);
        let files = brings.iter().flat_map(|brings| &brings.files);
        let files = files.filter(|file| self.holds(file.when.as_ref()));
        let sources = files.map(|file| (file.git(), file.fetch()));
        let file = step.file().map(|file| (file.git(), file.fetch()));
        let mut sources = sources.chain(file);
        args.any(|entry| match (entry, value) {
            (ArgEntry::One { value: one, .. }, _) => self.is_made_of(one, value),
            (ArgEntry::Matching { pattern, .. }, Valued::Arg(name)) => {
                self.graph.matching(pattern).contains(&name)
            }
            (ArgEntry::Matching { .. }, Valued::Turn(_)) => false,
        }) || sources.any(|(git, fetch)| {
            let fetch = fetch.and_then(|name| self.graph.fetches.get(&name.value));
            git.is_some_and(|git| self.finds(&git.value, value))
                || fetch.is_some_and(|fetch| value.is_in(&fetch.url))
        })
    }

    /// Whether something has this value, or is the commit of a git source that is found by it.
    fn is_made_of(&self, one: &ValueRef, value: Valued<'_>) -> bool {
        value.is(one) || matches!(one, ValueRef::Commit(git) if self.finds(git, value))
    }

    fn finds(&self, git: &str, value: Valued<'_>) -> bool {
        let git = self.graph.gits.get(git);
        git.is_some_and(|git| git.templates().any(|text| value.is_in(text)))
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
    /// Whether a text has its value, and so is another one with it turned.
    fn is_named_by(self, text: Option<&Template>) -> bool {
        text.is_some_and(|text| Valued::Turn(self).is_in(text))
    }
}

impl Valued<'_> {
    fn is(self, value: &ValueRef) -> bool {
        match (self, value) {
            (Self::Turn(Turn::Switch(wanted)), ValueRef::Switch(name) | ValueRef::Named(name))
            | (Self::Turn(Turn::Payload(wanted)), ValueRef::Payload(name))
            | (Self::Arg(wanted), ValueRef::Arg(name) | ValueRef::Named(name)) => name == wanted,
            _ => false,
        }
    }

    fn is_in(self, text: &Template) -> bool {
        text.values().any(|value| self.is(value))
    }
}

/// Whether a text has the value of an argument.
pub(crate) fn names_argument(text: &Template, name: &str) -> bool {
    Valued::Arg(name).is_in(text)
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
