//! What bad lane files get: every error with its lines, all at once.

use crate::common::{load, plan, rendered, request};

/// A small graph that is right; each test breaks something.
const GOOD: &str = r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "t"

[arg.GREETING]
default = "Hello"
about = "the first word"

[host.CACHE]
about = "a cache"

[slot.sdk]
plain = { same-as = "base" }
rocm = { stage = "sdk-rocm" }

[lane.amd64]
platform = "linux/amd64"
target = "windows/amd64"
slot.sdk = "plain"
output.image = { stage = "image" }
output.bundle = { stage = "media", root = "/r" }

[stage.base]
from = { image = "debian:${pin.DEBIAN}" }

[stage.sdk-rocm]
from = "base"

[stage.a]
from = { slot = "sdk" }
tree = ["/r/a"]
[[stage.a.step]]
name = "build"
args = ["GREETING", "V=A_VERSION"]
host = ["CACHE"]
files = ["a.sh", "src/"]
run = ["sh", "a.sh"]

[stage.b]
from = { slot = "sdk" }
tree = ["/r/b"]
[[stage.b.step]]
name = "build"
uses = ["a"]
run = ["true"]

[stage.media]
merge = ["a", "b"]

[stage.image]
from = "base"
add = ["media"]

[gate.arch]
of = "media"
check = "arch"
hold = ["image"]
[[gate.arch.floor]]
inspected = { least = 3 }

[lane.rocm]
platform = "linux/amd64"
target = "windows/amd64"
slot.sdk = "rocm"
output.image = { stage = "image" }
"#;
const PINS: &str = "DEBIAN=bookworm\nA_VERSION=1\n";

/// The good file with `from` replaced by `to`.
fn broken(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "the test replaces nothing: {from}");
    rendered(&load(&GOOD.replace(from, to), PINS))
}

#[test]
fn the_good_file_is_good() {
    assert_eq!(rendered(&load(GOOD, PINS)), "nothing is wrong");
}

#[test]
fn not_toml() {
    insta::assert_snapshot!(broken("[lane.amd64]", "[lane.amd64\nx = = 1"));
}

#[test]
fn unknown_keys_get_the_nearest_known_one() {
    insta::assert_snapshot!(broken("files = [\"a.sh\", \"src/\"]", "fiels = [\"a.sh\"]"));
}

#[test]
fn wrong_types_and_missing_keys_are_said_together() {
    let text = GOOD
        .replace("default = \"Hello\"", "default = 3")
        .replace("about = \"a cache\"", "need = \"perhaps\"")
        .replace("run = [\"true\"]", "run = \"true\"");
    insta::assert_snapshot!(rendered(&load(&text, PINS)));
}

#[test]
fn unknown_names_everywhere_are_said_together() {
    let text = GOOD
        .replace("uses = [\"a\"]", "uses = [\"aa\"]")
        .replace("V=A_VERSION", "V=A_VERSOIN")
        .replace("host = [\"CACHE\"]", "host = [\"CASHE\"]")
        .replace(
            "from = { slot = \"sdk\" }\ntree = [\"/r/a\"]",
            "from = { slot = \"skd\" }\ntree = [\"/r/a\"]",
        )
        .replace("of = \"media\"", "of = \"medai\"");
    insta::assert_snapshot!(rendered(&load(&text, PINS)));
}

#[test]
fn a_cycle_is_shown_with_its_stages() {
    insta::assert_snapshot!(broken(
        "[stage.a]\nfrom = { slot = \"sdk\" }",
        "[stage.a]\nfrom = \"media\""
    ));
}

#[test]
fn what_nothing_uses_is_an_error() {
    let loaded = load(
        &GOOD.replace("host = [\"CACHE\"]\n", ""),
        "DEBIAN=bookworm\nA_VERSION=1\nB_VERSION=2\n",
    );
    insta::assert_snapshot!(rendered(&loaded));
}

#[test]
fn a_name_is_one_thing() {
    insta::assert_snapshot!(rendered(&load(
        GOOD,
        "DEBIAN=bookworm\nA_VERSION=1\nGREETING=hi\n"
    )));
}

#[test]
fn a_target_without_a_row_is_no_default() {
    insta::assert_snapshot!(broken("windows/amd64", "windows/amr64"));
}

#[test]
fn a_floor_of_zero_needs_a_reason() {
    insta::assert_snapshot!(broken("least = 3", "least = 0"));
}

#[test]
fn a_floor_lies_above_its_broken_value_and_not_above_what_was_measured() {
    insta::assert_snapshot!(broken("least = 3", "least = 3, broken = 3, measured = 2"));
}

#[test]
fn a_gate_without_a_floor_is_refused() {
    insta::assert_snapshot!(broken(
        "[[gate.arch.floor]]\ninspected = { least = 3 }\n",
        ""
    ));
}

#[test]
fn a_gate_holds_only_what_takes_its_product_as_a_tree() {
    insta::assert_snapshot!(broken("hold = [\"image\"]", "hold = [\"sdk-rocm\"]"));
}

#[test]
fn whole_contexts_and_ways_out_of_it_are_no_files() {
    insta::assert_snapshot!(broken(
        "\"a.sh\", \"src/\"",
        "\".\", \"../x\", \"/etc/passwd\", \"src/*\""
    ));
}

#[test]
fn a_pins_file_above_the_lane_file_is_refused() {
    insta::assert_snapshot!(broken(
        "name = \"t\"",
        "name = \"t\"\nversions = \"../versions.env\""
    ));
}

#[test]
fn an_empty_file_says_what_is_missing() {
    insta::assert_snapshot!(rendered(&load("", "")));
}

/// What is wrong with a request.
fn refused(target: &str, args: &[(&str, &str)]) -> String {
    let loaded = load(GOOD, PINS);
    let graph = loaded.graph.as_ref().expect("the good file is good");
    match plan(graph, &request(target, args)) {
        Ok(_) => "nothing is wrong".into(),
        Err(report) => report.render(&loaded.sources, false),
    }
}

#[test]
fn unknown_build_args_get_the_nearest_name_and_the_list() {
    insta::assert_snapshot!(refused("amd64", &[("NOPE", "1"), ("GREETIN", "x")]));
}

#[test]
fn a_host_setting_is_no_build_arg() {
    insta::assert_snapshot!(refused("amd64", &[("CACHE", "http://x")]));
}

#[test]
fn a_pin_is_no_build_arg() {
    insta::assert_snapshot!(refused("amd64", &[("A_VERSION", "2")]));
}

#[test]
fn unknown_targets_get_a_list() {
    insta::assert_snapshot!(refused("arm46", &[]));
    insta::assert_snapshot!(refused("amd64/imgae", &[]));
}

#[test]
fn a_platform_that_the_lane_does_not_have_is_refused() {
    let loaded = load(GOOD, PINS);
    let graph = loaded.graph.as_ref().expect("the good file is good");
    let mut wanted = request("amd64", &[]);
    wanted.platforms.push("linux/arm64".into());
    let report = plan(graph, &wanted).expect_err("another platform");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}

/// What is wrong with the plan of a changed file.
fn unplannable(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "the test replaces nothing: {from}");
    let loaded = load(&GOOD.replace(from, to), PINS);
    let Ok(graph) = &loaded.graph else {
        return rendered(&loaded);
    };
    match plan(graph, &request("amd64", &[])) {
        Ok(_) => "nothing is wrong".into(),
        Err(report) => report.render(&loaded.sources, false),
    }
}

#[test]
fn trees_in_each_others_way_are_refused() {
    let text = GOOD
        .replace("tree = [\"/r/b\"]", "tree = [\"/r\"]")
        .replace("add = [\"media\"]", "add = [\"a\", \"b\"]")
        .replace("of = \"media\"", "of = \"a\"");
    let loaded = load(&text, PINS);
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let report = plan(graph, &request("amd64/image", &[])).expect_err("the trees overlap");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}

#[test]
fn a_tree_in_a_read_only_mount_is_refused() {
    insta::assert_snapshot!(unplannable("tree = [\"/r/b\"]", "tree = [\"/r/a/more\"]"));
}

#[test]
fn paths_that_cannot_be_are_refused() {
    insta::assert_snapshot!(unplannable(
        "tree = [\"/r/b\"]",
        "tree = [\"r/b\", \"/\", \"/r/*/b\", \"/r/../b\"]"
    ));
}

#[test]
fn a_part_that_a_tree_does_not_have_is_refused() {
    insta::assert_snapshot!(unplannable(
        "uses = [\"a\"]",
        "uses = [{ stage = \"a\", sub = \"/x\" }]"
    ));
}

#[test]
fn mounts_in_each_other_are_refused() {
    insta::assert_snapshot!(unplannable(
        "uses = [\"a\"]",
        "uses = [\"a\"]\ncache = [{ id = \"c\", at = \"/r/a/cache\" }]"
    ));
}

#[test]
fn an_argument_without_a_value_cannot_stand_in_a_text() {
    let text = GOOD
        .replace("default = \"Hello\"\n", "")
        .replace("run = [\"true\"]", "run = [\"echo\", \"${arg.GREETING}\"]");
    let loaded = load(&text, PINS);
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let report = plan(graph, &request("amd64", &[])).expect_err("absent");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}
