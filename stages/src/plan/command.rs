//! The command of a step: words, a raw line, or a script that is mounted as a file.

use std::collections::BTreeMap;

use super::build::Planner;
use super::host::{batch, unsettled};
use super::step::FILES;
use super::tree::inside;
use super::windows::{self, command::behind};
use super::{HostSetting, StepFile};
use crate::diag::{Diagnostic, Span, Spanned, rule};
use crate::file::{Command, Step};
use crate::text::Template;

/// Where a script appears, below [`FILES`]. Its name is not the step's: no key has that.
const SCRIPT: &str = ".script/run";
/// What PowerShell does before a script, so that an error ends it as `sh -e` would.
const STRICT: &str =
    "$ErrorActionPreference = 'Stop'; $PSNativeCommandUseErrorActionPreference = $true; ";

/// Whether a file of the step would be where lanekit puts its own.
pub(super) fn own(to: &str) -> bool {
    let own = SCRIPT.split('/').next().unwrap_or_default();
    inside(to, own)
}

/// What is started.
#[derive(Default)]
pub(super) struct Started {
    /// The command of the step.
    pub(super) argv: Vec<String>,
    /// The command line that it comes to, where that stands in a batch file of ours.
    pub(super) behind: Option<String>,
}

impl Started {
    fn at_once(argv: Vec<String>) -> Self {
        Self { argv, behind: None }
    }
}

/// What is started; what that needs beside it is put to the step's files.
pub(super) fn plan(
    planner: &mut Planner<'_, '_>,
    step: &Step,
    env: &BTreeMap<String, String>,
    host: &[HostSetting],
    files: &mut BTreeMap<String, Vec<StepFile>>,
) -> Option<Started> {
    let windows = planner.spelling.is_windows();
    let words = match &step.command {
        Command::Run(words) => fill(planner, words, env)?,
        Command::Line(line) if windows => {
            let line = planner.selection.fill(line, env, &mut planner.report)?;
            return started(planner, &step.span, line, host, files);
        }
        Command::Line(line) => {
            let message = "a `command-line` is for steps on Windows";
            planner.report.push(
                Diagnostic::new(rule::VALUE, message)
                    .at(&line.span, "Linux starts a process with a list of words")
                    .help("run = [\"command\", \"argument\"]"),
            );
            return None;
        }
        Command::File(_) => return None,
        Command::Script { text, shell } => {
            let shell = fill(planner, shell, env)?;
            let script = Script::of(text, shell, windows);
            let (argv, file) = script.placed(windows);
            files.entry(FILES.to_owned()).or_default().push(file);
            argv
        }
    };
    if windows {
        started(
            planner,
            &step.span,
            windows::command::line(&words),
            host,
            files,
        )
    } else {
        Some(Started::at_once(words))
    }
}

fn fill(
    planner: &mut Planner<'_, '_>,
    words: &[Template],
    env: &BTreeMap<String, String>,
) -> Option<Vec<String>> {
    words
        .iter()
        .map(|word| planner.selection.fill(word, env, &mut planner.report))
        .collect()
}

/// A command line of Windows, behind what settles host settings that are not given.
fn started(
    planner: &mut Planner<'_, '_>,
    span: &Span,
    line: String,
    host: &[HostSetting],
    files: &mut BTreeMap<String, Vec<StepFile>>,
) -> Option<Started> {
    if !unsettled(host) {
        return Some(Started::at_once(vec![line]));
    }
    match batch(host).and_then(|settled| behind(&settled, &line)) {
        Ok(text) => {
            let to = "run.cmd".to_owned();
            files.insert(BATCH.to_owned(), vec![StepFile::Script { to, text }]);
            let path = windows::with_drive(&format!("{BATCH}/run.cmd"));
            Some(Started {
                argv: vec![format!("cmd /d /c {path}")],
                behind: Some(line),
            })
        }
        Err(why) => {
            planner.report.push(
                Diagnostic::new(rule::NOT_ON_WINDOWS, format!("the command {why}"))
                    .at(
                        span,
                        "a batch file runs it, which settles host settings that are not given",
                    )
                    .help("use a `script`, or make the host settings `required`"),
            );
            None
        }
    }
}

/// Where the batch file stands that settles host settings: not among the step's files, whose place
/// would be its working directory.
const BATCH: &str = "/lanekit-start";

/// A script, and what runs it.
struct Script<'a> {
    text: &'a str,
    shell: Vec<String>,
}

impl<'a> Script<'a> {
    /// What runs it: the key `shell`, the script's first line, or the system's usual one. On
    /// Linux the kernel reads the first line; nothing reads it on Windows.
    fn of(text: &'a Spanned<String>, shell: Vec<String>, windows: bool) -> Self {
        let text = text.value.as_str();
        let first = text.strip_prefix("#!").and_then(|rest| rest.lines().next());
        let shell = match (shell.is_empty(), first) {
            (false, _) => shell,
            (true, Some(_)) if !windows => Vec::new(),
            (true, Some(line)) => interpreter(line),
            (true, None) if windows => vec!["pwsh".to_owned()],
            (true, None) => vec!["/bin/sh".to_owned(), "-eu".to_owned()],
        };
        Self { text, shell }
    }

    /// The command that runs it, and the file that it is.
    fn placed(self, windows: bool) -> (Vec<String>, StepFile) {
        let program = self.shell.first().map(|program| stem(program));
        let power = matches!(program.as_deref(), Some("pwsh" | "powershell"));
        let batch = windows && program.as_deref() == Some("cmd");
        let to = match (power, batch) {
            (true, _) => format!("{SCRIPT}.ps1"),
            (_, true) => format!("{SCRIPT}.cmd"),
            _ => SCRIPT.to_owned(),
        };
        let path = format!("{FILES}/{to}");
        let path = if windows {
            windows::with_drive(&path)
        } else {
            path
        };
        let mut argv = self.shell;
        match argv.len() {
            // Bare PowerShell would go on after an error.
            1 if power => {
                let flags = [
                    "-NoProfile",
                    "-NonInteractive",
                    "-ExecutionPolicy",
                    "Bypass",
                ];
                argv.extend(
                    flags
                        .into_iter()
                        .take(if windows { 4 } else { 2 })
                        .map(str::to_owned),
                );
                argv.extend(["-Command".to_owned(), format!("{STRICT}& '{path}'")]);
            }
            1 if batch => argv.extend(["/d".to_owned(), "/c".to_owned(), path]),
            _ => argv.push(path),
        }
        let text = if batch {
            self.text.replace('\n', "\r\n")
        } else {
            self.text.to_owned()
        };
        (argv, StepFile::Script { to, text })
    }
}

/// What a first line such as `/usr/bin/env pwsh -NoProfile` runs.
fn interpreter(line: &str) -> Vec<String> {
    let mut words = line.split_whitespace().map(|word| {
        let name = word.rsplit('/').next().unwrap_or(word);
        (word, name)
    });
    let mut program = words.next();
    if program.is_some_and(|(_, name)| name == "env") {
        program = words.next();
    }
    let program = program.map_or("pwsh", |(_, name)| name).to_owned();
    let rest = words.map(|(word, _)| word.to_owned());
    std::iter::once(program).chain(rest).collect()
}

/// The name of a program without directory and `.exe`, in small letters.
fn stem(program: &str) -> String {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = name.to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name).to_owned()
}
