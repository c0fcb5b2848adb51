//! Which shared libraries a program needs, read from the program itself.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use object::read::elf::{ElfFile64, ProgramHeader};
use object::{Endianness, Object};

/// What the dynamic linker looks for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Needs {
    /// The path of the dynamic linker; a library and a static program have none.
    pub(crate) interpreter: Option<String>,
    /// Names of libraries, as in `libc.so.6`.
    pub(crate) libraries: Vec<String>,
}

/// What an ELF file of 64 bits needs.
pub(crate) fn of(bytes: &[u8]) -> Result<Needs> {
    let file = ElfFile64::<Endianness>::parse(bytes).context("no ELF file of 64 bits")?;
    let mut needs = Needs::default();
    for segment in file.elf_program_headers() {
        if let Some(path) = segment.interpreter(file.endian(), bytes)? {
            needs.interpreter = Some(String::from_utf8_lossy(path).into_owned());
        }
    }
    for library in file.import_libraries()? {
        let name = library?.name().to_vec();
        needs
            .libraries
            .push(String::from_utf8_lossy(&name).into_owned());
    }
    Ok(needs)
}

/// Every library that some programs need, and those that these need, as paths
/// below `root`; the folders are relative to it and looked at in order.
pub(crate) fn closure(
    root: &Path,
    programs: &[PathBuf],
    folders: &[PathBuf],
) -> Result<BTreeSet<PathBuf>> {
    let mut found: BTreeMap<String, PathBuf> = BTreeMap::new();
    let mut todo = programs.to_vec();
    while let Some(file) = todo.pop() {
        let bytes = fs::read(root.join(&file)).with_context(|| file.display().to_string())?;
        let needs = of(&bytes).with_context(|| file.display().to_string())?;
        for library in needs.libraries {
            if found.contains_key(&library) {
                continue;
            }
            let Some(path) = folders
                .iter()
                .map(|folder| folder.join(&library))
                .find(|path| root.join(path).is_file())
            else {
                bail!(
                    "{} needs {library}, which no package brought",
                    file.display()
                );
            };
            found.insert(library, path.clone());
            todo.push(path);
        }
    }
    Ok(found.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dynamic_program_names_its_linker_and_its_libraries() {
        let me = fs::read(std::env::current_exe().unwrap()).unwrap();
        let needs = of(&me).unwrap();
        assert!(needs.interpreter.unwrap().contains("ld-linux"));
        assert!(
            needs
                .libraries
                .iter()
                .any(|name| name.starts_with("libc.so"))
        );
    }

    #[test]
    fn a_file_that_is_no_program_is_an_error() {
        assert!(of(b"").is_err());
        assert!(of(b"#!/bin/sh\n").is_err());
        let mut cut = fs::read(std::env::current_exe().unwrap()).unwrap();
        cut.truncate(100);
        assert!(of(&cut).is_err());
    }
}
