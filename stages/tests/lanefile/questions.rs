//! What a reader of the format asks, question by question: a small graph for each and what it
//! gives. `docs/questions.md` answers each in words, under the same number.

use ::llb::{Caps, Definition, Output, Platform};
use stages::diag::{Report, Sources};
use stages::file::Files;
use stages::graph::lint::lint;
use stages::lower::{ExecOptions, Lowered};
use stages::plan::{Plan, PlannedOutput, Selection};

use crate::common::{Loaded, facts, lanegate, load, lower_from, request};

const PAGE: &str = include_str!("../../../docs/questions.md");
const LANEFILE: &str = include_str!("../../../docs/lanefile.md");
const GATES: &str = include_str!("../../../docs/gates.md");

/// A request, the texts that its plan, LLB or refusal has, and those that it does not have.
struct Asked {
    target: &'static str,
    args: &'static [(&'static str, &'static str)],
    has: &'static [&'static str],
    lacks: &'static [&'static str],
}

const fn asked(
    target: &'static str,
    args: &'static [(&'static str, &'static str)],
    has: &'static [&'static str],
    lacks: &'static [&'static str],
) -> Asked {
    Asked {
        target,
        args,
        has,
        lacks,
    }
}

/// A question: its number on the page, a graph, its pins, and what comes of it.
struct Row {
    number: &'static str,
    graph: &'static str,
    pins: &'static str,
    asked: &'static [Asked],
}

const fn row(
    number: &'static str,
    graph: &'static str,
    pins: &'static str,
    asked: &'static [Asked],
) -> Row {
    Row {
        number,
        graph,
        pins,
        asked,
    }
}

const ROWS: &[Row] = &[
    row(
        "Q1",
        r#"
[stage.base]
from = { image = "x" }
env.CHAIN = "chain"
image.env = { CONFIG = "config" }
[stage.out]
from = "base"
[[stage.out.step]]
name = "build"
run = ["make"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "\n   env CHAIN=chain\n",
                "\n\"CONFIG=config\"\n",
                "\n\"CHAIN=chain\"\n",
            ],
            &["env CONFIG="],
        )],
    ),
    row(
        "Q2",
        r#"
[stage.base]
from = { image = "server" }
env.PATH = { set = ['C:\Windows'] }
[stage.scopes]
from = "base"
tree = ['C:\scopes']
[[stage.scopes.step]]
name = "write"
run = ["write-scopes"]
[stage.out]
from = "base"
[gate.env]
of = "scopes"
for = "out"
check = "env"
ask = { scopes = ["machine", "user"] }
floor = [{ scopes = { least = 3 } }]
"#,
        "",
        &[asked(
            "w",
            &[],
            &["gate env asks {", "\"scopes\":[\"machine\",\"user\"]}"],
            &[],
        )],
    ),
    row(
        "Q3",
        r#"
[host.SCCACHE_LOG]
about = "how much the cache says"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
host = ["SCCACHE_LOG"]
run = ["make"]
"#,
        "",
        &[
            asked(
                "l",
                &[],
                &["env SCCACHE_LOG = secret SCCACHE_LOG optional"],
                &[],
            ),
            asked(
                "l",
                &[("SCCACHE_LOG", "debug")],
                &["LK009", "`SCCACHE_LOG` is a host setting"],
                &[],
            ),
        ],
    ),
    row(
        "Q4",
        r#"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
when = { target = "arm64" }
run = ["make", "${target.clang-triple}"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "a condition cannot look at `target`",
                "expected lane.…, slot.…, switch.…, payload.…, request.…, not or any",
                "no values are called `target.…`",
                "known: pin, arg, lane, slot, switch, payload, arch, env, git",
            ],
            &[],
        )],
    ),
    row(
        "Q5",
        r#"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
args = ["APP_REF"]
run = ["make"]
"#,
        "APP_REF=1\n",
        &[
            asked("l", &[], &["env APP_REF=1"], &["it has no tag"]),
            asked("l", &[("APP_REF", "2")], &["LK009", "it is a pin"], &[]),
            asked(
                "l",
                &[("LANEKIT_PIN_APP_REF", "2")],
                &["env APP_REF=2", "it has no tag: "],
                &[],
            ),
        ],
    ),
    row(
        "Q6",
        r#"
[stage.out]
from = { image = "x" }
tree = ["/etc/app"]
[[stage.out.step]]
name = "build"
run = ["make"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "mount / = #0.0 -> .0",
                "on scratch: copy #1.0:/etc/app to /etc/",
            ],
            &["mount /etc/app"],
        )],
    ),
    row(
        "Q6",
        r#"
[stage.part]
from = { image = "x" }
tree = ["/app/part"]
[[stage.part.step]]
name = "build"
run = ["one"]
[stage.out]
from = { image = "x" }
tree = ["/app"]
[[stage.out.step]]
name = "build"
uses = [{ stage = "part", as = "copy" }]
run = ["make"]
"#,
        "",
        &[asked("l", &[], &["LK030"], &[])],
    ),
    row(
        "Q7",
        r#"
[stage.tool]
from = { image = "x" }
tree = ["/tool"]
[[stage.tool.step]]
name = "one"
run = ["one"]
[[stage.tool.step]]
name = "two"
run = ["two"]
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
uses = ["tool"]
run = ["make"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "mount / = #1.0 -> .0",
                "on scratch: copy #2.0:/tool to /",
                "mount /tool = #3.0 at /tool read-only",
            ],
            &[],
        )],
    ),
    row(
        "Q8",
        r#"
[stage.tool]
from = { image = "x" }
tree = ["/tool"]
[[stage.tool.step]]
name = "one"
run = ["one"]
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "with"
uses = ["tool", { stage = "tool", sub = "/tool/bin", at = "/bin-of-it", when = { lane.target = "arm64" } }]
run = ["with"]
[[stage.out.step]]
name = "without"
run = ["without"]
"#,
        "",
        &[
            asked(
                "l",
                &[],
                &["mount /tool = #2.0 at /tool read-only\n   name \"[out/with] with\""],
                &["/bin-of-it"],
            ),
            asked("a", &[], &["mount /bin-of-it = "], &[]),
        ],
    ),
    row(
        "Q9",
        r#"
[stage.python]
from = { image = "x" }
tree = ["/python"]
[[stage.python.step]]
name = "build"
run = ["one"]
[stage.out]
from = { image = "x" }
tree = ["/python/site/cv2*"]
[[stage.out.step]]
name = "build"
uses = [{ stage = "python", as = "copy" }]
run = ["make"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "on #0.0: copy #2.0:/python to /",
                "on scratch: copy #4.0:/python/site/cv2* to /python/site/",
            ],
            &["mount /python"],
        )],
    ),
    row(
        "Q9",
        r#"
[stage.python]
from = { image = "x" }
tree = ["/python"]
[[stage.python.step]]
name = "build"
run = ["one"]
[stage.out]
from = { image = "x" }
tree = ["/python/site/cv2*"]
[[stage.out.step]]
name = "build"
uses = ["python"]
run = ["make"]
"#,
        "",
        &[asked("l", &[], &["LK010"], &[])],
    ),
    row(
        "Q10",
        r#"
[stage.dep]
from = { image = "x" }
tree = ["/tree/lib"]
[[stage.dep.step]]
name = "build"
run = ["one"]
[stage.out]
from = { image = "x" }
tree = ["/tree"]
[[stage.out.step]]
name = "build"
uses = ["dep"]
run = ["make"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "mount /tree/lib = #2.0 at /tree/lib read-only",
                "on scratch: copy #3.0:/tree to /",
            ],
            &[],
        )],
    ),
    row(
        "Q11",
        r#"
[stage.a]
from = { image = "x" }
tree = ["/r/a"]
[[stage.a.step]]
name = "s"
run = ["a"]
[stage.b]
when = { lane.target = "amd64" }
from = { image = "x" }
tree = ["/r/b"]
[[stage.b.step]]
name = "s"
run = ["b"]
[stage.media]
merge = ["a", { stage = "b", when = { lane.target = "amd64" } }]
[stage.out]
from = { image = "x" }
add = ["media"]
"#,
        "",
        &[
            asked(
                "l",
                &[],
                &["#5 merge #2.0 #4.0", "on #0.0: copy #5.0:/r/a to /r/"],
                &[],
            ),
            asked("a", &[], &["copy #2.0:/r/a to /r/"], &["merge", "/r/b"]),
        ],
    ),
    row(
        "Q11",
        r#"
[stage.a]
from = { image = "x" }
tree = ["/r/a"]
[stage.b]
when = { lane.target = "amd64" }
from = { image = "x" }
tree = ["/r/b"]
[stage.media]
merge = ["a", "b"]
[stage.out]
from = { image = "x" }
add = ["media"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "LK017",
                "lane `a` does not have stage `b`",
                "named without a condition",
            ],
            &[],
        )],
    ),
    row(
        "Q12",
        r#"
[stage.a]
from = { image = "x" }
tree = ["/r"]
[[stage.a.step]]
name = "s"
run = ["a"]
[stage.b]
from = { image = "x" }
tree = ["/r"]
[[stage.b.step]]
name = "s"
run = ["b"]
[stage.media]
merge = ["a", "b"]
conflict = [{ path = "**/*.pyc", take = "any", why = "bytecode with the time of its source" }]
[stage.out]
from = { image = "x" }
add = ["media"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                r#""overlap" "--tree" "a=/trees/0" "--tree" "b=/trees/1" "--any" "**/*.pyc" "--fold""#,
                "on #0.0: copy #7.1:/r to /",
            ],
            &[],
        )],
    ),
    row(
        "Q13",
        r#"
[payload.sdk]
path = "sdk.zip"
empty-ok = "a test"
[switch.fast]
default = false
about = "less"
[[refuse]]
when = { request.stage = "out", switch.fast = true }
why = "a part of a fast build is of no use"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "either"
when = { any = [{ lane.target = "arm64" }, { switch.fast = true }] }
run = ["either"]
[[stage.out.step]]
name = "neither"
when = { not = { any = [{ lane.target = "arm64" }, { switch.fast = true }] } }
files = [{ from = "arm/", when = { lane.target = "arm64" } }, "all/"]
run = ["neither"]
[[stage.out.step]]
name = "sdk"
when = { payload.sdk = "present" }
run = ["sdk"]
"#,
        "",
        &[
            asked(
                "l",
                &[],
                &["args \"neither\""],
                &["args \"either\"", "args \"sdk\"", "arm/"],
            ),
            asked("a", &[], &["args \"either\""], &["args \"neither\""]),
            asked(
                "l",
                &[("fast", "true")],
                &["args \"either\""],
                &["args \"neither\""],
            ),
            asked(
                "l/out",
                &[("fast", "true")],
                &["LK016", "a part of a fast build is of no use"],
                &[],
            ),
        ],
    ),
    row(
        "Q14",
        r#"
[switch.stock]
default = false
about = "the compiler as it is published"
[slot.compiler]
patched = { stage = "patched" }
stock = { stage = "stock", when = { switch.stock = true } }
[stage.patched]
from = { image = "x" }
[[stage.patched.step]]
name = "s"
run = ["patched"]
[stage.stock]
from = { image = "x" }
[[stage.stock.step]]
name = "s"
run = ["stock"]
[stage.out]
from = { slot = "compiler" }
"#,
        "",
        &[
            asked("l", &[], &["args \"patched\""], &["args \"stock\""]),
            asked(
                "l",
                &[("stock", "true")],
                &["args \"stock\""],
                &["args \"patched\""],
            ),
        ],
    ),
    row(
        "Q14",
        r#"
[slot.sdk]
one = { stage = "one" }
two = { stage = "two" }
[stage.one]
from = { image = "x" }
[stage.two]
from = { image = "y" }
[stage.out]
from = { slot = "sdk" }
"#,
        "",
        &[asked("l", &[], &["slot `sdk`"], &["#0"])],
    ),
    row(
        "Q15",
        r#"
[switch.spikes]
default = true
about = "experiments"
tag-part = { false = "-nospikes" }
[switch.stock]
default = false
about = "the compiler as it is published"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
args = ["SPIKES=switch.spikes", "STOCK=switch.stock"]
run = ["make"]
"#,
        "",
        &[
            asked("l", &[], &["tag app:l\n"], &["it has no tag"]),
            asked(
                "l",
                &[("spikes", "false")],
                &["tag app:l-nospikes\n"],
                &["it has no tag"],
            ),
            asked(
                "l",
                &[("stock", "true")],
                &["it has no tag: switch `stock`"],
                &["tag app"],
            ),
        ],
    ),
    row(
        "Q16",
        r#"
[stage.base]
from = { image = "x" }
same-for = ["lane.target"]
[[stage.base.step]]
name = "s"
run = ["base"]
[stage.out]
from = "base"
[[stage.out.step]]
name = "build"
args = ["TARGET=lane.target"]
run = ["make"]
"#,
        "",
        &[
            asked(
                "l",
                &[],
                &["[base] from", "[out@lane.target=amd64] from"],
                &[],
            ),
            asked(
                "a",
                &[],
                &["[base] from", "[out@lane.target=arm64] from"],
                &[],
            ),
        ],
    ),
    row(
        "Q17",
        r#"
[arg.LAUNCHER]
about = "in front of the compiler"
[stage.out]
from = { image = "x" }
env.PATH = { set = ['/bin'] }
[[stage.out.step]]
name = "build"
args = ["LAUNCHER"]
run = ["make"]
"#,
        "",
        &[
            asked("l", &[], &[], &["env LAUNCHER"]),
            asked("l", &[("LAUNCHER", "")], &["env LAUNCHER=\n"], &["LK044"]),
            asked(
                "l",
                &[("LAUNCHER", "sccache")],
                &["env LAUNCHER=sccache\n"],
                &[],
            ),
        ],
    ),
    row(
        "Q17",
        r#"
[arg.LAUNCHER]
about = "in front of the compiler"
[stage.out]
from = { image = "x" }
env.PATH = { set = ['C:\Windows'] }
[[stage.out.step]]
name = "build"
args = ["LAUNCHER"]
run = ["make"]
"#,
        "",
        &[asked(
            "w",
            &[("LAUNCHER", "")],
            &["env LAUNCHER=\n", "LK044"],
            &[],
        )],
    ),
    row(
        "Q18",
        r#"
[fetch.zlib]
url = "https://h.example/zlib.tar"
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
files = [{ fetch = "zlib", at = "/in" }]
run = ["make"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "https://h.example/zlib.tar",
                "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
                "zlib.tar",
            ],
            &[],
        )],
    ),
    row(
        "Q18",
        r#"
[fetch.zlib]
url = "https://h.example/zlib.tar"
mirrors = ["https://other.example/zlib.tar"]
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
files = [{ fetch = "zlib", at = "/in" }]
run = ["make"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &["LK002", "fetch `zlib` has no key `mirrors`"],
            &[],
        )],
    ),
    row("Q19", SEALED, "", &[asked("l", &[], &["lanegate"], &[])]),
    row(
        "Q20",
        r#"
[stage.out]
from = { image = "server" }
env.PATH = { set = ['C:\Windows'] }
[[stage.out.step]]
name = "words"
run = ['tool', 'a "b" c', 'C:\with blank\']
[[stage.out.step]]
name = "line"
command-line = 'msiexec /i "C:\a b.msi" /qn'
[[stage.out.step]]
name = "text"
script = "Get-Item C:\\"
"#,
        "",
        &[asked(
            "w",
            &[],
            &[
                r#"tool \"a \\\"b\\\" c\" \"C:\\with blank\\\\\""#,
                r#"msiexec /i \"C:\\a b.msi\" /qn"#,
                "pwsh",
            ],
            &[],
        )],
    ),
    row(
        "Q21",
        r#"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
files = ["windows/scripts/build.ps1", { from = "windows/scripts/modules/", at = "/bkmnt/modules" }]
run = ["pwsh", "-File", "windows/scripts/build.ps1"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "/lanekit/windows/scripts/build.ps1",
                "mount /lanekit = ",
                "mount /bkmnt/modules = ",
                "cwd /lanekit\n",
            ],
            &[],
        )],
    ),
    row(
        "Q22",
        r#"
[host.LOG]
about = "how much the cache says"
[host.LICENCE]
about = "where the licence server is"
need = "required"
[host.ENDPOINT]
about = "compile cache"
need = "waivable"
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
host = ["LOG", "LICENCE", "ENDPOINT"]
run = ["make"]
"#,
        "",
        &[asked(
            "l",
            &[],
            &[
                "env LOG = secret LOG optional\n",
                "env LICENCE = secret LICENCE\n",
                "env LANEKIT_WITHOUT = secret LANEKIT_WITHOUT optional\n",
                "host   ENDPOINT  -              secret ENDPOINT, waivable",
            ],
            &[],
        )],
    ),
    row(
        "Q23",
        r#"
[stage.out]
from = { image = "server" }
env.PATH = { set = ['C:\Windows'] }
[[stage.out.step]]
name = "build"
env = { Path = 'C:\tool' }
run = ["make"]
"#,
        "",
        &[asked("w", &[], &["LK042", "`Path`", "`PATH`"], &[])],
    ),
    row(
        "Q24",
        r#"
[arg.BUILD_DATE]
about = "when"
stamp = true
[stage.out]
from = { image = "x" }
image.labels."org.opencontainers.image.created" = "${arg.BUILD_DATE}"
[[stage.out.step]]
name = "build"
run = ["make"]
"#,
        "",
        &[
            asked(
                "l",
                &[("BUILD_DATE", "2026-12-01")],
                &["\"2026-12-01\"\n"],
                &["env BUILD_DATE"],
            ),
            asked("l", &[], &[], &["org.opencontainers.image.created"]),
        ],
    ),
    row(
        "Q24",
        r#"
[arg.BUILD_DATE]
about = "when"
stamp = true
[stage.out]
from = { image = "x" }
[[stage.out.step]]
name = "build"
args = ["BUILD_DATE"]
run = ["make"]
"#,
        "",
        &[asked("l", &[], &["LK046"], &[])],
    ),
    row(
        "Q25",
        SEALED,
        "",
        &[
            asked("l", &[], &["tag app:l\n"], &["it has no tag"]),
            asked(
                "l",
                &[("LANEKIT_SKIP_GATE", "arch")],
                &["LK047", "it has no tag: gate `arch`"],
                &["tag app:l\n", "lanegate"],
            ),
        ],
    ),
    row(
        "Q26",
        "[stage.out]\nfrom = {\n  image = \"x\",\n}\n",
        "",
        &[asked("l", &[], &["[out] from image x"], &[])],
    ),
];

/// A product behind a gate that may be skipped.
const SEALED: &str = r#"
[stage.media]
from = { image = "x" }
tree = ["/r"]
[[stage.media.step]]
name = "build"
run = ["make"]
[stage.out]
from = { image = "x" }
add = ["media"]
[gate.arch]
of = "media"
check = "arch"
hold = ["out"]
skippable = true
floor = [{ inspected = { least = 10 } }]
"#;

/// A graph around a row's tables: lanes `l` for amd64 and `a` for arm64, or where it has paths of
/// Windows, `w` that runs there.
fn whole(tables: &str) -> String {
    let mut text = "[graph]\nname = \"t\"\nversions = \"versions.env\"\n".to_owned();
    let lanes: &[(&str, &str, &str)] = if tables.contains(r"C:\") {
        &[("w", "windows/amd64", "windows/amd64")]
    } else {
        &[
            ("l", "linux/amd64", "windows/amd64"),
            ("a", "linux/amd64", "windows/arm64"),
        ]
    };
    for (name, platform, target) in lanes {
        text.push_str(&format!(
            "[lane.{name}]\nplatform = \"{platform}\"\ntarget = \"{target}\"\n\
             output.o = {{ stage = \"out\", tag = \"app:{name}\" }}\n"
        ));
    }
    text + tables
}

/// What comes of a request: the plan, what its config and tag are, what is doubtful, and its LLB;
/// or why it is refused.
fn gives(row: &Row, asked: &Asked) -> String {
    let loaded = load(&whole(row.graph), row.pins);
    let sources = &loaded.sources;
    let made = made(&loaded, asked, lanegate("frontend"));
    made.map_or_else(
        |report| report.render(sources, false),
        |(text, lowered)| {
            let llb = Definition::new(&lowered.result).to_pb();
            format!("{text}{}", ::llb::view::text(&llb))
        },
    )
}

/// The plan of a request in words, and its LLB with `lanegate` from this place.
fn made(loaded: &Loaded, asked: &Asked, lanegate: Output) -> Result<(String, Lowered), Report> {
    let graph = loaded.graph.as_ref().map_err(Clone::clone)?;
    let doubts = lint(graph, &loaded.sources, Some(&Files::new()));
    let (errors, doubts) = doubts.split();
    errors.into_result(())?;
    let selection = stages::plan::select(graph, &request(asked.target, asked.args))?;
    let facts = facts(&selection);
    let plan = stages::plan::plan(&selection, &facts)?;
    let windows = plan.platform.starts_with("windows");
    let (os, caps) = match windows {
        true => ("windows", Caps::all().without(::llb::caps::MERGE)),
        false => ("linux", Caps::all()),
    };
    let worker = Platform::new(os, "amd64");
    let options = ExecOptions::default();
    let lowered = lower_from(loaded, &plan, &facts, &caps, worker, options, lanegate)?;
    let text = told(&selection, &plan, &doubts, &loaded.sources);
    Ok((text, lowered))
}

fn told(selection: &Selection<'_>, plan: &Plan, doubts: &Report, sources: &Sources) -> String {
    let mut text = stages::view::plan_text(selection, plan);
    for gate in &plan.gates {
        text.push_str(&format!("gate {} asks {}\n", gate.name, gate.ask));
    }
    if let PlannedOutput::Product { config, tag, .. } = &plan.output {
        let tag = tag.as_deref().unwrap_or("none");
        let config = format!("{config:#?}");
        let config: Vec<&str> = config.lines().map(str::trim).collect();
        text.push_str(&format!(
            "tag {tag}\n{}\n",
            config.join("\n").replace(",\n", "\n")
        ));
    }
    let mut said = doubts.clone();
    plan.warnings
        .iter()
        .for_each(|found| said.push(found.clone()));
    text + &said.render(sources, false)
}

#[test]
fn every_question_has_the_answer_that_the_page_gives() {
    let mut wrong = String::new();
    for row in ROWS {
        for asked in row.asked {
            let text = gives(row, asked);
            let missing: Vec<_> = asked.has.iter().filter(|s| !text.contains(**s)).collect();
            let there: Vec<_> = asked.lacks.iter().filter(|s| text.contains(**s)).collect();
            if !missing.is_empty() || !there.is_empty() {
                let Asked { target, args, .. } = asked;
                wrong.push_str(&format!(
                    "== {} {target} {args:?}: lacks {missing:?}, has {there:?}\n{text}\n",
                    row.number
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn where_lanegate_comes_from_changes_its_own_vertex_alone() {
    let loaded = load(&whole(SEALED), "");
    let text = |image: &str| {
        let plain = asked("l", &[], &[], &[]);
        let Ok((_, lowered)) = made(&loaded, &plain, lanegate(image)) else {
            panic!("no LLB");
        };
        ::llb::view::text(&Definition::new(&lowered.result).to_pb())
    };
    let (one, other) = (text("frontend"), text("elsewhere"));
    assert_ne!(one, other);
    assert_eq!(one, other.replace("elsewhere", "frontend"));
}

/// The sections of the page: number, question, answer.
fn sections() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    PAGE.split("\n## ").skip(1).map(|section| {
        let (head, answer) = section.split_once('\n').unwrap_or((section, ""));
        let (number, question) = head.split_once(": ").unwrap_or((head, ""));
        (number, question, answer)
    })
}

#[test]
fn the_page_answers_all_26_and_each_has_a_graph() {
    let numbers: Vec<String> = (1..=26).map(|n| format!("Q{n}")).collect();
    let mut rows: Vec<&str> = ROWS.iter().map(|row| row.number).collect();
    rows.dedup();
    assert_eq!(rows, numbers);
    let answered: Vec<&str> = sections().map(|(number, ..)| number).collect();
    assert_eq!(answered, numbers);
    for (number, question, answer) in sections() {
        assert!(question.ends_with('?'), "{number}: {question}");
        assert!(answer.trim().len() > 40, "{number} is not answered");
    }
}

/// What a heading is called in a link.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars();
    kept.filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    })
    .collect()
}

#[test]
fn the_links_of_the_page_lead_somewhere() {
    let mut links = 0;
    for link in PAGE
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
    {
        let (file, wanted) = link.split_once('#').unwrap_or((link, ""));
        let text = match file {
            "lanefile.md" => LANEFILE,
            "gates.md" => GATES,
            _ => panic!("{link}: of another page"),
        };
        let mut headings = text.lines().filter(|line| line.starts_with('#'));
        let found = wanted.is_empty() || headings.any(|heading| anchor(heading) == wanted);
        assert!(found, "{link} leads nowhere");
        links += 1;
    }
    assert!(links > 20, "{links}");
}

#[test]
fn the_rules_that_answers_name_are_those_that_their_graphs_meet() {
    for (number, _, answer) in sections() {
        for rule in answer.split("LK").skip(1).filter_map(|rest| rest.get(..3)) {
            let of = ROWS.iter().filter(|row| row.number == number);
            let mut asked = of.flat_map(|row| row.asked.iter().map(move |asked| (row, asked)));
            let met = asked.any(|(row, asked)| gives(row, asked).contains(&format!("[LK{rule}]")));
            assert!(met, "{number} names LK{rule}");
        }
    }
}
