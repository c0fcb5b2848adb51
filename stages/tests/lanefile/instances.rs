//! Which lanes share a stage.

use crate::common::{Loaded, load, rendered};

const LANES: &str = r#"
[graph]
name = "t"
[switch.fast]
default = true
about = "shortcuts"
[slot.sdk]
plain = { same-as = "base" }
rocm = { stage = "rocm" }
[lane.x64]
platform = "linux/amd64"
target = "windows/amd64"
slot.sdk = "plain"
output.o = { stage = "app" }
[lane.rocm]
platform = "linux/amd64"
target = "windows/amd64"
slot.sdk = "rocm"
output.o = { stage = "app" }
[lane.arm]
platform = "linux/amd64"
target = "windows/arm64"
slot.sdk = "plain"
output.o = { stage = "app" }
[stage.base]
from = { image = "x" }
image.labels = { lane = "${lane.name}" }
[stage.rocm]
from = "base"
[[stage.rocm.step]]
name = "install"
run = ["true"]
[stage.tools]
when = { lane.target = ["amd64", "arm64"] }
from = "base"
tree = ["/t"]
[[stage.tools.step]]
name = "make"
run = ["true"]
[stage.lib]
from = { slot = "sdk" }
tree = ["/l"]
[[stage.lib.step]]
name = "make"
uses = ["tools"]
run = ["true"]
[[stage.lib.step]]
name = "rocm-only"
when = { slot.sdk = "rocm" }
args = ["FAST=switch.fast"]
run = ["true"]
[stage.app]
from = "base"
add = ["lib"]
[[stage.app.step]]
name = "make"
run = ["true", "${arch.clang-triple}"]
"#;

fn ids(loaded: &Loaded, lane: &str) -> Vec<String> {
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(loaded)));
    let setting = graph.setting(lane, &graph.lanes[lane]);
    let instances = setting.instances();
    instances.into_values().map(|i| i.id).collect()
}

#[test]
fn an_instance_is_a_stage_with_what_it_reads() {
    let loaded = load(LANES, "");
    let text =
        ["x64", "rocm", "arm"].map(|lane| format!("{lane}:\n{}\n", ids(&loaded, lane).join("\n")));
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn what_a_stage_does_not_read_tells_no_instances_apart() {
    let loaded = load(LANES, "");
    let of = |lane: &str, stage: &str| {
        let all = ids(&loaded, lane);
        let mut found = all
            .into_iter()
            .filter(|id| id.split('@').next() == Some(stage));
        found.next().expect("the stage")
    };
    assert_eq!(of("x64", "tools"), of("arm", "tools"));
    assert_eq!(of("x64", "lib"), of("arm", "lib"));
    assert_ne!(of("x64", "lib"), of("rocm", "lib"));
    assert_ne!(of("x64", "app"), of("arm", "app"));
}

#[test]
fn a_platform_counts_where_lanes_run_on_several() {
    let text = LANES.replacen("\"linux/amd64\"", "\"linux/arm64\"", 1);
    let loaded = load(&text, "");
    assert!(ids(&loaded, "arm").contains(&"base@lane.platform=linux/amd64".to_owned()));
}

#[test]
fn same_for_is_an_assertion_over_every_lane_and_all_that_a_stage_is_made_of() {
    let asserted = |stage: &str, what: &str| {
        let header = format!("[stage.{stage}]\n");
        let text = LANES.replace(&header, &format!("{header}same-for = [{what}]\n"));
        assert_ne!(text, LANES);
        rendered(&load(&text, ""))
    };
    assert_eq!(
        asserted("lib", r#""lane.target", "lane.name""#),
        "nothing is wrong"
    );
    insta::assert_snapshot!(asserted(
        "app",
        r#""lane.target", "switch.fast", "slot.sdk""#
    ));
    insta::assert_snapshot!(asserted(
        "lib",
        r#""lane.arch", "slot.skd", "switch.quick", "target""#
    ));
}
