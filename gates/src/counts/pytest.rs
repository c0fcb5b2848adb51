//! pytest.

use super::{Counts, Summary};

/// Where a word counts; nowhere for what is no test.
type Place = fn(&mut Counts) -> Option<&mut u64>;

/// The words of a summary, and where each counts.
const WORDS: [(&str, Place); 11] = [
    ("passed", |c| Some(&mut c.passed)),
    // It was to fail and did not: the test or what is said of it is wrong.
    ("xpassed", |c| Some(&mut c.skipped)),
    ("failed", |c| Some(&mut c.failed)),
    ("error", |c| Some(&mut c.failed)),
    ("errors", |c| Some(&mut c.failed)),
    ("skipped", |c| Some(&mut c.skipped)),
    ("xfailed", |c| Some(&mut c.skipped)),
    ("deselected", |c| Some(&mut c.skipped)),
    ("warning", |_| None),
    ("warnings", |_| None),
    ("rerun", |_| None),
];

pub(super) fn read(text: &str) -> Result<Summary, String> {
    let mut summary = Summary::default();
    let (mut began, mut ended) = (0_u64, 0_u64);
    for line in text.lines().map(str::trim) {
        let inner = line.trim_matches('=').trim();
        if inner == "test session starts" {
            began += 1;
        } else if let Some(counts) = end(inner) {
            ended += 1;
            summary.counts.add(counts);
        } else if let Some(rest) = line
            .strip_prefix("FAILED ")
            .or_else(|| line.strip_prefix("ERROR "))
        {
            let name = rest.split(" - ").next().unwrap_or(rest);
            summary.failures.push(name.to_owned());
        }
    }
    if ended == 0 {
        Err("no line like `3 passed in 0.12s`".to_owned())
    } else if ended < began {
        Err(format!("{began} sessions began and {ended} came to an end"))
    } else {
        Ok(summary)
    }
}

/// `2 failed, 3 passed, 1 warning in 0.12s (0:00:01)`.
fn end(line: &str) -> Option<Counts> {
    let (list, time) = line.split_once(" in ")?;
    let seconds = time.split('s').next()?;
    seconds.parse::<f64>().ok()?;
    let mut counts = Counts::default();
    if list == "no tests ran" {
        return Some(counts);
    }
    for part in list.split(", ") {
        let (number, word) = part.split_once(' ')?;
        let number: u64 = number.parse().ok()?;
        let (_, place) = WORDS.iter().find(|(known, _)| *known == word)?;
        if let Some(place) = place(&mut counts) {
            *place = place.saturating_add(number);
        }
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_failures_and_expected_failures_are_no_passes() {
        let text = "============ test session starts ============\n\
            FAILED t.py::test_a - assert 1 == 2\n\
            ERROR t.py::test_b\n\
            == 1 failed, 3 passed, 2 skipped, 1 xfailed, 1 xpassed, 4 deselected, 2 warnings, 1 error in 61.12s (0:01:01) ==";
        let summary = read(text).unwrap();
        let counts = Counts {
            passed: 3,
            failed: 2,
            skipped: 8,
        };
        assert_eq!(summary.counts, counts);
        assert_eq!(summary.failures, ["t.py::test_a", "t.py::test_b"]);
    }

    #[test]
    fn a_session_without_an_end_is_an_error_and_none_that_ran_is_a_zero() {
        let start = "=== test session starts ===\n";
        assert!(read(start).is_err());
        let two = format!("{start}1 passed in 0.1s\n{start}");
        assert!(read(&two).unwrap_err().contains("2 sessions began and 1"));
        let none = read("no tests ran in 0.00s").unwrap();
        assert_eq!(none.counts, Counts::default());
        assert!(read("3 passed in the morning").is_err());
    }
}
