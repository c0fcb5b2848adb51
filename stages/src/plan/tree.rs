//! Paths of products: which there are, which are in each other's way.

use crate::diag::{Diagnostic, Report, Span, rule};

/// A path or pattern of a tree: absolute, clean, with `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreePath(String);

impl TreePath {
    /// Checks a declared path.
    pub(super) fn parse(text: &str, span: &Span, report: &mut Report) -> Option<Self> {
        let path = absolute(text, span, report)?;
        let parent = path
            .rsplit_once('/')
            .map(|(parent, _)| parent)
            .unwrap_or_default();
        if is_pattern(parent) {
            report.push(
                Diagnostic::new(rule::PATH, format!("`{text}` has a pattern in the middle"))
                    .at(span, "only the last part of a path may be a pattern"),
            );
            return None;
        }
        if path.contains(['[', ']', '{', '}']) {
            report.push(
                Diagnostic::new(
                    rule::PATH,
                    format!("`{text}` has a pattern that trees do not have"),
                )
                .at(span, "only `*` and `?` are patterns here"),
            );
            return None;
        }
        if path == "/" {
            report.push(
                Diagnostic::new(rule::PATH, "a tree cannot be the whole root")
                    .at(span, "name the paths that are the product"),
            );
            return None;
        }
        Some(Self(path))
    }

    /// The path or pattern itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it stands for several paths.
    pub fn is_pattern(&self) -> bool {
        is_pattern(&self.0)
    }

    /// The directory that holds everything that it stands for: itself, or a pattern's parent.
    pub fn directory(&self) -> &str {
        if self.is_pattern() {
            match self.0.rsplit_once('/') {
                Some(("", _)) | None => "/",
                Some((parent, _)) => parent,
            }
        } else {
            &self.0
        }
    }

    /// Whether both could name one file: equal, one inside the other, or patterns of one
    /// directory that share names (any two patterns count, since neither is known to miss).
    fn overlaps(&self, other: &Self) -> bool {
        match (self.is_pattern(), other.is_pattern()) {
            (false, false) => inside(&self.0, &other.0) || inside(&other.0, &self.0),
            (true, true) => self.directory() == other.directory() && common(&self.0, &other.0),
            (true, false) => self.covers(&other.0) || inside(self.directory(), &other.0),
            (false, true) => other.overlaps(self),
        }
    }

    /// Whether `path` is one of those that the pattern stands for, or lies below one.
    fn covers(&self, path: &str) -> bool {
        let depth = self.0.matches('/').count();
        let head: Vec<&str> = path.split('/').take(depth + 1).collect();
        globset::GlobBuilder::new(&self.0)
            .literal_separator(true)
            .build()
            .is_ok_and(|glob| glob.compile_matcher().is_match(head.join("/")))
    }
}

/// The directories that hold all of the paths, none of them inside another: what is mounted to
/// see them.
pub(crate) fn directories(paths: &[TreePath]) -> Vec<&str> {
    let mut all: Vec<&str> = paths.iter().map(TreePath::directory).collect();
    all.sort_unstable();
    let mut outermost: Vec<&str> = Vec::new();
    for directory in all {
        if !outermost.iter().any(|outer| inside(directory, outer)) {
            outermost.push(directory);
        }
    }
    outermost
}

/// Whether two patterns can stand for one name: their fixed beginnings agree.
fn common(a: &str, b: &str) -> bool {
    let fixed = |p: &str| p.split(['*', '?']).next().unwrap_or_default().to_owned();
    let (a, b) = (fixed(a), fixed(b));
    a.starts_with(&b) || b.starts_with(&a)
}

fn is_pattern(path: &str) -> bool {
    path.contains(['*', '?'])
}

/// Whether `path` is `directory` or lies in it.
pub(crate) fn inside(path: &str, directory: &str) -> bool {
    directory == "/"
        || path
            .strip_prefix(directory)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// An absolute, clean path with `/`, or an error at `span`.
pub(super) fn absolute(text: &str, span: &Span, report: &mut Report) -> Option<String> {
    let trimmed = if text == "/" {
        text
    } else {
        text.trim_end_matches('/')
    };
    let bad = if !trimmed.starts_with('/') {
        Some("expected an absolute path")
    } else if trimmed.contains('\\') {
        Some("a path of a Linux lane has `/`")
    } else if trimmed != "/"
        && trimmed
            .split('/')
            .skip(1)
            .any(|p| p.is_empty() || p == "." || p == "..")
    {
        Some("expected a path without `.`, `..` and `//`")
    } else {
        None
    };
    if let Some(why) = bad {
        report.push(
            Diagnostic::new(rule::PATH, format!("`{text}` is not a path here")).at(span, why),
        );
        return None;
    }
    Some(trimmed.to_owned())
}

/// A tree as one that is put together with others: whose it is, and where it was named.
pub(super) struct Tree<'a> {
    pub(super) stage: &'a str,
    pub(super) paths: &'a [TreePath],
    pub(super) span: &'a Span,
}

/// Trees that are put together must not be in each other's way: which file won would depend on
/// the order.
pub(super) fn apart(parts: &[Tree<'_>], report: &mut Report) {
    for (i, second) in parts.iter().enumerate() {
        for first in &parts[..i] {
            for a in first.paths {
                for b in second.paths.iter().filter(|b| a.overlaps(b)) {
                    report.push(
                        Diagnostic::new(
                            rule::OVERLAP,
                            format!(
                                "the trees of `{}` and `{}` overlap",
                                first.stage, second.stage
                            ),
                        )
                        .at(
                            second.span,
                            format!("`{}` has {}", second.stage, b.as_str()),
                        )
                        .related(first.span, format!("`{}` has {}", first.stage, a.as_str()))
                        .help("let each stage's `tree` name paths of its own"),
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath(text.into())
    }

    #[test]
    fn overlap_is_found_both_ways_and_not_invented() {
        let cases = [
            ("/a/b", "/a/b", true),
            ("/a", "/a/b", true),
            ("/a/b", "/a/bc", false),
            ("/w/onnx-*", "/w/tvm-*", false),
            ("/w/onnx-*", "/w/onnx-gpu-*", true),
            ("/w/*", "/w/x", true),
            ("/w/x*", "/w/xy/z", true),
            ("/w/x*", "/w/y", false),
            ("/w/x*", "/w", true),
            ("/w/x*", "/v", false),
        ];
        for (a, b, want) in cases {
            assert_eq!(path(a).overlaps(&path(b)), want, "{a} {b}");
            assert_eq!(path(b).overlaps(&path(a)), want, "{b} {a}");
        }
    }

    #[test]
    fn a_directory_inside_another_is_seen_there() {
        let paths = ["/p/b-*", "/p/a", "/q", "/p"].map(path);
        assert_eq!(directories(&paths), ["/p", "/q"]);
        assert_eq!(directories(&["/p-a", "/p"].map(path)), ["/p", "/p-a"]);
    }

    #[test]
    fn a_pattern_stands_in_its_parent() {
        assert_eq!(path("/w/onnx-*").directory(), "/w");
        assert_eq!(path("/w/onnx").directory(), "/w/onnx");
        assert_eq!(path("/x*").directory(), "/");
    }
}
