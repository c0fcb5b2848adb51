//! What `docker buildx build --call=…` and `--check` get.

use serde_json::Value;

use crate::flow::{HELLO, Ran, engine, run};

fn text(ran: &Ran, key: &str) -> String {
    String::from_utf8(ran.built().metadata[key].clone()).unwrap()
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&text(ran, "result.json")).unwrap()
}

/// Two lanes, an argument of each kind, a host setting, a cache.
const LANES: &str = r#"# syntax=lanekit/frontend
[graph]
name = "lanes"
default = "arm64"

[arg.LEVEL]
type    = "int"
default = "2"
about   = "optimisation level"

[arg.REF]
about   = "commit"

[host.CACHE_ENDPOINT]
about = "compile cache"
need  = "required"

[switch.spikes]
default = true
about   = "experiments"

[lane.amd64]
platform = "linux/amd64"
output.a = { stage = "app" }
output.b = { stage = "app", root = "/app" }

[lane.arm64]
platform = "linux/arm64"
target   = "windows/arm64"
output.a = { stage = "app" }

[stage.app]
from = { image = "busybox:1.36" }
[[stage.app.step]]
name  = "make"
when  = { switch.spikes = true }
args  = ["LEVEL"]
host  = ["CACHE_ENDPOINT"]
cache = [{ id = "objects", at = "/cache" }]
run   = ["make", "${arg.REF}"]
"#;

#[tokio::test]
async fn describe_lists_what_is_answered() {
    let ran = run(engine(HELLO), &["requestid=frontend.subrequests.describe"]).await;
    insta::assert_snapshot!(text(&ran, "result.txt"));
    assert!(ran.fake.log().solves.is_empty(), "no file is needed");
    for request in json(&ran).as_array().unwrap() {
        let name = request["name"].as_str().unwrap();
        let ran = run(engine(HELLO), &[&format!("requestid={name}")]).await;
        assert_eq!(text(&ran, "version"), request["version"]);
    }
}

#[tokio::test]
async fn targets_are_lanes_with_their_outputs_and_the_default_marked() {
    let ran = run(engine(LANES), &["requestid=frontend.targets"]).await;
    insta::assert_snapshot!(text(&ran, "result.txt"));
    let json = json(&ran);
    let arm = json["targets"].as_array().unwrap().last().unwrap();
    assert_eq!(
        (&arm["name"], &arm["default"]),
        (&"arm64".into(), &true.into())
    );
    // As BuildKit writes it, the first file goes without saying.
    assert_eq!(arm["location"]["sourceIndex"], Value::Null);
    assert_eq!(arm["location"]["ranges"][0]["start"]["line"], 30);
    use base64::Engine as _;
    let source = json["sources"][0].as_str().unwrap();
    let source = base64::engine::general_purpose::STANDARD
        .decode(source)
        .unwrap();
    assert_eq!(source, LANES.as_bytes());
}

#[tokio::test]
async fn an_outline_has_what_the_target_takes_and_looks_no_image_up() {
    let opts = [
        "requestid=frontend.outline",
        "target=amd64/b",
        "build-arg:LEVEL=3",
    ];
    let ran = run(engine(LANES), &opts).await;
    insta::assert_snapshot!(text(&ran, "result.txt"));
    let json = json(&ran);
    assert_eq!(json["name"], "amd64/b");
    assert_eq!(json["cache"][0]["ID"], "objects");
    assert_eq!(json["secrets"][0]["required"], true);
    assert!(ran.fake.log().source_metas.is_empty());
    let unknown = run(
        engine(LANES),
        &["requestid=frontend.outline", "target=nope"],
    )
    .await;
    assert!(
        unknown
            .refused()
            .message
            .contains("there is no lane `nope`")
    );
}

#[tokio::test]
async fn a_check_of_a_right_file_is_empty_and_of_a_wrong_one_has_its_lines() {
    let ran = run(engine(LANES), &["requestid=frontend.lint"]).await;
    assert_eq!(text(&ran, "result.statuscode"), "0");
    assert_eq!(json(&ran)["warnings"], Value::Array(Vec::new()));
    assert_eq!(json(&ran)["buildError"], Value::Null);
    // Where the sources are empty, a client that shows an error dies.
    assert_eq!(json(&ran)["sources"][0]["filename"], "lanes.toml");

    let wrong = LANES.replace("stage = \"app\" }", "stage = \"ap\" }");
    let ran = run(engine(&wrong), &["requestid=frontend.lint"]).await;
    assert_eq!(text(&ran, "result.statuscode"), "1");
    let error = &json(&ran)["buildError"];
    assert_eq!(error["location"]["ranges"][0]["start"]["line"], 24);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("there is no stage `ap`"), "{message}");
    assert_eq!(text(&ran, "result.txt").trim_end(), message);
}

#[tokio::test]
async fn a_check_plans_every_lane_and_judges_what_was_asked_for() {
    let right = LANES.replace("${arg.REF}", "${arg.REF}-${arch.wheel-tag}-${env.HOME}");
    let nowhere = right.replace("${arch.wheel-tag}", "${arch.msvc-lib}");
    assert_eq!(
        text(
            &run(engine(&right), &["requestid=frontend.lint"]).await,
            "result.statuscode"
        ),
        "0"
    );
    let ran = run(engine(&nowhere), &["requestid=frontend.lint"]).await;
    let message = json(&ran)["buildError"]["message"].to_string();
    assert!(
        message.contains("LK015") && message.contains("`amd64`"),
        "{message}"
    );

    let asked = ["requestid=frontend.lint", "build-arg:LEVEL=high"];
    let ran = run(engine(LANES), &asked).await;
    let message = json(&ran)["buildError"]["message"].to_string();
    assert!(message.contains("not a whole number"), "{message}");
}

#[tokio::test]
async fn a_check_of_no_file_is_a_failure() {
    let ran = run(
        engine(LANES),
        &["requestid=frontend.lint", "filename=nope.toml"],
    )
    .await;
    assert!(ran.refused().message.contains("there is no nope.toml"));
}

/// Whatever is doubtful is said in a build, in a check, and with the same words.
#[tokio::test]
async fn what_a_lint_doubts_is_told_with_its_lines() {
    let doubtful = HELLO.replace(
        "files = [",
        "env = { API_TOKEN = \"s3cr3tvalue\" }\nfiles = [",
    );
    let ran = run(engine(&doubtful), &[]).await;
    ran.built();
    let warning = ran.fake.log().warnings[0].clone();
    let short = String::from_utf8(warning.short).unwrap();
    assert!(short.starts_with("LK068: "), "{short}");
    assert!(warning.url.contains("#lk068-"), "{}", warning.url);
    let line = warning.ranges[0].start.unwrap().line;
    assert_eq!(warning.info.unwrap().filename, "lanes.toml");

    let ran = run(engine(&doubtful), &["requestid=frontend.lint"]).await;
    let found = &json(&ran)["warnings"][0];
    assert_eq!(found["ruleName"], "LK068");
    assert_eq!(found["location"]["ranges"][0]["start"]["line"], line);
    assert!(
        short.ends_with(
            found["detail"]
                .as_str()
                .unwrap()
                .split(" (")
                .next()
                .unwrap()
        )
    );
    assert_eq!(text(&ran, "result.statuscode"), "1");
}

/// A directory that is listed and not there, or is a file, is found; nothing of those that are there is sent for it.
#[tokio::test]
async fn a_check_looks_for_directories_by_their_names() {
    let lanes = r#"[graph]
name = "t"
[lane.amd64]
platform = "linux/amd64"
output.image = { stage = "app" }
[stage.app]
from = { image = "busybox:1.36" }
[[stage.app.step]]
name = "build"
files = ["lib/", "lib/deep/er/", "old/", "file/", "left/"]
run = ["ls", "lib"]
"#;
    let script = engine(lanes)
        .file("context", "lib/deep/er/a", "")
        .file("context", "file", "")
        .file("context", ".dockerignore", "left\n");
    let ran = run(script, &["requestid=frontend.lint"]).await;
    let log = ran.fake.log();
    let last = log.solves.last().unwrap().definition.clone().unwrap();
    let sent = llb::view::text(&last);
    let excluded = r#"["left","file/*","lib/*","!lib/deep/er","lib/deep/er/*","old/*"]"#;
    assert!(
        sent.contains(&format!("local.excludepatterns {excluded}"))
            && sent.contains(r#"local.followpaths ["file","lib","lib/deep/er","old"]"#),
        "{sent}"
    );
    // What the ignore file takes away is said by its own rule.
    let said = json(&ran)["buildError"]["message"].to_string();
    for path in ["old/", "file/"] {
        assert!(
            said.contains(&format!("`{path}` is not in the context")),
            "{said}"
        );
    }
    assert_eq!(said.matches("is not in the context").count(), 2, "{said}");
}

/// What lints say that look into the context: scripts that are followed, patterns that match nothing.
#[tokio::test]
async fn a_check_looks_into_the_context() {
    let lanes = r#"[graph]
name = "t"
[lane.amd64]
platform = "linux/amd64"
output.image = { stage = "app" }
[stage.app]
from = { image = "busybox:1.36" }
[[stage.app.step]]
name = "conf"
copy = { from = "conf/", to = "/etc/app", only = ["*.conf", "locale/*.mo"] }
[[stage.app.step]]
name = "build"
files = ["build.sh", "old.sh"]
run = ["sh", "build.sh"]
"#;
    let script = |ignore: &str| {
        engine(lanes)
            .file("context", "build.sh", ". lib/common.sh\n")
            .file("context", "old.sh", "")
            .file("context", "conf/app.conf", "")
            .file("context", "conf/locale/de.po", "")
            .file("context", ".dockerignore", ignore)
    };
    let ran = run(script(""), &["requestid=frontend.lint"]).await;
    let found = json(&ran);
    let rules: Vec<&str> = found["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|warning| warning["ruleName"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["LK073", "LK065", "LK064"]);
    let text = text(&ran, "result.txt");
    assert!(
        text.contains("`locale/*.mo` matches nothing in `conf/`"),
        "{text}"
    );
    let mut lacks = script("");
    lacks.locals.get_mut("context").unwrap().remove("old.sh");
    let ran = run(lacks, &["requestid=frontend.lint"]).await;
    let said = json(&ran)["buildError"]["message"].to_string();
    assert!(
        said.contains("LK074") && said.contains("`old.sh` is not in the context"),
        "{said}"
    );
    assert!(!said.contains("`build.sh`"), "{said}");
    let ran = run(script("build.*\n"), &["requestid=frontend.lint"]).await;
    let error = json(&ran)["buildError"]["message"].to_string();
    assert!(
        error.contains("LK050")
            && error.contains("`build.sh` is left out of the context by .dockerignore"),
        "{error}"
    );
    let ran = run(script(""), &["requestid=frontend.lint"]).await;
    // Only what is looked at is sent, without what is not sent to a build.
    let log = ran.fake.log();
    let last = log.solves.last().unwrap().definition.clone().unwrap();
    let sent = llb::view::text(&last);
    assert!(
        sent.contains(r#"local.followpaths ["build.sh","conf","old.sh"]"#),
        "{sent}"
    );
}
