//! What every lane does, step by step, as tables that people read.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use stages::keys::{self, By, Kind};
use stages::lower::ExecOptions;
use stages::plan::{self, PlannedOutput, PlannedStep, Product, Request, Start};

use crate::common::{plan, plan_with, request};
use crate::example::{Example, LANES, directory, text};

/// A paragraph for each step: what it stands on, what it sees besides, and what it runs; for each stage, what it starts
/// from and hands on. With `there`, the payloads are. By the ids. Of what is pinned the name alone, so that a pin moves no table.
fn paragraphs(target: &str, args: &[(&str, &str)], there: bool) -> Vec<(String, String)> {
    let graph = Example::read().with_payloads().graph();
    let request = request(target, args);
    let bytes = |name: &str| there.then(|| name.as_bytes().to_vec());
    let (plan, facts) = plan_with(&graph, &request, &bytes).expect("a plan");
    let steps = plan.stages.iter().flat_map(|stage| {
        let steps = stage.steps.iter();
        steps.map(|step| (format!("{}/{}", stage.name, step.name), step))
    });
    let steps: BTreeMap<String, &PlannedStep> = steps.collect();
    let contents = |path: &str| Some(format!("digest of {path}"));
    let options = ExecOptions::default();
    let manifest = keys::make(
        "windows-media",
        &request,
        &plan,
        &facts,
        &options,
        &contents,
    );
    // Short values stand for too much.
    let long = || graph.pins.iter().filter(|(_, pin)| pin.value.len() > 4);
    let shown = |name: &str, value: &str| match long().find(|(_, pin)| pin.value == value) {
        Some((pin, _)) => format!("{name}=${{{pin}}}"),
        None => format!("{name}={value}"),
    };
    let within = |text: &str| {
        long().fold(text.to_owned(), |text, (pin, value)| {
            text.replace(&value.value, &format!("${{{pin}}}"))
        })
    };
    let nodes = manifest.by_id();
    let mut paragraphs = Vec::new();
    for node in &manifest.nodes {
        if matches!(node.kind, Kind::Git | Kind::Inspect | Kind::Assert) {
            continue;
        }
        let mut text = format!("{}\n", node.id);
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
        for (place, file) in node.files.iter().filter(|(_, file)| !file.path.is_empty()) {
            let at = match place.ends_with(&file.path) {
                true => String::new(),
                false => format!(" at {place}"),
            };
            let _ = writeln!(text, "  reads {}{at}", file.path);
        }
        let step = steps.get(&node.id);
        for cache in step.iter().flat_map(|step| &step.cache) {
            let _ = writeln!(text, "  keeps {} {:?}", cache.id, cache.sharing);
        }
        let (mut lines, mut pinned, mut host) = (String::new(), Vec::new(), Vec::new());
        for (name, value) in node.components.iter() {
            let inherited = under.is_some_and(|under| under.components.get(name) == Some(value));
            match name.split_once('.') {
                Some(("host", name)) => host.push(name),
                Some(("env", name))
                    if graph.pins.get(name).is_some_and(|pin| pin.value == *value) =>
                {
                    pinned.push(name)
                }
                Some(("env", _)) if inherited => {}
                Some(("env", name)) => _ = writeln!(lines, "  env {}", shown(name, value)),
                _ if name == "command" => {
                    // What a batch file runs that settles host settings.
                    let behind = step.and_then(|step| step.behind.as_ref());
                    let _ = writeln!(lines, "  runs {}", behind.unwrap_or(value));
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
        paragraphs.push((node.id.clone(), text + &lines));
    }
    let selection = plan::select(&graph, &request).expect("a target");
    for git in selection.gits().expect("git sources") {
        let id = format!("git:{}", git.name);
        let text = format!("{id}\n  {} {}\n", git.url, within(&git.reference));
        paragraphs.push((id, text));
    }
    for stage in &plan.stages {
        let mut text = format!("[{}]\n", stage.name);
        if let Start::Image(image) = &stage.start {
            let _ = writeln!(text, "  from {}", within(image));
        }
        if let Product::Tree(paths) = &stage.product {
            for path in paths {
                let _ = writeln!(text, "  hands on {}", path.as_str());
            }
        }
        paragraphs.push((format!("[{}]", stage.name), text));
    }
    for (_, text) in &mut paragraphs {
        *text = text.replace(" \n", "\n");
    }
    paragraphs
}

fn table(target: &str, args: &[(&str, &str)]) -> String {
    let paragraphs = paragraphs(target, args, false).into_iter();
    paragraphs.map(|(_, text)| text).collect()
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

/// What comes out of each lane under which name, and what is made for it that the lane's own table does not have.
#[test]
fn the_outputs_of_every_lane() {
    let graph = Example::read().graph();
    let mut text = String::new();
    for lane in graph.lanes.keys() {
        let known = LANES.iter().find(|known| known.starts_with(lane.as_str()));
        let known = paragraphs(known.expect(lane), &[], false);
        for output in graph.lanes[lane].outputs.keys() {
            let target = format!("{lane}/{output}");
            let (plan, _) = plan(&graph, &request(&target, &[])).expect("a plan");
            let PlannedOutput::Product {
                stage,
                root,
                add,
                tag,
                ..
            } = plan.output
            else {
                panic!("{target} has no product");
            };
            let stage = &plan.stages[stage].name;
            let root = root.map_or(String::new(), |root| format!(" below {root}"));
            let tag = tag.map_or(String::new(), |tag| format!(", tag {tag}"));
            let _ = writeln!(text, "{target}: {stage}{root}{tag}");
            for (from, to) in add {
                let _ = writeln!(text, "  with {from} as {to}");
            }
            let own = paragraphs(&target, &[], false);
            for (_, more) in own.iter().filter(|paragraph| !known.contains(paragraph)) {
                let _ = write!(text, "{more}");
            }
        }
    }
    insta::assert_snapshot!("outputs", text);
}

/// What the payloads change, where all are there: the lines that are others, by step.
#[test]
fn what_payloads_change() {
    let mut text = String::new();
    for target in ["winamd64", "winamd64-nvidia", "winarm64/device"] {
        let _ = writeln!(text, "{target}:");
        let without: BTreeMap<_, _> = paragraphs(target, &[], false).into_iter().collect();
        for (id, with) in paragraphs(target, &[], true) {
            let before = without.get(&id).map_or("", String::as_str);
            let only = |of: &str, not: &str, mark: char| -> String {
                let lines = of
                    .lines()
                    .filter(|line| !not.lines().any(|one| one == *line));
                lines.map(|line| format!("{mark} {line}\n")).collect()
            };
            let (gone, new) = (only(before, &with, '-'), only(&with, before, '+'));
            if !gone.is_empty() || !new.is_empty() {
                let _ = write!(text, "{id}\n{gone}{new}");
            }
        }
    }
    insta::assert_snapshot!("payloads", text);
}

/// Where each stage may be asked for by its name, and by which rule it is refused elsewhere.
#[test]
fn what_may_be_asked_for() {
    let graph = Example::read().graph();
    let lanes = graph.lanes.keys().map(|lane| (lane.as_str(), None));
    let lanes: Vec<_> = lanes.chain([("winamd64-rocm", Some("spikes"))]).collect();
    let mut text = String::new();
    for stage in graph.stages.keys() {
        let mut said: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (lane, off) in &lanes {
            let args: Vec<_> = off.iter().map(|switch| (*switch, "false")).collect();
            let request = request(&format!("{lane}/{stage}"), &args);
            let said = match plan::select(&graph, &request) {
                Ok(_) => said.entry("in").or_default(),
                Err(report) => said.entry(report.diagnostics()[0].rule.0).or_default(),
            };
            let without = off.map_or(String::new(), |off| format!(" without {off}"));
            said.push(format!("{lane}{without}"));
        }
        let _ = writeln!(text, "{stage}");
        for (rule, lanes) in said {
            let _ = writeln!(text, "  {rule} {}", lanes.join(", "));
        }
    }
    insta::assert_snapshot!("asked", text);
}

/// Who names no target gets the plain lane; and the pins are those that the texts of these tests have.
#[test]
fn what_the_lane_file_says_of_itself() {
    let graph = Example::read().graph();
    let request = Request {
        target: None,
        ..request("", &[])
    };
    let (plan, _) = plan(&graph, &request).expect("a plan");
    assert_eq!(plan.lane, "winamd64");
    assert_eq!(graph.table.name.value, "windows-media");
    let pins = graph
        .table
        .versions
        .as_ref()
        .map(|path| path.value.as_str());
    assert_eq!(pins, Some("versions.env"));
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
    let graph = Example::read().graph();
    let front = text(&directory().join("../../README.md"));
    let many = format!("for Windows with {} stages", graph.stages.len());
    assert!(front.contains(&many), "the front page says not {many}");
    for name in graph.stages.keys() {
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

/// A placeholder says what the real one would do, and ends with an error. As long as one is there the marker is, and with
/// it the gate is red.
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
            let said = text(&path);
            if said.contains("PLACEHOLDER") {
                placeholders += 1;
                let how = path.extension().and_then(|end| end.to_str());
                let error = match how.expect("a kind") {
                    "ps1" => "\nexit 1\n",
                    "psm1" => "\nthrow '",
                    "cmd" => "\n@exit /b 1\n",
                    "py" => "\nraise SystemExit(\"",
                    // Nobody runs a patch; it applies to nothing.
                    _ => "PLACEHOLDER, no patch",
                };
                let run = path.display();
                assert!(said.contains(error), "{run} ends with no error");
                assert!(
                    said.contains(" would ") || how == Some("psm1"),
                    "{run} says not what it is for"
                );
            }
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
