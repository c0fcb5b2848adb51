//! What the client does by itself.

use engine_tests::{docker, nonce};

use super::lab::Lab;

pub(super) fn builder(lab: &Lab) {
    lab.build(&["--builder", "default"]).pass("step ran");
    lab.build(&["--builder", "nobody"])
        .fail("no builder \"nobody\" found");
}

pub(super) fn debug(lab: &Lab) {
    // A failure then shows where in the client it was met.
    let wrong = ["--target", "nope"];
    let trace = "github.com/moby/buildkit/client";
    lab.build(&[&wrong[..], &["--debug"]].concat()).fail(trace);
    let plain = lab.build(&wrong).fail("there is no lane `nope`");
    assert!(!plain.err.contains(trace), "{plain}");
}

pub(super) fn progress(lab: &Lab) {
    lab.build(&["--progress", "plain"]).pass("step ran");
    lab.build(&["--progress", "rawjson"])
        .pass("{\"vertexes\":[{\"digest\":\"sha256:");
    for silent in ["quiet", "none"] {
        let said = lab.build(&["--progress", silent]).pass("");
        assert!(!said.err.contains("[app/say]"), "{said}");
    }
    lab.build(&["--progress", "tty"])
        .fail("provided file is not a console");
}

pub(super) fn quiet(lab: &Lab) {
    let word = format!("WORD={}", nonce());
    let said = lab.build(&["--quiet", "--build-arg", &word, "--output", "type=docker"]);
    let said = said.pass("sha256:");
    assert!(!said.err.contains("[app/say]"), "{said}");
    docker(lab.engine, &["image", "rm", said.out.trim()]);
}
