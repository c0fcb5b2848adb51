//! The gate `contract`: every path that the image's environment names is there.

use serde::{Deserialize, Serialize};

use super::{Check, Keys, Names, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::list::{self, Entries, Entry};
use crate::name::Name;
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

const PATH: Rule = Rule::new("CON001", "a variable names a path that is not there");
const NAME: Rule = Rule::new("CON002", "a promised variable is not set");
const OUTSIDE: Rule = Rule::new("CON003", "a variable names a path that the gate cannot see");

/// The gate.
pub struct Contract;

impl Check for Contract {
    const NAME: &'static str = "contract";
    const ABOUT: &'static str = "every path that the image's environment names is there";
    const VERSION: u32 = 1;
    const COUNTS: &'static [&'static str] = &["names", "paths"];
    const RULES: &'static [Rule] = &[PATH, NAME, OUTSIDE];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let found = look(ask, row.folds_case(), &tree.entries);
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// The environment of the image: the frontend fills it in.
    pub env: Names,
    /// Variables whose paths need not be there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub free: Vec<String>,
    /// Variables that consumers rely on: they must be set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Where the roots lie in the image; the frontend fills it in. Empty is all of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
}

impl Keys for Ask {}

/// Looks at every variable.
#[must_use]
pub fn look(settings: &Ask, windows: bool, entries: &Entries) -> Seen {
    let mut found = Seen::default();
    let form = |path: &str| canonical(path, windows);
    let places = Places {
        windows,
        entries: entries
            .iter()
            .map(|(name, entry)| (form(&format!("/{}", lossy(name))), entry))
            .collect(),
    };
    let seen: Vec<String> = settings.seen.iter().map(|path| form(path)).collect();
    for name in &settings.names {
        if settings.env.get(name).is_none_or(String::is_empty) {
            found.wrong(NAME, &Name::from(name.as_str()), "promised, and not set");
        }
    }
    for (name, value) in &settings.env {
        let subject = Name::from(name.as_str());
        let mut paths = 0;
        for path in paths_of(value, windows) {
            paths += 1;
            if settings.free.contains(name) {
                continue;
            }
            let at = form(path);
            let inside = |dir: &String| {
                dir == "/"
                    || at == *dir
                    || at.starts_with(&format!("{}/", dir.trim_end_matches('/')))
            };
            if !seen.is_empty() && !seen.iter().any(inside) {
                let why = format!("`{path}` lies where this gate does not look");
                found.wrong(OUTSIDE, &subject, why);
            } else if !places.exist(&at) {
                let why = format!("`{path}` is not there");
                found.wrong(PATH, &subject, why);
            }
        }
        if paths > 0 {
            found.count("names", &subject, &[("paths", paths)]);
        }
    }
    found
}

fn lossy(name: &Name) -> String {
    String::from_utf8_lossy(name.bytes()).into_owned()
}

/// The paths that a value is: itself, or the entries of a list. A value with anything else in it
/// is a text.
fn paths_of(value: &str, windows: bool) -> Vec<&str> {
    let is_path = |part: &&str| {
        if windows {
            let bytes = part.as_bytes();
            bytes.len() >= 3
                && bytes[0].is_ascii_alphabetic()
                && bytes[1] == b':'
                && matches!(bytes[2], b'\\' | b'/')
        } else {
            part.starts_with('/') && !part.starts_with("//")
        }
    };
    let separator = if windows { ';' } else { ':' };
    let parts: Vec<&str> = value.split(separator).filter(|p| !p.is_empty()).collect();
    if parts.iter().all(is_path) {
        parts
    } else {
        Vec::new()
    }
}

/// The spelling by which paths are compared: `/` between parts, no drive, no part that is a dot.
fn canonical(path: &str, windows: bool) -> String {
    let path = if windows {
        let path = path.replace('\\', "/").to_ascii_lowercase();
        match path.split_at_checked(2) {
            Some((drive, rest)) if drive.ends_with(':') => rest.to_owned(),
            _ => path,
        }
    } else {
        path.to_owned()
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

struct Places<'p> {
    windows: bool,
    entries: std::collections::BTreeMap<String, &'p Entry>,
}

impl Places<'_> {
    /// Whether something is there, links followed inside the image.
    fn exist(&self, path: &str) -> bool {
        let mut path = path.to_owned();
        for _ in 0..40 {
            if path == "/" {
                return true;
            }
            match self.link(&path) {
                Some(next) => path = next,
                None => return self.entries.contains_key(&path),
            }
        }
        false
    }

    /// The path with its first link replaced by what that says.
    fn link(&self, path: &str) -> Option<String> {
        let ends = path.match_indices('/').skip(1).map(|(at, _)| at);
        for end in ends.chain([path.len()]) {
            let Some(Entry::Link(target)) = self.entries.get(&path[..end]) else {
                continue;
            };
            let target = String::from_utf8_lossy(target);
            let parent = path[..end]
                .rsplit_once('/')
                .map_or("", |(parent, _)| parent);
            let target = match target.starts_with(['/', '\\']) || target.get(1..2) == Some(":") {
                true => target.into_owned(),
                false => format!("{parent}/{target}"),
            };
            return Some(canonical(
                &format!("{target}{}", &path[end..]),
                self.windows,
            ));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(list: &[(&str, Entry)]) -> Entries {
        let named = list
            .iter()
            .map(|(name, entry)| (Name::from(*name), entry.clone()));
        named.collect()
    }

    fn file() -> Entry {
        Entry::File(std::path::PathBuf::new(), 0)
    }

    fn told(env: &[(&str, &str)], windows: bool, list: &Entries) -> Vec<String> {
        let names = env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        let settings = Ask {
            env: names.collect(),
            free: Vec::new(),
            names: vec!["HOME".to_owned()],
            seen: Vec::new(),
        };
        let found = look(&settings, windows, list);
        found.findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn paths_and_lists_of_paths_must_be_there_and_texts_need_not() {
        let list = entries(&[
            ("opt", Entry::Directory),
            ("opt/lib", Entry::Link(b"../usr/lib".to_vec())),
            ("usr", Entry::Directory),
            ("usr/lib", Entry::Directory),
            ("usr/lib/x.so", file()),
            ("opt/loop", Entry::Link(b"loop".to_vec())),
        ]);
        let good = [
            ("HOME", "/opt"),
            ("LIBS", "/opt/lib:/usr/lib/x.so"),
            ("DEEP", "/opt/lib/x.so"),
            ("URL", "https://x/y"),
            ("FLAGS", "-I/nowhere"),
            ("DSN", "/a:b"),
        ];
        assert!(told(&good, false, &list).is_empty());
        let bad = [
            ("HOME", "/opt"),
            ("LIBS", "/opt/lib:/usr/lib/y.so"),
            ("L", "/opt/loop"),
        ];
        let want = [
            "CON001 L: `/opt/loop` is not there",
            "CON001 LIBS: `/usr/lib/y.so` is not there",
        ];
        assert_eq!(told(&bad, false, &list), want);
        assert_eq!(
            told(&[], false, &list),
            ["CON002 HOME: promised, and not set"]
        );
    }

    #[test]
    fn windows_paths_have_drives_and_no_case() {
        let list = entries(&[
            ("runtime", Entry::Directory),
            ("runtime/Bin", Entry::Directory),
        ]);
        let good = [("HOME", r"C:\Runtime;C:\runtime\bin\")];
        assert!(told(&good, true, &list).is_empty());
        assert_eq!(told(&[("HOME", r"C:\runtime\tvm")], true, &list).len(), 1);
    }
}
