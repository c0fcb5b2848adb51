//! What the gates said, read out of the engine after the build.

use std::collections::BTreeMap;

use base64::Engine as _;
use gates::report::{Asserted, Verdict};
use gates::verdict;
use llb::Definition;
use serde::Serialize;
use stages::lower::{LoweredGate, VERDICT};

use super::Build;
use crate::gateway::bridge::Evaluate;
use crate::gateway::error::Failure;
use crate::gateway::join::join_all;

/// The largest verdict that is read, in bytes.
const MAX_VERDICT: u64 = 8 << 20;
/// The most that is sent back with a result, in bytes: engines keep it with the build's history.
const MAX_SUMMARY: usize = 64 << 10;

impl Build<'_> {
    /// What each gate said, in the gates' order.
    pub(super) async fn verdicts(&self, gates: &[&LoweredGate]) -> Vec<Result<Asserted, Failure>> {
        join_all(gates.iter().map(|gate| self.verdict(gate))).await
    }

    async fn verdict(&self, gate: &LoweredGate) -> Result<Asserted, Failure> {
        let definition = Definition::new(&gate.assert).into();
        let made = self
            .bridge
            .solve(definition, Evaluate::Later, &self.opts.cache_imports)
            .await?;
        let bytes = self
            .bridge
            .read_file(&made, &format!("{}{VERDICT}", gate.at), MAX_VERDICT)
            .await?;
        serde_json::from_slice(&bytes)
            .map_err(|error| Failure::new(format!("the verdict of gate {}: {error}", gate.name)))
    }
}

/// What the red ones found, a few lines for each; nothing when none is red.
pub(super) fn red(verdicts: &[Result<Asserted, Failure>]) -> String {
    let red = verdicts
        .iter()
        .flatten()
        .filter(|asserted| asserted.verdict != Verdict::Pass);
    red.map(verdict::summary)
        .collect::<Vec<_>>()
        .join("\n")
        .trim_end()
        .to_owned()
}

/// One gate in the summary.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Line<'a> {
    check: &'a str,
    target: &'a str,
    verdict: Verdict,
    inspected: u64,
    allowed: u64,
    policy: &'a str,
}

/// A summary for `--metadata-file`: JSON in base64, which clients write out as JSON. Nothing without gates.
pub(super) fn summary(verdicts: &[Asserted]) -> Option<Vec<u8>> {
    if verdicts.is_empty() {
        return None;
    }
    let line = |asserted: &'_ Asserted| {
        let line = Line {
            check: &asserted.check,
            target: &asserted.target,
            verdict: asserted.verdict,
            inspected: asserted.counts.inspected,
            allowed: asserted
                .exemptions
                .iter()
                .map(|exemption| exemption.findings)
                .sum(),
            policy: &asserted.policy.digest,
        };
        serde_json::to_value(line).unwrap_or_default()
    };
    let lines: BTreeMap<&str, serde_json::Value> = verdicts
        .iter()
        .map(|asserted| (asserted.gate.as_str(), line(asserted)))
        .collect();
    let whole = serde_json::json!({ "schema": "gates-summary/1", "gates": lines });
    let count = serde_json::json!({ "schema": "gates-summary/1", "gates-omitted": lines.len() });
    let encode = |json: &serde_json::Value| {
        base64::engine::general_purpose::STANDARD.encode(json.to_string())
    };
    let text = Some(encode(&whole))
        .filter(|text| text.len() <= MAX_SUMMARY)
        .unwrap_or_else(|| encode(&count));
    Some(text.into_bytes())
}

/// Whether what was built may be published, and why not: JSON in base64, as [`summary`].
pub(super) fn publishable(why: &[String]) -> Vec<u8> {
    let json = serde_json::json!({
        "schema": "publishable/1",
        "publishable": why.is_empty(),
        "why": why,
    });
    base64::engine::general_purpose::STANDARD
        .encode(json.to_string())
        .into_bytes()
}
