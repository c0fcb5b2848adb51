//! A gate must be able to decide: it has a product to look at, one floor for each lane,
//! and it holds only what takes its product as a tree.

use super::setting::Reach;
use super::{Edge, Graph, Setting};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::{Gate, Stage, Step};

pub(super) fn check(graph: &Graph, reaches: &[Reach<'_>], report: &mut Report) {
    for (name, gate) in &graph.gates {
        match gate.report {
            None => product(graph, name, gate, report),
            Some(_) => external(graph, name, gate, report),
        }
        others(graph, name, gate, report);
        holds(graph, name, gate, report);
    }
    records(graph, report);
    for reach in reaches.iter().filter(|reach| !reach.refused) {
        let (setting, reached) = (&reach.setting, &reach.stages);
        for (name, gate) in &graph.gates {
            if reached.contains(gate.subject().value.as_str()) && setting.holds(gate.when.as_ref())
            {
                floor(name, gate, setting, report);
            }
        }
    }
}

fn product(graph: &Graph, name: &str, gate: &Gate, report: &mut Report) {
    let Some(stage) = graph.stages.get(&gate.of.value) else {
        return;
    };
    let records = stage.steps.last().is_some_and(|step| step.record);
    if gate.roots.is_empty() && !graph.is_tree(stage) && !records {
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

/// A report from outside is about all of one tree, which can be exported and looked at elsewhere.
fn external(graph: &Graph, name: &str, gate: &Gate, report: &mut Report) {
    let Some(given) = &gate.report else {
        return;
    };
    let mut wrong = |span: &Span, why: &str, help: &str| {
        let message = format!("gate `{name}` cannot have a report from outside");
        report.push(
            Diagnostic::new(rule::GATE_KEYS, message)
                .at(span, why)
                .related(&given.span, "the report")
                .help(help),
        );
    };
    let stage = graph.stages.get(&gate.of.value);
    if stage.is_some_and(|stage| !graph.is_tree(stage)) {
        wrong(
            &gate.of.span,
            "this stage has no `tree`",
            "`of` is the stage whose tree was looked at, also where that was by running something in it",
        );
    }
    if let Some(root) = gate.roots.first() {
        wrong(
            &root.span,
            "it is about the whole tree, as it was exported",
            "leave out `roots`",
        );
    }
    if let Some(other) = gate.against.first() {
        wrong(&other.span, "it is about one tree", "leave out `against`");
    }
    if gate.check == "floors" {
        wrong(
            &gate.span,
            "`floors` looks at the gates of this build",
            "leave out `report`",
        );
    }
}

/// Which other products a gate looks at, and in whose builds.
fn others(graph: &Graph, name: &str, gate: &Gate, report: &mut Report) {
    let several = matches!(gate.check, "coverage" | "overlap");
    if let (false, Some(first)) = (several, gate.against.first()) {
        report.push(
            Diagnostic::new(
                rule::GATE_KEYS,
                format!("gate `{name}` looks at one product"),
            )
            .at(&first.span, "this is a second one")
            .help("`against` is for `coverage` and `overlap`"),
        );
    }
    if gate.check == "overlap" && gate.against.is_empty() {
        report.push(
            Diagnostic::new(
                rule::GATE_KEYS,
                format!("gate `{name}` compares one product with nothing"),
            )
            .at(&gate.of.span, "the first")
            .help("name the others: against = [\"STAGE\"]"),
        );
    }
    for other in &gate.against {
        let tree = graph
            .stages
            .get(&other.value)
            .is_none_or(|stage| graph.is_tree(stage));
        if !tree {
            report.push(
                Diagnostic::new(
                    rule::GATE_KEYS,
                    format!("gate `{name}` cannot look at stage `{}`", other.value),
                )
                .at(&other.span, "its product is a whole root"),
            );
        }
    }
    if let (Some(belongs), Some(held)) = (&gate.belongs, gate.hold.first()) {
        report.push(
            Diagnostic::new(rule::GATE_KEYS, format!("gate `{name}` holds nothing back"))
                .at(
                    &held.span,
                    "what it looks at is made beside the builds that it belongs to",
                )
                .related(&belongs.span, "they are those of this stage")
                .help("leave out `hold`: the output waits for every gate"),
        );
    }
}

/// A step whose output is the product is the last of its stage, and the stage has no tree.
fn records(graph: &Graph, report: &mut Report) {
    for (name, stage) in &graph.stages {
        for (at, step) in stage
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| step.record)
        {
            let why = if at + 1 < stage.steps.len() {
                "another step stands behind it, on a root that it does not hand on"
            } else if !stage.tree.is_empty() {
                "the stage has a `tree`; what is recorded is all of its product"
            } else if step.file().is_some() {
                "it is a file operation, which prints nothing"
            } else {
                continue;
            };
            report.push(
                Diagnostic::new(
                    rule::RECORD,
                    format!(
                        "step `{}` of stage `{name}` cannot be recorded",
                        step.name.value
                    ),
                )
                .at(&step.name.span, why),
            );
        }
        for step in stage
            .steps
            .iter()
            .filter(|step| step.through_entrypoint && !step.record)
        {
            report.push(
                Diagnostic::new(
                    rule::RECORD,
                    format!(
                        "step `{}` of stage `{name}` runs through an entrypoint",
                        step.name.value
                    ),
                )
                .at(
                    &step.name.span,
                    "only a recorded step does: `record = true`",
                ),
            );
        }
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
