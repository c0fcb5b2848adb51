//! Every text with values of a stage.

use crate::file::{Brings, Command, EnvChange, From, HealthTest, Healthcheck, Stage, Step};
use crate::text::Template;

/// Calls `each` for every text with values of a stage.
pub(super) fn templates_of<'a>(stage: &'a Stage, mut each: impl FnMut(&'a Template)) {
    templates_of_work(stage, &mut each);
    templates_of_image(stage, &mut each);
    for step in &stage.steps {
        templates_of_step(step, &mut each);
    }
}

/// The texts that a stage's product is made of, without those of its steps.
pub(super) fn templates_of_work<'a>(stage: &'a Stage, each: &mut impl FnMut(&'a Template)) {
    if let Some(From::Image(template, _)) = &stage.from {
        each(template);
    }
    for part in &stage.merge {
        let texts = part.from.iter().chain(&part.to).chain(&part.absent);
        texts.for_each(&mut *each);
    }
    stage
        .conflict
        .iter()
        .for_each(|conflict| each(&conflict.path));
    for entry in &stage.tree {
        each(&entry.at);
        let patterns = entry.only.iter().chain(&entry.except);
        patterns.for_each(&mut *each);
    }
    for edit in stage.env.values() {
        if let EnvChange::Set(template) = &edit.change {
            each(template);
        }
        let parts = edit.change.parts().map(|part| &part.text);
        parts.for_each(&mut *each);
    }
}

/// The texts that only the product's config carries.
pub(super) fn templates_of_image<'a>(stage: &'a Stage, each: &mut impl FnMut(&'a Template)) {
    stamped(stage).chain(plain(stage)).for_each(each);
}

/// The texts of a config that may have stamps: environment, labels, annotations.
fn stamped(stage: &Stage) -> impl Iterator<Item = &Template> {
    let image = &stage.image;
    let values = image.env.values().chain(image.labels.values());
    let values = values.chain(image.annotations.values());
    values.map(|entry| &entry.text)
}

/// The other texts of a config.
pub(super) fn plain(stage: &Stage) -> impl Iterator<Item = &Template> {
    let image = &stage.image;
    let lists = image
        .entrypoint
        .iter()
        .chain(&image.cmd)
        .chain(&image.shell);
    let texts = image.user.iter().chain(&image.workdir);
    let health: Vec<&Template> = match &image.healthcheck {
        Some(Healthcheck::Test { test, .. }) => match test {
            HealthTest::Cmd(words) => words.iter().collect(),
            HealthTest::Script(script) => vec![script],
        },
        Some(Healthcheck::None) | None => Vec::new(),
    };
    let volumes = image.volumes.iter().map(|entry| &entry.text);
    let texts = texts.chain(&image.stop_signal).chain(volumes);
    lists.flatten().chain(texts).chain(health)
}

/// The texts of a step itself, without what it and its kits bring.
pub(super) fn templates_of_step<'a>(step: &'a Step, each: &mut impl FnMut(&'a Template)) {
    step.workdir.iter().chain(&step.user).for_each(&mut *each);
    match &step.command {
        Command::Run(words) | Command::Script { shell: words, .. } => {
            words.iter().for_each(each);
        }
        Command::Line(line) => each(line),
        Command::File(file) => file.templates().into_iter().for_each(each),
    }
}

/// Calls `each` for every text with values that a step or kit has.
pub(super) fn templates_of_brings<'a>(brings: &'a Brings, each: &mut impl FnMut(&'a Template)) {
    brings.env.values().for_each(|entry| each(&entry.text));
    brings
        .files
        .iter()
        .filter_map(|file| file.at.as_ref())
        .for_each(&mut *each);
    for used in &brings.uses {
        used.sub.iter().chain(&used.at).for_each(&mut *each);
    }
    brings.pins_file.iter().for_each(|file| each(&file.at));
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
