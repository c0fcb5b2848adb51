//! A lane with its switches: everything that a condition can look at.

use std::collections::{BTreeMap, BTreeSet};

use super::payloads::payloads_of;
use super::{Edge, Graph};
use crate::arch::{ArchTable, Target};
use crate::diag::Spanned;
use crate::file::{
    ABSENT, Attribute, Brings, Clause, From, Lane, Output, PRESENT, Part, Refuse, RequestField,
    Stage, Step, When,
};
use crate::lookup::Lookup;
use crate::predefined::PlatformArg;
use crate::text::LaneField;

/// A lane and what its switches are.
#[derive(Debug, Clone)]
pub struct Setting<'g> {
    /// The graph.
    pub graph: &'g Graph,
    /// The lane's name.
    pub name: &'g str,
    /// The lane.
    pub lane: &'g Lane,
    /// Every switch of the graph.
    pub switches: BTreeMap<&'g str, bool>,
    /// Whether payloads are there, as far as that is known: what nobody looked for counts as
    /// absent.
    pub payloads: BTreeMap<&'g str, bool>,
    /// What the caller named of the lane; nothing while all lanes are looked at.
    pub asked: Asked<'g>,
}

/// How far a setting goes: found once, for all checks that go along it.
pub(super) struct Reach<'g> {
    pub(super) setting: Setting<'g>,
    /// Whether the file refuses it.
    pub(super) refused: bool,
    /// As [`Setting::reached`].
    pub(super) stages: Lookup<&'g str, ()>,
}

impl<'g> Reach<'g> {
    fn of(setting: Setting<'g>) -> Self {
        Self {
            refused: setting.refusal().is_some(),
            stages: setting.reached(),
            setting,
        }
    }
}

/// What a caller named of a lane: refusals may look at it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'g> {
    /// The stage of `LANE/STAGE`.
    pub stage: Option<&'g str>,
    /// The output that is built.
    pub output: Option<&'g str>,
}

impl Graph {
    /// A lane with every switch at its default.
    pub fn setting<'g>(&'g self, name: &'g str, lane: &'g Lane) -> Setting<'g> {
        let switches = self
            .switches
            .iter()
            .map(|(name, s)| (name.as_str(), s.default))
            .collect();
        Setting {
            graph: self,
            name,
            lane,
            switches,
            payloads: BTreeMap::new(),
            asked: Asked::default(),
        }
    }

    /// The settings that the file does not refuse.
    pub(super) fn settings(&self) -> Vec<Setting<'_>> {
        let mut settings = self.all_settings();
        settings.retain(|setting| setting.refusal().is_none());
        settings
    }

    /// Every setting with the stages that it reaches.
    pub(super) fn reaches(&self) -> Vec<Reach<'_>> {
        self.all_settings().into_iter().map(Reach::of).collect()
    }

    /// Every lane, and every lane with one switch turned, without payloads, with each alone and
    /// with all: what the checks look at. Not every combination of switches and payloads, whose
    /// number doubles with each.
    pub(super) fn all_settings(&self) -> Vec<Setting<'_>> {
        let mut settings = Vec::new();
        for (name, lane) in &self.lanes {
            let plain = self.setting(name, lane);
            for payloads in self.payload_states() {
                let setting = Setting {
                    payloads,
                    ..plain.clone()
                };
                for switch in self.switches.keys() {
                    let mut turned = setting.clone();
                    turned.switches.entry(switch).and_modify(|on| *on = !*on);
                    settings.push(turned);
                }
                settings.push(setting);
            }
        }
        settings
    }
}

impl Graph {
    /// Which payloads are there, as the checks look at it: none, each alone, all.
    pub(crate) fn payload_states(&self) -> Vec<BTreeMap<&str, bool>> {
        let names = || self.payloads.keys().map(String::as_str);
        let state = |there: &dyn Fn(&str) -> bool| names().map(|n| (n, there(n))).collect();
        let mut states = vec![state(&|_| false)];
        if self.payloads.len() > 1 {
            states.extend(names().map(|alone| state(&|name| name == alone)));
        }
        if !self.payloads.is_empty() {
            states.push(state(&|_| true));
        }
        states
    }
}

impl<'g> Setting<'g> {
    /// Whether a condition holds. No condition always holds.
    pub fn holds(&self, when: Option<&When>) -> bool {
        when.is_none_or(|when| self.meets(when))
    }

    fn meets(&self, when: &When) -> bool {
        let clauses = when.clauses.iter().all(|clause| self.clause(clause));
        let not = when.not.as_ref().is_none_or(|not| !self.meets(not));
        clauses && not && (when.any.is_empty() || when.any.iter().any(|any| self.meets(any)))
    }

    /// Whether one clause holds.
    pub(super) fn clause(&self, clause: &Clause) -> bool {
        let value = self.value_of(&clause.what);
        value.is_some_and(|value| clause.any_of.iter().any(|any| any.value == value))
    }

    /// The value of what a condition may look at; none where the lane has none.
    pub fn value_of(&self, attribute: &Attribute) -> Option<String> {
        match attribute {
            Attribute::Lane(field) => self.attribute(*field),
            Attribute::Slot(slot) => self.choice(slot).map(|(name, _)| name.to_owned()),
            Attribute::Set(name) => self.lane.set.get(name).map(|text| text.value.clone()),
            Attribute::Payload(name) => Some(self.presence(name).to_owned()),
            Attribute::Request(RequestField::Stage) => self.asked.stage.map(str::to_owned),
            Attribute::Request(RequestField::Output) => self.asked.output.map(str::to_owned),
            Attribute::Switch(name) => self.switches.get(name.as_str()).map(bool::to_string),
        }
    }

    /// Whether a payload is there.
    pub fn has_payload(&self, name: &str) -> bool {
        self.payloads.get(name) == Some(&true)
    }

    /// The same as a word.
    pub(crate) fn presence(&self, payload: &str) -> &'static str {
        match self.has_payload(payload) {
            true => PRESENT,
            false => ABSENT,
        }
    }

    /// Whether everything that a condition looks at is known.
    pub(crate) fn knows(&self, when: &When) -> bool {
        payloads_of(vec![when]).all(|name| self.payloads.contains_key(name))
    }

    /// The value of an attribute of the lane.
    pub fn attribute(&self, field: LaneField) -> Option<String> {
        Some(match field {
            LaneField::Name => self.name.to_owned(),
            LaneField::Platform => self.lane.platform.value.clone(),
            LaneField::Target => target(self.lane)?.arch,
            LaneField::TargetOs => target(self.lane)?.os,
        })
    }

    /// A platform of the lane, as Docker's argument says it.
    pub fn platform(&self, arg: PlatformArg) -> Option<String> {
        let lane = self.lane;
        Some(match &lane.target {
            Some(_) if arg.target => arg.value(&self.target()?.to_string()),
            _ => arg.value(&lane.platform.value),
        })
    }

    /// What the lane builds for.
    pub fn target(&self) -> Option<Target> {
        target(self.lane)
    }

    /// The combination of this setting that the file refuses, if it does. What looks at a payload
    /// that nobody looked for does not refuse yet.
    pub fn refusal(&self) -> Option<&'g Refuse> {
        self.graph
            .refuse
            .iter()
            .find(|refuse| self.knows(&refuse.when) && self.meets(&refuse.when))
    }

    /// The outputs that the lane has.
    pub fn outputs(&self) -> impl Iterator<Item = (&'g str, &'g Output)> {
        let all = self.lane.outputs.iter();
        all.filter(|(_, output)| self.holds(output.when.as_ref()))
            .map(|(name, output)| (name.as_str(), output))
    }

    /// What of a condition that does not hold is otherwise: `switch.x` is `false`. Nothing where it is
    /// in a `not` or `any`.
    pub(crate) fn otherwise(&self, when: &When) -> Option<String> {
        let clause = when.clauses.iter().find(|clause| !self.clause(clause))?;
        Some(match self.value_of(&clause.what) {
            Some(value) => format!("`{}` is `{value}`", clause.what),
            None => format!("there is no `{}`", clause.what),
        })
    }

    /// Whether the lane has a stage.
    pub fn has(&self, stage: &str) -> bool {
        self.graph
            .stages
            .get(stage)
            .is_some_and(|stage| self.holds(stage.when.as_ref()))
    }

    /// The stage that `from` stands for, or nothing for an image or scratch.
    pub fn start(&self, from: &'g From) -> Option<&'g Spanned<String>> {
        match from {
            From::Stage(name) => Some(name),
            From::First(names) => names
                .iter()
                .find(|name| self.has(&name.value))
                .or_else(|| names.last()),
            From::Slot(slot) => Some(&self.choice(&slot.value)?.1.stage),
            From::Image(..) | From::Scratch(_) => None,
        }
    }

    /// The steps of a stage that the lane has. One that copies a payload is there where that is.
    pub fn steps(&self, stage: &'g Stage) -> impl Iterator<Item = &'g Step> {
        stage.steps.iter().filter(|step| {
            let payload = step.file().and_then(|file| file.payload());
            let there = payload.is_none_or(|payload| self.has_payload(&payload.value));
            there && self.holds(step.when.as_ref())
        })
    }

    /// What a step declares, and what those of its kits bring that the lane has.
    pub fn brings(&self, step: &'g Step) -> Vec<&'g Brings> {
        let kits = step
            .kits
            .iter()
            .filter_map(|kit| self.graph.kits.get(&kit.value));
        let kits = kits.filter(|kit| self.holds(kit.when.as_ref()));
        std::iter::once(&step.sees)
            .chain(kits.map(|kit| &kit.brings))
            .collect()
    }

    /// Whether the lane has an entry of `merge` or `add`. One that leaves a marker in its place is
    /// absent also where the stage is.
    pub fn has_part(&self, part: &Part) -> bool {
        self.holds(part.when.as_ref()) && (part.absent.is_none() || self.has(&part.stage.value))
    }

    /// The stages that a stage consumes in this lane.
    pub fn inputs(&self, stage: &'g Stage) -> Vec<(&'g Spanned<String>, Edge)> {
        let mut inputs = Vec::new();
        let start = stage.from.as_ref().and_then(|from| self.start(from));
        inputs.extend(start.map(|name| (name, Edge::Start)));
        let parts = stage.merge.iter().chain(&stage.add);
        let parts = parts.filter(|part| self.has_part(part));
        inputs.extend(parts.map(|part| (&part.stage, Edge::Tree)));
        for brings in self.steps(stage).flat_map(|step| self.brings(step)) {
            let uses = brings
                .uses
                .iter()
                .filter(|used| self.holds(used.when.as_ref()));
            inputs.extend(uses.map(|used| (&used.stage, Edge::Tree)));
            let caches = brings
                .cache
                .iter()
                .filter(|cache| self.holds(cache.when.as_ref()));
            inputs.extend(caches.filter_map(|cache| Some((cache.from.as_ref()?, Edge::Tree))));
        }
        let files = self.steps(stage).filter_map(Step::file);
        inputs.extend(files.filter_map(|file| Some((file.stage()?, Edge::Tree))));
        inputs
    }

    /// Some stages and all that they need in this lane, each behind those that it consumes.
    pub fn in_order(&self, stages: impl IntoIterator<Item = &'g str>) -> Vec<&'g str> {
        let mut order: Vec<&str> = Vec::new();
        let mut entered = Lookup::default();
        // Second visit of an entry: everything that it consumes is in the order.
        let mut open: Vec<(&str, bool)> = stages.into_iter().map(|stage| (stage, false)).collect();
        open.reverse();
        while let Some((name, consumed)) = open.pop() {
            if consumed {
                order.push(name);
                continue;
            }
            if !entered.insert(name, ()) {
                continue;
            }
            open.push((name, true));
            let Some(stage) = self.graph.stages.get(name) else {
                continue;
            };
            let inputs = self.inputs(stage).into_iter().rev();
            open.extend(inputs.map(|(input, _)| (input.value.as_str(), false)));
        }
        order
    }

    /// Some stages, and those that gates over them and what is behind them look at.
    pub fn with_gates(&self, stages: impl IntoIterator<Item = &'g str>) -> Vec<&'g str> {
        self.gated(stages).0
    }

    /// The stages that an output of the lane needs, or a gate over one of those.
    pub(super) fn reached(&self) -> Lookup<&'g str, ()> {
        let outputs = self.outputs();
        self.gated(outputs.map(|(_, output)| output.stage.value.as_str()))
            .1
    }

    /// The same as [`Self::with_gates`], and all that is behind those.
    fn gated(
        &self,
        stages: impl IntoIterator<Item = &'g str>,
    ) -> (Vec<&'g str>, Lookup<&'g str, ()>) {
        let mut all: Vec<&str> = stages.into_iter().collect();
        let mut reached = Lookup::default();
        self.walk(all.iter().copied(), &mut reached);
        // A gate's stage may have gates of its own; each is added once.
        loop {
            let more = self.graph.gates.values().filter(|gate| {
                reached.contains(gate.subject().value.as_str()) && self.holds(gate.when.as_ref())
            });
            let more: Vec<&str> = more
                .flat_map(|gate| [&gate.of].into_iter().chain(&gate.against))
                .map(|stage| stage.value.as_str())
                .filter(|stage| !reached.contains(stage))
                .collect();
            if more.is_empty() {
                return (all, reached);
            }
            self.walk(more.iter().copied(), &mut reached);
            all.extend(more);
        }
    }

    /// The stages behind some others in this lane, those included.
    pub(super) fn behind(&self, from: impl IntoIterator<Item = &'g str>) -> BTreeSet<&'g str> {
        let found = self.walk(from, &mut Lookup::default());
        found.into_iter().collect()
    }

    /// Adds some stages and those behind them to the ones that were seen, with what is behind those. What was added.
    fn walk(
        &self,
        from: impl IntoIterator<Item = &'g str>,
        seen: &mut Lookup<&'g str, ()>,
    ) -> Vec<&'g str> {
        let mut open: Vec<&str> = from.into_iter().collect();
        let mut added = Vec::new();
        while let Some(name) = open.pop() {
            if !seen.insert(name, ()) {
                continue;
            }
            added.push(name);
            let Some(stage) = self.graph.stages.get(name) else {
                continue;
            };
            open.extend(
                self.inputs(stage)
                    .into_iter()
                    .map(|(name, _)| name.value.as_str()),
            );
        }
        added
    }
}

/// What a lane builds for; its own platform when it says nothing, whatever the variant.
fn target(lane: &Lane) -> Option<Target> {
    let mut platform = lane.platform.value.split('/');
    let (os, arch) = (platform.next()?, platform.next()?);
    let name = lane.target.as_ref().map_or(arch, |target| &target.value);
    ArchTable::builtin().find(name, os)
}
