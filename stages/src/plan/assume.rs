//! Plans without an engine: what can be known of every lane before anything is looked up.

use std::collections::{BTreeMap, BTreeSet};

use super::{Facts, PayloadFact, Plan, Request, Selection, plan, select};
use crate::diag::{Report, rule};
use crate::graph::Graph;

/// How many stages are planned at the most. A file for which that is not enough is planned as far as it goes; the
/// rest is found when it is built.
const MOST: usize = 50_000;

/// The plan of a selection with images that nobody looked up: they are taken to be there, and what hangs on their
/// environment is not judged and not in the plan. An argument that has no value yet has some.
///
/// # Errors
/// What is wrong whatever the images are.
pub fn assume(selection: &Selection<'_>) -> Result<Plan, Report> {
    assume_with(selection, &Facts::default())
}

/// The same where something is known of some of the images.
///
/// # Errors
/// What is wrong whatever the other images are.
pub fn assume_with(selection: &Selection<'_>, facts: &Facts) -> Result<Plan, Report> {
    let mut selection = selection.clone();
    selection.assumed = true;
    plan(&selection, facts)
}

/// What is wrong with the plan of any output, and what is doubtful ([`Report::split`]): of every lane as it stands,
/// then with each switch turned, without payloads and with them. `also` says what else is wrong with a plan.
#[must_use]
pub fn rehearse(graph: &Graph, also: impl Fn(&Plan) -> Result<(), Report>) -> Report {
    let mut report = Report::default();
    let mut said = BTreeSet::new();
    let mut left = MOST;
    for request in requests(graph) {
        for payloads in graph.payload_states() {
            let facts = supposed(graph, &payloads);
            let planned = select(graph, &request).and_then(|selection| {
                let selection = selection.knowing(&facts);
                left = left.saturating_sub(selection.order().len());
                let images = selection.images().err().unwrap_or_default();
                let mut report = images;
                match assume_with(&selection, &facts) {
                    Ok(plan) => {
                        report.extend(also(&plan).err().unwrap_or_default());
                        plan.warnings.into_iter().for_each(|one| report.push(one));
                    }
                    Err(wrong) => report.extend(wrong),
                }
                report.into_result(())
            });
            let wrong = planned.err().unwrap_or_default();
            // The file says itself that this is not built.
            let refused = wrong
                .diagnostics()
                .iter()
                .any(|diagnostic| diagnostic.rule == rule::REFUSED);
            if !refused {
                for diagnostic in wrong.diagnostics() {
                    let place = diagnostic.at.as_ref().map(|(span, _)| span.clone());
                    if said.insert((place, diagnostic.rule, diagnostic.message.clone())) {
                        report.push(diagnostic.clone());
                    }
                }
            }
        }
        if left == 0 {
            break;
        }
    }
    report
}

/// Payloads that are there count as what they should be.
pub(crate) fn supposed(graph: &Graph, payloads: &BTreeMap<&str, bool>) -> Facts {
    let fact = |(name, there): (&&str, &bool)| {
        let payload = graph.payloads.get(*name)?;
        let fact = match there {
            false => PayloadFact::Absent,
            true => PayloadFact::Present {
                path: payload.path.value.clone(),
                sha256: graph
                    .hash_of(payload.sha256.as_ref(), &BTreeMap::new())
                    .unwrap_or_default(),
            },
        };
        Some(((*name).to_owned(), fact))
    };
    Facts {
        payloads: payloads.iter().filter_map(fact).collect(),
        ..Facts::default()
    }
}

/// Every output of every lane, with every switch at its default, then with one turned.
fn requests(graph: &Graph) -> impl Iterator<Item = Request> {
    let outputs = || {
        graph.lanes.iter().flat_map(|(lane, declared)| {
            let name = move |output: &String| format!("{lane}/{output}");
            declared.outputs.keys().map(name)
        })
    };
    let request = |target: String, turned: Option<(&String, bool)>| Request {
        target: Some(target),
        args: turned
            .map(|(name, on)| (name.clone(), on.to_string()))
            .into_iter()
            .collect(),
        platforms: Vec::new(),
        group: None,
    };
    let plain = outputs().map(move |target| request(target, None));
    let turned = graph.switches.iter().flat_map(move |(name, switch)| {
        outputs().map(move |target| request(target, Some((name, !switch.default))))
    });
    plain.chain(turned)
}
