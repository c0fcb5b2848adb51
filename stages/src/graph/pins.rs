//! Pins that are made of others, and files of some pins.

use std::collections::BTreeMap;

use super::{Graph, unknown};
use crate::diag::{Diagnostic, Report, rule};
use crate::file::{Derived, Pin, PinsFile};

/// Puts the derived pins among the others.
pub(super) fn derive(graph: &mut Graph, report: &mut Report) {
    let mut made = Vec::new();
    for (name, derived) in &graph.derived {
        if let Some(pin) = graph.pins.get(name) {
            report.push(
                Diagnostic::new(rule::COLLISION, format!("the pin `{name}` is there twice"))
                    .at(&derived.span, "derived here")
                    .related(&pin.span, "in the pins file"),
            );
            continue;
        }
        let value = value(graph, name, derived).map_err(|wrong| report.push(*wrong));
        // One that cannot be made is there all the same: it is named elsewhere.
        let pin = Pin {
            value: value.unwrap_or_default(),
            span: derived.span.clone(),
        };
        made.push((name.clone(), pin));
    }
    graph.pins.extend(made);
}

impl Graph {
    /// The same graph with another value of a pin, and of the pins that are made of it; nothing when those cannot be made.
    #[must_use]
    pub fn with_pin(&self, name: &str, new: &str) -> Option<Self> {
        let mut graph = self.clone();
        new.clone_into(&mut graph.pins.get_mut(name)?.value);
        for (derived_name, derived) in &self.derived {
            if derived.from.value == name {
                let made = value(&graph, derived_name, derived).ok()?;
                graph.pins.get_mut(derived_name)?.value = made;
            }
        }
        Some(graph)
    }
}

fn value(graph: &Graph, name: &str, derived: &Derived) -> Result<String, Box<Diagnostic>> {
    let from = &derived.from;
    let Some(source) = graph.pins.get(&from.value) else {
        return Err(Box::new(match graph.derived.get(&from.value) {
            Some(other) => Diagnostic::new(
                rule::VALUE,
                format!(
                    "pin `{name}` is made of `{}`, which is derived itself",
                    from.value
                ),
            )
            .at(&from.span, "expected a pin of the pins file")
            .related(&other.span, "derived here"),
            None => unknown("pin", from, graph.pins.keys()),
        }));
    };
    let mut filters = derived.filters.iter();
    let made = filters.try_fold(source.value.clone(), |value, filter| filter.apply(&value));
    made.map_err(|why| {
        let message = format!("pin `{name}` cannot be made: {why}");
        let wrong = Diagnostic::new(rule::VALUE, message).at(&from.span, "of this");
        Box::new(wrong.related(&source.span, "the pin"))
    })
}

/// What a pins file names is there, and can be written into one.
pub(super) fn check_file(graph: &Graph, file: &PinsFile, report: &mut Report) {
    for key in &file.keys {
        if key.value.contains('*') {
            if graph.pins_matching(&key.value).is_empty() {
                let message = format!("`{}` stands for nothing", key.value);
                report.push(
                    Diagnostic::new(rule::UNKNOWN_NAME, message)
                        .at(&key.span, "no pin of our scope matches"),
                );
            }
        } else if !graph.pins.contains_key(&key.value) {
            report.push(unknown("pin", key, graph.pins.keys()));
        }
    }
    for name in graph.projected(file) {
        let Some(pin) = graph.pins.get(name) else {
            continue;
        };
        if quoted(&pin.value).is_none() {
            report.push(
                Diagnostic::new(
                    rule::VALUE,
                    format!("the value of `{name}` cannot be written into a pins file"),
                )
                .at(&file.span, "it would be in this one")
                .related(
                    &pin.span,
                    "it has quotes of both kinds, or `\'` with `$`, `\\` or a backtick",
                ),
            );
        }
    }
}

impl Graph {
    /// The names of the pins in a projected pins file, sorted.
    pub fn projected<'a>(&'a self, file: &'a PinsFile) -> Vec<&'a str> {
        let mut names: Vec<&str> = Vec::new();
        for key in &file.keys {
            if key.value.contains('*') {
                names.extend(self.pins_matching(&key.value));
            } else {
                names.push(&key.value);
            }
        }
        names.sort_unstable();
        names.dedup();
        names
    }

    /// The text of a projected pins file: a line for each of its pins, in the order of their
    /// names. A shell reads it, and lanekit itself. `given` are pins that have another value in
    /// this run.
    ///
    /// # Errors
    /// The name of a pin whose value cannot be written into one.
    pub fn projection<'a>(
        &'a self,
        file: &'a PinsFile,
        given: &BTreeMap<&str, String>,
    ) -> Result<String, &'a str> {
        let line = |name: &'a str| {
            let value = given.get(name);
            let value = value.or_else(|| self.pins.get(name).map(|pin| &pin.value));
            let quoted = value.and_then(|value| quoted(value)).ok_or(name)?;
            Ok(format!("{name}={quoted}\n"))
        };
        self.projected(file).into_iter().map(line).collect()
    }

    /// The values of derived pins that are made of others in this run, by name.
    ///
    /// # Errors
    /// A value of which one cannot be made.
    pub(crate) fn derived_of<'a>(
        &'a self,
        given: &BTreeMap<&str, String>,
    ) -> Result<BTreeMap<&'a str, String>, Report> {
        let mut made = BTreeMap::new();
        let mut report = Report::default();
        for (name, derived) in &self.derived {
            let Some(source) = given.get(derived.from.value.as_str()) else {
                continue;
            };
            let mut filters = derived.filters.iter();
            match filters.try_fold(source.clone(), |value, filter| filter.apply(&value)) {
                Ok(value) => {
                    made.insert(name.as_str(), value);
                }
                Err(why) => {
                    let message = format!("pin `{name}` cannot be made of the given value: {why}");
                    report.push(
                        Diagnostic::new(rule::REQUEST, message)
                            .at(&derived.from.span, format!("given: {source}")),
                    );
                }
            }
        }
        report.into_result(made)
    }

    /// The names of pins of our scope that a pattern stands for.
    fn pins_matching(&self, pattern: &str) -> Vec<&str> {
        let names = self.matching(pattern).into_iter();
        names
            .filter_map(|name| self.pins.get_key_value(name))
            .map(|(name, _)| name.as_str())
            .collect()
    }
}

/// A value as a pins file has it: plain, or in quotes inside which a shell changes nothing.
fn quoted(value: &str) -> Option<String> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_./:@%+,=-".contains(&b);
    if value.bytes().all(plain) {
        Some(value.to_owned())
    } else if !value.contains('\'') {
        Some(format!("'{value}'"))
    } else if !value.contains(['"', '$', '\\', '`']) {
        Some(format!("\"{value}\""))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Sources;

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read_back(value in "[ -~]{0,12}") {
            let value = value.trim_end().to_owned();
            if let Some(text) = quoted(&value) {
                let mut sources = Sources::default();
                let id = sources.add("versions.env", format!("A={text}\n"));
                let mut report = Report::default();
                let pins = crate::file::parse_pins(&sources, id, &mut report);
                proptest::prop_assert_eq!(&pins["A"].value, &value);
            }
        }
    }
}
