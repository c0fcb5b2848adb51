//! What is wrong with a lane file, as an engine wants to hear it.

use llb::SourceFile;
use stages::diag::{Diagnostic, Source, Sources, Span};

use super::error::Failure;
use crate::lanefile::Wrong;

/// How many diagnostics carry their lines: each carries its whole file.
const SHOWN: usize = 8;

impl From<Wrong> for Failure {
    fn from(Wrong { sources, report }: Wrong) -> Self {
        let mut failure = Self::new(report.render(&sources, false).trim_end());
        for diagnostic in report.diagnostics().iter().take(SHOWN) {
            for span in spans(diagnostic) {
                failure = failure.with_source(
                    &source_file(sources.get(span.source)),
                    &[range(&sources, span)],
                );
            }
        }
        failure
    }
}

/// The place, then what explains it.
fn spans(diagnostic: &Diagnostic) -> impl Iterator<Item = &Span> {
    diagnostic
        .at
        .iter()
        .chain(&diagnostic.related)
        .map(|(span, _)| span)
}

/// A text as failures and warnings carry it.
pub(crate) fn source_file(source: &Source) -> SourceFile {
    SourceFile::new(&source.name, "TOML", source.text.as_bytes())
}

/// The lines of a span.
pub(crate) fn range(sources: &Sources, span: &Span) -> llb::Range {
    let (first, last) = sources.lines(span);
    llb::Range::lines(first, last)
}
