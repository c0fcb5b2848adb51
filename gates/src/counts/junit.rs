//! JUnit XML: the cases count, and the numbers that suites give must agree with them.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::{Counts, Summary};

/// Elements in elements; real files have four.
const DEPTH: usize = 64;

/// A suite that is open.
struct Suite {
    name: String,
    counts: Counts,
    /// Of its `tests`, `failures` and `errors` attributes.
    told: Option<(u64, u64)>,
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
                    "testsuites" => seen = true,
                    "testsuite" => {
                        seen = true;
                        suites.push(suite(&element)?);
                    }
                    "testcase" => case = Some((name(&element)?, Counts::default())),
                    "failure" | "error" => {
                        if let Some((_, counts)) = &mut case {
                            counts.failed = 1;
                        }
                    }
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
        "testsuite" => {
            let Some(done) = suites.pop() else {
                return Ok(());
            };
            if let Some((tests, failed)) = done.told
                && (tests != done.counts.total() || failed != done.counts.failed)
            {
                let (cases, bad) = (done.counts.total(), done.counts.failed);
                return Err(format!(
                    "suite `{}` tells of {tests} tests, {failed} failed, and has {cases} cases, {bad} failed",
                    done.name
                ));
            }
            if done.counts.total() > 0 || suites.is_empty() {
                summary.section(&done.name, done.counts);
            }
            if let Some(outer) = suites.last_mut() {
                // Numbers of an outer suite are those of its own cases or of all below it.
                outer.told = None;
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
    let failures = number("failures")?.unwrap_or(0);
    let failed = failures.saturating_add(number("errors")?.unwrap_or(0));
    Ok(Suite {
        name: attribute(element, "name")?.unwrap_or_default(),
        counts: Counts::default(),
        told: number("tests")?.map(|tests| (tests, failed)),
    })
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
    fn every_cut_is_an_error() {
        for end in 0..FILE.len() {
            assert!(read(&FILE[..end]).is_err(), "cut at {end}");
        }
        assert!(read("<html/>").is_err());
        assert!(read(&"<testsuite>".repeat(100_000)).is_err());
    }
}
