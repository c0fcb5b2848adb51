//! The example `inputs`, built with a server in the place of example.org: repositories, downloads, payloads, a report from
//! outside. All but the step `disk`, which needs a device.

use std::fs;
use std::path::Path;
use std::process::Command;

use engine_tests::{Build, Engine, Example, Setup, nonce};
use sha2::{Digest as _, Sha256};

use crate::contexts::{Server, git, here};
use crate::external::{Tested, report_of};

/// What example.org would have: with the commit of the tag that the example names.
fn site(root: &Path) -> String {
    let file = |path: &str, bytes: &[u8]| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        fs::write(path, bytes).expect("a file");
    };
    file(
        "app/src/install.sh",
        b"mkdir -p \"$1\"\ncp \"$(dirname \"$0\")/selftest\" \"$1\"\n",
    );
    file(
        "app/src/selftest",
        b"echo 'TESTS: passed=44 failed=0 skipped=0'\n",
    );
    file("app/nonce", nonce().as_bytes());
    file("icons/svg/one.svg", b"<svg/>");
    for (name, tag) in [("app", "v2.4.0"), ("icons", "v1")] {
        let work = root.join(name);
        git(&work, &["init", "--quiet", "--initial-branch=main"]);
        git(&work, &["add", "."]);
        git(&work, &["commit", "--quiet", "--message=x"]);
        git(&work, &["tag", tag]);
        let bare = format!("{name}.git");
        git(root, &["clone", "--quiet", "--bare", name, &bare]);
        git(&root.join(bare), &["update-server-info"]);
    }
    file("zlib-1.3.1/README", b"zlib");
    let packed = Command::new("tar")
        .args(["-czf", "zlib-1.3.1.tar.gz", "zlib-1.3.1"])
        .current_dir(root)
        .status();
    assert!(packed.expect("tar").success());
    // What the example has the hash of: a file without a byte.
    file("zlib/1.3.1/LICENSE", b"");
    let head = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(root.join("app"))
        .output()
        .expect("git");
    String::from_utf8_lossy(&head.stdout).trim().to_owned()
}

const TESTED: Tested = Tested {
    target: "amd64/tools",
    program: "opt/tools/selftest",
    report: "reports/device.json",
};

fn built(engine: &Engine) {
    let served = tempfile::tempdir().expect("a directory");
    let commit = site(served.path());
    let server = Server::of(served.path());
    let example = Example::copy("inputs");
    let lanes = example.read("lanes.toml");
    let lanes = lanes.replace("https://example.org/", &server.url(""));
    example.write("lanes.toml", lanes);
    let archive = fs::read(served.path().join("zlib-1.3.1.tar.gz")).expect("the archive");
    let hash: String = Sha256::digest(&archive)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let pins = example.read("versions.env");
    let (before, old) = pins.split_once("ZLIB_SHA256=").expect("the pin");
    example.write(
        "versions.env",
        format!("{before}ZLIB_SHA256={hash}{}", &old[64..]),
    );
    fs::create_dir(example.file("reports")).expect("a directory");
    let licences = tempfile::tempdir().expect("a directory");
    let build = || Build::new(engine, example.path());

    // Without the report nobody knows of the device; it is of the very tree.
    let none = build().fail();
    let said = format!("{}\n{}", none.errors, none.all_logs());
    assert!(said.contains("EXT001 device: "), "{said}");
    report_of(build(), &example, "device", &TESTED);

    // Neither payload is there: then none of what takes them is.
    let (of, with) = (format!("inputs:{}", nonce()), format!("inputs:{}", nonce()));
    let to = |build: Build<'_>, name: &str| {
        build
            .option("--output", format!("type=docker,name={name}"))
            .pass()
    };
    let outcome = to(build(), &of);
    let ran = outcome.steps_run();
    for step in ["app/accelerator", "app/keys", "app/disk"] {
        assert!(!ran.contains(step), "{step}: {ran:?}");
    }
    let gate = &outcome.metadata["frontend.lanekit.gates"]["gates"]["device"];
    assert_eq!(gate["verdict"], "pass", "{}", outcome.metadata);
    let see = |name: &str, script: &str| {
        let run = ["run", "--rm", "--network", "none", name, "sh", "-c", script];
        engine_tests::docker(engine, &run)
    };
    let all = "cat /src/zlib-1.3.1/README /opt/tools/selftest /usr/share/icons/one.svg; wc -c < /usr/share/licences/zlib-licence.txt";
    assert_eq!(
        see(&of, all),
        "zlibecho 'TESTS: passed=44 failed=0 skipped=0'\n<svg/>0\n"
    );
    let label = "{{index .Config.Labels \"org.opencontainers.image.revision\"}}";
    let label = engine_tests::docker(engine, &["image", "inspect", "--format", label, &of]);
    assert_eq!(label.trim(), commit);

    // Both are there.
    let fast = gates::fixture::zip(&[("fast.so", b"fast")]).expect("an archive");
    fs::create_dir(example.file("downloads")).expect("a directory");
    example.write("downloads/accelerator-1.0.zip", fast);
    fs::write(licences.path().join("keys.txt"), b"").expect("a file");
    let context = format!("licences={}", licences.path().display());
    let outcome = to(build().option("--build-context", context), &with);
    assert!(outcome.steps_run().contains("app/accelerator"));
    assert_eq!(
        see(&with, "cat /opt/fast.so; stat -c %a:%s /etc/app/keys.txt"),
        "fast600:0\n"
    );
    for name in [of, with] {
        engine_tests::docker(engine, &["image", "rm", &name]);
    }
}

#[test]
fn the_example_of_inputs_is_built() {
    if !here("repositories and downloads by URL") {
        return;
    }
    for engine in Setup::get().engines() {
        built(engine);
    }
}
