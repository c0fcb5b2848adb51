//! Trees that are to be put together: the same name in two of them must be the same thing.
//!
//! Compared are the names (case-folded for systems that fold them), the kind, the bytes of files
//! and what links say. Modes, owners and times are not: where they differ the later tree's count.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::glob::Glob;
use crate::limit;
use crate::name::Name;

/// The most conflicts that are told one by one.
const TOLD: usize = 20;

/// One of the trees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Whose it is.
    pub stage: String,
    /// Where it lies.
    pub path: PathBuf,
}

/// Which differences are settled, and how names are compared.
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// Whether names that differ in case alone are one name.
    pub fold: bool,
    /// Paths where any of them will do.
    pub any: Vec<Glob>,
    /// Paths where one tree's counts, if it has the path.
    pub take: Vec<(Glob, String)>,
}

/// Two trees with one name for two things.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// The name in the first.
    pub name: Name,
    /// Whose trees.
    pub stages: [String; 2],
    /// What differs.
    pub why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Directory,
    File,
    Link,
    Special,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Self::Directory => "a directory",
            Self::File => "a file",
            Self::Link => "a link",
            Self::Special => "a device, pipe or socket",
        }
    }
}

/// A name in one of the trees.
struct Held {
    part: usize,
    name: Name,
    path: PathBuf,
    kind: Kind,
}

/// What was found in the trees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compared {
    /// Every conflict, sorted by name.
    pub conflicts: Vec<Conflict>,
    /// The places in [`Rules::any`] of those that match no name which two trees have.
    pub idle_any: Vec<usize>,
    /// The same of [`Rules::take`].
    pub idle_take: Vec<usize>,
}

/// Compares the trees.
///
/// # Errors
/// [`Failure::Unreadable`] when a tree, or anything in one, cannot be read, or there is too much.
pub fn compare(parts: &[Part], rules: &Rules) -> Result<Compared, Failure> {
    let mut names: BTreeMap<Vec<u8>, Vec<Held>> = BTreeMap::new();
    let mut entries = 0;
    for (part, tree) in parts.iter().enumerate() {
        let mut open = vec![(tree.path.clone(), Name::default())];
        while let Some((directory, above)) = open.pop() {
            let shown = directory.display();
            let unreadable = |error| Failure::io(&format!("{}: {shown}", tree.stage), &error);
            for entry in fs::read_dir(&directory).map_err(unreadable)? {
                let entry = entry.map_err(unreadable)?;
                entries += 1;
                if entries > limit::TREE_ENTRIES {
                    let text = format!("more than {} entries in all trees", limit::TREE_ENTRIES);
                    return Err(Failure::Unreadable(text));
                }
                let name = above.join(entry.file_name().as_encoded_bytes());
                let kind = kind(entry.file_type().map_err(unreadable)?);
                let path = entry.path();
                if kind == Kind::Directory {
                    open.push((path.clone(), name.clone()));
                }
                names.entry(key(&name, rules.fold)).or_default().push(Held {
                    part,
                    name,
                    path,
                    kind,
                });
            }
        }
    }
    let shared: Vec<&Vec<Held>> = names.values().filter(|held| held.len() > 1).collect();
    let mut conflicts = Vec::new();
    for held in &shared {
        conflicts.extend(conflict(parts, rules, held)?);
    }
    let idle = |glob: &Glob| {
        let mut names = shared.iter().flat_map(|held| held.first());
        !names.any(|held| glob.matches(held.name.bytes()))
    };
    let numbers = |idle: Vec<bool>| {
        let all = idle.into_iter().enumerate();
        all.filter_map(|(at, idle)| idle.then_some(at)).collect()
    };
    Ok(Compared {
        conflicts,
        idle_any: numbers(rules.any.iter().map(idle).collect()),
        idle_take: numbers(rules.take.iter().map(|(glob, _)| idle(glob)).collect()),
    })
}

fn kind(kind: fs::FileType) -> Kind {
    if kind.is_dir() {
        Kind::Directory
    } else if kind.is_file() {
        Kind::File
    } else if kind.is_symlink() {
        Kind::Link
    } else {
        Kind::Special
    }
}

/// What makes two names one. Names that are no text fold only what is ASCII in them.
fn key(name: &Name, fold: bool) -> Vec<u8> {
    if !fold {
        return name.bytes().to_vec();
    }
    match std::str::from_utf8(name.bytes()) {
        Ok(text) => text.to_lowercase().into_bytes(),
        Err(_) => name.bytes().to_ascii_lowercase(),
    }
}

/// The first difference among those that hold one name, unless the rules settle it.
fn conflict(parts: &[Part], rules: &Rules, held: &[Held]) -> Result<Option<Conflict>, Failure> {
    let Some((first, others)) = held.split_first() else {
        return Ok(None);
    };
    let settled = |held: &[Held], name: &Name| {
        let winner = rules.take.iter().any(|(glob, stage)| {
            glob.matches(name.bytes()) && held.iter().any(|held| parts[held.part].stage == *stage)
        });
        winner || rules.any.iter().any(|glob| glob.matches(name.bytes()))
    };
    if settled(held, &first.name) {
        return Ok(None);
    }
    for other in others {
        if let Some(why) = difference(first, other)? {
            let stage = |held: &Held| parts[held.part].stage.clone();
            return Ok(Some(Conflict {
                name: first.name.clone(),
                stages: [stage(first), stage(other)],
                why,
            }));
        }
    }
    Ok(None)
}

fn difference(a: &Held, b: &Held) -> Result<Option<String>, Failure> {
    let base = |name: &Name| {
        let bytes = name.bytes();
        let start = bytes
            .iter()
            .rposition(|byte| *byte == b'/')
            .map_or(0, |at| at + 1);
        Name::new(&bytes[start..])
    };
    // A directory of another spelling is told once, not again with everything in it.
    if base(&a.name) != base(&b.name) {
        return Ok(Some(format!(
            "one is called {}, the other {}",
            a.name, b.name
        )));
    }
    if a.kind != b.kind {
        return Ok(Some(format!(
            "one is {}, the other {}",
            a.kind.text(),
            b.kind.text()
        )));
    }
    Ok(match a.kind {
        Kind::Directory => None,
        Kind::Special => Some(format!("both are {}", a.kind.text())),
        Kind::Link => {
            let read = |held: &Held| {
                fs::read_link(&held.path)
                    .map_err(|error| Failure::io(&held.name.to_string(), &error))
            };
            let (one, other) = (read(a)?, read(b)?);
            let shown = |path: &Path| Name::new(path.as_os_str().as_encoded_bytes());
            (one != other).then(|| {
                format!(
                    "one links to {}, the other to {}",
                    shown(&one),
                    shown(&other)
                )
            })
        }
        Kind::File => {
            let size = |held: &Held| {
                fs::metadata(&held.path)
                    .map(|meta| meta.len())
                    .map_err(|error| Failure::io(&held.name.to_string(), &error))
            };
            let (one, other) = (size(a)?, size(b)?);
            if one != other {
                Some(format!("one has {one} bytes, the other {other}"))
            } else if same_bytes(a, b)? {
                None
            } else {
                Some(format!("both have {one} bytes, and not the same"))
            }
        }
    })
}

fn same_bytes(a: &Held, b: &Held) -> Result<bool, Failure> {
    let open = |held: &Held| {
        File::open(&held.path)
            .map(BufReader::new)
            .map_err(|error| Failure::io(&held.name.to_string(), &error))
    };
    let (mut one, mut other) = (open(a)?, open(b)?);
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let unreadable = |error| Failure::io(&a.name.to_string(), &error);
        let read = one.read(&mut left).map_err(unreadable)?;
        if read == 0 {
            return Ok(other.read(&mut right[..1]).map_err(unreadable)? == 0);
        }
        match other.read_exact(&mut right[..read]) {
            Ok(()) if left[..read] == right[..read] => {}
            Ok(()) => return Ok(false),
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(error) => return Err(unreadable(error)),
        }
    }
}

/// What people read: the conflicts, and what can be done.
#[must_use]
pub fn summary(found: &[Conflict]) -> String {
    let mut text = String::new();
    for Conflict { name, stages, why } in found.iter().take(TOLD) {
        let [first, second] = stages;
        text.push_str(&format!(
            "/{name} is in the trees of `{first}` and `{second}`: {why}\n"
        ));
    }
    if found.len() > TOLD {
        text.push_str(&format!("and {} more\n", found.len() - TOLD));
    }
    if let Some(Conflict { name, stages, .. }) = found.first() {
        text.push_str(&format!(
            "let one of them go, or say in the merge which counts: conflict = [{{ path = \"/{name}\", take = \"{}\", why = \"…\" }}]\n",
            stages[0]
        ));
    }
    text
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Trees(tempfile::TempDir, Vec<Part>);

    impl Trees {
        fn new(stages: &[&str]) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let parts = stages.iter().map(|stage| {
                let path = dir.path().join(stage);
                fs::create_dir(&path).unwrap();
                Part {
                    stage: (*stage).to_owned(),
                    path,
                }
            });
            let parts = parts.collect();
            Self(dir, parts)
        }

        fn put(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }

        fn link(&self, path: &str, to: &str) {
            let path = self.0.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(to, path).unwrap();
        }

        fn lines(&self, rules: &Rules) -> Vec<String> {
            let found = compare(&self.1, rules).unwrap().conflicts;
            found
                .iter()
                .map(|c| format!("{} {} {}: {}", c.name, c.stages[0], c.stages[1], c.why))
                .collect()
        }
    }

    fn difficult() -> Trees {
        let trees = Trees::new(&["a", "b", "c"]);
        for stage in ["a", "b", "c"] {
            trees.put(&format!("{stage}/r/same"), "same");
            trees.link(&format!("{stage}/r/link"), "same");
        }
        trees.put("a/r/size", "1");
        trees.put("c/r/size", "22");
        trees.put("b/r/bytes", "x");
        trees.put("c/r/bytes", "y");
        trees.put("a/r/kind/in", "");
        trees.link("b/r/kind", "same");
        trees.link("a/r/to", "same");
        trees.link("c/r/to", "size");
        trees.put("a/Lib/x", "x");
        trees.put("b/lib/x", "x");
        trees
    }

    #[test]
    fn what_differs_is_found_and_what_is_equal_is_not() {
        let found = difficult().lines(&Rules::default());
        assert_eq!(
            found,
            [
                "r/bytes b c: both have 1 bytes, and not the same",
                "r/kind a b: one is a directory, the other a link",
                "r/size a c: one has 1 bytes, the other 2",
                "r/to a c: one links to same, the other to size",
            ]
        );
    }

    #[test]
    fn names_fold_where_the_target_folds_them_and_a_directory_is_told_once() {
        let found = difficult().lines(&Rules {
            fold: true,
            ..Rules::default()
        });
        assert_eq!(found[0], "Lib a b: one is called Lib, the other lib");
        assert_eq!(found.len(), 5);
    }

    #[test]
    fn rules_settle_what_they_name_and_a_winner_must_have_the_path() {
        let take = |stage: &str| Rules {
            any: vec![Glob::new("**/kind", false)],
            take: vec![(Glob::new("/r/size", false), stage.to_owned())],
            ..Rules::default()
        };
        let names = |rules: &Rules| {
            let lines = difficult().lines(rules);
            lines
                .iter()
                .map(|l| l.split(' ').next().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&take("c")), ["r/bytes", "r/to"]);
        assert_eq!(names(&take("b")), ["r/bytes", "r/size", "r/to"]);
    }

    #[test]
    fn what_settles_nothing_is_told() {
        let rules = Rules {
            any: ["**/kind", "r/nowhere", "r/link"]
                .map(|g| Glob::new(g, false))
                .to_vec(),
            // Only one tree has this name.
            take: vec![(Glob::new("Lib/x", false), "a".to_owned())],
            ..Rules::default()
        };
        let found = compare(&difficult().1, &rules).unwrap();
        assert_eq!((found.idle_any, found.idle_take), (vec![1], vec![0]));
    }

    #[test]
    fn a_missing_tree_is_unreadable() {
        let part = Part {
            stage: "a".to_owned(),
            path: PathBuf::from("/nonexistent/tree"),
        };
        assert_eq!(
            compare(&[part], &Rules::default())
                .unwrap_err()
                .exit()
                .code(),
            4
        );
    }

    #[test]
    fn large_files_are_compared_to_their_ends() {
        let trees = Trees::new(&["a", "b"]);
        let mut text = "x".repeat(200_000);
        trees.put("a/f", &text);
        trees.put("b/f", &text);
        assert_eq!(trees.lines(&Rules::default()).len(), 0);
        text.replace_range(199_999.., "y");
        trees.put("b/f", &text);
        assert_eq!(trees.lines(&Rules::default()).len(), 1);
    }
}
