//! The gate `census` on small trees: who built what, who must have, and who may not.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

use std::fs;
use std::process::Command;

use gates::fixture::{self, ARM64, traced_dll, traced_elf};
use serde_json::{Value, json};

struct Ran {
    code: i32,
    text: String,
    report: Value,
}

fn census(target: &str, files: &[(&str, Vec<u8>)], more: &[&str]) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("tree");
    for (name, bytes) in files {
        let path = tree.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let report = dir.path().join("report.json");
    let output = Command::new(env!("CARGO_BIN_EXE_lanegate"))
        .args(["census", "--target", target, "--least", "1", "--root"])
        .arg(format!("{}=", tree.display()))
        .arg("--report")
        .arg(&report)
        .args(more)
        .output()
        .unwrap();
    let report = fs::read(&report).unwrap_or_default();
    Ran {
        code: output.status.code().unwrap(),
        text: String::from_utf8(output.stderr).unwrap(),
        report: serde_json::from_slice(&report).unwrap_or_default(),
    }
}

fn demand(key: &str, value: Value) -> String {
    format!("{key}={value}")
}

/// Two images of one build, and one of another.
fn images() -> Vec<(&'static str, Vec<u8>)> {
    let ours = traced_dll(ARM64, &[(261, 33808)], Some(r"C:\src\ours\a.pdb"));
    let theirs = traced_dll(ARM64, &[(261, 30795)], Some(r"D:\a\_work\1\s\b.pdb"));
    vec![
        ("bin/a.dll", ours.clone()),
        ("bin/c.dll", ours),
        ("bin/b.dll", theirs),
    ]
}

#[test]
fn a_tree_is_counted_by_who_built_it() {
    let ran = census("windows/arm64", &images(), &[]);
    assert_eq!(ran.code, 0, "{}", ran.text);
    let classes = &ran.report["counts"]["by-class"];
    assert_eq!(classes["rich 261.33808"], 2);
    assert_eq!(classes["known"], 3);
    assert_eq!(
        classes["pdb C:\\src\\ours\\a.pdb"],
        Value::Null,
        "each has its own"
    );
}

#[test]
fn an_image_of_another_build_is_a_finding() {
    let is = demand(
        "expected",
        json!([{ "of": "bin/**", "is": ["rich 261.33808", r"pdb c:\src\**"] }]),
    );
    let ran = census("windows/arm64", &images(), &["--demand", &is]);
    insta::assert_snapshot!(format!("exit {}\n{}", ran.code, ran.text));
}

#[test]
fn a_file_that_tells_nothing_is_not_what_was_expected() {
    let is = demand("expected", json!([{ "is": ["rich 261.*"] }]));
    let files = [
        ("a.dll", traced_dll(ARM64, &[(261, 1)], None)),
        ("b.dll", fixture::dll(ARM64)),
    ];
    let ran = census("windows/arm64", &files, &["--demand", &is]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.text
            .contains("CEN001 b.dll: found nothing, expected rich 261.*"),
        "{}",
        ran.text
    );
    assert!(!ran.text.contains("CEN001 a.dll"), "{}", ran.text);
}

#[test]
fn what_may_not_build_is_found_in_zips_too() {
    let elf = traced_elf(183, &["GCC: (Debian 12.2.0-14) 12.2.0"], &[1; 20]);
    let wheel = fixture::zip(&[("m.so", &elf), ("m.py", b"GCC: (")]).unwrap();
    let is = demand(
        "forbidden",
        json!([{ "is": ["comment gcc: (debian**"], "why": "not our compiler" }]),
    );
    let ran = census("linux/arm64", &[("x.whl", wheel)], &["--demand", &is]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.text);
}

#[test]
fn marks_are_found_in_any_encoding_and_named() {
    let wide: Vec<u8> = r"D:\a\_work\1\s"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let foreign = [fixture::dll(ARM64), wide].concat();
    let files = [("a.dll", foreign), ("b.dll", fixture::dll(ARM64))];
    let marks = format!("marks={}", json!({ "agent": r"D:\a\_work\1\s" }));
    let is = demand(
        "forbidden",
        json!([{ "is": ["mark agent"], "why": "of a hosted machine" }]),
    );
    let ran = census("windows/arm64", &files, &["--ask", &marks, "--demand", &is]);
    assert!(
        ran.text
            .starts_with("error: CEN002 a.dll: mark agent: of a hosted machine\n"),
        "{}",
        ran.text
    );
    assert_eq!(ran.report["findings"].as_array().unwrap().len(), 1);
}

#[test]
fn a_key_that_fits_nothing_is_a_finding() {
    for (key, value, subject) in [
        (
            "expected",
            json!([{ "of": "lib/*", "is": ["rich *"] }]),
            "lib/*",
        ),
        ("expected", json!([{ "is": ["rich *", "go **"] }]), "go **"),
        (
            "forbidden",
            json!([{ "of": "lib/*", "is": ["rich *"], "why": "x" }]),
            "lib/*",
        ),
    ] {
        let ran = census(
            "windows/arm64",
            &images(),
            &["--demand", &demand(key, value)],
        );
        assert_eq!(ran.code, 1, "{subject}");
        assert!(
            ran.text.starts_with(&format!("error: CEN003 {subject}: ")),
            "{}",
            ran.text
        );
    }
}

#[test]
fn an_image_that_cannot_be_read_is_not_one_without_traces() {
    let whole = traced_dll(ARM64, &[(261, 33808)], None);
    let ran = census(
        "windows/arm64",
        &[("a.dll", whole[..whole.len() - 1].to_vec())],
        &[],
    );
    assert_eq!(ran.code, 1);
    assert!(
        ran.text.contains("GEN004 a.dll: cut or damaged PE image"),
        "{}",
        ran.text
    );
}

#[test]
fn keys_that_mean_nothing_are_wrong_usage() {
    for (option, value) in [
        ("--demand", demand("expected", json!([{ "is": [] }]))),
        (
            "--demand",
            demand("expected", json!([{ "is": ["compiler gcc"] }])),
        ),
        (
            "--demand",
            demand("forbidden", json!([{ "is": ["go **"], "why": " " }])),
        ),
        (
            "--demand",
            demand("forbidden", json!([{ "is": ["go **"] }])),
        ),
        ("--ask", "marks={\"x\":\"short\"}".to_owned()),
    ] {
        let ran = census("windows/arm64", &images(), &[option, &value]);
        assert_eq!(ran.code, 2, "{value}: {}", ran.text);
    }
}
