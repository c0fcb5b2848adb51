//! How the bytes of two files differ: where, in what part of the format, and what it looks like.

use std::collections::BTreeMap;
use std::ops::Range;

use jiff::Timestamp;
use serde::Serialize;

use super::regions::{Regions, Says};

/// How many places of a file are named.
const MOST: usize = 8;
/// Places with fewer equal bytes than this between them are one.
const GAP: u64 = 8;
/// How much of a line is shown, in characters.
const SHOWN: usize = 80;
/// Seconds since 1970 that a clock may show: from 2001 on, for a century.
const CLOCK: Range<u64> = 1_000_000_000..4_000_000_000;

/// What differs in a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Bytes {
    /// How many bytes both have.
    pub sizes: (u64, u64),
    /// Where they begin to differ.
    pub first: u64,
    /// How many bytes at the same places differ; nothing when that says nothing, since the sizes differ.
    pub differing: Option<u64>,
    /// The first places, each with what stands there.
    pub places: Vec<Place>,
    /// How many more there are.
    pub more: usize,
    /// What it looks like, where that can be told.
    pub looks_like: Option<String>,
}

/// One place that differs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    /// The first byte, and the one behind the last.
    pub at: (u64, u64),
    /// The part of the format: a section, a member, a line; empty where the format says nothing.
    pub part: String,
    /// What stood there and stands there, where it can be read.
    pub values: Option<(String, String)>,
}

impl Bytes {
    /// Of files that are too large to look into.
    pub(super) fn unread(sizes: (u64, u64), first: u64) -> Self {
        Self {
            sizes,
            first,
            differing: None,
            places: Vec::new(),
            more: 0,
            looks_like: None,
        }
    }

    /// Of two files that are not equal.
    pub(super) fn of(old: &[u8], new: &[u8]) -> Self {
        let common = old.len().min(new.len());
        let equal = |at: usize| old[at] == new[at];
        let first = (0..common).find(|&at| !equal(at)).unwrap_or(common) as u64;
        let mut bytes = Self::unread((old.len() as u64, new.len() as u64), first);
        if let (Some(old), Some(new)) = (text(old), text(new)) {
            bytes.lines(old, new);
            return bytes;
        }
        let (before, after) = (Regions::of(old), Regions::of(new));
        if old.len() == new.len() {
            let runs = runs((0..common).filter(|&at| !equal(at)).map(|at| at as u64));
            bytes.differing = Some((0..common).filter(|&at| !equal(at)).count() as u64);
            bytes.places(runs, &before, (old, new));
        } else {
            bytes.parts(&before, &after, (old, new));
        }
        bytes.looks_like = looks_like(&bytes.places, &before, &after);
        bytes
    }

    /// Texts: the lines that differ.
    fn lines(&mut self, old: &str, new: &str) {
        if old.len() == new.len() {
            let pairs = old.bytes().zip(new.bytes());
            self.differing = Some(pairs.filter(|(a, b)| a != b).count() as u64);
        }
        let (before, after): (Vec<&str>, Vec<&str>) =
            (old.lines().collect(), new.lines().collect());
        let sorted = |lines: &[&str]| {
            let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            lines.sort();
            lines
        };
        if before != after && sorted(&before) == sorted(&after) {
            self.looks_like = Some("the same lines in another order".to_owned());
        }
        let count = before.len().max(after.len());
        let line = |lines: &[&str], number: usize| lines.get(number).map(|line| cut(line));
        let mut at = 0;
        for number in 0..count {
            let (one, other) = (before.get(number), after.get(number));
            let length = one.map_or(0, |line| line.len() as u64 + 1);
            if one != other {
                if self.places.len() < MOST {
                    self.places.push(Place {
                        at: (at, at + length),
                        part: format!("line {}", number + 1),
                        values: line(&before, number).zip(line(&after, number)),
                    });
                } else {
                    self.more += 1;
                }
            }
            at += length;
        }
        let clock = |place: &Place| {
            let values = place.values.as_ref();
            values.is_some_and(|(old, new)| is_clock(old, new))
        };
        if self.looks_like.is_none() && self.places.iter().any(clock) {
            self.looks_like = Some("a clock".to_owned());
        }
    }

    /// Files of one size: the runs of other bytes, each in its part.
    fn places(&mut self, runs: Vec<Range<u64>>, regions: &Regions, (old, new): (&[u8], &[u8])) {
        self.more = runs.len().saturating_sub(MOST);
        for run in runs.into_iter().take(MOST) {
            let region = regions.at(run.start);
            let values = region.and_then(|region| {
                let value = |data: &[u8]| region.says.read(&data[usable(&region.range, data)]);
                Some((value(old)?, value(new)?))
            });
            self.places.push(Place {
                at: (run.start, run.end),
                part: region.map_or_else(String::new, |region| region.name.clone()),
                values,
            });
        }
    }

    /// Files of several sizes: the parts that differ, by name.
    fn parts(&mut self, before: &Regions, after: &Regions, (old, new): (&[u8], &[u8])) {
        let new_parts: BTreeMap<&str, &Range<u64>> = after.named().collect();
        let mut places = Vec::new();
        for (name, range) in before.named() {
            let other = new_parts.get(name).map(|range| &new[usable(range, new)]);
            if other != Some(&old[usable(range, old)]) {
                places.push(Place {
                    at: (range.start, range.end),
                    part: match other {
                        Some(_) => name.to_owned(),
                        None => format!("{name} (only in the first)"),
                    },
                    values: None,
                });
            }
        }
        self.more = places.len().saturating_sub(MOST);
        places.truncate(MOST);
        self.places = places;
    }
}

/// The part of a range that the data has: what a header says need not be so.
fn usable(range: &Range<u64>, data: &[u8]) -> Range<usize> {
    let end = (range.end as usize).min(data.len());
    (range.start as usize).min(end)..end
}

fn runs(places: impl Iterator<Item = u64>) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for at in places {
        match runs.last_mut() {
            Some(run) if at < run.end + GAP => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

fn looks_like(places: &[Place], before: &Regions, after: &Regions) -> Option<String> {
    let members = (before.members(), after.members());
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    if members.0 != members.1 && sorted(members.0) == sorted(members.1) {
        return Some("the same members in another order".to_owned());
    }
    let time = |place: &Place| {
        before
            .at(place.at.0)
            .is_some_and(|region| region.says == Says::Time)
    };
    places.iter().any(time).then(|| "a clock".to_owned())
}

/// A text for people: UTF-8 without control characters that no text has.
fn text(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    let odd = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}');
    (!text.contains(odd)).then_some(text)
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// Whether the words in which two lines differ are times: seconds since 1970, `12:00:01`, or a time stamp.
fn is_clock(old: &str, new: &str) -> bool {
    let words = |line: &str| -> Vec<String> {
        let split = line.split(|c: char| c.is_whitespace() || "\"'=()[],;".contains(c));
        split.map(str::to_owned).collect()
    };
    let (old, new) = (words(old), words(new));
    let mut differing = old.iter().zip(&new).filter(|(a, b)| a != b).peekable();
    old.len() == new.len()
        && differing.peek().is_some()
        && differing.all(|(old, new)| is_time(old) && is_time(new))
}

fn is_time(word: &str) -> bool {
    let seconds = word.split('.').next().unwrap_or(word);
    // Milliseconds and nanoseconds, too: the first ten digits are the seconds.
    let seconds = seconds.get(..10).filter(|s| s.len() <= seconds.len());
    let epoch = seconds
        .and_then(|s| s.parse::<u64>().ok())
        .is_some_and(|s| CLOCK.contains(&s));
    let digits =
        |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
    let parts: Vec<&str> = word.split(':').collect();
    let of_day = matches!(parts.as_slice(), [h, m, s] if digits(h) && digits(m) && digits(s.split('.').next().unwrap_or(s)));
    epoch || of_day || word.parse::<Timestamp>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_in_another_order_are_told_from_other_lines() {
        let found = Bytes::of(b"b\na\nc\n", b"a\nb\nc\n");
        assert_eq!(
            found.looks_like.as_deref(),
            Some("the same lines in another order")
        );
        let found = Bytes::of(b"b\na\n", b"b\nd\n");
        assert_eq!((found.first, found.looks_like), (2, None));
        assert_eq!(found.places[0].part, "line 2");
    }

    #[test]
    fn clocks_are_known_by_their_looks() {
        for (old, new) in [
            ("built 1764684000", "built 1764684003"),
            ("built 1764684000123", "built 1764684003999"),
            ("at 12:00:01.5 here", "at 12:00:03.1 here"),
            (
                "t = \"2026-12-02T14:00:00Z\"",
                "t = \"2026-12-02T14:00:09Z\"",
            ),
        ] {
            assert!(is_clock(old, new), "{old}");
        }
        for (old, new) in [
            ("pid 4321", "pid 4322"),
            ("/tmp/a.1764684000x", "/tmp/b"),
            ("1.2.3", "1.2.4"),
            ("same", "same"),
        ] {
            assert!(!is_clock(old, new), "{old}");
        }
    }

    #[test]
    fn near_places_are_one() {
        assert_eq!(runs([1, 2, 9, 40].into_iter()), [1..10, 40..41]);
    }
}
