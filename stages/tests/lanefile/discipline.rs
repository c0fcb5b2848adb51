//! The rules that builders of the system which this format replaces kept by hand, each as what the
//! format does by itself, and what its driver refused.

use crate::common::{load, plan, rendered, request};
use crate::incidents::{
    LANES, PINS, base, called, edited, manifest, moved, pinned, refused, touched, wrong,
};

/// What is wrong with a request for a target.
fn asked(lanes: &str, target: &str, args: &[(&str, &str)]) -> String {
    let loaded = load(lanes, PINS);
    let Ok(graph) = &loaded.graph else {
        return rendered(&loaded);
    };
    match plan(graph, &request(target, args)) {
        Ok(_) => String::new(),
        Err(report) => report.render(&loaded.sources, false),
    }
}

fn with(from: &str, to: &str) -> String {
    assert!(LANES.contains(from), "the test changes nothing: {from}");
    LANES.replacen(from, to, 1)
}

#[test]
fn r01_an_argument_is_in_the_key_of_who_names_it_wherever_it_is_declared() {
    let arg =
        "[arg.OPENCV_LINK_CHAIN_FFMPEG]\ndefault = \"0\"\nabout   = \"experiment with OpenCV\"\n";
    let lanes = LANES.replace(arg, "") + arg;
    assert_eq!(
        moved(&base("winamd64"), &manifest("winamd64", &lanes, PINS, &[])),
        ""
    );
    assert_eq!(
        called("OPENCV_LINK_CHAIN_FFMPEG", "1"),
        "opencv/build gstreamer/build?"
    );
}

#[test]
fn r02_steps_of_a_root_run_in_order_and_labels_behind_all() {
    // The order of costs is the order of steps; what is volatile comes last in its stage.
    assert!(!pinned("winamd64", "SCOOP_VERSION=0.5", "SCOOP_VERSION=0.6").contains("base/vs"));
    assert_eq!(
        edited("maintainer = \"us\"", "maintainer = \"${lane.name}\""),
        ""
    );
}

#[test]
fn r03_the_target_is_in_no_key_of_base_and_toolchain() {
    let (amd64, arm64) = (base("winamd64"), base("winarm64"));
    for node in ["base/vs", "base/scoop", "toolchain/llvm"] {
        let key = |m: &stages::keys::Manifest| m.node(node).expect(node).key.clone();
        assert_eq!(key(&amd64), key(&arm64), "{node}");
    }
    // And somebody asserts it: `same-for` on the toolchain.
    refused(
        &with(
            "args  = [\"LLVM_VERSION\"]",
            "args = [\"LLVM_VERSION\", \"T=lane.target\"]",
        ),
        "LK020",
        "toolchain",
    );
}

#[test]
fn r04_an_argument_is_seen_behind_any_start_of_a_stage() {
    // Of an image, a stage, a slot, a list: a step names it, and has it.
    for from in [
        "from = { image = \"x\" }",
        "from = [\"toolchain\"]",
        "from = { slot = \"sdk\" }",
    ] {
        let lanes = with(
            "[stage.onnx]\nfrom = \"toolchain\"",
            &format!("[stage.onnx]\n{from}"),
        );
        let manifest = manifest("winarm64", &lanes, PINS, &[]);
        let node = manifest.node("onnx/build").expect("the step");
        assert_eq!(
            node.components["env.WINDOWS_TARGET_ARCH"], "arm64",
            "{from}"
        );
    }
}

#[test]
fn r05_what_is_not_declared_is_refused() {
    assert!(asked(LANES, "winamd64", &[("NOPE", "1")]).contains("LK009"));
}

#[test]
fn r06_settings_of_the_build_host_are_named_by_steps_and_never_environment() {
    let found = asked(
        LANES,
        "winamd64",
        &[("SCCACHE_WEBDAV_ENDPOINT", "http://x")],
    );
    assert!(
        found.contains("LK009") && found.contains("--secret"),
        "{found}"
    );
    refused(
        &with("env.PATH", "env.MEMORY_LIMIT_GB = \"8\"\nenv.PATH"),
        "LK067",
        "MEMORY_LIMIT_GB",
    );
}

#[test]
fn r07_the_keys_of_one_component_are_in_that_component() {
    let moved = pinned("winamd64", "OPENCV_VERSION=5.0", "OPENCV_VERSION=5.1");
    assert_eq!(moved, "opencv/build gstreamer/build?");
}

#[test]
fn r08_an_experiment_is_an_argument_with_a_name_of_its_step() {
    let found = wrong(
        &with(
            "[stage.genai]",
            "[stage.genai]\nenv.OPENCV_EXPERIMENT = \"1\"",
        ),
        PINS,
        &[],
    );
    assert_eq!(
        found, "",
        "chain env is said where it is meant, and is another stage's business"
    );
    assert_eq!(
        called("OPENCV_CUDA_LAUNCHER", "x"),
        "opencv/build gstreamer/build?"
    );
}

#[test]
fn r09_what_schedules_is_no_argument() {
    let found = asked(LANES, "winamd64", &[("MEMORY_LIMIT_GB", "8")]);
    assert!(found.contains("LK009"), "{found}");
}

#[test]
fn r10_the_pins_file_is_no_input_and_its_pins_are() {
    assert!(base("winamd64").nodes.iter().all(|node| {
        node.files
            .values()
            .all(|file| !file.path.contains("versions.env"))
    }));
    let more = format!("{PINS}NEW_KEY=1\n");
    let found = wrong(LANES, &more, &[]);
    assert!(
        found.contains("LK008") && found.contains("NEW_KEY"),
        "a key that nobody maps: {found}"
    );
}

#[test]
fn r11_what_another_lane_has_is_in_no_key_of_this_one() {
    let lanes = with(
        "args = [\"GENAI_VERSION\"]",
        "args = [\"GENAI_VERSION\"]\nkits = [\"sccache\", \"nvidia\"]",
    )
    .replacen(
        "kits = [\"sccache\"]\nargs = [\"GENAI_VERSION\"]\n",
        "args = [\"GENAI_VERSION\"]\n",
        1,
    );
    let kit = "[kit.nvidia]\nwhen = { slot.sdk = \"nvidia\" }\nargs = [\"CUDA=CUDA_VERSION\"]\n";
    let after = manifest("winamd64", &(lanes.clone() + kit), PINS, &[]);
    assert_eq!(moved(&base("winamd64"), &after), "");
    let nvidia = manifest("winamd64-nvidia", &(lanes + kit), PINS, &[]);
    assert!(
        nvidia
            .node("genai/build")
            .expect("it")
            .components
            .contains_key("env.CUDA")
    );
}

#[test]
fn r12_a_hash_is_taken_where_it_is_checked_and_not_empty() {
    assert!(pinned("winamd64", &"1".repeat(64), &"2".repeat(64)).starts_with("onnx/build"));
    assert!(wrong(LANES, &PINS.replace(&"1".repeat(64), "1234"), &[]).contains("LK061"));
}

#[test]
fn r13_who_takes_a_kit_takes_all_of_it() {
    let kit = "[kit.qnn]\nargs = [\"QNN_SDK_SHA256\"]\nfiles = [\"qnn.zip\"]\n";
    let lanes = LANES.replace(", \"QNN_SDK_SHA256\"]", "]").replace(
        "kits = [\"sccache\", \"modules\"]",
        "kits = [\"sccache\", \"modules\", \"qnn\"]",
    ) + kit;
    let manifest = manifest("winamd64", &lanes, PINS, &[]);
    let node = manifest.node("onnx/build").expect("the step");
    assert!(node.components.contains_key("env.QNN_SDK_SHA256"));
    assert!(node.files.values().any(|file| file.path == "qnn.zip"));
}

#[test]
fn r14_files_are_listed_one_by_one() {
    refused(
        &with("\"scripts/host/Install-Vs.ps1\"]\nrun", "\".\"]\nrun"),
        "LK012",
        "whole context",
    );
    assert_eq!(touched("scripts/build/Other.ps1"), "");
}

#[test]
fn r15_stamps_re_run_nothing() {
    let stamp = "[arg.BUILD_DATE]\nstamp = true\nabout = \"when\"\ndefault = \"\"\n";
    let labels = with(
        "image.env = {",
        "image.labels.created = \"${arg.BUILD_DATE}\"\nimage.env = {",
    ) + stamp;
    let (a, b) = (
        manifest("winamd64", &labels, PINS, &[("BUILD_DATE", "2026-12-01")]),
        manifest("winamd64", &labels, PINS, &[("BUILD_DATE", "2026-12-02")]),
    );
    assert_eq!(moved(&a, &b), "");
    let keyed = with(
        "args = [\"GENAI_VERSION\"]",
        "args = [\"GENAI_VERSION\", \"BUILD_DATE\"]",
    ) + stamp;
    refused(&keyed, "LK046", "BUILD_DATE");
}

#[test]
fn r16_floors_are_the_gates() {
    assert_eq!(edited("least = 100", "least = 119"), "");
}

#[test]
fn r17_a_gate_sees_no_argument_and_no_network() {
    // A gate has no `args`, `env` and `host`: there is nothing that could join what it looks at.
    refused(
        &with("hold  = [\"final\"]", "args = [\"ONNX_VERSION\"]"),
        "LK002",
        "args",
    );
}

#[test]
fn r18_an_argument_that_is_kept_for_old_command_lines_says_so() {
    let old = "[arg.SCCACHE_REPRO_CUDA_LLM]\nabout = \"once a switch\"\n";
    refused(&(LANES.to_owned() + old), "LK008", "SCCACHE_REPRO_CUDA_LLM");
    let allowed =
        format!("{old}lint = [{{ allow = \"LK008\", why = \"old command lines name it\" }}]\n");
    let lanes = LANES.to_owned() + &allowed;
    assert_eq!(wrong(&lanes, PINS, &[("SCCACHE_REPRO_CUDA_LLM", "1")]), "");
}

// What the driver refused.

const REFUSE: &str = "[[refuse]]\nwhen = { lane.target = \"arm64\", slot.sdk = \"nvidia\" }\nwhy = \"no cross build of it\"\n";

#[test]
fn d01_a_stage_that_moved_is_no_target() {
    let found = asked(LANES, "winamd64/rocm", &[]);
    assert!(found.contains("LK009") && found.contains("rocm"), "{found}");
}

#[test]
fn d02_a_lane_has_one_choice_for_a_slot() {
    refused(
        &with(
            "slot.sdk     = \"plain\"",
            "slot.sdk = [\"plain\", \"nvidia\"]",
        ),
        "LK003",
        "the choice of a slot",
    );
}

#[test]
fn d03_a_combination_without_a_release_is_refused_with_its_reason() {
    let lane = "[lane.bad]\nplatform = \"linux/amd64\"\ntarget = \"windows/arm64\"\nslot.sdk = \"nvidia\"\noutput.image = { stage = \"final\" }\n";
    let lanes = format!("{LANES}{REFUSE}{lane}");
    let found = asked(&lanes, "bad", &[]);
    assert!(
        found.contains("LK016") && found.contains("no cross build of it"),
        "{found}"
    );
    assert!(
        wrong(&lanes, PINS, &[]).contains("LK070"),
        "and nobody can build the lane"
    );
}

#[test]
fn d04_what_a_lane_does_not_have_is_refused_when_it_is_named() {
    let found = asked(LANES, "winamd64/sdk-nvidia", &[]);
    assert!(
        found.contains("LK017") && found.contains("sdk-nvidia"),
        "{found}"
    );
    let when = with(
        "[stage.torch]",
        "[stage.torch]\nwhen = { lane.target = \"amd64\" }",
    )
    .replace(
        "\"gstreamer\", \"torch\"]",
        "\"gstreamer\", { stage = \"torch\", when = { lane.target = \"amd64\" } }]",
    );
    assert!(asked(&when, "winamd64/torch", &[]).is_empty());
    assert!(asked(&when, "winarm64/torch", &[]).contains("LK017"));
    assert!(
        asked(&when, "winarm64", &[]).is_empty(),
        "and it is passed over by default"
    );
}

#[test]
fn d05_there_is_no_stale_parent() {
    // A target's plan has everything behind it, whatever was built before.
    let loaded = load(LANES, PINS);
    let graph = loaded.graph.as_ref().expect("a graph");
    let (plan, _) = plan(graph, &request("winamd64/torch", &[])).expect("a plan");
    let names: Vec<&str> = plan
        .stages
        .iter()
        .map(|stage| stage.name.as_str())
        .collect();
    assert_eq!(names, ["base", "toolchain", "torch"]);
}

#[test]
fn d06_a_tag_is_of_one_content() {
    let tag = |lanes: String| {
        lanes.replace(
            "output.image = { stage = \"final\" }",
            "output.image = { stage = \"final\", tag = \"winamd64\" }",
        )
    };
    refused(&tag(LANES.to_owned()), "LK040", "stands for two contents");
}

#[test]
fn d07_a_name_that_is_no_identifier_is_no_argument() {
    assert!(asked(LANES, "winamd64", &[("A B", "1")]).contains("LK009"));
    refused(
        &(LANES.to_owned() + "[arg.\"A-B\"]\nabout = \"x\"\n"),
        "LK003",
        "cannot be a name",
    );
}

#[test]
fn d08_a_merge_without_one_of_its_parts_is_refused() {
    let lanes = with(
        "[stage.genai]",
        "[stage.genai]\nwhen = { lane.target = \"amd64\" }",
    );
    refused(&lanes, "LK017", "genai");
}

#[test]
fn d09_what_a_compile_may_take_needs_no_cache_to_get_there() {
    // The driver refused two stages at once without the cache, since only that carried the budget.
    // Here it is a host setting of its own: each compile sees it, with the cache or without.
    let host = "host  = [\"SCCACHE_WEBDAV_ENDPOINT\", \"MEMORY_LIMIT_GB\"]";
    let lanes = with(host, "host  = [\"MEMORY_LIMIT_GB\"]").replace(
        "[host.SCCACHE_WEBDAV_ENDPOINT]\nabout = \"compile cache\"\n",
        "",
    );
    for lanes in [LANES, &lanes] {
        let manifest = manifest("winamd64", lanes, PINS, &[]);
        for step in ["onnx/build", "ffmpeg/build", "toolchain/llvm"] {
            let node = manifest.node(step).expect(step);
            assert!(
                node.components.contains_key("host.MEMORY_LIMIT_GB"),
                "{step}"
            );
        }
    }
}

#[test]
fn d10_a_switch_that_means_nothing_to_a_lane_is_refused_where_the_file_says_so() {
    let switch = "[switch.spikes]\ndefault = true\nabout = \"experiments\"\n";
    let refuse = "[[refuse]]\nwhen = { switch.spikes = false, not = { slot.sdk = \"nvidia\" } }\nwhy = \"only that lane has experiments\"\n";
    let lanes = with(
        "[[stage.sdk-nvidia.step]]\nname = \"tensorrt\"\n",
        "[[stage.sdk-nvidia.step]]\nname = \"tensorrt\"\nwhen = { switch.spikes = true }\n",
    ) + switch
        + refuse;
    let off = [("spikes", "false")];
    assert!(asked(&lanes, "winamd64", &off).contains("LK016"));
    assert_eq!(asked(&lanes, "winamd64-nvidia", &off), "");
    assert_eq!(asked(&lanes, "winamd64", &[]), "");
}

#[test]
fn d11_two_sdks_never_stand_in_one_chain() {
    // The driver's script looked for the other SDK on the disk and stopped. A slot has one choice.
    let rocm = "[stage.sdk-rocm]\nwhen = { slot.sdk = \"rocm\" }\nfrom = \"base\"\n[[stage.sdk-rocm.step]]\nname = \"rocm\"\nrun = [\"install-rocm\"]\n";
    let lane = "[lane.winamd64-rocm]\nplatform = \"linux/amd64\"\ntarget = \"windows/amd64\"\nslot.sdk = \"rocm\"\noutput.image = { stage = \"final\" }\n";
    let lanes = with(
        "nvidia = { stage = \"sdk-nvidia\" }\n",
        "nvidia = { stage = \"sdk-nvidia\" }\nrocm = { stage = \"sdk-rocm\" }\n",
    ) + rocm
        + lane;
    for (lane, has) in [
        ("winamd64-nvidia", "sdk-nvidia"),
        ("winamd64-rocm", "sdk-rocm"),
    ] {
        let manifest = manifest(lane, &lanes, PINS, &[]);
        let nodes = manifest.nodes.iter().map(|node| node.id.as_str());
        let sdks: Vec<&str> = nodes
            .filter_map(|id| id.split_once('/'))
            .map(|(stage, _)| stage)
            .filter(|stage| stage.starts_with("sdk-"))
            .collect();
        assert!(
            !sdks.is_empty() && sdks.iter().all(|sdk| *sdk == has),
            "{sdks:?}"
        );
    }
    // Nor by a stage that starts from both.
    let both = lanes.replace(
        "[stage.sdk-rocm]\nwhen = { slot.sdk = \"rocm\" }\nfrom = \"base\"",
        "[stage.sdk-rocm]\nwhen = { slot.sdk = \"rocm\" }\nfrom = \"sdk-nvidia\"",
    );
    assert!(asked(&both, "winamd64-rocm", &[]).contains("LK017"));
}
