//! Files that say what of the context is not sent: `.dockerignore`, by the rules that it has for a Dockerfile
//! (`github.com/moby/patternmatcher`).

use fast_glob::glob_match;

use crate::diag::{Diagnostic, Report, rule};
use crate::plan::{Plan, StepFile};

/// The patterns of an ignore file, in its order.
#[derive(Debug, Clone, Default)]
pub struct Ignore {
    patterns: Vec<Pattern>,
}

#[derive(Debug, Clone)]
struct Pattern {
    /// As the engine gets it.
    text: String,
    /// Takes back what a pattern before it took.
    back: bool,
}

impl Ignore {
    /// Reads the text of an ignore file.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Self {
            patterns: lines.filter_map(Pattern::parse).collect(),
        }
    }

    /// Whether it takes nothing away.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The patterns as an engine takes them, in order.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.patterns.iter().map(|pattern| pattern.text.as_str())
    }

    /// Whether nothing of a path of the context is sent: the last pattern that matches it, or a directory above it,
    /// takes it away, and no later one takes back something below it.
    #[must_use]
    pub fn takes(&self, path: &str) -> bool {
        let path = path.trim_matches('/');
        let mut taken = false;
        for pattern in &self.patterns {
            if pattern.back {
                let below = format!("{path}/");
                taken &= !(pattern.matches(path) || pattern.bare().starts_with(&below));
            } else {
                taken |= pattern.matches(path);
            }
        }
        taken
    }
}

/// Whether everything that the steps read is sent. `name` is the ignore file's.
///
/// # Errors
/// Every path of a step that it takes away: the engine would only say that it is not there.
pub fn check(plan: &Plan, ignore: &Ignore, name: &str) -> Result<(), Report> {
    let mut report = Report::default();
    for step in plan.stages.iter().flat_map(|stage| &stage.steps) {
        for file in step.files.values().flatten() {
            let StepFile::Context { from, .. } = file else {
                continue;
            };
            if ignore.takes(from) {
                report.push(ignored(from, name).at(&step.span, "a file of this step"));
            }
        }
    }
    for gate in &plan.gates {
        if let Some(path) = gate.report.as_ref().filter(|path| ignore.takes(path)) {
            report.push(ignored(path, name).at(&gate.span, "the report of this gate"));
        }
    }
    report.into_result(())
}

fn ignored(path: &str, name: &str) -> Diagnostic {
    Diagnostic::new(
        rule::IGNORED,
        format!("`{path}` is left out of the context by {name}"),
    )
    .help(format!("take it back with a last line `!{path}` in {name}"))
}

impl Pattern {
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        let (back, bare) = match line.strip_prefix('!') {
            Some(bare) => (true, bare.trim()),
            None => (false, line),
        };
        let parts: Vec<&str> = bare
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
            .collect();
        if bare.is_empty() {
            return None;
        }
        let bare = if parts.is_empty() {
            ".".to_owned()
        } else {
            parts.join("/")
        };
        let mark = if back { "!" } else { "" };
        Some(Self {
            text: format!("{mark}{bare}"),
            back,
        })
    }

    fn bare(&self) -> &str {
        self.text.strip_prefix('!').unwrap_or(&self.text)
    }

    /// Whether it names the path or a directory above it. A line that is no pattern names nothing here; the engine
    /// says what is wrong with it.
    fn matches(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at);
        ends.chain([path.len()])
            .any(|end| glob_match(self.bare(), &path[..end]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken<'a>(ignore: &str, paths: &[&'a str]) -> Vec<&'a str> {
        let ignore = Ignore::parse(ignore);
        let taken = paths.iter().filter(|path| ignore.takes(path));
        taken.copied().collect()
    }

    #[test]
    fn a_pattern_takes_what_it_names_and_all_below() {
        let paths = ["a", "a/b", "ab", "sub/a", "x.o", "sub/x.o"];
        assert_eq!(taken("/a/\n", &paths), ["a", "a/b"]);
        assert_eq!(taken("*.o\n# a\n\n", &paths), ["x.o"]);
        assert_eq!(taken("**/*.o\n", &paths), ["x.o", "sub/x.o"]);
        assert_eq!(taken("\u{feff}sub\n", &paths), ["sub/a", "sub/x.o"]);
    }

    #[test]
    fn the_last_pattern_that_matches_decides() {
        assert_eq!(taken("*\n!keep\n", &["keep", "keep/x", "drop"]), ["drop"]);
        assert_eq!(taken("!a\na\n", &["a"]), ["a"]);
        // Something below it is sent.
        assert!(taken("sub\n!sub/keep.c\n", &["sub", "sub/keep.c"]).is_empty());
    }

    #[test]
    fn the_engine_gets_clean_patterns_in_their_order() {
        let ignore = Ignore::parse("  ./a//b/ \n! /c\n[x\n");
        assert_eq!(ignore.patterns().collect::<Vec<_>>(), ["a/b", "!c", "[x"]);
        assert!(!ignore.is_empty() && Ignore::parse("# no\n").is_empty());
    }
}
