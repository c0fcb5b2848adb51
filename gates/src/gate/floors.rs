//! The gate `floors`: the floors of other gates can be believed.
//!
//! It looks at a directory of policies, as *assert* reads them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::list::{self, Entry};
use crate::name::Name;
use crate::policy::{Floor, Policy};
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

const BROKEN: Rule = Rule::new("FLR001", "a floor that a broken build reached");
const ORIGIN: Rule = Rule::new("FLR002", "a floor without a measurement and its day");
const RATIO: Rule = Rule::new("FLR003", "a floor too far below what was measured");
const SUM: Rule = Rule::new(
    "FLR004",
    "a floor that does not agree with those of its sections",
);
const ZERO: Rule = Rule::new("FLR005", "a floor that is none");

/// The gate.
pub struct Floors;

impl Check for Floors {
    const NAME: &'static str = "floors";
    const ABOUT: &'static str = "the floors of other gates can be believed";
    const VERSION: u32 = 1;
    const COUNTS: &'static [&'static str] = &["floors", "policies"];
    const RULES: &'static [Rule] = &[BROKEN, ORIGIN, RATIO, SUM, ZERO];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(_: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let mut found = Seen::default();
        for (name, entry) in &tree.entries {
            let Entry::File(path, _) = entry else {
                continue;
            };
            let bytes = list::read(path, POLICY_BYTES)?.unwrap_or_default();
            match serde_json::from_slice::<Policy>(&bytes) {
                Ok(policy) => look(ask, &policy, &mut found),
                Err(why) => found.wrong(ZERO, name, format!("not a policy: {why}")),
            }
        }
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told. Percentages are whole numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// How much of what was measured a floor must be at least: 90 is nine tenths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_measured: Option<u64>,
    /// How much of the sum of its section floors a floor of `passed` must be at least; more than
    /// the sum it must never be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_sections: Option<u64>,
    /// Gates whose floors need no measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmeasured: Vec<String>,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        for (key, value) in [
            ("of-measured", self.of_measured),
            ("of-sections", self.of_sections),
        ] {
            if value.is_some_and(|percent| percent == 0 || percent > 100) {
                return Err(format!("`{key}` is a percentage from 1 to 100"));
            }
        }
        Ok(())
    }
}

const POLICY_BYTES: u64 = 64 << 20;

/// Looks at the floors of one policy.
pub fn look(settings: &Ask, policy: &Policy, found: &mut Seen) {
    let subject = |what: &str| Name::from(format!("{}/{what}", policy.gate).as_str());
    for (what, floor) in &policy.floors {
        one(settings, policy, &subject(what), floor, found);
    }
    if policy.floors.is_empty()
        && policy
            .empty_ok
            .as_ref()
            .is_none_or(|why| why.trim().is_empty())
    {
        found.wrong(ZERO, &subject("floors"), "no floor, and no reason for that");
    }
    let sections: Vec<u64> = match policy.demand.get("sections") {
        Some(Value::Object(sections)) => sections.values().filter_map(Value::as_u64).collect(),
        _ => Vec::new(),
    };
    if let (Some(percent), Some(passed), false) = (
        settings.of_sections,
        policy.floors.get("passed"),
        sections.is_empty(),
    ) {
        let sum = sections.iter().fold(0_u64, |sum, n| sum.saturating_add(*n));
        let low = u128::from(sum) * u128::from(percent) > u128::from(passed.least) * 100;
        if passed.least > sum || low {
            found.differs(
                SUM,
                &subject("passed"),
                passed.least.to_string(),
                format!("{percent} to 100 % of {sum}"),
                "the floor of all does not agree with the sum of its sections' floors",
            );
        }
    }
    found.count("policies", &Name::from(policy.gate.as_str()), &[]);
}

fn one(settings: &Ask, policy: &Policy, subject: &Name, floor: &Floor, found: &mut Seen) {
    found.count("floors", subject, &[]);
    if floor.least == 0 {
        found.wrong(ZERO, subject, "a floor of 0");
    }
    if floor.broken.is_some_and(|broken| floor.least <= broken) {
        let why = "a broken build reached it";
        let broken = floor.broken.unwrap_or_default();
        let (least, above) = (floor.least.to_string(), format!("above {broken}"));
        found.differs(BROKEN, subject, least, above, why);
    }
    let Some(measured) = floor.measured else {
        if !settings.unmeasured.contains(&policy.gate) {
            found.wrong(ORIGIN, subject, "nothing says what was measured");
        }
        return;
    };
    if floor.on.is_none() {
        found.wrong(ORIGIN, subject, "nothing says when it was measured");
    }
    if let Some(percent) = settings.of_measured
        && u128::from(measured) * u128::from(percent) > u128::from(floor.least) * 100
    {
        found.differs(
            RATIO,
            subject,
            floor.least.to_string(),
            format!("at least {percent} % of {measured}"),
            "too much could be lost before anybody saw it",
        );
    }
}
