//! `lanekit impact`: what a change re-runs, before it is made.

use std::collections::BTreeMap;
use std::fs;
use std::mem;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::{ArgGroup, Args, ValueEnum};
use stages::both;
use stages::diag::suggest;
use stages::graph::Graph;
use stages::impact::{Impact, Known, impact};
use stages::keys::{Draft, Lookups, Manifest};
use stages::plan::{Facts, PIN, RESERVED};
use stages::predefined::taken;

use super::client::{Asked, Client, facts, pairs};
use super::{Stop, WRONG, note, print, times};
use crate::ledger::{History, Ledger};

/// What a change re-runs.
#[derive(Args, Debug)]
#[command(group(ArgGroup::new("change").args(["changes", "paths", "since"]).multiple(true).required(true)))]
pub(in crate::command) struct ImpactOf {
    /// Arguments, switches or pins with the values that they would have
    #[arg(value_name = "NAME=VALUE")]
    changes: Vec<String>,
    /// Files or directories of the context that would change
    #[arg(long = "file", value_name = "PATH")]
    paths: Vec<String>,
    /// Everything that changed since this revision of the repository
    #[arg(long, value_name = "GIT-REV", conflicts_with_all = ["changes", "paths"])]
    since: Option<String>,
    /// What is built, as a target
    #[arg(long, short)]
    target: Option<String>,
    /// The lane file
    #[arg(
        long = "lanes",
        short = 'f',
        default_value = "lanes.toml",
        value_name = "FILE"
    )]
    file: PathBuf,
    /// The directory that steps take files from; without it that of the lane file
    #[arg(long, value_name = "DIRECTORY")]
    context: Option<PathBuf>,
    /// Arguments that stay as they are given here
    #[arg(long = "build-arg", value_name = "NAME=VALUE")]
    args: Vec<String>,
    /// How many steps the engine runs at a time
    #[arg(long, default_value = "4", value_name = "N")]
    workers: NonZeroUsize,
    /// Seconds of steps that no build measured: {"steps": {"STAGE/STEP": {"seconds": 12.5}}}
    #[arg(long, value_name = "FILE")]
    seconds: Option<PathBuf>,
    /// Exit with 1 when what must run takes longer, by the times in the ledger
    #[arg(long, value_name = "SECONDS", value_parser = budget, allow_negative_numbers = true)]
    max_seconds: Option<f64>,
    /// How it is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Markdown,
    Json,
}

/// How long something may take, in seconds.
fn budget(text: &str) -> Result<f64, String> {
    let most = text.parse().ok();
    let most = most.filter(|most: &f64| most.is_finite() && *most >= 0.0);
    most.ok_or_else(|| "expected seconds: a number from 0 on".to_owned())
}

impl ImpactOf {
    pub(super) fn run(&self) -> Result<(), Stop> {
        let impact = self.find()?;
        print(&match self.format {
            Format::Text => impact.text(),
            Format::Markdown => impact.markdown(),
            Format::Json => {
                let json = serde_json::to_string_pretty(&impact);
                json.map_err(|error| Stop::Unable(error.to_string()))? + "\n"
            }
        })?;
        match self.max_seconds {
            Some(most) if impact.must.total > most => Err(Stop::Said(WRONG)),
            _ => Ok(()),
        }
    }

    fn find(&self) -> Result<Impact, Stop> {
        if self.paths.iter().any(String::is_empty) {
            return Err(Stop::Unable("--file says nothing".to_owned()));
        }
        let asked = Asked {
            target: self.target.clone(),
            file: self.file.clone(),
            context: self.context.clone(),
            args: self.args.clone(),
        };
        let ledger = Ledger::beside(&self.file);
        let (mut past, client) = both(|| Past::read(&ledger), || asked.open());
        let client = client?;
        let lane = client.lane(&client.request)?;
        let facts = past.lookups.remove(&lane).map(facts).unwrap_or_default();
        let (old, new) = self.manifests(&asked, &client, &facts)?;
        // What the change is compared with counts as built; so does all that the ledger knows.
        for node in &old.nodes {
            past.known.add(&node.key, &node.own);
        }
        let mut seconds = match &self.seconds {
            Some(path) => times::read(path, &client.loaded.graph)?,
            None => BTreeMap::new(),
        };
        // What was measured here counts for more than what somebody wrote down.
        seconds.extend(past.seconds.remove(&lane).unwrap_or_default());
        let impact = impact(&old, &new, &past.known, &seconds, self.workers.get());
        self.say_unseen(&asked.directory(), &old);
        // The process ends with this answer: to take a large graph apart first would only make people wait.
        mem::forget((client, old, new, past));
        Ok(impact)
    }

    /// Says which of the files no step sees: that nothing runs is then right, or the path is not.
    fn say_unseen(&self, context: &Path, manifest: &Manifest) {
        for path in self.paths.iter().filter(|path| !manifest.sees(path)) {
            let there = match context.join(path).exists() {
                true => "",
                false => ", and the context has no such file",
            };
            note(&format!(
                "no step of lane {} sees {path}{there}",
                manifest.lane
            ));
        }
    }

    /// What was, and what would be.
    fn manifests(
        &self,
        asked: &Asked,
        client: &Client,
        facts: &Facts,
    ) -> Result<(Manifest, Manifest), Stop> {
        let (now, other) = both(
            || client.manifest(&client.request, facts),
            || match &self.since {
                Some(revision) => Some(since(revision, asked, facts)),
                None => self.other(client, facts),
            },
        );
        let now = now?;
        // Most of both is the same.
        let other = other
            .transpose()?
            .map(|other: Draft| other.seal_beside(&now));
        let (old, new) = match (other, &self.since) {
            (Some(then), Some(_)) => (then, now),
            (Some(new), None) => (now, new),
            (None, _) => (now.clone(), now),
        };
        let new = self
            .paths
            .iter()
            .fold(new, |new, path| new.with_changed_file(path));
        Ok((old, new))
    }

    /// The manifest with the values that the command line changes, if it does.
    fn other(&self, client: &Client, facts: &Facts) -> Option<Result<Draft, Stop>> {
        let pins = &client.loaded.graph.pins;
        let mut request = client.request.clone();
        let changes = match pairs(&self.changes) {
            Ok(changes) => changes,
            Err(stop) => return Some(Err(stop)),
        };
        for (name, value) in changes {
            if let Err(stop) = is_known(&client.loaded.graph, &name) {
                return Some(Err(stop));
            }
            let name = match pins.contains_key(&name) {
                true => format!("{PIN}{name}"),
                false => name,
            };
            request.args.insert(name, value);
        }
        (request.args != client.request.args).then(|| client.draft(&request, facts))
    }
}

/// That something has this name, whose value a change could change.
fn is_known(graph: &Graph, name: &str) -> Result<(), Stop> {
    let args = graph.args.keys().chain(graph.switches.keys());
    let names = args.chain(graph.pins.keys()).map(String::as_str);
    // Of these the plan says what they are, and why they cannot be changed so.
    let others = graph.hosts.contains_key(name) || name.starts_with(RESERVED);
    if others || taken(name).is_some() || names.clone().any(|known| known == name) {
        return Ok(());
    }
    let nearest = suggest(name, names);
    Err(Stop::Unable(format!(
        "`{name}` is no argument, switch or pin: {nearest}"
    )))
}

/// What the ledger says of past builds.
struct Past {
    /// What any lane built: what lanes have in common is built once.
    known: Known,
    /// How long nodes took, by lane and id.
    seconds: BTreeMap<String, BTreeMap<String, f64>>,
    /// What was looked up, by lane.
    lookups: BTreeMap<String, Lookups>,
}

impl Past {
    fn read(ledger: &Ledger) -> Self {
        let histories = ledger.histories();
        let mut known = Known::default();
        for (key, own) in histories.values().flat_map(History::keys) {
            known.add(key, own);
        }
        let (mut seconds, mut lookups) = (BTreeMap::new(), BTreeMap::new());
        for (lane, history) in histories {
            seconds.insert(lane.clone(), history.seconds());
            // Another lanekit may have left it out.
            let found = history.lookups.or_else(|| ledger.lookups(&lane));
            lookups.extend(found.map(|found| (lane, found)));
        }
        Self {
            known,
            seconds,
            lookups,
        }
    }
}

/// The manifest of a revision of the repository that the lane file is in.
fn since(revision: &str, asked: &Asked, facts: &Facts) -> Result<Draft, Stop> {
    let beside = asked.file.parent().unwrap_or(Path::new(""));
    let top = git(beside, &["rev-parse", "--show-toplevel"])?;
    let top = PathBuf::from(String::from_utf8_lossy(&top).trim_end());
    let below = |path: &Path| -> Result<PathBuf, Stop> {
        let whole = fs::canonicalize(if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        });
        let whole = whole.map_err(|error| Stop::Unable(format!("{}: {error}", path.display())))?;
        let outside = |_| Stop::Unable(format!("{} is in no repository", path.display()));
        Ok(whole.strip_prefix(&top).map_err(outside)?.to_owned())
    };
    let name = asked.file.file_name().unwrap_or_default();
    let (file, context) = (below(beside)?.join(name), below(&asked.directory())?);
    let commit = format!("{revision}^{{commit}}");
    let commit = git(&top, &["rev-parse", "--verify", "--quiet", &commit]).map_err(|_| {
        Stop::Unable(format!(
            "--since: the repository has no commit `{revision}`"
        ))
    })?;
    let commit = String::from_utf8_lossy(&commit).trim_end().to_owned();
    let place =
        std::env::temp_dir().join(format!("lanekit-{}-{}", std::process::id(), &commit[..12]));
    let checkout = Checkout { place };
    fs::create_dir_all(&checkout.place).map_err(|error| Stop::Unable(error.to_string()))?;
    checkout.fill(&top, &commit)?;
    let there = Asked {
        file: checkout.place.join(&file),
        context: Some(checkout.place.join(&context)),
        ..asked.clone()
    };
    if !there.file.exists() {
        let file = file.display();
        return Err(Stop::Unable(format!("--since: {revision} has no {file}")));
    }
    // What is wrong with it stands in no file that is here.
    let of_then = |stop| match stop {
        Stop::Wrong(wrong) => Stop::Wrong(wrong.of_revision(revision)),
        other => other,
    };
    let client = there.open().map_err(of_then)?;
    client.draft(&client.request, facts).map_err(of_then)
}

/// The files of a revision, gone when dropped.
struct Checkout {
    place: PathBuf,
}

impl Checkout {
    fn fill(&self, top: &Path, commit: &str) -> Result<(), Stop> {
        let index = self.place.join(".index");
        let work_tree = self.place.display().to_string();
        let args = ["--work-tree", &work_tree, "read-tree", commit];
        git_with(top, &args, &index)?;
        let args = [
            "--work-tree",
            &work_tree,
            "checkout-index",
            "--all",
            "--force",
        ];
        git_with(top, &args, &index)?;
        fs::remove_file(index).map_err(|error| Stop::Unable(error.to_string()))
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.place);
    }
}

fn git(directory: &Path, args: &[&str]) -> Result<Vec<u8>, Stop> {
    run_git(directory, Command::new("git").args(args))
}

/// With an index of its own, so that the repository's stays as it is.
fn git_with(directory: &Path, args: &[&str], index: &Path) -> Result<Vec<u8>, Stop> {
    run_git(
        directory,
        Command::new("git").args(args).env("GIT_INDEX_FILE", index),
    )
}

fn run_git(directory: &Path, command: &mut Command) -> Result<Vec<u8>, Stop> {
    let unable = |why: String| Stop::Unable(format!("git: {why}"));
    if !directory.as_os_str().is_empty() {
        command.current_dir(directory);
    }
    let output = command
        .output()
        .map_err(|error| unable(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(unable(said.trim_end().to_owned()));
    }
    Ok(output.stdout)
}
