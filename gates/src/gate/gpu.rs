//! The gate `gpu`: the code for GPUs that programs and libraries carry is for the GPUs that it
//! must be for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::format::device::{self, Found, Target};
use crate::format::magic;
use crate::glob::Glob;
use crate::name::Name;
use crate::rule::{self, Rule};
use crate::scan::{self, Entry, Part, Visit};
use crate::seen::Seen;
use crate::walk::Root;

const MISSING: Rule = Rule::new("GPU001", "no code for a GPU that must have it");
const UNWANTED: Rule = Rule::new("GPU002", "code for a GPU that must not have it");
const UNLINKED: Rule = Rule::new("GPU003", "code that no driver can load");
const OTHER: Rule = Rule::new("GPU004", "a bundle that holds other code than it says");
const UNUSED: Rule = Rule::new("GPU005", "a key of the gate that fits nothing");

/// The gate.
pub struct Gpu;

impl Check for Gpu {
    const NAME: &'static str = "gpu";
    const ABOUT: &'static str = "code for GPUs is there for each that must have it";
    const VERSION: u32 = 3;
    const COUNTS: &'static [&'static str] = &["bundles", "code-objects", "files"];
    const RULES: &'static [Rule] = &[MISSING, UNWANTED, UNLINKED, OTHER, UNUSED];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let glob = |pattern: &String| Glob::new(pattern, row.folds_case());
        let wanted: Vec<Needs<'_>> = ask
            .wanted
            .iter()
            .map(|wanted| Needs {
                file: glob(&wanted.file),
                from: wanted.from.as_ref().map(glob),
                wanted,
            })
            .collect();
        let unwanted: Vec<(Glob, &Unwanted)> = ask
            .unwanted
            .iter()
            .map(|unwanted| (Glob::new(&unwanted.target, false), unwanted))
            .collect();
        let files = Files {
            anywhere: ask.anywhere.iter().map(glob).collect(),
            wanted: &wanted,
            unwanted: &unwanted,
        };
        let Part { mut seen, facts } = scan::tree(roots, &files)?.part;
        for needs in &wanted {
            needs.hold(&facts, &mut seen);
        }
        Ok(seen)
    }

    fn count(what: &str, item: &crate::report::Item) -> u64 {
        match what {
            "files" => 1,
            what => item.classes.get(what).copied().unwrap_or(0),
        }
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Ask {
    /// Globs over files that are no binaries and hold code objects at any place.
    pub anywhere: Vec<String>,
    /// GPUs that code must not be for.
    pub unwanted: Vec<Unwanted>,
    /// Files, and the GPUs that each must have code for.
    pub wanted: Vec<Wanted>,
}

/// Files that must have code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Wanted {
    /// A glob; each file that it matches must have all of the code.
    pub file: String,
    /// A glob over other files; the GPUs in their names are wanted too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// GPUs: `gfx1201`, `gfx90a:xnack-`, `sm_90`, `compute_90`.
    #[serde(default)]
    pub targets: Vec<String>,
}

/// GPUs that code must not be for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Unwanted {
    /// A glob over GPUs: `gfx9*`.
    pub target: String,
    /// The reason.
    pub why: String,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        for Wanted {
            file,
            from,
            targets,
        } in &self.wanted
        {
            if targets.is_empty() && from.is_none() {
                return Err(format!("`wanted` of `{file}` needs `targets` or `from`"));
            }
            if let Some(target) = targets.iter().find(|target| !is_target(target)) {
                return Err(format!(
                    "`targets` of `{file}`: `{target}` is no GPU like `gfx1201` or `sm_90`"
                ));
            }
        }
        match self.unwanted.iter().find(|u| u.why.trim().is_empty()) {
            Some(unwanted) => Err(format!("`unwanted` {} needs a reason", unwanted.target)),
            None => Ok(()),
        }
    }
}

/// Whether a text names a GPU.
fn is_target(text: &str) -> bool {
    let number = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    ["gfx", "sm_", "compute_"]
        .iter()
        .any(|start| text.strip_prefix(start).is_some_and(number))
        || text == "amdgcnspirv"
}

/// One row of `wanted`.
struct Needs<'a> {
    file: Glob,
    from: Option<Glob>,
    wanted: &'a Wanted,
}

impl Needs<'_> {
    /// Holds all files of the tree against it.
    fn hold(&self, files: &[File], seen: &mut Seen) {
        let Wanted {
            file,
            from,
            targets,
        } = self.wanted;
        let mut targets: BTreeSet<Target> = targets.iter().map(|t| Target::new(t)).collect();
        if let (Some(glob), Some(from)) = (&self.from, from) {
            let named = files.iter().filter(|file| glob.matches(file.name.bytes()));
            let named: BTreeSet<Target> = named.filter_map(|f| in_name(f.name.bytes())).collect();
            if named.is_empty() {
                let why = format!("no file of `{from}` has the name of a GPU in its own");
                seen.wrong(UNUSED, &Name::from(from.as_str()), why);
            }
            targets.extend(named);
        }
        let mut any = false;
        for file in files.iter().filter(|f| self.file.matches(f.name.bytes())) {
            any = true;
            for target in &targets {
                if file.targets.keys().any(|code| code.runs_on(target)) {
                    continue;
                }
                let has: Vec<&str> = file.targets.keys().map(Target::as_str).collect();
                let subject = file.name.archive_member(target.as_str().as_bytes());
                let why = "it has no code for this GPU";
                seen.differs(MISSING, &subject, has.join(", "), target.as_str(), why);
            }
        }
        if !any {
            seen.wrong(UNUSED, &Name::from(file.as_str()), "no file has this name");
        }
    }
}

/// The GPU in a file's name: `TensileLibrary_lazy_gfx90a.dat`.
fn in_name(name: &[u8]) -> Option<Target> {
    let base = String::from_utf8_lossy(crate::loader::base(name)).into_owned();
    ["gfx", "sm_", "compute_"].iter().find_map(|start| {
        let rest = &base[base.rfind(start)?..];
        let end = rest[start.len()..].find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
        let word = &rest[..end.map_or(rest.len(), |end| start.len() + end)];
        // Only generic GPUs have hyphens.
        let generic = word.find("-generic").map(|at| at + "-generic".len());
        let target = &word[..generic.or_else(|| word.find('-')).unwrap_or(word.len())];
        is_target(target).then(|| Target::new(target))
    })
}

/// A file that was looked at or that names GPUs.
struct File {
    name: Name,
    /// What code it has, and how much.
    targets: BTreeMap<Target, u64>,
}

/// Tells what cannot be read, loaded or believed of the code in a file; counts its pieces by GPU.
pub(crate) fn told(found: &Found, name: &Name, seen: &mut Seen) -> BTreeMap<Target, u64> {
    let at = |place: &[u8]| match place {
        [] => name.clone(),
        place => name.archive_member(place),
    };
    for (place, fault) in &found.faults {
        seen.fault(rule::DAMAGED, &at(place), "code for GPUs", fault);
    }
    let mut targets: BTreeMap<Target, u64> = BTreeMap::new();
    for (place, code) in &found.codes {
        if let Some(why) = code.unlinked {
            let why = format!("code for {}: {why}", code.target);
            seen.wrong(UNLINKED, &at(place), why);
        }
        if let Some(said) = &code.said {
            let why = "the bundle says another GPU than the code in it";
            seen.differs(OTHER, &at(place), code.target.as_str(), said, why);
        }
        *targets.entry(code.target.clone()).or_default() += 1;
    }
    targets
}

struct Files<'a> {
    anywhere: Vec<Glob>,
    wanted: &'a [Needs<'a>],
    unwanted: &'a [(Glob, &'a Unwanted)],
}

impl Files<'_> {
    /// Whether some row of `wanted` speaks of a file of this name.
    fn speaks_of(&self, name: &[u8]) -> bool {
        self.wanted.iter().any(|needs| {
            let mut globs = [Some(&needs.file), needs.from.as_ref()]
                .into_iter()
                .flatten();
            globs.any(|glob| glob.matches(name))
        })
    }
}

impl Visit for Files<'_> {
    type Fact = File;

    fn wants(&self, head: &[u8], size: u64, name: &[u8]) -> bool {
        magic::is_binary(magic::sniff(head, size))
            || device::is_device_file(head)
            || self.anywhere.iter().any(|glob| glob.matches(name))
            || self.speaks_of(name)
    }

    fn visit(&self, entry: &Entry<'_, '_>, part: &mut Part<File>) -> Result<(), Failure> {
        let name = entry.name;
        let anywhere = entry.names().any(|name| {
            let mut globs = self.anywhere.iter();
            globs.any(|glob| glob.matches(name.bytes()))
        });
        let found = device::look(entry, anywhere);
        let seen = &mut part.seen;
        let targets = told(&found, name, seen);
        for target in targets.keys() {
            for (glob, unwanted) in self.unwanted {
                if glob.matches(target.as_str().as_bytes()) {
                    let subject = name.archive_member(target.as_str().as_bytes());
                    seen.wrong(UNWANTED, &subject, unwanted.why.clone());
                }
            }
        }
        if targets.is_empty() && found.bundles == 0 {
            seen.counts.other += 1;
        } else {
            let mut numbers: BTreeMap<String, u64> = targets
                .iter()
                .map(|(target, count)| (target.to_string(), *count))
                .collect();
            numbers.insert("bundles".to_owned(), found.bundles);
            numbers.insert("code-objects".to_owned(), found.codes.len() as u64);
            seen.item(name, "gpu", numbers);
        }
        for name in entry.names().filter(|name| self.speaks_of(name.bytes())) {
            part.facts.push(File {
                name: name.clone(),
                targets: targets.clone(),
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_name_gpus() {
        for (name, target) in [
            ("a/TensileLibrary_lazy_gfx90a.dat", Some("gfx90a")),
            ("Kernels.so-000-gfx90a-xnack+.hsaco", Some("gfx90a")),
            ("x_gfx11-generic.co", Some("gfx11-generic")),
            ("kernel.sm_90.cubin", Some("sm_90")),
            ("gfx/readme", None),
            ("gfxinfo.dat", None),
        ] {
            let found = in_name(name.as_bytes());
            assert_eq!(found.as_ref().map(Target::as_str), target, "{name}");
        }
    }
}
