//! For people: what blocks first, then what only advises, then the green ones in a line each.

use std::fmt::Write as _;

use super::blocks;
use crate::merged::Merged;
use crate::report::Verdict;
use crate::verdict::{number, summary};

pub(super) fn of(merged: &Merged) -> String {
    // Writing to a string cannot fail.
    let mut out = String::new();
    for refused in &merged.refused {
        let _ = writeln!(out, "error: gate {}: {}", refused.gate, refused.why);
    }
    let (green, red): (Vec<_>, Vec<_>) = merged
        .gates
        .iter()
        .partition(|report| report.verdict == Verdict::Pass);
    let (blocking, advising): (Vec<_>, Vec<_>) = red.into_iter().partition(|report| blocks(report));
    for report in &blocking {
        out += &summary(report);
    }
    for report in &advising {
        out += &summary(report);
        out += "this gate advises only: what waits for it goes on\n";
    }
    for report in &green {
        out += &summary(report);
    }
    if merged.gates.len() + merged.refused.len() != 1 {
        let all = merged.gates.len() as u64 + merged.refused.len() as u64;
        let _ = writeln!(
            out,
            "{}: {} passed, {} failed, {} advised, {} without a verdict that counts",
            number(all, "gate"),
            green.len(),
            blocking.len(),
            advising.len(),
            merged.refused.len()
        );
    }
    out
}
