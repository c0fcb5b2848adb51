//! What comes out: image configs, stamps, bundles, and runs that are not verified.

use std::collections::BTreeMap;

use ::llb::{Caps, Definition};

use crate::common::{load, lower, plan, rendered, request};

const LANES: &str = r#"
[graph]
name = "o"
versions = "versions.env"
[arg.DATE]
about = "when"
stamp = true
[arg.REVISION]
about = "of what"
stamp = true
default = "none"
[lane.l]
platform = "linux/amd64"
output.image = { stage = "app", tag = "app:1" }
output.bundle = { stage = "app", root = "/opt", add = ["LICENSE", { from = "docs/", at = "share" }] }
[stage.app]
from = { image = "x" }
[[stage.app.step]]
name = "s"
args = ["TOOL"]
run = ["true"]
[stage.app.image]
env = { REV = "${arg.REVISION}" }
labels = { created = "${arg.DATE}", rev = "r-${arg.REVISION}" }
annotations = { "org.opencontainers.image.revision" = "${arg.REVISION}", when = "${arg.DATE}" }
entrypoint = ["app"]
shell = ["bash", "-c"]
stop-signal = "SIGINT"
volumes = ["/data"]
ports = ["8080", "53/udp"]
healthcheck = { script = "app ping || exit 1", interval = "1m30s", timeout = "500ms", retries = 3 }
[gate.arch]
of = "app"
check = "arch"
roots = ["/opt"]
skippable = true
[[gate.arch.floor]]
inspected = { least = 1 }
[gate.never]
of = "app"
check = "arch"
roots = ["/opt"]
[[gate.never.floor]]
inspected = { least = 1 }
"#;
const PINS: &str = "TOOL=1\n";

fn config(args: &[(&str, &str)]) -> serde_json::Value {
    let loaded = load(LANES, PINS);
    let lowered = lower(&loaded, &request("l", args), &Caps::all());
    let lowered = lowered.unwrap_or_else(|report| {
        panic!(
            "{}{}",
            rendered(&loaded),
            report.render(&loaded.sources, false)
        )
    });
    serde_json::from_slice(&lowered.config).expect("JSON")
}

fn ops(target: &str, args: &[(&str, &str)]) -> Vec<Vec<u8>> {
    let loaded = load(LANES, PINS);
    let lowered = lower(&loaded, &request(target, args), &Caps::all()).expect("LLB");
    Definition::new(&lowered.result).to_pb().def
}

#[test]
fn a_config_has_what_the_image_table_says() {
    insta::assert_snapshot!(serde_json::to_string_pretty(&config(&[])).expect("JSON"));
    let text = LANES.replace("healthcheck = {", "healthcheck = \"none\" #");
    let loaded = load(&text, PINS);
    let lowered = lower(&loaded, &request("l", &[]), &Caps::all()).expect("LLB");
    let config = String::from_utf8(lowered.config).expect("text");
    assert!(
        config.contains(r#""Healthcheck":{"Test":["NONE"]}"#),
        "{config}"
    );
}

#[test]
fn a_stamp_touches_the_config_alone() {
    let given = [("DATE", "2026-12-02"), ("REVISION", "abc")];
    assert_eq!(ops("l", &[]), ops("l", &given));
    let labels = &config(&given)["config"]["Labels"];
    assert_eq!(labels["created"], "2026-12-02");
    assert_eq!(labels["rev"], "r-abc");
    assert_eq!(
        config(&[])["config"]["Labels"]["created"],
        serde_json::Value::Null
    );
    let loaded = load(LANES, PINS);
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let (planned, _) = plan(graph, &request("l", &given)).expect("a plan");
    let want = [
        ("org.opencontainers.image.revision", "abc"),
        ("when", "2026-12-02"),
    ];
    let want: BTreeMap<String, String> = want.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    assert_eq!(planned.annotations, want);
    let (bundle, _) = plan(graph, &request("l/bundle", &given)).expect("a plan");
    assert!(bundle.annotations.is_empty());
}

#[test]
fn a_bundle_has_files_of_the_context_beside_it() {
    let loaded = load(LANES, PINS);
    let lowered = lower(&loaded, &request("l/bundle", &[]), &Caps::all()).expect("LLB");
    let text = ::llb::view::text(&Definition::new(&lowered.result).to_pb());
    for part in [
        "copy #4.0:/LICENSE to /LICENSE",
        "/docs to /share/docs",
        r#"["LICENSE","docs"]"#,
    ] {
        let part = part.strip_prefix("copy #4.0:").unwrap_or(part);
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn an_unverified_run_is_marked_and_has_no_tag() {
    let loaded = load(LANES, PINS);
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let run = |args: &[(&str, &str)]| {
        let (plan, _) = plan(graph, &request("l", args)).expect("a plan");
        let stages::plan::PlannedOutput::Product { tag, .. } = &plan.output else {
            panic!()
        };
        let gates: Vec<String> = plan.gates.iter().map(|gate| gate.name.clone()).collect();
        let tool = plan.stages[0].steps[0].env["TOOL"].clone();
        (
            tag.clone(),
            plan.unpublishable,
            gates.join(" "),
            tool,
            plan.warnings.len(),
        )
    };
    assert_eq!(
        run(&[]),
        (
            Some("app:1".into()),
            vec![],
            "arch never".into(),
            "1".into(),
            0
        )
    );
    assert_eq!(
        run(&[("LANEKIT_SKIP_GATE", "arch"), ("LANEKIT_PIN_TOOL", "2")]),
        (
            None,
            vec![
                "gate `arch` was skipped".into(),
                "pin `TOOL` was given for this run".into()
            ],
            "never".into(),
            "2".into(),
            2
        )
    );
    let wrong = [
        ("LANEKIT_SKIP_GATE", "never,nosuch"),
        ("LANEKIT_PIN_TOLO", "2"),
        ("LANEKIT_OTHER", ""),
    ];
    let report = plan(graph, &request("l", &wrong)).expect_err("refused");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}

#[test]
fn image_tables_that_cannot_be_are_refused_together() {
    let text = LANES
        .replace("\"53/udp\"", "\"70000\", \"+1\", \"1/http\"")
        .replace("interval = \"1m30s\"", "interval = \"90\"")
        .replace("timeout = \"500ms\"", "timeout = \"0s\", cmd = [\"x\"]")
        .replace(
            "output.image = {",
            "output.other = { stage = \"app\", add = [\"LICENSE\"] }\noutput.image = {",
        );
    insta::assert_snapshot!(rendered(&load(&text, PINS)));
}

/// Two lanes that need nothing to run, and a group of them.
const GROUP: &str = r#"
[graph]
name = "g"
[lane.amd64]
platform = "linux/amd64"
output.image = { stage = "app", tag = "app:amd64" }
[lane.arm64]
platform = "linux/arm64"
output.image = { stage = "app", tag = "app:arm64" }
[group.app]
lanes = ["amd64", "arm64"]
tag = "app:1"
[stage.app]
from = "scratch"
[[stage.app.step]]
name = "w"
write = { path = "/d/platform", text = "${lane.platform}" }
"#;

fn parts(
    graph: &stages::graph::Graph,
    platforms: &[&str],
) -> Result<Vec<String>, stages::diag::Report> {
    let request = stages::plan::Request {
        platforms: platforms.iter().map(|p| (*p).to_owned()).collect(),
        ..request("app", &[])
    };
    let requests = stages::plan::requests(graph, &request)?;
    let parts = requests.into_iter().map(|request| {
        let (plan, _) = plan(graph, &request).expect("a plan");
        let stages::plan::PlannedOutput::Product { tag, .. } = plan.output else {
            panic!()
        };
        format!("{} {}", plan.platform, tag.unwrap_or_default())
    });
    Ok(parts.collect())
}

#[test]
fn a_group_is_one_request_for_each_of_its_lanes() {
    let loaded = load(GROUP, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let all = parts(graph, &[]).expect("all");
    assert_eq!(all, ["linux/amd64 app:1", "linux/arm64 app:1"]);
    let one = parts(graph, &["linux/arm64"]).expect("one");
    assert_eq!(one, ["linux/arm64 app:1"]);
    let given = request("app", &[("LANEKIT_SKIP_GATE", "a")]);
    let requests = stages::plan::requests(graph, &given).expect("requests");
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| request.args == given.args));
    let report = parts(graph, &["linux/arm64", "linux/riscv64"]).expect_err("no such lane");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
    let report = plan(graph, &request("app/app", &[])).expect_err("a group is whole");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}

#[test]
fn a_payload_in_the_tag_of_a_group_is_looked_for() {
    let payload = "[payload.sdk]\npath = \"sdk.zip\"\nempty-ok = \"w\"\n[group.app]";
    let text = GROUP.replace("[group.app]", payload);
    let loaded = load(&text.replace("app:1", "app:${payload.sdk}"), "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let requests = stages::plan::requests(graph, &request("app", &[])).expect("requests");
    for one in &requests {
        let selection = stages::plan::select(graph, one).expect("a lane");
        assert!(selection.payloads().contains("sdk"));
    }
    // The tags of the lanes do not name it.
    let selection = stages::plan::select(graph, &request("amd64", &[])).expect("a lane");
    assert!(selection.payloads().is_empty());
}

#[test]
fn the_reports_of_a_group_are_those_of_its_lanes_that_have_gates() {
    let gate = |when: &str| {
        format!(
            "{GROUP}[gate.hash]\nof = \"app\"\nroots = [\"/d\"]\ncheck = \"manifest\"\n{when}\nfloor = [{{ files = {{ least = 1, measured = 1 }} }}]\n"
        )
    };
    let reports = |text: &str, platforms: &[&str]| {
        let loaded = load(text, "");
        let graph = loaded
            .graph
            .as_ref()
            .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
        let request = stages::plan::Request {
            platforms: platforms.iter().map(|p| (*p).to_owned()).collect(),
            ..request("app/gates", &[])
        };
        let requests = stages::plan::requests(graph, &request).expect("requests");
        let planned = requests.iter().map(|request| match plan(graph, request) {
            Ok((plan, _)) => format!(
                "{} {}",
                plan.lane,
                matches!(plan.output, stages::plan::PlannedOutput::Gates)
            ),
            Err(report) => report.diagnostics()[0].message.clone(),
        });
        planned.collect::<Vec<_>>()
    };
    assert_eq!(reports(&gate(""), &[]), ["amd64 true", "arm64 true"]);
    assert_eq!(reports(&gate(""), &["linux/arm64"]), ["arm64 true"]);
    let one = gate("when = { lane.name = \"arm64\" }");
    assert_eq!(reports(&one, &[]), ["arm64 true"]);
    let none = "no gate checks anything of lane";
    assert_eq!(
        reports(GROUP, &[]),
        [format!("{none} `amd64`"), format!("{none} `arm64`")]
    );
}

#[test]
fn groups_that_cannot_be_are_refused_together() {
    let text = GROUP
        .replace(
            "\"arm64\"]",
            "\"arm64\", \"amd64\", \"amr64\"]\noutput = \"bundle\"",
        )
        .replace("[group.app]", "[group.arm64]\nlanes = []\n[group.app]");
    insta::assert_snapshot!(rendered(&load(&text, "")));
}
