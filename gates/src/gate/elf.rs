//! The gate `elf`: what Linux programs and libraries ask of the system that loads them.

mod versions;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Check, Keys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::format::dynamic::{self, Dynamic, Stack};
use crate::format::is_device;
use crate::format::magic::{self, Magic};
use crate::glob::Glob;
use crate::links::Links;
use crate::loader::{self, joined};
use crate::name::Name;
use crate::report::{Finding, Inspected, Item};
use crate::rule::{self, Rule};
use crate::scan::{self, Entry, Part, Visit};
use crate::seen::Seen;
use crate::walk::{Link, Root};
use versions::Version;

const LOADER: Rule = Rule::new("ELF001", "a loader that targets do not have");
const CEILING: Rule = Rule::new("ELF002", "needs a later version than the ceiling");
const MIXED: Rule = Rule::new("ELF003", "two C libraries in one tree");
const STACK: Rule = Rule::new("ELF004", "an executable stack");
const ASTRAY: Rule = Rule::new("ELF005", "a search path that leads out of the tree");
const UNUSED: Rule = Rule::new("ELF006", "a key of the gate that fits nothing");

/// The gate.
pub struct Elf;

impl Check for Elf {
    const NAME: &'static str = "elf";
    const ABOUT: &'static str = "loader, C library and its version, stack and search paths of ELF";
    const VERSION: u32 = 3;
    const COUNTS: &'static [&'static str] = &["libraries", "programs"];
    const RULES: &'static [Rule] = &[LOADER, CEILING, MIXED, STACK, ASTRAY, UNUSED];
    type Ask = Ask;
    type Demand = Demand;

    fn inspect(_row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let scanned = scan::tree(roots, &Files)?;
        let Part { mut seen, facts } = scanned.part;
        let mut judge = Judge::new(ask, roots, &scanned.links);
        for fact in &facts {
            judge.dirs.extend(parents(fact.name()));
        }
        for link in &scanned.links {
            judge.dirs.extend(parents(&link.name));
        }
        let files = || {
            facts.iter().filter_map(|fact| match fact {
                Fact::Elf(name, file) => Some((name, &**file)),
                Fact::Other(_) => None,
            })
        };
        for (name, file) in files() {
            judge.file(name, file, &mut seen);
        }
        judge.mixed(files(), &mut seen);
        judge.unused(&mut seen);
        Ok(seen)
    }

    fn judge(report: &Inspected, demand: &Demand) -> Vec<Finding> {
        let mut seen = Seen::default();
        for (family, ceiling) in &demand.ceiling {
            ceiling_of(family, ceiling, &report.items, &mut seen);
        }
        seen.findings
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Ask {
    /// Loaders of programs besides those that each machine's systems have.
    pub interpreters: Vec<String>,
    /// The C library of all files; without it, the one that most have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub libc: Option<Libc>,
    /// Globs over absolute search paths that the target has outside of the tree.
    pub paths: Vec<String>,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        match self.interpreters.iter().find(|path| !path.starts_with('/')) {
            Some(path) => Err(format!("`interpreters`: `{path}` is no absolute path")),
            None => Ok(()),
        }
    }
}

/// What *assert* holds against a report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Demand {
    /// The latest version that may be needed, by family: `{ GLIBC = "2.28", GLIBCXX = "3.4.25" }`.
    pub ceiling: BTreeMap<String, String>,
}

impl Keys for Demand {
    fn check(&self) -> Result<(), String> {
        for (family, ceiling) in &self.ceiling {
            if Version::number(ceiling).is_none() {
                return Err(format!(
                    "`ceiling`: `{ceiling}` of {family} is no version like 2.28"
                ));
            }
        }
        Ok(())
    }
}

/// A C library of Linux.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Libc {
    /// Android's.
    Bionic,
    /// GNU's.
    Glibc,
    /// musl.
    Musl,
}

impl Libc {
    const fn word(self) -> &'static str {
        match self {
            Self::Bionic => "bionic",
            Self::Glibc => "glibc",
            Self::Musl => "musl",
        }
    }

    /// The C libraries that a file asks for, by its loader, its needs and its own name.
    fn of(file: &Dynamic) -> BTreeSet<Self> {
        let mut found = BTreeSet::new();
        if let Some(path) = &file.interpreter {
            found.extend(Self::of_loader(loader::base(path)));
        }
        let wants_bionic = file.needs.iter().any(|(_, version)| **version == *b"LIBC");
        for name in file.needed.iter().chain(&file.soname) {
            found.extend(match loader::base(name) {
                b"libc.so.6" => Some(Self::Glibc),
                // The C library of both goes by this name; only Android's has versions.
                b"libc.so" if wants_bionic => Some(Self::Bionic),
                b"libc.so" => Some(Self::Musl),
                name if name.starts_with(b"libc.musl-") => Some(Self::Musl),
                name => Self::of_loader(name),
            });
        }
        // libgcc has versions of that name, too, wherever it was built (GCC,
        // `libgcc/config/libgcc-glibc.ver`).
        let of_glibc = |(library, version): &(dynamic::Text, dynamic::Text)| {
            version.starts_with(b"GLIBC_") && !loader::base(library).starts_with(b"libgcc_s")
        };
        if file.needs.iter().any(of_glibc) {
            found.insert(Self::Glibc);
        }
        found
    }

    fn of_loader(base: &[u8]) -> Option<Self> {
        let begins = |start: &str| base.starts_with(start.as_bytes());
        match base {
            b"linker" | b"linker64" => Some(Self::Bionic),
            _ if begins("ld-musl-") => Some(Self::Musl),
            _ if begins("ld-linux") || begins("ld64.so.") || begins("ld.so.") => Some(Self::Glibc),
            _ => None,
        }
    }
}

/// The loaders that programs of a class ask for on the systems that there are: glibc's by the ABI
/// documents of each machine, musl's by its manual, Android's.
fn loaders(class: &str) -> &'static [&'static str] {
    match class {
        "ELF64 X86-64" => &[
            "/lib64/ld-linux-x86-64.so.2",
            "/lib/ld-musl-x86_64.so.1",
            "/system/bin/linker64",
        ],
        "ELF32 X86-64" => &["/libx32/ld-linux-x32.so.2", "/lib/ld-musl-x32.so.1"],
        "ELF32 Intel 80386" => &[
            "/lib/ld-linux.so.2",
            "/lib/ld-musl-i386.so.1",
            "/system/bin/linker",
        ],
        "ELF64 AArch64" => &[
            "/lib/ld-linux-aarch64.so.1",
            "/lib/ld-musl-aarch64.so.1",
            "/system/bin/linker64",
        ],
        "ELF32 ARM" => &[
            "/lib/ld-linux-armhf.so.3",
            "/lib/ld-linux.so.3",
            "/lib/ld-musl-armhf.so.1",
            "/lib/ld-musl-arm.so.1",
            "/system/bin/linker",
        ],
        "ELF64 RISC-V" => &[
            "/lib/ld-linux-riscv64-lp64d.so.1",
            "/lib/ld-musl-riscv64.so.1",
            "/system/bin/linker64",
        ],
        "ELF64 PowerPC64" => &["/lib64/ld64.so.2", "/lib/ld-musl-powerpc64le.so.1"],
        "ELF64-BE S/390" => &["/lib/ld64.so.1", "/lib/ld-musl-s390x.so.1"],
        "ELF64 LoongArch" => &[
            "/lib64/ld-linux-loongarch-lp64d.so.1",
            "/lib/ld-musl-loongarch64.so.1",
        ],
        _ => &[],
    }
}

/// Whether loaders take an executable stack for a file that says nothing of it: glibc does on
/// machines that had them before the header was invented.
fn stack_by_default(class: &str) -> bool {
    let later = ["AArch64", "RISC-V", "LoongArch"];
    !later.iter().any(|machine| class.ends_with(machine))
}

/// What the gate keeps of a file.
enum Fact {
    /// A program or shared object.
    Elf(Name, Box<Dynamic>),
    /// Anything else: its directory is there.
    Other(Name),
}

impl Fact {
    const fn name(&self) -> &Name {
        match self {
            Self::Elf(name, _) | Self::Other(name) => name,
        }
    }
}

/// Reads every ELF program and shared object.
struct Files;

impl Visit for Files {
    type Fact = Fact;

    fn wants(&self, head: &[u8], size: u64, _name: &[u8]) -> bool {
        magic::sniff(head, size) == Magic::Elf
    }

    fn visit(&self, entry: &Entry<'_, '_>, part: &mut Part<Fact>) -> Result<(), Failure> {
        const OBJECT: u16 = 1;
        let also = entry.also.iter().cloned().map(Fact::Other);
        part.facts.extend(also);
        let name = entry.name.clone();
        let fact = match entry.magic {
            Magic::Elf => match dynamic::read(entry.whole()) {
                Err(fault) => {
                    part.seen
                        .fault(rule::DAMAGED, entry.name, "ELF file", &fault);
                    Fact::Other(name)
                }
                // A linker's input, and code that another loader loads.
                Ok(file) if file.kind == OBJECT || is_device(&file.class) => Fact::Other(name),
                Ok(file) => Fact::Elf(name, Box::new(file)),
            },
            _ => Fact::Other(name),
        };
        if matches!(fact, Fact::Other(_)) {
            part.seen.counts.other += 1;
        }
        part.facts.push(fact);
        Ok(())
    }
}

/// All directories above a name, inside its zip when it lies in one.
fn parents(name: &Name) -> Vec<Vec<u8>> {
    let mut dir = joined(loader::dir(name.bytes()), b"");
    let mut dirs = vec![dir.clone()];
    while let Some(at) = dir.iter().rposition(|b| *b == b'/') {
        dir.truncate(at);
        dirs.push(dir.clone());
    }
    dirs
}

struct Judge<'a> {
    ask: &'a Ask,
    links: Links,
    /// Every directory of the trees that has something in it.
    dirs: BTreeSet<Vec<u8>>,
    paths: Vec<(Glob, bool)>,
    interpreters: BTreeSet<&'a str>,
}

impl<'a> Judge<'a> {
    fn new(ask: &'a Ask, roots: &[Root], links: &[Link]) -> Self {
        let labels = roots.iter().map(|r| joined(r.label.bytes(), b"")).collect();
        Self {
            ask,
            links: Links::new(links, labels),
            dirs: BTreeSet::new(),
            paths: ask
                .paths
                .iter()
                .map(|path| (Glob::new(path, false), false))
                .collect(),
            interpreters: BTreeSet::new(),
        }
    }

    fn file(&mut self, name: &Name, file: &Dynamic, seen: &mut Seen) {
        let mut classes = versions::highest(&file.needs);
        let program = file.is_program();
        let (kind, count) = match program {
            true => ("program", "programs"),
            false => ("library", "libraries"),
        };
        classes.insert(count.to_owned(), 1);
        for libc in Libc::of(file) {
            classes.insert(libc.word().to_owned(), 1);
        }
        seen.item(name, kind, classes);
        self.interpreter(name, file, seen);
        let stack = match file.stack {
            Stack::Executable => "its header asks for one",
            Stack::Unsaid if stack_by_default(&file.class) => {
                "it has no PT_GNU_STACK, which loaders take for one"
            }
            Stack::Data | Stack::Unsaid => "",
        };
        if !stack.is_empty() {
            seen.wrong(STACK, name, stack);
        }
        for (tag, paths) in [("RPATH", &file.rpath), ("RUNPATH", &file.runpath)] {
            for path in paths {
                if let Some(why) = self.astray(name, path) {
                    let shown = Name::new(&path[..]);
                    seen.wrong(ASTRAY, name, format!("{tag} `{shown}`: {why}"));
                }
            }
        }
    }

    fn interpreter(&mut self, name: &Name, file: &Dynamic, seen: &mut Seen) {
        const FIXED: u16 = 2;
        let Some(path) = &file.interpreter else {
            if file.kind == FIXED && !file.needed.is_empty() {
                seen.wrong(LOADER, name, "it needs libraries and names no loader");
            }
            return;
        };
        let known = loaders(&file.class);
        let asked = self.ask.interpreters.iter().map(String::as_str);
        if known.iter().any(|known| known.as_bytes() == &**path) {
            return;
        }
        match asked.into_iter().find(|asked| asked.as_bytes() == &**path) {
            Some(asked) => {
                self.interpreters.insert(asked);
            }
            None => {
                let expected = match known {
                    [] => "one of `interpreters`".to_owned(),
                    known => known.join(" or "),
                };
                let why = format!("no system for {} has this loader", file.class);
                seen.differs(
                    LOADER,
                    name,
                    Name::new(&path[..]).to_string(),
                    expected,
                    why,
                );
            }
        }
    }

    /// Why a search path is none that the target has; nothing when it has it.
    fn astray(&mut self, name: &Name, path: &[u8]) -> Option<&'static str> {
        let from = loader::dir(name.bytes());
        if let Some(rest) = loader::origin(path) {
            let real = self.links.real(&joined(from, rest));
            let inside = real.iter().any(|dir| self.inside(dir));
            return (!inside).then_some("it leads out of the tree");
        }
        if !path.starts_with(b"/") {
            return Some(match path {
                [] => "an empty part stands for the working directory",
                _ => "it is relative to the working directory",
            });
        }
        for (glob, met) in &mut self.paths {
            if glob.matches(path) {
                *met = true;
                return None;
            }
        }
        let there = |dir: &Vec<u8>| self.dirs.contains(dir) || self.links.labels().contains(dir);
        let places = self.links.places(from, path);
        let mut real = places.iter().flat_map(|dir| self.links.real(dir));
        let found = real.any(|dir| self.inside(&dir) && there(&dir));
        (!found).then_some("it is no directory of the tree, and `paths` does not name it")
    }

    /// Whether a resolved path lies in some root, or in its zip.
    fn inside(&self, path: &[u8]) -> bool {
        let out = |path: &[u8]| path.split(|b| *b == b'/').next() == Some(b"..");
        let below = |label: &Vec<u8>| loader::below(path, label).is_some_and(|rest| !out(rest));
        match path.iter().rposition(|b| *b == b'!') {
            Some(at) => !out(&path[at + 1..]),
            None => self.links.labels().iter().any(below),
        }
    }

    /// Files for another C library than the tree's.
    fn mixed<'f>(&self, files: impl Iterator<Item = (&'f Name, &'f Dynamic)>, seen: &mut Seen) {
        let of: Vec<(&Name, BTreeSet<Libc>)> = files
            .map(|(name, file)| (name, Libc::of(file)))
            .filter(|(_, found)| !found.is_empty())
            .collect();
        let mut sums: BTreeMap<Libc, u64> = BTreeMap::new();
        for libc in of.iter().flat_map(|(_, found)| found) {
            *sums.entry(*libc).or_default() += 1;
        }
        // Of equally many the one that sorts first, so that the same tree gives the same findings.
        let most = || {
            sums.iter()
                .rev()
                .max_by_key(|(_, sum)| **sum)
                .map(|(libc, _)| *libc)
        };
        let Some(wanted) = self.ask.libc.or_else(most) else {
            return;
        };
        let why = match self.ask.libc {
            Some(_) => "the tree is for another C library",
            None => "most of the tree is for another C library",
        };
        for (name, found) in of {
            if found.iter().any(|libc| *libc != wanted) {
                let words: Vec<&str> = found.iter().map(|libc| libc.word()).collect();
                seen.differs(MIXED, name, words.join(" and "), wanted.word(), why);
            }
        }
    }

    /// Keys of the policy that fit nothing, so that they do not outlive their reason.
    fn unused(&self, seen: &mut Seen) {
        for (path, (_, met)) in self.ask.paths.iter().zip(&self.paths) {
            if !met {
                let why = "`paths` names what no file searches";
                seen.wrong(UNUSED, &Name::from(path.as_str()), why);
            }
        }
        for path in &self.ask.interpreters {
            if !self.interpreters.contains(path.as_str()) {
                let why = "`interpreters` names what no program asks for, or what all know";
                seen.wrong(UNUSED, &Name::from(path.as_str()), why);
            }
        }
    }
}

/// Items that need later versions of a family than the ceiling.
fn ceiling_of(family: &str, ceiling: &str, items: &[Item], seen: &mut Seen) {
    let Some(most) = Version::number(ceiling) else {
        return;
    };
    let mut met = false;
    for item in items {
        for class in item.classes.keys() {
            let Some(version) = Version::of(family, class) else {
                continue;
            };
            met = true;
            match version {
                Version::Number(number) if number <= most => {}
                Version::Number(_) => {
                    let expected = format!("{family}_{ceiling} at most");
                    let why = "systems of the ceiling do not have this version";
                    seen.differs(CEILING, &item.subject, class.as_str(), expected, why);
                }
                Version::Word => {
                    let why = "no number says which systems have this version";
                    let expected = format!("{family}_{ceiling} at most");
                    seen.differs(CEILING, &item.subject, class.as_str(), expected, why);
                }
            }
        }
    }
    if !met {
        let why = "`ceiling` is about versions that no file needs";
        seen.wrong(UNUSED, &Name::from(family), why);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parents_of_a_name_end_at_its_zip() {
        let dirs = |name: &str| -> Vec<String> {
            parents(&Name::from(name))
                .into_iter()
                .map(|dir| String::from_utf8(dir).unwrap())
                .collect()
        };
        assert_eq!(dirs("a/b/c"), ["a/b", "a"]);
        assert_eq!(dirs("./a/b"), ["a"]);
        assert_eq!(dirs("w/x.whl!p/q/m.so"), ["w/x.whl!p/q", "w/x.whl!p", "w"]);
    }

    #[test]
    fn keys_that_mean_nothing_are_refused() {
        let ask = Ask {
            interpreters: vec!["ld.so".to_owned()],
            ..Ask::default()
        };
        assert!(ask.check().is_err());
        for ceiling in ["", "2.x", "2.", "latest", ".5", "-1"] {
            let ceiling = [("GLIBC".to_owned(), ceiling.to_owned())].into();
            assert!(Demand { ceiling }.check().is_err());
        }
    }
}
