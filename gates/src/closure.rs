//! *Closure*: what a tree imports and does not have is brought in from other directories, to where
//! its importer's loader looks. The resolver is that of the gate `imports`.
//!
//! Nothing is copied unless all that is missing can be: the tree is closed afterwards, or as it
//! was. Nothing that lies in the tree is written over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::arch_table::Row;
use crate::exit::Failure;
use crate::gate::imports::{self, Ask, Unsupplied};
use crate::limit;
use crate::lists::Lists;
use crate::loader::{self, Libraries, Library, Loader};
use crate::name::{self, Name};
use crate::report::Finding;
use crate::scan::{self, Part};
use crate::seen::Seen;
use crate::walk::Root;

/// The schema of [`Closure`].
pub const SCHEMA: &str = "gate-closure/1";

/// What is to be brought in. Fields stand in the order of their JSON keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Closure {
    /// What is copied, by its place in the tree.
    pub copies: Vec<Copied>,
    /// Why the tree cannot be closed, as `imports` says it. Nothing is copied then.
    pub findings: Vec<Finding>,
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The target.
    pub target: String,
}

/// A file that is brought in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Copied {
    /// Its name in the directory that has it.
    pub from: Name,
    /// The first that asked for it.
    pub needed_by: Name,
    /// Its name in the tree.
    pub to: Name,
    #[serde(skip)]
    source: PathBuf,
}

/// Finds out what must be brought into `root` out of `from`, where earlier directories win.
///
/// # Errors
/// [`Failure::Unreadable`] when a directory is missing or something cannot be read.
pub fn plan(row: &Row, root: &Root, from: &[Root], ask: &Ask) -> Result<Closure, Failure> {
    let scanned = scan::tree(std::slice::from_ref(root), &Libraries::default())?;
    let Part { mut seen, facts } = scanned.part;
    let (mut libraries, fold, lists) = (facts, row.folds_case(), Lists::of(&row.os)?);
    let shelves = from
        .iter()
        .map(|from| Shelf::of(from, fold))
        .collect::<Result<Vec<_>, _>>()?;
    let mut copies: BTreeMap<Name, Copied> = BTreeMap::new();
    loop {
        let labels = vec![root.label.bytes().to_vec()];
        let loader = Loader::new(&libraries, &scanned.links, &ask.search, labels, fold);
        let (mut brought, mut wrong) = (BTreeMap::new(), Seen::default());
        for missing in imports::unsupplied(&loader, &lists, ask, fold) {
            let tree = Tree {
                root,
                loader: &loader,
                copies: &copies,
                fold,
            };
            match tree.supply(&missing, &shelves)? {
                Ok((copied, library)) => {
                    brought
                        .entry(library.name.clone())
                        .or_insert((copied, library));
                }
                Err(why) => {
                    let subject = missing.importer.name.archive_member(&missing.name);
                    wrong.wrong(missing.rule, &subject, why);
                }
            }
        }
        if brought.is_empty() {
            seen.add(wrong);
            break;
        }
        for (to, (copied, library)) in brought {
            libraries.push(library);
            copies.insert(to, copied);
        }
    }
    seen.sort();
    Ok(Closure {
        copies: copies.into_values().collect(),
        findings: seen.findings,
        schema: SCHEMA,
        target: row.target(),
    })
}

impl Closure {
    /// Copies what was found, unless something is wrong.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] for a file that cannot be copied, or that came to be in between.
    pub fn copy(&self, root: &Root) -> Result<(), Failure> {
        if !self.findings.is_empty() {
            return Ok(());
        }
        let mut made = Made::default();
        for copied in &self.copies {
            let to = root.path.join(below(root, copied.to.bytes()));
            if let Err(error) = made.copy(&copied.source, &to) {
                made.undo();
                return Err(Failure::io(&copied.to.to_string(), &error));
            }
        }
        Ok(())
    }
}

/// What was put into the tree so far, in that order.
#[derive(Default)]
struct Made {
    directories: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

impl Made {
    /// A file that was not there, with the permissions of the one that it is made of.
    fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let mut source = File::open(from)?;
        if let Some(parent) = to.parent() {
            self.directory(parent)?;
        }
        let mut target = OpenOptions::new().write(true).create_new(true).open(to)?;
        self.files.push(to.to_owned());
        io::copy(&mut source, &mut target)?;
        target.set_permissions(source.metadata()?.permissions())
    }

    fn directory(&mut self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            self.directory(parent)?;
        }
        fs::create_dir(path)?;
        self.directories.push(path.to_owned());
        Ok(())
    }

    /// Takes it out again: half a closure would look like one. What cannot be taken out stays;
    /// the failure that led here is told.
    fn undo(self) {
        for file in self.files {
            let _ = fs::remove_file(file);
        }
        for directory in self.directories.into_iter().rev() {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// A directory that has what trees lack: its own files, not those below.
struct Shelf {
    label: Name,
    files: BTreeMap<Vec<u8>, PathBuf>,
}

impl Shelf {
    fn of(from: &Root, fold: bool) -> Result<Self, Failure> {
        let io = |e| Failure::io(&from.label.to_string(), &e);
        let mut paths = Vec::new();
        for entry in fs::read_dir(&from.path).map_err(io)? {
            if paths.len() == limit::TREE_ENTRIES {
                let why = format!("TREE_ENTRIES: more than {} entries", limit::TREE_ENTRIES);
                return Err(Failure::Unreadable(format!("{}: {why}", from.label)));
            }
            paths.push(entry.map_err(io)?.path());
        }
        // Of two names that differ in case alone the first one counts, on every machine.
        paths.sort();
        let mut files = BTreeMap::new();
        for path in paths {
            if path.is_file()
                && let Some(name) = path.file_name()
            {
                let key = folded(name.as_encoded_bytes(), fold);
                files.entry(key).or_insert(path);
            }
        }
        Ok(Self {
            label: from.label.clone(),
            files,
        })
    }
}

fn folded(name: &[u8], fold: bool) -> Vec<u8> {
    match fold {
        true => name.to_ascii_lowercase(),
        false => name.to_vec(),
    }
}

/// Where something goes inside of a root.
fn below(root: &Root, name: &[u8]) -> PathBuf {
    let label = root.label.bytes();
    let rest = name.strip_prefix(label).unwrap_or(name);
    let parts = rest.split(|b| *b == b'/').filter(|part| !part.is_empty());
    parts.map(name::os).collect()
}

/// The tree as it will be.
struct Tree<'t> {
    root: &'t Root,
    loader: &'t Loader<'t>,
    copies: &'t BTreeMap<Name, Copied>,
    fold: bool,
}

impl Tree<'_> {
    /// What can be brought in for an import, or why nothing can.
    fn supply(
        &self,
        missing: &Unsupplied<'_>,
        shelves: &[Shelf],
    ) -> Result<Result<(Copied, Library), String>, Failure> {
        let importer = missing.importer;
        let name = &missing.name;
        if loader::base(name).len() < name.len() || std::str::from_utf8(name).is_err() {
            return Ok(Err("a path, which is not searched for".to_owned()));
        }
        let mut refused = BTreeSet::new();
        for shelf in shelves {
            let Some(source) = shelf.files.get(&folded(name, self.fold)) else {
                continue;
            };
            let base = source.file_name().unwrap_or_default().as_encoded_bytes();
            let from = shelf.label.join(base);
            let mut library = match read(source, &from)? {
                Ok(library) => library,
                Err(why) => {
                    refused.insert(format!("{from}: {why}"));
                    continue;
                }
            };
            if !loader::fits(&importer.class, &library.class) {
                refused.insert(format!("{from} is for {}", library.class));
                continue;
            }
            let to = match self.place(importer, base) {
                Ok(to) => to,
                Err(why) => return Ok(Err(why)),
            };
            library.name = to.clone();
            let copied = Copied {
                from,
                needed_by: importer.name.clone(),
                to,
                source: source.clone(),
            };
            return Ok(Ok((copied, library)));
        }
        let refused: Vec<String> = refused.into_iter().collect();
        Ok(Err(match refused.is_empty() {
            true => format!("{}; no directory has it either", missing.why),
            false => format!(
                "{} is for {}: {}",
                importer.name,
                importer.class,
                refused.join(", ")
            ),
        }))
    }

    /// The first place where the importer's loader looks and something can be put.
    fn place(&self, importer: &Library, base: &[u8]) -> Result<Name, String> {
        let mut why = format!("{} lies in a zip, into which nothing is put", importer.name);
        for dir in self.loader.dirs(importer) {
            if dir.contains(&b'!') {
                continue;
            }
            let to = match dir.is_empty() {
                true => Name::new(base),
                false => Name::new(dir.as_slice()).join(base),
            };
            let rest = loader::below(&dir, self.root.label.bytes());
            if rest.is_none_or(|rest| rest.split(|b| *b == b'/').any(|part| part == b"..")) {
                why = format!("{to} would lie outside of the tree");
                continue;
            }
            match self.free(&to) {
                Ok(()) => return Ok(to),
                Err(taken) => why = taken,
            }
        }
        Err(why)
    }

    /// Whether nothing stands at a place, and no link leads to it from elsewhere.
    fn free(&self, to: &Name) -> Result<(), String> {
        let taken = || format!("{to} is something else already, and nothing is written over");
        if self.copies.contains_key(to) {
            return Err(taken());
        }
        let path = below(self.root, to.bytes());
        let mut at = self.root.path.clone();
        let parts: Vec<_> = path.components().collect();
        let Some((base, directories)) = parts.split_last() else {
            return Err(taken());
        };
        for part in directories {
            at.push(part);
            match fs::symlink_metadata(&at) {
                Err(_) => return Ok(()),
                Ok(meta) if meta.is_symlink() => {
                    return Err(format!("a link stands on the way to {to}"));
                }
                Ok(meta) if meta.is_dir() => {}
                Ok(_) => return Err(taken()),
            }
        }
        // Where case does not matter, another spelling is the same place.
        let wanted = folded(base.as_os_str().as_encoded_bytes(), self.fold);
        let same = |entry: io::Result<fs::DirEntry>| {
            entry.is_ok_and(|e| folded(e.file_name().as_encoded_bytes(), self.fold) == wanted)
        };
        match fs::read_dir(&at).map(|mut entries| entries.any(same)) {
            Ok(false) => Ok(()),
            _ => Err(taken()),
        }
    }
}

/// A file as a library, or what it is instead.
fn read(path: &Path, name: &Name) -> Result<Result<Library, String>, Failure> {
    let io = |e| Failure::io(&name.to_string(), &e);
    let file = File::open(path).map_err(io)?;
    let mut part = Part::default();
    scan::one(&Libraries::default(), name, Box::new(file), &mut part)?;
    let damaged = part.seen.findings.first().map(|found| found.why.clone());
    Ok(match (damaged, part.facts.pop()) {
        (Some(why), _) => Err(why),
        // A zip has facts of what is in it.
        (None, Some(library)) if library.name == *name => Ok(library),
        (None, _) => Err("no library".to_owned()),
    })
}
