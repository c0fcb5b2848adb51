//! `lint = [{ allow = "LK066", why = "…" }]`: a lint that is allowed at its place, and
//! `[pin-rule.NAME]`: what must hold between pins.

use std::collections::{BTreeMap, BTreeSet};

use super::read::Text;
use crate::diag::{SourceId, Span};

/// An entry of `lint`.
#[derive(Debug, Clone)]
pub struct AllowLint {
    /// The rule that is allowed.
    pub rule: Text,
    /// Why.
    pub why: Text,
    /// Only where the lint is about this name; on `[graph]` it must be said.
    pub name: Option<Text>,
    /// Where the lint must point to; none is everywhere, the pins file too.
    pub places: Option<Vec<Span>>,
}

impl AllowLint {
    /// Whether a place lies in those of this entry.
    pub fn covers(&self, at: &Span) -> bool {
        let meets = |place: &Span| {
            place.source == at.source
                && place.range.start < at.range.end
                && at.range.start < place.range.end
        };
        self.places
            .as_ref()
            .is_none_or(|places| places.iter().any(meets))
    }
}

/// What must hold between pins.
#[derive(Debug, Clone)]
pub enum PinDemand {
    /// All of these have one value.
    Equal(Vec<Text>),
    /// These were set for one value of another pin, and are looked at again when it moves.
    Lead {
        /// The pin that leads.
        lead: Text,
        /// The value that the others were last set for.
        value: Text,
        /// Names and patterns of the pins that follow.
        pins: Vec<Text>,
    },
    /// These stay at these values.
    Hold(BTreeMap<String, Text>),
}

/// `[pin-rule.NAME]`
#[derive(Debug, Clone)]
pub struct PinRule {
    /// What must hold.
    pub demand: PinDemand,
    /// Why.
    pub why: Text,
    /// Where it is declared.
    pub span: Span,
}

/// What lints see of the context.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// Texts of files, by path.
    texts: BTreeMap<String, SourceId>,
    /// Paths below directories, by the path of each with a `/` at its end.
    names: BTreeMap<String, Vec<String>>,
    /// Paths at which nothing is.
    lacks: BTreeSet<String>,
}

impl Files {
    /// Nothing of the context.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts the text of a file to them.
    pub fn insert(&mut self, path: String, text: SourceId) {
        self.texts.insert(path, text);
    }

    /// The text of a file, where it is there and is one.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<SourceId> {
        self.texts.get(path).copied()
    }

    /// Says what is below a directory: every file and directory, as paths relative to it.
    pub fn list(&mut self, directory: String, below: Vec<String>) {
        self.names.insert(directory, below);
    }

    /// Says that nothing is at a path.
    pub fn lack(&mut self, path: String) {
        self.lacks.insert(path);
    }

    /// Whether somebody looked at a path, and nothing was there.
    #[must_use]
    pub fn lacks(&self, path: &str) -> bool {
        self.lacks.contains(path)
    }

    /// What is below a directory, where somebody looked.
    #[must_use]
    pub fn below(&self, directory: &str) -> Option<&[String]> {
        self.names.get(directory).map(Vec::as_slice)
    }
}
