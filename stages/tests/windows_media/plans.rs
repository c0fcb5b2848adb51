//! What every lane does, step by step, as tables that people read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use stages::keys::{By, Kind};
use stages::plan::PlannedOutput;

use crate::common::{plan, request};
use crate::example::{Example, LANES, directory, text};

/// A step a paragraph: what it stands on, what it sees besides, and what it runs. Of what is pinned the name alone, so
/// that a pin moves no table.
fn table(target: &str, args: &[(&str, &str)]) -> String {
    let example = Example::read();
    let graph = example.graph();
    let (plan, _) = plan(&graph, &request(target, args)).expect("a plan");
    // What a batch file runs that settles host settings.
    let steps = plan.stages.iter().flat_map(|stage| {
        let steps = stage
            .steps
            .iter()
            .filter_map(|step| Some((step, step.behind.as_ref()?)));
        steps.map(|(step, line)| (format!("{}/{}", stage.name, step.name), line))
    });
    let behind: BTreeMap<String, &String> = steps.collect();
    let manifest = example.manifest(target, args);
    let pins = graph.pins;
    let shown = |name: &str, value: &str| {
        // Short values stand for too much.
        let mut long = pins.iter().filter(|(_, pin)| pin.value.len() > 4);
        match long.find(|(_, pin)| pin.value == value) {
            Some((pin, _)) => format!("{name}=${{{pin}}}"),
            None => format!("{name}={value}"),
        }
    };
    let nodes = manifest.by_id();
    let mut text = String::new();
    for node in &manifest.nodes {
        if matches!(node.kind, Kind::Git | Kind::Inspect | Kind::Assert) {
            continue;
        }
        let _ = writeln!(text, "{}", node.id);
        let mut under = None;
        for (place, input) in node.inputs.iter() {
            let by = match input.by {
                By::Key => "stands on",
                By::Content => "takes",
            };
            if place == "root" {
                under = nodes.get(input.node.as_str());
            }
            let _ = writeln!(text, "  {by} {} {place}", input.node);
        }
        for file in node.files.values().filter(|file| !file.path.is_empty()) {
            let _ = writeln!(text, "  reads {}", file.path);
        }
        let (mut lines, mut pinned, mut host) = (String::new(), Vec::new(), Vec::new());
        for (name, value) in node.components.iter() {
            let inherited = under.is_some_and(|under| under.components.get(name) == Some(value));
            match name.split_once('.') {
                Some(("host", name)) => host.push(name),
                Some(("env", name)) if pins.get(name).is_some_and(|pin| pin.value == *value) => {
                    pinned.push(name)
                }
                Some(("env", _)) if inherited => {}
                Some(("env", name)) => _ = writeln!(lines, "  env {}", shown(name, value)),
                _ if name == "command" => {
                    let line = behind.get(&node.id).map_or(value, |line| *line);
                    let _ = writeln!(lines, "  runs {line}");
                }
                // What the test says of the base image, and what all have.
                _ if ["image", "os-version", "platform", "network", "cwd", "user"]
                    .contains(&name.as_str()) => {}
                _ => _ = writeln!(lines, "  {name} {value}"),
            }
        }
        for (what, names) in [("pins", pinned), ("host", host)] {
            if !names.is_empty() {
                let _ = writeln!(text, "  {what} {}", names.join(" "));
            }
        }
        text.push_str(&lines);
    }
    text.replace(" \n", "\n")
}

const STAMPS: [(&str, &str); 2] = [
    ("BUILD_DATE", "2026-12-03T00:00:00Z"),
    ("VCS_REF", "0123456"),
];

/// What an image of this target says of itself.
fn config(example: &Example, target: &str) -> String {
    let (plan, _) = plan(&example.graph(), &request(target, &STAMPS)).expect("a plan");
    let PlannedOutput::Product { config, .. } = plan.output else {
        panic!("{target} has no image");
    };
    let json: Value = serde_json::from_slice(&config.to_image("windows/amd64")).expect("JSON");
    let text = serde_json::to_string_pretty(&json["config"]).expect("JSON");
    format!("{text}\n")
}

#[test]
fn the_plan_of_every_lane() {
    for lane in LANES {
        insta::assert_snapshot!(lane.replace('/', "-"), table(lane, &[]));
    }
    let nospikes = table("winamd64-rocm", &[("spikes", "false")]);
    insta::assert_snapshot!("winamd64-rocm-nospikes", nospikes);
    insta::assert_snapshot!(
        "winamd64-stock",
        table("winamd64", &[("stock-llvm", "true")])
    );
}

#[test]
fn what_images_say_of_themselves() {
    let example = Example::read();
    for lane in ["winamd64-rocm", "winarm64"] {
        insta::assert_snapshot!(format!("config-{lane}"), config(&example, lane));
    }
}

/// The lines of a stage: its table, and what follows up to a table of something else.
fn lines_of(text: &str, heading: &str) -> usize {
    let name = heading.trim_matches(['[', ']']);
    let own = |line: &str| line.trim_start_matches('[').starts_with(name);
    let from = text.lines().skip_while(|line| *line != heading);
    from.take_while(|line| !line.starts_with('[') || own(line))
        .count()
}

#[test]
fn no_stage_is_longer_than_a_screen() {
    const SCREEN: usize = 50;
    let mut stages = 0;
    for (file, text) in Example::read().texts() {
        for heading in text
            .lines()
            .filter(|line| line.starts_with("[stage.") && line.matches('.').count() == 1)
        {
            let lines = lines_of(text, heading);
            assert!(lines <= SCREEN, "{file}: {heading} has {lines} lines");
            stages += 1;
        }
    }
    assert_eq!(stages, Example::read().graph().stages.len());
}

#[test]
fn every_stage_is_in_the_readers_table() {
    let readme = text(&directory().join("README.md"));
    for name in Example::read().graph().stages.keys() {
        assert!(
            readme.contains(&format!("`{name}`")),
            "README.md does not name {name}"
        );
    }
}

/// What comes out of a lane in parts is of one graph: none of them stands on another one's yesterday.
#[test]
fn all_outputs_of_a_lane_share_every_step() {
    let example = Example::read();
    let graph = example.graph();
    for (lane, declared) in &graph.lanes {
        let mut keys = BTreeMap::new();
        for output in declared.outputs.keys() {
            let nodes = example.manifest(&format!("{lane}/{output}"), &[]).nodes;
            let made = nodes
                .into_iter()
                .filter(|node| matches!(node.kind, Kind::Step | Kind::Tree));
            for node in made {
                let known = keys.entry(node.id.clone()).or_insert(node.key.clone());
                assert_eq!(*known, node.key, "{lane}/{output}: {}", node.id);
            }
        }
        assert!(keys.len() >= 10, "{lane}: {} nodes", keys.len());
    }
}

/// As long as a script is a placeholder the marker is there, and with it the gate is red.
#[test]
fn placeholders_and_their_marker_go_together() {
    let mut open = vec![directory().join("windows"), directory().join("linux")];
    let (mut scripts, mut placeholders) = (0, 0);
    while let Some(path) = open.pop() {
        if path.is_dir() {
            let entries = std::fs::read_dir(&path).expect("a directory");
            open.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if path
            .file_name()
            .is_none_or(|name| name != "PLACEHOLDERS.txt")
        {
            scripts += 1;
            placeholders += usize::from(text(&path).contains("PLACEHOLDER"));
        }
    }
    let marker = directory().join("windows/scripts/modules/PLACEHOLDERS.txt");
    assert!(scripts > 50, "{scripts} files");
    assert_eq!(
        placeholders > 0,
        marker.exists(),
        "{placeholders} of {scripts}"
    );
}
