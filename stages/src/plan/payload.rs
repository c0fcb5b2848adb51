//! Payloads: which of them a selection hangs on, and what was found of them.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use fast_glob::glob_match;

use super::build::Planner;
use super::{Facts, Selection, What};
use crate::diag::{Diagnostic, Report, rule};
use crate::file::{Payload, Sum};
use crate::graph::Graph;
use crate::text::ValueRef;

/// What was found where a payload should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PayloadFact {
    /// Nothing.
    Absent,
    /// A file.
    Present {
        /// Its path in the context.
        path: String,
        /// Of its bytes: 64 hexadecimal digits in small letters.
        sha256: String,
    },
}

impl<'g> Selection<'g> {
    /// The payloads that this selection hangs on, as far as it is known which are there. What
    /// else it hangs on may come out once those are known.
    pub fn payloads(&self) -> BTreeSet<&'g str> {
        let graph = self.graph;
        let setting = &self.setting;
        if graph.payloads.is_empty() {
            return BTreeSet::new();
        }
        let order = self.order();
        let mut found: BTreeSet<&str> = BTreeSet::new();
        for stage in order.iter().filter_map(|name| graph.stages.get(*name)) {
            found.extend(setting.payloads_of(stage));
        }
        let gates = graph.gates.values();
        let gates = gates.filter(|gate| order.contains(&gate.subject().value.as_str()));
        found.extend(setting.payloads_in(gates.flat_map(|gate| gate.conditions())));
        let choices = graph.slots.values().flat_map(|slot| slot.choices.values());
        found.extend(setting.payloads_in(choices.flat_map(|choice| &choice.when)));
        found.extend(setting.payloads_in(graph.refuse.iter().map(|refuse| &refuse.when)));
        if let What::Gates = self.what {
            let outputs = setting.lane.outputs.values();
            found.extend(setting.payloads_in(outputs.flat_map(|output| &output.when)));
        }
        if let What::Output(output) = self.what {
            found.extend(setting.payloads_in(output.conditions()));
            let at = output.add.iter().flat_map(|file| &file.at);
            let texts = output.root.iter().chain(self.tag_text(output)).chain(at);
            found.extend(
                texts
                    .flat_map(|text| text.values())
                    .filter_map(|value| match value {
                        ValueRef::Payload(name) => Some(name.as_str()),
                        _ => None,
                    }),
            );
        }
        found
    }

    /// The same, with what was found.
    #[must_use]
    pub fn knowing(&self, facts: &Facts) -> Self {
        let commits = facts.gits.iter();
        let mut selection = Self {
            commits: commits
                .map(|(name, found)| (name.clone(), found.commit.clone()))
                .collect(),
            ..self.clone()
        };
        for (name, fact) in &facts.payloads {
            if let Some((name, _)) = self.graph.payloads.get_key_value(name) {
                let there = *fact != PayloadFact::Absent;
                selection.setting.payloads.insert(name, there);
            }
        }
        selection
    }

    /// What is to be told of the payloads that this hangs on. One that is not what its hash says
    /// is an error, and never taken for absent.
    pub(super) fn judge_payloads(&self, facts: &Facts) -> Report {
        let mut report = Report::default();
        for name in self.payloads() {
            let (Some(payload), Some(fact)) =
                (self.graph.payloads.get(name), facts.payloads.get(name))
            else {
                continue;
            };
            let pins = &self.unverified.pins;
            if let Some(told) = judge(self.graph, name, payload, pins, fact) {
                report.push(told);
            }
        }
        report
    }
}

impl Planner<'_, '_> {
    /// The path of a payload, if it is there.
    pub(super) fn payload(&self, name: &str) -> Option<String> {
        match self.facts.payloads.get(name)? {
            PayloadFact::Absent => None,
            PayloadFact::Present { path, .. } => Some(path.clone()),
        }
    }
}

/// What is to be told of a payload: that it is absent (LK022), not what its hash says (LK021), or
/// held against nothing (LK023). `pins` are those that have another value in this run.
pub(crate) fn judge(
    graph: &Graph,
    name: &str,
    payload: &Payload,
    pins: &BTreeMap<&str, String>,
    fact: &PayloadFact,
) -> Option<Diagnostic> {
    let of = match &payload.context {
        Some(context) => format!("the context `{}`", context.value),
        None => "the context".to_owned(),
    };
    let PayloadFact::Present { path, sha256 } = fact else {
        let message = format!("payload `{name}` is absent: what takes it is off");
        return Some(
            Diagnostic::new(rule::NO_PAYLOAD, message)
                .at(&payload.path.span, format!("{of} has no such file"))
                .help(format!(
                    "who has it puts it at {} of {of}",
                    payload.path.value
                )),
        );
    };
    let at = payload.sha256.as_ref().map_or(&payload.span, Sum::span);
    match graph.hash_of(payload.sha256.as_ref(), pins) {
        Some(expected) if expected == *sha256 => None,
        Some(expected) => Some(
            Diagnostic::new(
                rule::PAYLOAD,
                format!("payload `{name}`: {path} is not what its hash says"),
            )
            .at(at, format!("expected {expected}"))
            .help(format!(
                "found {sha256}: put the right file there, or write this hash down"
            )),
        ),
        None => Some(
            Diagnostic::new(
                rule::UNPINNED,
                format!("payload `{name}` is held against no hash: {path} has {sha256}"),
            )
            .at(
                at,
                payload
                    .empty_ok
                    .as_ref()
                    .map_or("no hash", |why| why.value.as_str()),
            )
            .help("what is built holds whatever this file is"),
        ),
    }
}

/// Holds the payloads of a graph that are there against their hashes. `look` finds one: nothing
/// where it cannot know, and why not where something that is there cannot be read.
pub fn check_payloads(
    graph: &Graph,
    look: impl Fn(&str, &Payload) -> Result<Option<PayloadFact>, String>,
) -> Report {
    let mut report = Report::default();
    for (name, payload) in &graph.payloads {
        match look(name, payload) {
            // A checkout without it is in order.
            Ok(None | Some(PayloadFact::Absent)) => {}
            Ok(Some(fact)) => {
                let told = judge(graph, name, payload, &BTreeMap::new(), &fact);
                told.into_iter().for_each(|told| report.push(told));
            }
            Err(why) => report.push(
                Diagnostic::new(
                    rule::PATH,
                    format!("payload `{name}` is there and cannot be read"),
                )
                .at(&payload.path.span, why),
            ),
        }
    }
    crate::graph::lint::keep(graph, report)
}

/// The file that a payload is, among the names in its directory: of those that a pattern matches
/// the last one, with numbers in the names compared as numbers.
pub fn pick<'n>(payload: &Payload, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let (_, wanted) = payload.place();
    let names = names.into_iter().filter(|name| match payload.is_pattern() {
        true => glob_match(wanted, name),
        false => *name == wanted,
    });
    names.max_by(|a, b| by_version(a, b))
}

/// Compares texts with the numbers in them taken as numbers; a number stands behind any other
/// character: `sdk-10.1.zip` is behind `sdk-10.zip`.
fn by_version(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (one, two) = (left.chars().next(), right.chars().next());
        let (Some(one), Some(two)) = (one, two) else {
            // Equal up to here: one is longer, or leading zeros alone differ.
            return left.len().cmp(&right.len()).then_with(|| a.cmp(b));
        };
        let order = match (one.is_ascii_digit(), two.is_ascii_digit()) {
            (true, true) => {
                let (one, two) = (digits(&mut left), digits(&mut right));
                one.len().cmp(&two.len()).then_with(|| one.cmp(two))
            }
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                left = &left[one.len_utf8()..];
                right = &right[two.len_utf8()..];
                one.cmp(&two)
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// Takes the digits that a text begins with, and gives them without leading zeros.
fn digits<'t>(text: &mut &'t str) -> &'t str {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (digits, rest) = text.split_at(end.unwrap_or(text.len()));
    *text = rest;
    digits.trim_start_matches('0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_version_counts() {
        let mut names = ["x-9.zip", "x-10.1.zip", "x-10.zip", "x-010.zip", "a"];
        names.sort_by(|a, b| by_version(a, b));
        assert_eq!(
            names,
            ["a", "x-9.zip", "x-010.zip", "x-10.zip", "x-10.1.zip"]
        );
        assert_eq!(by_version("a1", "a1"), Ordering::Equal);
        assert_eq!(by_version("a", "a1"), Ordering::Less);
    }
}
