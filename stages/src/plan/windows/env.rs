//! Names of variables: Windows does not tell `Path` and `PATH` apart.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::{EnvEdit, Step};
use crate::plan::Selection;
use crate::text::ArgEntry;

/// How the file spells each variable, by its small letters: one variable, one spelling. What a
/// base image sets gets the file's spelling, so that an edit of `PATH` is one of its `Path`.
pub(in crate::plan) fn spellings(
    selection: &Selection<'_>,
    report: &mut Report,
) -> BTreeMap<String, String> {
    let mut seen: BTreeMap<String, (&str, &Span)> = BTreeMap::new();
    let stages = selection.order().into_iter();
    for stage in stages.filter_map(|name| selection.graph.stages.get(name)) {
        for (name, EnvEdit { span, .. }) in &stage.env {
            once(&mut seen, name, span, report);
        }
        for (name, entry) in &stage.image.env {
            once(&mut seen, name, &entry.text.span, report);
        }
        for step in selection.setting.steps(stage) {
            for (name, span) in named(selection, step) {
                once(&mut seen, name, span, report);
            }
        }
    }
    let spelled = seen.into_iter();
    spelled
        .map(|(folded, (name, _))| (folded, name.to_owned()))
        .collect()
}

/// The variables that a step names, with their places.
fn named<'g>(selection: &Selection<'g>, step: &'g Step) -> Vec<(&'g str, &'g Span)> {
    let mut names = Vec::new();
    for brings in selection.setting.brings(step) {
        for entry in &brings.args {
            match entry {
                ArgEntry::One { name, span, .. } => names.push((name.as_str(), span)),
                ArgEntry::Matching { pattern, span } => {
                    let matching = selection.graph.matching(pattern).into_iter();
                    names.extend(matching.map(|name| (name, span)));
                }
            }
        }
        names.extend(brings.host.iter().map(|n| (n.value.as_str(), &n.span)));
        let env = brings.env.iter();
        names.extend(env.map(|(name, entry)| (name.as_str(), &entry.text.span)));
    }
    names
}

fn once<'g>(
    seen: &mut BTreeMap<String, (&'g str, &'g Span)>,
    name: &'g str,
    span: &'g Span,
    report: &mut Report,
) {
    let &mut (first, at) = seen.entry(name.to_lowercase()).or_insert((name, span));
    if first != name {
        report.push(
            Diagnostic::new(
                rule::SPELLING,
                format!("`{name}` and `{first}` are one variable"),
            )
            .at(span, "spelled so here")
            .related(at, "and so here")
            .help("Windows does not tell them apart, but keys do: spell it in one way"),
        );
    }
}

/// What is wrong with the environment of a step that Windows starts.
pub(in crate::plan) fn check(
    step: &Step,
    env: &BTreeMap<String, String>,
    warnings: &mut Vec<Diagnostic>,
    report: &mut Report,
) {
    let path = env
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("path"));
    if path.is_none_or(|(_, path)| path.is_empty()) {
        report.push(
            Diagnostic::new(rule::NO_PATH, "the step has no PATH")
                .at(&step.span, "neither the base image nor the chain sets it")
                .help(r"env.PATH = { set = ['C:\Windows\System32', 'C:\Windows'] } in the stage that starts from the image"),
        );
    }
    for (name, _) in env.iter().filter(|(_, value)| value.is_empty()) {
        let message = format!("`{name}` is set and empty: on Windows it may not arrive");
        warnings.push(
            Diagnostic::new(rule::EMPTY_VARIABLE, message)
                .at(&step.span, "this step")
                .help("leave it out, or give it a value"),
        );
    }
}
