//! README.md's table of systems: each has its stages, its pins and its gates, and they are the graph's.

use std::collections::{BTreeMap, BTreeSet};

use fast_glob::glob_match;
use stages::file::{Brings, FileSource, From, Stage, Sum};
use stages::graph::Graph;
use stages::text::{ArgEntry, Template, ValueRef};

use crate::edges::named;
use crate::example::{Example, LANES, directory, text};

/// What the system that is described here consists of, by the names that people know.
#[rustfmt::skip]
const SYSTEMS: [&str; 53] = [
    "Windows", "PowerShell", "Visual Studio", "CMake", "Ninja", "NASM", "Git", "WiX", "OpenSSL", "Vulkan SDK", "vcpkg", "Rust",
    "sccache", "Flutter", "CUDA", "cuDNN", "TensorRT", "QNN", "ROCm (TheRock)", "Vulkan loader", "LLVM", "CPython",
    "without the GIL", "ONNX Runtime", "DirectML", "WebGPU", "Dawn", "DXC", "GenAI", "FFmpeg", "PyAV", "OpenCV", "cv2", "HailoRT", "LiteRT",
    "LiteRT-LM", "TVM", "IREE", "GStreamer", "lavapipe", "validation layer", "wheel stacks", "dependencies",
    "run-time libraries", "manifest", "MIGraphX", "llama.cpp for HIP", "llama.cpp for Vulkan", "PyTorch for ROCm",
    "application", "image", "llama.cpp for Windows on ARM", "smoke",
];

/// A row: its first cell, its stages, patterns over its pins, its gates.
struct Row {
    system: String,
    stages: BTreeSet<String>,
    pins: BTreeSet<String>,
    gates: BTreeSet<String>,
}

fn rows() -> Vec<Row> {
    let readme = text(&directory().join("README.md"));
    let (_, table) = readme
        .split_once("| system | stage | pins | gates |")
        .expect("a table");
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let &[system, stages, pins, gates] = cells.as_slice() else {
            panic!("{row} has {} cells", cells.len());
        };
        Row {
            system: system.to_owned(),
            stages: named(stages),
            pins: named(pins),
            gates: named(gates),
        }
    })
    .collect()
}

/// The pins that a stage names: in its image, its steps' arguments and pins files, the sources of their files, and kits.
fn pins_of<'g>(graph: &'g Graph, stage: &'g Stage) -> BTreeSet<&'g str> {
    let mut pins = BTreeSet::new();
    let values = |template: &'g Template| template.values().collect::<Vec<_>>();
    let mut templates = Vec::new();
    if let Some(From::Image(image, _)) = &stage.from {
        templates.push(image);
    }
    let steps = stage.steps.iter();
    let brings = steps.flat_map(|step| {
        let kits = step.kits.iter().map(|kit| &graph.kits[&kit.value].brings);
        kits.chain([&step.sees])
    });
    let brings: Vec<&Brings> = brings.collect();
    let mut refs: Vec<&ValueRef> = Vec::new();
    for Brings {
        args,
        files,
        pins_file,
        ..
    } in brings
    {
        for arg in args {
            match arg {
                ArgEntry::One { value, .. } => refs.push(value),
                ArgEntry::Matching { pattern, .. } => {
                    let names = graph.pins.keys().map(String::as_str);
                    pins.extend(names.filter(|name| glob_match(pattern, name)));
                }
            }
        }
        pins.extend(pins_file.iter().flat_map(|file| graph.projected(file)));
        for file in files {
            match &file.source {
                FileSource::Git(git) => {
                    let git = &graph.gits[&git.value];
                    templates.push(&git.url);
                    templates.extend(&git.reference);
                }
                FileSource::Payload(payload) => {
                    if let Some(Sum::Pin(pin)) = &graph.payloads[&payload.value].sha256 {
                        pins.insert(pin.value.as_str());
                    }
                }
                FileSource::Context | FileSource::Fetch(_) => {}
            }
        }
    }
    refs.extend(templates.into_iter().flat_map(values));
    for value in refs {
        if let ValueRef::Named(name) | ValueRef::Pin(name) = value
            && graph.pins.contains_key(name)
        {
            pins.insert(name);
        }
    }
    pins
}

#[test]
fn each_system_has_its_stages_and_just_their_pins() {
    let graph = Example::read().graph();
    let rows = rows();
    for system in SYSTEMS {
        assert!(
            rows.iter().any(|row| row.system.contains(system)),
            "no row has {system}"
        );
    }
    let mut left: BTreeSet<&String> = graph.stages.keys().collect();
    for row in &rows {
        assert!(!row.stages.is_empty(), "{} has no stage", row.system);
        let mut pins = BTreeSet::new();
        for stage in &row.stages {
            assert!(left.remove(stage), "{stage} has no row of its own");
            pins.extend(pins_of(&graph, &graph.stages[stage]));
        }
        let unnamed: Vec<&&str> = pins
            .iter()
            .filter(|pin| !row.pins.iter().any(|named| glob_match(named, pin)))
            .collect();
        assert!(unnamed.is_empty(), "{} lacks {unnamed:?}", row.system);
        for named in &row.pins {
            assert!(
                pins.iter().any(|pin| glob_match(named, pin)),
                "{}: no stage names {named}",
                row.system
            );
        }
    }
    assert!(left.is_empty(), "in no row: {left:?}");
}

/// The pins file is shared, so a pin that nothing names is an error where it is ours alone. Each that a stage names is:
/// who takes it out of a stage is told that nothing names it any more.
#[test]
fn each_pin_that_a_stage_names_is_of_our_scope() {
    let graph = Example::read().graph();
    let scope: Vec<&str> = graph
        .table
        .pins
        .iter()
        .map(|one| one.value.as_str())
        .collect();
    let ours = |pin: &str| {
        let last = scope
            .iter()
            .rev()
            .find(|one| glob_match(one.trim_start_matches('!'), pin));
        last.is_some_and(|one| !one.starts_with('!'))
    };
    let mut named = BTreeSet::new();
    for stage in graph.stages.values() {
        named.extend(pins_of(&graph, stage));
    }
    named.retain(|pin| !graph.derived.contains_key(*pin));
    let others: Vec<&str> = named.iter().copied().filter(|pin| !ours(pin)).collect();
    assert_eq!(others, [""; 0]);
    assert!(named.len() > 150, "{}", named.len());
}

/// What the driver passed as arguments, by patterns (facts of its maps).
#[rustfmt::skip]
const PASSED: [&str; 48] = [
    "WINDOWS_LTSC", "WINDOWS_BASE_DIGEST", "WINDOWS_SDK_BUILD", "VISUAL_STUDIO_VERSION", "PWSH_*", "CMAKE_VERSION",
    "LLVM_WINDOWS_VERSION", "NINJA_WINDOWS_VERSION", "NASM_WINDOWS_VERSION", "GIT_*", "SCOOP_INSTALLER_SHA256", "WIX_*",
    "FLUTTER_VERSION", "VCPKG_REF", "SCCACHE_WINDOWS_*", "VULKAN_VERSION", "VULKAN_RT_WINDOWS_ZIP_SHA256", "CUDA_*", "CUDNN_*",
    "TENSORRT_*", "ROCM_WINDOWS_*", "PYTHON_VERSION", "ONNXRUNTIME_*", "OPENCV_VERSION", "FFMPEG_VERSION", "PYAV_VERSION",
    "PY_CYTHON_VERSION", "QNN_SDK_ZIP_SHA256", "NV_CODEC_HEADERS_REF", "AMF_*", "DAV1D_*", "X264_MESON_*", "X265_*",
    "ORT_WEBGPU_WINDOWS_*", "HAIL*", "LITERT_VERSION", "LITERT_LM_*", "PROTOC_VERSION", "JRE_VERSION", "TVM_REF", "IREE_*",
    "GSTREAMER_VERSION", "MIGRAPHX_WINDOWS_*", "ORT_AMDGPU_EP_*", "LLAMA_CPP_*", "TORCH*", "PYTORCH_VERSION", "APP_REF",
];

/// A pin that reached its script by another way stands in README.md, with the steps that name it here.
#[test]
fn pins_that_were_no_arguments_are_those_of_the_readers_table() {
    let readme = text(&directory().join("README.md"));
    let (_, table) = readme.split_once("| pin | there |").expect("a table");
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let mut told = BTreeMap::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        let &[pins, way, steps] = cells.as_slice() else {
            panic!("{row} has {} cells", cells.len());
        };
        assert!(!way.is_empty(), "{row}");
        for pin in named(pins) {
            let stages: BTreeSet<String> = named(steps).iter().map(|step| stage_of(step)).collect();
            assert!(told.insert(pin, stages).is_none(), "{row}");
        }
    }
    let graph = Example::read().graph();
    let mut others: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, stage) in &graph.stages {
        let pins = pins_of(&graph, stage).into_iter();
        let passed = |pin: &str| PASSED.iter().any(|passed| glob_match(passed, pin));
        for pin in pins.filter(|pin| !passed(pin)) {
            others
                .entry(pin.to_owned())
                .or_default()
                .insert(name.clone());
        }
    }
    assert_eq!(others, told);
}

fn stage_of(step: &str) -> String {
    step.split('/').next().unwrap_or(step).to_owned()
}

/// For each stage all whose files are in its product, in any lane.
fn made_of() -> BTreeMap<String, BTreeSet<String>> {
    let mut of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let stage = |id: &str| id.split(['/', ':']).next().unwrap_or(id).to_owned();
    for lane in LANES {
        for node in Example::read().manifest(lane, &[]).nodes {
            let inputs = node.inputs.values().map(|input| stage(&input.node));
            of.entry(stage(&node.id)).or_default().extend(inputs);
        }
    }
    crate::edges::reached(&mut of);
    of
}

#[test]
fn each_system_has_a_gate_and_each_gate_a_system() {
    let graph = Example::read().graph();
    let made_of = made_of();
    let mut left: BTreeSet<&String> = graph.gates.keys().collect();
    for row in rows() {
        assert!(!row.gates.is_empty(), "{} has no gate", row.system);
        let mut seen = BTreeSet::new();
        for name in &row.gates {
            let gate = graph
                .gates
                .get(name)
                .unwrap_or_else(|| panic!("no gate {name}"));
            let of = &gate.of.value;
            let within = made_of.get(of).into_iter().flatten();
            let within: BTreeSet<&String> = within.chain([of]).collect();
            assert!(
                row.stages.iter().any(|stage| within.contains(stage)),
                "{name} sees nothing of {}",
                row.system
            );
            seen.extend(within.into_iter().cloned());
            left.remove(name);
        }
        // What is only another name for a root does nothing that could be looked at.
        let unseen = row
            .stages
            .difference(&seen)
            .filter(|stage| made_of.contains_key(*stage));
        let unseen: Vec<_> = unseen.collect();
        assert!(
            unseen.is_empty(),
            "no gate of {} sees {unseen:?}",
            row.system
        );
    }
    assert!(left.is_empty(), "in no row: {left:?}");
}
