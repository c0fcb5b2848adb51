//! What `--target` may name: lanes and their outputs.

use super::Table;
use crate::diag::Span;
use crate::file::{Lane, Output};
use crate::graph::Graph;

/// One thing that may be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<'g> {
    /// What `--target` takes: `LANE`, `LANE/OUTPUT` or `LANE/gates`.
    pub name: String,
    /// Whether it is what is built without `--target`.
    pub default: bool,
    /// One line about it.
    pub about: String,
    /// What its steps run on.
    pub platform: &'g str,
    /// Where it is declared.
    pub span: &'g Span,
}

/// All lanes in order of their names, each with its further outputs behind it.
#[must_use]
pub fn targets(graph: &Graph) -> Vec<Listed<'_>> {
    let only = (graph.lanes.len() == 1)
        .then(|| graph.lanes.keys().next())
        .flatten();
    let default = graph.table.default.as_ref().map(|name| &name.value);
    let default = default.or(only);
    let mut all = Vec::new();
    for (name, lane) in &graph.lanes {
        let listed = |name: String, about: String, span| Listed {
            name,
            default: false,
            about,
            platform: &lane.platform.value,
            span,
        };
        let bare = graph.default_output(lane);
        all.push(Listed {
            default: default == Some(name),
            ..match bare {
                Some((_, output)) => listed(name.clone(), about(lane, output), &output.span),
                None => listed(name.clone(), several(lane), &lane.span),
            }
        });
        for (output_name, output) in &lane.outputs {
            if bare.is_some_and(|(bare, _)| bare == output_name) {
                continue;
            }
            let name = format!("{name}/{output_name}");
            all.push(listed(name, about(lane, output), &output.span));
        }
        if !graph.gates.is_empty() {
            let about = "reports of the lane's gates".to_owned();
            all.push(listed(format!("{name}/gates"), about, &lane.span));
        }
    }
    for (name, group) in &graph.groups {
        let platforms = group.lanes.iter();
        let platforms = platforms.filter_map(|lane| graph.lanes.get(&lane.value));
        let platforms: Vec<&str> = platforms.map(|lane| lane.platform.value.as_str()).collect();
        all.push(Listed {
            name: name.clone(),
            default: default == Some(name),
            about: format!("one result for {}", platforms.join(", ")),
            platform: platforms.first().copied().unwrap_or_default(),
            span: &group.span,
        });
    }
    all
}

fn about(lane: &Lane, output: &Output) -> String {
    let kind = if output.root.is_some() {
        "bundle"
    } else {
        "image"
    };
    let target = match &lane.target {
        Some(target) => format!(", for {}", target.value),
        None => String::new(),
    };
    let when = match &output.when {
        Some(_) => ", where its condition holds",
        None => "",
    };
    format!(
        "{kind} of stage {}, steps on {}{target}{when}",
        output.stage.value, lane.platform.value
    )
}

/// A lane whose bare name stands for nothing.
fn several(lane: &Lane) -> String {
    let outputs: Vec<&str> = lane.outputs.keys().map(String::as_str).collect();
    format!("needs one of its outputs: {}", outputs.join(", "))
}

/// The list as `docker buildx build --call=targets` prints it.
#[must_use]
pub fn targets_text(all: &[Listed<'_>]) -> String {
    let mut table = Table::new(1, &["TARGET", "DESCRIPTION"]);
    for listed in all {
        let mark = if listed.default { " (default)" } else { "" };
        table.row([format!("{}{mark}", listed.name), listed.about.clone()]);
    }
    table.text()
}
