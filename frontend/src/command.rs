//! The `lanekit` command.
//!
//! Exit codes: 0 all is well, 1 something is wrong with the lane file, 2 the command could not do its work.
//! Answers go to standard output, everything else to standard error.

mod floors;
mod past;
mod shell;
mod views;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{fs, io};

use clap::{Parser, Subcommand};

use stages::file::Entry;
use stages::graph::Graph;
use stages::plan::{self, PayloadFact};

use crate::contents::DiskContents;
use crate::lanefile::{LaneFile, Loaded, Wrong};
use crate::{payloads, policies};

/// Something is wrong with the lane file.
const WRONG: u8 = 1;
/// The command could not do its work.
const UNABLE: u8 = 2;

#[derive(Parser)]
#[command(
    name = "lanekit",
    version,
    about = "Builds that re-run a step exactly when what it consumes changed"
)]
struct Command {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Checks a lane file: every lane, every name, every rule, without building
    Check {
        /// The lane file
        #[arg(default_value = "lanes.toml")]
        file: PathBuf,
        /// Warnings are errors too: exit code 1
        #[arg(long)]
        deny_warnings: bool,
    },
    #[command(flatten)]
    Past(past::Verb),
    /// Moves floors to what verdicts of gates measured
    Floors(floors::Floors),
    /// Prints the JSON Schema of the lane file, for editors
    Schema,
    /// Shows what a target comes to: every step with each thing that it sees, and who brought it there
    Plan(views::Plan),
    /// Lists what --target may name: lanes and outputs
    Targets(views::Read),
    /// Lists the tag of every output, over switches
    Tags(views::Read),
    /// Shows what is known of each architecture that a lane can build for
    ArchTable {
        /// How the answer is written
        #[arg(long, value_enum, default_value_t)]
        format: views::Format,
    },
    /// Explains a rule, or lists all
    Rules {
        /// Its id: LK008
        id: Option<String>,
    },
    /// Writes completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Writes the manual page
    Man,
}

pub use past::manifest;

/// Why a command did not succeed.
enum Stop {
    Wrong(Wrong),
    Unable(String),
    /// Why is on the terminal already.
    Said(u8),
}

/// Runs the command line; the first argument is the program's own name.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let command = match Command::try_parse_from(args) {
        Ok(command) => command,
        Err(help) => {
            let code = if help.use_stderr() { UNABLE } else { 0 };
            // Nobody is left to tell when the terminal is gone.
            let _ = help.print();
            return ExitCode::from(code);
        }
    };
    let done = match command.verb {
        Verb::Check {
            file,
            deny_warnings,
        } => check(&file, deny_warnings),
        Verb::Past(verb) => verb.run(),
        Verb::Floors(floors) => floors.run(),
        Verb::Schema => print(&stages::file::schema()),
        Verb::Plan(asked) => views::plan(&asked),
        Verb::Targets(asked) => views::targets(&asked),
        Verb::Tags(asked) => views::tags(&asked),
        Verb::ArchTable { format } => views::arch_table(format),
        Verb::Rules { id } => views::rules(id.as_deref()),
        Verb::Completions { shell } => shell::completions(shell),
        Verb::Man => shell::man(),
    };
    let mut stderr = io::stderr().lock();
    let color = stderr.is_terminal();
    let (code, text) = match done {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Stop::Wrong(wrong)) => (WRONG, wrong.report.render(&wrong.sources, color)),
        Err(Stop::Said(code)) => (code, String::new()),
        Err(Stop::Unable(why)) => (UNABLE, format!("lanekit: {why}\n")),
    };
    let _ = stderr.write_all(text.as_bytes());
    ExitCode::from(code)
}

fn check(file: &Path, deny_warnings: bool) -> Result<(), Stop> {
    let beside = file.parent().unwrap_or(Path::new(""));
    let loaded = load(file)?;
    let contents = DiskContents::open(beside, file).map_err(Stop::Unable)?;
    let loaded = loaded
        .with_context(
            |path| read(&beside.join(path)).ok(),
            |directory| contents.below(directory),
            |path| contents.lacks(path),
        )
        .map_err(Stop::Wrong)?;
    let Loaded {
        sources,
        graph,
        warnings,
    } = loaded;
    let mut report = plan::rehearse(&graph, |plan| {
        stages::diag::Report::of_all([policies::check(plan), contents.sends(plan)])
    });
    report.extend(warnings);
    report.extend(plan::check_payloads(&graph, |_, payload| {
        payloads::look(beside, payload)
    }));
    let stops = deny_warnings || !report.clone().split().0.is_empty();
    if let Err(report) = report.into_result(()) {
        if stops {
            return Err(Stop::Wrong(Wrong { sources, report }));
        }
        let mut stderr = io::stderr().lock();
        let color = stderr.is_terminal();
        // Nobody is left to warn when the terminal is gone.
        let _ = stderr.write_all(report.render(&sources, color).as_bytes());
    }
    let text = format!(
        "{}: nothing is wrong (lanes: {}, stages: {}, gates: {}, pins: {})\n",
        file.display(),
        graph.lanes.len(),
        graph.stages.len(),
        graph.gates.len(),
        graph.pins.len()
    );
    print(&text)
}

/// Says something beside the answer. Nobody is left to tell when the terminal is gone.
fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "lanekit: {text}");
}

/// Writes an answer. A reader that has seen enough and hangs up has it.
fn print(text: &str) -> Result<(), Stop> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<(), Stop> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Stop::Unable(error.to_string()))
        }
        _ => Ok(()),
    }
}

/// What is known of a graph's payloads in the directory that steps take files from.
fn payload_facts(root: &Path, graph: &Graph) -> Result<BTreeMap<String, PayloadFact>, Stop> {
    let mut facts = BTreeMap::new();
    for (name, payload) in &graph.payloads {
        let found = payloads::look(root, payload)
            .map_err(|why| Stop::Unable(format!("payload {name}: {why}")))?;
        facts.extend(found.map(|fact| (name.clone(), fact)));
    }
    Ok(facts)
}

/// The graph of a lane file.
fn load(file: &Path) -> Result<Loaded, Stop> {
    let bytes = read(file).map_err(Stop::Unable)?;
    let name = file
        .file_name()
        .unwrap_or(file.as_os_str())
        .to_string_lossy();
    let directory = file.parent().unwrap_or(Path::new(""));
    let mut lane_file = LaneFile::parse(&name, bytes).map_err(Stop::Wrong)?;
    if let Some(mut walk) = lane_file.includes().map_err(Stop::Wrong)? {
        while let Some(below) = walk.next() {
            let entries = list(&directory.join(below)).map_err(Stop::Unable)?;
            walk.listed(entries);
        }
        let found = lane_file.included(walk).map_err(Stop::Wrong)?;
        let bytes = |path: String| {
            let bytes = read(&directory.join(&path));
            (path, bytes)
        };
        lane_file = lane_file
            .include(found.into_iter().map(bytes))
            .map_err(Stop::Wrong)?;
    }
    let pins = match lane_file.pins() {
        None => None,
        Some(path) => match read(&directory.join(&path)) {
            Ok(bytes) => Some((path, bytes)),
            Err(why) => return Err(Stop::Wrong(lane_file.unread_pins(&why))),
        },
    };
    lane_file.graph(pins).map_err(Stop::Wrong)
}

/// What a directory has; one that is not there has nothing. Names that are not UTF-8 match no pattern.
fn list(path: &Path) -> Result<Vec<Entry>, String> {
    let here = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let said = |error: io::Error| format!("{}: {error}", here.display());
    let entries = match fs::read_dir(here) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(said(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(said)?;
        let directory = entry.file_type().map_err(said)?.is_dir();
        if let Ok(name) = entry.file_name().into_string() {
            found.push(Entry { name, directory });
        }
    }
    Ok(found)
}

/// Reads a file, unless it is larger than a lane file may be. What is no regular file may never end.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let said = |error: io::Error| format!("{}: {error}", path.display());
    let about = fs::metadata(path).map_err(said)?;
    if about.is_dir() {
        return Err(format!("{} is a directory, not a file", path.display()));
    }
    if !about.is_file() {
        return Err(format!("{} is no regular file", path.display()));
    }
    if about.len() > stages::file::MAX_FILE {
        return Err(format!(
            "{} has {} bytes; at most {} are read",
            path.display(),
            about.len(),
            stages::file::MAX_FILE
        ));
    }
    fs::read(path).map_err(said)
}
