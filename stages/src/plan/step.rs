//! One step: its environment, its mounts, its command.

use std::collections::BTreeMap;

use super::build::{Inherited, Planner};
use super::command::Started;
use super::host::unsettled;
use super::tree::inside;
use super::{HostSetting, PlannedStep, Work, file_step, mounts, uses};
use super::{command, files, windows};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::{Brings, Command, Sandbox, Step};
use crate::text::{ArgEntry, Filter, Template, ValueRef};

/// Where a step's files appear, and its working directory when it has any.
pub(super) const FILES: &str = "/lanekit";
/// Where secrets appear, by their ids.
const SECRETS: &str = "/run/secrets";
/// Where SSH agents appear, by their ids.
const AGENTS: &str = "/run/ssh-agents";

pub(super) fn plan<'g>(
    planner: &mut Planner<'_, 'g>,
    step: &'g Step,
    from: &Inherited,
    empty: bool,
) -> Option<PlannedStep> {
    if let Some(file) = step.file() {
        return file_step::plan(planner, step, file, from, empty);
    }
    let sees = planner.selection.setting.brings(step);
    let mut env = environment(planner, &sees, from);
    if planner.spelling.is_windows() && !planner.selection.assumed {
        windows::env::check(step, &env, &mut planner.warnings, &mut planner.report);
    }
    let mut files = files::plan(planner, &sees, &from.env);
    let host = host(planner, &sees);
    let started = command::plan(planner, step, &env, &host, &mut files);
    // A value that is missing is in the report; the mounts are still judged.
    let Started { argv, behind } = started.unwrap_or_default();
    let (uses, copies) = uses::plan(planner, &sees, &from.env);
    let cache = mounts::caches(planner, &sees, &from.env);
    let secrets = sees.iter().flat_map(|brings| &brings.secret);
    let secrets = mounts::guarded(planner, secrets, SECRETS, &from.env);
    let ssh = sees.iter().flat_map(|brings| &brings.ssh);
    let ssh = mounts::guarded(planner, ssh, AGENTS, &from.env);
    let tmpfs = mounts::memory(planner, &sees, &from.env);
    if let Some(agent) = ssh.first() {
        env.entry("SSH_AUTH_SOCK".to_owned())
            .or_insert_with(|| agent.at.clone());
    }
    let workdir = step.workdir.as_ref().and_then(|template| {
        let text = planner
            .selection
            .fill(template, &env, &mut planner.report)?;
        let (spelling, report) = (&mut planner.spelling, &mut planner.report);
        spelling.absolute(&text, &template.span, report)
    });
    let user = step
        .user
        .as_ref()
        .and_then(|template| planner.selection.fill(template, &env, &mut planner.report));
    let cwd = if let Some(workdir) = workdir {
        workdir
    } else if files.contains_key(FILES) {
        FILES.to_owned()
    } else {
        Some(&from.workdir)
            .filter(|dir| !dir.is_empty())
            .cloned()
            .unwrap_or("/".into())
    };
    let planned = PlannedStep {
        name: step.name.value.clone(),
        span: step.span.clone(),
        work: Work::Run(through(step, from, argv)),
        env,
        behind,
        host,
        files,
        uses,
        copies,
        cache,
        secrets,
        ssh,
        tmpfs,
        network: step.network,
        sandbox: sandbox(planner, step),
        cwd,
        user: user.unwrap_or_else(|| from.user.clone()),
        record: step.record,
    };
    if step.record && planner.spelling.is_windows() {
        planner.report.push(
            Diagnostic::new(
                rule::RECORD,
                format!("step `{}` cannot be recorded", step.name.value),
            )
            .at(
                &step.name.span,
                "Windows has no place for what it would write",
            ),
        );
    }
    mounts_apart(&planned, &planner.spelling, &mut planner.report);
    if empty && planned.copies.is_empty() {
        runnable(&planned, step, &mut planner.report);
    }
    Some(planned)
}

/// How a command runs, with the devices that the lane has.
fn sandbox(planner: &Planner<'_, '_>, step: &Step) -> Sandbox {
    let setting = &planner.selection.setting;
    let mut sandbox = step.sandbox.clone();
    let devices = &mut sandbox.devices;
    devices.retain(|device| setting.holds(device.when.as_ref()));
    sandbox
}

/// The command, behind the entrypoint of what the step starts from when it asks for that.
fn through(step: &Step, from: &Inherited, argv: Vec<String>) -> Vec<String> {
    match step.through_entrypoint {
        true => from.config.entrypoint.iter().cloned().chain(argv).collect(),
        false => argv,
    }
}

/// Base image and chain, then what the step and its kits name, then their constants. An argument
/// that has no value is absent: the step does not see the variable. No variable comes from two
/// places: which one won would depend on an order that means nothing.
fn environment(
    planner: &mut Planner<'_, '_>,
    sees: &[&Brings],
    from: &Inherited,
) -> BTreeMap<String, String> {
    let mut env = from.env.clone();
    let mut seen: BTreeMap<&str, &Span> = BTreeMap::new();
    for entry in sees.iter().flat_map(|brings| &brings.args) {
        let (span, named) = match entry {
            ArgEntry::One {
                name,
                value,
                filters,
                span,
            } => {
                let value = filtered(planner, name, value, filters, span, from);
                (span, vec![(name.as_str(), value)])
            }
            ArgEntry::Matching { pattern, span } => {
                let names = planner.selection.graph.matching(pattern);
                let value = |name: &str| {
                    planner
                        .selection
                        .value(&ValueRef::Named(name.to_owned()), &from.env)
                };
                (
                    span,
                    names.into_iter().map(|name| (name, value(name))).collect(),
                )
            }
        };
        for (name, value) in named {
            once(&mut seen, name, span, &mut planner.report);
            match value {
                Some(value) => env.insert(name.to_owned(), value),
                None => env.remove(name),
            };
        }
    }
    for name in sees.iter().flat_map(|brings| &brings.host) {
        once(&mut seen, &name.value, &name.span, &mut planner.report);
    }
    let visible = env.clone();
    for (name, entry) in sees.iter().flat_map(|brings| &brings.env) {
        let template = &entry.text;
        if !planner.selection.setting.holds(entry.when.as_ref()) {
            continue;
        }
        once(&mut seen, name, &template.span, &mut planner.report);
        if let Some(value) = planner
            .selection
            .fill(template, &visible, &mut planner.report)
        {
            env.insert(name.clone(), value);
        }
    }
    env
}

/// The value of an entry of `args` behind its filters; an absent one stays absent.
fn filtered(
    planner: &mut Planner<'_, '_>,
    name: &str,
    value: &ValueRef,
    filters: &[Filter],
    span: &Span,
    from: &Inherited,
) -> Option<String> {
    let found = planner.selection.value(value, &from.env);
    let may_be_absent = matches!(
        value,
        ValueRef::Named(_) | ValueRef::Arg(_) | ValueRef::Set(_)
    );
    if found.is_none() && !may_be_absent && !planner.selection.unjudged(value) {
        planner.report.push(
            Diagnostic::new(rule::ABSENT, format!("`{name}` has no value in this lane"))
                .at(span, format!("lane `{}`", planner.selection.setting.name)),
        );
    }
    filters
        .iter()
        .try_fold(found?, |value, filter| match filter.apply(&value) {
            Ok(value) => Some(value),
            Err(why) => {
                planner.report.push(
                    Diagnostic::new(rule::VALUE, format!("`{name}` cannot be made: {why}"))
                        .at(span, "in this entry"),
                );
                None
            }
        })
}

fn once<'a>(
    seen: &mut BTreeMap<&'a str, &'a Span>,
    name: &'a str,
    span: &'a Span,
    report: &mut Report,
) {
    if let Some(first) = seen.insert(name, span) {
        report.push(
            Diagnostic::new(
                rule::COLLISION,
                format!("the step sees `{name}` from two places"),
            )
            .at(span, "second")
            .related(first, "first"),
        );
    }
}

/// A declared place: filled in, absolute and clean.
pub(super) fn place(
    planner: &mut Planner<'_, '_>,
    template: &Template,
    env: &BTreeMap<String, String>,
) -> Option<String> {
    let text = planner.selection.fill(template, env, &mut planner.report)?;
    let path = planner
        .spelling
        .absolute(&text, &template.span, &mut planner.report)?;
    if path == "/" {
        let message = format!(
            "nothing can be mounted at `{}`",
            planner.spelling.shown("/")
        );
        planner
            .report
            .push(Diagnostic::new(rule::PATH, message).at(&template.span, "here"));
        return None;
    }
    Some(path)
}

fn host(planner: &Planner<'_, '_>, sees: &[&Brings]) -> Vec<HostSetting> {
    let mut settings: Vec<HostSetting> = sees
        .iter()
        .flat_map(|brings| &brings.host)
        .map(|name| HostSetting::of(&name.value, planner.selection.graph.hosts.get(&name.value)))
        .collect();
    settings.sort_by(|a, b| a.name.cmp(&b.name));
    settings
}

/// Mounts that lie in each other hide or need each other's directories.
fn mounts_apart(step: &PlannedStep, spelling: &windows::path::Spelling, report: &mut Report) {
    let files = step.files.keys().map(|at| (at, "files", &step.span));
    let uses = step
        .uses
        .iter()
        .map(|used| (&used.at, "a product", &used.span));
    let caches = step
        .cache
        .iter()
        .map(|cache| (&cache.at, "a cache", &cache.span));
    let secrets = step
        .secrets
        .iter()
        .map(|secret| (&secret.at, "a secret", &step.span));
    let agents = step
        .ssh
        .iter()
        .map(|agent| (&agent.at, "an SSH agent", &step.span));
    let memory = step.tmpfs.iter().map(|(at, _)| (at, "memory", &step.span));
    let mut mounts: Vec<_> = files
        .chain(uses)
        .chain(caches)
        .chain(secrets)
        .chain(agents)
        .chain(memory)
        .collect();
    mounts.sort_by(|a, b| a.0.cmp(b.0));
    copies_seen(step, &mounts, spelling, report);
    for (i, (inner, other, second)) in mounts.iter().enumerate() {
        // Not the one before it alone: `/n-x` sorts between `/n` and `/n/y`.
        let outer = mounts[..i].iter().find(|(outer, ..)| inside(inner, outer));
        if let Some((outer, what, first)) = outer {
            let (inner, outer) = (spelling.shown(inner), spelling.shown(outer));
            report.push(
                Diagnostic::new(
                    rule::OVERLAP,
                    format!("{other} at {inner} lies in the mount of {what} at {outer}"),
                )
                .at(second, "this mount")
                .related(first, "lies in this one")
                .help("mount one of them elsewhere with `at`, or only a part of it with `sub`"),
            );
        }
    }
}

/// A product that is copied under a mount would not be seen.
fn copies_seen(
    step: &PlannedStep,
    mounts: &[(&String, &str, &Span)],
    spelling: &windows::path::Spelling,
    report: &mut Report,
) {
    for copied in &step.copies {
        for place in copied.places() {
            let over = mounts.iter().find(|(at, ..)| inside(place.directory(), at));
            if let Some((at, what, span)) = over {
                let message = format!(
                    "a product is copied to {} under the mount of {what}",
                    spelling.shown(place.as_str())
                );
                report.push(
                    Diagnostic::new(rule::OVERLAP, message)
                        .at(&copied.span, "the step would not see it")
                        .related(span, format!("mounted at {}", spelling.shown(at)))
                        .help("copy it elsewhere with `sub` and `at`"),
                );
            }
        }
    }
}

/// On an empty root there is only what is mounted: neither a shell nor anything else to run.
fn runnable(planned: &PlannedStep, step: &Step, report: &mut Report) {
    let uses = planned.uses.iter().map(|used| used.at.as_str());
    let mounts: Vec<&str> = uses
        .chain(planned.files.keys().map(String::as_str))
        .collect();
    let there = |path: &str| mounts.iter().any(|at| inside(path, at));
    let program = planned.argv().first().map_or("", String::as_str);
    let interpreter = match &step.command {
        Command::Script { text, shell } if shell.is_empty() => text
            .value
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("#!")),
        _ => None,
    };
    let interpreter = interpreter.and_then(|line| line.split_whitespace().next());
    let unsets = unsettled(&planned.host);
    let (missing, why) = if let Some(program) = interpreter.filter(|program| !there(program)) {
        (program, "its first line names it")
    } else if unsets && !there("/bin/sh") {
        (
            "/bin/sh",
            "a host setting needs it, to settle what happens where nobody passes it",
        )
    } else if mounts.is_empty() || program.starts_with('/') && !there(program) {
        (program, "the command")
    } else {
        return;
    };
    report.push(
        Diagnostic::new(rule::EMPTY, format!("there is no `{missing}` in an empty root"))
            .at(&planned.span, format!("this step runs in one; {why}"))
            .help("start from an image, or let `uses` bring what runs: what only makes files is said with copy, write, mkdir, link"),
    );
}
