//! ELF files that ask of a system what it does not have.

use gates::fixture::Elf;
use gates::gate::Gate;
use gates::report::Inspected;
use serde_json::{Value, json};

use super::{Tree, findings};

const TARGET: &str = "linux/amd64";
const X86_64: u16 = 62;
const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// A library with nothing wrong.
fn library() -> Elf {
    Elf {
        needed: vec!["libc.so.6"],
        soname: Some("libx.so.1"),
        needs: vec![("libc.so.6", vec!["GLIBC_2.2.5", "GLIBC_2.17"])],
        stack: Some(6),
        ..Elf::default()
    }
}

/// A program with nothing wrong.
fn program() -> Elf {
    Elf {
        soname: None,
        interpreter: Some(LOADER),
        runpath: Some("$ORIGIN/../lib"),
        ..library()
    }
}

fn look(files: &[(&str, Vec<u8>)], ask: Value) -> Vec<String> {
    findings(&Tree::new(files).inspect("elf", TARGET, ask))
}

fn demand(report: &Inspected, demand: Value) -> Vec<String> {
    let Value::Object(demand) = demand else {
        panic!("no object: {demand}")
    };
    let found = Gate::named("elf").unwrap().judge(report, &demand).unwrap();
    found.iter().map(ToString::to_string).collect()
}

fn one(found: &[String], start: &str) {
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with(start), "{found:#?}");
}

#[test]
fn a_whole_tree_has_no_finding_and_counts_programs_and_libraries() {
    let tree = Tree::new(&[
        ("bin/app", program().shared(X86_64)),
        ("lib/libx.so.1", library().shared(X86_64)),
        ("lib/readme", b"text".to_vec()),
    ]);
    let report = tree.inspect("elf", TARGET, json!({}));
    assert_eq!(findings(&report), [""; 0]);
    let counts = &report.counts;
    assert_eq!(counts.by_class["programs"], 1);
    assert_eq!(counts.by_class["libraries"], 1);
    assert_eq!(
        (counts.by_class["glibc"], counts.by_class["GLIBC_2.17"]),
        (2, 2)
    );
    assert_eq!((counts.inspected, counts.other), (2, 1));
    assert!(!counts.by_class.contains_key("GLIBC_2.2.5"), "{counts:?}");
}

#[test]
fn a_loader_of_another_system_or_machine_is_found_until_it_is_named() {
    for wrong in [
        "/lib/ld-linux-aarch64.so.1",
        "/nix/store/abc-glibc/lib/ld-linux-x86-64.so.2",
        "",
    ] {
        let elf = Elf {
            interpreter: Some(wrong),
            ..program()
        };
        let files = [("bin/app", elf.shared(X86_64)), ("lib/x", vec![])];
        one(&look(&files, json!({})), "ELF001 bin/app: ");
        if !wrong.is_empty() {
            assert_eq!(look(&files, json!({"interpreters": [wrong]})), [""; 0]);
        }
    }
    let files = [("bin/app", program().shared(X86_64)), ("lib/x", vec![])];
    one(
        &look(&files, json!({"interpreters": [LOADER]})),
        "ELF006 /lib64/ld-",
    );
}

#[test]
fn a_program_that_needs_libraries_and_names_no_loader_is_found() {
    let mut bytes = Elf {
        interpreter: None,
        ..program()
    }
    .shared(X86_64);
    bytes[16] = 2;
    let files = [("bin/app", bytes), ("lib/x", vec![])];
    one(
        &look(&files, json!({})),
        "ELF001 bin/app: it needs libraries",
    );
}

#[test]
fn a_stack_that_is_executable_or_taken_for_one_is_found() {
    for (stack, start) in [
        (Some(7), "ELF004 lib/libx.so.1: its header"),
        (None, "ELF004 lib/libx.so.1: it has no PT_GNU_STACK"),
    ] {
        let elf = Elf { stack, ..library() };
        one(
            &look(&[("lib/libx.so.1", elf.shared(X86_64))], json!({})),
            start,
        );
    }
    // Linux never had one by default on this machine.
    let elf = Elf {
        stack: None,
        ..library()
    };
    let arm = Tree::new(&[("lib/libx.so.1", elf.shared(183))]);
    let report = arm.inspect("elf", "linux/arm64", json!({}));
    assert_eq!(findings(&report), [""; 0]);
}

#[test]
fn search_paths_lead_into_the_tree_or_are_named() {
    let at = |name: &str, path: &'static str| {
        let elf = Elf {
            runpath: Some(path),
            ..library()
        };
        look(
            &[(name, elf.shared(X86_64)), ("opt/x/y", vec![])],
            json!({}),
        )
    };
    for (name, path) in [
        ("lib/a.so", "$ORIGIN"),
        ("lib/a.so", "${ORIGIN}/../opt/x"),
        ("lib/a.so", "/opt/x:/lib"),
    ] {
        assert_eq!(at(name, path), [""; 0], "{path}");
    }
    for (path, why) in [
        ("$ORIGIN/../../x", "leads out"),
        ("/home/me/build/lib", "no directory of the tree"),
        ("/opt/x:/opt/z", "`/opt/z`"),
        ("lib", "working directory"),
        ("$ORIGIN::$ORIGIN/..", "empty part"),
        ("$ORIGINAL/lib", "working directory"),
    ] {
        let found = at("lib/a.so", path);
        one(&found, "ELF005 lib/a.so: RUNPATH ");
        assert!(found[0].contains(why), "{found:#?}");
    }
    let old = Elf {
        rpath: Some("/usr/lib/vendor"),
        ..library()
    };
    let files = [("a.so", old.shared(X86_64))];
    one(
        &look(&files, json!({})),
        "ELF005 a.so: RPATH `/usr/lib/vendor`",
    );
    assert_eq!(look(&files, json!({"paths": ["/usr/lib/*"]})), [""; 0]);
    let both = json!({"paths": ["/usr/lib/*", "/opt/gone"]});
    one(&look(&files, both), "ELF006 /opt/gone: ");
}

#[cfg(unix)]
#[test]
fn a_search_path_goes_where_the_links_of_the_tree_lead() {
    let at = |path| Elf {
        runpath: Some(path),
        ..library()
    };
    let tree = Tree::new(&[
        ("lib/a.so", at("/opt/current/lib").shared(X86_64)),
        ("lib/b.so", at("$ORIGIN/way").shared(X86_64)),
        ("opt/1.2/lib/x", vec![]),
    ]);
    let name = |name: &str| tree.0.path().join(name);
    let link = |target: &str, at: &str| std::os::unix::fs::symlink(target, name(at)).unwrap();
    let look = || findings(&tree.inspect("elf", TARGET, json!({})));
    one(&look(), "ELF005 lib/a.so: RUNPATH `/opt/current/lib`");
    link("1.2", "opt/current");
    link("../opt", "lib/way");
    assert_eq!(look(), [""; 0]);
    std::fs::remove_file(name("lib/way")).unwrap();
    link("../../elsewhere", "lib/way");
    one(&look(), "ELF005 lib/b.so: RUNPATH `$ORIGIN/way`: it leads");
    std::fs::remove_file(name("opt/current")).unwrap();
    link("1.3", "opt/current");
    assert_eq!(look().len(), 2);
}

#[test]
fn a_search_path_in_a_wheel_ends_at_the_wheel() {
    let wheel = |path: &'static str| {
        let elf = Elf {
            runpath: Some(path),
            ..library()
        };
        let so = elf.shared(X86_64);
        let zip = gates::fixture::zip(&[("p/q/m.so", &so), ("p.libs/l", b"")]).unwrap();
        look(&[("w/p-1-cp313-cp313-linux_x86_64.whl", zip)], json!({}))
    };
    assert_eq!(wheel("$ORIGIN/../../p.libs"), [""; 0]);
    one(&wheel("$ORIGIN/../../../p.libs"), "ELF005 w/p-1");
}

#[test]
fn the_label_of_a_root_is_where_its_tree_ends() {
    let elf = Elf {
        runpath: Some("$ORIGIN/../../other"),
        ..library()
    };
    let tree = Tree::new(&[("lib/a.so", elf.shared(X86_64))]);
    for label in ["", "out/runtime", "/abs/out", "./out"] {
        let root = gates::walk::Root {
            path: tree.0.path().to_owned(),
            label: gates::name::Name::from(label),
        };
        let row = gates::arch_table::row(TARGET).unwrap();
        let gate = Gate::named("elf").unwrap();
        let report = gate.inspect(&row, &[root], &gates::gate::Object::new());
        assert_eq!(report.unwrap().findings.len(), 1, "{label}");
    }
}

#[test]
fn of_two_c_libraries_the_one_that_few_have_is_found() {
    let musl = Elf {
        needed: vec!["libc.musl-x86_64.so.1"],
        needs: vec![],
        ..library()
    };
    let files = [
        ("a.so", library().shared(X86_64)),
        ("b.so", library().shared(X86_64)),
        ("m.so", musl.shared(X86_64)),
    ];
    let found = look(&files, json!({}));
    one(&found, "ELF003 m.so: found musl, expected glibc");
    assert_eq!(look(&files, json!({"libc": "musl"})).len(), 2);
    // One file that asks for both is wrong by itself.
    let both = Elf {
        needed: vec!["libc.so.6", "libc.musl-x86_64.so.1"],
        ..library()
    };
    let found = look(&[("x.so", both.shared(X86_64))], json!({}));
    one(&found, "ELF003 x.so: found glibc and musl");
    // libgcc's own versions, which it has on musl, too.
    let musl = |library| Elf {
        needed: vec![library, "libc.musl-x86_64.so.1"],
        needs: vec![(library, vec!["GCC_3.0", "GLIBC_2.0"])],
        ..self::library()
    };
    for (needed, findings) in [("libgcc_s-2d945d6c.so.1", 0), ("libx.so.1", 1)] {
        let found = look(&[("x.so", musl(needed).shared(X86_64))], json!({}));
        assert_eq!(found.len(), findings, "{needed}: {found:#?}");
    }
    // musl's other name, which Android's C library has too.
    for (needs, libc) in [
        (vec![], "musl"),
        (vec![("libc.so", vec!["LIBC"])], "bionic"),
    ] {
        let elf = Elf {
            needed: vec!["libc.so"],
            needs,
            ..library()
        };
        let report = Tree::new(&[("x.so", elf.shared(X86_64))]).inspect("elf", TARGET, json!({}));
        assert_eq!(report.counts.by_class.get(libc), Some(&1), "{report:?}");
    }
}

#[test]
fn a_version_above_the_ceiling_is_found_by_its_number() {
    let elf = Elf {
        needs: vec![
            ("libc.so.6", vec!["GLIBC_2.4", "GLIBC_2.34", "GLIBC_2.9"]),
            ("libstdc++.so.6", vec!["GLIBCXX_3.4.9"]),
        ],
        ..library()
    };
    let tree = Tree::new(&[("a.so", elf.shared(X86_64))]);
    let report = tree.inspect("elf", TARGET, json!({}));
    for (ceiling, bad) in [("2.34", 0), ("2.100", 0), ("3", 0), ("2.33", 1), ("2.9", 1)] {
        let found = demand(&report, json!({"ceiling": {"GLIBC": ceiling}}));
        assert_eq!(found.len(), bad, "{ceiling}: {found:#?}");
    }
    let found = demand(
        &report,
        json!({"ceiling": {"GLIBC": "2.28", "GLIBCXX": "3.4.25"}}),
    );
    one(
        &found,
        "ELF002 a.so: found GLIBC_2.34, expected GLIBC_2.28 at most",
    );
    let found = demand(&report, json!({"ceiling": {"GLIB": "2.28"}}));
    one(&found, "ELF006 GLIB: ");
    for (word, least) in [("GLIBC_ABI_DT_RELR", "2.35"), ("GLIBC_PRIVATE", "99")] {
        let elf = Elf {
            needs: vec![("libc.so.6", vec!["GLIBC_2.4", word])],
            ..library()
        };
        let report = Tree::new(&[("a.so", elf.shared(X86_64))]).inspect("elf", TARGET, json!({}));
        one(
            &demand(&report, json!({"ceiling": {"GLIBC": least}})),
            "ELF002 a.so: ",
        );
    }
}

#[test]
fn a_cut_file_is_never_taken_for_one_that_asks_nothing() {
    let whole = program().shared(X86_64);
    let tree = Tree::new(&[("lib/x", vec![])]);
    for end in 4..whole.len() {
        tree.put("bin/app", &whole[..end]);
        let found = findings(&tree.inspect("elf", TARGET, json!({})));
        assert!(!found.is_empty(), "cut at {end} of {}", whole.len());
    }
}
