//! Plans without an engine: what can be known of every lane before anything is looked up.

use std::collections::{BTreeMap, BTreeSet};

use super::{Facts, PayloadFact, Plan, Request, Selection, plan, select};
use crate::diag::{Report, rule};
use crate::file::{Lane, Output};
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
    for built in outputs(graph) {
        let request = built.request();
        for payloads in graph.payload_states() {
            if !built.is_there(graph, &payloads) {
                continue;
            }
            let facts = supposed(graph, &payloads);
            let planned = select(graph, &request).and_then(|selection| {
                let mut selection = selection.knowing(&facts);
                selection.assumed = true;
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

/// An output of a lane with every switch at its default, or with one turned.
#[derive(Clone, Copy)]
struct Built<'g> {
    lane: &'g str,
    declared: &'g Lane,
    output: (&'g str, &'g Output),
    turned: Option<(&'g str, bool)>,
}

/// Every output of every lane, with every switch at its default, then with one turned.
fn outputs(graph: &Graph) -> impl Iterator<Item = Built<'_>> {
    let plain = || {
        graph.lanes.iter().flat_map(|(lane, declared)| {
            let outputs = declared.outputs.iter();
            outputs.map(move |(name, output)| Built {
                lane,
                declared,
                output: (name, output),
                turned: None,
            })
        })
    };
    let turned = graph.switches.iter().flat_map(move |(name, switch)| {
        let turned = Some((name.as_str(), !switch.default));
        plain().map(move |built| Built { turned, ..built })
    });
    plain().chain(turned)
}

impl<'g> Built<'g> {
    fn request(&self) -> Request {
        let args = self.turned.iter();
        Request {
            target: Some(format!("{}/{}", self.lane, self.output.0)),
            args: args
                .map(|(name, on)| ((*name).to_owned(), on.to_string()))
                .collect(),
            ..Request::default()
        }
    }

    /// Whether the lane has the output where these payloads are there.
    fn is_there(&self, graph: &'g Graph, payloads: &BTreeMap<&'g str, bool>) -> bool {
        let mut setting = graph.setting(self.lane, self.declared);
        setting.switches.extend(self.turned);
        setting.payloads.clone_from(payloads);
        setting.holds(self.output.1.when.as_ref())
    }
}
