//! A build by `docker buildx build`, with its progress read.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use jiff::Timestamp;
use serde_json::Value;

use crate::setup::{Engine, Setup, command};

/// How long a build may take.
const LIMIT: Duration = Duration::from_secs(240);

/// A build that is about to run.
#[derive(Debug)]
pub struct Build<'a> {
    engine: &'a Engine,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    bases: bool,
}

/// What came of a build.
#[derive(Debug)]
pub struct Outcome {
    /// Whether it succeeded.
    pub ok: bool,
    /// What buildx said at the end: errors, with their lines.
    pub errors: String,
    /// The digests of all vertices that the engine loaded, whoever loaded them first.
    pub loaded: BTreeSet<String>,
    /// The vertices of this build, by digest.
    pub vertices: BTreeMap<String, Vertex>,
    /// What the steps printed, by vertex.
    pub logs: BTreeMap<String, String>,
    /// What the frontend warned of, a line each.
    pub warnings: Vec<String>,
    /// `--metadata-file`.
    pub metadata: Value,
}

/// A vertex as progress shows it.
#[derive(Debug, Clone, Default)]
pub struct Vertex {
    /// Its name.
    pub name: String,
    /// Whether it started.
    pub started: bool,
    /// Whether it ended.
    pub completed: bool,
    /// Whether it came from the cache.
    pub cached: bool,
    /// Why it failed.
    pub error: String,
}

impl Vertex {
    /// Whether it really ran to its end: not cached, not failed.
    pub fn ran(&self) -> bool {
        self.started && self.completed && !self.cached && self.error.is_empty()
    }
}

impl<'a> Build<'a> {
    /// A build of a directory with its `lanes.toml`; what it makes goes nowhere.
    pub fn new(engine: &'a Engine, directory: &Path) -> Self {
        let build = Self {
            engine,
            args: Vec::new(),
            env: BTreeMap::new(),
            bases: true,
        };
        let file = directory.join("lanes.toml");
        build
            .arg("--file")
            .arg(file.to_string_lossy())
            .arg(directory.to_string_lossy())
    }

    /// Where it builds.
    pub(crate) fn engine(&self) -> &'a Engine {
        self.engine
    }

    /// One more word for buildx.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Two more words.
    #[must_use]
    pub fn option(self, name: &str, value: impl Into<String>) -> Self {
        self.arg(name).arg(value)
    }

    /// What to build.
    #[must_use]
    pub fn target(self, target: &str) -> Self {
        self.option("--target", target)
    }

    /// A variable of the caller.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.env.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Leaves out the named contexts that stand for the bases of the examples.
    #[must_use]
    pub fn without_bases(mut self) -> Self {
        self.bases = false;
        self
    }

    /// Runs it.
    ///
    /// # Panics
    /// When buildx does not start, or takes longer than four minutes.
    pub fn run(self) -> Outcome {
        let metadata = tempfile::NamedTempFile::new().expect("a file");
        let mut command = command(self.engine);
        command
            .args(["buildx", "build", "--progress=rawjson"])
            .args(&self.args)
            .envs(&self.env);
        command.arg("--metadata-file").arg(metadata.path());
        if self.bases {
            let Setup { clang, busybox, .. } = Setup::get();
            for (name, image) in [("debian:bookworm-slim", clang), ("busybox:1.36", busybox)] {
                command.arg(format!("--build-context={name}=docker-image://{image}"));
            }
        }
        if !self
            .args
            .iter()
            .any(|arg| ["--output", "--tag", "--push"].contains(&arg.as_str()))
        {
            command.args(["--output", "type=cacheonly"]);
        }
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("docker starts");
        let mut pipe = child.stderr.take().expect("a pipe");
        let reader = std::thread::spawn(move || {
            let mut text = Vec::new();
            pipe.read_to_end(&mut text).map(|_| text)
        });
        let (start, clock) = (Instant::now(), Timestamp::now());
        let status = loop {
            if let Some(status) = child.try_wait().expect("a status") {
                break status;
            }
            if start.elapsed() > LIMIT {
                let _ = child.kill();
                panic!("the build took longer than {LIMIT:?}: {:?}", self.args);
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let text = reader.join().expect("a thread").expect("its output");
        let mut outcome = Outcome::read(&String::from_utf8_lossy(&text), clock);
        outcome.ok = status.success();
        let metadata = std::fs::read(metadata.path()).unwrap_or_default();
        outcome.metadata = serde_json::from_slice(&metadata).unwrap_or(Value::Null);
        outcome
    }

    /// Runs it and requires that it succeeds.
    ///
    /// # Panics
    /// When it fails.
    pub fn pass(self) -> Outcome {
        let outcome = self.run();
        assert!(
            outcome.ok,
            "the build failed:\n{}\n{}",
            outcome.errors,
            outcome.all_logs()
        );
        outcome
    }

    /// Runs it and requires that it fails.
    ///
    /// # Panics
    /// When it succeeds.
    pub fn fail(self) -> Outcome {
        let outcome = self.run();
        assert!(!outcome.ok, "the build succeeded");
        outcome
    }
}

impl Outcome {
    fn read(text: &str, since: Timestamp) -> Self {
        let mut outcome = Self {
            ok: false,
            errors: String::new(),
            loaded: BTreeSet::new(),
            vertices: BTreeMap::new(),
            logs: BTreeMap::new(),
            warnings: Vec::new(),
            metadata: Value::Null,
        };
        for line in text.lines() {
            match serde_json::from_str::<Value>(line) {
                Ok(Value::Object(status)) => outcome.status(&Value::Object(status), since),
                _ => {
                    outcome.errors.push_str(line);
                    outcome.errors.push('\n');
                }
            }
        }
        outcome
    }

    /// Takes one message. A vertex that started before this build did is another build's: the
    /// engine shows it while it joins ours to one of equal key (`solver/jobs.go`, edge merging).
    fn status(&mut self, status: &Value, since: Timestamp) {
        let list = |key: &str| status[key].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        for vertex in list("vertexes") {
            self.loaded.insert(text(&vertex["digest"]));
            let started = vertex["started"]
                .as_str()
                .and_then(|t| t.parse::<Timestamp>().ok());
            if started.is_some_and(|started| started < since) {
                continue;
            }
            let known = self.vertices.entry(text(&vertex["digest"])).or_default();
            known.name = text(&vertex["name"]);
            known.started |= !vertex["started"].is_null();
            known.completed |= !vertex["completed"].is_null();
            known.cached |= vertex["cached"].as_bool().unwrap_or_default();
            known.error.push_str(&text(&vertex["error"]));
        }
        for warning in list("warnings") {
            let short = BASE64_STANDARD
                .decode(text(&warning["short"]))
                .unwrap_or_default();
            self.warnings
                .push(String::from_utf8_lossy(&short).into_owned());
        }
        for log in list("logs") {
            let data = BASE64_STANDARD
                .decode(text(&log["data"]))
                .unwrap_or_default();
            let known = self.logs.entry(text(&log["vertex"])).or_default();
            known.push_str(&String::from_utf8_lossy(&data));
        }
    }

    /// The steps (`stage/step`) that ran.
    pub fn steps_run(&self) -> BTreeSet<String> {
        self.steps(Vertex::ran)
    }

    /// The steps that came from the cache.
    pub fn steps_cached(&self) -> BTreeSet<String> {
        self.steps(|vertex| vertex.cached)
    }

    /// The steps that started, however they ended.
    pub fn steps_started(&self) -> BTreeSet<String> {
        self.steps(|vertex| vertex.started && !vertex.cached)
    }

    fn steps(&self, wanted: impl Fn(&Vertex) -> bool) -> BTreeSet<String> {
        self.vertices
            .values()
            .filter(|vertex| wanted(vertex))
            .filter_map(|vertex| {
                let (step, _) = vertex.name.strip_prefix('[')?.split_once(']')?;
                step.contains('/').then(|| step.to_owned())
            })
            .collect()
    }

    /// The vertex whose name starts so.
    ///
    /// # Panics
    /// When the engine loaded none.
    pub fn vertex(&self, name: &str) -> &Vertex {
        let found = self
            .vertices
            .values()
            .find(|vertex| vertex.name.starts_with(name));
        found.unwrap_or_else(|| panic!("no vertex {name}: {:#?}", self.names()))
    }

    /// The names of all vertices.
    pub fn names(&self) -> BTreeSet<&str> {
        self.vertices
            .values()
            .map(|vertex| vertex.name.as_str())
            .collect()
    }

    /// What the vertex whose name starts so printed.
    pub fn log(&self, name: &str) -> &str {
        self.vertices
            .iter()
            .filter(|(_, vertex)| vertex.name.starts_with(name))
            .find_map(|(digest, _)| self.logs.get(digest))
            .map_or("", String::as_str)
    }

    /// What all vertices printed.
    pub fn all_logs(&self) -> String {
        self.logs
            .values()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n")
    }
}
