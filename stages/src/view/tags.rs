//! The table of tags: which output has which tag, over lanes and switches.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Report, Span, rule};
use crate::graph::Graph;
use crate::plan::{PlannedOutput, Request, Selection, assume, select};

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
    /// The tag; none where the output has no template, or may have no tag.
    pub tag: Option<String>,
    /// Why it may have no tag, each a sentence.
    pub unpublishable: Vec<String>,
}

/// The tags of every lane and output, with every switch at its default and with each one turned
/// for itself, where that changes the tag. What the file refuses is left out, and so is a tag
/// that needs an argument which has no default. In the order of names.
pub fn tags(graph: &Graph) -> Vec<TagRow> {
    let mut rows = Vec::new();
    for place in places(graph, true) {
        let Some(selection) = place.selected(graph) else {
            continue;
        };
        let Place {
            lane,
            output,
            turned,
        } = place;
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
            switches: turned
                .into_iter()
                .map(|(name, on)| (name.to_owned(), on))
                .collect(),
            tag,
            unpublishable,
        };
        // A switch that changes nothing of this output says the same again.
        let plain = rows.iter().rev().find(|other: &&TagRow| {
            other.lane == row.lane && other.output == row.output && other.switches.is_empty()
        });
        let same = plain
            .is_some_and(|plain| plain.tag == row.tag && plain.unpublishable == row.unpublishable);
        if row.switches.is_empty() || !same {
            rows.push(row);
        }
    }
    rows
}

/// One tag never stands for two contents.
///
/// # Errors
/// Every tag that does, with both places.
pub fn check_tags(graph: &Graph) -> Result<(), Report> {
    let mut by_tag: BTreeMap<String, Vec<Place<'_>>> = BTreeMap::new();
    for place in places(graph, false) {
        let Some(selection) = place.selected(graph) else {
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
        let Some(content) = first.content(graph) else {
            continue;
        };
        let other = others.iter().find(|place| {
            (place.lane, place.output) != (first.lane, first.output)
                && place.content(graph).is_some_and(|other| other != content)
        });
        if let Some(other) = other {
            report.push(two_contents(graph, &tag, first, other));
        }
    }
    report.into_result(())
}

fn two_contents(graph: &Graph, tag: &str, first: &Place<'_>, second: &Place<'_>) -> Diagnostic {
    let message = format!("the tag `{tag}` stands for two contents");
    let name = |place: &Place<'_>| format!("{}/{}", place.lane, place.output);
    Diagnostic::new(rule::TAG, message)
        .at(second.span(graph), format!("that of {}", name(second)))
        .related(first.span(graph), format!("and that of {}", name(first)))
        .help("let the tags differ by what makes the contents differ: ${lane.name}, ${slot.x}, ${lane.target}")
}

/// An output of a lane, with one switch turned or none.
#[derive(Clone, Copy)]
struct Place<'g> {
    lane: &'g str,
    output: &'g str,
    turned: Option<(&'g str, bool)>,
}

/// Every lane and output, with the switches at their default, and with each one turned: each of
/// all, or only of those that can be in a tag.
fn places(graph: &Graph, all: bool) -> Vec<Place<'_>> {
    let turned = graph
        .switches
        .iter()
        .filter(|(_, switch)| all || switch.tag_part.is_some())
        .map(|(name, switch)| Some((name.as_str(), !switch.default)));
    let states: Vec<Option<(&str, bool)>> = std::iter::once(None).chain(turned).collect();
    let mut places = Vec::new();
    for (lane, declared) in &graph.lanes {
        for (output, declared) in &declared.outputs {
            if !all && declared.tag.is_none() {
                continue;
            }
            places.extend(states.iter().map(|turned| Place {
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

    /// What a caller would get, when it can be built.
    fn selected(&self, graph: &'g Graph) -> Option<Selection<'g>> {
        let args = self
            .turned
            .map(|(name, on)| (name.to_owned(), on.to_string()));
        let request = Request {
            target: Some(format!("{}/{}", self.lane, self.output)),
            args: args.into_iter().collect(),
            ..Request::default()
        };
        select(graph, &request).ok()
    }

    /// What is in it: the whole plan, as if every image were empty.
    fn content(&self, graph: &'g Graph) -> Option<String> {
        let selection = self.selected(graph)?;
        let plan = assume(&selection).ok()?;
        match &plan.output {
            PlannedOutput::Product { root, config, .. } => Some(format!(
                "{} {root:?} {config:?} {:?}",
                plan.platform, plan.stages
            )),
            PlannedOutput::Gates => None,
        }
    }
}
