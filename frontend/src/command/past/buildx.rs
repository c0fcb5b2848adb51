//! `docker buildx build`, with its progress read and shown.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use jiff::Timestamp;

use super::{Stop, client::Asked};
use crate::progress::{End, Progress, Said};

/// One `docker buildx build` of a lane file.
pub(super) struct Buildx(Command);

impl Buildx {
    /// Of a target, with the files that steps take.
    pub(super) fn new(asked: &Asked, target: &str) -> Self {
        let mut command = Command::new("docker");
        command
            .args(["buildx", "build", "--progress=rawjson", "--file"])
            .arg(&asked.file)
            .args(["--target", target]);
        Self(command)
    }

    /// More words for it.
    pub(super) fn args(mut self, words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.0.args(words);
        self
    }

    /// Runs it, and hands back whether it succeeded and what the engine said.
    pub(super) fn run(mut self, asked: &Asked) -> Result<(bool, Progress), Stop> {
        let unable = |error: std::io::Error| Stop::Unable(format!("docker buildx build: {error}"));
        let since = Timestamp::now();
        let directory = match asked.directory() {
            path if path.as_os_str().is_empty() => PathBuf::from("."),
            path => path,
        };
        let mut child = self
            .0
            .arg(directory)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(unable)?;
        let mut progress = Progress::new(Some(since));
        if let Some(said) = child.stderr.take() {
            for line in BufReader::new(said).split(b'\n') {
                let line = line.map_err(unable)?;
                show(&mut progress, &String::from_utf8_lossy(&line));
            }
        }
        let status = child.wait().map_err(unable)?;
        Ok((status.success(), progress))
    }
}

/// Shows what is new, a line each.
fn show(progress: &mut Progress, line: &str) {
    let mut out = std::io::stderr().lock();
    for said in progress.line(line) {
        // Nobody is left to tell when the terminal is gone.
        let _ = match said {
            Said::Text(text) => writeln!(out, "{text}"),
            Said::Log(bytes) => out.write_all(&bytes),
            Said::Started(digest) => match progress.vertices.get(&digest) {
                Some(vertex) if shown(&vertex.name) => writeln!(out, "▸ {}", vertex.name),
                _ => Ok(()),
            },
            Said::Ended(digest) => match progress.vertices.get(&digest) {
                Some(vertex) if shown(&vertex.name) => {
                    let how = match vertex.end() {
                        End::Ran => format!("{:.1} s", vertex.seconds()),
                        End::Cached => "cached".to_owned(),
                        End::Cancelled => "cancelled".to_owned(),
                        End::Failed => "FAILED".to_owned(),
                        End::Unseen => continue,
                    };
                    writeln!(out, "✓ {} {how}", vertex.name)
                }
                _ => Ok(()),
            },
        };
    }
}

/// Steps and gates; what the engine does for itself is not shown.
fn shown(name: &str) -> bool {
    name.starts_with('[') && !name.starts_with("[internal]") && !name.starts_with("[auth]")
}

/// A directory for what a command writes, gone when dropped.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Of this process.
    pub(super) fn new() -> Result<Self, Stop> {
        let place = std::env::temp_dir().join(format!("lanekit-{}", std::process::id()));
        let made = std::fs::create_dir_all(&place);
        made.map_err(|error| Stop::Unable(format!("{}: {error}", place.display())))?;
        Ok(Self(place))
    }

    /// A file in it.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
