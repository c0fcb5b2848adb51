//! The rules that findings name. Their ids are stable: docs/gates.md explains each, and lane files
//! name them. A gate's own rules stand in its module; here are those of every gate.

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// `ARCH001`.
    pub id: &'static str,
    /// What is wrong, in a few words: the title of its section in docs/gates.md.
    pub title: &'static str,
}

impl Rule {
    /// A rule.
    #[must_use]
    pub const fn new(id: &'static str, title: &'static str) -> Self {
        Self { id, title }
    }
}

/// An allow entry that matches nothing.
pub const STALE: Rule = Rule::new("GEN001", "an allow entry that matches nothing");
/// A bound of [`crate::limit`] was overrun.
pub const LIMIT: Rule = Rule::new("GEN002", "a limit was overrun");
/// Less was inspected than a floor demands.
pub const FLOOR: Rule = Rule::new("GEN003", "below a floor");

/// A file that the gate must read and cannot. `arch` has rules of its own for that.
pub const DAMAGED: Rule = Rule::new("GEN004", "cut or damaged");
/// A zip whose parts disagree on what is in it.
pub const ZIP: Rule = Rule::new("GEN005", "a zip whose parts disagree");

/// The rules that every gate has.
pub const COMMON: [Rule; 5] = [STALE, LIMIT, FLOOR, DAMAGED, ZIP];

/// Nobody has handed in a report.
pub const NO_REPORT: Rule = Rule::new("EXT001", "no report was handed in");
/// What was handed in is no report, or not all of one.
pub const NOT_READ: Rule = Rule::new("EXT002", "a report that cannot be read");
/// It is a report of another gate, check or target, or was asked otherwise.
pub const FOREIGN: Rule = Rule::new("EXT003", "a report of something else");
/// Another lanegate made it.
pub const OTHER_RULES: Rule = Rule::new("EXT004", "a report by other rules");
/// It is about another product, or does not say which one.
pub const OTHER_PRODUCT: Rule = Rule::new("EXT005", "a report about another product");

/// The rules that gates have besides whose reports are made outside of the build.
pub const EXTERNAL: [Rule; 5] = [NO_REPORT, NOT_READ, FOREIGN, OTHER_RULES, OTHER_PRODUCT];

/// Whether a finding of this rule says that a report itself is not accepted.
#[must_use]
pub fn is_external(id: &str) -> bool {
    EXTERNAL.iter().any(|rule| rule.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::GATES;
    use std::collections::BTreeSet;

    fn all() -> Vec<Rule> {
        let gates = GATES.iter().flat_map(|gate| gate.rules);
        gates.chain(&COMMON).chain(&EXTERNAL).copied().collect()
    }

    #[test]
    fn every_rule_has_a_section_with_an_example_in_the_manual_and_no_other_has() {
        let manual = include_str!("../../docs/gates.md");
        let sections: Vec<&str> = manual.split("\n### ").skip(1).collect();
        for Rule { id, title } in all() {
            let head = format!("{id}: {title}\n");
            let section = sections.iter().find(|text| text.starts_with(&head));
            assert!(
                section.is_some_and(|text| text.contains("```")),
                "docs/gates.md needs: ### {head}"
            );
        }
        let of_rules = |text: &&&str| {
            let id = text.split(':').next().unwrap_or_default();
            id.len() >= 6
                && id
                    .bytes()
                    .all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        };
        assert_eq!(sections.iter().filter(of_rules).count(), all().len());
    }

    #[test]
    fn no_id_stands_twice() {
        let ids: BTreeSet<&str> = all().iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), all().len());
    }
}
