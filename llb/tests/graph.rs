//! Graphs as a whole: order, one vertex per digest, metadata, source maps,
//! capabilities, graphs from elsewhere, size.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeMap;

use llb::proto::pb;
use llb::{
    Bind, Caps, Copy, Definition, Digest, Error, Exec, FileOp, Image, Location, Merge, Metadata,
    MkFile, Output, Platform, Position, Range, Root, SourceFile, caps, view,
};

fn linux() -> Platform {
    Platform::new("linux", "amd64")
}

fn base() -> Output {
    Image::new("base".parse().unwrap(), linux())
        .metadata(Metadata::named("base"))
        .build()
}

fn file(path: &str) -> FileOp {
    FileOp::new(None).mkfile(MkFile::new(path, 0o644, "x"))
}

fn sample() -> Output {
    llb::sample::every_op(base(), &linux()).unwrap()
}

#[test]
fn the_sample_reads_like_this() {
    insta::assert_snapshot!(view::text(Definition::new(&sample()).as_pb()));
}

#[test]
fn the_sample_is_the_same_bytes_each_time() {
    assert_eq!(
        Definition::new(&sample()).to_bytes(),
        Definition::new(&sample()).to_bytes()
    );
}

/// Every input is made before it is used, and every digest is the one of the
/// bytes.
#[track_caller]
fn assert_whole(definition: &pb::Definition) {
    use prost::Message as _;
    let mut known = Vec::new();
    for bytes in &definition.def {
        let op = pb::Op::decode(bytes.as_slice()).unwrap();
        for input in &op.inputs {
            assert!(
                known.contains(&input.digest),
                "{} comes too late",
                input.digest
            );
        }
        let digest = Digest::of(bytes).to_string();
        assert!(!known.contains(&digest), "{digest} is there twice");
        known.push(digest);
    }
    for digest in definition.metadata.keys() {
        assert!(known.contains(digest), "{digest} is not there");
    }
}

#[test]
fn the_sample_is_whole() {
    assert_whole(Definition::new(&sample()).as_pb());
}

#[test]
fn twins_are_one_vertex_that_keeps_what_is_said_of_both() {
    let toml = SourceFile::new("lanes.toml", "TOML", "[a]\n[b]\n");
    let twin = |name: &str, line| {
        file("/same")
            .metadata(
                Metadata::named(name)
                    .ignore_cache(line == 2)
                    .at(Location::new(&toml, [Range::lines(line, line)])),
            )
            .build()
            .unwrap()
    };
    let (first, second) = (twin("first", 1), twin("second", 2));
    assert_eq!(first, second);
    let merged = Merge::new([first, second]).build().unwrap();
    let definition = Definition::new(&merged);
    insta::assert_snapshot!(view::text(definition.as_pb()), @r#"
    #0 file
       on scratch: mkfile /same mode=644 1 bytes -> .0
       name "first"
       ignore-cache yes
       needs file.base meta.description meta.ignorecache
       from lanes.toml:1:1-1:1
       from lanes.toml:2:1-2:1
    #1 merge #0.0 #0.0
       needs mergeop
    #2 result #1.0
    "#);
}

#[test]
fn metadata_changes_no_digest() {
    let toml = SourceFile::new("lanes.toml", "TOML", "");
    let plain = file("/a").build().unwrap();
    let said = file("/a")
        .metadata(
            Metadata::named("name")
                .describe("key", "text")
                .group("id", "group", true)
                .ignore_cache(true)
                .export_cache(false)
                .resources(pb::LinuxResources {
                    memory: 1,
                    ..pb::LinuxResources::default()
                })
                .at(Location::new(&toml, [Range::lines(1, 2)])),
        )
        .build()
        .unwrap();
    assert_eq!(plain.digest(), said.digest());
    assert_eq!(said.name(), Some("name"));
    assert_eq!(plain.name(), None);
}

#[test]
fn each_file_of_the_source_map_is_there_once() {
    let lanes = SourceFile::new("lanes.toml", "TOML", "lanes");
    let again = SourceFile::new("lanes.toml", "TOML", "lanes");
    let stage = SourceFile::new("stages/a.toml", "TOML", "stage");
    let unused = SourceFile::new("unused.toml", "TOML", "unused");
    let first = file("/1")
        .metadata(Metadata::new().at(Location::new(
            &lanes,
            [Range::new(Position::new(3, 5), Position::new(4, 1))],
        )))
        .build()
        .unwrap();
    let second = FileOp::new(first.clone())
        .mkfile(MkFile::new("/2", 0o644, ""))
        .metadata(
            Metadata::new()
                .at(Location::new(
                    &stage,
                    [Range::lines(7, 9), Range::lines(12, 12)],
                ))
                .at(Location::new(&again, [Range::lines(1, 1)])),
        )
        .build()
        .unwrap();
    let _ = unused;
    let source = Definition::new(&second).to_pb().source.unwrap();
    let names: Vec<_> = source
        .infos
        .iter()
        .map(|info| info.filename.as_str())
        .collect();
    assert_eq!(names, ["lanes.toml", "stages/a.toml"]);
    let position = |line, character| Some(pb::Position { line, character });
    assert_eq!(
        source.locations[&first.digest().to_string()].locations,
        [pb::Location {
            source_index: 0,
            ranges: vec![pb::Range {
                start: position(3, 5),
                end: position(4, 1)
            }],
        }]
    );
    let indices: Vec<_> = source.locations[&second.digest().to_string()]
        .locations
        .iter()
        .map(|location| (location.source_index, location.ranges.len()))
        .collect();
    assert_eq!(indices, [(1, 2), (0, 1)]);
}

#[test]
fn a_graph_without_places_has_no_source_map() {
    assert_eq!(Definition::new(&base()).to_pb().source, None);
}

#[test]
fn each_missing_capability_is_named_once_with_a_vertex_that_needs_it() {
    let sample = sample();
    assert_eq!(sample.missing(&Caps::all()), []);
    let old = Caps::all().without(caps::MERGE).without(caps::DIFF);
    let missing: Vec<_> = sample
        .missing(&old)
        .into_iter()
        .map(|missing| (missing.cap, missing.name.unwrap()))
        .collect();
    assert_eq!(
        missing,
        [
            ("diffop".to_owned(), "what the step changed".to_owned()),
            ("mergeop".to_owned(), "merge".to_owned()),
        ]
    );
    let needs = sample.missing(&Caps::default());
    let needs: Vec<_> = needs.iter().map(|missing| missing.cap.as_str()).collect();
    insta::assert_snapshot!(needs.join("\n"));
}

#[test]
fn a_definition_from_elsewhere_keeps_its_bytes_and_all_that_is_said() {
    let toml = SourceFile::new("lanes.toml", "TOML", "x").read_by(pb::Definition::default());
    let top = FileOp::new(sample())
        .mkfile(MkFile::new("/top", 0o644, ""))
        .metadata(
            Metadata::named("top")
                .group("g", "group", false)
                .at(Location::new(&toml, [Range::lines(1, 1)])),
        )
        .build()
        .unwrap();
    let wire = Definition::new(&top).to_pb();
    let output = Output::from_definition(&wire).unwrap().unwrap();
    assert_eq!(output, top);
    assert_eq!(Definition::new(&output).to_pb(), wire);
    assert_eq!(
        output.missing(&Caps::default()),
        top.missing(&Caps::default())
    );
}

#[test]
fn a_definition_from_elsewhere_may_have_another_order_and_foreign_bytes() {
    use prost::Message as _;
    // The generated encoder's order of fields: not ours, and so another digest.
    let foreign = pb::Op {
        op: Some(pb::op::Op::Source(pb::SourceOp {
            identifier: "docker-image://a".to_owned(),
            attrs: BTreeMap::from([("empty".to_owned(), String::new())]),
        })),
        platform: Some((&linux()).into()),
        ..pb::Op::default()
    }
    .encode_to_vec();
    let result = pb::Op {
        inputs: vec![pb::Input {
            digest: Digest::of(&foreign).to_string(),
            index: 0,
        }],
        ..pb::Op::default()
    };
    let user = FileOp::new(
        Output::from_definition(&pb::Definition {
            def: vec![foreign.clone(), result.encode_to_vec()],
            ..pb::Definition::default()
        })
        .unwrap(),
    )
    .mkfile(MkFile::new("/a", 0o644, ""))
    .build()
    .unwrap();
    let mut wire = Definition::new(&user).to_pb();
    assert_eq!(wire.def[0], foreign);
    wire.def.swap(0, 1);
    assert_eq!(Output::from_definition(&wire).unwrap(), Some(user));
}

#[test]
fn an_empty_definition_is_scratch() {
    assert_eq!(
        Output::from_definition(&pb::Definition::default()),
        Ok(None)
    );
}

#[test]
fn a_definition_that_does_not_hold_together_is_refused() {
    use prost::Message as _;
    let good = Definition::new(&file("/a").build().unwrap()).to_pb();
    let with_result = |digest: &str, index| {
        let result = pb::Op {
            inputs: vec![pb::Input {
                digest: digest.to_owned(),
                index,
            }],
            ..pb::Op::default()
        };
        let mut wire = good.clone();
        wire.def[1] = result.encode_to_vec();
        wire
    };
    let head = Digest::of(&good.def[0]).to_string();
    let mut garbage = good.clone();
    garbage.def[0] = vec![0xff];
    let mut no_result = good.clone();
    no_result.def[1] = Vec::new();
    for (wire, why) in [
        (garbage, "its bytes are no op"),
        (no_result, "the last op names no result"),
        (
            with_result("nonsense", 0),
            "an input is not named by a digest",
        ),
        (with_result(&head, -1), "an input has a negative index"),
        (
            with_result(&Digest::of(b"other").to_string(), 0),
            "it is used but not there",
        ),
    ] {
        match Output::from_definition(&wire) {
            Err(Error::Definition { why: found, .. }) => assert_eq!(found, why),
            other => panic!("{why}: {other:?}"),
        }
    }
}

#[test]
fn a_chain_of_50_000_vertices_needs_no_stack() {
    let mut top = base();
    for step in 0..50_000 {
        top = FileOp::new(top)
            .mkfile(MkFile::new("/n", 0o644, format!("{step}")))
            .build()
            .unwrap();
    }
    let definition = Definition::new(&top);
    assert_eq!(definition.as_pb().def.len(), 50_002);
    assert_eq!(top.missing(&Caps::all()), []);
    let again = Output::from_definition(definition.as_pb())
        .unwrap()
        .unwrap();
    assert_eq!(again, top);
}

#[test]
fn a_graph_with_many_paths_is_walked_once_per_vertex() {
    // 2^60 paths from top to bottom.
    let mut top = base();
    for _ in 0..60 {
        top = Merge::new([top.clone(), top]).build().unwrap();
    }
    let definition = Definition::new(&top);
    assert_eq!(definition.as_pb().def.len(), 62);
    let again = Output::from_definition(definition.as_pb()).unwrap();
    assert_eq!(again, Some(top));
}

#[test]
fn a_sealed_product_hangs_behind_the_exec_but_is_the_input_itself() {
    let product = file("/product").build().unwrap();
    let gate = Exec::new(linux(), Root::scratch(), ["/lanegate"])
        .mount("/product", Bind::sealed(product.clone()))
        .build()
        .unwrap();
    let sealed = gate.output("/product").unwrap();
    assert_ne!(sealed, product);
    let held = FileOp::new(None)
        .copy(Copy::new(sealed, "/product", "/"))
        .build()
        .unwrap();
    insta::assert_snapshot!(view::text(Definition::new(&held).as_pb()), @r#"
    #0 file
       on scratch: mkfile /product mode=644 1 bytes -> .0
       needs file.base
    #1 exec [linux/amd64]
       args "/lanegate"
       cwd /
       mount / = scratch -> .0
       mount /product = #0.0 read-only -> .1
       needs exec.meta.base exec.mount.bind
    #2 file
       on scratch: copy #1.1:/product to / -> .0
       needs file.base
    #3 result #2.0
    "#);
}

#[test]
fn text_of_garbage_says_so() {
    let definition = pb::Definition {
        def: vec![vec![0xff, 1, 2]],
        ..pb::Definition::default()
    };
    assert_eq!(view::text(&definition), "#0 no op: 3 bytes\n");
}

#[test]
fn text_leaves_the_ids_of_local_sources_out() {
    let text = |output: Output| view::text(Definition::new(&output).as_pb());
    let one = llb::Local::unique("context", "1").unwrap().build();
    let two = llb::Local::unique("context", "2").unwrap().build();
    assert_ne!(one, two);
    assert_eq!(text(one), text(two));
}
