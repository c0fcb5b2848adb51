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
