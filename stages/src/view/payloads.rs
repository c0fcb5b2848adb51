//! What a target hangs on that may be there or not.

use crate::diag::Span;
use crate::file::{ABSENT, PRESENT};
use crate::plan::{PayloadFact, Plan, Selection};

/// A payload that a target hangs on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PayloadRow {
    /// Its name.
    pub name: String,
    /// Where it is, or is looked for.
    pub path: String,
    /// `present`, `absent`, or `unknown` where nobody looked: it counts as absent.
    pub state: &'static str,
    /// Where it is declared.
    pub span: Span,
}

/// The payloads that a plan hangs on, by name.
#[must_use]
pub fn payloads(selection: &Selection<'_>, plan: &Plan) -> Vec<PayloadRow> {
    let declared = &selection.graph.payloads;
    let wanted = selection.payloads().into_iter();
    let rows = wanted.filter_map(|name| {
        let payload = declared.get(name)?;
        let (state, path) = match plan.payloads.get(name) {
            Some(PayloadFact::Present { path, .. }) => (PRESENT, path),
            Some(PayloadFact::Absent) => (ABSENT, &payload.path.value),
            None => ("unknown", &payload.path.value),
        };
        Some(PayloadRow {
            name: name.to_owned(),
            path: path.clone(),
            state,
            span: payload.span.clone(),
        })
    });
    rows.collect()
}
