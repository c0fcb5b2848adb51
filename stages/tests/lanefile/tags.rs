//! Tags: the table, what switches add, and what may have none.

use stages::view::{TagRow, tags};

use crate::common::{load, plan, rendered, request};

const LANES: &str = r#"
[graph]
name = "t"
[switch.nameless]
default = false
about = "no tag part"
[switch.spikes]
default = true
about = "experiments"
tag-part = { false = "-nospikes" }
[slot.sdk]
plain = { same-as = "base" }
rocm = { stage = "rocm" }
[lane.cpu]
platform = "linux/amd64"
slot.sdk = "plain"
output.image = { stage = "app", tag = "app:${lane.name}" }
output.base = { stage = "base", tag = "base:1" }
[lane.gpu]
platform = "linux/amd64"
slot.sdk = "rocm"
output.image = { stage = "app", tag = "app:${lane.name}-${slot.sdk}" }
output.base = { stage = "base", tag = "base:1" }
[stage.base]
from = { image = "x" }
[stage.rocm]
from = "base"
[[stage.rocm.step]]
name = "spike"
when = { switch.spikes = true }
run = ["true"]
[[stage.rocm.step]]
name = "other"
when = { switch.nameless = true }
run = ["true"]
[stage.app]
from = { slot = "sdk" }
[[stage.app.step]]
name = "spike"
when = { slot.sdk = "rocm", switch.spikes = true }
run = ["true"]
"#;

fn line(row: &TagRow) -> String {
    let tag = row.tag.as_deref().unwrap_or("-");
    let switches: Vec<String> = row
        .switches
        .iter()
        .map(|(k, v)| format!("{k}={v}"))
        .collect();
    format!(
        "{}/{} [{}] {tag} {}",
        row.lane,
        row.output,
        switches.join(","),
        row.unpublishable.join("; ")
    )
}

#[test]
fn the_table_has_a_row_for_each_switch_that_changes_the_output() {
    let loaded = load(LANES, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let table: Vec<String> = tags(graph).iter().map(line).collect();
    assert_eq!(
        table,
        [
            "cpu/base [] base:1 ",
            "cpu/image [] app:cpu ",
            "gpu/base [] base:1 ",
            "gpu/image [] app:gpu-rocm ",
            "gpu/image [nameless=true] - switch `nameless` is true, and has no `tag-part`",
            "gpu/image [spikes=false] app:gpu-rocm-nospikes ",
        ]
    );
}

#[test]
fn what_is_built_has_the_tag_of_the_table_or_says_why_not() {
    let loaded = load(LANES, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let tag = |args: &[(&str, &str)]| {
        let (plan, _) = plan(graph, &request("gpu", args)).expect("a plan");
        let stages::plan::PlannedOutput::Product { tag, .. } = plan.output else {
            panic!()
        };
        (tag, plan.unpublishable.len())
    };
    assert_eq!(tag(&[]), (Some("app:gpu-rocm".into()), 0));
    assert_eq!(
        tag(&[("spikes", "false")]),
        (Some("app:gpu-rocm-nospikes".into()), 0)
    );
    assert_eq!(tag(&[("nameless", "true")]), (None, 1));
    assert_eq!(tag(&[("nameless", "true"), ("spikes", "false")]), (None, 1));
}

#[test]
fn a_tag_for_two_contents_and_texts_that_are_no_tags_are_refused() {
    let same = LANES
        .replace("app:${lane.name}-${slot.sdk}", "app:${lane.name}")
        .replace("app:${lane.name}", "app:1");
    insta::assert_snapshot!(rendered(&load(&same, "")));
    let part = LANES.replace("-nospikes", "no spikes");
    insta::assert_snapshot!(rendered(&load(&part, "")));
    let equal = LANES.replace("false = \"-nospikes\"", "false = \"\"");
    insta::assert_snapshot!(rendered(&load(&equal, "")));
    let text = LANES.replace("app:${lane.name}-", "app:-${lane.name} ");
    let loaded = load(&text, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let report = plan(graph, &request("gpu", &[])).expect_err("no tag");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}
