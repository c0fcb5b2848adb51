//! Trees hold their product and nothing else, and are the same with merges and without.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;

use engine_tests::{Build, Engine, Example, Setup, skipped};

/// Path → kind, mode, owner, and content or link target.
pub(crate) type Listing = BTreeMap<String, String>;

/// What a build puts out. As a tar: into a directory, buildx writes everything as its own user.
pub(crate) fn export(engine: &Engine, example: &Example, target: &str) -> Listing {
    let out = tempfile::tempdir().expect("a directory");
    let tar = out.path().join("out.tar");
    Build::new(engine, example.path())
        .target(target)
        .option("--output", format!("type=tar,dest={}", tar.display()))
        .pass();
    let mut found = Listing::new();
    let mut archive = tar::Archive::new(File::open(&tar).expect("a tar"));
    for entry in archive.entries().expect("a tar") {
        let mut entry = entry.expect("an entry");
        let path = entry.path().expect("a path").display().to_string();
        let path = path
            .trim_start_matches("./")
            .trim_end_matches('/')
            .to_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).expect("content");
        let header = entry.header();
        let link = entry
            .link_name()
            .expect("a link")
            .map(|to| to.display().to_string());
        let (what, kind) = match header.entry_type() {
            tar::EntryType::Directory => ("directory".to_owned(), 0o040_000),
            tar::EntryType::Symlink => (format!("link to {}", link.unwrap_or_default()), 0o120_000),
            // Engines differ in what they keep of hard links: each is a file.
            tar::EntryType::Link => {
                let same = found.get(link.unwrap_or_default().trim_start_matches("./"));
                let same = same.expect("the file before it").clone();
                found.insert(path, same);
                continue;
            }
            _ => (format!("file {}", llb::Digest::of(&content)), 0o100_000),
        };
        let mode = kind | header.mode().expect("a mode");
        let (uid, gid) = (
            header.uid().expect("an owner"),
            header.gid().expect("a group"),
        );
        if !path.is_empty() {
            found.insert(path, format!("{what} {mode:o} {uid}:{gid}"));
        }
    }
    found
}

#[test]
fn a_bundle_holds_the_merged_trees_and_nothing_else() {
    let engine = &Setup::get().engine;
    let found = export(engine, &Example::media(), "arm64/bundle");
    let files: Vec<&str> = found
        .iter()
        .filter(|(_, what)| what.starts_with("file"))
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(
        files,
        [
            "ffmpeg/ffmpeg.dll",
            "ffmpeg/ffmpeg.lib",
            "lib/litert/litert.dll",
            "lib/litert/litert.lib",
            "lib/onnx/onnx-info.exe",
            "lib/onnx/onnx.dll",
            "lib/onnx/onnx.lib",
            "lib/opencv/opencv.dll",
            "lib/opencv/opencv.lib",
            "lib/tvm/tvm.dll",
            "lib/tvm/tvm.lib",
        ]
    );
}

#[test]
fn merge_and_copy_give_equal_trees() {
    let setup = Setup::get();
    let Some(other) = &setup.graphdriver else {
        return skipped("equal trees", "no engine of ours without merge runs").unwrap_or_default();
    };
    assert!(
        setup.engine.merge && !other.merge,
        "one engine merges, the other copies"
    );
    let example = difficult();
    let merged = export(&setup.engine, &example, "l");
    assert_eq!(merged, export(other, &example, "l"));
    // What each tree says of itself.
    assert!(!merged.contains_key("t/a/deleted"), "{merged:#?}");
    assert!(
        !merged.contains_key("t/b/mounted"),
        "a mount point is no product: {merged:#?}"
    );
    assert!(!merged.contains_key("garbage"), "{merged:#?}");
    assert!(
        merged["t/a/link"].starts_with("link to file"),
        "{merged:#?}"
    );
    assert!(merged["t/a"].starts_with("directory 41777"), "{merged:#?}");
    assert!(merged["t/a/secret"].contains("100600 7:8"), "{merged:#?}");
    assert!(
        merged.contains_key("w/one-1.whl") && merged.contains_key("w/two-1.whl"),
        "{merged:#?}"
    );
    assert!(
        !merged.contains_key("w/other"),
        "not what the pattern stands for: {merged:#?}"
    );
}

/// Trees with deletions, links, modes, owners, patterns and mounts in them.
fn difficult() -> Example {
    Example::of(
        r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "difficult"
[lane.l]
platform = "linux/amd64"
output.tree = { stage = "all" }
[stage.base]
from = { image = "busybox:1.36" }
[stage.a]
from = "base"
tree = ["/t/a", "/w/one-*"]
[[stage.a.step]]
name = "first"
network = "none"
script = '''
mkdir -p /t/a/dir /w /garbage
echo gone > /t/a/deleted
echo file > /t/a/file
echo secret > /t/a/secret
chmod 600 /t/a/secret
chown 7:8 /t/a/secret
ln -s file /t/a/link
chmod 1777 /t/a
touch /w/one-1.whl /w/other
'''
[[stage.a.step]]
name = "second"
network = "none"
script = '''
rm /t/a/deleted
rmdir /t/a/dir
echo now a file > /t/a/dir
'''
[stage.b]
from = "base"
tree = ["/t/b", "/w/two-*"]
[[stage.b.step]]
name = "build"
network = "none"
uses = [{ stage = "a", sub = "/t/a", at = "/t/b/mounted" }]
script = '''
cp /t/b/mounted/file /t/b/copied
mkdir -p /w
touch /w/two-1.whl
'''
[stage.all]
merge = ["a", "b"]
"#,
    )
}

#[test]
fn a_tree_that_no_step_made_fails_with_its_lines() {
    let engine = &Setup::get().engine;
    let example = difficult();
    example.edit(
        "lanes.toml",
        "tree = [\"/t/b\", \"/w/two-*\"]",
        "tree = [\"/t/none\"]",
    );
    let outcome = Build::new(engine, example.path()).fail();
    assert!(outcome.errors.contains("/t/none"), "{}", outcome.errors);
    assert!(outcome.errors.contains("[stage.b]"), "{}", outcome.errors);
}
