//! cargo-nextest.

use super::{Counts, Summary, list};

pub(super) fn read(text: &str) -> Result<Summary, String> {
    let mut summary = Summary::default();
    let mut ends = 0;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("Summary [") {
            let (_, rest) = rest
                .split_once("] ")
                .ok_or_else(|| format!("cannot read `{line}`"))?;
            summary
                .counts
                .add(end(rest).ok_or_else(|| format!("cannot read `{line}`"))?);
            ends += 1;
        } else if ends == 0
            && let Some((state, rest)) = line.split_once(" [")
            && matches!(state, "FAIL" | "TIMEOUT" | "SIGSEGV" | "SIGABRT" | "ABORT")
            && let Some((_, name)) = rest.split_once("] ")
        {
            summary.failures.push(name.trim().to_owned());
        }
    }
    if ends == 0 {
        return Err("no line `Summary [ … ]`".to_owned());
    }
    Ok(summary)
}

/// `5/9 tests run: 4 passed (1 slow), 1 failed, 2 skipped`; what was not run any more has failed.
fn end(rest: &str) -> Option<Counts> {
    let (run, told) = rest.split_once(" run: ")?;
    let run = run.split(' ').next()?;
    let (ran, of) = run.split_once('/').unwrap_or((run, run));
    let (ran, of): (u64, u64) = (ran.parse().ok()?, of.parse().ok()?);
    let counts = list(told);
    let get = |word: &str| counts.get(word).copied().unwrap_or_default();
    let passed = get("passed");
    Some(Counts {
        passed,
        // Failed, timed out, could not be started: whatever ran and did not pass.
        failed: ran
            .checked_sub(passed)?
            .saturating_add(of.checked_sub(ran)?),
        skipped: get("skipped"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_did_not_pass_has_failed() {
        let text = "        FAIL [   0.005s] crate a::b\n------------\n     \
            Summary [   0.012s] 5/9 tests run: 2 passed (1 slow), 1 failed, 2 timed out, 3 skipped\n        \
            FAIL [   0.005s] crate a::b\n";
        let summary = read(text).unwrap();
        let counts = Counts {
            passed: 2,
            failed: 7,
            skipped: 3,
        };
        assert_eq!(summary.counts, counts);
        assert_eq!(summary.failures, ["crate a::b"]);
        let good = read("Summary [ 0.1s] 1 test run: 1 passed, 0 skipped").unwrap();
        assert_eq!(good.counts.passed, 1);
    }

    #[test]
    fn numbers_that_cannot_be_are_an_error() {
        assert!(read("Summary [ 0.1s] 1 test run: 2 passed").is_err());
        assert!(read("Summary [ 0.1s] all well").is_err());
    }
}
