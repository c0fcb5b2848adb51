//! One step: its environment, its mounts, its command.

use std::collections::BTreeMap;

use super::build::{Inherited, Planner};
use super::tree::{absolute, inside};
use super::{CacheMount, HostSetting, PlannedStep, Product, StepFile, UseMount};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::{Command, Need, Step, Use};
use crate::text::{Template, ValueRef};

/// Where a step's files appear, and its working directory when it has any.
const FILES: &str = "/lanekit";
/// Where a script appears, below [`FILES`].
const SCRIPTS: &str = ".script";

pub(super) fn plan(
    planner: &mut Planner<'_, '_>,
    step: &Step,
    from: &Inherited,
) -> Option<PlannedStep> {
    let env = environment(planner, step, from);
    let mut files = files(planner, step, &from.env);
    let argv = match &step.command {
        Command::Run(words) => words
            .iter()
            .map(|word| planner.selection.fill(word, &env, &mut planner.report))
            .collect::<Option<Vec<String>>>(),
        Command::Script(text) => {
            let to = format!("{SCRIPTS}/{}", step.name.value);
            let path = format!("{FILES}/{to}");
            let runs_itself = text.value.starts_with("#!");
            let script = StepFile::Script {
                to,
                text: text.value.clone(),
            };
            files.entry(FILES.to_owned()).or_default().push(script);
            Some(if runs_itself {
                vec![path]
            } else {
                vec!["/bin/sh".into(), "-eu".into(), path]
            })
        }
    };
    let uses = uses(planner, step, &from.env);
    let cache = caches(planner, step, &from.env);
    let host = host(planner, step);
    let cwd = if files.contains_key(FILES) {
        FILES.to_owned()
    } else {
        Some(&from.config.working_dir)
            .filter(|dir| !dir.is_empty())
            .cloned()
            .unwrap_or("/".into())
    };
    let planned = PlannedStep {
        name: step.name.value.clone(),
        span: step.span.clone(),
        argv: argv?,
        env,
        host,
        files,
        uses,
        cache,
        network: step.network,
        cwd,
        user: from.config.user.clone(),
    };
    mounts_apart(&planned, &mut planner.report);
    Some(planned)
}

/// Base image and chain, then what the step names, then its constants. An argument that has no
/// value is absent: the step does not see the variable.
fn environment(
    planner: &mut Planner<'_, '_>,
    step: &Step,
    from: &Inherited,
) -> BTreeMap<String, String> {
    let mut env = from.env.clone();
    for entry in &step.args {
        match planner.selection.value(&entry.value, &from.env) {
            Some(value) => {
                env.insert(entry.name.clone(), value);
            }
            None if matches!(entry.value, ValueRef::Named(_) | ValueRef::Arg(_)) => {
                env.remove(&entry.name);
            }
            None => planner.report.push(
                Diagnostic::new(
                    rule::ABSENT,
                    format!("`{}` has no value in this lane", entry.name),
                )
                .at(
                    &entry.span,
                    format!("lane `{}`", planner.selection.lane_name),
                ),
            ),
        }
    }
    for (name, template) in &step.env {
        let seen = env.clone();
        if let Some(value) = planner.selection.fill(template, &seen, &mut planner.report) {
            env.insert(name.clone(), value);
        }
    }
    env
}

fn files(
    planner: &mut Planner<'_, '_>,
    step: &Step,
    env: &BTreeMap<String, String>,
) -> BTreeMap<String, Vec<StepFile>> {
    let mut files: BTreeMap<String, Vec<StepFile>> = BTreeMap::new();
    for file in &step.files {
        let from = file.from.value.trim_end_matches('/').to_owned();
        let (mount, to) = match &file.at {
            None => (Some(FILES.to_owned()), from.clone()),
            Some(at) => {
                // A directory's content stands at `at`; a file keeps its name there.
                let name = from.rsplit('/').next().unwrap_or(&from).to_owned();
                let directory = file.from.value.ends_with('/');
                let at = place(planner, at, env);
                (at, if directory { String::new() } else { name })
            }
        };
        let Some(mount) = mount else { continue };
        let here = files.entry(mount).or_default();
        let entry = StepFile::Context { from, to };
        if here.contains(&entry) {
            planner.report.push(
                Diagnostic::new(
                    rule::COLLISION,
                    format!("`{}` is listed twice", file.from.value),
                )
                .at(&file.from.span, "again"),
            );
        } else {
            here.push(entry);
        }
    }
    for entries in files.values_mut() {
        // The order in the file means nothing; what is copied first must not matter.
        entries.sort_by(|a, b| target(a).cmp(target(b)));
    }
    files
}

fn target(file: &StepFile) -> &str {
    match file {
        StepFile::Context { to, .. } | StepFile::Script { to, .. } => to,
    }
}

/// A declared place: filled in, absolute and clean.
fn place(
    planner: &mut Planner<'_, '_>,
    template: &Template,
    env: &BTreeMap<String, String>,
) -> Option<String> {
    let text = planner.selection.fill(template, env, &mut planner.report)?;
    let path = absolute(&text, &template.span, &mut planner.report)?;
    if path == "/" {
        planner.report.push(
            Diagnostic::new(rule::PATH, "nothing can be mounted at `/`").at(&template.span, "here"),
        );
        return None;
    }
    Some(path)
}

fn uses(
    planner: &mut Planner<'_, '_>,
    step: &Step,
    env: &BTreeMap<String, String>,
) -> Vec<UseMount> {
    let mut mounts = Vec::new();
    for used in &step.uses {
        let Some(&stage) = planner.index.get(used.stage.value.as_str()) else {
            continue;
        };
        match &used.sub {
            None => {
                let mut places: Vec<String> = planner
                    .paths(stage)
                    .iter()
                    .map(|p| p.directory().to_owned())
                    .collect();
                places.dedup();
                let span = &used.span;
                mounts.extend(places.into_iter().map(|place| UseMount {
                    stage,
                    sub: place.clone(),
                    at: place,
                    span: span.clone(),
                }));
            }
            Some(sub) => {
                let Some(sub_path) = place(planner, sub, env) else {
                    continue;
                };
                contained(planner, used, stage, &sub_path, &sub.span);
                let at = match &used.at {
                    Some(at) => place(planner, at, env),
                    None => Some(sub_path.clone()),
                };
                if let Some(at) = at {
                    mounts.push(UseMount {
                        stage,
                        sub: sub_path,
                        at,
                        span: used.span.clone(),
                    });
                }
            }
        }
    }
    mounts.sort_by(|a, b| a.at.cmp(&b.at));
    mounts
}

/// A part of a tree must be of that tree.
fn contained(planner: &mut Planner<'_, '_>, used: &Use, stage: usize, sub: &str, span: &Span) {
    let Product::Tree(paths) = &planner.stages[stage].product else {
        return;
    };
    let fits = |d: &str| inside(sub, d) || inside(d, sub);
    if !paths.iter().any(|path| fits(path.directory())) {
        let has: Vec<&str> = paths.iter().map(|p| p.as_str()).collect();
        let list = has.join(", ");
        planner.report.push(
            Diagnostic::new(
                rule::PATH,
                format!("`{sub}` is not in the tree of `{}`", used.stage.value),
            )
            .at(span, "this part")
            .help(format!("its tree has: {list}")),
        );
    }
}

fn caches(
    planner: &mut Planner<'_, '_>,
    step: &Step,
    env: &BTreeMap<String, String>,
) -> Vec<CacheMount> {
    let mut mounts: Vec<CacheMount> = step
        .cache
        .iter()
        .filter_map(|cache| {
            let at = place(planner, &cache.at, env)?;
            Some(CacheMount {
                id: cache.id.value.clone(),
                at,
                sharing: cache.sharing,
            })
        })
        .collect();
    mounts.sort_by(|a, b| a.at.cmp(&b.at));
    mounts
}

fn host(planner: &Planner<'_, '_>, step: &Step) -> Vec<HostSetting> {
    let mut settings: Vec<HostSetting> = step
        .host
        .iter()
        .map(|name| HostSetting {
            name: name.value.clone(),
            required: planner
                .selection
                .graph
                .hosts
                .get(&name.value)
                .is_some_and(|host| host.need == Need::Required),
        })
        .collect();
    settings.sort_by(|a, b| a.name.cmp(&b.name));
    settings
}

/// Mounts that lie in each other hide or need each other's directories.
fn mounts_apart(step: &PlannedStep, report: &mut Report) {
    let files = step.files.keys().map(|at| (at, "files", &step.span));
    let uses = step
        .uses
        .iter()
        .map(|used| (&used.at, "a product", &used.span));
    let caches = step
        .cache
        .iter()
        .map(|cache| (&cache.at, "a cache", &step.span));
    let mut mounts: Vec<_> = files.chain(uses).chain(caches).collect();
    mounts.sort_by(|a, b| a.0.cmp(b.0));
    for pair in mounts.windows(2) {
        let [(outer, what, first), (inner, other, second)] = pair else {
            continue;
        };
        if inside(inner, outer) {
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
