//! The table of tags: which output has which tag, over lanes and switches.

use std::collections::{BTreeMap, BTreeSet};

use crate::diag::{Diagnostic, Report, Span, rule};
use crate::graph::{Graph, Turn};
use crate::plan::{Facts, PlannedOutput, Request, Selection, assume_with, select, supposed};

/// One output in one state of the switches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagRow {
    /// The lane.
    pub lane: String,
    /// Its choice for each slot.
    pub slots: BTreeMap<String, String>,
    /// Its output.
    pub output: String,
    /// The switches that are not at their default; at most one.
    pub switches: BTreeMap<String, bool>,
    /// The payloads that are there; at most one, and none beside a switch.
    pub payloads: BTreeSet<String>,
    /// The tag; none where the output has no template, or may have no tag.
    pub tag: Option<String>,
    /// Why it may have no tag, each a sentence.
    pub unpublishable: Vec<String>,
}

/// The tags of every lane and output, with every switch at its default and without payloads, and
/// with each one turned for itself, where that changes the tag. What the file refuses is left out, and so is a tag
/// that needs an argument which has no default. In the order of names.
pub fn tags(graph: &Graph) -> Vec<TagRow> {
    let mut rows = Vec::new();
    for place in places(graph, true) {
        let Some(selection) = place.selected() else {
            continue;
        };
        let Place { lane, output, .. } = place;
        let declared = &graph.lanes[lane].outputs[output];
        let mut report = Report::default();
        let (tag, unpublishable) = match selection.tag(declared, &mut report) {
            Ok(tag) => (tag, Vec::new()),
            Err(why) => (None, why),
        };
        let row = TagRow {
            lane: lane.to_owned(),
            slots: graph
                .slots
                .keys()
                .filter_map(|slot| {
                    let (choice, _) = selection.setting.choice(slot)?;
                    Some((slot.clone(), choice.to_owned()))
                })
                .collect(),
            output: output.to_owned(),
            switches: place.switch().into_iter().collect(),
            payloads: place.payload().into_iter().collect(),
            tag,
            unpublishable,
        };
        // What changes nothing of this output says the same again.
        let plain = rows.iter().rev().find(|other: &&TagRow| {
            other.lane == row.lane && other.output == row.output && other.is_plain()
        });
        let same = plain
            .is_some_and(|plain| plain.tag == row.tag && plain.unpublishable == row.unpublishable);
        if row.is_plain() || !same {
            rows.push(row);
        }
    }
    rows
}

impl TagRow {
    /// Whether everything is as it is by default.
    fn is_plain(&self) -> bool {
        self.switches.is_empty() && self.payloads.is_empty()
    }
}

/// One tag never stands for two contents.
///
/// # Errors
/// Every tag that does, with both places.
pub fn check_tags(graph: &Graph) -> Result<(), Report> {
    let mut by_tag: BTreeMap<String, Vec<Place<'_>>> = BTreeMap::new();
    for place in places(graph, false) {
        let Some(selection) = place.selected() else {
            continue;
        };
        let declared = &graph.lanes[place.lane].outputs[place.output];
        if let Ok(Some(tag)) = selection.tag(declared, &mut Report::default()) {
            by_tag.entry(tag).or_default().push(place);
        }
    }
    let mut report = Report::default();
    for (tag, places) in by_tag {
        let Some((first, others)) = places.split_first() else {
            continue;
        };
        if others.is_empty() {
            continue;
        }
        // What cannot be planned without an engine is said where it is built.
        let Some(content) = first.content() else {
            continue;
        };
        let other = others.iter().find(|place| {
            // What gives the tag that an output has by default changes nothing of it.
            let of_first = (place.lane, place.output) == (first.lane, first.output);
            let changes = !of_first || first.turned.is_some();
            changes && place.content().is_some_and(|other| other != content)
        });
        if let Some(other) = other {
            report.push(two_contents(graph, &tag, first, other));
        }
    }
    report.into_result(())
}

fn two_contents(graph: &Graph, tag: &str, first: &Place<'_>, second: &Place<'_>) -> Diagnostic {
    let message = format!("the tag `{tag}` stands for two contents");
    let name = |place: &Place<'_>| {
        let turned = place.turned.map(|turn| match turn {
            Turn::Switch(name) => format!(" with switch `{name}` turned"),
            Turn::Payload(name) => format!(" with payload `{name}`"),
        });
        let turned = turned.unwrap_or_default();
        format!("{}/{}{turned}", place.lane, place.output)
    };
    Diagnostic::new(rule::TAG, message)
        .at(second.span(graph), format!("that of {}", name(second)))
        .related(first.span(graph), format!("and that of {}", name(first)))
        .help("let the tags differ by what makes the contents differ: ${lane.name}, ${slot.x}, ${lane.target}, or another `tag-part`")
}

/// An output of a lane as it is by default, or with one thing turned.
#[derive(Clone, Copy)]
struct Place<'g> {
    graph: &'g Graph,
    lane: &'g str,
    output: &'g str,
    turned: Option<Turn<'g>>,
}

/// Every lane and output, as it is by default, and with each switch and payload turned: each of
/// all, or only of those that can be in a tag.
fn places(graph: &Graph, all: bool) -> Vec<Place<'_>> {
    let switches = graph.switches.iter();
    let switches = switches
        .filter(|(_, switch)| all || switch.tag_part.is_some())
        .map(|(name, _)| Some(Turn::Switch(name)));
    let payloads = graph.payloads.iter();
    let payloads = payloads
        .filter(|(_, payload)| all || payload.tag_part.is_some())
        .map(|(name, _)| Some(Turn::Payload(name)));
    let states: Vec<Option<Turn<'_>>> = std::iter::once(None)
        .chain(switches)
        .chain(payloads)
        .collect();
    let mut places = Vec::new();
    for (lane, declared) in &graph.lanes {
        for (output, declared) in &declared.outputs {
            if !all && declared.tag.is_none() {
                continue;
            }
            places.extend(states.iter().map(|turned| Place {
                graph,
                lane,
                output,
                turned: *turned,
            }));
        }
    }
    places
}

impl<'g> Place<'g> {
    fn span(&self, graph: &'g Graph) -> &'g Span {
        let declared = &graph.lanes[self.lane].outputs[self.output];
        declared
            .tag
            .as_ref()
            .map_or(&declared.span, |tag| &tag.span)
    }

    /// The switch that is turned, and what it is then.
    fn switch(&self) -> Option<(String, bool)> {
        match self.turned? {
            Turn::Switch(name) => Some((name.to_owned(), !self.graph.switches[name].default)),
            Turn::Payload(_) => None,
        }
    }

    /// The payload that is there.
    fn payload(&self) -> Option<String> {
        match self.turned? {
            Turn::Payload(name) => Some(name.to_owned()),
            Turn::Switch(_) => None,
        }
    }

    /// Which payloads are there.
    fn facts(&self) -> Facts {
        let there = self.payload();
        let names = self.graph.payloads.keys();
        let payloads = names.map(|name| (name.as_str(), there.as_ref() == Some(name)));
        supposed(self.graph, &payloads.collect())
    }

    /// What a caller would get, when it can be built.
    fn selected(&self) -> Option<Selection<'g>> {
        let graph = self.graph;
        let args = self.switch().map(|(name, on)| (name, on.to_string()));
        let request = Request {
            target: Some(format!("{}/{}", self.lane, self.output)),
            args: args.into_iter().collect(),
            ..Request::default()
        };
        let selection = select(graph, &request).ok()?.knowing(&self.facts());
        selection.judge().is_empty().then_some(selection)
    }

    /// What is in it: the whole plan, as if every image were empty.
    fn content(&self) -> Option<String> {
        let plan = assume_with(&self.selected()?, &self.facts()).ok()?;
        match &plan.output {
            PlannedOutput::Product { root, config, .. } => Some(format!(
                "{} {root:?} {config:?} {:?}",
                plan.platform, plan.stages
            )),
            PlannedOutput::Gates => None,
        }
    }
}
