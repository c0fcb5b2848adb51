//! `[stage.NAME]` and its steps.

use toml::de::DeValue;

use super::super::model::*;
use super::super::read::{Fields, Text, text_of, wrong_type};
use super::condition::{attributes, when};
use super::entry::constants;
use super::env;
use super::image::image;
use super::{Names, Value, file_step, merge, mounts, sandbox, template, tree, worded, words};
use crate::diag::{Diagnostic, Report, SourceId, Span, Spanned, rule};
use crate::text::{ArgEntry, Dollar, Template};

pub(super) fn stage(fields: &mut Fields<'_, '_>, span: Span, report: &mut Report) -> Option<Stage> {
    let from = fields
        .get("from")
        .and_then(|value| from(fields.source(), value, report));
    let stage = Stage {
        when: when(fields, report),
        from,
        tree: tree::entries(fields, report),
        merge: merge::parts(fields, "merge", report),
        conflict: merge::conflicts(fields, report),
        add: merge::parts(fields, "add", report),
        env: env::edits(fields, report),
        steps: fields
            .list("step", report)
            .into_iter()
            .filter_map(|value| step(fields.source(), value, report))
            .collect(),
        image: match fields.get("image") {
            Some(value) => image(fields.source(), value, report),
            None => ImageTable::default(),
        },
        same_for: attributes(fields, "same-for", report),
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
        (Some(_), true) if !stage.conflict.is_empty() => {
            wrong(
                "`conflict` is for stages that merge",
                "`merge` compares trees; `add` puts one tree onto a root",
            );
        }
        (Some(_), true) => {}
    }
}

/// Where an image is looked for; as without a word where that is said of none, or in another word.
fn pull(word: &Text, of_image: bool, report: &mut Report) -> Pull {
    let wrong = match (of_image, word.value.as_str()) {
        (true, "always") => return Pull::Always,
        (true, "missing") => return Pull::Missing,
        (false, _) => {
            Diagnostic::new(rule::VALUE, "`pull` is for images").at(&word.span, "of no image")
        }
        (true, other) => Diagnostic::new(rule::VALUE, format!("an image is not pulled `{other}`"))
            .at(&word.span, "expected `always` or `missing`"),
    };
    report.push(wrong);
    Pull::Engine
}

fn from(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<From> {
    let span = Span::new(source, value.span());
    match value.get_ref() {
        DeValue::String(name) if name == "scratch" => Some(From::Scratch(span)),
        DeValue::String(name) => Some(From::Stage(Spanned::new(name.to_string(), span))),
        DeValue::Array(list) => {
            let names = list
                .iter()
                .filter_map(|v| text_of(source, v, "an entry of `from`", report));
            let names: Vec<Text> = names.collect();
            (!names.is_empty()).then_some(From::First(names))
        }
        DeValue::Table(table) => {
            let mut fields = Fields::new(source, table, span.clone(), "`from`");
            let image = template(&mut fields, "image", report);
            let slot = fields.text("slot", report);
            let pull = match fields.text("pull", report) {
                None => Pull::Engine,
                Some(word) => pull(&word, image.is_some(), report),
            };
            let from = match (image, slot) {
                (Some(image), None) => Some(From::Image(image, pull)),
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

fn step(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Step> {
    const NETWORKS: [(&str, Network); 3] = [
        ("default", Network::Default),
        ("none", Network::None),
        ("host", Network::Host),
    ];
    const VIA: [(&str, bool); 2] = [("entrypoint", true), ("nothing", false)];
    let mut fields = Fields::of(source, value, "a step", report)?;
    let _ = fields.get("lint");
    let name = fields.need_text("name", report);
    if let Some(name) = &name {
        Names::Word.check(name, report);
    }
    let command = command(&mut fields, report);
    let when = when(&mut fields, report);
    let kits = fields.texts("kits", report);
    let sees = brings(&mut fields, report);
    let network = fields
        .word("network", &NETWORKS, report)
        .unwrap_or_default();
    let sandbox = sandbox::read(&mut fields, report);
    let workdir = template(&mut fields, "workdir", report);
    let user = worded(&mut fields, "user", report);
    let record = fields.boolean("record", report).unwrap_or_default();
    let through_entrypoint = fields.word("via", &VIA, report).unwrap_or_default();
    let span = fields.whole_span();
    fields.finish(report);
    Some(Step {
        name: name?,
        command: command?,
        when,
        kits,
        sees,
        network,
        sandbox,
        workdir,
        user,
        record,
        through_entrypoint,
        span,
    })
}

/// What a step sees, and what a kit brings.
pub(super) fn brings(fields: &mut Fields<'_, '_>, report: &mut Report) -> Brings {
    let source = fields.source();
    let args = fields.texts("args", report);
    let args = args
        .iter()
        .filter_map(|text| ArgEntry::parse(text, report))
        .collect();
    let mut each = |key: &'static str| fields.list(key, report);
    let (files, uses) = (each("files"), each("uses"));
    Brings {
        args,
        files: files
            .into_iter()
            .filter_map(|value| file(source, value, report))
            .collect(),
        uses: uses
            .into_iter()
            .filter_map(|value| use_of(source, value, report))
            .collect(),
        host: fields.texts("host", report),
        env: constants(fields, "env", true, report),
        pins_file: fields
            .get("pins-file")
            .and_then(|value| pins_file(source, value, report)),
        cache: mounts::caches(fields, report),
        secret: mounts::secrets(fields, report),
        ssh: mounts::agents(fields, report),
        tmpfs: mounts::memory(fields, report),
    }
}

/// What a step does: just one of the keys says it.
fn pins_file(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<PinsFile> {
    let mut fields = Fields::of(source, value, "`pins-file`", report)?;
    let span = fields.span().clone();
    if fields.get("at").is_none() {
        report.push(fields.missing("at"));
    }
    let at = template(&mut fields, "at", report);
    let keys = fields.texts("keys", report);
    let when = when(&mut fields, report);
    if keys.is_empty() {
        let help = "keys = [\"LLVM_VERSION\", \"LLVM_*_SHA256\"]";
        report.push(fields.missing("keys").help(help));
    }
    fields.finish(report);
    Some(PinsFile {
        at: at?,
        keys,
        when,
        span,
    })
}

fn command(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<Command> {
    let mut keys = vec!["run", "script", "command-line"];
    keys.extend(file_step::KEYS);
    keys.retain(|key| fields.get(key).is_some());
    let shell = words(fields, "shell", Dollar::Ours, report);
    if shell.is_some() && keys != ["script"] {
        report.push(
            Diagnostic::new(rule::VALUE, "`shell` is what runs a `script`")
                .at(fields.span(), "this step has none"),
        );
    }
    match keys.as_slice() {
        ["run"] => run(fields, report).map(Command::Run),
        ["script"] => script(fields, shell, report),
        ["command-line"] => {
            let text = fields.text("command-line", report)?;
            Some(Command::Line(Template::parse(&text, Dollar::Shell, report)))
        }
        [key] => file_step::read(fields, key, report).map(|file| Command::File(Box::new(file))),
        found => {
            let what = match found {
                [] => "a step does nothing".to_owned(),
                several => format!(
                    "a step does {} things: {}",
                    several.len(),
                    several.join(", ")
                ),
            };
            report.push(
                Diagnostic::new(rule::VALUE, what)
                    .at(fields.span(), "this step")
                    .help("run = [\"command\", \"argument\"], or script = '''…''', or one of copy, write, mkdir, link, delete"),
            );
            None
        }
    }
}

/// A text that is run as a file, and what runs it.
fn script(
    fields: &mut Fields<'_, '_>,
    shell: Option<Vec<Template>>,
    report: &mut Report,
) -> Option<Command> {
    let text = fields.text("script", report);
    if let Some(text) = text.as_ref().filter(|text| text.value.trim().is_empty()) {
        report.push(
            Diagnostic::new(rule::VALUE, "`script` of a step does nothing").at(&text.span, "empty"),
        );
    }
    if shell.as_ref().is_some_and(Vec::is_empty) {
        report.push(
            fields
                .no_command("shell")
                .at(fields.span(), "this step")
                .help("shell = [\"pwsh\", \"-File\"]: the script's path is put behind it"),
        );
    }
    Some(Command::Script {
        text: text?,
        shell: shell.unwrap_or_default(),
    })
}

fn run(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<Vec<Template>> {
    let run = words(fields, "run", Dollar::Shell, report)?;
    // A value or word of another type was reported already.
    if let DeValue::Array(words) = fields.get("run")?.get_ref()
        && words.is_empty()
    {
        report.push(
            fields
                .no_command("run")
                .at(fields.span(), "this step")
                .help("run = [\"command\", \"argument\"]"),
        );
    }
    (!run.is_empty()).then_some(run)
}

pub(super) fn file(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<File> {
    let DeValue::Table(_) = value.get_ref() else {
        let from = text_of(source, value, "an entry of `files`", report)?;
        return context_path(&from, report).then_some(File {
            source: FileSource::Context,
            from,
            at: None,
            when: None,
        });
    };
    let mut fields = Fields::of(source, value, "an entry of `files`", report)?;
    let source = file_source(&mut fields, report)?;
    let from = match &source {
        FileSource::Context => fields.need_text("from", report),
        // All of a repository is a choice: its content is known by the commit.
        FileSource::Git(git) => Some(match fields.text("from", report) {
            Some(from) => from,
            None => Spanned::new(String::new(), git.span.clone()),
        }),
        FileSource::Payload(name) | FileSource::Fetch(name) => {
            Some(Spanned::new(String::new(), name.span.clone()))
        }
    };
    let at = template(&mut fields, "at", report);
    let when = when(&mut fields, report);
    if matches!(source, FileSource::Git(_)) && at.is_none() {
        report.push(fields.missing("at").help("at = \"/src\""));
    }
    fields.finish(report);
    let from = from?;
    let named = !matches!(source, FileSource::Context);
    let plain = from.value.is_empty() && named || context_path(&from, report);
    plain.then_some(File {
        source,
        from,
        at,
        when,
    })
}

/// What has the file of an entry: the context, unless one other is named.
fn file_source(fields: &mut Fields<'_, '_>, report: &mut Report) -> Option<FileSource> {
    let git = fields.text("git", report).map(FileSource::Git);
    let payload = fields.text("payload", report).map(FileSource::Payload);
    let fetch = fields.text("fetch", report).map(FileSource::Fetch);
    let mut named = [git, payload, fetch].into_iter().flatten();
    let (first, second) = (named.next(), named.next());
    if second.is_some() {
        report.push(Diagnostic::new(rule::VALUE, "a file is of one source").at(
            fields.span(),
            "expected one of `git`, `payload` and `fetch`, or a path of the context",
        ));
        return None;
    }
    Some(first.unwrap_or(FileSource::Context))
}

/// Whether a path names a file, or a directory with a `/` at its end, below the context.
pub(crate) fn context_path(from: &Text, report: &mut Report) -> bool {
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
            Diagnostic::new(
                rule::PATH,
                format!("`{}` names no files of the context", from.value),
            )
            .at(&from.span, why)
            .help("name the files, or a directory as `dir/`"),
        );
    }
    wrong.is_none()
}

const USE_AS: [(&str, UseAs); 2] = [("mount", UseAs::Mount), ("copy", UseAs::Copy)];

fn use_of(source: SourceId, value: &Value<'_>, report: &mut Report) -> Option<Use> {
    let span = Span::new(source, value.span());
    match value.get_ref() {
        DeValue::Table(table) => {
            let mut fields = Fields::new(source, table, span.clone(), "an entry of `uses`");
            let stage = fields.need_text("stage", report);
            let when = when(&mut fields, report);
            let sub = template(&mut fields, "sub", report);
            let at = template(&mut fields, "at", report);
            let how = fields.word("as", &USE_AS, report).unwrap_or_default();
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
                how,
                when,
                span,
            })
        }
        _ => {
            let stage = text_of(source, value, "an entry of `uses`", report)?;
            Some(Use {
                stage,
                sub: None,
                at: None,
                how: UseAs::Mount,
                when: None,
                span,
            })
        }
    }
}
