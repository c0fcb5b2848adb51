//! A verdict as the predicate of an in-toto statement: `https://in-toto.io/attestation/test-result/v0.1`.
//! Its fields are those of that type; the verdict itself stands beside them.

use serde_json::{Value, json};

use super::{blocks, rules};
use crate::policy;
use crate::report::{Asserted, Verdict};
use crate::rule::FLOOR;

/// The predicate. A red verdict that only advises is a warning, as the type has it.
#[must_use]
pub fn of(report: &Asserted) -> Value {
    let (mut passed, mut wrong) = (Vec::new(), Vec::new());
    for rule in rules(report).iter().filter(|rule| rule.id != FLOOR.id) {
        let found = report.findings.iter().any(|finding| finding.id == rule.id);
        if found { &mut wrong } else { &mut passed }.push(rule.id.to_owned());
    }
    for floor in &report.floors {
        let test = format!("{} {}", FLOOR.id, floor.what);
        if floor.ok { &mut passed } else { &mut wrong }.push(test);
    }
    let (result, failed, warned) = match (report.verdict, blocks(report)) {
        (Verdict::Pass, _) => ("PASSED", wrong, Vec::new()),
        (_, true) => ("FAILED", wrong, Vec::new()),
        (_, false) => ("WARNED", Vec::new(), wrong),
    };
    let digest = report.policy.digest.trim_start_matches("sha256:");
    json!({
        "result": result,
        "configuration": [{ "name": policy::SCHEMA, "digest": { "sha256": digest } }],
        "passedTests": passed,
        "warnedTests": warned,
        "failedTests": failed,
        "gate-report": report,
    })
}
