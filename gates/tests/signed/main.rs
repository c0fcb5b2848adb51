//! The gate `signed`: what a signature must be to count, and whose.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

mod make;

use std::fs;
use std::process::Command;

use gates::arch_table;
use gates::explain;
use gates::fixture::{self, ARM64, I386};
use gates::gate::{Gate, Object};
use gates::name::Name;
use gates::report::Inspected;
use gates::walk::Root;
use make::{Cert, LEAF, LEFT_OUT, ROOT, Signature, signed};
use serde_json::json;

fn inspect(files: &[(&str, &[u8])]) -> Inspected {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    let root = Root {
        path: dir.path().to_owned(),
        label: Name::default(),
    };
    let row = arch_table::row("windows/arm64").unwrap();
    let gate = Gate::named("signed").unwrap();
    gate.inspect(&row, &[root], &Object::new()).unwrap()
}

/// The rules that an image breaks, and why.
fn broken(bytes: &[u8]) -> Vec<String> {
    let report = inspect(&[("a.dll", bytes)]);
    let findings = report.findings.iter();
    findings.map(|f| format!("{}: {}", f.id, f.why)).collect()
}

/// The command on one tree: how it ends, and what it says.
fn run(files: &[(&str, &[u8])], more: &[&str]) -> (i32, String) {
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    let output = Command::new(env!("CARGO_BIN_EXE_lanegate"))
        .args([
            "signed",
            "--target",
            "windows/arm64",
            "--least",
            "1",
            "--root",
        ])
        .arg(format!("{}=", dir.path().display()))
        .args(more)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code().unwrap(), text)
}

fn signers(list: &[(&str, Option<&str>)]) -> String {
    let signer = |(certificate, subject): &(&str, Option<&str>)| match subject {
        Some(subject) => json!({ "certificate": certificate, "subject": subject }),
        None => json!({ "certificate": certificate }),
    };
    format!(
        "signers={}",
        json!(list.iter().map(signer).collect::<Vec<_>>())
    )
}

#[test]
fn a_signature_of_a_named_signer_passes() {
    let image = Signature::default().on(&fixture::dll(ARM64));
    let narrow = Signature::default().on(&{
        let mut bytes = fixture::dll(ARM64);
        bytes.extend(b"five more bytes, and zeros up to a multiple of 8");
        bytes
    });
    let zip = fixture::zip(&[("m.pyd", &image), ("m.py", b"pass")]).unwrap();
    let files: [(&str, &[u8]); 3] = [("a.dll", &image), ("b.dll", &narrow), ("x.whl", &zip)];
    for signer in [
        signers(&[(&ROOT.thumbprint(), None)]),
        signers(&[(&LEAF.thumbprint(), None)]),
        signers(&[(&ROOT.thumbprint(), Some("cn=example"))]),
    ] {
        let (code, text) = run(&files, &["--demand", &signer]);
        assert_eq!(code, 0, "{text}");
    }
    let report = inspect(&files);
    assert_eq!(report.counts.by_class["signed"], 3);
    assert!(
        report
            .counts
            .by_class
            .keys()
            .any(|class| class.ends_with(" CN=Example"))
    );
}

#[test]
fn an_image_without_a_signature_is_a_finding() {
    assert_eq!(
        broken(&fixture::dll(ARM64)),
        ["SIG001: it has no signature"]
    );
    assert_eq!(broken(&fixture::dll(I386)), ["SIG001: it has no signature"]);
}

#[test]
fn no_byte_of_a_signed_image_can_change() {
    let whole = Signature::default().on(&fixture::dll(ARM64));
    let entry = LEFT_OUT[1].start;
    let table = u32::from_le_bytes(whole[entry..entry + 4].try_into().unwrap()) as usize;
    let signer = format!("chain {} CN=Example", LEAF.thumbprint());
    let mut free = Vec::new();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        let report = inspect(&[("a.dll", &bytes)]);
        if !report.findings.is_empty() {
            continue;
        }
        match at < table {
            true => free.push(at),
            // Nobody signs versions, lists that are said again, or the certificate of a root: it
            // has another thumbprint then. The signer stays who it is.
            false => assert!(report.counts.by_class.contains_key(&signer), "{at}"),
        }
    }
    // Without its magic it is no image, and `arch` says so.
    let expected: Vec<usize> = (0..2).chain(LEFT_OUT[0].clone()).collect();
    assert_eq!(free, expected);
}

#[test]
fn no_cut_image_is_signed() {
    let whole = Signature::default().on(&fixture::dll(ARM64));
    for end in (2..whole.len()).step_by(7) {
        let report = inspect(&[("a.dll", &whole[..end])]);
        assert!(!report.counts.by_class.contains_key("signed"), "{end}");
        assert!(end < 64 || !report.findings.is_empty(), "{end}");
    }
}

#[test]
fn bytes_that_no_signature_is_about_are_findings() {
    let dll = fixture::dll(ARM64);
    let mut longer = Signature::default().on(&dll);
    longer.extend(b"payload!");
    assert!(broken(&longer)[0].contains("no signature is about what is between"));
    let hidden = Signature {
        behind: b"hidden payload".to_vec(),
        ..Signature::default()
    };
    assert!(broken(&hidden.on(&dll))[0].contains("behind a signature's end"));
}

#[test]
fn what_does_not_hold_is_told_apart_from_what_is_not_checked() {
    let dll = fixture::dll(ARM64);
    let of = |signature: Signature| broken(&signature.on(&dll)).join("\n");
    let other_key = Signature {
        key: 2,
        ..Signature::default()
    };
    assert_eq!(
        of(other_key),
        "SIG003: the key of its certificate did not make it"
    );
    let altered = |altered| Signature {
        altered,
        ..Signature::default()
    };
    let content = of(altered((true, false)));
    assert!(
        content.contains("SIG003: its content is not what the signer signed"),
        "{content}"
    );
    assert!(content.contains("SIG002"), "{content}");
    assert_eq!(
        of(altered((false, true))),
        "SIG003: the key of its certificate did not make it"
    );
    let serves = Cert {
        code: false,
        ..LEAF
    };
    let serves = Signature {
        certificates: vec![serves, ROOT],
        ..Signature::default()
    };
    assert_eq!(
        of(serves),
        "SIG003: its certificate is not for signing code"
    );
    // A root of the same name and another key.
    let forged = Cert {
        keys: (2, 2),
        ..ROOT
    };
    let forged = Signature {
        certificates: vec![LEAF, forged],
        ..Signature::default()
    };
    assert_eq!(
        of(forged),
        "SIG003: CN=Root did not issue the certificate of CN=Example"
    );
    let sha1 = Signature {
        hash: "1.3.14.3.2.26",
        ..Signature::default()
    };
    assert_eq!(
        of(sha1),
        "SIG005: it is made with SHA-1, which proves nothing"
    );
}

#[test]
fn another_signer_is_a_finding_and_who_signs_nothing_too() {
    let dll = Signature::default().on(&fixture::dll(ARM64));
    let files: [(&str, &[u8]); 1] = [("a.dll", &dll)];
    let (code, text) = run(&files, &["--demand", &signers(&[(&"ab".repeat(32), None)])]);
    insta::assert_snapshot!(format!("exit {code}\n{text}"));
    let both = signers(&[
        (&ROOT.thumbprint(), None),
        (&ROOT.thumbprint(), Some("CN=Gone")),
    ]);
    let (code, text) = run(&files, &["--demand", &both]);
    assert_eq!(code, 1);
    assert!(text.starts_with("error: SIG006 "), "{text}");
    let (code, text) = run(&files, &["--ask", "of=[\"**\",\"bin/*\"]"]);
    assert!(
        code == 1 && text.starts_with("error: SIG006 bin/*: "),
        "{text}"
    );
}

#[test]
fn a_certificate_that_is_no_authority_vouches_for_nobody() {
    let end = Cert {
        subject: "Root",
        issuer: "Root",
        keys: (0, 0),
        ca: false,
        code: true,
    };
    let signature = Signature {
        certificates: vec![LEAF, end],
        ..Signature::default()
    };
    let dll = signature.on(&fixture::dll(ARM64));
    let (code, text) = run(
        &[("a.dll", &dll)],
        &["--demand", &signers(&[(&end.thumbprint(), None)])],
    );
    assert!(code == 1 && text.contains("SIG004"), "{text}");
}

#[test]
fn what_one_signature_says_is_nothing_to_another() {
    // Somebody with a certificate of the same root, who calls himself Example in a second one.
    let other = Cert {
        subject: "Mallory",
        keys: (2, 0),
        ..LEAF
    };
    let own = Cert {
        issuer: "Example",
        keys: (2, 2),
        ..LEAF
    };
    let real = Signature {
        certificates: vec![other, ROOT],
        key: 2,
        ..Signature::default()
    };
    let false_name = Signature {
        certificates: vec![own],
        key: 2,
        ..Signature::default()
    };
    let dll = signed(&fixture::dll(ARM64), &[&real, &false_name]);
    assert_eq!(broken(&dll), Vec::<String>::new());
    let example = signers(&[(&ROOT.thumbprint(), Some("CN=Example"))]);
    let (code, text) = run(&[("a.dll", &dll)], &["--demand", &example]);
    assert!(
        code == 1 && text.contains("SIG004 a.dll: found CN=Example and CN=Mallory"),
        "{text}"
    );
}

#[test]
fn keys_that_mean_nothing_are_wrong_usage() {
    let dll = Signature::default().on(&fixture::dll(ARM64));
    for (option, value) in [
        ("--demand", signers(&[("ABC", None)])),
        (
            "--demand",
            "signers=[{\"subject\":\"CN=Example\"}]".to_owned(),
        ),
        ("--ask", "of=[]".to_owned()),
    ] {
        let (code, text) = run(&[("a.dll", &dll)], &[option, &value]);
        assert_eq!(code, 2, "{value}: {text}");
    }
}

#[test]
fn osslsigncode_says_the_same() {
    use base64::Engine as _;
    let pem = base64::engine::general_purpose::STANDARD.encode(ROOT.der());
    let pem: Vec<&str> = (0..pem.len())
        .step_by(64)
        .map(|at| &pem[at..pem.len().min(at + 64)])
        .collect();
    let pem = format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        pem.join("\n")
    );
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("root.pem"), pem).unwrap();
    let whole = Signature::default().on(&fixture::dll(ARM64));
    let mut patched = whole.clone();
    patched[0x210] ^= 1;
    let altered = Signature {
        altered: (false, true),
        ..Signature::default()
    };
    for (image, right) in [
        (whole, true),
        (patched, false),
        (altered.on(&fixture::dll(ARM64)), false),
    ] {
        fs::write(at("a.dll"), &image).unwrap();
        let ran = Command::new("osslsigncode")
            .args(["verify", "-CAfile"])
            .arg(at("root.pem"))
            .arg("-in")
            .arg(at("a.dll"))
            .output();
        let Ok(output) = ran else {
            eprintln!("not compared: there is no osslsigncode here (Debian has it)");
            return;
        };
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert_eq!(output.status.success(), right, "{text}");
        assert_eq!(broken(&image).is_empty(), right);
    }
}

#[test]
fn explain_tells_who_signed_and_whether_it_holds() {
    let dll = fixture::dll(ARM64);
    let whole = Signature::default().on(&dll);
    let mut patched = whole.clone();
    patched[0x210] ^= 1;
    let other_key = Signature {
        key: 2,
        ..Signature::default()
    }
    .on(&dll);
    let mut longer = whole.clone();
    longer.push(0);
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::new();
    for (name, bytes) in [
        ("whole", whole),
        ("patched", patched),
        ("other", other_key),
        ("longer", longer),
        ("none", dll),
    ] {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let told = explain::text(&explain::file(&path).unwrap(), false);
        let lines = told
            .lines()
            .skip_while(|line| !line.contains("for Windows"));
        let lines: Vec<&str> = lines.skip(1).collect();
        text += &format!("{name}:\n{}\n", lines.join("\n"));
    }
    insta::assert_snapshot!(text);
}
