//! Signatures that their makers made, as osslsigncode and openssl read them.

use std::fs;
use std::path::{Path, PathBuf};

use gates::explain::{self, Facts, Signed};

use super::{corpora, files, tool};

/// The signatures of an image as lanegate sees them.
fn ours(path: &Path) -> Vec<Signed> {
    let mut file = explain::file(path).unwrap();
    match file.parts.remove(0).facts {
        Facts::Pe(pe) => pe.signatures,
        _ => panic!("{}: no image", path.display()),
    }
}

/// A tool's output. What osslsigncode ends with depends on the roots that the machine trusts.
fn said(name: &str, dir: &Path, args: &[&str]) -> (bool, String) {
    let output = tool(name).current_dir(dir).args(args).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), text)
}

/// Of each signature: whether it is about the image's bytes, and whose it is, as `/C=US/O=…`.
fn theirs(path: &Path) -> Vec<(bool, String)> {
    let dir = path.parent().unwrap();
    let (_, text) = said(
        "osslsigncode",
        dir,
        &["verify", "-in", path.to_str().unwrap()],
    );
    let signature = |text: &str| {
        let after = |word: &str| -> String {
            let line = text.lines().find_map(|line| line.trim().strip_prefix(word));
            line.unwrap_or_else(|| panic!("no {word}: {text}"))
                .trim_start_matches([' ', ':'])
                .trim()
                .to_owned()
        };
        // It says nothing of who made a signature of other bytes.
        match after("Current message digest") == after("Calculated message digest") {
            true => (true, after("Subject:")),
            false => (false, String::new()),
        }
    };
    text.split("Signature Index:")
        .skip(1)
        .map(signature)
        .collect()
}

/// `CN=a,O=b` → `/O=b/CN=a`.
fn slashed(name: &str) -> String {
    name.split(',')
        .rev()
        .map(|part| format!("/{part}"))
        .collect()
}

/// Every library of Microsoft's run-time.
fn images(to: &Path) -> Vec<PathBuf> {
    for wheel in files(&corpora().join("signed/wheels")) {
        let mut zip = zip::ZipArchive::new(fs::File::open(wheel).unwrap()).unwrap();
        zip.extract(to).unwrap();
    }
    let mut all = files(to);
    all.retain(|path| path.extension().is_some_and(|extension| extension == "dll"));
    all
}

/// Shim's two signatures lie one behind the other, which osslsigncode calls corrupted; the image
/// was checked by every firmware that starts it.
#[test]
fn two_entries_in_the_table_of_signatures_both_count() {
    let file = corpora().join("signed/debian/usr/lib/shim/shimx64.efi.signed");
    let read = ours(&file);
    let signers: Vec<&str> = read.iter().map(|s| s.chain[0].subject.as_str()).collect();
    assert_eq!(signers.len(), 2, "{signers:?}");
    for signature in &read {
        assert!(
            signature.of_these_bytes && signature.problem.is_none(),
            "{signers:?}"
        );
        assert!(signature.chain[0].subject.contains("UEFI"), "{signers:?}");
    }
}

#[test]
fn osslsigncode_reads_the_same_digests_and_signers() {
    let dir = tempfile::tempdir().unwrap();
    let (mut signatures, mut nested) = (0, 0);
    for path in images(dir.path()) {
        let read = ours(&path);
        let shown = path.display();
        for signature in &read {
            assert_eq!(signature.problem, None, "{shown}");
        }
        let pair = |s: &Signed| (s.of_these_bytes, slashed(&s.chain[0].subject));
        assert_eq!(
            read.iter().map(pair).collect::<Vec<_>>(),
            theirs(&path),
            "{shown}"
        );
        assert!(read.iter().all(|s| s.of_these_bytes), "{shown}");
        signatures += read.len();
        nested += read.len() - 1;
        // One bit of what is signed.
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 3;
        bytes[middle] ^= 1;
        let patched = dir.path().join("patched");
        fs::write(&patched, bytes).unwrap();
        let read = ours(&patched);
        let others: Vec<bool> = theirs(&patched).into_iter().map(|(same, _)| same).collect();
        let own: Vec<bool> = read.iter().map(|s| s.of_these_bytes).collect();
        assert_eq!(own[0], others[0], "{shown}");
        assert!(read.iter().all(|s| !s.of_these_bytes), "{shown}");
    }
    println!("{signatures} signatures, {nested} of them nested");
    assert!(signatures > 20 && nested > 10, "{signatures}, {nested}");
}

#[test]
fn openssl_finds_the_same_certificates_and_the_same_chain() {
    let dir = tempfile::tempdir().unwrap();
    let mut chains = 0;
    for path in images(&dir.path().join("all")) {
        let text = path.to_str().unwrap();
        let _ = fs::remove_file(dir.path().join("s.pem"));
        let (right, text) = said(
            "osslsigncode",
            dir.path(),
            &["extract-signature", "-pem", "-in", text, "-out", "s.pem"],
        );
        assert!(right, "{text}");
        let (right, text) = said(
            "openssl",
            dir.path(),
            &["pkcs7", "-in", "s.pem", "-print_certs"],
        );
        assert!(right, "{text}");
        let chain = &ours(&path)[0].chain;
        let end = "-----END CERTIFICATE-----";
        let mut found = Vec::new();
        for (number, pem) in text
            .split_inclusive(end)
            .filter(|pem| pem.contains(end))
            .enumerate()
        {
            let file = format!("{number}.pem");
            fs::write(dir.path().join(&file), pem).unwrap();
            let args = ["x509", "-in", &file, "-noout", "-fingerprint", "-sha256"];
            let (right, text) = said("openssl", dir.path(), &args);
            assert!(right, "{text}");
            let (_, digest) = text.trim().split_once('=').unwrap();
            found.push((digest.replace(':', "").to_lowercase(), file));
        }
        let file = |at: usize| {
            let of = found
                .iter()
                .find(|(digest, _)| *digest == chain[at].certificate);
            &of.unwrap_or_else(|| panic!("{}: not among {found:?}", chain[at].certificate))
                .1
        };
        // No clock: what has expired since stays signed.
        let last = file(chain.len() - 1);
        let verify = |trusted: &str| {
            let args = [
                "verify",
                "-partial_chain",
                "-no_check_time",
                "-trusted",
                trusted,
                file(0),
            ];
            said("openssl", dir.path(), &args).0
        };
        assert!(chain.len() > 1 && verify(last), "{}", path.display());
        chains += 1;
    }
    assert!(chains > 10, "{chains}");
}
