//! Outputs that a lane has in some runs alone: by a switch, by a payload.

use ::llb::{Caps, Definition};
use stages::graph::lint::lint;
use stages::plan::rehearse;
use stages::view::{tags, targets, targets_text};

use crate::common::{Loaded, load, lower, plan_with, rendered, request};

const LANES: &str = r#"
[graph]
name = "o"
[switch.tools]
default = false
about = "tools for developers"
[payload.sdk]
path = "sdk-*.zip"
empty-ok = "each user has another one"
lint = [{ allow = "LK022", why = "most have none" }, { allow = "LK023", why = "no hash of it is known" }]
[lane.l]
platform = "linux/amd64"
output.image = { stage = "app", tag = "app:1" }
output.tools = { stage = "tools", tag = "tools:1", when = { switch.tools = true } }
output.sdk = { stage = "sdk", root = "/sdk", when = { payload.sdk = "present" } }
output.both = { stage = "app", root = "/app", when = { any = [{ switch.tools = true }, { payload.sdk = "present" }] } }
[stage.app]
from = { image = "x" }
tree = ["/app"]
[[stage.app.step]]
name = "build"
run = ["make"]
[stage.tools]
when = { switch.tools = true }
from = { image = "x" }
tree = ["/tools"]
[[stage.tools.step]]
name = "build"
run = ["make", "tools"]
[stage.sdk]
when = { payload.sdk = "present" }
from = { image = "x" }
tree = ["/sdk"]
[[stage.sdk.step]]
name = "unpack"
files = [{ payload = "sdk", at = "/in" }]
run = ["unzip"]
[gate.tools]
of = "tools"
check = "files"
ask = { required = [{ path = "**" }] }
floor = [{ required = { least = 1 } }]
"#;

/// The stages and gates of a plan, or what is wrong with it.
fn planned(lanes: &str, target: &str, tools: bool, sdk: bool) -> String {
    let loaded = load(lanes, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let args = [("tools", tools.to_string())];
    let args = args.each_ref().map(|(name, on)| (*name, on.as_str()));
    let planned = plan_with(graph, &request(target, &args), &|_| {
        sdk.then(|| b"zip".to_vec())
    });
    match planned {
        Err(report) => report.render(&loaded.sources, false),
        Ok((plan, _)) => {
            let stages = plan.stages.iter().map(|stage| stage.name.clone());
            let gates = plan.gates.iter().map(|gate| format!("gate {}", gate.name));
            stages.chain(gates).collect::<Vec<_>>().join(" ")
        }
    }
}

#[test]
fn an_output_is_there_where_its_condition_holds() {
    for (target, tools, sdk, has) in [
        ("l", false, false, "app"),
        ("l/tools", true, false, "tools gate tools"),
        ("l/sdk", false, true, "sdk"),
        ("l/both", true, false, "app"),
        ("l/both", false, true, "app"),
        // What gates look at is that of the outputs that are there.
        ("l/gates", true, false, "app tools gate tools"),
    ] {
        let planned = planned(LANES, target, tools, sdk);
        let mut stages: Vec<&str> = planned.split(' ').collect();
        stages.dedup();
        for part in has.split(' ') {
            assert!(stages.contains(&part), "{target}: {planned}");
        }
        let most = has.split(' ').count() + usize::from(target == "l/gates");
        assert!(stages.len() <= most, "{target}: {planned}");
    }
}

#[test]
fn an_output_that_is_not_there_is_an_error_that_says_why() {
    let wrong = ["l/tools", "l/sdk", "l/both", "l/gates"]
        .map(|target| planned(LANES, target, false, false));
    insta::assert_snapshot!(wrong.join("\n"));
    // Also the one that the lane's name stands for.
    let only = LANES.replace("tag = \"app:1\" }", "when = { switch.tools = true } }");
    insta::assert_snapshot!(planned(&only, "l", false, false));
}

#[test]
fn every_output_is_judged_in_the_runs_that_have_it() {
    let loaded = load(LANES, "");
    let graph = loaded.graph.as_ref().expect("a graph");
    let said = rehearse(graph, |_| Ok(())).render(&loaded.sources, false);
    assert_eq!(said, "");
    assert_eq!(
        lint(graph, &loaded.sources, None).render(&loaded.sources, false),
        ""
    );
    // And not passed over: a mistake in one that only a switch brings is found.
    let text = LANES.replace("\"make\", \"tools\"", "\"make\", \"${env.NOWHERE}\"");
    let loaded = load(&text, "");
    let said = rehearse(loaded.graph.as_ref().expect("a graph"), |_| Ok(()));
    let said = said.render(&loaded.sources, false);
    assert_eq!(said, "", "images may set it");
    let text = LANES.replace("\"make\", \"tools\"", "\"make\", \"${arch.msvc-lib}\"");
    let loaded = load(&text, "");
    let said = rehearse(loaded.graph.as_ref().expect("a graph"), |_| Ok(()));
    assert!(said.render(&loaded.sources, false).contains("LK015"));
}

#[test]
fn a_tag_of_an_output_that_only_a_switch_brings_needs_no_part() {
    let loaded = load(LANES, "");
    let rows = tags(loaded.graph.as_ref().expect("a graph"));
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let tag = row.tag.as_deref().unwrap_or("-");
            format!("{} {:?} {:?} {tag}", row.output, row.switches, row.payloads)
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"));
}

#[test]
fn the_list_of_targets_says_that_an_output_is_not_always_there() {
    let loaded = load(LANES, "");
    insta::assert_snapshot!(targets_text(&targets(
        loaded.graph.as_ref().expect("a graph")
    )));
}

#[test]
fn conditions_of_outputs_are_judged_as_all_others() {
    let unknown = LANES
        .replace("switch.tools = true } }\noutput.sdk", "switch.tolls = true } }\noutput.sdk")
        .replace("payload.sdk = \"present\" } }\noutput.both", "request.output = \"sdk\" } }\noutput.both")
        .replace(
            "root = \"/app\", when",
            "root = \"/app\", add = [{ from = \"LICENSE\", at = \"${pin.NONE}\", when = { slot.none = \"x\" } }], when",
        );
    insta::assert_snapshot!(rendered(&load(&unknown, "")));
    let dead = LANES.replace(
        "{ any = [{ switch.tools = true }, { payload.sdk = \"present\" }] }",
        "{ lane.target = \"amd46\" }",
    );
    let loaded = load(&dead, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let said = lint(graph, &loaded.sources, None).render(&loaded.sources, false);
    insta::assert_snapshot!(said);
}

/// What other outputs there are is in nothing of an output.
#[test]
fn an_output_with_a_condition_changes_no_byte_of_another() {
    let bytes = |loaded: &Loaded| {
        let lowered = lower(loaded, &request("l", &[]), &Caps::all());
        let lowered =
            lowered.unwrap_or_else(|report| panic!("{}", report.render(&loaded.sources, false)));
        Definition::new(&lowered.result).to_pb().def
    };
    let (head, stages) = LANES.split_at(LANES.find("[stage.app]").expect("a stage"));
    let app = &stages[..stages.find("[stage.tools]").expect("a stage")];
    let lane = &head[head.find("[lane.l]").expect("a lane")..];
    let image: String = lane
        .lines()
        .take(3)
        .map(|line| format!("{line}\n"))
        .collect();
    let plain = format!("[graph]\nname = \"o\"\n{image}{app}");
    assert_eq!(bytes(&load(LANES, "")), bytes(&load(&plain, "")));
}
