//! What a lane does not use costs it nothing: its vertices are the same bytes with and without each part of the
//! language in the file.

use ::llb::{Caps, Definition, Platform};
use stages::diag::{Report, Sources};
use stages::lower::ExecOptions;
use stages::{file, graph};

use crate::common::{Loaded, load, lower_with, plan_with, rendered, request};

/// Lane `l` uses nothing but stages and steps. Each feature is put into the file for lane `k` alone.
const LANES: &str = r#"
[graph]
name = "t"
versions = "versions.env"
[lane.l]
platform = "linux/amd64"
output.image = { stage = "app" }
[lane.k]
platform = "linux/arm64"
output.image = { stage = "app" }
[stage.base]
from = { image = "x" }
env.LANG = "C"
[[stage.base.step]]
name = "tools"
run = ["tools"]
[stage.lib]
from = "base"
tree = ["/lib"]
[[stage.lib.step]]
name = "build"
args = ["TOOL"]
files = ["a"]
run = ["make"]
[stage.media]
merge = ["lib"]
[stage.app]
from = "base"
add = ["media"]
[[stage.app.step]]
name = "finish"
run = ["finish"]
"#;

/// A feature: what it is called, what it writes in the place of what, and what it adds at the end.
struct Feature {
    name: &'static str,
    edits: &'static [(&'static str, &'static str)],
    adds: &'static str,
}

const fn feature(
    name: &'static str,
    edits: &'static [(&'static str, &'static str)],
    adds: &'static str,
) -> Feature {
    Feature { name, edits, adds }
}

/// Where an edit adds to the stages that both lanes have.
const STEP: &str = "args = [\"TOOL\"]\nfiles = [\"a\"]\n";
const K: &str = "output.image = { stage = \"app\" }\n[stage.base]";

const FEATURES: &[Feature] = &[
    feature(
        "a slot that the lane fills with what stands there anyway",
        &[
            (
                "output.image = { stage = \"app\" }\n[lane.k]",
                "slot.sdk = \"plain\"\noutput.image = { stage = \"app\" }\n[lane.k]",
            ),
            (
                K,
                "slot.sdk = \"more\"\noutput.image = { stage = \"app\" }\n[stage.base]",
            ),
            (
                "[stage.lib]\nfrom = \"base\"",
                "[stage.lib]\nfrom = { slot = \"sdk\" }",
            ),
        ],
        "[slot.sdk]\nplain = { same-as = \"base\" }\nmore = { stage = \"sdk\" }\n[stage.sdk]\nfrom = \"base\"\n[[stage.sdk.step]]\nname = \"s\"\nrun = [\"s\"]\n",
    ),
    feature(
        "a slot that a switch fills",
        &[(
            "[stage.lib]\nfrom = \"base\"",
            "[stage.lib]\nfrom = { slot = \"tools\" }",
        )],
        "[switch.stock]\ndefault = false\nabout = \"a\"\n[slot.tools]\nours = { same-as = \"base\" }\nstock = { stage = \"stock\", when = { switch.stock = true } }\n[stage.stock]\nfrom = \"base\"\n[[stage.stock.step]]\nname = \"s\"\nrun = [\"s\"]\n",
    ),
    feature(
        "a start that is a list",
        &[(
            "[stage.app]\nfrom = \"base\"",
            "[stage.app]\nfrom = [\"more\", \"base\"]",
        )],
        "[stage.more]\nwhen = { lane.name = \"k\" }\nfrom = \"base\"\n[[stage.more.step]]\nname = \"s\"\nrun = [\"s\"]\n",
    ),
    feature(
        "a group",
        &[],
        "[group.all]\nlanes = [\"l\", \"k\"]\ntag = \"all:1\"\n",
    ),
    feature(
        "a payload of the other lane",
        &[(
            STEP,
            "args = [\"TOOL\"]\nfiles = [\"a\", { payload = \"sdk\", at = \"/p\", when = { lane.name = \"k\" } }]\n",
        )],
        "[payload.sdk]\npath = \"sdk.zip\"\nempty-ok = \"w\"\ntag-part = { present = \"-sdk\" }\n",
    ),
    feature(
        "a download of the other lane",
        &[(
            STEP,
            "args = [\"TOOL\"]\nfiles = [\"a\", { fetch = \"z\", at = \"/f\", when = { lane.name = \"k\" } }]\n",
        )],
        "[fetch.z]\nurl = \"https://example.org/z.zip\"\nsha256 = \"0123456789012345678901234567890123456789012345678901234567890123\"\n",
    ),
    feature(
        "a repository of the other lane",
        &[(
            STEP,
            "args = [\"TOOL\"]\nfiles = [\"a\", { git = \"g\", from = \"src/\", at = \"/g\", when = { lane.name = \"k\" } }]\n",
        )],
        "[git.g]\nurl = \"https://example.org/g.git\"\nref = \"v1\"\n",
    ),
    feature(
        "a kit that holds in the other lane",
        &[(
            STEP,
            "args = [\"TOOL\"]\nfiles = [\"a\"]\nkits = [\"more\"]\n",
        )],
        "[host.CACHE]\nabout = \"a\"\n[kit.more]\nwhen = { lane.name = \"k\" }\nhost = [\"CACHE\"]\nenv = { MORE = \"1\" }\nfiles = [\"more\"]\ncache = [{ id = \"c\", at = \"/c\" }]\nsecret = [{ id = \"s\", at = \"/s\" }]\nssh = [{ id = \"default\", at = \"/ssh\" }]\ntmpfs = [{ at = \"/tmp/m\" }]\npins-file = { at = \"/etc/pins\", keys = [\"TOOL\"] }\n",
    ),
    feature(
        "a step and an edit of the environment in the other lane",
        &[
            (
                "env.LANG = \"C\"\n",
                "env.LANG = \"C\"\nenv.MORE = { value = \"1\", when = { lane.name = \"k\" } }\nenv.PATH = { prepend = [{ value = \"/k\", when = { lane.name = \"k\" } }] }\n",
            ),
            (
                "[stage.lib]",
                "[[stage.base.step]]\nname = \"more\"\nwhen = { lane.name = \"k\" }\nrun = [\"more\"]\n[stage.lib]",
            ),
        ],
        "",
    ),
    feature(
        "a product that is used and put in by the other lane",
        &[
            (
                STEP,
                "args = [\"TOOL\"]\nfiles = [\"a\"]\nuses = [{ stage = \"dep\", when = { lane.name = \"k\" } }]\n",
            ),
            (
                "merge = [\"lib\"]",
                "merge = [\"lib\", { stage = \"dep\", when = { lane.name = \"k\" } }]",
            ),
        ],
        "[stage.dep]\nfrom = \"base\"\ntree = [\"/dep\"]\n[[stage.dep.step]]\nname = \"s\"\nrun = [\"s\"]\n",
    ),
    feature(
        "constants of lanes, what it is for, and a second output",
        &[(
            K,
            "target = \"windows/arm64\"\nset.MODE = \"k\"\noutput.tools = { stage = \"tools\" }\noutput.image = { stage = \"app\" }\n[stage.base]",
        )],
        "[stage.tools]\nfrom = \"base\"\n[[stage.tools.step]]\nname = \"s\"\nargs = [\"MODE=lane.set.MODE\", \"TARGETARCH\"]\nrun = [\"s\"]\n",
    ),
    feature(
        "refusals by what is asked for",
        &[],
        "[[refuse]]\nwhen = { lane.name = \"k\", request.stage = \"lib\" }\nwhy = \"w\"\n",
    ),
    feature(
        "a gate of the other lane",
        &[],
        "[gate.m]\nwhen = { lane.name = \"k\" }\nof = \"media\"\ncheck = \"manifest\"\nfloor = [{ files = { least = 1, measured = 1 } }]\n",
    ),
    feature(
        "pins that are made of others, and what must hold between pins",
        &[],
        "[pin.MAJOR]\nfrom = \"TOOL|parts:1\"\n[pin-rule.r]\nhold = { TOOL = \"1.2\" }\nwhy = \"w\"\n[stage.more]\nfrom = \"base\"\n[[stage.more.step]]\nname = \"s\"\nargs = [\"MAJOR\"]\nrun = [\"s\"]\n[lane.m]\nplatform = \"linux/amd64\"\noutput.image = { stage = \"more\" }\n",
    ),
    feature(
        "the image's config, labels, stamps and tags",
        &[
            (
                "[stage.app]\n",
                "[stage.app]\nimage.labels.date = \"${arg.DATE}\"\nimage.cmd = [\"x\"]\nimage.env.X = \"1\"\n",
            ),
            (
                "output.image = { stage = \"app\" }\n[lane.k]",
                "output.image = { stage = \"app\", tag = \"app:${lane.name}\" }\n[lane.k]",
            ),
        ],
        "[arg.DATE]\nabout = \"d\"\nstamp = true\n",
    ),
    feature(
        "what a stage may not depend on",
        &[(
            "[stage.base]\n",
            "[stage.base]\nsame-for = [\"lane.target\"]\n",
        )],
        "",
    ),
];

fn definition(loaded: &Loaded, target: &str) -> Vec<Vec<u8>> {
    let Ok(graph) = &loaded.graph else {
        panic!("{}", rendered(loaded));
    };
    let made = plan_with(graph, &request(target, &[]), &|_| None);
    let lowered = made.and_then(|(plan, facts)| {
        let worker = Platform::new("linux", "amd64");
        let options = ExecOptions::default();
        lower_with(loaded, &plan, &facts, &Caps::all(), worker, options)
    });
    match lowered {
        Ok(lowered) => Definition::new(&lowered.result).to_pb().def,
        Err(report) => panic!("{}", report.render(&loaded.sources, false)),
    }
}

const PINS: &str = "TOOL=1.2\n";

#[test]
fn a_lane_is_the_same_bytes_with_and_without_each_feature_in_the_file() {
    let plain = load(LANES, PINS);
    let want = ["l", "l/lib"].map(|target| definition(&plain, target));
    for Feature { name, edits, adds } in FEATURES {
        let mut text = LANES.to_owned();
        for (from, to) in *edits {
            assert!(text.contains(from), "{name} changes nothing: {from}");
            text = text.replacen(from, to, 1);
        }
        let loaded = load(&(text + adds), PINS);
        for (target, want) in ["l", "l/lib"].iter().zip(&want) {
            assert!(definition(&loaded, target) == *want, "{name}: {target}");
        }
    }
}

/// So that the test above is no test of nothing: the same features change the lane that has them.
#[test]
fn what_the_other_lane_has_changes_it() {
    let plain = definition(&load(LANES, PINS), "k");
    let changes = |name: &str| {
        let Feature { edits, adds, .. } = FEATURES
            .iter()
            .find(|feature| feature.name == name)
            .expect("a feature");
        let text = edits.iter().fold(LANES.to_owned(), |text, (from, to)| {
            text.replacen(from, to, 1)
        });
        definition(&load(&(text + adds), PINS), "k") != plain
    };
    for name in [
        "a slot that the lane fills with what stands there anyway",
        "a start that is a list",
        "a download of the other lane",
        "a repository of the other lane",
        "a kit that holds in the other lane",
        "a step and an edit of the environment in the other lane",
        "a product that is used and put in by the other lane",
        "a gate of the other lane",
    ] {
        assert!(changes(name), "{name}");
    }
}

/// A stage that is asked for is built as the lane's output builds it, and in which file a table
/// stands means nothing.
#[test]
fn a_stage_by_name_and_included_files_change_no_byte() {
    let plain = load(LANES, PINS);
    assert_eq!(definition(&plain, "l/app"), definition(&plain, "l"));
    let (main, included) = LANES.split_at(LANES.find("[stage.lib]").expect("a stage"));
    let mut sources = Sources::default();
    let lanes = sources.add("lanes.toml", main);
    let included = sources.add("stages/rest.toml", included);
    let pins = sources.add("versions.env", PINS);
    let mut report = Report::default();
    let pins = file::parse_pins(&sources, pins, &mut report);
    let graph = file::parse(&sources, lanes).and_then(|mut document| {
        let other = file::parse_included(&sources, included, &document.graph)?;
        document.include(other, &mut report);
        graph::resolve(document, pins)
    });
    let loaded = Loaded { sources, graph };
    for target in ["l", "k", "l/lib"] {
        assert_eq!(definition(&loaded, target), definition(&plain, target));
    }
}
