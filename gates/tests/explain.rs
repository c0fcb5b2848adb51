//! `lanegate explain`: what it tells of each format, and how it ends.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

use std::fs;
use std::path::Path;
use std::process::Command;

use gates::explain;
use gates::fixture::{self, AMD64, ARM64, Elf, Export, Pe};
use serde_json::Value;

/// The command on a file of this name and content: how it ends, and what it prints.
fn run(name: &str, bytes: &[u8], more: &[&str]) -> (i32, String, String) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), bytes).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_lanegate"))
        .current_dir(dir.path())
        .args(["explain", name])
        .args(more)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// The text without the digest.
fn shown(name: &str, bytes: &[u8], more: &[&str]) -> String {
    let (code, text, error) = run(name, bytes, more);
    let lines = text.lines().filter(|line| !line.contains("sha256: "));
    let lines: Vec<&str> = lines.collect();
    format!("exit {code}\n{}\n{error}", lines.join("\n"))
}

fn image() -> Vec<u8> {
    let pe = Pe {
        imports: vec![("a.dll", vec!["f", "#7"])],
        delayed: vec![("c.dll", vec!["h"])],
        exports: vec![
            ("run", Export::Code),
            ("table", Export::Data(vec![1, 2])),
            ("away", Export::Forward("d.far")),
            ("", Export::Code),
        ],
        ..Pe::default()
    };
    pe.dll(ARM64)
}

fn shared() -> Vec<u8> {
    let elf = Elf {
        needed: vec!["libc.so.6"],
        soname: Some("libx.so.1"),
        runpath: Some("$ORIGIN/../lib:/opt/lib"),
        needs: vec![("libc.so.6", vec!["GLIBC_2.34"])],
        defines: vec!["libx.so.1", "X_1.0"],
        stack: Some(6),
        data: vec![("table", vec![1, 2, 3])],
        code: vec!["run"],
        ..Elf::default()
    };
    elf.shared(183)
}

fn wheel(image: &[u8]) -> Vec<u8> {
    let metadata = b"Metadata-Version: 2.1\nName: x\nVersion: 1\nRequires-Python: >=3.9\n\
                     Requires-Dist: numpy>=2\n\n";
    let tags = b"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp314-cp314-win_arm64\n\n";
    fixture::zip(&[
        ("x/m.pyd", image),
        ("x/__init__.py", b"pass"),
        ("x-1.dist-info/METADATA", metadata),
        ("x-1.dist-info/WHEEL", tags),
    ])
    .unwrap()
}

#[test]
fn an_image_tells_what_it_imports_and_exports() {
    insta::assert_snapshot!(shown("a.dll", &image(), &[]));
}

#[test]
fn a_shared_object_tells_what_it_asks_of_its_loader() {
    insta::assert_snapshot!(shown("libx.so", &shared(), &[]));
}

#[test]
fn a_wheel_tells_its_tags_and_every_binary_in_it() {
    insta::assert_snapshot!(shown(
        "x-1-cp314-cp314-win_arm64.whl",
        &wheel(&image()),
        &[]
    ));
}

#[test]
fn an_archive_tells_the_machine_of_each_member() {
    let mixed = fixture::archive(&[
        ("arm.obj", &fixture::coff(ARM64)),
        ("intel.obj", &fixture::coff(AMD64)),
        ("notes.txt", b"none"),
    ]);
    insta::assert_snapshot!(shown("m.lib", &mixed, &[]));
}

#[test]
fn code_for_gpus_is_told_by_gpu_wherever_it_lies() {
    let code = |flags| fixture::code_object(flags, 3);
    let (one, other) = (code(0x41), code(0x4e));
    let id = |gpu: &str| format!("hipv4-amdgcn-amd-amdhsa--{gpu}");
    let bundle = fixture::bundle(&[(&id("gfx1100"), &one), (&id("gfx1201"), &other)]);
    let library = fixture::elf_with(62, 3, ".hip_fatbin", &bundle);
    let told = "  code for GPUs:\n    gfx1100: 1\n    gfx1201: 1\n";
    for (name, bytes) in [
        ("libx.so", library.clone()),
        ("x.hipfb", bundle.clone()),
        ("x.lib", fixture::archive(&[("a.o", &library)])),
        ("x.zip", fixture::zip(&[("k/x.hipfb", &bundle)]).unwrap()),
    ] {
        let text = shown(name, &bytes, &[]);
        assert!(text.contains(told) && text.starts_with("exit 0"), "{text}");
    }
    let (_, text, _) = run("x.co", &one, &["--format", "json"]);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["parts"][0]["gpu"]["gfx1100"], 1);
    let wrong = fixture::bundle(&[(&id("gfx1100"), &other)]);
    let text = shown("x.hipfb", &wrong, &[]);
    let error = "error: GPU004 x.hipfb: found gfx1201, expected gfx1100";
    assert!(text.contains(error) && text.starts_with("exit 1"), "{text}");
    let text = shown("libx.so", &library[..library.len() - 300], &[]);
    assert!(text.starts_with("exit 1"), "{text}");
}

#[test]
fn what_cannot_be_read_is_told_and_ends_with_1() {
    let whole = image();
    let cut = &whole[..whole.len() - 1];
    let text = shown("a.dll", cut, &[]);
    assert!(
        text.starts_with("exit 1\n") && text.contains("error: GEN004 a.dll: cut"),
        "{text}"
    );
    let text = shown("a.dll", b"<html>", &[]);
    assert!(
        text.contains("no binary, 6 bytes") && text.starts_with("exit 1"),
        "{text}"
    );
    let text = shown("x.whl", &wheel(&whole), &[]);
    assert!(
        text.contains("error: WHL001 x.whl: no name of a wheel"),
        "{text}"
    );
    assert!(shown("notes.txt", b"text", &[]).starts_with("exit 0"));
}

#[test]
fn long_lists_are_cut_unless_all_is_asked_for() {
    let names: Vec<String> = (0..30).map(|n| format!("f{n}")).collect();
    let names: Vec<&'static str> = names
        .into_iter()
        .map(|name| &*Box::leak(name.into_boxed_str()))
        .collect();
    let bytes = Pe {
        imports: vec![("a.dll", names)],
        ..Pe::default()
    }
    .dll(ARM64);
    let short = shown("a.dll", &bytes, &[]);
    assert!(
        short.contains("f19\n    and 10 more (--all shows them)"),
        "{short}"
    );
    let all = shown("a.dll", &bytes, &["--all"]);
    assert!(all.contains("f29") && !all.contains("more"), "{all}");
}

#[test]
fn json_has_everything_with_sorted_keys() {
    let (code, text, _) = run(
        "x-1-cp314-cp314-win_arm64.whl",
        &wheel(&image()),
        &["--format", "json"],
    );
    assert_eq!(code, 0);
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap() + "\n", text);
    assert_eq!(value["schema"], "gate-explain/1");
    assert_eq!(value["wheel"]["tags"][0], "cp314-cp314-win_arm64");
    let part = &value["parts"][0];
    assert_eq!(
        (&part["class"], &part["name"]),
        (
            &"ARM64".into(),
            &"x-1-cp314-cp314-win_arm64.whl!x/m.pyd".into()
        )
    );
    assert_eq!(part["pe"]["imports"][1]["delayed"], true);
    assert_eq!(part["pe"]["exports"][0]["is"], "d.far");
}

#[test]
fn wrong_usage_is_2_and_a_missing_file_4() {
    let end = |args: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_lanegate"))
            .arg("explain")
            .args(args)
            .output()
            .unwrap();
        assert!(output.stdout.is_empty());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(error.lines().count(), 1, "{error}");
        output.status.code().unwrap()
    };
    let here = env!("CARGO_MANIFEST_DIR");
    let file = format!("{here}/Cargo.toml");
    assert_eq!(end(&[]), 2);
    assert_eq!(end(&[here]), 2, "a directory");
    assert_eq!(end(&[&file, &file]), 2);
    assert_eq!(end(&[&file, "--format", "xml"]), 2);
    assert_eq!(end(&[&file, "--root", here]), 2);
    assert_eq!(end(&["/no/such/file"]), 4);
    assert_eq!(end(&[&file, "--out", "/no/such/dir/x"]), 4);
}

#[test]
fn no_cut_of_any_file_reads_as_a_whole_one_or_panics() {
    let object = fixture::coff(ARM64);
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("a.dll", image()),
        ("libx.so", shared()),
        ("x-1-cp314-cp314-win_arm64.whl", wheel(&image())),
        (
            "d.lib",
            fixture::archive(&[("a.obj", &object), ("b.obj", &object)]),
        ),
    ] {
        let path = dir.path().join(name);
        let read = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            explain::file(Path::new(&path)).unwrap()
        };
        assert_eq!(read(&bytes).problems, [], "{name}");
        // The magic alone is an archive without members, which exists.
        let whole = |end: &usize| !(name == "d.lib" && *end == 8);
        for end in (0..bytes.len()).filter(whole) {
            let cut = read(&bytes[..end]);
            assert_ne!(cut.problems, [], "{name} cut at {end} of {}", bytes.len());
            assert!(!explain::text(&cut, false).is_empty());
        }
    }
}
