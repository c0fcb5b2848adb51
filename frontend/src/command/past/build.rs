//! `lanekit build`: a build by `docker buildx build`, with its progress shown and kept in the ledger. `lanekit record`:
//! the same of a build that somebody else made.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;
use stages::keys::{Manifest, SCHEMA};
use stages::plan::{Facts, Request};

use super::buildx::{Buildx, Scratch};
use super::client::{Asked, Client, facts};
use super::summary;
use super::{Stop, print};
use crate::ledger::{Ledger, Record, Run, record, tells};
use crate::progress::{Progress, Said};

/// Where CI takes a job's summary from, in Markdown (GitHub Actions, Forgejo, Gitea).
const JOB_SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// A build of a lane.
#[derive(Args, Debug)]
pub(in crate::command) struct Build {
    /// LANE, LANE/OUTPUT, LANE/STAGE or LANE/gates
    target: String,
    /// The lane file
    #[arg(long, short, default_value = "lanes.toml", value_name = "FILE")]
    file: PathBuf,
    /// The directory that steps take files from; without it that of the lane file
    #[arg(long, value_name = "DIRECTORY")]
    context: Option<PathBuf>,
    /// A file that the summary is appended to, in Markdown; without it GITHUB_STEP_SUMMARY, where that is set
    #[arg(long, value_name = "FILE")]
    summary_md: Option<PathBuf>,
    /// Options of `docker buildx build`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<String>,
}

/// A build that was made already.
#[derive(Args, Debug)]
pub(in crate::command) struct Recorded {
    #[command(flatten)]
    asked: Asked,
    /// What `docker buildx build --progress=rawjson` wrote to standard error
    #[arg(long, value_name = "FILE")]
    progress: PathBuf,
    /// What its `--metadata-file` wrote; a build that failed wrote none
    #[arg(long, value_name = "FILE")]
    metadata: Option<PathBuf>,
    /// What the builder is called
    #[arg(long, default_value = "default", value_name = "NAME")]
    engine: String,
    /// The build was told to ignore the cache
    #[arg(long)]
    no_cache: bool,
    /// A file that the summary is appended to, in Markdown; without it GITHUB_STEP_SUMMARY, where that is set
    #[arg(long, value_name = "FILE")]
    summary_md: Option<PathBuf>,
}

impl Build {
    pub(super) fn run(&self) -> Result<(), Stop> {
        let options = Options::read(&self.options);
        let asked = Asked {
            target: Some(self.target.clone()),
            file: self.file.clone(),
            context: self.context.clone(),
            args: options.args.clone(),
        };
        // What is wrong with the file is said before an engine is asked.
        let client = asked.open()?;
        let scratch = Scratch::new()?;
        let metadata = scratch.file("metadata.json");
        let build = Buildx::new(&asked, &self.target)
            .args([OsStr::new("--metadata-file"), metadata.as_os_str()])
            .args(&self.options);
        let (ok, progress) = build.run(&asked)?;
        let said = fs::read(&metadata).unwrap_or_default();
        let build = Made {
            ok,
            progress,
            metadata: serde_json::from_slice(&said).unwrap_or(Value::Null),
            engine: options.engine,
            no_cache: options.no_cache,
        };
        let ledger = Ledger::beside(&asked.file);
        let run = build.keep(&ledger, &build.manifest(&client, &ledger)?)?;
        finish(&run, self.summary_md.as_ref())?;
        if ok {
            Ok(())
        } else {
            Err(Stop::Unable("the build failed".to_owned()))
        }
    }
}

impl Recorded {
    pub(super) fn run(&self) -> Result<(), Stop> {
        let read = |path: &PathBuf| {
            fs::read(path).map_err(|error| Stop::Unable(format!("{}: {error}", path.display())))
        };
        let metadata = match &self.metadata {
            None => Value::Null,
            Some(path) => serde_json::from_slice(&read(path)?)
                .map_err(|error| Stop::Unable(format!("{}: {error}", path.display())))?,
        };
        if !metadata.is_object() && !metadata.is_null() {
            let path = self.metadata.as_deref().unwrap_or(Path::new("")).display();
            return Err(Stop::Unable(format!(
                "{path}: expected the object that --metadata-file of a build writes"
            )));
        }
        let progress = self.progress(&read(&self.progress)?)?;
        let client = self.asked.open()?;
        let build = Made {
            ok: !metadata.is_null(),
            progress,
            metadata,
            engine: self.engine.clone(),
            no_cache: if self.no_cache {
                NoCache::All
            } else {
                NoCache::Only(Vec::new())
            },
        };
        let ledger = Ledger::beside(&self.asked.file);
        let manifest = build.manifest(&client, &ledger)?;
        // One that failed may have come to no step.
        if build.ok && !manifest.nodes.is_empty() && !tells(&build.progress, &manifest) {
            return Err(Stop::Unable(format!(
                "{}: it is of another build: nothing in it is of lane {}",
                self.progress.display(),
                manifest.lane
            )));
        }
        let run = build.keep(&ledger, &manifest)?;
        finish(&run, self.summary_md.as_ref())
    }

    /// What the engine said, all of it: of half a build nothing right can be kept.
    fn progress(&self, said: &[u8]) -> Result<Progress, Stop> {
        let wrong = |why: String| Stop::Unable(format!("{}: {why}", self.progress.display()));
        let mut progress = Progress::new(None);
        for (number, line) in String::from_utf8_lossy(said).lines().enumerate() {
            let told = progress.line(line);
            // What buildx itself says begins otherwise.
            if line.starts_with('{') && told.iter().any(|said| matches!(said, Said::Text(_))) {
                let number = number + 1;
                return Err(wrong(format!("line {number} is cut off or no JSON")));
            }
        }
        if progress.vertices.is_empty() {
            return Err(wrong(
                "no step is in it: expected what `docker buildx build --progress=rawjson` writes to standard error".to_owned(),
            ));
        }
        Ok(progress)
    }
}

/// The manifest that a frontend of ours sent with a build.
fn sent(metadata: &Value) -> Result<Option<Manifest>, Stop> {
    let Some(sent) = metadata.get("frontend.lanekit.keys") else {
        return Ok(None);
    };
    let wrong = |why: String| Stop::Unable(format!("frontend.lanekit.keys of the metadata: {why}"));
    match sent["schema"].as_str() {
        Some(SCHEMA) => {}
        Some(other) => {
            return Err(wrong(format!(
                "found {other}, expected {SCHEMA}: the frontend is of another version than this lanekit"
            )));
        }
        None => return Err(wrong(format!("expected {SCHEMA}, found no schema"))),
    }
    let manifest = serde_json::from_value(sent.clone());
    manifest.map(Some).map_err(|error| wrong(error.to_string()))
}

/// Shows what a build did, and appends it to the file that was asked for, else to the summary of the CI job.
fn finish(run: &Run, summary_md: Option<&PathBuf>) -> Result<(), Stop> {
    print(&summary::text(run))?;
    let job = || std::env::var_os(JOB_SUMMARY).filter(|path| !path.is_empty());
    let Some(path) = summary_md.cloned().or_else(|| job().map(PathBuf::from)) else {
        return Ok(());
    };
    let unable = |error: std::io::Error| Stop::Unable(format!("{}: {error}", path.display()));
    let file = fs::OpenOptions::new().create(true).append(true).open(&path);
    file.and_then(|mut file| file.write_all(summary::markdown(run).as_bytes()))
        .map_err(unable)
}

/// A build that is over.
struct Made {
    ok: bool,
    progress: Progress,
    metadata: Value,
    engine: String,
    no_cache: NoCache,
}

impl Made {
    fn keep(&self, ledger: &Ledger, manifest: &Manifest) -> Result<Run, Stop> {
        let no_cache = |name: &str| match &self.no_cache {
            NoCache::All => true,
            NoCache::Only(names) => names.iter().any(|one| one.eq_ignore_ascii_case(name)),
        };
        let build = Record {
            manifest,
            progress: &self.progress,
            engine: self.engine.clone(),
            ok: self.ok,
            no_cache: &no_cache,
            metadata: &self.metadata,
        };
        let place = ledger.directory().display();
        record(ledger, &build).map_err(|error| Stop::Unable(format!("the ledger {place}: {error}")))
    }

    /// What the frontend sent back, with the digests of files; where it sent nothing, with what the build before knew of
    /// images.
    fn manifest(&self, client: &Client, ledger: &Ledger) -> Result<Manifest, Stop> {
        if let Some(mut manifest) = sent(&self.metadata)? {
            if !manifest.nodes.is_empty() {
                manifest.fill(&|path| client.contents.digest(path));
                return Ok(manifest);
            }
            let request = Request {
                target: Some(manifest.target.clone()).filter(|target| !target.is_empty()),
                args: manifest.args.clone(),
                platforms: Vec::new(),
                group: None,
            };
            return client.manifest(&request, &facts(manifest.lookups()));
        }
        let assumed = client.manifest(&client.request, &Facts::default())?;
        match ledger.manifest(&assumed.lane) {
            None => Ok(assumed),
            Some(before) => client.manifest(&client.request, &facts(before.lookups())),
        }
    }
}

/// What of buildx's options matters here.
pub(super) struct Options {
    pub(super) args: Vec<String>,
    engine: String,
    no_cache: NoCache,
}

enum NoCache {
    All,
    Only(Vec<String>),
}

impl Options {
    pub(super) fn read(words: &[String]) -> Self {
        let value = |names: [&str; 2]| -> Vec<String> {
            let of_word = |(i, word): (usize, &String)| match word.split_once('=') {
                Some((name, value)) if names.contains(&name) => Some(value.to_owned()),
                _ if names.contains(&word.as_str()) => words.get(i + 1).cloned(),
                _ => None,
            };
            words.iter().enumerate().filter_map(of_word).collect()
        };
        let filters = value(["--no-cache-filter"; 2]);
        let filters = filters.iter().flat_map(|list| list.split(','));
        let builder = value(["--builder"; 2]).pop();
        let from_env = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let engine = builder
            .or_else(|| from_env("BUILDX_BUILDER"))
            .or_else(|| from_env("DOCKER_CONTEXT"))
            .or_else(|| from_env("DOCKER_HOST"));
        let all = |word: &String| word == "--no-cache" || word == "--no-cache=true";
        // An argument without a value is taken out of the environment, as buildx does.
        let args = value(["--build-arg"; 2]).into_iter().filter_map(|arg| {
            if arg.contains('=') {
                return Some(arg);
            }
            from_env(&arg).map(|value| format!("{arg}={value}"))
        });
        Self {
            args: args.collect(),
            engine: engine.unwrap_or_else(|| "default".to_owned()),
            no_cache: if words.iter().any(all) {
                NoCache::All
            } else {
                NoCache::Only(filters.map(str::to_owned).collect())
            },
        }
    }
}
