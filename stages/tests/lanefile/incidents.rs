//! What once went wrong in the system that this format replaces: each incident on a graph as that
//! system would be written here, and what shows that it cannot happen, or what it is refused for.
//! The snapshots show what the same change is here: in the steps that run, the plan, and the LLB.

use std::collections::BTreeMap;

use stages::diag::Report;
use stages::explain::Builds;
use stages::file::Files;
use stages::graph::lint::lint;
use stages::impact::{Fate, Known, fates};
use stages::keys::{self, Kind, Manifest};
use stages::lower::ExecOptions;

use crate::change::{PLAIN, Way};
use crate::common::{load, plan, rendered, request};

/// The chain in small: base, a slot for the SDK, a patched compiler, five components, a merge of
/// their trees, what is built on it, two images.
pub(crate) const LANES: &str = r#"
[graph]
name     = "media"
versions = "versions.env"
pins     = ["*", "!UBUNTU_*"]

[arg.OPENCV_CUDA_LAUNCHER]
default = ""
about   = "experiment with a launcher, of OpenCV alone"
[arg.OPENCV_LINK_CHAIN_FFMPEG]
default = "0"
about   = "experiment with OpenCV"

[host.SCCACHE_WEBDAV_ENDPOINT]
about = "compile cache"
[host.MEMORY_LIMIT_GB]
about = "what a compile may take"

[kit.sccache]
host  = ["SCCACHE_WEBDAV_ENDPOINT", "MEMORY_LIMIT_GB"]
env   = { SCCACHE_DIR = "/sccache/v2" }
cache = [{ id = "sccache", at = "/sccache" }]
[kit.modules]
files = ["scripts/modules/Common.psm1"]

[slot.sdk]
plain  = { same-as = "base" }
nvidia = { stage = "sdk-nvidia" }

[lane.winamd64]
platform     = "linux/amd64"
target       = "windows/amd64"
slot.sdk     = "plain"
output.image = { stage = "final" }
[lane.winamd64-nvidia]
platform     = "linux/amd64"
target       = "windows/amd64"
slot.sdk     = "nvidia"
output.image = { stage = "final" }
[lane.winarm64]
platform     = "linux/amd64"
target       = "windows/arm64"
slot.sdk     = "plain"
output.image = { stage = "final" }

[stage.base]
from = { image = "windows:${pin.WINDOWS_LTSC}" }
image.labels.maintainer = "us"
[[stage.base.step]]
name  = "vs"
files = ["scripts/host/Install-Vs.ps1"]
run   = ["pwsh", "-File", "scripts/host/Install-Vs.ps1"]
[[stage.base.step]]
name = "scoop"
args = ["SCOOP_VERSION"]
run  = ["scoop", "install"]

[stage.sdk-nvidia]
when = { slot.sdk = "nvidia" }
from = "base"
[[stage.sdk-nvidia.step]]
name = "cuda"
args = ["CUDA_VERSION"]
run  = ["install-cuda"]
[[stage.sdk-nvidia.step]]
name = "tensorrt"
args = ["TENSORRT_VERSION"]
run  = ["install-tensorrt"]

[stage.toolchain]
from     = { slot = "sdk" }
same-for = ["lane.target"]
env.PATH = { prepend = ["/llvm/bin"] }
[[stage.toolchain.step]]
name  = "llvm"
kits  = ["sccache"]
args  = ["LLVM_VERSION"]
files = ["scripts/build/Build-Llvm.ps1", "scripts/modules/Llvm.psm1"]
run   = ["pwsh", "-File", "scripts/build/Build-Llvm.ps1"]

[stage.onnx]
from = "toolchain"
tree = ["/runtime/onnx"]
[[stage.onnx.step]]
name = "build"
kits = ["sccache", "modules"]
args = ["ONNX_VERSION", "WINDOWS_TARGET_ARCH=lane.target", "QNN_SDK_SHA256"]
run  = ["build-onnx"]

[stage.ffmpeg]
from = "toolchain"
tree = ["/runtime/ffmpeg"]
[[stage.ffmpeg.step]]
name = "build"
kits = ["sccache"]
args = ["FFMPEG_VERSION", "WINDOWS_TARGET_ARCH=lane.target"]
uses = ["onnx"]
run  = ["build-ffmpeg"]

[stage.opencv]
from = "toolchain"
tree = ["/runtime/opencv"]
[[stage.opencv.step]]
name = "build"
kits = ["sccache"]
args = ["OPENCV_VERSION", "SCCACHE_CUDA_LAUNCHER=OPENCV_CUDA_LAUNCHER", "OPENCV_LINK_CHAIN_FFMPEG"]
env  = { OPENCV_EXPERIMENT = "1" }
uses = ["ffmpeg"]
run  = ["build-opencv"]

[stage.genai]
from = "toolchain"
tree = ["/runtime/genai"]
[[stage.genai.step]]
name = "build"
kits = ["sccache"]
args = ["GENAI_VERSION"]
uses = ["onnx"]
run  = ["build-genai"]

[stage.cuda-runtime]
from = "toolchain"
tree = ["/runtime/cuda"]
[[stage.cuda-runtime.step]]
name = "collect"
run  = ["collect-cuda"]

[stage.media]
merge = ["onnx", "ffmpeg", "opencv", "genai", "cuda-runtime"]

[stage.gstreamer]
from = "toolchain"
tree = ["/runtime/gstreamer"]
[[stage.gstreamer.step]]
name = "build"
uses = ["ffmpeg", "opencv"]
run  = ["build-gstreamer"]

[stage.torch]
from = "toolchain"
tree = ["/torch"]
[[stage.torch.step]]
name = "torch"
args = ["PYTORCH_VERSION"]
run  = ["build-torch"]
[[stage.torch.step]]
name = "torchvision"
args = ["TORCHVISION_VERSION"]
run  = ["build-torchvision"]

[stage.final]
from = "toolchain"
add  = ["media", "gstreamer", "torch"]
image.env = { OPENCV_LIB = "/runtime/opencv/lib" }

[gate.arch]
of    = "media"
check = "arch"
hold  = ["final"]
[[gate.arch.floor]]
inspected = { least = 100, measured = 120 }
"#;

pub(crate) const PINS: &str = "WINDOWS_LTSC=2025
SCOOP_VERSION=0.5
CUDA_VERSION=13.0.2
TENSORRT_VERSION=10.13
LLVM_VERSION=21.1
ONNX_VERSION=1.23
QNN_SDK_SHA256=1111111111111111111111111111111111111111111111111111111111111111
FFMPEG_VERSION=8.0
OPENCV_VERSION=5.0
GENAI_VERSION=0.9
PYTORCH_VERSION=2.9
TORCHVISION_VERSION=0.24
UBUNTU_SNAPSHOT=20261101
";

/// What makes the keys of a lane, where each file's digest is its path.
pub(crate) fn manifest(lane: &str, lanes: &str, pins: &str, args: &[(&str, &str)]) -> Manifest {
    let loaded = load(lanes, pins);
    let Ok(graph) = &loaded.graph else {
        panic!("{}", rendered(&loaded));
    };
    let request = request(lane, args);
    let (plan, facts) = plan(graph, &request)
        .unwrap_or_else(|report| panic!("{}", report.render(&loaded.sources, false)));
    let contents = |path: &str| Some(path.to_owned());
    keys::make(
        "g",
        &request,
        &plan,
        &facts,
        &ExecOptions::default(),
        &contents,
    )
}

pub(crate) fn base(lane: &str) -> Manifest {
    manifest(lane, LANES, PINS, &[])
}

/// The steps that run again for sure, and behind `?` those that run if what they use has other bytes.
pub(crate) fn moved(before: &Manifest, after: &Manifest) -> String {
    let fates = fates(after, &Known::of(before), &BTreeMap::new());
    let steps = after.nodes.iter().filter(|node| node.kind == Kind::Step);
    let moved = steps.filter_map(|node| match fates[node.id.as_str()] {
        Fate::Cached => None,
        Fate::Must => Some(node.id.clone()),
        Fate::May => Some(format!("{}?", node.id)),
    });
    moved.collect::<Vec<_>>().join(" ")
}

/// What an edit of the lane file moves.
pub(crate) fn edited(from: &str, to: &str) -> String {
    assert!(LANES.contains(from), "the test changes nothing: {from}");
    let after = manifest("winamd64", &LANES.replacen(from, to, 1), PINS, &[]);
    moved(&base("winamd64"), &after)
}

/// What another value of a pin moves.
pub(crate) fn pinned(lane: &str, from: &str, to: &str) -> String {
    assert!(PINS.contains(from), "the test changes nothing: {from}");
    let after = manifest(lane, LANES, &PINS.replace(from, to), &[]);
    moved(&base(lane), &after)
}

/// What another value of an argument moves.
pub(crate) fn called(name: &str, value: &str) -> String {
    let after = manifest("winamd64", LANES, PINS, &[(name, value)]);
    moved(&base("winamd64"), &after)
}

/// What other bytes of a file move.
pub(crate) fn touched(path: &str) -> String {
    let before = base("winamd64");
    moved(&before, &before.with_changed_file(path))
}

/// Everything that is wrong with a file or a request, or doubtful.
pub(crate) fn wrong(lanes: &str, pins: &str, args: &[(&str, &str)]) -> String {
    let loaded = load(lanes, pins);
    let Ok(graph) = &loaded.graph else {
        return rendered(&loaded);
    };
    let mut report = lint(graph, &loaded.sources, Some(&Files::new()));
    let planned: Option<Report> = plan(graph, &request("winamd64", args)).err();
    report.extend(planned.unwrap_or_default());
    report.render(&loaded.sources, false)
}

/// What an edit of the lane file is.
fn edit(from: &str, to: &str) -> String {
    assert!(LANES.contains(from), "the test changes nothing: {from}");
    let lanes = LANES.replacen(from, to, 1);
    PLAIN.to(&Way {
        lanes: &lanes,
        ..PLAIN
    })
}

/// What another value of a pin is.
fn pin(lane: &str, from: &str, to: &str) -> String {
    assert!(PINS.contains(from), "the test changes nothing: {from}");
    let before = Way { lane, ..PLAIN };
    before.to(&Way {
        pins: &PINS.replace(from, to),
        ..before
    })
}

/// What another value of an argument is.
fn call(name: &str, value: &str) -> String {
    PLAIN.to(&Way {
        args: &[(name, value)],
        ..PLAIN
    })
}

/// That a file is refused with this rule, and says this.
pub(crate) fn refused(lanes: &str, rule: &str, says: &str) {
    let found = wrong(lanes, PINS, &[]);
    assert!(found.contains(rule) && found.contains(says), "{found}");
}

#[test]
fn the_graph_is_right() {
    assert_eq!(wrong(LANES, PINS, &[]), "");
    assert_eq!(moved(&base("winamd64"), &base("winamd64")), "");
}

#[test]
fn i01_a_label_re_runs_no_step() {
    assert_eq!(edited("maintainer = \"us\"", "maintainer = \"them\""), "");
    insta::assert_snapshot!("i01", edit("maintainer = \"us\"", "maintainer = \"them\""));
}

#[test]
fn i02_a_module_re_runs_the_steps_that_list_it() {
    assert_eq!(touched("scripts/modules/HostOnly.psm1"), "");
    assert_eq!(
        touched("scripts/modules/Common.psm1"),
        "onnx/build ffmpeg/build? opencv/build? genai/build? gstreamer/build?"
    );
    insta::assert_snapshot!("i02", PLAIN.has("scripts/modules/Common.psm1"));
}

#[test]
fn i03_a_pin_re_runs_the_steps_that_name_it() {
    assert_eq!(
        pinned("winamd64", "GENAI_VERSION=0.9", "GENAI_VERSION=1.0"),
        "genai/build"
    );
    insta::assert_snapshot!(
        "i03",
        pin("winamd64", "GENAI_VERSION=0.9", "GENAI_VERSION=1.0")
    );
}

#[test]
fn i04_a_path_of_windows_is_no_path_of_the_context() {
    refused(
        &LANES.replace(
            "\"scripts/host/Install-Vs.ps1\"]\nrun",
            "'C:\\bkmods']\nrun",
        ),
        "LK012",
        "expected a path of the context, with `/`",
    );
    insta::assert_snapshot!(
        "i04",
        wrong(
            &LANES.replace(
                "\"scripts/host/Install-Vs.ps1\"]\nrun",
                "'C:\\bkmods']\nrun"
            ),
            PINS,
            &[]
        )
    );
}

/// Whatever of another vertex a Windows lane takes is named with `/` in its ops: the path that stopped a chain cannot be made.
#[test]
fn i04_no_op_of_a_windows_lane_selects_by_a_path_of_windows() {
    let lanes = r#"
[graph]
name = "t"
[lane.winamd64]
platform = "windows/amd64"
output.image = { stage = "out" }
[stage.modules]
from = { image = "windows:2025" }
env.PATH = { set = ['C:\Windows'] }
tree = ['C:\bkmods']
[[stage.modules.step]]
name = "make"
run = ["make"]
[stage.out]
from = "modules-root"
[[stage.out.step]]
name = "build"
files = [{ from = "scripts/Build.ps1", at = 'C:\scripts' }]
uses = [{ stage = "modules", sub = 'C:\bkmods\common' }]
run = ["build"]
[[stage.out.step]]
name = "copy"
copy = { stage = "modules", from = 'C:\bkmods\x.psm1', to = 'C:\modules\' }
[stage.modules-root]
from = { image = "windows:2025" }
env.PATH = { set = ['C:\Windows'] }
"#;
    let llb = Way {
        lanes,
        pins: "",
        ..PLAIN
    }
    .llb();
    for taken in [" at /bkmods/common read-only", ":/bkmods/x.psm1 to "] {
        assert!(llb.contains(taken), "{llb}");
    }
    // Of what is taken stands ` at PATH` in a mount, and `#1.0:PATH` in a file operation.
    for place in [" at C:", " at \\", ".0:C:", ".0:\\"] {
        assert!(!llb.contains(place), "{llb}");
    }
    insta::assert_snapshot!("i04_llb", llb);
}

#[test]
fn i05_nothing_of_a_cache_server_outlives_its_step_in_a_key() {
    // Counters are read in the step that has the cache: its directory is in no key.
    assert_eq!(
        edited(
            "at = \"/sccache\" }",
            "at = \"/sccache\", sharing = \"locked\" }"
        ),
        ""
    );
    insta::assert_snapshot!(
        "i05",
        edit(
            "at = \"/sccache\" }",
            "at = \"/sccache\", sharing = \"locked\" }"
        )
    );
}

#[test]
fn i06_what_was_evicted_is_told_from_what_changed() {
    // With equal keys the explanation of a re-run is the engine's cache, not the file.
    let before = base("winamd64");
    let nobody = fates(&before, &Known::default(), &BTreeMap::new());
    assert!(nobody.iter().all(|(_, fate)| fate == Fate::Must));
    assert_eq!(moved(&before, &before), "");
    // The explanation of a re-run says which of the two it was.
    let after = manifest(
        "winamd64",
        LANES,
        &PINS.replace("OPENCV_VERSION=5.0", "OPENCV_VERSION=5.1"),
        &[],
    );
    let ran = before.nodes.iter().map(|node| node.id.clone()).collect();
    let why = |after: &Manifest, node: &str| {
        let why = Builds::new(&before, after, &ran).why(node);
        format!("{node}: {}\n", why.line())
    };
    // What was evicted is the same vertex, so nothing that was built of it is lost: only what changed is another.
    let pins = PINS.replace("OPENCV_VERSION=5.0", "OPENCV_VERSION=5.1");
    let other = Way {
        pins: &pins,
        ..PLAIN
    };
    assert_eq!(PLAIN.llb(), Way { ..PLAIN }.llb());
    assert_ne!(PLAIN.llb(), other.llb());
    let same = why(&before, "opencv/build") + &why(&before, "ffmpeg/build");
    let other = why(&after, "opencv/build") + &why(&after, "ffmpeg/build");
    insta::assert_snapshot!(
        "i06",
        format!("WITH EQUAL KEYS\n{same}\nWITH ANOTHER PIN\n{other}")
    );
}

#[test]
fn i07_an_argument_that_nothing_declares_is_refused() {
    let found = wrong(LANES, PINS, &[("OPENCV_VERSOIN", "5.1")]);
    assert!(
        found.contains("LK009") && found.contains("OPENCV_VERSOIN"),
        "{found}"
    );
    insta::assert_snapshot!("i07", found);
    // The one that is declared is no word that goes nowhere: it is in the step's ops.
    let args = &[("OPENCV_LINK_CHAIN_FFMPEG", "on")];
    let has = Way { args, ..PLAIN }.has("OPENCV_LINK_CHAIN_FFMPEG=on");
    assert_eq!(
        has,
        "\"[opencv/build] build-opencv\"\n  env OPENCV_LINK_CHAIN_FFMPEG=on\n"
    );
}

#[test]
fn i08_an_experiment_re_runs_its_own_component() {
    assert_eq!(
        called("OPENCV_LINK_CHAIN_FFMPEG", "1"),
        "opencv/build gstreamer/build?"
    );
    insta::assert_snapshot!("i08", call("OPENCV_LINK_CHAIN_FFMPEG", "1"));
}

#[test]
fn i09_what_schedules_is_a_host_setting_and_in_no_key() {
    let manifest = serde_json::to_string(&base("winamd64")).expect("JSON");
    assert!(manifest.contains("MEMORY_LIMIT_GB"), "its name is known");
    let found = wrong(LANES, PINS, &[("MEMORY_LIMIT_GB", "24")]);
    assert!(
        found.contains("LK009") && found.contains("is a host setting"),
        "{found}"
    );
    insta::assert_snapshot!("i09", format!("{found}\n{}", PLAIN.has("MEMORY_LIMIT_GB")));
}

#[test]
fn i10_two_arguments_that_became_one_name_are_refused() {
    let found = wrong(
        LANES,
        PINS,
        &[("OPENCV_CUDA_LAUNCHER=sccache,OPENCV_LINK_CHAIN_FFMPEG", "1")],
    );
    assert!(found.contains("LK009"), "{found}");
    insta::assert_snapshot!("i10", found);
    // Given as two they are two, and a comma is of the value.
    let args = &[
        ("OPENCV_CUDA_LAUNCHER", "sccache,1"),
        ("OPENCV_LINK_CHAIN_FFMPEG", "1"),
    ];
    let two = Way { args, ..PLAIN };
    for env in [
        "SCCACHE_CUDA_LAUNCHER=sccache,1",
        "OPENCV_LINK_CHAIN_FFMPEG=1",
    ] {
        assert!(two.has(env).contains(&format!("env {env}\n")), "{env}");
    }
}

#[test]
fn i11_a_shared_name_is_set_for_one_component() {
    assert_eq!(
        called("OPENCV_CUDA_LAUNCHER", "sccache"),
        "opencv/build gstreamer/build?"
    );
    insta::assert_snapshot!("i11", call("OPENCV_CUDA_LAUNCHER", "sccache"));
}

#[test]
fn i12_the_constants_of_a_step_are_seen_by_no_other() {
    let manifest = base("winamd64");
    let sees = |node: &str| {
        let node = manifest.node(node).expect(node);
        node.components.contains_key("env.OPENCV_EXPERIMENT")
    };
    assert!(sees("opencv/build"));
    assert!(!sees("genai/build"));
    insta::assert_snapshot!("i12", PLAIN.has("OPENCV_EXPERIMENT"));
}

#[test]
fn i13_a_pin_of_others_re_runs_nothing() {
    assert_eq!(
        pinned(
            "winamd64",
            "UBUNTU_SNAPSHOT=20261101",
            "UBUNTU_SNAPSHOT=20261201"
        ),
        ""
    );
    let comment = manifest("winamd64", LANES, &format!("# why\n{PINS}"), &[]);
    assert_eq!(moved(&base("winamd64"), &comment), "");
    insta::assert_snapshot!(
        "i13",
        pin(
            "winamd64",
            "UBUNTU_SNAPSHOT=20261101",
            "UBUNTU_SNAPSHOT=20261201"
        )
    );
}

#[test]
fn i14_a_component_re_runs_no_sibling() {
    let moved = pinned("winamd64", "FFMPEG_VERSION=8.0", "FFMPEG_VERSION=8.1");
    assert_eq!(moved, "ffmpeg/build opencv/build? gstreamer/build?");
    insta::assert_snapshot!(
        "i14",
        pin("winamd64", "FFMPEG_VERSION=8.0", "FFMPEG_VERSION=8.1")
    );
}

#[test]
fn i15_a_later_step_re_runs_no_earlier_one() {
    let lane = "winamd64-nvidia";
    let moved = pinned(lane, "TENSORRT_VERSION=10.13", "TENSORRT_VERSION=10.14");
    assert!(!moved.contains("sdk-nvidia/cuda"), "{moved}");
    assert!(
        moved.starts_with("sdk-nvidia/tensorrt toolchain/llvm"),
        "{moved}"
    );
    insta::assert_snapshot!(
        "i15",
        pin(lane, "TENSORRT_VERSION=10.13", "TENSORRT_VERSION=10.14")
    );
}

#[test]
fn i16_who_takes_a_payload_takes_its_hash() {
    // Three steps that take one payload name one kit: the hash is in each of their keys.
    let kit = "[kit.qnn]\nargs = [\"QNN_SDK_SHA256\"]\nfiles = [\"downloads/qnn.zip\"]\n";
    let lanes = LANES
        .replace(", \"QNN_SDK_SHA256\"]", "]")
        .replace("kits = [\"sccache\"", "kits = [\"qnn\", \"sccache\"")
        + kit;
    let manifest = manifest("winamd64", &lanes, PINS, &[]);
    for node in ["onnx/build", "ffmpeg/build", "genai/build"] {
        let node = manifest.node(node).expect(node);
        assert!(
            node.components.contains_key("env.QNN_SDK_SHA256"),
            "{}",
            node.id
        );
    }
    let found = wrong(LANES, &PINS.replace(&"1".repeat(64), ""), &[]);
    assert!(found.contains("LK062"), "{found}");
    insta::assert_snapshot!(
        "i16",
        format!(
            "{}\n{found}",
            Way {
                lanes: &lanes,
                ..PLAIN
            }
            .has("QNN_SDK_SHA256")
        )
    );
}

#[test]
fn i17_the_target_is_the_lanes_wherever_it_is_named() {
    for node in ["onnx/build", "ffmpeg/build"] {
        for (lane, target) in [("winamd64", "amd64"), ("winarm64", "arm64")] {
            let manifest = base(lane);
            let node = manifest.node(node).expect(node);
            assert_eq!(
                node.components["env.WINDOWS_TARGET_ARCH"], target,
                "{lane} {}",
                node.id
            );
        }
    }
    insta::assert_snapshot!(
        "i17",
        ["winamd64", "winarm64"]
            .map(|lane| Way { lane, ..PLAIN }.has("WINDOWS_TARGET_ARCH"))
            .join("\n")
    );
}

#[test]
fn i18_a_pin_cannot_stand_for_the_target() {
    // As a pin it would be one more name for what `args` brings: refused, not overridden.
    let lanes = LANES.replace(
        "args = [\"ONNX_VERSION\", \"WINDOWS",
        "args = [\"ONNX_VERSION\", \"WINDOWS_TARGET_ARCH\", \"WINDOWS",
    );
    let pins = format!("{PINS}WINDOWS_TARGET_ARCH=amd64\n");
    let found = wrong(&lanes, &pins, &[]);
    assert!(
        found.contains("LK006") && found.contains("WINDOWS_TARGET_ARCH"),
        "{found}"
    );
    insta::assert_snapshot!("i18", found);
    // And as a pin of others, of that very name, it changes nothing: steps for arm64 are for arm64.
    let pins = format!("{PINS}UBUNTU_TARGET=amd64\nWINDOWS_TARGET_ARCH=amd64\n");
    let lanes = LANES.replace("\"!UBUNTU_*\"", "\"!UBUNTU_*\", \"!WINDOWS_TARGET_ARCH\"");
    let arm64 = Way {
        lane: "winarm64",
        ..PLAIN
    };
    let pinned = Way {
        lanes: &lanes,
        pins: &pins,
        ..arm64
    };
    assert!(!pinned.has("WINDOWS_TARGET_ARCH=arm64").is_empty());
    assert_eq!(pinned.llb(), arm64.llb());
}

#[test]
fn i19_a_floor_is_the_gates_and_re_runs_nothing_and_cannot_be_empty() {
    assert_eq!(edited("least = 100", "least = 110"), "");
    refused(
        &LANES.replace("least = 100, measured = 120", "least = 0"),
        "LK011",
        "a floor of zero",
    );
    let floor = "[[gate.arch.floor]]\ninspected = { least = 100, measured = 120 }\n";
    refused(&LANES.replace(floor, ""), "LK011", "has no floor in lane");
    insta::assert_snapshot!("i19", edit("least = 100", "least = 110"));
    insta::assert_snapshot!("i19_none", wrong(&LANES.replace(floor, ""), PINS, &[]));
}

#[test]
fn i20_what_collects_from_the_sdk_does_not_hang_on_the_components() {
    for pin in ["ONNX_VERSION=1.23", "OPENCV_VERSION=5.0"] {
        let moved = pinned("winamd64", pin, &format!("{pin}.1"));
        assert!(!moved.contains("cuda-runtime"), "{moved}");
    }
    insta::assert_snapshot!(
        "i20",
        pin("winamd64", "ONNX_VERSION=1.23", "ONNX_VERSION=1.24")
    );
}

#[test]
fn i21_one_line_of_a_facade_re_runs_who_lists_it() {
    let moved = touched("scripts/modules/Common.psm1");
    let sure: Vec<&str> = moved
        .split(' ')
        .filter(|step| !step.ends_with('?'))
        .collect();
    assert_eq!(sure, ["onnx/build"]);
    insta::assert_snapshot!(
        "i21",
        format!(
            "{}\n{}",
            PLAIN.has("Common.psm1"),
            touched("scripts/modules/Common.psm1")
        )
    );
}

#[test]
fn i22_the_compiler_does_not_hang_on_modules_of_others() {
    assert!(!touched("scripts/modules/Common.psm1").contains("toolchain"));
    assert!(touched("scripts/modules/Llvm.psm1").starts_with("toolchain/llvm"));
    // The whole directory is said to be too much where the script reads single files of it.
    let lanes = LANES.replace("\"scripts/modules/Llvm.psm1\"", "\"scripts/modules/\"");
    let mut loaded = load(&lanes, PINS);
    let script = "Import-Module $PSScriptRoot\\..\\modules\\Llvm.psm1\n";
    let id = loaded.sources.add("scripts/build/Build-Llvm.ps1", script);
    let mut files = Files::new();
    files.insert("scripts/build/Build-Llvm.ps1".to_owned(), id);
    let graph = loaded.graph.as_ref().expect("a graph");
    let found = lint(graph, &loaded.sources, Some(&files)).render(&loaded.sources, false);
    assert!(
        found.contains("LK066") && found.contains("Llvm.psm1"),
        "{found}"
    );
    insta::assert_snapshot!("i22", format!("{}\n{found}", PLAIN.has("Llvm.psm1")));
}

#[test]
fn i23_a_setting_of_the_build_host_is_published_nowhere() {
    let endpoint = "image.env = { SCCACHE_WEBDAV_ENDPOINT = \"http://10.0.0.7\", OPENCV_LIB";
    refused(
        &LANES.replace("image.env = { OPENCV_LIB", endpoint),
        "LK067",
        "SCCACHE_WEBDAV_ENDPOINT",
    );
    let chain = "env.SCCACHE_WEBDAV_ENDPOINT = \"http://10.0.0.7\"\nenv.PATH";
    refused(
        &LANES.replace("env.PATH", chain),
        "LK067",
        "SCCACHE_WEBDAV_ENDPOINT",
    );
    insta::assert_snapshot!("i23", wrong(&LANES.replace("env.PATH", chain), PINS, &[]));
    // And where it is passed as a host setting, its value is nowhere.
    insta::assert_snapshot!("i23_host", PLAIN.has("SCCACHE_WEBDAV_ENDPOINT"));
}

#[test]
fn i24_what_failed_after_a_step_does_not_lose_it() {
    // Two steps: the second one's change leaves the first one's result.
    assert_eq!(
        pinned(
            "winamd64",
            "TORCHVISION_VERSION=0.24",
            "TORCHVISION_VERSION=0.25"
        ),
        "torch/torchvision"
    );
    assert!(
        pinned("winamd64", "PYTORCH_VERSION=2.9", "PYTORCH_VERSION=2.10").contains("torch/torch ")
    );
    insta::assert_snapshot!(
        "i24",
        pin(
            "winamd64",
            "TORCHVISION_VERSION=0.24",
            "TORCHVISION_VERSION=0.25"
        )
    );
}

#[test]
fn i25_a_checkout_with_other_line_ends_makes_the_same_keys() {
    // Of the lane file and the pins; of scripts, the ignore file and .gitattributes decide.
    let crlf = |text: &str| stages::file::text_of_bytes(text.replace('\n', "\r\n").into_bytes());
    let (lanes, pins) = (crlf(LANES).expect("text"), crlf(PINS).expect("text"));
    assert_eq!(
        moved(&base("winamd64"), &manifest("winamd64", &lanes, &pins, &[])),
        ""
    );
    insta::assert_snapshot!(
        "i25",
        PLAIN.to(&Way {
            lanes: &lanes,
            pins: &pins,
            ..PLAIN
        })
    );
}

#[test]
fn i26_no_closure_freezes_the_chain() {
    // Nothing of the chain's start reads what only a later stage lists.
    for path in [
        "scripts/host/README.md",
        "scripts/modules/Common.psm1",
        "scripts/verify/",
    ] {
        let moved = touched(path);
        assert!(
            !moved.contains("base/") && !moved.contains("toolchain/"),
            "{path}: {moved}"
        );
    }
    insta::assert_snapshot!("i26", PLAIN.has("scripts/"));
}
