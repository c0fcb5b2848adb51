//! A picture in the language of Graphviz.

use super::{By, GroupKind, Kind, Lane, Node, Picture, State};

/// The picture as text that `dot` draws: stages are clusters, edges by content are dashed, what waits for a gate
/// stands behind a bold one.
#[must_use]
pub fn dot(picture: &Picture) -> String {
    let mut text = format!("digraph {} {{\n", quoted(&picture.graph));
    text.push_str("  rankdir=LR\n  compound=true\n  fontname=\"sans-serif\"\n");
    text.push_str(
        "  node [shape=box fontname=\"sans-serif\" fontsize=11 style=filled fillcolor=white]\n",
    );
    text.push_str("  edge [fontname=\"sans-serif\" fontsize=9 color=gray40]\n");
    let several = picture.lanes.len() > 1;
    for (number, lane) in picture.lanes.iter().enumerate() {
        let id = |node: usize| format!("l{number}n{node}");
        if several {
            text.push_str(&opened(&format!("l{number}"), &lane.target));
        }
        text.push_str(&groups(lane, number, &id));
        if several {
            text.push_str("  }\n");
        }
        text.push_str(&edges(lane, &id));
    }
    text + "}\n"
}

fn opened(id: &str, title: &str) -> String {
    let title = quoted(title);
    format!("  subgraph cluster_{id} {{\n  label={title} style=rounded color=gray60\n")
}

fn groups(lane: &Lane, number: usize, id: &impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for (at, group) in lane.groups.iter().enumerate() {
        let is_stage = group.kind == GroupKind::Stage;
        if is_stage {
            text.push_str(&opened(&format!("l{number}g{at}"), &group.name));
        }
        for node in group.nodes.clone() {
            let style = style(&lane.nodes[node], lane.path.contains(&node));
            let lines = lane.nodes[node].lines(&group.name);
            let label = quoted(&lines.join("\n"));
            text.push_str(&format!("  {} [label={label} {style}]\n", id(node)));
        }
        if is_stage {
            text.push_str("  }\n");
        }
    }
    text
}

fn edges(lane: &Lane, id: &impl Fn(usize) -> String) -> String {
    let line = |edge: &super::Edge| {
        let style = match edge.by {
            By::Key => String::new(),
            By::Content => " [style=dashed]".to_owned(),
            By::Wait => format!(" [style=bold label={}]", quoted(lane.wait(edge))),
        };
        format!("  {} -> {}{style}\n", id(edge.from), id(edge.to))
    };
    lane.edges.iter().map(line).collect()
}

fn style(node: &Node, critical: bool) -> String {
    let shape = match node.kind {
        Kind::Step => "box",
        Kind::Image => "ellipse",
        Kind::Git => "cylinder",
        Kind::Add | Kind::Merge => "hexagon",
        Kind::Same => "plaintext",
        Kind::Gate => "octagon",
        Kind::Output => "box3d",
    };
    let fill = match node.state {
        State::Unknown => "white",
        State::Cached => "#d5e8f7",
        State::Cancelled => "#e6e0f0",
        State::Ran => "#ffe2b0",
        State::Failed => "#f9d0cc",
    };
    let width = if critical { 3 } else { 1 };
    format!("shape={shape} fillcolor=\"{fill}\" penwidth={width}")
}

/// A string of the language: a line feed becomes its escape, other control characters blanks.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '\n' => quoted.push_str("\\n"),
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
