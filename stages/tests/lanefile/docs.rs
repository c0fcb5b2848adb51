//! The documents say what the code does: every rule has a section whose example breaks it, every
//! key is in the reference, and the README shows the smallest lane file as it is.

use std::collections::BTreeSet;

use ::llb::{Caps, Network, Platform};
use stages::diag::Report;
use stages::file::Files;
use stages::file::keys::tables;
use stages::graph::Graph;
use stages::graph::lint::lint;
use stages::ignore::{self, Ignore};
use stages::lower::ExecOptions;
use stages::plan::Request;

use crate::common::{Loaded, load, lower_with, plan_with};

const RULES: &str = include_str!("../../../docs/rules.md");
const REFERENCE: &str = include_str!("../../../docs/lanefile.md");
const OPTIONS: &str = include_str!("../../../tests/tests/engine/options/mod.rs");
const README: &str = include_str!("../../../README.md");
const HELLO: &str = include_str!("../../../examples/hello/lanes.toml");
const DIAG: &str = include_str!("../../src/diag.rs");

/// The first fenced block of this language, without the fences.
fn block<'a>(text: &'a str, language: &str) -> Option<&'a str> {
    let open = format!("\n```{language}\n");
    let start = text.find(&open)? + open.len();
    // An empty block closes with the line feed that opened it.
    let end = text[start - 1..].find("\n```")? + start;
    Some(text[start..end].strip_suffix('\n').unwrap_or(""))
}

/// Sections by rule id, in the order of the page.
fn sections() -> Vec<(&'static str, &'static str)> {
    RULES
        .split("\n## ")
        .skip(1)
        .map(|section| (section.split(':').next().unwrap_or_default(), section))
        .collect()
}

#[test]
fn every_rule_has_one_section_and_no_section_is_of_another() {
    let rules: Vec<&str> = DIAG
        .split("= Rule(\"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .collect();
    assert!(rules.len() > 10, "rules were not found: {rules:?}");
    let documented: Vec<&str> = sections().iter().map(|(id, _)| *id).collect();
    assert_eq!(documented, rules);
}

#[test]
fn the_example_of_every_rule_breaks_it_alone_and_looks_as_shown() {
    let mut differences = String::new();
    for (id, section) in sections() {
        assert!(section.contains("\n```toml\n"), "{id} has no example");
        let console = block(section, "console").unwrap_or_default();
        let (request, exec) = (request(console), demands(console));
        let (loaded, report) = wrong(section, &request, exec);
        let ids: BTreeSet<&str> = report.diagnostics().iter().map(|d| d.rule.0).collect();
        let seen = report.render(&loaded.sources, false);
        let shown = block(section, "text").unwrap_or("nothing");
        if ids != BTreeSet::from([id]) || shown != seen.trim_end() {
            differences.push_str(&format!("## {id} gives {ids:?}:\n{seen}\n"));
        }
    }
    assert!(
        differences.is_empty(),
        "docs/rules.md is not true:\n{differences}"
    );
}

/// What is wrong with a request, or doubtful: found while the file is read, chosen from, planned or
/// made LLB; without an error, what is warned of. A script of the section is `build.sh` of the context, names are those
/// of files there.
fn wrong(section: &str, request: &Request, exec: ExecOptions) -> (Loaded, Report) {
    let lanes = block(section, "toml").unwrap_or_default();
    let mut loaded = load(lanes, block(section, "env").unwrap_or_default());
    let ignore = Ignore::parse(block(section, "ignore").unwrap_or_default());
    let mut files = Files::new();
    if let Some(script) = block(section, "sh") {
        let id = loaded.sources.add("build.sh", script);
        files.insert("build.sh".to_owned(), id);
    }
    if let Some(names) = block(section, "names") {
        let below = names.lines().filter_map(|line| line.strip_prefix("conf/"));
        files.list("conf/".to_owned(), below.map(str::to_owned).collect());
        let there = |path: &String| names.lines().any(|name| name.starts_with(path.as_str()));
        let listed = loaded.graph.as_ref().map(stages::graph::lint::listed);
        let missing = listed
            .unwrap_or_default()
            .into_iter()
            .filter(|path| !there(path));
        missing.for_each(|path| files.lack(path));
    }
    let made = |graph: &Graph| {
        let payload = block(section, "payload").map(|text| text.as_bytes().to_vec());
        let (plan, facts) = plan_with(graph, request, &|_| payload.clone())?;
        ignore::check(&plan, &ignore, ".dockerignore")?;
        let worker = Platform::new("linux", "amd64");
        lower_with(&loaded, &plan, &facts, &Caps::all(), worker, exec)?;
        let mut report = Report::default();
        plan.warnings.into_iter().for_each(|w| report.push(w));
        report.into_result(())
    };
    let report = match &loaded.graph {
        Err(report) => report.clone(),
        Ok(graph) => {
            let mut report = lint(graph, &loaded.sources, Some(&files));
            report.extend(made(graph).err().unwrap_or_default());
            report
        }
    };
    (loaded, report)
}

/// What a `docker buildx build` line demands of every step.
fn demands(line: &str) -> ExecOptions {
    ExecOptions {
        network: line.contains("--network host").then_some(Network::Host),
        ..ExecOptions::default()
    }
}

/// The request that a `docker buildx build` line makes.
fn request(line: &str) -> Request {
    let mut request = Request::default();
    let mut words = line.split_whitespace();
    while let Some(word) = words.next() {
        match word {
            "--target" => request.target = words.next().map(str::to_owned),
            "--build-arg" => {
                let (name, value) = words
                    .next()
                    .and_then(|w| w.split_once('='))
                    .expect("NAME=VALUE");
                request.args.insert(name.to_owned(), value.to_owned());
            }
            _ => {}
        }
    }
    request
}

#[test]
fn every_key_that_is_read_is_in_the_reference() {
    let keys = tables().into_iter().flat_map(|table| table.keys());
    let missing: BTreeSet<&str> = keys
        .map(|key| key.name)
        .filter(|key| {
            let spellings = [
                format!("`{key}`"),
                format!(".{key}`"),
                format!("[{key}."),
                format!("[{key}]"),
            ];
            !spellings
                .iter()
                .any(|spelling| REFERENCE.contains(spelling))
        })
        .collect();
    assert!(missing.is_empty(), "not in docs/lanefile.md: {missing:?}");
}

/// The lane files that a page shows, whole or in part: a part has no lane, or names what stands elsewhere.
fn shown_by(page: &str) -> impl Iterator<Item = String> {
    let examples = page.split("\n```toml\n").skip(1);
    examples.map(|example| {
        let example = example.split("\n```").next().unwrap_or_default();
        match example.contains("[graph]") {
            true => example.to_owned(),
            false => format!("[graph]\nname = \"fragment\"\n{example}"),
        }
    })
}

/// The pins that they name.
const PINS: &str =
    "TENSORRT_SHA256=\nMEDIA_CYTHON=3.1\nTORCH_CYTHON=3.1\nROCM_RELEASE=7.9.0\nTORCH_ROCM_A=1\n";

#[test]
fn the_examples_of_the_reference_are_right() {
    let (mut planned, mut parts, mut wrong) = (0, 0, String::new());
    for (at, example) in shown_by(REFERENCE).enumerate() {
        let mut sources = stages::diag::Sources::default();
        let id = sources.add("lanes.toml", example.clone());
        if let Err(report) = stages::file::parse(&sources, id) {
            panic!("{}", report.render(&sources, false));
        }
        if !example.contains("[lane.") {
            parts += 1;
            continue;
        }
        let pins = if example.contains("versions =") {
            PINS
        } else {
            ""
        };
        let loaded = load(&example, pins);
        let report = match &loaded.graph {
            Err(report) => report.clone(),
            Ok(graph) => {
                let mut report = lint(graph, &loaded.sources, None);
                report.extend(stages::plan::rehearse(graph, |_| Ok(())));
                report
            }
        };
        if !report.is_empty() {
            wrong.push_str(&format!(
                "{at}: {}\n",
                report.render(&loaded.sources, false)
            ));
        }
        planned += 1;
    }
    assert!(wrong.is_empty(), "docs/lanefile.md is not true:\n{wrong}");
    assert!(
        planned >= 14 && parts <= 5,
        "{planned} are whole, {parts} are not"
    );
}

#[test]
fn the_readme_shows_the_smallest_lane_file_as_it_is() {
    assert_eq!(
        block(README, "toml")
            .map(|text| format!("{text}\n"))
            .as_deref(),
        Some(HELLO)
    );
}

#[test]
fn the_table_of_options_is_the_one_that_is_run() {
    let run: Vec<(&str, &str)> = OPTIONS
        .lines()
        .filter_map(|line| {
            let (_, row) = line.split_once(": \"--")?;
            let mut words = row.split('"');
            Some((words.next()?, words.nth(1)?))
        })
        .collect();
    let (_, table) = REFERENCE
        .split_once("| option | supported | where |\n|---|---|---|\n")
        .expect("the table of options");
    let told: Vec<(&str, &str)> = table
        .lines()
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| {
            let mut cells = line.split('|').map(str::trim).skip(1);
            Some((
                cells.next()?.trim_matches('`').strip_prefix("--")?,
                cells.next()?,
            ))
        })
        .collect();
    assert!(run.len() > 30, "{run:?}");
    assert_eq!(told, run);
}
