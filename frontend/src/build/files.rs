//! The lane file and its pins, out of the client's directory.

use std::collections::BTreeMap;

use llb::proto::pb;
use llb::{Definition, Digest, Local, Metadata, Output};
use stages::file::Walk;

use super::context::Main;
use crate::gateway::bridge::{Bridge, Evaluate, Ref};
use crate::gateway::error::Failure;
use crate::gateway::opts::Opts;
use crate::lanefile::{LaneFile, Loaded, Wrong, beside};

/// The pins file that most graphs have. It is sent along with the lane file, so that most builds need one transfer.
const USUAL_PINS: &str = "versions.env";
/// Which earlier transfers to start from. Other frontends send the same directory with other patterns, and each would
/// undo what the other left.
const SHARED_KEY: &str = "lanekit-lane-file";

/// A graph, and how its file was read.
pub(super) struct Read {
    pub(super) loaded: Loaded,
    /// The vertex that it was read by.
    pub(super) vertex: Digest,
    /// The lane file with what was sent along: its ignore file, if it has one of its own.
    pub(super) made: Ref,
}

/// Why there is no graph.
pub(super) enum Unread {
    /// The lane file or what belongs to it is wrong.
    Wrong(Wrong),
    /// It could not be read.
    Failed(Failure),
}

impl From<Wrong> for Unread {
    fn from(wrong: Wrong) -> Self {
        Self::Wrong(wrong)
    }
}

impl From<Failure> for Unread {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Unread> for Failure {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Wrong(wrong) => wrong.into(),
            Unread::Failed(failure) => failure,
        }
    }
}

/// Reads the graph that the options name.
pub(super) async fn read(bridge: &Bridge, opts: &Opts, main: &Main) -> Result<Read, Unread> {
    let name = main.name.unwrap_or(&opts.file.name);
    let directory = Directory {
        bridge,
        opts,
        given: main.lane_file.clone(),
    };

    let usual = beside(name, USUAL_PINS);
    let (first, vertex) = directory.open(&[name, &usual, &own_ignore(name)]).await?;
    let bytes = read_text(bridge, &first, name)
        .await
        .map_err(|failure| unread(failure, opts))?;
    let mut lane_file = LaneFile::parse(name, bytes)?;
    let mut patterns = lane_file.patterns();
    if let Some(walk) = lane_file.includes()? {
        patterns.push(name.to_owned());
        let paths: Vec<&str> = patterns.iter().map(String::as_str).collect();
        let from = directory.open(&paths).await?.0;
        lane_file = included(bridge, &from, name, lane_file, walk).await?;
    }
    let pins = match lane_file.pins() {
        None => None,
        Some(path) => {
            let from = if path == usual {
                first.clone()
            } else {
                directory.open(&[name, &path]).await?.0
            };
            match read_text(bridge, &from, &path).await {
                Ok(bytes) => Some((path, bytes)),
                Err(failure) => return Err(lane_file.unread_pins(failure.message()).into()),
            }
        }
    };
    Ok(Read {
        loaded: lane_file.graph(pins)?,
        vertex,
        made: first,
    })
}

/// The lane file with the files that it includes.
async fn included(
    bridge: &Bridge,
    from: &Ref,
    name: &str,
    lane_file: LaneFile,
    mut walk: Walk,
) -> Result<LaneFile, Unread> {
    while let Some(below) = walk.next() {
        let path = beside(name, below);
        let entries = bridge.read_dir(from, path.trim_end_matches('/')).await;
        walk.listed(entries.map_err(|failure| failure.context("look for included files"))?);
    }
    let mut files = Vec::new();
    for path in lane_file.included(walk)? {
        let bytes = read_text(bridge, from, &path).await;
        let bytes = bytes.map_err(|failure| failure.message().to_owned());
        files.push((path, bytes));
    }
    Ok(lane_file.include(files)?)
}

/// What another build gives in place of a directory of the client, if it gives anything. One that is empty is no
/// reason to look at the client's directory: that may be anybody's.
pub(super) fn given(
    inputs: &BTreeMap<String, pb::Definition>,
    name: &str,
) -> Result<Option<Output>, Failure> {
    let Some(definition) = inputs.get(name) else {
        return Ok(None);
    };
    let wrong = |why: String| Failure::new(format!("the input `{name}` of this build {why}"));
    match Output::from_definition(definition) {
        Ok(Some(given)) => Ok(Some(given)),
        Ok(None) => Err(wrong(
            "is empty: give it files, or leave it out to use the client's directory".to_owned(),
        )),
        Err(error) => Err(wrong(format!("cannot be read: {error}"))),
    }
}

/// Where the lane file is: a directory of the client, or what another build gave.
struct Directory<'a> {
    bridge: &'a Bridge,
    opts: &'a Opts,
    given: Option<Output>,
}

impl Directory<'_> {
    /// These files of it, as far as they are there.
    async fn open(&self, paths: &[&str]) -> Result<(Ref, Digest), Failure> {
        let files = match &self.given {
            Some(given) => given.clone(),
            None => {
                let name = &self.opts.file.local;
                Local::of_session(name, self.opts.session_of(name))
                    .map_err(|error| Failure::new(error.to_string()))?
                    .follow(paths.iter().copied())
                    .shared_key_hint(SHARED_KEY)
                    .differ_none()
                    .metadata(Metadata::named(format!(
                        "[internal] load lane file {}",
                        self.opts.file.name
                    )))
                    .build()
            }
        };
        let definition = Definition::new(&files);
        let vertex = definition.head();
        Ok((
            self.bridge
                .solve(definition.into(), Evaluate::Later, &[])
                .await?,
            vertex,
        ))
    }
}

/// The ignore file that a lane file has for itself.
pub(super) fn own_ignore(lane_file: &str) -> String {
    format!("{lane_file}.dockerignore")
}

/// A text that need not be there.
pub(super) async fn optional_text(
    bridge: &Bridge,
    from: &Ref,
    path: &str,
) -> Result<Option<String>, Failure> {
    match read_text(bridge, from, path).await {
        Ok(bytes) => stages::file::text_of_bytes(bytes)
            .map(Some)
            .map_err(|why| Failure::new(format!("{path} cannot be read: {why}"))),
        Err(failure) if is_missing(&failure) => Ok(None),
        Err(failure) => Err(failure.context(format!("read {path}"))),
    }
}

/// Engines have no code for it.
pub(super) fn is_missing(failure: &Failure) -> bool {
    failure.message().contains("no such file or directory")
}

async fn read_text(bridge: &Bridge, from: &Ref, path: &str) -> Result<Vec<u8>, Failure> {
    bridge.read_file(from, path, stages::file::MAX_FILE).await
}

/// The engine names a missing file by a path of its own.
fn unread(failure: Failure, opts: &Opts) -> Failure {
    let name = &opts.file.name;
    if is_missing(&failure) {
        return Failure::new(format!(
            "there is no {name} in the directory of the lane file: name it with -f"
        ));
    }
    failure.context("read the lane file")
}
