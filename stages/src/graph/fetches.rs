//! Downloads: what says where they are and what they must be, and who takes them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Graph, unknown};
use crate::diag::{Diagnostic, Report, Spanned, rule};
use crate::file::{Fetch, FileStep, Stage, Sum, sha256_of};
use crate::text::ValueRef;

impl Graph {
    /// The pins that have hashes of downloads.
    pub(super) fn pins_of_fetches(&self) -> impl Iterator<Item = &str> {
        self.fetches
            .values()
            .filter_map(|fetch| match &fetch.sha256 {
                Sum::Pin(name) => Some(name.value.as_str()),
                Sum::Literal(..) => None,
            })
    }

    /// The downloads that the steps of a stage take, whatever the conditions say.
    pub(super) fn fetches_of<'a>(&'a self, stage: &'a Stage) -> impl Iterator<Item = &'a Fetch> {
        let brings = stage.steps.iter().flat_map(|step| self.all_brings(step));
        let files = brings.flat_map(|brings| &brings.files);
        let steps = stage.steps.iter().filter_map(|step| step.file());
        let names = files.filter_map(|file| file.fetch());
        let names = names.chain(steps.filter_map(FileStep::fetch));
        names.filter_map(|name| self.fetches.get(&name.value))
    }

    /// The names of downloads that something takes.
    pub(super) fn fetches_used(&self) -> BTreeSet<&str> {
        let files = self.brings().flat_map(|brings| &brings.files);
        let steps = self.stages.values().flat_map(|stage| &stage.steps);
        let steps = steps.filter_map(|step| step.file()?.fetch());
        let names = files.filter_map(|file| file.fetch()).chain(steps);
        names.map(|name| name.value.as_str()).collect()
    }
}

/// Hashes are hashes, and URLs are known before anything is.
pub(super) fn check(graph: &Graph, report: &mut Report) {
    for (name, fetch) in &graph.fetches {
        super::check::check_template(graph, &fetch.url, report);
        let early = |value: &&ValueRef| matches!(value, ValueRef::Env(_) | ValueRef::Commit(_));
        if fetch.url.values().any(|value| early(&value)) {
            report.push(
                Diagnostic::new(rule::VALUE, "a URL cannot name an environment or a commit")
                    .at(&fetch.url.span, "there is none before it is fetched"),
            );
        }
        let Sum::Pin(named) = &fetch.sha256 else {
            continue;
        };
        let Some(pin) = graph.pins.get(&named.value) else {
            report.push(unknown("pin", named, graph.pins.keys()));
            continue;
        };
        if graph
            .hash_of(Some(&fetch.sha256), &BTreeMap::new())
            .as_deref()
            .and_then(sha256_of)
            .is_none()
        {
            report.push(
                Diagnostic::new(
                    rule::VALUE,
                    format!("pin `{}` of download `{name}` is no SHA-256", named.value),
                )
                .at(&pin.span, format!("found {} characters", pin.value.chars().count()))
                .related(&named.span, "it is named here")
                .help("expected 64 hexadecimal digits: what is downloaded is always held against its hash"),
            );
        }
    }
}

/// A name of `files` or `copy`.
pub(super) fn exists(graph: &Graph, name: &Spanned<String>, report: &mut Report) {
    if !graph.fetches.contains_key(&name.value) {
        report.push(unknown("download", name, graph.fetches.keys()));
    }
}
