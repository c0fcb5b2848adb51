//! What a change re-runs, for people and for machines.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Cost, Fate, Known, cost, fates};
use crate::explain::Builds;
use crate::keys::{Kind, Manifest};

/// Name and version of the form of the JSON.
pub const SCHEMA: &str = "lanekit-impact/1";

/// What a change re-runs.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Impact {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The lane.
    pub lane: String,
    /// How many steps it has.
    pub steps: usize,
    /// The steps that run, and those that may, in the order of the graph.
    pub moved: Vec<Line>,
    /// Of the steps that run.
    pub must: Cost,
    /// Of those and of all that may.
    pub all: Cost,
    /// How many of the moved steps have never been measured.
    pub unmeasured: usize,
}

/// A step that a change moves.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Line {
    /// The step.
    pub step: String,
    /// What becomes of it.
    pub fate: Fate,
    /// How long it took when it last ran; nothing when that is not known.
    pub seconds: Option<f64>,
    /// Why, in one line.
    pub why: String,
}

/// What a build of `new` re-runs after one of `old`, with what past builds are known to have left
/// and taken.
#[must_use]
pub fn impact(
    old: &Manifest,
    new: &Manifest,
    known: &Known,
    seconds: &BTreeMap<String, f64>,
    workers: usize,
) -> Impact {
    let fates = fates(new, known, &BTreeMap::new());
    let at_least = |least: Fate| -> BTreeSet<&str> {
        let moved = fates.iter().filter(|(_, fate)| *fate >= least);
        moved.map(|(id, _)| id).collect()
    };
    let moved = at_least(Fate::May);
    let ran: BTreeSet<String> = moved.iter().map(|id| (*id).to_owned()).collect();
    let builds = Builds::new(old, new, &ran);
    let steps = || new.nodes.iter().filter(|node| node.kind == Kind::Step);
    let lines: Vec<Line> = steps()
        .filter(|node| moved.contains(node.id.as_str()))
        .map(|node| Line {
            step: node.id.clone(),
            fate: fates[node.id.as_str()],
            seconds: seconds.get(&node.id).copied().filter(|s| *s > 0.0),
            why: match (fates[node.id.as_str()], builds.why(&node.id).line()) {
                (Fate::May, line) => format!("if {line}"),
                (_, line) => line,
            },
        })
        .collect();
    Impact {
        schema: SCHEMA,
        lane: new.lane.clone(),
        steps: steps().count(),
        unmeasured: lines.iter().filter(|line| line.seconds.is_none()).count(),
        moved: lines,
        must: cost(new, &at_least(Fate::Must), seconds, workers),
        all: cost(new, &moved, seconds, workers),
    }
}

impl Impact {
    fn count(&self, fate: Fate) -> usize {
        self.moved.iter().filter(|line| line.fate == fate).count()
    }

    /// As text for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", self.headline());
        for line in &self.moved {
            let fate = word(line.fate);
            let time = time(line.seconds);
            text.push_str(&format!(
                "  {fate:<4} {time:>9}  {}: {}\n",
                line.step, line.why
            ));
        }
        text + &self.costs("")
    }

    /// As Markdown, for a pull request or a job's summary.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n", self.headline());
        if !self.moved.is_empty() {
            text.push_str("| step | runs | last time | why |\n|---|---|---|---|\n");
        }
        for line in &self.moved {
            let why = line.why.replace('|', "\\|");
            let (fate, time) = (word(line.fate), time(line.seconds));
            text.push_str(&format!("| `{}` | {fate} | {time} | {why} |\n", line.step));
        }
        text + &self.costs("\n")
    }

    fn headline(&self) -> String {
        let (must, may) = (self.count(Fate::Must), self.count(Fate::May));
        format!(
            "{}: of {} steps {must} must run, {may} may run",
            self.lane, self.steps
        )
    }

    fn costs(&self, between: &str) -> String {
        if self.moved.is_empty() {
            return String::new();
        }
        let one = |what: &str, cost: &Cost| {
            let path = match cost.path.is_empty() {
                true => String::new(),
                false => format!(" ({})", cost.path.join(" → ")),
            };
            format!(
                "{between}{what}: {} in total, {} with {} at a time, {} on the critical path{path}\n",
                seconds(cost.total),
                seconds(cost.scheduled),
                cost.workers,
                seconds(cost.critical),
            )
        };
        let mut text = one("what must run", &self.must);
        if self.count(Fate::May) > 0 {
            text.push_str(&one("with what may run", &self.all));
        }
        if self.unmeasured > 0 {
            let none = self.unmeasured;
            text.push_str(&format!(
                "{between}never measured, counted as nothing: {none} of them\n"
            ));
        }
        text
    }
}

fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Cached => "no",
        Fate::May => "may",
        Fate::Must => "must",
    }
}

fn time(known: Option<f64>) -> String {
    known.map_or_else(|| "?".to_owned(), seconds)
}

/// Seconds as people say them: `0.4 s`, `75 s`, `2 h 5 min`.
#[must_use]
pub(crate) fn seconds(time: f64) -> String {
    let whole = time.round() as u64;
    match whole {
        0..10 => format!("{time:.1} s"),
        10..120 => format!("{whole} s"),
        120..7200 => format!("{} min {} s", whole / 60, whole % 60),
        _ => format!("{} h {} min", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::{By, Input, Named, Node};

    /// Nodes with a time each, behind the others that they name.
    fn manifest(nodes: &[(&str, &[&str])]) -> Manifest {
        let node = |(id, inputs): &(&str, &[&str])| Node {
            id: (*id).into(),
            kind: Kind::Step,
            key: String::new(),
            own: String::new(),
            vertex: String::new(),
            components: Named::default(),
            files: Named::default(),
            inputs: inputs
                .iter()
                .map(|id| {
                    let input = Input {
                        node: (*id).into(),
                        by: By::Key,
                        part: String::new(),
                    };
                    ((*id).to_owned(), input)
                })
                .collect(),
        };
        Manifest {
            schema: String::new(),
            graph: String::new(),
            lane: "l".into(),
            target: String::new(),
            args: BTreeMap::new(),
            images: BTreeMap::new(),
            gits: BTreeMap::new(),
            payloads: BTreeMap::new(),
            nodes: nodes.iter().map(node).collect(),
        }
    }

    #[test]
    fn a_schedule_lies_between_the_critical_path_and_the_total() {
        let graph = manifest(&[
            ("a", &[]),
            ("b", &["a"]),
            ("c", &["a"]),
            ("d", &["b", "c"]),
            ("e", &[]),
        ]);
        let times = [("a", 1.0), ("b", 5.0), ("c", 2.0), ("d", 1.0), ("e", 6.0)];
        let times: BTreeMap<String, f64> = times.iter().map(|(id, t)| ((*id).into(), *t)).collect();
        let runs: BTreeSet<&str> = ["a", "b", "c", "d", "e"].into();
        let with = |workers| cost(&graph, &runs, &times, workers);
        let one = with(1);
        assert_eq!((one.total, one.critical, one.scheduled), (15.0, 7.0, 15.0));
        assert_eq!(one.path, ["a", "b", "d"]);
        assert_eq!(with(2).scheduled, 9.0);
        assert_eq!(with(9).scheduled, 7.0);
        let some: BTreeSet<&str> = ["c", "e"].into();
        assert_eq!(cost(&graph, &some, &times, 4).scheduled, 6.0);
    }
}
