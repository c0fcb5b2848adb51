//! Errors as values: what is wrong, where, what was expected, and what to do.
//!
//! A [`Diagnostic`] points into [`Sources`]; a [`Report`] collects all of them.
//! The same report becomes a terminal picture here, and a `Source` detail of the
//! gateway protocol in the frontend.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// How many names are looked at for the nearest one.
const NEAR: usize = 500;
/// How many diagnostics a rendered report shows; the rest is counted.
const SHOWN: usize = 40;

/// Identifies one text in [`Sources`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId(usize);

/// One text that was read: a lane file, an included file, a pins file.
#[derive(Debug, Clone)]
pub struct Source {
    /// Path as the user wrote it, relative to the lane file's directory.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// All texts of one graph.
#[derive(Debug, Clone, Default)]
pub struct Sources(Vec<Source>);

impl Sources {
    /// Adds a text and returns its id.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.0.push(Source {
            name: name.into(),
            text: text.into(),
        });
        SourceId(self.0.len() - 1)
    }

    /// Gives every text another name.
    pub fn rename(&mut self, to: impl Fn(&str) -> String) {
        for source in &mut self.0 {
            source.name = to(&source.name);
        }
    }

    /// The text with this id. Ids come only from [`Sources::add`] of the same value.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.0[id.0]
    }

    /// Texts with their ids, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.0
            .iter()
            .enumerate()
            .map(|(i, source)| (SourceId(i), source))
    }

    /// First and last line of a span, counted from 1.
    pub fn lines(&self, span: &Span) -> (u32, u32) {
        let text = self.get(span.source).text.as_bytes();
        let line = |to: usize| {
            let upto = &text[..to.min(text.len())];
            1 + u32::try_from(upto.iter().filter(|&&b| b == b'\n').count()).unwrap_or(u32::MAX - 1)
        };
        let last = span.range.end.saturating_sub(1).max(span.range.start);
        (line(span.range.start), line(last))
    }
}

/// A range of bytes in one source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// Byte offsets, end exclusive.
    pub range: SpanRange,
}

/// Byte offsets of a [`Span`]; a `Range` with an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpanRange {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// A span of `source`.
    pub fn new(source: SourceId, range: Range<usize>) -> Self {
        Self {
            source,
            range: SpanRange {
                start: range.start,
                end: range.end,
            },
        }
    }

    /// The smallest span that holds both; `other` must be of the same source.
    #[must_use]
    pub fn join(&self, other: &Span) -> Self {
        let start = self.range.start.min(other.range.start);
        Self::new(self.source, start..self.range.end.max(other.range.end))
    }
}

/// A value with the place where it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Puts a value and its place together.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// Another value at the same place.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned {
            value: f(self.value),
            span: self.span,
        }
    }
}

/// A rule with a stable, documented id (`docs/rules.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rule(pub &'static str);

impl Rule {
    /// Whether it tells of what is perhaps not meant, and stops nothing.
    pub fn warns(self) -> bool {
        rule::WARNINGS.contains(&self)
    }
}

/// The rules of the graph. Ids are never reused.
pub mod rule {
    use super::Rule;

    /// The text is not TOML, not UTF-8, or too large.
    pub const SYNTAX: Rule = Rule("LK001");
    /// A key that the format does not have.
    pub const UNKNOWN_KEY: Rule = Rule("LK002");
    /// A value of the wrong type or form.
    pub const VALUE: Rule = Rule("LK003");
    /// A key that must be there is not.
    pub const MISSING_KEY: Rule = Rule("LK004");
    /// A name that nothing declares.
    pub const UNKNOWN_NAME: Rule = Rule("LK005");
    /// One name for two things.
    pub const COLLISION: Rule = Rule("LK006");
    /// Stages that consume each other in a circle.
    pub const CYCLE: Rule = Rule("LK007");
    /// Something declared that nothing uses.
    pub const UNUSED: Rule = Rule("LK008");
    /// A build argument or target that the caller may not name.
    pub const REQUEST: Rule = Rule("LK009");
    /// Trees that are in each other's way.
    pub const OVERLAP: Rule = Rule("LK010");
    /// A gate that cannot do its work: no floor, no tree, a hold that cannot hold.
    pub const GATE: Rule = Rule("LK011");
    /// A file or directory that is named in a way that cannot work.
    pub const PATH: Rule = Rule("LK012");
    /// A line of the pins file that is not `NAME=VALUE`.
    pub const PINS: Rule = Rule("LK013");
    /// Something that the engine in use cannot do.
    pub const ENGINE: Rule = Rule("LK014");
    /// A value that is used but was neither given nor declared with a default.
    pub const ABSENT: Rule = Rule("LK015");
    /// A combination that the file refuses.
    pub const REFUSED: Rule = Rule("LK016");
    /// A stage that the lane does not have, named without a condition, or an output.
    pub const NOT_IN_LANE: Rule = Rule("LK017");
    /// A stage that depends on what it is said not to depend on.
    pub const SAME_FOR: Rule = Rule("LK020");
    /// A payload that is not what its hash says, or whose hash is none.
    pub const PAYLOAD: Rule = Rule("LK021");
    /// A payload that is not there.
    pub const NO_PAYLOAD: Rule = Rule("LK022");
    /// A payload without a hash to hold it against.
    pub const UNPINNED: Rule = Rule("LK023");
    /// Another stage's product that would become part of this one's tree.
    pub const COPIED: Rule = Rule("LK030");
    /// Something that an empty root does not have.
    pub const EMPTY: Rule = Rule("LK031");
    /// A tag that stands for two contents.
    pub const TAG: Rule = Rule("LK040");
    /// Something that Windows, or BuildKit on Windows, does not have.
    pub const NOT_ON_WINDOWS: Rule = Rule("LK041");
    /// A path or variable of a Windows lane that is spelled in two ways.
    pub const SPELLING: Rule = Rule("LK042");
    /// A step on Windows without a PATH.
    pub const NO_PATH: Rule = Rule("LK043");
    /// A variable of a step on Windows that is empty.
    pub const EMPTY_VARIABLE: Rule = Rule("LK044");
    /// A place of a Windows root where something is already.
    pub const OCCUPIED: Rule = Rule("LK045");
    /// A stamp that would be part of a content.
    pub const STAMP: Rule = Rule("LK046");
    /// A run that has no tag: a gate was skipped, a pin was given.
    pub const UNVERIFIED: Rule = Rule("LK047");
    /// A file of a step that the ignore file leaves out of the context.
    pub const IGNORED: Rule = Rule("LK050");
    /// An entry of `lint` that allows nothing.
    pub const ALLOW: Rule = Rule("LK060");
    /// A pin that should be a hash and is none.
    pub const HASH: Rule = Rule("LK061");
    /// A pin that should be a hash and is empty.
    pub const EMPTY_HASH: Rule = Rule("LK062");
    /// Pins that do not belong together.
    pub const PIN_RULE: Rule = Rule("LK063");
    /// A script that is listed and that the step does not read.
    pub const UNREAD: Rule = Rule("LK064");
    /// A file that a script reads and the step does not list.
    pub const UNLISTED: Rule = Rule("LK065");
    /// A directory that is listed, of which single files are read.
    pub const WHOLE_DIRECTORY: Rule = Rule("LK066");
    /// A host setting that is set where it is keyed or published.
    pub const HOST_LEAK: Rule = Rule("LK067");
    /// A value that looks secret, in keys and history.
    pub const SECRET: Rule = Rule("LK068");
    /// A condition that holds in no lane.
    pub const DEAD_WHEN: Rule = Rule("LK069");
    /// A lane that is always refused.
    pub const DEAD_LANE: Rule = Rule("LK070");
    /// A cache that is shared in two ways.
    pub const CACHE: Rule = Rule("LK071");
    /// More layers than an engine stacks.
    pub const LAYERS: Rule = Rule("LK072");
    /// A pattern that matches nothing of the context.
    pub const NO_MATCH: Rule = Rule("LK073");
    /// What is listed and not in the context.
    pub const NOT_THERE: Rule = Rule("LK074");
    /// A gate's own keys that mean nothing.
    pub const GATE_KEYS: Rule = Rule("LK090");
    /// A step that cannot be recorded.
    pub const RECORD: Rule = Rule("LK091");

    /// What is doubtful and stops nothing; every other rule is an error.
    pub const WARNINGS: &[Rule] = &[
        NO_PAYLOAD,
        UNPINNED,
        EMPTY_VARIABLE,
        UNVERIFIED,
        EMPTY_HASH,
        UNREAD,
        UNLISTED,
        WHOLE_DIRECTORY,
        SECRET,
        DEAD_WHEN,
        DEAD_LANE,
        CACHE,
        LAYERS,
        NO_MATCH,
    ];

    /// The rules that an entry of `lint` may allow at its place.
    pub const LINTS: &[Rule] = &[
        UNUSED,
        NO_PAYLOAD,
        UNPINNED,
        EMPTY_VARIABLE,
        HASH,
        EMPTY_HASH,
        PIN_RULE,
        UNREAD,
        UNLISTED,
        WHOLE_DIRECTORY,
        HOST_LEAK,
        SECRET,
        DEAD_WHEN,
        DEAD_LANE,
        CACHE,
        LAYERS,
        NO_MATCH,
        NOT_THERE,
    ];

    /// The lints that only a plan shows.
    pub const OF_PLANS: &[Rule] = &[NO_PAYLOAD, UNPINNED, EMPTY_VARIABLE];

    /// The lints that look into the context.
    pub const OF_CONTEXT: &[Rule] = &[UNREAD, UNLISTED, WHOLE_DIRECTORY, NO_MATCH, NOT_THERE];
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Which rule it breaks.
    pub rule: Rule,
    /// What is wrong, in one sentence.
    pub message: String,
    /// The place, with what was found there.
    pub at: Option<(Span, String)>,
    /// Other places that explain it.
    pub related: Vec<(Span, String)>,
    /// What to do.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic without a place yet.
    pub fn new(rule: Rule, message: impl Into<String>) -> Self {
        Self {
            rule,
            message: message.into(),
            at: None,
            related: Vec::new(),
            help: None,
        }
    }

    /// Sets the place and what is said of it.
    #[must_use]
    pub fn at(mut self, span: &Span, label: impl Into<String>) -> Self {
        self.at = Some((span.clone(), label.into()));
        self
    }

    /// Adds a place that explains it.
    #[must_use]
    pub fn related(mut self, span: &Span, label: impl Into<String>) -> Self {
        self.related.push((span.clone(), label.into()));
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// `LK002 lanes.toml:12: message (help)`: one line, for logs.
    pub fn one_line(&self, sources: &Sources) -> String {
        let place = match &self.at {
            Some((span, _)) => {
                format!(
                    " {}:{}:",
                    sources.get(span.source).name,
                    sources.lines(span).0
                )
            }
            None => String::new(),
        };
        let help = self
            .help
            .as_ref()
            .map(|h| format!(" ({h})"))
            .unwrap_or_default();
        format!("{}{place} {}{help}", self.rule.0, self.message)
    }

    fn group<'a>(&'a self, sources: &'a Sources) -> Group<'a> {
        let level = if self.rule.warns() {
            Level::WARNING
        } else {
            Level::ERROR
        };
        let mut group = Group::with_title(level.primary_title(&*self.message).id(self.rule.0));
        // One snippet for each text that the diagnostic points into, the main one first.
        let mut places: Vec<(&Span, &str, AnnotationKind)> = Vec::new();
        if let Some((span, label)) = &self.at {
            places.push((span, label, AnnotationKind::Primary));
        }
        places.extend(
            self.related
                .iter()
                .map(|(s, l)| (s, l.as_str(), AnnotationKind::Context)),
        );
        let mut ids: Vec<SourceId> = Vec::new();
        for (span, ..) in &places {
            if !ids.contains(&span.source) {
                ids.push(span.source);
            }
        }
        for id in ids {
            let source = sources.get(id);
            let mut snippet = Snippet::source(&*source.text)
                .path(&*source.name)
                .fold(true);
            for (span, label, kind) in places.iter().filter(|(s, ..)| s.source == id) {
                let range = clamp(&source.text, span);
                let annotation = kind.span(range);
                snippet = snippet.annotation(if label.is_empty() {
                    annotation
                } else {
                    annotation.label(*label)
                });
            }
            group = group.element(snippet);
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(&**help));
        }
        group
    }
}

/// A byte range that lies in the text, on character boundaries.
fn clamp(text: &str, span: &Span) -> Range<usize> {
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.range.start);
    start..boundary(span.range.end).max(start)
}

/// Everything that is wrong, in the order of the texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report(Vec<Diagnostic>);

impl Report {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds all of another report.
    pub fn extend(&mut self, other: Report) {
        self.0.extend(other.0);
    }

    /// What is wrong with any of several things, together.
    ///
    /// # Errors
    /// All that is wrong with them.
    pub fn of_all(results: impl IntoIterator<Item = Result<(), Report>>) -> Result<(), Report> {
        let mut all = Self::default();
        let wrong = results.into_iter().filter_map(Result::err);
        wrong.for_each(|report| all.extend(report));
        all.into_result(())
    }

    /// `Ok` when nothing is wrong; otherwise all of it, sorted by place, each once.
    ///
    /// # Errors
    /// The report itself, when it holds a diagnostic.
    pub fn into_result<T>(self, value: T) -> Result<T, Report> {
        if self.0.is_empty() {
            Ok(value)
        } else {
            Err(self.sorted())
        }
    }

    /// The same, sorted by place, each once. A step that fails says why: an empty report here is
    /// a bug of ours, and says so.
    #[must_use]
    pub fn sorted(mut self) -> Report {
        if self.0.is_empty() {
            let text = "lanekit failed without saying why: please report it";
            self.0.push(Diagnostic::new(rule::ENGINE, text));
        }
        self.0.sort_by(|a, b| {
            let key = |d: &Diagnostic| (d.at.as_ref().map(|(s, _)| s.clone()), d.rule);
            key(a).cmp(&key(b))
        });
        self.0.dedup();
        self
    }

    /// Errors and warnings, apart.
    #[must_use]
    pub fn split(self) -> (Report, Report) {
        let (warnings, errors) = self.0.into_iter().partition(|d| d.rule.warns());
        (Self(errors), Self(warnings))
    }

    /// The diagnostics.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.0
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Text with the lines of the files, for people; `color` adds terminal escapes.
    pub fn render(&self, sources: &Sources, color: bool) -> String {
        let renderer = if color {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let mut out = String::new();
        for diagnostic in self.0.iter().take(SHOWN) {
            out.push_str(&renderer.render(&[diagnostic.group(sources)]));
            out.push_str("\n\n");
        }
        if self.0.len() > SHOWN {
            out.push_str(&format!("and {} more\n", self.0.len() - SHOWN));
        }
        out
    }
}

impl From<Diagnostic> for Report {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// `did you mean "x"?` for the nearest of the known names, if one is near enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let folded = name.to_lowercase();
    known
        .into_iter()
        // A name of another length is no typo, and cheap to tell.
        .filter(|k| k.len().abs_diff(name.len()) <= 1 + k.len().max(name.len()) / 3)
        // A hint is not worth a wait: of very many names, the first.
        .take(NEAR)
        .map(|k| (strsim::damerau_levenshtein(&folded, &k.to_lowercase()), k))
        .filter(|(distance, k)| *distance <= 1 + k.len().max(name.len()) / 3)
        .min()
        .map(|(_, k)| k)
}

/// Help for an unknown name: the nearest known one, and the list of all where that is no wall of text.
pub fn suggest<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    const LISTED: usize = 60;
    const BESIDE_THE_NEAREST: usize = 40;
    let all: Vec<&str> = known.clone().into_iter().collect();
    if all.is_empty() {
        return "none is declared".into();
    }
    let more = all.len().saturating_sub(LISTED);
    let mut list = all
        .iter()
        .take(LISTED)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    if more > 0 {
        list.push_str(&format!(" and {more} more"));
    }
    match nearest(name, known) {
        Some(near) if all.len() > BESIDE_THE_NEAREST => {
            format!("did you mean `{near}`? {} names are known", all.len())
        }
        Some(near) => format!("did you mean `{near}`? known: {list}"),
        None => format!("known: {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_span_count_from_one() {
        let mut sources = Sources::default();
        let id = sources.add("a", "one\ntwo\nthree\n");
        assert_eq!(sources.lines(&Span::new(id, 0..3)), (1, 1));
        assert_eq!(sources.lines(&Span::new(id, 4..13)), (2, 3));
        assert_eq!(sources.lines(&Span::new(id, 14..14)), (4, 4));
    }

    #[test]
    fn nearest_finds_typos_and_refuses_strangers() {
        let known = ["APP_REF", "GREETING"];
        assert_eq!(nearest("APP_RFE", known), Some("APP_REF"));
        assert_eq!(nearest("greting", known), Some("GREETING"));
        assert_eq!(nearest("Z", known), None);
    }

    #[test]
    fn an_unknown_name_gets_the_known_ones_unless_they_hide_the_nearest() {
        assert_eq!(suggest("X", []), "none is declared");
        assert_eq!(
            suggest("AB", ["AC", "Q"]),
            "did you mean `AC`? known: AC, Q"
        );
        assert_eq!(suggest("Z", ["NAME", "OTHER"]), "known: NAME, OTHER");
        let many: Vec<String> = (10..74).map(|n| format!("PIN_{n}")).collect();
        let many = || many.iter().map(String::as_str);
        assert_eq!(
            suggest("PIN_1", many().collect::<Vec<_>>()),
            "did you mean `PIN_10`? 64 names are known"
        );
        assert!(suggest("nothing like it", many().collect::<Vec<_>>()).ends_with("and 4 more"));
    }

    #[test]
    fn a_span_outside_the_text_is_clamped_not_a_panic() {
        let mut sources = Sources::default();
        let id = sources.add("a", "é");
        let report =
            Report::from(Diagnostic::new(rule::SYNTAX, "x").at(&Span::new(id, 1..99), "here"));
        assert!(report.render(&sources, false).contains("a:1"));
    }
}
