//! The real binary on small trees: what it prints and which code it ends with.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gates::fixture::{self, AMD64, ARM64, ARM64EC};
use gates::policy;

/// A tree to look at, in a directory of its own.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        fs::create_dir(tree.root()).unwrap();
        for (name, bytes) in files {
            tree.put(name, bytes);
        }
        tree
    }

    fn root(&self) -> PathBuf {
        self.0.path().join("tree")
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.root().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// `lanegate arch` on this tree for windows/arm64, with these further arguments.
    fn arch(&self, args: &[&str]) -> Ran {
        let root = format!("{}=", self.root().display());
        let mut all = vec!["arch", "--target", "windows/arm64", "--root", &root];
        all.extend(args);
        lanegate(&all)
    }
}

/// The three libraries of a small product for ARM64: a DLL, its import library, a static library.
fn product() -> Vec<(&'static str, Vec<u8>)> {
    let object = fixture::coff(ARM64);
    vec![
        ("bin/a.dll", fixture::dll(ARM64)),
        ("bin/tool.exe", fixture::exe(ARM64)),
        (
            "lib/a.lib",
            fixture::import_library(ARM64, ARM64, &["f", "g"]),
        ),
        (
            "lib/s.lib",
            fixture::archive(&[
                ("one.obj", &object),
                ("two.obj", &object),
                ("three.obj", &object),
            ]),
        ),
        ("README", b"not a binary".to_vec()),
    ]
}

struct Ran {
    code: Option<i32>,
    stderr: String,
}

impl Ran {
    fn from(output: Output) -> Self {
        assert!(
            output.stdout.is_empty(),
            "only arch-table and help print to stdout"
        );
        Self {
            code: output.status.code(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn text(&self) -> String {
        format!("exit {}\n{}", self.code.unwrap_or(-1), self.stderr)
    }
}

fn command() -> Command {
    Command::new(env!("CARGO_BIN_EXE_lanegate"))
}

fn lanegate(args: &[&str]) -> Ran {
    Ran::from(command().args(args).output().unwrap())
}

#[test]
fn trees_with_one_name_for_two_things_overlap() {
    let one = Tree::new(&[("lib/x", b"1".to_vec()), ("same", b"s".to_vec())]);
    let two = Tree::new(&[("lib/x", b"2".to_vec()), ("same", b"s".to_vec())]);
    let trees = [("one", &one), ("two", &two)]
        .map(|(name, tree)| format!("{name}={}", tree.root().display()));
    let overlap = |more: &[&str]| {
        let mut args = vec!["overlap", "--tree", &trees[0], "--tree", &trees[1]];
        args.extend(more);
        lanegate(&args).text()
    };
    insta::assert_snapshot!(overlap(&[]));
    assert_eq!(overlap(&["--any", "lib/*"]), "exit 0\n");
    assert_eq!(
        overlap(&["--any", "lib/*", "--any", "docs/**", "--take", "/none=two"]),
        "exit 0\nwarning: the conflict over docs/** settles nothing: no two trees have such a name\n\
         warning: the conflict over /none settles nothing: no two trees have such a name\n"
    );
    assert_eq!(overlap(&["--take", "/lib/x=two"]), "exit 0\n");
}

#[test]
fn however_a_root_is_typed_its_search_paths_stay_in_it() {
    use gates::fixture::Elf;
    const X86_64: u16 = 62;
    let library = Elf {
        stack: Some(6),
        ..Elf::default()
    };
    let app = Elf {
        needed: vec!["libx.so.1"],
        runpath: Some("$ORIGIN/../own"),
        ..library.clone()
    };
    let library = library.shared(X86_64);
    let astray = Elf {
        runpath: Some("$ORIGIN/../../own"),
        ..app.clone()
    };
    let tree = Tree::new(&[
        ("bin/app", app.shared(X86_64)),
        ("own/libx.so.1", library.clone()),
    ]);
    tree.put("../from/libx.so.1", &library);
    fs::create_dir(tree.file("beside")).unwrap();
    let absolute = tree.root().display().to_string();
    let look = |gate: &str, at: &str, root: &str| {
        let mut command = command();
        command.args([gate, "--target", "linux/amd64", "--root", root]);
        let more: &[&str] = match gate {
            "closure" => &["--from", "../from"],
            _ => &["--least", "1"],
        };
        let command = command.args(more).current_dir(tree.file(at));
        Ran::from(command.output().unwrap()).text()
    };
    let typed = [
        ("tree", absolute.as_str()),
        ("tree", "."),
        ("tree", "./"),
        ("tree", "../tree"),
        ("beside", "../tree/"),
        ("beside", "./..//tree"),
        ("tree/bin", ".."),
        ("tree/bin", "../"),
    ];
    for (at, root) in typed {
        for gate in ["imports", "elf"] {
            let text = look(gate, at, root);
            assert!(text.starts_with("exit 0\n"), "{gate} {root}: {text}");
        }
    }
    tree.put("bin/app", &astray.shared(X86_64));
    for (at, root) in typed {
        let text = look("imports", at, root);
        assert!(text.contains("IMP003 "), "imports {root}: {text}");
        let text = look("elf", at, root);
        assert!(text.contains("leads out of the tree"), "elf {root}: {text}");
    }
    fs::remove_dir_all(tree.file("tree/own")).unwrap();
    tree.put("bin/app", &app.shared(X86_64));
    for (at, root) in typed.into_iter().take(6) {
        let text = look("closure", at, root);
        assert!(text.starts_with("exit 0\n"), "closure {root}: {text}");
        fs::remove_file(tree.file("tree/own/libx.so.1")).unwrap();
    }
}

#[test]
fn a_right_tree_passes() {
    insta::assert_snapshot!(Tree::new(&product()).arch(&["--least", "4"]).text(), @r#"
exit 0
gate arch for windows/arm64 passed: 4 inspected (at least 4), 0 findings
"#);
}

#[test]
fn one_wrong_dll_fails() {
    let tree = Tree::new(&product());
    tree.put("bin/wrong.dll", &fixture::dll(AMD64));
    insta::assert_snapshot!(tree.arch(&["--least", "4"]).text(), @r#"
exit 1
error: ARCH001 bin/wrong.dll: found AMD64, expected ARM64, ARM64EC or ARM64X: built for another machine than windows/arm64
gate arch for windows/arm64 failed: 5 inspected (at least 4), 1 finding
"#);
}

#[test]
fn a_wrong_member_in_the_middle_of_an_archive_fails() {
    let tree = Tree::new(&product());
    let (right, wrong) = (fixture::coff(ARM64), fixture::coff(AMD64));
    let mixed = fixture::archive(&[
        ("one.obj", &right),
        ("two.obj", &wrong),
        ("three.obj", &right),
    ]);
    tree.put("lib/s.lib", &mixed);
    insta::assert_snapshot!(tree.arch(&["--least", "4"]).text(), @r#"
exit 1
error: ARCH002 lib/s.lib(two.obj): found AMD64, expected ARM64, ARM64EC or ARM64X: 1 of 3 members are for another machine than windows/arm64
gate arch for windows/arm64 failed: 4 inspected (at least 4), 1 finding
"#);
}

#[test]
fn a_truncated_dll_fails() {
    let tree = Tree::new(&product());
    let whole = fixture::dll(ARM64);
    tree.put("bin/a.dll", &whole[..whole.len() - 1]);
    tree.put("bin/b.dll", b"");
    tree.put("bin/c.dll", b"MZ\x90\0");
    insta::assert_snapshot!(tree.arch(&["--least", "3"]).text(), @r#"
exit 1
error: ARCH005 bin/a.dll: cut or damaged PE image: section 1 ends at byte 1024, the file at 1023
error: ARCH004 bin/b.dll: an empty file with a binary's name
error: ARCH005 bin/c.dll: cut or damaged PE image: Invalid DOS header size or alignment
gate arch for windows/arm64 failed: 3 inspected (at least 3), 3 findings
"#);
}

#[test]
fn an_empty_tree_is_below_the_floor() {
    insta::assert_snapshot!(Tree::new(&[]).arch(&["--least", "1"]).text(), @r#"
exit 3
error: GEN003 inspected: 0 counted, at least 1 expected
gate arch for windows/arm64 saw too little: 0 inspected (at least 1), 0 findings
"#);
}

#[test]
fn a_floor_of_zero_is_refused_and_so_is_none() {
    let tree = Tree::new(&product());
    insta::assert_snapshot!(tree.arch(&["--least", "0"]).text(), @r#"
exit 2
error: floor `inspected`: `least` is 0; when nothing need be there, say `empty-ok` and why
"#);
    insta::assert_snapshot!(tree.arch(&[]).text(), @r#"
exit 2
error: no floor: say how many must be inspected at `least`, or `empty-ok` and why
"#);
}

#[test]
fn an_allow_entry_that_matches_nothing_fails_and_one_that_matches_is_shown() {
    let tree = Tree::new(&product());
    tree.put("bin/protoc.exe", &fixture::exe(AMD64));
    let stale = [
        "--least",
        "4",
        "--allow",
        "**/protoc.exe=host tool",
        "--allow",
        "**/flatc.exe=host tool",
    ];
    insta::assert_snapshot!(tree.arch(&stale).text(), @r#"
exit 1
error: GEN001 **/flatc.exe: this allow entry matches nothing; remove it (its reason was: host tool)
allowed: **/protoc.exe covers 1 finding on bin/protoc.exe: host tool
gate arch for windows/arm64 failed: 4 inspected (at least 4) and 1 allowed, 1 finding
"#);
    insta::assert_snapshot!(tree.arch(&stale[..4]).text(), @r#"
exit 0
allowed: **/protoc.exe covers 1 finding on bin/protoc.exe: host tool
gate arch for windows/arm64 passed: 4 inspected (at least 4) and 1 allowed, 0 findings
"#);
}

#[test]
fn who_allows_a_container_allows_what_is_in_it() {
    let wrong = fixture::dll(AMD64);
    let wheel = fixture::zip(&[("t64.exe", &wrong), ("sub/t32.exe", &wrong)]).unwrap();
    let (arm, intel) = (fixture::coff(ARM64), fixture::coff(AMD64));
    let tree = Tree::new(&[
        ("a.dll", fixture::dll(ARM64)),
        ("w/distlib-0.4.4-py3-none-any.whl", wheel),
        (
            "mixed.lib",
            fixture::archive(&[("arm.obj", &arm), ("intel.obj", &intel)]),
        ),
    ]);
    let wheel = ["--allow", "**/distlib-*.whl=launchers"];
    let library = ["--allow", r"C:\MIXED.lib=old"];
    let member = ["--allow", "mixed.lib(intel.obj)=old"];
    let run = |least: &str, parts: &[[&str; 2]]| {
        let args = [&["--least", least], &parts.concat()[..]].concat();
        tree.arch(&args).code
    };
    assert_eq!(run("1", &[wheel, library]), Some(0));
    assert_eq!(
        run("2", &[wheel, library]),
        Some(3),
        "an allowed library does not count"
    );
    assert_eq!(
        run("2", &[wheel, member]),
        Some(0),
        "but one with an allowed member does"
    );
    assert_eq!(run("1", &[wheel]), Some(1));
    assert_eq!(run("1", &[library]), Some(1));
}

#[test]
fn a_policy_file_says_it_all_to_arch_too() {
    let run = Vertices::new(&product());
    let policy = run.policy.to_str().unwrap();
    assert_eq!(run.tree.arch(&["--policy", policy]).code, Some(0));
    assert_eq!(
        run.tree.arch(&["--policy", policy, "--least", "1"]).code,
        Some(2)
    );
    fs::write(policy, POLICY.replace("windows/arm64", "windows/amd64")).unwrap();
    assert_eq!(
        run.tree.arch(&["--policy", policy]).code,
        Some(2),
        "another target"
    );
    assert_eq!(run.tree.arch(&["--policy", "/nowhere.json"]).code, Some(4));
}

#[test]
fn an_empty_tree_passes_with_a_reason_only() {
    let tree = Tree::new(&[]);
    insta::assert_snapshot!(tree.arch(&["--empty-ok", "headers only"]).text(), @r#"
exit 0
gate arch for windows/arm64 passed: 0 inspected, 0 findings
nothing need be there: headers only
"#);
    assert_eq!(tree.arch(&["--empty-ok", ""]).code, Some(2));
    assert_eq!(
        tree.arch(&["--empty-ok", "x", "--least", "1"]).code,
        Some(2)
    );
}

#[test]
fn what_is_allowed_does_not_count_for_the_floor() {
    let tree = Tree::new(&product());
    let ran = tree.arch(&["--least", "1", "--allow", "**=everything"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
}

#[test]
fn an_arm64ec_only_import_library_fails_for_arm64() {
    let tree = Tree::new(&product());
    tree.put(
        "lib/ec.lib",
        &fixture::import_library(ARM64, ARM64EC, &["f", "g"]),
    );
    insta::assert_snapshot!(tree.arch(&["--least", "4"]).text(), @r#"
exit 1
error: ARCH007 lib/ec.lib: found ARM64EC, expected ARM64: every symbol is for ARM64EC callers; a native program cannot link this
gate arch for windows/arm64 failed: 5 inspected (at least 4), 1 finding
"#);
}

#[test]
fn hybrid_images_are_told_apart_from_plain_ones() {
    let tree = Tree::new(&[
        ("x.dll", fixture::hybrid_dll(ARM64)),
        ("ec.dll", fixture::hybrid_dll(AMD64)),
    ]);
    assert_eq!(tree.arch(&["--least", "2"]).code, Some(0));
    let root = format!("{}=", tree.root().display());
    let ran = lanegate(&[
        "arch",
        "--target",
        "windows/amd64",
        "--root",
        &root,
        "--least",
        "2",
    ]);
    insta::assert_snapshot!(ran.text(), @r#"
exit 1
error: ARCH001 ec.dll: found ARM64EC, expected AMD64: built for another machine than windows/amd64
error: ARCH001 x.dll: found ARM64X, expected AMD64: built for another machine than windows/amd64
gate arch for windows/amd64 failed: 2 inspected (at least 2), 2 findings
"#);
}

#[test]
fn members_of_wheels_are_looked_at_and_wheels_in_zips_too() {
    let good = fixture::zip(&[("p/m.pyd", &fixture::dll(ARM64)), ("p/__init__.py", b"")]).unwrap();
    let bad = fixture::zip(&[("p/m.pyd", &fixture::dll(AMD64))]).unwrap();
    let nested = fixture::zip(&[("w/bad.whl", &bad)]).unwrap();
    let tree = Tree::new(&[("good.whl", good), ("nested.zip", nested)]);
    insta::assert_snapshot!(tree.arch(&["--least", "2"]).text(), @r#"
exit 1
error: ARCH001 nested.zip!w/bad.whl!p/m.pyd: found AMD64, expected ARM64, ARM64EC or ARM64X: built for another machine than windows/arm64
gate arch for windows/arm64 failed: 2 inspected (at least 2), 1 finding
"#);
}

/// Who opens a wheel looks for the zip's end, so what stands in front of it hides nothing.
#[test]
fn a_zip_with_something_in_front_is_still_looked_into() {
    let zip = fixture::zip(&[("m.pyd", &fixture::dll(AMD64))]).unwrap();
    for front in [&b"#!junk\n"[..], &fixture::dll(ARM64)] {
        for name in ["w.whl", "W.WHL", "a.zip"] {
            let inner = [front, &zip].concat();
            let outer = fixture::zip(&[(name, &inner)]).unwrap();
            let tree = Tree::new(&[(name, inner), ("outer.jar", outer)]);
            let ran = tree.arch(&["--least", "1"]);
            for subject in [format!("{name}!m.pyd"), format!("outer.jar!{name}!m.pyd")] {
                let told = format!("ARCH001 {subject}: ");
                assert!(ran.stderr.contains(&told), "{told}: {}", ran.stderr);
            }
        }
    }
    let tree = Tree::new(&[("w.whl", b"an error page".to_vec())]);
    assert_eq!(tree.arch(&["--least", "1"]).code, Some(1));
}

#[test]
fn content_decides_and_a_binary_name_without_a_binary_fails() {
    let tree = Tree::new(&[
        ("noext", fixture::dll(AMD64)),
        ("x.node", b"text".to_vec()),
        (
            "libc.so",
            b"/* GNU ld script */ INPUT ( libc.so.6 )".to_vec(),
        ),
        (
            "page.dll",
            b"/* GNU ld script */ INPUT ( libc.so.6 )".to_vec(),
        ),
        ("text.lib", fixture::archive(&[("a.txt", b"text")])),
        ("empty.a", fixture::archive(&[])),
        ("thin.lib", b"!<thin>\n".to_vec()),
        ("so.elf", fixture::elf(64, false, 183)),
        ("gpu.hsaco", fixture::elf(64, false, 224)),
        (
            "lto.obj",
            fixture::bitcode("aarch64-pc-windows-msvc", false),
        ),
        ("what.obj", fixture::bitcode("", true)),
    ]);
    insta::assert_snapshot!(tree.arch(&["--least", "1"]).text(), @r#"
exit 1
error: ARCH001 noext: found AMD64, expected ARM64, ARM64EC or ARM64X: built for another machine than windows/arm64
error: ARCH003 page.dll: the name says binary, the content is something else
error: ARCH001 so.elf: found ELF64 AArch64, expected ARM64, ARM64EC or ARM64X: built for another machine than windows/arm64
error: ARCH003 text.lib: a library without a member that could be linked
error: ARCH008 thin.lib: a thin archive: its members lie elsewhere
error: ARCH006 what.obj: found unknown, expected ARM64, ARM64EC or ARM64X: bitcode that does not say which machine it is for
error: ARCH003 x.node: the name says binary, the content is something else
gate arch for windows/arm64 failed: 4 inspected (at least 1), 7 findings
"#);
}

#[test]
fn many_findings_are_bounded() {
    let tree = Tree::new(&[]);
    for index in 0..30 {
        tree.put(&format!("{index:02}.dll"), &fixture::dll(AMD64));
    }
    let text = tree.arch(&["--least", "1"]).text();
    assert_eq!(text.matches("ARCH001").count(), 20);
    assert!(text.contains("and 10 more"), "{text}");
    assert!(
        text.starts_with("exit 1\nerror: ARCH001 00.dll: "),
        "the first reason first: {text}"
    );
}

#[test]
fn unknown_targets_commands_and_options_are_usage_errors() {
    insta::assert_snapshot!(lanegate(&["arch", "--target", "windows/arm46", "--root", "."]).text(), @r#"
exit 2
error: no target `windows/arm46`; known targets: linux/386, linux/amd64, linux/arm64, linux/riscv64, windows/amd64, windows/arm64
"#);
    for args in [
        vec![],
        vec!["ahrc"],
        vec!["arch"],
        vec!["arch", "--root", "."],
        vec!["arch", "--target", "windows/arm64"],
        vec![
            "arch",
            "--target",
            "windows/arm64",
            "--root",
            ".",
            "--root",
            ".",
            "--least",
            "1",
        ],
        vec![
            "arch",
            "--target",
            "windows/arm64",
            "--root",
            ".",
            "--least",
            "one",
        ],
        vec![
            "arch",
            "--target",
            "windows/arm64",
            "--root",
            ".",
            "--least",
            "1",
            "--lest",
            "1",
        ],
        vec![
            "arch",
            "--target",
            "windows/arm64",
            "--root",
            ".",
            "--least",
            "1",
            "--least",
            "1",
        ],
        vec![
            "arch",
            "--target",
            "windows/arm64",
            "--root",
            ".",
            "--least",
            "1",
            "--allow",
            "x",
        ],
        vec![
            "inspect",
            "arhc",
            "--target",
            "windows/arm64",
            "--root",
            ".",
            "--report",
            "r",
        ],
        vec!["assert", "--gate", "g"],
        vec!["seal"],
        vec!["seal", "g"],
        vec!["seal", "g=a", "g=b"],
        vec!["seal", "g=a", "--policy", "h=sha256:00"],
        vec!["arch-table", "x"],
        vec!["overlap", "--tree", "a=."],
        vec!["overlap", "--tree", "a=.", "--tree", "b=.", "--take", "x"],
    ] {
        let ran = lanegate(&args);
        assert_eq!(ran.code, Some(2), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_missing_root_is_unreadable() {
    let ran = lanegate(&[
        "arch",
        "--target",
        "windows/arm64",
        "--root",
        "/nowhere/at/all",
        "--least",
        "1",
    ]);
    assert_eq!(ran.code, Some(4), "{}", ran.stderr);
}

#[test]
fn the_arch_table_is_printed_as_it_is() {
    let output = command().arg("arch-table").output().unwrap();
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        gates::arch_table::TEXT
    );
}

/// inspect, assert and seal as the vertices run them.
struct Vertices {
    tree: Tree,
    policy: PathBuf,
    inspected: PathBuf,
    asserted: PathBuf,
}

const POLICY: &str = r#"{"allow":[],"check":"arch","floors":{"inspected":{"broken":2,"least":4,"measured":4,"on":"2026-11-30"}},"gate":"media","schema":"gate-policy/1","target":"windows/arm64"}"#;

impl Vertices {
    fn new(files: &[(&str, Vec<u8>)]) -> Self {
        let tree = Tree::new(files);
        let (policy, inspected, asserted) = (
            tree.file("policy.json"),
            tree.file("inspected.json"),
            tree.file("asserted.json"),
        );
        fs::write(&policy, POLICY).unwrap();
        Self {
            tree,
            policy,
            inspected,
            asserted,
        }
    }

    fn inspect(&self) -> Ran {
        let root = format!("{}=C:/runtime", self.tree.root().display());
        lanegate(&[
            "inspect",
            "arch",
            "--target",
            "windows/arm64",
            "--root",
            &root,
            "--report",
            self.inspected.to_str().unwrap(),
        ])
    }

    fn assert(&self, more: &[&str]) -> Ran {
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let (policy, inspected, asserted) = (
            text(&self.policy),
            text(&self.inspected),
            text(&self.asserted),
        );
        let mut args = vec![
            "assert", "--gate", "media", "--policy", &policy, "--report", &inspected, "--out",
            &asserted,
        ];
        args.extend(more);
        lanegate(&args)
    }

    fn seal(&self, policy: &str) -> Ran {
        let asserted = format!("media={}", self.asserted.display());
        let digest = format!("media={}", policy::digest(policy.as_bytes()));
        lanegate(&["seal", &asserted, "--policy", &digest])
    }
}

#[test]
fn inspect_assert_and_seal_of_a_right_tree_pass() {
    let run = Vertices::new(&product());
    assert_eq!(run.inspect().code, Some(0));
    let ran = run.assert(&[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(run.seal(POLICY).code, Some(0));
    insta::assert_snapshot!("inspected", fs::read_to_string(&run.inspected).unwrap());
    insta::assert_snapshot!("asserted", fs::read_to_string(&run.asserted).unwrap());
}

#[test]
fn inspect_is_green_on_a_wrong_tree_and_assert_is_not() {
    let run = Vertices::new(&product());
    run.tree.put("bin/wrong.dll", &fixture::dll(AMD64));
    assert_eq!(run.inspect().code, Some(0));
    assert_eq!(run.assert(&[]).code, Some(1));
    assert_eq!(
        run.seal(POLICY).code,
        Some(1),
        "the verdict was written all the same"
    );
    assert_eq!(run.assert(&["--defer"]).code, Some(0));
    let sealed = run.seal(POLICY);
    assert_eq!(sealed.code, Some(1));
    assert!(
        sealed
            .stderr
            .starts_with("error: ARCH001 C:/runtime/bin/wrong.dll"),
        "{}",
        sealed.stderr
    );
}

#[test]
fn a_verdict_below_the_floor_is_3_through_the_seal_too() {
    let run = Vertices::new(&product()[..3]);
    run.inspect();
    assert_eq!(run.assert(&["--defer"]).code, Some(0));
    assert_eq!(run.seal(POLICY).code, Some(3));
}

#[test]
fn missing_cut_foreign_and_edited_reports_are_unreadable() {
    let run = Vertices::new(&product());
    assert_eq!(run.assert(&[]).code, Some(4), "missing");
    assert_eq!(run.assert(&["--defer"]).code, Some(4), "nothing to defer");
    assert!(!run.asserted.exists());
    run.inspect();
    assert_eq!(run.assert(&[]).code, Some(0));
    let good = fs::read_to_string(&run.inspected).unwrap();
    for (from, to) in [
        (&good[good.len() - 1..], ""),
        ("windows/arm64", "windows/amd64"),
        ("\"check\":\"arch\"", "\"check\":\"imports\""),
        ("\"check-version\":2", "\"check-version\":1"),
        ("gate-report/1", "gate-report/2"),
        ("\"inspected\":4", "\"inspected\":04"),
    ] {
        assert!(good.contains(from), "{from}");
        fs::write(&run.inspected, good.replacen(from, to, 1)).unwrap();
        let ran = run.assert(&[]);
        assert_eq!(ran.code, Some(4), "{to}: {}", ran.stderr);
    }
    fs::write(&run.inspected, "").unwrap();
    assert_eq!(run.assert(&[]).code, Some(4), "empty");
    // An asserted report is no inspected one, and the other way round.
    fs::copy(&run.asserted, &run.inspected).unwrap();
    assert_eq!(run.assert(&[]).code, Some(4), "of another stage");
}

#[test]
fn a_seal_wants_every_verdict_with_its_own_gate_and_policy() {
    let run = Vertices::new(&product());
    assert_eq!(run.seal(POLICY).code, Some(4), "missing");
    run.inspect();
    run.assert(&[]);
    assert_eq!(run.seal(POLICY).code, Some(0));
    assert_eq!(run.seal("another").code, Some(4), "another policy");
    let asserted = run.asserted.display();
    assert_eq!(
        lanegate(&["seal", &format!("image={asserted}")]).code,
        Some(4),
        "another gate"
    );
    let both = [
        format!("media={asserted}"),
        "image=/nowhere.json".to_owned(),
    ];
    assert_eq!(
        lanegate(&["seal", &both[0], &both[1]]).code,
        Some(4),
        "one of two"
    );
    fs::write(&run.asserted, fs::read(&run.inspected).unwrap()).unwrap();
    assert_eq!(
        run.seal(POLICY).code,
        Some(4),
        "a report that is no verdict"
    );
}

#[test]
fn a_version_is_a_text_and_no_fraction() {
    let tree = Tree::new(&[("README", Vec::new())]);
    let root = format!("{}=", tree.root().display());
    let deps = ["deps", "--target", "linux/amd64", "--root", &root, "--ask"];
    let ran = lanegate(&[&deps[..], &["python=3.14", "--least", "1"]].concat());
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let ran = lanegate(&[&deps[..], &["python=314", "--least", "1"]].concat());
    assert_eq!(
        ran.code,
        Some(2),
        "a whole number stays one: {}",
        ran.stderr
    );
}

#[test]
fn what_cannot_be_read_or_written_is_told_with_its_name() {
    let run = Vertices::new(&product());
    run.inspect();
    run.assert(&[]);
    let at = |path: &Path| path.display().to_string();
    let (inspected, asserted) = (at(&run.inspected), at(&run.asserted));
    let (policy, gone) = (at(&run.policy), at(&run.tree.file("gone/x.json")));
    let tree = at(&run.tree.root());
    let (sealed, trees) = (
        format!("media={inspected}"),
        [format!("a={tree}"), format!("b={gone}")],
    );
    let assert = ["assert", "--gate", "media", "--policy", &policy, "--report"];
    let text = fs::read_to_string(&run.inspected).unwrap();
    let other = at(&run.tree.file("other.json"));
    fs::write(
        &other,
        text.replace("\"check-version\":", "\"check-version\":9"),
    )
    .unwrap();
    let lines: [(&[&str], &str); 6] = [
        (
            &["seal", &sealed],
            "a report of `inspect`, expected one of `assert`",
        ),
        (
            &["show", &inspected],
            "a report of `inspect`, expected one of `merge`",
        ),
        (
            &[&assert[..], &[&asserted]].concat(),
            "a report of `assert`, expected one of `inspect`",
        ),
        (
            &[&assert[..], &[&inspected, "--out", &gone]].concat(),
            "gone/x.json cannot be written: ",
        ),
        (
            &[&assert[..], &[&other]].concat(),
            "other.json: a foreign report: its check-version is",
        ),
        (
            &["overlap", "--tree", &trees[0], "--tree", &trees[1]],
            "gone/x.json: No such file",
        ),
    ];
    for (args, told) in lines {
        let ran = lanegate(args);
        assert_eq!(ran.code, Some(4), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(told), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1, "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_forged_pass_contradicts_its_findings() {
    let run = Vertices::new(&product());
    run.tree.put("bin/wrong.dll", &fixture::dll(AMD64));
    run.inspect();
    run.assert(&[]);
    let red = fs::read_to_string(&run.asserted).unwrap();
    let green = red
        .replace("\"verdict\":\"fail\"", "\"verdict\":\"pass\"")
        .replace("\"exit\":1", "\"exit\":0");
    assert_ne!(red, green);
    fs::write(&run.asserted, green).unwrap();
    assert_eq!(run.seal(POLICY).code, Some(4));
}

#[test]
fn a_verdict_with_other_floors_than_its_policy_seals_nothing() {
    let run = Vertices::new(&product());
    run.inspect();
    run.assert(&[]);
    let right = fs::read_to_string(&run.asserted).unwrap();
    assert_eq!(run.seal(POLICY).code, Some(0));
    let floor = r#"{"got":4,"least":4,"ok":true,"what":"inspected"}"#;
    assert!(right.contains(floor), "{right}");
    for forged in [
        "",
        r#"{"got":0,"least":0,"ok":true,"what":"inspected"}"#,
        r#"{"got":3,"least":4,"ok":true,"what":"inspected"}"#,
        r#"{"got":4,"least":4,"ok":true,"what":"pe"}"#,
    ] {
        fs::write(&run.asserted, right.replace(floor, forged)).unwrap();
        let ran = run.seal(POLICY);
        assert_eq!(ran.code, Some(4), "{forged}: {}", ran.stderr);
        assert!(ran.stderr.contains("floors contradict"), "{}", ran.stderr);
    }
}

#[test]
fn every_command_and_gate_has_help() {
    let help = |args: &[&str]| {
        let output = command().args(args).output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{args:?}"
        );
        String::from_utf8(output.stdout).unwrap()
    };
    for gate in gates::gate::GATES {
        let said = help(&[gate.name, "--help"]);
        for rule in gate.rules {
            assert!(said.contains(rule.id), "{}: {said}", gate.name);
        }
    }
    assert_eq!(help(&["merge", "-h"]), help(&["--help"]));
}

/// The gates that are commands too are gates where there is a floor.
#[test]
fn a_floor_makes_a_gate_of_every_name() {
    let tree = Tree::new(&[("a/x", b"1".to_vec()), ("b/x", b"2".to_vec())]);
    let target = ["--target", "linux/amd64"];
    let whole = format!("{}=", tree.root().display());
    let made = lanegate(&[
        "manifest",
        target[0],
        target[1],
        "--root",
        &whole,
        "--out",
        tree.root().join("MANIFEST.json").to_str().unwrap(),
    ]);
    assert_eq!(made.code, Some(0), "{}", made.stderr);
    let held = [
        "manifest", target[0], target[1], "--root", &whole, "--least", "1",
    ];
    assert_eq!(lanegate(&held).code, Some(0));
    tree.put("a/x", b"other");
    assert!(lanegate(&held).stderr.contains("MAN003 a/x"));
    let (a, b) = (tree.root().join("a"), tree.root().join("b"));
    let (a, b) = (format!("{}=a", a.display()), format!("{}=b", b.display()));
    let ran = lanegate(&[
        "overlap",
        target[0],
        target[1],
        "--root",
        &a,
        "--root",
        &b,
        "--least=1",
    ]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("OVL001 x"), "{}", ran.stderr);
}

/// Whatever a gate is asked that it can be asked of nothing, nothing is not green.
#[test]
fn no_gate_is_green_where_there_is_nothing() {
    let tree = Tree::new(&[]);
    let (a, b) = (tree.root().join("a"), tree.root().join("b"));
    let (a, b) = (format!("{}=a", a.display()), format!("{}=b", b.display()));
    fs::create_dir_all(tree.root().join("a")).unwrap();
    fs::create_dir_all(tree.root().join("b")).unwrap();
    let row = r#"[{"file":"x","exports":["f"],"why":"w","absent-on":{"windows/arm64":"none"}}]"#;
    for gate in gates::gate::GATES {
        let ask: &[&str] = match gate.name {
            "absent" => &[r#"components=[{"at":"x","not-on":["windows/arm64"]}]"#],
            "contract" => &["env={}"],
            "coverage" => &[r#"entries=["**"]"#],
            "data" => &[r#"expect=[{"file":"**","symbol":"f","bytes":"00","why":"w"}]"#],
            "deps" => &["python=3.14"],
            "files" => &[r#"forbidden=[{"path":"**","why":"w"}]"#],
            "leak" => &[r#"values={"A":"a-value-of-a-host"}"#],
            "plugin" => &[&format!("plugins={row}")],
            "tests" => &[r#"suites=[{"name":"a","format":"exit","exit":"a"}]"#],
            _ => &[],
        };
        let mut args = vec![gate.name, "--target", "windows/arm64", "--least", "1"];
        args.extend(["--root", &a, "--root", &b]);
        args.extend(ask.iter().flat_map(|ask| ["--ask", ask]));
        let ran = lanegate(&args);
        assert!(
            matches!(ran.code, Some(1 | 3 | 4)),
            "{}: {:?} {}",
            gate.name,
            ran.code,
            ran.stderr
        );
    }
}

#[test]
fn a_policy_for_another_gate_is_a_usage_error() {
    let run = Vertices::new(&product());
    run.inspect();
    fs::write(&run.policy, POLICY.replace("\"media\"", "\"image\"")).unwrap();
    assert_eq!(run.assert(&[]).code, Some(2));
}

#[test]
fn a_raised_floor_needs_no_new_inspection() {
    let run = Vertices::new(&product());
    run.inspect();
    fs::write(
        &run.policy,
        POLICY.replace("\"least\":4,\"measured\":4", "\"least\":5,\"measured\":6"),
    )
    .unwrap();
    insta::assert_snapshot!(run.assert(&[]).text(), @r#"
exit 3
error: GEN003 inspected: 4 counted, at least 5 expected
gate media for windows/arm64 saw too little: 4 inspected (at least 5), 0 findings
"#);
}

#[test]
fn two_trees_with_the_same_content_give_the_same_bytes_whatever_order_they_were_made_in() {
    let mut files = product();
    files.push(("bin/wrong.dll", fixture::dll(AMD64)));
    files.push((
        "w/x.whl",
        fixture::zip(&[("m.pyd", &fixture::dll(AMD64))]).unwrap(),
    ));
    let first = Vertices::new(&files);
    files.reverse();
    let second = Vertices::new(&files);
    for run in [&first, &second] {
        run.inspect();
        run.assert(&[]);
    }
    for file in ["inspected.json", "asserted.json"] {
        let bytes = [&first, &second].map(|run| fs::read(run.tree.file(file)).unwrap());
        assert_eq!(bytes[0], bytes[1], "{file}");
    }
    let text = fs::read_to_string(&first.inspected).unwrap();
    assert!(
        !text.contains(first.tree.0.path().to_str().unwrap()),
        "no path of this machine"
    );
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_judged_and_printed_escaped() {
    use std::os::unix::ffi::OsStrExt;
    let tree = Tree::new(&product());
    let name = std::ffi::OsStr::from_bytes(b"\xff\x1b[31m.dll");
    fs::write(tree.root().join(name), fixture::dll(AMD64)).unwrap();
    let ran = tree.arch(&["--least", "4"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains(r"\xff\u{1b}[31m.dll"), "{}", ran.stderr);
}

#[test]
fn a_large_tree_has_a_bar_on_a_terminal_and_nowhere_else() {
    let tree = Tree::new(&[("a.dll", fixture::dll(ARM64))]);
    for n in 0..600 {
        tree.put(&format!("{n}.txt"), b"");
    }
    let text = tree.arch(&["--least", "1"]).text();
    assert_eq!(text.lines().count(), 2, "{text}");
    let root = tree.root();
    let line = format!(
        "{} arch --target windows/arm64 --least 1 --root {}=",
        env!("CARGO_BIN_EXE_lanegate"),
        root.display()
    );
    let ran = Command::new("script")
        .args(["-qec", &line, "/dev/null"])
        .env("TERM", "xterm")
        .output();
    let Ok(output) = ran else {
        eprintln!("no bar was looked at: there is no `script` here (util-linux has it)");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains(" of 601 files"), "{text:?}");
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    assert!(
        last.contains("gate arch for windows/arm64 passed: 1 inspected"),
        "{text:?}"
    );
}

#[test]
fn a_report_for_a_build_elsewhere_is_bound_to_its_gate_and_tree_and_accepted_there() {
    let run = Vertices::new(&product());
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let (tree, given) = (text(run.tree.root()), text(run.tree.file("given.json")));
    let root = format!("{tree}=");
    let inspect = [
        "inspect",
        "arch",
        "--target",
        "windows/arm64",
        "--root",
        &root,
        "--report",
        &given,
    ];
    let with = |more: &[&str]| lanegate(&[&inspect[..], more].concat());
    assert_eq!(with(&["--gate", "media", "--of", &tree]).code, Some(0));
    let inspected = text(run.inspected.clone());
    let accept = [
        "accept",
        "arch",
        "--target",
        "windows/arm64",
        "--given",
        &given,
        "--report",
        &inspected,
    ];
    let accept = |more: &[&str]| lanegate(&[&accept[..], more].concat());
    assert_eq!(accept(&["--gate", "media", "--of", &tree]).code, Some(0));
    let bytes = |path: &str| fs::read(path).unwrap();
    assert_eq!(bytes(&given), bytes(&inspected));
    let ran = run.assert(&[]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert_eq!(run.seal(POLICY).code, Some(0));

    run.tree.put("README", b"another tree");
    let ran = accept(&["--gate", "media", "--of", &tree]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stderr
            .starts_with("not accepted: EXT005 media: found sha256:")
    );
    assert_eq!(run.assert(&[]).code, Some(1));
    assert_eq!(run.seal(POLICY).code, Some(1));

    for ran in [
        with(&["--gate", "media"]),
        with(&["--of", &tree]),
        accept(&["--gate", "media"]),
        accept(&[]),
    ] {
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    }
    assert_eq!(with(&["--gate", "media", "--of", "/nowhere"]).code, Some(4));
}
