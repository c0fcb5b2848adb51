//! The arch table: what is true of each architecture that a lane can build for.
//! One file serves `lanegate` and this crate; an architecture without a row is an error.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use toml::de::{DeTable, DeValue};

static TABLE: LazyLock<ArchTable> =
    LazyLock::new(|| ArchTable::parse(include_str!("../../gates/data/arch-table.toml")));

/// A row's key: operating system and architecture, `windows/arm64`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// `windows`, `linux`
    pub os: String,
    /// `amd64`, `arm64`
    pub arch: String,
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.os, self.arch)
    }
}

/// The table.
#[derive(Debug)]
pub struct ArchTable {
    rows: BTreeMap<Target, Row>,
}

#[derive(Debug, Default)]
struct Row {
    aliases: Vec<String>,
    facts: BTreeMap<String, String>,
}

impl ArchTable {
    /// The built-in table.
    pub fn builtin() -> &'static Self {
        &TABLE
    }

    /// Reads the table's file; what is no row is passed over (a test reads the built-in one).
    fn parse(text: &str) -> Self {
        let (root, _) = DeTable::parse_recoverable(text);
        let mut rows = BTreeMap::new();
        for (os, arches) in root.get_ref().iter() {
            let DeValue::Table(arches) = arches.get_ref() else {
                continue;
            };
            for (arch, row) in arches.iter() {
                let DeValue::Table(fields) = row.get_ref() else {
                    continue;
                };
                let target = Target {
                    os: os.get_ref().to_string(),
                    arch: arch.get_ref().to_string(),
                };
                rows.insert(target, Row::parse(fields));
            }
        }
        Self { rows }
    }

    /// The target with this name: `arm64` (of `os`), `windows/arm64`, or an alias of either.
    pub fn find(&self, name: &str, os: &str) -> Option<Target> {
        let (os, arch) = name.split_once('/').unwrap_or((os, name));
        let folded = arch.to_lowercase();
        self.rows
            .iter()
            .find(|(t, row)| t.os == os && (t.arch == folded || row.aliases.contains(&folded)))
            .map(|(target, _)| target.clone())
    }

    /// All targets.
    pub fn targets(&self) -> impl Iterator<Item = &Target> {
        self.rows.keys()
    }

    /// A fact of a target; `None` when its row does not have it.
    pub fn fact(&self, target: &Target, key: &str) -> Option<&str> {
        self.rows.get(target)?.facts.get(key).map(String::as_str)
    }

    /// The keys that any row has, each once.
    pub fn keys(&self) -> Vec<&str> {
        let mut keys: Vec<&str> = self
            .rows
            .values()
            .flat_map(|row| row.facts.keys().map(String::as_str))
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

impl Row {
    fn parse(fields: &DeTable<'_>) -> Self {
        let mut row = Self::default();
        for (key, value) in fields.iter() {
            match value.get_ref() {
                DeValue::String(text) => {
                    row.facts
                        .insert(key.get_ref().to_string(), text.to_string());
                }
                DeValue::Array(list) if key.get_ref() == "aliases" => {
                    row.aliases = list
                        .iter()
                        .filter_map(|v| match v.get_ref() {
                            DeValue::String(text) => Some(text.to_string()),
                            _ => None,
                        })
                        .collect();
                }
                _ => {}
            }
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_aliases_are_found_and_strangers_are_not() {
        let table = ArchTable::builtin();
        let arm = table.find("aarch64", "windows").unwrap();
        assert_eq!(arm.to_string(), "windows/arm64");
        assert_eq!(table.find("windows/ARM64", "linux"), Some(arm.clone()));
        assert_eq!(
            table.fact(&arm, "clang-triple"),
            Some("aarch64-pc-windows-msvc")
        );
        assert_eq!(table.find("amr64", "windows"), None);
        assert_eq!(table.find("arm64", "plan9"), None);
    }
}
