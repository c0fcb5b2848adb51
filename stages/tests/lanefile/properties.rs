//! What holds for every graph: generated ones, and examples that somebody mistyped.

use std::collections::BTreeMap;

use ::llb::{Caps, Definition};
use proptest::prelude::*;
use stages::graph::lint::lint;
use stages::plan::{self, Start};

use crate::common::{Loaded, load, lower, plan, rendered, request};

/// One stage of a generated graph; numbers choose among what is there.
#[derive(Debug, Clone)]
struct Shape {
    from: usize,
    root: bool,
    add: Vec<usize>,
    steps: Vec<Work>,
    env: bool,
}

#[derive(Debug, Clone)]
struct Work {
    args: Vec<usize>,
    files: Vec<usize>,
    uses: Vec<usize>,
    kit: bool,
    script: bool,
    lane: Option<bool>,
}

const NAMES: usize = 6;

fn work() -> impl Strategy<Value = Work> {
    let some = || prop::collection::vec(0..NAMES, 0..3);
    let lane = prop::option::of(any::<bool>());
    (some(), some(), some(), any::<bool>(), any::<bool>(), lane).prop_map(
        |(args, files, uses, kit, script, lane)| Work {
            args,
            files,
            uses,
            kit,
            script,
            lane,
        },
    )
}

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    let steps = prop::collection::vec(work(), 1..3);
    let add = prop::collection::vec(0..NAMES, 0..3);
    let shape = (0..NAMES, any::<bool>(), add, steps, any::<bool>()).prop_map(
        |(from, root, add, steps, env)| Shape {
            from,
            root,
            add,
            steps,
            env,
        },
    );
    prop::collection::vec(shape, 1..7)
}

/// The distinct values of a list, below a limit.
fn few(list: &[usize], below: usize) -> Vec<usize> {
    let mut few: Vec<usize> = list.iter().map(|n| n % below.max(1)).collect();
    few.sort_unstable();
    few.dedup();
    if below == 0 { Vec::new() } else { few }
}

fn list(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<String> = words
        .into_iter()
        .map(|word| format!("\"{word}\""))
        .collect();
    format!("[{}]", words.join(", "))
}

/// The tables of a graph, each a text, in an order that means nothing.
fn tables(shapes: &[Shape]) -> Vec<String> {
    let mut tables = vec!["[graph]\nname = \"g\"\nversions = \"versions.env\"\n".to_owned()];
    for lane in ["amd64", "arm64"] {
        tables.push(format!(
            "[lane.{lane}]\nplatform = \"linux/amd64\"\ntarget = \"windows/{lane}\"\noutput.o = {{ stage = \"out\" }}\n"
        ));
    }
    tables.push("[host.H]\nabout = \"h\"\n".to_owned());
    tables.push(
        "[kit.k]\nhost = [\"H\"]\nenv = { K = \"1\" }\ncache = [{ id = \"c\", at = \"/c\" }]\n"
            .to_owned(),
    );
    for n in 0..NAMES {
        tables.push(format!("[arg.A{n}]\nabout = \"a\"\ndefault = \"{n}\"\n"));
    }
    let trees: Vec<usize> = (0..shapes.len()).filter(|n| !shapes[*n].root).collect();
    for (n, shape) in shapes.iter().enumerate() {
        let before: Vec<usize> = trees.iter().copied().filter(|tree| *tree < n).collect();
        let roots: Vec<usize> = (0..n).filter(|m| shapes[*m].root).collect();
        let from = match roots.get(shape.from) {
            Some(root) => format!("\"s{root}\""),
            None => "{ image = \"debian:${pin.P0}\" }".to_owned(),
        };
        let mut text = format!("[stage.s{n}]\nfrom = {from}\n");
        if !shape.root {
            text.push_str(&format!("tree = [\"/t/s{n}\"]\n"));
        }
        let add = few(&shape.add, before.len());
        if shape.root {
            text.push_str(&format!(
                "add = {}\n",
                list(add.iter().map(|at| format!("s{}", before[*at])))
            ));
        }
        if shape.env {
            text.push_str(&format!(
                "env.E{n} = \"x\"\nenv.PATH = {{ prepend = [\"/b{n}\"] }}\n"
            ));
        }
        for (at, work) in shape.steps.iter().enumerate() {
            text.push_str(&step(&format!("s{n}"), at, work, &before));
        }
        tables.push(text);
    }
    let mut out = "[stage.out]\nfrom = { image = \"debian:${pin.P0}\" }\n".to_owned();
    out.push_str(&format!(
        "add = {}\n",
        list(trees.iter().map(|tree| format!("s{tree}")))
    ));
    // Names every pin and argument, and every root, so that nothing is unused.
    out.push_str(&step(
        "out",
        0,
        &Work {
            args: (0..NAMES).collect(),
            files: Vec::new(),
            uses: Vec::new(),
            kit: true,
            script: false,
            lane: None,
        },
        &[],
    ));
    tables.push(out);
    let roots: Vec<usize> = (0..shapes.len()).filter(|n| shapes[*n].root).collect();
    let mut all = "[lane.all]\nplatform = \"linux/amd64\"\ntarget = \"windows/amd64\"\n".to_owned();
    all.push_str("output.o = { stage = \"out\" }\n");
    for root in roots {
        all.push_str(&format!("output.s{root} = {{ stage = \"s{root}\" }}\n"));
    }
    tables.push(all);
    tables
}

fn step(stage: &str, at: usize, work: &Work, trees: &[usize]) -> String {
    let mut text = format!("[[stage.{stage}.step]]\nname = \"w{at}\"\n");
    let args = few(&work.args, NAMES);
    let pins = args.iter().map(|n| format!("V{n}=P{n}"));
    text.push_str(&format!(
        "args = {}\n",
        list(args.iter().map(|n| format!("A{n}")).chain(pins))
    ));
    text.push_str(&format!(
        "files = {}\n",
        list(few(&work.files, NAMES).iter().map(|n| format!("f{n}.txt")))
    ));
    let uses = few(&work.uses, trees.len());
    text.push_str(&format!(
        "uses = {}\n",
        list(uses.iter().map(|at| format!("s{}", trees[*at])))
    ));
    if work.kit {
        text.push_str("kits = [\"k\"]\n");
    }
    if let Some(arm) = work.lane {
        let target = if arm { "arm64" } else { "amd64" };
        text.push_str(&format!("when = {{ lane.target = \"{target}\" }}\n"));
    }
    text.push_str(match work.script {
        true => "script = \"make\"\n",
        false => "run = [\"make\", \"${lane.target}\"]\n",
    });
    text
}

fn pins() -> Vec<String> {
    (0..NAMES).map(|n| format!("P{n}=1.{n}")).collect()
}

fn definition(loaded: &Loaded, target: &str) -> Definition {
    match lower(loaded, &request(target, &[]), &Caps::all()) {
        Ok(lowered) => Definition::new(&lowered.result),
        Err(report) => panic!("{}", report.render(&loaded.sources, false)),
    }
}

/// Digest of each vertex by its name.
fn digests(definition: &Definition) -> BTreeMap<String, Vec<String>> {
    let mut digests: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (digest, metadata) in &definition.to_pb().metadata {
        if let Some(name) = metadata.description.get("llb.customname") {
            digests
                .entry(name.clone())
                .or_default()
                .push(digest.clone());
        }
    }
    digests
}

fn loaded(tables: &[String], pins: &[String]) -> Loaded {
    load(&tables.join("\n"), &pins.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_plan_is_in_order_and_every_input_is_there(shapes in shapes()) {
        let loaded = loaded(&tables(&shapes), &pins());
        let graph = loaded.graph.as_ref().unwrap_or_else(|_| panic!("{}", rendered(&loaded)));
        let said = lint(graph, &loaded.sources, None);
        prop_assert!(said.is_empty(), "{}", said.render(&loaded.sources, false));
        let roots = (0..shapes.len()).filter(|n| shapes[*n].root).map(|n| format!("all/s{n}"));
        for target in roots.chain(["amd64".into(), "arm64".into(), "all/o".into()]) {
            let (plan, _) = plan(graph, &request(&target, &[])).expect("a plan");
            for (at, stage) in plan.stages.iter().enumerate() {
                if let Start::Stage(from) = stage.start {
                    prop_assert!(from < at);
                }
                for used in stage.steps.iter().flat_map(|step| &step.uses) {
                    prop_assert!(used.stage < at);
                }
            }
            let wire = definition(&loaded, &target).to_pb();
            prop_assert!(!wire.def.is_empty());
        }
        prop_assert!(plan::rehearse(graph, |_| Ok(())).is_empty());
    }

    #[test]
    fn what_is_unrelated_changes_no_other_digest(shapes in shapes(), what in 0..5_usize) {
        let (mut tables, mut pins) = (tables(&shapes), pins());
        let before = digests(&definition(&loaded(&tables, &pins), "arm64"));
        let args = match what {
            0 => { tables.push("[arg.MORE]\nabout = \"m\"\ndefault = \"1\"\n".into()); "args = [\"MORE\"]" }
            1 => { pins.push("MORE=1".into()); "args = [\"MORE\"]" }
            2 => { tables.push("[host.MORE]\nabout = \"m\"\n".into()); "host = [\"MORE\"]" }
            3 => "files = [\"more.txt\"]",
            _ => "",
        };
        tables.push(format!("[stage.more]\nfrom = {{ image = \"x\" }}\n[[stage.more.step]]\nname = \"s\"\nrun = [\"true\"]\n{args}\n"));
        tables.push("[lane.more]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"more\" }\n".into());
        let after = digests(&definition(&loaded(&tables, &pins), "arm64"));
        prop_assert_eq!(before, after);
    }

    #[test]
    fn the_order_of_tables_files_and_pins_changes_no_byte(
        shapes in shapes(),
        (order, lines) in (Just((0..24_usize).collect::<Vec<_>>()).prop_shuffle(), Just((0..NAMES).collect::<Vec<_>>()).prop_shuffle()),
    ) {
        let (tables, pins) = (tables(&shapes), pins());
        let want = definition(&loaded(&tables, &pins), "amd64").to_pb().def;
        let mut mixed: Vec<(usize, String)> = tables
            .iter()
            .enumerate()
            .map(|(at, table)| (order.get(at).copied().unwrap_or(at), reversed_lists(table)))
            .collect();
        mixed.sort();
        let mixed: Vec<String> = mixed.into_iter().map(|(_, table)| table).collect();
        let pins: Vec<String> = lines.iter().map(|at| pins[*at].clone()).collect();
        prop_assert_eq!(want, definition(&loaded(&mixed, &pins), "amd64").to_pb().def);
    }

    #[test]
    fn a_mistyped_example_is_an_error_and_no_panic(
        example in 0..2_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, "[ -~\\n]{0,6}|\\[\\[|\"|'''|\\$\\{|é"), 1..5),
    ) {
        let mut text = EXAMPLES[example].0.to_owned();
        for (at, length, with) in &edits {
            let mut start = at.index(text.len());
            let mut end = (start + length).min(text.len());
            while !text.is_char_boundary(start) { start -= 1; }
            while !text.is_char_boundary(end) { end += 1; }
            text.replace_range(start..end, with);
        }
        survives(&text, EXAMPLES[example].1);
    }

    #[test]
    fn moved_lines_are_an_error_and_no_panic(
        example in 0..2_usize,
        swaps in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
    ) {
        let mut lines: Vec<&str> = EXAMPLES[example].0.lines().collect();
        for (a, b) in &swaps {
            let (a, b) = (a.index(lines.len()), b.index(lines.len()));
            lines.swap(a, b);
        }
        survives(&lines.join("\n"), EXAMPLES[example].1);
    }
}

const EXAMPLES: [(&str, &str); 2] = [
    (
        include_str!("../../../examples/hello/lanes.toml"),
        include_str!("../../../examples/hello/versions.env"),
    ),
    (
        include_str!("../../../tests/graphs/media/lanes.toml"),
        include_str!("../../../tests/graphs/media/versions.env"),
    ),
];

/// A file goes through everything that needs no engine; what is wrong can be shown.
fn survives(lanes: &str, pins: &str) {
    let loaded = load(lanes, pins);
    let report = match &loaded.graph {
        Err(report) => report.clone(),
        Ok(graph) => {
            let mut report = plan::rehearse(graph, |_| Ok(()));
            report.extend(lint(graph, &loaded.sources, None));
            report
        }
    };
    let _ = report.render(&loaded.sources, false);
}

/// The same table with `args`, `files` and `uses` named from the last to the first.
fn reversed_lists(table: &str) -> String {
    let line = |line: &str| {
        let (key, words) = line.split_once(" = [")?;
        if !["args", "files", "uses"].contains(&key) {
            return None;
        }
        let mut words: Vec<&str> = words.strip_suffix(']')?.split(", ").collect();
        words.reverse();
        Some(format!("{key} = [{}]", words.join(", ")))
    };
    let lines = table
        .lines()
        .map(|text| line(text).unwrap_or_else(|| text.to_owned()));
    lines.map(|line| line + "\n").collect()
}

#[test]
fn twenty_five_runs_give_the_same_bytes() {
    let loaded = load(EXAMPLES[1].0, EXAMPLES[1].1);
    let want = definition(&loaded, "arm64").to_bytes();
    for _ in 0..25 {
        let again = load(EXAMPLES[1].0, EXAMPLES[1].1);
        assert!(want == definition(&again, "arm64").to_bytes());
    }
}
