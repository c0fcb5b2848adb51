//! The 18 rules that the system's Dockerfiles kept by hand, each on this graph.

use std::collections::BTreeMap;

use stages::impact::{Fate, Known, fates};
use stages::keys::{Kind, Manifest};
use stages::plan::PlannedOutput;

use crate::common::{plan, request};
use crate::example::{Example, LANES};

/// The steps that must run after a change, by their ids, sorted.
fn must(old: &Manifest, new: &Manifest) -> Vec<String> {
    let fates = fates(new, &Known::of(old), &BTreeMap::new());
    let steps = new.nodes.iter().filter(|node| node.kind == Kind::Step);
    let ran = steps.filter(|node| fates[node.id.as_str()] == Fate::Must);
    let mut ids: Vec<String> = ran.map(|node| node.id.clone()).collect();
    ids.sort();
    ids
}

fn pinned(lane: &str, name: &str, value: &str) -> Vec<String> {
    let example = Example::read();
    must(
        &example.manifest(lane, &[]),
        &example.pinned(name, value).manifest(lane, &[]),
    )
}

/// What runs in the first lane after an edit of the file.
fn edited(file: &str, from: &str, to: &str) -> Vec<String> {
    let example = Example::read();
    let old = example.manifest("winamd64", &[]);
    must(
        &old,
        &example.with(file, from, to).manifest("winamd64", &[]),
    )
}

fn of(ids: &[&str]) -> Vec<String> {
    let mut ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    ids.sort();
    ids
}

/// The names of the variables that a step sees.
fn sees(manifest: &Manifest, step: &str) -> Vec<String> {
    let node = manifest.node(step).expect(step);
    let names = node
        .components
        .keys()
        .filter_map(|name| name.strip_prefix("env."));
    names.map(str::to_owned).collect()
}

#[test]
fn r01_a_pin_is_in_the_key_of_who_names_it() {
    assert_eq!(
        pinned("winamd64", "HAILORT_VERSION", "9"),
        of(&["hailo/build"])
    );
}

#[test]
fn r02_what_is_cheap_and_moves_often_pays_for_nothing_before_it() {
    let rust = pinned("winamd64", "RUST_VERSION", "9");
    assert!(rust.contains(&"base/rust".to_owned()));
    assert!(
        !rust.contains(&"base/visual-studio".to_owned())
            && !rust.contains(&"base/vcpkg".to_owned())
    );
    let title = "Media and inference for windows";
    assert_eq!(
        edited("stages/final.toml", title, "Another title for windows"),
        of(&[])
    );
}

#[test]
fn r03_the_target_is_in_no_key_up_to_the_toolchain() {
    let (amd64, arm64) = (
        Example::read().manifest("winamd64", &[]),
        Example::read().manifest("winarm64", &[]),
    );
    for node in amd64.nodes.iter().filter(|node| node.kind == Kind::Step) {
        if ["base/", "cpython/", "patched-llvm/"]
            .iter()
            .any(|stage| node.id.starts_with(stage))
        {
            assert_eq!(
                Some(&node.key),
                arm64.node(&node.id).map(|node| &node.key),
                "{}",
                node.id
            );
        }
    }
}

#[test]
fn r04_every_compile_sees_the_target_of_its_lane() {
    for (lane, target) in [
        ("winamd64", "amd64"),
        ("winamd64-nvidia", "amd64"),
        ("winamd64-rocm", "amd64"),
        ("winarm64", "arm64"),
        ("winarm64-nvidia", "arm64"),
    ] {
        let manifest = Example::read().manifest(lane, &[]);
        // The compiler itself is one for both.
        let compiles = manifest.nodes.iter().filter(|node| {
            node.components.contains_key("cache./sccache") && node.id != "patched-llvm/llvm"
        });
        let mut count = 0;
        for node in compiles {
            let seen = node.components.get("env.WINDOWS_TARGET_ARCH");
            assert_eq!(
                seen.map(String::as_str),
                Some(target),
                "{lane}: {}",
                node.id
            );
            count += 1;
        }
        assert!(count >= 13, "{lane}: {count} compiles");
    }
}

#[test]
fn r05_an_argument_that_nobody_declares_is_an_error() {
    let wrong = Example::read().asked("winamd64", &[("MEMORY_LIMIT_GB", "8")]);
    assert_eq!(wrong, ["LK009"]);
}

#[test]
fn r06_settings_of_the_build_machine_are_in_no_key_and_no_config() {
    let example = Example::read();
    for lane in LANES {
        let manifest = example.manifest(lane, &[]);
        for node in &manifest.nodes {
            let env = node
                .components
                .keys()
                .filter(|name| name.starts_with("env.SCCACHE"));
            for name in env {
                let ours = [
                    "env.SCCACHE_DIR",
                    "env.SCCACHE_CACHE_SIZE",
                    "env.SCCACHE_ERROR_LOG",
                    "env.SCCACHE_IDLE_TIMEOUT",
                    "env.SCCACHE_CUDA_LAUNCHER",
                    "env.SCCACHE_WINDOWS_VERSION",
                    "env.SCCACHE_WINDOWS_ZIP_SHA256",
                ];
                assert!(ours.contains(&name.as_str()), "{}: {name}", node.id);
            }
        }
    }
    let graph = example.graph();
    let hosts: Vec<&String> = graph.hosts.keys().collect();
    for lane in LANES {
        let (plan, _) = plan(&graph, &request(lane, &[])).expect("a plan");
        let PlannedOutput::Product { config, .. } = plan.output else {
            panic!("{lane} has no product");
        };
        let image = String::from_utf8(config.to_image("windows/amd64")).expect("JSON");
        let named = hosts.iter().find(|host| image.contains(host.as_str()));
        assert_eq!(named, None, "{lane}");
    }
    // And no compile goes without the endpoint in silence.
    let manifest = example.manifest("winamd64-rocm", &[]);
    let compiles = manifest
        .nodes
        .iter()
        .filter(|node| node.components.contains_key("cache./sccache"));
    let mut count = 0;
    for node in compiles {
        assert_eq!(
            node.components["host.SCCACHE_WEBDAV_ENDPOINT"], "waivable",
            "{}",
            node.id
        );
        count += 1;
    }
    assert!(count >= 19, "{count} compiles");
}

#[test]
fn r07_a_components_pins_are_in_its_steps_alone() {
    assert_eq!(pinned("winamd64", "PYAV_VERSION", "9"), of(&["pyav/build"]));
    assert_eq!(
        pinned("winamd64", "FFMPEG_VERSION", "9"),
        of(&["ffmpeg/build", "manifest/write"])
    );
}

#[test]
fn r08_an_experiment_of_one_component_is_in_no_other() {
    let example = Example::read();
    let old = example.manifest("winamd64", &[]);
    for arg in ["OPENCV_CUDA_LAUNCHER", "OPENCV_LINK_CHAIN_FFMPEG"] {
        assert_eq!(
            must(&old, &example.manifest("winamd64", &[(arg, "0")])),
            of(&["opencv/build"])
        );
    }
    let onnx = example.manifest("winamd64", &[("SCCACHE_CUDA_LAUNCHER", "0")]);
    assert_eq!(must(&old, &onnx), of(&["onnx/build"]));
}

#[test]
fn r09_how_much_runs_at_once_is_nothing_that_a_step_sees() {
    for lane in LANES {
        for node in Example::read().manifest(lane, &[]).nodes {
            let knobs = ["MEMORY", "PARALLEL", "JOBS"];
            let knob = node
                .components
                .keys()
                .find(|name| knobs.iter().any(|knob| name.contains(knob)));
            assert_eq!(knob, None, "{}", node.id);
        }
    }
}

#[test]
fn r10_a_comment_and_a_pin_of_linux_re_run_nothing() {
    assert_eq!(
        edited(
            "versions.env",
            "FFMPEG_VERSION=",
            "# a comment\nFFMPEG_VERSION="
        ),
        of(&[])
    );
    assert_eq!(pinned("winamd64", "UBUNTU_VERSION", "30.04"), of(&[]));
    // LLVM reads a file of pins, which has just its own.
    assert!(
        pinned("winamd64", "LLVM_WINDOWS_SRC_SHA256", &"0".repeat(64))
            .contains(&"patched-llvm/llvm".to_owned())
    );
}

#[test]
fn r11_what_is_of_one_lane_is_in_no_other() {
    for lane in ["winamd64", "winamd64-nvidia", "winarm64", "winarm64-nvidia"] {
        let manifest = Example::read().manifest(lane, &[]);
        for node in manifest.nodes.iter().filter(|node| node.kind == Kind::Step) {
            let rocm = sees(&manifest, &node.id).into_iter().find(|name| {
                ["ROCM", "WEBGPU", "MIGRAPHX", "HIP"]
                    .iter()
                    .any(|word| name.contains(word))
                    && name != "IREE_ROCM_DEVICE_BC_SHA256"
            });
            assert_eq!(rocm, None, "{lane}: {}", node.id);
        }
    }
}

/// What ROCm has besides must not stand before what the toolchain has, and its compilers not at all.
#[test]
fn rocms_tools_are_last_on_the_path_and_its_compilers_nowhere() {
    let manifest = Example::read().manifest("winamd64-rocm", &[]);
    let mut steps = 0;
    for node in &manifest.nodes {
        let Some(path) = node.components.get("env.PATH") else {
            continue;
        };
        assert!(!path.contains(r"lib\llvm\bin"), "{}: {path}", node.id);
        let built = node.id.ends_with("/build") && node.components.contains_key("env.HIP_PATH");
        if built {
            assert!(
                path.ends_with(r"C:\TheRock\build\bin"),
                "{}: {path}",
                node.id
            );
            steps += 1;
        }
    }
    assert!(steps >= 15, "{steps} steps");
}

#[test]
fn r12_hashes_are_seen_beside_their_versions() {
    let manifest = Example::read().manifest("winamd64-nvidia", &[]);
    let cuda = sees(&manifest, "sdk-nvidia/cuda");
    for name in [
        "CUDA_VERSION",
        "CUDA_INSTALLER_SHA256",
        "CUDNN_VERSION",
        "CUDNN_ZIP_SHA256",
    ] {
        assert!(cuda.contains(&name.to_owned()), "{name}");
    }
}

/// A payload is one file with one hash: who takes it looks at no other. Only a report from a device has none, and nothing
/// that is built takes that.
#[test]
fn r13_who_takes_a_payload_has_its_hash() {
    let graph = Example::read().graph();
    let hashed = graph.payloads.iter().map(|(name, payload)| {
        let path = payload.path.value.as_str();
        (name.as_str(), path, payload.sha256.is_some())
    });
    let expected = [
        (
            "device-report",
            "windows/downloads/device-report.txt",
            false,
        ),
        ("qnn", "windows/downloads/qairt-*.zip", true),
        ("tensorrt", "windows/downloads/TensorRT-*.zip", true),
    ];
    assert_eq!(hashed.collect::<Vec<_>>(), expected);
    for lane in LANES {
        let manifest = Example::read().manifest(lane, &[]);
        assert!(
            manifest
                .nodes
                .iter()
                .all(|node| !node.id.starts_with("device/")),
            "{lane}"
        );
    }
}

#[test]
fn r14_a_step_takes_the_scripts_that_it_reads() {
    let example = Example::read();
    let old = example.manifest("winamd64", &[]);
    let changed = |path: &str| must(&old, &old.with_changed_file(path));
    let scripts = "windows/scripts/modules";
    assert_eq!(
        changed(&format!("{scripts}/WindowsGstPlugins.Common.psm1")),
        of(&[
            "gstreamer/build",
            "opencv-gstreamer/build",
            "scripts/modules",
            "scripts/entrypoint"
        ])
    );
    assert!(
        !changed(&format!("{scripts}/WindowsMeson.Common.psm1"))
            .contains(&"ffmpeg/build".to_owned())
    );
}

#[test]
fn r15_stamps_re_run_nothing() {
    let example = Example::read();
    let stamped = example.manifest(
        "winamd64",
        &[("BUILD_DATE", "2026-12-02"), ("VCS_REF", "abc")],
    );
    assert_eq!(must(&example.manifest("winamd64", &[]), &stamped), of(&[]));
}

#[test]
fn r16_a_floor_re_runs_nothing() {
    assert_eq!(
        edited("gates/arch.toml", "least = 650", "least = 700"),
        of(&[])
    );
    assert_eq!(
        edited(
            "gates/tree.toml",
            "requirements = { least = 10 }",
            "requirements = { least = 12 }"
        ),
        of(&[])
    );
}

#[test]
fn r17_what_is_graded_runs_without_an_argument() {
    let manifest = Example::read().manifest("winamd64", &[]);
    let toolchain = sees(&manifest, "toolchain-environment/record");
    assert_eq!(
        toolchain,
        ["PATH", "PYTHON_BUILD_BIN", "TEMP_DIR", "VULKAN_SDK"]
    );
    // And what the last step before it names is not in the environment of the image.
    let mut last = sees(&manifest, "final/vulkan-loader");
    last.retain(|name| {
        !["VULKAN_VERSION", "VULKAN_RT_WINDOWS_ZIP_SHA256"].contains(&name.as_str())
    });
    assert_eq!(sees(&manifest, "final-environment/record"), last);
}

#[test]
fn r18_an_argument_that_nobody_reads_is_an_error() {
    let arg = "[arg.SCCACHE_REPRO_CUDA_LLM]\nabout = \"nobody reads it\"\n\n[arg.VCS_REF]";
    let wrong = Example::read()
        .with("lanes.toml", "[arg.VCS_REF]", arg)
        .wrong();
    assert_eq!(wrong, ["LK008"]);
}
