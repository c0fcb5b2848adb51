//! The verbs about what builds did and would do: keys, build, record, explain, impact, repro, graph, ledger.

mod build;
mod buildx;
mod client;
mod explain;
mod graph;
mod impact;
mod keys;
mod repro;
mod summary;
mod times;

use std::path::Path;

use clap::Subcommand;
use stages::keys::Manifest;
use stages::plan::Facts;

use client::Asked;

use super::{Stop, WRONG, load, note, payload_facts, print};

#[derive(Subcommand)]
pub(super) enum Verb {
    /// Shows everything that makes the key of each step, by name
    Keys(keys::Keys),
    /// Builds by `docker buildx build`, and keeps what ran, why and how long
    Build(build::Build),
    /// Keeps a build that was made without lanekit, from its progress and metadata
    Record(build::Recorded),
    /// Says why the steps of a build ran
    Explain(explain::Explain),
    /// Says what a change would re-run, and how long that takes
    Impact(impact::ImpactOf),
    /// Draws lanes: what is built from what, how long it took, why it ran, what a change would move
    Graph(graph::GraphOf),
    /// Runs a step twice, and shows what differs between its two products
    Repro(repro::Repro),
    /// Writes all builds that are kept as JSON
    Ledger(explain::Export),
}

impl Verb {
    pub(super) fn run(&self) -> Result<(), Stop> {
        match self {
            Self::Keys(keys) => keys.run(),
            Self::Build(build) => build.run(),
            Self::Record(build) => build.run(),
            Self::Explain(explain) => explain.run(),
            Self::Impact(impact) => impact.run(),
            Self::Graph(graph) => graph.run(),
            Self::Repro(repro) => repro.run(),
            Self::Ledger(export) => export.run(),
        }
    }
}

/// The key manifest of a lane of a file, by what lies on this machine: nobody is asked about images.
///
/// # Errors
/// What is wrong, as text.
pub fn manifest(
    file: &Path,
    context: &Path,
    target: &str,
    args: &[String],
) -> Result<Manifest, String> {
    let asked = Asked {
        target: Some(target.to_owned()),
        file: file.to_owned(),
        context: Some(context.to_owned()),
        args: args.to_vec(),
    };
    let made = asked
        .open()
        .and_then(|client| client.manifest(&client.request, &Facts::default()));
    made.map_err(|stop| match stop {
        Stop::Wrong(wrong) => wrong.report.render(&wrong.sources, false),
        Stop::Unable(why) => why,
        Stop::Said(code) => format!("exit code {code}"),
    })
}
