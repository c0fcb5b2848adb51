//! What holds for any graph.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::BTreeSet;

use bollard_buildkit_proto::pb as upstream;
use llb::proto::pb;
use llb::{
    Bind, Cache, Copy, Definition, Diff, Digest, Exec, FileOp, Image, Local, Merge, MkDir, MkFile,
    Output, Platform, Rm, Root, Secret, Sharing, Symlink, Tmpfs, view,
};
use proptest::prelude::*;
use prost::Message as _;

/// One vertex to make; numbers choose among the outputs made so far.
#[derive(Clone, Debug)]
enum Step {
    Image(u8),
    Local(Vec<String>),
    Exec {
        root: usize,
        inputs: Vec<(usize, u8)>,
        env: Vec<(String, String)>,
        codes: Vec<i32>,
    },
    File {
        base: Option<usize>,
        copies: Vec<(usize, String)>,
    },
    Merge(Vec<usize>),
    Diff(usize, usize),
}

fn name() -> impl Strategy<Value = String> {
    "[A-Z][A-Z_]{0,3}"
}

fn step() -> impl Strategy<Value = Step> {
    let at = any::<usize>;
    prop_oneof![
        any::<u8>().prop_map(Step::Image),
        prop::collection::vec("[a-z*!]{1,4}", 0..3).prop_map(Step::Local),
        (
            at(),
            prop::collection::vec((at(), 0..4u8), 0..4),
            prop::collection::vec((name(), ".{0,5}"), 0..5),
            prop::collection::vec(any::<i32>(), 0..3)
        )
            .prop_map(|(root, inputs, env, codes)| Step::Exec {
                root,
                inputs,
                env,
                codes
            }),
        (
            prop::option::of(at()),
            prop::collection::vec((at(), "[a-z]{1,4}"), 0..4)
        )
            .prop_map(|(base, copies)| Step::File { base, copies }),
        prop::collection::vec(at(), 2..5).prop_map(Step::Merge),
        (at(), at()).prop_map(|(lower, upper)| Step::Diff(lower, upper)),
    ]
}

/// Makes the steps' graph; `reverse` turns the order of all calls whose order
/// should not matter.
fn build(steps: &[Step], reverse: bool) -> Output {
    let platform = Platform::new("linux", "amd64");
    let mut made = vec![Image::new("base".parse().unwrap(), platform.clone()).build()];
    for step in steps {
        let at = |index: usize| made[index % made.len()].clone();
        let outputs = match step {
            Step::Image(n) => {
                vec![Image::new(format!("i{n}").parse().unwrap(), platform.clone()).build()]
            }
            Step::Local(patterns) => vec![
                Local::of_session("context", "session")
                    .unwrap()
                    .follow(ordered(patterns, reverse))
                    .build(),
            ],
            Step::Exec {
                root,
                inputs,
                env,
                codes,
            } => {
                let mut exec = Exec::new(
                    platform.clone(),
                    Root::writable(at(*root)),
                    ["sh", "-c", "true"],
                )
                .valid_exit_codes(ordered(codes, reverse));
                // A later value wins, so only the last of a name may move.
                let names: BTreeSet<_> = env.iter().map(|(name, _)| name).collect();
                let env: Vec<_> = names
                    .into_iter()
                    .filter_map(|name| env.iter().rfind(|(n, _)| n == name))
                    .collect();
                for (name, value) in ordered(&env, reverse) {
                    exec = exec.env(name, value);
                    // In small letters: no other name is `S_T` where one is `T`.
                    exec = exec.secret_env(format!("secret_{name}"), "id", true);
                }
                let mounts: Vec<_> = inputs.iter().enumerate().collect();
                for (n, (input, kind)) in ordered(&mounts, reverse) {
                    let dest = format!("/m{n}");
                    exec = match kind {
                        0 => exec.mount(dest, Bind::writable(at(*input))),
                        1 => exec.mount(dest, Bind::read_only(at(*input))),
                        2 => exec.mount(dest, Cache::new("id", Sharing::Private).unwrap()),
                        _ => exec
                            .mount(format!("{dest}/t"), Tmpfs::new())
                            .mount(format!("{dest}/s"), Secret::new("s").unwrap()),
                    };
                }
                let run = exec.build().unwrap();
                let mut outputs = vec![run.root().unwrap()];
                for n in 0..inputs.len() {
                    outputs.extend(run.output(&format!("/m{n}")).ok());
                }
                outputs
            }
            Step::File { base, copies } => {
                let mut op = FileOp::new(base.map(at)).mkdir(MkDir::new("/d", 0o755));
                for (from, path) in copies {
                    op = op
                        .copy(Copy::new(at(*from), format!("/{path}"), "/d/").wildcard(true))
                        .mkfile(MkFile::new(format!("/{path}"), 0o600, path.clone()))
                        .symlink(Symlink::new(path, "/d/l"))
                        .rm(Rm::new("/d/l"));
                }
                vec![op.build().unwrap()]
            }
            Step::Merge(inputs) => {
                vec![Merge::new(inputs.iter().map(|i| at(*i))).build().unwrap()]
            }
            Step::Diff(lower, upper) => vec![Diff::new(at(*lower), at(*upper)).build()],
        };
        made.extend(outputs);
    }
    made.pop().unwrap()
}

fn ordered<T: Clone>(list: &[T], reverse: bool) -> Vec<T> {
    let mut list = list.to_vec();
    if reverse {
        list.reverse();
    }
    list
}

/// The bytes that BuildKit makes when it reads an op and writes it again:
/// all fields by number, then the kind.
fn written_again(bytes: &[u8]) -> Vec<u8> {
    let mut op = upstream::Op::decode(bytes).unwrap();
    let kind = op.op.take();
    let rest = upstream::Op {
        op: kind,
        ..upstream::Op::default()
    };
    [op.encode_to_vec(), rest.encode_to_vec()].concat()
}

proptest! {
    #[test]
    fn the_order_of_calls_is_not_in_the_bytes(steps in prop::collection::vec(step(), 1..12)) {
        let definition = Definition::new(&build(&steps, false));
        prop_assert_eq!(
            definition.to_bytes(),
            Definition::new(&build(&steps, true)).to_bytes()
        );
    }

    #[test]
    fn every_graph_is_whole_and_canonical(steps in prop::collection::vec(step(), 1..12)) {
        let output = build(&steps, false);
        let definition = Definition::new(&output);
        let wire = definition.as_pb();
        let mut known = BTreeSet::new();
        for bytes in &wire.def {
            let op = pb::Op::decode(bytes.as_slice()).unwrap();
            for input in &op.inputs {
                prop_assert!(known.contains(&input.digest));
            }
            prop_assert_eq!(&written_again(bytes), bytes);
            prop_assert!(known.insert(Digest::of(bytes).to_string()));
        }
        prop_assert!(wire.metadata.keys().all(|digest| known.contains(digest)));

        let theirs = upstream::Definition::decode(definition.to_bytes().as_slice()).unwrap();
        prop_assert_eq!(theirs.encode_to_vec(), definition.to_bytes());

        let again = Output::from_definition(wire).unwrap();
        prop_assert_eq!(again, Some(output));
    }

    #[test]
    fn text_and_import_take_any_bytes(def in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..5)) {
        let wire = pb::Definition { def, ..pb::Definition::default() };
        let _ = view::text(&wire);
        let _ = Output::from_definition(&wire);
    }

    #[test]
    fn text_takes_any_op(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(definition) = pb::Definition::decode(bytes.as_slice()) {
            let _ = view::text(&definition);
        }
    }

    #[test]
    fn names_that_are_read_are_written_alike(text in "[a-z0-9./:@_-]{1,24}") {
        if let Ok(reference) = text.parse::<llb::Reference>() {
            prop_assert_eq!(reference.to_string().parse(), Ok(reference));
        }
        if let Ok(platform) = text.parse::<Platform>() {
            prop_assert_eq!(platform.to_string().parse(), Ok(platform));
        }
    }
}
