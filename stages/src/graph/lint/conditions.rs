//! LK069 and LK070: conditions that hold in no lane, lanes that are always refused.

use std::collections::BTreeSet;

use super::super::payloads::payloads_of;
use super::super::{Graph, Setting};
use super::Seen;
use crate::diag::{Diagnostic, Report, rule};
use crate::file::{Attribute, Lane, When};

/// Switches and payloads whose combinations are all tried; a condition over more is taken to hold
/// somewhere.
const TRIED: usize = 8;
/// Conditions that are tried at the most, so that no file takes long.
const MOST: usize = 2_000_000;

pub(super) fn check(seen: &Seen<'_>, report: &mut Report) {
    let graph = seen.graph;
    let refusals: Vec<&When> = graph.refuse.iter().map(|refuse| &refuse.when).collect();
    let mut living: Vec<(&str, &Lane)> = Vec::new();
    for (name, lane) in &graph.lanes {
        let mut open = false;
        let complete = combinations(graph, name, lane, &refusals, &mut |setting| {
            open |= setting.refusal().is_none();
        });
        if open || !complete {
            living.push((name, lane));
            continue;
        }
        let refusal = graph.setting(name, lane).refusal();
        let mut diagnostic =
            Diagnostic::new(rule::DEAD_LANE, format!("lane `{name}` is always refused"))
                .at(&lane.span, "nobody can build it")
                .help("delete the lane, or the refusal");
        if let Some(refusal) = refusal {
            diagnostic = diagnostic.related(&refusal.span, refusal.why.value.clone());
        }
        report.push(diagnostic);
    }
    let mut left = MOST;
    for when in graph.conditions_of_parts() {
        let mut holds = false;
        let mut complete = true;
        for (name, lane) in &living {
            if holds {
                break;
            }
            complete &= left > 0
                && combinations(graph, name, lane, &[when], &mut |setting| {
                    left = left.saturating_sub(1);
                    holds |= setting.holds(Some(when));
                });
        }
        if complete && !holds {
            report.push(
                Diagnostic::new(rule::DEAD_WHEN, "this condition holds in no lane")
                    .at(&when.span, "what it is for is never there")
                    .help("correct it, or delete what it is for"),
            );
        }
    }
}

/// Calls `each` with a lane for every combination of what the conditions look at of switches and payloads;
/// false when those are too many.
fn combinations<'g>(
    graph: &'g Graph,
    name: &'g str,
    lane: &'g Lane,
    conditions: &[&'g When],
    each: &mut dyn FnMut(&Setting<'g>),
) -> bool {
    let mut looked_at = BTreeSet::new();
    conditions
        .iter()
        .for_each(|when| switches(when, &mut looked_at));
    let payloads: BTreeSet<&str> = payloads_of(conditions.to_vec()).collect();
    let count = looked_at.len() + payloads.len();
    if count > TRIED {
        return false;
    }
    for bits in 0..1_u32 << count {
        let mut setting = graph.setting(name, lane);
        for (at, switch) in looked_at.iter().enumerate() {
            if let Some(on) = setting.switches.get_mut(switch) {
                *on = bits >> at & 1 == 1;
            }
        }
        for (at, payload) in payloads.iter().enumerate() {
            let there = bits >> (looked_at.len() + at) & 1 == 1;
            setting.payloads.insert(payload, there);
        }
        each(&setting);
    }
    true
}

fn switches<'w>(when: &'w When, found: &mut BTreeSet<&'w str>) {
    for clause in &when.clauses {
        if let Attribute::Switch(name) = &clause.what {
            found.insert(name);
        }
    }
    for inner in when.not.as_deref().into_iter().chain(&when.any) {
        switches(inner, found);
    }
}
