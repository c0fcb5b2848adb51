//! Where values come from: pins that are made of others, pins as a file, slots that conditions
//! fill.

use ::llb::{Caps, Definition};
use stages::plan::{Plan, StepFile};

use crate::common::{Loaded, load, lower, plan, rendered, request};

/// The smallest graph around some tables; its lane builds `out`.
fn graph(tables: &str) -> String {
    format!(
        "[graph]\nname = \"t\"\n[lane.l]\nplatform = \"linux/amd64\"\ntarget = \"windows/amd64\"\n\
         output.o = {{ stage = \"out\" }}\n{tables}"
    )
}

/// A stage `out` with one step that has these keys.
fn step(keys: &str) -> String {
    format!(
        "[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\nrun = [\"true\"]\n{keys}\n"
    )
}

fn planned(text: &str, pins: &str, args: &[(&str, &str)]) -> Plan {
    let loaded = load(text, pins);
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    match plan(graph, &request("l", args)) {
        Ok((plan, _)) => plan,
        Err(report) => panic!("{}", report.render(&loaded.sources, false)),
    }
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

fn ops(loaded: &Loaded, args: &[(&str, &str)]) -> Definition {
    match lower(loaded, &request("l", args), &Caps::all()) {
        Ok(lowered) => Definition::new(&lowered.result),
        Err(report) => panic!("{}", report.render(&loaded.sources, false)),
    }
}

/// The environment of the only step, as `NAME=VALUE`, without PATH.
fn env(plan: &Plan) -> Vec<String> {
    let step = &plan.stages.last().expect("a stage").steps[0];
    let own = step.env.iter().filter(|(name, _)| *name != "PATH");
    own.map(|(name, value)| format!("{name}={value}")).collect()
}

#[test]
fn a_pin_is_made_of_another_or_is_another_name_for_it() {
    let tables = "[pin.CUDA_MM]\nfrom = \"CUDA_VERSION|parts:2\"\n[pin.TAG]\nfrom = \"PY|parts:2|without:.\"\n\
                  [pin.CUDA_ALIAS]\nfrom = \"CUDA_VERSION\"\n";
    let text = graph(&format!("{tables}{}", step("args = [\"CUDA_*\", \"TAG\"]")));
    let plan = planned(&text, "CUDA_VERSION=13.0.2\nPY=3.14.1\n", &[]);
    assert_eq!(
        env(&plan),
        [
            "CUDA_ALIAS=13.0.2",
            "CUDA_MM=13.0",
            "CUDA_VERSION=13.0.2",
            "TAG=314"
        ]
    );
}

#[test]
fn derived_pins_that_cannot_be_are_refused_together() {
    let tables = "[pin.A]\nfrom = \"NOPE\"\n[pin.B]\nfrom = \"P|parts:3\"\n[pin.P]\nfrom = \"Q\"\n\
                  [pin.C]\nfrom = \"A\"\n[pin.Q2]\nfrom = \"Q\"\n";
    let text = graph(&format!(
        "{tables}{}",
        step("args = [\"A\", \"B\", \"C\", \"P\"]")
    ));
    insta::assert_snapshot!(wrong(&text, "P=1.2\nQ=1\n", &[]));
    let tables =
        "[pin.A]\nfrom = \"lane.target\"\n[pin.B]\nfrom = \"X=P\"\n[pin.C]\nfrom = \"P_*\"\n";
    insta::assert_snapshot!(wrong(&graph(tables), "", &[]));
    let tables = "[pin.Q2]\nfrom = \"Q\"\n";
    insta::assert_snapshot!(wrong(
        &graph(&format!("{tables}{}", step(""))),
        "Q=1\n",
        &[]
    ));
}

const PROJECTED: &str =
    "pins-file = { at = \"/pins/versions.env\", keys = [\"LLVM_*\", \"NOTE\"] }";

#[test]
fn a_pins_file_has_just_what_it_names() {
    let text = graph(&step(&format!(
        "{PROJECTED}\nfiles = [\"build.sh\"]\nargs = [\"CUDA\"]"
    )));
    let pins = "NOTE=a b\nLLVM_B=2\nCUDA=1\nLLVM_A=\"1\"\n";
    let plan = planned(&text, pins, &[]);
    let files = &plan.stages[0].steps[0].files["/pins"];
    let want = StepFile::Script {
        to: "versions.env".into(),
        text: "LLVM_A=1\nLLVM_B=2\nNOTE='a b'\n".into(),
    };
    assert_eq!(*files, [want]);
    let definition = ops(&load(&text, pins), &[]);
    insta::assert_snapshot!(::llb::view::text(&definition.to_pb()));
}

#[test]
fn other_pins_and_their_order_change_nothing_of_a_step_with_a_pins_file() {
    let text = graph(&step(PROJECTED));
    let text = text.replace("name = \"t\"", "name = \"t\"\npins = [\"*\", \"!OTHER\"]");
    let of = |pins: &str| ops(&load(&text, pins), &[]).to_pb().def;
    let want = of("NOTE=a\nLLVM_A=1\nLLVM_B=2\nOTHER=1\n");
    assert_eq!(want, of("# x\nOTHER=2\nLLVM_B=2\n\nNOTE='a'\nLLVM_A=1\n"));
    assert_ne!(want, of("NOTE=a\nLLVM_A=1\nLLVM_B=3\nOTHER=1\n"));
}

#[test]
fn pins_files_that_cannot_be_are_refused() {
    let pins = "A=1\nB=\"it's $5\"\n";
    let keys = "pins-file = { at = \"/v.env\", keys = [\"A\", \"B\", \"NOPE\", \"X_*\"] }";
    insta::assert_snapshot!(wrong(&graph(&step(keys)), pins, &[]));
    let keys = "pins-file = { at = \"/v.env\", keys = [\"A\"] }";
    insta::assert_snapshot!(wrong(&graph(&step(keys)), "A=1\n", &[]));
    insta::assert_snapshot!(wrong(
        &graph(&step("pins-file = { key = [\"A\"] }")),
        "A=1\n",
        &[]
    ));
}

/// A slot that a switch fills, and one that the lane fills.
fn slotted(rows: &str, lane: &str) -> String {
    graph(&format!(
        r#"
[switch.stock]
default = false
about = "the compiler as it comes"
tag-part = {{ true = "-stock" }}
[slot.sdk]
plain = {{ same-as = "base" }}
[slot.toolchain]
{rows}
[stage.base]
from = {{ image = "x" }}
[stage.patched]
from = {{ slot = "sdk" }}
[[stage.patched.step]]
name = "build"
run = ["true"]
[stage.out]
from = {{ slot = "toolchain" }}
[[stage.out.step]]
name = "s"
run = ["true"]
args = ["T=slot.toolchain"]
"#
    ))
    .replace("output.o", &format!("{lane}output.o"))
}

const ROWS: &str = "patched = { stage = \"patched\" }\nstock = { stage = \"base\", when = { switch.stock = true } }";

#[test]
fn a_slot_is_filled_by_its_condition_then_the_lane_then_the_only_choice() {
    let stages = |text: &str, args: &[(&str, &str)]| {
        let plan = planned(text, "", args);
        let names: Vec<String> = plan.stages.iter().map(|s| s.name.clone()).collect();
        (names, env(&plan))
    };
    let text = slotted(ROWS, "");
    let patched = (
        vec!["base".to_owned(), "patched".into(), "out".into()],
        vec!["T=patched".to_owned()],
    );
    assert_eq!(stages(&text, &[]), patched);
    assert_eq!(
        stages(&text, &[("stock", "true")]),
        (
            vec!["base".to_owned(), "out".into()],
            vec!["T=stock".to_owned()]
        )
    );
    let named = slotted(ROWS, "slot.toolchain = \"patched\"\n");
    assert_eq!(stages(&named, &[]), patched);
}

#[test]
fn a_stage_of_a_slot_that_the_lane_passes_by_is_refused_by_name() {
    let text = slotted(ROWS, "");
    let loaded = load(&text, "");
    let Ok(graph) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let named = |args: &[(&str, &str)]| plan(graph, &request("l/patched", args));
    assert!(named(&[]).is_ok());
    let report = named(&[("stock", "true")]).expect_err("the lane takes another");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
    // What the lane needs for something else is there.
    assert!(plan(graph, &request("l/base", &[])).is_ok());
}

/// What a lane takes for a slot is there by its name, even where no output of the lane needs it.
#[test]
fn a_stage_that_the_lane_takes_for_a_slot_may_be_asked_for() {
    let text = slotted(ROWS, "")
        + "\n[lane.bare]\nplatform = \"linux/amd64\"\noutput.image = { stage = \"base\" }\n";
    let loaded = load(&text, "");
    let Ok(graph) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let named = |args: &[(&str, &str)]| plan(graph, &request("bare/patched", args));
    assert!(named(&[]).is_ok());
    assert!(named(&[("stock", "true")]).is_err());
}

#[test]
fn slots_that_nothing_or_too_much_fills_are_refused() {
    let two =
        format!("{ROWS}\nother = {{ same-as = \"base\", when = {{ lane.target = \"amd64\" }} }}\n");
    insta::assert_snapshot!(wrong(&slotted(&two, ""), "", &[]));
    let open = format!("{ROWS}\nopen = {{ same-as = \"base\" }}\n");
    insta::assert_snapshot!(wrong(&slotted(&open, ""), "", &[]));
    let none = "stock = { stage = \"patched\", when = { switch.stock = true } }";
    insta::assert_snapshot!(wrong(&slotted(none, ""), "", &[]));
    insta::assert_snapshot!(wrong(
        &slotted(ROWS, "slot.toolchain = \"stock\"\n"),
        "",
        &[]
    ));
    let circle = ROWS.replace("switch.stock = true", "slot.toolchain = \"patched\"");
    insta::assert_snapshot!(wrong(&slotted(&circle, ""), "", &[]));
}

#[test]
fn what_fills_a_slot_counts_for_same_for() {
    let text = slotted(ROWS, "").replace(
        "from = { slot = \"toolchain\" }",
        "from = { slot = \"toolchain\" }\nsame-for = [\"switch.stock\", \"lane.target\"]",
    );
    insta::assert_snapshot!(wrong(&text, "", &[]));
}

/// Chain env in every way, and a stage that starts from it.
fn edited() -> String {
    let tables = r#"
[switch.extra]
default = false
about = "one more directory"
tag-part = { true = "-extra" }
[stage.base]
from = { image = "x" }
env.PATH = { prepend = ["/a", { value = "/arm", when = { lane.target = "arm64" } }], append = [{ value = "/extra", when = { switch.extra = true } }] }
env.GPU = { value = "rocm", when = { lane.target = "amd64" } }
env.ARM = { value = "yes", when = { lane.target = "arm64" } }
env.HIDDEN = { value = "/build", config = false }
env.LIST = { append = ["x"], config = false }
env.ONLY_ARM = { append = [{ value = "y", when = { lane.target = "arm64" } }] }
[stage.out]
from = "base"
env.GPU = { unset = true }
env.SEEN = "${env.HIDDEN}"
[[stage.out.step]]
name = "s"
run = ["true"]
"#;
    graph(tables)
}

#[test]
fn edits_of_variables_hold_in_some_lanes_hide_and_take_away() {
    let of = |args: &[(&str, &str)]| {
        let plan = planned(&edited(), "", args);
        let step = &plan.stages[1].steps[0];
        let env: Vec<String> = step.env.iter().map(|(k, v)| format!("{k}={v}")).collect();
        let stages::plan::PlannedOutput::Product { config, .. } = plan.output else {
            panic!()
        };
        (env.join("\n"), config.env.join("\n"))
    };
    let (step, config) = of(&[]);
    assert_eq!(
        step,
        "HIDDEN=/build\nLIST=x\nPATH=/a:/usr/bin:/bin\nSEEN=/build"
    );
    assert_eq!(config, "PATH=/a:/usr/bin:/bin\nSEEN=/build");
    let (step, _) = of(&[("extra", "true")]);
    assert!(step.contains("PATH=/a:/usr/bin:/bin:/extra\n"), "{step}");
}

#[test]
fn edits_that_do_several_things_or_nothing_are_refused() {
    let tables = "env.A = {}\nenv.B = { value = \"x\", append = [\"y\"] }\nenv.C = { unset = true, value = \"x\" }\n\
                  env.D = { append = [{ when = { lane.target = \"arm64\" } }, 3] }\nenv.E = { values = \"x\" }\n";
    insta::assert_snapshot!(wrong(
        &graph(&step("").replace("[[stage.out", &format!("{tables}[[stage.out"))),
        "",
        &[]
    ));
}

#[test]
fn constants_of_a_lane_are_values_and_conditions() {
    let tables = "[lane.other]\nplatform = \"linux/amd64\"\nset = { EXTRA = \"rocm\", LEVEL = \"2\" }\noutput.o = { stage = \"out\" }\n";
    let keys = "args = [\"EXTRA=lane.set.EXTRA\", \"LEVEL=lane.set.LEVEL|is:1\"]\n\
                files = [{ from = \"a.sh\", when = { lane.set.LEVEL = [\"1\", \"3\"] } }, { from = \"b.sh\", when = { lane.set.LEVEL = \"2\" } }]";
    let text = graph(&format!("{tables}{}", step(keys)));
    let text = text.replace(
        "output.o = { stage = \"out\" }\n[lane.other]",
        "set = { LEVEL = \"1\" }\noutput.o = { stage = \"out\" }\n[lane.other]",
    );
    let plan = planned(&text, "", &[]);
    assert_eq!(env(&plan), ["LEVEL=true"], "EXTRA is absent here");
    assert_eq!(plan.context, ["a.sh"]);
    let text = text
        .replace("lane.set.EXTRA", "lane.set.EXTAR")
        .replace("lane.set.LEVEL = \"2\"", "lane.set.LEVLE = \"2\"");
    insta::assert_snapshot!(wrong(&text, "", &[]));
    let unused = graph(&step("")).replace("output.o", "set = { NOBODY = \"1\" }\noutput.o");
    insta::assert_snapshot!(wrong(&unused, "", &[]));
}

#[test]
fn a_refusal_may_look_at_what_was_named() {
    let tables = "[[refuse]]\nwhen = { lane.target = \"amd64\", request.stage = \"torch\" }\nwhy = \"there is no wheel for it\"\n\
                  [[refuse]]\nwhen = { request.output = \"second\" }\nwhy = \"not any more\"\n\
                  [stage.torch]\nfrom = { image = \"x\" }\n[stage.out]\nfrom = [\"torch\"]\n";
    let text = graph(tables).replace(
        "output.o = ",
        "output.second = { stage = \"torch\" }\noutput.o = ",
    );
    let loaded = load(&text, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let said = |target: &str| match plan(graph, &request(target, &[])) {
        Ok(_) => "nothing is wrong".to_owned(),
        Err(report) => report.render(&loaded.sources, false),
    };
    assert_eq!(said("l/o"), "nothing is wrong");
    assert_eq!(said("l/out"), "nothing is wrong");
    insta::assert_snapshot!(said("l/torch"));
    insta::assert_snapshot!(said("l/second"));
    let elsewhere = text.replace(
        "[stage.torch]\n",
        "[stage.torch]\nwhen = { not = { request.stage = \"x\" } }\n",
    );
    insta::assert_snapshot!(wrong(&elsewhere, "", &[]));
    let unknown = text.replace("request.output", "request.lane");
    insta::assert_snapshot!(wrong(&unknown, "", &[]));
}

/// A lane for another machine than its steps run on, and one with a variant.
const PLATFORMS: &str = r#"
[graph]
name = "t"
[lane.cross]
platform = "linux/amd64"
target = "windows/arm64"
output.o = { stage = "s" }
[lane.own]
platform = "linux/amd64/v2"
output.o = { stage = "s" }
[stage.s]
from = { image = "x:${arg.TARGETARCH}" }
image.labels.for = "${arg.TARGETPLATFORM}"
[[stage.s.step]]
name = "all"
args = ["TARGETPLATFORM", "TARGETOS", "TARGETARCH", "TARGETVARIANT", "BUILDPLATFORM", "BUILDOS", "BUILDARCH", "BUILDVARIANT", "ARM=TARGETARCH|is:arm64|01"]
run = ["make", "${arg.BUILDOS}"]
[[stage.s.step]]
name = "none"
run = ["make", "${TARGETARCH}"]
"#;

#[test]
fn the_platforms_have_dockers_names_and_a_step_sees_those_that_it_names() {
    let loaded = load(PLATFORMS, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let seen = |lane: &str| {
        let (plan, _) = plan(graph, &request(lane, &[])).expect("a plan");
        let [all, none] = plan.stages[0].steps.as_slice() else {
            panic!()
        };
        assert!(!none.env.keys().any(|name| name.ends_with("ARCH")));
        assert_eq!(none.argv(), ["make", "${TARGETARCH}"], "the shell's own");
        assert_eq!(all.argv(), ["make", "linux"]);
        let stages::plan::Start::Image(image) = &plan.stages[0].start else {
            panic!()
        };
        let label = match &plan.output {
            stages::plan::PlannedOutput::Product { config, .. } => config.labels["for"].clone(),
            stages::plan::PlannedOutput::Gates => panic!(),
        };
        let env = all.env.iter().filter(|(name, _)| *name != "PATH");
        let env: Vec<String> = env.map(|(name, value)| format!("{name}={value}")).collect();
        format!("{image} {label} {}", env.join(" "))
    };
    assert_eq!(
        seen("cross"),
        "x:arm64 windows/arm64 ARM=1 BUILDARCH=amd64 BUILDOS=linux BUILDPLATFORM=linux/amd64 \
         BUILDVARIANT= TARGETARCH=arm64 TARGETOS=windows TARGETPLATFORM=windows/arm64 TARGETVARIANT="
    );
    assert_eq!(
        seen("own"),
        "x:amd64 linux/amd64/v2 ARM=0 BUILDARCH=amd64 BUILDOS=linux BUILDPLATFORM=linux/amd64/v2 \
         BUILDVARIANT=v2 TARGETARCH=amd64 TARGETOS=linux TARGETPLATFORM=linux/amd64/v2 TARGETVARIANT=v2"
    );
    // What it is in a lane tells the instances of a stage apart.
    let id = |lane: &str| {
        let setting = graph.setting(lane, &graph.lanes[lane]);
        setting.instances()["s"].id.clone()
    };
    assert_ne!(id("cross"), id("own"));
}

#[test]
fn nothing_else_has_a_predefined_name_and_nobody_sets_one() {
    let declared = "[graph]\nname = \"t\"\nversions = \"versions.env\"\n\
        [arg.TARGETARCH]\nabout = \"a\"\n[arg.BUILDKIT_X]\nabout = \"a\"\n\
        [arg.https_proxy]\nabout = \"a\"\n[switch.BUILDOS]\ndefault = true\nabout = \"a\"\n\
        [host.HTTP_PROXY]\nabout = \"a\"\n\
        [lane.l]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"s\" }\n[stage.s]\nfrom = { image = \"x\" }\n\
        [[stage.s.step]]\nname = \"s\"\nhost = [\"HTTP_PROXY\"]\nargs = [\"BUILDKIT_X\", \"https_proxy\", \"TARGETOS\", \"B=switch.BUILDOS\"]\nrun = [\"true\"]\n";
    insta::assert_snapshot!(rendered(&load(declared, "TARGETOS=linux\n")));
    let loaded = load(PLATFORMS, "");
    let graph = loaded.graph.as_ref().expect("a graph");
    let report = plan(graph, &request("own", &[("TARGETARCH", "arm64")])).expect_err("refused");
    insta::assert_snapshot!(report.render(&loaded.sources, false));
}
