//! Payloads: the pins that have their hashes, and who takes them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Graph, Setting, unknown};
use crate::diag::{Diagnostic, Report, Spanned, rule};
use crate::file::{Attribute, Brings, FileStep, Payload, Stage, Sum, When, sha256_of};
use crate::text::{ArgEntry, Template, ValueRef};

impl Graph {
    /// What the bytes of a file must be; nothing where nobody knows. `pins` are those that have
    /// another value in this run.
    pub(crate) fn hash_of(
        &self,
        sum: Option<&Sum>,
        pins: &BTreeMap<&str, String>,
    ) -> Option<String> {
        let name = match sum? {
            Sum::Literal(digits, _) => return Some(digits.clone()),
            Sum::Pin(name) => name.value.as_str(),
        };
        let given = pins.get(name);
        let value = given.or_else(|| self.pins.get(name).map(|pin| &pin.value));
        let value = value.filter(|value| !value.is_empty())?;
        // What is no hash is held against as it is: nothing has it.
        Some(sha256_of(value).unwrap_or_else(|| value.clone()))
    }

    /// The pins that have hashes of payloads.
    pub(super) fn pins_of_payloads(&self) -> impl Iterator<Item = &str> {
        let sums = self.payloads.values().flat_map(|payload| &payload.sha256);
        sums.filter_map(|sum| match sum {
            Sum::Pin(name) => Some(name.value.as_str()),
            Sum::Literal(..) => None,
        })
    }

    /// The payload that takes its hash from a pin and says why that may be empty, if one does.
    pub(super) fn may_be_empty(&self, pin: &str) -> Option<&Payload> {
        self.payloads.values().find(|payload| {
            let named = matches!(&payload.sha256, Some(Sum::Pin(name)) if name.value == pin);
            named && payload.empty_ok.is_some()
        })
    }

    /// The payloads that something of the graph takes or looks at.
    pub(super) fn payloads_used(&self) -> BTreeSet<&str> {
        let mut used: BTreeSet<&str> = payloads_of(self.conditions()).collect();
        for stage in self.stages.values() {
            used.extend(self.payloads_taken(stage).map(|name| name.value));
        }
        used.extend(
            self.brings()
                .flat_map(|brings| &brings.files)
                .filter_map(|file| Some(file.payload()?.value.as_str())),
        );
        let values = self.named().0.into_iter();
        used.extend(values.filter_map(|value| match value {
            ValueRef::Payload(name) => Some(name.as_str()),
            _ => None,
        }));
        used
    }

    /// The payloads that the steps of a stage take, whatever the conditions say.
    pub(super) fn payloads_taken<'a>(
        &'a self,
        stage: &'a Stage,
    ) -> impl Iterator<Item = Spanned<&'a str>> {
        let brings = stage.steps.iter().flat_map(|step| self.all_brings(step));
        let files = brings
            .flat_map(|brings| &brings.files)
            .filter_map(|file| file.payload());
        let steps = stage.steps.iter().filter_map(|step| step.file());
        files
            .chain(steps.filter_map(FileStep::payload))
            .map(super::text)
    }
}

impl<'g> Setting<'g> {
    /// The payloads that decide what a stage is in this lane, or that it takes. What has a
    /// condition over one that nobody looked for counts once that is known.
    pub fn payloads_of(&self, stage: &'g Stage) -> BTreeSet<&'g str> {
        let graph = self.graph;
        let named = graph.edges(stage).into_iter();
        let others = named.filter_map(|(name, _)| graph.stages.get(&name.value)?.when.as_ref());
        let image = stage.image.conditions();
        let whens = super::entry_conditions(stage)
            .chain(image)
            .chain(&stage.when);
        let mut found: BTreeSet<&str> = self.payloads_in(whens.chain(others)).collect();
        let mut texts = |text: &'g Template| found.extend(named_in(text));
        super::templates::templates_of(stage, &mut texts);
        graph.fetches_of(stage).for_each(|fetch| texts(&fetch.url));
        for step in &stage.steps {
            found.extend(self.payloads_in(&step.when));
            if !self.holds(step.when.as_ref()) {
                continue;
            }
            found.extend(self.payloads_in(super::device_conditions(step)));
            found.extend(
                step.file()
                    .and_then(FileStep::payload)
                    .map(|n| n.value.as_str()),
            );
            let kits = step
                .kits
                .iter()
                .filter_map(|kit| graph.kits.get(&kit.value));
            let mut brought = vec![&step.sees];
            for kit in kits {
                found.extend(self.payloads_in(&kit.when));
                if self.holds(kit.when.as_ref()) {
                    brought.push(&kit.brings);
                }
            }
            for brings in brought {
                self.payloads_brought(brings, &mut found);
            }
        }
        found
    }

    fn payloads_brought(&self, brings: &'g Brings, found: &mut BTreeSet<&'g str>) {
        found.extend(self.payloads_in(super::brings_conditions(brings)));
        let files = brings.files.iter();
        let files = files.filter(|file| self.holds(file.when.as_ref()));
        found.extend(files.filter_map(|file| Some(file.payload()?.value.as_str())));
        let mut texts = |text: &'g Template| found.extend(named_in(text));
        super::templates::templates_of_brings(brings, &mut texts);
        found.extend(brings.args.iter().filter_map(|entry| match entry {
            ArgEntry::One {
                value: ValueRef::Payload(name),
                ..
            } => Some(name.as_str()),
            _ => None,
        }));
    }

    /// The payloads that some conditions look at, unless what else they look at decides already.
    pub(crate) fn payloads_in(
        &self,
        whens: impl IntoIterator<Item = &'g When>,
    ) -> impl Iterator<Item = &'g str> {
        let whens = whens.into_iter().filter(|when| self.may_hold(when));
        payloads_of(whens.collect())
    }

    /// Whether a condition may hold, whatever payloads are there.
    fn may_hold(&self, when: &When) -> bool {
        let mut others = when.clauses.iter();
        others.all(|clause| matches!(clause.what, Attribute::Payload(_)) || self.clause(clause))
    }
}

fn named_in(text: &Template) -> impl Iterator<Item = &str> {
    text.values().filter_map(|value| match value {
        ValueRef::Payload(name) => Some(name.as_str()),
        _ => None,
    })
}

/// The payloads that conditions look at.
pub(crate) fn payloads_of(whens: Vec<&When>) -> impl Iterator<Item = &str> {
    let mut open = whens;
    let mut found = Vec::new();
    while let Some(when) = open.pop() {
        open.extend(when.not.as_deref().into_iter().chain(&when.any));
        found.extend(when.clauses.iter().filter_map(|clause| match &clause.what {
            Attribute::Payload(name) => Some(name.as_str()),
            _ => None,
        }));
    }
    found.into_iter()
}

/// Hashes are hashes, and are there unless the payload says why not.
pub(super) fn check(graph: &Graph, report: &mut Report) {
    for (name, payload) in &graph.payloads {
        let Some(Sum::Pin(named)) = &payload.sha256 else {
            continue;
        };
        let Some(pin) = graph.pins.get(&named.value) else {
            report.push(unknown("pin", named, graph.pins.keys()));
            continue;
        };
        if pin.value.is_empty() && payload.empty_ok.is_none() {
            report.push(
                Diagnostic::new(
                    rule::PAYLOAD,
                    format!(
                        "payload `{name}` has no hash: pin `{}` is empty",
                        named.value
                    ),
                )
                .at(&named.span, "what it must be")
                .related(&pin.span, "empty")
                .help("write the hash down; where nobody can know it: empty-ok = \"why\""),
            );
        } else if !pin.value.is_empty() && sha256_of(&pin.value).is_none() {
            report.push(
                Diagnostic::new(
                    rule::PAYLOAD,
                    format!("pin `{}` of payload `{name}` is no SHA-256", named.value),
                )
                .at(
                    &pin.span,
                    format!("found {} characters", pin.value.chars().count()),
                )
                .related(&named.span, "it is named here")
                .help("expected 64 hexadecimal digits"),
            );
        }
    }
}

/// A name of `files` or `copy`.
pub(super) fn exists(graph: &Graph, name: &Spanned<String>, report: &mut Report) {
    if !graph.payloads.contains_key(&name.value) {
        report.push(unknown("payload", name, graph.payloads.keys()));
    }
}
