//! LK067 and LK068: host settings that end up in keys and configs, and values that look secret.

use std::collections::BTreeSet;

use super::Seen;
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::Command;
use crate::text::{ArgEntry, Piece, Template, ValueRef};

/// Words that are a name's last part, or its last two, when the value is secret.
const SECRET: [&str; 12] = [
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "SECRET",
    "TOKEN",
    "CREDENTIALS",
    "API_KEY",
    "APIKEY",
    "SECRET_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "AUTH_KEY",
];

pub(super) fn check(seen: &Seen<'_>, report: &mut Report) {
    for (name, span, place) in variables(seen) {
        if let Some(host) = seen.graph.hosts.get(name) {
            let message = format!("{place} sets host setting `{name}`");
            let help = "name it in a step's `host`, where its value comes from the build machine";
            report.push(
                Diagnostic::new(rule::HOST_LEAK, message)
                    .at(span, "here its value is in keys, or in the image's config")
                    .related(&host.span, "declared here: never keyed, never published")
                    .help(help),
            );
        } else if looks_secret(name) {
            secret(&format!("`{name}` of {place}"), span, report);
        }
    }
    for stage in seen.graph.stages.values() {
        for step in &stage.steps {
            if let Command::Run(run) = &step.command {
                argv(run, report);
            }
        }
    }
}

/// Every variable that is set, with its place and what it stands in.
fn variables<'a>(seen: &Seen<'a>) -> Vec<(&'a str, &'a Span, &'static str)> {
    let graph = seen.graph;
    let mut all: Vec<(&str, &Span, &'static str)> = Vec::new();
    for stage in graph.stages.values() {
        let chain = stage.env.iter();
        all.extend(chain.map(|(name, edit)| (name.as_str(), &edit.span, "the chain env")));
        let image = stage.image.env.iter();
        all.extend(image.map(|(name, entry)| (name.as_str(), &entry.text.span, "the image env")));
    }
    for brings in graph.brings() {
        let env = brings.env.iter();
        all.extend(env.map(|(name, entry)| (name.as_str(), &entry.text.span, "the env of a step")));
        for entry in &brings.args {
            if let ArgEntry::One { name, span, .. } = entry {
                all.push((name, span, "`args`"));
            }
        }
    }
    all
}

/// Words of a command that hand over a secret: the value of an argument or pin whose name says
/// that it is one, or the text behind an option that is called so.
fn argv(run: &[Template], report: &mut Report) {
    let mut said = BTreeSet::new();
    let mut before = String::new();
    for word in run {
        let named = word.values().find_map(|value| match value {
            ValueRef::Named(name)
            | ValueRef::Pin(name)
            | ValueRef::Arg(name)
            | ValueRef::Env(name) => looks_secret(name).then_some(name.as_str()),
            _ => None,
        });
        let literal = match word.pieces.first() {
            Some(Piece::Literal(text)) => text.as_str(),
            _ => "",
        };
        let (option, value) = match literal.split_once('=') {
            Some((option, value)) => (option.to_owned(), value),
            None => (std::mem::take(&mut before), literal),
        };
        let option = option.strip_prefix("--").unwrap_or_default();
        let behind = looks_secret(&option.replace('-', "_").to_uppercase())
            && !value.is_empty()
            && !value.starts_with(['-', '$', '/']);
        if let Some(name) = named.or(behind.then_some(option))
            && said.insert(name.to_owned())
        {
            secret(&format!("`{name}` in a command"), &word.span, report);
        }
        before = literal.to_owned();
    }
}

fn secret(what: &str, span: &Span, report: &mut Report) {
    report.push(
        Diagnostic::new(rule::SECRET, format!("{what} looks secret"))
            .at(span, "its value is in keys, history and provenance")
            .help("pass it as a file, secret = [{ id = \"…\" }], or as a host setting"),
    );
}

/// Whether a name says that its value is secret: `NPM_TOKEN`, not `TOKENIZER_VERSION`.
fn looks_secret(name: &str) -> bool {
    let name = name.to_uppercase();
    SECRET.iter().any(|word| {
        name.strip_suffix(word)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
    })
}

#[cfg(test)]
mod tests {
    use super::looks_secret;

    #[test]
    fn names_of_secrets_are_told_from_others() {
        for name in ["NPM_TOKEN", "PASSWORD", "AWS_SECRET_ACCESS_KEY", "token"] {
            assert!(looks_secret(name), "{name}");
        }
        for name in [
            "TOKENIZERS",
            "SECRET_SANTA",
            "KEY",
            "MONKEY",
            "CACHE_KEY",
            "NOTOKEN",
        ] {
            assert!(!looks_secret(name), "{name}");
        }
    }
}
