//! What *inspect* gathers on its way, for any gate.

use std::collections::BTreeMap;

use crate::format::Fault;
use crate::name::Name;
use crate::report::{Counts, Finding, Item, List, Note, RootCount};
use crate::rule::{self, Rule};

/// What a gate saw: of a file, of a part of the tree, of all of it.
#[derive(Debug, Default)]
pub struct Seen {
    /// How much.
    pub counts: Counts,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What was inspected.
    pub items: Vec<Item>,
    /// The lists of names that were used.
    pub lists: Vec<List>,
    /// What is worth telling and not wrong.
    pub notes: Vec<Note>,
    /// The roots, in the order they were given.
    pub roots: Vec<RootCount>,
}

impl Seen {
    /// Something wrong. An empty `actual` or `expected` is none.
    pub fn finding(
        &mut self,
        rule: Rule,
        subject: &Name,
        actual: &str,
        expected: &str,
        why: impl Into<String>,
    ) {
        let value = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        self.findings.push(Finding {
            actual: value(actual),
            expected: value(expected),
            id: rule.id.to_owned(),
            subject: subject.clone(),
            why: why.into(),
        });
    }

    /// Something wrong that is said in words alone.
    pub fn wrong(&mut self, rule: Rule, subject: &Name, why: impl Into<String>) {
        self.finding(rule, subject, "", "", why);
    }

    /// A value that is another than it must be; an empty one is told as such.
    pub fn differs(
        &mut self,
        rule: Rule,
        subject: &Name,
        actual: impl Into<String>,
        expected: impl Into<String>,
        why: impl Into<String>,
    ) {
        let value = |text: String| {
            if text.is_empty() {
                "nothing".to_owned()
            } else {
                text
            }
        };
        let (actual, expected) = (value(actual.into()), value(expected.into()));
        self.finding(rule, subject, &actual, &expected, why);
    }

    /// Something inspected, with the numbers that it adds to floors.
    pub fn count(&mut self, kind: &str, subject: &Name, numbers: &[(&str, u64)]) {
        let numbers = numbers.iter().map(|(word, n)| ((*word).to_owned(), *n));
        self.item(subject, kind, numbers.collect());
    }

    /// The ids of all findings, sorted.
    #[must_use]
    pub fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.findings.iter().map(|f| f.id.as_str()).collect();
        ids.sort_unstable();
        ids
    }

    /// A file or member that cannot be believed; `damaged` is the gate's rule for that.
    pub fn fault(&mut self, damaged: Rule, subject: &Name, what: &str, fault: &Fault) {
        self.counts.unreadable += 1;
        match fault {
            Fault::Damaged(why) => {
                let why = format!("cut or damaged {what}: {why}");
                self.finding(damaged, subject, "", "", why);
            }
            Fault::Limit(why) => {
                self.finding(rule::LIMIT, subject, "", "", format!("limit {why}"));
            }
        }
    }

    /// Something inspected: it counts for floors.
    pub fn item(&mut self, subject: &Name, kind: &str, classes: BTreeMap<String, u64>) {
        self.counts.inspected += 1;
        self.counts.zip_members += u64::from(subject.bytes().contains(&b'!'));
        *self.counts.by_kind.entry(kind.to_owned()).or_default() += 1;
        for (class, count) in &classes {
            let sum: &mut u64 = self.counts.by_class.entry(class.clone()).or_default();
            *sum = sum.saturating_add(*count);
        }
        self.items.push(Item {
            classes,
            kind: kind.to_owned(),
            subject: subject.clone(),
        });
    }

    /// Something worth telling that is not wrong; `class` sorts notes of a kind together.
    pub fn note(&mut self, class: &str, subject: &Name, text: impl Into<String>) {
        self.notes.push(Note {
            class: class.to_owned(),
            subject: subject.clone(),
            text: text.into(),
        });
    }

    /// Adds what another part of the tree held.
    pub fn add(&mut self, other: Self) {
        let Self {
            counts,
            findings,
            items,
            lists,
            notes,
            roots,
        } = other;
        self.counts.add(&counts);
        self.findings.extend(findings);
        self.items.extend(items);
        self.lists.extend(lists);
        self.notes.extend(notes);
        self.roots.extend(roots);
    }

    /// Puts everything in the order that reports have.
    pub fn sort(&mut self) {
        self.findings.sort_by(|a, b| {
            (&a.subject, &a.id, &a.actual, &a.why).cmp(&(&b.subject, &b.id, &b.actual, &b.why))
        });
        self.items
            .sort_by(|a, b| (&a.subject, &a.kind).cmp(&(&b.subject, &b.kind)));
        self.lists.sort_by(|a, b| a.name.cmp(&b.name));
        self.notes
            .sort_by(|a, b| (&a.class, &a.subject, &a.text).cmp(&(&b.class, &b.subject, &b.text)));
    }
}
