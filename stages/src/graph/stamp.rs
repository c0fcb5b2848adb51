//! Stamps say something of a run: when, of which revision. What they would change of a content
//! would be built again in each run.

use std::collections::BTreeSet;

use super::Graph;
use super::templates::{plain, templates_of_brings, templates_of_step, templates_of_work};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::text::{ArgEntry, Template, ValueRef};

pub(super) fn check(graph: &Graph, report: &mut Report) {
    let stamps: BTreeSet<&str> = graph
        .args
        .iter()
        .filter(|(_, arg)| arg.stamp)
        .map(|(name, _)| name.as_str())
        .collect();
    if stamps.is_empty() {
        return;
    }
    let stamp = |value: &ValueRef| match value {
        ValueRef::Named(name) | ValueRef::Arg(name) => stamps.get(name.as_str()).copied(),
        _ => None,
    };
    let look = |template: &Template| -> Vec<(&str, Span)> {
        let names = template.values().filter_map(stamp);
        names.map(|name| (name, template.span.clone())).collect()
    };
    let mut wrong: Vec<(&str, Span)> = Vec::new();
    for stage in graph.stages.values() {
        templates_of_work(stage, &mut |template| wrong.extend(look(template)));
        plain(stage).for_each(|template| wrong.extend(look(template)));
        for step in &stage.steps {
            templates_of_step(step, &mut |template| wrong.extend(look(template)));
        }
    }
    for brings in graph.brings() {
        templates_of_brings(brings, &mut |template| wrong.extend(look(template)));
        for entry in &brings.args {
            match entry {
                ArgEntry::One { value, span, .. } => {
                    wrong.extend(stamp(value).map(|name| (name, span.clone())));
                }
                ArgEntry::Matching { pattern, span } => {
                    let names = graph.matching(pattern).into_iter();
                    let names = names.filter_map(|name| stamps.get(name).copied());
                    wrong.extend(names.map(|name| (name, span.clone())));
                }
            }
        }
    }
    let gates = graph.gates.values();
    let paths = gates.flat_map(|gate| gate.roots.iter().chain(&gate.report));
    let outputs = graph.outputs().flat_map(|output| {
        let places = output.add.iter().flat_map(|file| &file.at);
        output.root.iter().chain(places)
    });
    let gits = graph.gits.values().flat_map(|git| git.templates());
    let urls = graph.fetches.values().map(|fetch| &fetch.url);
    for template in paths.chain(outputs).chain(gits).chain(urls) {
        wrong.extend(look(template));
    }
    for (name, span) in wrong {
        let message = format!("the stamp `{name}` would be part of a content");
        report.push(
            Diagnostic::new(rule::STAMP, message)
                .at(&span, "named here")
                .related(&graph.args[name].span, "a stamp")
                .help("stamps are for `image.labels`, `image.annotations`, `image.env` and tags"),
        );
    }
}
