//! Files that are nearly right: empty texts, lists of nothing, one thing twice, half a `${`. Each
//! gets an error at its place.

use stages::diag::{Report, Sources};
use stages::graph::lint::lint;
use stages::plan::rehearse;

use crate::common::{load, rendered};

/// A graph around some tables, with a lane that builds `out`.
pub(crate) fn graph(tables: &str) -> String {
    format!(
        "[graph]\nname = \"t\"\n[lane.l]\nplatform = \"linux/amd64\"\noutput.o = {{ stage = \"out\" }}\n{tables}"
    )
}

/// A step of `out` with these keys.
pub(crate) fn step(keys: &str) -> String {
    graph(&format!(
        "[stage.out]\nfrom = {{ image = \"x\" }}\n[[stage.out.step]]\nname = \"s\"\n{keys}\n"
    ))
}

/// Everything that is wrong with a file, as `lanekit check` says it.
pub(crate) fn wrong(text: &str) -> String {
    let loaded = load(text, "");
    let Ok(graph) = &loaded.graph else {
        return rendered(&loaded);
    };
    shown(lint_and_plan(graph, &loaded.sources), &loaded.sources)
}

fn lint_and_plan(graph: &stages::graph::Graph, sources: &Sources) -> Report {
    let mut report = lint(graph, sources, None);
    report.extend(rehearse(graph, |_| Ok(())));
    report
}

fn shown(report: Report, sources: &Sources) -> String {
    match report.is_empty() {
        true => "nothing is wrong\n".to_owned(),
        false => report.render(sources, false),
    }
}

#[test]
fn each_gets_one_error_at_its_place() {
    let condition = |when: &str| step(&format!("run = [\"a\"]\nwhen = {when}"));
    let image = |image: &str| {
        graph(&format!(
            "[stage.out]\nfrom = {{ image = {image} }}\n[arg.TAG]\nabout = \"a\"\n[stage.b]\nfrom = {{ image = \"b:${{arg.TAG}}\" }}\n[lane.k]\nplatform = \"linux/amd64\"\noutput.o = {{ stage = \"b\" }}\n"
        ))
    };
    let tag = |tag: &str| {
        graph("[stage.out]\nfrom = { image = \"x\" }\n")
            .replace("\"out\" }", &format!("\"out\", tag = \"{tag}\" }}"))
    };
    let tree = "[stage.a]\nfrom = { image = \"x\" }\ntree = [\"/r\"]\n";
    let rows = [
        ("an image without a name", image("\"\"")),
        ("an image with a blank", image("\"a b\"")),
        ("an image in capitals", image("\"Name:1\"")),
        ("any of nothing", condition("{ any = [] }")),
        ("one of nothing", condition("{ lane.target = [] }")),
        (
            "a half value in a command",
            step("run = [\"a\", \"${lane.target\"]"),
        ),
        ("an empty command", step("run = [\"\"]")),
        ("an empty script", step("script = \"\\n \"")),
        (
            "a cache without a name",
            step("run = [\"a\"]\ncache = [{ id = \"\", at = \"/c\" }]"),
        ),
        (
            "a reason that is none",
            graph(
                "[stage.out]\nfrom = { image = \"x\" }\n[[refuse]]\nwhen = { lane.name = \"l\" }\nwhy = \" \"\n",
            ),
        ),
        (
            "a tree merged with itself",
            graph(&format!("{tree}[stage.out]\nmerge = [\"a\", \"a\"]\n")),
        ),
        (
            "a stage called as nothing is",
            graph(
                "[stage.out]\nfrom = \"scratch\"\n[stage.scratch]\nfrom = { image = \"x\" }\n[lane.k]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"scratch\" }\n",
            ),
        ),
        ("a tag of three parts", tag("${lane.name}:${lane.name}:x")),
        ("a tag with an empty part", tag("x//y:1")),
        (
            "a download with a bad name alone",
            graph(
                "[stage.out]\nfrom = { image = \"x\" }\n[fetch.d]\nurl = \"https://h/a\"\nsha256 = \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\"\nfilename = \"../x\"\n",
            ),
        ),
        (
            "a floor measured at a time of day",
            graph(&format!(
                "{tree}[stage.out]\nmerge = [\"a\"]\n[gate.g]\nof = \"out\"\ncheck = \"arch\"\n[[gate.g.floor]]\ninspected = {{ least = 1, on = 2026-09-02T07:32:00Z }}\n"
            )),
        ),
    ];
    let mut text = String::new();
    for (name, file) in rows {
        let found = wrong(&file);
        assert_eq!(found.matches("error[").count(), 1, "{name}: {found}");
        text.push_str(&format!("== {name}\n{found}\n"));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn a_word_of_nothing_and_a_config_that_no_engine_runs_are_refused() {
    let tree = |tree: &str| {
        step(&format!(
            "run = [\"a\"]\n[stage.t]\nfrom = \"out\"\n{tree}\n"
        ))
    };
    let image = |keys: &str| {
        graph(&format!(
            "[stage.out]\nfrom = {{ image = \"x\" }}\n[stage.out.image]\n{keys}\n"
        ))
    };
    let windows = |text: String| {
        text.replace("linux/amd64", "windows/amd64").replace(
            "[stage.out]\n",
            "[stage.out]\nenv.PATH = { set = ['C:\\'] }\n",
        )
    };
    let rows = [
        ("a tree of nothing", tree("tree = []")),
        ("a step of no user", step("run = [\"a\"]\nuser = \"\"")),
        (
            "a script of no shell",
            step("script = \"a\"\nshell = [\"\"]"),
        ),
        ("an entrypoint of nothing", image("entrypoint = [\"\"]")),
        ("a shell without a word", image("shell = []")),
        ("a shell of nothing", image("shell = [\"\", \"-c\"]")),
        ("a user of nothing", image("user = \" \"")),
        ("a working directory of nothing", image("workdir = \"\"")),
        ("a working directory of none", image("workdir = \"app\"")),
        (
            "a working directory of another system",
            windows(image("workdir = \"/app\"")),
        ),
        ("a volume of nothing", image("volumes = [\"\"]")),
        ("a volume of none", image("volumes = [\"/data\", \"data\"]")),
        ("a signal of nothing", image("stop-signal = \"\"")),
        (
            "a signal that there is not",
            image("stop-signal = \"SIGQIUT\""),
        ),
        ("a number of no signal", image("stop-signal = \"65\"")),
        ("a signal too far", image("stop-signal = \"RTMIN+16\"")),
        ("a label of no name", image("labels = { \"\" = \"x\" }")),
        (
            "an annotation of no name",
            image("annotations = { \"\" = \"x\" }"),
        ),
        (
            "two lanes but for case",
            graph(
                "[stage.out]\nfrom = { image = \"x\" }\n[lane.L]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"out\" }\n",
            ),
        ),
        (
            "two gates but for case",
            graph(
                "[stage.t]\nfrom = { image = \"x\" }\ntree = [\"/r\"]\n[[stage.t.step]]\nname = \"s\"\nrun = [\"a\"]\n[stage.out]\nmerge = [\"t\"]\n\
                 [gate.arch]\nof = \"out\"\ncheck = \"arch\"\nfloor = [{ inspected = { least = 1 } }]\n[gate.Arch]\nof = \"t\"\nfor = \"out\"\ncheck = \"arch\"\nfloor = [{ inspected = { least = 1 } }]\n",
            ),
        ),
        (
            "a mount over the drive",
            windows(step("run = [\"a\"]\ncache = [{ id = \"a\", at = 'C:\\' }]")),
        ),
    ];
    let mut text = String::new();
    for (name, file) in rows {
        let found = wrong(&file);
        assert_eq!(found.matches("error[").count(), 1, "{name}: {found}");
        text.push_str(&format!("== {name}\n{found}\n"));
    }
    let pins = graph("[stage.out]\nfrom = { image = \"x:${pin.A}\" }\n")
        .replace("\"t\"\n", "\"t\"\nversions = \"versions.env\"\n");
    let lines = rendered(&load(&pins, "A=1\rB=2\n"));
    assert!(
        lines.contains("the value of `A` holds the end of a line")
            && lines.contains("versions.env:1:1"),
        "{lines}"
    );
    insta::assert_snapshot!(text);
    for keys in [
        "entrypoint = []",
        "cmd = [\"\"]",
        "workdir = \"/app/\"",
        "stop-signal = \"9\"",
        "stop-signal = \"sigterm\"",
        "stop-signal = \"RTMAX-14\"",
    ] {
        assert_eq!(wrong(&image(keys)), "nothing is wrong\n", "{keys}");
    }
    let windows = windows(image("workdir = 'C:\\app'\nvolumes = ['C:\\data']"));
    assert_eq!(wrong(&windows), "nothing is wrong\n");
}

#[test]
fn what_looks_odd_and_is_right_is_taken() {
    for file in [
        step("run = [\"sh\", \"-c\", \"echo ${HOME\"]"),
        step("run = [\"a\", \"\"]"),
        graph(
            "[stage.a]\nfrom = { image = \"x\" }\ntree = [\"/r\"]\n[stage.out]\nmerge = [\"a\", { stage = \"a\", from = \"/r\", to = \"/s\" }]\n",
        ),
        graph(
            "[arg.TAG]\nabout = \"a\"\n[arg.IMAGE]\nabout = \"a\"\n[stage.out]\nfrom = { image = \"${arg.IMAGE}:${arg.TAG}\" }\n",
        ),
        graph("[stage.out]\nfrom = { image = \"localhost:5000/a/b:1\" }\n"),
        graph("[stage.out]\nfrom = { image = \"x\" }\n")
            .replace("\"out\" }", "\"out\", tag = \"${arg.NAME}:1\" }")
            + "[arg.NAME]\nabout = \"a\"\n",
        format!(
            "\u{feff}{}",
            graph("[stage.out]\nfrom = { image = \"x\" }\n")
        )
        .replace('\n', "\r\n"),
    ] {
        let text = stages::file::text_of_bytes(file.into_bytes()).expect("text");
        assert_eq!(wrong(&text), "nothing is wrong\n", "{text}");
    }
}

#[test]
fn depth_width_and_length_end_in_an_answer() {
    let nested = |open: &str, close: &str, depth: usize| {
        format!(
            "{}{{ lane.target = \"amd64\" }}{}",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    let many =
        |count: usize, one: &dyn Fn(usize) -> String| (0..count).map(one).collect::<String>();
    let files = [
        step(&format!(
            "run = [\"a\"]\nwhen = {}",
            nested("{ not = ", " }", 60)
        )),
        step(&format!(
            "run = [\"a\"]\nwhen = {}",
            nested("{ not = ", " }", 5000)
        )),
        graph(&format!(
            "[stage.out]\nx = {}{}\n",
            "[".repeat(50_000),
            "]".repeat(50_000)
        )),
        graph(&format!("[stage.out]\n{} = 1\n", ["a"; 20_000].join("."))),
        graph(&format!(
            "{}[stage.s2000]\nfrom = {{ image = \"x\" }}\n[stage.out]\nfrom = \"s0\"\n",
            many(2000, &|i| format!("[stage.s{i}]\nfrom = \"s{}\"\n", i + 1))
        )),
        graph(&format!(
            "{}[stage.s25]\nfrom = {{ image = \"x\" }}\ntree = [\"/a\"]\n[stage.t25]\nfrom = {{ image = \"x\" }}\ntree = [\"/b\"]\n[stage.out]\nmerge = [\"s0\", \"t0\"]\n",
            many(25, &|i| {
                let next = i + 1;
                format!(
                    "[stage.s{i}]\nmerge = [\"s{next}\", \"t{next}\"]\n[stage.t{i}]\nmerge = [\"t{next}\", \"s{next}\"]\n"
                )
            })
        )),
        step("run = [\"a\"]").replace("platform", "layer-budget = 99999999999999999999\nplatform"),
    ];
    for file in files {
        let found = wrong(&file);
        assert!(
            found.contains("nothing is wrong") || found.contains("error["),
            "{found}"
        );
    }
}
