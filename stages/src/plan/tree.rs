//! Paths of products: which there are, which are in each other's way.

use std::collections::{BTreeMap, BTreeSet};

use fast_glob::glob_match;

use super::windows::path::Spelling;
use crate::diag::{Diagnostic, Report, Span, rule};

/// What of a root is a product: a path or pattern, absolute and clean, with `/`; of a directory
/// perhaps only some.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TreePath {
    path: String,
    only: Vec<String>,
    except: Vec<String>,
}

impl TreePath {
    /// Checks a declared path.
    pub(super) fn parse(
        text: &str,
        span: &Span,
        spelling: &mut Spelling,
        report: &mut Report,
    ) -> Option<Self> {
        let path = spelling.absolute(text, span, report)?;
        let parent = path
            .rsplit_once('/')
            .map(|(parent, _)| parent)
            .unwrap_or_default();
        if is_pattern(parent) {
            report.push(
                Diagnostic::new(rule::PATH, format!("`{text}` has a pattern in the middle"))
                    .at(span, "only the last part of a path may be a pattern")
                    .help(format!(
                        "name the directory above it: {{ at = {}, only = [\"*/lib/*\"] }}",
                        spelling.quoted("/opt")
                    )),
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
        Some(Self::all_of(path))
    }

    /// The whole of a path that is known to be good.
    pub(super) fn all_of(path: String) -> Self {
        Self {
            path,
            only: Vec::new(),
            except: Vec::new(),
        }
    }

    /// Some of a directory: what one of `only` matches, if there are any, and none of `except`.
    pub(super) fn some_of(
        self,
        mut only: Vec<String>,
        mut except: Vec<String>,
        span: &Span,
        spelling: &Spelling,
        report: &mut Report,
    ) -> Option<Self> {
        if self.is_pattern() && !(only.is_empty() && except.is_empty()) {
            report.push(
                Diagnostic::new(
                    rule::PATH,
                    format!(
                        "`{}` is a pattern, and has `only` or `except`",
                        spelling.shown(&self.path)
                    ),
                )
                .at(span, "some of which of them?")
                .help("name their directory in `at`, and the pattern in `only`"),
            );
            return None;
        }
        for patterns in [&mut only, &mut except] {
            patterns.sort();
            patterns.dedup();
        }
        Some(Self {
            only,
            except,
            ..self
        })
    }

    /// The same where case does not count.
    pub(super) fn folded(&self) -> Self {
        let fold = |texts: &[String]| texts.iter().map(|text| text.to_lowercase()).collect();
        Self {
            path: self.path.to_lowercase(),
            only: fold(&self.only),
            except: fold(&self.except),
        }
    }

    /// The whole of a path that a plan has: absolute and clean.
    pub(crate) fn whole(path: &str) -> Self {
        Self::all_of(path.to_owned())
    }

    /// The path or pattern itself.
    pub fn as_str(&self) -> &str {
        &self.path
    }

    /// What of a directory it is, as patterns below it; none is all of it.
    pub fn only(&self) -> &[String] {
        &self.only
    }

    /// What of a directory it is not, as patterns below it.
    pub fn except(&self) -> &[String] {
        &self.except
    }

    /// Whether it stands for several paths.
    pub fn is_pattern(&self) -> bool {
        is_pattern(&self.path)
    }

    /// The directory that holds everything that it stands for: itself, or a pattern's parent.
    pub fn directory(&self) -> &str {
        if self.is_pattern() {
            parent(&self.path)
        } else {
            &self.path
        }
    }

    /// Whether both could name one file: equal, one inside the other, or patterns of one
    /// directory that share names (any two patterns count, since neither is known to miss).
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        if self.leaves_out(&other.path) || other.leaves_out(&self.path) {
            return false;
        }
        let (mine, others) = (self.reach(), other.reach());
        mine.iter().any(|a| others.iter().any(|b| meet(a, b)))
    }

    /// Whether it has nothing at `path` or below, by `except`.
    pub(super) fn leaves_out(&self, path: &str) -> bool {
        let Some(below) = path.strip_prefix(&self.path) else {
            return false;
        };
        let Some(below) = below.strip_prefix('/') else {
            return false;
        };
        let heads = below
            .match_indices('/')
            .map(|(end, _)| &below[..end])
            .chain([below]);
        heads.into_iter().any(|head| {
            // `x/**` leaves out what is in `x`; the directory alone is in nobody's way.
            let inside = format!("{head}/x");
            self.except.iter().any(|pattern| {
                // What a pattern stands for is left out when all of it is.
                let all = pattern == head || ["*", "**"].contains(&pattern.as_str());
                let fixed = !is_pattern(head);
                let content = pattern.ends_with("/**") && glob_match(pattern, &inside);
                all || fixed && (glob_match(pattern, head) || content)
            })
        })
    }

    /// The paths and patterns under which all of it lies, as narrow as the fixed beginnings of
    /// `only` allow.
    fn reach(&self) -> Vec<String> {
        if self.only.is_empty() {
            return vec![self.path.clone()];
        }
        let below = |pattern: &String| {
            let fixed = pattern.split('/').take_while(|part| !is_pattern(part));
            std::iter::once(self.path.as_str())
                .chain(fixed)
                .collect::<Vec<_>>()
                .join("/")
        };
        self.only.iter().map(below).collect()
    }
}

/// Whether two paths or patterns (in their last part) could name one file.
fn meet(a: &str, b: &str) -> bool {
    match (is_pattern(a), is_pattern(b)) {
        (false, false) => inside(a, b) || inside(b, a),
        (true, true) => {
            parent(a) == parent(b) && common(a, b) || covers(a, parent(b)) || covers(b, parent(a))
        }
        (true, false) => covers(a, b) || inside(parent(a), b),
        (false, true) => meet(b, a),
    }
}

/// Whether `path` is one of those that the pattern stands for, or lies below one.
fn covers(pattern: &str, path: &str) -> bool {
    let depth = pattern.matches('/').count();
    let head: Vec<&str> = path.split('/').take(depth + 1).collect();
    glob_match(pattern, head.join("/"))
}

/// A pattern of `only` or `except`: below a directory, with `*`, `?` and `**`.
pub(super) fn below(text: &str, span: &Span, report: &mut Report) -> Option<String> {
    let wrong = if text.is_empty() || text.starts_with('/') {
        Some("expected a pattern below the directory, without a `/` in front")
    } else if text.starts_with('!') {
        Some("what `only` and `except` say is said without `!`")
    } else if text.contains(['\\', '[', ']', '{', '}']) {
        Some("only `*`, `?` and `**` are patterns here, with `/` between parts")
    } else if text
        .split('/')
        .any(|part| part.is_empty() || part == "." || part == "..")
    {
        Some("expected a pattern without `.`, `..`, `//` and a `/` at its end")
    } else {
        None
    };
    if let Some(why) = wrong {
        report.push(
            Diagnostic::new(rule::PATH, format!("`{text}` is not a pattern here")).at(span, why),
        );
        return None;
    }
    Some(text.to_owned())
}

/// The directory above a path.
pub(super) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
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

/// A tree as one that is put together with others: whose it is, and where it was named.
pub(super) struct Tree<'a> {
    pub(super) stage: &'a str,
    pub(super) paths: &'a [TreePath],
    pub(super) span: &'a Span,
}

/// Trees that are put together must not be in each other's way: which file won would depend on
/// the order.
pub(super) fn apart(parts: &[Tree<'_>], spelling: &Spelling, report: &mut Report) {
    for ((second, b), (first, a)) in near(parts) {
        let (second, first) = (&parts[second], &parts[first]);
        let (a, b) = (&first.paths[a], &second.paths[b]);
        if !a.overlaps(b) {
            continue;
        }
        let has = |stage: &str, path: &TreePath| {
            format!("`{stage}` has {}", spelling.shown(path.as_str()))
        };
        let message = format!(
            "the trees of `{}` and `{}` overlap",
            first.stage, second.stage
        );
        report.push(
            Diagnostic::new(rule::OVERLAP, message)
                .at(second.span, has(second.stage, b))
                .related(first.span, has(first.stage, a))
                .help(
                    "put them together in a stage with `merge`, which compares them, and add that",
                ),
        );
    }
}

/// A path by the numbers of its tree and within it.
type Place = (usize, usize);

/// The pairs of paths of several trees that could meet, the later tree's first: the directory of one lies in that of the
/// other. To ask every pair would take long where thousands of trees are put together.
fn near(parts: &[Tree<'_>]) -> BTreeSet<(Place, Place)> {
    let places = parts.iter().enumerate().flat_map(|(tree, part)| {
        let paths = part.paths.iter().enumerate();
        paths.map(move |(number, path)| ((tree, number), path.directory().trim_end_matches('/')))
    });
    let places: Vec<(Place, &str)> = places.collect();
    let mut at: BTreeMap<&str, Vec<Place>> = BTreeMap::new();
    for (place, directory) in &places {
        at.entry(directory).or_default().push(*place);
    }
    let mut pairs = BTreeSet::new();
    for (place, directory) in &places {
        let above = directory
            .match_indices('/')
            .map(|(end, _)| &directory[..end]);
        for other in above.chain([*directory]).filter_map(|above| at.get(above)) {
            let others = other.iter().filter(|other| other.0 != place.0);
            pairs.extend(others.map(|other| (*place.max(other), *place.min(other))));
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::strategy::Strategy as _;

    use super::*;

    fn path(text: &str) -> TreePath {
        TreePath::all_of(text.into())
    }

    fn some(at: &str, only: &[&str], except: &[&str]) -> TreePath {
        let list = |patterns: &[&str]| patterns.iter().map(|p| (*p).to_owned()).collect();
        TreePath {
            path: at.into(),
            only: list(only),
            except: list(except),
        }
    }

    #[test]
    fn what_is_left_out_is_in_nobodys_way() {
        let runtime = some("/r", &[], &["ffmpeg/**", "lib/onnx*", "doc"]);
        for (other, want) in [
            ("/r/ffmpeg", false),
            ("/r/ffmpeg/bin", false),
            ("/r/lib/onnx", false),
            ("/r/lib/onnx*", false),
            ("/r/lib/tvm", true),
            ("/r/doc/x", false),
            ("/r/docs", true),
            ("/r", true),
            ("/", true),
        ] {
            assert_eq!(runtime.overlaps(&path(other)), want, "{other}");
            assert_eq!(path(other).overlaps(&runtime), want, "{other}");
        }
    }

    #[test]
    fn what_is_not_named_is_in_nobodys_way() {
        let some_of = some("/r", &["lib/*.dll", "bin/x"], &[]);
        for (other, want) in [
            ("/r/lib/a", true),
            ("/r/bin/y", false),
            ("/r/bin", true),
            ("/r/include", false),
        ] {
            assert_eq!(some_of.overlaps(&path(other)), want, "{other}");
            assert_eq!(path(other).overlaps(&some_of), want, "{other}");
        }
        assert!(!some("/r", &["**/*.h"], &[]).overlaps(&path("/s")));
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

    /// Whether a tree path has a file, by the meaning of patterns alone.
    fn has(tree: &TreePath, file: &str) -> bool {
        let heads: Vec<&str> = file
            .match_indices('/')
            .map(|(at, _)| &file[..at])
            .chain([file])
            .collect();
        let named = |pattern: &str| {
            heads
                .iter()
                .find(|head| glob_match(pattern, head))
                .map(|head| head.len())
        };
        let Some(end) = named(&tree.path) else {
            return false;
        };
        let below = file[end..].trim_start_matches('/');
        let heads: Vec<&str> = below
            .match_indices('/')
            .map(|(at, _)| &below[..at])
            .chain([below])
            .collect();
        let any = |patterns: &[String]| {
            patterns
                .iter()
                .any(|p| heads.iter().any(|head| glob_match(p, head)))
        };
        (tree.only.is_empty() || any(&tree.only)) && !any(&tree.except)
    }

    fn part() -> impl proptest::strategy::Strategy<Value = String> {
        proptest::sample::select(vec!["a", "b", "ab", "a*", "*", "?", "**"]).prop_map(str::to_owned)
    }

    fn tree() -> impl proptest::strategy::Strategy<Value = TreePath> {
        let names = || proptest::sample::select(vec!["a", "b", "ab"]).prop_map(str::to_owned);
        let patterns = || {
            proptest::collection::vec(
                proptest::collection::vec(part(), 1..3).prop_map(|p| p.join("/")),
                0..3,
            )
        };
        let path = proptest::collection::vec(names(), 1..4);
        let last = proptest::option::of(proptest::sample::select(vec!["*", "a*", "?"]));
        (path, last, patterns(), patterns()).prop_map(|(mut path, last, only, except)| {
            let plain = last.is_none();
            path.extend(last.map(str::to_owned));
            let keep = |patterns: Vec<String>| if plain { patterns } else { Vec::new() };
            TreePath {
                path: format!("/{}", path.join("/")),
                only: keep(only),
                except: keep(except),
            }
        })
    }

    proptest::proptest! {
        #[test]
        fn trees_that_share_a_file_overlap(
            a in tree(),
            b in tree(),
            file in proptest::collection::vec(proptest::sample::select(vec!["a", "b", "ab"]), 1..6),
        ) {
            let file = format!("/{}", file.join("/"));
            // A directory of which all content is left out is in nobody's way, though it is there.
            let itself = file == a.path || file == b.path;
            if !itself && has(&a, &file) && has(&b, &file) {
                proptest::prop_assert!(a.overlaps(&b), "{a:?} {b:?} {file}");
            }
            proptest::prop_assert_eq!(a.overlaps(&b), b.overlaps(&a));
        }
    }
}
