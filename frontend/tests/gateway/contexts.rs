//! Where files come from: directories, repositories, archives, results of other builds; and what ignore files leave out.

use llb::proto::pb;
use llb::{Definition, FileOp, MkFile};

use crate::fake::Script;
use crate::flow::{HELLO, Ran, engine, execs, ops, run, sources};

/// The sources of the build's result, by their identifiers.
fn identifiers(ran: &Ran) -> Vec<String> {
    sources(&ran.solved().definition.unwrap())
        .into_iter()
        .map(|source| source.identifier)
        .collect()
}

fn source(ran: &Ran, identifier: &str) -> pb::SourceOp {
    let all = sources(&ran.solved().definition.unwrap());
    let found = all.iter().find(|source| source.identifier == identifier);
    found.unwrap_or_else(|| panic!("{all:?}")).clone()
}

/// An engine whose client has no lane file: it comes from elsewhere.
fn elsewhere(files: &[(&str, &str)]) -> Script {
    let mut script = engine(HELLO);
    script.locals.clear();
    script.made = files
        .iter()
        .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
        .collect();
    script
}

#[tokio::test]
async fn a_repository_is_context_and_has_the_lane_file() {
    let script = elsewhere(&[("lanes.toml", HELLO), ("versions.env", "HELLO_WHOM=git\n")]);
    let opts = [
        "filename=lanes.toml",
        "context=https://example.com/a/b.git#v1:sub",
        "build-arg:BUILDKIT_CONTEXT_KEEP_GIT_DIR=1",
    ];
    let ran = run(script.clone(), &opts).await;
    let git = source(&ran, "git://example.com/a/b.git#v1:sub");
    assert_eq!(git.attrs["git.fullurl"], "https://example.com/a/b.git");
    assert_eq!(git.attrs["git.keepgitdir"], "true");
    let execs = execs(&ran.solved().definition.unwrap());
    assert!(
        execs[0]
            .meta
            .as_ref()
            .unwrap()
            .env
            .contains(&"WHOM=git".to_owned())
    );
    assert!(
        !identifiers(&ran)
            .iter()
            .any(|id| id.starts_with("local://"))
    );

    let wrong = run(script, &["context=https://example.com/b.git?depth=1"]).await;
    assert!(
        wrong.refused().message.contains("no \"depth\""),
        "{}",
        wrong.refused().message
    );
}

#[tokio::test]
async fn an_archive_is_unpacked_and_a_single_file_is_the_lane_file() {
    let mut script = elsewhere(&[("lanes.toml", HELLO), ("versions.env", "HELLO_WHOM=tar\n")]);
    script
        .made
        .insert("context".to_owned(), vec![0x1f, 0x8b, 8]);
    let ran = run(
        script,
        &["filename=lanes.toml", "context=http://h/x.tar.gz"],
    )
    .await;
    source(&ran, "http://h/x.tar.gz");
    let unpacks = ops(&ran.solved().definition.unwrap()).into_iter().any(|op| {
        let Some(pb::op::Op::File(file)) = op.op else {
            return false;
        };
        file.actions.iter().any(|action| {
            matches!(&action.action, Some(pb::file_action::Action::Copy(copy)) if copy.attempt_unpack_docker_compatibility)
        })
    });
    assert!(unpacks);

    let alone = HELLO
        .replace("versions = \"versions.env\"\n", "")
        .replace(", \"WHOM=HELLO_WHOM\"", "");
    let script = elsewhere(&[("context", &alone)]);
    let ran = run(script, &["context=http://h/lanes.toml"]).await;
    source(&ran, "http://h/lanes.toml");
}

#[tokio::test]
async fn a_lane_file_of_the_client_may_build_what_lies_elsewhere() {
    let opts = ["context=https://h/b.git", "dockerfilekey=dockerfile"];
    let ran = run(engine(HELLO), &opts).await;
    source(&ran, "git://h/b.git");
    assert!(ran.fake.log().reads[0] == "lanes.toml");
}

#[tokio::test]
async fn a_directory_of_the_context_is_all_that_is_seen_of_it() {
    let script = elsewhere(&[("lanes.toml", HELLO), ("versions.env", "HELLO_WHOM=x\n")]);
    let opts = ["context=https://h/b.git", "contextsubdir=part"];
    let ran = run(script, &opts).await;
    let copies = ops(&ran.solved().definition.unwrap()).into_iter().any(|op| {
        let Some(pb::op::Op::File(file)) = op.op else {
            return false;
        };
        file.actions.iter().any(|action| {
            matches!(&action.action, Some(pb::file_action::Action::Copy(copy)) if copy.src == "/part" && copy.dest == "/")
        })
    });
    assert!(copies);
}

#[tokio::test]
async fn what_an_ignore_file_leaves_out_is_not_sent_and_not_silently_missing() {
    let script = engine(HELLO).file("context", ".dockerignore", "*.o\n!keep.o\n");
    let ran = run(script, &[]).await;
    let context = source(&ran, "local://context");
    assert_eq!(
        context.attrs["local.excludepatterns"],
        r#"["*.o","!keep.o"]"#
    );

    let script = engine(HELLO)
        .file("context", ".dockerignore", "*.sh\n")
        .file("dockerfile", "lanes.toml.dockerignore", "*.txt\n");
    let ran = run(script.clone(), &[]).await;
    let context = source(&ran, "local://context");
    assert_eq!(context.attrs["local.excludepatterns"], r#"["*.txt"]"#);

    let mut script = script;
    script
        .locals
        .get_mut("dockerfile")
        .unwrap()
        .remove("lanes.toml.dockerignore");
    let ran = run(script, &[]).await;
    let said = &ran.refused().message;
    assert!(
        said.contains("LK050") && said.contains("`greet.sh`"),
        "{said}"
    );
}

#[tokio::test]
async fn a_directory_a_repository_and_a_result_can_be_started_from() {
    let script = engine(HELLO).file("assets", ".dockerignore", "junk\n");
    let opts = [
        "context:busybox:1.36=local:assets",
        "local-sessionid:assets=other",
    ];
    let ran = run(script, &opts).await;
    let local = source(&ran, "local://assets");
    assert_eq!(local.attrs["local.session"], "other");
    assert_eq!(local.attrs["local.excludepatterns"], r#"["junk"]"#);
    // By its content: the directory itself has a new key every time.
    let exec = &execs(&ran.solved().definition.unwrap())[0];
    assert_eq!(exec.mounts[0].dest, "/");
    assert!(
        !exec
            .meta
            .as_ref()
            .unwrap()
            .env
            .iter()
            .any(|env| env.starts_with("PATH"))
    );
    assert!(ran.fake.log().source_metas.is_empty() && ran.fake.log().warnings.is_empty());

    let ran = run(engine(HELLO), &["context:busybox:1.36=https://h/b.git#v2"]).await;
    source(&ran, "git://h/b.git#v2");

    let mut script = engine(HELLO);
    let made = FileOp::new(None)
        .mkfile(MkFile::new("/bin/sh", 0o755, "x"))
        .build()
        .unwrap();
    script
        .inputs
        .insert("0".to_owned(), Definition::new(&made).into());
    let config = "eyJjb25maWciOnsiRW52IjpbIlBBVEg9L3JlcyJdfX0=";
    let metadata = format!(r#"input-metadata:0={{"containerimage.config":"{config}"}}"#);
    let ran = run(script, &["context:busybox:1.36=input:0", &metadata]).await;
    let definition = ran.solved().definition.unwrap();
    assert!(
        definition
            .def
            .iter()
            .any(|op| llb::Digest::of(op) == made.digest())
    );
    let exec = &execs(&definition)[0];
    assert!(
        exec.meta
            .as_ref()
            .unwrap()
            .env
            .contains(&"PATH=/res".to_owned())
    );

    // What stands in for an image is told: the file's tag would be for something else.
    let verdict = |ran: &Ran| -> serde_json::Value {
        use base64::Engine as _;
        let text = &ran.built().metadata["frontend.lanekit.publishable"];
        let json = base64::engine::general_purpose::STANDARD.decode(text);
        serde_json::from_slice(&json.unwrap()).unwrap()
    };
    let why = "a named context stands in for image `busybox:1.36`";
    assert_eq!(verdict(&ran)["why"], serde_json::json!([why]));
    let image = "context:busybox:1.36=docker-image://busybox:1.37";
    let mut script = engine(HELLO);
    let busybox = script.images["docker.io/library/busybox:1.36"].clone();
    script
        .images
        .insert("docker.io/library/busybox:1.37".to_owned(), busybox);
    assert_eq!(
        verdict(&run(script, &[image]).await)["why"],
        serde_json::json!([why])
    );
    assert_eq!(verdict(&run(engine(HELLO), &[]).await)["publishable"], true);

    let none = run(engine(HELLO), &["context:busybox:1.36=input:7"]).await;
    assert!(none.refused().message.contains("no input `7`"));
}

#[tokio::test]
async fn shared_memory_and_the_namespace_of_caches_reach_steps() {
    let cached = HELLO.replace(
        "files = [\"greet.sh\"]",
        "files = [\"greet.sh\"]\ncache = [{ id = \"c\", at = \"/c\" }]",
    );
    let opts = ["shm-size=4096", "build-arg:BUILDKIT_CACHE_MOUNT_NS=mine"];
    let ran = run(engine(&cached), &opts).await;
    let exec = &execs(&ran.solved().definition.unwrap())[0];
    let mount = |dest: &str| exec.mounts.iter().find(|mount| mount.dest == dest).unwrap();
    assert_eq!(mount("/dev/shm").tmpfs_opt.as_ref().unwrap().size, 4096);
    assert_eq!(mount("/c").cache_opt.as_ref().unwrap().id, "mine/c");
}

#[tokio::test]
async fn what_is_to_run_anew_must_be_there_and_twins_run_anew_together() {
    let ran = run(engine(HELLO), &["no-cache=helo,Hello"]).await;
    let said = &ran.refused().message;
    assert!(
        said.contains("`helo`") && said.contains("did you mean `hello`"),
        "{said}"
    );
    assert!(!said.contains("gate `hello`"), "{said}");

    // Two stages whose steps are one vertex: to run one anew runs it.
    let twins = r#"[graph]
name = "twins"
[lane.l]
platform = "linux/amd64"
output.o = { stage = "both" }
[stage.a]
from = { image = "busybox:1.36" }
tree = ["/a"]
step = [{ name = "make", run = ["make"] }]
[stage.b]
from = { image = "busybox:1.36" }
tree = ["/b"]
step = [{ name = "make", run = ["make"] }]
[stage.both]
merge = ["a", "b"]
"#;
    for name in ["a", "b"] {
        let ran = run(engine(twins), &[&format!("no-cache={name}")]).await;
        let definition = ran.solved().definition.unwrap();
        assert_eq!(execs(&definition).len(), 1);
        let anew = definition
            .metadata
            .values()
            .filter(|m| m.ignore_cache)
            .count();
        assert!(anew >= 1, "{name}");
    }
}

#[tokio::test]
async fn triggers_of_a_base_are_told_and_not_handed_on() {
    let mut script = engine(HELLO);
    let config = br#"{"os":"linux","architecture":"amd64","config":{"OnBuild":["RUN x"]}}"#;
    for (_, held) in script.images.values_mut() {
        *held = config.to_vec();
    }
    let ran = run(script, &[]).await;
    let warning = String::from_utf8(ran.fake.log().warnings[0].short.clone()).unwrap();
    assert!(
        warning.contains("ONBUILD") && warning.contains("RUN x"),
        "{warning}"
    );
    let config = &ran.built().metadata["containerimage.config"];
    assert!(!String::from_utf8_lossy(config).contains("OnBuild"));
}

#[tokio::test]
async fn each_image_is_looked_for_where_the_file_says_and_pull_is_for_all() {
    let modes = async |from: &str, opts: &[&str]| -> Vec<String> {
        let lanes = HELLO.replace("{ image = \"busybox:1.36\" }", from);
        assert_ne!(lanes.replace(from, ""), HELLO);
        let ran = run(engine(&lanes), opts).await;
        ran.solved();
        let log = ran.fake.log();
        let asked = log
            .source_metas
            .iter()
            .map(|asked| asked.resolve_mode.clone());
        asked.collect()
    };
    let plain = "{ image = \"busybox:1.36\" }";
    let always = "{ image = \"busybox:1.36\", pull = \"always\" }";
    let missing = "{ image = \"busybox:1.36\", pull = \"missing\" }";
    assert_eq!(modes(plain, &[]).await, ["default"]);
    assert_eq!(modes(always, &[]).await, ["pull"]);
    assert_eq!(modes(missing, &[]).await, ["local"]);
    let pull = ["image-resolve-mode=pull"];
    assert_eq!(modes(missing, &pull).await, ["pull"]);
    assert_eq!(modes(always, &["image-resolve-mode=local"]).await, ["pull"]);
    assert_eq!(modes(plain, &["image-resolve-mode=local"]).await, ["local"]);
}
