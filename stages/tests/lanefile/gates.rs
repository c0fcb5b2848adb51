//! Gates of all kinds: what the file says of them, and the vertices that come of it.

use crate::common::{Loaded, load, lower, manifest, plan, rendered, request};
use ::llb::{Caps, Definition};
use stages::keys;
use stages::lower::ExecOptions;

const GRAPH: &str = r#"
[graph]
name = "app"
versions = "versions.env"
[host]
CACHE = { about = "compile cache" }
[lane.amd64]
platform = "linux/amd64"
target = "linux/amd64"
output.image = { stage = "app" }
[lane.arm64]
platform = "linux/amd64"
target = "windows/arm64"
output.image = { stage = "app" }
[stage.lib]
from = { image = "debian:bookworm-slim" }
tree = ["/opt/lib"]
[[stage.lib.step]]
name = "build"
run = ["make", "lib"]
host = ["CACHE"]
[stage.app]
from = { image = "debian:bookworm-slim" }
add = ["lib"]
image.env = { APP_HOME = "/opt/lib" }
image.entrypoint = ["/entry", "--"]
[stage.other]
from = { image = "debian:bookworm-slim" }
tree = ["/opt/other"]
[[stage.other.step]]
name = "build"
run = ["make", "other"]
[stage.smoke]
from = "app"
[[stage.smoke.step]]
name = "suite"
run = ["/bin/suite", "--all"]
args = ["TARGET=lane.target"]
record = true
via = "entrypoint"
"#;

const GATES: &str = r#"
[gate.smoke]
of = "smoke"
for = "app"
check = "exec"
ask = { format = "lines" }
demand = { most = { skipped = 3 } }
floor = [{ passed = { least = 5, measured = 6, on = 2026-09-02 }, suites = { least = 1 } }]
[gate.deps]
of = "lib"
check = "deps"
ask = { python = "${pin.PYTHON}", needs = ["a", "b"] }
effect = "advise"
floor = [{ wheels = { least = 2 } }]
[gate.contract]
of = "app"
roots = ["/opt"]
check = "contract"
floor = [{ paths = { least = 1 } }]
[gate.leak]
of = "lib"
check = "leak"
ask = { host = ["CACHE"] }
floor = [{ files = { least = 1 } }]
[gate.apart]
of = "lib"
against = ["other"]
check = "overlap"
ask = { any = ["**/x"] }
floor = [{ trees = { least = 2 } }]
[gate.files]
of = "lib"
check = "files"
ask = { forbidden = [{ path = "**/a", why = "w" }, { path = "**/b", why = "w", when = { lane.target = "arm64" } }], required = [{ path = "**" }] }
floor = [{ required = { least = 1 } }]
[gate.calibration]
of = "lib"
check = "floors"
ask = { of-measured = 50, unmeasured = ["deps"] }
floor = [{ policies = { least = 5 } }]
"#;

fn graph(gates: &str) -> Loaded {
    load(&format!("{}{gates}", GRAPH), "PYTHON=3.14.2\n")
}

/// The text of every vertex that belongs to gates or that they look at.
fn vertices(loaded: &Loaded, target: &str) -> String {
    match lower(loaded, &request(target, &[]), &Caps::all()) {
        Ok(lowered) => ::llb::view::text(&Definition::new(&lowered.result).to_pb()),
        Err(report) => panic!(
            "{}{}",
            rendered(loaded),
            report.render(&loaded.sources, false)
        ),
    }
}

#[test]
fn every_kind_of_gate_has_its_mounts_keys_and_secrets() {
    insta::assert_snapshot!(vertices(&graph(GATES), "amd64"));
}

#[test]
fn a_gate_s_keys_follow_the_lane() {
    let loaded = graph(GATES);
    let policy = |lane: &str| {
        let (plan, _) = plan(loaded.graph.as_ref().unwrap(), &request(lane, &[])).unwrap();
        let gate = plan
            .gates
            .into_iter()
            .find(|gate| gate.name == "files")
            .unwrap();
        gate.policy
    };
    assert!(!policy("amd64").contains("**/b"));
    assert!(policy("arm64").contains("**/b"));
}

#[test]
fn floors_and_exemptions_are_those_of_the_lane_and_a_lane_has_one_floor() {
    const ARCH: &str = r#"
[gate.arch]
of = "lib"
check = "arch"
allow = [{ path = "**/tool", why = "runs on the host", when = { lane.target = "arm64" } }]
[[gate.arch.floor]]
when = { lane.target = "amd64" }
inspected = { least = 11 }
[[gate.arch.floor]]
when = { lane.target = "arm64" }
inspected = { least = 22 }
"#;
    let loaded = graph(&format!("{GATES}{ARCH}"));
    let policy = |lane: &str| {
        let (plan, _) = plan(loaded.graph.as_ref().unwrap(), &request(lane, &[])).unwrap();
        let mut gates = plan.gates.into_iter();
        gates.find(|gate| gate.name == "arch").unwrap().policy
    };
    let [amd64, arm64] = ["amd64", "arm64"].map(policy);
    assert!(
        amd64.contains(r#""allow":[]"#) && amd64.contains(r#""least":11"#),
        "{amd64}"
    );
    assert!(
        arm64.contains("**/tool") && arm64.contains(r#""least":22"#),
        "{arm64}"
    );
    assert!(!arm64.contains(r#""least":11"#), "{arm64}");
    let both = ARCH.replace("when = { lane.target = \"amd64\" }\n", "");
    let told = rendered(&graph(&format!("{GATES}{both}")));
    assert!(
        told.contains("gate `arch` has two floors in lane `arm64`"),
        "{told}"
    );
    let none = ARCH.replace(
        "lane.target = \"amd64\" }\ninspected",
        "lane.target = \"arm64\" }\ninspected",
    );
    let told = rendered(&graph(&format!("{GATES}{none}")));
    assert!(
        told.contains("gate `arch` has no floor in lane `amd64`"),
        "{told}"
    );
}

#[test]
fn a_stage_that_only_a_gate_looks_at_is_no_dead_one_and_in_no_other_build() {
    let loaded = graph(GATES);
    assert!(vertices(&loaded, "amd64").contains("[smoke/suite]"));
    let lib = vertices(&loaded, "amd64/lib");
    assert!(!lib.contains("[smoke/suite]"), "{lib}");
    let rest = GATES.split_once("[gate.deps]").unwrap().1;
    let without = graph(&format!("[gate.deps]{rest}"));
    let report = without.graph.as_ref().unwrap_err();
    let told = report.render(&without.sources, false);
    assert!(told.contains("stage `smoke`"), "{told}");
}

#[test]
fn keys_that_cannot_be_are_refused_together() {
    let values = GATES
        .replace("effect = \"advise\"", "effect = \"ask\"")
        .replace("{ host = [\"CACHE\"] }", "{ host = 1.5 }");
    insta::assert_snapshot!(rendered(&graph(&values)));
    let wrong = GATES
        .replace("against = [\"other\"]\n", "")
        .replace("for = \"app\"", "for = \"app\"\nhold = [\"other\"]")
        .replace("effect = \"advise\"", "against = [\"app\"]");
    insta::assert_snapshot!(rendered(&graph(&wrong)));
    let host = graph(&GATES.replace("[\"CACHE\"] }\nfloor", "[\"CASH\"] }\nfloor"));
    let told = lower(&host, &request("amd64", &[]), &Caps::all()).unwrap_err();
    assert!(
        told.render(&host.sources, false)
            .contains("did you mean `CACHE`")
    );
}

#[test]
fn a_recorded_step_is_the_last_and_its_stage_has_no_tree() {
    let tree = GRAPH.replace("[stage.smoke]\n", "[stage.smoke]\ntree = [\"/x\"]\n");
    let loaded = load(&format!("{}{GATES}", tree), "PYTHON=3.14.2\n");
    assert!(rendered(&loaded).contains("LK091"), "{}", rendered(&loaded));
    let via = GRAPH.replace("record = true\n", "");
    let loaded = load(&format!("{}{GATES}", via), "PYTHON=3.14.2\n");
    assert!(rendered(&loaded).contains("LK091"), "{}", rendered(&loaded));
}

#[test]
fn an_image_is_attested_by_one_vertex_over_its_verdicts_and_a_bundle_is_not() {
    let asked = GRAPH.replacen(
        "{ stage = \"app\" }",
        "{ stage = \"app\", attest = true }",
        1,
    );
    let loaded = load(&format!("{asked}{GATES}"), "PYTHON=3.14.2\n");
    let lowered = |lane: &str| lower(&loaded, &request(lane, &[]), &Caps::all()).unwrap();
    let attested = lowered("amd64").attested.expect("asked for");
    let names: Vec<String> = lowered("amd64")
        .gates
        .iter()
        .map(|gate| format!("/{}.json", gate.name))
        .collect();
    assert_eq!(
        attested.paths, names,
        "one for each gate, no two of one name"
    );
    let text = ::llb::view::text(&Definition::new(&attested.made).to_pb());
    assert!(
        text.contains("[gates] attest") && text.contains("--predicates"),
        "{text}"
    );
    assert!(
        lowered("arm64").attested.is_none(),
        "only where it is asked for"
    );
    // What is exported is the same vertex.
    let bare = load(&format!("{GRAPH}{GATES}"), "PYTHON=3.14.2\n");
    let without = lower(&bare, &request("amd64", &[]), &Caps::all()).unwrap();
    assert_eq!(lowered("amd64").result.digest(), without.result.digest());

    let bundle = asked.replacen("attest = true", "root = \"/opt\", attest = true", 1);
    let text = rendered(&load(&format!("{bundle}{GATES}"), "PYTHON=3.14.2\n"));
    assert!(text.contains("only an image has attestations"), "{text}");
}

const EXTERNAL: &str = r#"
[gate.device]
of = "lib"
for = "app"
check = "exec"
ask = { format = "lines" }
report = "reports/${lane.target}.json"
floor = [{ passed = { least = 5 } }]
"#;

/// The graph with one gate, `device`, without the recorded stage and without stages that the gate
/// does not name: nothing is unused.
fn external(gate: &str) -> Loaded {
    let named = |table: &&str| {
        let other = table.contains("[stage.other") && !gate.contains("other");
        !other && !table.contains("[stage.smoke")
    };
    let graph: String = parts(GRAPH).filter(named).collect();
    load(&format!("{graph}{gate}"), "")
}

/// The text, cut before each line that opens a table.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("\n[").map(|(at, _)| at + 1);
    let ends = starts.clone().chain([text.len()]);
    std::iter::once(0)
        .chain(starts)
        .zip(ends)
        .map(|(from, to)| &text[from..to])
}

#[test]
fn a_report_from_outside_is_accepted_in_place_of_inspect() {
    let loaded = external(EXTERNAL);
    let text = vertices(&loaded, "arm64");
    insta::assert_snapshot!(text);
    assert!(
        !vertices(&loaded, "arm64/lib").contains("device"),
        "the tree needs none"
    );
    let (plan, _) = plan(loaded.graph.as_ref().unwrap(), &request("amd64", &[])).unwrap();
    assert_eq!(plan.context, ["reports/amd64.json"]);
    let ignore = stages::ignore::Ignore::parse("reports\n");
    let told = stages::ignore::check(&plan, &ignore, ".dockerignore").unwrap_err();
    let told = told.render(&loaded.sources, false);
    assert!(told.contains("the report of this gate"), "{told}");
}

#[test]
fn a_report_from_outside_is_of_one_whole_tree() {
    let told: Vec<String> = [
        ("of = \"lib\"\nfor = \"app\"\n", "of = \"app\"\n"),
        ("check =", "roots = [\"/opt/lib\"]\ncheck ="),
        ("check =", "against = [\"other\"]\ncheck ="),
        ("\"exec\"\nask = { format = \"lines\" }", "\"floors\""),
    ]
    .into_iter()
    .map(|(from, to)| {
        assert!(EXTERNAL.contains(from));
        let floors = EXTERNAL.replace(from, to);
        let floors = match to.contains("floors") {
            true => floors.replace("passed", "policies"),
            false => floors,
        };
        rendered(&external(&floors))
    })
    .collect();
    insta::assert_snapshot!(told.join("\n"));
    for (path, why) in [
        ("../r.json", "plain path"),
        ("/r.json", "a path of the context"),
        ("reports/", "`reports/` is no report"),
        ("r*.json", "patterns"),
    ] {
        let gate = EXTERNAL.replace("reports/${lane.target}.json", path);
        let loaded = external(&gate);
        let told = lower(&loaded, &request("amd64", &[]), &Caps::all()).unwrap_err();
        let told = told.render(&loaded.sources, false);
        assert!(told.contains(why), "{path}: {told}");
    }
}

#[test]
fn what_gates_ask_and_demand_is_in_their_keys_and_in_those_of_floors() {
    let made = |gates: &str| {
        let loaded = graph(gates);
        manifest(&loaded, "amd64", &ExecOptions::default(), &|_| None)
    };
    let old = made(GATES);
    let moved = |from: &str, to: &str| -> Vec<String> {
        assert!(GATES.contains(from), "{from}");
        let new = made(&GATES.replacen(from, to, 1));
        let pairs = old.nodes.iter().zip(&new.nodes);
        let changed = pairs.flat_map(|(old, new)| {
            let changes = keys::changes(old, new).into_iter();
            changes.map(|change| format!("{} {}", new.id, change.name))
        });
        changed.collect()
    };
    // What a gate demands is in no inspection but that of floors, which read all policies.
    assert_eq!(
        moved("least = 5, measured", "least = 4, measured"),
        [
            "gate:calibration/inspect policy.smoke",
            "gate:smoke/assert policy"
        ]
    );
    // What it asks is a part of both.
    assert_eq!(
        moved("\"**/x\"", "\"**/y\""),
        [
            "gate:apart/inspect ask",
            "gate:apart/assert policy",
            "gate:calibration/inspect policy.apart"
        ]
    );
    let suite = old.node("smoke/suite").expect("a node");
    assert_eq!(suite.components["recorded-by"], "lanegate");
}
