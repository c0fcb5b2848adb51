//! What is wrong gives its rule: 20 ways to break the example, and what its driver refused.

use stages::file::{From, Need};

use crate::example::{Example, directory, text};

/// File, place, what stands there then, and the rule that says so.
const BREAKAGES: [(&str, &str, &str, &str); 20] = [
    (
        "stages/hailo.toml",
        "[stage.hailo]",
        "[stage.hailo",
        "LK001",
    ),
    ("stages/hailo.toml", "files = ", "fiels = ", "LK002"),
    (
        "lanes.toml",
        "need  = \"waivable\"",
        "need  = \"always\"",
        "LK003",
    ),
    (
        "lanes.toml",
        "[lane.winamd64]\nplatform         = \"windows/amd64\"\n",
        "[lane.winamd64]\n",
        "LK004",
    ),
    (
        "stages/ffmpeg.toml",
        "uses  = [\"ffmpeg\"]",
        "uses  = [\"ffmpg\"]",
        "LK005",
    ),
    (
        "lanes.toml",
        "[arg.VCS_REF]",
        "[arg.FFMPEG_VERSION]",
        "LK006",
    ),
    (
        "stages/onnxruntime.toml",
        "uses = [\"python\"]",
        "uses = [\"python\", \"gstreamer\"]",
        "LK007",
    ),
    ("stages/hailo.toml", "\"HAILORT_VERSION\", ", "", "LK008"),
    (
        "stages/hailo.toml",
        "tree = ['C:\\runtime\\lib\\hailort']",
        "tree = ['C:\\runtime\\lib']",
        "LK041",
    ),
    ("gates/arch.toml", "least = 650", "least = 0", "LK011"),
    (
        "gates/arch.toml",
        "when      = { lane.target = \"arm64\" }\n",
        "when      = { lane.target = \"amd64\" }\n",
        "LK011",
    ),
    ("gates/arch.toml", "broken = 390", "broken = 590", "LK011"),
    (
        "stages/hailo.toml",
        "\"windows/scripts/patches/hailo/\"",
        "\".\"",
        "LK012",
    ),
    (
        "versions.env",
        "HAILORT_VERSION=",
        "HAILORT_VERSION: ",
        "LK013",
    ),
    (
        "stages/gstreamer.toml",
        "${arch.opencv-dir}",
        "${arch.elf-bits}",
        "LK015",
    ),
    (
        "stages/media.toml",
        "{ stage = \"llama-hip\", when = { slot.sdk = \"rocm\" } }",
        "\"llama-hip\"",
        "LK017",
    ),
    (
        "stages/toolchain.toml",
        "env.PYTHON_BUILD_BIN",
        "env.TARGET = \"${lane.target}\"\nenv.PYTHON_BUILD_BIN",
        "LK020",
    ),
    (
        "lanes.toml",
        "bk-winarm64-nvidia\"",
        "bk-winarm64\"",
        "LK040",
    ),
    (
        "stages/final.toml",
        "env         = { WINDOWS_TARGET_ARCH",
        "env         = { SCCACHE_LOG = \"debug\", WINDOWS_TARGET_ARCH",
        "LK067",
    ),
    (
        "stages/torch.toml",
        "APP_COMMIT=git.app.commit\"",
        "APP_COMMIT=git.app.commit\", \"BUILD_DATE\"",
        "LK046",
    ),
];

#[test]
fn each_of_20_breakages_gives_its_rule() {
    for (file, from, to, rule) in BREAKAGES {
        let wrong = Example::read().with(file, from, to).wrong();
        assert!(
            wrong.iter().any(|one| one == rule),
            "{file}: {to}: {rule} is not in {wrong:?}"
        );
    }
}

/// Pins that others follow: who moves one is told to look at the rest again.
#[test]
fn a_pin_that_moves_alone_is_told_of() {
    let leads = [
        "ROCM_WINDOWS_RELEASE",
        "PYTORCH_VERSION",
        "IREE_VERSION",
        "ONNXRUNTIME_VERSION",
        "LITERT_LM_VERSION",
        "LLAMA_CPP_HIP_BUILD",
        "TVM_REF",
        "VULKAN_VERSION",
    ];
    assert_eq!(Example::read().graph().pin_rules.len(), leads.len());
    for lead in leads {
        let wrong = Example::read().pinned(lead, "9").wrong();
        assert_eq!(wrong, ["LK063"], "{lead}");
    }
}

#[test]
fn nothing_is_wrong_or_doubtful_as_it_is() {
    assert_eq!(Example::read().wrong(), [""; 0]);
}

/// What the driver refused: a row of README.md's table by how it starts, with the test of it.
type Refused = (&'static str, fn(&Example));

const REFUSED: [Refused; 7] = [
    ("ROCm on arm64; PyTorch", combinations),
    ("CUDA and ROCm at once", one_sdk),
    ("the stage `rocm`", unknown_stages),
    ("an argument that is no name", unknown_arguments),
    ("a tag of another lane", one_tag_twice),
    ("stages with a gap between them", no_gap),
    ("two builds at once", nothing_of_the_machine),
];

#[test]
fn what_the_driver_refused_is_refused() {
    let readme = text(&directory().join("README.md"));
    let (_, rows) = readme.split_once("| there | here |").expect("a table");
    let rows = rows
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let rows: Vec<&str> = rows.map(|row| row.trim_matches(['|', ' '])).collect();
    assert_eq!(rows.len(), REFUSED.len(), "{rows:?}");
    let example = Example::read();
    for (row, (start, test)) in rows.iter().zip(REFUSED) {
        assert!(row.starts_with(start), "{row}");
        test(&example);
    }
}

fn refused(example: &Example, target: &str, args: &[(&str, &str)], rule: &str) {
    let wrong = example.asked(target, args);
    let told = wrong.iter().any(|one| one == rule);
    assert!(told, "{target} {args:?}: {wrong:?}");
}

fn combinations(example: &Example) {
    let of = |target: &str, args: &[(&str, &str)]| refused(example, target, args, "LK016");
    of("winarm64/torch", &[]);
    of("winarm64-nvidia/torch", &[]);
    for lane in ["winamd64", "winamd64-nvidia", "winarm64"] {
        for stage in [
            "migraphx",
            "amdgpu-ep",
            "llama-hip",
            "llama-vulkan",
            "torch-rocm-wheels",
            "torch-rocm",
            "sdk-rocm",
        ] {
            of(&format!("{lane}/{stage}"), &[]);
        }
        of(lane, &[("spikes", "false")]);
    }
    of("winamd64-rocm/migraphx", &[("spikes", "false")]);
    of("winamd64-rocm/amdgpu-ep", &[("spikes", "false")]);
    for stage in ["llama-hip", "torch-rocm-wheels"] {
        let asked = example.asked(&format!("winamd64-rocm/{stage}"), &[("spikes", "false")]);
        assert_eq!(asked, [""; 0], "{stage} is no spike");
    }
    // A lane for ROCm on ARM.
    let lane = "target        = \"arm64\"\nslot          = { sdk = \"nvidia\" }";
    let other = lane.replace("nvidia", "rocm");
    let lanes = example.clone().with("lanes.toml", lane, &other);
    assert!(
        lanes
            .asked("winarm64-nvidia", &[])
            .contains(&"LK016".to_owned())
    );
}

fn one_sdk(example: &Example) {
    let twice = "slot             = { sdk = \"nvidia\", sdk = \"rocm\" }";
    let wrong = example.clone().with(
        "lanes.toml",
        "slot             = { sdk = \"nvidia\" }",
        twice,
    );
    assert_eq!(wrong.wrong(), ["LK001"]);
    let graph = example.graph();
    for stage in ["sdk-nvidia", "sdk-rocm", "sdk-cuda-cross"] {
        let Some(From::Stage(from)) = &graph.stages[stage].from else {
            panic!("{stage} starts from no stage");
        };
        assert_eq!(from.value, "base", "{stage}");
    }
}

/// (What `--no-cache-filter` names is looked for where builds are.)
fn unknown_stages(example: &Example) {
    refused(example, "winamd64-rocm/rocm", &[], "LK009");
}

fn unknown_arguments(example: &Example) {
    refused(example, "winamd64", &[("MEMORY LIMIT", "8")], "LK009");
    refused(example, "winamd64", &[("MEMORY_LIMIT_GB", "8")], "LK009");
}

fn one_tag_twice(example: &Example) {
    let tag = "kataglyphis:bk-winamd64-rocm\"";
    let wrong = example
        .clone()
        .with("lanes.toml", tag, "kataglyphis:bk-winamd64\"");
    assert!(wrong.wrong().contains(&"LK040".to_owned()));
}

/// What is asked for by name brings with it all that it stands on.
fn no_gap(example: &Example) {
    let whole = example.manifest("winamd64-rocm", &[]).by_id().len();
    for (stage, least) in [("media", 40), ("image", 40), ("torch", 40), ("final", 50)] {
        let nodes = example.manifest(&format!("winamd64-rocm/{stage}"), &[]);
        let nodes = nodes.by_id();
        assert!(
            nodes.len() >= least && nodes.len() <= whole,
            "{stage}: {}",
            nodes.len()
        );
        for step in [
            "base/visual-studio",
            "onnx/build",
            "gstreamer/build",
            "migraphx/build",
            "llama-hip/build",
        ] {
            assert!(nodes.contains_key(step), "{stage} without {step}");
        }
    }
}

fn nothing_of_the_machine(example: &Example) {
    // Who goes without the compile cache says so, and that is in no key.
    let endpoint = &example.graph().hosts["SCCACHE_WEBDAV_ENDPOINT"];
    assert_eq!(endpoint.need, Need::Waivable);
}
