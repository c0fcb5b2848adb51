//! The pins file: lines of `NAME=VALUE`, comments with `#`, blank lines.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Report, SourceId, Sources, Span, rule};
use crate::text::is_variable;

/// One pin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pin {
    /// Its value, which may be empty.
    pub value: String,
    /// Its line.
    pub span: Span,
}

/// All pins of a file by name.
pub type Pins = BTreeMap<String, Pin>;

/// Reads a pins file. Quotes around a value are taken off; nothing is expanded.
pub fn parse_pins(sources: &Sources, id: SourceId, report: &mut Report) -> Pins {
    let mut pins = Pins::new();
    let text = &sources.get(id).text;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let at = start;
        start += line.len();
        let content = line
            .trim_end_matches(['\n', '\r'])
            .trim_start_matches('\u{feff}');
        let span = Span::new(id, at..at + line.trim_end().len());
        if content.trim().is_empty() || content.trim_start().starts_with('#') {
            continue;
        }
        let Some((name, value)) = content.split_once('=') else {
            report.push(
                Diagnostic::new(rule::PINS, "a line of the pins file is not `NAME=VALUE`")
                    .at(&span, "no `=` here")
                    .help("comments start with `#`"),
            );
            continue;
        };
        if !is_variable(name) {
            report.push(
                Diagnostic::new(
                    rule::PINS,
                    format!("`{}` is not a name of a pin", name.trim()),
                )
                .at(
                    &span,
                    "expected letters, digits and `_` before the `=`, without spaces",
                ),
            );
            continue;
        }
        if value.contains('\0') {
            report.push(
                Diagnostic::new(
                    rule::PINS,
                    format!("the value of `{name}` holds a NUL character"),
                )
                .at(&span, "no environment can hold it"),
            );
            continue;
        }
        if value.contains('\r') {
            let message = format!("the value of `{name}` holds the end of a line");
            report.push(
                Diagnostic::new(rule::PINS, message)
                    .at(&span, "a carriage return alone ends no line here"),
            );
            continue;
        }
        let value = unquote(value).to_owned();
        if let Some(first) = pins.get(name) {
            report.push(
                Diagnostic::new(rule::COLLISION, format!("the pin `{name}` is set twice"))
                    .at(&span, "second")
                    .related(&first.span, "first"),
            );
            continue;
        }
        pins.insert(name.to_owned(), Pin { value, span });
    }
    pins
}

fn unquote(value: &str) -> &str {
    let value = value.trim_end();
    ['"', '\'']
        .iter()
        .find_map(|&q| value.strip_prefix(q).and_then(|v| v.strip_suffix(q)))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Pins, Report) {
        let mut sources = Sources::default();
        let id = sources.add("versions.env", text);
        let mut report = Report::default();
        (parse_pins(&sources, id, &mut report), report)
    }

    #[test]
    fn values_keep_everything_behind_the_first_equals_sign() {
        let (pins, report) = read("# c\r\nA=1=2\r\nB=\"x y\"\nC=\n\n");
        assert!(report.is_empty());
        let values: Vec<_> = pins
            .iter()
            .map(|(k, p)| (k.as_str(), p.value.as_str()))
            .collect();
        assert_eq!(values, [("A", "1=2"), ("B", "x y"), ("C", "")]);
    }

    #[test]
    fn everything_wrong_is_said_at_once() {
        let (pins, report) = read("A=1\nA=2\nnot a pin\n1X=3\n B=4\n");
        assert_eq!(pins.len(), 1);
        assert_eq!(report.diagnostics().len(), 4);
    }
}
