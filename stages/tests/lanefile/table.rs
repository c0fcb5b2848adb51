//! The table of keys is what the parser reads, what editors are told, and what the reference shows.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use stages::diag::{Report, Sources, rule};
use stages::file::keys::{Form, Table, tables};
use toml::de::{DeTable, DeValue};

use crate::common::load;

const UNKNOWN: &str = "zz-unknown";
const SCHEMA: &str = include_str!("../../../docs/lanes.schema.json");
const REFERENCE: &str = include_str!("../../../docs/reference.md");
const LANEFILE: &str = include_str!("../../../docs/lanefile.md");
const RULES: &str = include_str!("../../../docs/rules.md");
const MEDIA: &str = include_str!("../../../tests/graphs/media/lanes.toml");

/// Every table with a lane file in which it has one key, that no table knows.
fn probes() -> Vec<(&'static Table, String)> {
    let file = tables()[0];
    let mut open = vec![(file, String::new(), String::new())];
    let mut seen = BTreeSet::from([file.name]);
    let mut probes = Vec::new();
    while let Some((table, before, after)) = open.pop() {
        let braces = if table.name == file.name {
            ("", "")
        } else {
            ("{ ", " }")
        };
        probes.push((
            table,
            format!("{before}{}{UNKNOWN} = 1{}{after}", braces.0, braces.1),
        ));
        for key in table.keys() {
            for (inner, left, right) in wraps(key.form) {
                if seen.insert(inner.name) {
                    open.push((
                        inner,
                        format!("{before}{}\"{}\" = {left}", braces.0, key.name),
                        format!("{right}{}{after}", braces.1),
                    ));
                }
            }
        }
    }
    probes
}

/// The tables that a value holds, with what is written around each.
fn wraps(form: Form) -> Vec<(&'static Table, String, String)> {
    let around = |form: &Form, left: &str, right: &str| {
        let inner = wraps(*form).into_iter();
        inner
            .map(|(table, l, r)| (table, format!("{left}{l}"), format!("{r}{right}")))
            .collect()
    };
    match form {
        Form::Table(table) => vec![(table, String::new(), String::new())],
        Form::List(form) => around(form, "[", "]"),
        Form::Names(_, form) => around(form, "{ n = ", " }"),
        Form::Any(forms) => forms.iter().copied().flat_map(wraps).collect(),
        _ => Vec::new(),
    }
}

/// The keys that the parser knows in the table of a probe, as its error lists them.
fn known(report: &Report) -> BTreeSet<String> {
    let mut sets = report.diagnostics().iter().filter_map(|found| {
        if found.rule != rule::UNKNOWN_KEY && found.rule != rule::UNKNOWN_NAME {
            return None;
        }
        if !found.message.contains(UNKNOWN) {
            return None;
        }
        let list = match &found.help {
            Some(help) if help.contains("known: ") => help.split("known: ").nth(1)?,
            Some(help) if help == "none is declared" => "",
            // A condition says in its label what it can look at.
            _ => found.at.as_ref()?.1.strip_prefix("expected ")?,
        };
        let words = list.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        let words = words.filter(|word| !word.is_empty() && *word != "or");
        Some(words.map(str::to_owned).collect())
    });
    sets.next().unwrap_or_default()
}

#[test]
fn the_parser_reads_just_the_keys_of_the_table() {
    let mut differences = String::new();
    let probes = probes();
    assert_eq!(probes.len(), tables().len());
    for (table, text) in probes {
        let mut sources = Sources::default();
        let id = sources.add("lanes.toml", &*text);
        let report = match stages::file::parse(&sources, id) {
            Ok(_) => panic!("an unknown key was taken: {text}"),
            Err(report) => report,
        };
        let read = known(&report);
        let listed: BTreeSet<String> = table.keys().map(|key| key.name.to_owned()).collect();
        if read != listed {
            let only = |a: &BTreeSet<String>, b: &BTreeSet<String>| {
                a.difference(b).cloned().collect::<Vec<_>>().join(", ")
            };
            differences.push_str(&format!(
                "{}: read and not in the table: [{}]; in the table and not read: [{}]\n  {text}\n",
                table.title,
                only(&read, &listed),
                only(&listed, &read),
            ));
        }
    }
    assert!(
        differences.is_empty(),
        "stages/src/file/keys/table.rs is not what is parsed:\n{differences}"
    );
}

#[test]
fn names_of_tables_and_keys_are_told_apart_and_all_say_what_they_mean() {
    for table in tables() {
        assert!(table.about.ends_with('.'), "{}", table.title);
        let mut names = BTreeSet::new();
        for key in table.keys() {
            assert!(
                names.insert(key.name),
                "{} twice in {}",
                key.name,
                table.title
            );
            assert!(!key.about.is_empty(), "{} of {}", key.name, table.title);
        }
    }
    let names: BTreeSet<&str> = tables().iter().map(|table| table.name).collect();
    assert_eq!(names.len(), tables().len());
}

#[test]
fn schema_and_reference_are_those_of_the_table() {
    let stale = "run `cargo xtask codegen` and commit what it writes";
    assert!(
        SCHEMA == stages::file::schema(),
        "docs/lanes.schema.json: {stale}"
    );
    assert!(
        REFERENCE == stages::file::reference(),
        "docs/reference.md: {stale}"
    );
}

/// A lane file as JSON, for the validator; dates are texts.
pub(crate) fn json_of(table: &DeTable<'_>) -> Value {
    fn value(of: &DeValue<'_>) -> Value {
        match of {
            DeValue::String(text) => json!(text),
            DeValue::Integer(number) => json!(number.as_str().parse::<i64>().expect("a number")),
            DeValue::Float(number) => json!(number.as_str()),
            DeValue::Boolean(on) => json!(on),
            DeValue::Datetime(date) => json!(date.to_string()),
            DeValue::Array(list) => list.iter().map(|v| value(v.get_ref())).collect(),
            DeValue::Table(table) => json_of(table),
        }
    }
    let entries = table.iter();
    let map: Map<String, Value> = entries
        .map(|(key, v)| (key.get_ref().to_string(), value(v.get_ref())))
        .collect();
    Value::Object(map)
}

/// What the schema says against a lane file.
pub(crate) fn against(text: &str) -> Vec<String> {
    let schema: Value = serde_json::from_str(SCHEMA).expect("the schema is JSON");
    let schema = jsonschema::validator_for(&schema).expect("the schema is one");
    let file = DeTable::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let file = json_of(file.get_ref());
    let errors = schema.iter_errors(&file);
    errors
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect()
}

/// The lane files in fences of a page; fragments get what they leave out.
fn fenced(page: &'static str) -> impl Iterator<Item = String> {
    let blocks = page.split("\n```toml\n").skip(1);
    blocks.map(|block| {
        let mut text = block.split("\n```").next().unwrap_or_default().to_owned();
        if !text.contains("[graph]") {
            text = format!("[graph]\nname = \"fragment\"\n{text}");
        }
        if !text.contains("[lane.") {
            text.push_str("\n[lane.l]\nplatform = \"linux/amd64\"\noutput.o = { stage = \"s\" }\n");
        }
        text
    })
}

#[test]
fn the_schema_takes_what_the_pages_show() {
    for text in fenced(LANEFILE) {
        assert_eq!(against(&text), Vec::<String>::new(), "{text}");
    }
    // The examples of rules that the schema cannot know; others break it on purpose.
    let mut taken = 0;
    for text in fenced(RULES) {
        if DeTable::parse(&text).is_ok() && load(&text, "").graph.is_ok() {
            assert_eq!(against(&text), Vec::<String>::new(), "{text}");
            taken += 1;
        }
    }
    assert!(taken > 0);
}

#[test]
fn the_schema_refuses_a_key_a_word_and_a_type_that_are_not_so() {
    for (from, to, at) in [
        ("files   =", "fiels   =", "/step/0"),
        ("network = \"none\"", "network = \"off\"", "/network"),
        ("default = \"2\"", "default = 2", "/arg/OPTIMIZE/default"),
        ("platform      =", "plattform =", "/lane/"),
        ("lane.target = \"amd64\"", "lane.taget = \"amd64\"", "/when"),
    ] {
        let text = MEDIA.replacen(from, to, 1);
        assert_ne!(text, MEDIA, "the test changes nothing: {from}");
        let found = against(&text);
        assert!(
            found.iter().any(|error| error.contains(at)),
            "{to}: {found:?}"
        );
    }
}
