//! Commands of other programs, always with a bounded time.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::process;

/// How often a running command is looked at.
const TICK: Duration = Duration::from_millis(10);
/// How many lines of a command's output, or of a log, an error shows.
const TAIL: usize = 30;

/// What a command that ended well said.
#[derive(Debug)]
pub(crate) struct Said {
    /// Standard output.
    pub(crate) out: String,
    /// Standard error.
    pub(crate) err: String,
}

/// Runs a command without a terminal and hands back what it said.
///
/// It is an error when it cannot start, does not end within `limit`, or exits
/// non-zero; the error shows the end of its output.
pub(crate) fn output(command: &mut Command, limit: Duration) -> Result<Said> {
    if command.get_current_dir().is_none() {
        command.current_dir("/");
    }
    let name = shown(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{name}`"))?;
    let out = drain(child.stdout.take());
    let err = drain(child.stderr.take());
    let Some(status) = wait(&mut child, limit)? else {
        bail!("`{name}` did not end within {} s", limit.as_secs());
    };
    let said = Said {
        out: joined(out),
        err: joined(err),
    };
    if !status.success() {
        bail!(
            "`{name}` failed ({status})\n{}",
            tail(&format!("{}{}", said.out, said.err))
        );
    }
    Ok(said)
}

/// Runs a command on the caller's terminal; a non-zero exit is an error, and so
/// is one that does not end within `limit`.
pub(crate) fn attached(command: &mut Command, limit: Duration) -> Result<()> {
    let name = shown(command);
    let mut child = command
        .stdin(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start `{name}`"))?;
    match wait(&mut child, limit)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("`{name}` failed ({status})"),
        None => bail!("`{name}` did not end within {} s", limit.as_secs()),
    }
}

/// Runs a command whose standard error goes to the caller's terminal line by line, and to `line`;
/// hands back whether it exited with zero.
pub(crate) fn watched(
    command: &mut Command,
    limit: Duration,
    mut line: impl FnMut(&str) + Send,
) -> Result<bool> {
    let name = shown(command);
    let mut child = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{name}`"))?;
    let pipe = child.stderr.take();
    let status = thread::scope(|scope| {
        scope.spawn(move || {
            for text in pipe
                .map(BufReader::new)
                .into_iter()
                .flat_map(BufRead::lines)
            {
                // A pipe that breaks ends with the command, whose exit says more.
                let Ok(text) = text else { break };
                eprintln!("{text}");
                line(&text);
            }
        });
        wait(&mut child, limit)
    })?;
    match status {
        Some(status) => Ok(status.success()),
        None => bail!("`{name}` did not end within {} s", limit.as_secs()),
    }
}

/// Waits until `ready` says so; `false` when `limit` ran out first.
pub(crate) fn until(limit: Duration, mut ready: impl FnMut() -> Result<bool>) -> Result<bool> {
    let start = Instant::now();
    loop {
        if ready()? {
            return Ok(true);
        }
        if start.elapsed() >= limit {
            return Ok(false);
        }
        thread::sleep(TICK * 3);
    }
}

/// A line about what is going on, for whoever waits.
pub(crate) fn note(text: &str) {
    eprintln!("xtask: {text}");
}

/// Where a program is on `PATH`, if it is.
pub(crate) fn which(program: &str) -> Option<std::path::PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|file| file.is_file())
}

/// The last lines of a text.
pub(crate) fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(TAIL)..].join("\n")
}

/// The last lines of a file; a note when it cannot be read.
pub(crate) fn tail_of(file: &Path) -> String {
    match std::fs::read(file) {
        Ok(bytes) => tail(&String::from_utf8_lossy(&bytes)),
        Err(error) => format!("({}: {error})", file.display()),
    }
}

/// Waits for the child; `None` when it was ended, with all that it started,
/// because the time ran out.
fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            process::kill_tree(child.id());
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(TICK);
    }
}

fn drain<R: Read + Send + 'static>(pipe: Option<R>) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read before an error is still worth showing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn joined(reader: JoinHandle<String>) -> String {
    reader.join().unwrap_or_default()
}

/// The command as a person would type it, without its environment.
fn shown(command: &Command) -> String {
    let mut text = command.get_program().to_string_lossy().into_owned();
    for arg in command.get_args() {
        text.push(' ');
        text.push_str(&arg.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_hangs_is_ended_with_its_children() {
        let start = Instant::now();
        let error = output(
            Command::new("sh").args(["-c", "sleep 97.5 & sleep 97.5"]),
            Duration::from_millis(200),
        )
        .unwrap_err();
        assert!(error.to_string().contains("did not end"), "{error}");
        assert!(start.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_failing_command_shows_the_end_of_what_it_said() {
        let error = output(
            Command::new("sh").args(["-c", "seq 100; echo broken >&2; exit 3"]),
            Duration::from_secs(10),
        )
        .unwrap_err()
        .to_string();
        assert!(error.contains("broken") && error.contains("exit status: 3"));
        assert!(error.contains("\n99\n") && !error.contains("\n50\n"));
    }
}
