//! The files of a step, by the directories in which they appear.

use std::collections::BTreeMap;

use super::build::Planner;
use super::command;
use super::step::{FILES, place};
use super::{StepFile, windows};
use crate::diag::{Diagnostic, Span, rule};
use crate::file::{Brings, File, FileSource, PinsFile};

/// Files by the place of their mount.
type Files = BTreeMap<String, Vec<StepFile>>;

pub(super) fn plan(
    planner: &mut Planner<'_, '_>,
    sees: &[&Brings],
    env: &BTreeMap<String, String>,
) -> Files {
    let mut files = Files::new();
    for file in sees.iter().flat_map(|brings| &brings.files) {
        if !planner.selection.setting.holds(file.when.as_ref()) {
            continue;
        }
        if let Some((mount, entry)) = listed(planner, file, env) {
            let span = &file.from.span;
            named(target(&entry), span, planner);
            put(&mut files, mount, entry, span, planner);
        }
    }
    for file in sees.iter().filter_map(|brings| brings.pins_file.as_ref()) {
        if !planner.selection.setting.holds(file.when.as_ref()) {
            continue;
        }
        if let Some((mount, entry)) = pins(planner, file, env) {
            put(&mut files, mount, entry, &file.span, planner);
        }
    }
    for entries in files.values_mut() {
        // The order in the file means nothing; what is copied first must not matter.
        entries.sort_by(|a, b| target(a).cmp(target(b)));
    }
    files
}

/// A file of the context or of a git source.
fn listed(
    planner: &mut Planner<'_, '_>,
    file: &File,
    env: &BTreeMap<String, String>,
) -> Option<(String, StepFile)> {
    let mut from = file.from.value.trim_end_matches('/').to_owned();
    if let Some(payload) = file.payload() {
        // Where it is absent, so is this entry.
        from = planner.payload(&payload.value)?;
    }
    if let Some(fetch) = file.fetch() {
        from = planner.take_fetch(&fetch.value)?;
    }
    let (mount, to) = match &file.at {
        None => (FILES.to_owned(), from.clone()),
        Some(at) => {
            // A directory's content stands at `at`; a file keeps its name there.
            let name = from.rsplit('/').next().unwrap_or(&from).to_owned();
            let directory = from.is_empty() || file.from.value.ends_with('/');
            let at = place(planner, at, env)?;
            (at, if directory { String::new() } else { name })
        }
    };
    let entry = match &file.source {
        FileSource::Context => StepFile::Context { from, to },
        FileSource::Git(git) => {
            planner.take_git(&git.value);
            let git = git.value.clone();
            StepFile::Git { git, from, to }
        }
        FileSource::Payload(payload) => {
            let payload = payload.value.clone();
            StepFile::Payload { payload, from, to }
        }
        FileSource::Fetch(fetch) => {
            let fetch = fetch.value.clone();
            StepFile::Fetch { fetch, from, to }
        }
    };
    Some((mount, entry))
}

/// A file with some pins.
fn pins(
    planner: &mut Planner<'_, '_>,
    file: &PinsFile,
    env: &BTreeMap<String, String>,
) -> Option<(String, StepFile)> {
    let path = place(planner, &file.at, env)?;
    let (mount, name) = path.rsplit_once('/')?;
    if mount.is_empty() {
        let message = format!(
            "nothing can be mounted at `{}`",
            planner.spelling.shown("/")
        );
        planner.report.push(
            Diagnostic::new(rule::PATH, message)
                .at(&file.at.span, "expected a file in a directory"),
        );
        return None;
    }
    let given = &planner.selection.unverified.pins;
    let text = match planner.selection.graph.projection(file, given) {
        Ok(text) => text,
        Err(name) => {
            let message = format!("the value of `{name}` cannot be written into a pins file");
            planner.report.push(
                Diagnostic::new(rule::VALUE, message).at(&file.span, "it would be in this one"),
            );
            return None;
        }
    };
    let to = name.to_owned();
    Some((mount.to_owned(), StepFile::Script { to, text }))
}

/// On Windows, that files can have the names under which a step sees them, one spelling for each.
fn named(path: &str, span: &Span, planner: &mut Planner<'_, '_>) {
    if !planner.spelling.is_windows() || path.is_empty() {
        return;
    }
    let wrong = path
        .split('/')
        .find_map(|part| windows::path::name(part).err());
    if let Some(why) = wrong {
        let message = format!("`{path}` is no file on Windows");
        let found = Diagnostic::new(rule::PATH, message).at(span, why);
        planner.report.push(found);
    }
}

fn put(
    files: &mut Files,
    mount: String,
    entry: StepFile,
    span: &Span,
    planner: &mut Planner<'_, '_>,
) {
    let here = files.entry(mount).or_default();
    // A step and its kits may list the same file: it is there once.
    if here.contains(&entry) {
        return;
    }
    let to = target(&entry);
    let windows = planner.spelling.is_windows();
    let same = |other: &StepFile| match windows {
        true => target(other).to_lowercase() == to.to_lowercase(),
        false => target(other) == to,
    };
    if command::own(to) || here.iter().any(same) {
        planner.report.push(
            Diagnostic::new(rule::COLLISION, format!("two files of the step are `{to}`"))
                .at(span, "this one would replace the other")
                .help("place one of them elsewhere with `at`"),
        );
        return;
    }
    here.push(entry);
}

fn target(file: &StepFile) -> &str {
    match file {
        StepFile::Context { to, .. }
        | StepFile::Git { to, .. }
        | StepFile::Payload { to, .. }
        | StepFile::Fetch { to, .. }
        | StepFile::Script { to, .. } => to,
    }
}
