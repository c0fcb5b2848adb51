//! The gate `signed`: what a signature must be to count, and whose.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

mod make;

use std::fs;
use std::path::Path;
use std::process::Command;

use gates::arch_table;
use gates::explain;
use gates::fixture::{self, ARM64, I386};
use gates::gate::{Gate, Object};
use gates::name::Name;
use gates::report::Inspected;
use gates::walk::Root;
use make::{Cert, LEAF, LEFT_OUT, P256, P384, PSS, ROOT, SHA256, Signature, pss, signed};
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

/// A signature by a key of this number, of a chain whose root has the second.
fn by(key: usize, root: usize) -> Signature {
    let leaf = Cert {
        keys: (key, root),
        ..LEAF
    };
    let root = Cert {
        keys: (root, root),
        ..ROOT
    };
    Signature {
        certificates: vec![leaf, root],
        key,
        ..Signature::default()
    }
}

#[test]
fn elliptic_curves_and_pss_hold_as_rsa_does() {
    let dll = fixture::dll(ARM64);
    for (key, root) in [(P256, P384), (P384, P256), (PSS, P384), (P256, 0), (1, PSS)] {
        let signature = by(key, root);
        let whole = signature.on(&dll);
        assert_eq!(broken(&whole), Vec::<String>::new(), "{key} {root}");
        let signer = signers(&[(&signature.certificates[1].thumbprint(), Some("CN=Example"))]);
        let (code, text) = run(&[("a.dll", &whole)], &["--demand", &signer]);
        assert_eq!(code, 0, "{text}");
        let mut patched = whole;
        patched[0x210] ^= 1;
        assert!(broken(&patched)[0].starts_with("SIG002"), "{key}");
        let altered = Signature {
            altered: (false, true),
            ..by(key, root)
        };
        let no = "SIG003: the key of its certificate did not make it";
        assert_eq!(broken(&altered.on(&dll)), [no], "{key}");
        // Another key of the same kind that calls itself the root.
        let mut forged = by(key, root);
        forged.certificates[0].keys.1 = match root {
            P384 | P256 => key,
            _ => 2,
        };
        assert!(
            broken(&forged.on(&dll))[0].starts_with("SIG003"),
            "{key} {root}"
        );
    }
}

#[test]
fn what_a_key_cannot_make_or_nobody_checks_is_a_finding() {
    let dll = fixture::dll(ARM64);
    let of = |key, algorithm: Vec<u8>| {
        let signature = Signature {
            algorithm: Some(algorithm),
            ..by(key, 0)
        };
        broken(&signature.on(&dll)).join("\n")
    };
    let sha1 = "1.3.14.3.2.26";
    let sha384 = "2.16.840.1.101.3.4.2.2";
    insta::assert_snapshot!(
        [
            // A key for PSS alone that signs as PKCS #1 1.5, and one of a curve as PSS.
            of(PSS, by(1, 0).algorithm()),
            of(P256, pss(SHA256, SHA256, 32)),
            of(1, by(P256, 0).algorithm()),
            of(PSS, pss(sha1, sha1, 20)),
            of(PSS, pss(SHA256, sha1, 32)),
            of(PSS, pss(sha384, sha384, 48)),
            of(PSS, pss(SHA256, SHA256, 32)),
            of(PSS, pss(SHA256, sha384, 32)),
            of(PSS, pss(SHA256, SHA256, 300)),
            of(PSS, pss(SHA256, SHA256, 1024)),
        ]
        .join("\n")
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

/// As signed images for old systems begin: with one that proves nothing.
const OLD: &str = "1.3.14.3.2.26";

#[test]
fn a_weak_signature_harms_nothing_beside_one_that_holds() {
    let dll = fixture::dll(ARM64);
    let old = || Signature {
        hash: OLD,
        ..Signature::default()
    };
    let dual = |nested| Signature {
        nested: Some(Box::new(nested)),
        ..old()
    };
    let weak = "SIG005: it is made with SHA-1, which proves nothing";
    let nested = dual(Signature::default()).on(&dll);
    let beside = signed(&dll, &[&old(), &by(P256, P384)]);
    for image in [&nested, &beside] {
        assert_eq!(broken(image), Vec::<String>::new());
        assert_eq!(
            inspect(&[("a.dll", image)]).counts.by_class["signatures"],
            1
        );
        let mut patched = image.clone();
        patched[0x210] ^= 1;
        let found = broken(&patched);
        assert!(found[0].starts_with("SIG002"), "{found:?}");
        assert_eq!(found[1..], [weak]);
    }
    assert_eq!(broken(&dual(old()).on(&dll)), [weak, weak]);
    let altered = || Signature {
        altered: (false, true),
        ..Signature::default()
    };
    let no = "SIG003: the key of its certificate did not make it";
    assert_eq!(broken(&dual(altered()).on(&dll)), [no, weak]);
    // What is wrong and not weak is a finding beside whatever holds.
    let both = signed(&dll, &[&altered(), &Signature::default()]);
    assert_eq!(broken(&both), [no]);
}

/// `UPDATE_SEEDS=1` writes them again.
#[test]
fn the_seeds_of_the_fuzzer_are_signatures_as_they_are_made_here() {
    let dll = fixture::dll(ARM64);
    let dual = Signature {
        hash: OLD,
        nested: Some(Box::new(by(P384, P256))),
        ..Signature::default()
    };
    let seeds = [
        ("dual.dll", dual.on(&dll)),
        ("ecdsa.der", by(P256, P384).der(&[7; 32])),
        ("pss.dll", by(PSS, 0).on(&dll)),
    ];
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../xtask/fuzz-seeds/signed");
    for (name, bytes) in seeds {
        let path = dir.join(name);
        if std::env::var_os("UPDATE_SEEDS").is_some() {
            fs::create_dir_all(&dir).unwrap();
            fs::write(&path, &bytes).unwrap();
        }
        assert!(fs::read(&path).unwrap() == bytes, "{name}: UPDATE_SEEDS=1");
        if name.ends_with(".dll") {
            assert_eq!(broken(&bytes), Vec::<String>::new(), "{name}");
        }
    }
}

#[test]
fn a_certificate_that_stands_there_twice_is_one() {
    // Services that sign do that.
    let signature = Signature {
        certificates: vec![LEAF, ROOT, LEAF, ROOT],
        ..Signature::default()
    };
    assert_eq!(
        broken(&signature.on(&fixture::dll(ARM64))),
        Vec::<String>::new()
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
fn names_are_written_as_rfc_4514_has_them_and_confuse_no_terminal() {
    let leaf = Cert {
        subject: " Example, Inc.\n::error::\u{1b}[31m \u{202e}ö",
        ..LEAF
    };
    let of = |root| Signature {
        certificates: vec![leaf, root],
        ..Signature::default()
    };
    let dll = of(ROOT).on(&fixture::dll(ARM64));
    let name = r"CN=\ Example\, Inc.\0A::error::\1B[31m \E2\80\AEö";
    let signer = signers(&[(&ROOT.thumbprint(), Some(name))]);
    let (code, text) = run(&[("a.dll", &dll)], &["--demand", &signer]);
    assert_eq!(code, 0, "{text}");
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(&file, &dll).unwrap();
    let told = explain::text(&explain::file(file.path()).unwrap(), false);
    assert!(told.contains(&format!("{name} (certificate")), "{told}");
    let hash = Cert {
        subject: "#1 # ",
        ..LEAF
    };
    let dll = Signature {
        certificates: vec![hash, ROOT],
        ..Signature::default()
    }
    .on(&fixture::dll(ARM64));
    let signer = signers(&[(&ROOT.thumbprint(), Some(r"CN=\#1 #\ "))]);
    let (code, text) = run(&[("a.dll", &dll)], &["--demand", &signer]);
    assert_eq!(code, 0, "{text}");
    let forged = Cert {
        keys: (2, 2),
        ..ROOT
    };
    assert_eq!(
        broken(&of(forged).on(&fixture::dll(ARM64))),
        [format!(
            "SIG003: CN=Root did not issue the certificate of {name}"
        )]
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

/// A certificate as text.
fn pem(der: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> = (0..text.len())
        .step_by(64)
        .map(|at| &text[at..text.len().min(at + 64)])
        .collect();
    let lines = lines.join("\n");
    format!("-----BEGIN CERTIFICATE-----\n{lines}\n-----END CERTIFICATE-----\n")
}

/// Runs a tool of Debian's: whether it went well, and what it said. None, and said so, where the
/// tool is not there.
fn tool(name: &str, dir: &Path, args: &str) -> Option<(bool, String)> {
    let ran = Command::new(name)
        .current_dir(dir)
        .args(args.split_whitespace())
        .output();
    let Ok(output) = ran else {
        eprintln!("not compared: there is no {name} here (Debian has it)");
        return None;
    };
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    Some((output.status.success(), text))
}

#[test]
fn osslsigncode_says_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let dll = fixture::dll(ARM64);
    let mut patched = Signature::default().on(&dll);
    patched[0x210] ^= 1;
    let altered = |signature| Signature {
        altered: (false, true),
        ..signature
    };
    let on = |signature: Signature| (signature.on(&dll), signature.certificates[1]);
    for ((image, root), right) in [
        (on(Signature::default()), true),
        ((patched, ROOT), false),
        (on(altered(Signature::default())), false),
        (on(by(P256, P384)), true),
        (on(altered(by(P256, P384))), false),
        (on(by(1, PSS)), true),
    ] {
        fs::write(dir.path().join("root.pem"), pem(&root.der())).unwrap();
        fs::write(dir.path().join("a.dll"), &image).unwrap();
        let args = "verify -CAfile root.pem -in a.dll";
        let Some((success, text)) = tool("osslsigncode", dir.path(), args) else {
            return;
        };
        assert_eq!(success, right, "{text}");
        assert_eq!(broken(&image).is_empty(), right);
    }
}

#[test]
fn what_osslsigncode_signs_holds() {
    for (key, sign) in [
        ("rsa:2048", ""),
        ("rsa:3072", "-sigopt rsa_padding_mode:pss"),
        ("ec -pkeyopt ec_paramgen_curve:P-256", ""),
        ("ec -pkeyopt ec_paramgen_curve:P-384", ""),
    ] {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("a.dll"), fixture::dll(ARM64)).unwrap();
        let make = format!(
            "req -x509 -newkey {key} {sign} -nodes -keyout key.pem -out cert.pem -days 30 \
             -subj /O=Example/CN=Signer -addext extendedKeyUsage=codeSigning"
        );
        let sign = "sign -h sha384 -certs cert.pem -key key.pem -in a.dll -out b.dll";
        for (name, args) in [("openssl", make.as_str()), ("osslsigncode", sign)] {
            match tool(name, dir.path(), args) {
                Some((success, text)) => assert!(success, "{key}: {text}"),
                None => return,
            }
        }
        let mut image = fs::read(dir.path().join("b.dll")).unwrap();
        assert_eq!(broken(&image), Vec::<String>::new(), "{key}");
        image[0x210] ^= 1;
        assert!(broken(&image)[0].starts_with("SIG002"), "{key}");
    }
}

/// A name's parts, however a tool orders those of one set.
fn parts(name: &str) -> Vec<Vec<&str>> {
    let mut sets: Vec<Vec<&str>> = name
        .split(',')
        .map(|set| set.split('+').collect())
        .collect();
    sets.iter_mut().for_each(|set| set.sort_unstable());
    sets
}

#[test]
fn openssl_writes_the_same_names() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.dll"), fixture::dll(ARM64)).unwrap();
    // `x.` is there because openssl takes what stands before the first dot for a number of its own.
    let config = "[req]\nprompt=no\ndistinguished_name=dn\nx509_extensions=ext\n\
        [dn]\nx.1.2.3.4=odd\nC=DE\n+O=Example\nOU=a=b\nCN=Sign;er\n\
        [ext]\nextendedKeyUsage=codeSigning\n";
    fs::write(dir.path().join("config"), config).unwrap();
    for args in [
        "req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 30 -config config",
        "x509 -in cert.pem -noout -subject -nameopt RFC2253,-esc_msb,utf8",
    ] {
        let Some((success, text)) = tool("openssl", dir.path(), args) else {
            return;
        };
        assert!(success, "{text}");
        fs::write(dir.path().join("said"), text).unwrap();
    }
    let sign = "sign -h sha256 -certs cert.pem -key key.pem -in a.dll -out b.dll";
    match tool("osslsigncode", dir.path(), sign) {
        Some((success, text)) => assert!(success, "{text}"),
        None => return,
    }
    let report = inspect(&[("b.dll", &fs::read(dir.path().join("b.dll")).unwrap())]);
    let mut classes = report.counts.by_class.keys();
    let chain = classes
        .find_map(|class| class.strip_prefix("chain "))
        .unwrap();
    let (_, ours) = chain.split_once(' ').unwrap();
    let said = fs::read_to_string(dir.path().join("said")).unwrap();
    let theirs = said.trim().strip_prefix("subject=").unwrap();
    assert_eq!(parts(ours), parts(theirs));
    assert!(theirs.contains("1.2.3.4=#"), "{theirs}");
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
