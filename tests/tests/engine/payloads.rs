//! Payloads on an engine: off when absent, the file when present, refused when it is another one.

use engine_tests::{Build, Example, Setup, nonce};
use sha2::{Digest as _, Sha256};

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect()
}

/// More than the engine sends in one message.
fn large() -> Vec<u8> {
    (0..9_000_001_u32).map(|n| n.to_le_bytes()[1]).collect()
}

fn example(payload: &str) -> Example {
    Example::of(&format!(
        r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "payloads"
[payload.sdk]
path = "downloads/sdk-*.bin"
{payload}
[lane.l]
platform = "linux/amd64"
output.image = {{ stage = "all" }}
[stage.all]
from = {{ image = "busybox:1.36" }}
env.NONCE = "{}"
[[stage.all.step]]
name = "always"
network = "none"
run = ["echo", "always"]
[[stage.all.step]]
name = "see"
network = "none"
args = ["SDK=payload.sdk"]
files = [{{ payload = "sdk", at = "/payload" }}]
script = 'echo "sdk=$SDK"; [ "$SDK" = absent ] || sha256sum /payload/*'
[[stage.all.step]]
name = "only"
network = "none"
when = {{ payload.sdk = "present" }}
run = ["echo", "only with it"]
"#,
        nonce()
    ))
}

#[test]
fn absent_is_off_present_is_checked_and_another_file_is_an_error() {
    for engine in Setup::get().engines() {
        let bytes = large();
        let example = example(&format!("sha256 = \"{}\"", hash(&bytes)));
        let downloads = example.path().join("downloads");
        let build = || Build::new(engine, example.path());

        let absent = build().pass();
        assert!(
            absent.all_logs().contains("sdk=absent"),
            "on {}",
            engine.kind
        );
        assert!(!absent.steps_run().contains("all/only"));

        std::fs::create_dir(&downloads).expect("a directory");
        std::fs::write(downloads.join("sdk-9.bin"), b"old").expect("a file");
        std::fs::write(downloads.join("sdk-10.bin"), &bytes).expect("a file");
        // Ignored like all that is no part of the checkout, and looked for all the same.
        std::fs::write(example.path().join(".dockerignore"), "downloads\n").expect("a file");
        let present = build().pass();
        let logs = present.all_logs();
        assert!(logs.contains("sdk=present"), "on {}: {logs}", engine.kind);
        let line = format!("{}  /payload/sdk-10.bin", hash(&bytes));
        assert!(logs.contains(&line), "on {}: {logs}", engine.kind);
        let ran = present.steps_run();
        assert!(
            ran.contains("all/only") && !ran.contains("all/always"),
            "{ran:?}"
        );
        assert!(build().pass().steps_run().is_empty(), "on {}", engine.kind);

        std::fs::write(downloads.join("sdk-10.bin"), b"another").expect("a file");
        let refused = build().fail().errors;
        for part in [
            "LK021",
            "downloads/sdk-10.bin",
            &hash(&bytes),
            &hash(b"another"),
        ] {
            assert!(
                refused.contains(part),
                "{part} on {}: {refused}",
                engine.kind
            );
        }
    }
}

#[test]
fn a_payload_without_a_hash_is_measured_and_its_bytes_are_in_the_key() {
    for engine in Setup::get().engines() {
        let example = example("empty-ok = \"each user has another\"");
        let downloads = example.path().join("downloads");
        std::fs::create_dir(&downloads).expect("a directory");
        let write =
            |bytes: &[u8]| std::fs::write(downloads.join("sdk-1.bin"), bytes).expect("a file");
        let build = || Build::new(engine, example.path()).pass();
        write(b"one");
        let first = build();
        let keys = first.metadata["frontend.lanekit.keys"]["payloads"]["sdk"].clone();
        assert_eq!(keys["sha256"], hash(b"one"), "on {}: {keys}", engine.kind);
        assert!(build().steps_run().is_empty());
        write(b"two");
        assert!(
            build().steps_run().contains("all/see"),
            "on {}",
            engine.kind
        );
    }
}
