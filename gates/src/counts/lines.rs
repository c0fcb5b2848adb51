//! The format for scripts of one's own: `TESTS: passed=3 failed=0 skipped=1`, and in front of it,
//! where there are sections, `SECTION name: passed=1 failed=0 skipped=0`.

use super::{Counts, Summary};

pub(super) fn read(text: &str) -> Result<Summary, String> {
    let mut summary = Summary::default();
    let mut end = None;
    for line in text.lines().map(str::trim) {
        let wrong = || format!("cannot read `{line}`");
        if let Some(rest) = line.strip_prefix("TESTS: ") {
            if end.replace(counts(rest).ok_or_else(wrong)?).is_some() {
                return Err("two lines `TESTS:`".to_owned());
            }
        } else if let Some(rest) = line.strip_prefix("SECTION ") {
            let (name, rest) = rest.rsplit_once(": ").ok_or_else(wrong)?;
            summary.section(name.trim(), counts(rest).ok_or_else(wrong)?);
        } else if let Some(name) = line.strip_prefix("FAILED: ") {
            summary.failures.push(name.to_owned());
        }
    }
    summary.counts = end.ok_or("no line `TESTS: passed= failed= skipped=`")?;
    let mut sum = Counts::default();
    for counts in summary.sections.values() {
        sum.add(*counts);
    }
    if !summary.sections.is_empty() && sum != summary.counts {
        return Err("the sections do not add up to the line `TESTS:`".to_owned());
    }
    Ok(summary)
}

fn counts(text: &str) -> Option<Counts> {
    let mut words = text.split_whitespace();
    let mut next = |key: &str| -> Option<u64> {
        let (name, value) = words.next()?.split_once('=')?;
        (name == key).then(|| value.parse().ok())?
    };
    let counts = Counts {
        passed: next("passed")?,
        failed: next("failed")?,
        skipped: next("skipped")?,
    };
    words.next().is_none().then_some(counts)
}

/// The line.
#[must_use]
pub fn line(counts: Counts) -> String {
    let Counts {
        passed,
        failed,
        skipped,
    } = counts;
    format!("TESTS: passed={passed} failed={failed} skipped={skipped}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_read_as_it_is_written_and_sections_must_add_up() {
        let counts = Counts {
            passed: 3,
            failed: 1,
            skipped: 2,
        };
        assert_eq!(read(&line(counts)).unwrap().counts, counts);
        let text = "SECTION 1: passed=1 failed=1 skipped=0\nSECTION a: b: passed=2 failed=0 skipped=2\n\
            FAILED: 1/x\nTESTS: passed=3 failed=1 skipped=2";
        let summary = read(text).unwrap();
        assert_eq!(summary.sections["a: b"].skipped, 2);
        assert!(read(&text.replace("SECTION 1: passed=1", "SECTION 1: passed=0")).is_err());
    }

    #[test]
    fn half_a_line_or_two_are_an_error() {
        for text in [
            "TESTS: passed=3",
            "TESTS: passed=3 failed=0 skipped=",
            "TESTS: failed=0 passed=3 skipped=0",
            "TESTS: passed=3 failed=0 skipped=0 more=1",
            "TESTS: passed=1 failed=0 skipped=0\nTESTS: passed=1 failed=0 skipped=0",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
