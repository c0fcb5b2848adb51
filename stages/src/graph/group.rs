//! A group of lanes makes one result, one platform from each lane.

use std::collections::BTreeMap;

use super::{Graph, unknown};
use crate::diag::{Diagnostic, Report, Spanned, rule};
use crate::file::{Group, Output};

pub(super) fn check(graph: &Graph, report: &mut Report) {
    for (name, group) in &graph.groups {
        if let Some(lane) = graph.lanes.get(name) {
            report.push(
                Diagnostic::new(rule::COLLISION, format!("`{name}` is a lane and a group"))
                    .at(&group.span, "a group here")
                    .related(&lane.span, "a lane here")
                    .help("--target names both: rename one of them"),
            );
        }
        if group.lanes.is_empty() {
            report.push(
                Diagnostic::new(rule::VALUE, format!("group `{name}` has no lane"))
                    .at(&group.span, "declared here"),
            );
        }
        lanes(graph, name, group, report);
    }
}

/// Every lane is there, has the output, and a platform of its own.
fn lanes(graph: &Graph, name: &str, group: &Group, report: &mut Report) {
    let mut seen: BTreeMap<&str, &Spanned<String>> = BTreeMap::new();
    for named in &group.lanes {
        let Some(lane) = graph.lanes.get(&named.value) else {
            report.push(unknown("lane", named, graph.lanes.keys()));
            continue;
        };
        if let Some(first) = seen.insert(&lane.platform.value, named) {
            let message = format!(
                "group `{name}` has two lanes of {}: `{}` and `{}`",
                lane.platform.value, first.value, named.value
            );
            report.push(
                Diagnostic::new(rule::VALUE, message)
                    .at(&named.span, "second")
                    .related(&first.span, "first")
                    .help("a result has one part for each platform, by what its steps run on"),
            );
        }
        if graph.output_of(group, &named.value).is_none() {
            let message = match &group.output {
                Some(output) => {
                    format!("lane `{}` has no output `{}`", named.value, output.value)
                }
                None => format!("which output of lane `{}`?", named.value),
            };
            report.push(
                Diagnostic::new(rule::UNKNOWN_NAME, message)
                    .at(&named.span, format!("group `{name}` takes it"))
                    .related(&lane.span, "the lane")
                    .help("output = \"NAME\" of the group names one that each lane has"),
            );
        }
    }
}

impl Graph {
    /// The output of a lane that a group takes, with its name.
    pub fn output_of<'g>(&'g self, group: &Group, lane: &str) -> Option<(&'g str, &'g Output)> {
        let lane = self.lanes.get(lane)?;
        match &group.output {
            None => self.default_output(lane),
            Some(output) => {
                let found = lane.outputs.get_key_value(&output.value)?;
                Some((found.0.as_str(), found.1))
            }
        }
    }
}
