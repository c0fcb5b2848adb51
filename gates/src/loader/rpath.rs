//! What an RPATH reaches: unlike RUNPATH it holds for all that is loaded on its account, however
//! deep (glibc `elf/dl-load.c`, `_dl_map_object`).

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use super::{Kind, Library, Loader};

/// The directories that each library inherits, by its name.
pub(super) type Inherited<'l> = BTreeMap<&'l [u8], BTreeSet<Vec<u8>>>;

impl<'l> Loader<'l> {
    /// Finds out what every library inherits; each round reaches one library further.
    pub(super) fn inherit(&mut self) {
        const ROUNDS: usize = 16;
        let has_rpath = |library: &Library| match &library.kind {
            Kind::Pe { .. } => false,
            Kind::Elf(dynamic) => dynamic.runpath.is_empty() && !dynamic.rpath.is_empty(),
        };
        if !self.libraries.iter().any(has_rpath) {
            return;
        }
        for _ in 0..ROUNDS {
            let inherited = self.handed_on();
            if inherited == self.inherited {
                break;
            }
            self.inherited = inherited;
        }
    }

    /// What every library is handed by those that load it: what only some of them have would
    /// depend on which of them comes first.
    fn handed_on(&self) -> Inherited<'l> {
        let mut all = Inherited::new();
        for importer in self.libraries {
            let Kind::Elf(dynamic) = &importer.kind else {
                continue;
            };
            let inherited = self.inherited.get(importer.name.bytes());
            let mut dirs = inherited.cloned().unwrap_or_default();
            if dynamic.runpath.is_empty() {
                dirs.extend(self.real(&self.own_dirs(importer, dynamic)));
            }
            for needed in &dynamic.needed {
                for provider in self.find(importer, needed).right {
                    match all.entry(self.libraries[provider].name.bytes()) {
                        Entry::Vacant(none) => drop(none.insert(dirs.clone())),
                        Entry::Occupied(mut of) => of.get_mut().retain(|dir| dirs.contains(dir)),
                    }
                }
            }
        }
        all
    }
}
