//! The one shape of every gate, and the table of them.
//!
//! A gate is a module below this one with a [`Check`] and a row in [`GATES`]. The command line,
//! policies and verdicts know the table only: a new gate needs no line there.
//!
//! What a gate can be told comes in two parts, because a build caches them apart. [`Check::Ask`]
//! is what *inspect* must know to look (where libraries lie, which contract holds): it is part of
//! the report. [`Check::Demand`] is what *assert* holds against a report: changing it looks at
//! nothing again. Floors and allow entries are common to all gates ([`crate::policy`]).

pub mod absent;
pub mod arch;
pub mod census;
pub mod contract;
pub mod coverage;
pub mod data;
pub mod deps;
pub mod elf;
pub mod env;
pub mod exec;
pub mod files;
pub mod floors;
pub mod gpu;
pub mod imports;
pub mod leak;
pub mod manifest;
pub mod overlap;
pub mod plugin;
pub mod signed;
pub mod suites;
pub mod wheel;

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::arch_table::Row;
use crate::exit::Failure;
#[cfg(feature = "inspect")]
use crate::report::{self, Inspect};
use crate::report::{Finding, Inspected, Item};
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

/// Every gate, by name.
pub static GATES: &[Gate] = &[
    Gate::of::<absent::Absent>(),
    Gate::of::<arch::Arch>(),
    Gate::of::<census::Census>(),
    Gate::of::<contract::Contract>(),
    Gate::of::<coverage::Coverage>(),
    Gate::of::<data::Data>(),
    Gate::of::<deps::Deps>(),
    Gate::of::<elf::Elf>(),
    Gate::of::<env::Env>(),
    Gate::of::<exec::Exec>(),
    Gate::of::<files::Files>(),
    Gate::of::<floors::Floors>(),
    Gate::of::<gpu::Gpu>(),
    Gate::of::<imports::Imports>(),
    Gate::of::<leak::Leak>(),
    Gate::of::<manifest::Manifests>(),
    Gate::of::<overlap::Overlap>(),
    Gate::of::<plugin::Plugins>(),
    Gate::of::<signed::Signed>(),
    Gate::of::<suites::Tests>(),
    Gate::of::<wheel::Wheels>(),
];

/// What a gate is.
pub trait Check {
    /// Its name: the word on the command line and in a policy's `check`.
    const NAME: &'static str;
    /// What it looks for, in one line of help.
    const ABOUT: &'static str;
    /// Counted up whenever it judges the same bytes otherwise, or its report changes.
    const VERSION: u32;
    /// What a floor can be about, sorted. `inspected` is always there and need not stand here.
    const COUNTS: &'static [&'static str];
    /// Its own rules.
    const RULES: &'static [Rule];
    /// What *inspect* is told.
    type Ask: Keys;
    /// What *assert* holds against a report, besides floors and allow entries.
    type Demand: Keys;

    /// Looks at everything below the roots. What it returns depends on the target, the bytes,
    /// names and kinds of the trees' entries, and on `ask`; on nothing else.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] for what the bytes do not decide: a missing root, an I/O error, no
    /// memory, a bug.
    fn inspect(row: &Row, roots: &[Root], ask: &Self::Ask) -> Result<Seen, Failure>;

    /// The findings that only the policy makes ones.
    fn judge(_report: &Inspected, _demand: &Self::Demand) -> Vec<Finding> {
        Vec::new()
    }

    /// How much an item counts for the floor `what` (one of [`Self::COUNTS`]): 1 for its own kind,
    /// or the number of the class of that name.
    fn count(what: &str, item: &Item) -> u64 {
        match item.classes.get(what) {
            _ if item.kind == what => 1,
            Some(count) => *count,
            None => 0,
        }
    }
}

/// A gate's own keys in a policy. Deserialising refuses unknown ones.
pub trait Keys: Serialize + DeserializeOwned {
    /// Whether the values make sense together.
    ///
    /// # Errors
    /// What is wrong, as one sentence.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// The keys of a gate that has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoKeys {}

impl Keys for NoKeys {}

/// One row of [`GATES`]: a [`Check`] of which the types of its keys are forgotten.
pub struct Gate {
    /// [`Check::NAME`].
    pub name: &'static str,
    /// [`Check::ABOUT`].
    pub about: &'static str,
    /// [`Check::VERSION`].
    pub version: u32,
    /// [`Check::COUNTS`].
    pub counts: &'static [&'static str],
    /// [`Check::RULES`].
    pub rules: &'static [Rule],
    ask: fn(&Object) -> Result<Object, String>,
    demand: fn(&Object) -> Result<Object, String>,
    #[cfg(feature = "inspect")]
    inspect: fn(&Row, &[Root], &Object) -> Result<Seen, Failure>,
    judge: fn(&Inspected, &Object) -> Result<Vec<Finding>, String>,
    count: fn(&str, &Item) -> u64,
}

/// Texts by name, such as an environment.
pub type Names = BTreeMap<String, String>;

/// A JSON object.
pub type Object = Map<String, Value>;

impl Gate {
    const fn of<C: Check>() -> Self {
        Self {
            name: C::NAME,
            about: C::ABOUT,
            version: C::VERSION,
            counts: C::COUNTS,
            rules: C::RULES,
            ask: |ask| settled::<C::Ask>("ask", ask),
            demand: |demand| settled::<C::Demand>("demand", demand),
            #[cfg(feature = "inspect")]
            inspect: |row, roots, ask| {
                let ask = keys("ask", ask).map_err(Failure::Usage)?;
                C::inspect(row, roots, &ask)
            },
            judge: |report, demand| Ok(C::judge(report, &keys("demand", demand)?)),
            count: C::count,
        }
    }

    /// The gate of this name.
    ///
    /// # Errors
    /// A sentence with the list of gates.
    pub fn named(name: &str) -> Result<&'static Self, String> {
        GATES.iter().find(|gate| gate.name == name).ok_or_else(|| {
            let known: Vec<&str> = GATES.iter().map(|gate| gate.name).collect();
            format!("no check `{name}`; there are: {}", known.join(", "))
        })
    }

    /// Checks what *inspect* is told and puts it canonically, defaults and all.
    ///
    /// # Errors
    /// A sentence on the first wrong key.
    pub fn ask(&self, ask: &Object) -> Result<Object, String> {
        (self.ask)(ask)
    }

    /// Checks what *assert* demands and puts it canonically, defaults and all.
    ///
    /// # Errors
    /// A sentence on the first wrong key.
    pub fn demand(&self, demand: &Object) -> Result<Object, String> {
        (self.demand)(demand)
    }

    /// Looks at the roots and makes the report.
    ///
    /// # Errors
    /// Those of [`Check::inspect`]; [`Failure::Usage`] when `ask` is not the gate's.
    #[cfg(feature = "inspect")]
    pub fn inspect(&self, row: &Row, roots: &[Root], ask: &Object) -> Result<Inspected, Failure> {
        let ask = self.ask(ask).map_err(Failure::Usage)?;
        let mut seen = (self.inspect)(row, roots, &ask)?;
        seen.sort();
        Ok(Inspected {
            ask,
            check: self.name.to_owned(),
            check_version: self.version,
            counts: seen.counts,
            external: None,
            findings: seen.findings,
            items: seen.items,
            lists: seen.lists,
            notes: seen.notes,
            roots: seen.roots,
            schema: report::SCHEMA.to_owned(),
            stage: Inspect::Inspect,
            target: row.target(),
        })
    }

    /// Holds the gate's demands against a report.
    ///
    /// # Errors
    /// A sentence when they are not the gate's.
    pub fn judge(&self, report: &Inspected, demand: &Object) -> Result<Vec<Finding>, String> {
        (self.judge)(report, demand)
    }

    /// How much an item counts for the floor `what`.
    #[must_use]
    pub fn count(&self, what: &str, item: &Item) -> u64 {
        match what {
            "inspected" => 1,
            what => (self.count)(what, item),
        }
    }
}

/// Reads a gate's keys; `part` is the name of the object they stand in.
fn keys<K: Keys>(part: &str, object: &Object) -> Result<K, String> {
    let read = |object: &Object| -> Result<K, String> {
        serde_json::from_value(Value::Object(object.clone())).map_err(|error| error.to_string())
    };
    let keys = read(object).map_err(|why| {
        // Serde does not say in which key: it is the one without which it says something else.
        let wrong = object.keys().find(|key| {
            let mut rest = object.clone();
            rest.remove(*key);
            !why.contains(&format!("`{key}`")) && read(&rest).err().as_ref() != Some(&why)
        });
        let key = wrong.map(|key| format!("`{key}`: ")).unwrap_or_default();
        format!("`{part}`: {key}{why}")
    })?;
    keys.check().map_err(|why| format!("`{part}`: {why}"))?;
    Ok(keys)
}

fn settled<K: Keys>(part: &str, object: &Object) -> Result<Object, String> {
    match serde_json::to_value(keys::<K>(part, object)?) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(other) => Err(format!("`{part}` is no object but {other}")),
        Err(error) => Err(format!("`{part}` cannot be written: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_so_is_what_each_gate_counts() {
        assert!(GATES.is_sorted_by(|a, b| a.name < b.name));
        for gate in GATES {
            assert!(gate.counts.is_sorted_by(|a, b| a < b), "{}", gate.name);
            assert!(gate.version > 0 && !gate.about.is_empty(), "{}", gate.name);
        }
    }

    #[test]
    fn a_value_that_cannot_be_is_told_with_its_key() {
        let told = |ask: Value| match ask {
            Value::Object(ask) => Gate::named("deps").unwrap().ask(&ask).unwrap_err(),
            other => panic!("{other}"),
        };
        for (ask, want) in [
            (
                serde_json::json!({ "needs": "a", "python": "3.14" }),
                "`ask`: `needs`: invalid type: string \"a\", expected a sequence",
            ),
            (
                serde_json::json!({ "needs": ["a"], "python": 3 }),
                "`ask`: `python`: invalid type: integer `3`, expected a string",
            ),
            (
                serde_json::json!({ "needs": ["a"] }),
                "`ask`: missing field `python`",
            ),
        ] {
            assert_eq!(told(ask), want);
        }
        let ask = serde_json::json!({ "nedes": [], "python": "3.14" });
        assert!(told(ask).starts_with("`ask`: unknown field `nedes`, expected one of "));
    }

    #[test]
    fn a_key_that_a_gate_does_not_know_is_refused() {
        for gate in GATES {
            let unknown = Object::from_iter([("no-such-key".to_owned(), Value::Null)]);
            assert!(gate.ask(&unknown).is_err(), "{}", gate.name);
            assert!(gate.demand(&unknown).is_err(), "{}", gate.name);
        }
    }
}
