//! What the caller asked for: a lane and one of its outputs, with arguments.

use std::collections::BTreeMap;

use llb::{Error, Reference};

use super::unverified::{RESERVED, Unverified};
use crate::diag::{Diagnostic, Report, Spanned, rule, suggest};
use crate::file::{From, Group, Lane, Output, Pull, When};
use crate::graph::{Asked, Graph, Setting};
use crate::predefined;
use crate::text::ValueRef;

/// What the caller says.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `LANE`, `LANE/OUTPUT`, `LANE/STAGE`, `LANE/STAGE/STEP`, `LANE/gates`; nothing is the default lane.
    pub target: Option<String>,
    /// Arguments by name.
    pub args: BTreeMap<String, String>,
    /// Platforms that the caller insists on; none is no wish.
    pub platforms: Vec<String>,
    /// The group that the lane is built for; its tag goes before the output's.
    pub group: Option<String>,
}

/// A request that the graph can serve.
#[derive(Debug, Clone)]
pub struct Selection<'g> {
    /// The graph.
    pub graph: &'g Graph,
    /// The lane, with its switches.
    pub setting: Setting<'g>,
    /// What of it.
    pub what: What<'g>,
    /// Arguments that have a value: the caller's, else the default.
    pub args: BTreeMap<&'g str, String>,
    /// The group that the lane is built for.
    pub(super) group: Option<&'g Group>,
    /// What is other in this run than the file says.
    pub unverified: Unverified<'g>,
    /// The commits of git sources, once they were looked up.
    pub(super) commits: BTreeMap<String, String>,
    /// Nobody looked images up: what hangs on their environment is not judged.
    pub(super) assumed: bool,
}

/// What of a lane is built.
#[derive(Debug, Clone, Copy)]
pub enum What<'g> {
    /// An output.
    Output(&'g Output),
    /// One stage's product, as it is.
    Stage(&'g str),
    /// The root that one of its steps leaves, other than the last: no product, so no gate looks at it.
    Step(&'g str, &'g str),
    /// The reports of all gates over its outputs.
    Gates,
}

/// Finds what the caller asked for.
///
/// # Errors
/// An unknown lane, output, stage or argument; a host setting passed as an argument; a platform
/// that the lane does not have. All at once, each with what may be named.
pub fn select<'g>(graph: &'g Graph, request: &Request) -> Result<Selection<'g>, Report> {
    let mut report = Report::default();
    let args = args(graph, request, &mut report);
    let unverified = Unverified::of(graph, request, &mut report);
    let Some((name, lane, what)) = target(graph, request, &mut report) else {
        return Err(report.sorted());
    };
    platform(graph, request, name, lane, &mut report);
    let mut setting = graph.setting(name, lane);
    for (switch, on) in &mut setting.switches {
        match request.args.get(*switch).map(String::as_str) {
            None => {}
            Some("true" | "1") => *on = true,
            Some("false" | "0") => *on = false,
            Some(other) => report.push(
                Diagnostic::new(
                    rule::REQUEST,
                    format!("switch `{switch}` cannot be `{other}`"),
                )
                .at(&graph.switches[*switch].span, "declared here")
                .help(format!("--build-arg {switch}=true, or false")),
            ),
        }
    }
    let what = match what {
        What::Step(stage, step) => after(&setting, stage, step, &mut report),
        what => what,
    };
    setting.asked = asked(lane, what);
    let selection = Selection {
        graph,
        setting,
        what,
        args,
        group: request
            .group
            .as_ref()
            .and_then(|name| graph.groups.get(name)),
        unverified,
        commits: BTreeMap::new(),
        assumed: false,
    };
    report.extend(selection.judge());
    report.into_result(selection)
}

/// What a stage has after one of its steps: after the last one, its product.
fn after<'g>(
    setting: &Setting<'g>,
    stage: &'g str,
    step: &'g str,
    report: &mut Report,
) -> What<'g> {
    let Some(declared) = setting.graph.stages.get(stage) else {
        return What::Stage(stage);
    };
    let steps: Vec<&str> = setting
        .steps(declared)
        .map(|step| step.name.value.as_str())
        .collect();
    if steps.last() == Some(&step) {
        return What::Stage(stage);
    }
    if !steps.contains(&step) {
        let lane = setting.name;
        let message = format!("stage `{stage}` has no step `{step}` in lane `{lane}`");
        report.push(
            Diagnostic::new(rule::REQUEST, message)
                .at(&declared.span, "this stage")
                .help(suggest(step, steps)),
        );
    }
    What::Step(stage, step)
}

/// What was named, for refusals that look at it.
fn asked<'g>(lane: &'g Lane, what: What<'g>) -> Asked<'g> {
    let mut asked = Asked::default();
    match what {
        What::Stage(stage) | What::Step(stage, _) => asked.stage = Some(stage),
        What::Output(output) => {
            let mut outputs = lane.outputs.iter();
            let found = outputs.find(|(_, declared)| std::ptr::eq(*declared, output));
            asked.output = found.map(|(name, _)| name.as_str());
        }
        What::Gates => {}
    }
    asked
}

fn args<'g>(graph: &'g Graph, request: &Request, report: &mut Report) -> BTreeMap<&'g str, String> {
    let known = |name: &String| {
        let declared = graph.args.contains_key(name) || graph.switches.contains_key(name);
        declared || name.starts_with(RESERVED)
    };
    for name in request.args.keys().filter(|name| !known(name)) {
        let found = Diagnostic::new(
            rule::REQUEST,
            format!("`{name}` is not an argument of this graph"),
        );
        report.push(if let Some(host) = graph.hosts.get(name) {
            Diagnostic::new(
                rule::REQUEST,
                format!("`{name}` is a host setting, not an argument"),
            )
            .at(
                &host.span,
                "declared here; as a build argument it would be in keys and history",
            )
            .help(format!(
                "pass it as a secret: --secret id={name},env={name}"
            ))
        } else if let Some(pin) = graph.pins.get(name) {
            found
                .at(&pin.span, "it is a pin")
                .help(format!("change it in the pins file; for one run without a tag: --build-arg LANEKIT_PIN_{name}=…"))
        } else if let Some(why) = predefined::taken(name) {
            found.at(&graph.table.span, "it is predefined").help(why)
        } else {
            found
                .at(&graph.table.span, "this graph")
                .help(settable(graph, name))
        });
    }
    for (name, value) in &request.args {
        let Some(arg) = graph.args.get(name) else {
            continue;
        };
        if let Err(why) = arg.form.check(value) {
            report.push(
                Diagnostic::new(rule::REQUEST, format!("argument `{name}` {why}"))
                    .at(&arg.span, "declared here"),
            );
        }
    }
    graph
        .args
        .iter()
        .filter_map(|(name, arg)| {
            let given = request.args.get(name).cloned();
            let value = given.or_else(|| arg.default.as_ref().map(|d| d.value.clone()))?;
            Some((name.as_str(), value))
        })
        .collect()
}

/// What may be set, each with its documentation, and which of it is nearest to `name`.
fn settable(graph: &Graph, name: &str) -> String {
    let distance =
        |known: &&String| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    let Some(nearest) = graph.args.keys().min_by_key(distance) else {
        return "it declares no arguments".to_owned();
    };
    let args = graph.args.iter().map(|(name, arg)| (name, &arg.about));
    let switches = graph
        .switches
        .iter()
        .map(|(name, switch)| (name, &switch.about));
    let known = args
        .chain(switches)
        .map(|(name, about)| format!("{name} ({})", about.value));
    let list: Vec<String> = known.collect();
    format!(
        "the nearest is `{nearest}`; what may be set: {}",
        list.join(", ")
    )
}

fn target<'g>(
    graph: &'g Graph,
    request: &Request,
    report: &mut Report,
) -> Option<(&'g str, &'g Lane, What<'g>)> {
    let lanes = || graph.lanes.keys().map(String::as_str).collect::<Vec<_>>();
    let wanted = match request
        .target
        .as_deref()
        .filter(|target| !target.is_empty())
    {
        Some(target) => target,
        None => match (&graph.table.default, graph.lanes.len()) {
            (Some(default), _) => default.value.as_str(),
            (None, 1) => graph.lanes.keys().next()?.as_str(),
            (None, _) => {
                report.push(
                    Diagnostic::new(rule::REQUEST, "which lane? the graph names no default")
                        .at(&graph.table.span, "no `default` here")
                        .help(format!("--target LANE, one of: {}", lanes().join(", "))),
                );
                return None;
            }
        },
    };
    let (lane_name, part) = match wanted.split_once('/') {
        Some((lane, part)) => (lane, Some(part)),
        None => (wanted, None),
    };
    let groups = graph.groups.keys().map(String::as_str);
    let Some((lane_name, lane)) = graph.lanes.get_key_value(lane_name) else {
        if let Some(group) = graph.groups.get(lane_name) {
            let message = format!("`{wanted}` is not a part of one lane");
            report.push(
                Diagnostic::new(rule::REQUEST, message)
                    .at(&group.span, "a group of lanes")
                    .help("a group is built whole, by its name alone; `GROUP/gates` are its reports; its lanes have stages"),
            );
            return None;
        }
        report.push(
            Diagnostic::new(rule::REQUEST, format!("there is no lane `{lane_name}`"))
                .at(&graph.table.span, "this graph")
                .help(suggest(
                    lane_name,
                    lanes().into_iter().chain(groups).collect::<Vec<_>>(),
                )),
        );
        return None;
    };
    let outputs: Vec<&str> = lane.outputs.keys().map(String::as_str).collect();
    let what = match part {
        None => match graph.default_output(lane) {
            Some((_, output)) => What::Output(output),
            None => {
                report.push(
                    Diagnostic::new(
                        rule::REQUEST,
                        format!("lane `{lane_name}` has several outputs"),
                    )
                    .at(&lane.span, "this lane")
                    .help(format!(
                        "--target {lane_name}/OUTPUT, one of: {}",
                        outputs.join(", ")
                    )),
                );
                return None;
            }
        },
        Some("gates") => What::Gates,
        Some(part) => {
            let stage = || {
                let (part, step) = match part.split_once('/') {
                    Some((part, step)) => (part, Some(step)),
                    None => (part, None),
                };
                let (name, stage) = graph.stages.get_key_value(part)?;
                let Some(step) = step else {
                    return Some(What::Stage(name));
                };
                let mut steps = stage.steps.iter().map(|step| step.name.value.as_str());
                // Which of its steps a lane has is known later on.
                Some(What::Step(name, steps.find(|name| *name == step)?))
            };
            match lane.outputs.get(part).map(What::Output).or_else(stage) {
                Some(what) => what,
                None => {
                    // An output often has the name of the stage that it comes from.
                    let stages = graph.stages.keys().map(String::as_str);
                    let stages = stages.filter(|name| !lane.outputs.contains_key(*name));
                    let known = outputs.into_iter().chain(stages);
                    report.push(
                        Diagnostic::new(
                            rule::REQUEST,
                            format!(
                                "lane `{lane_name}` has neither an output nor a stage `{part}`"
                            ),
                        )
                        .at(&lane.span, "this lane")
                        .help(suggest(part, known)),
                    );
                    return None;
                }
            }
        }
    };
    Some((lane_name, lane, what))
}

fn platform(graph: &Graph, request: &Request, name: &str, lane: &Lane, report: &mut Report) {
    let have = &lane.platform.value;
    let Some(wanted) = request.platforms.iter().find(|wanted| *wanted != have) else {
        return;
    };
    let fitting: Vec<&str> = graph
        .lanes
        .iter()
        .filter(|(_, lane)| lane.platform.value == *wanted)
        .map(|(name, _)| name.as_str())
        .collect();
    let help = if fitting.is_empty() {
        "leave --platform out: a lane has its platform from the file".to_owned()
    } else {
        format!("lanes of that platform: {}", fitting.join(", "))
    };
    report.push(
        Diagnostic::new(
            rule::REQUEST,
            format!("lane `{name}` runs on {have}, not on {wanted}"),
        )
        .at(&lane.platform.span, "declared here")
        .help(help),
    );
}

impl<'g> Selection<'g> {
    /// Whether this may be built: the file refuses no part of it, and the lane has what was named.
    /// What looks at payloads is judged once those are known.
    pub(crate) fn judge(&self) -> Report {
        let mut report = Report::default();
        let Setting { name, lane, .. } = self.setting;
        if let What::Stage(stage) = self.what
            && let Some(slot) = self.setting.passes_by(stage)
        {
            let taken = self
                .setting
                .choice(slot)
                .map_or("nothing", |(choice, _)| choice);
            let mut diagnostic = Diagnostic::new(
                rule::NOT_IN_LANE,
                format!("lane `{name}` does not have stage `{stage}`"),
            )
            .at(&lane.span, format!("it takes `{taken}` for slot `{slot}`"))
            .help("name a lane that takes it, or what this lane takes");
            if let Some(declared) = self.graph.slots.get(slot) {
                diagnostic = diagnostic.related(&declared.span, "the stage stands in this slot");
            }
            report.push(diagnostic);
        }
        let mut absent = false;
        if let What::Output(output) = self.what
            && let Some(when) = &output.when
            && self.setting.knows(when)
            && !self.setting.holds(Some(when))
        {
            absent = true;
            report.push(self.lacks(output, when));
        }
        if let Some(refuse) = self.setting.refusal() {
            report.push(
                Diagnostic::new(
                    rule::REFUSED,
                    format!("lane `{name}` is refused: {}", refuse.why.value),
                )
                .at(&refuse.span, "by this combination")
                .related(&lane.span, "the lane"),
            );
        }
        // Of an output that is not there, the stage is not asked for.
        let asked = if absent { Vec::new() } else { self.roots() };
        for stage in asked {
            let when = self.graph.stages.get(stage).and_then(|s| s.when.as_ref());
            let absent = when.filter(|when| self.setting.knows(when) && !self.setting.has(stage));
            if let Some(when) = absent {
                report.push(
                    Diagnostic::new(
                        rule::NOT_IN_LANE,
                        format!("lane `{name}` does not have stage `{stage}`"),
                    )
                    .at(&when.span, "the lanes that have it")
                    .related(&lane.span, "this lane"),
                );
            }
        }
        report
    }

    /// That the lane does not have an output.
    fn lacks(&self, output: &Output, when: &When) -> Diagnostic {
        let Setting { name, lane, .. } = self.setting;
        let mut outputs = lane.outputs.iter();
        let named = outputs.find(|(_, declared)| std::ptr::eq(*declared, output));
        let named = named.map_or("", |(name, _)| name);
        let message = format!("lane `{name}` does not have output `{named}` in this run");
        let why = self.setting.otherwise(when);
        let why = why.unwrap_or_else(|| "this does not hold".to_owned());
        let has: Vec<String> = self
            .setting
            .outputs()
            .map(|(has, _)| format!("{name}/{has}"))
            .collect();
        let help = match has.as_slice() {
            [] => "it has none in this run".to_owned(),
            has => format!("what it has: {}", has.join(", ")),
        };
        Diagnostic::new(rule::NOT_IN_LANE, message)
            .at(&when.span, why)
            .related(&output.span, "this output")
            .help(help)
    }

    /// The stages that are asked for.
    pub(super) fn roots(&self) -> Vec<&'g str> {
        match self.what {
            What::Output(output) => vec![&output.stage.value],
            What::Stage(stage) | What::Step(stage, _) => vec![stage],
            What::Gates => {
                let outputs = self.setting.outputs();
                outputs
                    .map(|(_, output)| output.stage.value.as_str())
                    .collect()
            }
        }
    }

    /// The stages that are needed, each behind those that it consumes.
    pub(super) fn order(&self) -> Vec<&'g str> {
        self.setting.in_order(self.setting.with_gates(self.roots()))
    }

    /// The references of the images that the stages start from, each once, with their place.
    ///
    /// # Errors
    /// A reference that names a value which is absent.
    pub fn images(&self) -> Result<Vec<Spanned<String>>, Report> {
        let mut report = Report::default();
        let mut images: Vec<Spanned<String>> = Vec::new();
        for name in self.order() {
            let Some(stage) = self.graph.stages.get(name) else {
                continue;
            };
            let Some(From::Image(template, _)) = &stage.from else {
                continue;
            };
            if template
                .values()
                .any(|value| matches!(value, ValueRef::Env(_)))
            {
                report.push(
                    Diagnostic::new(rule::VALUE, "an image reference cannot name an environment")
                        .at(&template.span, "there is none before the image"),
                );
                continue;
            }
            let Some(reference) = self.fill(template, &BTreeMap::new(), &mut report) else {
                continue;
            };
            // What an argument without a value stands for is not known yet.
            if self.knows(template)
                && let Err(Error::Invalid { expected, .. }) = reference.parse::<Reference>()
            {
                report.push(
                    Diagnostic::new(rule::VALUE, format!("`{reference}` is no image"))
                        .at(&template.span, format!("expected {expected}")),
                );
                continue;
            }
            if !images.iter().any(|image| image.value == reference) {
                images.push(Spanned::new(reference, template.span.clone()));
            }
        }
        report.into_result(images)
    }

    /// Where an image of the selection is looked for; of two that say it, the stronger.
    pub fn pull(&self, image: &str) -> Pull {
        let stages = self.order().into_iter();
        let stages = stages.filter_map(|name| self.graph.stages.get(name));
        let named = stages.filter_map(|stage| match &stage.from {
            Some(From::Image(template, pull)) => {
                let reference = self.fill(template, &BTreeMap::new(), &mut Report::default());
                reference.filter(|found| found == image).map(|_| *pull)
            }
            _ => None,
        });
        named.max().unwrap_or_default()
    }
}
