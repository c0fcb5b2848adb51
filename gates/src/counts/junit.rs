//! JUnit XML: the cases count, and the numbers that suites give must agree with them.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Counts, Summary};

/// Elements in elements; real files have four.
const DEPTH: usize = 64;

/// A suite that is open, or what all are in.
struct Suite {
    name: String,
    /// Its own cases.
    counts: Counts,
    /// Those of the suites in it.
    inner: Counts,
    told: Told,
}

/// What the attributes of a suite say.
struct Told {
    tests: Option<u64>,
    /// `failures` and `errors`.
    failed: Option<u64>,
    /// `skipped` and `disabled`.
    skipped: u64,
}

impl Told {
    /// Whether so many cases are what it says. Not every writer counts all that it skipped.
    fn of(&self, counts: Counts) -> bool {
        self.tests.is_none_or(|tests| tests == counts.total())
            && self.failed.is_none_or(|failed| failed == counts.failed)
            && self.skipped <= counts.skipped
    }
}

pub(super) fn read(text: &str) -> Result<Summary, String> {
    let mut reader = Reader::from_str(text.trim_start());
    let mut summary = Summary::default();
    let mut suites: Vec<Suite> = Vec::new();
    let mut case: Option<(String, Counts)> = None;
    let (mut depth, mut seen) = (0_usize, false);
    loop {
        let event = reader.read_event().map_err(|e| format!("XML: {e}"))?;
        let empty = matches!(event, Event::Empty(_));
        match event {
            Event::Start(element) | Event::Empty(element) => {
                if depth == DEPTH {
                    return Err(format!("elements nest deeper than {DEPTH}"));
                }
                match element.local_name().as_ref() {
                    "testsuites" | "testsuite" => {
                        seen = true;
                        suites.push(suite(&element)?);
                    }
                    "testcase" if case.is_some() => {
                        return Err("a case in a case".to_owned());
                    }
                    "testcase" => case = Some((name(&element)?, state(&element)?)),
                    "failure" | "error" => match &mut case {
                        Some((_, counts)) => counts.failed = 1,
                        None => return Err("a failure outside of every case".to_owned()),
                    },
                    "skipped" => {
                        if let Some((_, counts)) = &mut case {
                            counts.skipped = 1;
                        }
                    }
                    _ => {}
                }
                if empty {
                    close(
                        element.local_name().as_ref(),
                        &mut summary,
                        &mut suites,
                        &mut case,
                    )?;
                } else {
                    depth += 1;
                }
            }
            Event::End(element) => {
                depth = depth.saturating_sub(1);
                let name = element.local_name().as_ref().to_owned();
                close(&name, &mut summary, &mut suites, &mut case)?;
            }
            Event::Eof if depth > 0 => return Err("XML: it ends in the middle".to_owned()),
            Event::Eof => break,
            _ => {}
        }
    }
    if seen {
        Ok(summary)
    } else {
        Err("no element `testsuite`".to_owned())
    }
}

fn close(
    element: &str,
    summary: &mut Summary,
    suites: &mut Vec<Suite>,
    case: &mut Option<(String, Counts)>,
) -> Result<(), String> {
    match element {
        "testcase" => {
            let Some((name, mut counts)) = case.take() else {
                return Ok(());
            };
            match counts {
                Counts { failed: 1, .. } => {
                    counts.skipped = 0;
                    summary.failures.push(name);
                }
                Counts { skipped: 1, .. } => {}
                _ => counts.passed = 1,
            }
            summary.counts.add(counts);
            if let Some(suite) = suites.last_mut() {
                suite.counts.add(counts);
            }
        }
        "testsuites" | "testsuite" => {
            let Some(done) = suites.pop() else {
                return Ok(());
            };
            let Suite {
                counts: own, told, ..
            } = &done;
            let mut all = done.inner;
            all.add(*own);
            // Numbers of an outer suite are those of all below it or of its own cases.
            if !told.of(all) && !told.of(*own) {
                let (tests, failed) = (told.tests.unwrap_or(all.total()), told.failed.unwrap_or(0));
                return Err(format!(
                    "suite `{}` tells of {tests} tests, {failed} failed, {} skipped, and has {} cases, {} failed, {} skipped",
                    done.name,
                    told.skipped,
                    all.total(),
                    all.failed,
                    all.skipped
                ));
            }
            if own.total() > 0 || (element == "testsuite" && suites.is_empty()) {
                summary.section(&done.name, *own);
            }
            if let Some(outer) = suites.last_mut() {
                outer.inner.add(all);
            }
        }
        _ => {}
    }
    Ok(())
}

fn suite(element: &BytesStart<'_>) -> Result<Suite, String> {
    let number = |key: &str| -> Result<Option<u64>, String> {
        match attribute(element, key)? {
            None => Ok(None),
            Some(text) => text
                .parse()
                .map(Some)
                .map_err(|_| format!("`{key}` is `{text}`")),
        }
    };
    let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    };
    Ok(Suite {
        name: attribute(element, "name")?.unwrap_or_default(),
        counts: Counts::default(),
        inner: Counts::default(),
        told: Told {
            tests: number("tests")?,
            failed: sum(number("failures")?, number("errors")?),
            skipped: sum(number("skipped")?, number("disabled")?).unwrap_or(0),
        },
    })
}

/// What the attributes of a case say: GoogleTest and CTest tell so of tests that did not run.
fn state(element: &BytesStart<'_>) -> Result<Counts, String> {
    let mut counts = Counts::default();
    for key in ["status", "result"] {
        let word = attribute(element, key)?.unwrap_or_default();
        match word.to_ascii_lowercase().as_str() {
            "fail" | "failed" | "failure" | "error" => counts.failed = 1,
            "notrun" | "disabled" | "suppressed" | "skipped" | "ignored" => counts.skipped = 1,
            _ => {}
        }
    }
    Ok(counts)
}

fn name(element: &BytesStart<'_>) -> Result<String, String> {
    let name = attribute(element, "name")?.unwrap_or_default();
    Ok(match attribute(element, "classname")? {
        Some(class) if !class.is_empty() => format!("{class}.{name}"),
        _ => name,
    })
}

fn attribute(element: &BytesStart<'_>, key: &str) -> Result<Option<String>, String> {
    let found = element
        .try_get_attribute(key)
        .map_err(|e| format!("XML: {e}"))?;
    found
        .map(|value| {
            value
                .normalized_value(quick_xml::XmlVersion::Implicit1_0)
                .map(std::borrow::Cow::into_owned)
                .map_err(|e| format!("XML: {e}"))
        })
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"<?xml version="1.0"?>
<testsuites>
  <testsuite name="a" tests="3" failures="1" errors="0">
    <testcase classname="c" name="one"/>
    <testcase classname="c" name="two &amp; more"><failure message="m">text</failure></testcase>
    <testcase name="three"><skipped/></testcase>
  </testsuite>
  <testsuite name="b" tests="1"><testcase name="four"></testcase></testsuite>
</testsuites>"#;

    #[test]
    fn cases_count_and_suites_are_sections() {
        let summary = read(FILE).unwrap();
        let counts = Counts {
            passed: 2,
            failed: 1,
            skipped: 1,
        };
        assert_eq!(summary.counts, counts);
        assert_eq!(summary.sections["b"].passed, 1);
        assert_eq!(summary.failures, ["c.two & more"]);
    }

    #[test]
    fn a_suite_that_tells_other_numbers_than_its_cases_is_an_error() {
        assert!(read(&FILE.replace("tests=\"3\"", "tests=\"30\"")).is_err());
        assert!(read(&FILE.replace("failures=\"1\"", "failures=\"0\"")).is_err());
        assert!(read(&FILE.replace("tests=\"1\"", "tests=\"x\"")).is_err());
    }

    #[test]
    fn what_suites_say_is_believed_only_where_their_cases_say_it() {
        let case = r#"<testcase name="a"/>"#;
        for (attributes, cases, right) in [
            (r#"failures="1""#, case, false),
            (r#"errors="1""#, case, false),
            (r#"tests="1" failures="0" errors="1""#, case, false),
            (r#"tests="1" skipped="1""#, case, false),
            (r#"tests="1" disabled="1""#, case, false),
            (r#"tests="-1""#, case, false),
            (r#"failures="-1""#, case, false),
            (
                r#"tests="1" failures="0" errors="0" skipped="0""#,
                case,
                true,
            ),
            // What all suites are in has numbers too, and so has one with suites in it.
            (
                r#"tests="2" failures="1""#,
                r#"<testsuite tests="1"><testcase/></testsuite>"#,
                false,
            ),
            (
                r#"tests="1""#,
                r#"<testsuite tests="1"><testcase/></testsuite>"#,
                true,
            ),
            (
                r#"tests="1""#,
                r#"<testcase/><testsuite tests="1"><testcase/></testsuite>"#,
                true,
            ),
            (
                r#"tests="2""#,
                r#"<testcase/><testsuite tests="1"><testcase/></testsuite>"#,
                true,
            ),
            // What fails without a case has no name, and is not forgotten for that.
            ("", "<error/><testcase/>", false),
            ("", "<testcase><failure/><testcase/></testcase>", false),
        ] {
            for element in ["testsuite", "testsuites"] {
                let text = format!("<{element} {attributes}>{cases}</{element}>");
                assert_eq!(read(&text).is_ok(), right, "{text}");
            }
        }
    }

    #[test]
    fn a_case_that_did_not_run_is_no_pass() {
        for (case, failed, skipped) in [
            (r#"<testcase status="notrun" result="suppressed"/>"#, 0, 1),
            (r#"<testcase status="disabled"/>"#, 0, 1),
            (r#"<testcase status="fail"/>"#, 1, 0),
            (r#"<testcase status="run" result="completed"/>"#, 0, 0),
            (r#"<testcase status="notrun"><failure/></testcase>"#, 1, 0),
        ] {
            let counts = read(&format!("<testsuite>{case}</testsuite>"))
                .unwrap()
                .counts;
            assert_eq!((counts.failed, counts.skipped), (failed, skipped), "{case}");
            assert_eq!(counts.total(), 1);
        }
    }

    #[test]
    fn every_cut_is_an_error() {
        for end in 0..FILE.len() {
            assert!(read(&FILE[..end]).is_err(), "cut at {end}");
        }
        assert!(read("<html/>").is_err());
        assert!(read(&"<testsuite>".repeat(100_000)).is_err());
    }
}
