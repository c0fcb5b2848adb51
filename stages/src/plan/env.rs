//! Edits of chain env.

use std::collections::BTreeMap;

use super::build::{Inherited, Planner};
use crate::file::{EnvChange, EnvEdit, LaneText};

impl Planner<'_, '_> {
    /// Edits a variable of what a stage starts with; `before` is what it was for all edits.
    pub(super) fn edit(
        &mut self,
        variable: &str,
        edit: &EnvEdit,
        before: &BTreeMap<String, String>,
        inherited: &mut Inherited,
    ) {
        if !self.selection.setting.holds(edit.when.as_ref()) {
            return;
        }
        let value = match &edit.change {
            EnvChange::Unset => {
                inherited.env.remove(variable);
                if edit.config {
                    inherited.config.unset_env(variable);
                }
                return;
            }
            EnvChange::Set(template) => self.selection.fill(template, before, &mut self.report),
            EnvChange::List {
                set,
                prepend,
                append,
            } => self.list(
                variable,
                [set.as_deref(), Some(prepend), Some(append)],
                before,
            ),
        };
        let Some(value) = value else { return };
        if edit.config {
            inherited.config.set_env(variable, &value);
        }
        inherited.env.insert(variable.to_owned(), value);
    }

    /// A list from what replaces it, what comes first and what comes last; nothing where none
    /// of that is there in this lane: the variable stays as it is.
    fn list(
        &mut self,
        variable: &str,
        [set, prepend, append]: [Option<&[LaneText]>; 3],
        before: &BTreeMap<String, String>,
    ) -> Option<String> {
        let first = self.parts_of(prepend, before)?;
        let last = self.parts_of(append, before)?;
        if set.is_none() && first.is_empty() && last.is_empty() {
            return None;
        }
        let middle = match set {
            Some(set) => self.parts_of(Some(set), before)?,
            // What it is added to is the image's.
            None if self.selection.assumed && !before.contains_key(variable) => return None,
            None => {
                let inherited = before.get(variable).filter(|value| !value.is_empty());
                inherited.cloned().into_iter().collect()
            }
        };
        Some(
            [first, middle, last]
                .concat()
                .join(self.spelling.separator()),
        )
    }

    /// The parts that the lane has.
    fn parts_of(
        &mut self,
        parts: Option<&[LaneText]>,
        before: &BTreeMap<String, String>,
    ) -> Option<Vec<String>> {
        let setting = &self.selection.setting;
        let parts = parts.into_iter().flatten();
        parts
            .filter(|part| setting.holds(part.when.as_ref()))
            .map(|part| self.selection.fill(&part.text, before, &mut self.report))
            .collect()
    }
}
