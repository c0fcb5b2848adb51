//! What an image consists of.

use crate::build::{Build, Outcome};
use crate::example::nonce;
use crate::setup::docker;

/// Builds an image, takes it away again, and gives the digest of its config with the ids of its layers: all that
/// a build made of it.
///
/// # Panics
/// When the build fails.
pub fn image(build: Build<'_>) -> (Outcome, String) {
    let engine = build.engine();
    let name = format!("compared-{}", nonce());
    let outcome = build
        .option("--provenance", "false")
        .option("--output", format!("type=docker,name={name}"))
        .pass();
    let config = outcome.metadata["containerimage.config.digest"].to_string();
    let format = "{{json .RootFS.Layers}}";
    let layers = docker(engine, &["image", "inspect", "--format", format, &name]);
    docker(engine, &["image", "rm", &name]);
    assert!(
        config.contains("sha256:") && layers.contains("sha256:"),
        "{config} {layers}"
    );
    (outcome, format!("{config} {layers}"))
}
