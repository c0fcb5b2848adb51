//! Every message of the crate is seen somewhere: in a picture, in the guide of rules, or in a test that names it.
//!
//! The messages are taken out of the sources, as the texts that stand where a diagnostic is made.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use ::llb::{Caps, Platform};
use stages::diag::Sources;
use stages::file::Walk;
use stages::lower::{self, Context, ExecOptions, Host};
use stages::plan::{Facts, Plan, check_payloads, select};

use crate::common::{load, lower as lowered, plan, rendered, request};

/// Messages of what cannot be, as far as the crate's own order of work goes, with why: they are there so that a mistake
/// in it would be an error with a place, and no panic.
const NEVER: &[(&str, &str)] = &[
    (
        "lanekit failed without saying why",
        "a failure has a diagnostic",
    ),
    (
        "download `{name}` is not in the plan",
        "a plan has the downloads of its steps",
    ),
    (
        "git source `{name}` was not looked up",
        "a plan of a git source needs its commit",
    ),
    (
        "payload `{name}` was not looked for",
        "a plan of a payload needs its fact",
    ),
    (
        "there is no context to take `{path}` from",
        "who reads the context names it",
    ),
    (
        "there is no context to take `{from}` from",
        "who reads the context names it",
    ),
    (
        "stage `{}` is empty: nothing makes its tree",
        "a tree without a step is refused before",
    ),
    (
        "a Windows lane needs a base image",
        "a stage on Windows starts from an image",
    ),
    (
        "image `{reference}` was not resolved",
        "who plans resolves all images first",
    ),
    (
        "download `{name}`: {error}",
        "URL and hash are looked at before",
    ),
    (
        "git source `{name}`: {error}",
        "its parts are looked at before",
    ),
    (
        "the hash of download `{name}` is none",
        "pins of downloads are judged in the file, and given ones as hashes",
    ),
    ("nothing is said of a gate", "each gate has its own"),
];

/// One text that stands where a diagnostic is made, with its place.
#[derive(Debug)]
struct Message {
    place: String,
    text: String,
}

/// The messages of a file: the first text behind `new(rule, `, or that of the `let` before it which names it.
fn messages(name: &str, source: &str) -> Vec<Message> {
    let mut found = Vec::new();
    let code = source
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or(source);
    for made in ["Diagnostic::new(", "Failed::new("] {
        for (at, _) in code.match_indices(made) {
            let behind = &code[at + made.len()..];
            let Some((_, argument)) = behind.split_once(',') else {
                continue;
            };
            let argument = argument.trim_start();
            let argument = argument
                .strip_prefix("format!(")
                .unwrap_or(argument)
                .trim_start();
            let text = match argument.strip_prefix('"') {
                Some(text) => literal(text),
                None => {
                    let name: String = argument
                        .chars()
                        .take_while(char::is_ascii_lowercase)
                        .collect();
                    let before = code[..at].rfind(&format!("let {name} = "));
                    let text = before.and_then(|from| code[from..at].split_once('"'));
                    text.map(|(_, text)| literal(text)).unwrap_or_default()
                }
            };
            if !text.is_empty() {
                let line = code[..at].lines().count();
                let place = format!("{name}:{line}");
                found.push(Message { place, text });
            }
        }
    }
    found
}

/// A text up to its closing quote, as it is written in the code but for escapes of quotes.
fn literal(behind: &str) -> String {
    let mut text = String::new();
    let mut chars = behind.chars();
    while let Some(char) = chars.next() {
        match char {
            '"' => break,
            '\\' => text.extend(chars.next()),
            char => text.push(char),
        }
    }
    text
}

/// What of a message is the same whatever it is about.
fn fixed(message: &str) -> Vec<String> {
    let plain = message.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let mut parts = vec![String::new()];
    let mut inside = false;
    for char in plain.chars() {
        match (char, parts.last_mut()) {
            ('{', _) => inside = true,
            ('}', _) => {
                inside = false;
                parts.push(String::new());
            }
            (char, Some(last)) if !inside => last.push(match char {
                '\u{1}' => '{',
                '\u{2}' => '}',
                char => char,
            }),
            _ => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether a line has the parts of a message, in their order.
fn says(line: &str, parts: &[String]) -> bool {
    let mut rest = line;
    parts
        .iter()
        .all(|part| match rest.split_once(part.as_str()) {
            Some((_, behind)) => {
                rest = behind;
                true
            }
            None => false,
        })
}

/// The texts of all files below a directory whose names end so, by path.
fn texts(below: &Path, end: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![below.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                let text = fs::read_to_string(&path).expect("text");
                found.push((
                    path.strip_prefix(below)
                        .expect("below")
                        .display()
                        .to_string(),
                    text,
                ));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_message_is_seen_in_a_picture_or_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sources = texts(&root.join("src"), ".rs");
    let mut seen: Vec<String> = Vec::new();
    for (path, end) in [
        ("tests", ".snap"),
        ("tests", ".rs"),
        ("../docs", "rules.md"),
        ("../frontend/tests", ".snap"),
        ("../frontend/tests", ".rs"),
        ("../tests/tests/engine", ".rs"),
    ] {
        let files = texts(&root.join(path), end).into_iter();
        // This file names messages without showing them.
        let files = files.filter(|(name, _)| !name.ends_with("messages.rs"));
        seen.extend(files.map(|(_, text)| text));
    }
    let tests = sources.iter().filter_map(|(_, text)| {
        let (_, tests) = text.split_once("#[cfg(test)]\nmod tests")?;
        Some(tests.to_owned())
    });
    seen.extend(tests);
    let lines: Vec<&str> = seen.iter().flat_map(|text| text.lines()).collect();
    let (mut count, mut unseen) = (0, String::new());
    for message in sources.iter().flat_map(|(name, text)| messages(name, text)) {
        count += 1;
        let parts = fixed(&message.text);
        let never = NEVER
            .iter()
            .any(|(begin, _)| message.text.starts_with(begin));
        if !never && !lines.iter().any(|line| says(line, &parts)) {
            unseen.push_str(&format!("{}: {}\n", message.place, message.text));
        }
    }
    assert!(count > 200, "{count} messages were found");
    assert!(unseen.is_empty(), "no test shows these messages:\n{unseen}");
}

#[test]
fn messages_are_found_as_they_are_written() {
    let source = r#"
        report.push(Diagnostic::new(rule::VALUE, format!("`{}` is \"no\" {{x}}", name)));
        let message = match x { _ => "said before" };
        Diagnostic::new(rule::PATH, message)
    "#;
    let found: Vec<String> = messages("x.rs", source)
        .into_iter()
        .map(|m| m.text)
        .collect();
    assert_eq!(found, ["`{}` is \"no\" {{x}}", "said before"]);
    assert_eq!(fixed(&found[0]), ["`", "` is \"no\" {x}"]);
    assert!(says("error: `a` is \"no\" {x} here", &fixed(&found[0])));
    assert!(!says(
        "` is \"no\" {x} `",
        &["` is".into(), "`".into(), "{x}".into()]
    ));
}

/// A graph that is right, of which a case changes something.
const GOOD: &str = r#"[graph]
name = "t"
versions = "versions.env"
[lane.l]
platform = "linux/amd64"
output.o = { stage = "s" }
[stage.s]
from = { image = "x" }
tree = ["/t"]
[[stage.s.step]]
name = "a"
run = ["true"]
"#;

/// What is changed, what is put behind, the pins, and what is seen then.
struct Case {
    from: &'static str,
    to: &'static str,
    more: &'static str,
    pins: &'static str,
    args: &'static [(&'static str, &'static str)],
    target: &'static str,
    windows: bool,
}

const PLAIN: Case = Case {
    from: "",
    to: "",
    more: "",
    pins: "",
    args: &[],
    target: "l",
    windows: false,
};

const fn edit(from: &'static str, to: &'static str) -> Case {
    Case { from, to, ..PLAIN }
}

const fn more(more: &'static str) -> Case {
    Case { more, ..PLAIN }
}

/// A case for each message that nothing else shows.
#[rustfmt::skip]
const CASES: &[Case] = &[
    edit("run = [\"true\"]", "copy = { stage = \"x\", git = \"y\", to = \"/z\" }"),
    edit("[stage.s]", "[gate.g]\nof = \"s\"\ncheck = \"arch\"\nempty-ok = \"x\"\nallow = [{ path = \"**\", why = \" \" }]\n[stage.s]"),
    edit("[stage.s]", "[arg.\"a-b\"]\nabout = \"x\"\n[arg.A]\nabout = \"x\"\ntype = \"int\"\nchoices = [\"1\"]\n[arg.B]\nabout = \"x\"\nchoices = []\n[stage.s]"),
    edit("[stage.s]", "[slot.e]\n[slot.x]\na = { stage = \"s\", same-as = \"s\" }\n[stage.s]"),
    edit("[stage.s]", "[slot.e]\n[stage.s]"),
    edit("from = { image = \"x\" }", "from = { image = \"x\", slot = \"y\" }"),
    edit("run = [\"true\"]", "run = [\"true\"]\nshell = [\"sh\"]"),
    edit("run = [\"true\"]", "script = \"x\"\nshell = []"),
    edit("run = [\"true\"]", "run = []"),
    edit("run = [\"true\"]", ""),
    edit("run = [\"true\"]", "run = [\"true\"]\nuses = [{ stage = \"s\", at = \"/x\" }]"),
    Case { pins: "A B=1\nC=1\u{0}\nD=1\nD=2\n", ..PLAIN },
    edit("run = [\"true\"]", "run = [\"a\\u0000\"]"),
    edit("name = \"t\"", "name = \"t\"\nlayer-budget = -1"),
    Case { from: "[lane.l]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"s\" }\n", ..PLAIN },
    edit("[stage.s]", "[arg.B]\nabout = \"x\"\nchoices = []\n[stage.s]"),
    edit("linux/amd64", "linux"),
    more("[stage.r]\nfrom = { image = \"x\" }\n[stage.q]\nmerge = [\"s\", \"r\"]\n[lane.m]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"q\" }\n"),
    edit("from = { image = \"x\" }\ntree = [\"/t\"]\n[[stage.s.step]]\nname = \"a\"\nrun = [\"true\"]\n", "from = \"scratch\"\ntree = [\"/t\"]\n"),
    more("[[stage.s.step]]\nname = \"a\"\nrun = [\"true\"]\n"),
    edit("[[stage", "[arg.A]\nabout = \"x\"\n[[stage").plus("args = [\"A\"]\nhost = [\"A\"]\n"),
    edit("[\"true\"]", "[\"${arch.nothing}\"]"),
    edit("[\"true\"]", "[\"${GREETING}\"]").plus("env = { X = \"${GREETING}\", Y = \"${what.x}\" }\n"),
    edit("[stage.s]", "[arg.LANEKIT_X]\nabout = \"x\"\n[stage.s]"),
    edit("[stage.s]", "[fetch.f]\nurl = \"https://x/${env.A}\"\nsha256 = \"H\"\n[stage.s]").plus("files = [{ fetch = \"f\" }]\n").with("H=1\n"),
    edit("tree = [\"/t\"]\n", "").plus("[gate.g]\nof = \"s\"\ncheck = \"arch\"\nfloor = [{ inspected = { least = 1 } }]\n"),
    edit("[\"true\"]", "[\"true\"]\nvia = \"entrypoint\""),
    more("[gate.g]\nof = \"s\"\ncheck = \"arch\"\nempty-ok = \"x\"\nfloor = [{ inspected = { least = 1 } }]\n"),
    more("[gate.g]\nof = \"s\"\ncheck = \"arch\"\nfloor = [{ inspected = { least = 1 } }, { inspected = { least = 2 } }]\n"),
    edit("[stage.s]", "[pin.M]\nfrom = \"V|parts:2\"\n[stage.s]").plus("args = [\"M\"]\n").with("V=1.2\n").asks(&[("LANEKIT_PIN_V", "1")]),
    more("[stage.m]\nmerge = [{ stage = \"s\", when = { lane.name = \"k\" } }]\n[lane.k]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"m\" }\n[lane.m]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"m\" }\n").at("m"),
    edit("from = { image = \"x\" }\ntree = [\"/t\"]\n[[stage.s.step]]\nname = \"a\"\nrun = [\"true\"]\n", "from = \"scratch\"\n"),
    edit("from = { image = \"x\" }\ntree = [\"/t\"]\n[[stage.s.step]]\nname = \"a\"\nrun = [\"true\"]\n", "from = \"scratch\"\n[[stage.s.step]]\nname = \"a\"\nwrite = { path = \"/x\", text = \"x\", owner = \"app\" }\n"),
    more("[gate.g]\nof = \"s\"\ncheck = \"leak\"\nask = { host = [\"NONE\"] }\nfloor = [{ inspected = { least = 1 } }]\n"),
    more("[stage.r]\nwhen = { lane.name = \"k\" }\nmerge = [\"s\"]\n[stage.m]\nmerge = [\"s\", { stage = \"r\", else = \"absent-marker\", why = \"x\" }]\n[lane.k]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"m\" }\n[lane.m]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"m\" }\n").at("m"),
    edit("stage = \"s\" }", "stage = \"s\", root = \"/t\", add = [{ from = \"x\", at = \"../y\" }] }"),
    more("[lane.m]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"s\" }\n").at(""),
    edit("output.o = { stage = \"s\" }", "output.o = { stage = \"s\" }\noutput.p = { stage = \"s\" }"),
    edit("image = \"x\"", "image = \"x:${env.A}\""),
    more("[[stage.s.step]]\nname = \"b\"\nwhen = { lane.name = \"k\" }\nrun = [\"true\"]\n[lane.k]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"s\" }\n").at("l/s/b"),
    edit("[\"true\"]", "[\"true\"]\nargs = [\"A=arch.msvc-lib\"]"),
    PLAIN.asks(&[("LANEKIT_WITHOUT", "X")]),
    edit("[\"/t\"]", "[\"/t*\"]").plus("[stage.u]\nfrom = { image = \"x\" }\n[[stage.u.step]]\nname = \"a\"\nuses = [\"s\"]\nrun = [\"true\"]\n[lane.m]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"u\" }\n").at("m"),
    edit("linux/amd64", "windows/amd64").windows("ssh = true\n"),
    edit("linux/amd64", "windows/amd64").windows("[[stage.s.step]]\nname = \"b\"\nlink = { path = 'C:\\t\\x', to = 'y' }\n"),
    edit("linux/amd64", "windows/amd64").windows("host = [\"H\"]\nargs = [\"A\"]\n[host.H]\nabout = \"x\"\n[arg.A]\nabout = \"x\"\ndefault = \"x\"\n[[stage.s.step]]\nname = \"b\"\nhost = [\"H\"]\nrun = [\"a\\nb\"]\n"),
    edit("linux/amd64", "windows/amd64").windows("[stage.r]\nfrom = { image = \"x\" }\nenv.PATH = { set = ['C:\\Windows'] }\ntree = ['C:\\u']\n[[stage.r.step]]\nname = \"a\"\nrun = [\"true\"]\n[stage.m]\nmerge = [{ stage = \"s\", from = 'C:\\t', to = 'C:\\m\\t' }, { stage = \"r\", from = 'C:\\u', to = 'C:\\m\\u' }]\n[stage.o]\nfrom = { image = \"x\" }\n[[stage.o.step]]\nname = \"c\"\ncopy = { stage = \"m\", from = 'C:\\m', to = 'C:\\n' }\n[lane.m]\nplatform = \"windows/amd64\"\noutput.o = { stage = \"o\" }\n").at("m"),
];

impl Case {
    const fn plus(self, more: &'static str) -> Self {
        Self { more, ..self }
    }

    const fn with(self, pins: &'static str) -> Self {
        Self { pins, ..self }
    }

    const fn asks(self, args: &'static [(&'static str, &'static str)]) -> Self {
        Self { args, ..self }
    }

    const fn at(self, target: &'static str) -> Self {
        Self { target, ..self }
    }

    /// Its stage has a tree and a PATH as Windows has them.
    const fn windows(self, more: &'static str) -> Self {
        Self {
            windows: true,
            more,
            ..self
        }
    }

    fn said(&self) -> String {
        assert!(GOOD.contains(self.from), "changes nothing: {}", self.from);
        let mut text = GOOD.replacen(self.from, self.to, 1) + self.more;
        if self.windows {
            let windows = "tree = ['C:\\t']\nenv.PATH = { set = ['C:\\Windows'] }";
            text = text.replace("tree = [\"/t\"]", windows);
        }
        let loaded = load(&text, self.pins);
        let Ok(graph) = &loaded.graph else {
            return rendered(&loaded);
        };
        let request = request(self.target, self.args);
        let looked_up = select(graph, &request).and_then(|selection| selection.images());
        let made = looked_up.and_then(|_| lowered(&loaded, &request, &Caps::all()));
        match made {
            Ok(_) => format!("nothing is wrong:\n{text}"),
            Err(report) => report.render(&loaded.sources, false),
        }
    }
}

#[test]
fn what_else_can_be_wrong() {
    let all: Vec<String> = CASES.iter().map(Case::said).collect();
    insta::assert_snapshot!(all.join("\n---\n\n"));
}

/// What no lane file alone brings about: an old engine, one without our programs, a file that cannot be read.
#[test]
fn what_engines_and_files_do() {
    let recorded = "[stage.r]\nfrom = { image = \"x\" }\n[[stage.r.step]]\nname = \"a\"\nrun = [\"true\"]\nrecord = true\n\
                    [gate.g]\nof = \"r\"\nfor = \"s\"\ncheck = \"exec\"\nfloor = [{ passed = { least = 1 } }]\n\
                    [gate.h]\nof = \"s\"\ncheck = \"arch\"\nfloor = [{ inspected = { least = 1 } }]\n\
                    [payload.p]\npath = \"p.zip\"\nempty-ok = \"x\"\n[[stage.s.step]]\nname = \"p\"\nfiles = [{ payload = \"p\" }]\nrun = [\"true\"]\n";
    let loaded = load(&format!("{GOOD}{recorded}"), "");
    let graph = loaded
        .graph
        .as_ref()
        .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
    let request = request("l", &[]);
    let lowered = |plan: &Plan, facts: &Facts, lanegate, caps: &Caps| {
        let host = Host {
            caps,
            context: Context::Session("session".into()),
            payloads: &BTreeMap::new(),
            lanegate,
            worker: Platform::new("linux", "amd64"),
            no_cache: &|_| false,
            exec: ExecOptions::default(),
        };
        match lower::lower(plan, facts, &loaded.sources, &host) {
            Ok(_) => "nothing is wrong\n".to_owned(),
            Err(report) => report.render(&loaded.sources, false),
        }
    };
    let (mut plan, facts) = plan(graph, &request).expect("a plan");
    let mut said = vec![lowered(&plan, &facts, None, &Caps::all())];
    plan.stages.retain(|stage| stage.name == "s");
    plan.gates.retain(|gate| gate.name == "h");
    for gate in &mut plan.gates {
        gate.of = 0;
    }
    if let stages::plan::PlannedOutput::Product { stage, .. } = &mut plan.output {
        *stage = 0;
    }
    said.push(lowered(&plan, &facts, None, &Caps::all()));
    plan.gates.clear();
    said.push(lowered(
        &plan,
        &facts,
        None,
        &Caps::all().without(::llb::caps::FILE_BASE),
    ));
    let unread = check_payloads(graph, |_, _| Err("permission denied".to_owned()));
    said.push(unread.render(&loaded.sources, false));
    let mut sources = Sources::default();
    let id = sources.add(
        "lanes.toml",
        GOOD.replacen("\n", "\ninclude = [\"a//b.toml\", \"**/x.toml\"]\n", 1),
    );
    let document = stages::file::parse(&sources, id).expect("a document");
    if let Err(report) = Walk::new(&document.graph) {
        said.push(report.render(&sources, false));
    }
    insta::assert_snapshot!(said.join("\n---\n\n"));
}
