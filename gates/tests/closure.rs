//! A tree is closed out of other directories, or stays as it was.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gates::fixture::{AMD64, ARM64, Elf, Export, Pe};
use gates::name::Name;
use gates::walk::Root;
use gates::{arch_table, closure};
use serde_json::Value;

struct Place(tempfile::TempDir);

struct Ran {
    code: i32,
    text: String,
    report: Value,
}

/// Every file and link below a directory.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() && !path.is_symlink() {
            true => all.extend(files(&path)),
            false => drop(all.insert(path.clone(), fs::read(&path).unwrap_or_default())),
        }
    }
    all
}

impl Place {
    /// Directories `tree`, `one` and `two` with these files.
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        for dir in ["tree", "one", "two"] {
            fs::create_dir(place.at(dir)).unwrap();
        }
        for (name, bytes) in files {
            fs::create_dir_all(place.at(name).parent().unwrap()).unwrap();
            fs::write(place.at(name), bytes).unwrap();
        }
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn run(&self, target: &str, more: &[&str]) -> Ran {
        let dir = |name: &str, label: &str| format!("{}={label}", self.at(name).display());
        let report = self.at("report.json");
        let output = Command::new(env!("CARGO_BIN_EXE_lanegate"))
            .args(["closure", "--target", target, "--report"])
            .arg(&report)
            .args(["--root", &dir("tree", "")])
            .args(["--from", &dir("one", "one"), "--from", &dir("two", "two")])
            .args(more)
            .output()
            .unwrap();
        Ran {
            code: output.status.code().unwrap(),
            text: String::from_utf8(output.stderr).unwrap(),
            report: serde_json::from_slice(&fs::read(report).unwrap_or_default())
                .unwrap_or_default(),
        }
    }

    /// A run that is refused for this reason and leaves the tree as it was.
    fn refused(&self, target: &str, why: &str) {
        let before = files(&self.at("tree"));
        let ran = self.run(target, &[]);
        assert_eq!(ran.code, 1, "{}", ran.text);
        let first = ran.text.lines().next().unwrap_or_default();
        assert!(first.contains(why), "{}", ran.text);
        assert_eq!(files(&self.at("tree")), before);
    }
}

fn pe(imports: &[&'static str], machine: u16) -> Vec<u8> {
    let pe = Pe {
        imports: imports.iter().map(|dll| (*dll, vec!["f"])).collect(),
        exports: vec![("f", Export::Code)],
        ..Pe::default()
    };
    pe.dll(machine)
}

#[test]
fn what_is_missing_comes_with_what_it_needs_in_turn() {
    let place = Place::new(&[
        ("tree/bin/app.exe", pe(&["A.dll", "KERNEL32.dll"], ARM64)),
        ("one/a.dll", pe(&["b.dll"], ARM64)),
        ("one/unused.dll", pe(&[], ARM64)),
        ("two/a.dll", pe(&[], AMD64)),
        ("two/b.dll", pe(&["a.dll", "kernel32.dll"], ARM64)),
    ]);
    let before = files(&place.at("tree"));
    let dry = place.run("windows/arm64", &["--dry-run"]);
    assert_eq!((dry.code, files(&place.at("tree"))), (0, before));
    let ran = place.run("windows/arm64", &[]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert_eq!(ran.report, dry.report);
    insta::assert_snapshot!(ran.text, @r"
    one/a.dll -> bin/a.dll (for bin/app.exe)
    two/b.dll -> bin/b.dll (for bin/a.dll)
    2 files copied
    ");
    for (copy, source) in [("a.dll", "one/a.dll"), ("b.dll", "two/b.dll")] {
        let copy = place.at("tree/bin").join(copy);
        assert_eq!(fs::read(copy).unwrap(), fs::read(place.at(source)).unwrap());
    }
    // The gate agrees, and nothing is left to do.
    let again = place.run("windows/arm64", &[]);
    assert_eq!((again.code, again.text.as_str()), (0, "0 files copied\n"));
}

#[test]
fn a_forward_is_followed_too() {
    let forwards = Pe {
        exports: vec![("f", Export::Forward("other.f"))],
        ..Pe::default()
    };
    let place = Place::new(&[
        ("tree/a.dll", forwards.dll(ARM64)),
        ("one/other.dll", pe(&[], ARM64)),
    ]);
    assert_eq!(place.run("windows/arm64", &[]).code, 0);
    assert!(place.at("tree/other.dll").is_file());
}

#[test]
fn the_wrong_machine_is_refused_and_a_later_directory_may_have_the_right_one() {
    let app = ("tree/app.exe", pe(&["a.dll"], ARM64));
    let wrong = ("one/a.dll", pe(&[], AMD64));
    Place::new(&[app.clone(), wrong.clone()]).refused("windows/arm64", "one/a.dll is for AMD64");
    let place = Place::new(&[app, wrong, ("two/a.dll", pe(&[], ARM64))]);
    let ran = place.run("windows/arm64", &[]);
    assert_eq!(ran.report["copies"][0]["from"], "two/a.dll", "{}", ran.text);
}

#[test]
fn nothing_is_copied_unless_all_is_there() {
    let app = ("tree/app.exe", pe(&["a.dll", "gone.dll"], ARM64));
    let place = Place::new(&[app, ("one/a.dll", pe(&[], ARM64))]);
    place.refused("windows/arm64", "IMP001 app.exe(gone.dll)");
    // Unless something else is said to bring it.
    let outside = r#"outside=[{"name":"gone.dll","why":"the driver"}]"#;
    let ran = place.run("windows/arm64", &["--ask", outside]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert!(place.at("tree/a.dll").is_file());
}

#[test]
fn a_cut_library_is_none() {
    let whole = pe(&[], ARM64);
    for end in [0, 1, 64, 400, whole.len() / 2, whole.len() - 1] {
        let place = Place::new(&[
            ("tree/app.exe", pe(&["a.dll"], ARM64)),
            ("one/a.dll", whole[..end].to_vec()),
        ]);
        place.refused("windows/arm64", "one/a.dll");
    }
}

#[test]
fn nothing_is_written_over() {
    for name in ["tree/a.dll", "tree/A.DLL"] {
        let place = Place::new(&[
            ("tree/app.exe", pe(&["a.dll"], ARM64)),
            (name, pe(&[], AMD64)),
            ("one/a.dll", pe(&[], ARM64)),
        ]);
        place.refused("windows/arm64", "nothing is written over");
    }
    let place = Place::new(&[
        ("tree/app.exe", pe(&["a.dll"], ARM64)),
        ("one/a.dll", pe(&[], ARM64)),
    ]);
    std::os::unix::fs::symlink(place.at("two/out"), place.at("tree/a.dll")).unwrap();
    place.refused("windows/arm64", "nothing is written over");
    assert!(!place.at("two/out").exists());
}

#[test]
fn on_linux_it_goes_where_runpath_says_and_not_through_links() {
    let program = |runpath: &'static str| {
        let elf = Elf {
            needed: vec!["liba.so.1"],
            runpath: Some(runpath),
            ..Elf::default()
        };
        elf.shared(62)
    };
    let library = Elf::default().shared(62);
    let place = Place::new(&[
        ("tree/bin/app", program("/opt/none:$ORIGIN/../lib/own")),
        ("one/liba.so.1.2", library.clone()),
    ]);
    std::os::unix::fs::symlink("liba.so.1.2", place.at("one/liba.so.1")).unwrap();
    let ran = place.run("linux/amd64", &[]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert_eq!(ran.report["copies"][0]["to"], "opt/none/liba.so.1");
    assert!(!place.at("tree/opt/none/liba.so.1").is_symlink());

    let place = Place::new(&[
        ("tree/bin/app", program("$ORIGIN/../lib/own")),
        ("one/liba.so.1", library.clone()),
    ]);
    std::os::unix::fs::symlink(place.at("two"), place.at("tree/lib")).unwrap();
    let ran = place.run("linux/amd64", &[]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    assert_eq!(ran.report["copies"][0]["to"], "lib64/liba.so.1");
    assert_eq!(files(&place.at("two")).len(), 0);

    let place = Place::new(&[
        ("tree/bin/app", program("$ORIGIN/../../../..")),
        ("one/liba.so.1", library),
    ]);
    let ran = place.run("linux/amd64", &[]);
    assert_eq!(
        ran.report["copies"][0]["to"], "lib/liba.so.1",
        "{}",
        ran.text
    );
}

#[test]
fn beside_its_importer_is_there_whatever_bytes_the_directory_is_called() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new(&[("one/a.dll", pe(&[], ARM64))]);
    let dir = place
        .at("tree")
        .join(std::ffi::OsStr::from_bytes(b"b\xffn"));
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("app.exe"), pe(&["a.dll"], ARM64)).unwrap();
    let ran = place.run("windows/arm64", &[]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    let all: Vec<PathBuf> = files(&place.at("tree")).into_keys().collect();
    assert_eq!(all, [dir.join("a.dll"), dir.join("app.exe")]);
}

#[test]
fn a_copy_that_fails_takes_the_others_with_it() {
    let app = Elf {
        needed: vec!["a.so", "b.so"],
        runpath: Some("$ORIGIN/../lib"),
        ..Elf::default()
    };
    let so = || Elf::default().shared(62);
    let place = Place::new(&[
        ("tree/bin/app", app.shared(62)),
        ("one/a.so", so()),
        ("one/b.so", so()),
    ]);
    let row = arch_table::row("linux/amd64").unwrap();
    let root = |name: &str| Root {
        path: place.at(name),
        label: Name::default(),
    };
    let ask = serde_json::from_str("{}").unwrap();
    let closure = closure::plan(&row, &root("tree"), &[root("one")], &ask).unwrap();
    assert_eq!(closure.copies.len(), 2, "{closure:?}");
    fs::remove_file(place.at("one/b.so")).unwrap();
    assert_eq!(closure.copy(&root("tree")).unwrap_err().exit().code(), 4);
    let names = |dir: &str| -> Vec<_> {
        let entries = fs::read_dir(place.at(dir)).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    assert_eq!(
        (names("tree"), names("tree/bin")),
        (vec!["bin".into()], vec!["app".into()])
    );
    fs::write(place.at("one/b.so"), so()).unwrap();
    closure.copy(&root("tree")).unwrap();
    assert_eq!(names("tree/lib").len(), 2);
}

#[test]
fn a_missing_directory_is_4_and_a_wrong_call_2() {
    let place = Place::new(&[]);
    fs::remove_dir(place.at("two")).unwrap();
    assert_eq!(place.run("windows/arm64", &[]).code, 4);
    let place = Place::new(&[]);
    assert_eq!(place.run("windows/arm46", &[]).code, 2);
    assert_eq!(
        place
            .run("windows/arm64", &["--ask", "standalon=true"])
            .code,
        2
    );
}
