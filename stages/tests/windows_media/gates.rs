//! What every gate looks at, demands and holds back, as a table that people read; and what must be held.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;
use stages::keys::{By, Kind};
use stages::plan::TreePath;

use crate::common::{plan_with, request};
use crate::example::{Example, LANES};

/// A gate in one lane.
struct Gate {
    /// The stage that it looks at.
    of: String,
    check: &'static str,
    /// What of it, where that is not all: a line each.
    roots: String,
    /// The stages that wait for it.
    hold: Vec<String>,
    /// What it is told.
    policy: Value,
}

fn lines<'a>(what: &str, of: impl Iterator<Item = &'a str>) -> String {
    of.map(|one| format!("  {what} {one}\n")).collect()
}

/// The gates of a target with all its payloads.
fn gates(target: &str, args: &[(&str, &str)]) -> BTreeMap<String, Gate> {
    let graph = Example::read().with_payloads().graph();
    let bytes = |name: &str| Some(name.as_bytes().to_vec());
    let (plan, _) = plan_with(&graph, &request(target, args), &bytes).expect("a plan");
    let name = |index: &usize| plan.stages[*index].name.clone();
    let gates = plan.gates.iter().map(|gate| {
        let made = Gate {
            of: name(&gate.of),
            check: gate.check,
            roots: match graph.gates[&gate.name].roots.is_empty() {
                true => String::new(),
                false => lines("root", gate.roots.iter().map(TreePath::as_str)),
            },
            hold: gate.hold.iter().map(name).collect(),
            policy: serde_json::from_str(&gate.policy).expect("a policy"),
        };
        (gate.name.clone(), made)
    });
    gates.collect()
}

/// What a gate is told, but for what every policy has.
fn told(policy: &Value) -> String {
    let mut text = String::new();
    for (key, value) in policy.as_object().expect("a table") {
        if ["gate", "check", "schema", "target"].contains(&key.as_str()) {
            continue;
        }
        match value {
            Value::Array(list) if list.is_empty() => {}
            Value::Object(table) => {
                // The environment that `contract` is told of is the plan's.
                for (name, value) in table.iter().filter(|(name, _)| *name != "env") {
                    match value {
                        Value::Array(list) => {
                            let _ = writeln!(text, "  {key} {name}");
                            for one in list {
                                let _ = writeln!(text, "    {one}");
                            }
                        }
                        _ => _ = writeln!(text, "  {key} {name} {value}"),
                    }
                }
            }
            _ => _ = writeln!(text, "  {key} {value}"),
        }
    }
    text
}

/// A paragraph for each gate, and one more where it is told something else in other lanes, or with a switch turned.
#[test]
fn every_gate_of_every_lane() {
    let mut rows: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    let lanes = LANES.map(|lane| (lane, lane, &[][..]));
    let others = [
        ("winarm64/device", "winarm64/device", &[][..]),
        ("no-spikes", "winamd64-rocm", &[("spikes", "false")][..]),
        ("stock-llvm", "winamd64", &[("stock-llvm", "true")][..]),
    ];
    for (lane, target, args) in lanes.into_iter().chain(others) {
        for (name, gate) in gates(target, args) {
            let held = match gate.hold.is_empty() {
                true => String::new(),
                false => format!(", holds {}", gate.hold.join(" ")),
            };
            let text = format!(
                "{} of {}{held}\n{}{}",
                gate.check,
                gate.of,
                gate.roots,
                told(&gate.policy)
            );
            rows.entry((name, text)).or_default().push(lane);
        }
    }
    let rows = rows
        .into_iter()
        .map(|((name, text), lanes)| format!("{name}: {text}  in {}\n", lanes.join(" ")));
    insta::assert_snapshot!("gates", rows.collect::<String>());
}

/// Who is told hours later that the build machine is in the image has compiled for nothing.
#[test]
fn the_publish_gate_stands_before_every_compile() {
    for lane in LANES {
        let gates = gates(lane, &[]);
        let held = gates.get("publish-toolchain").map(|gate| &gate.hold);
        let manifest = Example::read().manifest(lane, &[]);
        let compiles = manifest
            .nodes
            .iter()
            .filter(|node| node.components.contains_key("cache./sccache"));
        let compiles: BTreeSet<&str> = compiles
            .filter_map(|node| node.id.split('/').next())
            .collect();
        // It looks at what the toolchain is.
        let compiles = compiles
            .into_iter()
            .filter(|stage| *stage != "patched-llvm");
        for stage in compiles {
            assert!(
                held.is_some_and(|held| held.iter().any(|one| one == stage)),
                "{lane}: {stage}"
            );
        }
    }
}

/// Gates that hold nobody who takes what they look at, and why.
const FREE: [(&str, &str); 1] = [("floors", "it looks at the other gates, and at no tree")];

/// What takes a tree waits for the gates over it, unless they only tell.
#[test]
fn each_gate_over_a_tree_holds_who_takes_it() {
    let stage = |id: &str| id.split(['/', ':']).next().unwrap_or(id).to_owned();
    let mut looked = 0;
    for lane in LANES {
        let manifest = Example::read().manifest(lane, &[]);
        let mut takers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in &manifest.nodes {
            if matches!(node.kind, Kind::Inspect | Kind::Assert) {
                continue;
            }
            // A merge has the keys of its parts in its own.
            let merges = node.kind == Kind::Merge;
            let taken = node
                .inputs
                .values()
                .filter(|input| merges || input.by == By::Content);
            for input in taken.filter(|input| stage(&input.node) != stage(&node.id)) {
                let of = takers.entry(stage(&input.node)).or_default();
                of.insert(stage(&node.id));
            }
        }
        for (name, gate) in gates(lane, &[]) {
            let Some(takers) = takers.get(&gate.of) else {
                continue;
            };
            let free = FREE.iter().any(|(free, _)| *free == name);
            if gate.policy["effect"] != "advise" && !free {
                let held = gate.hold.iter().filter(|held| takers.contains(*held));
                assert!(
                    held.count() > 0,
                    "{lane}: {name} of {} holds none of {takers:?}",
                    gate.of
                );
                looked += 1;
            }
        }
    }
    assert!(looked > 70, "{looked}");
}
