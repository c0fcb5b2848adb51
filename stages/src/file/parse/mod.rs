//! The tables of a lane file, one function each.

mod condition;
mod entry;
mod env;
mod file_step;
mod gate;
mod image;
mod inputs;
mod lane;
mod lint;
mod merge;
mod mounts;
mod sandbox;
mod stage;
mod tree;

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use self::condition::when;
use self::gate::gate;
use self::lane::{group, lane, switch};
pub(crate) use self::stage::context_path;
use self::stage::{brings, stage};
use super::model::*;
use super::read::{Fields, Text};
use crate::both;
use crate::diag::{Diagnostic, Report, SourceId, Sources, Span, Spanned, rule};
use crate::text::{ArgEntry, Dollar, Template, ValueRef, is_variable};

type Value<'i> = toml::Spanned<DeValue<'i>>;

/// Reads a lane file.
///
/// # Errors
/// Everything that is wrong with its form: TOML errors, unknown keys, wrong types, missing keys.
pub fn parse(sources: &Sources, id: SourceId) -> Result<Document, Report> {
    read(sources, id, "a lane file", |fields, report| {
        let graph = match fields.get("graph") {
            Some(value) => graph_table(fields.source(), value, report),
            None => {
                report.push(
                    fields
                        .missing("graph")
                        .help("a lane file begins with [graph] name = \"…\""),
                );
                None
            }
        };
        tables(fields, graph, report)
    })
}

/// Reads a file that a lane file with this `[graph]` includes: the same form, without `[graph]`.
///
/// # Errors
/// As [`parse`].
pub fn parse_included(
    sources: &Sources,
    id: SourceId,
    graph: &GraphTable,
) -> Result<Document, Report> {
    read(sources, id, "an included file", |fields, report| {
        if let Some(value) = fields.get("graph") {
            report.push(
                Diagnostic::new(rule::UNKNOWN_KEY, "an included file has no `[graph]`")
                    .at(&Span::new(id, value.span()), "second")
                    .related(&graph.span, "the lane file's")
                    .help("what holds for the whole graph stands in the lane file"),
            );
        }
        tables(fields, Some(graph.clone()), report)
    })
}

fn read(
    sources: &Sources,
    id: SourceId,
    what: &'static str,
    document: impl FnOnce(&mut Fields<'_, '_>, &mut Report) -> Option<Document>,
) -> Result<Document, Report> {
    let text = &sources.get(id).text;
    let mut report = Report::default();
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        report.push(
            Diagnostic::new(rule::SYNTAX, "this is not TOML")
                .at(&Span::new(id, span), error.message()),
        );
    }
    if !report.is_empty() {
        // What the parser made of the rest would only add errors about its own guesses.
        return report.into_result(()).and(Err(Report::default()));
    }
    let top = Span::new(id, 0..text.find('\n').unwrap_or(text.len()));
    let mut fields = Fields::new(id, root.get_ref(), top, what);
    let mut document = document(&mut fields, &mut report);
    let lint = lint::allowed(id, root.get_ref(), &mut report);
    if let Some(document) = &mut document {
        document.lint = lint;
    }
    fields.finish(&mut report);
    match document {
        Some(document) => report.into_result(document),
        None => Err(report),
    }
}

fn tables(
    fields: &mut Fields<'_, '_>,
    graph: Option<GraphTable>,
    report: &mut Report,
) -> Option<Document> {
    let derived = table_of(fields, "pin", Names::Variable, report, derived);
    let args = table_of(fields, "arg", Names::Variable, report, arg);
    let hosts = table_of(fields, "host", Names::Variable, report, host);
    let switches = table_of(fields, "switch", Names::Word, report, switch);
    let kits = table_of(fields, "kit", Names::Word, report, kit);
    let refuse = fields
        .list("refuse", report)
        .into_iter()
        .filter_map(|value| refuse(fields.source(), value, report))
        .collect();
    let gits = table_of(fields, "git", Names::Word, report, git);
    let fetches = table_of(fields, "fetch", Names::Word, report, inputs::fetch);
    let payloads = table_of(fields, "payload", Names::Word, report, inputs::payload);
    let slots = table_of(fields, "slot", Names::Word, report, slot);
    let lanes = table_of(fields, "lane", Names::Word, report, lane);
    let groups = table_of(fields, "group", Names::Word, report, group);
    let stages = table_of(fields, "stage", Names::Word, report, stage);
    let gates = table_of(fields, "gate", Names::Word, report, gate);
    let pin_rules = table_of(fields, "pin-rule", Names::Word, report, lint::pin_rule);
    Some(Document {
        graph: graph?,
        derived,
        args,
        hosts,
        switches,
        kits,
        refuse,
        slots,
        gits,
        fetches,
        payloads,
        lanes,
        groups,
        stages,
        gates,
        pin_rules,
        lint: Vec::new(),
    })
}

/// Which names a table may have.
#[derive(Clone, Copy)]
enum Names {
    /// A name of an environment variable.
    Variable,
    /// `[A-Za-z0-9][A-Za-z0-9._-]*`: it stands in targets (`LANE/STAGE`), lists and paths.
    Word,
}

impl Names {
    fn check(self, name: &Text, report: &mut Report) -> bool {
        let (good, want) = match self {
            Names::Variable => (is_variable(&name.value), "letters, digits and `_`"),
            Names::Word => (is_word(&name.value), "letters, digits, `.`, `_` and `-`"),
        };
        if !good {
            report.push(
                Diagnostic::new(rule::VALUE, format!("`{}` cannot be a name", name.value))
                    .at(&name.span, format!("expected {want}")),
            );
        }
        good
    }
}

fn is_word(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.len() <= 128
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// With more entries than this, two threads read a table.
const MANY: usize = 512;

/// A table whose keys are names: reads each entry with `read`.
fn table_of<'i, T>(
    fields: &mut Fields<'_, 'i>,
    key: &'static str,
    names: Names,
    report: &mut Report,
    read: impl Fn(&mut Fields<'_, 'i>, Span, &mut Report) -> Option<T> + Sync,
) -> BTreeMap<String, T>
where
    T: Send,
{
    let source = fields.source();
    let mut first = fields.named(key, report);
    if first.len() < MANY {
        return entries(source, key, names, first, report, read);
    }
    let second = first.split_off(first.len() / 2);
    let mut more = Report::default();
    let (mut found, rest) = both(
        || entries(source, key, names, first, report, &read),
        || entries(source, key, names, second, &mut more, &read),
    );
    report.extend(more);
    found.extend(rest);
    found
}

/// The entries of such a table.
fn entries<'i, T>(
    source: SourceId,
    key: &'static str,
    names: Names,
    values: Vec<(Text, &Value<'i>)>,
    report: &mut Report,
    read: impl Fn(&mut Fields<'_, 'i>, Span, &mut Report) -> Option<T>,
) -> BTreeMap<String, T> {
    let mut found = BTreeMap::new();
    for (name, value) in values {
        if !names.check(&name, report) {
            continue;
        }
        let what = format!("{key} `{}`", name.value);
        let Some(mut inner) = Fields::of(source, value, what, report) else {
            continue;
        };
        // What it says is read for all tables at once; the keys of a slot are names.
        if key != "slot" {
            let _ = inner.get("lint");
        }
        if let Some(item) = read(&mut inner, name.span, report) {
            found.insert(name.value, item);
        }
        inner.finish(report);
    }
    found
}

fn graph_table(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<GraphTable> {
    let mut fields = Fields::of(source, value, "[graph]", report)?;
    let _ = fields.get("lint");
    let name = fields.need_text("name", report);
    let table = GraphTable {
        versions: fields
            .text("versions", report)
            .filter(|path| path_below(path, report)),
        pins: fields.texts("pins", report),
        include: fields
            .texts("include", report)
            .into_iter()
            .filter(|path| path_below(path, report))
            .collect(),
        default: fields.text("default", report),
        layer_budget: fields.integer("layer-budget", report),
        span: fields.span().clone(),
        name: name.unwrap_or_else(|| Spanned::new(String::new(), fields.span().clone())),
    };
    fields.finish(report);
    Some(table)
}

/// A path in or below the lane file's directory: the engine hands out nothing else, in silence.
fn path_below(path: &Text, report: &mut Report) -> bool {
    let bad = path.value.is_empty()
        || path.value.starts_with('/')
        || path.value.split(['/', '\\']).any(|part| part == "..");
    if bad {
        report.push(
            Diagnostic::new(
                rule::PATH,
                format!("`{}` is not below the lane file", path.value),
            )
            .at(
                &path.span,
                "the engine hands out only what lies beside the lane file or below it",
            )
            .help("move the file, or put the lane file at the top of the repository"),
        );
    }
    !bad
}

fn derived(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Derived> {
    let text = fields.need_text("from", report)?;
    match ArgEntry::parse(&text, report)? {
        ArgEntry::One {
            name,
            value: ValueRef::Named(from),
            filters,
            ..
        } if name == from => Some(Derived {
            from: Spanned::new(from, text.span),
            filters,
            span,
        }),
        _ => {
            report.push(
                Diagnostic::new(rule::VALUE, format!("`{}` is no pin", text.value))
                    .at(
                        &text.span,
                        "expected the name of a pin, with filters behind a bar",
                    )
                    .help("from = \"CUDA_VERSION|parts:2\""),
            );
            None
        }
    }
}

fn arg(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Arg> {
    const TYPES: [(&str, Form); 3] = [
        ("text", Form::Text),
        ("bool", Form::Bool),
        ("int", Form::Int),
    ];
    let default = fields.text("default", report);
    let choices = fields
        .get("choices")
        .map(|_| fields.texts("choices", report));
    let named = fields.word(
        "type",
        &TYPES.each_ref().map(|(word, form)| (*word, form)),
        report,
    );
    let form = match (choices, named) {
        (Some(choices), None) => Form::Choice(choices.into_iter().map(|c| c.value).collect()),
        (None, form) => form.cloned().unwrap_or(Form::Text),
        (Some(_), Some(_)) => {
            report.push(
                Diagnostic::new(rule::VALUE, "an argument has either `type` or `choices`")
                    .at(fields.span(), "this argument"),
            );
            Form::Text
        }
    };
    let stamp = fields.boolean("stamp", report).unwrap_or_default();
    let about = fields.need_text("about", report)?;
    Some(Arg {
        default,
        about,
        form,
        stamp,
        span,
    })
}

fn kit(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Kit> {
    Some(Kit {
        when: when(fields, report),
        brings: brings(fields, report),
        span,
    })
}

fn refuse(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Refuse> {
    let mut fields = Fields::of(source, value, "`refuse`", report)?;
    let _ = fields.get("lint");
    if fields.get("when").is_none() {
        report.push(
            fields
                .missing("when")
                .help("when = { lane.target = \"arm64\", slot.sdk = \"rocm\" }"),
        );
    }
    let when = when(&mut fields, report);
    let why = fields.need_text("why", report);
    let span = fields.whole_span();
    fields.finish(report);
    Some(Refuse {
        when: when?,
        why: why?,
        span,
    })
}

fn host(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Host> {
    const NEEDS: [(&str, Need); 3] = [
        ("required", Need::Required),
        ("optional", Need::Optional),
        ("waivable", Need::Waivable),
    ];
    let need = fields
        .word("need", &NEEDS, report)
        .unwrap_or(Need::Optional);
    let default = fields.text("default", report);
    if let Some(default) = default.as_ref().filter(|_| need != Need::Optional) {
        report.push(
            Diagnostic::new(
                rule::VALUE,
                "a host setting with a default is never missing",
            )
            .at(&default.span, "steps see this where nobody passes it")
            .help("leave `need` out, or `default`"),
        );
    }
    if let Some(default) = default.as_ref().filter(|default| default.value.is_empty()) {
        report.push(
            Diagnostic::new(rule::VALUE, "an empty default is none")
                .at(
                    &default.span,
                    "an empty host setting counts as one that is not given",
                )
                .help("leave `default` out"),
        );
    }
    let about = fields.need_text("about", report)?;
    Some(Host {
        about,
        need,
        default,
        span,
    })
}

fn git(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Git> {
    if fields.get("url").is_none() {
        report.push(
            fields
                .missing("url")
                .help("url = \"https://example.org/x.git\""),
        );
    }
    let url = template(fields, "url", report);
    let reference = template(fields, "ref", report);
    let subdir = template(fields, "subdir", report);
    let submodules = fields.boolean("submodules", report).unwrap_or(true);
    let git_dir = fields.boolean("git-dir", report).unwrap_or(false);
    Some(Git {
        url: url?,
        reference,
        subdir,
        submodules,
        git_dir,
        span,
    })
}

fn slot(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Slot> {
    let source = fields.source();
    let mut choices = BTreeMap::new();
    for (name, value) in fields.entries() {
        // The names of choices are the user's: nothing in this table is unknown.
        let Some(mut inner) = Fields::of(source, value, format!("choice `{}`", name.value), report)
        else {
            continue;
        };
        let same_as = inner.text("same-as", report);
        let stage = inner.text("stage", report);
        let when = when(&mut inner, report);
        match (same_as, stage) {
            (Some(stage), None) | (None, Some(stage)) => {
                choices.insert(
                    name.value,
                    Choice {
                        stage,
                        when,
                        span: name.span,
                    },
                );
            }
            _ => report.push(
                Diagnostic::new(
                    rule::VALUE,
                    format!(
                        "choice `{}` must have either `stage` or `same-as`",
                        name.value
                    ),
                )
                .at(inner.span(), "here"),
            ),
        }
        inner.finish(report);
    }
    fields.open();
    Some(Slot { choices, span })
}

fn template(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    report: &mut Report,
) -> Option<Template> {
    fields
        .text(key, report)
        .map(|text| Template::parse(&text, Dollar::Ours, report))
}

/// A text that may be left out, but not empty.
fn worded(fields: &mut Fields<'_, '_>, key: &'static str, report: &mut Report) -> Option<Template> {
    fields.get(key)?;
    let text = fields.need_text(key, report)?;
    Some(Template::parse(&text, Dollar::Ours, report))
}

/// The words of a command, of which the first is what runs. Whether there need be any, the caller knows.
fn words(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    dollar: Dollar,
    report: &mut Report,
) -> Option<Vec<Template>> {
    let words = templates(fields, key, dollar, report)?;
    let list = fields.get(key)?.get_ref().as_array();
    let first = list.and_then(|list| list.first());
    let empty = first.is_some_and(|first| first.get_ref().as_str() == Some(""));
    if let Some(first) = words.first().filter(|_| empty) {
        let help = format!("{key} = [\"command\", \"argument\"]");
        report.push(fields.no_command(key).at(&first.span, "empty").help(help));
    }
    Some(words)
}

fn templates(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    dollar: Dollar,
    report: &mut Report,
) -> Option<Vec<Template>> {
    fields.get(key)?;
    let texts = fields.texts(key, report);
    Some(
        texts
            .iter()
            .map(|text| Template::parse(text, dollar, report))
            .collect(),
    )
}
