//! LK064 to LK066: what a step lists and what its entry script reads.

use std::collections::BTreeSet;

use super::super::Graph;
use super::Seen;
use super::reads::{Language, Read, reads};
use crate::diag::{Diagnostic, Report, SourceId, Span, rule};
use crate::file::{Command, File, FileSource, Step};
use crate::text::{Piece, Template};

/// Ends of names of files that a script reads as scripts.
const SCRIPTS: [&str; 5] = [".sh", ".bash", ".ps1", ".psm1", ".psd1"];

/// The paths of the context whose texts the lints of scripts want.
#[must_use]
pub fn texts(graph: &Graph) -> BTreeSet<String> {
    let mut wanted = BTreeSet::new();
    for step in graph.stages.values().flat_map(|stage| &stage.steps) {
        let listed = listed(graph, step);
        if let Some(entry) = entry(step, &listed) {
            wanted.insert(entry);
            let scripts = listed.iter().filter(|file| is_script(&file.from.value));
            wanted.extend(scripts.map(|file| file.from.value.clone()));
        }
    }
    wanted
}

/// A text that runs in a step.
struct Script<'a> {
    name: String,
    text: &'a str,
    source: SourceId,
    language: Language,
}

impl Script<'_> {
    fn reads(&self) -> Vec<Read> {
        reads(self.text, self.language)
    }
}

pub(super) fn check(seen: &Seen<'_>, report: &mut Report) {
    if seen.files.is_none() {
        return;
    }
    for step in seen.graph.stages.values().flat_map(|stage| &stage.steps) {
        let listed = listed(seen.graph, step);
        let Some(scripts) = entry(step, &listed).and_then(|entry| closure(seen, entry, &listed))
        else {
            continue;
        };
        unlisted(step, &listed, &scripts, report);
        if !scripts.iter().any(|script| searches(script.text)) {
            unread(step, &listed, &scripts, report);
            directories(step, &listed, &scripts, report);
        }
    }
}

/// The files of the context that a step lists, by itself and by its kits.
fn listed<'a>(graph: &'a Graph, step: &'a Step) -> Vec<&'a File> {
    let files = graph.all_brings(step).flat_map(|brings| &brings.files);
    files
        .filter(|file| matches!(file.source, FileSource::Context))
        .collect()
}

/// The listed file that the step's command runs.
fn entry(step: &Step, listed: &[&File]) -> Option<String> {
    let Command::Run(run) = &step.command else {
        return None;
    };
    run.iter().filter_map(literal).find_map(|word| {
        let word = word.replace('\\', "/");
        let word = ["./", "/lanekit/", "C:/lanekit/"]
            .iter()
            .find_map(|prefix| word.strip_prefix(prefix))
            .unwrap_or(&word);
        listed.iter().find_map(|file| {
            let from = file.from.value.as_str();
            let seen = match &file.at {
                None => from.to_owned(),
                Some(at) => {
                    let at = literal(at)?.replace('\\', "/");
                    let at = at.trim_end_matches('/');
                    if from.ends_with('/') {
                        format!("{at}/")
                    } else {
                        format!("{at}/{}", name(from))
                    }
                }
            };
            if seen.ends_with('/') {
                let rest = word.strip_prefix(&seen)?;
                Some(format!("{from}{rest}"))
            } else {
                (word == seen).then(|| from.to_owned())
            }
        })
    })
}

/// A text without values.
pub(super) fn literal(template: &Template) -> Option<String> {
    let pieces = template.pieces.iter().map(|piece| match piece {
        Piece::Literal(text) => Some(text.as_str()),
        Piece::Value(_) => None,
    });
    pieces.collect()
}

fn name(path: &str) -> &str {
    path.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(path)
}

fn is_script(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    SCRIPTS.iter().any(|end| lower.ends_with(end))
}

/// Whether a text looks for files by patterns, so that what it reads is not said in it.
fn searches(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let words = [
        "get-childitem",
        "invoke-expression",
        "eval ",
        "*.ps",
        "*.sh",
    ];
    words.iter().any(|word| lower.contains(word))
}

/// The entry script and the listed ones that it reads, directly or not; none where a text is
/// missing or in a language that is not known.
fn closure<'a>(seen: &Seen<'a>, entry: String, listed: &[&File]) -> Option<Vec<Script<'a>>> {
    let mut scripts: Vec<Script<'a>> = Vec::new();
    let mut open = vec![entry];
    let mut known: BTreeSet<String> = open.iter().cloned().collect();
    while let Some(path) = open.pop() {
        let source = seen.files?.get(&path)?;
        let text = seen.sources.get(source).text.as_str();
        let language = Language::of(&path, text)?;
        let script = Script {
            name: path,
            text,
            source,
            language,
        };
        for read in script.reads() {
            let files = listed.iter().map(|file| &file.from.value);
            for file in files.filter(|file| same_name(file, &read.path)) {
                if known.insert(file.clone()) {
                    open.push(file.clone());
                }
            }
        }
        scripts.push(script);
    }
    Some(scripts)
}

fn same_name(a: &str, b: &str) -> bool {
    name(a).eq_ignore_ascii_case(name(b))
}

/// LK065: a file that a script reads and the step does not have.
fn unlisted(step: &Step, listed: &[&File], scripts: &[Script<'_>], report: &mut Report) {
    // What a directory holds is not known here.
    if listed.iter().any(|file| file.from.value.ends_with('/')) {
        return;
    }
    for script in scripts {
        for read in script.reads() {
            let there = listed
                .iter()
                .any(|file| same_name(&file.from.value, &read.path));
            if there || handled(script.text, name(&read.path)) {
                continue;
            }
            let message = format!(
                "step `{}` does not list `{}`, which `{}` reads",
                step.name.value, read.path, script.name
            );
            report.push(
                Diagnostic::new(rule::UNLISTED, message)
                    .at(&step.name.span, "this step")
                    .related(&Span::new(script.source, read.range.clone()), "read here")
                    .help("list it in `files`: the step sees nothing else of the context"),
            );
        }
    }
}

/// Whether a script looks whether a file is there, or makes it.
fn handled(text: &str, name: &str) -> bool {
    let words = ["-f ", "-e ", "-r ", "Test-Path", ">"];
    text.lines()
        .any(|line| line.contains(name) && words.iter().any(|word| line.contains(word)))
}

/// LK064: a script that is listed and that nothing of the step names.
fn unread(step: &Step, listed: &[&File], scripts: &[Script<'_>], report: &mut Report) {
    let texts = mentions(step, scripts);
    for file in listed.iter().filter(|file| is_script(&file.from.value)) {
        let path = &file.from.value;
        if scripts.iter().any(|script| script.name == *path) {
            continue;
        }
        let stem = name(path)
            .rsplit_once('.')
            .map_or(path.as_str(), |(stem, _)| stem);
        if texts.contains(&stem.to_ascii_lowercase()) {
            continue;
        }
        let message = format!(
            "`{path}` is listed, and nothing of step `{}` reads it",
            step.name.value
        );
        report.push(
            Diagnostic::new(rule::UNREAD, message)
                .at(&file.from.span, "a change in it would re-run the step")
                .help("take it out of `files`"),
        );
    }
}

/// All that a step says, in small letters.
fn mentions(step: &Step, scripts: &[Script<'_>]) -> String {
    let mut texts: Vec<&str> = scripts.iter().map(|script| script.text).collect();
    let run = match &step.command {
        Command::Run(run) => run.as_slice(),
        _ => &[],
    };
    let env = step.sees.env.values().map(|entry| &entry.text);
    for template in run.iter().chain(env) {
        texts.extend(template.pieces.iter().filter_map(|piece| match piece {
            Piece::Literal(text) => Some(text.as_str()),
            Piece::Value(_) => None,
        }));
    }
    texts.join("\n").to_ascii_lowercase()
}

/// LK066: a directory of which the scripts read single files by name.
fn directories(step: &Step, listed: &[&File], scripts: &[Script<'_>], report: &mut Report) {
    let texts = mentions(step, scripts);
    for file in listed.iter().filter(|file| file.from.value.ends_with('/')) {
        let directory = &file.from.value;
        let inside = format!("{}/", name(directory).to_ascii_lowercase());
        let mut read: BTreeSet<String> = BTreeSet::new();
        let mut said = 0;
        for script in scripts {
            // A script in it may read anything beside itself without naming the directory.
            if script.name.starts_with(directory.as_str()) {
                return;
            }
            for one in script.reads() {
                let path = one.path.to_ascii_lowercase();
                if path.starts_with(&inside) || path.contains(&format!("/{inside}")) {
                    said += path.matches(inside.trim_end_matches('/')).count();
                    read.insert(name(&one.path).to_owned());
                }
            }
        }
        let all = texts.matches(inside.trim_end_matches('/')).count();
        if read.is_empty() || all > said {
            continue;
        }
        let names: Vec<String> = read.into_iter().collect();
        let message = format!(
            "all of `{directory}` is listed, of which step `{}` reads {}",
            step.name.value,
            names.join(", ")
        );
        report.push(
            Diagnostic::new(rule::WHOLE_DIRECTORY, message)
                .at(
                    &file.from.span,
                    "a change in any file of it re-runs the step",
                )
                .help("list the files"),
        );
    }
}
