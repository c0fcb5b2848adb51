//! Pictures of lanes: what is built from what, how long it took, why it ran, and what a change would move.
//!
//! Data goes one way: plan, keys and what is known of past builds → [`Picture`] → one renderer for each format.
//! A renderer decides nothing but where things stand.

mod dot;
mod html;
mod layout;
mod levers;
mod make;
mod mermaid;
mod svg;

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

pub use dot::dot;
pub use html::html;
pub use layout::{Item, Layout, layout};
pub use levers::{Levers, MOST_NODES, levers};
pub use make::lane;
pub use mermaid::mermaid;
pub use svg::svg;

use crate::explain::Why;
use crate::impact;

/// Name and version of the form of a picture.
pub const SCHEMA: &str = "lanekit-graph/1";

/// What a picture shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Picture {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The graph's name.
    pub graph: String,
    /// One for each target that was asked for.
    pub lanes: Vec<Lane>,
}

/// One target of a graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Lane {
    /// The target: `LANE` or `LANE/OUTPUT`.
    pub target: String,
    /// What its steps run on.
    pub platform: String,
    /// Its last build, if one is known.
    pub build: Option<Build>,
    /// Each behind what it consumes.
    pub groups: Vec<Group>,
    /// What stands in the groups, group by group.
    pub nodes: Vec<Node>,
    /// Between nodes.
    pub edges: Vec<Edge>,
    /// How long the slowest chain takes, in seconds.
    pub critical: f64,
    /// The nodes of that chain, in order.
    pub path: Vec<usize>,
    /// What could be changed.
    pub levers: Vec<Lever>,
    /// How many pins and files more could be, which a lane of so many steps has no room for.
    pub unasked: usize,
}

/// A build of the past.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Build {
    /// Its number in the ledger.
    pub number: u64,
    /// When it was, in RFC 3339.
    pub at: String,
    /// Whether it succeeded.
    pub ok: bool,
}

/// What is drawn as one box: a stage with its steps, or one thing beside the stages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Group {
    /// The stage's name, or the node's.
    pub name: String,
    /// What it is.
    pub kind: GroupKind,
    /// Its nodes, in the order in which they run.
    pub nodes: Range<usize>,
}

/// What a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKind {
    /// A stage.
    Stage,
    /// A git source.
    Git,
    /// A gate.
    Gate,
    /// What comes out.
    Output,
}

/// One thing that is made.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Node {
    /// As the key manifest calls it: `onnx/build`.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// The group that it stands in.
    pub group: usize,
    /// What it is called in its group.
    pub label: String,
    /// How long it took when it last ran, in seconds; nothing when that is not known.
    pub seconds: Option<f64>,
    /// What the last build did with it.
    pub state: State,
    /// Of a gate: what it said in the last build.
    pub verdict: Option<String>,
    /// When it last ran.
    pub last: Option<LastRun>,
    /// What makes its key, by name.
    pub components: Vec<(String, String)>,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// An image that a stage starts from.
    Image,
    /// A git source.
    Git,
    /// A step.
    Step,
    /// Trees put onto a root.
    Add,
    /// Trees put together.
    Merge,
    /// A stage that adds nothing to what it starts from.
    Same,
    /// A gate.
    Gate,
    /// What comes out.
    Output,
}

/// What a build did with a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// No build of it is known.
    Unknown,
    /// It came from the cache.
    Cached,
    /// Another step failed, or somebody stopped the build.
    Cancelled,
    /// It ran to its end.
    Ran,
    /// It failed.
    Failed,
}

impl State {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Unknown => "not built",
            Self::Cached => "cached",
            Self::Cancelled => "cancelled",
            Self::Ran => "ran",
            Self::Failed => "failed",
        }
    }
}

/// The last time that a node ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct LastRun {
    /// The build's number.
    pub build: u64,
    /// Why, in one line.
    pub why: String,
    /// What to look at.
    pub help: Option<&'static str>,
}

impl LastRun {
    /// A run in a build, with its reason.
    #[must_use]
    pub fn new(build: u64, why: &Why) -> Self {
        Self {
            build,
            why: why.line(),
            help: why.help(),
        }
    }
}

/// One node consumes another, or waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Edge {
    /// What is consumed.
    pub from: usize,
    /// What consumes it.
    pub to: usize,
    /// How.
    pub by: By,
}

/// How a node depends on another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum By {
    /// By its key: it runs again whenever the other one does.
    Key,
    /// By its bytes: it runs again when the other one made other bytes.
    Content,
    /// Not at all: it only waits until the other one, a gate, passed.
    Wait,
}

/// Something that a person could change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Lever {
    /// What it is.
    pub kind: LeverKind,
    /// Its name, or its path.
    pub name: String,
    /// What it is now, where that is a value.
    pub value: Option<String>,
    /// The nodes that run when it changes.
    pub must: Vec<usize>,
    /// The nodes that then run if other bytes reach them.
    pub may: Vec<usize>,
    /// The nodes that see it without its being in their key.
    pub seen: Vec<usize>,
    /// Steps that are in the lane only then.
    pub more: Vec<String>,
}

/// What a lever is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LeverKind {
    /// An argument.
    Arg,
    /// A switch.
    Switch,
    /// A pin.
    Pin,
    /// A file or directory of the context.
    File,
    /// A host setting: in no key.
    Host,
}

/// What is known of past builds of a lane.
#[derive(Debug, Clone, Default)]
pub struct Past {
    /// The last one.
    pub build: Option<Build>,
    /// What it did with nodes, by their ids.
    pub states: BTreeMap<String, State>,
    /// When nodes last ran, by their ids.
    pub last: BTreeMap<String, LastRun>,
    /// How long they took, in seconds.
    pub seconds: BTreeMap<String, f64>,
    /// What gates said, by their names.
    pub verdicts: BTreeMap<String, String>,
}

impl Lane {
    /// The group of a node.
    #[must_use]
    pub fn group_of(&self, node: usize) -> &Group {
        &self.groups[self.nodes[node].group]
    }

    /// What an edge that waits for a gate says.
    fn wait(&self, edge: &Edge) -> &str {
        match &self.nodes[edge.from].verdict {
            Some(verdict) => verdict,
            None => "holds",
        }
    }
}

impl Node {
    /// Whether it is a gate that failed, or would have if it did more than advise.
    fn is_red(&self) -> bool {
        let red = matches!(self.verdict.as_deref(), Some("fail" | "insufficient"));
        self.kind == Kind::Gate && (red || self.state == State::Failed)
    }

    /// What stands in its box: what it is, then what the last build did with it.
    fn lines(&self, group: &str) -> Vec<String> {
        let name = match self.kind {
            Kind::Gate if group == self.label => format!("gate {group}"),
            Kind::Gate => format!("gate {group}: {}", self.label),
            Kind::Git => format!("git {}", self.label),
            Kind::Image => format!("from {}", self.label),
            Kind::Step | Kind::Add | Kind::Merge | Kind::Same | Kind::Output => self.label.clone(),
        };
        let fate = self.fate();
        let lines = [name, fate].into_iter();
        // A line feed would be one more line.
        let lines = lines.map(|line| line.replace(char::is_control, " "));
        lines.filter(|line| !line.is_empty()).collect()
    }

    /// What the last build did with it, and how long it takes: `ran, 75 s`.
    #[must_use]
    pub fn fate(&self) -> String {
        let state = match (self.state, &self.verdict) {
            (State::Unknown, None) if self.seconds.is_none() => return String::new(),
            (_, Some(verdict)) => verdict.as_str(),
            (state, None) => state.word(),
        };
        match self.seconds {
            Some(seconds) => format!("{state}, {}", impact::seconds(seconds)),
            None => state.to_owned(),
        }
    }
}
