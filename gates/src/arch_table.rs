//! The arch table: what a target's binaries must say. One row per target, no default.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use crate::exit::Failure;

/// The table's text, as `lanegate arch-table` prints it.
pub const TEXT: &str = include_str!("../data/arch-table.toml");

/// The row of one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// `windows` or `linux`.
    pub os: String,
    /// The canonical name of the architecture: `arm64`, never `aarch64`.
    pub arch: String,
    /// Other spellings of the architecture.
    pub aliases: Vec<String>,
    /// The machine classes that a binary for this target may have.
    pub accepts: Vec<String>,
    /// Every other field, by its kebab-case name.
    pub fields: BTreeMap<String, String>,
}

impl Row {
    /// `windows/arm64`.
    #[must_use]
    pub fn target(&self) -> String {
        format!("{}/{}", self.os, self.arch)
    }

    /// Whether binaries of this machine class may stand in the target's tree.
    #[must_use]
    pub fn accepts(&self, class: &str) -> bool {
        self.accepts.iter().any(|accepted| accepted == class)
    }

    /// The accepted classes as text: `ARM64, ARM64EC or ARM64X`.
    #[must_use]
    pub fn expected(&self) -> String {
        match self.accepts.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => String::new(),
        }
    }

    /// File names of this target's system ignore case and take `\` for `/`.
    #[must_use]
    pub fn folds_case(&self) -> bool {
        self.os == "windows"
    }
}

/// Reads the built-in table.
///
/// # Errors
/// [`Failure::Unreadable`] when the built-in text is no arch table; a test keeps it one.
pub fn rows() -> Result<Vec<Row>, Failure> {
    parse(TEXT).map_err(|why| Failure::Unreadable(format!("the built-in arch table: {why}")))
}

/// The row of `target` (`windows/arm64`); case and aliases of the architecture are accepted.
///
/// # Errors
/// [`Failure::Usage`] with the list of targets when there is no such row.
pub fn row(target: &str) -> Result<Row, Failure> {
    let rows = rows()?;
    let wanted = target.trim().to_ascii_lowercase();
    let found = wanted.split_once('/').and_then(|(os, arch)| {
        rows.iter().find(|row| {
            row.os == os && (row.arch == arch || row.aliases.iter().any(|alias| alias == arch))
        })
    });
    found.cloned().ok_or_else(|| {
        let known: Vec<String> = rows.iter().map(Row::target).collect();
        Failure::Usage(format!(
            "no target `{target}`; known targets: {}",
            known.join(", ")
        ))
    })
}

fn parse(text: &str) -> Result<Vec<Row>, String> {
    let table = DeTable::parse(text)
        .map_err(|e| e.to_string())?
        .into_inner();
    let mut rows = Vec::new();
    for (os, arches) in &table {
        let DeValue::Table(arches) = arches.get_ref() else {
            return Err(format!("`{}` is no table", os.get_ref()));
        };
        for (arch, fields) in arches {
            let DeValue::Table(fields) = fields.get_ref() else {
                return Err(format!("`{}` is no table", arch.get_ref()));
            };
            let mut row = Row {
                os: os.get_ref().to_string(),
                arch: arch.get_ref().to_string(),
                aliases: Vec::new(),
                accepts: Vec::new(),
                fields: BTreeMap::new(),
            };
            for (key, value) in fields {
                match (key.get_ref().as_ref(), value.get_ref()) {
                    ("aliases", list) => row.aliases = strings(list)?,
                    ("accepts", list) => row.accepts = strings(list)?,
                    (key, DeValue::String(text)) => {
                        row.fields.insert(key.to_owned(), text.to_string());
                    }
                    (key, _) => return Err(format!("`{key}` is no string")),
                }
            }
            if row.accepts.is_empty() {
                return Err(format!("`{}` accepts nothing", row.target()));
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

fn strings(value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let DeValue::Array(list) = value else {
        return Err("not a list".to_owned());
    };
    list.iter()
        .map(|item| match item.get_ref() {
            DeValue::String(text) => Ok(text.to_string()),
            _ => Err("not a list of strings".to_owned()),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_has_the_six_rows() {
        let mut targets: Vec<String> = rows().unwrap().iter().map(Row::target).collect();
        targets.sort();
        assert_eq!(
            targets,
            [
                "linux/386",
                "linux/amd64",
                "linux/arm64",
                "linux/riscv64",
                "windows/amd64",
                "windows/arm64"
            ]
        );
    }

    #[test]
    fn rows_of_one_system_have_the_same_fields_and_accept_their_own_machine() {
        let rows = rows().unwrap();
        for row in &rows {
            let first = rows.iter().find(|r| r.os == row.os).unwrap();
            assert!(
                row.fields.keys().eq(first.fields.keys()),
                "{}",
                row.target()
            );
            let machine = &row.fields["machine"];
            assert!(
                row.accepts
                    .iter()
                    .any(|class| class.ends_with(machine.as_str()))
            );
        }
    }

    #[test]
    fn aliases_and_case_find_the_row_and_a_typo_does_not() {
        assert_eq!(row("windows/AArch64").unwrap().target(), "windows/arm64");
        assert_eq!(row(" linux/i686 ").unwrap().target(), "linux/386");
        for typo in [
            "windows/arm46",
            "arm64",
            "",
            "windows",
            "darwin/arm64",
            "windows/arm64/v8",
        ] {
            let error = row(typo).unwrap_err();
            assert_eq!(error.exit().code(), 2);
            assert!(error.to_string().contains("windows/arm64"), "{error}");
        }
    }

    #[test]
    fn expected_reads_as_a_sentence() {
        let row = row("windows/arm64").unwrap();
        assert_eq!(row.expected(), "ARM64, ARM64EC or ARM64X");
    }
}
