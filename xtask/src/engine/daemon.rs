//! Services that stay when the command that started them ends: started with a
//! log and a pid file, known to be ready by asking them, stopped by that pid.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::Process;
use crate::run;

/// How long a service may take until it answers.
const READY: Duration = Duration::from_secs(60);
/// How long a service may take to end by itself.
const STOP: Duration = Duration::from_secs(20);
/// How long one question to a service may take.
const ASK: Duration = Duration::from_secs(5);
/// A log that is longer is set aside before the next start, in bytes.
const LOG_MAX: u64 = 16 << 20;

/// How a service shows that it is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ready {
    /// Somebody listens on this socket.
    Listens(PathBuf),
    /// `GET path` over this socket is answered with 200.
    Http(PathBuf, &'static str),
    /// `GET path` at this address is answered with 200.
    HttpAt(String, &'static str),
}

/// A program that runs for as long as the engine is up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Service {
    /// What it is called in messages and file names.
    pub(crate) name: String,
    /// The program and its arguments.
    pub(crate) argv: Vec<String>,
    /// The folders that it finds other programs in, before the machine's own.
    pub(crate) path: Vec<PathBuf>,
    /// How it shows that it is ready.
    pub(crate) ready: Ready,
    /// Where its log and its pid file go.
    pub(crate) base: PathBuf,
}

impl Service {
    /// Its log.
    pub(crate) fn log(&self) -> PathBuf {
        self.base.join("log").join(format!("{}.log", self.name))
    }

    fn pid_file(&self) -> PathBuf {
        self.base.join("run").join(format!("{}.pid", self.name))
    }

    /// The process, if it is the one that was started here. Where the pid file
    /// was lost it is known by its command line, which names a file of ours.
    pub(crate) fn process(&self) -> Option<Process> {
        Process::from_file(&self.pid_file())
            .or_else(|| Process::all().find(|process| process.words() == self.argv))
    }

    /// Whether it runs and answers.
    pub(crate) fn is_up(&self) -> bool {
        self.process().is_some() && self.ready.holds()
    }

    /// Starts it unless it is up, and waits until it answers.
    pub(crate) fn start(&self) -> Result<()> {
        if self.is_up() {
            return Ok(());
        }
        // It runs but does not answer (yet): give it the time of a start,
        // then replace it.
        if let Some(process) = self.process() {
            if run::until(READY, || Ok(!process.is_running() || self.ready.holds()))?
                && self.is_up()
            {
                return Ok(());
            }
            process.stop(STOP)?;
        }
        run::note(&format!("starting {}", self.name));
        for dir in ["log", "run"] {
            fs::create_dir_all(self.base.join(dir))?;
        }
        let log = self.open_log()?;
        // setsid: a signal to the terminal's processes must not reach it.
        let mut child = Command::new("setsid")
            .args(&self.argv)
            .env("PATH", search_path(&self.path)?)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .current_dir("/")
            .spawn()
            .with_context(|| format!("cannot start {}", self.name))?;
        if let Some(process) = Process::of(child.id()) {
            process.save(&self.pid_file())?;
        }
        let mut ended = None;
        let ready = run::until(READY, || {
            ended = child.try_wait()?;
            Ok(ended.is_some() || self.ready.holds())
        })?;
        if let Some(status) = ended {
            bail!(
                "{} ended at once ({status}); the end of {}:\n{}",
                self.name,
                self.log().display(),
                run::tail_of(&self.log())
            );
        }
        if !ready {
            self.stop()?;
            bail!(
                "{} did not answer within {} s; the end of {}:\n{}",
                self.name,
                READY.as_secs(),
                self.log().display(),
                run::tail_of(&self.log())
            );
        }
        Ok(())
    }

    /// Stops it, if it is the one that was started here; says whether it ran.
    pub(crate) fn stop(&self) -> Result<bool> {
        let process = self.process();
        if let Some(process) = &process {
            process
                .stop(STOP)
                .with_context(|| format!("cannot stop {}", self.name))?;
        }
        match fs::remove_file(self.pid_file()) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(process.is_some()),
        }
    }

    fn open_log(&self) -> Result<File> {
        let log = self.log();
        if fs::metadata(&log).is_ok_and(|meta| meta.len() > LOG_MAX) {
            fs::rename(&log, log.with_extension("old.log"))?;
        }
        OpenOptions::new()
            .create(true)
            .append(true)
            .open(&log)
            .with_context(|| format!("cannot open {}", log.display()))
    }
}

impl Ready {
    fn holds(&self) -> bool {
        match self {
            Ready::Listens(socket) => UnixStream::connect(socket).is_ok(),
            Ready::Http(socket, path) => UnixStream::connect(socket).is_ok_and(|stream| {
                let bounded = stream.set_read_timeout(Some(ASK)).is_ok()
                    && stream.set_write_timeout(Some(ASK)).is_ok();
                bounded && answers(stream, path)
            }),
            Ready::HttpAt(address, path) => address
                .parse()
                .ok()
                .and_then(|address| TcpStream::connect_timeout(&address, ASK).ok())
                .is_some_and(|stream| {
                    let bounded = stream.set_read_timeout(Some(ASK)).is_ok()
                        && stream.set_write_timeout(Some(ASK)).is_ok();
                    bounded && answers(stream, path)
                }),
        }
    }
}

/// Whether a `GET` is answered with 200.
fn answers(mut stream: impl Read + Write, path: &str) -> bool {
    let request = format!("GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n");
    let mut head = [0; 12];
    stream.write_all(request.as_bytes()).is_ok()
        && stream.read_exact(&mut head).is_ok()
        && head.starts_with(b"HTTP/1.")
        && head.ends_with(b" 200")
}

/// `PATH` with some folders before the machine's own.
pub(crate) fn search_path(first: &[PathBuf]) -> Result<std::ffi::OsString> {
    let own = std::env::var_os("PATH").unwrap_or_default();
    let dirs = first.iter().cloned().chain(std::env::split_paths(&own));
    std::env::join_paths(dirs).context("a folder with ':' in its name cannot be in PATH")
}

/// Unmounts everything that is mounted at or below a folder, innermost first.
pub(crate) fn unmount_below(dir: &Path) -> Result<()> {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    for point in mounts_below(&mounts, dir) {
        // Lazily: what still has a file open lets go when it ends.
        run::output(Command::new("umount").arg("-l").arg(&point), ASK)?;
    }
    Ok(())
}

/// The mount points at or below a folder in a `mountinfo` text, the last
/// mounted first.
fn mounts_below(mountinfo: &str, dir: &Path) -> Vec<PathBuf> {
    let mut points: Vec<PathBuf> = mountinfo
        .lines()
        .filter_map(|line| line.split(' ').nth(4))
        .map(|point| PathBuf::from(unescaped(point)))
        .filter(|point| point.starts_with(dir))
        .collect();
    points.reverse();
    points
}

/// proc(5): space, tab, newline and backslash are written in octal.
fn unescaped(text: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn service(dir: &Path, script: &str) -> Service {
        Service {
            name: "thing".into(),
            argv: vec!["sh".into(), "-c".into(), script.into()],
            path: Vec::new(),
            ready: Ready::Listens(dir.join("socket")),
            base: dir.to_owned(),
        }
    }

    #[test]
    fn a_service_that_dies_at_start_shows_the_end_of_its_log() {
        let dir = tempfile::tempdir().unwrap();
        let error = service(dir.path(), "echo no such bridge >&2; exit 1")
            .start()
            .unwrap_err()
            .to_string();
        assert!(error.contains("ended at once"), "{error}");
        assert!(error.contains("no such bridge"), "{error}");
    }

    #[test]
    fn a_stale_pid_file_is_no_service() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("run")).unwrap();
        let it = service(dir.path(), "true");
        // This test's own pid, as if it had been handed out again.
        let me = std::process::id();
        fs::write(it.pid_file(), format!("{me} 1 old-boot\n")).unwrap();
        assert!(it.process().is_none());
        assert!(!it.stop().unwrap());
        assert!(!it.pid_file().exists());
    }

    #[test]
    fn a_service_is_found_and_stopped_when_its_pid_file_is_lost() {
        let dir = tempfile::tempdir().unwrap();
        let script = format!("sleep 58 # {}", dir.path().display());
        let it = service(dir.path(), &script);
        let mut child = Command::new(&it.argv[0])
            .args(&it.argv[1..])
            .spawn()
            .unwrap();
        let found = run::until(Duration::from_secs(5), || Ok(it.process().is_some())).unwrap();
        assert!(found);
        assert!(it.stop().unwrap());
        assert!(child.wait().unwrap().code().is_none(), "it was not stopped");
        assert!(service(dir.path(), "sleep 58 # other").process().is_none());
    }

    #[test]
    fn only_mounts_below_the_folder_are_found_and_the_last_comes_first() {
        let text = "\
22 1 254:0 / / rw - ext4 /dev/vda rw
30 22 0:5 / /run/lk/a rw - tmpfs x rw
31 30 0:5 / /run/lk/a/in\\040ner rw - overlay overlay rw
32 22 0:5 / /run/lk-other rw - tmpfs x rw
";
        assert_eq!(
            mounts_below(text, Path::new("/run/lk")),
            [
                PathBuf::from("/run/lk/a/in ner"),
                PathBuf::from("/run/lk/a")
            ]
        );
    }
}
