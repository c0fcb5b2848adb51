//! What a lane file can say: each part as a small graph, the plan that it gives, and what it is
//! refused for.

use ::llb::{Caps, Definition};
use stages::file;

use crate::common::{load, lower, plan, rendered, request};

/// The smallest graph around some tables; its lane builds `out`.
fn graph(tables: &str) -> String {
    format!(
        "[graph]\nname = \"t\"\n[lane.l]\nplatform = \"linux/amd64\"\ntarget = \"windows/amd64\"\n\
         output.o = {{ stage = \"out\" }}\n{tables}"
    )
}

/// The environment of the only step of stage `out`, as `NAME=VALUE`, without PATH.
fn env(tables: &str, pins: &str, args: &[(&str, &str)]) -> Vec<String> {
    let loaded = load(&graph(tables), pins);
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let planned = plan(graph, &request("l", args));
    let (plan, _) =
        planned.unwrap_or_else(|report| panic!("{}", report.render(&loaded.sources, false)));
    let step = &plan.stages.last().expect("a stage").steps[0];
    step.env
        .iter()
        .filter(|(k, _)| *k != "PATH")
        .map(|(k, v)| format!("{k}={v}"))
        .collect()
}

/// What is wrong with a file or its plan.
fn wrong(text: &str, pins: &str, args: &[(&str, &str)]) -> String {
    let loaded = load(text, pins);
    let Ok(graph) = &loaded.graph else {
        return rendered(&loaded);
    };
    match plan(graph, &request("l", args)) {
        Ok(_) => "nothing is wrong".into(),
        Err(report) => report.render(&loaded.sources, false),
    }
}

/// The names of the steps that run, as `stage/step`.
fn steps(text: &str, target: &str, args: &[(&str, &str)]) -> Vec<String> {
    let loaded = load(text, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let (plan, _) = plan(graph, &request(target, args))
        .unwrap_or_else(|report| panic!("{}", report.render(&loaded.sources, false)));
    let names = plan.stages.iter().flat_map(|stage| {
        stage
            .steps
            .iter()
            .map(move |step| format!("{}/{}", stage.name, step.name))
    });
    names.collect()
}

fn step(args: &str) -> String {
    format!(
        "[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\n{args}\n"
    )
}

#[test]
fn renames_filters_and_patterns_of_args() {
    let tables = step(
        r#"args = ["NEW=A_VERSION", "MM=A_VERSION|parts:2", "ROCM_*", "ARM=lane.target|is:arm64", "X64=lane.target|is:amd64|01"]"#,
    );
    let pins = "A_VERSION=1.2.3\nROCM_A=a\nROCM_B=\n";
    assert_eq!(
        env(&tables, pins, &[]),
        [
            "ARM=false",
            "MM=1.2",
            "NEW=1.2.3",
            "ROCM_A=a",
            "ROCM_B=",
            "X64=1"
        ]
    );
}

#[test]
fn absent_empty_and_set_are_three_states() {
    let tables = format!(
        "[arg.A]\nabout = \"a\"\n{}",
        step(r#"args = ["A", "B=A|is:x"]"#)
    );
    assert_eq!(env(&tables, "", &[]), Vec::<String>::new());
    assert_eq!(env(&tables, "", &[("A", "")]), ["A=", "B=false"]);
    assert_eq!(env(&tables, "", &[("A", "x")]), ["A=x", "B=true"]);
}

#[test]
fn filters_that_cannot_be_are_refused() {
    let tables = step(r#"args = ["A=P|parts:4", "B=P|01", "C=P|upper", "D=P|parts:0"]"#);
    insta::assert_snapshot!(wrong(&graph(&tables), "P=1.2\n", &[]));
    let tables = step(r#"args = ["A=P|parts:4", "B=P|01", "Q_*", "X=Y_*"]"#);
    insta::assert_snapshot!(wrong(&graph(&tables), "P=1.2\n", &[]));
    let tables = step(r#"args = ["A=P|parts:4", "B=P|01"]"#);
    insta::assert_snapshot!(wrong(&graph(&tables), "P=1.2\n", &[]));
}

#[test]
fn arguments_have_forms() {
    let forms = r#"
[arg.N]
type = "int"
default = "3"
about = "a number"
[arg.B]
type = "bool"
default = "true"
about = "a truth"
[arg.C]
choices = ["debug", "release"]
default = "release"
about = "a choice"
"#;
    let tables = format!("{forms}{}", step(r#"args = ["N", "B", "C"]"#));
    assert_eq!(
        env(&tables, "", &[("C", "debug")]),
        ["B=true", "C=debug", "N=3"]
    );
    let text = graph(&tables);
    insta::assert_snapshot!(wrong(
        &text,
        "",
        &[("N", "3x"), ("B", "yes"), ("C", "fast")]
    ));
    insta::assert_snapshot!(wrong(
        &text.replace("\"release\"\nabout", "\"fast\"\nabout"),
        "",
        &[]
    ));
}

#[test]
fn kits_bring_what_they_have_and_only_where_they_hold() {
    let kits = r#"
[host.CACHE]
about = "a cache"
[kit.cache]
host = ["CACHE"]
env = { DIR = "/c" }
cache = [{ id = "c", at = "/c" }]
[kit.arm]
when = { lane.target = "arm64" }
args = ["ARM_VERSION"]
[kit.x64]
when = { lane.target = "amd64" }
args = ["V=X64_VERSION"]
files = ["x64/"]
"#;
    let tables = format!("{kits}{}", step(r#"kits = ["cache", "arm", "x64"]"#));
    let pins = "ARM_VERSION=1\nX64_VERSION=2\n";
    assert_eq!(env(&tables, pins, &[]), ["DIR=/c", "V=2"]);
    let twice = tables.replace(
        "kits = [\"cache\", \"arm\", \"x64\"]",
        "kits = [\"cache\", \"arm\", \"x64\"]\nenv = { DIR = \"/d\" }",
    );
    insta::assert_snapshot!(wrong(&graph(&twice), pins, &[]));
    let unknown = tables.replace("\"x64\"]", "\"x46\"]");
    insta::assert_snapshot!(wrong(&graph(&unknown), pins, &[]));
}

/// Lanes with and without a spike, which is a switch.
fn spiked() -> String {
    r#"[graph]
name = "t"
[switch.spikes]
default = true
about = "experiments"
[slot.sdk]
plain = { same-as = "base" }
rocm = { stage = "rocm" }
[[refuse]]
when = { lane.target = "arm64", slot.sdk = "rocm" }
why = "there is no ROCm for it"
[lane.l]
platform = "linux/amd64"
target = "windows/amd64"
slot.sdk = "rocm"
output.o = { stage = "out" }
[lane.arm]
platform = "linux/amd64"
target = "windows/arm64"
slot.sdk = "plain"
output.o = { stage = "out" }
[stage.base]
from = { image = "x" }
[stage.rocm]
from = "base"
[[stage.rocm.step]]
name = "install"
run = ["true"]
[stage.spike]
when = { slot.sdk = "rocm", switch.spikes = true }
from = { slot = "sdk" }
tree = ["/s"]
[[stage.spike.step]]
name = "build"
run = ["true"]
[stage.app]
when = { lane.target = "amd64" }
from = { slot = "sdk" }
[[stage.app.step]]
name = "app"
run = ["true"]
[stage.out]
from = ["app", "base"]
add = [{ stage = "spike", when = { slot.sdk = "rocm", switch.spikes = true } }]
[[stage.out.step]]
name = "arm-only"
when = { not = { lane.target = "amd64" } }
run = ["true"]
[[stage.out.step]]
name = "either"
when = { any = [{ lane.target = "arm64" }, { switch.spikes = false }] }
run = ["true"]
"#
    .into()
}

#[test]
fn conditions_switches_and_lists_choose_stages_and_steps() {
    let text = spiked();
    assert_eq!(
        steps(&text, "l", &[]),
        ["rocm/install", "app/app", "spike/build"]
    );
    assert_eq!(
        steps(&text, "l", &[("spikes", "false")]),
        ["rocm/install", "app/app", "out/either"]
    );
    assert_eq!(steps(&text, "arm", &[]), ["out/arm-only", "out/either"]);
}

#[test]
fn what_a_lane_does_not_have_costs_it_no_byte() {
    let with = load(&spiked(), "");
    let without = spiked();
    let spike = without.find("[stage.spike]").expect("the stage");
    let app = without.find("[stage.app]").expect("the stage");
    let mut without = without[..spike].to_owned() + &without[app..];
    for gone in [
        "add = [{ stage = \"spike\", when = { slot.sdk = \"rocm\", switch.spikes = true } }]\n",
        "[switch.spikes]\ndefault = true\nabout = \"experiments\"\n",
        ", { switch.spikes = false }",
    ] {
        assert!(without.contains(gone), "{gone}");
        without = without.replace(gone, "");
    }
    let without = load(&without, "");
    let bytes = |loaded| match lower(loaded, &request("arm", &[]), &Caps::all()) {
        Ok(lowered) => Definition::new(&lowered.result).to_pb().def,
        Err(report) => panic!("{}", report.render(&loaded.sources, false)),
    };
    assert_eq!(bytes(&with), bytes(&without));
}

#[test]
fn refused_combinations_say_why() {
    let text = spiked().replace("slot.sdk = \"plain\"\n", "slot.sdk = \"rocm\"\n");
    let text = text.replace("plain = { same-as = \"base\" }\n", "");
    let loaded = load(&text, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let report = plan(graph, &request("arm", &[])).expect_err("refused");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}

#[test]
fn a_stage_that_the_lane_lacks_is_refused_when_it_is_named() {
    let bare = spiked().replace(
        "add = [{ stage = \"spike\", when = { slot.sdk = \"rocm\", switch.spikes = true } }]",
        "add = [\"spike\"]",
    );
    insta::assert_snapshot!(wrong(&bare, "", &[]));
    let loaded = load(&spiked(), "");
    let graph = loaded.graph.as_ref().expect("the good file");
    let report = plan(graph, &request("arm/spike", &[])).expect_err("not in this lane");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}

#[test]
fn switches_are_true_or_false() {
    insta::assert_snapshot!(wrong(&spiked(), "", &[("spikes", "perhaps")]));
}

#[test]
fn conditions_that_cannot_be_are_refused() {
    let text = spiked()
        .replace("when = { not = { lane.target = \"amd64\" } }", "when = {}")
        .replace("{ switch.spikes = false }", "{ switch.spike = false }, { lane.arch = \"x\" }, { env.X = \"y\" }, { slot.sdk = \"cuda\" }");
    insta::assert_snapshot!(wrong(&text, "", &[]));
}

#[test]
fn what_no_lane_comes_to_is_an_error() {
    let tables = r#"
[slot.s]
a = { same-as = "out" }
[stage.out]
from = { image = "x" }
tree = ["/t"]
[[stage.out.step]]
name = "s"
run = ["true"]
[stage.lost]
from = "out"
[kit.lost]
env = { A = "b" }
[switch.lost]
default = false
about = "nobody looks at it"
[gate.lost]
of = "lost"
check = "arch"
roots = ["/x"]
[[gate.lost.floor]]
inspected = { least = 1 }
[gate.found]
of = "out"
check = "arch"
allow = [{ path = "**/x", why = "y", when = { lane.target = "arm64" } }]
[[gate.found.floor]]
when = { lane.target = "amd64" }
inspected = { least = 1 }
[[gate.found.floor]]
when = { lane.name = "other" }
inspected = { least = 1 }
"#;
    let text = graph(tables).replace("output.o", "slot.s = \"a\"\noutput.o");
    insta::assert_snapshot!(wrong(&text, "", &[]));
    let text = text.replace("[kit.lost]\nenv = { A = \"b\" }\n", "");
    let text = text.replace(
        "[switch.lost]\ndefault = false\nabout = \"nobody looks at it\"\n",
        "",
    );
    insta::assert_snapshot!(wrong(&text, "", &[]));
}

#[test]
fn user_and_workdir_of_an_image_are_for_the_product_alone() {
    let text = graph(
        "[stage.base]\nfrom = { image = \"x\" }\n[stage.base.image]\nuser = \"nobody\"\nworkdir = \"/srv\"\n\
         [stage.out]\nfrom = \"base\"\n[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\n",
    );
    let loaded = load(&text, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let (plan, _) = plan(graph, &request("l", &[])).expect("a plan");
    let step = &plan.stages[1].steps[0];
    assert_eq!(
        (step.user.as_str(), step.cwd.as_str()),
        ("", "/home"),
        "those of the base image"
    );
    let stages::plan::PlannedOutput::Product { config, .. } = &plan.output else {
        panic!()
    };
    assert_eq!(
        (config.user.as_str(), config.working_dir.as_str()),
        ("nobody", "/srv")
    );
}

/// A product, a gate over it, and a stage that the gate holds.
fn held(out: &str) -> String {
    graph(&format!(
        r#"
[stage.base]
from = {{ image = "x" }}
[stage.product]
from = "base"
tree = ["/p/a", "/p/b-*"]
[[stage.product.step]]
name = "build"
run = ["true"]
[stage.out]
from = "base"
{out}
[gate.g]
of = "product"
check = "arch"
hold = ["out"]
[[gate.g.floor]]
inspected = {{ least = 1 }}
"#
    ))
}

#[test]
fn a_held_stage_does_nothing_before_it_takes_the_product() {
    let early = "[[stage.out.step]]\nname = \"first\"\nrun = [\"true\"]\n[[stage.out.step]]\nname = \"second\"\nuses = [\"product\"]\nrun = [\"true\"]";
    insta::assert_snapshot!(wrong(&held(early), "", &[]));
    let at_once = early.replace("name = \"first\"", "name = \"first\"\nuses = [\"product\"]");
    assert_eq!(wrong(&held(&at_once), "", &[]), "nothing is wrong");
    let added = format!(
        "add = [\"product\"]\n{}",
        early.replace("uses = [\"product\"]\n", "")
    );
    assert_eq!(wrong(&held(&added), "", &[]), "nothing is wrong");
}

#[test]
fn a_gate_looks_at_directories_that_the_product_has() {
    let text = held("add = [\"product\"]");
    let roots = |list: &str| {
        text.replace(
            "check = \"arch\"",
            &format!("check = \"arch\"\nroots = [{list}]"),
        )
    };
    assert_eq!(wrong(&roots("\"/p/a\""), "", &[]), "nothing is wrong");
    insta::assert_snapshot!(wrong(&roots("\"/p/b-*\", \"/q\", \"/\""), "", &[]));
}

#[test]
fn products_that_are_empty_are_refused_where_they_are_used() {
    let text = graph(
        "[stage.nothing]\nfrom = \"scratch\"\n[stage.out]\nfrom = { image = \"x\" }\n[[stage.out.step]]\nname = \"s\"\nuses = [{ stage = \"nothing\", sub = \"/data\" }]\nrun = [\"true\"]\n",
    );
    let loaded = load(&text, "");
    let report = lower(&loaded, &request("l", &[]), &Caps::all()).expect_err("empty");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}

#[test]
fn gates_is_a_reserved_word_and_trees_have_simple_patterns() {
    let text = graph("[stage.out]\nfrom = { image = \"x\" }\n[stage.gates]\nfrom = \"out\"\n");
    insta::assert_snapshot!(wrong(&text, "", &[]));
    let text = graph(
        "[stage.out]\nfrom = { image = \"x\" }\ntree = [\"/a/{b,c}\", \"/a/[d]\"]\n[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\n",
    );
    insta::assert_snapshot!(wrong(&text, "", &[]));
}

#[test]
fn windows_line_ends_are_those_of_everybody() {
    let text = file::text_of_bytes(b"a = 1\r\nscript = '''\r\nx\r\n'''\r\n".to_vec());
    assert_eq!(text.expect("text"), "a = 1\nscript = '''\nx\n'''\n");
}

#[test]
fn an_edit_of_the_chain_env_sees_what_the_stage_starts_with() {
    let tables = "[stage.base]\nfrom = { image = \"x\" }\nenv.M = \"/a\"\n[stage.out]\nfrom = \"base\"\n\
        env.M = \"/b\"\nenv.A = \"${env.M}/bin\"\nenv.Z = \"${env.M}/bin\"\n\
        [[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\n";
    assert_eq!(env(tables, "", &[]), ["A=/a/bin", "M=/b", "Z=/a/bin"]);
}

#[test]
fn the_name_of_a_script_step_is_in_no_key() {
    let text = step("").replace("run = [\"true\"]", "script = \"true\"");
    let ops = |text: &str| {
        let loaded = load(&graph(text), "");
        let lowered = lower(&loaded, &request("l", &[]), &Caps::all());
        Definition::new(
            &lowered
                .unwrap_or_else(|_| panic!("{}", rendered(&loaded)))
                .result,
        )
        .to_pb()
        .def
    };
    assert_eq!(
        ops(&text),
        ops(&text.replace("name = \"s\"", "name = \"renamed\""))
    );
}

#[test]
fn two_files_in_one_place_and_mounts_over_a_tree_are_refused() {
    let files = step("files = [{ from = \"a/x\", at = \"/q\" }, { from = \"b/x\", at = \"/q\" }]");
    insta::assert_snapshot!(wrong(&graph(&files), "", &[]));
    let cache = step("cache = [{ id = \"c\", at = \"/o\" }]")
        .replace("[[stage", "tree = [\"/o/x\"]\n[[stage");
    insta::assert_snapshot!(wrong(&graph(&cache), "", &[]));
    let nested = step(
        "cache = [{ id = \"a\", at = \"/n\" }, { id = \"b\", at = \"/n-x\" }, { id = \"c\", at = \"/n/y\" }]",
    );
    insta::assert_snapshot!(wrong(&graph(&nested), "", &[]));
}

#[test]
fn the_reports_of_gates_wait_for_no_seal() {
    let text = format!(
        "{}[gate.h]\nof = \"out\"\ncheck = \"arch\"\nroots = [\"/p\"]\n[[gate.h.floor]]\ninspected = {{ least = 1 }}\n",
        held("add = [\"product\"]")
    );
    let loaded = load(&text, "");
    let dump = |target: &str| match lower(&loaded, &request(target, &[]), &Caps::all()) {
        Ok(lowered) => ::llb::view::text(&Definition::new(&lowered.result).to_pb()),
        Err(report) => panic!(
            "{}{}",
            rendered(&loaded),
            report.render(&loaded.sources, false)
        ),
    };
    assert!(dump("l").contains("[seal]"));
    assert!(!dump("l/gates").contains("[seal]"));
}
