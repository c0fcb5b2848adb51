//! JUnit's XML: a suite for each gate, in it a case for each rule and each floor. So the names of
//! the cases are those of every run, and a gate that found nothing shows what it looked for.

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};

use super::{below, blocks, rules};
use crate::exit::Failure;
use crate::merged::Merged;
use crate::report::{Asserted, Finding};
use crate::rule::FLOOR;
use crate::verdict::summary;

/// A suite: one gate.
struct Suite {
    name: String,
    cases: Vec<Case>,
    output: String,
}

/// A case: a rule or a floor.
struct Case {
    name: String,
    class: String,
    end: End,
}

/// How a case ended.
enum End {
    Passed,
    /// First line and whole text.
    Failed(String, String),
    /// Red, of a gate that only advises.
    Advised(String),
    /// Nothing was decided.
    Refused(String),
}

pub(super) fn of(merged: &Merged) -> Result<Vec<u8>, Failure> {
    let refused = merged.refused.iter().map(|refused| Suite {
        name: refused.gate.to_string(),
        cases: vec![Case {
            name: "verdict".to_owned(),
            class: refused.gate.to_string(),
            end: End::Refused(refused.why.clone()),
        }],
        output: String::new(),
    });
    let suites: Vec<Suite> = refused.chain(merged.gates.iter().map(suite)).collect();
    let mut out = Vec::new();
    write(&suites, &mut out)
        .map_err(|e| Failure::Unreadable(format!("the JUnit file cannot be written: {e}")))?;
    Ok(out)
}

fn suite(report: &Asserted) -> Suite {
    let class = format!("{}.{}", report.gate, report.check);
    let case = |name: String, wrong: Vec<String>| Case {
        name,
        class: class.clone(),
        end: match wrong.first() {
            None => End::Passed,
            Some(_) if !blocks(report) => End::Advised(wrong.join("\n")),
            Some(first) => End::Failed(first.clone(), wrong.join("\n")),
        },
    };
    let rules = rules(report).into_iter().filter(|rule| rule.id != FLOOR.id);
    let mut cases: Vec<Case> = rules
        .map(|rule| {
            let of_rule = report.findings.iter().filter(|f| f.id == rule.id);
            let name = format!("{} {}", rule.id, rule.title);
            case(name, of_rule.map(Finding::to_string).collect())
        })
        .collect();
    if report.findings_omitted > 0 {
        let text = format!("{} more findings", report.findings_omitted);
        cases.push(case("findings beyond those listed".to_owned(), vec![text]));
    }
    cases.extend(report.floors.iter().map(|floor| {
        let wrong = if floor.ok { vec![] } else { vec![below(floor)] };
        case(format!("{} floor {}", FLOOR.id, floor.what), wrong)
    }));
    Suite {
        name: report.gate.clone(),
        cases,
        output: summary(report),
    }
}

fn write(suites: &[Suite], out: &mut Vec<u8>) -> std::io::Result<()> {
    let mut xml = Writer::new_with_indent(out, b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    let all: Vec<&Case> = suites.iter().flat_map(|suite| &suite.cases).collect();
    let mut root = BytesStart::new("testsuites");
    root.push_attribute(("name", "lanegate"));
    count(&mut root, &all);
    xml.write_event(Event::Start(root))?;
    for suite in suites {
        let cases: Vec<&Case> = suite.cases.iter().collect();
        let mut start = BytesStart::new("testsuite");
        start.push_attribute(("name", printable(&suite.name).as_str()));
        count(&mut start, &cases);
        xml.write_event(Event::Start(start))?;
        for case in cases {
            self::case(&mut xml, case)?;
        }
        if !suite.output.is_empty() {
            element(&mut xml, "system-out", None, Some(&suite.output))?;
        }
        xml.write_event(Event::End(BytesEnd::new("testsuite")))?;
    }
    xml.write_event(Event::End(BytesEnd::new("testsuites")))?;
    xml.get_mut().push(b'\n');
    Ok(())
}

fn count(start: &mut BytesStart<'_>, cases: &[&Case]) {
    let number = |is: fn(&End) -> bool| cases.iter().filter(|case| is(&case.end)).count();
    for (key, count) in [
        ("tests", cases.len()),
        ("failures", number(|end| matches!(end, End::Failed(..)))),
        ("errors", number(|end| matches!(end, End::Refused(_)))),
        ("skipped", number(|end| matches!(end, End::Advised(_)))),
    ] {
        start.push_attribute((key, count.to_string().as_str()));
    }
}

fn case(xml: &mut Writer<&mut Vec<u8>>, case: &Case) -> std::io::Result<()> {
    let mut start = BytesStart::new("testcase");
    start.push_attribute(("classname", printable(&case.class).as_str()));
    start.push_attribute(("name", printable(&case.name).as_str()));
    let inner = match &case.end {
        End::Passed => return xml.write_event(Event::Empty(start)),
        End::Failed(first, all) => ("failure", first, Some(all.as_str())),
        End::Advised(all) => ("skipped", all, None),
        End::Refused(why) => ("error", why, None),
    };
    xml.write_event(Event::Start(start))?;
    let (name, message, text) = inner;
    element(xml, name, Some(message), text)?;
    xml.write_event(Event::End(BytesEnd::new("testcase")))
}

fn element(
    xml: &mut Writer<&mut Vec<u8>>,
    name: &str,
    message: Option<&str>,
    text: Option<&str>,
) -> std::io::Result<()> {
    let mut start = BytesStart::new(name);
    if let Some(message) = message {
        start.push_attribute(("message", printable(message).as_str()));
    }
    let Some(text) = text else {
        return xml.write_event(Event::Empty(start));
    };
    xml.write_event(Event::Start(start))?;
    xml.write_event(Event::Text(BytesText::new(&printable(text))))?;
    xml.write_event(Event::End(BytesEnd::new(name)))
}

/// What XML 1.0 cannot hold, not even escaped, as a replacement character.
fn printable(text: &str) -> String {
    let fits = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars()
        .map(|c| if fits(c) { c } else { '\u{fffd}' })
        .collect()
}
