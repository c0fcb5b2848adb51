//! Every lane of the example media-mini, green; and for each gate one change that it refuses.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;

use engine_tests::{Build, Engine, Example, Outcome, Setup, docker, nonce};

/// The lanes with all that comes out of each.
#[rustfmt::skip]
const LANES: [(&str, &[&str]); 7] = [
    ("amd64", &["image", "bundle", "release"]),
    ("amd64-nvidia", &["image", "bundle", "release"]),
    ("amd64-rocm", &["image", "bundle", "release"]),
    ("arm64", &["image", "bundle", "release"]),
    ("arm64-nvidia", &["image", "bundle", "release"]),
    ("llama-arm64-cuda", &["bundle", "release"]),
    ("tools", &["bundle"]),
];

/// The kinds of gates that the example has: all.
fn kinds() -> BTreeSet<String> {
    let names = gates::gate::GATES.iter().map(|gate| gate.name);
    names.map(str::to_owned).collect()
}

/// A change to the example that one of its gates refuses.
struct Refused {
    /// The gate's name.
    gate: &'static str,
    /// What is built.
    target: &'static str,
    /// The file that is changed, what stands there, and what does then.
    file: &'static str,
    from: &'static str,
    to: &'static str,
    /// The rule that says no.
    rule: &'static str,
    /// A step that must not start: one of a stage that the gate holds.
    held: Option<&'static str>,
}

/// A row for each gate that a build can fail on, and one at least in each lane.
#[rustfmt::skip]
const REFUSED: &[Refused] = &[
    Refused { gate: "arch", target: "arm64/image", file: "stages/components.toml", rule: "ARCH001", held: HELD,
        from: r#"["sh", "scripts/component", "litert", "#, to: r#"["env", "TRIPLE=x86_64-pc-windows-msvc", "sh", "scripts/component", "litert", "# },
    Refused { gate: "imports", target: "arm64/image", file: "stages/components.toml", rule: "IMP001", held: HELD,
        from: "sh /contract/contract > /tmp/contract\n", to: "sh /contract/contract > /tmp/contract\nrm /runtime/bin/gstreamer.dll\n" },
    Refused { gate: "wheel", target: "arm64/image", file: "scripts/wheel", rule: "WHL004", held: HELD,
        from: "_$name.$abi-$WHEEL_TAG.pyd", to: "_$name.$abi-win_amd64.pyd" },
    Refused { gate: "deps", target: "arm64/image", file: "stages/components.toml", rule: "DEP002", held: HELD,
        from: r#""ai_edge_litert", "numpy>=2""#, to: r#""ai_edge_litert", "numpy>=3""# },
    Refused { gate: "absent", target: "arm64/bundle", file: "stages/components.toml", rule: "ABS005", held: None,
        from: "ABSENT-tvm-compiler.txt", to: "tvm-compiler.txt" },
    Refused { gate: "files", target: "arm64/bundle", file: "stages/components.toml", rule: "FIL004", held: None,
        from: "\"protobuf 6\"", to: "\"protobuf 5\"" },
    Refused { gate: "plugin", target: "arm64/image", file: "scripts/plugin", rule: "PLG003", held: HELD,
        from: "gst_plugin_${name}_get_desc", to: "gst_plugin_${name}_description" },
    Refused { gate: "gpu", target: "amd64-rocm/image", file: "stages/gpu.toml", rule: "GPU001", held: HELD,
        from: "sh scripts/device /runtime/opt/llama-hip $ROCM_GPUS", to: "sh scripts/device /runtime/opt/llama-hip gfx1151; cd /runtime/opt/llama-hip; cp kernels-gfx1151.hsaco kernels-gfx1150.hsaco" },
    Refused { gate: "census", target: "amd64/bundle", file: "src/litert.c", rule: "CEN002", held: None,
        from: "\"litert \" VERSION", to: "\"litert \" VERSION \" of hostedtoolcache\"" },
    Refused { gate: "leak", target: "amd64-nvidia/bundle", file: "src/iree.c", rule: "LEK001", held: None,
        from: "\"iree \" VERSION", to: "\"iree \" VERSION \" of /lanekit/src\"" },
    Refused { gate: "data", target: "arm64/image", file: "src/python.c", rule: "DAT002", held: HELD,
        from: "ffi_type_sint32 = {4, 4, 10}", to: "ffi_type_sint32 = {0, 0, 0}" },
    Refused { gate: "signed", target: "arm64/image", file: "stages/bundle.toml", rule: "SIG002", held: HELD,
        from: "/runtime/vs-runtime/vs-runtime.dll\n", to: "/runtime/vs-runtime/vs-runtime.dll\nprintf X | dd of=/runtime/vs-runtime/vs-runtime.dll bs=1 seek=78 conv=notrunc\n" },
    Refused { gate: "elf", target: "tools/bundle", file: "src/probe.c", rule: "ELF002", held: None,
        from: "    exit(0);", to: "    extern long getrandom(void *, unsigned long, unsigned);\n    exit(getrandom(0, 0, 0));" },
    Refused { gate: "overlap", target: "arm64-nvidia/bundle", file: "gates/bundle.toml", rule: "OVL001", held: None,
        from: "any = [\"runtime/licences/**\"]", to: "any = [\"runtime/notices/**\"]" },
    Refused { gate: "contract", target: "arm64/image", file: "stages/final.toml", rule: "CON001", held: None,
        from: r"= 'C:\runtime\lib\onnx'", to: r"= 'C:\runtime\lib\onnxruntime'" },
    Refused { gate: "smoke", target: "arm64/image", file: "stages/final.toml", rule: "EXE001", held: None,
        from: "[[stage.final.step]]\nname = \"licences\"", to: "[[stage.final.step]]\nname = \"broken\"\ndelete = { path = \"/runtime/iree/iree.dll\" }\n[[stage.final.step]]\nname = \"licences\"" },
    Refused { gate: "tests", target: "arm64/image", file: "stages/final.toml", rule: "TST001", held: None,
        from: "mkdir /tests\n", to: "mkdir /tests\nrm /runtime/iree/iree.dll\n" },
    Refused { gate: "env", target: "arm64/image", file: "stages/final.toml", rule: "ENV002", held: None,
        from: "env.PATH = { append = [\"/opt/flutter/bin\"] }", to: "env.PATH = { append = [\"/opt/flutter/bin\"] }\nenv.PIP_INDEX_URL = \"http://10.0.0.9/simple\"" },
    Refused { gate: "coverage", target: "arm64/release", file: "stages/bundle.toml", rule: "COV001", held: None,
        from: "cp /runtime/wheels/*.whl /release/wheels\n", to: "cp /runtime/wheels/*.whl /release/wheels\nmv /release/wheels/numpy-*.whl /release/wheels/av-0.whl\n" },
    Refused { gate: "manifest", target: "arm64/release", file: "stages/bundle.toml", rule: "MAN005", held: None,
        from: "\"--target\", \"${lane.target-os}/${lane.target}\"", to: "\"--target\", \"windows/amd64\"" },
    Refused { gate: "floors", target: "arm64/bundle", file: "gates/bundle.toml", rule: "FLR002", held: None,
        from: "natives = { least = 14, measured = 14, on = 2026-12-02, broken = 7 }", to: "natives = { least = 14 }" },
    Refused { gate: "llama-arch", target: "llama-arm64-cuda/release", file: "stages/llama-arm64.toml", rule: "ARCH001", held: PACKED,
        from: r#"["sh", "scripts/component", "llama-cpu", "#, to: r#"["env", "TRIPLE=x86_64-pc-windows-msvc", "sh", "scripts/component", "llama-cpu", "# },
    Refused { gate: "llama-imports", target: "llama-arm64-cuda/release", file: "stages/llama-arm64.toml", rule: "IMP001", held: PACKED,
        from: r#"["sh", "scripts/component", "ggml-cuda", "/llama/backend"]"#, to: r#"["sh", "-euc", "printf 'LIBRARY cudart.dll\nEXPORTS\n go\n' > /tmp/cudart.def; lld-link -lib -machine:arm64 -def:/tmp/cudart.def -out:/tmp/cudart.lib; sh scripts/component ggml-cuda /llama/backend /tmp/cudart.lib -include:go"]"# },
    Refused { gate: "llama-plugin", target: "llama-arm64-cuda/release", file: "src/ggml-cuda.c", rule: "PLG003", held: PACKED,
        from: "ggml_backend_init", to: "ggml_backend_start" },
    Refused { gate: "llama-coverage", target: "llama-arm64-cuda/release", file: "stages/llama-arm64.toml", rule: "COV004", held: None,
        from: "sha256sum *.zip > SHA256SUMS", to: "sha256sum *.zip | sed 's/^......../00000000/' > SHA256SUMS" },
    Refused { gate: "tools-arch", target: "tools/bundle", file: "stages/bundle.toml", rule: "ARCH001", held: None,
        from: "mkdir /tools\n", to: "mkdir /tools\nclang --target=aarch64-linux-gnu -ffreestanding -c src/probe.c -o /tools/probe.o\n" },
];
/// What the gates over the bundle hold.
const HELD: Option<&str> = Some("image/index");
/// What the gates over llama.cpp hold.
const PACKED: Option<&str> = Some("llama-release/pack");

/// The gate that only tells what it found: red where `imports` is, and no reason to stop.
const ADVISES: &str = "standalone";

/// The gates that passed, each with its kind.
#[expect(clippy::print_stdout, reason = "the suite shows what was counted")]
fn passed(
    engine: &Engine,
    example: &Example,
    lane: &str,
    output: &str,
) -> BTreeMap<String, String> {
    let target = format!("{lane}/{output}");
    let outcome = Build::new(engine, example.path()).target(&target).pass();
    let gates = &outcome.metadata["frontend.lanekit.gates"]["gates"];
    let gates = gates.as_object().expect("a summary of the gates");
    let (mut kinds, mut counts) = (BTreeMap::new(), String::new());
    for (name, gate) in gates {
        assert_eq!(
            gate["verdict"], "pass",
            "{name} of {target} on {}",
            engine.kind
        );
        let inspected = gate["inspected"].as_u64().unwrap_or_default();
        assert!(inspected > 0, "{name} of {target}");
        let _ = write!(counts, " {name} {inspected}");
        let kind = gate["check"].as_str().expect("a kind");
        kinds.insert(name.clone(), kind.to_owned());
    }
    println!("{target} on {}:{counts}", engine.kind);
    kinds
}

#[test]
fn every_output_of_every_lane_passes_gates_of_every_kind() {
    let setup = Setup::get();
    let example = Example::copy("media-mini");
    let mut all = BTreeMap::new();
    for (lane, outputs) in LANES {
        for output in outputs {
            all.extend(passed(&setup.engine, &example, lane, output));
        }
        if let Some(engine) = &setup.graphdriver {
            // No merge there: the trees are copied.
            passed(engine, &example, lane, outputs[0]);
        }
    }
    let kinds: BTreeSet<String> = all.values().cloned().collect();
    assert_eq!(kinds, self::kinds());
    // And each of them can be red, in each lane.
    let refused = REFUSED.iter().map(|row| row.gate).chain([ADVISES]);
    assert_eq!(
        all.keys().map(String::as_str).collect::<BTreeSet<_>>(),
        refused.collect()
    );
    let lanes = REFUSED
        .iter()
        .filter_map(|row| row.target.split('/').next());
    assert_eq!(
        lanes.collect::<BTreeSet<_>>(),
        LANES.map(|(lane, _)| lane).into()
    );
}

/// The gates whose verdict was red, by what asserts and seals printed. A cached assert prints nothing; the seal behind it
/// fails again and tells what it found.
fn red(outcome: &Outcome) -> BTreeSet<String> {
    let said = outcome.all_logs();
    let verdicts = said.lines().filter_map(|line| {
        let (gate, verdict) = line.strip_prefix("gate ")?.split_once(" for ")?;
        let bad = [" failed: ", " saw too little: "];
        bad.iter().any(|bad| verdict.contains(bad)).then_some(gate)
    });
    verdicts.map(str::to_owned).collect()
}

#[test]
fn each_gate_refuses_what_is_wrong_and_nothing_comes_out() {
    let engine = &Setup::get().engine;
    for row in REFUSED {
        let Refused {
            gate, target, rule, ..
        } = row;
        let example = Example::copy("media-mini");
        example.edit(row.file, row.from, row.to);
        let name = format!("media-mini-{gate}-{}", nonce());
        let outcome = Build::new(engine, example.path())
            .target(target)
            .option("--output", format!("type=docker,name={name}"))
            .fail();
        let said = format!("{}\n{}", outcome.errors, outcome.all_logs());
        assert!(said.contains(&format!("error: {rule} ")), "{gate}: {said}");
        assert!(
            outcome.errors.contains(&format!("[gate.{gate}]")),
            "{gate}: {said}"
        );
        let mut red = red(&outcome);
        assert_eq!(red.remove(ADVISES), *gate == "imports", "{gate}: {said}");
        assert_eq!(red, BTreeSet::from([(*gate).to_owned()]), "{gate}: {said}");
        if let Some(held) = row.held {
            assert!(!outcome.steps_started().contains(held), "{gate}");
            assert!(!outcome.steps_cached().contains(held), "{gate}");
        }
        let image = docker(engine, &["image", "ls", "-q", &name]);
        assert_eq!(image, "", "{gate}: an image came out");
        println!("{target} refused by {gate}: {rule}");
    }
}

#[test]
fn a_group_of_lanes_that_run_nothing_is_one_result_for_both_platforms() {
    let engine = &Setup::get().engine;
    let example = Example::copy("notices");
    let out = tempfile::tempdir().expect("a directory");
    let destination = format!("type=local,dest={}", out.path().display());
    let outcome = Build::new(engine, example.path())
        .option("--platform", "linux/amd64,linux/arm64")
        .option("--output", destination)
        .pass();
    for platform in ["linux/amd64", "linux/arm64"] {
        let place = out.path().join(platform.replace('/', "_"));
        let said = std::fs::read_to_string(place.join("platform.txt")).expect("its file");
        assert_eq!(said, format!("{platform}\n"));
        assert!(place.join("notices.txt").is_file());
    }
    assert_eq!(
        outcome.metadata["frontend.lanekit.tag"], "notices:1",
        "{}",
        outcome.metadata
    );
}

/// Steps share the cache of objects, and two of them compile the same at the same time (both interpreters' `python.exe`).
/// In a container `$$` is 1 for both; here it is that of one shell for both.
#[test]
fn two_steps_may_compile_the_same_at_once() {
    let example = Example::copy("media-mini");
    example.edit("scripts/compile.sh", "/cache/", "cache/");
    // A compiler that ends when both have written their object.
    let both = r#"
        set -eu
        mkdir cache
        . scripts/compile.sh
        clang() {
            for last; do :; done
            echo compiled > "$last"
            : > "wrote.$me"
            for _ in $(seq 500); do
                if [ -e wrote.1 ] && [ -e wrote.2 ]; then return; fi
                sleep 0.01
            done
            exit 1
        }
        (me=1; compile src/python-main.c 1.obj) & one=$!
        (me=2; compile src/python-main.c 2.obj) & two=$!
        wait $one
        wait $two
        cmp 1.obj 2.obj
    "#;
    let output = Command::new("sh")
        .args(["-c", both])
        .current_dir(example.path())
        .envs([("TRIPLE", "t"), ("OPTIMIZE", "2"), ("VERSION", "1")])
        .output()
        .expect("a shell");
    assert!(output.status.success(), "{output:?}");
    let kept = std::fs::read_dir(example.file("cache")).expect("a cache");
    assert_eq!(
        kept.count(),
        1,
        "an object, and nothing that is not yet one"
    );
}

/// COFF has a place for a time in its header, and clang writes it there unless it is told not to: then a step that leaves
/// an object makes other bytes each time.
#[test]
fn an_object_has_no_clock_in_it() {
    let setup = Setup::get();
    let example = Example::copy("media-mini");
    let compile = "mkdir /cache; . scripts/compile.sh; compile src/litert.c /litert.obj; od -An -tx1 -j4 -N4 /litert.obj";
    let place = format!("{}:/example:ro", example.path().display());
    for target in ["x86_64", "aarch64"] {
        let triple = format!("TRIPLE={target}-pc-windows-msvc");
        #[rustfmt::skip]
        let run = [
            "run", "--rm", "--network", "none", "-v", &place, "-w", "/example", "-e", &triple, "-e", "OPTIMIZE=2", "-e", "VERSION=1",
            &setup.clang, "sh", "-euc", compile,
        ];
        let time = docker(&setup.engine, &run);
        assert_eq!(time.trim(), "00 00 00 00", "{target}");
    }
}
