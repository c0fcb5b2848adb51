//! Trees on Windows. There is no empty file system to copy a product into, so a tree is its
//! producer's root, of which consumers mount or copy just the paths of the tree.

use super::with_drive;
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::Network;
use crate::plan::build::Planner;
use crate::plan::tree::inside;
use crate::plan::{
    CacheMount, FileWork, PlannedStage, PlannedStep, Product, Start, TreePath, Work,
};

/// What every Windows image has.
const SYSTEM: [&str; 5] = [
    "/windows",
    "/program files",
    "/program files (x86)",
    "/programdata",
    "/users",
];

/// What shows the part `sub` of a tree at `at`: paths of the product, each with its place.
/// Without a part all of it, each path at its own place.
///
/// # Errors
/// The path that is a pattern or leaves something out: a mount shows all of a directory.
pub(in crate::plan) fn parts<'p>(
    paths: &'p [TreePath],
    part: Option<(&str, &str)>,
) -> Result<Vec<(String, String)>, &'p TreePath> {
    let mut parts = Vec::new();
    for path in paths {
        let here = path.as_str();
        let shown = match part {
            None => (here.to_owned(), here.to_owned()),
            Some((sub, at)) if inside(sub, here) => (sub.to_owned(), at.to_owned()),
            Some((sub, at)) if inside(here, sub) => {
                let below = here.strip_prefix(sub).unwrap_or_default();
                (
                    here.to_owned(),
                    format!("{at}/{}", below.trim_start_matches('/')),
                )
            }
            Some(_) => continue,
        };
        if path.is_pattern() || !path.only().is_empty() || !path.except().is_empty() {
            return Err(path);
        }
        parts.push(shown);
    }
    Ok(parts)
}

/// A part of a tree that is some of a directory: a mount shows all of one, and so does a copy of a
/// part.
pub(in crate::plan) fn some_of_one(path: &TreePath, taken: Taken, span: &Span) -> Diagnostic {
    let place = with_drive(path.as_str());
    let (done, instead) = match taken {
        Taken::Mount => ("mounted", "take it as = \"copy\", or let"),
        Taken::Copy => ("copied as a part", "copy all of the tree, or let"),
        Taken::Gate => ("looked at", "let"),
    };
    let message = format!("`{place}` cannot be {done} on Windows");
    Diagnostic::new(rule::NOT_ON_WINDOWS, message)
        .at(span, "all of a directory is seen, and this is some of one")
        .help(format!("{instead} the tree name whole directories"))
}

/// How a part of a tree is taken.
#[derive(Clone, Copy)]
pub(in crate::plan) enum Taken {
    Mount,
    Copy,
    Gate,
}

/// What a stage does that Windows cannot.
pub(in crate::plan) fn check(planner: &mut Planner<'_, '_>, stage: &PlannedStage) {
    if let Start::Merge(merge) = &stage.start {
        let (wrong, help) = if merge.compare {
            let wrong = "two of its trees could have one path, and nothing compares them there";
            (wrong.to_owned(), "each tree needs paths of its own")
        } else if let Some((marker, tree)) = merge.marker_in_a_tree() {
            // A mount of the tree would hide it: it stands on another root.
            let (place, tree) = (with_drive(&marker.path), &planner.stages[tree].name);
            let wrong = format!("{place} would stand in the tree of `{tree}`");
            (wrong, "say where it goes: { stage, from, to, else, why }")
        } else {
            return;
        };
        let message = format!("stage `{}` cannot merge this on Windows", stage.name);
        planner.report.push(
            Diagnostic::new(rule::NOT_ON_WINDOWS, message)
                .at(&stage.span, wrong)
                .help(help),
        );
        return;
    }
    let starts = match &stage.start {
        Start::Scratch => Some("it starts from nothing"),
        Start::Stage(from) => match planner.stages[*from].product {
            Product::Tree(_) => Some("it starts from a tree"),
            Product::Root => None,
        },
        Start::Image(_) | Start::Merge(_) => None,
    };
    if let Some(why) = starts {
        let message = format!("stage `{}` has no system under it", stage.name);
        planner.report.push(
            Diagnostic::new(rule::NOT_ON_WINDOWS, message)
                .at(&stage.span, why)
                .help("start it from a Windows image, and put the tree onto that with `add`"),
        );
    }
    let mut report = Report::default();
    for step in &stage.steps {
        if let Some(what) = lacks(step) {
            let message = format!("a step on Windows cannot have {what}");
            let lacking = Diagnostic::new(rule::NOT_ON_WINDOWS, message);
            report.push(lacking.at(&step.span, "this step"));
        }
        if let Work::File(FileWork::Link { .. }) = &step.work {
            let message = "a file operation on Windows makes no links";
            let lacking = Diagnostic::new(rule::NOT_ON_WINDOWS, message);
            report.push(
                lacking
                    .at(&step.span, "this step")
                    .help("make it with a command"),
            );
        }
    }
    occupied(planner, stage, &mut report);
    planner.report.extend(report);
}

/// What of a step Windows does not have.
pub(in crate::plan) fn lacks(step: &PlannedStep) -> Option<&'static str> {
    let sandbox = &step.sandbox;
    let cache = |cache: &CacheMount| cache.from.is_some() || cache.access.is_said();
    if !step.secrets.is_empty() {
        Some("secrets as files: name it in `host`, as a variable")
    } else if !step.ssh.is_empty() {
        Some("SSH agents")
    } else if !step.tmpfs.is_empty() || sandbox.shm_size.is_some() {
        Some("directories in memory")
    } else if step.cache.iter().any(cache) {
        Some("caches that begin with something, or belong to somebody")
    } else if sandbox.insecure {
        Some("other privileges than those of a container")
    } else if !sandbox.hosts.is_empty() {
        Some("extra hosts")
    } else if !sandbox.ulimits.is_empty() {
        Some("limits of a process")
    } else if !sandbox.devices.is_empty() {
        Some("devices")
    } else if step.network == Network::Host {
        Some("the host's network")
    } else {
        None
    }
}

/// Mounts and added trees where something is already: Windows does not mount over a directory
/// that an image has. That trees do not go over each other is seen where they are placed.
fn occupied(planner: &Planner<'_, '_>, stage: &PlannedStage, report: &mut Report) {
    let mut taken: Vec<(&TreePath, &str)> = chain(planner, stage)
        .into_iter()
        .flat_map(|below| added(planner, below))
        .collect();
    for (path, name) in added(planner, stage) {
        if system(path.directory()) {
            let place = with_drive(path.directory());
            report.push(in_the_way(
                &place,
                "every Windows image has it",
                &stage.span,
            ));
        }
        taken.push((path, name));
    }
    for step in &stage.steps {
        for (at, span) in mounts(step) {
            let place = TreePath::all_of(at.to_owned());
            let tree = taken.iter().find(|(path, _)| path.overlaps(&place));
            let shown = with_drive(at);
            if let Some((_, name)) = tree {
                report.push(in_the_way(
                    &shown,
                    &format!("the tree of `{name}` is there"),
                    span,
                ));
            } else if system(at) {
                report.push(in_the_way(&shown, "every Windows image has it", span));
            }
        }
    }
}

fn system(path: &str) -> bool {
    SYSTEM.contains(&path.to_lowercase().as_str())
}

fn in_the_way(place: &str, why: &str, span: &Span) -> Diagnostic {
    Diagnostic::new(rule::OCCUPIED, format!("{place} is not free"))
        .at(span, why)
        .help("choose a directory that is not there: `at` of the entry, or another tree path")
}

/// The trees that a stage adds to its root, by path, with the names of their stages.
fn added<'p>(
    planner: &'p Planner<'_, '_>,
    stage: &'p PlannedStage,
) -> impl Iterator<Item = (&'p TreePath, &'p str)> {
    stage.add.iter().flat_map(move |&part| {
        let name = planner.stages[part].name.as_str();
        planner.paths(part).iter().map(move |path| (path, name))
    })
}

/// The stages below a stage, from its start down.
fn chain<'p>(planner: &'p Planner<'_, '_>, stage: &PlannedStage) -> Vec<&'p PlannedStage> {
    let mut chain = Vec::new();
    let mut start = &stage.start;
    while let Start::Stage(from) = start {
        let below = &planner.stages[*from];
        chain.push(below);
        start = &below.start;
    }
    chain
}

/// Where a step has mounts.
fn mounts(step: &PlannedStep) -> impl Iterator<Item = (&str, &Span)> {
    let files = step.files.keys().map(|at| (at.as_str(), &step.span));
    let uses = step.uses.iter().map(|used| (used.at.as_str(), &used.span));
    let caches = step.cache.iter().map(|c| (c.at.as_str(), &step.span));
    files.chain(uses).chain(caches)
}
