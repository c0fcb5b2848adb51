//! A lane file of as many steps as wanted, with a ledger of what its builds did.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Real names, long ones too, so that what does not fit is seen.
const NAMES: [&str; 12] = [
    "zlib",
    "libpng",
    "freetype",
    "harfbuzz",
    "onnxruntime",
    "ffmpeg",
    "opencv-contrib",
    "vulkan-validation-layers",
    "litert",
    "tvm",
    "python-free-threaded-standard-library",
    "iree",
];
/// What the stages of components do, in order.
const VERBS: [&str; 5] = [
    "configure",
    "build",
    "install",
    "strip-debug-symbols-and-sign",
    "record",
];
/// Steps beside those of components.
const OTHERS: usize = 4;
/// The component whose pin changes before the second build.
pub(crate) const CHANGED: usize = 2;

/// A directory with a lane file and a ledger.
pub(crate) struct Sample {
    dir: TempDir,
    components: Vec<Component>,
    page: OnceLock<PathBuf>,
    drawing: OnceLock<PathBuf>,
}

/// A stage that makes a tree.
pub(crate) struct Component {
    /// Its name.
    pub(crate) name: String,
    /// The pin that its first step takes.
    pub(crate) pin: String,
    /// The steps' names.
    pub(crate) steps: Vec<&'static str>,
    /// The components that its first step takes, by number.
    pub(crate) uses: Vec<usize>,
}

/// A build, as the engine tells it.
struct Told<'a> {
    target: &'a str,
    /// The nodes that came from the cache.
    cached: &'a dyn Fn(&str) -> bool,
    /// The step that failed.
    failed: Option<&'a str>,
    verdict: Option<&'a str>,
}

impl Sample {
    /// With so many steps in each of its two lanes, and three builds: all of `amd64` ran; the pin of
    /// [`CHANGED`] moved; a step of `arm64` failed.
    pub(crate) fn new(steps: usize) -> Self {
        let sample = Self {
            dir: tempfile::tempdir().expect("a directory"),
            components: components(steps - OTHERS),
            page: OnceLock::new(),
            drawing: OnceLock::new(),
        };
        sample.write("lanes.toml", &lanes(&sample.components));
        sample.pins(None);
        sample.write("src/common.h", "#define COMMON 1\n");
        for component in &sample.components {
            sample.write(&format!("src/{}.c", component.name), "int made;\n");
        }
        sample.record(&Told {
            target: "amd64",
            cached: &|_| false,
            failed: None,
            verdict: Some("pass"),
        });
        sample.pins(Some(CHANGED));
        let ran = sample.ran_again();
        sample.record(&Told {
            target: "amd64",
            cached: &|node| !ran.contains(stage(node)),
            failed: None,
            verdict: Some("pass"),
        });
        sample.record(&Told {
            target: "arm64",
            cached: &|node| node.starts_with("base"),
            failed: Some("gate:arch/assert"),
            verdict: None,
        });
        sample
    }

    /// Takes its ledger away.
    pub(crate) fn forget(&self) {
        fs::remove_dir_all(self.dir.path().join(".lanekit")).expect("a ledger");
    }

    /// Its components.
    pub(crate) fn components(&self) -> &[Component] {
        &self.components
    }

    /// A component that takes what [`CHANGED`] makes.
    pub(crate) fn consumer(&self) -> &Component {
        let mut all = self.components.iter();
        all.find(|one| one.uses.contains(&CHANGED))
            .expect("a consumer")
    }

    /// Runs lanekit, which must succeed; what it says.
    pub(crate) fn lanekit(&self, words: &[&str]) -> String {
        let mut lanekit = Command::new(env!("CARGO_BIN_EXE_lanekit-command"));
        let output = lanekit.current_dir(self.dir.path()).args(words).output();
        let output = output.expect("lanekit starts");
        assert!(output.status.success(), "{words:?}: {output:?}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// The page of all lanes, which is drawn once.
    pub(crate) fn page(&self) -> &Path {
        self.page.get_or_init(|| self.draw("html"))
    }

    /// The same as SVG.
    pub(crate) fn drawing(&self) -> &Path {
        self.drawing.get_or_init(|| self.draw("svg"))
    }

    fn draw(&self, format: &str) -> PathBuf {
        let file = format!("graph.{format}");
        self.lanekit(&["graph", "--format", format, "--out", &file]);
        self.dir.path().join(file)
    }

    /// The nodes of a target's keys.
    pub(crate) fn nodes(&self, target: &str) -> Vec<Value> {
        let keys = self.lanekit(&["keys", target, "--format", "json"]);
        let mut keys: Value = serde_json::from_str(&keys).expect("JSON");
        serde_json::from_value(keys["nodes"].take()).expect("nodes")
    }

    /// The stages and gates of which something ran in the second build: what changed, what takes its tree, and what
    /// they are put into. The trees of those that take it had the bytes of before.
    fn ran_again(&self) -> BTreeSet<String> {
        let consumers = self.components.iter();
        let consumers = consumers.filter(|one| one.uses.contains(&CHANGED));
        let mut ran: BTreeSet<String> = consumers.map(|one| one.name.clone()).collect();
        ran.insert(self.components[CHANGED].name.clone());
        ran.extend(["media", "image", "final", "arch", "closure"].map(str::to_owned));
        ran
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.dir.path().join(name);
        fs::create_dir_all(file.parent().expect("a directory")).expect("a directory");
        fs::write(file, text).expect("a file");
    }

    fn pins(&self, changed: Option<usize>) {
        let mut text = String::new();
        for (number, component) in self.components.iter().enumerate() {
            let version = if changed == Some(number) {
                "2.0"
            } else {
                "1.0"
            };
            let _ = writeln!(text, "{}={version}", component.pin);
        }
        self.write("versions.env", &text);
    }

    fn record(&self, told: &Told<'_>) {
        let mut text = String::new();
        for (number, node) in self.nodes(told.target).iter().enumerate() {
            let id = node["id"].as_str().expect("an id");
            // What waits for the gate that failed never began.
            if told.failed.is_some() && ["image", "final"].contains(&stage(id)) {
                continue;
            }
            let failed = told.failed == Some(id);
            let vertex = json!({
                "digest": format!("sha256:{number}"),
                "name": node["vertex"],
                "started": "2026-12-01T12:00:00Z",
                "completed": completed(if node["kind"] == "step" { seconds(id) } else { 0 }),
                "cached": (told.cached)(id),
                "error": if failed { "exit code: 1" } else { "" },
            });
            let _ = writeln!(text, "{}", json!({ "vertexes": [vertex] }));
        }
        self.write("progress", &text);
        let mut words = vec!["record", told.target, "--progress", "progress"];
        if let Some(verdict) = told.verdict {
            let gate = json!({ "verdict": verdict });
            let gates = json!({ "gates": { "arch": gate, "closure": gate } });
            let metadata = json!({ "frontend.lanekit.gates": gates });
            self.write("metadata.json", &metadata.to_string());
            words.extend(["--metadata", "metadata.json"]);
        }
        self.lanekit(&words);
    }
}

/// The stage or gate of a node: `onnx/build`, `onnx:tree`, `gate:arch/assert`.
fn stage(node: &str) -> &str {
    let node = node.strip_prefix("gate:").unwrap_or(node);
    node.split(['/', ':']).next().unwrap_or(node)
}

/// How long a step takes: a number that its name gives, short for most, minutes for some.
fn seconds(id: &str) -> u64 {
    let sum: u64 = id.bytes().map(u64::from).sum();
    match sum % 7 {
        0 => 180 + sum % 400,
        1 | 2 => 20 + sum % 40,
        _ => 1 + sum % 9,
    }
}

fn completed(seconds: u64) -> String {
    format!("2026-12-01T12:{:02}:{:02}Z", seconds / 60, seconds % 60)
}

/// Components that have so many steps together.
fn components(mut steps: usize) -> Vec<Component> {
    let mut components = Vec::new();
    while steps > 0 {
        let number = components.len();
        let count = (2 + number % 4).min(steps);
        steps -= count;
        let name = NAMES[number % NAMES.len()];
        let round = number / NAMES.len();
        let name = match round {
            0 => name.to_owned(),
            _ => format!("{name}-{round}"),
        };
        let near = number.checked_sub(1).filter(|_| !number.is_multiple_of(5));
        let far = number.checked_sub(7).filter(|_| number.is_multiple_of(3));
        components.push(Component {
            pin: format!("{}_VERSION", name.replace('-', "_").to_uppercase()),
            name,
            steps: VERBS[..count].to_vec(),
            uses: near.into_iter().chain(far).collect(),
        });
    }
    components
}

fn lanes(components: &[Component]) -> String {
    let quoted = |names: &mut dyn Iterator<Item = &str>| {
        let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        names.join(", ")
    };
    let mut text = String::from(HEAD);
    for component in components {
        let Component { name, pin, .. } = component;
        let mut uses = component
            .uses
            .iter()
            .map(|at| components[*at].name.as_str());
        let uses = quoted(&mut uses);
        let _ = write!(
            text,
            "[stage.{name}]\nfrom = \"toolchain\"\ntree = [\"/out/{name}\"]\n"
        );
        for (number, step) in component.steps.iter().enumerate() {
            let _ = write!(
                text,
                "[[stage.{name}.step]]\nname = \"{step}\"\nrun = [\"{step}\", \"{name}\"]\n"
            );
            let _ = match number {
                0 => writeln!(
                    text,
                    "args = [\"VERSION={pin}\"]\nuses = [{uses}]\nfiles = [\"src/{name}.c\"]"
                ),
                1 => writeln!(
                    text,
                    "args = [\"OPTIMIZE\"]\nfiles = [\"src/common.h\"]\nhost = [\"COMPILE_CACHE\"]"
                ),
                _ => Ok(()),
            };
        }
    }
    let merged = quoted(&mut components.iter().map(|component| component.name.as_str()));
    text.replace("MERGED", &merged)
}

const HEAD: &str = r#"[graph]
name = "media-stack"
versions = "versions.env"
default = "amd64"
[arg.OPTIMIZE]
default = "2"
about = "optimisation level"
[host.COMPILE_CACHE]
about = "compile cache of the build machine"
[lane.amd64]
platform = "linux/amd64"
target = "windows/amd64"
output.image = { stage = "final" }
[lane.arm64]
platform = "linux/amd64"
target = "windows/arm64"
output.image = { stage = "final" }
[stage.base]
from = { image = "debian:bookworm-slim" }
[stage.toolchain]
from = "base"
[[stage.toolchain.step]]
name = "unpack"
run = ["unpack"]
[[stage.toolchain.step]]
name = "wrapper"
args = ["TRIPLE=arch.clang-triple"]
run = ["wrapper"]
[stage.media]
merge = [MERGED]
[stage.image]
from = "base"
add = ["media"]
[[stage.image.step]]
name = "index"
run = ["index"]
[stage.final]
from = "image"
[[stage.final.step]]
name = "licences"
run = ["licences"]
[gate.arch]
of = "media"
check = "arch"
hold = ["image"]
empty-ok = "nothing is looked at here"
[gate.closure]
of = "media"
check = "imports"
empty-ok = "nothing is looked at here"
"#;
