//! The gates over Python: wheels and what they require. Every false green of the system that
//! these gates come from stands here as a wheel that must be red.

#![allow(clippy::unwrap_used)]

mod tree;

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use gates::fixture;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use tree::{Tree, look, told};

/// A wheel with members of one's own; WHEEL, METADATA and RECORD are made to fit.
struct Wheel {
    file: String,
    members: BTreeMap<String, Vec<u8>>,
}

impl Wheel {
    fn new(file: &str) -> Self {
        let parts: Vec<&str> = file.trim_end_matches(".whl").split('-').collect();
        let info = format!("{}-{}.dist-info", parts[0], parts[1]);
        let tag = parts[2..].join("-");
        let pure = tag.ends_with("-any");
        let mut wheel = Self {
            file: file.to_owned(),
            members: BTreeMap::new(),
        };
        wheel.put(
            &format!("{info}/WHEEL"),
            format!("Wheel-Version: 1.0\nRoot-Is-Purelib: {pure}\nTag: {tag}\n"),
        );
        wheel.put(
            &format!("{info}/METADATA"),
            format!(
                "Metadata-Version: 2.4\nName: {}\nVersion: {}\n",
                parts[0], parts[1]
            ),
        );
        wheel
    }

    fn put(&mut self, name: &str, bytes: impl Into<Vec<u8>>) -> &mut Self {
        self.members.insert(name.to_owned(), bytes.into());
        self
    }

    fn with(mut self, name: &str, bytes: impl Into<Vec<u8>>) -> Self {
        self.put(name, bytes);
        self
    }

    /// More header lines for METADATA.
    fn requires(mut self, lines: &str) -> Self {
        let name = self.info("METADATA");
        let metadata = self.members.get_mut(&name).unwrap();
        metadata.extend(lines.bytes());
        self
    }

    fn info(&self, file: &str) -> String {
        let dir = self
            .members
            .keys()
            .find(|k| k.contains(".dist-info/"))
            .unwrap();
        format!("{}/{file}", dir.split_once('/').unwrap().0)
    }

    fn record(&self) -> String {
        let line = |(name, bytes): (&String, &Vec<u8>)| {
            let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(bytes));
            format!("{name},sha256={hash},{}\n", bytes.len())
        };
        let lines: String = self.members.iter().map(line).collect();
        format!("{lines}{},,\n", self.info("RECORD"))
    }

    fn bytes(&self) -> Vec<u8> {
        let record = (self.info("RECORD"), self.record().into_bytes());
        let members: Vec<(&str, &[u8])> = self
            .members
            .iter()
            .chain([(&record.0, &record.1)])
            .map(|(name, bytes)| (name.as_str(), bytes.as_slice()))
            .collect();
        fixture::zip(&members).unwrap()
    }
}

fn tree(wheels: &[Wheel]) -> Tree {
    let tree = Tree::new();
    for wheel in wheels {
        tree.put(&wheel.file, &wheel.bytes());
    }
    tree
}

/// A DLL that imports one library.
fn importing(machine: u16, library: &str) -> Vec<u8> {
    let mut dll = fixture::dll(machine);
    let directory = fixture::PE_DIRECTORIES + 8;
    dll[directory..directory + 8].copy_from_slice(&[0xa0, 0x10, 0, 0, 40, 0, 0, 0]);
    // One descriptor at RVA 0x10a0: its name at 0x1100, its thunks at 0x1180.
    dll[0x2a0 + 12..0x2a0 + 16].copy_from_slice(&0x1100_u32.to_le_bytes());
    dll[0x2a0 + 16..0x2a0 + 20].copy_from_slice(&0x1180_u32.to_le_bytes());
    dll[0x300..0x300 + library.len()].copy_from_slice(library.as_bytes());
    dll
}

const ARM: &str = "windows/arm64";

fn wheel(target: &str, python: &str, wheels: &[Wheel]) -> Vec<String> {
    told("wheel", target, &tree(wheels), json!({ "python": python }))
}

fn good() -> Wheel {
    Wheel::new("cv2-5.0-cp314-cp314-win_arm64.whl").with(
        "cv2/cv2.cp314-win_arm64.pyd",
        importing(fixture::ARM64, "python314.dll"),
    )
}

#[test]
fn a_wheel_that_is_what_its_name_says_is_green() {
    let pure = Wheel::new("pure-1.0-py3-none-any.whl").with("pure.py", "");
    let linux = Wheel::new("l-1.0-cp313-abi3-manylinux_2_28_aarch64.whl")
        .with("l.abi3.so", fixture::elf(64, false, 183));
    assert!(wheel(ARM, "3.14", &[good(), pure]).is_empty());
    assert!(wheel("linux/arm64", "3.14", &[linux]).is_empty());
}

#[test]
fn the_host_s_suffix_on_the_target_s_machine_is_found() {
    // 17: the machine was right, the name was the build interpreter's; it loads nowhere.
    let mut wrong = good();
    let dll = wrong.members.remove("cv2/cv2.cp314-win_arm64.pyd").unwrap();
    wrong.put("cv2/cv2.cp314-win_amd64.pyd", dll);
    let told = wheel(ARM, "3.14", &[wrong]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("WHL004 cv2-5.0-cp314-cp314-win_arm64.whl!cv2/cv2.cp314-win_amd64.pyd: found cp314-win_amd64, expected cp314 for windows/arm64"), "{told:?}");
}

#[test]
fn a_free_threaded_wheel_is_not_one_for_the_other_interpreter() {
    // `*cp314-*` also takes `cp314-cp314t-`.
    let file = "f-1.0-cp314-cp314t-win_arm64.whl";
    let right = || {
        Wheel::new(file).with(
            "f.cp314t-win_arm64.pyd",
            importing(fixture::ARM64, "python314t.dll"),
        )
    };
    assert!(wheel(ARM, "3.14t", &[right()]).is_empty());
    assert!(wheel(ARM, "3.14", &[right()])[0].starts_with("WHL010"));
    let wrong = Wheel::new(file).with(
        "f.cp314t-win_arm64.pyd",
        importing(fixture::ARM64, "python314.dll"),
    );
    assert!(wheel(ARM, "3.14t", &[wrong])[0].starts_with("WHL005"));
    let none = Wheel::new(file).with("f.cp314t-win_arm64.pyd", fixture::dll(fixture::ARM64));
    assert!(wheel(ARM, "3.14t", &[none])[0].contains("no module of it imports that"));
    let abi3 =
        Wheel::new("a-1.0-cp310-abi3-win_arm64.whl").with("a.pyd", fixture::dll(fixture::ARM64));
    assert!(wheel(ARM, "3.14t", &[abi3])[0].starts_with("WHL010"));
}

#[test]
fn tags_of_other_platforms_and_inside_others_than_outside_are_found() {
    for (file, id) in [
        ("x-1.0-cp314-cp314-win_amd64.whl", "WHL003"),
        ("x-1.0-cp313-cp313-win_arm64.whl", "WHL010"),
        ("x-1.0-py3-none-manylinux_2_28_aarch64.whl", "WHL003"),
        ("x-1.0-py3-none-not_win_arm64.whl", "WHL003"),
    ] {
        let told = wheel(
            ARM,
            "3.14",
            &[Wheel::new(file).with("x.pyd", fixture::dll(fixture::ARM64))],
        );
        assert!(told[0].starts_with(id), "{file}: {told:?}");
    }
    let mut inside = good();
    let name = inside.info("WHEEL");
    inside.put(
        &name,
        "Root-Is-Purelib: false\r\nTag: cp314-cp314-win_amd64\r\n",
    );
    assert!(wheel(ARM, "3.14", &[inside])[0].starts_with("WHL002"));
}

#[test]
fn binaries_in_pure_wheels_and_none_in_others_are_found() {
    let natives =
        Wheel::new("p-1.0-py3-none-any.whl").with("t64.exe", fixture::exe(fixture::AMD64));
    assert!(wheel(ARM, "3.14", &[natives])[0].starts_with("WHL006"));
    let empty = Wheel::new("e-1.0-cp314-cp314-win_arm64.whl").with("e.py", "");
    assert!(wheel(ARM, "3.14", &[empty])[0].starts_with("WHL008"));
}

#[test]
fn every_difference_between_record_and_content_is_found() {
    let tampered = |change: &dyn Fn(&str) -> String| {
        let wheel = good();
        let record = change(&wheel.record());
        let info = wheel.info("RECORD");
        let mut members: Vec<(&str, &[u8])> = wheel
            .members
            .iter()
            .map(|(n, b)| (n.as_str(), b.as_slice()))
            .collect();
        members.push((&info, record.as_bytes()));
        let tree = Tree::new();
        tree.put(&wheel.file, &fixture::zip(&members).unwrap());
        told("wheel", ARM, &tree, json!({}))
    };
    assert!(tampered(&str::to_owned).is_empty());
    let cases: [&dyn Fn(&str) -> String; 5] = [
        &|r| r.replacen("sha256=", "sha256=x", 1),
        &|r| r.lines().skip(1).map(|l| format!("{l}\n")).collect(),
        &|r| format!("{r}gone.py,sha256=x,1\n"),
        &|r| r.replacen("sha256=", "md5=", 1),
        &|r| format!("{r}\"broken"),
    ];
    for case in cases {
        let told = tampered(case);
        assert!(
            told.iter().all(|t| t.starts_with("WHL007")) && !told.is_empty(),
            "{told:?}"
        );
    }
}

#[test]
fn names_metadata_and_damaged_zips_are_found() {
    let tree = Tree::new();
    tree.put("not-a-wheel.whl", &good().bytes());
    tree.put("cut-1.0-py3-none-any.whl", &good().bytes()[..200]);
    let mut other = good();
    let name = other.info("METADATA");
    other.put(&name, "Name: other\nVersion: 5.0\n");
    tree.put("cv2-5.0-cp314-cp314-win_arm64.whl", &other.bytes());
    let ids: Vec<String> = told("wheel", ARM, &tree, json!({}))
        .iter()
        .map(|t| t[..6].to_owned())
        .collect();
    assert_eq!(ids, ["WHL011", "WHL009", "WHL001"]);
}

#[test]
fn a_twin_lies_in_every_store_in_one_version() {
    let stores = json!({ "stores": { "gil": "3.14", "free": "3.14t" }, "twins": ["Twin"] });
    let file = |dir: &str, version: &str, abi: &str| {
        let bare = format!("twin-{version}-cp314-{abi}-win_arm64.whl");
        let library = if abi == "cp314t" {
            "python314t.dll"
        } else {
            "python314.dll"
        };
        let module = format!("twin.{abi}-win_arm64.pyd");
        let mut wheel = Wheel::new(&bare).with(&module, importing(fixture::ARM64, library));
        wheel.file = format!("{dir}/{bare}");
        wheel
    };
    let both = [file("gil", "1.0", "cp314"), file("free", "1.0", "cp314t")];
    assert!(told("wheel", ARM, &tree(&both), stores.clone()).is_empty());
    let one = told("wheel", ARM, &tree(&both[..1]), stores.clone());
    assert_eq!(one, ["WHL010 free/twin: the twin is not in this store"]);
    let versions = [file("gil", "1.0", "cp314"), file("free", "1.1", "cp314t")];
    assert_eq!(
        told("wheel", ARM, &tree(&versions), stores.clone()).len(),
        2
    );
    let swapped = [file("free", "1.0", "cp314"), file("gil", "1.0", "cp314t")];
    assert_eq!(told("wheel", ARM, &tree(&swapped), stores).len(), 2);
}

fn deps(wheels: &[Wheel], needs: &[&str]) -> Vec<String> {
    told(
        "deps",
        ARM,
        &tree(wheels),
        json!({ "python": "3.14", "needs": needs }),
    )
}

fn requiring(lines: &str) -> Wheel {
    Wheel::new("a-1.0-py3-none-any.whl").requires(lines)
}

fn dist(name: &str, version: &str) -> Wheel {
    Wheel::new(&format!("{name}-{version}-py3-none-any.whl"))
}

#[test]
fn line_ends_and_folds_hide_no_requirement() {
    // 4 and 5: with CRLF there was no requirement, and no requirement was green.
    for lines in [
        "Requires-Dist: gone>=1\n",
        "Requires-Dist: gone>=1\r\n",
        "Requires-Dist:\n gone>=1\n",
        "Requires-Dist: gone>=1;\r\n  python_version >= \"3\"\r\n",
    ] {
        let told = deps(&[requiring(lines)], &[]);
        assert!(
            told.len() == 1 && told[0].starts_with("DEP001"),
            "{lines:?}: {told:?}"
        );
    }
    let seen = look(
        "deps",
        ARM,
        &tree(&[
            requiring("Requires-Dist: b\r\nRequires-Dist: c; os_name == 'posix'\r\n"),
            dist("b", "1"),
        ]),
        json!({"python": "3.14"}),
    );
    assert_eq!(seen.counts.by_class["requirements"], 2);
    assert_eq!(seen.counts.by_class["edges"], 1);
}

#[test]
fn markers_are_evaluated_for_the_target_and_not_dropped() {
    let other = "Requires-Dist: gone; python_version < '3.8'\nRequires-Dist: gone; sys_platform == 'linux'\n";
    assert!(deps(&[requiring(other)], &[]).is_empty());
    let or = "Provides-Extra: x\nRequires-Dist: gone; extra == 'x' or sys_platform == 'win32'\n";
    assert!(deps(&[requiring(or)], &[])[0].starts_with("DEP001"));
    let undecided = "Requires-Dist: gone; platform_release == '11'\n";
    assert!(deps(&[requiring(undecided)], &[])[0].starts_with("DEP003"));
}

#[test]
fn versions_are_held_against_the_store() {
    let asks = || requiring("Requires-Dist: b>=2\n");
    assert!(deps(&[asks(), dist("b", "2.1")], &[]).is_empty());
    let told = deps(&[asks(), dist("b", "1.9")], &[]);
    assert_eq!(
        told,
        [
            "DEP002 a-1.0-py3-none-any.whl!b>=2: found 1.9, expected >=2: the store has b in another version"
        ]
    );
    let two = deps(&[asks(), dist("b", "2.1"), dist("b", "2.2")], &[]);
    assert!(two[0].starts_with("DEP007"), "{two:?}");
}

#[test]
fn extras_are_followed_from_what_asks_for_them() {
    let b =
        || dist("b", "1").requires("Provides-Extra: gpu\nRequires-Dist: gone; extra == 'gpu'\n");
    assert!(deps(&[b()], &[]).is_empty());
    assert!(deps(&[b(), requiring("Requires-Dist: b[gpu]\n")], &[])[0].starts_with("DEP001 b-1"));
    assert!(deps(&[b()], &["B[GPU]"])[0].starts_with("DEP001 b-1"));
    assert!(deps(&[b()], &["b[cpu]"])[0].starts_with("DEP005"));
    assert!(deps(&[b()], &["c"])[0].starts_with("DEP001 needs!c"));
}

#[test]
fn what_cannot_be_read_is_never_no_requirement() {
    for lines in [
        "Requires-Dist: b ==\n",
        "Requires-Dist: b; os_nmae == 'nt'\n",
        "Classifiers [\n",
    ] {
        assert!(
            deps(&[requiring(lines), dist("b", "1")], &[])[0].starts_with("DEP004"),
            "{lines}"
        );
    }
    let tree = Tree::new();
    tree.put("a-1.0-py3-none-any.whl", b"no zip");
    assert_eq!(told("deps", ARM, &tree, json!({"python": "3.14"})).len(), 1);
    let old = requiring("Requires-Python: <3.12\n");
    assert!(deps(&[old], &[])[0].starts_with("DEP006"));
}
