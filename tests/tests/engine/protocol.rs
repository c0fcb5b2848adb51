//! Our bytes are the engine's bytes: every vertex that it loads has the digest that we gave it.

use std::collections::BTreeSet;

use engine_tests::{Build, Example, Setup, docker};
use llb::proto::pb;
use llb::{Caps, Definition, Image, Platform};

/// Sends a definition to the engine as it is; the digests of the vertices that it loaded.
fn replay(definition: &Definition) -> BTreeSet<String> {
    let example = Example::of("");
    example.write("lanes.toml", definition.to_bytes());
    let outcome = Build::new(&Setup::get().engine, example.path())
        .without_bases()
        .option(
            "--build-arg",
            format!("BUILDKIT_SYNTAX={}", Setup::get().replay),
        )
        .pass();
    outcome.vertices.into_keys().collect()
}

/// The digests of all ops of a definition but its last, which only names the result.
fn digests(definition: &pb::Definition) -> BTreeSet<String> {
    let ops = &definition.def[..definition.def.len() - 1];
    ops.iter()
        .map(|op| llb::Digest::of(op).to_string())
        .collect()
}

#[test]
fn the_engine_names_every_kind_of_op_by_our_digest() {
    let setup = Setup::get();
    let platform = Platform::new("linux", "amd64");
    let format = "{{index .RepoDigests 0}}";
    let pinned = docker(
        &setup.engine,
        &["image", "inspect", "--format", format, &setup.busybox],
    );
    let (_, digest) = pinned.trim().split_once('@').expect("a digest");
    let reference = format!("{}@{digest}", setup.busybox)
        .parse()
        .expect("a reference");
    let base = Image::new(reference, platform.clone()).build();
    let result = llb::sample::every_op(base, &platform).expect("a graph");
    assert!(result.missing(&Caps::all()).is_empty());
    let definition = Definition::new(&result);
    let (ours, seen) = (digests(definition.as_pb()), replay(&definition));
    let unknown: Vec<_> = ours.difference(&seen).collect();
    assert!(
        unknown.is_empty(),
        "the engine has other digests for {unknown:?}\n{}",
        llb::view::text(definition.as_pb())
    );
    assert!(ours.len() > 8, "every kind of op: {}", ours.len());
}
