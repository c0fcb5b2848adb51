//! The floors of the system's driver and of its suite, by gate: how much must be counted, for which lanes.

use stages::file::Json;

use crate::example::Example;

/// Gate, row of its floors, what is counted, and how much the driver demands.
const FLOORS: [(&str, usize, &str, u64); 9] = [
    ("arch", 0, "inspected", 650),
    ("arch", 1, "inspected", 580),
    ("deps", 0, "wheels", 6),
    ("deps", 0, "requirements", 10),
    ("deps", 1, "wheels", 6),
    ("deps", 1, "requirements", 8),
    ("smoke", 0, "passed", 178),
    ("smoke-nvidia", 0, "passed", 198),
    ("smoke-arm64", 0, "passed", 76),
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
    for (name, row, what, least) in FLOORS {
        let measure = &graph.gates[name].floors[row].measures[what];
        assert_eq!(measure.least.value, least, "{name}: {what}");
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
