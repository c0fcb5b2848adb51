//! What the lints say, what they let pass, and what allows them.

use stages::file::Files;
use stages::graph::lint::{directories, lint, texts};

use crate::common::{load, plan, rendered, request};

/// A graph with one stage whose step has these keys, and further tables.
fn graph(step: &str, tables: &str) -> String {
    format!(
        "[graph]\nname = \"t\"\nversions = \"versions.env\"\n\
         [lane.l]\nplatform = \"linux/amd64\"\noutput.o = {{ stage = \"s\" }}\n\
         [stage.s]\nfrom = {{ image = \"x\" }}\n[[stage.s.step]]\nname = \"build\"\n{step}\n{tables}"
    )
}

/// What is doubtful, with texts of the context.
fn found(text: &str, pins: &str, context: &[(&str, &str)]) -> String {
    let mut loaded = load(text, pins);
    let mut files = Files::new();
    for (path, text) in context {
        let id = loaded.sources.add(*path, *text);
        files.insert((*path).to_owned(), id);
    }
    match &loaded.graph {
        Err(_) => rendered(&loaded),
        Ok(graph) => lint(graph, &loaded.sources, Some(&files)).render(&loaded.sources, false),
    }
}

#[test]
fn hashes_have_their_form() {
    let step = "run = [\"true\"]\nargs = [\"A_SHA256\", \"B_COMMIT\", \"C_DIGEST\", \"D_SHA512\", \"E_SHA256\", \"F_VERSION\"]";
    let good = format!(
        "A_SHA256={}\nB_COMMIT={}\nC_DIGEST=sha256:{}\nD_SHA512={}\nE_SHA256={}\nF_VERSION=1\n",
        "a".repeat(64),
        "b".repeat(40),
        "c".repeat(64),
        "d".repeat(128),
        "E".repeat(64),
    );
    assert_eq!(found(&graph(step, ""), &good, &[]), "");
    let bad =
        "A_SHA256=abc\nB_COMMIT=v1.2\nC_DIGEST=latest\nD_SHA512=\nE_SHA256=md5:x\nF_VERSION=\n";
    insta::assert_snapshot!(found(&graph(step, ""), bad, &[]));
}

#[test]
fn pins_go_together() {
    let step = "run = [\"true\"]\nargs = [\"A\", \"B\", \"C_1\", \"C_2\"]";
    let rules = r#"
[pin-rule.equal]
equal = ["A", "B"]
why = "one interpreter"
[pin-rule.lead]
lead = "A"
for = "1"
pins = ["C_*"]
why = "built against it"
[pin-rule.held]
hold = { B = "1" }
why = "2 does not load"
"#;
    let text = graph(step, rules);
    assert_eq!(found(&text, "A=1\nB=1\nC_1=x\nC_2=y\n", &[]), "");
    insta::assert_snapshot!(found(&text, "A=2\nB=3\nC_1=x\nC_2=y\n", &[]));
    let unknown = text
        .replace("\"C_*\"", "\"D_*\"")
        .replace("{ B =", "{ BB =");
    insta::assert_snapshot!(found(&unknown, "A=1\nB=1\nC_1=x\nC_2=y\n", &[]));
    let nothing = graph(step, "[pin-rule.x]\nlead = \"A\"\nwhy = \"\"\n");
    insta::assert_snapshot!(found(&nothing, "A=1\nB=1\nC_1=x\nC_2=y\n", &[]));
}

#[test]
fn host_settings_and_secrets_are_found_wherever_they_stand() {
    let step = "env = { CACHE = \"x\", DB_PASSWORD = \"y\" }\nargs = [\"CACHE2=N\"]\n\
                run = [\"curl\", \"--token=abc\", \"--password\", \"hunter2\", \"--password-file\", \"/run/secrets/x\", \"${arg.API_KEY}\"]";
    let tables = "[host.CACHE]\nabout = \"c\"\n[host.CACHE2]\nabout = \"c\"\n[arg.N]\nabout = \"n\"\n[arg.API_KEY]\nabout = \"k\"\ndefault = \"\"\n\
                  [kit.k]\nhost = [\"CACHE\", \"CACHE2\"]\n[[stage.s.step]]\nname = \"more\"\nkits = [\"k\"]\nrun = [\"true\"]\n";
    insta::assert_snapshot!(found(&graph(step, tables), "", &[]));
}

#[test]
fn options_that_name_no_secret_are_let_pass() {
    let step = "env = { TOKENIZERS_PARALLELISM = \"1\", CACHE_KEY = \"x\" }\n\
                run = [\"x\", \"--token\", \"-v\", \"--password-file=/x\", \"--secret=/run/secrets/y\", \"--token=$TOKEN\"]";
    assert_eq!(found(&graph(step, ""), "", &[]), "");
}

const ENTRY: &str = "\
Import-Module (Join-Path $PSScriptRoot '..\\modules\\Common.psm1')
. \"$PSScriptRoot\\helper.ps1\"
Import-Module WindowsTools
";

#[test]
fn scripts_in_power_shell_are_followed() {
    let step = r#"files = ["build/Build.ps1", "build/helper.ps1", "modules/Common.psm1", "modules/Old.psm1"]
run = ["pwsh", "-File", 'build\Build.ps1']"#;
    let context = [
        ("build/Build.ps1", ENTRY),
        ("build/helper.ps1", "using module ..\\modules\\Deep.psm1\n"),
        ("modules/Common.psm1", "function x {}\n"),
        ("modules/Old.psm1", ""),
    ];
    insta::assert_snapshot!(found(&graph(step, ""), "", &context));
}

#[test]
fn scripts_that_search_or_look_for_themselves_are_not_judged() {
    let step = "files = [\"build.sh\", \"lib.sh\", \"more.sh\"]\nrun = [\"sh\", \"./build.sh\"]";
    for text in [
        "for f in *.sh; do . \"./$f\"; done\n",
        "eval \"$x\"\n",
        "cat lib.sh more.sh\n",
        "[ -f own.sh ] && true\n. own.sh\n. lib.sh; sh more.sh\n",
        "echo 1 > made.sh\n. made.sh\n. /etc/profile\n. \"$HOME/x.sh\"\n. lib.sh # more.sh\n",
    ] {
        let context = [("build.sh", text), ("lib.sh", ""), ("more.sh", "")];
        assert_eq!(found(&graph(step, ""), "", &context), "", "{text}");
    }
    // Without its text nothing is said of a script.
    assert_eq!(found(&graph(step, ""), "", &[]), "");
}

#[test]
fn the_texts_that_are_wanted_are_those_of_steps_with_an_entry_script() {
    let step = "files = [\"lib/\", { from = \"a/b.sh\", at = \"/x\" }, \"c.sh\", \"data.txt\"]\nrun = [\"sh\", \"lib/run\", \"y\"]";
    let loaded = load(&graph(step, ""), "");
    let wanted = texts(loaded.graph.as_ref().expect("a graph"));
    let wanted: Vec<&str> = wanted.iter().map(String::as_str).collect();
    assert_eq!(wanted, ["a/b.sh", "c.sh", "lib/run"]);
    let none = load(&graph("files = [\"c.sh\"]\nrun = [\"make\"]", ""), "");
    assert!(texts(none.graph.as_ref().expect("a graph")).is_empty());
}

#[test]
fn conditions_hold_under_some_switches() {
    let switches =
        "[switch.a]\ndefault = false\nabout = \"a\"\n[switch.b]\ndefault = false\nabout = \"b\"\n";
    let step = "run = [\"true\"]\nwhen = { switch.a = true, switch.b = true }";
    assert_eq!(
        found(&graph(step, switches), "", &[]),
        "",
        "both may be turned"
    );
    let step = "run = [\"true\"]\nwhen = { switch.a = true, not = { switch.a = true } }";
    let kit = "[kit.k]\nwhen = { lane.name = \"other\" }\nenv = { X = \"1\" }\n[[stage.s.step]]\nname = \"more\"\nkits = [\"k\"]\nrun = [\"true\"]\n";
    let one = "[switch.a]\ndefault = false\nabout = \"a\"\n";
    insta::assert_snapshot!(found(&graph(step, &format!("{one}{kit}")), "", &[]));
}

#[test]
fn a_lint_is_allowed_at_its_place_alone() {
    let step = |lint: &str| format!("env = {{ NPM_TOKEN = \"public\" }}\nrun = [\"true\"]\n{lint}");
    let allow = "lint = [{ allow = \"LK068\", why = \"everybody knows it\" }]";
    assert_eq!(found(&graph(&step(allow), ""), "", &[]), "");
    let named =
        "lint = [{ allow = \"LK068\", name = \"NPM_TOKEN\", why = \"everybody knows it\" }]";
    assert_eq!(found(&graph(&step(named), ""), "", &[]), "");
    // The stage has the step's places too, the lane has not.
    let stage = graph(&step(""), "").replace("[stage.s]\n", &format!("[stage.s]\n{allow}\n"));
    assert_eq!(found(&stage, "", &[]), "");
    let lane = graph(&step(""), "").replace("[lane.l]\n", &format!("[lane.l]\n{allow}\n"));
    insta::assert_snapshot!(found(&lane, "", &[]));
    let other = named.replace("NPM_TOKEN", "OTHER_TOKEN");
    assert!(found(&graph(&step(&other), ""), "", &[]).contains("LK060"));
}

#[test]
fn entries_that_allow_nothing_or_give_no_reason_are_errors() {
    let step = "run = [\"true\"]\nlint = [{ allow = \"LK008\", why = \"x\" }, { allow = \"LK001\", why = \"x\" }, { allow = \"LK068\", why = \" \" }]";
    insta::assert_snapshot!(found(&graph(step, ""), "", &[]));
    let step = "run = [\"true\"]\nlint = [{ allow = \"LK008\", why = \"x\" }, { allow = \"LK001\", why = \"x\" }]";
    insta::assert_snapshot!(found(&graph(step, ""), "", &[]));
    let whole = graph("run = [\"true\"]", "").replace(
        "[graph]\n",
        "[graph]\nlint = [{ allow = \"LK061\", why = \"x\" }]\n",
    );
    insta::assert_snapshot!(found(&whole, "", &[]));
}

#[test]
fn a_pin_is_allowed_by_name() {
    let step = "run = [\"true\"]\nargs = [\"A_SHA256\", \"B_SHA256\"]";
    let text = graph(step, "").replace(
        "[graph]\n",
        "[graph]\nlint = [{ allow = \"LK062\", name = \"A_SHA256\", why = \"each user has another\" }]\n",
    );
    let said = found(&text, "A_SHA256=\nB_SHA256=\n", &[]);
    assert!(
        said.contains("`B_SHA256`") && !said.contains("pin `A_SHA256`"),
        "{said}"
    );
}

/// A pin for one run is held against the same rule as one in the file, and allowed where that is.
#[test]
fn a_hash_for_one_run_has_its_form_too() {
    let step = "run = [\"true\"]\nargs = [\"A_SHA256\", \"B_SHA256\"]";
    let allowed = "[graph]\npins = [\"*\", \"!C_*\"]\nlint = [{ allow = \"LK061\", name = \"B_SHA256\", why = \"a name\" }]\n";
    let text = graph(step, "").replace("[graph]\n", allowed);
    let loaded = load(
        &text,
        &format!("A_SHA256={}\nB_SHA256=b\nC_SHA256=c\n", "a".repeat(64)),
    );
    let given = |name: &str, value: &str| {
        let graph = loaded.graph.as_ref().expect("a graph");
        let asked = request("l", &[(name, value)]);
        let planned = plan(graph, &asked).map(|_| String::new());
        planned.unwrap_or_else(|report| report.render(&loaded.sources, false))
    };
    assert_eq!(given("LANEKIT_PIN_A_SHA256", &"c".repeat(64)), "");
    assert_eq!(given("LANEKIT_PIN_A_SHA256", ""), "");
    assert_eq!(given("LANEKIT_PIN_B_SHA256", "another"), "");
    assert_eq!(given("LANEKIT_PIN_C_SHA256", "out of scope"), "");
    insta::assert_snapshot!(given("LANEKIT_PIN_A_SHA256", "2.6.1"));
}

#[test]
fn patterns_of_the_context_match_something() {
    let only = |list: &str| {
        let step = format!("copy = {{ from = \"conf/\", to = \"/etc/app\", only = [{list}] }}");
        let arg = "[arg.LANGUAGE]\nabout = \"of texts\"\ndefault = \"de\"\n";
        graph(&step, arg)
    };
    let found = |text: &str, below: Option<&[&str]>| {
        let loaded = load(text, "");
        let mut files = Files::new();
        if let Some(below) = below {
            let below = below.iter().map(|path| (*path).to_owned());
            files.list("conf/".to_owned(), below.collect());
        }
        let graph = loaded
            .graph
            .as_ref()
            .unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
        let wanted = directories(graph);
        assert_eq!(wanted.iter().collect::<Vec<_>>(), ["conf/"]);
        lint(graph, &loaded.sources, Some(&files)).render(&loaded.sources, false)
    };
    let names = [
        "app.conf",
        "locale",
        "locale/de",
        "locale/de/app.mo",
        "README.md",
    ];
    let value = "\"locale/${arg.LANGUAGE}x\"";
    for good in [
        "*.conf",
        "locale",
        "locale/**",
        "**/*.mo",
        "*/de",
        "app.?onf",
    ] {
        let text = only(&format!("\"{good}\", {value}"));
        assert_eq!(found(&text, Some(&names)), "", "{good}");
    }
    for bad in ["*.cfg", "locale/*.mo", "de", "**/*.mo/x", "readme.md"] {
        let text = only(&format!("\"{bad}\", \"*.conf\", {value}"));
        let said = found(&text, Some(&names));
        assert!(
            said.contains(&format!("`{bad}` matches nothing in `conf/`")),
            "{bad}: {said}"
        );
        assert_eq!(said.matches("LK073").count(), 1, "{said}");
        assert_eq!(found(&text, None), "", "nobody looked");
        let allowed = text.replacen(
            "copy = {",
            "lint = [{ allow = \"LK073\", why = \"made before the build\" }]\ncopy = {",
            1,
        );
        assert_eq!(found(&allowed, Some(&names)), "", "{bad}");
    }
}

#[test]
fn what_is_listed_and_not_there_is_told_wherever_it_is_listed() {
    let lanes = r#"
[graph]
name = "t"
[kit.k]
files = [{ from = "kit.txt", when = { lane.name = "l" } }]
[git.g]
url = "https://example.org/g.git"
[lane.l]
platform = "linux/amd64"
output.o = { stage = "s", root = "/r", add = ["beside.txt"] }
[stage.s]
from = { image = "x" }
tree = ["/r"]
[[stage.s.step]]
name = "copy"
copy = { from = "copied/", to = "/r" }
[[stage.s.step]]
name = "run"
kits = ["k"]
files = ["step.txt", { git = "g", from = "git.txt", at = "/src" }]
run = ["true"]
"#;
    let found = |lanes: &str, lacks: &[&str]| {
        let loaded = load(lanes, "");
        let graph = loaded.graph.as_ref().expect("a graph");
        let mut files = Files::new();
        lacks.iter().for_each(|path| files.lack((*path).to_owned()));
        lint(graph, &loaded.sources, Some(&files)).render(&loaded.sources, false)
    };
    let graph = load(lanes, "").graph.expect("a graph");
    let listed = stages::graph::lint::listed(&graph);
    let all = ["beside.txt", "copied/", "kit.txt", "step.txt"];
    assert_eq!(listed.iter().map(String::as_str).collect::<Vec<_>>(), all);
    assert_eq!(found(lanes, &[]), "");
    for path in all {
        let said = found(lanes, &[path]);
        assert!(
            said.contains(&format!("`{path}` is not in the context")),
            "{said}"
        );
        assert_eq!(said.matches("LK074").count(), 1, "{said}");
    }
    let allow = "lint = [{ allow = \"LK074\", why = \"made before\" }]\n";
    let allowed = lanes.replace("name = \"run\"\n", &format!("name = \"run\"\n{allow}"));
    assert_eq!(found(&allowed, &["step.txt"]), "");
    assert!(
        found(&allowed, &["kit.txt"]).contains("LK074"),
        "its place is the kit"
    );
    let said = found(&allowed, &[]);
    assert!(
        said.contains("LK060"),
        "an entry that allows nothing: {said}"
    );
}
