//! What is in a key, what is not, and what a change re-runs.

use std::collections::BTreeMap;

use stages::impact::{Fate, Known, fates};
use stages::keys::{self, Manifest};
use stages::lower::ExecOptions;

use crate::common::{self, load};
use crate::trees::graph;

const LANES: &str = include_str!("../../../tests/graphs/media/lanes.toml");
const PINS: &str = include_str!("../../../tests/graphs/media/versions.env");

/// The manifest of the arm64 lane, where each file's digest is its path.
fn manifest(lanes: &str, pins: &str) -> Manifest {
    let loaded = load(lanes, pins);
    let contents = |path: &str| Some(format!("digest of {path}"));
    common::manifest(&loaded, "arm64", &ExecOptions::default(), &contents)
}

fn base() -> Manifest {
    manifest(LANES, PINS)
}

/// The fates of steps that a change moves, as text.
fn moved(now: &Manifest, other: &[(&str, bool)]) -> String {
    let other: BTreeMap<String, bool> = other.iter().map(|(id, b)| ((*id).into(), *b)).collect();
    let fates = fates(now, &Known::of(&base()), &other);
    let steps = now
        .nodes
        .iter()
        .filter(|node| node.kind == keys::Kind::Step);
    steps
        .filter_map(|node| match fates[node.id.as_str()] {
            Fate::Cached => None,
            fate => Some(format!(
                "{}:{}",
                node.id,
                format!("{fate:?}").to_lowercase()
            )),
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn edited(from: &str, to: &str) -> Manifest {
    assert!(LANES.contains(from), "{from}");
    manifest(&LANES.replace(from, to), PINS)
}

#[test]
fn a_manifest_names_everything_that_makes_each_key() {
    let json = serde_json::to_string_pretty(&base()).expect("JSON");
    insta::assert_snapshot!(json);
    let read: Manifest = serde_json::from_str(&json).expect("the same");
    assert_eq!(read, base());
}

#[test]
fn a_pin_re_runs_who_names_it_and_perhaps_who_sees_its_bytes() {
    let onnx = manifest(
        LANES,
        &PINS.replace("ONNX_VERSION=1.23.0", "ONNX_VERSION=2"),
    );
    assert_eq!(
        moved(&onnx, &[]),
        "onnx/build:must ffmpeg/build:may opencv/build:may image/index:may"
    );
    let same = [("onnx:tree", false)];
    assert_eq!(moved(&onnx, &same), "onnx/build:must");
    let other = [
        ("onnx:tree", true),
        ("ffmpeg:tree", false),
        ("opencv:tree", false),
    ];
    assert_eq!(
        moved(&onnx, &other),
        "onnx/build:must ffmpeg/build:must opencv/build:must image/index:must"
    );
    let rocm = manifest(LANES, &PINS.replace("ROCM_VERSION=7.1", "ROCM_VERSION=8"));
    assert_eq!(moved(&rocm, &[]), "");
}

#[test]
fn a_tree_that_is_known_to_have_other_bytes_ran() {
    let onnx = PINS.replace("ONNX_VERSION=1.23.0", "ONNX_VERSION=2");
    let onnx = manifest(LANES, &onnx);
    let known = Known::of(&base());
    let tree = |other: Option<bool>| {
        let other = other.map(|other| ("ffmpeg:tree".to_owned(), other));
        fates(&onnx, &known, &other.into_iter().collect())["ffmpeg:tree"]
    };
    assert_eq!(tree(None), Fate::May);
    assert_eq!(tree(Some(true)), Fate::Must);
    assert_eq!(tree(Some(false)), Fate::Cached);
}

#[test]
fn a_chain_variable_re_runs_all_that_stands_on_it() {
    let lang = edited("env.LANG = \"C.UTF-8\"", "env.LANG = \"C\"");
    let steps = moved(&lang, &[]);
    assert_eq!(steps.matches(":must").count(), 7, "{steps}");
    assert!(!steps.contains("may"), "{steps}");
}

#[test]
fn a_file_re_runs_who_sees_its_bytes() {
    let header = base().with_changed_file("src/media.h");
    assert_eq!(moved(&header, &[]).matches("build:must").count(), 5);
    let one = base().with_changed_file("src/tvm.c");
    assert_eq!(moved(&one, &[]), "tvm/build:must image/index:may");
    assert_eq!(moved(&base().with_changed_file("src/none.c"), &[]), "");
    let all = base().with_changed_file("src");
    assert_eq!(moved(&all, &[]).matches("build:must").count(), 5);
}

#[test]
fn names_labels_gates_and_caches_are_in_no_steps_key() {
    for (from, to) in [
        ("name    = \"index\"", "name    = \"list\""),
        ("MEDIA_ROOT = \"/runtime\"", "MEDIA_ROOT = \"/elsewhere\""),
        ("least = 10", "least = 11"),
        ("id = \"media-objects\"", "id = \"other-objects\""),
    ] {
        let changed = edited(from, to);
        let steps: Vec<_> = moved(&changed, &[]).split(' ').map(str::to_owned).collect();
        assert_eq!(steps.join(" "), "", "{from}");
    }
}

#[test]
fn what_differs_is_said_by_name() {
    let (old, new) = (
        base(),
        edited(
            "\"OPTIMIZE\", \"TRIPLE=arch.clang-triple\"]\nhost",
            "\"TRIPLE=arch.clang-triple\"]\nhost",
        ),
    );
    let changes = keys::changes(
        old.node("litert/build").expect("a node"),
        new.node("litert/build").expect("a node"),
    );
    let names: Vec<&str> = changes.iter().map(|change| change.name.as_str()).collect();
    assert_eq!(names, ["env.OPTIMIZE"]);
    assert_eq!(changes[0].old.as_deref(), Some("2"));
    assert_eq!(changes[0].new, None);
}

/// A step with everything that a step may have, and one that makes a file.
const STEPS: &str = r#"[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "s"
run = ["true"]
network = "none"
security = "sandbox"
extra-hosts = { "cache.local" = "10.0.0.7" }
ulimit = { nofile = "1024:4096" }
shm-size = "1GiB"
devices = ["vendor.com/gpu=all"]
workdir = "/w"
user = "1000:1000"
secret = [{ id = "licence", at = "/run/licence", mode = "0400" }]
ssh = [{ id = "a", at = "/agent" }]
tmpfs = [{ at = "/scratch", size = "64MiB" }]
cache = [{ id = "mine", at = "/mine", mode = "0700" }]
env = { LEVEL = "1" }
[[stage.out.step]]
name = "w"
write = { path = "/made", text = "1", mode = "0644" }
"#;

#[test]
fn all_that_a_step_says_is_in_its_key_by_name() {
    let steps = |text: &str| {
        let loaded = load(&graph(text), "");
        common::manifest(&loaded, "l", &ExecOptions::default(), &|_| None)
    };
    let old = steps(STEPS);
    for (from, to, step, name) in [
        ("\"true\"", "\"false\"", "s", "command"),
        ("\"none\"", "\"host\"", "s", "network"),
        ("\"sandbox\"", "\"insecure\"", "s", "insecure"),
        ("1024:4096", "1024:4097", "s", "ulimit.nofile"),
        ("1GiB", "2GiB", "s", "shm-size"),
        ("gpu=all", "gpu=1", "s", "device.vendor.com/gpu=1"),
        ("\"/w\"", "\"/v\"", "s", "cwd"),
        ("1000:1000", "1001:1000", "s", "user"),
        ("\"licence\"", "\"other\"", "s", "secret./run/licence"),
        ("\"0400\"", "\"0440\"", "s", "secret./run/licence"),
        ("\"a\"", "\"b\"", "s", "ssh./agent"),
        ("64MiB", "32MiB", "s", "tmpfs./scratch"),
        ("\"0700\"", "\"0750\"", "s", "cache./mine"),
        ("LEVEL = \"1\"", "LEVEL = \"2\"", "s", "env.LEVEL"),
        ("text = \"1\"", "text = \"2\"", "w", "script /made"),
        ("\"0644\"", "\"0600\"", "w", "mode"),
    ] {
        assert!(STEPS.contains(from), "{from}");
        let new = steps(&STEPS.replace(from, to));
        let id = format!("out/{step}");
        let (old, new) = (old.node(&id).expect(&id), new.node(&id).expect(&id));
        let names: Vec<String> = keys::changes(old, new)
            .into_iter()
            .map(|one| one.name)
            .collect();
        assert!(
            names.iter().any(|changed| changed == name),
            "{from}: {names:?}"
        );
        assert_ne!(old.own, new.own, "{from}");
    }
    // Where a host is, the engine keeps out of the key; that it has the name is in it.
    let moved = steps(&STEPS.replace("10.0.0.7", "10.0.0.8"));
    assert_eq!(moved.node("out/s"), old.node("out/s"));
}

#[test]
fn the_id_of_a_cache_is_in_the_key_where_it_is_the_place_and_nowhere_else() {
    let cache = |id: &str, sharing: &str, namespace: &str| {
        let text = format!(
            "[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\n\
             cache = [{{ id = \"{id}\", at = \"/root/pip\", sharing = \"{sharing}\" }}]\n"
        );
        let options = ExecOptions {
            cache_namespace: namespace.to_owned(),
            ..ExecOptions::default()
        };
        let loaded = load(&graph(&text), "");
        let made = common::manifest(&loaded, "l", &options, &|_| None);
        let step = made.node("out/s").expect("a node");
        step.components["cache./root/pip"].clone()
    };
    for (id, sharing, namespace, said) in [
        ("pip", "shared", "", ""),
        ("pip", "shared", "mine", ""),
        ("/root/pip", "shared", "", "/root/pip"),
        ("/root/pip", "private", "", ""),
        ("/root/pip", "locked", "", ""),
        ("/root/pip/", "shared", "", ""),
        ("mine//root/pip", "shared", "", "mine//root/pip"),
        ("/root/pip", "shared", "mine", "mine//root/pip"),
        ("/root/pip", "shared", "a/b", ""),
    ] {
        assert_eq!(
            cache(id, sharing, namespace),
            said,
            "{id} {sharing} {namespace}"
        );
    }
}

#[test]
fn the_text_of_an_absent_marker_is_in_the_key_of_the_merge() {
    let merged = |why: &str| {
        let text = format!(
            "[stage.other]\nwhen = {{ lane.name = \"k\" }}\nfrom = {{ image = \"x\" }}\ntree = [\"/t/other\"]\n\
             [[stage.other.step]]\nname = \"make\"\nrun = [\"make\"]\n\
             [stage.all]\nmerge = [\"part\", {{ stage = \"other\", else = \"absent-marker\", why = \"{why}\" }}]\n\
             [stage.out]\nfrom = {{ image = \"x\" }}\nadd = [\"all\"]\n\
             [lane.k]\nplatform = \"linux/amd64\"\noutput.image = {{ stage = \"out\" }}\n"
        );
        let loaded = load(&graph(&text), "");
        let made = common::manifest(&loaded, "l", &ExecOptions::default(), &|_| None);
        made.node("all:merge").expect("a merge").clone()
    };
    let (old, new) = (merged("no build of it"), merged("not ported"));
    let changed = keys::changes(&old, &new);
    let [marker] = changed.as_slice() else {
        panic!("{changed:?}");
    };
    assert!(marker.name.starts_with("absent./t/"), "{marker:?}");
    let text = marker.new.as_deref().expect("a text");
    assert!(text.contains("not ported"), "{text}");
    assert_ne!(old.own, new.own);
}

#[test]
fn a_file_of_a_directory_that_a_step_sees_changes_the_directory() {
    let sees = |path: &str| {
        let text = "[stage.out]\nfrom = { image = \"x\" }\n[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\nfiles = [\"src/\"]\n";
        let loaded = load(&graph(text), "");
        let mut manifest = common::manifest(&loaded, "l", &ExecOptions::default(), &|_| None);
        assert!(!manifest.is_complete());
        let unread = manifest.node("out/s").expect("a node").own.clone();
        manifest.fill(&|path| Some(format!("digest of {path}")));
        assert!(manifest.is_complete());
        // What was read of the disk is in the key.
        assert_ne!(manifest.node("out/s").expect("a node").own, unread);
        let changed = manifest.with_changed_file(path);
        changed.node("out/s") != manifest.node("out/s")
    };
    for (path, seen) in [
        ("src/a.c", true),
        ("src", true),
        ("srcs/a.c", false),
        ("a.c", false),
    ] {
        assert_eq!(sees(path), seen, "{path}");
    }
}

#[test]
fn what_the_caller_demands_of_steps_and_who_wins_in_a_merge_is_in_keys() {
    let made = |take: &str, options: &ExecOptions| {
        let text = format!(
            "[stage.other]\nfrom = {{ image = \"x\" }}\ntree = [\"/t/part\"]\n[[stage.other.step]]\nname = \"make\"\nrun = [\"make\"]\n\
             [stage.all]\nmerge = [\"part\", \"other\"]\nconflict = [{{ path = \"/t/**/x\", take = \"{take}\", why = \"y\" }}]\n\
             [stage.out]\nfrom = {{ image = \"x\" }}\nadd = [\"all\"]\n"
        );
        let loaded = load(&graph(&text), "");
        common::manifest(&loaded, "l", options, &|_| None)
    };
    let none = ExecOptions::default();
    let old = made("part", &none);
    let names = |new: &Manifest, id: &str| -> Vec<String> {
        let (old, new) = (old.node(id).expect(id), new.node(id).expect(id));
        keys::changes(old, new)
            .into_iter()
            .map(|one| one.name)
            .collect()
    };
    assert_eq!(names(&made("other", &none), "all:merge"), ["take.t/**/x"]);
    let demands = ExecOptions {
        ulimits: vec![("nofile".to_owned(), 1, 2)],
        hostname: "builder".to_owned(),
        ..ExecOptions::default()
    };
    assert_eq!(
        names(&made("part", &demands), "part/make"),
        ["option.hostname", "option.ulimit.nofile"]
    );
}
