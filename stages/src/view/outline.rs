//! What a caller may pass to one target: arguments, host settings, cache mounts.

use std::collections::BTreeMap;

use super::{PayloadRow, Table};
use crate::diag::Span;
use crate::file::Form;
use crate::plan::{Plan, Selection};

/// What one target takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outline {
    /// The target as it was asked for; empty for the default.
    pub name: String,
    /// Arguments and switches.
    pub args: Vec<OutlineArg>,
    /// Host settings, which are passed as secrets, and secrets that steps have as files.
    pub secrets: Vec<OutlineSecret>,
    /// SSH agents.
    pub ssh: Vec<OutlineSecret>,
    /// Cache mounts.
    pub caches: Vec<OutlineCache>,
    /// Files that licences keep out of the repository.
    pub payloads: Vec<PayloadRow>,
}

/// One argument or switch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineArg {
    /// Its name.
    pub name: String,
    /// One line about it, with what it may be.
    pub about: String,
    /// The value that it has now: the caller's, or the default. Empty when it is absent.
    pub value: String,
    /// Where it is declared.
    pub span: Span,
}

/// One host setting, secret or SSH agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineSecret {
    /// Its name or id.
    pub name: String,
    /// Whether a step fails without it.
    pub required: bool,
    /// Where it is declared, or the first step that has it.
    pub span: Option<Span>,
}

/// One cache mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineCache {
    /// Which cache.
    pub id: String,
    /// The first step that has it.
    pub span: Span,
}

/// What a request takes. Of the plan only names count, so one without an engine does
/// ([`crate::plan::assume`]).
#[must_use]
pub fn outline(selection: &Selection<'_>, plan: &Plan, target: &str) -> Outline {
    let graph = selection.graph;
    let stages = plan.stages.iter().map(|stage| stage.name.as_str());
    let mut args: Vec<OutlineArg> = selection
        .setting
        .arguments(stages)
        .into_iter()
        .filter_map(|name| {
            let arg = graph.args.get(name)?;
            Some(OutlineArg {
                name: name.to_owned(),
                about: match form(&arg.form) {
                    Some(form) => format!("{} ({form})", arg.about.value),
                    None => arg.about.value.clone(),
                },
                value: selection.args.get(name).cloned().unwrap_or_default(),
                span: arg.span.clone(),
            })
        })
        .collect();
    // A switch can bring in what is not in the plan now, so each may matter.
    args.extend(graph.switches.iter().map(|(name, switch)| {
        OutlineArg {
            name: name.clone(),
            about: format!("{} (true or false)", switch.about.value),
            value: selection
                .setting
                .switches
                .get(name.as_str())
                .is_some_and(|on| *on)
                .to_string(),
            span: switch.span.clone(),
        }
    }));
    args.sort_by(|a, b| a.name.cmp(&b.name));

    let steps = || plan.stages.iter().flat_map(|stage| &stage.steps);
    let mut secrets: BTreeMap<&str, bool> = BTreeMap::new();
    for host in steps().flat_map(|step| &step.host) {
        *secrets.entry(&host.name).or_default() |= host.required();
    }
    let mut guarded: [BTreeMap<&str, (bool, &Span)>; 2] = Default::default();
    for step in steps() {
        for (found, mounts) in guarded.iter_mut().zip([&step.secrets, &step.ssh]) {
            for mount in mounts {
                let (required, _) = found.entry(&mount.id).or_insert((false, &step.span));
                *required |= mount.required;
            }
        }
    }
    let [files, agents] = guarded.map(|found| {
        let each = found
            .into_iter()
            .map(|(name, (required, span))| OutlineSecret {
                name: name.to_owned(),
                required,
                span: Some(span.clone()),
            });
        each.collect::<Vec<_>>()
    });
    let mut caches: BTreeMap<&str, &Span> = BTreeMap::new();
    for step in steps() {
        for cache in &step.cache {
            caches.entry(&cache.id).or_insert(&step.span);
        }
    }
    Outline {
        name: target.to_owned(),
        args,
        secrets: secrets
            .into_iter()
            .map(|(name, required)| OutlineSecret {
                name: name.to_owned(),
                required,
                span: graph.hosts.get(name).map(|host| host.span.clone()),
            })
            .chain(files)
            .collect(),
        ssh: agents,
        caches: caches
            .into_iter()
            .map(|(id, span)| OutlineCache {
                id: id.to_owned(),
                span: span.clone(),
            })
            .collect(),
        payloads: super::payloads(selection, plan),
    }
}

fn form(form: &Form) -> Option<String> {
    Some(match form {
        Form::Text => return None,
        Form::Bool => "true or false".to_owned(),
        Form::Int => "a whole number".to_owned(),
        Form::Choice(choices) => format!("one of {}", choices.join(", ")),
    })
}

impl Outline {
    /// The text as `docker buildx build --call=outline` prints it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        if !self.name.is_empty() {
            text.push_str(&format!("TARGET: {}\n\n", self.name));
        }
        if !self.args.is_empty() {
            let mut table = Table::new(3, &["BUILD ARG", "VALUE", "DESCRIPTION"]);
            for arg in &self.args {
                table.row([arg.name.as_str(), &arg.value, &arg.about]);
            }
            text.push_str(&(table.text() + "\n"));
        }
        for (title, list) in [("SECRET", &self.secrets), ("SSH", &self.ssh)] {
            if list.is_empty() {
                continue;
            }
            let mut table = Table::new(3, &[title, "REQUIRED"]);
            for secret in list {
                table.row([
                    secret.name.as_str(),
                    if secret.required { "true" } else { "" },
                ]);
            }
            text.push_str(&(table.text() + "\n"));
        }
        if !self.payloads.is_empty() {
            let mut table = Table::new(3, &["PAYLOAD", "STATE", "PATH"]);
            for payload in &self.payloads {
                table.row([payload.name.as_str(), payload.state, &payload.path]);
            }
            text.push_str(&(table.text() + "\n"));
        }
        text
    }
}
