//! A gate must be able to decide: it has a product to look at, one floor for each lane,
//! and it holds only what takes its product as a tree.

use super::{Edge, Graph, Setting};
use crate::diag::{Diagnostic, Report, rule};
use crate::file::{Gate, Stage, Step};

pub(super) fn check(graph: &Graph, report: &mut Report) {
    for (name, gate) in &graph.gates {
        product(graph, name, gate, report);
        holds(graph, name, gate, report);
    }
    for setting in graph.settings() {
        let outputs = setting
            .lane
            .outputs
            .values()
            .map(|output| output.stage.value.as_str());
        let reached = setting.behind(outputs);
        for (name, gate) in &graph.gates {
            if reached.contains(gate.of.value.as_str()) && setting.holds(gate.when.as_ref()) {
                floor(name, gate, &setting, report);
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
        let late = late(graph, stage, &gate.of.value);
        if to_product(Edge::Tree) && !to_product(Edge::Start) && late.is_none() {
            continue;
        }
        let late = late.map(|step| format!("its step `{step}` would run before the gate"));
        let why = if let Some(late) = &late {
            late.as_str()
        } else if to_product(Edge::Start) {
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

/// A step that would run before the stage takes the product: holding it back holds the stage
/// only when the product comes in with `merge`, `add`, or the very first step.
fn late<'a>(graph: &Graph, stage: &'a Stage, product: &str) -> Option<&'a str> {
    if stage
        .merge
        .iter()
        .chain(&stage.add)
        .any(|part| part.stage.value == product)
    {
        return None;
    }
    let takes = |step: &Step| {
        let copied = step.file().and_then(|file| file.stage());
        copied.is_some_and(|stage| stage.value == product)
            || graph
                .all_brings(step)
                .any(|b| b.uses.iter().any(|used| used.stage.value == product))
    };
    let first = stage.steps.first()?;
    let later = stage.steps.iter().skip(1).any(takes);
    (later && !takes(first)).then_some(first.name.value.as_str())
}

fn floor(name: &str, gate: &Gate, setting: &Setting<'_>, report: &mut Report) {
    let lane_name = setting.name;
    let matching: Vec<_> = gate
        .floors
        .iter()
        .filter(|floor| setting.holds(floor.when.as_ref()))
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
