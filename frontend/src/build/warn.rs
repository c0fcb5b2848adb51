//! What a caller is told that stops no build: nothing is dropped in silence.

use llb::SourceFile;
use stages::diag::{Diagnostic, Report};
use stages::plan::{Facts, Plan};

use super::Build;
use crate::gateway::bridge::Warning;
use crate::gateway::wrong;
use crate::rules;

impl Build<'_> {
    /// Tells what the lints and the plan find doubtful, of what was given and changes nothing, and of what images ask
    /// for and do not get. `used` has the keys of the named contexts that images come from.
    pub(super) async fn warn(
        &self,
        vertex: &llb::Digest,
        lints: &Report,
        plan: &Plan,
        facts: &Facts,
        used: &[String],
    ) {
        for doubt in lints.diagnostics().iter().chain(&plan.warnings) {
            self.bridge.warn(self.doubt(vertex, doubt)).await;
        }
        let told = [self.unknown(), self.idle(used), triggers(facts)].concat();
        // They are about no line, so the file's name is all of it that they need.
        let lane_file = self.sources.iter().next();
        let file = lane_file.map(|(_, source)| SourceFile::new(&source.name, "TOML", b"").to_pb());
        for short in told {
            let file = file.clone();
            let warning = Warning {
                vertex: vertex.to_string(),
                short,
                file,
                ..Warning::default()
            };
            self.bridge.warn(warning).await;
        }
    }

    /// A warning with its lines, and the place where its rule is written up.
    fn doubt(&self, vertex: &llb::Digest, doubt: &Diagnostic) -> Warning {
        let place = doubt.at.as_ref().map(|(span, _)| span);
        Warning {
            vertex: vertex.to_string(),
            short: format!("{}: {}", doubt.rule, doubt.message),
            detail: doubt.help.iter().cloned().collect(),
            url: rules::url(doubt.rule.0),
            file: place.map(|span| wrong::source_file(self.sources, span).to_pb()),
            ranges: place
                .map(|span| wrong::range(self.sources, span).to_pb())
                .into_iter()
                .collect(),
        }
    }

    fn unknown(&self) -> Vec<String> {
        let tell = |name: &String| format!("option {name}: lanekit does not know it");
        self.opts.unknown.iter().map(tell).collect()
    }

    fn idle(&self, used: &[String]) -> Vec<String> {
        let contexts = &self.opts.contexts;
        // The frontend's own image may be replaced by a context too, before anything here runs.
        let frontend = |name: &str| contexts.is_frontend(name, self.opts.source.as_deref());
        contexts
            .iter()
            .map(|(name, _)| name)
            .filter(|name| !used.iter().any(|key| key == name) && !frontend(name))
            .map(|name| format!("context {name}: nothing of this lane is taken from it"))
            .collect()
    }
}

/// A Dockerfile that starts from such an image runs them.
fn triggers(facts: &Facts) -> Vec<String> {
    let images = facts.images.iter();
    images
        .filter(|(_, fact)| !fact.config.on_build.is_empty())
        .map(|(name, fact)| {
            format!(
                "image {name}: its ONBUILD triggers are not run, and the output does not have them: write what is needed of them as steps: {}",
                fact.config.on_build.join("; ")
            )
        })
        .collect()
}
