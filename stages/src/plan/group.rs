//! A request for a group of lanes, as one request for each lane.

use super::{Request, select};
use crate::diag::{Diagnostic, Report, rule};
use crate::graph::Graph;

/// The requests that a request stands for: itself, or, when it names a group, one for each lane
/// of the group, or for each platform that the caller wants of it. Of `GROUP/gates` lanes without
/// gates are passed over, unless none has any.
///
/// # Errors
/// A platform that no lane of the group has.
pub fn requests(graph: &Graph, request: &Request) -> Result<Vec<Request>, Report> {
    let named = request.target.as_ref().filter(|target| !target.is_empty());
    let default = graph.table.default.as_ref().map(|default| &default.value);
    let Some(name) = named.or(default) else {
        return Ok(vec![request.clone()]);
    };
    let (name, reports) = match name.strip_suffix("/gates") {
        Some(group) => (group, true),
        None => (name.as_str(), false),
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
        let part = match reports {
            true => "gates",
            false => graph.output_of(group, &lane.value)?.0,
        };
        Some(Request {
            target: Some(format!("{}/{part}", lane.value)),
            args: request.args.clone(),
            platforms: Vec::new(),
            group: Some(name.to_owned()),
        })
    });
    let mut requests: Vec<Request> = requests.collect();
    if reports && requests.iter().any(|request| is_checked(graph, request)) {
        requests.retain(|request| is_checked(graph, request));
    }
    report.into_result(requests)
}

/// Whether a gate looks at anything of what is asked for.
fn is_checked(graph: &Graph, request: &Request) -> bool {
    // What is wrong with it is said when it is planned.
    let Ok(selection) = select(graph, request) else {
        return true;
    };
    let order = selection.order();
    graph.gates.values().any(|gate| {
        let holds = selection.setting.holds(gate.when.as_ref());
        holds && order.contains(&gate.subject().value.as_str())
    })
}
