//! Every text with values of a stage.

use crate::file::{Brings, Command, EnvEdit, From, Stage};
use crate::text::Template;

/// Calls `each` for every text with values of a stage.
pub(super) fn templates_of<'a>(stage: &'a Stage, mut each: impl FnMut(&'a Template)) {
    if let Some(From::Image(template)) = &stage.from {
        each(template);
    }
    for part in &stage.merge {
        let texts = part.from.iter().chain(&part.to).chain(&part.absent);
        texts.for_each(&mut each);
    }
    stage
        .conflict
        .iter()
        .for_each(|conflict| each(&conflict.path));
    for entry in &stage.tree {
        each(&entry.at);
        entry.only.iter().chain(&entry.except).for_each(&mut each);
    }
    for (edit, _) in stage.env.values() {
        match edit {
            EnvEdit::Set(template) => each(template),
            EnvEdit::List {
                set,
                prepend,
                append,
            } => {
                set.iter()
                    .flatten()
                    .chain(prepend)
                    .chain(append)
                    .for_each(&mut each);
            }
        }
    }
    let image = &stage.image;
    image
        .env
        .values()
        .chain(image.labels.values())
        .for_each(&mut each);
    image
        .entrypoint
        .iter()
        .flatten()
        .chain(image.cmd.iter().flatten())
        .for_each(&mut each);
    image.user.iter().chain(&image.workdir).for_each(&mut each);
    for step in &stage.steps {
        step.workdir.iter().chain(&step.user).for_each(&mut each);
        match &step.command {
            Command::Run(run) => run.iter().for_each(&mut each),
            Command::Script(_) => {}
            Command::File(file) => file.templates().into_iter().for_each(&mut each),
        }
    }
}

/// Calls `each` for every text with values that a step or kit has.
pub(super) fn templates_of_brings<'a>(brings: &'a Brings, each: &mut impl FnMut(&'a Template)) {
    brings.env.values().for_each(&mut *each);
    brings
        .files
        .iter()
        .filter_map(|file| file.at.as_ref())
        .for_each(&mut *each);
    for used in &brings.uses {
        used.sub.iter().chain(&used.at).for_each(&mut *each);
    }
    for cache in &brings.cache {
        each(&cache.at);
        cache.sub.iter().for_each(&mut *each);
    }
    let guarded = brings.secret.iter().chain(&brings.ssh);
    guarded
        .filter_map(|mount| mount.at.as_ref())
        .for_each(&mut *each);
    brings.tmpfs.iter().for_each(|mount| each(&mount.at));
}
