//! Included files: which there are, and their tables beside the lane file's.
//!
//! Who has the directory (an engine's bridge, a disk) lists what a [`Walk`] asks for. So both
//! ways in find the same files in the same order, and no directory is read that no pattern needs.

use std::collections::{BTreeMap, BTreeSet};

use fast_glob::glob_match;

use super::model::{Document, GraphTable};
use super::read::Text;
use crate::diag::{Diagnostic, Report, Span, rule};

/// The most files that a lane file may include.
pub const MAX_INCLUDED: usize = 256;
/// The most bytes that they may have together.
pub const MAX_INCLUDED_BYTES: u64 = 8 << 20;

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Whether it is a directory itself; a link to one is none.
    pub directory: bool,
}

/// The search for the files that `include` names. Paths are relative to the lane file's directory.
#[derive(Debug)]
pub struct Walk {
    patterns: Vec<Pattern>,
    open: Vec<Open>,
    found: BTreeSet<String>,
}

#[derive(Debug)]
struct Pattern {
    text: Text,
    parts: Vec<String>,
    matched: bool,
}

/// A directory that may hold what the part of a pattern at this depth stands for.
#[derive(Debug)]
struct Open {
    pattern: usize,
    depth: usize,
    directory: String,
}

impl Walk {
    /// The search for what a graph includes; none when it includes nothing.
    ///
    /// # Errors
    /// A pattern that cannot be one.
    pub fn new(graph: &GraphTable) -> Result<Option<Self>, Report> {
        let mut report = Report::default();
        let parsed = graph.include.iter().map(|text| pattern(text, &mut report));
        let patterns: Vec<Pattern> = parsed.collect::<Vec<_>>().into_iter().flatten().collect();
        let open = (0..patterns.len())
            .map(|pattern| Open {
                pattern,
                depth: 0,
                directory: String::new(),
            })
            .collect();
        let walk = (!patterns.is_empty()).then_some(Self {
            patterns,
            open,
            found: BTreeSet::new(),
        });
        report.into_result(walk)
    }

    /// The directory that is to be listed next; empty is the lane file's own. `None`: all was seen.
    pub fn next(&self) -> Option<&str> {
        self.open.last().map(|open| open.directory.as_str())
    }

    /// What the directory that [`Walk::next`] named has; one that is not there has nothing.
    pub fn listed(&mut self, entries: impl IntoIterator<Item = Entry>) {
        let Some(Open {
            pattern: index,
            depth,
            directory,
        }) = self.open.pop()
        else {
            return;
        };
        let pattern = &mut self.patterns[index];
        let last = depth + 1 == pattern.parts.len();
        for entry in entries {
            if entry.directory == last || !glob_match(&pattern.parts[depth], &entry.name) {
                continue;
            }
            let path = if directory.is_empty() {
                entry.name
            } else {
                format!("{directory}/{}", entry.name)
            };
            if last {
                pattern.matched = true;
                // One more than may be is enough to know.
                if self.found.len() <= MAX_INCLUDED {
                    self.found.insert(path);
                }
            } else if self.open.len() <= MAX_INCLUDED {
                self.open.push(Open {
                    pattern: index,
                    depth: depth + 1,
                    directory: path,
                });
            }
        }
    }

    /// The files, sorted by path, without `lane_file` itself.
    ///
    /// # Errors
    /// Patterns that stand for nothing, and more files than may be.
    pub fn finish(mut self, lane_file: &str) -> Result<Vec<String>, Report> {
        self.found.remove(lane_file);
        let mut report = Report::default();
        for pattern in self.patterns.iter().filter(|pattern| !pattern.matched) {
            let message = format!("`{}` includes nothing", pattern.text.value);
            report.push(
                Diagnostic::new(rule::PATH, message)
                    .at(&pattern.text.span, "no file matches")
                    .help("it is looked for beside the lane file; one that comes by standard input has nothing beside it"),
            );
        }
        if self.found.len() > MAX_INCLUDED {
            let message = format!("more than {MAX_INCLUDED} files are included");
            let first = &self.patterns[0].text.span;
            report.push(Diagnostic::new(rule::PATH, message).at(first, "by these patterns"));
        }
        report.into_result(self.found.into_iter().collect())
    }
}

/// A path below the lane file whose parts may have `*` and `?`.
fn pattern(text: &Text, report: &mut Report) -> Option<Pattern> {
    let path = text.value.strip_prefix("./").unwrap_or(&text.value);
    let odd = path.contains(['[', ']', '{', '}', '\\']) || path.contains("**");
    let plain = path.split('/').all(|part| !part.is_empty() && part != ".");
    if odd || !plain {
        report.push(
            Diagnostic::new(
                rule::PATH,
                format!("`{}` cannot be in `include`", text.value),
            )
            .at(
                &text.span,
                "expected a path with `/`, whose parts may have `*` and `?`",
            )
            .help("include = [\"stages/*.toml\"]"),
        );
        return None;
    }
    Some(Pattern {
        text: text.clone(),
        parts: path.split('/').map(str::to_owned).collect(),
        matched: false,
    })
}

impl Document {
    /// Puts the tables of an included file beside this one's.
    pub fn include(&mut self, other: Document, report: &mut Report) {
        join(&mut self.derived, other.derived, "pin", |p| &p.span, report);
        join(&mut self.args, other.args, "argument", |a| &a.span, report);
        join(
            &mut self.hosts,
            other.hosts,
            "host setting",
            |h| &h.span,
            report,
        );
        join(
            &mut self.switches,
            other.switches,
            "switch",
            |s| &s.span,
            report,
        );
        join(&mut self.kits, other.kits, "kit", |k| &k.span, report);
        join(&mut self.slots, other.slots, "slot", |s| &s.span, report);
        join(
            &mut self.gits,
            other.gits,
            "git source",
            |g| &g.span,
            report,
        );
        join(
            &mut self.payloads,
            other.payloads,
            "payload",
            |p| &p.span,
            report,
        );
        join(
            &mut self.fetches,
            other.fetches,
            "download",
            |f| &f.span,
            report,
        );
        join(&mut self.lanes, other.lanes, "lane", |l| &l.span, report);
        join(&mut self.groups, other.groups, "group", |g| &g.span, report);
        join(&mut self.stages, other.stages, "stage", |s| &s.span, report);
        join(&mut self.gates, other.gates, "gate", |g| &g.span, report);
        join(
            &mut self.pin_rules,
            other.pin_rules,
            "pin rule",
            |r| &r.span,
            report,
        );
        self.refuse.extend(other.refuse);
        self.lint.extend(other.lint);
    }
}

fn join<T>(
    here: &mut BTreeMap<String, T>,
    more: BTreeMap<String, T>,
    kind: &str,
    span: impl Fn(&T) -> &Span,
    report: &mut Report,
) {
    for (name, item) in more {
        if let Some(first) = here.get(&name) {
            report.push(
                Diagnostic::new(
                    rule::COLLISION,
                    format!("{kind} `{name}` is declared twice"),
                )
                .at(span(&item), "second")
                .related(span(first), "first")
                .help("a table stands in one file: move all of it there, or rename one"),
            );
            continue;
        }
        here.insert(name, item);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::{Sources, Spanned};

    /// A tree of directories: path to names, directories with `/`.
    fn walk(patterns: &[&str], tree: &[(&str, &[&str])]) -> Result<Vec<String>, Vec<String>> {
        let mut sources = Sources::default();
        let id = sources.add("lanes.toml", patterns.join(" "));
        let text = |p: &&str| Spanned::new((*p).to_owned(), Span::new(id, 0..1));
        let graph = GraphTable {
            name: text(&"t"),
            versions: None,
            pins: Vec::new(),
            include: patterns.iter().map(text).collect(),
            default: None,
            layer_budget: None,
            span: Span::new(id, 0..1),
        };
        let messages = |report: Report| {
            let all = report.diagnostics().iter().map(|d| d.message.clone());
            all.collect::<Vec<_>>()
        };
        let mut walk = Walk::new(&graph).map_err(messages)?.expect("patterns");
        while let Some(directory) = walk.next() {
            let names = tree.iter().find(|(path, _)| *path == directory);
            let entries = names.into_iter().flat_map(|(_, names)| names.iter());
            let entries: Vec<Entry> = entries
                .map(|name| Entry {
                    name: name.trim_end_matches('/').to_owned(),
                    directory: name.ends_with('/'),
                })
                .collect();
            walk.listed(entries);
        }
        walk.finish("lanes.toml").map_err(messages)
    }

    #[test]
    fn patterns_walk_only_where_they_lead_and_files_are_sorted() {
        let tree: &[(&str, &[&str])] = &[
            (
                "",
                &["lanes.toml", "more.toml", "stages/", "other/", "x.toml/"],
            ),
            ("stages", &["b.toml", "a.toml", "note.md", "deep/"]),
            ("stages/deep", &["c.toml"]),
        ];
        let found = walk(
            &[
                "*.toml",
                "st*/*.toml",
                "stages/?eep/c.toml",
                "stages/a.toml",
            ],
            tree,
        );
        let want = [
            "more.toml",
            "stages/a.toml",
            "stages/b.toml",
            "stages/deep/c.toml",
        ];
        assert_eq!(found.expect("files"), want);
    }

    #[test]
    fn what_stands_for_nothing_or_is_no_pattern_is_an_error() {
        let none = walk(&["stages/*.toml", "a.toml"], &[("", &["a.toml"])]);
        assert_eq!(none, Err(vec!["`stages/*.toml` includes nothing".into()]));
        let odd = walk(&["a/**/b", "[ab]", "a//b", "./a.toml"], &[]);
        assert_eq!(odd.expect_err("odd").len(), 3);
    }

    #[test]
    fn more_than_may_be_is_an_error_and_not_kept() {
        let names: Vec<String> = (0..5000).map(|n| format!("{n}.toml")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let many = walk(&["*.toml"], &[("", &names)]).expect_err("too many");
        assert_eq!(many, ["more than 256 files are included"]);
    }
}
