//! The JSON that clients read: the shapes of BuildKit's `frontend/subrequests/{lint,outline,targets}`.

use base64::Engine as _;
use serde::Serialize;
use stages::diag::{SourceId, Sources, Span};
use stages::view;

/// How many bytes of files an answer carries at the most: engines keep answers small.
const CARRIED: usize = 4 << 20;

/// Lines of one of the files that go along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Location {
    #[serde(skip_serializing_if = "is_zero")]
    source_index: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ranges: Vec<Range>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Range {
    start: Position,
    end: Position,
}

/// A line, counted from 1. The character, counted from 0, is left out where it is the first one, as protobuf's JSON does;
/// ours always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
struct Position {
    line: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The files that locations point into, in the order of their first use; the lane file comes first.
#[derive(Debug)]
pub(super) struct Files<'a> {
    sources: &'a Sources,
    used: Vec<SourceId>,
}

impl<'a> Files<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        // Clients look up a file even for what is about no line.
        let used = sources.iter().map(|(id, _)| id).take(1).collect();
        Self { sources, used }
    }

    /// The lines of a span, or of none the lane file.
    pub(super) fn location(&mut self, span: Option<&Span>) -> Location {
        let Some(span) = span else {
            return Location {
                source_index: 0,
                ranges: Vec::new(),
            };
        };
        let known = self.used.iter().position(|id| *id == span.source);
        let source_index = known.unwrap_or_else(|| {
            self.used.push(span.source);
            self.used.len() - 1
        });
        let (first, last) = self.sources.lines(span);
        let at = |line| Position { line };
        let range = Range {
            start: at(first),
            end: at(last),
        };
        Location {
            source_index,
            ranges: vec![range],
        }
    }

    /// The files, each as long as there is room: lines that are cut off are not shown.
    fn texts(&self) -> impl Iterator<Item = (&str, String)> {
        let mut left = CARRIED;
        self.used.iter().map(move |id| {
            let source = self.sources.get(*id);
            let bytes = source.text.as_bytes();
            let bytes = if bytes.len() > left { &[] } else { bytes };
            left -= bytes.len();
            let data = base64::engine::general_purpose::STANDARD.encode(bytes);
            (source.name.as_str(), data)
        })
    }

    fn data(&self) -> Vec<String> {
        self.texts().map(|(_, data)| data).collect()
    }

    /// The files with their names, as lints want them.
    pub(super) fn infos(&self) -> Vec<Info> {
        self.texts()
            .map(|(name, data)| Info {
                filename: name.to_owned(),
                language: "TOML",
                data,
            })
            .collect()
    }
}

/// A file with its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Info {
    filename: String,
    language: &'static str,
    data: String,
}

/// What `--call=targets` gives.
#[derive(Debug, Serialize)]
pub(super) struct Targets {
    targets: Vec<Target>,
    sources: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Target {
    name: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    default: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    platform: String,
    location: Location,
}

impl Targets {
    pub(super) fn new(sources: &Sources, all: &[view::Listed<'_>]) -> Self {
        let mut files = Files::new(sources);
        let mut target = |listed: &view::Listed<'_>| Target {
            name: listed.name.clone(),
            default: listed.default,
            description: listed.about.clone(),
            platform: listed.platform.to_owned(),
            location: files.location(Some(listed.span)),
        };
        Self {
            targets: all.iter().map(&mut target).collect(),
            sources: files.data(),
        }
    }
}

/// What `--call=outline` gives.
#[derive(Debug, Serialize)]
pub(super) struct Outline {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    args: Vec<Arg>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    secrets: Vec<Secret>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ssh: Vec<Secret>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cache: Vec<Cache>,
    /// Ours: other clients pass it over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    payloads: Vec<Payload>,
    sources: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Arg {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    value: String,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Secret {
    name: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    required: bool,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Cache {
    #[serde(rename = "ID")]
    id: String,
    location: Location,
}

#[derive(Debug, Serialize)]
struct Payload {
    name: String,
    path: String,
    state: &'static str,
    location: Location,
}

impl Outline {
    pub(super) fn new(sources: &Sources, outline: &view::Outline) -> Self {
        let mut files = Files::new(sources);
        let args = outline.args.iter().map(|arg| Arg {
            name: arg.name.clone(),
            description: arg.about.clone(),
            value: arg.value.clone(),
            location: files.location(Some(&arg.span)),
        });
        let args = args.collect();
        let mut secrets = |list: &[view::OutlineSecret]| {
            let each = list.iter().map(|secret| Secret {
                name: secret.name.clone(),
                required: secret.required,
                location: files.location(secret.span.as_ref()),
            });
            each.collect::<Vec<_>>()
        };
        let (secrets, ssh) = (secrets(&outline.secrets), secrets(&outline.ssh));
        let cache = outline.caches.iter().map(|cache| Cache {
            id: cache.id.clone(),
            location: files.location(Some(&cache.span)),
        });
        let cache = cache.collect();
        let payloads = outline.payloads.iter().map(|payload| Payload {
            name: payload.name.clone(),
            path: payload.path.clone(),
            state: payload.state,
            location: files.location(Some(&payload.span)),
        });
        let payloads = payloads.collect();
        Self {
            name: outline.name.clone(),
            args,
            secrets,
            ssh,
            cache,
            payloads,
            sources: files.data(),
        }
    }
}
