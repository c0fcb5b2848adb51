//! The ids of findings. They are stable: docs/gates.md explains each, and lane files name them.

/// Built for another machine than the target.
pub const MACHINE: &str = "ARCH001";
/// Members of an archive are for another machine than the target.
pub const MEMBER: &str = "ARCH002";
/// Called a binary, and something else.
pub const NO_BINARY: &str = "ARCH003";
/// Called a binary, and empty.
pub const EMPTY: &str = "ARCH004";
/// Cut, or with headers that make no sense.
pub const DAMAGED: &str = "ARCH005";
/// Bitcode that does not say which machine it is for.
pub const BITCODE: &str = "ARCH006";
/// A library with symbols for ARM64EC callers only.
pub const EC_ONLY: &str = "ARCH007";
/// An archive whose members lie elsewhere.
pub const THIN: &str = "ARCH008";
/// A zip whose parts disagree on what is in it.
pub const ZIP: &str = "ARCH009";
/// An allow entry that matches nothing.
pub const STALE: &str = "GEN001";
/// A bound of [`crate::limit`] was overrun.
pub const LIMIT: &str = "GEN002";
/// Less was inspected than a floor demands.
pub const FLOOR: &str = "GEN003";

/// All of them.
pub const ALL: [&str; 12] = [
    MACHINE, MEMBER, NO_BINARY, EMPTY, DAMAGED, BITCODE, EC_ONLY, THIN, ZIP, STALE, LIMIT, FLOOR,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_has_a_section_with_an_example_in_the_manual_and_no_other_has() {
        let manual = include_str!("../../docs/gates.md");
        let sections: Vec<&str> = manual.split("\n### ").skip(1).collect();
        for id in ALL {
            let section = sections.iter().find(|text| text.starts_with(id));
            assert!(section.is_some_and(|text| text.contains("```")), "{id}");
        }
        let of_rules = |text: &&&str| text.starts_with("ARCH") || text.starts_with("GEN");
        assert_eq!(sections.iter().filter(of_rules).count(), ALL.len());
    }
}
