//! The command `lanekit`, beside an example and with an engine.

use std::process::Command;

use crate::{Engine, Example, Setup};

/// A caller of it.
#[derive(Debug)]
pub struct Lanekit<'a> {
    program: &'static str,
    engine: &'a Engine,
    example: &'a Example,
}

/// What it said.
#[derive(Debug)]
pub struct Answer {
    /// How it ended.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl<'a> Lanekit<'a> {
    /// `program` is `env!("CARGO_BIN_EXE_lanekit-command")`, which only tests know.
    pub fn new(program: &'static str, engine: &'a Engine, example: &'a Example) -> Self {
        Self {
            program,
            engine,
            example,
        }
    }

    /// Runs it in the example's directory.
    ///
    /// # Panics
    /// When it does not start.
    pub fn run(&self, words: &[&str]) -> Answer {
        let output = Command::new(self.program)
            .current_dir(self.example.path())
            .args(words)
            .envs(&self.engine.env)
            .output()
            .expect("lanekit starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Answer {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// Runs it, which must succeed, and hands back its answer.
    ///
    /// # Panics
    /// When it fails.
    pub fn pass(&self, words: &[&str]) -> String {
        let answer = self.run(words);
        assert_eq!(answer.code, Some(0), "{words:?}: {answer:?}");
        answer.out
    }

    /// `lanekit build` of a target that goes nowhere; its summary.
    ///
    /// # Panics
    /// When it fails.
    pub fn build(&self, target: &str, options: &[&str]) -> String {
        let bases = bases();
        let mut words = vec!["build", target, "--output", "type=cacheonly"];
        words.extend(bases.iter().map(String::as_str));
        words.extend(options);
        self.pass(&words)
    }

    /// `lanekit repro` with the example's bases.
    pub fn repro(&self, words: &[&str]) -> Answer {
        let bases = bases();
        let mut all = vec!["repro"];
        all.extend(words);
        all.push("--");
        all.extend(bases.iter().map(String::as_str));
        self.run(&all)
    }
}

/// The named contexts that stand for the bases of the examples.
fn bases() -> Vec<String> {
    let Setup { clang, busybox, .. } = Setup::get();
    let bases = [("debian:bookworm-slim", clang), ("busybox:1.36", busybox)];
    let named = |(name, image)| format!("--build-context={name}=docker-image://{image}");
    bases.into_iter().map(named).collect()
}
