//! No stage consumes itself, over however many others.

use super::Graph;
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::lookup::Lookup;

/// Where the walk is with a stage.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Open,
    Done,
}

/// Reports each cycle once. The walk keeps its own stack: a graph may be deep.
pub(super) fn check(graph: &Graph, report: &mut Report) {
    let mut marks: Lookup<&str, Mark> = Lookup::default();
    for root in graph.stages.keys() {
        if marks.contains(root) {
            continue;
        }
        // A stage with the edges that are still to be walked.
        let mut path: Vec<(&str, Vec<(&str, &Span)>)> = Vec::new();
        enter(graph, root, &mut marks, &mut path);
        while let Some((name, edges)) = path.last_mut() {
            let name = *name;
            match edges.pop() {
                None => {
                    marks.insert(name, Mark::Done);
                    path.pop();
                }
                Some((next, span)) => match marks.get(next) {
                    Some(Mark::Done) => {}
                    Some(Mark::Open) => report.push(cycle(&path, next, span)),
                    None => enter(graph, next, &mut marks, &mut path),
                },
            }
        }
    }
}

fn enter<'a>(
    graph: &'a Graph,
    name: &'a str,
    marks: &mut Lookup<&'a str, Mark>,
    path: &mut Vec<(&'a str, Vec<(&'a str, &'a Span)>)>,
) {
    marks.insert(name, Mark::Open);
    let edges = graph
        .stages
        .get(name)
        .map(|stage| graph.edges(stage))
        .unwrap_or_default();
    path.push((
        name,
        edges
            .into_iter()
            .map(|(to, _)| (to.value.as_str(), &to.span))
            .collect(),
    ));
}

fn cycle(path: &[(&str, Vec<(&str, &Span)>)], back_to: &str, span: &Span) -> Diagnostic {
    const SHOWN: usize = 12;
    let from = path
        .iter()
        .position(|(name, _)| *name == back_to)
        .unwrap_or(0);
    let mut names: Vec<&str> = path[from..].iter().map(|(name, _)| *name).collect();
    if names.len() > SHOWN {
        names.truncate(SHOWN);
        names.push("…");
    }
    names.push(back_to);
    Diagnostic::new(
        rule::CYCLE,
        format!(
            "stages consume each other in a circle: {}",
            names.join(" → ")
        ),
    )
    .at(span, format!("this closes the circle to `{back_to}`"))
    .help("a stage can consume only what is made before it")
}
