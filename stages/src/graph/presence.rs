//! A stage that a lane does not have is passed over by a `from` list and by entries with a
//! condition of their own; named without one, it is an error, not a hole.

use std::collections::BTreeSet;

use super::Graph;
use super::setting::Reach;
use crate::diag::{Diagnostic, Report, Span, Spanned, rule};

pub(super) fn check(graph: &Graph, reaches: &[Reach<'_>], report: &mut Report) {
    let mut said: BTreeSet<Span> = BTreeSet::new();
    let mut absent = |name: &Spanned<String>, lane: &str| {
        if !said.insert(name.span.clone()) {
            return;
        }
        let message = format!("lane `{lane}` does not have stage `{}`", name.value);
        let mut diagnostic = Diagnostic::new(rule::NOT_IN_LANE, message)
            .at(&name.span, "named without a condition")
            .help("give this entry a `when` of its own, or let `from` be a list");
        if let Some(when) = graph
            .stages
            .get(&name.value)
            .and_then(|stage| stage.when.as_ref())
        {
            diagnostic = diagnostic.related(&when.span, "the lanes that have it");
        }
        report.push(diagnostic);
    };
    for reach in reaches.iter().filter(|reach| !reach.refused) {
        let setting = &reach.setting;
        let outputs = setting.outputs().map(|(_, output)| &output.stage);
        for output in outputs.filter(|stage| !setting.has(&stage.value)) {
            absent(output, setting.name);
        }
        let reached = graph
            .stages
            .iter()
            .filter(|(name, _)| reach.stages.contains(name));
        for (_, stage) in reached {
            for (input, _) in setting.inputs(stage) {
                if !setting.has(&input.value) {
                    absent(input, setting.name);
                }
            }
        }
    }
}
