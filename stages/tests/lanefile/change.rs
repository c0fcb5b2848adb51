//! What a change moves, to be read: the steps that run again, and what is other in the plan and in the LLB.

use ::llb::{Caps, Definition};
use stages::plan;
use stages::view::plan_text;

use crate::common::{load, lower, plan as planned, rendered, request};
use crate::incidents::{LANES, PINS, manifest, moved};

/// A build of the incidents' chain: its files, and what its caller says.
#[derive(Clone, Copy)]
pub(crate) struct Way<'a> {
    pub(crate) lane: &'a str,
    pub(crate) lanes: &'a str,
    pub(crate) pins: &'a str,
    pub(crate) args: &'a [(&'a str, &'a str)],
}

/// The chain as it is.
pub(crate) const PLAIN: Way<'static> = Way {
    lane: "winamd64",
    lanes: LANES,
    pins: PINS,
    args: &[],
};

impl Way<'_> {
    /// The plan as a table.
    fn plan(&self) -> String {
        let loaded = load(self.lanes, self.pins);
        let graph = loaded.graph.as_ref();
        let graph = graph.unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
        let request = request(self.lane, self.args);
        let (plan, _) = planned(graph, &request).expect("a plan");
        plan_text(&plan::select(graph, &request).expect("a lane"), &plan)
    }

    /// The LLB, without the lines that vertices are from.
    pub(crate) fn llb(&self) -> String {
        let loaded = load(self.lanes, self.pins);
        let request = request(self.lane, self.args);
        let lowered = lower(&loaded, &request, &Caps::all()).expect("LLB");
        let text = ::llb::view::text(&Definition::new(&lowered.result).to_pb());
        let lines = text
            .lines()
            .filter(|line| !line.trim().starts_with("from lanes.toml"));
        lines.map(|line| format!("{line}\n")).collect()
    }

    /// The names of the vertices that have a text in them.
    pub(crate) fn has(&self, text: &str) -> String {
        let llb = self.llb();
        let vertices = llb.split("\n#").filter(|vertex| vertex.contains(text));
        let named = vertices.filter_map(|vertex| {
            let name = vertex
                .lines()
                .find_map(|line| line.trim().strip_prefix("name "));
            let lines = vertex
                .lines()
                .map(str::trim)
                .filter(|line| line.contains(text));
            let lines = lines.filter(|line| !line.starts_with("name "));
            let lines: Vec<String> = lines.map(|line| format!("  {line}\n")).collect();
            Some(format!("{}\n{}", name?, lines.concat()))
        });
        named.collect()
    }

    /// What another build does that this one did not.
    pub(crate) fn to(&self, after: &Way<'_>) -> String {
        let manifest = |way: &Way<'_>| manifest(way.lane, way.lanes, way.pins, way.args);
        let moved = moved(&manifest(self), &manifest(after));
        let or_none = |text: String| match text.is_empty() {
            true => "nothing\n".to_owned(),
            false => text,
        };
        format!(
            "RUNS AGAIN\n{}\nOTHER IN THE PLAN\n{}\nOTHER IN THE LLB\n{}",
            or_none(
                moved
                    .split_whitespace()
                    .map(|step| format!("{step}\n"))
                    .collect()
            ),
            or_none(difference(&self.plan(), &after.plan())),
            or_none(difference(&self.llb(), &after.llb())),
        )
    }
}

/// The lines that one of two texts has more often than the other: what is gone, then what came.
fn difference(before: &str, after: &str) -> String {
    let only = |of: &str, other: &str, mark: char| -> String {
        let mut known: Vec<&str> = other.lines().collect();
        let lines = of.lines().filter(|line| {
            let found = known.iter().position(|known| known == line);
            found.map(|at| known.swap_remove(at)).is_none()
        });
        lines.map(|line| format!("{mark} {line}\n")).collect()
    };
    only(before, after, '-') + &only(after, before, '+')
}
