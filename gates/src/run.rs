//! `lanegate run`: runs a command and writes down what it printed and how it ended, so that a
//! failed one leaves something to read.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use crate::exit::Failure;
use crate::gate::exec::{EXIT, OUTPUT};

/// The most of an output that is kept; what is beyond it makes the run unreadable.
pub const OUTPUT_BYTES: u64 = 256 << 20;
/// The environment as the command has it, in `--env`'s file.
pub const ENV: &str = "process.json";

/// Runs `command` with its output in `dir`, and on standard output too.
///
/// # Errors
/// [`Failure::Unreadable`] when it cannot be started or was killed, which says nothing about the
/// product: a machine short of memory kills, and that verdict must not be kept.
pub fn run(command: &[OsString], dir: &Path) -> Result<(), Failure> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(Failure::Usage("no command behind `--`".to_owned()));
    };
    let shown = program.to_string_lossy().into_owned();
    let io = |what: &str| {
        let what = what.to_owned();
        move |e: std::io::Error| Failure::io(&what, &e)
    };
    fs::create_dir_all(dir).map_err(io("the output directory"))?;
    let path = dir.join(OUTPUT);
    let output = File::create(&path).map_err(io(OUTPUT))?;
    // One file for both, so that lines stay in the order in which they were written.
    let errors = output.try_clone().map_err(io(OUTPUT))?;
    let status = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(errors)
        .status();
    let code = match status {
        Ok(status) => code(status)?,
        // As shells have it: not there, and not to be run.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            fs::write(&path, format!("{shown}: {error}\n")).map_err(io(OUTPUT))?;
            127
        }
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            fs::write(&path, format!("{shown}: {error}\n")).map_err(io(OUTPUT))?;
            126
        }
        Err(error) => return Err(Failure::io(&shown, &error)),
    };
    fs::write(dir.join(EXIT), format!("{code}\n")).map_err(io(EXIT))?;
    tail(&path)
}

/// The environment of this process, as a JSON object.
///
/// # Errors
/// [`Failure::Unreadable`] when the file cannot be written.
pub fn environment(dir: &Path) -> Result<(), Failure> {
    let names: serde_json::Map<String, serde_json::Value> = std::env::vars_os()
        .map(|(name, value)| {
            let text = |os: &OsString| os.to_string_lossy().into_owned();
            (text(&name), text(&value).into())
        })
        .collect();
    let json = serde_json::Value::Object(names).to_string();
    let io = |e| Failure::io(ENV, &e);
    fs::create_dir_all(dir).map_err(io)?;
    fs::write(dir.join(ENV), json + "\n").map_err(io)
}

#[cfg(unix)]
fn code(status: ExitStatus) -> Result<i64, Failure> {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(137), _) | (None, Some(9)) => Err(Failure::Unreadable(
            "the command was killed; that says nothing about the product".to_owned(),
        )),
        (Some(code), _) => Ok(code.into()),
        (None, signal) => Ok(128 + i64::from(signal.unwrap_or_default())),
    }
}

#[cfg(not(unix))]
fn code(status: ExitStatus) -> Result<i64, Failure> {
    Ok(status.code().unwrap_or(-1).into())
}

/// Shows the end of the output: the log of the build has it then, too.
fn tail(path: &Path) -> Result<(), Failure> {
    const SHOWN: u64 = 64 << 10;
    let io = |e| Failure::io(OUTPUT, &e);
    let mut file = File::open(path).map_err(io)?;
    let size = file.metadata().map_err(io)?.len();
    std::io::Seek::seek(
        &mut file,
        std::io::SeekFrom::Start(size.saturating_sub(SHOWN)),
    )
    .map_err(io)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).map_err(io)?;
    // Whoever reads the log may have gone.
    let _ = std::io::stderr().write_all(&bytes);
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn sh(script: &str) -> (Result<(), Failure>, String, String) {
        let dir = tempfile::tempdir().unwrap();
        let command = ["/bin/sh", "-c", script].map(OsString::from);
        let end = run(&command, dir.path());
        let read = |name| fs::read_to_string(dir.path().join(name)).unwrap_or_default();
        (end, read(OUTPUT), read(EXIT))
    }

    #[test]
    fn output_and_exit_code_are_kept_and_only_a_kill_is_no_verdict() {
        let (end, output, exit) = sh("echo out; echo err >&2; exit 3");
        assert!(end.is_ok());
        assert_eq!((output.as_str(), exit.as_str()), ("out\nerr\n", "3\n"));
        assert_eq!(sh("kill -SEGV $$").2, "139\n");
        assert_eq!(sh("kill -KILL $$").0.unwrap_err().exit().code(), 4);
    }

    #[test]
    fn a_command_that_is_not_there_ends_with_127() {
        let dir = tempfile::tempdir().unwrap();
        run(&["/no/such".into()], dir.path()).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join(EXIT)).unwrap(), "127\n");
        assert!(run(&[], dir.path()).is_err());
    }
}
