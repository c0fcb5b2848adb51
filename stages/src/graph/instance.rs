//! Instances: a stage together with the attributes of the lane that it, or anything that it
//! starts from or uses, reads. Lanes in which those are equal share it, vertex for vertex.
//!
//! What is read is found by what is written: a condition reads all that it looks at, whether it
//! holds or not, and what does not hold reads nothing more. So an instance may be told apart
//! from an equal one, and never be taken for another. What only the image's config carries
//! (`image`) is no part of it: no step sees that.

use std::collections::{BTreeMap, BTreeSet};

use super::templates::{templates_of_brings, templates_of_step, templates_of_work};
use super::{Graph, Setting, brings_conditions, device_conditions, entry_conditions, slots};
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::{Attribute, Brings, Command, FileSource, From, Stage, Step, When};
use crate::text::{ArgEntry, LaneField, Template, ValueRef};

/// A stage as some lanes have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance<'g> {
    /// The stage.
    pub stage: &'g str,
    /// Every attribute that it depends on.
    pub reads: BTreeMap<Attribute, Read<'g>>,
    /// The same in every lane that shares it, and different in every other of the graph:
    /// `onnx`, `onnx@lane.target=arm64,slot.sdk=rocm`. An attribute without a value has no `=`;
    /// `lane.platform` is there when the graph's lanes run on several.
    pub id: String,
}

/// An attribute that an instance depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Read<'g> {
    /// What it is in this lane; nothing where the lane has none.
    pub value: Option<String>,
    /// The stage that reads it first: this one, or one behind it.
    pub by: &'g str,
    /// Where.
    pub span: &'g Span,
}

impl<'g> Setting<'g> {
    /// The instance of every stage that the lane has, by the stage's name.
    pub fn instances(&self) -> BTreeMap<&'g str, Instance<'g>> {
        let stages = self.graph.stages.keys().map(String::as_str);
        let stages: Vec<&str> = stages.filter(|stage| self.has(stage)).collect();
        self.instances_of(stages)
    }

    /// The instances of some stages and of all behind them.
    pub fn instances_of(
        &self,
        stages: impl IntoIterator<Item = &'g str>,
    ) -> BTreeMap<&'g str, Instance<'g>> {
        let platforms = self.graph.lanes.values().map(|lane| &lane.platform.value);
        let several = platforms.collect::<BTreeSet<_>>().len() > 1;
        let mut made: BTreeMap<&str, BTreeMap<Attribute, Read<'g>>> = BTreeMap::new();
        for name in self.in_order(stages) {
            let Some(stage) = self.graph.stages.get(name) else {
                continue;
            };
            let mut reads = self.own_reads(name, stage);
            for (input, _) in self.inputs(stage) {
                let behind = made.get(input.value.as_str()).into_iter().flatten();
                for (attribute, read) in behind {
                    reads
                        .entry(attribute.clone())
                        .or_insert_with(|| read.clone());
                }
            }
            made.insert(name, reads);
        }
        made.into_iter()
            .map(|(stage, reads)| {
                let id = id(stage, &reads, several);
                (stage, Instance { stage, reads, id })
            })
            .collect()
    }

    /// What a stage itself reads, its inputs aside.
    fn own_reads(&self, name: &'g str, stage: &'g Stage) -> BTreeMap<Attribute, Read<'g>> {
        let mut reads = Reads {
            setting: self,
            stage: name,
            found: BTreeMap::new(),
        };
        match &stage.from {
            Some(From::Slot(slot)) => {
                reads.attribute(Attribute::Slot(slot.value.clone()), &slot.span)
            }
            // Which one it is depends on those before it.
            Some(From::First(names)) => {
                for name in names {
                    let candidate = self.graph.stages.get(&name.value);
                    reads.whens(candidate.and_then(|stage| stage.when.as_ref()));
                    if self.has(&name.value) {
                        break;
                    }
                }
            }
            Some(From::Image(image, _)) => {
                reads.attribute(Attribute::Lane(LaneField::Platform), &image.span);
            }
            Some(From::Stage(_) | From::Scratch(_)) | None => {}
        }
        reads.whens(entry_conditions(stage));
        // What may be absent stands there or leaves its marker, as the stage is in the lane.
        let absent = stage.merge.iter().filter(|part| part.absent.is_some());
        let absent = absent.filter_map(|part| self.graph.stages.get(&part.stage.value));
        reads.whens(absent.filter_map(|stage| stage.when.as_ref()));
        templates_of_work(stage, &mut |template| reads.template(template));
        if let [first, _, ..] = stage.merge.as_slice() {
            // Trees for Windows are compared without regard to case.
            reads.attribute(Attribute::Lane(LaneField::TargetOs), &first.span);
        }
        for name in self.graph.gits_of(stage) {
            let git = self.graph.gits.get(name.value);
            let texts = git.map(|git| git.reference.iter().chain(&git.subdir).chain([&git.url]));
            for text in texts.into_iter().flatten() {
                reads.template(text);
            }
        }
        for step in &stage.steps {
            reads.whens(&step.when);
            if self.holds(step.when.as_ref()) {
                reads.step(step);
            }
        }
        reads.found
    }
}

/// The attributes that a stage reads, while they are gathered.
struct Reads<'s, 'g> {
    setting: &'s Setting<'g>,
    stage: &'g str,
    found: BTreeMap<Attribute, Read<'g>>,
}

impl<'g> Reads<'_, 'g> {
    fn attribute(&mut self, attribute: Attribute, span: &'g Span) {
        let value = self.setting.value_of(&attribute);
        let by = self.stage;
        self.found
            .entry(attribute)
            .or_insert(Read { value, by, span });
    }

    fn whens(&mut self, whens: impl IntoIterator<Item = &'g When>) {
        let mut open: Vec<&When> = whens.into_iter().collect();
        while let Some(when) = open.pop() {
            open.extend(when.not.as_deref().into_iter().chain(&when.any));
            for clause in &when.clauses {
                self.attribute(clause.what.clone(), &clause.span);
            }
        }
    }

    fn template(&mut self, template: &'g Template) {
        for value in template.values() {
            self.value(value, &template.span);
        }
    }

    fn value(&mut self, value: &ValueRef, span: &'g Span) {
        match value {
            ValueRef::Lane(field) => self.attribute(Attribute::Lane(*field), span),
            ValueRef::Set(name) => self.attribute(Attribute::Set(name.clone()), span),
            ValueRef::Slot(name) => self.attribute(Attribute::Slot(name.clone()), span),
            ValueRef::Payload(name) => self.attribute(Attribute::Payload(name.clone()), span),
            ValueRef::Switch(name) => self.attribute(Attribute::Switch(name.clone()), span),
            ValueRef::Arch(_) => {
                self.attribute(Attribute::Lane(LaneField::Target), span);
                self.attribute(Attribute::Lane(LaneField::TargetOs), span);
            }
            ValueRef::Platform(arg) => {
                for field in arg.fields() {
                    self.attribute(Attribute::Lane(*field), span);
                }
            }
            ValueRef::Named(_) | ValueRef::Pin(_) | ValueRef::Arg(_) | ValueRef::Env(_) => {}
            ValueRef::Commit(name) => self.git(name),
        }
    }

    /// Who takes a git source reads what says where it is.
    fn git(&mut self, name: &str) {
        let git = self.setting.graph.gits.get(name);
        for template in git.into_iter().flat_map(|git| git.templates()) {
            self.template(template);
        }
    }

    /// Who takes a download reads what says where it is.
    fn fetch(&mut self, name: &str) {
        if let Some(fetch) = self.setting.graph.fetches.get(name) {
            self.template(&fetch.url);
        }
    }

    fn step(&mut self, step: &'g Step) {
        match &step.command {
            Command::Run(_) | Command::Line(_) | Command::Script { .. } => {
                self.attribute(Attribute::Lane(LaneField::Platform), &step.span);
            }
            // No platform runs it.
            Command::File(file) => {
                if let Some(git) = file.git() {
                    self.git(&git.value);
                }
                if let Some(fetch) = file.fetch() {
                    self.fetch(&fetch.value);
                }
                if let Some(payload) = file.payload() {
                    let read = Attribute::Payload(payload.value.clone());
                    self.attribute(read, &payload.span);
                }
            }
        }
        self.whens(device_conditions(step));
        let graph = self.setting.graph;
        let kits = step
            .kits
            .iter()
            .filter_map(|kit| graph.kits.get(&kit.value));
        self.whens(kits.filter_map(|kit| kit.when.as_ref()));
        templates_of_step(step, &mut |template| self.template(template));
        for brings in self.setting.brings(step) {
            self.brings(brings);
        }
    }

    fn brings(&mut self, brings: &'g Brings) {
        self.whens(brings_conditions(brings));
        templates_of_brings(brings, &mut |template| self.template(template));
        for file in &brings.files {
            match &file.source {
                FileSource::Context => {}
                FileSource::Git(git) => self.git(&git.value),
                FileSource::Fetch(fetch) => self.fetch(&fetch.value),
                FileSource::Payload(payload) => {
                    let read = Attribute::Payload(payload.value.clone());
                    self.attribute(read, &payload.span);
                }
            }
        }
        for entry in &brings.args {
            if let ArgEntry::One { value, span, .. } = entry {
                self.value(value, span);
            }
        }
    }
}

fn id(stage: &str, reads: &BTreeMap<Attribute, Read<'_>>, several_platforms: bool) -> String {
    let shown = reads.iter().filter(|(attribute, _)| {
        several_platforms || **attribute != Attribute::Lane(LaneField::Platform)
    });
    let parts = shown.map(|(attribute, read)| match &read.value {
        Some(value) => format!("{attribute}={value}"),
        None => attribute.to_string(),
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() {
        stage.to_owned()
    } else {
        format!("{stage}@{}", parts.join(","))
    }
}

/// `same-for` holds: in no lane does the stage read what it names.
pub(super) fn check(graph: &Graph, report: &mut Report) {
    let asserted = || graph.stages.iter().filter(|(_, s)| !s.same_for.is_empty());
    let mut said: BTreeSet<(&str, &Attribute)> = BTreeSet::new();
    for setting in graph.settings() {
        let names = asserted().map(|(name, _)| name.as_str());
        let present: Vec<&str> = names.filter(|name| setting.has(name)).collect();
        let instances = setting.instances_of(present);
        for (name, stage) in asserted() {
            let Some(instance) = instances.get(name.as_str()) else {
                continue;
            };
            for attribute in &stage.same_for {
                let Some(read) = dependence(graph, instance, &attribute.value) else {
                    continue;
                };
                if said.insert((name, &attribute.value)) {
                    report.push(depends(name, attribute, read));
                }
            }
        }
    }
}

/// Where an instance depends on an attribute: itself, or over what fills a slot.
fn dependence<'a>(
    graph: &Graph,
    instance: &'a Instance<'_>,
    on: &Attribute,
) -> Option<&'a Read<'a>> {
    let through = || {
        let mut slots = instance
            .reads
            .iter()
            .filter_map(|(read, place)| match read {
                Attribute::Slot(slot) => Some((slot, place)),
                _ => None,
            });
        slots
            .find(|(slot, _)| slots::decided_by(graph, slot).contains(on))
            .map(|(_, place)| place)
    };
    instance.reads.get(on).or_else(through)
}

fn depends(
    stage: &str,
    attribute: &crate::diag::Spanned<Attribute>,
    read: &Read<'_>,
) -> Diagnostic {
    let message = format!("stage `{stage}` depends on {}", attribute.value);
    let by = if read.by == stage {
        "it is read here".to_owned()
    } else {
        format!("stage `{}`, which it is made of, reads it here", read.by)
    };
    Diagnostic::new(rule::SAME_FOR, message)
        .at(&attribute.span, "it is said not to")
        .related(read.span, by)
        .help("lanes that differ in this build the stage each on their own: move what reads it into a later stage, or drop the assertion")
}
