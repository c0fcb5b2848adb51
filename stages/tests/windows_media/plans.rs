//! What every lane does, step by step, as tables that people read.

use std::fmt::Write as _;

use stages::keys::{By, Kind, Manifest};

use crate::example::{Example, LANES, directory, text};

/// A step a paragraph: what it stands on, what it sees, and the names of its variables.
fn table(manifest: &Manifest) -> String {
    let mut text = String::new();
    for node in &manifest.nodes {
        match node.kind {
            Kind::Step | Kind::Copy | Kind::Merge | Kind::Image => {}
            Kind::Git | Kind::Tree | Kind::Inspect | Kind::Assert => continue,
        }
        let _ = writeln!(text, "{}", node.id);
        for (place, input) in &node.inputs {
            let by = match input.by {
                By::Key => "stands on",
                By::Content => "takes",
            };
            let _ = writeln!(text, "  {by} {} {}", input.node, place);
        }
        for file in node.files.values().filter(|file| !file.path.is_empty()) {
            let _ = writeln!(text, "  reads {}", file.path);
        }
        let of = |prefix: &'static str| {
            let names = node
                .components
                .keys()
                .filter_map(move |name| name.strip_prefix(prefix));
            names.collect::<Vec<_>>().join(" ")
        };
        for (what, names) in [
            ("env", of("env.")),
            ("host", of("host.")),
            ("cache", of("cache.")),
        ] {
            if !names.is_empty() {
                let _ = writeln!(text, "  {what} {names}");
            }
        }
    }
    text
}

#[test]
fn the_plan_of_every_lane() {
    let example = Example::read();
    for lane in LANES {
        insta::assert_snapshot!(lane.replace('/', "-"), table(&example.manifest(lane, &[])));
    }
    let nospikes = example.manifest("winamd64-rocm", &[("spikes", "false")]);
    insta::assert_snapshot!("winamd64-rocm-nospikes", table(&nospikes));
    let stock = example.manifest("winamd64", &[("stock-llvm", "true")]);
    insta::assert_snapshot!("winamd64-stock", table(&stock));
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

#[test]
fn a_bundle_and_an_image_share_every_step() {
    let example = Example::read();
    let image = example.manifest("winarm64", &[]);
    let keys = image.by_id();
    let bundle = example.manifest("winarm64/bundle", &[]).nodes.into_iter();
    for node in bundle.filter(|node| matches!(node.kind, Kind::Step | Kind::Tree)) {
        if let Some(other) = keys.get(node.id.as_str()) {
            assert_eq!(node.key, other.key, "{}", node.id);
        }
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
