//! Payloads: looked for out of what steps get them from, measured, and never absent when they are wrong.

use llb::{Digest, proto::pb};
use serde_json::Value;

use crate::fake::Script;
use crate::flow::{Ran, engine, ops, run};

/// A payload that a lane takes, and one that only another lane takes.
fn lanes(payload: &str) -> String {
    format!(
        r#"# syntax=lanekit/frontend
[graph]
name = "g"
default = "amd64"
[payload.sdk]
{payload}
[payload.other]
path = "other.zip"
empty-ok = "test"
[lane.amd64]
platform = "linux/amd64"
output.image = {{ stage = "app" }}
[lane.more]
platform = "linux/amd64"
output.image = {{ stage = "more" }}
[stage.app]
from = {{ image = "busybox:1.36" }}
[[stage.app.step]]
name = "build"
args = ["SDK=payload.sdk"]
files = [{{ payload = "sdk", at = "/payload" }}]
run = ["make"]
[stage.more]
from = "app"
[[stage.more.step]]
name = "more"
when = {{ payload.sdk = "present" }}
files = [{{ payload = "other", at = "/other" }}]
run = ["make"]
"#
    )
}

fn pinned(bytes: &[u8]) -> String {
    let digest = Digest::of(bytes).hex();
    lanes(&format!(
        "path = \"downloads/sdk-*.zip\"\nsha256 = \"{digest}\""
    ))
}

/// More than one message.
fn large() -> Vec<u8> {
    (0..5_000_001_u32).map(|n| n.to_le_bytes()[1]).collect()
}

fn with(script: Script, path: &str, bytes: &[u8]) -> Script {
    script.file("context", path, bytes)
}

/// The variables of the steps, and the paths that locals follow.
fn seen(ran: &Ran) -> (Vec<String>, Vec<String>) {
    let ops = ops(&ran.solved().definition.expect("a definition"));
    let (mut env, mut followed) = (Vec::new(), Vec::new());
    for op in ops {
        match op.op {
            Some(pb::op::Op::Exec(exec)) => env.extend(exec.meta.unwrap_or_default().env),
            Some(pb::op::Op::Source(source)) => {
                followed.extend(source.attrs.get("local.followpaths").cloned());
            }
            _ => {}
        }
    }
    (env, followed)
}

fn warnings(ran: &Ran) -> Vec<String> {
    let log = ran.fake.log();
    let texts = log.warnings.iter();
    texts
        .map(|warning| String::from_utf8_lossy(&warning.short).into_owned())
        .collect()
}

#[tokio::test]
async fn a_payload_that_is_there_is_measured_whole_and_goes_to_the_step() {
    let bytes = large();
    let script = with(engine(&pinned(&bytes)), "downloads/sdk-2.zip", b"old");
    let script = with(script, "downloads/sdk-10.zip", &bytes);
    let ran = run(script, &[]).await;
    let (env, followed) = seen(&ran);
    assert!(env.contains(&"SDK=present".to_owned()), "{env:?}");
    assert_eq!(followed, [r#"["downloads/sdk-*.zip"]"#]);
    assert_eq!(warnings(&ran), [""; 0]);
}

#[tokio::test]
async fn a_payload_that_is_absent_is_told_and_is_no_vertex() {
    let ran = run(engine(&pinned(b"x")), &[]).await;
    let (env, followed) = seen(&ran);
    assert!(env.contains(&"SDK=absent".to_owned()), "{env:?}");
    assert_eq!(followed, [""; 0]);
    let told = warnings(&ran);
    assert!(
        told.len() == 1 && told[0].starts_with("LK022: payload `sdk`"),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_payload_of_another_hash_fails_before_anything_runs() {
    let script = with(engine(&pinned(b"right")), "downloads/sdk-1.zip", b"wrong");
    let ran = run(script, &[]).await;
    let message = ran.refused().message.clone();
    for part in [
        "LK021",
        "downloads/sdk-1.zip",
        &Digest::of(b"right").hex(),
        &Digest::of(b"wrong").hex(),
    ] {
        assert!(message.contains(part), "{part}: {message}");
    }
}

#[tokio::test]
async fn a_directory_in_its_place_is_not_absent() {
    let mut script = with(engine(&pinned(b"x")), "lanes.toml", b"");
    let context = script.locals.get_mut("context").unwrap();
    context.insert("downloads/sdk-1.zip".to_owned(), None);
    let ran = run(script, &[]).await;
    let message = ran.refused().message.clone();
    assert!(
        message.contains("payload sdk") && message.contains("no file"),
        "{message}"
    );
}

#[tokio::test]
async fn one_payload_may_decide_whether_another_is_looked_for() {
    let script = with(engine(&pinned(b"x")), "other.zip", b"o");
    let ran = run(script.clone(), &["target=more"]).await;
    let looked = |ran: &Ran| ran.fake.log().reads.contains(&"other.zip".to_owned());
    assert!(!looked(&ran), "its step is not there");
    let ran = run(with(script, "downloads/sdk-1.zip", b"x"), &["target=more"]).await;
    assert!(looked(&ran));
    let told = warnings(&ran);
    assert!(
        told.len() == 1 && told[0].starts_with("LK023: payload `other`"),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_named_context_may_have_it() {
    let text = lanes(&format!(
        "path = \"sdk.zip\"\ncontext = \"sdks\"\nsha256 = \"{}\"",
        Digest::of(b"x").hex()
    ));
    let script = engine(&text).file("sdks-dir", "sdk.zip", b"x");
    let ran = run(script.clone(), &["context:sdks=local:sdks-dir"]).await;
    assert!(seen(&ran).0.contains(&"SDK=present".to_owned()));
    assert_eq!(warnings(&ran), [""; 0], "the context is used");
    let ran = run(script, &[]).await;
    assert!(seen(&ran).0.contains(&"SDK=absent".to_owned()));
}

/// One key of the answer to a sub-request.
fn answer(ran: &Ran, key: &str) -> String {
    String::from_utf8(ran.built().metadata[key].clone()).unwrap()
}

#[tokio::test]
async fn a_plan_and_an_outline_say_whether_a_payload_is_there() {
    let text = lanes(&format!(
        "path = \"sdk-*.zip\"\nsha256 = \"{}\"",
        Digest::of(b"x").hex()
    ));
    let absent = engine(&text);
    let there = with(absent.clone(), "sdk-2.zip", b"x");
    for (script, state, path, rows) in [
        (&absent, "absent", "sdk-*.zip", 0),
        (&there, "present", "sdk-2.zip", 1),
    ] {
        let plan = run(script.clone(), &["requestid=frontend.plan"]).await;
        let line = format!("payload sdk is {state}: {path}\n");
        let shown = answer(&plan, "result.txt");
        assert!(shown.contains(&line), "{shown}");
        assert_eq!(shown.matches("payload sdk  ").count(), rows, "{shown}");
        let json: Value = serde_json::from_str(&answer(&plan, "result.json")).unwrap();
        assert_eq!(json["payloads"]["sdk"], state);

        let outline = run(script.clone(), &["requestid=frontend.outline"]).await;
        let shown = answer(&outline, "result.txt");
        assert!(
            shown.contains(&format!("sdk       {state}   {path}"))
                || shown.contains(&format!("sdk       {state}    {path}")),
            "{shown}"
        );
        let json: Value = serde_json::from_str(&answer(&outline, "result.json")).unwrap();
        assert_eq!(json["payloads"][0]["state"], state);
        assert_eq!(
            json["payloads"][0]["location"]["ranges"][0]["start"]["line"],
            5
        );
    }
    let wrong = with(absent, "sdk-2.zip", b"another");
    for request in ["requestid=frontend.plan", "requestid=frontend.outline"] {
        let ran = run(wrong.clone(), &[request]).await;
        assert!(ran.refused().message.contains("LK021"), "{request}");
    }
}

#[tokio::test]
async fn a_check_holds_payloads_of_every_lane_against_their_hashes() {
    let script = engine(&pinned(b"right"));
    let check = |script: Script| async { run(script, &["requestid=frontend.lint"]).await };
    let ran = check(script.clone()).await;
    assert_eq!(answer(&ran, "result.statuscode"), "0", "none is there");
    let right = with(script.clone(), "downloads/sdk-1.zip", b"right");
    assert_eq!(answer(&check(right).await, "result.statuscode"), "0");
    let wrong = check(with(script.clone(), "downloads/sdk-1.zip", b"wrong")).await;
    assert_eq!(answer(&wrong, "result.statuscode"), "1");
    let json = answer(&wrong, "result.json");
    assert!(
        json.contains("LK021") && json.contains("sdk-1.zip"),
        "{json}"
    );
    // Of a lane that nobody asked for, too: a warning with what was measured.
    let open = check(with(script, "other.zip", b"o")).await;
    assert!(answer(&open, "result.json").contains(&Digest::of(b"o").hex()));
}
