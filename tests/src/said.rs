//! What `docker buildx build` says, as a person reads it.

use std::io::Write as _;
use std::process::Stdio;

use crate::setup::{Engine, command};

/// How a command ended, and its two texts.
#[derive(Debug)]
pub struct Said {
    /// Its exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error: progress in plain lines, warnings, errors.
    pub err: String,
}

/// `docker buildx build ARGS` with plain progress, and `input` on standard input.
///
/// # Panics
/// When docker does not start.
pub fn buildx(engine: &Engine, args: &[&str], env: &[(&str, &str)], input: &[u8]) -> Said {
    let mut command = command(engine);
    command
        .args(["buildx", "build"])
        .args(args)
        .env("BUILDKIT_PROGRESS", "plain")
        .envs(env.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("docker starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // Who does not read it hangs up: then there is nobody to write to.
    let writer = std::thread::spawn(move || drop(pipe.write_all(&input)));
    let output = child.wait_with_output().expect("its end");
    writer.join().expect("a thread");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said {
        code: output.status.code(),
        out: text(&output.stdout),
        err: text(&output.stderr),
    }
}

impl Said {
    /// Requires success, and a text in what it said.
    ///
    /// # Panics
    /// When it failed or did not say it.
    pub fn pass(self, wanted: &str) -> Self {
        assert_eq!(self.code, Some(0), "{self}");
        self.says(wanted)
    }

    /// Requires failure, and a text in what it said.
    ///
    /// # Panics
    /// When it succeeded or did not say it.
    pub fn fail(self, wanted: &str) -> Self {
        assert_eq!(self.code, Some(1), "{self}");
        self.says(wanted)
    }

    /// Requires a text in what it said.
    ///
    /// # Panics
    /// When it is not there.
    pub fn says(self, wanted: &str) -> Self {
        let said = self.out.contains(wanted) || self.err.contains(wanted);
        assert!(said, "{wanted:?} in:\n{self}");
        self
    }
}

impl std::fmt::Display for Said {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}\n{}\n{}", self.code, self.out, self.err)
    }
}
