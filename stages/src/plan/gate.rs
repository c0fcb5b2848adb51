//! The gates over the stages of a plan, each with what it is asserted against.

mod keys;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::build::Planner;
use super::tree::inside;
use super::windows;
use super::{PlannedGate, TreePath, What};
use crate::diag::{Diagnostic, Span, Spanned, rule};
use crate::file::{Effect, Floor, Gate, Measure, context_path};
use crate::text::Template;

pub(super) fn gates(planner: &mut Planner<'_, '_>) -> Vec<PlannedGate> {
    let graph = planner.selection.graph;
    graph
        .gates
        .iter()
        .filter_map(|(name, gate)| plan(planner, name, gate))
        .collect()
}

/// The gate, when its product is in the plan.
fn plan(planner: &mut Planner<'_, '_>, name: &str, gate: &Gate) -> Option<PlannedGate> {
    let &subject = planner.index.get(gate.subject().value.as_str())?;
    let &of = planner.index.get(gate.of.value.as_str())?;
    let selection = planner.selection;
    if !selection.setting.holds(gate.when.as_ref()) || selection.unverified.gates.contains(name) {
        return None;
    }
    // What it looks at is not made: the stage stops before its last step.
    let unmade = |stage: usize| matches!(selection.what, What::Step(name, _) if planner.stages[stage].name == name);
    if unmade(of) || unmade(subject) {
        return None;
    }
    let mut roots: Vec<TreePath> = if gate.roots.is_empty() {
        looked_at(planner, of)
    } else {
        gate.roots
            .iter()
            .filter_map(|template| {
                let report = &mut planner.report;
                let text = planner.selection.fill(template, &BTreeMap::new(), report)?;
                let root = TreePath::parse(&text, &template.span, &mut planner.spelling, report)?;
                checkable(planner, of, root, &template.span)
            })
            .collect()
    };
    if planner.spelling.is_windows() {
        roots = on_windows(planner, gate, of, roots)?;
    }
    roots.sort();
    roots.dedup();
    let target = planner.selection.setting.target()?;
    let seen: Vec<&str> = roots.iter().map(TreePath::as_str).collect();
    let ask = keys::ask(planner, gate, subject, &seen)?;
    let host = keys::host(planner, name, gate, &ask)?;
    let report = match &gate.report {
        Some(template) => Some(given(planner, template)?),
        None => None,
    };
    let against = gate.against.iter().filter_map(|other| {
        let &stage = planner.index.get(other.value.as_str())?;
        Some((stage, planner.paths(stage).to_vec()))
    });
    let against = against.collect();
    let policy = policy(planner, name, gate, &ask, &target.to_string())?;
    let mut hold: Vec<usize> = gate
        .hold
        .iter()
        .filter_map(|held| planner.index.get(held.value.as_str()).copied())
        .collect();
    hold.sort_unstable();
    hold.dedup();
    let (name, span) = (name.to_owned(), gate.span.clone());
    Some(PlannedGate {
        name,
        span,
        of,
        check: gate.check,
        ask: match ask.is_empty() {
            true => String::new(),
            false => Value::Object(ask).to_string(),
        },
        host,
        against,
        report,
        target,
        roots,
        hold,
        policy,
    })
}

/// The path of a report that is made outside of the build.
fn given(planner: &mut Planner<'_, '_>, template: &Template) -> Option<String> {
    let (span, report) = (template.span.clone(), &mut planner.report);
    let none = BTreeMap::new();
    let path = planner.selection.fill(template, &none, report)?;
    let path = Spanned::new(path, span);
    if !context_path(&path, report) {
        return None;
    }
    if path.value.ends_with('/') {
        let message = format!("`{}` is no report", path.value);
        let wrong = Diagnostic::new(rule::PATH, message).at(&path.span, "it is a directory");
        report.push(wrong.help("name the file that `lanegate inspect` wrote"));
        return None;
    }
    Some(path.value)
}

/// What of a product a gate sees that names nothing: its tree, or what its last step left.
fn looked_at(planner: &Planner<'_, '_>, of: usize) -> Vec<TreePath> {
    let records = planner.stages[of]
        .steps
        .last()
        .is_some_and(|step| step.record);
    match records {
        true => vec![TreePath::whole("/")],
        false => planner.paths(of).to_vec(),
    }
}

/// The same roots, one for each path of the tree: a Windows tree is its producer's root, where
/// more is than the tree.
fn on_windows(
    planner: &mut Planner<'_, '_>,
    gate: &Gate,
    of: usize,
    roots: Vec<TreePath>,
) -> Option<Vec<TreePath>> {
    let paths = planner.paths(of).to_vec();
    if paths.is_empty() {
        return Some(roots);
    }
    let mut all = Vec::new();
    for root in &roots {
        match windows::tree::parts(&paths, Some((root.as_str(), root.as_str()))) {
            Ok(parts) => all.extend(parts.iter().map(|(path, _)| TreePath::whole(path))),
            Err(path) => {
                let taken = windows::tree::Taken::Gate;
                let wrong = windows::tree::some_of_one(path, taken, &gate.span);
                planner.report.push(wrong);
                return None;
            }
        }
    }
    Some(all)
}

/// A root that a gate can look at: a directory, since a mount shows everything that is in it, and
/// one that the product has.
fn checkable(
    planner: &mut Planner<'_, '_>,
    of: usize,
    root: TreePath,
    span: &Span,
) -> Option<TreePath> {
    let paths = planner.paths(of);
    let fits = |path: &TreePath| {
        inside(path.directory(), root.as_str()) || inside(root.as_str(), path.directory())
    };
    let why = if root.is_pattern() {
        "a gate sees whole directories: everything beside a pattern would be checked too"
    } else if !paths.is_empty() && !paths.iter().any(fits) {
        "the product has nothing there"
    } else {
        return Some(root);
    };
    let place = planner.spelling.shown(root.as_str());
    let message = format!("a gate cannot look at `{place}`");
    planner
        .report
        .push(Diagnostic::new(rule::GATE, message).at(span, why));
    None
}

/// Canonical JSON: keys sorted, no white space. It enters the key of the assert alone.
fn policy(
    planner: &mut Planner<'_, '_>,
    name: &str,
    gate: &Gate,
    ask: &Map<String, Value>,
    target: &str,
) -> Option<String> {
    let demand = keys::demand(planner, gate)?;
    let selection = planner.selection;
    let here = |when| selection.setting.holds(when);
    let allow: Vec<Value> = gate
        .allow
        .iter()
        .filter(|allow| here(allow.when.as_ref()))
        .map(|allow| json!({ "path": allow.path.value, "why": allow.why.value }))
        .collect();
    let floor = gate.floors.iter().find(|floor| here(floor.when.as_ref()));
    let mut policy = Map::new();
    let mut put = |key: &str, value: Value| policy.insert(key.to_owned(), value);
    put("allow", Value::Array(allow));
    if !ask.is_empty() {
        put("ask", Value::Object(ask.clone()));
    }
    put("check", gate.check.into());
    if !demand.is_empty() {
        put("demand", Value::Object(demand));
    }
    if gate.effect == Effect::Advise {
        put("effect", "advise".into());
    }
    put("gate", name.into());
    put("schema", "gate-policy/1".into());
    put("target", target.into());
    match (floor, &gate.empty_ok) {
        (Some(Floor { measures, .. }), _) => {
            let floors = measures
                .iter()
                .map(|(what, m)| ((*what).to_owned(), measure(m)));
            put("floors", Value::Object(floors.collect()))
        }
        (None, Some(why)) => put("empty-ok", why.value.as_str().into()),
        (None, None) => {
            planner.report.push(
                Diagnostic::new(
                    rule::GATE,
                    format!(
                        "gate `{name}` has no floor in lane `{}`",
                        selection.setting.name
                    ),
                )
                .at(
                    &gate.span,
                    "a gate that may inspect nothing is always green",
                ),
            );
            return None;
        }
    };
    Some(Value::Object(policy).to_string())
}

fn measure(measure: &Measure) -> Value {
    let mut floor = Map::new();
    floor.insert("least".into(), measure.least.value.into());
    if let Some(measured) = measure.measured {
        floor.insert("measured".into(), measured.into());
    }
    if let Some(on) = &measure.on {
        floor.insert("on".into(), on.as_str().into());
    }
    if let Some(broken) = measure.broken {
        floor.insert("broken".into(), broken.into());
    }
    Value::Object(floor)
}
