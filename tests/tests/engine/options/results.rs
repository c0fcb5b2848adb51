//! What comes out, and what is said about it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;

use engine_tests::{docker, layout};
use serde_json::Value;

use super::lab::Lab;

/// The words of a client whose engine keeps images in a graph driver.
const NO_ATTESTATION: &str = "Attestation is not supported for the docker driver";
const NO_LAYOUT: &str = "OCI exporter is not supported for the docker driver";

/// All JSON of a layout: indexes, manifests, configs, statements.
fn documents(place: &Path) -> Vec<Value> {
    let blobs = fs::read_dir(place.join("blobs/sha256")).expect("blobs");
    let blobs = blobs.filter_map(|blob| fs::read(blob.ok()?.path()).ok());
    let found = blobs.filter_map(|bytes| serde_json::from_slice(&bytes).ok());
    found.chain([layout::index(place)]).collect()
}

/// The statements of a layout that have a predicate of a kind.
fn statements(place: &Path, kind: &str) -> Vec<Value> {
    let all = documents(place).into_iter();
    all.filter(|one| {
        one["predicateType"]
            .as_str()
            .is_some_and(|of| of.starts_with(kind))
    })
    .collect()
}

const PROVENANCE: &str = "https://slsa.dev/provenance/";

pub(super) fn annotation(lab: &Lab) {
    lab.build(&["--annotation", "other:a=1"])
        .fail("unknown annotation type \"other\"");
    if !lab.keeps_indexes() {
        let output = format!("type=oci,dest={}", lab.file("o.tar"));
        lab.build(&["--annotation", "a=1", "--output", &output])
            .fail(NO_LAYOUT);
        return;
    }
    let of = |place: &Path, key: &str| -> Vec<(String, String)> {
        let mut found = Vec::new();
        for one in documents(place) {
            let holds = |value: &Value| value["annotations"][key].as_str().map(str::to_owned);
            let kind = if one["manifests"].is_array() {
                "index"
            } else {
                "manifest"
            };
            found.extend(holds(&one).map(|value| (kind.to_owned(), value)));
            for part in one["manifests"].as_array().into_iter().flatten() {
                let kind = format!("{kind}-descriptor");
                found.extend(holds(part).map(|value| (kind, value)));
            }
        }
        found.sort();
        found
    };
    let one = |kind: &str, value: &str| (kind.to_owned(), value.to_owned());
    let single = lab.layout(&[
        "--provenance",
        "false",
        "--annotation",
        "a=1",
        "--annotation",
        "manifest:b=2",
        "--annotation",
        "manifest-descriptor:c=3",
        "--annotation",
        "manifest[linux/amd64]:d=4",
        "--annotation",
        "manifest[linux/arm64]:e=5",
    ]);
    assert_eq!(of(&single, "a"), [one("manifest", "1")]);
    assert_eq!(of(&single, "b"), [one("manifest", "2")]);
    assert_eq!(of(&single, "c"), [one("index-descriptor", "3")]);
    // Engines look those of a platform up among parts by platform, and the one of a lane is no part
    // (`exporter/containerimage/writer.go`: `Platform(nil)`), of whatever frontend it comes.
    assert_eq!(of(&single, "d"), []);
    assert_eq!(of(&single, "e"), []);
    let index = [
        "--annotation",
        "index:f=6",
        "--annotation",
        "index-descriptor:g=7",
    ];
    let wanted = "index annotations not supported for single platform export";
    let output = format!("type=oci,dest={}", lab.file("o.tar"));
    lab.build(&[&index[..], &["--output", &output]].concat())
        .fail(wanted);
    let arm = ["--annotation", "manifest[linux/arm64]:h=8"];
    let group = lab.layout(&[&index[..], &arm, &["--target", "data"]].concat());
    assert_eq!(of(&group, "f"), [one("index", "6")]);
    assert_eq!(of(&group, "g"), [one("index-descriptor", "7")]);
    assert_eq!(of(&group, "h"), [one("manifest", "8")]);
    let parts = ["--build-arg", "BUILDKIT_MULTI_PLATFORM=1"];
    let amd = ["--annotation", "manifest[linux/amd64]:i=9"];
    let part = lab.layout(&[&parts[..], &amd].concat());
    assert_eq!(of(&part, "i"), [one("manifest", "9")]);
    let none = [
        "--annotation",
        "manifest[linux/s390x]:j=10",
        "--target",
        "data",
        "--output",
        &output,
    ];
    lab.build(&none)
        .fail("invalid annotation: no platform linux/s390x found in source");
}

pub(super) fn attest(lab: &Lab) {
    let wish = ["--attest", "type=provenance,mode=max"];
    if !lab.keeps_indexes() {
        lab.build(&wish).fail(NO_ATTESTATION);
        return;
    }
    let place = lab.layout(&[&wish[..], &["--build-arg", "WORD=attested"]].concat());
    let found = statements(&place, PROVENANCE);
    let [provenance] = &found[..] else {
        panic!("{found:?}")
    };
    let text = provenance["predicate"].to_string();
    assert!(text.contains("\"build-arg:WORD\":\"attested\""), "{text}");
    lab.build(&["--attest", "type=other"])
        .fail("unknown attestation type \"other\"");
    let place = lab.layout(&["--attest", "type=provenance,disabled=true"]);
    assert!(statements(&place, PROVENANCE).is_empty());
}

pub(super) fn provenance(lab: &Lab) {
    if !lab.keeps_indexes() {
        lab.build(&["--provenance", "true"]).fail(NO_ATTESTATION);
        lab.build(&["--provenance", "false"]).pass("step ran");
        return;
    }
    let of = |wish: &str| statements(&lab.layout(&["--provenance", wish]), PROVENANCE);
    assert!(of("false").is_empty());
    // Only the long one has the lane file and the steps.
    let names = |wish: &str| {
        let [one] = &of(wish)[..] else {
            panic!("{wish}")
        };
        one.to_string().contains("lanekit/.script/run")
    };
    assert!(!names("mode=min"));
    assert!(names("mode=max"));
}

/// An image that writes an SPDX document with what it found, as BuildKit's scanners do.
const SCANNER: &str = r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "scanner"
[lane.l]
platform = "linux/amd64"
output.image = { stage = "scanner" }
[stage.scanner]
from = { image = "busybox:1.36" }
image.entrypoint = ["/bin/sh", "/scan"]
[[stage.scanner.step]]
name = "scan"
write = { path = "/scan", text = """
found=$(cat $BUILDKIT_SCAN_SOURCE/out/made)
echo "{\\"_type\\":\\"https://in-toto.io/Statement/v0.1\\",\\"predicateType\\":\\"https://spdx.dev/Document\\",\\"predicate\\":{\\"found\\":\\"$found\\"}}" > $BUILDKIT_SCAN_DESTINATION/x.spdx.json
""" }
"#;

pub(super) fn sbom(lab: &Lab) {
    lab.build(&["--sbom", "false"]).pass("step ran");
    if !lab.keeps_indexes() {
        lab.build(&["--sbom", "true"]).fail(NO_ATTESTATION);
        return;
    }
    let Some(registry) = lab.registry("--sbom") else {
        return;
    };
    let scanner = format!("{registry}/lanekit/scanner:{}", lab.word);
    let made = engine_tests::Example::of(SCANNER);
    let push = ["--push", "--provenance", "false", "--tag", &scanner];
    lab.of(made.path(), &push, &[]).pass("pushing manifest");
    let wish = format!("generator={scanner}");
    for wish in [
        ["--sbom", &wish],
        ["--attest", &format!("type=sbom,{wish}")],
    ] {
        let found = statements(&lab.layout(&wish), "https://spdx.dev/Document");
        let [document] = &found[..] else {
            panic!("{found:?}")
        };
        assert_eq!(document["predicate"]["found"], "input");
    }
    lab.build(&["--sbom", &format!("generator={registry}/lanekit/none:1")])
        .fail("/lanekit/none:1: not found");
}

pub(super) fn iidfile(lab: &Lab) {
    let file = lab.file("iid");
    lab.loaded(&["--iidfile", &file], |name| {
        let id = fs::read_to_string(&file).expect("an id");
        assert_eq!(id, lab.inspect(name, "{{.Id}}"));
    });
}

pub(super) fn label(lab: &Lab) {
    lab.loaded(
        &["--label", "org.x=labelled", "--label", "org.z="],
        |name| {
            let label =
                |key: &str| lab.inspect(name, &format!("{{{{index .Config.Labels \"{key}\"}}}}"));
            assert_eq!(label("org.x"), "labelled");
            assert_eq!(label("org.y"), "the file's");
            let all = lab.inspect(name, "{{json .Config.Labels}}");
            assert!(all.contains("\"org.z\":\"\""), "{all}");
        },
    );
}

pub(super) fn load(lab: &Lab) {
    lab.loaded(&["--load"], |name| {
        let run = ["run", "--rm", "--network", "none", name, "cat", "/out/made"];
        assert_eq!(docker(lab.engine, &run), "input\n");
    });
}

pub(super) fn tag(lab: &Lab) {
    let second = format!("options-too:{}", lab.word);
    lab.loaded(&["--tag", &second], |name| {
        let tags = lab.inspect(name, "{{.RepoTags}}");
        assert!(tags.contains(name) && tags.contains(&second), "{tags}");
    });
    docker(lab.engine, &["image", "rm", &second]);
    lab.build(&["--tag", "UPPER"]).fail("invalid tag \"UPPER\"");
}

pub(super) fn metadata_file(lab: &Lab) {
    let file = lab.file("metadata");
    let of = |target: &str, ran: &str| -> Value {
        lab.build(&["--metadata-file", &file, "--target", target])
            .pass(ran);
        let text = fs::read_to_string(&file).expect("metadata");
        serde_json::from_str(&text).expect("JSON")
    };
    let verdict = |metadata: &Value| metadata["frontend.lanekit.publishable"].clone();
    let data = of("data-amd64/image", "[data");
    assert_eq!(verdict(&data)["publishable"], true);
    // Its base came by a named context, as in all of these builds.
    let image = of("l/image", "[app/say]");
    let why = "a named context stands in for image `busybox:1.36`";
    assert_eq!(verdict(&image)["why"], serde_json::json!([why]));
    assert_eq!(image["frontend.lanekit.keys"]["lane"], "l");
    assert!(image["buildx.build.ref"].is_string(), "{image}");
    // What is no output is not made to go out.
    let stage = verdict(&of("l/app", "[app/say]"));
    assert_eq!(stage["publishable"], false);
    let no_output = "stage `app` was asked for, which is no output of lane `l`";
    assert_eq!(stage["why"], serde_json::json!([why, no_output]));
}

pub(super) fn output(lab: &Lab) {
    let tree = ["--target", "l/tree"];
    let at = |name: &str| lab.file(name);
    let to = |output: &str| lab.build(&[&tree[..], &["--output", output]].concat());
    let made = |place: &str| fs::read_to_string(format!("{place}/made")).expect("a file");

    to(&format!("type=local,dest={}", at("local"))).pass("exporting to client directory");
    assert_eq!(made(&at("local")), "input\n");
    to(&at("short")).pass("exporting to client directory");
    assert_eq!(made(&at("short")), "input\n");
    to(&format!("type=tar,dest={}", at("tar"))).pass("exporting to client tarball");
    let archive = fs::read(at("tar")).expect("an archive");
    let mut archive = tar::Archive::new(&archive[..]);
    let names = archive.entries().expect("entries").map(|entry| {
        let entry = entry.expect("an entry");
        entry.path().expect("a path").display().to_string()
    });
    assert_eq!(names.collect::<Vec<_>>(), ["made"]);
    let two = [
        &tree[..],
        &[
            "--output",
            &format!("type=local,dest={}", at("two")),
            "--output",
            &format!("type=tar,dest={}", at("two.tar")),
        ],
    ];
    lab.build(&two.concat())
        .pass("exporting to client directory");
    assert_eq!(made(&at("two")), "input\n");
    assert!(fs::exists(at("two.tar")).expect("a directory"));

    let name = format!("options-image:{}", lab.word);
    lab.build(&["--output", &format!("type=image,name={name}")])
        .pass("naming to");
    docker(lab.engine, &["image", "rm", &name]);
    let archives = [
        ("oci", NO_LAYOUT),
        (
            "docker",
            "Docker exporter is not supported for the docker driver",
        ),
    ];
    for (kind, refusal) in archives {
        let said = lab.build(&["--output", &format!("type={kind},dest={}", at(kind))]);
        if lab.keeps_indexes() {
            said.pass("sending tarball");
            assert!(fs::metadata(at(kind)).expect("an archive").len() > 10_000);
        } else {
            said.fail(refusal);
        }
    }
    lab.build(&["--output", "type=other"])
        .fail("exporter \"other\" could not be found");
}

pub(super) fn platform(lab: &Lab) {
    lab.build(&["--platform", "linux/amd64"]).pass("step ran");
    lab.build(&["--platform", "linux/s390x"])
        .fail("lane `l` runs on linux/amd64, not on linux/s390x");
    lab.build(&["--platform", "linux/a b"])
        .fail("platform specifier component must match");
    let place = lab.file("data");
    let to = format!("type=local,dest={place}");
    let group = ["--target", "data", "--output", &to];
    let said = |platform: &str| fs::read_to_string(format!("{place}/{platform}/platform.txt"));
    if !lab.keeps_indexes() {
        lab.build(&[&group[..], &["--platform", "linux/amd64,linux/arm64"]].concat())
            .fail("Multi-platform build is not supported for the docker driver");
        // Without the option the client has no reason to refuse.
        lab.build(&group).pass("exporting");
    } else {
        lab.build(&[&group[..], &["--platform", "linux/amd64,linux/arm64"]].concat())
            .pass("exporting");
        lab.build(&["--platform", "linux/amd64,linux/arm64"])
            .fail("lane `l` runs on linux/amd64, not on linux/arm64");
        lab.build(&["--platform", "linux/amd64,linux/s390x", "--target", "data"])
            .fail("linux/s390x");
        // One by a list, and as an image: an index with the parts that were asked for, in the order of the group.
        let of = |platforms: &str| -> Vec<String> {
            let place = lab.layout(&[
                "--provenance",
                "false",
                "--target",
                "data",
                "--platform",
                platforms,
            ]);
            let index = layout::index(&place);
            let image = layout::json(&place, &index["manifests"][0]);
            let parts = image["manifests"].as_array().into_iter().flatten();
            parts
                .map(|part| {
                    let platform = &part["platform"];
                    let word = |key: &str| platform[key].as_str().unwrap_or_default().to_owned();
                    format!("{}/{}", word("os"), word("architecture"))
                })
                .collect()
        };
        let both = ["linux/amd64", "linux/arm64"];
        assert_eq!(of("linux/arm64,linux/amd64"), both);
        assert_eq!(of("linux/amd64,linux/arm64,linux/amd64"), both);
        assert_eq!(of("linux/arm64"), ["linux/arm64"]);
    }
    assert_eq!(said("linux_amd64").expect("a file"), "linux/amd64\n");
    assert_eq!(said("linux_arm64").expect("a file"), "linux/arm64\n");
}

pub(super) fn push(lab: &Lab) {
    let Some(registry) = lab.registry("--push") else {
        return;
    };
    let tag = format!("pushed-{}", lab.word);
    let name = format!("{registry}/lanekit/options:{tag}");
    lab.build(&["--push", "--tag", &name]).pass("pushing");
    let mut client = TcpStream::connect(registry).expect("a registry");
    write!(client, "GET /v2/lanekit/options/tags/list HTTP/1.0\r\n\r\n").expect("a request");
    let mut answer = String::new();
    client.read_to_string(&mut answer).expect("an answer");
    assert!(answer.contains(&format!("\"{tag}\"")), "{answer}");
}
