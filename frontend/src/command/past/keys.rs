//! `lanekit keys`: everything that makes the key of each step.

use clap::{Args, ValueEnum};
use stages::keys::{By, Manifest, Node};
use stages::plan::Facts;

use super::client::Asked;
use super::{Stop, print};

/// Everything that makes the keys of a lane.
#[derive(Args, Debug)]
pub(in crate::command) struct Keys {
    #[command(flatten)]
    asked: Asked,
    /// How it is shown
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl Keys {
    pub(super) fn run(&self) -> Result<(), Stop> {
        let client = self.asked.open()?;
        let manifest = client.manifest(&client.request, &Facts::default())?;
        print(&match self.format {
            Format::Json => json(&manifest)?,
            Format::Text => text(&manifest),
        })
    }
}

/// A manifest as it is compared and kept: one value on each line.
pub(super) fn json(manifest: &Manifest) -> Result<String, Stop> {
    let text = serde_json::to_string_pretty(manifest);
    text.map(|text| text + "\n")
        .map_err(|error| Stop::Unable(error.to_string()))
}

fn text(manifest: &Manifest) -> String {
    manifest.nodes.iter().map(shown).collect()
}

fn shown(node: &Node) -> String {
    let mut text = format!("{}  {}\n", node.id, node.key);
    let mut line = |name: &str, value: &str| text.push_str(&format!("    {name}: {value}\n"));
    for (name, value) in node.components.iter() {
        line(name, value);
    }
    for (at, file) in node.files.iter() {
        let what = match (file.path.as_str(), file.digest.as_str()) {
            (path, "") => format!("{path} (not read)"),
            ("", digest) => format!("script {digest}"),
            (path, digest) => format!("{path} {digest}"),
        };
        line(&format!("file {at}"), &what);
    }
    for (at, input) in node.inputs.iter() {
        let by = match input.by {
            By::Key => "key",
            By::Content => "content",
        };
        let part = match input.part.as_str() {
            "" => String::new(),
            part => format!("{part} of "),
        };
        line(
            &format!("input {at}"),
            &format!("{part}{} (by {by})", input.node),
        );
    }
    text
}
