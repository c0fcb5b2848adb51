//! Every name that is used is declared, once.

use std::collections::BTreeMap;

pub(super) use super::templates::{templates_of, templates_of_brings};
use super::{Edge, Graph, fetches, payloads, unknown};
use crate::arch::ArchTable;
use crate::diag::{Diagnostic, Report, Span, Spanned, rule, suggest};
use crate::file::{
    Attribute, Brings, CopyFrom, FileSource, FileStep, Form, From, Lane, Stage, Step, Take, When,
};
use crate::predefined;
use crate::text::{ArgEntry, Template, ValueRef};

pub(super) fn names(graph: &Graph, report: &mut Report) {
    namespaces(graph, report);
    let lanes = graph.lanes.iter().map(|(name, lane)| (name, &lane.span));
    spelled_once("lanes", lanes, report);
    let gates = graph.gates.iter().map(|(name, gate)| (name, &gate.span));
    spelled_once("gates", gates, report);
    for (name, slot) in &graph.slots {
        if slot.choices.is_empty() {
            report.push(
                Diagnostic::new(rule::VALUE, format!("slot `{name}` has no choice"))
                    .at(&slot.span, "declared here"),
            );
        }
        for choice in slot.choices.values() {
            stage_exists(graph, &choice.stage, report);
        }
    }
    super::slots::names(graph, report);
    for (name, lane) in &graph.lanes {
        check_lane(graph, name, lane, report);
    }
    if let Some(default) = &graph.table.default
        && !graph.lanes.contains_key(&default.value)
        && !graph.groups.contains_key(&default.value)
    {
        report.push(unknown("lane", default, graph.lanes.keys()));
    }
    super::group::check(graph, report);
    for template in graph.groups.values().flat_map(|group| &group.tag) {
        check_template(graph, template, report);
    }
    if graph.lanes.is_empty() {
        report.push(
            Diagnostic::new(
                rule::MISSING_KEY,
                "the graph has no lane: there is nothing to build",
            )
            .at(&graph.table.span, "expected a [lane.NAME] beside this")
            .help("[lane.amd64] platform = \"linux/amd64\""),
        );
    }
    let outputs = graph
        .lanes
        .values()
        .flat_map(|lane| &lane.outputs)
        .map(|(n, o)| (n, &o.span));
    for (name, span) in graph
        .stages
        .iter()
        .map(|(n, s)| (n, &s.span))
        .chain(outputs)
    {
        if name == "scratch" {
            report.push(
                Diagnostic::new(rule::COLLISION, "`scratch` is what starts from nothing")
                    .at(span, "choose another name"),
            );
        }
        if name == "gates" {
            report.push(
                Diagnostic::new(
                    rule::COLLISION,
                    "`gates` is what --target LANE/gates builds",
                )
                .at(span, "choose another name"),
            );
        }
    }
    for (name, stage) in &graph.stages {
        check_stage(graph, name, stage, report);
    }
    for brings in graph.brings() {
        check_brings(graph, brings, report);
    }
    for when in graph.conditions() {
        check_when(graph, when, report);
        if !graph
            .refuse
            .iter()
            .any(|refuse| std::ptr::eq(&refuse.when, when))
        {
            no_request(when, report);
        }
    }
    for (name, host) in &graph.hosts {
        if name.starts_with(crate::plan::RESERVED) {
            let message = format!("host setting `{name}` begins as lanekit's own do");
            report.push(Diagnostic::new(rule::COLLISION, message).at(&host.span, "rename it"));
        }
    }
    for (name, arg) in &graph.args {
        if name.starts_with(crate::plan::RESERVED) {
            let message = format!("argument `{name}` begins as lanekit's own do");
            report.push(Diagnostic::new(rule::COLLISION, message).at(&arg.span, "rename it"));
        }
        if let Some(default) = &arg.default
            && let Err(why) = arg.form.check(&default.value)
        {
            report.push(
                Diagnostic::new(
                    rule::VALUE,
                    format!("the default of argument `{name}` {why}"),
                )
                .at(&default.span, "this value"),
            );
        }
        if let Form::Choice(choices) = &arg.form
            && choices.is_empty()
        {
            report.push(
                Diagnostic::new(rule::VALUE, format!("argument `{name}` has no choices"))
                    .at(&arg.span, "nothing may be set"),
            );
        }
    }
    for git in graph.gits.values() {
        for template in git.templates() {
            check_template(graph, template, report);
            let early = |value: &&ValueRef| matches!(value, ValueRef::Env(_) | ValueRef::Commit(_));
            if template.values().find(early).is_some() {
                report.push(
                    Diagnostic::new(
                        rule::VALUE,
                        "a git source cannot name an environment or a commit",
                    )
                    .at(&template.span, "there is none before it is looked up"),
                );
            }
        }
    }
    for gate in graph.gates.values() {
        for stage in [&gate.of]
            .into_iter()
            .chain(&gate.belongs)
            .chain(&gate.against)
        {
            stage_exists(graph, stage, report);
        }
        for held in &gate.hold {
            stage_exists(graph, held, report);
        }
        for template in gate.templates() {
            check_template(graph, template, report);
        }
    }
}

/// Names that files get: a report of each gate, a ledger of each lane. Many systems would have one file for two of them.
fn spelled_once<'a>(
    kind: &str,
    all: impl Iterator<Item = (&'a String, &'a Span)>,
    report: &mut Report,
) {
    let mut seen: BTreeMap<String, (&String, &Span)> = BTreeMap::new();
    for (name, span) in all {
        if let Some((first, at)) = seen.insert(name.to_ascii_lowercase(), (name, span)) {
            let message = format!("{kind} `{first}` and `{name}` differ in case alone");
            report.push(
                Diagnostic::new(rule::COLLISION, message)
                    .at(span, "this one")
                    .related(at, "and this one")
                    .help("files are called by these names, and Windows does not tell them apart"),
            );
        }
    }
}

/// Pins, arguments and host settings share one namespace: a step sees each by its bare name.
fn namespaces(graph: &Graph, report: &mut Report) {
    let mut seen: BTreeMap<&str, (&str, &Span)> = BTreeMap::new();
    let args = graph.args.iter().map(|(n, a)| ("an argument", n, &a.span));
    let hosts = graph
        .hosts
        .iter()
        .map(|(n, h)| ("a host setting", n, &h.span));
    let pins = graph
        .pins
        .iter()
        .filter(|(n, _)| graph.in_scope(n))
        .map(|(n, p)| ("a pin", n, &p.span));
    let switches = graph.switches.iter().map(|(n, s)| ("a switch", n, &s.span));
    let settable = args.clone().chain(switches.clone()).chain(pins.clone());
    for (kind, name, span) in settable {
        if let Some(why) = predefined::taken(name) {
            let message = format!("{kind} cannot be called `{name}`: it is predefined");
            report.push(
                Diagnostic::new(rule::COLLISION, message)
                    .at(span, "declared here")
                    .help(why),
            );
        }
    }
    for (kind, name, span) in args.chain(switches).chain(hosts).chain(pins) {
        if let Some((first, at)) = seen.insert(name, (kind, span)) {
            report.push(
                Diagnostic::new(
                    rule::COLLISION,
                    format!("`{name}` is both {first} and {kind}"),
                )
                .at(at, format!("{first} here"))
                .related(span, format!("{kind} here"))
                .help("steps and callers name it without a prefix: rename one of them"),
            );
        }
    }
}

fn check_lane(graph: &Graph, name: &str, lane: &Lane, report: &mut Report) {
    platform(&lane.platform, report);
    let os = lane.platform.value.split('/').next().unwrap_or_default();
    if graph.setting(name, lane).target().is_none() {
        let at = lane.target.as_ref().unwrap_or(&lane.platform);
        let targets: Vec<String> = ArchTable::builtin()
            .targets()
            .map(ToString::to_string)
            .collect();
        let wanted = if at.value.contains('/') {
            at.value.clone()
        } else {
            format!("{os}/{}", at.value)
        };
        report.push(
            Diagnostic::new(
                rule::UNKNOWN_NAME,
                format!("the arch table has no row `{wanted}`"),
            )
            .at(&at.span, format!("what lane `{name}` builds for"))
            .help(suggest(&wanted, targets.iter().map(String::as_str))),
        );
    }
    for (slot, choice) in &lane.slots {
        match graph.slots.get(slot) {
            None => report.push(unknown(
                "slot",
                &Spanned::new(slot.clone(), choice.span.clone()),
                graph.slots.keys(),
            )),
            Some(slot) if !slot.choices.contains_key(&choice.value) => {
                report.push(
                    unknown("choice", choice, slot.choices.keys()).related(&slot.span, "the slot"),
                );
            }
            Some(slot) => {
                if let Some(when) = slot
                    .choices
                    .get(&choice.value)
                    .and_then(|taken| taken.when.as_ref())
                {
                    let message = format!("choice `{}` is taken by its condition", choice.value);
                    report.push(
                        Diagnostic::new(rule::VALUE, message)
                            .at(&choice.span, "a lane cannot choose it")
                            .related(&when.span, "it stands there when this holds"),
                    );
                }
            }
        }
    }
    if lane.outputs.is_empty() {
        report.push(
            Diagnostic::new(rule::MISSING_KEY, format!("lane `{name}` has no output"))
                .at(&lane.span, "this lane")
                .help(format!("[lane.{name}.output.image] stage = \"…\"")),
        );
    }
    for output in lane.outputs.values() {
        stage_exists(graph, &output.stage, report);
        for template in output.templates() {
            check_template(graph, template, report);
        }
    }
}

fn platform(platform: &Spanned<String>, report: &mut Report) {
    let parts: Vec<&str> = platform.value.split('/').collect();
    let good = matches!(parts.len(), 2 | 3) && parts.iter().all(|part| !part.is_empty());
    if !good {
        report.push(
            Diagnostic::new(
                rule::VALUE,
                format!("`{}` is not a platform", platform.value),
            )
            .at(
                &platform.span,
                "expected os/architecture, such as linux/amd64",
            ),
        );
    }
}

fn check_stage(graph: &Graph, name: &str, stage: &Stage, report: &mut Report) {
    if let Some(From::Slot(slot)) = &stage.from
        && !graph.slots.contains_key(&slot.value)
    {
        report.push(unknown("slot", slot, graph.slots.keys()));
    }
    for (target, edge) in graph.edges(stage) {
        if !stage_exists(graph, target, report) || edge == Edge::Start {
            continue;
        }
        let product = graph.stages.get(&target.value);
        // All of a graph is looked through, so only where there is no tree.
        let sub = || {
            let mut uses = graph.brings().flat_map(|brings| &brings.uses);
            let mut merged = stage.merge.iter();
            let mut files = stage.steps.iter().filter_map(Step::file);
            uses.any(|used| used.stage.span == target.span && used.sub.is_some())
                || merged.any(|part| part.stage.span == target.span && part.from.is_some())
                || files.any(|file| {
                    file.stage().is_some_and(|name| name.span == target.span) && takes_a_part(file)
                })
        };
        if let Some(product) = product.filter(|p| !graph.is_tree(p) && !sub()) {
            report.push(
                Diagnostic::new(
                    rule::VALUE,
                    format!(
                        "stage `{}` has a root, where a tree is wanted",
                        target.value
                    ),
                )
                .at(&target.span, format!("stage `{name}` takes it as a tree"))
                .related(&product.span, "it declares no `tree`")
                .help("give it a `tree`, or name the part that is used: { stage, sub }"),
            );
        }
    }
    if let Some(tree) = stage.tree.first()
        && let Some(from) = &stage.from
        && stage.steps.is_empty()
        && stage.add.is_empty()
        && !matches!(from, From::Image(..) | From::Stage(_) | From::Slot(_))
    {
        report.push(
            Diagnostic::new(
                rule::VALUE,
                format!("stage `{name}` has no step that makes its tree"),
            )
            .at(&tree.at.span, "nothing writes here"),
        );
    }
    for (at, part) in stage.merge.iter().enumerate() {
        let plain = |part: &&crate::file::Part| part.from.is_none() && part.when.is_none();
        let same = |first: &&crate::file::Part| first.stage.value == part.stage.value;
        let mut others = stage.merge[..at].iter().filter(plain);
        if let Some(first) = others.find(same).filter(|_| plain(&part)) {
            let message = format!("the tree of `{}` is merged twice", part.stage.value);
            report.push(
                Diagnostic::new(rule::COLLISION, message)
                    .at(&part.span, "second")
                    .related(&first.span, "first"),
            );
        }
    }
    for conflict in &stage.conflict {
        if let Take::Stage(winner) = &conflict.take
            && !stage
                .merge
                .iter()
                .any(|part| part.stage.value == winner.value)
        {
            let merged = stage.merge.iter().map(|part| &part.stage.value);
            let merged: Vec<&str> = merged.map(String::as_str).collect();
            report.push(
                Diagnostic::new(
                    rule::UNKNOWN_NAME,
                    format!("`{}` is not merged here", winner.value),
                )
                .at(
                    &winner.span,
                    "expected \"any\" or one of the stages that `merge` names",
                )
                .help(suggest(&winner.value, merged.iter().copied())),
            );
        }
    }
    for attribute in &stage.same_for {
        check_attribute(graph, &attribute.value, &attribute.span, report);
    }
    templates_of(stage, |template| check_template(graph, template, report));
    let gits = stage
        .steps
        .iter()
        .filter_map(Step::file)
        .filter_map(|file| file.git());
    gits.for_each(|git| git_exists(graph, git, report));
    let payloads = stage.steps.iter().filter_map(Step::file);
    let payloads = payloads.filter_map(FileStep::payload);
    payloads.for_each(|payload| payloads::exists(graph, payload, report));
    let fetches = stage.steps.iter().filter_map(Step::file);
    let fetches = fetches.filter_map(FileStep::fetch);
    fetches.for_each(|fetch| fetches::exists(graph, fetch, report));
    let mut seen: BTreeMap<&str, &Span> = BTreeMap::new();
    for step in &stage.steps {
        if let Some(first) = seen.insert(&step.name.value, &step.name.span) {
            report.push(
                Diagnostic::new(
                    rule::COLLISION,
                    format!("two steps of `{name}` are called `{}`", step.name.value),
                )
                .at(&step.name.span, "second")
                .related(first, "first"),
            );
        }
        for kit in step
            .kits
            .iter()
            .filter(|kit| !graph.kits.contains_key(&kit.value))
        {
            report.push(unknown("kit", kit, graph.kits.keys()));
        }
    }
}

fn takes_a_part(file: &FileStep) -> bool {
    match file {
        FileStep::Copy(copy) => matches!(copy.from, CopyFrom::Stage(_, Some(_))),
        _ => false,
    }
}

/// What a step or kit names. That a step sees a variable from one place alone is known per lane.
fn check_brings(graph: &Graph, brings: &Brings, report: &mut Report) {
    for entry in &brings.args {
        match entry {
            ArgEntry::One { value, span, .. } => check_value(graph, value, span, report),
            ArgEntry::Matching { pattern, span } => {
                if graph.matching(pattern).is_empty() {
                    report.push(
                        Diagnostic::new(
                            rule::UNKNOWN_NAME,
                            format!("`{pattern}` stands for nothing"),
                        )
                        .at(span, "no pin of our scope and no argument matches"),
                    );
                }
            }
        }
    }
    if let Some(file) = &brings.pins_file {
        super::pins::check_file(graph, file, report);
    }
    for name in brings
        .host
        .iter()
        .filter(|name| !graph.hosts.contains_key(&name.value))
    {
        let help = "declare it: [host.NAME] about = \"…\"";
        report.push(match graph.args.contains_key(&name.value) {
            true => Diagnostic::new(
                rule::UNKNOWN_NAME,
                format!("`{}` is an argument, not a host setting", name.value),
            )
            .at(&name.span, "arguments belong into `args`"),
            false => unknown("host setting", name, graph.hosts.keys()).help(help),
        });
    }
    templates_of_brings(brings, &mut |template| {
        check_template(graph, template, report)
    });
    for file in &brings.files {
        match &file.source {
            FileSource::Context => {}
            FileSource::Git(git) => git_exists(graph, git, report),
            FileSource::Payload(payload) => payloads::exists(graph, payload, report),
            FileSource::Fetch(fetch) => fetches::exists(graph, fetch, report),
        }
    }
}

fn check_when(graph: &Graph, when: &When, report: &mut Report) {
    for clause in &when.clauses {
        check_attribute(graph, &clause.what, &clause.span, report);
        if let Attribute::Slot(slot) = &clause.what
            && let Some(slot) = graph.slots.get(slot)
        {
            let choices = &slot.choices;
            let wrong = clause
                .any_of
                .iter()
                .filter(|v| !choices.contains_key(&v.value));
            for value in wrong {
                report.push(unknown("choice", value, choices.keys()));
            }
        }
    }
    for inner in when.not.as_deref().into_iter().chain(&when.any) {
        check_when(graph, inner, report);
    }
}

/// The request is no attribute of a lane: what is built does not depend on how it was named.
fn no_request(when: &When, report: &mut Report) {
    let mut open = vec![when];
    while let Some(when) = open.pop() {
        open.extend(when.not.as_deref().into_iter().chain(&when.any));
        for clause in &when.clauses {
            if matches!(clause.what, Attribute::Request(_)) {
                report.push(
                    Diagnostic::new(
                        rule::VALUE,
                        format!("a condition here cannot look at {}", clause.what),
                    )
                    .at(&clause.span, "only [[refuse]] can"),
                );
            }
        }
    }
}

fn check_attribute(graph: &Graph, attribute: &Attribute, span: &Span, report: &mut Report) {
    let named = |name: &String| Spanned::new(name.clone(), span.clone());
    match attribute {
        Attribute::Switch(name) if !graph.switches.contains_key(name) => {
            report.push(unknown("switch", &named(name), graph.switches.keys()));
        }
        Attribute::Slot(name) if !graph.slots.contains_key(name) => {
            report.push(unknown("slot", &named(name), graph.slots.keys()));
        }
        Attribute::Set(name) if !graph.sets(name) => {
            report.push(unknown(
                "constant of a lane",
                &named(name),
                graph.constants(),
            ));
        }
        Attribute::Payload(name) => payloads::exists(graph, &named(name), report),
        Attribute::Lane(_)
        | Attribute::Switch(_)
        | Attribute::Slot(_)
        | Attribute::Set(_)
        | Attribute::Request(_) => {}
    }
}

fn stage_exists(graph: &Graph, name: &Spanned<String>, report: &mut Report) -> bool {
    let exists = graph.stages.contains_key(&name.value);
    if !exists {
        report.push(unknown("stage", name, graph.stages.keys()));
    }
    exists
}

fn git_exists(graph: &Graph, name: &Spanned<String>, report: &mut Report) {
    if !graph.gits.contains_key(&name.value) {
        report.push(unknown("git source", name, graph.gits.keys()));
    }
}

pub(super) fn check_template(graph: &Graph, template: &Template, report: &mut Report) {
    for value in template.values() {
        check_value(graph, value, &template.span, report);
    }
}

fn check_value(graph: &Graph, value: &ValueRef, span: &Span, report: &mut Report) {
    let spanned = |name: &String| Spanned::new(name.clone(), span.clone());
    match value {
        ValueRef::Named(name) => {
            if graph.hosts.contains_key(name) {
                report.push(
                    Diagnostic::new(rule::UNKNOWN_NAME, format!("`{name}` is a host setting"))
                        .at(span, "host settings are never keyed")
                        .help("name it in `host` of the step"),
                );
            } else if !graph.pins.contains_key(name) && !graph.args.contains_key(name) {
                report.push(unknown(
                    "pin or argument",
                    &spanned(name),
                    graph.pins.keys().chain(graph.args.keys()),
                ));
            }
        }
        ValueRef::Pin(name) if !graph.pins.contains_key(name) => {
            report.push(unknown("pin", &spanned(name), graph.pins.keys()));
        }
        ValueRef::Arg(name) if !graph.args.contains_key(name) => {
            report.push(unknown("argument", &spanned(name), graph.args.keys()));
        }
        ValueRef::Switch(name) if !graph.switches.contains_key(name) => {
            report.push(unknown("switch", &spanned(name), graph.switches.keys()));
        }
        ValueRef::Commit(name) if !graph.gits.contains_key(name) => {
            report.push(unknown("git source", &spanned(name), graph.gits.keys()));
        }
        ValueRef::Payload(name) => payloads::exists(graph, &spanned(name), report),
        ValueRef::Set(name) if !graph.sets(name) => {
            report.push(unknown(
                "constant of a lane",
                &spanned(name),
                graph.constants(),
            ));
        }
        ValueRef::Slot(name) if !graph.slots.contains_key(name) => {
            report.push(unknown("slot", &spanned(name), graph.slots.keys()));
        }
        ValueRef::Arch(key) => {
            let keys = ArchTable::builtin().keys();
            if !keys.contains(&key.as_str()) {
                report.push(
                    Diagnostic::new(
                        rule::UNKNOWN_NAME,
                        format!("the arch table has no column `{key}`"),
                    )
                    .at(span, "named here")
                    .help(suggest(key, keys.iter().copied())),
                );
            }
        }
        _ => {}
    }
}
