//! What comes out: the product of a stage, its config, and the tag that it may have.

use std::collections::BTreeMap;

use super::build::Planner;
use super::{Facts, ImageConfig, PlannedGate, PlannedOutput, Selection, What};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::{File, Output};
use crate::graph::{Turn, names_argument};
use crate::predefined;
use crate::text::Template;

impl Planner<'_, '_> {
    pub(super) fn output(&mut self, gates: &[PlannedGate]) -> Option<PlannedOutput> {
        match self.selection.what {
            What::Gates => {
                if gates.is_empty() {
                    let lane = self.selection.setting.lane;
                    let message = format!(
                        "no gate checks anything of lane `{}`",
                        self.selection.setting.name
                    );
                    self.report
                        .push(Diagnostic::new(rule::REQUEST, message).at(&lane.span, "this lane"));
                }
                Some(PlannedOutput::Gates)
            }
            What::Stage(name) | What::Step(name, _) => {
                let &stage = self.index.get(name)?;
                self.annotations = self.inherited[stage].annotations.clone();
                // What has no tag to lie, has no word for a switch, a payload or a step that was left out either.
                let lane = self.selection.setting.name;
                let why =
                    format!("stage `{name}` was asked for, which is no output of lane `{lane}`");
                self.unpublishable.push(why);
                Some(PlannedOutput::Product {
                    stage,
                    root: None,
                    add: Vec::new(),
                    config: Box::new(self.inherited[stage].config.clone()),
                    tag: None,
                    attest: false,
                    span: self.stages[stage].span.clone(),
                })
            }
            What::Output(output) => self.declared(output),
        }
    }

    fn declared(&mut self, output: &Output) -> Option<PlannedOutput> {
        let &stage = self.index.get(output.stage.value.as_str())?;
        let root = output.root.as_ref().and_then(|template| {
            let root = self
                .selection
                .fill(template, &BTreeMap::new(), &mut self.report)?;
            self.spelling
                .absolute(&root, &template.span, &mut self.report)
        });
        let tag = match self.selection.tag(output, &mut self.report) {
            Ok(tag) => tag,
            Err(why) => {
                self.unpublishable.extend(why);
                None
            }
        };
        let config = match output.root {
            Some(_) => ImageConfig::default(),
            None => {
                self.annotations = self.inherited[stage].annotations.clone();
                self.inherited[stage].config.clone()
            }
        };
        let add = output.add.iter().filter_map(|file| self.beside(file));
        let add = add.collect();
        Some(PlannedOutput::Product {
            stage,
            root,
            add,
            config: Box::new(config),
            tag: tag.filter(|_| self.unpublishable.is_empty()),
            attest: output.attest,
            span: output.span.clone(),
        })
    }
}

impl Planner<'_, '_> {
    /// A file beside a bundle: its path in the context, and in the bundle.
    fn beside(&mut self, file: &File) -> Option<(String, String)> {
        if !self.selection.setting.holds(file.when.as_ref()) {
            return None;
        }
        let from = file.from.value.trim_end_matches('/').to_owned();
        let name = from.rsplit('/').next().unwrap_or(&from).to_owned();
        let Some(template) = &file.at else {
            return Some((from, name));
        };
        let report = &mut self.report;
        let at = self.selection.fill(template, &BTreeMap::new(), report)?;
        let below = at.trim_end_matches('/');
        let good = below.split('/').all(|part| {
            !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':', '*', '?'])
        });
        if !good {
            let message = format!("`{at}` is not a directory of the bundle");
            self.report.push(
                Diagnostic::new(rule::PATH, message)
                    .at(&template.span, "expected a path below its root, with `/`"),
            );
            return None;
        }
        Some((from, format!("{below}/{name}")))
    }
}

impl<'g> Selection<'g> {
    /// What the tag is made from: the group's text, where the lane is built for one.
    pub(super) fn tag_text(&self, output: &'g Output) -> Option<&'g Template> {
        let text = match self.group {
            Some(group) => &group.tag,
            None => &output.tag,
        };
        text.as_ref()
    }

    /// The tag of an output: its template with what the switches add; nothing when it has none.
    ///
    /// # Errors
    /// Why what is built may have no tag, each a sentence.
    pub(crate) fn tag(
        &self,
        output: &'g Output,
        report: &mut Report,
    ) -> Result<Option<String>, Vec<String>> {
        let template = self.tag_text(output);
        let (part, unsaid) = match self.setting.tag_part(output, template) {
            Ok(part) => (part, Vec::new()),
            Err(unsaid) => (String::new(), unsaid),
        };
        let why = unsaid.into_iter().map(|turn| self.unsaid(turn));
        let why = why.chain(self.unpinned(output));
        let why: Vec<String> = why.chain(self.untold(output, template)).collect();
        if !why.is_empty() {
            return Err(why);
        }
        let Some(template) = template else {
            return Ok(None);
        };
        let tag = self.fill(template, &BTreeMap::new(), report);
        let known = self.knows(template);
        Ok(tag
            .map(|tag| tag + &part)
            .filter(|tag| valid(tag, known, template, report)))
    }
}

impl<'g> Selection<'g> {
    /// That a part of the tag is missing.
    fn unsaid(&self, turn: Turn<'_>) -> String {
        match turn {
            Turn::Switch(name) => {
                let on = self.setting.switches.get(name) == Some(&true);
                format!("switch `{name}` is {on}, and has no `tag-part`")
            }
            Turn::Payload(name) => format!("payload `{name}` is there, and has no `tag-part`"),
        }
    }

    /// The arguments that make an output another than it is by default, and are not in its tag. A stamp says something
    /// of the run, not of the content, and the date of the sources comes with them.
    fn untold(
        &self,
        output: &'g Output,
        text: Option<&'g Template>,
    ) -> impl Iterator<Item = String> {
        let moved = self.graph.args.iter().filter(|(name, arg)| {
            let default = arg.default.as_ref().map(|text| text.value.as_str());
            let now = self.args.get(name.as_str()).map(String::as_str);
            now != default && !arg.stamp && name.as_str() != predefined::SOURCE_DATE
        });
        let told = move |name: &str| text.is_some_and(|text| names_argument(text, name));
        moved
            .filter(move |(name, _)| !told(name) && self.setting.has_argument(output, name))
            .map(|(name, _)| {
                format!("argument `{name}` is not at its default, and no tag names it")
            })
    }

    /// The images that came from somewhere else than the file says: by a named context of the caller.
    pub(super) fn replaced(&self, facts: &Facts) -> Vec<String> {
        let images = self.images().unwrap_or_default().into_iter();
        let replaced = images.filter(|image| {
            let pinned = image.value.split_once('@').map(|(_, digest)| digest);
            let fact = facts.images.get(&image.value).filter(|fact| fact.given);
            fact.is_some_and(|fact| pinned.is_none() || fact.source.digest() != pinned)
        });
        replaced
            .map(|image| format!("a named context stands in for image `{}`", image.value))
            .collect()
    }

    /// The payloads in an output that are held against no hash: whatever the tag says of them, it
    /// would stand for each file that somebody has.
    fn unpinned(&self, output: &'g Output) -> impl Iterator<Item = String> {
        let pins = &self.unverified.pins;
        let there = self.graph.payloads.iter().filter(|(name, payload)| {
            let pinned = self.graph.hash_of(payload.sha256.as_ref(), pins).is_some();
            !pinned && self.setting.has_payload(name)
        });
        there
            .filter(|(name, _)| self.setting.depends_on(output, Turn::Payload(name)))
            .map(|(name, _)| format!("payload `{name}` is held against no hash"))
    }
}

/// A tag, or a whole reference with one: `app:1.0`. With a value that is not known yet its name is
/// not judged.
fn valid(tag: &str, known: bool, template: &Template, report: &mut Report) -> bool {
    let last = tag.rsplit(['/', ':']).next().unwrap_or_default();
    let word = |b: u8| b.is_ascii_alphanumeric() || b"._-/:".contains(&b);
    let good = last.len() <= 128
        && last.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && tag.bytes().all(word)
        && (!known || !tag.contains(['/', ':']) || tag.parse::<llb::Reference>().is_ok());
    if !good {
        report.push(not_a_tag(tag, &template.span));
    }
    good
}

fn not_a_tag(tag: &str, span: &Span) -> Diagnostic {
    Diagnostic::new(rule::VALUE, format!("`{tag}` is not a tag"))
        .at(span, "made from this")
        .help("letters, digits, `.`, `_` and `-`, at most 128; a name may stand before it: app:1.0")
}
