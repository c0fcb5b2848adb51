//! What verbs that need no engine plan with: the lane file, the files beside it, and what an engine once said.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use stages::diag::Report;
use stages::keys::{self, Draft, GitKey, ImageKey, Lookups, Manifest, PayloadKey};
use stages::lower::ExecOptions;
use stages::plan::{self, Commit, Facts, ImageFact, ImageSource, PayloadFact, Plan, Request};

use super::{Stop, load, payload_facts};
use crate::contents::DiskContents;
use crate::lanefile::{Loaded, Wrong};

/// What to look at.
#[derive(Args, Clone, Debug)]
pub(super) struct Asked {
    /// LANE, LANE/OUTPUT, LANE/STAGE or LANE/gates; without it the default lane
    pub(super) target: Option<String>,
    /// The lane file
    #[arg(long, short, default_value = "lanes.toml", value_name = "FILE")]
    pub(super) file: PathBuf,
    /// The directory that steps take files from; without it that of the lane file
    #[arg(long, value_name = "DIRECTORY")]
    pub(super) context: Option<PathBuf>,
    /// Arguments, as for a build
    #[arg(long = "build-arg", value_name = "NAME=VALUE")]
    pub(super) args: Vec<String>,
}

/// A lane file with what belongs to it.
pub(super) struct Client {
    pub(super) loaded: Loaded,
    pub(super) contents: DiskContents,
    pub(super) request: Request,
    directory: PathBuf,
}

impl Asked {
    /// Reads the lane file.
    pub(super) fn open(&self) -> Result<Client, Stop> {
        if let Some(context) = self.context.as_ref().filter(|context| !context.is_dir()) {
            let why = format!("--context {} is no directory", context.display());
            return Err(Stop::Unable(why));
        }
        Ok(Client {
            directory: self.directory(),
            loaded: load(&self.file)?,
            contents: DiskContents::open(&self.directory(), &self.file).map_err(Stop::Unable)?,
            request: Request {
                target: self.target.clone(),
                args: pairs(&self.args)?,
                platforms: Vec::new(),
                group: None,
            },
        })
    }

    /// The directory that steps take files from.
    pub(super) fn directory(&self) -> PathBuf {
        let beside = || self.file.parent().map(PathBuf::from).unwrap_or_default();
        self.context.clone().unwrap_or_else(beside)
    }
}

/// Texts `NAME=VALUE`, by name; the last one of a name counts, as for a build.
pub(super) fn pairs(texts: &[String]) -> Result<BTreeMap<String, String>, Stop> {
    texts
        .iter()
        .map(|text| match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
            _ => Err(Stop::Unable(format!("`{text}` is not NAME=VALUE"))),
        })
        .collect()
}

impl Client {
    /// The lane that a request means.
    pub(super) fn lane(&self, request: &Request) -> Result<String, Stop> {
        let selection = plan::select(&self.loaded.graph, request);
        let selection = selection.map_err(|report| self.wrong(report))?;
        Ok(selection.setting.name.to_owned())
    }

    fn wrong(&self, report: Report) -> Stop {
        Stop::Wrong(Wrong {
            sources: self.loaded.sources.clone(),
            report,
        })
    }

    /// The manifest of a request, with what an engine once said of images.
    pub(super) fn manifest(&self, request: &Request, facts: &Facts) -> Result<Manifest, Stop> {
        Ok(self.draft(request, facts)?.seal())
    }

    /// The same, without its keys.
    pub(super) fn draft(&self, request: &Request, facts: &Facts) -> Result<Draft, Stop> {
        let facts = &self.with_payloads(facts)?;
        let plan = self.planned(request, facts)?;
        let name = &self.loaded.graph.table.name.value;
        let contents = |path: &str| self.contents.digest(path);
        let options = ExecOptions::default();
        Ok(keys::draft(
            name, request, &plan, facts, &options, &contents,
        ))
    }

    /// What is in the directory now; of named contexts, what an engine once said.
    fn with_payloads(&self, facts: &Facts) -> Result<Facts, Stop> {
        let mut facts = facts.clone();
        let found = payload_facts(&self.directory, &self.loaded.graph)?;
        facts.payloads.extend(found);
        Ok(facts)
    }

    /// The plan of a request, with what an engine once said of images.
    pub(super) fn plan(&self, request: &Request, facts: &Facts) -> Result<Plan, Stop> {
        self.planned(request, &self.with_payloads(facts)?)
    }

    fn planned(&self, request: &Request, facts: &Facts) -> Result<Plan, Stop> {
        let selection = plan::select(&self.loaded.graph, request);
        let planned = selection.and_then(|selection| plan::assume_with(&selection, facts));
        planned.map_err(|report| self.wrong(report))
    }
}

/// What an engine once said, for another plan.
pub(super) fn facts(lookups: Lookups) -> Facts {
    let fact = |(name, image): (String, ImageKey)| {
        let source = match image.reference.as_str() {
            "scratch" => ImageSource::Scratch,
            reference => ImageSource::Registry {
                reference: reference.to_owned(),
            },
        };
        let fact = ImageFact {
            source,
            config: image.config,
            os_version: image.os_version,
            given: false,
        };
        (name, fact)
    };
    let commit = |(name, found): (String, GitKey)| {
        let GitKey { commit, object } = found;
        (name, Commit { commit, object })
    };
    let payload = |(name, found): (String, Option<PayloadKey>)| {
        let fact = match found {
            None => PayloadFact::Absent,
            Some(PayloadKey { path, sha256 }) => PayloadFact::Present { path, sha256 },
        };
        (name, fact)
    };
    Facts {
        images: lookups.images.into_iter().map(fact).collect(),
        gits: lookups.gits.into_iter().map(commit).collect(),
        payloads: lookups.payloads.into_iter().map(payload).collect(),
    }
}
