//! What stands in a slot: the choice whose condition holds, else the lane's, else the only one
//! without a condition.

use std::collections::BTreeSet;

use super::{Graph, Setting};
use crate::diag::{Diagnostic, Report, rule};
use crate::file::{Attribute, Choice, Slot, When};

impl<'g> Setting<'g> {
    /// What stands in a slot in this lane, with the name of the choice; nothing when nothing
    /// decides, which is an error of the file.
    pub fn choice(&self, slot: &str) -> Option<(&'g str, &'g Choice)> {
        let declared = self.graph.slots.get(slot)?;
        if let Some(held) = self.held(declared).first() {
            return Some(*held);
        }
        let chosen = match self.lane.slots.get(slot) {
            Some(chosen) => declared.choices.get_key_value(&chosen.value),
            None => {
                let mut open = declared.choices.iter().filter(|(_, c)| c.when.is_none());
                open.next().filter(|_| open.next().is_none())
            }
        };
        chosen.map(|(name, choice)| (name.as_str(), choice))
    }

    /// The slot in which a stage stands for other lanes, where this lane takes another choice and
    /// needs the stage for nothing else.
    pub(crate) fn passes_by(&self, stage: &str) -> Option<&'g str> {
        let stands = |slot: &Slot| {
            let mut choices = slot.choices.values();
            choices.any(|choice| choice.stage.value == stage)
        };
        let mut slots = self.graph.slots.iter().filter(|(_, slot)| stands(slot));
        let (slot, _) = slots.next()?;
        let chosen = self.choice(slot);
        let taken = chosen.is_some_and(|(_, choice)| choice.stage.value == stage);
        (!taken && !self.reached().contains(stage)).then_some(slot)
    }

    /// The choices whose conditions hold.
    fn held(&self, slot: &'g Slot) -> Vec<(&'g str, &'g Choice)> {
        let choices = slot
            .choices
            .iter()
            .map(|(name, choice)| (name.as_str(), choice));
        choices
            .filter(|(_, choice)| {
                choice
                    .when
                    .as_ref()
                    .is_some_and(|when| self.holds(Some(when)))
            })
            .collect()
    }
}

/// The attributes that decide what stands in a slot, beside the lane's own choice.
pub(super) fn decided_by(graph: &Graph, slot: &str) -> BTreeSet<Attribute> {
    let choices = graph
        .slots
        .get(slot)
        .into_iter()
        .flat_map(|s| s.choices.values());
    let mut open: Vec<&When> = choices.filter_map(|choice| choice.when.as_ref()).collect();
    let mut found = BTreeSet::new();
    while let Some(when) = open.pop() {
        open.extend(when.not.as_deref().into_iter().chain(&when.any));
        found.extend(when.clauses.iter().map(|clause| clause.what.clone()));
    }
    found
}

/// Conditions of choices look at nothing that a condition decides: there is no order of slots.
pub(super) fn names(graph: &Graph, report: &mut Report) {
    let by_condition = |slot: &str| {
        let choices = graph
            .slots
            .get(slot)
            .into_iter()
            .flat_map(|s| s.choices.values());
        choices.into_iter().any(|choice| choice.when.is_some())
    };
    for slot in graph.slots.values() {
        for choice in slot.choices.values() {
            let mut open: Vec<&When> = choice.when.iter().collect();
            while let Some(when) = open.pop() {
                open.extend(when.not.as_deref().into_iter().chain(&when.any));
                for clause in &when.clauses {
                    if let Attribute::Slot(other) = &clause.what
                        && by_condition(other)
                    {
                        report.push(
                            Diagnostic::new(
                                rule::VALUE,
                                format!("slot `{other}` is filled by a condition itself"),
                            )
                            .at(&clause.span, "a condition of a choice cannot look at it")
                            .help("look at what its own conditions look at"),
                        );
                    }
                }
            }
        }
    }
}

/// In every lane that is not refused, each slot has one choice.
pub(super) fn check(graph: &Graph, report: &mut Report) {
    let mut said: BTreeSet<(&str, &str)> = BTreeSet::new();
    for setting in graph.settings() {
        for (name, slot) in &graph.slots {
            let held = setting.held(slot);
            if let [(_, first), (_, second), ..] = held[..] {
                if said.insert((name, setting.name)) {
                    report.push(
                        Diagnostic::new(
                            rule::COLLISION,
                            format!("two choices fill slot `{name}` in lane `{}`", setting.name),
                        )
                        .at(&second.span, "this condition holds")
                        .related(&first.span, "and so does this one"),
                    );
                }
            } else if setting.choice(name).is_none() && said.insert((name, setting.name)) {
                let options = slot
                    .choices
                    .iter()
                    .filter(|(_, choice)| choice.when.is_none());
                let options: Vec<&str> = options.map(|(name, _)| name.as_str()).collect();
                let help = if options.is_empty() {
                    "give it a choice without `when`, for when no condition holds".to_owned()
                } else {
                    format!(
                        "slot = {{ {name} = \"…\" }}, one of: {}",
                        options.join(", ")
                    )
                };
                report.push(
                    Diagnostic::new(
                        rule::MISSING_KEY,
                        format!("lane `{}` does not fill slot `{name}`", setting.name),
                    )
                    .at(&setting.lane.span, "this lane")
                    .help(help),
                );
            }
        }
    }
}
