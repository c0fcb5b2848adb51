//! What is built, and from where.

use std::fs;

use engine_tests::{Example, Setup, docker, nonce};

use super::lab::Lab;
use crate::contexts::{here, repository, tar};

/// A stage that starts from an image of the name `assets`, of which it hands on one file.
const SIDE: &str = r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "side"
[lane.l]
platform = "linux/amd64"
output.tree = { stage = "side" }
[stage.side]
from = { image = "assets" }
tree = ["/FILE"]
"#;

pub(super) fn build_context(lab: &Lab) {
    let side = Example::of("");
    let out = side.file("out");
    // What a context holds as `file` comes out.
    let run = |context: &str, file: &str| {
        side.write("lanes.toml", SIDE.replace("FILE", file));
        let context = format!("assets={context}");
        let to = format!("type=local,dest={}", out.display());
        lab.of(
            side.path(),
            &["--build-context", &context, "--output", &to],
            &[],
        )
    };
    let gives = |context: &str, file: &str, text: &str| {
        let _ = fs::remove_dir_all(&out);
        run(context, file).pass("exporting to client directory");
        let given = fs::read_to_string(out.join(file)).expect("the file");
        assert_eq!(given, text, "{context}");
    };

    let text = nonce();
    let directory = Example::of("");
    directory.write("one", &text);
    gives(&directory.path().to_string_lossy(), "one", &text);
    run("nowhere/none", "one").fail("stat nowhere/none: no such file or directory");

    gives(
        &format!("docker-image://{}", Setup::get().busybox),
        "etc/passwd",
        "root:x:0:0:root:/root:/bin/sh\n",
    );
    if lab.keeps_indexes() {
        let layout = lab.layout(&["--target", "data-amd64"]);
        let layout = format!("oci-layout://{}", layout.display());
        gives(&layout, "platform.txt", "linux/amd64\n");
    }
    run("oci-layout:///nowhere", "one").fail("no such file or directory");

    if here("contexts by URL") {
        let (example, server) = repository(&text);
        gives(&server.url("graph.git#v1:sub"), "input.txt", &text);
        run(&server.url("graph.git#v9"), "input.txt")
            .fail("v9")
            .says("repository does not contain ref");
        example.write("files.tar", tar(&[("in-tar", &text)]));
        gives(&server.url("files.tar"), "in-tar", &text);
        // A single file is called so.
        example.write("file", &text);
        gives(&server.url("file"), "context", &text);
        run(&server.url("none.tar"), "one").fail("404");
    }

    of_bake(lab, &side);
    lab.build(&["--build-context", "unused=docker-image://scratch"])
        .pass("nothing of this lane is taken from it");
    lab.build(&["--build-context", "a=docker-image://UPPER"])
        .fail("image reference \"UPPER\" must be");
}

/// `input:`, which is what a client makes of a target that another one builds on.
fn of_bake(lab: &Lab, side: &Example) {
    side.write("lanes.toml", SIDE.replace("FILE", "out/made"));
    let bake = format!(
        "target \"side\" {{\n context = {:?}\n dockerfile = \"lanes.toml\"\n contexts = {{ assets = \"target:app\" }}\n output = [{:?}]\n}}\n\
         target \"app\" {{\n context = {:?}\n dockerfile = \"lanes.toml\"\n target = \"l/image\"\n contexts = {{ \"busybox:1.36\" = \"docker-image://{}\" }}\n}}\n",
        side.path().display().to_string(),
        format!("type=local,dest={}", side.file("baked").display()),
        lab.file(""),
        Setup::get().busybox,
    );
    side.write("bake.hcl", bake);
    let file = side.file("bake.hcl").to_string_lossy().into_owned();
    // It asks whether it may write where the file does not lie.
    let allow = ["--allow", "fs=*"];
    let bake = [&["buildx", "bake", "--file", &file], &allow[..], &["side"]].concat();
    docker(lab.engine, &bake);
    assert_eq!(
        fs::read_to_string(side.file("baked/out/made")).expect("the file"),
        "input\n"
    );
}

pub(super) fn file(lab: &Lab) {
    let other = lab
        .example
        .read("lanes.toml")
        .replace("\"step\"", "\"other\"");
    lab.example.write("other.toml", other);
    lab.build(&["--file", &lab.file("other.toml")])
        .pass("other ran");
    lab.build(&["--file", &lab.file("none.toml")])
        .fail("no such file or directory");
}

/// The client evaluates policies, and Debian's (0.29 and before) does not know the flag: `client_has` says so in a line
/// `skipped: …`. With a newer client and an engine that asks it, the rest runs.
pub(super) fn policy(lab: &Lab) {
    lab.example.write(
        "deny.rego",
        "package docker\ndefault allow = false\ndecision := {\"allow\": allow}\n",
    );
    let strict = format!("filename={},strict=true", lab.file("deny.rego"));
    if !lab.client_has("--policy", &strict) {
        return;
    }
    let said = lab.build(&["--policy", &strict]);
    assert_ne!(said.code, Some(0), "{said}");
    // The client evaluates it, where the engine asks for it.
    let old = said
        .err
        .contains("strict policy is not supported by the current BuildKit daemon");
    assert!(old || said.err.contains("not allowed by policy"), "{said}");
    lab.build(&["--policy", "disabled=true"]).pass("step ran");
}

pub(super) fn pull(lab: &Lab) {
    let Some(registry) = lab.registry("--pull") else {
        return;
    };
    // One name for two images: the registry has busybox, the store afterwards something else.
    let name = format!("{registry}/lanekit/pulled:{}", lab.word);
    docker(lab.engine, &["tag", &Setup::get().busybox, &name]);
    docker(lab.engine, &["push", "--quiet", &name]);
    docker(lab.engine, &["tag", &Setup::get().clang, &name]);
    lab.example.edit(
        "lanes.toml",
        "echo \"step\" \"ran\"",
        "if [ -e /usr/bin/clang ]; then echo it has=clang; else echo it has=nothing; fi",
    );
    let context = format!("busybox:1.36=docker-image://{name}");
    let file = lab.file("lanes.toml");
    let args = ["--file", &file, "--build-context", &context];
    let args = [&args[..], &["--output", "type=cacheonly"]].concat();
    lab.bare(&args).pass("it has=clang");
    lab.bare(&[&args[..], &["--pull"]].concat())
        .pass("it has=nothing");
    docker(lab.engine, &["image", "rm", &name]);
}

pub(super) fn target(lab: &Lab) {
    lab.build(&["--target", "l/app"]).pass("step ran");
    lab.build(&["--target", "other"]).pass("other ran");
    lab.build(&["--target", "m"]).fail("did you mean `l`");
    lab.build(&["--target", "l/ap"]).fail("did you mean");
}
