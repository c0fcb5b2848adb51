//! `lint = [{ allow = "LK066", why = "…" }]`: a lint that is allowed at its place, and
//! `[pin-rule.NAME]`: what must hold between pins.

use std::collections::BTreeMap;

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

/// Texts of files of the context, by path: what the lints of scripts read.
pub type Files = BTreeMap<String, SourceId>;
