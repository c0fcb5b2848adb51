//! What is wrong with a lane file, as an engine wants to hear it.

use llb::SourceFile;
use stages::diag::{Diagnostic, Sources, Span};

use super::error::Failure;
use crate::lanefile::Wrong;

/// How many bytes of files the details carry at the most. The text of the failure has every line that it speaks of;
/// the details are what clients with a view of their own show.
const CARRIED: usize = 2 << 20;
/// How many lines behind the last one are shown around it.
const AROUND: usize = 5;

impl From<Wrong> for Failure {
    fn from(Wrong { sources, report }: Wrong) -> Self {
        let mut failure = Self::new(report.render(&sources, false).trim_end());
        let mut left = CARRIED;
        for span in report.diagnostics().iter().flat_map(spans) {
            let source = sources.get(span.source);
            let text = until(&source.text, span.range.end);
            let Some(rest) = left.checked_sub(text.len()) else {
                continue;
            };
            left = rest;
            let file = SourceFile::new(&source.name, "TOML", text);
            failure = failure.with_source(&file, &[range(&sources, span)]);
        }
        failure
    }
}

/// The beginning of a text, until some lines behind an offset: numbers of lines stay what they are.
fn until(text: &str, offset: usize) -> &[u8] {
    let bytes = text.as_bytes();
    let ends = |(at, byte): (usize, &u8)| (*byte == b'\n').then_some(at);
    let rest = bytes.get(offset..).unwrap_or_default();
    let end = rest.iter().enumerate().filter_map(ends).nth(AROUND);
    &bytes[..end.map_or(bytes.len(), |end| offset + end)]
}

/// The place, then what explains it.
fn spans(diagnostic: &Diagnostic) -> impl Iterator<Item = &Span> {
    diagnostic
        .at
        .iter()
        .chain(&diagnostic.related)
        .map(|(span, _)| span)
}

/// As much of a span's file as a failure carries.
pub(crate) fn source_file(sources: &Sources, span: &Span) -> SourceFile {
    let source = sources.get(span.source);
    SourceFile::new(&source.name, "TOML", until(&source.text, span.range.end))
}

/// The lines of a span.
pub(crate) fn range(sources: &Sources, span: &Span) -> llb::Range {
    let (first, last) = sources.lines(span);
    llb::Range::lines(first, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_carried_until_some_lines_behind_the_place() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        assert_eq!(until(text, 2), b"1\n2\n3\n4\n5\n6\n7");
        assert_eq!(until(text, 12), text.as_bytes());
        assert_eq!(until(text, 99), text.as_bytes());
    }
}
