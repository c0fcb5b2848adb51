//! A gate must be able to decide: it has a product to look at, one floor for each lane,
//! and it holds only what takes its product as a tree.

use super::{Edge, Graph};
use crate::diag::{Diagnostic, Report, rule};
use crate::file::{Gate, Lane};

pub(super) fn check(graph: &Graph, report: &mut Report) {
    for (name, gate) in &graph.gates {
        product(graph, name, gate, report);
        holds(graph, name, gate, report);
        for (lane_name, lane) in &graph.lanes {
            if reaches(graph, lane, &gate.of.value) {
                floor(graph, name, gate, lane_name, lane, report);
            }
        }
    }
}

fn product(graph: &Graph, name: &str, gate: &Gate, report: &mut Report) {
    let Some(stage) = graph.stages.get(&gate.of.value) else {
        return;
    };
    if gate.roots.is_empty() && !graph.is_tree(stage) {
        report.push(
            Diagnostic::new(
                rule::GATE,
                format!(
                    "gate `{name}` does not say what of stage `{}` it checks",
                    gate.of.value
                ),
            )
            .at(&gate.of.span, "its product is a whole root")
            .related(&stage.span, "it declares no `tree`")
            .help("name the paths: roots = [\"/opt/app\"]"),
        );
    }
}

fn holds(graph: &Graph, name: &str, gate: &Gate, report: &mut Report) {
    for held in &gate.hold {
        let Some(stage) = graph.stages.get(&held.value) else {
            continue;
        };
        let edges = graph.edges(stage);
        let to_product = |edge: Edge| {
            edges
                .iter()
                .any(|(target, e)| *e == edge && target.value == gate.of.value)
        };
        if to_product(Edge::Tree) && !to_product(Edge::Start) {
            continue;
        }
        let why = if to_product(Edge::Start) {
            "it goes on from the product's root, so its key would change with the gate"
        } else {
            "it does not take the product"
        };
        report.push(
            Diagnostic::new(
                rule::GATE,
                format!("gate `{name}` cannot hold stage `{}`", held.value),
            )
            .at(&held.span, why)
            .related(&gate.of.span, "the product that is checked")
            .help("a gate holds stages that take its product by `uses`, `merge` or `add`"),
        );
    }
}

fn floor(
    graph: &Graph,
    name: &str,
    gate: &Gate,
    lane_name: &str,
    lane: &Lane,
    report: &mut Report,
) {
    let matching: Vec<_> = gate
        .floors
        .iter()
        .filter(|floor| graph.holds(floor.when.as_ref(), lane_name, lane))
        .collect();
    match (matching.as_slice(), &gate.empty_ok) {
        ([_], None) | ([], Some(_)) => {}
        ([], None) => report.push(
            Diagnostic::new(
                rule::GATE,
                format!("gate `{name}` has no floor in lane `{lane_name}`"),
            )
            .at(
                &gate.span,
                "a gate that may inspect nothing is always green",
            )
            .help("[[gate.NAME.floor]] inspected = { least = 100 }, or empty-ok = \"why\""),
        ),
        ([first, ..], Some(why)) => report.push(
            Diagnostic::new(
                rule::GATE,
                format!("gate `{name}` has a floor and `empty-ok`"),
            )
            .at(&why.span, "this says that nothing needs to be inspected")
            .related(&first.span, format!("this applies in lane `{lane_name}`")),
        ),
        ([first, second, ..], None) => report.push(
            Diagnostic::new(
                rule::GATE,
                format!("gate `{name}` has two floors in lane `{lane_name}`"),
            )
            .at(&second.span, "second")
            .related(&first.span, "first")
            .help("tell them apart with `when`"),
        ),
    }
}

/// Whether an output of the lane contains the stage.
fn reaches(graph: &Graph, lane: &Lane, wanted: &str) -> bool {
    let mut open: Vec<&str> = lane
        .outputs
        .values()
        .map(|o| o.stage.value.as_str())
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    while let Some(name) = open.pop() {
        if name == wanted {
            return true;
        }
        if !seen.insert(name) {
            continue;
        }
        let Some(stage) = graph.stages.get(name) else {
            continue;
        };
        open.extend(stage.from.as_ref().and_then(|from| graph.start(from, lane)));
        open.extend(
            stage
                .merge
                .iter()
                .chain(&stage.add)
                .map(|s| s.value.as_str()),
        );
        open.extend(
            stage
                .steps
                .iter()
                .flat_map(|s| &s.uses)
                .map(|u| u.stage.value.as_str()),
        );
    }
    false
}
