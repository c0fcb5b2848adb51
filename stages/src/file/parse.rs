//! The tables of a lane file, one function each.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use super::model::*;
use super::read::{Fields, Text, text_of, wrong_type};
use crate::diag::{Diagnostic, Report, SourceId, Sources, Span, Spanned, rule, suggest};
use crate::text::{ArgEntry, Dollar, LaneField, Template, is_variable};

type Value<'i> = toml::Spanned<DeValue<'i>>;

/// Reads a lane file.
///
/// # Errors
/// Everything that is wrong with its form: TOML errors, unknown keys, wrong types, missing keys.
pub fn parse(sources: &Sources, id: SourceId) -> Result<Document, Report> {
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
    let mut fields = Fields::new(id, root.get_ref(), top, "a lane file");
    let document = document(&mut fields, &mut report);
    fields.finish(&mut report);
    match document {
        Some(document) => report.into_result(document),
        None => Err(report),
    }
}

fn document(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<Document> {
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
    let args = table_of(fields, "arg", Names::Variable, report, arg);
    let hosts = table_of(fields, "host", Names::Variable, report, host);
    let slots = table_of(fields, "slot", Names::Word, report, slot);
    let lanes = table_of(fields, "lane", Names::Word, report, lane);
    let stages = table_of(fields, "stage", Names::Word, report, stage);
    let gates = table_of(fields, "gate", Names::Word, report, gate);
    Some(Document {
        graph: graph?,
        args,
        hosts,
        slots,
        lanes,
        stages,
        gates,
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

/// A table whose keys are names: reads each entry with `read`.
fn table_of<'i, T>(
    fields: &mut Fields<'_, 'i>,
    key: &'static str,
    names: Names,
    report: &mut Report,
    read: impl Fn(&mut Fields<'_, 'i>, Span, &mut Report) -> Option<T>,
) -> BTreeMap<String, T> {
    let source = fields.source();
    let mut found = BTreeMap::new();
    for (name, value) in fields.named(key, report) {
        if !names.check(&name, report) {
            continue;
        }
        let what = format!("{key} `{}`", name.value);
        let Some(mut inner) = Fields::of(source, value, what, report) else {
            continue;
        };
        if let Some(item) = read(&mut inner, name.span, report) {
            found.insert(name.value, item);
        }
        inner.finish(report);
    }
    found
}

fn graph_table(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<GraphTable> {
    let mut fields = Fields::of(source, value, "[graph]", report)?;
    let name = fields.need_text("name", report);
    let table = GraphTable {
        versions: fields
            .text("versions", report)
            .filter(|path| path_below(path, report)),
        pins: fields.texts("pins", report),
        default: fields.text("default", report),
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

fn arg(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Arg> {
    let default = fields.text("default", report);
    let about = fields.need_text("about", report)?;
    Some(Arg {
        default,
        about,
        span,
    })
}

fn host(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Host> {
    const NEEDS: [(&str, Need); 2] = [("required", Need::Required), ("optional", Need::Optional)];
    let need = fields
        .word("need", &NEEDS, report)
        .unwrap_or(Need::Optional);
    let about = fields.need_text("about", report)?;
    Some(Host { about, need, span })
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
        match (same_as, stage) {
            (Some(stage), None) | (None, Some(stage)) => {
                choices.insert(
                    name.value,
                    Choice {
                        stage,
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

fn lane(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Lane> {
    let source = fields.source();
    let platform = fields.need_text("platform", report);
    let target = fields.text("target", report);
    let slots = fields
        .named("slot", report)
        .into_iter()
        .filter_map(|(name, value)| {
            text_of(source, value, "the choice of a slot", report).map(|v| (name.value, v))
        })
        .collect();
    let outputs = table_of(fields, "output", Names::Word, report, output);
    Some(Lane {
        platform: platform?,
        target,
        slots,
        outputs,
        span,
    })
}

fn output(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Output> {
    let root = template(fields, "root", report);
    let tag = template(fields, "tag", report);
    let stage = fields.need_text("stage", report)?;
    Some(Output {
        stage,
        root,
        tag,
        span,
    })
}

fn stage(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Stage> {
    let from = fields
        .get("from")
        .and_then(|value| from(fields.source(), value, report));
    let stage = Stage {
        from,
        tree: templates(fields, "tree", Dollar::Ours, report).unwrap_or_default(),
        merge: fields.texts("merge", report),
        add: fields.texts("add", report),
        env: env(fields, report),
        steps: fields
            .list("step", report)
            .into_iter()
            .filter_map(|value| step(fields.source(), value, report))
            .collect(),
        image: match fields.get("image") {
            Some(value) => image(fields.source(), value, report),
            None => ImageTable::default(),
        },
        span,
    };
    shape(&stage, report);
    Some(stage)
}

/// A stage either merges trees, or starts from something.
fn shape(stage: &Stage, report: &mut Report) {
    let mut wrong = |message: &str, help: &str| {
        report.push(
            Diagnostic::new(rule::VALUE, message)
                .at(&stage.span, "this stage")
                .help(help),
        );
    };
    match (&stage.from, stage.merge.is_empty()) {
        (None, true) => {
            wrong(
                "a stage needs `from` or `merge`",
                "from = \"base\", from = { image = \"debian:bookworm\" }, merge = [\"a\", \"b\"]",
            );
        }
        (Some(_), false) => {
            wrong(
                "a stage has either `from` or `merge`",
                "`merge` puts trees into a tree; `add` puts a tree onto a root",
            );
        }
        (None, false) => {
            let more = !stage.tree.is_empty() || !stage.add.is_empty() || !stage.steps.is_empty();
            if more || !stage.env.is_empty() {
                wrong(
                    "a stage that merges has nothing but `merge`",
                    "start a stage of its own from what is merged",
                );
            }
        }
        (Some(_), true) => {}
    }
}

fn from(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<From> {
    let span = Span::new(source, value.span());
    match value.get_ref() {
        DeValue::String(name) if name == "scratch" => Some(From::Scratch(span)),
        DeValue::String(name) => Some(From::Stage(Spanned::new(name.to_string(), span))),
        DeValue::Table(table) => {
            let mut fields = Fields::new(source, table, span.clone(), "`from`");
            let image = template(&mut fields, "image", report);
            let slot = fields.text("slot", report);
            let from = match (image, slot) {
                (Some(image), None) => Some(From::Image(image)),
                (None, Some(slot)) => Some(From::Slot(slot)),
                _ => {
                    report.push(
                        Diagnostic::new(rule::VALUE, "`from` names one thing")
                            .at(&span, "expected { image = \"…\" } or { slot = \"…\" }"),
                    );
                    None
                }
            };
            fields.finish(report);
            from
        }
        other => {
            report.push(wrong_type(
                &span,
                "`from`",
                "a stage, { image = … } or { slot = … }",
                other,
            ));
            None
        }
    }
}

fn env(fields: &mut Fields<'_, '_>, report: &mut Report) -> Env {
    let source = fields.source();
    let mut env = Env::new();
    for (name, value) in fields.named("env", report) {
        if !Names::Variable.check(&name, report) {
            continue;
        }
        let edit = match value.get_ref() {
            DeValue::Table(table) => {
                let what = format!("env `{}`", name.value);
                let span = Span::new(source, value.span());
                let mut inner = Fields::new(source, table, span, what);
                let edit = EnvEdit::List {
                    set: templates(&mut inner, "set", Dollar::Ours, report),
                    prepend: templates(&mut inner, "prepend", Dollar::Ours, report)
                        .unwrap_or_default(),
                    append: templates(&mut inner, "append", Dollar::Ours, report)
                        .unwrap_or_default(),
                };
                inner.finish(report);
                edit
            }
            _ => match text_of(source, value, &format!("env `{}`", name.value), report) {
                Some(text) => EnvEdit::Set(Template::parse(&text, Dollar::Ours, report)),
                None => continue,
            },
        };
        env.insert(name.value, (edit, name.span));
    }
    env
}

fn image(source: SourceId, value: &Value<'_>, report: &mut Report) -> ImageTable {
    let Some(mut fields) = Fields::of(source, value, "`image`", report) else {
        return ImageTable::default();
    };
    let table = ImageTable {
        env: constants(&mut fields, "env", true, report),
        labels: constants(&mut fields, "labels", false, report),
        entrypoint: templates(&mut fields, "entrypoint", Dollar::Shell, report),
        cmd: templates(&mut fields, "cmd", Dollar::Shell, report),
        user: template(&mut fields, "user", report),
        workdir: template(&mut fields, "workdir", report),
    };
    fields.finish(report);
    table
}

/// A table of names with text; `variables` when the names are environment variables.
fn constants(
    fields: &mut Fields<'_, '_>,
    key: &'static str,
    variables: bool,
    report: &mut Report,
) -> BTreeMap<String, Template> {
    let source = fields.source();
    fields
        .named(key, report)
        .into_iter()
        .filter(|(name, _)| !variables || Names::Variable.check(name, report))
        .collect::<Vec<_>>()
        .into_iter()
        .filter_map(|(name, value)| {
            let text = text_of(source, value, &format!("`{}`", name.value), report)?;
            Some((name.value, Template::parse(&text, Dollar::Ours, report)))
        })
        .collect()
}

fn step(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Step> {
    const NETWORKS: [(&str, Network); 2] = [("default", Network::Default), ("none", Network::None)];
    let mut fields = Fields::of(source, value, "a step", report)?;
    let name = fields.need_text("name", report);
    if let Some(name) = &name {
        Names::Word.check(name, report);
    }
    let command = command(&mut fields, report);
    let args = fields
        .texts("args", report)
        .iter()
        .filter_map(|text| ArgEntry::parse(text, report))
        .collect();
    let files = fields
        .list("files", report)
        .into_iter()
        .filter_map(|value| file(source, value, report))
        .collect();
    let uses = fields
        .list("uses", report)
        .into_iter()
        .filter_map(|value| use_of(source, value, report))
        .collect();
    let host = fields.texts("host", report);
    let env = constants(&mut fields, "env", true, report);
    let cache = fields
        .list("cache", report)
        .into_iter()
        .filter_map(|value| cache(source, value, report))
        .collect();
    let network = fields
        .word("network", &NETWORKS, report)
        .unwrap_or_default();
    let span = fields.whole_span();
    fields.finish(report);
    Some(Step {
        name: name?,
        command: command?,
        args,
        files,
        uses,
        host,
        env,
        cache,
        network,
        span,
    })
}

fn command(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<Command> {
    let (has_run, has_script) = (fields.get("run").is_some(), fields.get("script").is_some());
    let run = templates(fields, "run", Dollar::Shell, report);
    let script = fields.text("script", report);
    if has_run == has_script {
        report.push(
            Diagnostic::new(rule::VALUE, "a step has either `run` or `script`")
                .at(fields.span(), "this step")
                .help("run = [\"command\", \"argument\"], or script = '''…'''"),
        );
        return None;
    }
    match (run, script) {
        (Some(run), _) if !run.is_empty() => Some(Command::Run(run)),
        (Some(_), _) => {
            let found = Diagnostic::new(rule::VALUE, "`run` of a step has no command");
            report.push(
                found
                    .at(fields.span(), "this step")
                    .help("run = [\"command\", \"argument\"]"),
            );
            None
        }
        (None, script) => script.map(Command::Script),
    }
}

fn file(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<File> {
    let (from, at) = match value.get_ref() {
        DeValue::Table(table) => {
            let span = Span::new(source, value.span());
            let mut fields = Fields::new(source, table, span, "an entry of `files`");
            let from = fields.need_text("from", report);
            let at = template(&mut fields, "at", report);
            fields.finish(report);
            (from?, at)
        }
        _ => (text_of(source, value, "an entry of `files`", report)?, None),
    };
    let inside = from.value.trim_end_matches('/');
    let wrong = if inside.is_empty() || inside == "." || inside == "**" || inside == "*" {
        Some("the whole context is no choice: every change in it would re-run the step")
    } else if from.value.starts_with('/') || from.value.contains('\\') {
        Some("expected a path of the context, with `/`")
    } else if inside
        .split('/')
        .any(|part| part.is_empty() || part == "." || part == "..")
    {
        Some("expected a plain path below the context")
    } else if inside.contains(['*', '?', '[']) {
        Some("patterns are not for files: name each file, or a directory with a `/` at its end")
    } else {
        None
    };
    if let Some(why) = wrong {
        report.push(
            Diagnostic::new(rule::PATH, format!("`{}` cannot be in `files`", from.value))
                .at(&from.span, why)
                .help("name the files, or a directory as `dir/`"),
        );
        return None;
    }
    Some(File { from, at })
}

fn use_of(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Use> {
    let span = Span::new(source, value.span());
    match value.get_ref() {
        DeValue::Table(table) => {
            let mut fields = Fields::new(source, table, span.clone(), "an entry of `uses`");
            let stage = fields.need_text("stage", report);
            let sub = template(&mut fields, "sub", report);
            let at = template(&mut fields, "at", report);
            if let (Some(at), None) = (&at, &sub) {
                report.push(
                    Diagnostic::new(
                        rule::VALUE,
                        "`at` needs `sub`: a tree may have several roots",
                    )
                    .at(&at.span, "which path appears here?"),
                );
            }
            fields.finish(report);
            Some(Use {
                stage: stage?,
                sub,
                at,
                span,
            })
        }
        _ => {
            let stage = text_of(source, value, "an entry of `uses`", report)?;
            Some(Use {
                stage,
                sub: None,
                at: None,
                span,
            })
        }
    }
}

fn cache(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Cache> {
    const SHARINGS: [(&str, Sharing); 3] = [
        ("shared", Sharing::Shared),
        ("private", Sharing::Private),
        ("locked", Sharing::Locked),
    ];
    let mut fields = Fields::of(source, value, "an entry of `cache`", report)?;
    let id = fields.need_text("id", report);
    if fields.get("at").is_none() {
        report.push(fields.missing("at"));
    }
    let at = template(&mut fields, "at", report);
    let sharing = fields
        .word("sharing", &SHARINGS, report)
        .unwrap_or_default();
    fields.finish(report);
    Some(Cache {
        id: id?,
        at: at?,
        sharing,
    })
}

fn gate(fields: &mut Fields<'_, '_>, _: Span, report: &mut Report) -> Option<Gate> {
    const CHECKS: [(&str, Check); 1] = [("arch", Check::Arch)];
    let source = fields.source();
    let of = fields.need_text("of", report);
    if fields.get("check").is_none() {
        report.push(fields.missing("check").help("check = \"arch\""));
    }
    let check = fields.word("check", &CHECKS, report);
    let roots = templates(fields, "roots", Dollar::Ours, report).unwrap_or_default();
    let hold = fields.texts("hold", report);
    let allow = fields
        .list("allow", report)
        .into_iter()
        .filter_map(|value| allow(source, value, report))
        .collect();
    let floors = fields
        .list("floor", report)
        .into_iter()
        .filter_map(|value| floor(source, value, report))
        .collect();
    let empty_ok = fields.text("empty-ok", report);
    let span = fields.whole_span();
    Some(Gate {
        of: of?,
        check: check?,
        roots,
        hold,
        allow,
        floors,
        empty_ok,
        span,
    })
}

fn allow(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Allow> {
    let mut fields = Fields::of(source, value, "an entry of `allow`", report)?;
    let path = fields.need_text("path", report);
    let why = fields.need_text("why", report);
    if let Some(why) = why.as_ref().filter(|why| why.value.trim().is_empty()) {
        report.push(
            Diagnostic::new(rule::VALUE, "an exemption needs a reason").at(&why.span, "empty"),
        );
    }
    if let Some(path) = &path
        && let Err(e) = globset::Glob::new(&path.value)
    {
        report.push(
            Diagnostic::new(rule::VALUE, format!("`{}` is not a pattern", path.value))
                .at(&path.span, e.kind().to_string()),
        );
    }
    let when = when(&mut fields, report);
    fields.finish(report);
    Some(Allow {
        path: path?,
        why: why?,
        when,
    })
}

fn floor(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Floor> {
    let mut fields = Fields::of(source, value, "a floor", report)?;
    let when = when(&mut fields, report);
    let inspected = match fields.get("inspected") {
        Some(value) => measure(source, value, report),
        None => {
            report.push(
                fields
                    .missing("inspected")
                    .help("inspected = { least = 100 }"),
            );
            None
        }
    };
    let span = fields.span().clone();
    fields.finish(report);
    Some(Floor {
        when,
        inspected: inspected?,
        span,
    })
}

fn measure(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Measure> {
    let mut fields = Fields::of(source, value, "`inspected`", report)?;
    let least = fields.integer("least", report);
    if least.is_none() && fields.get("least").is_none() {
        report.push(fields.missing("least"));
    }
    let measured = fields.integer("measured", report);
    let broken = fields.integer("broken", report);
    let on = match fields.get("on") {
        None => None,
        Some(value) => match value.get_ref() {
            DeValue::Datetime(date) if date.date.is_some() && date.time.is_none() => {
                Some(date.to_string())
            }
            other => {
                let span = Span::new(source, value.span());
                report.push(wrong_type(
                    &span,
                    "`on`",
                    "a date such as 2026-09-02",
                    other,
                ));
                None
            }
        },
    };
    if let Some(least) = &least {
        let mut bad = |why: String, help: &str| {
            report.push(
                Diagnostic::new(rule::GATE, why)
                    .at(&least.span, "this floor")
                    .help(help),
            );
        };
        if least.value == 0 {
            bad(
                "a floor of zero lets an empty tree pass".into(),
                "say why nothing needs to be inspected: empty-ok = \"…\"",
            );
        }
        if let Some(broken) = broken.as_ref().filter(|broken| least.value <= broken.value) {
            let why = format!(
                "the floor is not above {}, which a broken tree had",
                broken.value
            );
            bad(why, "a floor must lie above the last broken state");
        }
        if let Some(measured) = measured.as_ref().filter(|m| m.value < least.value) {
            bad(
                format!("the floor is above what was measured ({})", measured.value),
                "measure again",
            );
        }
    }
    fields.finish(report);
    Some(Measure {
        least: least?,
        measured: measured.map(|m| m.value),
        on,
        broken: broken.map(|b| b.value),
    })
}

fn when(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<When> {
    let source = fields.source();
    let value = fields.get("when")?;
    let fields = Fields::of(source, value, "`when`", report)?;
    let span = fields.span().clone();
    let mut clauses = Vec::new();
    for (namespace, value) in fields.entries() {
        if !["lane", "slot"].contains(&namespace.value.as_str()) {
            report.push(
                Diagnostic::new(
                    rule::UNKNOWN_NAME,
                    format!("a condition cannot look at `{}`", namespace.value),
                )
                .at(&namespace.span, "expected `lane.…` or `slot.…`")
                .help("when = { lane.target = \"arm64\", slot.sdk = [\"plain\", \"rocm\"] }"),
            );
            continue;
        }
        let Some(inner) = Fields::of(source, value, format!("`{}`", namespace.value), report)
        else {
            continue;
        };
        for (name, value) in inner.entries() {
            clauses.extend(clause(source, &namespace.value, name, value, report));
        }
    }
    if clauses.is_empty() && report.is_empty() {
        report
            .push(Diagnostic::new(rule::VALUE, "`when` has no condition").at(&span, "always true"));
    }
    Some(When { clauses, span })
}

fn clause(
    source: SourceId,
    namespace: &str,
    name: Text,
    value: &Value<'_>,
    report: &mut Report,
) -> Option<Clause> {
    let what = format!("`{namespace}.{}`", name.value);
    let any_of = match value.get_ref() {
        DeValue::Array(values) => values
            .iter()
            .filter_map(|v| text_of(source, v, &what, report))
            .collect(),
        _ => text_of(source, value, &what, report).into_iter().collect(),
    };
    let what = if namespace == "slot" {
        Attribute::Slot(name)
    } else {
        match LaneField::named(&name.value) {
            Some(field) => Attribute::Lane(field),
            None => {
                report.push(
                    Diagnostic::new(
                        rule::UNKNOWN_NAME,
                        format!("a lane has no `{}`", name.value),
                    )
                    .at(&name.span, "unknown")
                    .help(suggest(&name.value, LaneField::names())),
                );
                return None;
            }
        }
    };
    Some(Clause { what, any_of })
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
