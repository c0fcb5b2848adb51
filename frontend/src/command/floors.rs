//! `lanekit floors`: floors of a lane file, moved to what verdicts of gates measured.
//!
//! The file stays as it is but for the numbers. A floor is found by what the verdict's policy says
//! of it, so that of several with a `when` the one moves that was in force. The day is the
//! caller's: reports hold no clock.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use gates::merged::Merged;
use gates::policy::Floor;
use gates::report::Asserted;
use toml_edit::{DocumentMut, Item, TableLike, Value};

use super::{Stop, print};

/// Verdicts, and how floors follow them.
#[derive(Args, Debug)]
pub(super) struct Floors {
    /// Verdicts of gates: `lane/report.json` of LANE/gates, or what `lanegate assert` writes
    #[arg(required = true, value_name = "REPORT")]
    reports: Vec<PathBuf>,
    /// The lane file
    #[arg(long, short, default_value = "lanes.toml", value_name = "FILE")]
    file: PathBuf,
    /// The day of the measurement: 2026-12-02
    #[arg(long, value_name = "DAY")]
    on: String,
    /// A new floor is this many hundredths of what was measured
    #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u8).range(1..=100), value_name = "PERCENT")]
    of_measured: u8,
    /// Floors may also go down
    #[arg(long)]
    lower: bool,
    /// Writes the file; without it the changes are only shown
    #[arg(long)]
    update: bool,
}

impl Floors {
    pub(super) fn run(&self) -> Result<(), Stop> {
        let name = self.file.display();
        let unable = |error: std::io::Error| Stop::Unable(format!("{name}: {error}"));
        let text = std::fs::read_to_string(&self.file).map_err(unable)?;
        let mut verdicts = Vec::new();
        let mut wrong = Vec::new();
        for path in &self.reports {
            match Merged::read(path) {
                Ok(lane) => verdicts.extend(lane.gates),
                Err(failure) => wrong.push(failure.to_string()),
            }
        }
        let wish = Wish {
            on: &self.on,
            of_measured: self.of_measured,
            lower: self.lower,
        };
        let done = match wrong.is_empty() {
            true => moved(&text, &verdicts, &wish),
            false => Err(wrong),
        };
        let (after, lines) = done.map_err(|wrong| Stop::Unable(wrong.join("\n")))?;
        if self.update && after != text {
            std::fs::write(&self.file, &after).map_err(unable)?;
        }
        print(&lines.concat())
    }
}

/// How floors follow what was measured.
struct Wish<'w> {
    on: &'w str,
    of_measured: u8,
    lower: bool,
}

/// The file with its floors moved, and a line for each of them; or everything that is wrong.
fn moved(
    text: &str,
    verdicts: &[Asserted],
    wish: &Wish<'_>,
) -> Result<(String, Vec<String>), Vec<String>> {
    let mut file: DocumentMut = text.parse().map_err(|e| vec![format!("no TOML: {e}")])?;
    let day: toml_edit::Datetime = match wish.on.parse() {
        Ok(
            day @ toml_edit::Datetime {
                date: Some(_),
                time: None,
                offset: None,
            },
        ) => day,
        _ => return Err(vec![format!("--on {}: no day like 2026-12-02", wish.on)]),
    };
    let (mut lines, mut wrong) = (Vec::new(), Vec::new());
    for ((gate, what, ..), (policy, got)) in measured(verdicts, &mut wrong) {
        let mut found: Vec<&mut dyn TableLike> = floors_of(&mut file, gate, what)
            .into_iter()
            .filter(|floor| {
                let is = |key: &str| floor.get(key).and_then(Item::as_integer);
                let same = |value: Option<u64>| value.and_then(|v| i64::try_from(v).ok());
                is("least") == same(Some(policy.least))
                    && is("measured") == same(policy.measured)
                    && is("broken") == same(policy.broken)
            })
            .collect();
        let [floor] = &mut found[..] else {
            let many = found.len();
            wrong.push(format!(
                "gate {gate}: {many} floors of `{what}` are {}: expected one",
                policy.least
            ));
            continue;
        };
        // Rounded up, so that a hundredth of little is not nothing.
        let least = (u128::from(got) * u128::from(wish.of_measured)).div_ceil(100);
        // A share of at most the whole.
        let least = u64::try_from(least).unwrap_or(got);
        if let Some(broken) = policy.broken.filter(|broken| least <= *broken) {
            wrong.push(format!(
                    "gate {gate}: {got} of `{what}` make a floor of {least}, which the broken build with {broken} reached"
                ));
            continue;
        }
        if least == 0 {
            wrong.push(format!("gate {gate}: nothing of `{what}` was measured"));
            continue;
        }
        if least < policy.least && !wish.lower {
            lines.push(format!(
                "gate {gate}: {what} stays {}: {got} would make it {least}; --lower allows that\n",
                policy.least
            ));
            continue;
        }
        let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
        set(*floor, "least", number(least).into());
        set(*floor, "measured", number(got).into());
        set(*floor, "on", day.into());
        lines.push(format!(
            "gate {gate}: {what} {} -> {least}, measured {got} on {}\n",
            policy.least, wish.on
        ));
    }
    if wrong.is_empty() {
        Ok((file.to_string(), lines))
    } else {
        Err(wrong)
    }
}

/// A floor by what a file says of it: its gate, what it counts, `least`, `measured`, `broken`.
type Key<'v> = (&'v str, &'v str, u64, Option<u64>, Option<u64>);

/// What was measured under each floor: in several lanes under one floor, the least.
fn measured<'v>(
    verdicts: &'v [Asserted],
    wrong: &mut Vec<String>,
) -> BTreeMap<Key<'v>, (&'v Floor, u64)> {
    let mut all: BTreeMap<Key<'v>, (&Floor, u64)> = BTreeMap::new();
    for verdict in verdicts {
        let gate = verdict.gate.as_str();
        for (what, floor) in &verdict.policy.resolved.floors {
            let got = verdict.floors.iter().find(|floor| floor.what == *what);
            let Some(got) = got.map(|floor| floor.got) else {
                wrong.push(format!(
                    "gate {gate}: the verdict has no number for `{what}`"
                ));
                continue;
            };
            let key = (
                gate,
                what.as_str(),
                floor.least,
                floor.measured,
                floor.broken,
            );
            let (_, least) = all.entry(key).or_insert((floor, got));
            *least = got.min(*least);
        }
    }
    all
}

/// The floors of one kind of a gate, in both spellings of TOML.
fn floors_of<'f>(file: &'f mut DocumentMut, gate: &str, what: &str) -> Vec<&'f mut dyn TableLike> {
    let floors = file
        .get_mut("gate")
        .and_then(|gates| gates.get_mut(gate))
        .and_then(|gate| gate.get_mut("floor"));
    let entries: Vec<&'f mut dyn TableLike> = match floors {
        Some(Item::ArrayOfTables(tables)) => {
            tables.iter_mut().map(|t| t as &mut dyn TableLike).collect()
        }
        Some(Item::Value(Value::Array(array))) => array
            .iter_mut()
            .filter_map(|value| value.as_inline_table_mut())
            .map(|t| t as &mut dyn TableLike)
            .collect(),
        _ => Vec::new(),
    };
    entries
        .into_iter()
        .filter_map(|entry| entry.get_mut(what)?.as_table_like_mut())
        .collect()
}

/// Sets a value and keeps the blanks around it.
fn set(table: &mut dyn TableLike, key: &str, value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(key, Item::Value(value));
            table.fmt();
        }
    }
}

#[cfg(test)]
mod tests {
    use gates::report;

    use super::*;

    const LANES: &str = "# the lanes\n[gate.arch]\nproduct = \"x\"   # kept\nfloor = [\n  { inspected = { least = 90, measured = 100, on = 2026-09-02, broken = 50 }, when = { target = \"windows/arm64\" } },  # arm\n  { inspected = { least = 80 } },\n]\n\n[[gate.wheels.floor]]\nwheels = { least = 4 }\n";

    fn verdict(gate: &str, what: &str, got: u64, floor: &str) -> Asserted {
        let counts = serde_json::to_string(&report::Counts::default()).unwrap();
        let text = format!(
            r#"{{"check":"arch","check-version":2,"counts":{counts},"exemptions":[],"exit":0,"findings":[],"findings-omitted":0,"floors":[{{"got":{got},"least":1,"ok":true,"what":"{what}"}}],"gate":"{gate}","policy":{{"digest":"d","resolved":{{"check":"arch","floors":{{"{what}":{floor}}},"gate":"{gate}","schema":"gate-policy/1","target":"windows/arm64"}}}},"roots":[],"schema":"gate-report/1","stage":"assert","target":"windows/arm64","verdict":"pass"}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    const ARM: &str = r#"{"least":90,"measured":100,"on":"2026-09-02","broken":50}"#;

    fn run(verdicts: &[Asserted], lower: bool) -> Result<(String, Vec<String>), Vec<String>> {
        let wish = Wish {
            on: "2026-12-02",
            of_measured: 90,
            lower,
        };
        moved(LANES, verdicts, &wish)
    }

    #[test]
    fn the_floor_that_was_in_force_moves_and_nothing_else_does() {
        let (after, lines) = run(&[verdict("arch", "inspected", 201, ARM)], false).unwrap();
        let expected = LANES.replace(
            "least = 90, measured = 100, on = 2026-09-02",
            "least = 181, measured = 201, on = 2026-12-02",
        );
        assert_eq!(after, expected);
        assert_eq!(
            lines,
            ["gate arch: inspected 90 -> 181, measured 201 on 2026-12-02\n"]
        );
        let (after, _) = run(&[verdict("wheels", "wheels", 10, r#"{"least":4}"#)], false).unwrap();
        assert!(
            after.ends_with("wheels = { least = 9, measured = 10, on = 2026-12-02 }\n"),
            "{after}"
        );
    }

    #[test]
    fn a_floor_goes_down_only_when_that_is_wished_and_never_to_what_was_broken() {
        let less = [verdict("arch", "inspected", 60, ARM)];
        let (after, lines) = run(&less, false).unwrap();
        assert_eq!(after, LANES);
        assert!(lines[0].contains("stays 90"), "{lines:?}");
        assert!(run(&less, true).unwrap().0.contains("least = 54"));
        for got in [55, 1, 0] {
            let wrong = run(&[verdict("arch", "inspected", got, ARM)], true).unwrap_err();
            assert!(wrong[0].contains("broken build with 50"), "{wrong:?}");
        }
    }

    #[test]
    fn a_floor_of_several_lanes_holds_in_each_and_no_count_is_too_large() {
        let lanes = [
            verdict("arch", "inspected", 201, ARM),
            verdict("arch", "inspected", 150, ARM),
        ];
        let (_, lines) = run(&lanes, false).unwrap();
        assert_eq!(
            lines,
            ["gate arch: inspected 90 -> 135, measured 150 on 2026-12-02\n"]
        );
        let much = [verdict("arch", "inspected", u64::MAX, ARM)];
        let least = u64::MAX / 10 * 9;
        let (_, lines) = run(&much, false).unwrap();
        assert!(lines[0].contains(&least.to_string()[..18]), "{lines:?}");
    }

    #[test]
    fn a_floor_that_is_not_in_the_file_is_told_and_nothing_moves() {
        let verdicts = [
            verdict("arch", "inspected", 99, r#"{"least":7}"#),
            verdict("other", "inspected", 99, ARM),
            verdict("arch", "inspected", 201, ARM),
        ];
        assert_eq!(run(&verdicts, false).unwrap_err().len(), 2);
    }
}
