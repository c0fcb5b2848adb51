//! A request for a group of lanes, as one request for each lane.

use super::Request;
use crate::diag::{Diagnostic, Report, rule};
use crate::graph::Graph;

/// The requests that a request stands for: itself, or, when it names a group, one for each lane
/// of the group, or for each platform that the caller wants of it.
///
/// # Errors
/// A platform that no lane of the group has.
pub fn requests(graph: &Graph, request: &Request) -> Result<Vec<Request>, Report> {
    let named = request.target.as_ref().filter(|target| !target.is_empty());
    let default = graph.table.default.as_ref().map(|default| &default.value);
    let Some(name) = named.or(default) else {
        return Ok(vec![request.clone()]);
    };
    let Some(group) = graph.groups.get(name) else {
        return Ok(vec![request.clone()]);
    };
    let mut report = Report::default();
    let platform = |lane: &str| {
        graph
            .lanes
            .get(lane)
            .map(|lane| lane.platform.value.as_str())
    };
    let has: Vec<&str> = group
        .lanes
        .iter()
        .filter_map(|lane| platform(&lane.value))
        .collect();
    for wanted in &request.platforms {
        if !has.contains(&wanted.as_str()) {
            report.push(
                Diagnostic::new(
                    rule::REQUEST,
                    format!("group `{name}` has no lane of {wanted}"),
                )
                .at(&group.span, "this group")
                .help(format!("it has: {}", has.join(", "))),
            );
        }
    }
    let wanted = |lane: &str| {
        let all = request.platforms.is_empty();
        all || platform(lane).is_some_and(|has| request.platforms.iter().any(|p| p == has))
    };
    let lanes = group.lanes.iter().filter(|lane| wanted(&lane.value));
    let requests = lanes.filter_map(|lane| {
        let (output, _) = graph.output_of(group, &lane.value)?;
        Some(Request {
            target: Some(format!("{}/{output}", lane.value)),
            args: request.args.clone(),
            platforms: Vec::new(),
            group: Some(name.clone()),
        })
    });
    report.into_result(requests.collect())
}
