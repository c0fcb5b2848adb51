//! The gate `deps`: what the wheels of a store require is in the store.
//!
//! Markers are evaluated for the interpreter that the policy declares. Requirements of extras
//! that somebody asks for are followed. What cannot be read or decided is a finding: a gate that
//! sees fewer requirements must never be the greener one.

use std::collections::{BTreeMap, BTreeSet};

use pep440_rs::{Version, VersionSpecifiers};
use serde::{Deserialize, Serialize};

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::list::{self, Entries, Entry};
use crate::name::Name;
use crate::python::environment::Environment;
use crate::python::filename::WheelName;
use crate::python::metadata::Headers;
use crate::python::requirement::Requirement;
use crate::python::wheel::{Contents, is_info};
use crate::python::{marker::Marker, normal};
use crate::rule::Rule;
use crate::seen::Seen;
use crate::walk::Root;

const MISSING: Rule = Rule::new("DEP001", "nothing in the store meets a requirement");
const VERSION: Rule = Rule::new("DEP002", "the store has another version");
const UNDECIDED: Rule = Rule::new(
    "DEP003",
    "a marker that the declared interpreter does not decide",
);
const UNREADABLE: Rule = Rule::new("DEP004", "a wheel or a requirement that cannot be read");
const EXTRA: Rule = Rule::new("DEP005", "an extra that nothing offers");
const PYTHON: Rule = Rule::new("DEP006", "a wheel for other interpreters");
const TWO: Rule = Rule::new("DEP007", "two versions of one distribution");

/// The gate.
pub struct Deps;

impl Check for Deps {
    const NAME: &'static str = "deps";
    const ABOUT: &'static str = "what the wheels of a store require is in the store";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] = &["edges", "needs", "requirements", "wheels"];
    const RULES: &'static [Rule] = &[MISSING, VERSION, UNDECIDED, UNREADABLE, EXTRA, PYTHON, TWO];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let found = look(ask, &row.target(), &tree.entries)?;
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// What the product itself needs: requirements, with extras where they are wanted.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The interpreter: `3.14`, or `3.14.2` where markers ask for the whole.
    pub python: String,
    /// Further marker variables by name, such as `platform_release`.
    #[serde(default)]
    pub variables: BTreeMap<String, String>,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        Environment::new("linux/amd64", &self.python, &self.variables)?;
        product_needs(self).map(|_| ())
    }
}

/// A wheel of the store.
struct Wheel {
    subject: Name,
    name: WheelName,
    requires: Vec<(String, Requirement)>,
    extras: BTreeSet<String>,
}

/// What the product itself needs, each with its text.
fn product_needs(settings: &Ask) -> Result<Vec<(String, Requirement)>, String> {
    let read = |text: &String| {
        let requirement = Requirement::parse(text).map_err(|why| format!("needs: {why}"))?;
        Ok((text.clone(), requirement))
    };
    settings.needs.iter().map(read).collect()
}

/// Looks at all wheels of the tree.
///
/// # Errors
/// [`Failure::Usage`] for settings that mean nothing, [`Failure::Unreadable`] for I/O.
pub fn look(settings: &Ask, target: &str, entries: &Entries) -> Result<Seen, Failure> {
    let env =
        Environment::new(target, &settings.python, &settings.variables).map_err(Failure::Usage)?;
    let needs = product_needs(settings).map_err(Failure::Usage)?;
    let mut found = Seen::default();
    let mut store: BTreeMap<String, Vec<Wheel>> = BTreeMap::new();
    for (subject, entry) in entries {
        if let Entry::File(path, _) = entry
            && subject.bytes().to_ascii_lowercase().ends_with(b".whl")
        {
            let contents = Contents::read(path, subject, is_info, |_, _| {})?;
            if let Some(wheel) = read(subject, &contents, &env, &mut found) {
                store.entry(wheel.name.normal()).or_default().push(wheel);
            }
        }
    }
    let mut walk = Walk {
        env: &env,
        store: &store,
        found: &mut found,
        edges: BTreeMap::new(),
        done: BTreeSet::new(),
    };
    let product = Name::from("needs");
    for (text, need) in &needs {
        let asked = walk.edge(&product, text, need, None);
        walk.follow(asked);
    }
    for wheel in store.values().flatten() {
        walk.follow(vec![(wheel, None)]);
    }
    let edges = walk.edges;
    for (name, wheels) in &store {
        let versions: BTreeSet<&Version> = wheels.iter().map(|w| &w.name.version).collect();
        if let (Some(first), true) = (wheels.first(), versions.len() > 1) {
            let all: Vec<String> = versions.iter().map(ToString::to_string).collect();
            let why = format!(
                "{name} lies here in versions {}: which one is meant?",
                all.join(", ")
            );
            found.wrong(TWO, &first.subject, why);
        }
        for wheel in wheels {
            let edges = edges.get(&wheel.subject).copied().unwrap_or_default();
            let numbers = [
                ("edges", edges),
                ("requirements", wheel.requires.len() as u64),
            ];
            found.count("wheels", &wheel.subject, &numbers);
        }
    }
    if !needs.is_empty() {
        let edges = edges.get(&product).copied().unwrap_or_default();
        found.count("needs", &product, &[("edges", edges)]);
    }
    Ok(found)
}

/// Reads the headers of one wheel.
fn read(subject: &Name, contents: &Contents, env: &Environment, found: &mut Seen) -> Option<Wheel> {
    for (member, fault) in &contents.faults {
        let subject = if member.is_empty() {
            subject.clone()
        } else {
            subject.zip_member(member)
        };
        found.wrong(UNREADABLE, &subject, format!("cannot be read: {fault}"));
    }
    let base = String::from_utf8_lossy(subject.bytes());
    let base = base.rsplit(['/', '!']).next().unwrap_or_default();
    let name = match WheelName::parse(base) {
        Ok(name) => name,
        Err(why) => {
            found.wrong(UNREADABLE, subject, format!("no name of a wheel: {why}"));
            return None;
        }
    };
    let infos = contents.dist_infos();
    let metadata = match &infos[..] {
        [info] => contents.member(&format!("{info}/METADATA")),
        _ => None,
    };
    let Some(metadata) = metadata else {
        // Why it could not be read has been told.
        if contents.faults.is_empty() {
            found.wrong(UNREADABLE, subject, "it has no METADATA that could be read");
        }
        return None;
    };
    let headers = Headers::read(metadata);
    let file = subject.zip_member(format!("{}/METADATA", infos[0]).as_bytes());
    for stray in headers.strays.iter().take(3) {
        found.wrong(UNREADABLE, &file, format!("no header: `{stray}`"));
    }
    if headers.first("Name").map(normal) != Some(name.normal()) {
        let named = headers.first("Name").unwrap_or("nothing");
        let why = format!("METADATA names `{named}`, the file `{}`", name.dist);
        found.wrong(UNREADABLE, &file, why);
    }
    if let Some(range) = headers.first("Requires-Python") {
        match range.parse::<VersionSpecifiers>() {
            Ok(range) if range.contains(env.python()) => {}
            Ok(_) => found.differs(
                PYTHON,
                subject,
                env.python().to_string(),
                range,
                "the declared interpreter is not one that it is for",
            ),
            Err(_) => {
                let why = format!("Requires-Python `{range}` is no set of versions");
                found.wrong(UNREADABLE, &file, why);
            }
        }
    }
    let mut requires = Vec::new();
    for text in headers.all("Requires-Dist") {
        let text = text.replace('\n', " ");
        match Requirement::parse(&text) {
            Ok(requirement) => requires.push((text, requirement)),
            Err(why) => {
                let subject = needs(subject, &text);
                found.wrong(UNREADABLE, &subject, format!("no requirement: {why}"));
            }
        }
    }
    let mut extras: BTreeSet<String> = headers.all("Provides-Extra").map(normal).collect();
    let named = requires.iter().filter_map(|(_, r)| r.marker.as_ref());
    extras.extend(named.flat_map(Marker::extras));
    Some(Wheel {
        subject: subject.clone(),
        name,
        requires,
        extras,
    })
}

/// The subject of an edge: `store/foo-1-py3-none-any.whl!numpy>=2`.
fn needs(wheel: &Name, text: &str) -> Name {
    wheel.zip_member(text.as_bytes())
}

/// A wheel with one of its extras, or with none.
type Wanted<'w> = (&'w Wheel, Option<String>);

/// Follows requirements and the extras that they ask for.
struct Walk<'w> {
    env: &'w Environment,
    store: &'w BTreeMap<String, Vec<Wheel>>,
    found: &'w mut Seen,
    /// Requirements that apply, by who has them.
    edges: BTreeMap<Name, u64>,
    /// Wheels whose extras were followed.
    done: BTreeSet<(Name, Option<String>)>,
}

impl<'w> Walk<'w> {
    /// The requirements of these wheels, each with one extra or with none, and of what they ask
    /// for.
    fn follow(&mut self, mut open: Vec<Wanted<'w>>) {
        while let Some((wheel, extra)) = open.pop() {
            if !self.done.insert((wheel.subject.clone(), extra.clone())) {
                continue;
            }
            for (text, requirement) in &wheel.requires {
                // What holds without the extra was followed without it.
                let without = extra.is_some() && self.applies(requirement, None) == Ok(true);
                if !without {
                    let asked = self.edge(&wheel.subject, text, requirement, extra.as_deref());
                    open.extend(asked);
                }
            }
        }
    }

    fn applies(&self, requirement: &Requirement, extra: Option<&str>) -> Result<bool, String> {
        let marker = requirement.marker.as_ref();
        marker.map_or(Ok(true), |marker| marker.holds(self.env, extra))
    }

    /// One requirement; returns the extras of wheels that it asks for.
    fn edge(
        &mut self,
        from: &Name,
        text: &str,
        requirement: &Requirement,
        extra: Option<&str>,
    ) -> Vec<Wanted<'w>> {
        match self.applies(requirement, extra) {
            Ok(true) => {}
            Ok(false) => return Vec::new(),
            Err(why) => {
                let why = format!("cannot tell whether this applies: {why}");
                self.found.wrong(UNDECIDED, &needs(from, text), why);
                return Vec::new();
            }
        }
        *self.edges.entry(from.clone()).or_default() += 1;
        let store = self.store;
        let Some(wheels) = store.get(&requirement.name) else {
            let why = format!("no wheel of {} is in the store", requirement.name);
            self.found.wrong(MISSING, &needs(from, text), why);
            return Vec::new();
        };
        let fits: Vec<&Wheel> = wheels
            .iter()
            .filter(|wheel| requirement.wants.takes(&wheel.name.version))
            .collect();
        if fits.is_empty() {
            let have: BTreeSet<String> =
                wheels.iter().map(|w| w.name.version.to_string()).collect();
            let have: Vec<String> = have.into_iter().collect();
            self.found.differs(
                VERSION,
                &needs(from, text),
                have.join(", "),
                requirement.wants.to_string(),
                format!("the store has {} in another version", requirement.name),
            );
        }
        let mut asked = Vec::new();
        for wheel in fits {
            for extra in &requirement.extras {
                if !wheel.extras.contains(extra) {
                    let why = format!("{} offers no extra `{extra}`", wheel.subject);
                    self.found.wrong(EXTRA, &needs(from, text), why);
                }
                asked.push((wheel, Some(extra.clone())));
            }
        }
        asked
    }
}
