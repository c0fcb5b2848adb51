//! What switches add to tags, so that no tag stands for two contents.

use std::collections::BTreeSet;

use super::{Graph, Setting, brings_conditions, check, stage_conditions};
use crate::file::{Brings, Stage, When};
use crate::text::{ArgEntry, ValueRef};

impl<'g> Setting<'g> {
    /// What the switches add to the tag of a stage's product.
    ///
    /// # Errors
    /// Switches that make the product another than it is by default, and have no part of a tag.
    pub fn tag_part(&self, stage: &'g str) -> Result<String, Vec<&'g str>> {
        let mut whole = String::new();
        let mut nameless = Vec::new();
        for (name, switch) in &self.graph.switches {
            let on = self.switches.get(name.as_str()).copied();
            let on = on.unwrap_or(switch.default);
            let part = match &switch.tag_part {
                Some(part) if on => part.on.as_str(),
                Some(part) => part.off.as_str(),
                None if on == switch.default => "",
                None if self.depends_on(stage, name) => {
                    nameless.push(name.as_str());
                    continue;
                }
                None => "",
            };
            if !part.is_empty() && self.depends_on(stage, name) {
                whole.push_str(part);
            }
        }
        if nameless.is_empty() {
            Ok(whole)
        } else {
            Err(nameless)
        }
    }

    /// Whether a stage's product would be another one with this switch turned.
    fn depends_on(&self, stage: &'g str, switch: &'g str) -> bool {
        let mut turned = self.clone();
        turned.switches.entry(switch).and_modify(|on| *on = !*on);
        let (here, there) = (self.behind([stage]), turned.behind([stage]));
        here != there
            || here
                .iter()
                .filter_map(|name| self.graph.stages.get(*name))
                .any(|stage| self.differs(&turned, stage, switch))
    }

    /// Whether a stage that both settings have is another one in the second.
    fn differs(&self, turned: &Self, stage: &'g Stage, switch: &str) -> bool {
        let differs = |when: &When| self.holds(Some(when)) != turned.holds(Some(when));
        let start = |setting: &Self| {
            let from = stage.from.as_ref()?;
            setting.start(from).map(|name| name.value.clone())
        };
        start(self) != start(turned)
            || stage_conditions(stage).any(differs)
            || names_switch(self.graph, stage, switch)
            || kits(self.graph, stage).any(|(when, brings)| {
                when.is_some_and(differs) || brings_conditions(brings).any(differs)
            })
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

/// Whether a text or an argument of a stage has the value of a switch.
fn names_switch(graph: &Graph, stage: &Stage, switch: &str) -> bool {
    let mut found = false;
    let mut look = |value: &ValueRef| {
        found |= matches!(value, ValueRef::Switch(name) if name == switch)
            || matches!(value, ValueRef::Named(name) if name == switch);
    };
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
