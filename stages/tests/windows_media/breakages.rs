//! What is wrong gives its rule: 20 ways to break the example, and what its driver refused.

use crate::example::Example;

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

#[test]
fn what_the_driver_refused_is_refused() {
    let example = Example::read();
    let refused = |target: &str, args: &[(&str, &str)]| {
        let wrong = example.asked(target, args);
        assert!(
            wrong.iter().any(|one| one == "LK016"),
            "{target} {args:?}: {wrong:?}"
        );
    };
    refused("winarm64/torch", &[]);
    refused("winarm64-nvidia/torch", &[]);
    for stage in [
        "migraphx",
        "amdgpu-ep",
        "llama-hip",
        "llama-vulkan",
        "torch-rocm-wheels",
        "sdk-rocm",
    ] {
        refused(&format!("winamd64/{stage}"), &[]);
    }
    refused("winamd64-rocm/migraphx", &[("spikes", "false")]);
    refused("winamd64", &[("spikes", "false")]);
    refused("winarm64", &[("spikes", "false")]);
    // A lane for ROCm on ARM.
    let lanes = example.clone().with(
        "lanes.toml",
        "target        = \"arm64\"\nslot          = { sdk = \"nvidia\" }",
        "target        = \"arm64\"\nslot          = { sdk = \"rocm\" }",
    );
    assert!(
        lanes
            .asked("winarm64-nvidia", &[])
            .iter()
            .any(|one| one == "LK016")
    );
}
