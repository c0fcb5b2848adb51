//! SARIF 2.1.0: a run for each gate, a result for each finding and each floor that was missed.
//! A gate without a verdict that counts is a run that did not succeed.

use serde_json::{Map, Value, json};

use super::{below, blocks, file, message, rules};
use crate::merged::{Merged, Refused};
use crate::policy::digest;
use crate::report::{Asserted, Finding};
use crate::rule::{FLOOR, Rule};

pub(super) fn of(merged: &Merged) -> Value {
    let refused = merged.refused.iter().map(refused);
    let runs: Vec<Value> = refused.chain(merged.gates.iter().map(run)).collect();
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    })
}

fn driver(rules: &[Rule]) -> Value {
    let rules: Vec<Value> = rules
        .iter()
        .map(|rule| json!({ "id": rule.id, "shortDescription": { "text": rule.title } }))
        .collect();
    json!({ "driver": { "name": "lanegate", "rules": rules } })
}

fn refused(refused: &Refused) -> Value {
    let text = format!("gate {}: {}", refused.gate, refused.why);
    json!({
        "tool": driver(&[]),
        "automationDetails": { "id": format!("{}/", refused.gate) },
        "invocations": [{
            "executionSuccessful": false,
            "exitCode": 4,
            "toolExecutionNotifications": [{ "level": "error", "message": { "text": text } }],
        }],
        "results": [],
    })
}

fn run(report: &Asserted) -> Value {
    let rules = rules(report);
    let level = if blocks(report) { "error" } else { "warning" };
    let findings = report.findings.iter().map(|finding| {
        let subject = finding.subject.to_string();
        let text = format!("{subject}: {}", message(finding));
        result(
            &rules,
            &finding.id,
            level,
            &subject,
            &text,
            location(finding),
        )
    });
    let floors = report.floors.iter().filter(|floor| !floor.ok).map(|floor| {
        let text = below(floor);
        result(&rules, FLOOR.id, level, &floor.what, &text, None)
    });
    let results: Vec<Value> = findings.chain(floors).collect();
    json!({
        "tool": driver(&rules),
        "automationDetails": { "id": format!("{}/", report.gate) },
        "invocations": [{ "executionSuccessful": true, "exitCode": report.exit }],
        "columnKind": "unicodeCodePoints",
        "properties": {
            "check": report.check,
            "checkVersion": report.check_version,
            "findingsOmitted": report.findings_omitted,
            "inspected": report.counts.inspected,
            "policy": report.policy.digest,
            "target": report.target,
            "verdict": report.verdict,
        },
        "results": results,
    })
}

fn result(
    rules: &[Rule],
    id: &str,
    level: &str,
    subject: &str,
    text: &str,
    physical: Option<Value>,
) -> Value {
    let mut location = Map::new();
    if let Some(physical) = physical {
        location.insert("physicalLocation".to_owned(), physical);
    }
    let logical = json!([{ "fullyQualifiedName": subject }]);
    location.insert("logicalLocations".to_owned(), logical);
    let mut result = json!({
        "ruleId": id,
        "level": level,
        "message": { "text": text },
        "locations": [location],
        // The same finding of the next build, whatever stands before it.
        "partialFingerprints": { "finding/v1": digest(format!("{id}\n{subject}").as_bytes()) },
    });
    if let Some(index) = rules.iter().position(|rule| rule.id == id) {
        result["ruleIndex"] = index.into();
    }
    result
}

/// The file, relative to the product's tree.
fn location(finding: &Finding) -> Option<Value> {
    let path = file(finding)?;
    Some(json!({ "artifactLocation": { "uri": uri(path) } }))
}

/// A path as a relative URI: whatever has a meaning in one is escaped.
fn uri(path: &[u8]) -> String {
    let mut uri = String::new();
    for byte in path.strip_prefix(b"/").unwrap_or(path) {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => uri.push(char::from(*byte)),
            byte => uri += &format!("%{byte:02X}"),
        }
    }
    uri
}
