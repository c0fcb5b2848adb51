//! A picture as a Mermaid flowchart.

use super::{By, GroupKind, Kind, Lane, Node, Picture, State};

/// Colours of states and the mark of the critical path. What they say, the labels say in words.
const CLASSES: &str = "  classDef ran fill:#ffe2b0,stroke:#b36200,color:#1f1300
  classDef cached fill:#d5e8f7,stroke:#2c6ea3,color:#0b1f30
  classDef failed fill:#f9d0cc,stroke:#b3261e,color:#330500
  classDef cancelled fill:#e6e0f0,stroke:#6b5794,color:#1d1233
  classDef critical stroke-width:4px
";

/// The picture as text that Mermaid draws. Edges by content are dotted, what waits for a gate stands behind a thick one.
#[must_use]
pub fn mermaid(picture: &Picture) -> String {
    let mut text = "flowchart LR\n".to_owned();
    let several = picture.lanes.len() > 1;
    for (number, lane) in picture.lanes.iter().enumerate() {
        let mut lines = Lines {
            lane,
            number,
            depth: 1,
            text: String::new(),
        };
        if several {
            lines.open(&format!("l{number}"), &lane.target);
        }
        lines.groups();
        if several {
            lines.close();
        }
        lines.edges();
        lines.classes();
        text.push_str(&lines.text);
    }
    text + CLASSES
}

struct Lines<'a> {
    lane: &'a Lane,
    number: usize,
    depth: usize,
    text: String,
}

impl Lines<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn open(&mut self, id: &str, title: &str) {
        self.line(&format!("subgraph {id}[\"{}\"]", escaped(title)));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("end");
    }

    fn id(&self, node: usize) -> String {
        format!("l{}n{node}", self.number)
    }

    fn groups(&mut self) {
        let lane = self.lane;
        for (number, group) in lane.groups.iter().enumerate() {
            let is_stage = group.kind == GroupKind::Stage;
            if is_stage {
                self.open(&format!("l{}g{number}", self.number), &group.name);
            }
            for node in group.nodes.clone() {
                let line = format!("{}{}", self.id(node), boxed(&lane.nodes[node], &group.name));
                self.line(&line);
            }
            if is_stage {
                self.close();
            }
        }
    }

    fn edges(&mut self) {
        let lane = self.lane;
        for edge in &lane.edges {
            let (from, to) = (self.id(edge.from), self.id(edge.to));
            let arrow = match edge.by {
                By::Key => "-->".to_owned(),
                By::Content => "-.->".to_owned(),
                By::Wait => format!("==>|{}|", escaped(lane.wait(edge))),
            };
            self.line(&format!("{from} {arrow} {to}"));
        }
    }

    fn classes(&mut self) {
        let lane = self.lane;
        for state in [State::Ran, State::Cached, State::Failed, State::Cancelled] {
            let nodes = (0..lane.nodes.len()).filter(|node| lane.nodes[*node].state == state);
            self.class(nodes, state.word());
        }
        self.class(lane.path.iter().copied(), "critical");
    }

    fn class(&mut self, nodes: impl Iterator<Item = usize>, class: &str) {
        let nodes: Vec<String> = nodes.map(|node| self.id(node)).collect();
        if !nodes.is_empty() {
            self.line(&format!("class {} {class}", nodes.join(",")));
        }
    }
}

/// The shape of a node, with what stands in it.
fn boxed(node: &Node, group: &str) -> String {
    let (open, close) = match node.kind {
        Kind::Step => ("[", "]"),
        Kind::Image => ("([", "])"),
        Kind::Git => ("[(", ")]"),
        Kind::Add | Kind::Merge => ("{{", "}}"),
        Kind::Same => ("(", ")"),
        Kind::Gate => ("{", "}"),
        Kind::Output => ("[[", "]]"),
    };
    let lines = node.lines(group);
    let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
    format!("{open}\"{}\"{close}", lines.join("<br/>"))
}

/// A text in which nothing means anything to Mermaid, or to the HTML that it makes of labels.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            c if c.is_control() => escaped.push(' '),
            c if c.is_alphanumeric() || " -_/:.,=@+".contains(c) => escaped.push(c),
            c => escaped.push_str(&format!("#{};", u32::from(c))),
        }
    }
    escaped
}
