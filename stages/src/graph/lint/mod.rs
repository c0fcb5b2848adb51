//! Lints: what a graph can be built with, and is most likely not meant.
//!
//! One module for each thing that is looked at. A lint points to the place that is to be
//! changed; there, `lint = [{ allow = "LK066", why = "…" }]` allows it.

mod allow;
mod caches;
mod conditions;
mod layers;
mod missing;
mod patterns;
mod pins;
mod reads;
mod scripts;
mod secrets;

use super::{Graph, unused};
use crate::diag::{Report, Sources};
use crate::file::Files;

pub use missing::listed;
pub use patterns::directories;
pub use pins::given;
pub use scripts::texts;

pub use allow::keep;

/// What the lints see.
struct Seen<'g> {
    graph: &'g Graph,
    sources: &'g Sources,
    /// What is seen of the context; nothing where there is none to look into.
    files: Option<&'g Files>,
}

/// What is doubtful in a graph, warnings and errors, without what the file allows, sorted by
/// place. Which is which: [`crate::diag::Rule::warns`], [`Report::split`].
///
/// `files` is what is seen of the context ([`texts`], [`directories`] and [`listed`] say what is wanted), as far as it
/// is there; without it the lints that look into files are silent.
#[must_use]
pub fn lint(graph: &Graph, sources: &Sources, files: Option<&Files>) -> Report {
    let seen = Seen {
        graph,
        sources,
        files,
    };
    let mut found = Report::default();
    pins::check(&seen, &mut found);
    secrets::check(&seen, &mut found);
    conditions::check(&seen, &mut found);
    caches::check(&seen, &mut found);
    layers::check(&seen, &mut found);
    scripts::check(&seen, &mut found);
    patterns::check(&seen, &mut found);
    missing::check(&seen, &mut found);
    let mut report = keep(graph, found.clone());
    // What was allowed before this was asked counts as used too.
    if !graph.lint.is_empty() {
        unused::check(graph, &graph.reaches(), &mut found);
    }
    allow::check(&seen, &found, &mut report);
    report.into_result(()).err().unwrap_or_default()
}
