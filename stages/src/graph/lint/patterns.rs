//! LK073: patterns that match nothing of a directory of the context.
//!
//! Of a tree it is known only when the steps ran; of the context it can be seen before.

use std::collections::BTreeSet;

use fast_glob::glob_match;

use super::super::Graph;
use super::Seen;
use super::scripts::literal;
use crate::diag::{Diagnostic, Report, rule};
use crate::file::{Command, CopyFrom, CopyStep, FileStep};

/// The directories of the context of which the lint of patterns wants all that is below.
#[must_use]
pub fn directories(graph: &Graph) -> BTreeSet<String> {
    let some = copies(graph).filter(|(_, copy)| !copy.only.is_empty());
    some.map(|(from, _)| from.to_owned()).collect()
}

pub(super) fn check(seen: &Seen<'_>, report: &mut Report) {
    let Some(files) = seen.files else {
        return;
    };
    for (from, copy) in copies(seen.graph) {
        let Some(below) = files.below(from) else {
            continue;
        };
        for template in &copy.only {
            // A value makes another pattern in each lane.
            let Some(pattern) = literal(template) else {
                continue;
            };
            if below.iter().any(|path| glob_match(&pattern, path)) {
                continue;
            }
            report.push(
                Diagnostic::new(
                    rule::NO_MATCH,
                    format!("`{pattern}` matches nothing in `{from}`"),
                )
                .at(&template.span, "nothing is copied by it")
                .help("correct it, or take it out of `only`"),
            );
        }
    }
}

/// The copies of directories of the context.
fn copies(graph: &Graph) -> impl Iterator<Item = (&str, &CopyStep)> {
    let steps = graph.stages.values().flat_map(|stage| &stage.steps);
    steps.filter_map(|step| {
        let Command::File(file) = &step.command else {
            return None;
        };
        let FileStep::Copy(copy) = file.as_ref() else {
            return None;
        };
        match &copy.from {
            CopyFrom::Context(from) if from.value.ends_with('/') => {
                Some((from.value.as_str(), copy))
            }
            _ => None,
        }
    })
}
