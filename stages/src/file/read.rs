//! Reads one table of the file: takes the keys that it may have, says what is wrong with
//! them, and at the end calls every other key unknown.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;

use toml::de::{DeTable, DeValue};

use crate::diag::{Diagnostic, Report, SourceId, Span, Spanned, rule, suggest};

/// Text with its place.
pub(crate) type Text = Spanned<String>;
type Value<'a> = toml::Spanned<DeValue<'a>>;

/// One table while it is being read.
pub(crate) struct Fields<'a, 'i> {
    source: SourceId,
    table: &'a DeTable<'i>,
    /// Where the table stands, for keys that are missing.
    span: Span,
    /// What the table is, in words: `lane arm64`.
    what: Cow<'static, str>,
    /// The keys that were asked for, in that order, some of them twice: looked at when there is a key to explain.
    known: Vec<&'static str>,
    open: bool,
}

impl<'a, 'i> Fields<'a, 'i> {
    pub(crate) fn new(
        source: SourceId,
        table: &'a DeTable<'i>,
        span: Span,
        what: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self {
            source,
            table,
            span,
            what: what.into(),
            known: Vec::new(),
            open: false,
        }
    }

    /// Reads `value` as a table.
    pub(crate) fn of(
        source: SourceId,
        value: &'a Value<'i>,
        what: impl Into<Cow<'static, str>>,
        report: &mut Report,
    ) -> Option<Self> {
        let span = Span::new(source, value.span());
        match value.get_ref() {
            DeValue::Table(table) => Some(Self::new(source, table, span, what)),
            other => {
                report.push(wrong_type(&span, what.into(), "a table", other));
                None
            }
        }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    pub(crate) fn source(&self) -> SourceId {
        self.source
    }

    /// The table's header together with all of its values.
    pub(crate) fn whole_span(&self) -> Span {
        whole(self.source, self.table, self.span.clone())
    }

    /// The value of `key`, which from now on is a known key.
    pub(crate) fn get(&mut self, key: &'static str) -> Option<&'a Value<'i>> {
        self.known.push(key);
        self.table.get(key)
    }

    /// Keys and values of a table whose keys are names that the user chose.
    pub(crate) fn entries(&self) -> Vec<(Text, &'a Value<'i>)> {
        let mut entries: Vec<_> = self
            .table
            .iter()
            .map(|(key, value)| {
                let span = Span::new(self.source, key.span());
                (Spanned::new(key.get_ref().to_string(), span), value)
            })
            .collect();
        entries.sort_by(|a, b| a.0.span.cmp(&b.0.span));
        entries
    }

    pub(crate) fn text(&mut self, key: &'static str, report: &mut Report) -> Option<Text> {
        let value = self.get(key)?;
        let what = format_args!("`{key}` of {}", self.what);
        text_of(self.source, value, what, report)
    }

    /// A text that must be there.
    pub(crate) fn need_text(&mut self, key: &'static str, report: &mut Report) -> Option<Text> {
        if self.get(key).is_none() {
            report.push(self.missing(key));
        }
        let text = self.text(key, report)?;
        if text.value.trim().is_empty() {
            let message = format!("`{key}` of {} says nothing", self.what);
            report.push(Diagnostic::new(rule::VALUE, message).at(&text.span, "empty"));
            return None;
        }
        Some(text)
    }

    pub(crate) fn missing(&self, key: &str) -> Diagnostic {
        Diagnostic::new(rule::MISSING_KEY, format!("{} has no `{key}`", self.what))
            .at(&self.span, format!("`{key}` is expected here"))
    }

    /// That a list of words has nothing which runs.
    pub(crate) fn no_command(&self, key: &str) -> Diagnostic {
        let message = format!("`{key}` of {} has no command", self.what);
        Diagnostic::new(rule::VALUE, message)
    }

    /// A list of texts; absent is an empty list.
    pub(crate) fn texts(&mut self, key: &'static str, report: &mut Report) -> Vec<Text> {
        let entries = self.list(key, report);
        let what = format_args!("`{key}` of {}", self.what);
        let text = |value| text_of(self.source, value, what, report);
        entries.into_iter().filter_map(text).collect()
    }

    /// The entries of a list; absent is an empty list.
    pub(crate) fn list(&mut self, key: &'static str, report: &mut Report) -> Vec<&'a Value<'i>> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        match value.get_ref() {
            DeValue::Array(array) => array.iter().collect(),
            other => {
                let span = Span::new(self.source, value.span());
                report.push(wrong_type(
                    &span,
                    format_args!("`{key}` of {}", self.what),
                    "a list",
                    other,
                ));
                Vec::new()
            }
        }
    }

    /// A table of names; absent is an empty one.
    pub(crate) fn named(
        &mut self,
        key: &'static str,
        report: &mut Report,
    ) -> Vec<(Text, &'a Value<'i>)> {
        let Some(value) = self.get(key) else {
            return Vec::new();
        };
        Fields::of(
            self.source,
            value,
            format!("`{key}` of {}", self.what),
            report,
        )
        .map(|fields| fields.entries())
        .unwrap_or_default()
    }

    pub(crate) fn integer(
        &mut self,
        key: &'static str,
        report: &mut Report,
    ) -> Option<Spanned<u64>> {
        let value = self.get(key)?;
        let span = Span::new(self.source, value.span());
        let what = format!("`{key}` of {}", self.what);
        match value.get_ref() {
            DeValue::Integer(number) => {
                match u64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) => Some(Spanned::new(number, span)),
                    Err(_) => {
                        let message = format!("{what} is not a number from 0 to 2^64-1");
                        report.push(
                            Diagnostic::new(rule::VALUE, message)
                                .at(&span, format!("found {}", number.as_str())),
                        );
                        None
                    }
                }
            }
            other => {
                report.push(wrong_type(&span, &what, "a whole number", other));
                None
            }
        }
    }

    pub(crate) fn boolean(&mut self, key: &'static str, report: &mut Report) -> Option<bool> {
        let value = self.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(on) => Some(*on),
            other => {
                let span = Span::new(self.source, value.span());
                let what = format!("`{key}` of {}", self.what);
                report.push(wrong_type(&span, &what, "true or false", other));
                None
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// One of a closed list of words.
    pub(crate) fn word<T: Copy>(
        &mut self,
        key: &'static str,
        words: &[(&'static str, T)],
        report: &mut Report,
    ) -> Option<T> {
        let text = self.text(key, report)?;
        let found = words.iter().find(|(word, _)| *word == text.value);
        if found.is_none() {
            report.push(
                Diagnostic::new(
                    rule::VALUE,
                    format!("`{key}` of {} cannot be `{}`", self.what, text.value),
                )
                .at(&text.span, "found this")
                .help(suggest(&text.value, words.iter().map(|(word, _)| *word))),
            );
        }
        found.map(|(_, value)| *value)
    }

    /// The keys are names that the user chose: none is unknown.
    pub(crate) fn open(&mut self) {
        self.open = true;
    }

    /// Every key that was not asked for is an error.
    pub(crate) fn finish(self, report: &mut Report) {
        if self.open {
            return;
        }
        for (key, _) in self.table.iter() {
            let name = key.get_ref().as_ref();
            if !self.known.contains(&name) {
                let known: BTreeSet<&str> = self.known.iter().copied().collect();
                report.push(
                    Diagnostic::new(
                        rule::UNKNOWN_KEY,
                        format!("{} has no key `{name}`", self.what),
                    )
                    .at(&Span::new(self.source, key.span()), "unknown key")
                    .help(suggest(name, known)),
                );
            }
        }
    }
}

/// The span of a table with everything in it. Headers of `[a.b]` span only themselves.
fn whole(source: SourceId, table: &DeTable<'_>, mut span: Span) -> Span {
    for (key, value) in table.iter() {
        span = span.join(&Span::new(source, key.span()));
        span = span.join(&Span::new(source, value.span()));
        if let DeValue::Table(inner) = value.get_ref() {
            span = whole(source, inner, span);
        }
    }
    span
}

pub(crate) fn text_of(
    source: SourceId,
    value: &Value<'_>,
    what: impl Display,
    report: &mut Report,
) -> Option<Text> {
    let span = Span::new(source, value.span());
    match value.get_ref() {
        DeValue::String(text) if text.contains('\0') => {
            report.push(
                Diagnostic::new(rule::VALUE, format!("{what} holds a NUL character"))
                    .at(&span, "no command line, environment or path can hold it"),
            );
            None
        }
        DeValue::String(text) => Some(Spanned::new(text.to_string(), span)),
        other => {
            report.push(wrong_type(&span, what, "a text", other));
            None
        }
    }
}

pub(crate) fn wrong_type(
    span: &Span,
    what: impl Display,
    want: &str,
    got: &DeValue<'_>,
) -> Diagnostic {
    let got = match got {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(at) if at.time.is_some() => "a time",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    };
    Diagnostic::new(rule::VALUE, format!("{what} must be {want}")).at(span, format!("found {got}"))
}
