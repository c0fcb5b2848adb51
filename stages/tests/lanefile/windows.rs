//! Lanes whose steps run on Windows: what they plan, the LLB that they give, what they refuse.

use std::num::NonZeroU64;

use ::llb::proto::pb;
use ::llb::{Caps, Definition, Platform};
use prost::Message as _;
use stages::lower::ExecOptions;

use crate::common::{Loaded, load, lower_on, lower_with, manifest, plan, rendered, request};

/// A base, a chain with a PATH, two trees, a merge, an image and a bundle, and a gate.
const LANES: &str = r#"
[graph]
name = "w"
[arg.REF]
about = "what to build"
default = "main"
[host.CACHE]
about = "compile cache"
[lane.amd64]
platform = "windows/amd64"
output.image = { stage = "image" }
output.bundle = { stage = "media", root = 'C:\runtime' }
output.base = { stage = "toolchain" }
[stage.base]
from = { image = "servercore:ltsc2022" }
env.Path = { set = ['C:\Program Files\PowerShell\7', 'C:\Windows\System32', 'C:\Windows'] }
[stage.toolchain]
from = "base"
env.Path = { prepend = ['C:\llvm\bin'] }
[[stage.toolchain.step]]
name = "llvm"
command-line = 'msiexec /i "C:\lanekit\llvm.msi" TARGETDIR="C:\llvm" /qn'
files = ["llvm.msi"]
[stage.onnx]
from = "toolchain"
tree = ['C:\runtime\lib\onnx', 'C:\runtime\wheels\onnx-*']
[[stage.onnx.step]]
name = "build"
args = ["REF"]
host = ["CACHE"]
cache = [{ id = "objects", at = 'C:\cache' }]
files = ["build.ps1", { from = "patches/", at = 'C:\patches' }]
run = ['pwsh', '-File', 'build.ps1', '-Define', 'NAME="a b"', '-Out', 'C:\runtime\lib\']
[stage.ffmpeg]
from = "toolchain"
tree = ['C:\runtime\ffmpeg']
[[stage.ffmpeg.step]]
name = "build"
script = '''
./configure
'''
[stage.opencv]
from = "toolchain"
tree = ['C:\runtime\opencv']
[[stage.opencv.step]]
name = "build"
uses = ["ffmpeg", { stage = "onnx", sub = 'C:\runtime\lib\onnx', at = 'C:\onnx' }]
script = '''
#!cmd
build.cmd
'''
[stage.media]
merge = ["onnx", "ffmpeg", "opencv"]
[stage.image]
from = "toolchain"
add = ["media"]
[[stage.image.step]]
name = "register"
uses = [{ stage = "media", sub = 'C:\runtime\ffmpeg', at = 'C:\ff' }]
run = ['reg', 'add', 'HKLM\Software\x']
[gate.arch]
of = "ffmpeg"
check = "arch"
hold = ["opencv"]
[[gate.arch.floor]]
inspected = { least = 1 }
"#;

fn definition(loaded: &Loaded, target: &str) -> pb::Definition {
    let worker = Platform::new("windows", "amd64");
    match lower_on(loaded, &request(target, &[]), &Caps::all(), worker) {
        Ok(lowered) => Definition::new(&lowered.result).to_pb(),
        Err(report) => panic!(
            "{}{}",
            rendered(loaded),
            report.render(&loaded.sources, false)
        ),
    }
}

/// Everything of a definition that Windows does not have.
fn not_on_windows(definition: &pb::Definition) -> Vec<String> {
    let mut found = Vec::new();
    for bytes in &definition.def {
        let op = pb::Op::decode(bytes.as_slice()).expect("an op");
        match op.op {
            Some(pb::op::Op::Merge(_)) => found.push("a merge".to_owned()),
            Some(pb::op::Op::Diff(_)) => found.push("a diff".to_owned()),
            Some(pb::op::Op::File(file)) => {
                let scratch = file.actions.iter().any(|action| action.input < 0);
                found.extend(scratch.then(|| "a file op on nothing".to_owned()));
            }
            Some(pb::op::Op::Exec(exec)) => {
                for mount in &exec.mounts {
                    let bind = mount.mount_type == i32::from(pb::MountType::Bind);
                    let cache = mount.mount_type == i32::from(pb::MountType::Cache);
                    if bind && mount.input < 0 {
                        found.push(format!("nothing at {}", mount.dest));
                    } else if !bind && !cache {
                        found.push(format!("a mount of type {}", mount.mount_type));
                    }
                    if mount.dest != "/" && !mount.dest.starts_with("C:\\") {
                        found.push(format!("a mount at {}", mount.dest));
                    }
                    if mount.selector.contains('\\') {
                        found.push(format!("the selector {}", mount.selector));
                    }
                }
                let args = exec.meta.map_or(0, |meta| meta.args.len());
                found.extend((args != 1).then(|| "a command that is not one line".to_owned()));
            }
            _ => {}
        }
    }
    found
}

#[test]
fn a_windows_lane_as_llb() {
    let loaded = load(LANES, "");
    insta::assert_snapshot!(::llb::view::text(&definition(&loaded, "amd64")));
}

#[test]
fn a_windows_bundle_stands_on_the_base_image() {
    let loaded = load(LANES, "");
    let text = ::llb::view::text(&definition(&loaded, "amd64/bundle"));
    insta::assert_snapshot!(
        text.lines()
            .skip_while(|line| !line.contains("[bundle]"))
            .collect::<Vec<_>>()
            .join("\n")
    );
}

#[test]
fn nothing_of_a_windows_lane_needs_what_windows_lacks() {
    let loaded = load(LANES, "");
    for target in [
        "amd64",
        "amd64/bundle",
        "amd64/media",
        "amd64/gates",
        "amd64/base",
        "amd64/onnx",
    ] {
        assert_eq!(
            not_on_windows(&definition(&loaded, target)),
            [""; 0],
            "{target}"
        );
    }
}

#[test]
fn what_windows_lacks_is_refused_also_when_the_caller_demands_it_of_every_step() {
    let loaded = load(LANES, "");
    let (plan, facts) = plan(loaded.graph.as_ref().unwrap(), &request("amd64", &[])).unwrap();
    let lowered = |exec: ExecOptions| {
        let worker = Platform::new("windows", "amd64");
        lower_with(&loaded, &plan, &facts, &Caps::all(), worker, exec)
    };
    // What Windows has is there.
    lowered(ExecOptions {
        network: Some(::llb::Network::None),
        hostname: "builder".to_owned(),
        ..ExecOptions::default()
    })
    .unwrap();
    let none = ExecOptions::default;
    let told: Vec<String> = [
        ExecOptions {
            hosts: vec![("db".to_owned(), [10, 0, 0, 1].into())],
            ..none()
        },
        ExecOptions {
            ulimits: vec![("nofile".to_owned(), 1, 1)],
            ..none()
        },
        ExecOptions {
            cgroup_parent: "build".to_owned(),
            ..none()
        },
        ExecOptions {
            resources: Some(pb::LinuxResources::default()),
            ..none()
        },
        ExecOptions {
            shm_size: NonZeroU64::new(64 << 20),
            ..none()
        },
        ExecOptions {
            network: Some(::llb::Network::Host),
            ..none()
        },
    ]
    .into_iter()
    .map(|exec| lowered(exec).unwrap_err().render(&loaded.sources, false))
    .collect();
    insta::assert_snapshot!(told.join(""));
}

#[test]
fn the_build_number_of_the_base_is_in_platform_and_config() {
    let loaded = load(LANES, "");
    let worker = Platform::new("windows", "amd64");
    for target in ["amd64", "amd64/bundle"] {
        let lowered = lower_on(&loaded, &request(target, &[]), &Caps::all(), worker.clone());
        let lowered = lowered.unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
        assert_eq!(lowered.platform, "windows(10.0.20348.2113)/amd64");
        let config: serde_json::Value = serde_json::from_slice(&lowered.config).expect("JSON");
        assert_eq!(config["os"], "windows");
        assert_eq!(config["os.version"], "10.0.20348.2113");
    }
}

#[test]
fn a_stage_on_windows_with_no_system_under_it_is_refused() {
    let text = LANES.replace(
        "[stage.image]\nfrom = \"toolchain\"",
        "[stage.image]\nfrom = \"ffmpeg\"",
    );
    insta::assert_snapshot!(wrong(&text));
    let text = LANES.replace(
        "[stage.ffmpeg]\nfrom = \"toolchain\"",
        "[stage.ffmpeg]\nfrom = \"scratch\"",
    );
    insta::assert_snapshot!(wrong(&text));
}

#[test]
fn paths_that_windows_does_not_have_are_refused_together() {
    let text = LANES
        .replace(r"at = 'C:\patches'", "at = '/patches'")
        .replace(r"at = 'C:\cache'", r"at = 'C:\cache/x'")
        .replace(r"at = 'C:\onnx'", r"at = 'D:\onnx'")
        .replace(
            r"tree = ['C:\runtime\opencv']",
            r"tree = ['C:\runtime\aux.d']",
        );
    insta::assert_snapshot!(wrong(&text));
}

#[test]
fn one_path_and_one_variable_have_one_spelling() {
    let text = LANES
        .replace(
            r"sub = 'C:\runtime\lib\onnx', at",
            r"sub = 'C:\Runtime\lib\onnx', at",
        )
        .replace("env.Path = { prepend", "env.PATH = { prepend");
    insta::assert_snapshot!(wrong(&text));
}

#[test]
fn a_step_without_path_a_mount_over_the_system_and_some_of_a_directory_are_refused() {
    let text = LANES
        .replace("env.Path = { set", "env.Paths = { set")
        .replace("env.Path = { prepend", "env.Lib = { prepend")
        .replace(r"at = 'C:\cache'", r"at = 'C:\ProgramData'")
        .replace(r"at = 'C:\ff'", r"at = 'C:\runtime\lib\onnx\x'")
        .replace(r#"uses = ["ffmpeg", "#, r#"uses = ["ffmpeg", "onnx", "#);
    insta::assert_snapshot!(wrong(&text));
}

#[test]
fn errors_have_the_paths_that_windows_has() {
    let text = r#"
[graph]
name = "t"
[lane.amd64]
platform = "windows/amd64"
output.image = { stage = "out" }
[stage.base]
from = { image = "x" }
env.PATH = { set = ['C:\Windows'] }
[stage.a]
from = "base"
tree = ['C:\runtime\a', 'C:\runtime\b']
[stage.b]
from = "base"
tree = ['C:\runtime\a\x', 'C:\cache\y', 'C:\in']
[[stage.b.step]]
name = "s"
cache = [{ id = "c", at = 'C:\cache' }, { id = "d", at = 'C:\cache\d' }]
uses = [
  { stage = "a", sub = 'C:\nothing', at = 'C:\n' },
  { stage = "a", sub = 'C:\runtime\a', at = 'C:\cache\e', as = "copy" },
  { stage = "a", sub = 'C:\runtime\a', at = 'C:\in\a', as = "copy" },
  { stage = "a", sub = 'C:\runtime\b', at = 'C:\in\a', as = "copy" },
]
run = ["a"]
[stage.out]
from = "base"
add = ["a", "b"]
[gate.g]
of = "a"
check = "arch"
roots = ['C:\elsewhere']
floor = [{ inspected = { least = 1 } }]
"#;
    let found = wrong(text);
    insta::assert_snapshot!(found);
    let mut told = found
        .lines()
        .filter(|line| !line.contains(" | ") || line.contains('^'));
    assert!(told.all(|line| !line.contains(" /")), "{found}");
}

/// Trees with patterns, file operations, and a tree over what is there already.
const OPERATIONS: &str = r#"
[graph]
name = "t"
[lane.amd64]
platform = "windows/amd64"
output.image = { stage = "out" }
[stage.base]
from = { image = "x" }
env.PATH = { set = ['C:\Windows'] }
[stage.a]
from = "base"
tree = ['C:\runtime\a*']
[stage.out]
from = "base"
[[stage.out.step]]
name = "some"
copy = { stage = "a", from = 'C:\runtime\a*', to = 'C:\opt\' }
[[stage.out.step]]
name = "write"
write = { path = 'C:\opt\note.txt', text = "a" }
[[stage.out.step]]
name = "mkdir"
mkdir = { path = 'C:\opt\empty' }
[[stage.out.step]]
name = "delete"
delete = { path = 'C:\opt\old' }
[[stage.out.step]]
name = "run"
workdir = 'C:\opt'
run = ["a"]
"#;

#[test]
fn file_operations_have_the_paths_that_windows_has() {
    let loaded = load(OPERATIONS, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let request = request("amd64", &[]);
    let selection = stages::plan::select(graph, &request).expect("a lane");
    let (plan, _) = plan(graph, &request)
        .unwrap_or_else(|report| panic!("{}", report.render(&loaded.sources, false)));
    insta::assert_snapshot!("operations", stages::view::plan_text(&selection, &plan));
    let json = stages::view::plan_json(&selection, &plan).to_string();
    assert!(json.contains(r#""cwd":"C:\\opt""#), "{json}");
}

#[test]
fn errors_of_file_operations_and_patterns_have_the_paths_that_windows_has() {
    let edits = [
        (r"tree = ['C:\runtime\a*']", r"tree = ['C:\runtime\*\lib']"),
        (
            r"tree = ['C:\runtime\a*']",
            r"tree = [{ at = 'C:\runtime\a*', only = ['x'] }]",
        ),
        (r"to = 'C:\opt\' }", r"to = 'C:\opt' }"),
        (r"to = 'C:\opt\' }", r"to = 'C:\o*\' }"),
        (r"path = 'C:\opt\note.txt'", r"path = 'C:\opt\*.txt'"),
        (r"path = 'C:\opt\old'", r"path = 'C:\'"),
        (
            "from = \"base\"\n[[stage.out.step]]\nname = \"some\"",
            "from = \"over\"\nadd = [\"b\"]\n[stage.b]\nfrom = \"base\"\ntree = ['C:\\put']\n[stage.over]\nfrom = \"base\"\n[[stage.over.step]]\nname = \"put\"\nwrite = { path = 'C:\\put\\x', text = \"x\" }\n[[stage.out.step]]\nname = \"some\"",
        ),
    ];
    let mut all = String::new();
    for (from, to) in edits {
        assert!(OPERATIONS.contains(from), "{from}");
        let found = wrong(&OPERATIONS.replacen(from, to, 1));
        let mut told = found
            .lines()
            .filter(|line| !line.contains(" | ") || line.contains('^'));
        assert!(
            told.all(|line| !line.contains(" /") && !line.contains("`/")),
            "{found}"
        );
        all += &found;
        all += "\n";
    }
    insta::assert_snapshot!("operations_wrong", all);
}

fn wrong(text: &str) -> String {
    let loaded = load(text, "");
    let Ok(graph) = &loaded.graph else {
        return rendered(&loaded);
    };
    match plan(graph, &request("amd64", &[])) {
        Ok(_) => "nothing is wrong".into(),
        Err(report) => report.render(&loaded.sources, false),
    }
}

#[test]
fn a_base_image_that_sets_path_in_its_own_spelling_is_edited_not_doubled() {
    let text = LANES.replace("env.Path", "env.PATH").replace(
        "{ set = ['C:\\Program Files\\PowerShell\\7', ",
        "{ append = [",
    );
    let loaded = load(&text, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let selection = stages::plan::select(graph, &request("amd64/toolchain", &[])).expect("a lane");
    let mut facts = crate::common::facts(&selection);
    for fact in facts.images.values_mut() {
        fact.config.env.push("path=C:\\pwsh".into());
    }
    let plan = stages::plan::plan(&selection, &facts).expect("a plan");
    let step = &plan.stages.last().expect("a stage").steps[0];
    let env: Vec<String> = step.env.iter().map(|(k, v)| format!("{k}={v}")).collect();
    assert_eq!(
        env,
        [r"PATH=C:\llvm\bin;C:\pwsh;C:\Windows\System32;C:\Windows"]
    );
}

#[test]
fn an_empty_variable_is_a_warning_and_a_raw_line_needs_windows() {
    let text = LANES.replace("args = [\"REF\"]", "args = [\"REF\"]\nenv = { LIB = \"\" }");
    let loaded = load(&text, "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let (planned, _) = plan(graph, &request("amd64", &[])).expect("a plan");
    let warnings: Vec<&str> = planned.warnings.iter().map(|w| w.rule.0).collect();
    assert_eq!(warnings, ["LK044"]);
    let linux = "[graph]\nname = \"l\"\n[lane.amd64]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"s\" }\n[stage.s]\nfrom = { image = \"x\" }\n[[stage.s.step]]\nname = \"a\"\ncommand-line = \"a b\"\n";
    insta::assert_snapshot!(wrong(linux));
}

/// Inputs of steps on Windows: a consumer takes the paths of a tree from the root of its producer.
#[test]
fn the_keys_of_a_windows_lane_name_the_vertices_that_it_has() {
    let loaded = load(LANES, "");
    let contents = |path: &str| Some(path.to_owned());
    let manifest = manifest(&loaded, "amd64", &ExecOptions::default(), &contents);
    let definition = ::llb::view::text(&definition(&loaded, "amd64"));
    let mut inputs = Vec::new();
    for node in &manifest.nodes {
        let kind = format!("{:?}", node.kind);
        // A merge is no vertex there, and neither is it one that runs.
        assert!(
            kind == "Merge" || definition.contains(node.vertex.trim_end()),
            "{} is no vertex",
            node.vertex
        );
        for (at, input) in node.inputs.iter().filter(|(at, _)| *at != "root") {
            inputs.push(format!(
                "{} at {at}: {} of {}",
                node.id, input.part, input.node
            ));
        }
    }
    insta::assert_snapshot!(inputs.join("\n"));
}

/// What Windows says of a part that a lane does not have: a file on the base image.
fn marked() -> String {
    let merge = r#"merge = ["onnx", "ffmpeg", { stage = "opencv", when = { lane.target = "arm64" }, else = "absent-marker", why = "no build of it" }]"#;
    let lanes = LANES
        .replace(r#"merge = ["onnx", "ffmpeg", "opencv"]"#, merge)
        .replace(
            "[stage.opencv]",
            "[stage.opencv]\nwhen = { lane.target = \"arm64\" }",
        )
        .replace(r#"hold = ["opencv"]"#, "hold = []");
    // A step mounts the directory that has the marker alone, another gate looks at all of it.
    lanes.replace(
        r"run = ['reg', 'add', 'HKLM\Software\x']",
        "run = ['reg', 'add', 'HKLM\\Software\\x']\n\
         [[stage.image.step]]\nname = \"tell\"\n\
         uses = [{ stage = \"media\", sub = 'C:\\runtime\\opencv', at = 'C:\\cv' }]\n\
         run = ['cmd', '/c', 'type', 'C:\\cv\\ABSENT-opencv.txt']",
    ) + r#"
[lane.arm64]
platform = "windows/amd64"
target = "arm64"
output.image = { stage = "image" }
[gate.absent]
of = "media"
check = "absent"
roots = ['C:\runtime\ffmpeg', 'C:\runtime\opencv']
ask = { components = [{ at = "runtime/opencv", files = ["**/opencv.dll"], not-on = ["windows/amd64"] }] }
floor = [{ components = { least = 1 } }]
"#
}

#[test]
fn a_marker_stands_on_the_base_image() {
    let loaded = load(&marked(), "");
    let absent = |target: &str| {
        let definition = definition(&loaded, target);
        assert_eq!(not_on_windows(&definition), [""; 0], "{target}");
        let text = ::llb::view::text(&definition);
        // The vertex that has it, and every line that takes it.
        let made = text.split("\n#").find(|op| op.contains("[media] absent"));
        let number = made.and_then(|op| op.split(' ').next()).map(str::to_owned);
        number.map(|number| {
            let takes = format!("#{number}.0");
            let lines = text.lines().filter(|line| line.contains(&takes));
            let lines: Vec<&str> = lines.collect();
            format!("#{}\n{}", made.unwrap_or_default(), lines.join("\n"))
        })
    };
    let all = ["amd64", "amd64/media", "amd64/bundle"].map(|target| {
        let absent = absent(target).unwrap_or_else(|| panic!("{target} has no marker"));
        format!("{target}\n{absent}")
    });
    insta::assert_snapshot!(all.join("\n\n"));
    // The lane that has the part says nothing.
    assert_eq!(absent("arm64"), None);
}

#[test]
fn a_marker_in_a_tree_that_the_lane_has_is_refused_on_windows() {
    let into = r#"from = 'C:\runtime\opencv', to = 'C:\runtime\ffmpeg\cv', else = "absent-marker""#;
    let text = marked()
        .replace(r#"else = "absent-marker""#, into)
        .replace(
            r"sub = 'C:\runtime\opencv', at = 'C:\cv'",
            r"sub = 'C:\runtime\ffmpeg', at = 'C:\cv'",
        )
        .replace(r"roots = ['C:\runtime\ffmpeg', 'C:\runtime\opencv']", "");
    insta::assert_snapshot!(wrong(&text));
}

/// A part with some of a directory is taken whole or not at all, however it is taken.
#[test]
fn some_of_a_directory_is_no_part_on_windows() {
    let text = LANES.replace(
        r"sub = 'C:\runtime\ffmpeg', at = 'C:\ff'",
        r"sub = 'C:\runtime', at = 'C:\ff', as = 'copy'",
    );
    insta::assert_snapshot!(wrong(&text));
}
