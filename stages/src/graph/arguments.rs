//! Which arguments some stages name in a lane.

use std::collections::BTreeSet;

use super::{Setting, check};
use crate::text::{ArgEntry, Template, ValueRef};

impl<'g> Setting<'g> {
    /// The arguments that these stages name in this lane, by name: those whose value can change what is built.
    pub fn arguments<'a>(&self, stages: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'g str> {
        let graph = self.graph;
        let mut names: BTreeSet<&'g str> = BTreeSet::new();
        let add = |value: &'g ValueRef, names: &mut BTreeSet<&'g str>| match value {
            ValueRef::Named(name) | ValueRef::Arg(name) => {
                names.insert(name);
            }
            _ => {}
        };
        for name in stages {
            let Some(stage) = graph.stages.get(name) else {
                continue;
            };
            let mut template = |template: &'g Template| {
                template.values().for_each(|value| add(value, &mut names));
            };
            check::templates_of(stage, &mut template);
            let gits = graph.gits_of(stage);
            let gits = gits.iter().filter_map(|name| graph.gits.get(name.value));
            gits.flat_map(|git| git.templates()).for_each(&mut template);
            let urls = graph.fetches_of(stage).map(|fetch| &fetch.url);
            urls.for_each(&mut template);
            for brings in self.steps(stage).flat_map(|step| self.brings(step)) {
                check::templates_of_brings(brings, &mut template);
            }
            for brings in self.steps(stage).flat_map(|step| self.brings(step)) {
                for entry in &brings.args {
                    match entry {
                        ArgEntry::One { value, .. } => add(value, &mut names),
                        ArgEntry::Matching { pattern, .. } => names.extend(graph.matching(pattern)),
                    }
                }
            }
        }
        names.retain(|name| graph.args.contains_key(*name));
        names
    }
}
