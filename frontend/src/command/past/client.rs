//! What verbs that need no engine plan with: the lane file, the files beside it, and what an engine once said.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use stages::keys::{self, Manifest};
use stages::lower::ExecOptions;
use stages::plan::{self, Commit, Facts, ImageFact, ImageSource, PayloadFact, Plan, Request};

use super::{Stop, load, load_edited, payload_facts};
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
        self.client(load(&self.file)?)
    }

    /// Reads the lane file, with other values of some pins.
    pub(super) fn with_pins(&self, pins: &[(String, String)]) -> Result<Client, Stop> {
        let edit = |text: &mut Vec<u8>| {
            for (name, value) in pins {
                *text = with_pin(&String::from_utf8_lossy(text), name, value).into_bytes();
            }
        };
        self.client(load_edited(&self.file, edit)?)
    }

    fn client(&self, loaded: Loaded) -> Result<Client, Stop> {
        Ok(Client {
            directory: self.directory(),
            loaded,
            contents: DiskContents::new(&self.directory(), &self.file),
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

/// The text of a pins file with another value of a pin.
fn with_pin(text: &str, name: &str, value: &str) -> String {
    let is_it = |line: &str| {
        let found = line.split_once('=').map(|(found, _)| found.trim());
        found == Some(name)
    };
    let line = |line: &str| match is_it(line) {
        true => format!("{name}={value}\n"),
        false => format!("{line}\n"),
    };
    text.lines().map(line).collect()
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
    /// The manifest of a request, with what an engine once said of images.
    pub(super) fn manifest(&self, request: &Request, facts: &Facts) -> Result<Manifest, Stop> {
        let facts = &self.with_payloads(facts)?;
        let plan = self.planned(request, facts)?;
        let name = &self.loaded.graph.table.name.value;
        let contents = |path: &str| self.contents.digest(path);
        let options = ExecOptions::default();
        Ok(keys::make(name, request, &plan, facts, &options, &contents))
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
        planned.map_err(|report| {
            Stop::Wrong(Wrong {
                sources: self.loaded.sources.clone(),
                report,
            })
        })
    }
}

/// What a manifest knows of images.
pub(super) fn facts(manifest: &Manifest) -> Facts {
    let fact = |(name, image): (&String, &keys::ImageKey)| {
        let source = match image.reference.as_str() {
            "scratch" => ImageSource::Scratch,
            reference => ImageSource::Registry {
                reference: reference.to_owned(),
            },
        };
        let config = image.config.clone();
        let fact = ImageFact {
            source,
            config,
            os_version: image.os_version.clone(),
        };
        (name.clone(), fact)
    };
    let commit = |(name, found): (&String, &keys::GitKey)| {
        let keys::GitKey { commit, object } = found.clone();
        (name.clone(), Commit { commit, object })
    };
    let payload = |(name, found): (&String, &Option<keys::PayloadKey>)| {
        let fact = match found.clone() {
            None => PayloadFact::Absent,
            Some(keys::PayloadKey { path, sha256 }) => PayloadFact::Present { path, sha256 },
        };
        (name.clone(), fact)
    };
    Facts {
        images: manifest.images.iter().map(fact).collect(),
        gits: manifest.gits.iter().map(commit).collect(),
        payloads: manifest.payloads.iter().map(payload).collect(),
    }
}
