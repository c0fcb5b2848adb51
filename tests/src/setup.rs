//! The engines under test, as `cargo xtask test` describes them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::Command;
use std::sync::LazyLock;

use serde::Deserialize;

/// The variable that describes the engines, as JSON.
const DESCRIPTION: &str = "LANEKIT_TEST_ENGINE";

/// Everything that is set up for the tests.
#[derive(Debug, Deserialize)]
pub struct Setup {
    /// The engine whose store has merge and diff, where it is ours.
    pub engine: Engine,
    /// The one whose store has not, where both are ours.
    pub graphdriver: Option<Engine>,
    /// A registry on loopback, `host:port`, where the engine is ours.
    pub registry: Option<String>,
    /// The frontend's image, in both engines' stores.
    pub frontend: String,
    /// The same image as an OCI layout directory.
    pub frontend_oci: String,
    /// The image of the frontend that builds a definition as it is (`src/bin/replay.rs`).
    pub replay: String,
    /// A busybox root.
    pub busybox: String,
    /// A root with clang and lld.
    pub clang: String,
}

/// An engine, by the environment in which `docker` means it.
#[derive(Debug, Deserialize)]
pub struct Engine {
    /// Whose it is: `private` and `graphdriver` are ours, `ambient` was there before.
    pub kind: String,
    /// Environment of `docker`.
    pub env: BTreeMap<String, String>,
    /// Whether it can merge.
    pub merge: bool,
}

impl Setup {
    /// The description; without one there is nothing to test on.
    ///
    /// # Panics
    /// When the tests were not started by `cargo xtask test`.
    pub fn get() -> &'static Self {
        static SETUP: LazyLock<Setup> = LazyLock::new(|| {
            let text = std::env::var(DESCRIPTION)
                .expect("these tests need an engine: run `cargo xtask test --only engine`");
            serde_json::from_str(&text).expect("the description of the engines")
        });
        &SETUP
    }

    /// Whether nobody but these tests builds on the engine, so that it may be pruned.
    pub fn is_private(&self) -> bool {
        self.engine.kind == "private"
    }

    /// The address of the registry. Beside an engine that is not ours there is none: `shows`, which needs one,
    /// is then skipped, and a line says so.
    pub fn registry(&self, shows: &str) -> Option<&str> {
        self.registry
            .as_deref()
            .or_else(|| skipped(shows, "no registry of ours runs beside this engine"))
    }

    /// Every engine, with merge and without.
    pub fn engines(&self) -> impl Iterator<Item = &Engine> {
        std::iter::once(&self.engine).chain(&self.graphdriver)
    }
}

/// Says that something is not shown, and why, where libtest does not swallow it.
pub fn skipped<T>(what: &str, why: &str) -> Option<T> {
    let _ = writeln!(std::io::stderr(), "skipped: {what}: {why}");
    None
}

/// `docker ARGS` on an engine; its standard output.
///
/// # Panics
/// When it fails.
pub fn docker(engine: &Engine, args: &[&str]) -> String {
    let output = command(engine).args(args).output().expect("docker starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "docker {args:?} on {}: {errors}",
        engine.kind
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn command(engine: &Engine) -> Command {
    let mut command = Command::new("docker");
    command.envs(&engine.env);
    if let Some(path) = engine.env.get("PATH") {
        // Where the program itself is looked for, too.
        let found = path
            .split(':')
            .map(|dir| format!("{dir}/docker"))
            .find(|p| std::path::Path::new(p).exists());
        if let Some(found) = found {
            command = Command::new(found);
            command.envs(&engine.env);
        }
    }
    command
}
