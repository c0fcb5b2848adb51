//! Whole builds of small lane files against an engine in this process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use frontend::build;
use frontend::gateway::serve;
use llb::proto::gateway::{Result as BuildResult, SolveRequest, result};
use llb::proto::{pb, rpc};
use llb::{Definition, Image, Platform};
use prost::Message;

use crate::fake::{Fake, Script};

const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

pub(crate) const HELLO: &str = r#"# syntax=lanekit/frontend
[graph]
name = "hello"
versions = "versions.env"

[arg.GREETING]
default = "Hello"
about   = "the first word"

[lane.amd64]
platform     = "linux/amd64"
output.image = { stage = "hello" }

[stage.hello]
from      = { image = "busybox:1.36" }
image.cmd = ["cat", "/hello.txt"]

[[stage.hello.step]]
name  = "greet"
args  = ["GREETING", "WHOM=HELLO_WHOM"]
files = ["greet.sh"]
run   = ["sh", "greet.sh"]
"#;

/// The same with a tree and a gate over it.
const GATED: &str = r#"# syntax=lanekit/frontend
[graph]
name = "gated"

[lane.amd64]
platform      = "linux/amd64"
output.bundle = { stage = "lib", root = "/out" }

[stage.lib]
from = { image = "busybox:1.36" }
tree = ["/out"]

[[stage.lib.step]]
name = "make"
run  = ["make"]

[gate.arch]
of    = "lib"
check = "arch"
[[gate.arch.floor]]
inspected = { least = 1, measured = 2, on = 2026-09-02 }
"#;

/// An engine whose client has these texts in the lane file's directory.
pub(crate) fn engine(lane_file: &str) -> Script {
    let config =
        br#"{"os":"linux","architecture":"amd64","config":{"Env":["PATH=/bin"]}}"#.to_vec();
    let images = ["busybox:1.36", "other:1"].map(|name| {
        (
            format!("docker.io/library/{name}"),
            (DIGEST.to_owned(), config.clone()),
        )
    });
    let mut script = Script {
        images: images.into(),
        ..Script::able()
    };
    script.llb_caps = llb::caps::ALL
        .iter()
        .map(|cap| cap.name().to_owned())
        .collect();
    script.file("dockerfile", "lanes.toml", lane_file).file(
        "dockerfile",
        "versions.env",
        "HELLO_WHOM=world\n",
    )
}

/// What a build came to.
pub(crate) struct Ran {
    pub(crate) fake: Fake,
    pub(crate) answer: Result<BuildResult, rpc::Status>,
}

impl Ran {
    pub(crate) fn built(&self) -> &BuildResult {
        self.answer
            .as_ref()
            .unwrap_or_else(|error| panic!("{}", error.message))
    }

    pub(crate) fn refused(&self) -> &rpc::Status {
        self.answer.as_ref().expect_err("it was built")
    }

    /// The Solve whose result was returned.
    pub(crate) fn solved(&self) -> SolveRequest {
        let Some(result::Result::Ref(made)) = &self.built().result else {
            panic!("no ref")
        };
        let number: usize = made.id.strip_prefix("ref-").unwrap().parse().unwrap();
        self.fake.log().solves[number].clone()
    }

    /// The shown names and numbers of the lines that an error is about. One that is about none says so, with a
    /// source that has no lines.
    pub(crate) fn lines(&self) -> Vec<(String, u64)> {
        let details = self.refused().details.iter();
        let sources: Vec<serde_json::Value> = details
            .filter(|detail| detail.type_url.ends_with("Source+json"))
            .map(|detail| serde_json::from_slice(&detail.value).unwrap())
            .collect();
        assert!(!sources.is_empty(), "an engine would attach a whole file");
        let line = |json: &serde_json::Value| {
            let name = json["info"]["filename"].as_str().unwrap().to_owned();
            Some((name, json["ranges"][0]["start"]["line"].as_u64()?))
        };
        sources.iter().filter_map(line).collect()
    }
}

pub(crate) async fn run(script: Script, opts: &[&str]) -> Ran {
    run_in(script, opts, Path::new("/nonexistent")).await
}

async fn run_in(script: Script, opts: &[&str], image: &Path) -> Ran {
    let session = (
        OsString::from("BUILDKIT_SESSION_ID"),
        OsString::from("session-1"),
    );
    let number =
        |(n, opt): (usize, &&str)| (format!("BUILDKIT_FRONTEND_OPT_{n}").into(), opt.into());
    let env: Vec<(OsString, OsString)> = opts
        .iter()
        .enumerate()
        .map(number)
        .chain([session])
        .collect();
    let (fake, io) = Fake::start(script);
    serve(io, async |bridge| build::run(bridge, env, image).await)
        .await
        .unwrap();
    let answer = {
        let log = fake.log();
        let [answer] = &log.returns[..] else {
            panic!("{} answers", log.returns.len())
        };
        answer
            .error
            .clone()
            .map_or_else(|| Ok(answer.result.clone().unwrap()), Err)
    };
    Ran { fake, answer }
}

pub(crate) fn ops(definition: &pb::Definition) -> Vec<pb::Op> {
    definition
        .def
        .iter()
        .map(|op| pb::Op::decode(op.as_slice()).unwrap())
        .collect()
}

pub(crate) fn execs(definition: &pb::Definition) -> Vec<pb::ExecOp> {
    let exec = |op: pb::Op| match op.op {
        Some(pb::op::Op::Exec(exec)) => Some(exec),
        _ => None,
    };
    ops(definition).into_iter().filter_map(exec).collect()
}

pub(crate) fn sources(definition: &pb::Definition) -> Vec<pb::SourceOp> {
    let source = |op: pb::Op| match op.op {
        Some(pb::op::Op::Source(source)) => Some(source),
        _ => None,
    };
    ops(definition).into_iter().filter_map(source).collect()
}

#[tokio::test]
async fn a_lane_file_becomes_an_image_with_config_platform_and_labels() {
    let ran = run(
        engine(HELLO),
        &[
            "filename=lanes.toml",
            "label:org.name=x",
            "build-arg:GREETING=Hi",
        ],
    )
    .await;
    let metadata = &ran.built().metadata;
    let config: serde_json::Value =
        serde_json::from_slice(&metadata["containerimage.config"]).unwrap();
    assert_eq!(
        (&config["os"], &config["architecture"]),
        (&"linux".into(), &"amd64".into())
    );
    assert_eq!(config["config"]["Labels"]["org.name"], "x");
    assert_eq!(config["config"]["Cmd"][1], "/hello.txt");
    assert_eq!(
        String::from_utf8_lossy(&metadata["refs.platforms"]),
        r#"{"Platforms":[{"ID":"linux/amd64","Platform":{"architecture":"amd64","os":"linux"}}]}"#
    );
    assert!(!metadata.contains_key("frontend.lanekit.gates"));
    let solve = ran.solved();
    assert!(solve.evaluate, "a failing step would fail after the answer");
    let definition = solve.definition.unwrap();
    let exec = &execs(&definition)[0];
    let env = &exec.meta.as_ref().unwrap().env;
    assert!(
        env.contains(&"GREETING=Hi".to_owned()) && env.contains(&"WHOM=world".to_owned()),
        "{env:?}"
    );
    let sources = sources(&definition);
    let image = sources
        .iter()
        .find(|source| source.identifier.starts_with("docker-image://"))
        .unwrap();
    assert_eq!(
        image.identifier,
        format!("docker-image://docker.io/library/busybox:1.36@{DIGEST}")
    );
    let context = sources
        .iter()
        .find(|source| source.identifier == "local://context")
        .unwrap();
    assert_eq!(context.attrs["local.session"], "session-1");
    assert_eq!(context.attrs["local.followpaths"], r#"["greet.sh"]"#);
}

#[tokio::test]
async fn the_lane_file_is_read_by_a_source_of_its_own_with_its_pins_in_one_transfer() {
    let ran = run(engine(HELLO), &[]).await;
    let log = ran.fake.log();
    // The lane file with what lies beside it, the context's ignore file, the build.
    assert_eq!(log.solves.len(), 3);
    let definition = log.solves[0].definition.as_ref().unwrap();
    let [source] = &sources(definition)[..] else {
        panic!("not one source")
    };
    assert_eq!(source.identifier, "local://dockerfile");
    assert_eq!(source.attrs["local.session"], "session-1");
    assert_eq!(
        source.attrs["local.followpaths"],
        r#"["lanes.toml","lanes.toml.dockerignore","versions.env"]"#
    );
    assert_eq!(source.attrs["local.sharedkeyhint"], "lanekit-lane-file");
    assert_eq!(source.attrs["local.differ"], "none");
    let metadata = definition
        .metadata
        .values()
        .find(|metadata| !metadata.description.is_empty())
        .unwrap();
    assert_eq!(
        metadata.description["llb.customname"],
        "[internal] load lane file lanes.toml"
    );
}

#[tokio::test]
async fn pins_of_another_name_take_a_second_transfer() {
    let text = HELLO.replace("versions.env", "config/pins.env");
    let script = engine(&text).file("dockerfile", "sub/lanes.toml", text.as_str());
    let script = script.file("dockerfile", "sub/config/pins.env", "HELLO_WHOM=there\n");
    let ran = run(script, &["filename=sub/lanes.toml"]).await;
    assert_eq!(
        ran.fake.log().reads,
        ["sub/lanes.toml", "sub/config/pins.env"]
    );
    assert_eq!(ran.fake.log().solves.len(), 4);
    ran.built();
}

/// The lane file without its stage, and the file that has it.
fn in_two_files() -> (String, String) {
    let (top, stage) = HELLO.split_at(HELLO.find("[stage.hello]").unwrap());
    let include = "name = \"hello\"\ninclude = [\"stages/*.toml\"]";
    (top.replace("name = \"hello\"", include), stage.to_owned())
}

#[tokio::test]
async fn included_files_are_sent_by_pattern_and_build_the_same() {
    let (top, stage) = in_two_files();
    let script = engine(HELLO)
        .file("dockerfile", "sub/lanes.toml", top)
        .file("dockerfile", "sub/versions.env", "HELLO_WHOM=world\n")
        .file("dockerfile", "sub/stages/note.md", "not this")
        .file("dockerfile", "sub/stages/hello.toml", stage);
    let ran = run(script, &["filename=sub/lanes.toml"]).await;
    let steps = |ran: &Ran| {
        let mut ops = ran.solved().definition.unwrap().def;
        ops.sort();
        ops
    };
    let whole = run(engine(HELLO), &["filename=lanes.toml"]).await;
    assert_eq!(steps(&ran), steps(&whole));
    let log = ran.fake.log();
    let sent = log.solves.iter().flat_map(|solve| {
        let ops = &solve.definition.as_ref().unwrap().def;
        ops.iter()
            .filter_map(|op| match pb::Op::decode(op.as_slice()).unwrap().op {
                Some(pb::op::Op::Source(source)) => source.attrs.get("local.followpaths").cloned(),
                _ => None,
            })
    });
    assert!(
        sent.collect::<Vec<_>>()
            .contains(&r#"["sub/lanes.toml","sub/stages/*.toml"]"#.to_owned())
    );
}

#[tokio::test]
async fn an_included_file_that_is_wrong_is_shown_with_its_own_name() {
    let (top, stage) = in_two_files();
    let wrong = stage.replace("files = ", "fiels = ");
    let script = engine(&top).file("dockerfile", "stages/hello.toml", wrong);
    let ran = run(script, &["filename=lanes.toml"]).await;
    let message = ran.answer.unwrap_err().message;
    assert!(
        message.contains("stages/hello.toml") && message.contains("fiels"),
        "{message}"
    );
    let ran = run(engine(&top), &["filename=lanes.toml"]).await;
    let message = ran.answer.unwrap_err().message;
    assert!(
        message.contains("`stages/*.toml` includes nothing"),
        "{message}"
    );
}

#[tokio::test]
async fn the_same_build_sends_the_same_bytes_whatever_the_order_of_the_options() {
    let opts = [
        "build-arg:GREETING=Hi",
        "label:a=b",
        "add-hosts=box=10.0.0.1,alp=10.0.0.2",
        "filename=lanes.toml",
    ];
    let mut turned = opts;
    turned.reverse();
    let (a, b) = (
        run(engine(HELLO), &opts).await,
        run(engine(HELLO), &turned).await,
    );
    let bytes = |ran: &Ran| ran.solved().definition.unwrap().encode_to_vec();
    assert_eq!(bytes(&a), bytes(&b));
    assert_eq!(a.built().metadata, b.built().metadata);
}

#[tokio::test]
async fn what_the_caller_demands_of_steps_reaches_them() {
    let opts = [
        "add-hosts=box=10.0.0.1",
        "ulimit=nofile=1024:2048",
        "force-network-mode=none",
        "cgroup-parent=/lanes",
        "hostname=builder",
        "build-arg:HTTPS_PROXY=http://proxy:1",
    ];
    let definition = run(engine(HELLO), &opts).await.solved().definition.unwrap();
    let exec = &execs(&definition)[0];
    let meta = exec.meta.as_ref().unwrap();
    assert_eq!(
        (
            meta.extra_hosts[0].host.as_str(),
            meta.extra_hosts[0].ip.as_str()
        ),
        ("box", "10.0.0.1")
    );
    assert_eq!(
        (
            meta.ulimit[0].name.as_str(),
            meta.ulimit[0].soft,
            meta.ulimit[0].hard
        ),
        ("nofile", 1024, 2048)
    );
    assert_eq!(
        (meta.cgroup_parent.as_str(), meta.hostname.as_str()),
        ("/lanes", "builder")
    );
    assert_eq!(
        meta.proxy_env.as_ref().unwrap().https_proxy,
        "http://proxy:1"
    );
    assert_eq!(exec.network, i32::from(pb::NetMode::None));
    assert!(
        !meta.env.iter().any(|env| env.contains("PROXY")),
        "a proxy in the key"
    );
}

#[tokio::test]
async fn caches_are_looked_into_by_the_solve_that_makes_the_result() {
    let ran = run(
        engine(HELLO),
        &[r#"cache-imports=[{"Type":"registry","Attrs":{"ref":"localhost:5000/c"}}]"#],
    )
    .await;
    assert_eq!(
        ran.solved().cache_imports[0].attrs["ref"],
        "localhost:5000/c"
    );
}

#[tokio::test]
async fn a_named_context_stands_in_for_an_image() {
    let ran = run(
        engine(HELLO),
        &["context:docker.io/library/busybox:1.36=docker-image://other:1"],
    )
    .await;
    let definition = ran.solved().definition.unwrap();
    let other = format!("docker-image://docker.io/library/other:1@{DIGEST}");
    assert!(
        sources(&definition)
            .iter()
            .any(|source| source.identifier == other)
    );
    assert!(ran.fake.log().warnings.is_empty());

    let mut script = engine(HELLO);
    let layout = format!("docker.io/library/busybox@{DIGEST}");
    script
        .images
        .insert(layout.clone(), (DIGEST.to_owned(), b"{}".to_vec()));
    let ran = run(
        script,
        &[&format!(
            "context:busybox:1.36=oci-layout://store1@{DIGEST}"
        )],
    )
    .await;
    let definition = ran.solved().definition.unwrap();
    let source = sources(&definition)
        .into_iter()
        .find(|source| source.identifier.starts_with("oci-layout://"))
        .unwrap();
    assert_eq!(source.identifier, format!("oci-layout://{layout}"));
    assert_eq!(
        (
            source.attrs["oci.store"].as_str(),
            source.attrs["oci.session"].as_str()
        ),
        ("store1", "session-1")
    );
}

#[tokio::test]
async fn what_changes_nothing_is_warned_of() {
    let opts = [
        "frobnicate=1",
        "context:unused=docker-image://other:1",
        "source=localhost:5000/lanekit",
        "context:localhost:5000/lanekit=docker-image://other:1",
    ];
    let ran = run(engine(HELLO), &opts).await;
    let log = ran.fake.log();
    let told: Vec<_> = log
        .warnings
        .iter()
        .map(|warning| String::from_utf8_lossy(&warning.short).into_owned())
        .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    option frobnicate: lanekit does not know it
    context unused: nothing of this lane is taken from it
    ");
    let read_by = llb::Digest::of(&log.solves[0].definition.as_ref().unwrap().def[0]).to_string();
    assert_eq!(
        log.warnings[0].digest, read_by,
        "no vertex that the engine knows"
    );
    for warning in &log.warnings {
        let file = warning.info.as_ref().unwrap();
        let carried = (file.filename.as_str(), file.data.len());
        assert_eq!(carried, ("lanes.toml", 0), "no line is shown of it");
    }
}

#[tokio::test]
async fn what_another_build_gives_takes_the_place_of_the_clients_directory() {
    let platform = Platform::new("linux", "amd64");
    let reference = format!("docker.io/library/other@{DIGEST}").parse().unwrap();
    let image = Definition::new(&Image::new(reference, platform).build());
    for (name, others) in [("context", ["dockerfile"]), ("dockerfile", ["context"])] {
        let mut script = engine(HELLO).file("context", "greet.sh", "true\n");
        for (path, text) in [("lanes.toml", HELLO), ("versions.env", "HELLO_WHOM=w\n")] {
            script.made.insert(path.to_owned(), text.into());
        }
        let locals = |script: Script| async {
            let ran = run(script, &[]).await;
            let used = |source: pb::SourceOp| source.identifier.starts_with("local://");
            let solves: Vec<_> = ran.fake.log().solves.clone();
            let all = solves
                .iter()
                .flat_map(|solve| sources(solve.definition.as_ref().unwrap()));
            let named: std::collections::BTreeSet<_> = all
                .filter(|source| used(source.clone()))
                .map(|source| source.identifier.trim_start_matches("local://").to_owned())
                .collect();
            (ran, named)
        };
        let (ran, named) = locals(script.clone()).await;
        ran.built();
        assert_eq!(named, ["context", "dockerfile"].map(str::to_owned).into());

        script.inputs.insert(name.to_owned(), image.to_pb());
        let (ran, named) = locals(script.clone()).await;
        ran.built();
        assert_eq!(named, others.map(str::to_owned).into(), "given {name}");

        script
            .inputs
            .insert(name.to_owned(), pb::Definition::default());
        let (ran, named) = locals(script).await;
        let said = &ran.refused().message;
        assert!(
            said.contains(&format!("the input `{name}` of this build is empty")),
            "{said}"
        );
        assert!(!named.contains(name), "empty {name}");
    }
}

#[tokio::test]
async fn what_cannot_be_honoured_is_refused() {
    let ran = run(engine(HELLO), &["memory=5m", "multi-platform=maybe"]).await;
    insta::assert_snapshot!(ran.refused().message, @r"
    option memory=5m: is not a number above 0
    option multi-platform=maybe: is neither true nor false
    ");
    let ran = run(engine(HELLO), &["requestid=frontend.nope"]).await;
    assert_eq!(
        (ran.refused().code, ran.refused().message.as_str()),
        (12, "unsupported request frontend.nope")
    );
    assert!(ran.fake.log().solves.is_empty());
}

#[tokio::test]
async fn an_argument_that_is_not_declared_is_told_before_any_step() {
    let ran = run(
        engine(HELLO),
        &["build-arg:GREETIN=x", "platform=linux/arm64"],
    )
    .await;
    insta::assert_snapshot!(ran.refused().message);
    assert_eq!(
        ran.lines(),
        [("lanes.toml".to_owned(), 2), ("lanes.toml".to_owned(), 11)]
    );
    assert_eq!(ran.fake.log().solves.len(), 1);
}

#[tokio::test]
async fn a_missing_image_shows_the_line_that_names_it() {
    let ran = run(engine(&HELLO.replace("busybox:1.36", "busybox:9")), &[]).await;
    insta::assert_snapshot!(ran.refused().message, @"busybox:9: docker.io/library/busybox:9: not found");
    assert_eq!(ran.lines(), [("lanes.toml".to_owned(), 15)]);
}

#[tokio::test]
async fn bad_files_are_one_clear_error() {
    let told = async |script: Script| {
        let ran = run(script, &[]).await;
        let lines: Vec<String> = ran
            .lines()
            .into_iter()
            .map(|(file, line)| format!("{file}:{line}"))
            .collect();
        format!("{} [{}]", ran.refused().message, lines.join(" "))
    };
    let mut missing = engine(HELLO);
    missing.locals.clear();
    let mut directory = engine(HELLO);
    directory
        .locals
        .get_mut("dockerfile")
        .unwrap()
        .insert("lanes.toml".to_owned(), None);
    let mut pinless = engine(HELLO);
    pinless
        .locals
        .get_mut("dockerfile")
        .unwrap()
        .remove("versions.env");
    let large = engine(HELLO).file("dockerfile", "lanes.toml", vec![b'#'; 50_000_000]);
    let binary = engine(HELLO).file("dockerfile", "lanes.toml", b"\x7fELF\xff\xfe".to_vec());
    let broken = engine("[graph\nname = 3");
    let outside = engine(&HELLO.replace("versions.env", "../versions.env"));
    let texts = [
        told(missing).await,
        told(directory).await,
        told(pinless).await,
        told(large).await,
        told(binary).await,
        told(broken).await,
        told(outside).await,
    ];
    insta::assert_snapshot!(texts.join("\n\n"));
}

#[tokio::test]
async fn a_failing_step_of_a_large_lane_file_keeps_its_error_whole() {
    let text = format!("{HELLO}\n{}", "# padding\n".repeat(60 << 10));
    let source = prost_types::Any {
        type_url: "github.com/moby/buildkit/errdefs.Source+json".to_owned(),
        value: format!(r#"{{"info":{{"filename":"lanes.toml","data":"{}"}},"ranges":[{{"start":{{"line":19}}}}]}}"#, "A".repeat(text.len() * 4 / 3)).into_bytes(),
    };
    let failing = rpc::Status {
        code: 2,
        message: "exit code: 7".to_owned(),
        details: vec![source],
    };
    let ran = run(
        Script {
            failing: Some(failing.clone()),
            ..engine(&text)
        },
        &[],
    )
    .await;
    assert_eq!(*ran.refused(), failing);
    assert_eq!(ran.lines(), [("lanes.toml".to_owned(), 19)]);
}

#[tokio::test]
async fn an_error_without_lines_gets_those_of_the_output() {
    let failing = rpc::Status {
        code: 2,
        message: "mergeop has been disabled".to_owned(),
        details: vec![],
    };
    let ran = run(
        Script {
            failing: Some(failing),
            ..engine(HELLO)
        },
        &[],
    )
    .await;
    assert_eq!(ran.lines().len(), 1);
}

#[tokio::test]
async fn gates_without_lanegate_are_refused() {
    let ran = run(engine(GATED), &[]).await;
    assert!(
        ran.refused().message.contains("need lanegate"),
        "{}",
        ran.refused().message
    );
}

/// A verdict as lanegate writes it.
fn verdict(green: bool) -> Vec<u8> {
    let finding = serde_json::json!({
        "id": "ARCH001", "subject": "bin/a.dll", "actual": "amd64", "expected": "arm64", "why": "wrong machine",
    });
    let findings = if green { vec![] } else { vec![finding] };
    serde_json::json!({
        "check": "arch", "check-version": 2,
        "counts": {
            "archive-members": 0, "by-class": {}, "by-kind": {}, "device": 0, "files": 1, "hard-links": 0,
            "inspected": 1, "linker-scripts": 0, "links": 0, "other": 0, "special": 0, "unreadable": 0, "zip-members": 0,
        },
        "exemptions": [], "exit": i32::from(!green), "findings": findings, "findings-omitted": 0, "floors": [],
        "gate": "arch",
        "policy": { "digest": DIGEST, "resolved": policy() },
        "roots": [], "schema": "gate-report/1", "stage": "assert", "target": "linux/amd64",
        "verdict": if green { "pass" } else { "fail" },
    })
    .to_string()
    .into_bytes()
}

fn policy() -> serde_json::Value {
    serde_json::json!({
        "allow": [], "check": "arch", "floors": { "inspected": { "least": 1, "measured": 2, "on": "2026-09-02" } },
        "gate": "arch", "schema": "gate-policy/1", "target": "linux/amd64",
    })
}

/// A frontend's own image, as an engine hands it over.
fn own_image() -> tempfile::NamedTempFile {
    let image = Image::new(
        "localhost:5000/lanekit:1".parse().unwrap(),
        Platform::new("linux", "amd64"),
    )
    .record_type("frontend")
    .build();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), Definition::new(&image).to_bytes()).unwrap();
    file
}

#[tokio::test]
async fn verdicts_of_green_gates_come_back_with_the_result() {
    let image = own_image();
    let made = BTreeMap::from([("/verdict.json".to_owned(), verdict(true))]);
    let ran = run_in(
        Script {
            made,
            ..engine(GATED)
        },
        &[],
        image.path(),
    )
    .await;
    use base64::Engine as _;
    let summary = &ran.built().metadata["frontend.lanekit.gates"];
    let summary = base64::engine::general_purpose::STANDARD
        .decode(summary)
        .unwrap();
    insta::assert_snapshot!(
        String::from_utf8(summary).unwrap(),
        @r#"{"gates":{"arch":{"allowed":0,"check":"arch","inspected":1,"policy":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","target":"linux/amd64","verdict":"pass"}},"schema":"gates-summary/1"}"#
    );
    let definition = ran.solved().definition.unwrap();
    let own = sources(&definition)
        .into_iter()
        .find(|source| source.identifier.contains("lanekit"))
        .unwrap();
    assert_eq!(own.attrs["image.recordtype"], "frontend");
}

#[tokio::test]
async fn what_a_red_gate_found_is_in_the_error() {
    let image = own_image();
    let failing = rpc::Status {
        code: 2,
        message: "process \"/lanegate\": exit code: 1".to_owned(),
        details: vec![],
    };
    let made = BTreeMap::from([("/verdict.json".to_owned(), verdict(false))]);
    let red = Script {
        made,
        failing: Some(failing),
        failing_step: "[seal]".to_owned(),
        ..engine(GATED)
    };
    let ran = run_in(red.clone(), &[], image.path()).await;
    insta::assert_snapshot!(ran.refused().message, @r#"
    error: ARCH001 bin/a.dll: found amd64, expected arm64: wrong machine
    gate arch for linux/amd64 failed: 1 inspected, 1 finding
    process "/lanegate": exit code: 1
    "#);

    // A step that fails is no verdict: nothing is asked again, which would run the step again.
    let ran = run_in(
        Script {
            failing_step: "[lib]".to_owned(),
            ..red
        },
        &[],
        image.path(),
    )
    .await;
    assert_eq!(ran.refused().message, "process \"/lanegate\": exit code: 1");
    assert_eq!(ran.fake.log().solves.len(), 2);
}

#[tokio::test]
async fn to_ignore_the_cache_is_a_wish_for_one_solve() {
    let image = own_image();
    let green = || {
        let made = BTreeMap::from([("/verdict.json".to_owned(), verdict(true))]);
        Script {
            made,
            ..engine(GATED)
        }
    };
    let ran = run_in(green(), &["no-cache="], image.path()).await;
    let ignoring = |solve: &SolveRequest| {
        solve
            .definition
            .as_ref()
            .unwrap()
            .metadata
            .values()
            .filter(|metadata| metadata.ignore_cache)
            .count()
    };
    assert!(ignoring(&ran.solved()) > 0);
    let all: usize = ran.fake.log().solves.iter().map(ignoring).sum();
    assert_eq!(all, ignoring(&ran.solved()));
    // The vertices are the same ones, so what the first Solve made is found.
    let digests = |solve: &SolveRequest| solve.definition.as_ref().unwrap().def.clone();
    let first = digests(&ran.solved());
    let last = digests(ran.fake.log().solves.last().unwrap());
    assert!(last[..last.len() - 1].iter().all(|op| first.contains(op)));
}

/// Bytes like those of a lane file, with damage.
fn damaged() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
    use proptest::prelude::*;
    let text = prop_oneof![Just(HELLO), Just(GATED)];
    (
        text,
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
        prop::collection::vec(any::<u8>(), 0..4),
    )
        .prop_map(|(text, from, to, put)| {
            let mut bytes = text.as_bytes().to_vec();
            let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
            let range = from.min(to)..(from.min(to) + 9).min(from.max(to));
            bytes.splice(range, put);
            bytes
        })
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config { cases: 200, ..Default::default() })]

    /// Exactly one answer, whatever the file; a panic would be one too, so its words must not be there.
    #[test]
    fn any_lane_file_is_answered(bytes in damaged()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let ran = runtime.block_on(run(engine(HELLO).file("dockerfile", "lanes.toml", bytes), &[]));
        if let Err(error) = &ran.answer {
            proptest::prop_assert!(!error.message.contains("lanekit has a bug"), "{}", error.message);
        }
    }
}

/// Two lanes of two platforms that run nothing, and a group of them.
const GROUP: &str = r#"# syntax=lanekit/frontend
[graph]
name = "group"
default = "app"

[lane.amd64]
platform     = "linux/amd64"
output.image = { stage = "app" }
[lane.arm64]
platform     = "linux/arm64"
output.image = { stage = "app" }
[group.app]
lanes = ["amd64", "arm64"]
tag   = "app:1"

[stage.app]
from = "scratch"
image.annotations = { "org.lane" = "${lane.name}" }
[[stage.app.step]]
name  = "write"
write = { path = "/platform", text = "${lane.platform}" }
"#;

#[tokio::test]
async fn a_group_becomes_one_result_of_several_platforms() {
    let ran = run(engine(GROUP), &["filename=lanes.toml"]).await;
    let Some(result::Result::Refs(refs)) = &ran.built().result else {
        panic!("{:?}", ran.built().result)
    };
    let platforms: Vec<&String> = {
        let mut all: Vec<&String> = refs.refs.keys().collect();
        all.sort();
        all
    };
    assert_eq!(platforms, ["linux/amd64", "linux/arm64"]);
    let metadata = &ran.built().metadata;
    let text = |key: &str| String::from_utf8(metadata[key].clone()).unwrap();
    assert!(text("containerimage.config/linux/arm64").contains(r#""architecture":"arm64""#));
    assert!(!metadata.contains_key("containerimage.config"));
    assert_eq!(text("annotation-manifest[linux/amd64].org.lane"), "amd64");
    assert_eq!(text("frontend.lanekit.tag"), "app:1");
    let platforms: serde_json::Value = serde_json::from_str(&text("refs.platforms")).unwrap();
    let listed = platforms["Platforms"].as_array().unwrap();
    let listed: Vec<&str> = listed.iter().map(|p| p["ID"].as_str().unwrap()).collect();
    assert_eq!(listed, ["linux/amd64", "linux/arm64"]);

    let one = ["filename=lanes.toml", "platform=linux/arm64"];
    let ran = run(engine(GROUP), &one).await;
    let Some(result::Result::Refs(refs)) = &ran.built().result else {
        panic!()
    };
    assert_eq!(refs.refs.len(), 1);
}
