//! LK074: what is listed and not in the context. A build would stop at the step.

use std::collections::BTreeSet;

use super::super::Graph;
use super::Seen;
use crate::diag::{Diagnostic, Report, Spanned, rule};
use crate::file::{Command, CopyFrom, CopyStep, File, FileSource, FileStep};

/// The paths of the context that steps and bundles list; directories end with `/`.
#[must_use]
pub fn listed(graph: &Graph) -> BTreeSet<String> {
    all(graph).map(|path| path.value.clone()).collect()
}

pub(super) fn check(seen: &Seen<'_>, report: &mut Report) {
    let Some(files) = seen.files else {
        return;
    };
    for path in all(seen.graph).filter(|path| files.lacks(&path.value)) {
        report.push(
            Diagnostic::new(
                rule::NOT_THERE,
                format!("`{}` is not in the context", path.value),
            )
            .at(&path.span, "listed here")
            .help("correct the path, or put it there"),
        );
    }
}

/// External reports are not among them: they come when a build was looked at.
fn all(graph: &Graph) -> impl Iterator<Item = &Spanned<String>> {
    let outputs = graph.lanes.values().flat_map(|lane| lane.outputs.values());
    let beside = outputs.flat_map(|output| &output.add);
    let brought = graph.brings().flat_map(|brings| &brings.files);
    let steps = graph.stages.values().flat_map(|stage| &stage.steps);
    let copied = steps.filter_map(|step| match &step.command {
        Command::File(file) => copied(file),
        _ => None,
    });
    let files = beside.chain(brought).filter_map(of_context);
    files.chain(copied)
}

fn of_context(file: &File) -> Option<&Spanned<String>> {
    matches!(file.source, FileSource::Context).then_some(&file.from)
}

fn copied(file: &FileStep) -> Option<&Spanned<String>> {
    match file {
        FileStep::Copy(CopyStep {
            from: CopyFrom::Context(from),
            ..
        }) => Some(from),
        _ => None,
    }
}
