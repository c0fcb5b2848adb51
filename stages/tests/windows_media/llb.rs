//! The LLB of every lane: only what Windows has, and nothing of a feature that the lane lacks.

use ::llb::proto::pb;
use ::llb::{Caps, Definition, Platform};
use prost::Message as _;

use crate::common::{lower_on, request};
use crate::example::{Example, LANES};

/// The ops of a target, as the engine reads them. Source maps, which hold the texts, are no ops.
fn ops(example: &Example, target: &str, args: &[(&str, &str)]) -> Vec<Vec<u8>> {
    let loaded = example.load();
    let worker = Platform::new("windows", "amd64");
    match lower_on(&loaded, &request(target, args), &Caps::all(), worker) {
        Ok(lowered) => Definition::new(&lowered.result).to_pb().def,
        Err(report) => panic!("{}", report.render(&loaded.sources, false)),
    }
}

/// What an op has that BuildKit on Windows does not do.
fn not_on_windows(op: &pb::Op) -> Vec<String> {
    let mut found = Vec::new();
    match &op.op {
        Some(pb::op::Op::Merge(_)) => found.push("a merge".to_owned()),
        Some(pb::op::Op::Diff(_)) => found.push("a diff".to_owned()),
        Some(pb::op::Op::File(file)) if file.actions.iter().any(|action| action.input < 0) => {
            found.push("a file operation on nothing".to_owned());
        }
        Some(pb::op::Op::Exec(exec)) => {
            for mount in &exec.mounts {
                let bind = mount.mount_type == i32::from(pb::MountType::Bind);
                let cache = mount.mount_type == i32::from(pb::MountType::Cache);
                if !bind && !cache {
                    found.push(format!("a mount of type {}", mount.mount_type));
                }
                if bind && mount.input < 0 {
                    found.push(format!("nothing at {}", mount.dest));
                }
                if mount.dest != "/" && !mount.dest.starts_with("C:\\") {
                    found.push(format!("a mount at {}", mount.dest));
                }
                if mount.selector.contains(['\\', ':']) {
                    found.push(format!("the selector {}", mount.selector));
                }
            }
            let meta = exec.meta.as_ref().expect("a command");
            if meta.args.len() != 1 {
                found.push(format!(
                    "{} words, which Windows would join without quotes",
                    meta.args.len()
                ));
            }
            let absolute = meta
                .args
                .iter()
                .all(|line| line.starts_with("C:\\lanegate.exe "));
            if !absolute && !meta.env.iter().any(|one| one.starts_with("PATH=")) {
                found.push(format!("no PATH for {:?}", meta.args));
            }
            if exec.security != 0 || exec.network == i32::from(pb::NetMode::Host) {
                found.push("privileges".to_owned());
            }
            let on = op.platform.as_ref().expect("a platform");
            if (on.os.as_str(), on.os_version.as_str()) != ("windows", "10.0.20348.2113") {
                found.push(format!("a step on {} {}", on.os, on.os_version));
            }
        }
        _ => {}
    }
    found
}

#[test]
fn every_output_has_only_what_windows_has() {
    let example = Example::read();
    let graph = example.graph();
    let mut execs = 0;
    for (lane, declared) in &graph.lanes {
        for output in declared.outputs.keys() {
            for bytes in ops(&example, &format!("{lane}/{output}"), &[]) {
                let op = pb::Op::decode(bytes.as_slice()).expect("an op");
                execs += usize::from(matches!(op.op, Some(pb::op::Op::Exec(_))));
                assert_eq!(not_on_windows(&op), [""; 0], "{lane}/{output}");
            }
        }
    }
    assert!(execs > 300, "{execs} commands");
}

/// Without the spikes of ROCm in the file, the other lanes are the same bytes.
#[test]
fn a_lane_that_lacks_a_feature_is_the_same_bytes_without_it() {
    let example = Example::read();
    let pins = "\"MIGRAPHX_WINDOWS_*\", \"ORT_AMDGPU_EP_*\", ";
    let bare = example
        .clone()
        .without("stages/rocm.toml", "[stage.migraphx]", "[stage.llama-hip]")
        .without_lines("stages/media.toml", "\"migraphx\"")
        .without_lines("stages/media.toml", "\"amdgpu-ep\"")
        .without_lines("stages/final.toml", "MIGRAPHX_ROOT")
        .without_lines("stages/final.toml", "ORT_AMDGPU_EP_ROOT")
        .without("gates/components.toml", "# MIGraphX as its own", "# TVM says")
        .with("gates/publish.toml", "\"migraphx\", \"amdgpu-ep\", ", "")
        .without_lines("lanes.toml", "it is a spike, and spikes are off")
        .with("lanes.toml", "[[refuse]]\nwhen = { request.stage = [\"migraphx\", \"amdgpu-ep\"], switch.spikes = false }\n", "")
        .with("lanes.toml", "\"migraphx\", \"amdgpu-ep\", \"llama-hip\"", "\"llama-hip\"")
        .with("lanes.toml", pins, "");
    for lane in LANES {
        let same = ops(&example, lane, &[]) == ops(&bare, lane, &[]);
        assert_eq!(same, lane != "winamd64-rocm", "{lane}");
    }
}

/// File, place, and what stands there then.
type Edit = (&'static str, &'static str, &'static str);

/// What one lane has of ROCm, CUDA, ARM or a payload may become another thing: the lanes without it are the same bytes.
#[test]
fn what_a_lane_lacks_may_change_and_its_bytes_do_not() {
    let example = Example::read();
    let before = LANES.map(|lane| ops(&example, lane, &[]));
    // A variable more in a kit, or another value in a stage.
    #[rustfmt::skip]
    let changes: [(&[Edit], &[&str]); 3] = [
        (
            &[
                ("stages/ffmpeg.toml", "[kit.amf]\n", "[kit.amf]\nenv = { PROBE = \"1\" }\n"),
                ("stages/litert.toml", "[kit.litert-lm-gpu]\n", "[kit.litert-lm-gpu]\nenv = { PROBE = \"1\" }\n"),
                ("stages/onnxruntime.toml", "[kit.webgpu]\n", "[kit.webgpu]\nenv = { PROBE = \"1\" }\n"),
                ("stages/tvm.toml", "[kit.tvm-rocm]\n", "[kit.tvm-rocm]\nenv = { PROBE = \"1\" }\n"),
                ("stages/llama-arm64.toml", "env.CUDA_PATH = 'C:\\cuda'", "env.CUDA_PATH = 'C:\\cuda-13'"),
                ("lanes.toml", "QNN_SDK = 'C:\\qnn-sdk'", "QNN_SDK = 'C:\\qnn'"),
            ],
            &["winamd64-rocm", "llama-winarm64-cuda/release"],
        ),
        (
            &[
                ("stages/sdk-nvidia.toml", "\"nvidia\"\nenv.CUDA_ROOT", "\"cuda\"\nenv.CUDA_ROOT"),
                ("stages/sdk-nvidia.toml", "env  = { CUDA_ARM64_ROOT", "env  = { PROBE = \"1\", CUDA_ARM64_ROOT"),
            ],
            &["winamd64-nvidia", "winarm64-nvidia"],
        ),
        (
            &[("stages/vulkan.toml", "[kit.vulkan-runtime-arm64]\n", "[kit.vulkan-runtime-arm64]\nenv = { PROBE = \"1\" }\n")],
            &["winarm64", "winarm64-nvidia"],
        ),
    ];
    for (edits, moved) in changes {
        let changed = edits
            .iter()
            .fold(example.clone(), |example, (file, from, to)| {
                example.with(file, from, to)
            });
        for (lane, before) in LANES.iter().zip(&before) {
            let same = ops(&changed, lane, &[]) == *before;
            assert_eq!(same, !moved.contains(lane), "{lane}: {edits:?}");
        }
    }
}

#[test]
fn the_same_file_gives_the_same_bytes() {
    for lane in LANES {
        let example = Example::read();
        assert_eq!(ops(&example, lane, &[]), ops(&example, lane, &[]), "{lane}");
    }
}
