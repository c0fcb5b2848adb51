//! CTest.

use super::{Counts, Summary};

pub(super) fn read(text: &str) -> Result<Summary, String> {
    let mut summary = Summary::default();
    let mut lines = Counts::default();
    let (mut disabled, mut end, mut none) = (0, None, false);
    for line in text.lines().map(str::trim) {
        if let Some((name, state)) = test(line) {
            match state {
                "Passed" => lines.passed += 1,
                "Disabled" => disabled += 1,
                "Skipped" => lines.skipped += 1,
                _ => {
                    lines.failed += 1;
                    summary.failures.push(name.to_owned());
                }
            }
        } else if line.starts_with("No tests were found") {
            none = true;
        } else if let Some((failed, total)) = last(line) {
            let before: &mut (u64, u64) = end.get_or_insert((0, 0));
            *before = (
                before.0.saturating_add(failed),
                before.1.saturating_add(total),
            );
        }
    }
    let Some((failed, total)) = end else {
        return if none {
            Ok(summary)
        } else {
            Err("no line like `100% tests passed, 0 tests failed out of 7`".to_owned())
        };
    };
    // Quiet runs have no line for each test.
    if lines.total() == 0 && disabled == 0 {
        lines.passed = total.saturating_sub(failed);
        lines.failed = failed;
    }
    let told = lines.total();
    if lines.failed != failed || (told != total && told + disabled != total) {
        return Err(format!(
            "the summary has {total} tests, {failed} failed; the lines have {told}, {} failed",
            lines.failed
        ));
    }
    lines.skipped += disabled;
    summary.counts = lines;
    Ok(summary)
}

/// `1/5 Test #1: name .....   Passed    0.01 sec` → name and state.
fn test(line: &str) -> Option<(&str, &str)> {
    let (count, rest) = line.split_once(" Test ")?;
    let (a, b) = count.split_once('/')?;
    if !(a.trim().bytes().all(|c| c.is_ascii_digit()) && b.bytes().all(|c| c.is_ascii_digit())) {
        return None;
    }
    let (_, rest) = rest.split_once(": ")?;
    let (name, state) = rest.split_once(" .")?;
    let state = state.trim_start_matches(['.', ' ']);
    let state = match state.strip_prefix("***") {
        Some(bad) if bad.contains("(Disabled)") => "Disabled",
        Some(bad) if bad.starts_with("Skipped") => "Skipped",
        Some(bad) => bad,
        None if state.starts_with("Passed") => "Passed",
        None => "Failed",
    };
    Some((name.trim(), state))
}

/// `75% tests passed, 1 tests failed out of 4` → failed, total.
fn last(line: &str) -> Option<(u64, u64)> {
    let (_, rest) = line.split_once("% tests passed, ")?;
    let mut words = rest.split_whitespace();
    let failed = words.next()?.parse().ok()?;
    let total = rest.rsplit_once("out of ")?.1.trim().parse().ok()?;
    Some((failed, total))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "\
    Start 1: alpha
1/4 Test #1: alpha ............................   Passed    0.00 sec
2/4 Test #2: beta .............................***Failed    0.00 sec
3/4 Test #3: gamma ............................***Skipped   0.00 sec
4/4 Test #4: delta ............................***Exception: SegFault  0.10 sec
    Test #5: off ..............................***Not Run (Disabled)   0.00 sec

50% tests passed, 2 tests failed out of 4
";

    #[test]
    fn skipped_tests_are_not_passed_ones() {
        let summary = read(RUN).unwrap();
        let counts = Counts {
            passed: 1,
            failed: 2,
            skipped: 1,
        };
        assert_eq!(summary.counts, counts);
        assert_eq!(summary.failures, ["beta", "delta"]);
        let quiet = read("100% tests passed, 0 tests failed out of 7\n").unwrap();
        assert_eq!(quiet.counts.passed, 7);
        assert_eq!(read("No tests were found!!!").unwrap().counts.total(), 0);
    }

    #[test]
    fn a_summary_that_its_lines_contradict_is_an_error() {
        assert!(read(&RUN.replace("out of 4", "out of 9")).is_err());
        assert!(read(&RUN.replace("2 tests failed", "0 tests failed")).is_err());
        assert!(read(RUN.split_once("50%").unwrap().0).is_err());
    }
}
