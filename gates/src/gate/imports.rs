//! The gate `imports`: what every program and library imports is there, where its loader looks,
//! for its machine, with the names that it asks for.

mod edge;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::glob::Glob;
use crate::lists::Lists;
use crate::loader::{Kind, Libraries, Library, Loader, Search, everyone};
use crate::name::Name;
use crate::parallel::in_parallel;
use crate::rule::Rule;
use crate::scan::{self, Part};
use crate::seen::Seen;
use crate::walk::Root;
use edge::{Edge, Edges};

/// The gate.
pub struct Imports;

const MISSING: Rule = Rule::new("IMP001", "an import that nothing supplies");
const FOREIGN: Rule = Rule::new("IMP002", "supplied for another machine only");
const ASIDE: Rule = Rule::new("IMP003", "supplied where the loader does not look");
const LACKS: Rule = Rule::new("IMP004", "a supplier that lacks what is imported");
const API_SET: Rule = Rule::new("IMP005", "an API set that no list knows");
const CRT: Rule = Rule::new("IMP006", "the compiler's run-time is not in the tree");
const FORBIDDEN: Rule = Rule::new("IMP007", "a forbidden import");
const AT_LOAD: Rule = Rule::new("IMP008", "imported at load and allowed delayed only");
const FORWARD: Rule = Rule::new("IMP009", "a forwarded export that leads nowhere");
const UNUSED: Rule = Rule::new("IMP010", "a key of the gate that fits nothing");

/// What *inspect* is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Ask {
    /// Names that may be imported delayed only.
    pub delay_only: Vec<Bound>,
    /// Names that may not be imported.
    pub forbid: Vec<Bound>,
    /// Names that something outside of the tree supplies.
    pub outside: Vec<Outside>,
    /// Directories that loaders search besides.
    pub search: Vec<Search>,
    /// Whether the tree must bring the compiler's run-time: it ships by itself, or was built for
    /// another machine than the one it was built on.
    pub standalone: bool,
}

/// A name, and who is bound by what is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Bound {
    /// A glob over importers; at least one must be there.
    #[serde(default = "everyone")]
    pub from: String,
    /// A glob over names of libraries.
    pub name: String,
    /// The reason.
    pub why: String,
}

/// A name that something outside of the tree supplies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Outside {
    /// A glob over names of libraries.
    pub name: String,
    /// What supplies it.
    pub why: String,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        let bounds = self.delay_only.iter().chain(&self.forbid);
        let reasons = bounds.map(|bound| (&bound.name, &bound.why)).chain(
            self.outside
                .iter()
                .map(|outside| (&outside.name, &outside.why)),
        );
        for (name, why) in reasons {
            if name.is_empty() || why.trim().is_empty() {
                return Err(format!("`{name}` needs a name and a reason (`why`)"));
            }
        }
        Ok(())
    }
}

impl Check for Imports {
    const NAME: &'static str = "imports";
    const ABOUT: &'static str = "everything that is imported is there, for the machine, by name";
    const VERSION: u32 = 3;
    const COUNTS: &'static [&'static str] = &["delayed", "edges", "elf", "pe", "symbols"];
    const RULES: &'static [Rule] = &[
        MISSING, FOREIGN, ASIDE, LACKS, API_SET, CRT, FORBIDDEN, AT_LOAD, FORWARD, UNUSED,
    ];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let scanned = scan::tree(roots, &Libraries::default())?;
        let Part { mut seen, facts } = scanned.part;
        let labels = roots
            .iter()
            .map(|root| root.label.bytes().to_vec())
            .collect();
        let fold = row.folds_case();
        let loader = Loader::new(&facts, &scanned.links, &ask.search, labels, fold);
        let lists = Lists::of(&row.os)?;
        seen.lists = lists.used();
        let judge = Judge::new(&loader, &lists, ask, fold);
        let judged = in_parallel(&facts, |library| {
            let mut seen = Seen::default();
            judge.library(library, &mut seen);
            Ok(seen)
        })?;
        judged.into_iter().for_each(|part| seen.add(part));
        judge.unused(&mut seen);
        drop(loader);
        // One look is all that a process takes: to give back every table would take as long as to
        // judge them.
        std::mem::forget(facts);
        Ok(seen)
    }
}

/// An import that nothing supplies, as `closure` asks for them.
pub(crate) struct Unsupplied<'l> {
    /// Whose import.
    pub(crate) importer: &'l Library,
    /// The name of the library.
    pub(crate) name: Vec<u8>,
    /// The rule that the gate has for it.
    pub(crate) rule: Rule,
    /// The reason.
    pub(crate) why: String,
}

/// What the libraries of a tree import or forward to, and nothing supplies: each once.
pub(crate) fn unsupplied<'l>(
    loader: &'l Loader<'l>,
    lists: &'l Lists,
    ask: &'l Ask,
    fold: bool,
) -> Vec<Unsupplied<'l>> {
    let judge = Judge::new(loader, lists, ask, fold);
    let mut all = Vec::new();
    for importer in loader.libraries {
        let mut names: BTreeSet<Vec<u8>> = Edges::of(importer)
            .list
            .iter()
            .map(|edge| edge.dll.to_vec())
            .collect();
        if let Kind::Pe {
            exports: Some(exports),
            ..
        } = &importer.kind
        {
            let forwards = exports.forwards.iter();
            names.extend(forwards.filter_map(|(_, text)| Some(edge::forward(text)?.0)));
        }
        for name in names {
            if let Source::Nowhere(rule, why) = judge.source(importer, &name) {
                all.push(Unsupplied {
                    importer,
                    name,
                    rule,
                    why,
                });
            }
        }
    }
    all
}

/// Where a name comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// Libraries of the tree.
    Tree(Vec<usize>),
    /// Something that every installation has.
    System,
    /// Something that the policy or a list names.
    Outside(&'static str, String),
    /// Nothing: the finding.
    Nowhere(Rule, String),
}

struct Judge<'l> {
    loader: &'l Loader<'l>,
    lists: &'l Lists,
    ask: &'l Ask,
    fold: bool,
    outside: Vec<(Glob, Met)>,
    forbid: Vec<(Glob, Glob, Met)>,
    delay_only: Vec<(Glob, Glob, Met)>,
}

/// Whether something of the tree was met by a key of the policy.
#[derive(Default)]
struct Met(AtomicBool);

impl Met {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl<'l> Judge<'l> {
    fn new(loader: &'l Loader<'l>, lists: &'l Lists, ask: &'l Ask, fold: bool) -> Self {
        let bound = |bounds: &[Bound]| {
            let globs = bounds.iter().map(|bound| {
                let glob = |text| Glob::new(text, fold);
                (glob(&bound.from), glob(&bound.name), Met::default())
            });
            globs.collect()
        };
        Self {
            loader,
            lists,
            ask,
            fold,
            outside: ask
                .outside
                .iter()
                .map(|o| (Glob::new(&o.name, fold), Met::default()))
                .collect(),
            forbid: bound(&ask.forbid),
            delay_only: bound(&ask.delay_only),
        }
    }

    /// Judges all that one program or library imports and forwards.
    fn library(&self, library: &'l Library, seen: &mut Seen) {
        let edges = Edges::of(library);
        let delayed = edges.list.iter().filter(|edge| edge.delayed).count() as u64;
        let symbols = edges.list.iter().map(|edge| edge.wanted.len() as u64).sum();
        let mut counts = BTreeMap::from([("edges".to_owned(), edges.list.len() as u64)]);
        counts.insert("delayed".to_owned(), delayed);
        counts.insert("symbols".to_owned(), symbols);
        let word = match library.kind {
            Kind::Pe { .. } => "pe",
            Kind::Elf(_) => "elf",
        };
        seen.item(&library.name, word, counts);
        if edges.list.is_empty() && edges.expected {
            seen.note(
                "imports nothing",
                &library.name,
                "it has code and no import",
            );
        }
        for (list, rule) in [(&self.forbid, FORBIDDEN), (&self.delay_only, AT_LOAD)] {
            let bounds = match rule {
                FORBIDDEN => &self.ask.forbid,
                _ => &self.ask.delay_only,
            };
            for ((from, name, met), bound) in list.iter().zip(bounds) {
                if !from.matches(library.name.bytes()) {
                    continue;
                }
                met.set();
                for edge in &edges.list {
                    if name.matches(edge.dll) && !(rule == AT_LOAD && edge.delayed) {
                        let subject = library.name.archive_member(edge.dll);
                        seen.finding(rule, &subject, "", "", bound.why.clone());
                    }
                }
            }
        }
        for edge in &edges.list {
            let subject = library.name.archive_member(edge.dll);
            match self.source(library, edge.dll) {
                Source::System => {}
                Source::Outside(class, why) => seen.note(class, &subject, why),
                Source::Nowhere(rule, why) => {
                    let when = if edge.delayed { " (delayed)" } else { "" };
                    seen.finding(rule, &subject, "", "", format!("{why}{when}"));
                }
                Source::Tree(providers) => self.symbols(edge, &providers, &subject, seen),
            }
        }
        self.forwards(library, seen);
    }

    /// Where an importer's loader finds a name.
    fn source(&self, importer: &Library, dll: &[u8]) -> Source {
        let text = String::from_utf8_lossy(dll).into_owned();
        let name = if self.fold {
            text.to_ascii_lowercase()
        } else {
            text.clone()
        };
        if let Some(sets) = &self.lists.api_sets
            && crate::lists::is_api_set(&name)
        {
            if sets.has(crate::lists::api_set(&name)) {
                return Source::System;
            }
            let why = format!(
                "no list knows it ({} {})",
                sets.list.name, sets.list.version
            );
            return Source::Nowhere(API_SET, why);
        }
        let found = self.loader.find(importer, dll);
        if !found.right.is_empty() {
            return Source::Tree(found.right);
        }
        let places = |indexes: &[usize]| {
            let shown = indexes.iter().take(3).map(|at| {
                let library = &self.loader.libraries[*at];
                format!("{} ({})", library.name, library.class)
            });
            shown.collect::<Vec<_>>().join(", ")
        };
        if let Some(&first) = found.foreign.first() {
            let class = &self.loader.libraries[first].class;
            let why = format!(
                "{} is for {}, what supplies it is not: {class}: {}",
                importer.name,
                importer.class,
                places(&found.foreign)
            );
            return Source::Nowhere(FOREIGN, why);
        }
        for ((glob, met), outside) in self.outside.iter().zip(&self.ask.outside) {
            if glob.matches(dll) {
                met.set();
                return Source::Outside("outside", outside.why.clone());
            }
        }
        // A run-time is a beginning and a version: `msvcp140.dll`, and `msvcp_win.dll` is none.
        let digit = name
            .trim_end_matches(".dll")
            .bytes()
            .any(|b| b.is_ascii_digit());
        if self.lists.crt.has(&name) && (digit || !self.fold) {
            if self.ask.standalone {
                let why = "the tree must bring it along: it ships by itself".to_owned();
                return Source::Nowhere(CRT, why);
            }
            return Source::Outside("run-time", self.lists.crt.told());
        }
        for (class, list) in [
            ("driver", &self.lists.driver),
            ("client", &self.lists.client),
        ] {
            if list.has(&name) {
                return Source::Outside(class, list.told());
            }
        }
        if self.lists.system.has(&name) {
            return Source::System;
        }
        if found.aside.is_empty() {
            return Source::Nowhere(MISSING, "no file of the tree and no list has it".to_owned());
        }
        let why = format!("the loader does not look there: {}", places(&found.aside));
        Source::Nowhere(ASIDE, why)
    }

    /// Whether the suppliers have what is asked of them. Of several the loader takes one, and which
    /// is not known here: each must have it.
    fn symbols(&self, edge: &Edge<'_>, providers: &[usize], subject: &Name, seen: &mut Seen) {
        for index in providers {
            let provider = &self.loader.libraries[*index];
            let lacking = edge.lacking(provider);
            if let Some(first) = lacking.first() {
                let more = match lacking.len() - 1 {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let of = edge.wanted.len();
                let why = format!("{} does not have {first}{more} (of {of})", provider.name);
                seen.finding(LACKS, subject, "", "", why);
            }
        }
    }

    /// Whether what a library forwards is where it says.
    fn forwards(&self, library: &'l Library, seen: &mut Seen) {
        let Kind::Pe {
            exports: Some(exports),
            ..
        } = &library.kind
        else {
            return;
        };
        let mut told = BTreeSet::new();
        for (_, text) in &exports.forwards {
            let subject = library.name.archive_member(text);
            let Some((dll, symbol)) = edge::forward(text) else {
                let why = "it is no DLL and name".to_owned();
                seen.finding(FORWARD, &subject, "", "", why);
                continue;
            };
            match self.source(library, &dll) {
                Source::System => {}
                Source::Outside(class, why) => {
                    if told.insert(dll.clone()) {
                        seen.note(class, &library.name.archive_member(&dll), why);
                    }
                }
                Source::Nowhere(_, why) => seen.finding(FORWARD, &subject, "", "", why),
                Source::Tree(providers) => {
                    for provider in providers {
                        if let Err(why) = edge::chase(self.loader, provider, symbol) {
                            seen.finding(FORWARD, &subject, "", "", why);
                        }
                    }
                }
            }
        }
    }

    /// Keys of the policy that fit nothing, so that they do not outlive their reason.
    fn unused(&self, seen: &mut Seen) {
        let mut tell = |key: &str, name: &str, why: &str| {
            seen.finding(UNUSED, &Name::from(name), "", "", format!("`{key}` {why}"));
        };
        for ((_, met), outside) in self.outside.iter().zip(&self.ask.outside) {
            if !met.get() {
                tell(
                    "outside",
                    &outside.name,
                    "names what nothing imports from outside",
                );
            }
        }
        let bounds = [
            ("forbid", &self.forbid, &self.ask.forbid),
            ("delay-only", &self.delay_only, &self.ask.delay_only),
        ];
        for (key, globs, bounds) in bounds {
            for ((_, _, met), bound) in globs.iter().zip(bounds) {
                if !met.get() {
                    let why = "is about files of which none is there";
                    tell(key, &bound.from, why);
                }
            }
        }
        for search in &self.ask.search {
            let glob = Glob::new(&search.dir, self.fold);
            if !self.loader.libraries.iter().any(|l| glob.matches(l.dir())) {
                tell("search", &search.dir, "names a directory without a library");
            }
        }
    }
}
