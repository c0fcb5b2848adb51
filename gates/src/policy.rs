//! Policies: what a gate demands of a report. Schema `gate-policy/1`.
//!
//! No value means "off" by being empty: a floor must be there and be more than 0, or the policy
//! says in words why nothing need be there.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sha2::{Digest as _, Sha256};

use crate::arch_table;
use crate::exit::Failure;
use crate::gate::{Gate, Object};
use crate::name::hex;

/// The schema of policies.
pub const SCHEMA: &str = "gate-policy/1";

/// What one gate demands. Fields stand in the order of their JSON keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policy {
    /// What may be otherwise, and why.
    #[serde(default)]
    pub allow: Vec<Allow>,
    /// What *inspect* was told: the gate's own keys, the same as in its report.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub ask: Object,
    /// The check: `arch`.
    pub check: String,
    /// What is demanded of the report besides: the gate's own keys.
    #[serde(default, skip_serializing_if = "Object::is_empty")]
    pub demand: Object,
    /// What a red verdict does; nothing for the usual, which is to block.
    #[serde(default, skip_serializing_if = "Effect::is_block")]
    pub effect: Effect,
    /// Instead of floors: why it is right when nothing was inspected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty_ok: Option<String>,
    /// The least numbers, by what they count ([`Gate::counts`]).
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "unique"
    )]
    pub floors: BTreeMap<String, Floor>,
    /// The gate's name in the lane file.
    pub gate: String,
    /// [`SCHEMA`].
    pub schema: String,
    /// The target: `windows/arm64`.
    pub target: String,
}

/// What a red verdict does at the seal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It is told, and what waits goes on.
    Advise,
    /// What waits does not go on.
    #[default]
    Block,
}

impl Effect {
    /// Whether a red verdict blocks.
    #[must_use]
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub fn is_block(&self) -> bool {
        *self == Self::Block
    }
}

/// One allow entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Allow {
    /// A [glob](crate::glob) over subjects; what lies in a matched file is matched too.
    pub path: String,
    /// The reason.
    pub why: String,
}

/// One floor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Floor {
    /// What a broken build still reached; the floor must lie above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<u64>,
    /// The least number that passes; never 0.
    pub least: u64,
    /// What a good build was measured to reach.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<u64>,
    /// The day of the measurement, `YYYY-MM-DD`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
}

/// A policy and the digest of the bytes it came in.
#[derive(Debug, Clone)]
pub struct Loaded {
    /// `sha256:…`.
    pub digest: String,
    /// The content, checked, its target canonical.
    pub policy: Policy,
}

impl Loaded {
    /// Reads and checks a policy file.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] when there is no such file, [`Failure::Usage`] when it is no policy.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display().to_string();
        let bytes = fs::read(path).map_err(|e| Failure::io(&shown, &e))?;
        let policy = serde_json::from_slice(&bytes)
            .map_err(|e| Failure::Usage(format!("{shown}: not a policy: {e}")))?;
        Self::check(policy, digest(&bytes)).map_err(|failure| match failure {
            Failure::Usage(why) => Failure::Usage(format!("{shown}: {why}")),
            other => other,
        })
    }

    /// A policy that the command line spelled out; its digest is that of its canonical bytes.
    ///
    /// # Errors
    /// [`Failure::Usage`] when it contradicts itself.
    pub fn of(policy: Policy) -> Result<Self, Failure> {
        let bytes = crate::report::canonical(&policy)?;
        Self::check(policy, digest(&bytes))
    }

    fn check(mut policy: Policy, digest: String) -> Result<Self, Failure> {
        policy.target = arch_table::row(&policy.target)?.target();
        check(&mut policy).map_err(Failure::Usage)?;
        Ok(Self { digest, policy })
    }
}

/// `sha256:…` of these bytes.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

fn check(policy: &mut Policy) -> Result<(), String> {
    if policy.schema != SCHEMA {
        return Err(format!("schema `{}`, expected `{SCHEMA}`", policy.schema));
    }
    let gate = Gate::named(&policy.check)?;
    policy.ask = gate.ask(&policy.ask)?;
    policy.demand = gate.demand(&policy.demand)?;
    if policy.gate.trim().is_empty() {
        return Err("`gate` is empty".to_owned());
    }
    match (&policy.empty_ok, policy.floors.is_empty()) {
        (Some(_), false) => {
            return Err("`empty-ok` stands instead of floors, not beside them".to_owned());
        }
        (Some(why), true) if why.trim().is_empty() => {
            return Err("`empty-ok` gives no reason".to_owned());
        }
        (None, true) => {
            return Err(
                "no floor: say how many must be inspected at `least`, or `empty-ok` and why"
                    .to_owned(),
            );
        }
        _ => {}
    }
    for (what, floor) in &policy.floors {
        check_floor(gate, what, floor).map_err(|why| format!("floor `{what}`: {why}"))?;
    }
    for allow in &policy.allow {
        if allow.path.is_empty() {
            return Err("an allow entry with an empty path".to_owned());
        }
        if allow.why.trim().is_empty() {
            return Err(format!("allow `{}`: `why` is empty", allow.path));
        }
    }
    Ok(())
}

fn check_floor(gate: &Gate, what: &str, floor: &Floor) -> Result<(), String> {
    if what != "inspected" && !gate.counts.contains(&what) {
        let known: Vec<&str> = gate.counts.iter().copied().chain(["inspected"]).collect();
        return Err(format!(
            "nothing of that name is counted; known: {}",
            known.join(", ")
        ));
    }
    if floor.least == 0 {
        return Err("`least` is 0; when nothing need be there, say `empty-ok` and why".to_owned());
    }
    if let Some(broken) = floor.broken
        && floor.least <= broken
    {
        return Err(format!(
            "`least` {} lets the broken build with {broken} pass",
            floor.least
        ));
    }
    if let Some(measured) = floor.measured
        && floor.least > measured
    {
        return Err(format!(
            "`least` {} is more than was ever measured, {measured}",
            floor.least
        ));
    }
    match &floor.on {
        Some(day) if !is_day(day) => Err(format!("`on` is `{day}`, no day like 2026-08-31")),
        _ => Ok(()),
    }
}

fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let in_range = |part: &str, digits: usize, max: u32| {
        part.len() == digits
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse().is_ok_and(|n: u32| (1..=max).contains(&n))
    };
    matches!(parts[..], [year, month, day]
        if in_range(year, 4, 9999) && in_range(month, 2, 12) && in_range(day, 2, 31))
}

/// A map in which every key stands once; the default lets the last of two win.
fn unique<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<String, Floor>, D::Error> {
    struct Unique;
    impl<'de> Visitor<'de> for Unique {
        type Value = BTreeMap<String, Floor>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table of floors")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut floors = BTreeMap::new();
            while let Some((key, floor)) = map.next_entry::<String, Floor>()? {
                if floors.insert(key.clone(), floor).is_some() {
                    return Err(A::Error::custom(format!("floor `{key}` stands twice")));
                }
            }
            Ok(floors)
        }
    }
    deserializer.deserialize_map(Unique)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Loaded, Failure> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.json");
        fs::write(&path, text).unwrap();
        Loaded::read(&path)
    }

    fn with(rest: &str) -> String {
        format!(
            r#"{{"schema":"gate-policy/1","gate":"arch","check":"arch","target":"windows/aarch64",{rest}}}"#
        )
    }

    #[test]
    fn a_full_policy_is_read_and_its_target_made_canonical() {
        let text = with(
            r#""floors":{"inspected":{"least":580,"measured":1168,"on":"2026-08-31","broken":390},"pe":{"least":1}},
               "allow":[{"path":"**/protoc.exe","why":"host tool"}]"#,
        );
        let loaded = load(&text).unwrap();
        assert_eq!(loaded.policy.target, "windows/arm64");
        assert_eq!(loaded.policy.floors["inspected"].broken, Some(390));
        assert_eq!(loaded.digest, digest(text.as_bytes()));
    }

    #[test]
    fn whatever_could_mean_off_by_accident_is_a_usage_error() {
        for (rest, reason) in [
            (r#""allow":[]"#, "no floor"),
            (r#""floors":{}"#, "no floor"),
            (r#""floors":{"inspected":{"least":0}}"#, "`least` is 0"),
            (r#""floors":{"inspected":{"least":null}}"#, "null"),
            (r#""floors":{"inspected":{}}"#, "least"),
            (r#""floors":{"inspected":{"least":-1}}"#, "-1"),
            (r#""floors":{"inspected":{"least":1.5}}"#, "1.5"),
            (r#""floors":{"inspected":{"least":"580"}}"#, "string"),
            (
                r#""floors":{"inspected":{"least":390,"broken":390}}"#,
                "broken build",
            ),
            (
                r#""floors":{"inspected":{"least":9,"measured":8}}"#,
                "ever measured",
            ),
            (
                r#""floors":{"inspected":{"least":9,"on":"yesterday"}}"#,
                "no day",
            ),
            (
                r#""floors":{"inspected":{"least":9,"at":1}}"#,
                "unknown field `at`",
            ),
            (
                r#""floors":{"inspeted":{"least":9}}"#,
                "nothing of that name",
            ),
            (
                r#""floors":{"pe":{"least":9},"pe":{"least":1}}"#,
                "stands twice",
            ),
            (
                r#""floors":{"pe":{"least":9}},"floors":{"pe":{"least":1}}"#,
                "duplicate field",
            ),
            (
                r#""floors":{"pe":{"least":9}},"floor":1"#,
                "unknown field `floor`",
            ),
            (
                r#""floors":{"pe":{"least":9}},"empty-ok":"nothing yet""#,
                "not beside them",
            ),
            (r#""empty-ok":" ""#, "no reason"),
            (
                r#""floors":{"pe":{"least":9}},"allow":[{"path":"a","why":""}]"#,
                "`why` is empty",
            ),
            (
                r#""floors":{"pe":{"least":9}},"allow":[{"path":"a"}]"#,
                "why",
            ),
            (
                r#""floors":{"pe":{"least":9}},"allow":[{"path":"","why":"w"}]"#,
                "empty path",
            ),
        ] {
            let failure = load(&with(rest)).unwrap_err();
            assert_eq!(failure.exit().code(), 2, "{rest}");
            assert!(failure.to_string().contains(reason), "{rest}: {failure}");
        }
    }

    #[test]
    fn a_foreign_schema_check_or_target_is_a_usage_error_and_a_missing_file_unreadable() {
        let good = with(r#""empty-ok":"headers only""#);
        assert!(load(&good).is_ok());
        for (from, to) in [
            ("gate-policy/1", "gate-policy/2"),
            (r#""check":"arch""#, r#""check":"arhc""#),
            ("windows/aarch64", "windows/arm46"),
            (r#""gate":"arch""#, r#""gate":"""#),
        ] {
            assert_eq!(
                load(&good.replacen(from, to, 1)).unwrap_err().exit().code(),
                2,
                "{to}"
            );
        }
        let gone = Loaded::read(Path::new("/nowhere/policy.json")).unwrap_err();
        assert_eq!(gone.exit().code(), 4);
    }
}
