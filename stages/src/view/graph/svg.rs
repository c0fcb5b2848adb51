//! A picture as a drawing that needs nothing else: for both colour schemes, with its own fonts' widths.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::layout::{Item, Layout, Sizes, Tops, bends, layout, place};
use super::{By, Group, GroupKind, Kind, Lane, Node, Picture, State};
use crate::impact;

const STYLE: &str = include_str!("svg.css");

/// Of a group, in pixels.
const WIDTH: f64 = 236.0;
/// Between two columns: edges bend there.
const APART: f64 = 66.0;
const HEAD: f64 = 28.0;
/// The height of a node that takes no time, and what the slowest one has more.
const ROW: f64 = 24.0;
const MORE: f64 = 36.0;
const PAD: f64 = 6.0;
const MARGIN: f64 = 24.0;
/// The lines above a lane: its name, and what its last build was.
const TITLE: f64 = 58.0;
const LEGEND: f64 = 40.0;
/// The width of a character, with some room for fonts that are wider.
const CHARACTER: f64 = 7.6;

/// The picture as SVG: lanes below each other.
#[must_use]
pub fn svg(picture: &Picture) -> String {
    let mut body = String::new();
    let (mut width, mut top) = (legend_width(), 0.0_f64);
    for lane in &picture.lanes {
        let drawing = Drawing::new(lane);
        let _ = write!(
            body,
            "<g transform=\"translate({MARGIN} {})\">",
            top + MARGIN
        );
        body.push_str(&drawing.text(&picture.graph));
        body.push_str("</g>\n");
        let (wide, high) = drawing.size();
        width = width.max(wide);
        top += high + TITLE + MARGIN;
    }
    let (width, height) = (width + 2.0 * MARGIN, top + MARGIN + LEGEND);
    let legend = legend(height - LEGEND);
    let label = escaped(&format!("Lanes of {}", picture.graph));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">\n<style>\n{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n{body}{legend}</svg>\n"
    )
}

/// One lane with the place of everything in it.
struct Drawing<'a> {
    lane: &'a Lane,
    layout: Layout,
    tops: Tops,
    sizes: Rows<'a>,
    /// Neighbours on the critical path.
    chain: BTreeSet<(usize, usize)>,
}

/// Groups as boxes of rows.
struct Rows<'a> {
    lane: &'a Lane,
    slowest: f64,
}

impl Rows<'_> {
    fn row(&self, node: usize) -> f64 {
        let seconds = self.lane.nodes[node].seconds.unwrap_or_default();
        // The area would be the time if rows were squares: what takes long is seen, what does not can be read.
        (ROW + MORE * (seconds / self.slowest).sqrt()).round()
    }

    /// The top of a node's row in its group.
    fn top(&self, node: usize) -> f64 {
        let above = self.lane.group_of(node).nodes.start..node;
        HEAD + above.map(|node| self.row(node)).sum::<f64>()
    }
}

impl Sizes for Rows<'_> {
    fn height(&self, item: Item) -> f64 {
        match item {
            Item::Bend(_) => 2.0,
            Item::Group(group) => {
                let nodes = self.lane.groups[group].nodes.clone();
                HEAD + nodes.map(|node| self.row(node)).sum::<f64>() + PAD
            }
        }
    }

    fn middle(&self, node: usize) -> f64 {
        self.top(node) + self.row(node) / 2.0
    }

    fn gap(&self, above: Item, below: Item) -> f64 {
        match (above, below) {
            (Item::Group(_), Item::Group(_)) => 20.0,
            (Item::Bend(_), Item::Bend(_)) => 6.0,
            _ => 12.0,
        }
    }
}

impl<'a> Drawing<'a> {
    fn new(lane: &'a Lane) -> Self {
        let times = lane.nodes.iter().filter_map(|node| node.seconds);
        let sizes = Rows {
            lane,
            slowest: times.fold(1.0, f64::max),
        };
        let layout = layout(lane);
        let tops = place(lane, &layout, &sizes);
        Self {
            lane,
            layout,
            tops,
            sizes,
            chain: lane
                .path
                .windows(2)
                .map(|pair| (pair[0], pair[1]))
                .collect(),
        }
    }

    fn size(&self) -> (f64, f64) {
        let count = self.layout.columns.len() as f64;
        let ends = self.tops.iter().flatten();
        let ends = ends.map(|(item, top)| top + self.sizes.height(*item));
        let width = count * WIDTH + (count - 1.0).max(0.0) * APART;
        (width, ends.fold(0.0, f64::max))
    }

    fn text(&self, graph: &str) -> String {
        let lane = self.lane;
        let mut text = String::new();
        let title = escaped(&format!("{graph}: {}", lane.target));
        let _ = writeln!(text, "<text class=\"title\" y=\"14\">{title}</text>");
        let about = escaped(&about(lane));
        let _ = writeln!(text, "<text class=\"soft\" y=\"34\">{about}</text>");
        let _ = writeln!(text, "<g transform=\"translate(0 {TITLE})\">");
        for edge in 0..lane.edges.len() {
            text.push_str(&self.edge(edge));
        }
        for (number, column) in self.layout.columns.iter().enumerate() {
            for item in column {
                if let Item::Group(group) = item {
                    let (x, y) = (left(number), self.tops[number][item]);
                    text.push_str(&self.group(
                        &lane.groups[*group],
                        self.sizes.height(*item),
                        x,
                        y,
                    ));
                }
            }
        }
        text + "</g>"
    }

    fn group(&self, group: &Group, height: f64, x: f64, y: f64) -> String {
        let (class, head) = match group.kind {
            GroupKind::Stage => ("stage", group.name.clone()),
            GroupKind::Git => ("git", format!("git {}", group.name)),
            GroupKind::Gate
                if self.lane.nodes[group.nodes.clone()]
                    .iter()
                    .any(Node::is_red) =>
            {
                ("gate red", format!("gate {}", group.name))
            }
            GroupKind::Gate => ("gate", format!("gate {}", group.name)),
            GroupKind::Output => ("output", "output".to_owned()),
        };
        let full = escaped(&head);
        let head = fitting(&head, WIDTH - 20.0);
        let mut text = format!(
            "<g class=\"{class}\" transform=\"translate({x} {y})\"><title>{full}</title>\
             <rect class=\"box\" width=\"{WIDTH}\" height=\"{height}\" rx=\"6\"/>\
             <text class=\"name\" x=\"10\" y=\"19\">{head}</text>\n"
        );
        for node in group.nodes.clone() {
            text.push_str(&self.row(node));
        }
        text + "</g>\n"
    }

    fn row(&self, number: usize) -> String {
        let node = &self.lane.nodes[number];
        let (y, height) = (self.sizes.top(number), self.sizes.row(number));
        let middle = height / 2.0;
        let critical = match self.lane.path.contains(&number) {
            true => " critical",
            false => "",
        };
        let time = node.seconds.map(impact::seconds).unwrap_or_default();
        let room = WIDTH - 62.0 - time.chars().count() as f64 * CHARACTER;
        let name = escaped(&fitting_raw(&called(node), room));
        // A ledger knows of steps and gates alone.
        let (class, mark) = match node.kind {
            Kind::Output => ("made", ""),
            _ => (class(node.state), mark(node.state)),
        };
        let full = escaped(&node.lines(&self.lane.group_of(number).name).join(", "));
        format!(
            "<g class=\"{class}{critical}\" transform=\"translate(6 {y})\"><title>{full}</title>\
             <rect class=\"row\" width=\"{}\" height=\"{height}\"/>\
             <rect class=\"bar\" width=\"4\" height=\"{height}\"/>\
             <path class=\"mark\" transform=\"translate(18 {middle})\" d=\"{mark}\"/>\
             <text x=\"32\" y=\"{}\">{name}</text>\
             <text class=\"soft\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{time}</text></g>\n",
            WIDTH - 12.0,
            middle + 4.0,
            WIDTH - 20.0,
            middle + 4.0,
        )
    }

    /// From the right of a row through gaps to the left of another one.
    fn edge(&self, number: usize) -> String {
        let edge = &self.lane.edges[number];
        let (Some(from), Some(to)) = (self.port(edge.from), self.port(edge.to)) else {
            return String::new();
        };
        if self.lane.nodes[edge.from].group == self.lane.nodes[edge.to].group {
            return String::new();
        }
        let (mut x, mut y) = (from.0 + WIDTH, from.1);
        let mut way = format!("M{x} {y}");
        let mut bend = |to_x: f64, to_y: f64| {
            let half = (to_x - x) / 2.0;
            let _ = write!(
                way,
                "C{} {y} {} {to_y} {to_x} {to_y}",
                x + half,
                to_x - half
            );
            (x, y) = (to_x, to_y);
        };
        for (column, item) in bends(self.lane, &self.layout, number) {
            let (left, top) = (left(column), self.tops[column][&item]);
            bend(left, top);
            bend(left + WIDTH, top);
        }
        bend(to.0 - 5.0, to.1);
        let _ = write!(way, "m0 -3.5l5 3.5l-5 3.5");
        let class = match edge.by {
            By::Key => "",
            By::Content => " content",
            By::Wait if self.lane.nodes[edge.from].is_red() => " wait red",
            By::Wait => " wait",
        };
        let chain = match self.chain.contains(&(edge.from, edge.to)) {
            true => " chain",
            false => "",
        };
        format!("<path class=\"edge{class}{chain}\" d=\"{way}\"/>\n")
    }

    /// The left end of a node's row.
    fn port(&self, node: usize) -> Option<(f64, f64)> {
        let item = Item::Group(self.lane.nodes[node].group);
        let column = self.tops.iter().position(|tops| tops.contains_key(&item))?;
        let top = self.tops[column][&item];
        Some((left(column), top + self.sizes.middle(node)))
    }
}

fn left(column: usize) -> f64 {
    column as f64 * (WIDTH + APART)
}

/// What a row says of itself.
fn called(node: &Node) -> String {
    match (node.kind, &node.verdict) {
        (Kind::Image, _) => format!("from {}", node.label),
        (Kind::Gate, Some(verdict)) => format!("{}: {verdict}", node.label),
        (Kind::Gate, None) if node.is_red() => format!("{}: failed", node.label),
        _ => node.label.clone(),
    }
}

fn about(lane: &Lane) -> String {
    let steps = lane.nodes.iter().filter(|node| node.kind == Kind::Step);
    let steps = steps.count();
    let mut text = format!("{steps} steps on {}", lane.platform);
    if let Some(build) = &lane.build {
        let end = if build.ok { "succeeded" } else { "FAILED" };
        let count = |state: State| {
            let all = lane.nodes.iter();
            all.filter(|node| node.kind == Kind::Step && node.state == state)
                .count()
        };
        let (ran, cached) = (count(State::Ran), count(State::Cached));
        let _ = write!(
            text,
            ", build {} {end}: {ran} ran, {cached} cached",
            build.number
        );
    }
    if lane.critical > 0.0 {
        let _ = write!(text, ", critical path {}", impact::seconds(lane.critical));
    }
    text
}

const STATES: [State; 5] = [
    State::Ran,
    State::Cached,
    State::Failed,
    State::Cancelled,
    State::Unknown,
];

/// What marks and lines mean.
fn legend(y: f64) -> String {
    let mut text = format!("<g transform=\"translate({MARGIN} {y})\">");
    let mut x = 0.0;
    for state in STATES {
        let (class, mark, word) = (class(state), mark(state), state.word());
        let _ = write!(
            text,
            "<g class=\"{class}\" transform=\"translate({x} 0)\"><path class=\"mark\" transform=\"translate(6 0)\" \
             d=\"{mark}\"/><text class=\"soft\" x=\"18\" y=\"4\">{word}</text></g>"
        );
        x += 120.0;
    }
    for (class, word) in LINES {
        let _ = write!(
            text,
            "<g transform=\"translate({x} 0)\"><path class=\"edge {class}\" d=\"M0 0h30\"/>\
             <text class=\"soft\" x=\"38\" y=\"4\">{word}</text></g>"
        );
        x += 160.0;
    }
    text + "</g>\n"
}

const LINES: [(&str, &str); 5] = [
    ("key", "by key"),
    ("content", "by content"),
    ("wait", "after the gate"),
    ("wait red", "gate failed"),
    ("chain", "critical path"),
];

fn legend_width() -> f64 {
    STATES.len() as f64 * 120.0 + LINES.len() as f64 * 160.0
}

fn class(state: State) -> &'static str {
    match state {
        State::Ran => "ran",
        State::Cached => "cached",
        State::Failed => "failed",
        State::Cancelled => "cancelled",
        State::Unknown => "unknown",
    }
}

/// Each state has a shape of its own: a disc, a ring, a cross, a square, a dash.
fn mark(state: State) -> &'static str {
    match state {
        State::Ran => "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
        State::Cached => "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0",
        State::Failed => "M-4.5 -4.5l9 9m0 -9l-9 9",
        State::Cancelled => "M-4 -4h8v8h-8z",
        State::Unknown => "M-4 0h8",
    }
}

/// As much of a text as there is room for, with an ellipsis for the rest.
fn fitting(text: &str, room: f64) -> String {
    escaped(&fitting_raw(text, room))
}

fn fitting_raw(text: &str, room: f64) -> String {
    // Characters of other scripts can be twice as wide.
    let wide = |c: char| {
        if c.is_ascii() {
            CHARACTER
        } else {
            2.0 * CHARACTER
        }
    };
    if text.chars().map(wide).sum::<f64>() <= room {
        return text.to_owned();
    }
    let mut left = room - CHARACTER;
    let kept = text.chars().take_while(|c| {
        left -= wide(*c);
        left >= 0.0
    });
    kept.collect::<String>() + "…"
}

/// A text in which nothing means anything to XML.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // XML has no other control characters, and neither of the last two of the plane.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}
