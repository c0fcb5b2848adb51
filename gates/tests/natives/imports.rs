//! Trees whose imports are whole but for one thing.

use gates::fixture::{self, AMD64, ARM64, Elf, Export, Pe};
use serde_json::{Value, json};

use super::{Tree, findings};

const WINDOWS: &str = "windows/arm64";
const LINUX: &str = "linux/amd64";

fn importing(dll: &'static str, names: &[&'static str]) -> Pe {
    Pe {
        imports: vec![(dll, names.to_vec())],
        ..Pe::default()
    }
}

fn exporting(exports: &[(&'static str, Export)]) -> Pe {
    Pe {
        exports: exports.to_vec(),
        ..Pe::default()
    }
}

fn windows(files: &[(&str, Vec<u8>)], ask: Value) -> Vec<String> {
    findings(&Tree::new(files).inspect("imports", WINDOWS, ask))
}

fn one(found: &[String], start: &str) {
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with(start), "{found:#?}");
}

#[test]
fn a_whole_tree_has_no_finding_and_counts_its_edges() {
    let f = exporting(&[
        ("f", Export::Code),
        ("g", Export::Forward("KERNEL32.Sleep")),
    ]);
    let app = Pe {
        imports: vec![
            ("F.DLL", vec!["f", "g", "#1"]),
            ("KERNEL32.dll", vec!["Sleep"]),
            ("api-ms-win-crt-runtime-l1-1-0.dll", vec!["exit"]),
        ],
        delayed: vec![("user32.dll", vec!["MessageBoxW"])],
        ..Pe::default()
    };
    let tree = Tree::new(&[("bin/f.dll", f.dll(ARM64)), ("bin/app.exe", app.dll(ARM64))]);
    let report = tree.inspect("imports", WINDOWS, json!({}));
    assert_eq!(findings(&report), [""; 0]);
    assert_eq!(report.counts.inspected, 2);
    assert_eq!(
        (
            report.counts.by_class["edges"],
            report.counts.by_class["delayed"]
        ),
        (4, 1)
    );
    assert_eq!(report.lists.len(), 5);
}

#[test]
fn what_nothing_supplies_is_found_at_load_and_delayed() {
    let app = Pe {
        imports: vec![("gone.dll", vec!["f"])],
        delayed: vec![("late.dll", vec!["f"])],
        ..Pe::default()
    };
    let found = windows(&[("app.exe", app.dll(ARM64))], json!({}));
    assert_eq!(found.len(), 2);
    assert!(
        found[0].starts_with("IMP001 app.exe(gone.dll): "),
        "{found:#?}"
    );
    assert!(found[1].ends_with("(delayed)"), "{found:#?}");
}

#[test]
fn a_supplier_for_another_machine_does_not_count() {
    let files = [
        ("f.dll", exporting(&[("f", Export::Code)]).dll(AMD64)),
        ("app.exe", importing("f.dll", &["f"]).dll(ARM64)),
    ];
    one(&windows(&files, json!({})), "IMP002 app.exe(f.dll): ");
}

#[test]
fn a_supplier_in_a_directory_that_is_not_searched_does_not_count_until_the_policy_names_it() {
    let files = [
        ("lib/f.dll", exporting(&[("f", Export::Code)]).dll(ARM64)),
        ("bin/app.exe", importing("f.dll", &["f"]).dll(ARM64)),
    ];
    let found = windows(&files, json!({}));
    one(&found, "IMP003 bin/app.exe(f.dll): ");
    assert!(found[0].contains("lib/f.dll (ARM64)"), "{found:#?}");
    assert!(windows(&files, json!({"search": [{"dir": "lib"}]})).is_empty());
    let others = json!({"search": [{"dir": "lib", "from": "other/**"}]});
    one(&windows(&files, others), "IMP003");
    one(
        &windows(&files, json!({"search": [{"dir": "lib"}, {"dir": "gone"}]})),
        "IMP010 gone: ",
    );
}

#[test]
fn a_supplier_that_lacks_a_name_or_number_is_found() {
    let f = ("f.dll", exporting(&[("f", Export::Code)]).dll(ARM64));
    for (wanted, told) in [("g", "g"), ("#2", "#2")] {
        let app = ("app.exe", importing("f.dll", &["f", wanted]).dll(ARM64));
        let found = windows(&[f.clone(), app], json!({}));
        one(&found, "IMP004 app.exe(f.dll): ");
        assert!(
            found[0].contains(&format!("does not have {told} (of 2)")),
            "{found:#?}"
        );
    }
}

#[test]
fn an_api_set_that_does_not_exist_is_found() {
    let app = importing("api-ms-win-crt-runtmie-l1-1-0.dll", &["exit"]).dll(ARM64);
    one(&windows(&[("app.exe", app)], json!({})), "IMP005");
}

#[test]
fn a_tree_that_stands_alone_brings_the_run_time() {
    let app = ("app.exe", importing("VCRUNTIME140.dll", &["f"]).dll(ARM64));
    let report = Tree::new(std::slice::from_ref(&app)).inspect("imports", WINDOWS, json!({}));
    assert!(findings(&report).is_empty());
    assert_eq!(report.notes[0].class, "run-time");
    let alone = json!({"standalone": true});
    one(
        &windows(std::slice::from_ref(&app), alone.clone()),
        "IMP006 app.exe(VCRUNTIME140.dll)",
    );
    let crt = (
        "vcruntime140.dll",
        exporting(&[("f", Export::Code)]).dll(ARM64),
    );
    assert!(windows(&[app.clone(), crt], alone.clone()).is_empty());
    let intel = (
        "vcruntime140.dll",
        exporting(&[("f", Export::Code)]).dll(AMD64),
    );
    one(&windows(&[app, intel], alone.clone()), "IMP002");
    let system = importing("msvcp_win.dll", &["f"]).dll(ARM64);
    one(&windows(&[("a.dll", system)], alone), "IMP001");
}

#[test]
fn forbidden_and_delayed_only_imports_are_found_and_a_rule_for_no_file_too() {
    let at_load = (
        "av/avutil-60.dll",
        importing("vulkan-1.dll", &["vkInit"]).dll(ARM64),
    );
    let forbid = json!({"forbid": [{"name": "vulkan-1.dll", "from": "**/av*.dll", "why": "loads it itself"}]});
    one(
        &windows(std::slice::from_ref(&at_load), forbid.clone()),
        "IMP007 av/avutil-60.dll(vulkan-1.dll): loads it",
    );
    let other = (
        "other.dll",
        importing("kernel32.dll", &["Sleep"]).dll(ARM64),
    );
    one(&windows(&[other], forbid), "IMP010 **/av*.dll");
    let later = json!({"delay-only": [{"name": "vulkan-1.dll", "why": "not on every device"}]});
    one(&windows(&[at_load], later.clone()), "IMP008");
    let delayed = Pe {
        delayed: vec![("vulkan-1.dll", vec!["vkInit"])],
        ..Pe::default()
    };
    assert!(windows(&[("a.dll", delayed.dll(ARM64))], later).is_empty());
}

#[test]
fn drivers_clients_and_what_the_policy_names_are_told_and_not_found() {
    let app = Pe {
        imports: vec![
            ("nvcuda.dll", vec!["cuInit"]),
            ("MF.dll", vec!["MFStartup"]),
            ("python313.dll", vec!["Py_Main"]),
        ],
        ..Pe::default()
    };
    let outside = json!({"outside": [{"name": "python3*.dll", "why": "the interpreter"}]});
    let tree = Tree::new(&[("app.pyd", app.dll(ARM64))]);
    let report = tree.inspect("imports", WINDOWS, outside.clone());
    assert!(findings(&report).is_empty(), "{:#?}", findings(&report));
    let classes: Vec<&str> = report
        .notes
        .iter()
        .map(|note| note.class.as_str())
        .collect();
    assert_eq!(classes, ["client", "driver", "outside"]);
    one(
        &findings(&tree.inspect("imports", WINDOWS, json!({}))),
        "IMP001 app.pyd(python313.dll)",
    );
    let none = importing("kernel32.dll", &["Sleep"]).dll(ARM64);
    one(&windows(&[("a.dll", none)], outside), "IMP010 python3*.dll");
}

#[test]
fn forwards_lead_somewhere_and_never_in_a_circle() {
    let f = |to| exporting(&[("f", Export::Forward(to))]).dll(ARM64);
    one(
        &windows(&[("f.dll", f("gone.f"))], json!({})),
        "IMP009 f.dll(gone.f): ",
    );
    one(&windows(&[("f.dll", f("nothing"))], json!({})), "IMP009");
    let g = ("g.dll", exporting(&[("g", Export::Code)]).dll(ARM64));
    one(
        &windows(&[("f.dll", f("g.f")), g.clone()], json!({})),
        "IMP009 f.dll(g.f): g.dll does not",
    );
    assert!(windows(&[("f.dll", f("g.g")), g.clone()], json!({})).is_empty());
    let far = ("h.dll", f("g.#1"));
    assert!(windows(&[far.clone(), g.clone()], json!({})).is_empty());
    let through = [("f.dll", f("h.#1")), far, g.clone()];
    assert!(windows(&through, json!({})).is_empty());
    one(
        &windows(&[("f.dll", f("g.#7")), g.clone()], json!({})),
        "IMP009 f.dll(g.#7): g.dll does not have #7",
    );
    let beyond = windows(&[("f.dll", f("h.#1")), ("h.dll", f("g.#7")), g], json!({}));
    assert_eq!(
        beyond.len(),
        2,
        "where it stands, and who relies on it: {beyond:#?}"
    );
    let circle = windows(&[("f.dll", f("g.f")), ("g.dll", f("f.f"))], json!({}));
    assert_eq!(circle.len(), 2, "{circle:#?}");
    assert!(circle[0].contains("lead on"), "{circle:#?}");
}

#[test]
fn libraries_that_import_each_other_are_fine() {
    let both = |dll, name| Pe {
        imports: vec![(dll, vec![name])],
        exports: vec![("f", Export::Code)],
        ..Pe::default()
    };
    let files = [
        ("a.dll", both("b.dll", "f").dll(ARM64)),
        ("b.dll", both("a.dll", "f").dll(ARM64)),
    ];
    assert!(windows(&files, json!({})).is_empty());
}

#[test]
fn a_table_that_cannot_be_read_is_a_finding_and_its_file_is_not_inspected() {
    let mut bytes = importing("gone.dll", &["f"]).dll(ARM64);
    let at = fixture::PE_DIRECTORIES + 8;
    bytes[at..at + 4].copy_from_slice(&0x00ff_0000_u32.to_le_bytes());
    let report = Tree::new(&[("a.dll", bytes)]).inspect("imports", WINDOWS, json!({}));
    one(
        &findings(&report),
        "GEN004 a.dll: cut or damaged import table",
    );
    assert_eq!(report.counts.inspected, 0);
}

#[test]
fn members_of_a_wheel_find_their_neighbours_and_what_the_policy_adds() {
    let wheel = fixture::zip(&[
        ("p/m.pyd", &importing("f.dll", &["f"]).dll(ARM64)),
        ("p/f.dll", &exporting(&[("f", Export::Code)]).dll(ARM64)),
        ("p/n.pyd", &importing("g-1a2b.dll", &["g"]).dll(ARM64)),
        (
            "p.libs/g-1a2b.dll",
            &exporting(&[("g", Export::Code)]).dll(ARM64),
        ),
    ])
    .unwrap();
    let files = [("p-1.whl", wheel)];
    one(
        &windows(&files, json!({})),
        "IMP003 p-1.whl!p/n.pyd(g-1a2b.dll)",
    );
    assert!(windows(&files, json!({"search": [{"dir": "**/p.libs"}]})).is_empty());
}

fn linux(files: &[(&str, Vec<u8>)]) -> Vec<String> {
    findings(&Tree::new(files).inspect("imports", LINUX, json!({})))
}

#[test]
fn linux_looks_in_the_runpath_and_not_beside_the_library() {
    let needing = |runpath| Elf {
        needed: vec!["libc.so.6", "libx.so.1"],
        runpath,
        ..Elf::default()
    };
    let x = ("own/lib/libx.so.1", Elf::default().shared(62));
    let at = |name, runpath| [x.clone(), (name, needing(runpath).shared(62))];
    one(
        &linux(&at("own/lib/a.so", None)),
        "IMP003 own/lib/a.so(libx.so.1): ",
    );
    assert!(linux(&at("own/bin/a", Some("$ORIGIN/../lib"))).is_empty());
    assert!(linux(&at("opt/a.so", Some("/own/lib"))).is_empty());
    let found = linux(&[
        ("opt/libx.so.1", Elf::default().shared(62)),
        ("opt/a.so", needing(Some("$ORIGIN/lib")).shared(62)),
    ]);
    one(&found, "IMP003 opt/a.so(libx.so.1): ");
    let found = linux(&[
        ("opt/libx.so.1", Elf::default().shared(183)),
        ("opt/a.so", needing(Some("$ORIGIN")).shared(62)),
    ]);
    one(&found, "IMP002 opt/a.so(libx.so.1): ");
}

#[test]
fn a_library_that_is_named_by_its_path_is_nowhere_else() {
    let look = |needed| {
        let app = Elf {
            needed: vec![needed],
            runpath: Some("$ORIGIN"),
            ..Elf::default()
        };
        linux(&[
            ("own/bin/app", app.shared(62)),
            ("own/bin/libx.so.1", Elf::default().shared(62)),
            ("own/lib/libx.so.2", Elf::default().shared(62)),
            ("libx.so.3", Elf::default().shared(62)),
        ])
    };
    for there in [
        "$ORIGIN/../lib/libx.so.2",
        "${ORIGIN}/libx.so.1",
        "/own/lib/libx.so.2",
        "/libx.so.3",
    ] {
        assert_eq!(look(there), [""; 0], "{there}");
    }
    for aside in [
        "$ORIGIN/../libx.so.2",
        "/own/libx.so.1",
        "/libx.so.1",
        "./libx.so.1",
        "lib/libx.so.2",
    ] {
        one(&look(aside), "IMP003 own/bin/app(");
    }
}

#[test]
fn an_rpath_holds_for_what_is_loaded_on_its_account_and_a_runpath_does_not() {
    const LIBS: Option<&str> = Some("$ORIGIN/../libs");
    let needing = |needed: &'static str| Elf {
        needed: vec![needed],
        ..Elf::default()
    };
    let old = |needed| Elf {
        rpath: LIBS,
        ..needing(needed)
    };
    let new = |needed| Elf {
        runpath: LIBS,
        ..needing(needed)
    };
    let look = |app: Elf, a: Elf, more: &[(&str, Elf)]| {
        let (b, c) = (needing("libc-own.so"), needing("liba.so"));
        let mut files = vec![
            ("bin/app", app.shared(62)),
            ("libs/liba.so", a.shared(62)),
            ("libs/libb.so", b.shared(62)),
            ("libs/libc-own.so", c.shared(62)),
        ];
        files.extend(more.iter().map(|(name, elf)| (*name, elf.shared(62))));
        linux(&files)
    };
    let a = || needing("libb.so");
    assert_eq!(look(old("liba.so"), a(), &[]), [""; 0]);
    assert_eq!(look(new("liba.so"), a(), &[]).len(), 3);
    // One with a RUNPATH of its own looks there alone, and hands on what it was handed.
    let own = Elf {
        runpath: Some("$ORIGIN/none"),
        ..a()
    };
    let found = look(old("liba.so"), own, &[]);
    assert!(
        found[0].starts_with("IMP003 libs/liba.so(libb.so): "),
        "{found:?}"
    );
    let own = Elf {
        runpath: Some("$ORIGIN"),
        ..a()
    };
    assert_eq!(look(old("liba.so"), own, &[]), [""; 0]);
    // Another program that loads it hands on nothing.
    let found = look(old("liba.so"), a(), &[("bin/other", new("liba.so"))]);
    assert!(
        found[0].starts_with("IMP003 libs/liba.so(libb.so): "),
        "{found:?}"
    );
    assert_eq!(
        look(old("liba.so"), a(), &[("bin/other", old("liba.so"))]),
        [""; 0]
    );
}

#[test]
fn a_version_that_the_library_does_not_define_is_found() {
    let needing = Elf {
        needed: vec!["libx.so.1"],
        runpath: Some("$ORIGIN"),
        needs: vec![("libx.so.1", vec!["X_1", "X_2"])],
        ..Elf::default()
    };
    let x = Elf {
        defines: vec!["libx.so.1", "X_1"],
        ..Elf::default()
    };
    let found = linux(&[("a.so", needing.shared(62)), ("libx.so.1", x.shared(62))]);
    one(
        &found,
        "IMP004 a.so(libx.so.1): libx.so.1 does not have X_2 (of 2)",
    );
}

#[cfg(unix)]
#[test]
fn a_link_in_the_tree_leads_to_its_library() {
    let needing = Elf {
        needed: vec!["libx.so.1"],
        runpath: Some("$ORIGIN"),
        ..Elf::default()
    };
    let tree = Tree::new(&[
        ("a.so", needing.shared(62)),
        ("libx.so.1.2", Elf::default().shared(62)),
    ]);
    one(
        &findings(&tree.inspect("imports", LINUX, json!({}))),
        "IMP001",
    );
    let at = |name: &str| tree.0.path().join(name);
    std::os::unix::fs::symlink("libx.so.1.2", at("between")).unwrap();
    std::os::unix::fs::symlink("/between", at("libx.so.1")).unwrap();
    std::os::unix::fs::symlink("loop", at("loop")).unwrap();
    assert!(findings(&tree.inspect("imports", LINUX, json!({}))).is_empty());
}

#[cfg(unix)]
#[test]
fn a_search_path_leads_through_links_to_directories() {
    let needing = |runpath| Elf {
        needed: vec!["libx.so.1"],
        runpath,
        ..Elf::default()
    };
    let tree = Tree::new(&[
        ("bin/a", needing(Some("/opt/app/current/lib")).shared(62)),
        ("bin/b", needing(Some("$ORIGIN/../lib64/own")).shared(62)),
        ("bin/c", needing(None).shared(62)),
        ("opt/app/1.2/lib/libx.so.1", Elf::default().shared(62)),
    ]);
    let at = |name: &str| tree.0.path().join(name);
    let look = || findings(&tree.inspect("imports", LINUX, json!({})));
    assert_eq!(look().len(), 3);
    let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, at(name)).unwrap();
    link("1.2", "opt/app/current");
    one(&look()[1..], "IMP003 bin/c(libx.so.1)");
    link("opt/app/current", "lib64");
    std::fs::create_dir(at("usr")).unwrap();
    link("../opt/app/current/lib", "usr/lib");
    link("lib", "opt/app/1.2/own");
    assert_eq!(look(), [""; 0]);
}
