//! The Docker Engine that the demo and the tests build on.
//!
//! Where a Docker with BuildKit is reachable it is used as it is. Elsewhere a
//! private one is unpacked from Debian packages and started beside whatever
//! else runs: own programs, state, sockets, bridge and registry, all named
//! after one directory, so that several checkouts do not meet.

mod apt;
mod daemon;
mod install;
mod instance;
mod registry;

pub(crate) use apt::{Suite, unpack};

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::repo;
use crate::run::{self, Said};
use install::Prefix;
use instance::{Instance, Store};
use registry::Registry;

/// How long a question to the engine may take.
const ASK: Duration = Duration::from_secs(30);
/// How long to wait for another `engine` command to end.
const LOCK: Duration = Duration::from_secs(900);

/// An engine that can be built with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Engine {
    /// `DOCKER_HOST`; without one, what the environment says.
    pub(crate) docker_host: Option<String>,
    /// `DOCKER_CONFIG`; without one, what the environment says.
    pub(crate) docker_config: Option<PathBuf>,
    /// The builder that sees the engine's own images.
    pub(crate) builder: String,
    /// Folders with the client's programs, before those of `PATH`.
    pub(crate) path: Vec<PathBuf>,
    /// Whose engine it is.
    pub(crate) kind: Kind,
}

/// Whose engine it is, and how it stores images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It was there before; nothing of it is ours.
    Ambient,
    /// Ours, with the containerd image store (merge and diff work).
    Private,
    /// Ours, with a graph driver (merge and diff do not exist).
    GraphDriver,
}

impl Kind {
    /// Its name, for tests.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Ambient => "ambient",
            Kind::Private => "private",
            Kind::GraphDriver => "graphdriver",
        }
    }
}

/// What `up` is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    /// Use the private engine even where another one is reachable.
    pub(crate) private: bool,
    /// Start the engine without merge and diff too.
    pub(crate) graphdriver: bool,
}

impl Wish {
    /// An engine without merge and diff is always ours.
    pub(crate) fn new(private: bool, graphdriver: bool) -> Wish {
        Wish {
            private: private || graphdriver,
            graphdriver,
        }
    }

    /// The second engine too, unless the first is one that was there before.
    pub(crate) fn with_graphdriver(self) -> Wish {
        Wish {
            graphdriver: true,
            ..self
        }
    }
}

/// What runs after `up`.
#[derive(Debug, Clone)]
pub(crate) struct Engines {
    /// The engine to build with.
    pub(crate) main: Engine,
    /// The engine without merge and diff, where it was asked for.
    pub(crate) graphdriver: Option<Engine>,
    /// The address of the registry on loopback; an ambient engine has none.
    pub(crate) registry: Option<String>,
}

impl Engines {
    /// All of them, the one to build with first.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Engine> {
        [&self.main].into_iter().chain(&self.graphdriver)
    }
}

impl Engine {
    /// A `docker` command for this engine.
    pub(crate) fn docker<S: AsRef<str>>(&self, args: &[S]) -> Result<Command> {
        let program = self
            .path
            .iter()
            .map(|dir| dir.join("docker"))
            .find(|file| file.is_file())
            .unwrap_or_else(|| PathBuf::from("docker"));
        let mut command = Command::new(program);
        command.args(args.iter().map(AsRef::as_ref));
        for (name, value) in self.env()? {
            command.env(name, value);
        }
        Ok(command)
    }

    /// Runs `docker` within a time and hands back what it said.
    pub(crate) fn run(&self, args: &[&str], limit: Duration) -> Result<Said> {
        run::output(&mut self.docker(args)?, limit)
    }

    /// What an environment needs, so that `docker` means this engine.
    pub(crate) fn env(&self) -> Result<Vec<(&'static str, String)>> {
        let mut env = Vec::new();
        if let Some(host) = &self.docker_host {
            env.push(("DOCKER_HOST", host.clone()));
        }
        if let Some(config) = &self.docker_config {
            env.push(("DOCKER_CONFIG", config.display().to_string()));
            env.push(("BUILDX_CONFIG", config.join("buildx").display().to_string()));
        }
        env.push(("BUILDX_BUILDER", self.builder.clone()));
        if !self.path.is_empty() {
            let path = daemon::search_path(&self.path)?;
            env.push(("PATH", path.to_string_lossy().into_owned()));
        }
        Ok(env)
    }

    /// Whether its BuildKit has merge and diff.
    pub(crate) fn has_merge(&self) -> Result<bool> {
        Ok(self.info()?.merge)
    }

    /// What the engine says about itself.
    fn info(&self) -> Result<Info> {
        let format = "{{json .}}";
        let said = self.run(&["info", "--format", format], ASK)?;
        let info: serde_json::Value = serde_json::from_str(&said.out)?;
        let buildx = self.run(&["buildx", "version"], ASK)?.out;
        let text = |key: &str| info[key].as_str().unwrap_or("?").to_owned();
        Ok(Info {
            version: text("ServerVersion"),
            buildx: buildx.split_whitespace().nth(1).unwrap_or("?").to_owned(),
            driver: text("Driver"),
            merge: info["DriverStatus"]
                .to_string()
                .contains("io.containerd.snapshotter"),
        })
    }
}

/// What an engine says about itself.
struct Info {
    version: String,
    buildx: String,
    driver: String,
    /// BuildKit in dockerd has merge and diff with the containerd store only.
    merge: bool,
}

/// Makes sure that an engine runs, and says which.
pub(crate) fn up(wish: Wish) -> Result<Engines> {
    let base = base();
    let running = private(&base).is_some_and(|(main, _, _)| main.is_up());
    if !wish.private
        && !running
        && let Some(main) = ambient()
    {
        return Ok(Engines {
            main,
            graphdriver: None,
            registry: None,
        });
    }
    if !rustix::process::geteuid().is_root() {
        bail!(
            "a private engine needs root: run this as root, \
             or make a Docker with BuildKit reachable"
        );
    }
    let _lock = lock(&base)?;
    let prefix = Prefix::ensure(&base)?;
    let main = Instance::new(&base, &prefix, Store::Containerd);
    let graph = Instance::new(&base, &prefix, Store::GraphDriver);
    let registry = Registry::new(&base, &prefix)?;
    main.start()?;
    registry.start()?;
    if wish.graphdriver {
        graph.start()?;
    }
    Ok(Engines {
        main: main.engine(),
        graphdriver: wish.graphdriver.then(|| graph.engine()),
        registry: Some(registry.address()),
    })
}

/// Stops what `up` started; hands back the names of what ran.
pub(crate) fn down() -> Result<Vec<String>> {
    let base = base();
    if !base.exists() {
        return Ok(Vec::new());
    }
    let _lock = lock(&base)?;
    let Some((main, graph, registry)) = private(&base) else {
        return Ok(Vec::new());
    };
    let mut stopped = registry.stop()?;
    stopped.extend(graph.stop()?);
    stopped.extend(main.stop()?);
    Ok(stopped)
}

/// A table of what runs.
pub(crate) fn status() -> Result<String> {
    let mut rows = vec![row([
        "engine", "state", "docker", "buildx", "storage", "merge",
    ])];
    let base = base();
    let mut any = false;
    if let Some((main, graph, registry)) = private(&base) {
        for instance in [&main, &graph] {
            rows.push(match instance.is_up().then(|| instance.engine().info()) {
                Some(info) => {
                    any = true;
                    info_row(instance.name(), &info?)
                }
                None => row([instance.name(), "down", "-", "-", "-", "-"]),
            });
        }
        let (state, version) = if registry.is_up() {
            (registry.address(), registry.version())
        } else {
            ("down".to_owned(), "-".to_owned())
        };
        rows.push(row(["registry", &state, &version, "-", "-", "-"]));
    }
    if !any {
        rows.push(match ambient() {
            Some(engine) => info_row("ambient", &engine.info()?),
            None => row(["ambient", "none", "-", "-", "-", "-"]),
        });
    }
    Ok(table(&rows))
}

/// The engine that runs, to be used by a shell.
pub(crate) fn env(graphdriver: bool) -> Result<String> {
    let base = base();
    let found = private(&base)
        .map(|(main, graph, _)| if graphdriver { graph } else { main })
        .filter(Instance::is_up)
        .map(|instance| instance.engine());
    let engine = match found {
        Some(engine) => engine,
        None if graphdriver => bail!("that engine is down: cargo xtask engine up --graphdriver"),
        None => ambient().context("no engine runs: cargo xtask engine up")?,
    };
    let mut text = String::new();
    for (name, value) in engine.env()? {
        if name == "PATH" {
            let own = std::env::join_paths(&engine.path)?;
            text.push_str(&format!(
                "export PATH={}:\"$PATH\"\n",
                quoted(&own.to_string_lossy())
            ));
        } else {
            text.push_str(&format!("export {name}={}\n", quoted(&value)));
        }
    }
    Ok(text)
}

/// An engine that is there already and can build.
fn ambient() -> Option<Engine> {
    run::which("docker")?;
    let mut engine = Engine {
        docker_host: None,
        docker_config: None,
        builder: "default".to_owned(),
        path: Vec::new(),
        kind: Kind::Ambient,
    };
    let ask = |engine: &Engine, args: &[&str]| engine.run(args, ASK).ok().map(|said| said.out);
    // Without a server this fails; the client alone would say something.
    ask(&engine, &["version", "--format", "{{.Server.Version}}"])?;
    // Each context has a builder of its name, which is the engine itself; the
    // one in use may be another, without the engine's images.
    engine.builder = ask(&engine, &["context", "show"])?.trim().to_owned();
    let builder = ask(&engine, &["buildx", "inspect", &engine.builder])?;
    is_engine_itself(&builder).then_some(engine)
}

/// Whether `docker buildx inspect` describes the engine's own BuildKit, running.
fn is_engine_itself(inspected: &str) -> bool {
    let field = |name: &str| {
        inspected
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(str::trim)
    };
    field("Driver") == Some("docker") && field("Status") == Some("running")
}

/// What the private engine consists of, if it was ever unpacked.
fn private(base: &Path) -> Option<(Instance, Instance, Registry)> {
    let prefix = Prefix::find(base)?;
    Some((
        Instance::new(base, &prefix, Store::Containerd),
        Instance::new(base, &prefix, Store::GraphDriver),
        Registry::new(base, &prefix).ok()?,
    ))
}

/// The directory that holds everything of the private engine.
pub(crate) fn base() -> PathBuf {
    match std::env::var_os("LANEKIT_ENGINE_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => repo::root().join(dir),
        None => repo::root().join(".engine"),
    }
}

/// The first of some suites that can be read from this machine; the machine's
/// own comes last.
pub(crate) fn suite(names: &[&str]) -> Result<Suite> {
    let own = apt::own_suite()?;
    let mut names = names.to_vec();
    names.push(&own);
    Suite::first(&base().join("apt"), &names, &apt::origins(&own)?)
}

/// Keeps two commands from setting up the same engine at once.
fn lock(base: &Path) -> Result<File> {
    fs::create_dir_all(base).with_context(|| format!("cannot make {}", base.display()))?;
    let file = File::create(base.join("lock"))?;
    let held = run::until(LOCK, || match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error.into()),
    })?;
    if !held {
        bail!(
            "another engine command holds {}",
            base.join("lock").display()
        );
    }
    Ok(file)
}

fn info_row(name: &str, info: &Info) -> Vec<String> {
    let merge = if info.merge { "yes" } else { "no" };
    row([name, "up", &info.version, &info.buildx, &info.driver, merge])
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// Rows of equal length as columns.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// A word that a POSIX shell takes as it is.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_straight_columns_and_no_trailing_blanks() {
        let rows = vec![row(["a", "long cell", "x"]), row(["wide", "b", "y"])];
        assert_eq!(table(&rows), "a     long cell  x\nwide  b          y\n");
    }

    #[test]
    fn only_a_running_builder_that_is_the_engine_counts() {
        let inspected = |driver: &str, status: &str| {
            format!(
                "Name:   default\nDriver: {driver}\n\nNodes:\nName:             default\n\
                 Endpoint:         default\nStatus:           {status}\nPlatforms: linux/amd64\n"
            )
        };
        assert!(is_engine_itself(&inspected("docker", "running")));
        assert!(!is_engine_itself(&inspected("docker-container", "running")));
        assert!(!is_engine_itself(&inspected("docker", "inactive")));
        assert!(!is_engine_itself(""));
    }

    #[test]
    fn a_quoted_word_survives_a_shell() {
        let word = "it's a $HOME `dir`";
        let said = run::output(
            Command::new("sh").args(["-c", &format!("printf %s {}", quoted(word))]),
            Duration::from_secs(5),
        )
        .unwrap();
        assert_eq!(said.out, word);
    }
}
