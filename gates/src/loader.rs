//! Which file a loader takes for a name: the one resolver of the gates `imports` and `plugin` and
//! of `closure`.
//!
//! A file that lies in the tree supplies a name only where the loader looks: Windows looks in the
//! importer's own directory, Linux in its RPATH or RUNPATH and the system's directories; both look
//! in what the policy's `search` adds.

mod rpath;

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::format::dynamic::{self, Dynamic};
use crate::format::image::{Exports, Image, Import};
use crate::format::magic::{self, Magic};
use crate::glob::Glob;
use crate::links::Links;
use crate::name::Name;
use crate::rule;
use crate::scan::{Entry, Part, Visit};
use crate::walk::Link;

/// A program or library and what it says to its loader.
#[derive(Debug)]
pub struct Library {
    /// Its name in reports.
    pub name: Name,
    /// Its machine class.
    pub class: String,
    /// Whose loader.
    pub kind: Kind,
}

/// What a library says to its loader.
#[derive(Debug)]
pub enum Kind {
    /// A PE image; exports are absent when they could not be read, which is a finding.
    Pe {
        /// What it imports.
        imports: Vec<Import>,
        /// What it exports.
        exports: Option<Arc<Exports>>,
        /// Whether it has code.
        code: bool,
    },
    /// An ELF file.
    Elf(Dynamic),
}

impl Library {
    /// The last part of its name.
    #[must_use]
    pub fn base(&self) -> &[u8] {
        base(self.name.bytes())
    }

    /// The directory that it lies in.
    #[must_use]
    pub fn dir(&self) -> &[u8] {
        dir(self.name.bytes())
    }
}

/// What stands behind the last separator of a name; `!` separates a zip from its member.
#[must_use]
pub fn base(name: &[u8]) -> &[u8] {
    name.rsplit(|b| matches!(b, b'/' | b'!'))
        .next()
        .unwrap_or(name)
}

/// What stands before the last separator of a name; the top of a zip keeps its `!`.
#[must_use]
pub fn dir(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|b| matches!(b, b'/' | b'!')) {
        Some(at) if name[at] == b'!' => &name[..=at],
        Some(at) => &name[..at],
        None => &[],
    }
}

/// Reads what every PE image and ELF file of a tree says to its loader.
#[derive(Default)]
pub struct Libraries {
    /// The exports that were read so far, by path and by name: perhaps those that an import means.
    /// They save memory, and decide nothing.
    read: RwLock<BTreeMap<Vec<u8>, Arc<Exports>>>,
}

impl Libraries {
    fn supplier(&self, importer: &Name, dll: &[u8]) -> Option<Arc<Exports>> {
        let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
        let name = dll.to_ascii_lowercase();
        let beside = beside(importer, &name);
        read.get(&beside).or_else(|| read.get(&name)).cloned()
    }

    fn supply(&self, library: &Name, exports: Exports) -> Arc<Exports> {
        let exports = Arc::new(exports);
        let name = base(library.bytes()).to_ascii_lowercase();
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        read.insert(beside(library, &name), Arc::clone(&exports));
        read.insert(name, Arc::clone(&exports));
        exports
    }
}

/// The path of a name in a library's own directory.
fn beside(library: &Name, name: &[u8]) -> Vec<u8> {
    [dir(library.bytes()), b"/", name].concat()
}

impl Visit for Libraries {
    type Fact = Library;

    fn wants(&self, head: &[u8], size: u64, name: &[u8]) -> bool {
        let _ = name;
        matches!(magic::sniff(head, size), Magic::Pe | Magic::Elf)
    }

    fn visit(&self, entry: &Entry<'_, '_>, part: &mut Part<Library>) -> Result<(), Failure> {
        let data = entry.whole();
        let (class, kind) = match entry.magic {
            Magic::Pe => match Image::open(data) {
                Err(fault) => {
                    part.seen
                        .fault(rule::DAMAGED, entry.name, "PE image", &fault);
                    return Ok(());
                }
                Ok(image) => {
                    let image = image.rows_from(&entry.raw);
                    let supplier = |dll: &[u8]| self.supplier(entry.name, dll);
                    let imports = match image.imports_of(supplier) {
                        Ok(imports) => imports,
                        Err(fault) => {
                            part.seen
                                .fault(rule::DAMAGED, entry.name, "import table", &fault);
                            return Ok(());
                        }
                    };
                    let exports = match image.exports() {
                        Ok(exports) => Some(self.supply(entry.name, exports)),
                        Err(fault) => {
                            part.seen
                                .fault(rule::DAMAGED, entry.name, "export table", &fault);
                            None
                        }
                    };
                    let code = image.has_code();
                    let kind = Kind::Pe {
                        imports,
                        exports,
                        code,
                    };
                    (image.class.to_string(), kind)
                }
            },
            Magic::Elf => match dynamic::read(data) {
                Err(fault) => {
                    part.seen
                        .fault(rule::DAMAGED, entry.name, "ELF file", &fault);
                    return Ok(());
                }
                // An object is for a linker, and code for a device has a loader of its own.
                Ok(found) if found.kind == 1 || crate::format::is_device(&found.class) => {
                    part.seen.counts.other += 1;
                    return Ok(());
                }
                Ok(found) => (found.class.to_string(), Kind::Elf(found)),
            },
            _ => {
                part.seen.counts.other += 1;
                return Ok(());
            }
        };
        part.facts.push(Library {
            name: entry.name.clone(),
            class,
            kind,
        });
        Ok(())
    }
}

/// One directory, or a pattern of them, that loaders search besides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Search {
    /// A glob over directories as reports name them: `**/numpy.libs`.
    pub dir: String,
    /// For whom: a glob over importers.
    #[serde(default = "everyone")]
    pub from: String,
}

/// The glob that everything matches.
#[must_use]
pub fn everyone() -> String {
    "**".to_owned()
}

/// The libraries of a tree, by name and place.
pub struct Loader<'l> {
    /// The libraries.
    pub libraries: &'l [Library],
    by_base: BTreeMap<Vec<u8>, Vec<Place>>,
    search: Vec<(Glob, Glob)>,
    fold: bool,
    links: Links,
    /// The system's own directories of the trees.
    system: Vec<Vec<u8>>,
    /// The same, where their links lead to.
    system_real: Vec<Vec<u8>>,
    inherited: rpath::Inherited<'l>,
}

/// A name in the tree under which a library is found: its own or a link's.
struct Place {
    dir: Vec<u8>,
    library: usize,
}

/// What the tree has under a name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Candidates {
    /// Where the loader looks, for the right machine.
    pub right: Vec<usize>,
    /// Where the loader looks, for another machine.
    pub foreign: Vec<usize>,
    /// Where the loader does not look.
    pub aside: Vec<usize>,
}

impl<'l> Loader<'l> {
    /// A loader over these libraries. `labels` are those of the roots, `fold` ignores case.
    #[must_use]
    pub fn new(
        libraries: &'l [Library],
        found: &[Link],
        search: &[Search],
        labels: Vec<Vec<u8>>,
        fold: bool,
    ) -> Self {
        let links = Links::new(found, labels);
        let system = system(links.labels());
        let mut loader = Self {
            libraries,
            by_base: BTreeMap::new(),
            search: search
                .iter()
                .map(|s| (Glob::new(&s.dir, fold), Glob::new(&s.from, fold)))
                .collect(),
            fold,
            system_real: system.iter().flat_map(|dir| links.real(dir)).collect(),
            system,
            links,
            inherited: rpath::Inherited::new(),
        };
        let mut by_name = BTreeMap::new();
        for (index, library) in libraries.iter().enumerate() {
            by_name.insert(library.name.bytes(), index);
            loader.place(library.name.bytes(), index);
        }
        for link in found {
            let leads_to = loader.links.real(link.name.bytes());
            let library = leads_to
                .iter()
                .find_map(|path| by_name.get(path.as_slice()));
            if let Some(index) = library {
                loader.place(link.name.bytes(), *index);
            }
        }
        loader.inherit();
        loader
    }

    fn place(&mut self, name: &[u8], library: usize) {
        let (key, dir) = (self.folded(base(name)), self.folded(dir(name)));
        let places = self.by_base.entry(key).or_default();
        places.push(Place { dir, library });
    }

    fn folded(&self, bytes: &[u8]) -> Vec<u8> {
        if self.fold {
            bytes.to_ascii_lowercase()
        } else {
            bytes.to_vec()
        }
    }

    /// What the tree has for an importer under this name.
    #[must_use]
    pub fn find(&self, importer: &Library, name: &[u8]) -> Candidates {
        let mut found = Candidates::default();
        // A name with a slash is a path and not searched for.
        let wanted = base(name);
        let Some(places) = self.by_base.get(&self.folded(wanted)) else {
            return found;
        };
        let dirs: Vec<Vec<u8>> = match &importer.kind {
            kind if wanted.len() < name.len() => {
                let paths = match kind {
                    Kind::Pe { .. } => self.links.places(importer.dir(), name),
                    Kind::Elf(_) => self.path(importer, name),
                };
                let dirs: Vec<Vec<u8>> = paths.iter().map(|path| dir(path).to_vec()).collect();
                self.real(&dirs)
            }
            Kind::Pe { .. } => vec![self.folded(importer.dir())],
            Kind::Elf(dynamic) => {
                let mut dirs = self.real(&self.own_dirs(importer, dynamic));
                let inherited = self.inherited.get(importer.name.bytes());
                let inherited = inherited.filter(|_| dynamic.runpath.is_empty());
                dirs.extend(inherited.into_iter().flatten().cloned());
                dirs.extend_from_slice(&self.system_real);
                dirs
            }
        };
        for place in places {
            let provider = &self.libraries[place.library];
            let searched = dirs.contains(&place.dir)
                || self.search.iter().any(|(dir, from)| {
                    dir.matches(&place.dir) && from.matches(importer.name.bytes())
                });
            let list = match (searched, fits(&importer.class, &provider.class)) {
                (true, true) => &mut found.right,
                (true, false) => &mut found.foreign,
                (false, _) => &mut found.aside,
            };
            if !list.contains(&place.library) {
                list.push(place.library);
            }
        }
        found
    }

    /// Directories where their links lead to.
    fn real(&self, dirs: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let real = dirs.iter().flat_map(|dir| self.links.real(dir));
        real.map(|dir| self.folded(&dir)).collect()
    }

    /// Where an importer's loader looks, as directories of the tree, its own way first. Links on
    /// the way are not followed yet.
    #[must_use]
    pub fn dirs(&self, importer: &Library) -> Vec<Vec<u8>> {
        match &importer.kind {
            Kind::Pe { .. } => vec![importer.dir().to_vec()],
            Kind::Elf(dynamic) => {
                let mut dirs = self.own_dirs(importer, dynamic);
                dirs.extend_from_slice(&self.system);
                dirs
            }
        }
    }

    /// Where Linux looks before the system's directories: RUNPATH, or else RPATH.
    fn own_dirs(&self, importer: &Library, dynamic: &Dynamic) -> Vec<Vec<u8>> {
        let paths = match dynamic.runpath.is_empty() {
            true => &dynamic.rpath,
            false => &dynamic.runpath,
        };
        let dirs = paths.iter().flat_map(|path| self.path(importer, path));
        dirs.collect()
    }

    /// Where a path leads that an ELF file names; a relative one is of the working directory,
    /// which nobody knows.
    fn path(&self, importer: &Library, path: &[u8]) -> Vec<Vec<u8>> {
        match origin(path) {
            Some(rest) => vec![joined(importer.dir(), rest)],
            None if path.starts_with(b"/") => self.links.places(&[], path),
            None => Vec::new(),
        }
    }
}

/// The directories of each root where Linux looks for libraries of its own accord.
fn system(labels: &[Vec<u8>]) -> Vec<Vec<u8>> {
    const SYSTEM: [&str; 6] = [
        "lib",
        "lib64",
        "usr/lib",
        "usr/lib64",
        "usr/local/lib",
        "usr/local/lib64",
    ];
    const MULTIARCH: [&str; 4] = [
        "x86_64-linux-gnu",
        "aarch64-linux-gnu",
        "i386-linux-gnu",
        "riscv64-linux-gnu",
    ];
    let mut dirs = Vec::new();
    for label in labels {
        dirs.extend(SYSTEM.map(|dir| joined(label, dir.as_bytes())));
        for machine in MULTIARCH {
            for lib in ["lib", "usr/lib"] {
                dirs.push(joined(label, format!("{lib}/{machine}").as_bytes()));
            }
        }
    }
    dirs
}

/// What stands behind `$ORIGIN` in a path.
#[must_use]
pub fn origin(path: &[u8]) -> Option<&[u8]> {
    let rest = path
        .strip_prefix(b"$ORIGIN".as_slice())
        .or_else(|| path.strip_prefix(b"${ORIGIN}".as_slice()))?;
    match rest {
        [] => Some(rest),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// A path from a directory, its `.` and `..` resolved; what leads out of the tree, or out of a
/// zip, keeps a `..`, and what begins at the root of the host, its `/`.
#[must_use]
pub fn joined(from: &[u8], path: &[u8]) -> Vec<u8> {
    let zip = from.iter().rposition(|b| *b == b'!').map_or(0, |at| at + 1);
    let (zip, from) = from.split_at(zip);
    let mut parts: Vec<&[u8]> = Vec::new();
    let all = from.split(|b| *b == b'/').chain(path.split(|b| *b == b'/'));
    for part in all {
        match part {
            b"" | b"." => {}
            b".." if parts.last().is_some_and(|last| *last != b"..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root: &[u8] = match from.starts_with(b"/") {
        true => b"/",
        false => b"",
    };
    [zip, root, &parts.join(&b'/')].concat()
}

/// What a path is below a label; nothing when it does not lie there. Dots may lead out again.
#[must_use]
pub fn below<'p>(path: &'p [u8], label: &[u8]) -> Option<&'p [u8]> {
    match path.strip_prefix(label)? {
        rest if label.is_empty() => Some(rest),
        [] => Some(&[]),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// Whether a program of one machine class can load a library of another.
#[must_use]
pub fn fits(importer: &str, library: &str) -> bool {
    let native = ["ARM64", "ARM64X"];
    let emulated = ["AMD64", "ARM64EC", "ARM64X"];
    importer == library
        || (native.contains(&importer) && native.contains(&library))
        || (emulated.contains(&importer) && emulated.contains(&library))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_are_resolved_and_what_leads_out_stays_visible() {
        assert_eq!(joined(b"a/b", b"../c/./d"), b"a/c/d");
        assert_eq!(joined(b"a", b"../../x"), b"../x");
        assert_eq!(joined(b"", b"x"), b"x");
        assert_eq!(joined(b"/a/b", b"../../../x"), b"/../x");
        assert_eq!(joined(b"./a//b/.", b""), b"a/b");
        assert_eq!(joined(b"x.whl!p", b"../q"), b"x.whl!q");
        assert_eq!(joined(dir(b"x.whl!m.so"), b"x.libs"), b"x.whl!x.libs");
        assert_eq!(joined(b"x.whl!p", b"../../q"), b"x.whl!../q");
    }

    #[test]
    fn origin_is_a_whole_word() {
        assert_eq!(origin(b"$ORIGIN/../lib"), Some(&b"../lib"[..]));
        assert_eq!(origin(b"${ORIGIN}"), Some(&b""[..]));
        assert_eq!(origin(b"$ORIGINAL/lib"), None);
    }

    #[test]
    fn an_emulated_program_loads_no_native_library() {
        assert!(fits("ARM64", "ARM64X") && fits("AMD64", "ARM64EC"));
        assert!(!fits("ARM64", "AMD64") && !fits("AMD64", "ARM64") && !fits("I386", "AMD64"));
    }
}
