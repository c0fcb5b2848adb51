//! The gate `plugin`: the plugins of a contract are there, under their exact names, and export
//! what their hosts look for; on targets that do not have one, it is not there.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toml::de::{DeTable, DeValue};

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::format::Fault;
use crate::format::exported::{Export, Exported};
use crate::glob::Glob;
use crate::list;
use crate::name::Name;
use crate::rule::{self, Rule};
use crate::scan::{self, Entry, Part, Scanned, Visit};
use crate::seen::Seen;
use crate::walk::{Link, Root};

const MISSING: Rule = Rule::new("PLG001", "a plugin that must be there is not");
const PRESENT: Rule = Rule::new("PLG002", "a plugin that must not be there is");
const EXPORT: Rule = Rule::new(
    "PLG003",
    "a plugin without the code that its host looks for",
);
const UNLISTED: Rule = Rule::new("PLG004", "a plugin that is not in the contract");
const CONTRACT: Rule = Rule::new("PLG005", "a contract that cannot be read");

/// The largest contract.
const CONTRACT_BYTES: u64 = 1 << 20;

/// The gate.
pub struct Plugins;

impl Check for Plugins {
    const NAME: &'static str = "plugin";
    const ABOUT: &'static str = "plugins of a contract: exact file, exports, availability";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] = &["absent", "plugins", "symbols"];
    const RULES: &'static [Rule] = &[MISSING, PRESENT, EXPORT, UNLISTED, CONTRACT];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let mut seen = Seen::default();
        let plugins = contract(roots, ask, &mut seen)?;
        let fold = row.folds_case();
        let files = Files {
            within: ask
                .within
                .iter()
                .map(|glob| Glob::new(glob, fold))
                .collect(),
            plugins: &plugins,
            labels: roots.iter().map(|root| root.label.clone()).collect(),
            target: row.target(),
            same: match fold {
                true => |a, b| a.eq_ignore_ascii_case(b),
                false => |a, b| a == b,
            },
        };
        let Scanned { part, links } = scan::tree(roots, &files)?;
        let Part { seen: found, facts } = part;
        seen.add(found);
        // Hosts follow links, so one may no more be there than a file; it is no plugin for that.
        for Link { name, .. } in &links {
            files.unwanted(name, &mut seen);
        }
        let there: BTreeSet<usize> = facts.iter().filter_map(|(row, _)| *row).collect();
        for (index, plugin) in plugins.iter().enumerate() {
            let subject = Name::from(plugin.file.as_str());
            if there.contains(&index) {
                continue;
            }
            if let Some(reason) = plugin.absent_on.get(&files.target) {
                // A tree without anything has no plugin to be without.
                if !(facts.is_empty() && links.is_empty()) {
                    seen.count("absent", &subject, &[]);
                }
                seen.note("absent", &subject, reason.clone());
                continue;
            }
            let exact = |link: &Link| files.is(plugin, &link.name, |a, b| a == b);
            if links.iter().any(exact) {
                let why = format!("{} (there is a link of this name, no file)", plugin.why);
                seen.wrong(MISSING, &subject, why);
                continue;
            }
            let like = facts.iter().find(|(_, name)| {
                let (name, file) = (name.bytes(), plugin.file.as_bytes());
                crate::loader::base(name).eq_ignore_ascii_case(crate::loader::base(file))
            });
            let why = match like {
                Some((_, name)) => format!("{} (there is {name})", plugin.why),
                None => plugin.why.clone(),
            };
            seen.wrong(MISSING, &subject, why);
        }
        Ok(seen)
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Ask {
    /// A contract that lies in the tree: TOML with tables `[[plugins]]`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract: Option<String>,
    /// The contract, or more of it.
    pub plugins: Vec<Plugin>,
    /// Globs over places where every file must be in the contract.
    pub within: Vec<String>,
}

/// One row of the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Plugin {
    /// Targets that do not have it, and why: `{ "windows/arm64" = "no driver" }`.
    #[serde(default)]
    pub absent_on: BTreeMap<String, String>,
    /// Names of code that it exports.
    pub exports: Vec<String>,
    /// Its path below a root, spelled as it must be.
    pub file: String,
    /// Who needs it.
    pub why: String,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        if self.plugins.is_empty() && self.contract.is_none() {
            return Err("`plugins` or `contract` is needed".to_owned());
        }
        check(&self.plugins)
    }
}

fn check(plugins: &[Plugin]) -> Result<(), String> {
    let mut files = BTreeSet::new();
    for plugin in plugins {
        let file = &plugin.file;
        if file.is_empty() || plugin.why.trim().is_empty() {
            return Err(format!("`{file}` needs `file` and a reason (`why`)"));
        }
        if plugin.exports.is_empty() || plugin.exports.iter().any(String::is_empty) {
            return Err(format!("`{file}` needs `exports`: what its host looks for"));
        }
        if !files.insert(file) {
            return Err(format!("`{file}` stands twice"));
        }
        for (target, reason) in &plugin.absent_on {
            crate::arch_table::row(target)
                .map_err(|error| format!("`absent-on` of `{file}`: {error}"))?;
            if reason.trim().is_empty() {
                return Err(format!("`absent-on` of `{file}`: {target} needs a reason"));
            }
        }
    }
    Ok(())
}

/// All rows: those that were asked for and those of the contract in the tree.
fn contract(roots: &[Root], ask: &Ask, seen: &mut Seen) -> Result<Vec<Plugin>, Failure> {
    let mut plugins = ask.plugins.clone();
    let Some(path) = &ask.contract else {
        return Ok(plugins);
    };
    let subject = Name::from(path.as_str());
    let bytes = roots
        .iter()
        .map(|root| root.path.join(path))
        .find(|path| path.is_file())
        .map(|path| list::read(&path, CONTRACT_BYTES))
        .transpose()?;
    let read = match bytes {
        None => Err("it is not there".to_owned()),
        Some(Err(size)) => Err(format!("it has {size} bytes, more than {CONTRACT_BYTES}")),
        Some(Ok(bytes)) => rows(&bytes),
    };
    match read {
        Ok(rows) => plugins.extend(rows),
        Err(why) => seen.wrong(CONTRACT, &subject, why),
    }
    if let Err(why) = check(&plugins) {
        seen.wrong(CONTRACT, &subject, why);
    }
    Ok(plugins)
}

/// The rows of a contract's text.
fn rows(bytes: &[u8]) -> Result<Vec<Plugin>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Contract {
        plugins: Vec<Plugin>,
    }
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let table = DeTable::parse(text).map_err(|e| e.message().to_owned())?;
    let json = json_table(table.get_ref())?;
    let contract: Contract = serde_json::from_value(json).map_err(|e| e.to_string())?;
    match contract.plugins.is_empty() {
        true => Err("it has no `[[plugins]]`".to_owned()),
        false => Ok(contract.plugins),
    }
}

fn json_table(table: &DeTable<'_>) -> Result<serde_json::Value, String> {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        Ok((key.to_string(), json(value.get_ref())?))
    };
    let object: Result<serde_json::Map<_, _>, String> = table.iter().map(entry).collect();
    Ok(object?.into())
}

/// A value of a contract; it has texts, lists and tables.
fn json(value: &DeValue<'_>) -> Result<serde_json::Value, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string().into()),
        DeValue::Array(list) => list.iter().map(|value| json(value.get_ref())).collect(),
        DeValue::Table(table) => json_table(table),
        other => Err(format!("it has a value that is no text: {other:?}")),
    }
}

struct Files<'a> {
    plugins: &'a [Plugin],
    within: Vec<Glob>,
    labels: Vec<Name>,
    target: String,
    /// Whether the target's loader takes two paths for one file.
    same: fn(&[u8], &[u8]) -> bool,
}

impl Files<'_> {
    /// Whether a name is that of a plugin, by `same`.
    fn is(&self, plugin: &Plugin, name: &Name, same: fn(&[u8], &[u8]) -> bool) -> bool {
        let mut labels = self.labels.iter();
        labels.any(|label| same(label.join(plugin.file.as_bytes()).bytes(), name.bytes()))
    }

    /// The row of a name.
    fn row(&self, name: &Name) -> Option<usize> {
        let mut plugins = self.plugins.iter();
        plugins.position(|plugin| self.is(plugin, name, |a, b| a == b))
    }

    /// What may not have this name.
    fn unwanted(&self, name: &Name, seen: &mut Seen) {
        for plugin in self.plugins {
            if let Some(reason) = plugin.absent_on.get(&self.target)
                && self.is(plugin, name, self.same)
            {
                let why = format!("{} does not have it: {reason}", self.target);
                seen.wrong(PRESENT, name, why);
            }
        }
        let within = self.within.iter().any(|glob| glob.matches(name.bytes()));
        if within && self.row(name).is_none() {
            let why = "no row of the contract has this file";
            seen.wrong(UNLISTED, name, why);
        }
    }

    /// Holds a file against the row of one of its names.
    fn hold(&self, entry: &Entry<'_, '_>, name: &Name, plugin: &Plugin, seen: &mut Seen) {
        let file = match Exported::open(entry.whole(), entry.magic) {
            Ok(Some(file)) => file,
            Ok(None) => {
                let fault = Fault::Damaged("it is neither a PE image nor an ELF file".to_owned());
                seen.fault(rule::DAMAGED, name, "plugin", &fault);
                return;
            }
            Err(fault) => {
                seen.fault(rule::DAMAGED, name, "table of exports", &fault);
                return;
            }
        };
        for export in &plugin.exports {
            let subject = name.archive_member(export.as_bytes());
            let why = match file.find(export) {
                Some(Export::Code) => continue,
                Some(Export::Data(..)) => "it is data".to_owned(),
                Some(Export::Forward(text)) => format!("it is forwarded to {}", Name::new(text)),
                None => "it is not exported".to_owned(),
            };
            seen.wrong(EXPORT, &subject, format!("{why}; {}", plugin.why));
        }
        let symbols = plugin.exports.len() as u64;
        seen.count("plugin", name, &[("plugins", 1), ("symbols", symbols)]);
    }
}

impl Visit for Files<'_> {
    /// The row of a file, and its name.
    type Fact = (Option<usize>, Name);

    fn wants(&self, _head: &[u8], _size: u64, _name: &[u8]) -> bool {
        false
    }

    fn visit(&self, entry: &Entry<'_, '_>, part: &mut Part<Self::Fact>) -> Result<(), Failure> {
        for name in entry.names() {
            let row = self.row(name);
            part.facts.push((row, name.clone()));
            self.unwanted(name, &mut part.seen);
            match row {
                Some(index) => self.hold(entry, name, &self.plugins[index], &mut part.seen),
                None => part.seen.counts.other += 1,
            }
        }
        Ok(())
    }
}
