//! The LLB of graphs, and what may not change it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{Loaded, load, lower, rendered, request};
use ::llb::{Caps, Definition, caps};

fn example(directory: &str) -> Loaded {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).expect(file);
    load(&read("lanes.toml"), &read("versions.env"))
}

fn definition(loaded: &Loaded, target: &str, args: &[(&str, &str)], caps: &Caps) -> Definition {
    match lower(loaded, &request(target, args), caps) {
        Ok(lowered) => Definition::new(&lowered.result),
        Err(report) => panic!(
            "{}{}",
            rendered(loaded),
            report.render(&loaded.sources, false)
        ),
    }
}

/// Digest of each vertex by its name.
fn digests(definition: &Definition) -> BTreeMap<String, String> {
    let wire = definition.to_pb();
    let named = wire.metadata.iter().filter_map(|(digest, metadata)| {
        let name = metadata.description.get("llb.customname")?;
        Some((name.clone(), digest.clone()))
    });
    named.collect()
}

#[test]
fn hello_is_one_image_one_copy_and_one_exec() {
    let definition = definition(&example("../examples/hello"), "", &[], &Caps::all());
    insta::assert_snapshot!(::llb::view::text(&definition.to_pb()));
}

#[test]
fn media_mini_with_merges() {
    let definition = definition(
        &example("../tests/graphs/media"),
        "arm64",
        &[],
        &Caps::all(),
    );
    insta::assert_snapshot!(::llb::view::text(&definition.to_pb()));
}

#[test]
fn media_mini_without_merges_copies() {
    let caps = Caps::all().without(caps::MERGE);
    let definition = definition(
        &example("../tests/graphs/media"),
        "amd64-rocm/bundle",
        &[],
        &caps,
    );
    insta::assert_snapshot!(::llb::view::text(&definition.to_pb()));
}

#[test]
fn the_reports_of_a_lane_are_a_tree_without_a_seal() {
    let definition = definition(
        &example("../tests/graphs/media"),
        "amd64/gates",
        &[],
        &Caps::all(),
    );
    insta::assert_snapshot!(::llb::view::text(&definition.to_pb()));
}

#[test]
fn a_pin_changes_the_steps_that_name_it_and_what_is_behind_them() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/graphs/media");
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).expect(file);
    let before = load(&read("lanes.toml"), &read("versions.env"));
    let pins = read("versions.env").replace("LITERT_VERSION=2.1.0", "LITERT_VERSION=2.1.1");
    let after = load(&read("lanes.toml"), &pins);
    let (before, after) = (
        digests(&definition(&before, "amd64", &[], &Caps::all())),
        digests(&definition(&after, "amd64", &[], &Caps::all())),
    );
    let changed: Vec<&str> = before
        .iter()
        .filter(|(name, digest)| after.get(*name) != Some(digest))
        .map(|(name, _)| name.as_str())
        .collect();
    insta::assert_snapshot!(changed.join("\n"));
}

#[test]
fn comments_order_and_other_lanes_change_no_byte_of_an_op() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/graphs/media");
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).expect(file);
    let (lanes, pins) = (read("lanes.toml"), read("versions.env"));
    let ops = |lanes: &str, pins: &str| {
        let loaded = load(lanes, pins);
        definition(&loaded, "arm64", &[], &Caps::all()).to_pb().def
    };
    let want = ops(&lanes, &pins);
    let mut reversed: Vec<&str> = pins.lines().collect();
    reversed.reverse();
    assert_eq!(want, ops(&lanes, &reversed.join("\n")), "the order of pins");
    assert_eq!(want, ops(&format!("{lanes}\n# more\n"), &pins), "a comment");
    let more = "\n[lane.other]\nplatform = \"linux/amd64\"\nslot.sdk = \"rocm\"\noutput.x = { stage = \"onnx\" }\n";
    assert_eq!(want, ops(&format!("{lanes}{more}"), &pins), "another lane");
    let swapped = lanes.replace(
        r#"files   = ["src/onnx.c", "src/onnx-info.c", "src/media.h"]"#,
        r#"files   = ["src/media.h", "src/onnx-info.c", "src/onnx.c"]"#,
    );
    assert_ne!(swapped, lanes);
    assert_eq!(want, ops(&swapped, &pins), "the order of files");
}

#[test]
fn a_gate_changes_no_vertex_but_its_own_and_those_behind_its_seals() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/graphs/media");
    let read = |file: &str| std::fs::read_to_string(directory.join(file)).expect(file);
    let (lanes, pins) = (read("lanes.toml"), read("versions.env"));
    let gate = lanes.find("[gate.arch]").expect("the gate");
    let with = digests(&definition(
        &load(&lanes, &pins),
        "arm64",
        &[],
        &Caps::all(),
    ));
    let without = digests(&definition(
        &load(&lanes[..gate], &pins),
        "arm64",
        &[],
        &Caps::all(),
    ));
    for (name, digest) in &without {
        // The held stage and what comes after it take the product from the seal: another
        // definition, the same content key. That nothing re-runs is shown on the engine.
        let held = name.starts_with("[image] add") || name.starts_with("[image/");
        assert_eq!(with.get(name) == Some(digest), !held, "{name}");
    }
}
