//! What gates said of an image, as statements that go with it.

use std::collections::BTreeMap;

use llb::{Definition, Platform, caps};
use stages::lower::{Attested, PREDICATE_TYPE};

use super::Build;
use crate::gateway::bridge::{Attestation, Evaluate, Warning};
use crate::gateway::error::Failure;

impl Build<'_> {
    /// The statements that are wanted. An engine that would drop them is not given any, and the caller is told.
    pub(super) async fn attestations(
        &self,
        wanted: Option<&Attested>,
        vertex: &llb::Digest,
    ) -> Result<Vec<Attestation>, Failure> {
        let Some(wanted) = wanted else {
            return Ok(Vec::new());
        };
        if let Some(why) = self.drops() {
            let short = format!("the image has no attestations of its gates: {why}");
            let vertex = vertex.to_string();
            let warning = Warning {
                vertex,
                short,
                ..Warning::default()
            };
            self.bridge.warn(warning).await;
            return Ok(Vec::new());
        }
        let definition = Definition::new(&wanted.made).into();
        let imports = &self.opts.cache_imports;
        let made = self.bridge.solve(definition, Evaluate::Later, imports);
        let made = made.await?;
        let stated = |path: &String| Attestation {
            made: made.clone(),
            path: path.clone(),
            predicate_type: PREDICATE_TYPE,
        };
        Ok(wanted.paths.iter().map(stated).collect())
    }

    /// Why this engine would drop them.
    fn drops(&self) -> Option<&'static str> {
        if !self.bridge.can(caps::REFERENCE_ATTESTATIONS) {
            return Some(
                "this engine takes none from a frontend; use one of BuildKit 0.11 or later",
            );
        }
        // Engines with a graph driver for their store say so by what they cannot do; their exporter has no manifest
        // that could hold statements.
        (!self.bridge.caps().supports(caps::MERGE))
            .then_some("the engine keeps images in a graph driver, which has no place for them; use its containerd image store")
    }
}

/// Statements by the platform that they are about.
pub(super) fn by_platform<'p>(
    parts: impl IntoIterator<Item = (&'p Platform, Vec<Attestation>)>,
) -> BTreeMap<String, Vec<Attestation>> {
    let stated = parts.into_iter().filter(|(_, list)| !list.is_empty());
    stated
        .map(|(platform, list)| (platform.to_string(), list))
        .collect()
}
