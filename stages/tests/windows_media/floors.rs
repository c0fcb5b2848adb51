//! The floors of the system's driver and of its suite, by gate: how much must be counted, for which lanes.

use std::collections::{BTreeMap, BTreeSet};

use gates::gate::floors::{Ask, look};
use gates::policy::Policy;
use gates::seen::Seen;
use stages::file::Json;

use crate::common::{plan_with, request};
use crate::example::{Example, LANES};

/// A floor: gate, row of its floors, what is counted, how much the driver or a check of the system demands; then what the
/// system's papers say was counted, the day, and what a broken build still had. 0 and "" where they do not say.
#[rustfmt::skip]
const FLOORS: [(&str, usize, &str, u64, u64, &str, u64); 24] = [
    ("arch", 0, "inspected", 650, 1134, "2026-08-26", 0),
    ("arch", 1, "inspected", 580, 1168, "2026-08-31", 390),
    ("imports", 0, "inspected", 580, 606, "2026-08-28", 0),
    ("imports-amd64", 0, "edges", 203, 0, "", 0),
    ("deps", 0, "wheels", 6, 6, "2026-08-26", 0),
    ("deps", 0, "requirements", 10, 0, "", 0),
    ("deps", 1, "wheels", 6, 12, "2026-08-26", 0),
    ("deps", 1, "requirements", 8, 10, "2026-08-26", 7),
    ("wheels", 0, "natives", 49, 0, "", 0),
    ("wheels", 1, "natives", 49, 71, "2026-08-26", 0),
    ("absent", 0, "present", 3, 3, "2026-08-26", 0),
    ("absent", 1, "absent", 3, 3, "2026-08-26", 0),
    ("plugins", 0, "plugins", 13, 13, "2026-10-10", 0),
    ("plugins", 0, "symbols", 13, 13, "2026-10-10", 0),
    ("plugins-rocm", 0, "plugins", 7, 0, "", 0),
    ("plugins-rocm", 1, "plugins", 6, 0, "", 0),
    ("libffi", 0, "symbols", 3, 3, "2026-10-10", 0),
    ("gpu-hip", 0, "code-objects", 2, 2, "2026-10-07", 0),
    ("torch-rocm-wheels", 0, "wheels", 2, 2, "2026-09-29", 0),
    ("smoke", 0, "passed", 178, 222, "2026-08-26", 0),
    ("smoke", 1, "passed", 178, 215, "2026-09-29", 0),
    ("smoke-nvidia", 0, "passed", 198, 0, "", 0),
    ("smoke-arm64", 0, "passed", 76, 127, "2026-09-21", 0),
    ("device", 0, "passed", 18, 18, "2026-10-12", 12),
];

/// Gate, how many tests may be skipped, and the floors of the suite's 24 sections, in their order; where one looks at
/// what cannot run there it is 0.
#[rustfmt::skip]
const SECTIONS: [(&str, i64, [i64; 24]); 3] = [
    ("smoke", 3, [13, 6, 8, 8, 4, 4, 0, 8, 6, 4, 12, 9, 6, 3, 2, 1, 5, 6, 26, 21, 2, 6, 6, 6]),
    ("smoke-nvidia", 3, [13, 6, 8, 8, 4, 4, 13, 11, 9, 7, 12, 9, 6, 3, 2, 1, 5, 8, 30, 22, 2, 7, 6, 6]),
    ("smoke-arm64", 20, [13, 6, 8, 8, 4, 4, 0, 0, 0, 0, 0, 0, 0, 2, 2, 1, 0, 0, 24, 0, 0, 0, 5, 0]),
];

/// A number in what a gate demands; 0 where it is not there.
fn number(demand: &Json, place: [&str; 2]) -> i64 {
    let inside = place.iter().try_fold(demand, |json, key| match json {
        Json::Table(table, _) => table.get(*key),
        _ => None,
    });
    match inside {
        Some(Json::Whole(number)) => *number,
        _ => 0,
    }
}

#[test]
fn floors_are_those_of_the_driver() {
    let graph = Example::read().graph();
    for (name, row, what, least, measured, on, broken) in FLOORS {
        let found = &graph.gates[name].floors[row].measures[what];
        let known = |number: u64| (number > 0).then_some(number);
        let day = found.on.as_ref().map(ToString::to_string);
        let found = (found.least.value, found.measured, day, found.broken);
        let day = known(measured).map(|_| on.to_owned());
        let expected = (least, known(measured), day, known(broken));
        assert_eq!(found, expected, "{name}, row {row}: {what}");
    }
    for (name, skipped, sections) in SECTIONS {
        let demand = &graph.gates[name].demand;
        assert_eq!(number(demand, ["most", "skipped"]), skipped, "{name}");
        for (section, least) in (1..).zip(sections) {
            let found = number(demand, ["sections", &format!("{section}")]);
            assert_eq!(found, least, "{name}: section {section}");
        }
    }
}

/// Nothing is believed of a floor but what the gate `floors` believes: here it looks at the policies of every lane, with
/// the payloads and without, as in a build. And it excuses no gate whose floors all have a measurement.
#[test]
fn the_gate_floors_passes_and_excuses_nothing_that_is_measured() {
    let graph = Example::read().with_payloads().graph();
    let (mut excused, mut unmeasured) = (BTreeSet::new(), BTreeSet::new());
    let mut builds = BTreeMap::new();
    for (lane, there) in LANES.iter().flat_map(|lane| [(lane, false), (lane, true)]) {
        let bytes = |name: &str| there.then(|| name.as_bytes().to_vec());
        let (plan, _) = plan_with(&graph, &request(lane, &[]), &bytes).expect("a plan");
        let policies = plan.gates.iter().map(|gate| {
            let policy: Policy = serde_json::from_str(&gate.policy).expect("a policy");
            (gate.name.clone(), policy)
        });
        let mut policies: BTreeMap<String, Policy> = policies.collect();
        let Some(own) = policies.remove("floors") else {
            continue;
        };
        let ask: Ask = serde_json::from_value(own.ask.into()).expect("its keys");
        let mut seen = Seen::default();
        for (name, policy) in &policies {
            look(&ask, policy, &mut seen);
            if policy.floors.values().any(|floor| floor.measured.is_none()) {
                unmeasured.insert(name.clone());
            }
        }
        assert_eq!(seen.ids(), [""; 0], "{lane}: {:?}", seen.findings);
        excused.extend(ask.unmeasured);
        builds.insert((lane, there), policies.len());
    }
    assert!(builds.len() >= 10, "{builds:?}");
    assert_eq!(excused, unmeasured);
}
