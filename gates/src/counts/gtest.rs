//! GoogleTest.

use super::{Counts, Summary};

pub(super) fn read(text: &str) -> Result<Summary, String> {
    let mut summary = Summary::default();
    // What was announced, what was told at the end, and what the end counts.
    let (mut announced, mut ran) = (Vec::new(), Vec::new());
    let (mut passed, mut failed, mut skipped, mut disabled) = (None, 0_u64, 0_u64, 0_u64);
    let more = |sum: u64, rest: &str| sum.saturating_add(leading(rest).unwrap_or_default());
    for line in text.lines().map(str::trim_end) {
        let Some((tag, rest)) = line
            .strip_prefix('[')
            .and_then(|line| line.split_once("] "))
        else {
            if let Some(rest) = line.trim().strip_prefix("YOU HAVE ") {
                disabled = more(disabled, rest);
            }
            continue;
        };
        match tag.trim() {
            "==========" => match rest.strip_prefix("Running ") {
                Some(rest) => announced.extend(leading(rest)),
                None if rest.contains(" ran.") => ran.extend(leading(rest)),
                None => {}
            },
            "PASSED" => passed = Some(more(passed.unwrap_or(0), rest)),
            "FAILED" if rest.ends_with("listed below:") => {
                failed = more(failed, rest);
            }
            "SKIPPED" if rest.ends_with("listed below:") => {
                skipped = more(skipped, rest);
            }
            "OK" => section(
                &mut summary,
                rest,
                Counts {
                    passed: 1,
                    ..Counts::default()
                },
            ),
            "FAILED" if timed(rest) => {
                let name = rest.split([' ', ',']).next().unwrap_or(rest);
                summary.failures.push(name.to_owned());
                section(
                    &mut summary,
                    rest,
                    Counts {
                        failed: 1,
                        ..Counts::default()
                    },
                );
            }
            "SKIPPED" if timed(rest) => {
                section(
                    &mut summary,
                    rest,
                    Counts {
                        skipped: 1,
                        ..Counts::default()
                    },
                );
            }
            _ => {}
        }
    }
    let Some(passed) = passed.filter(|_| !ran.is_empty()) else {
        return Err("no lines `[==========] N tests … ran.` and `[  PASSED  ]`".to_owned());
    };
    if announced != ran {
        let what = |list: &[u64]| list.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
        return Err(format!(
            "{} tests announced, {} ran",
            what(&announced),
            what(&ran)
        ));
    }
    let sum = |list: &[u64]| list.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
    let told = sum(&[passed, failed, skipped]);
    if told != sum(&ran) {
        return Err(format!("{} tests ran, {told} told of", sum(&ran)));
    }
    summary.counts = Counts {
        passed,
        failed,
        skipped: skipped.saturating_add(disabled),
    };
    Ok(summary)
}

/// Whether this is one test's line, with its time, and not a line of the list at the end.
fn timed(rest: &str) -> bool {
    rest.ends_with(" ms)")
}

fn section(summary: &mut Summary, rest: &str, counts: Counts) {
    // `Suite.Name (0 ms)`, `Prefix/Suite.Name/0, where … (0 ms)`
    if timed(rest)
        && let Some((suite, _)) = rest.split_once('.')
    {
        summary.section(suite, counts);
    }
}

fn leading(text: &str) -> Option<u64> {
    text.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: &str = "\
[==========] Running 4 tests from 2 test suites.
[----------] Global test environment set-up.
[ RUN      ] A.one
[       OK ] A.one (0 ms)
[ RUN      ] A.two
a.cc:7: Failure
[  FAILED  ] A.two (1 ms)
[ RUN      ] B.three
[  SKIPPED ] B.three (0 ms)
[ RUN      ] B.four
[       OK ] B.four (0 ms)
[==========] 4 tests from 2 test suites ran. (1 ms total)
[  PASSED  ] 2 tests.
[  SKIPPED ] 1 test, listed below:
[  SKIPPED ] B.three
[  FAILED  ] 1 test, listed below:
[  FAILED  ] A.two

 1 FAILED TEST
  YOU HAVE 1 DISABLED TEST
";

    #[test]
    fn the_end_counts_and_disabled_tests_are_skipped_ones() {
        let summary = read(RUN).unwrap();
        let counts = Counts {
            passed: 2,
            failed: 1,
            skipped: 2,
        };
        assert_eq!(summary.counts, counts);
        assert_eq!(summary.failures, ["A.two"]);
        assert_eq!(summary.sections["A"].failed, 1);
        assert_eq!(summary.sections["B"].passed, 1);
    }

    #[test]
    fn a_crash_in_the_middle_is_an_error() {
        let cut = RUN.split_once("[       OK ] B.four").unwrap().0;
        assert!(read(cut).is_err());
        let silent = RUN.replace("[  FAILED  ] 1 test, listed below:\n", "");
        assert!(read(&silent).unwrap_err().contains("4 tests ran, 3 told"));
        let lost = RUN.replace("Running 4 tests", "Running 9 tests");
        assert!(
            read(&lost)
                .unwrap_err()
                .contains("9 tests announced, 4 ran")
        );
    }
}
