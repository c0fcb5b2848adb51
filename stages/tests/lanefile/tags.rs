//! Tags: the table, what switches add, and what may have none.

use ::llb::Digest;
use stages::view::{TagRow, tags};

use crate::common::{facts, load, plan, plan_with, rendered, request};

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
    let switches: Vec<String> = switches
        .into_iter()
        .chain(row.payloads.iter().map(|name| format!("with {name}")))
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
fn a_stage_is_no_output_and_so_not_publishable() {
    let loaded = load(LANES, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let of = |target: &str| {
        let (plan, _) = plan(graph, &request(target, &[])).expect("a plan");
        plan.unpublishable
    };
    assert!(of("gpu/image").is_empty());
    assert_eq!(
        of("gpu/app"),
        ["stage `app` was asked for, which is no output of lane `gpu`"]
    );
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

/// Lane `l` takes every payload, lane `none` none.
const PAYLOADS: &str = r#"
[graph]
name = "t"
versions = "versions.env"
[payload.named]
path = "named.zip"
sha256 = "NAMED_SHA256"
[payload.open]
path = "open.zip"
empty-ok = "each user has another"
tag-part = { present = "-open" }
[payload.parted]
path = "parted.zip"
sha256 = "PARTED_SHA256"
tag-part = { present = "-parted" }
[payload.silent]
path = "silent.zip"
sha256 = "SILENT_SHA256"
[switch.extra]
default = false
about = "more"
tag-part = { true = "-extra" }
[lane.l]
platform = "linux/amd64"
output.image = { stage = "app", tag = "app:l-${payload.named}" }
[lane.none]
platform = "linux/amd64"
output.image = { stage = "base", tag = "app:none" }
[stage.base]
from = { image = "x" }
[[stage.base.step]]
name = "extra"
when = { switch.extra = true }
run = ["true"]
[stage.app]
from = "base"
[[stage.app.step]]
name = "named"
when = { payload.named = "present", lane.name = "l" }
run = ["true"]
[[stage.app.step]]
name = "open"
copy = { payload = "open", to = "/open" }
[[stage.app.step]]
name = "parted"
files = [{ payload = "parted" }]
run = ["true"]
[[stage.app.step]]
name = "silent"
env = { SILENT = "${payload.silent}" }
run = ["true"]
"#;

fn pins() -> String {
    let hash = Digest::of(b"bytes").hex();
    ["NAMED", "PARTED", "SILENT"]
        .map(|name| format!("{name}_SHA256={hash}\n"))
        .concat()
}

#[test]
fn a_payload_is_in_the_tag_or_there_is_none() {
    let loaded = load(PAYLOADS, &pins());
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let lines: Vec<String> = tags(graph).iter().map(line).collect();
    assert_eq!(
        lines,
        [
            "l/image [] app:l-absent ",
            "l/image [extra=true] app:l-absent-extra ",
            "l/image [with named] app:l-present ",
            "l/image [with open] - payload `open` is held against no hash",
            "l/image [with parted] app:l-absent-parted ",
            "l/image [with silent] - payload `silent` is there, and has no `tag-part`",
            "none/image [] app:none ",
            "none/image [extra=true] app:none-extra ",
        ]
    );
}

#[test]
fn what_is_built_with_payloads_has_the_tag_of_the_table_or_says_why_not() {
    let loaded = load(PAYLOADS, &pins());
    let graph = loaded.graph.as_ref().expect("a graph");
    let built = |lane: &str, there: &[&str], args: &[(&str, &str)]| {
        let has = |payload: &str| there.contains(&payload).then(|| b"bytes".to_vec());
        let (plan, _) = plan_with(graph, &request(lane, args), &has).expect("a plan");
        let stages::plan::PlannedOutput::Product { tag, .. } = plan.output else {
            panic!()
        };
        match plan.unpublishable.as_slice() {
            [] => tag.unwrap_or_default(),
            why => why.join("; "),
        }
    };
    assert_eq!(built("l", &[], &[]), "app:l-absent");
    assert_eq!(
        built("l", &["parted", "named"], &[("extra", "true")]),
        "app:l-present-extra-parted"
    );
    assert_eq!(
        built("l", &["parted", "silent", "open"], &[]),
        "payload `silent` is there, and has no `tag-part`; payload `open` is held against no hash"
    );
    let everything = ["named", "open", "parted", "silent"];
    assert_eq!(built("none", &everything, &[]), "app:none");
}

#[test]
fn two_things_with_one_part_are_two_contents_with_one_tag() {
    let text = PAYLOADS.replace("\"-extra\"", "\"-parted\"");
    insta::assert_snapshot!(rendered(&load(&text, &pins())));
    let text = PAYLOADS.replace("present = \"-parted\"", "present = \"\"");
    insta::assert_snapshot!(rendered(&load(&text, &pins())));
}

#[test]
fn a_file_beside_a_bundle_may_hang_on_a_payload() {
    let text = PAYLOADS.replace(
        "stage = \"base\", tag",
        "stage = \"base\", root = \"/r\", add = [{ from = \"a\", when = { payload.silent = \"present\" } }], tag",
    );
    let loaded = load(&text, &pins());
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let asked = request("none", &[]);
    let selection = stages::plan::select(graph, &asked).expect("a lane");
    assert!(selection.payloads().contains("silent"), "it is looked for");
    let (plan, _) = plan_with(graph, &asked, &|_| Some(b"bytes".to_vec())).expect("a plan");
    assert_eq!(
        plan.unpublishable,
        ["payload `silent` is there, and has no `tag-part`"]
    );
}

const ARGS: &str = r#"
[graph]
name = "t"
[arg.REF]
default = "develop"
about = "what of the app is built"
[arg.MODE]
about = "how"
[arg.MIRROR]
default = "https://a.example"
about = "where downloads are"
[arg.UNUSED_HERE]
default = "1"
about = "of another lane"
[arg.DATE]
stamp = true
about = "when"
[arg.SOURCE_DATE_EPOCH]
about = "the date of the sources"
[switch.old]
default = false
about = "the old branch"
[git.app]
url = "https://example.org/app.git"
ref = "${arg.REF}"
[git.lib]
url = "https://example.org/lib-${switch.old}.git"
[fetch.zlib]
url = "${arg.MIRROR}/zlib.tar.gz"
sha256 = "9a93b2b7dfdac77ceba5a558a580e74667dd6fede4585b91eefb60f03b72df23"
[lane.l]
platform = "linux/amd64"
output.image = { stage = "out", tag = "app:1" }
output.named = { stage = "out", tag = "app:${arg.REF}" }
output.commit = { stage = "commit", tag = "app:commit" }
output.fetched = { stage = "fetched", tag = "app:fetched" }
output.lib = { stage = "lib", tag = "app:lib" }
output.place = { stage = "lib", root = "/r", add = [{ from = "a", at = "${arg.MODE}" }], tag = "app:place" }
[lane.other]
platform = "linux/amd64"
output.image = { stage = "other", tag = "app:other" }
[stage.base]
from = { image = "x" }
[stage.app]
from = "base"
[[stage.app.step]]
name = "build"
args = ["MOD*", "SOURCE_DATE_EPOCH"]
files = [{ git = "app", at = "/src" }]
run = ["build"]
[[stage.app.step]]
name = "elsewhere"
when = { lane.name = "other" }
args = ["UNUSED_HERE"]
run = ["build"]
[stage.out]
from = "app"
image.labels.created = "${arg.DATE}"
[stage.commit]
from = "base"
image.labels.revision = "${git.app.commit}"
[stage.fetched]
from = "base"
[[stage.fetched.step]]
name = "take"
copy = { fetch = "zlib", to = "/" }
[stage.lib]
from = "base"
tree = ["/r"]
[[stage.lib.step]]
name = "take"
copy = { git = "lib", to = "/r" }
[stage.other]
from = "app"
"#;

#[test]
fn an_argument_that_is_not_at_its_default_is_in_the_tag_or_there_is_none() {
    let loaded = load(ARGS, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let built = |target: &str, args: &[(&str, &str)]| {
        let (plan, _) = plan(graph, &request(target, args)).expect("a plan");
        let stages::plan::PlannedOutput::Product { tag, .. } = plan.output else {
            panic!()
        };
        match plan.unpublishable.as_slice() {
            [] => tag.unwrap_or_default(),
            why => why.join("; "),
        }
    };
    let untold =
        |name: &str| format!("argument `{name}` is not at its default, and no tag names it");
    assert_eq!(built("l/image", &[]), "app:1");
    assert_eq!(
        built("l/image", &[("REF", "develop")]),
        "app:1",
        "its default"
    );
    // Whatever brings its value: the ref of a source, a pattern in `args`, a commit, a URL, a place.
    assert_eq!(built("l/image", &[("REF", "v2")]), untold("REF"));
    assert_eq!(
        built("l/image", &[("MODE", "")]),
        untold("MODE"),
        "absent is not empty"
    );
    assert_eq!(built("l/commit", &[("REF", "v2")]), untold("REF"));
    assert_eq!(
        built("l/fetched", &[("MIRROR", "https://b.example")]),
        untold("MIRROR")
    );
    assert_eq!(built("l/place", &[("MODE", "x")]), untold("MODE"));
    let both = [("REF", "v2"), ("MODE", "fast")];
    assert_eq!(
        built("l/image", &both),
        [untold("MODE"), untold("REF")].join("; ")
    );
    // Named by the tag; a stamp; the date of the sources; of a step that this lane does not have.
    assert_eq!(built("l/named", &[("REF", "v2")]), "app:v2");
    assert_eq!(built("l/image", &[("DATE", "today")]), "app:1");
    assert_eq!(built("l/image", &[("SOURCE_DATE_EPOCH", "1")]), "app:1");
    assert_eq!(built("l/image", &[("UNUSED_HERE", "2")]), "app:1");
    assert_eq!(
        built("other", &[("UNUSED_HERE", "2")]),
        untold("UNUSED_HERE")
    );
    assert_eq!(built("l/fetched", &[("REF", "v2")]), "app:fetched");
    // A switch in the URL of a source moves what is taken of it, too.
    assert_eq!(
        built("l/lib", &[("old", "true")]),
        "switch `old` is true, and has no `tag-part`"
    );
}

#[test]
fn an_image_from_a_named_context_has_no_tag_unless_it_is_the_one_of_the_digest() {
    // `came` is the digest of what a named context gave; without it none did.
    let built = |image: &str, came: Option<&str>| {
        let lanes = ARGS.replace("image = \"x\"", &format!("image = \"{image}\""));
        let loaded = load(&lanes, "");
        let graph = loaded.graph.as_ref().expect("a graph");
        let request = request("l/fetched", &[]);
        let selection = stages::plan::select(graph, &request).expect("a lane");
        let mut facts = facts(&selection);
        let fact = facts.images.values_mut().next().expect("an image");
        fact.given = came.is_some();
        if let Some(digest) = came {
            fact.source = stages::plan::ImageSource::Registry {
                reference: format!("mirror.example/x@sha256:{}", digest.repeat(32)),
            };
        }
        let plan = stages::plan::plan(&selection, &facts).expect("a plan");
        let stages::plan::PlannedOutput::Product { tag, .. } = plan.output else {
            panic!()
        };
        assert_eq!(tag.is_none(), !plan.unpublishable.is_empty());
        plan.unpublishable.join("; ")
    };
    let why = |image: &str| format!("a named context stands in for image `{image}`");
    assert_eq!(built("x", None), "");
    assert_eq!(built("x", Some("ef")), why("x"));
    let pinned = format!("x@sha256:{}", "ef".repeat(32));
    assert_eq!(built(&pinned, None), "");
    assert_eq!(
        built(&pinned, Some("ef")),
        "",
        "a mirror is no other content"
    );
    assert_eq!(built(&pinned, Some("01")), why(&pinned));
}
