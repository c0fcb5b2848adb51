//! What a format must be able to say, row by row: a small graph, the plan that it gives and the
//! LLB. `c` are the ten rows of the checklist, `h` the eight hardest places of the system that this
//! format replaces. What is not in the language yet is listed at the end.

use ::llb::{Caps, Definition, Platform};
use stages::plan::{self, Selection};
use stages::view::plan_text;

use crate::common::{Loaded, load, lower_on, plan, rendered, request};

/// The plan of a target as a table, and its LLB.
fn shown(lanes: &str, pins: &str, target: &str, args: &[(&str, &str)]) -> String {
    let loaded = load(lanes, pins);
    let Ok(graph) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let request = request(target, args);
    let selection: Selection<'_> = plan::select(graph, &request)
        .unwrap_or_else(|report| panic!("{}", report.render(&loaded.sources, false)));
    let planned = plan(graph, &request);
    let (plan, _) =
        planned.unwrap_or_else(|report| panic!("{}", report.render(&loaded.sources, false)));
    let os = if plan.platform.starts_with("windows") {
        "windows"
    } else {
        "linux"
    };
    let llb = llb(&loaded, target, args, os);
    format!("{}\n{llb}", plan_text(&selection, &plan))
}

fn llb(loaded: &Loaded, target: &str, args: &[(&str, &str)], os: &str) -> String {
    let worker = Platform::new(os, "amd64");
    let caps = match os {
        "windows" => Caps::all().without(::llb::caps::MERGE),
        _ => Caps::all(),
    };
    match lower_on(loaded, &request(target, args), &caps, worker) {
        Ok(lowered) => ::llb::view::text(&Definition::new(&lowered.result).to_pb()),
        Err(report) => panic!("{}", report.render(&loaded.sources, false)),
    }
}

/// A graph around some tables: lanes `l` for amd64 and `a` for arm64 that build `out`.
fn graph(tables: &str) -> String {
    format!(
        "[graph]\nname = \"t\"\nversions = \"versions.env\"\n\
         [lane.l]\nplatform = \"linux/amd64\"\ntarget = \"windows/amd64\"\noutput.o = {{ stage = \"out\" }}\n\
         [lane.a]\nplatform = \"linux/amd64\"\ntarget = \"windows/arm64\"\noutput.o = {{ stage = \"out\" }}\n{tables}"
    )
}

#[test]
fn c01_a_base_by_tag_and_digest_a_stage_and_an_identity_slot() {
    let lanes = r#"
[graph]
name = "t"
versions = "versions.env"
[slot.sdk]
plain = { same-as = "base" }
rocm = { stage = "sdk-rocm" }
[lane.plain]
platform = "linux/amd64"
slot.sdk = "plain"
output.o = { stage = "out" }
[lane.rocm]
platform = "linux/amd64"
slot.sdk = "rocm"
output.o = { stage = "out" }
[stage.base]
from = { image = "server:ltsc${pin.LTSC}@${pin.BASE_DIGEST}" }
[stage.sdk-rocm]
from = "base"
[[stage.sdk-rocm.step]]
name = "rocm"
run = ["install-rocm"]
[stage.out]
from = { slot = "sdk" }
[[stage.out.step]]
name = "build"
run = ["build"]
"#;
    let pins = format!("LTSC=2025\nBASE_DIGEST=sha256:{}\n", "ab".repeat(32));
    insta::assert_snapshot!("c01_plain", shown(lanes, &pins, "plain", &[]));
    insta::assert_snapshot!("c01_rocm", shown(lanes, &pins, "rocm", &[]));
}

#[test]
fn c02_a_stage_that_only_some_lanes_have() {
    let lanes = graph(
        r#"
[stage.base]
from = { image = "x" }
[stage.torch]
when = { lane.target = "amd64" }
from = "base"
[[stage.torch.step]]
name = "torch"
run = ["build-torch"]
[stage.out]
from = ["torch", "base"]
"#,
    );
    insta::assert_snapshot!("c02_with", shown(&lanes, "", "l", &[]));
    insta::assert_snapshot!("c02_without", shown(&lanes, "", "a", &[]));
}

#[test]
fn c03_a_step_with_its_exact_environment_in_three_classes() {
    let lanes = graph(
        r#"
[host.ENDPOINT]
about = "cache"
[stage.out]
from = { image = "x" }
env.CHAIN = "seen behind"
image.env = { ONLY_CONFIG = "seen by nobody" }
[[stage.out.step]]
name = "build"
args = ["VERSION"]
env = { LOCAL = "1" }
host = ["ENDPOINT"]
workdir = "/src"
run = ["pwsh", "-File", "build.ps1"]
[[stage.out.step]]
name = "test"
run = ["test"]
"#,
    );
    insta::assert_snapshot!(shown(&lanes, "VERSION=1\n", "l", &[]));
}

#[test]
fn c04_configs_with_ordered_lists_labels_healthchecks_and_commands() {
    let lanes = graph(
        r#"
[stage.base]
from = { image = "x" }
env.PATH = { prepend = ["/first", "/second"], append = ["/last"] }
env.HOME_DIR = "/home/app"
env.LIB = "${env.PATH}"
[stage.out]
from = "base"
env.PATH = { prepend = ["${env.HOME_DIR}/bin"] }
[stage.out.image]
env = { MODE = "release" }
labels = { "org.opencontainers.image.version" = "${pin.VERSION}" }
shell = ["pwsh", "-Command"]
entrypoint = ["app"]
cmd = ["--serve"]
volumes = ["/data"]
ports = ["8080/tcp"]
stop-signal = "SIGINT"
healthcheck = { cmd = ["app", "--health"], interval = "30s", retries = 3 }
"#,
    );
    let config = |lanes: &str| {
        let loaded = load(lanes, "VERSION=1.2\n");
        let graph = loaded
            .graph
            .as_ref()
            .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
        let (plan, _) = plan(graph, &request("l", &[])).expect("a plan");
        format!("{:#?}", plan.output)
    };
    insta::assert_snapshot!("c04_config", config(&lanes));
    let script = lanes.replace(
        "{ cmd = [\"app\", \"--health\"], interval = \"30s\", retries = 3 }",
        "{ script = \"app --health\" }",
    );
    let none = lanes.replace(
        "{ cmd = [\"app\", \"--health\"], interval = \"30s\", retries = 3 }",
        "\"none\"",
    );
    let test = |lanes: &str| {
        let config = config(lanes);
        let at = config.find("\"Healthcheck\"").expect("one");
        config[at..].lines().take(8).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!("c04_healthchecks", [test(&script), test(&none)].join("\n"));
    insta::assert_snapshot!("c04_llb", shown(&lanes, "VERSION=1.2\n", "l", &[]));
}

#[test]
fn c05_mounts_of_every_kind_read_only() {
    let lanes = graph(
        r#"
[stage.closure]
from = { image = "x" }
tree = ["/closure"]
[[stage.closure.step]]
name = "resolve"
run = ["resolve"]
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
files = ["windows/a.ps1", "windows/modules/", { from = "windows/b.ps1", at = "/mnt" }]
uses = [{ stage = "closure", sub = "/closure/lib", at = "/lib-of-it" }]
cache = [{ id = "shared", at = "/cache/shared" }, { id = "locked", at = "/cache/locked", sharing = "locked" }]
secret = [{ id = "licence" }]
ssh = true
tmpfs = [{ at = "/scratch", size = "1GiB" }]
run = ["build"]
"#,
    );
    insta::assert_snapshot!(shown(&lanes, "", "l", &[]));
}

#[test]
fn c06_copies_fan_in_with_an_optional_branch_and_a_merge_by_a_script() {
    let lanes = graph(
        r#"
[stage.a]
from = { image = "x" }
tree = ["/r/a"]
[[stage.a.step]]
name = "build"
run = ["a"]
[stage.b]
from = { image = "x" }
tree = ["/r/b"]
[[stage.b.step]]
name = "build"
run = ["b"]
[stage.media]
merge = ["a", { stage = "b", when = { lane.target = "amd64" }, else = "absent-marker", why = "no build of it" }]
[stage.out]
from = { image = "x" }
add = ["media"]
[[stage.out.step]]
name = "conf"
copy = { from = "conf/", to = "/etc/app", except = ["*.md"] }
[[stage.out.step]]
name = "rename"
copy = { stage = "a", from = "/r/a/one", to = "/opt/other" }
[[stage.out.step]]
name = "merge-packages"
uses = [{ stage = "a", sub = "/r/a", at = "/in/a" }, { stage = "b", sub = "/r/b", at = "/in/b", when = { lane.target = "amd64" } }]
script = "merge-trees /in/* --into /site-packages"
"#,
    );
    insta::assert_snapshot!("c06_with", shown(&lanes, "", "l", &[]));
    insta::assert_snapshot!("c06_without", shown(&lanes, "", "a", &[]));
}

#[test]
fn c07_aliases_derived_pins_constants_and_patterns() {
    let lanes = graph(
        r#"
[pin.CUDA_MAJOR_MINOR]
from = "CUDA_VERSION|parts:2"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
args = ["OPENCV_VERSION", "OPENCV_SOURCE_VERSION=OPENCV_VERSION", "CUDA_MAJOR_MINOR", "MIGRAPHX_*"]
env = { VSDEVCMD_ARCH = "${arch.clang-triple}" }
run = ["build"]
"#,
    );
    let pins = "CUDA_VERSION=13.0.2\nOPENCV_VERSION=5.0\nMIGRAPHX_A=1\nMIGRAPHX_B=2\n";
    insta::assert_snapshot!(shown(&lanes, pins, "l", &[]));
}

#[test]
fn c08_renames_and_the_three_states_of_an_argument() {
    let lanes = graph(
        r#"
[arg.OPENCV_CUDA_LAUNCHER]
about = "a launcher for OpenCV"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
args = ["SCCACHE_CUDA_LAUNCHER=OPENCV_CUDA_LAUNCHER"]
run = ["build"]
"#,
    );
    let name = "OPENCV_CUDA_LAUNCHER";
    let states = [
        shown(&lanes, "", "l", &[]),
        shown(&lanes, "", "l", &[(name, "")]),
        shown(&lanes, "", "l", &[(name, "sccache")]),
    ];
    assert!(states[0] != states[1] && states[1] != states[2]);
    insta::assert_snapshot!(states.join("\n=====\n\n"));
}

#[test]
fn c09_gates_with_a_subject_a_position_and_an_effect() {
    let lanes = graph(
        r#"
[stage.media]
from = { image = "x" }
tree = ["/r"]
[[stage.media.step]]
name = "build"
run = ["build"]
[stage.out]
from = { image = "x" }
add = ["media"]
[gate.arch]
of = "media"
check = "arch"
hold = ["out"]
allow = [{ path = "**/protoc.exe", why = "a tool of the host" }]
[[gate.arch.floor]]
inspected = { least = 10 }
"#,
    );
    insta::assert_snapshot!("c09_sealed", shown(&lanes, "", "l", &[]));
    insta::assert_snapshot!("c09_reports", shown(&lanes, "", "l/gates", &[]));
}

#[test]
fn c10_several_outputs_and_a_part_of_the_chain() {
    let lanes = r#"
[graph]
name = "t"
[lane.winarm64]
platform = "linux/amd64"
target = "windows/arm64"
output.image = { stage = "final", tag = "app:${lane.name}" }
output.bundle = { stage = "media", root = "/r" }
[stage.media]
from = { image = "x" }
tree = ["/r"]
[[stage.media.step]]
name = "build"
run = ["build"]
[stage.final]
from = { image = "x" }
add = ["media"]
"#;
    for target in ["winarm64", "winarm64/bundle", "winarm64/media"] {
        insta::assert_snapshot!(
            format!("c10_{}", target.replace('/', "_")),
            shown(lanes, "", target, &[])
        );
    }
}

/// The head of the eight places: a Windows base with a PATH.
fn windows(tables: &str) -> String {
    format!(
        r#"
[graph]
name = "media"
versions = "versions.env"
[stage.base]
from = {{ image = 'servercore:ltsc${{pin.LTSC}}' }}
env.PATH = {{ set = ['C:\Program Files\PowerShell\7', 'C:\Windows\System32', 'C:\Windows'] }}
{tables}"#
    )
}

#[test]
fn h1_the_chain_with_a_slot_by_lane_a_slot_by_switch_and_path() {
    let lanes = windows(
        r#"
[switch.stock-llvm]
default = false
about = "the compiler as it is published"
[slot.sdk]
plain = { same-as = "base" }
rocm = { stage = "sdk-rocm" }
[slot.toolchain]
patched = { stage = "patched-llvm" }
stock = { stage = "cpython", when = { switch.stock-llvm = true } }
[lane.rocm]
platform = "windows/amd64"
slot.sdk = "rocm"
output.image = { stage = "onnx" }
[lane.plain]
platform = "windows/amd64"
slot.sdk = "plain"
output.image = { stage = "onnx" }
[[stage.base.step]]
name = "vs"
files = [{ from = "windows/scripts/host/Install-Vs.ps1", at = 'C:\bkmnt' }]
run = ['pwsh', '-File', 'C:\bkmnt\Install-Vs.ps1', '-TempDir', 'C:\temp']
[stage.sdk-rocm]
from = "base"
[stage.sdk-rocm.env]
GPU_TYPE = "rocm"
HIP_PATH = 'C:\TheRock\build'
PATH = { append = ['C:\TheRock\build\bin'] }
[stage.cpython]
from = { slot = "sdk" }
[stage.patched-llvm]
from = "cpython"
same-for = ["lane.target"]
env.PATH = { prepend = ['C:\llvm-patched\bin'] }
[[stage.patched-llvm.step]]
name = "llvm"
pins-file = { at = 'C:\pins\versions.env', keys = ["LLVM_VERSION"] }
run = ['pwsh', '-File', 'Build-Llvm.ps1']
[stage.onnx]
from = { slot = "toolchain" }
[[stage.onnx.step]]
name = "build"
run = ['build-onnx']
"#,
    );
    let pins = "LTSC=2025\nLLVM_VERSION=21\n";
    insta::assert_snapshot!("h1_rocm", shown(&lanes, pins, "rocm", &[]));
    insta::assert_snapshot!(
        "h1_stock",
        shown(&lanes, pins, "plain", &[("stock-llvm", "true")])
    );
}

#[test]
fn h2_an_sdk_with_arguments_that_only_one_target_has() {
    let lanes = windows(
        r#"
[lane.amd64]
platform = "windows/amd64"
output.image = { stage = "sdk-nvidia" }
[lane.arm64]
platform = "windows/amd64"
target = "arm64"
output.image = { stage = "sdk-nvidia" }
[stage.sdk-nvidia]
from = "base"
[stage.sdk-nvidia.env]
CUDA_ROOT = 'C:\CUDA'
[[stage.sdk-nvidia.step]]
name = "cuda"
args = ["CUDA_VERSION", "CUDA_VERSION_MAJOR_MINOR=CUDA_VERSION|parts:2"]
kits = ["cuda-arm64-pins"]
run = ['pwsh', '-File', 'Install-Cuda.ps1']
[kit.cuda-arm64-pins]
when = { lane.target = "arm64" }
args = ["WINDOWS_TARGET_ARCH=lane.target", "CUDA_WINDOWS_ARM64_*"]
"#,
    );
    let pins = "LTSC=2025\nCUDA_VERSION=13.0.2\nCUDA_WINDOWS_ARM64_URL=u\n";
    insta::assert_snapshot!("h2_amd64", shown(&lanes, pins, "amd64", &[]));
    insta::assert_snapshot!("h2_arm64", shown(&lanes, pins, "arm64", &[]));
}

#[test]
fn h3_a_component_with_kits_of_conditions_and_several_roots() {
    let lanes = windows(
        r#"
[switch.spikes]
default = true
about = "experimental parts"
[host.SCCACHE_WEBDAV_ENDPOINT]
about = "compile cache"
[slot.sdk]
plain = { same-as = "base" }
rocm = { stage = "rocm" }
[stage.rocm]
from = "base"
[lane.rocm]
platform = "windows/amd64"
slot.sdk = "rocm"
output.image = { stage = "onnx" }
[lane.plain]
platform = "windows/amd64"
slot.sdk = "plain"
output.image = { stage = "onnx" }
[kit.sccache]
host = ["SCCACHE_WEBDAV_ENDPOINT"]
env = { SCCACHE_DIR = 'C:\sccache\v2' }
cache = [{ id = "sccache", at = 'C:\sccache' }]
[kit.ort-webgpu]
when = { slot.sdk = "rocm" }
args = ["ORT_WEBGPU=switch.spikes|01", "ORT_WEBGPU_WINDOWS_*"]
[stage.onnx]
from = { slot = "sdk" }
tree = ['C:\runtime\lib\onnxruntime-source', 'C:\runtime\wheels\onnxruntime-*']
[[stage.onnx.step]]
name = "build"
args = ["WINDOWS_TARGET_ARCH=lane.target", "ONNXRUNTIME_VERSION"]
kits = ["sccache", "ort-webgpu"]
files = [{ from = "windows/scripts/patches/onnxruntime/", at = 'C:\patches' }]
run = ['pwsh', '-File', 'Build.ps1', '-Until', 'ONNX Runtime']
"#,
    );
    let pins = "LTSC=2025\nONNXRUNTIME_VERSION=1.23\nORT_WEBGPU_WINDOWS_A=1\n";
    insta::assert_snapshot!(
        "h3_rocm",
        shown(&lanes, pins, "rocm", &[("spikes", "false")])
    );
    insta::assert_snapshot!("h3_plain", shown(&lanes, pins, "plain", &[]));
}

#[test]
fn h4_a_component_that_writes_into_a_tree_that_it_uses() {
    let lanes = windows(
        r#"
[arg.OPENCV_CUDA_LAUNCHER]
about = "launcher of OpenCV"
default = ""
[lane.arm64]
platform = "windows/amd64"
target = "arm64"
output.image = { stage = "opencv" }
[stage.ffmpeg]
from = "base"
tree = ['C:\runtime\ffmpeg']
[[stage.ffmpeg.step]]
name = "build"
run = ['build-ffmpeg']
[stage.cpython-target]
from = "base"
tree = ['C:\runtime\python']
[[stage.cpython-target.step]]
name = "build"
run = ['build-cpython']
[stage.opencv]
from = "base"
tree = ['C:\runtime\lib\opencv5', 'C:\runtime\python\Lib\site-packages\cv2*']
[[stage.opencv.step]]
name = "build"
uses = [{ stage = "ffmpeg", sub = 'C:\runtime\ffmpeg' }, { stage = "cpython-target", sub = 'C:\runtime\python', as = "copy", when = { lane.target = "arm64" } }]
args = ["OPENCV_SOURCE_VERSION=OPENCV_VERSION", "SCCACHE_CUDA_LAUNCHER=OPENCV_CUDA_LAUNCHER"]
run = ['pwsh', '-File', 'Build.ps1']
"#,
    );
    let pins = "LTSC=2025\nOPENCV_VERSION=5.0\n";
    insta::assert_snapshot!(shown(
        &lanes,
        pins,
        "arm64",
        &[("OPENCV_CUDA_LAUNCHER", "sccache")]
    ));
}

#[test]
fn h5_fan_in_with_mapping_and_steps_on_the_root() {
    let lanes = windows(
        r#"
[lane.arm64]
platform = "windows/amd64"
target = "arm64"
output.image = { stage = "image" }
[stage.onnx]
from = "base"
tree = ['C:\runtime\onnx', 'C:\site\onnx']
[[stage.onnx.step]]
name = "build"
run = ['build-onnx']
[stage.litert-lm]
when = { lane.target = "amd64" }
from = "base"
tree = ['C:\runtime\litert-lm']
[[stage.litert-lm.step]]
name = "build"
run = ['build-litert-lm']
[stage.cuda-rt]
from = "base"
tree = ['C:\cuda-rt']
[[stage.cuda-rt.step]]
name = "collect"
run = ['collect']
[stage.media]
merge = [
  "onnx",
  { stage = "litert-lm", when = { lane.target = "amd64" } },
  { stage = "cuda-rt", from = 'C:\cuda-rt', to = 'C:\runtime\cuda-runtime\bin' },
]
[stage.image]
from = "base"
add = ["media"]
[[stage.image.step]]
name = "host-site-packages"
uses = [{ stage = "onnx", sub = 'C:\site\onnx', at = 'C:\in\onnx' }]
script = '''
Merge-SitePackageTree -Source C:\in\onnx -Destination C:\cpython
'''
[[stage.image.step]]
name = "lavapipe"
run = ['pwsh', '-File', 'Install-Lavapipe.ps1']
[lane.amd64]
platform = "windows/amd64"
output.image = { stage = "image" }
"#,
    );
    insta::assert_snapshot!("h5_arm64", shown(&lanes, "LTSC=2025\n", "arm64", &[]));
    insta::assert_snapshot!("h5_amd64", shown(&lanes, "LTSC=2025\n", "amd64", &[]));
}

#[test]
fn h6_a_tail_of_stages_and_steps_that_one_lane_has() {
    let lanes = windows(
        r#"
[slot.sdk]
plain = { same-as = "base" }
rocm = { stage = "rocm" }
[stage.rocm]
from = "base"
[lane.rocm]
platform = "windows/amd64"
slot.sdk = "rocm"
output.image = { stage = "torch" }
[lane.plain]
platform = "windows/amd64"
slot.sdk = "plain"
output.image = { stage = "torch" }
[stage.torch-wheels]
when = { slot.sdk = "rocm" }
from = { slot = "sdk" }
tree = ['C:\wheels']
[[stage.torch-wheels.step]]
name = "torch"
args = ["PYTORCH_VERSION", "TORCH_ROCM_*"]
run = ['build-torch']
[[stage.torch-wheels.step]]
name = "torchvision"
args = ["TORCHVISION_VERSION"]
run = ['build-torchvision']
[stage.torch]
from = { slot = "sdk" }
[[stage.torch.step]]
name = "app"
env = { UV_CACHE_DIR = 'C:\uvcache' }
cache = [{ id = "uv", at = 'C:\uvcache', sharing = "locked" }]
run = ['build-app']
[[stage.torch.step]]
name = "rocm"
when = { slot.sdk = "rocm" }
uses = [{ stage = "torch-wheels", sub = 'C:\wheels', at = 'C:\in' }]
run = ['install-torch', 'C:\in']
"#,
    );
    let pins = "LTSC=2025\nPYTORCH_VERSION=2.9\nTORCHVISION_VERSION=0.24\nTORCH_ROCM_A=1\n";
    insta::assert_snapshot!("h6_rocm", shown(&lanes, pins, "rocm", &[]));
    insta::assert_snapshot!("h6_plain", shown(&lanes, pins, "plain", &[]));
}

#[test]
fn h7_gates_with_floors_by_lane_over_several_roots() {
    let lanes = r#"
[graph]
name = "t"
[lane.amd64]
platform = "linux/amd64"
target = "windows/amd64"
output.image = { stage = "image" }
[lane.arm64]
platform = "linux/amd64"
target = "windows/arm64"
output.image = { stage = "image" }
[stage.media]
from = { image = "x" }
tree = ["/runtime", "/cpython"]
[[stage.media.step]]
name = "build"
run = ["build"]
[stage.image]
from = { image = "x" }
add = ["media"]
[gate.arch]
of = "media"
check = "arch"
roots = ["/runtime", "/cpython/Lib"]
hold = ["image"]
allow = [{ path = "**/protoc.exe", why = "host tool" }, { path = "cpython/**", why = "x64 build interpreter", when = { lane.target = "arm64" } }]
[[gate.arch.floor]]
when = { lane.target = "amd64" }
inspected = { least = 650, measured = 1134, on = 2026-09-02 }
[[gate.arch.floor]]
when = { lane.target = "arm64" }
inspected = { least = 580, measured = 1168, on = 2026-08-31, broken = 390 }
"#;
    insta::assert_snapshot!("h7_arm64", shown(lanes, "", "arm64", &[]));
    insta::assert_snapshot!("h7_amd64", shown(lanes, "", "amd64", &[]));
}

#[test]
fn h8_an_image_and_a_bundle_of_one_lane_with_files_beside_it() {
    let lanes = windows(
        r#"
[lane.winarm64]
platform = "windows/amd64"
target = "arm64"
output.image = { stage = "final", tag = "app:winarm64" }
[lane.winarm64.output.bundle]
stage = "media"
root = 'C:\runtime'
add = ["windows/scripts/build/Test-Arm64Bundle.ps1"]
[stage.media]
from = "base"
tree = ['C:\runtime']
[[stage.media.step]]
name = "build"
env = { CMAKE_CUDA_ARCHITECTURES = "120;121" }
run = ['cmake', '--build', 'build', '--target', 'ggml-cuda']
[stage.final]
from = "base"
add = ["media"]
image.entrypoint = ["app"]
"#,
    );
    for output in ["image", "bundle"] {
        let target = format!("winarm64/{output}");
        insta::assert_snapshot!(
            format!("h8_{output}"),
            shown(&lanes, "LTSC=2025\n", &target, &[])
        );
    }
}
