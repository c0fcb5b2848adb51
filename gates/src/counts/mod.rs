//! What test runs said of themselves, read from what they printed.
//!
//! A run counts by its framework's own summary. A summary that is missing, cut, or at odds with
//! the lines above it is an error and never a zero: a suite that died in the middle has printed
//! no failure either.

mod ctest;
mod gtest;
mod junit;
mod libtest;
pub mod lines;
mod nextest;
mod pytest;

use std::collections::BTreeMap;

/// Numbers of tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// That ran and were right.
    pub passed: u64,
    /// That ran and were wrong, or did not come to an end.
    pub failed: u64,
    /// That did not run.
    pub skipped: u64,
}

impl Counts {
    /// Adds another part.
    pub const fn add(&mut self, other: Self) {
        self.passed = self.passed.saturating_add(other.passed);
        self.failed = self.failed.saturating_add(other.failed);
        self.skipped = self.skipped.saturating_add(other.skipped);
    }

    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.passed
            .saturating_add(self.failed)
            .saturating_add(self.skipped)
    }
}

/// What one output said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// In all.
    pub counts: Counts,
    /// By section: a test binary, a suite, whatever the framework groups by. May be empty.
    pub sections: BTreeMap<String, Counts>,
    /// Names of tests that failed, in the order they were told.
    pub failures: Vec<String>,
}

impl Summary {
    fn section(&mut self, name: &str, counts: Counts) {
        self.sections
            .entry(name.to_owned())
            .or_default()
            .add(counts);
    }
}

/// Who wrote an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// CTest's console output.
    Ctest,
    /// GoogleTest's console output.
    Gtest,
    /// JUnit XML, whoever wrote it.
    Junit,
    /// `cargo test`'s output.
    Libtest,
    /// Lines `TESTS: passed=1 failed=0 skipped=0`, and `SECTION name: …` of the same form.
    Lines,
    /// `cargo nextest`'s output.
    Nextest,
    /// pytest's output.
    Pytest,
    /// Nothing: a run that ends with 0 is one test that passed.
    Exit,
}

impl Format {
    /// All of them, with the word that policies have for each.
    pub const ALL: [(&'static str, Self); 8] = [
        ("ctest", Self::Ctest),
        ("exit", Self::Exit),
        ("gtest", Self::Gtest),
        ("junit", Self::Junit),
        ("libtest", Self::Libtest),
        ("lines", Self::Lines),
        ("nextest", Self::Nextest),
        ("pytest", Self::Pytest),
    ];

    /// The format of this word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(name, _)| *name == word);
        found.map(|(_, format)| *format)
    }

    /// Reads an output.
    ///
    /// # Errors
    /// Why its numbers cannot be believed.
    pub fn read(self, output: &[u8]) -> Result<Summary, String> {
        let text = String::from_utf8_lossy(output);
        let text = plain(&text);
        match self {
            Self::Ctest => ctest::read(&text),
            Self::Gtest => gtest::read(&text),
            Self::Junit => junit::read(&text),
            Self::Libtest => libtest::read(&text),
            Self::Lines => lines::read(&text),
            Self::Nextest => nextest::read(&text),
            Self::Pytest => pytest::read(&text),
            Self::Exit => Ok(Summary::default()),
        }
    }
}

/// The text without what colours it on a terminal: `ESC [ … letter`.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        out.push_str(before);
        let end = after.find(|c: char| ('@'..='~').contains(&c));
        rest = end.map_or("", |end| &after[end + 1..]);
    }
    out.push_str(rest);
    out
}

/// `12 passed` in a list of such, each behind a comma or a semicolon: what is counted, by its word.
fn list(text: &str) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for part in text.split([',', ';', ':', '.']) {
        let mut words = part.split_whitespace();
        if let (Some(number), Some(word)) = (words.next(), words.next())
            && let Ok(number) = number.parse::<u64>()
        {
            let count: &mut u64 = counts.entry(word).or_default();
            *count = count.saturating_add(number);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn colours_hide_no_summary() {
        let text = "\u{1b}[32m\u{1b}[1m3 passed\u{1b}[0m\u{1b}[32m in 0.01s\u{1b}[0m";
        assert_eq!(plain(text), "3 passed in 0.01s");
        assert_eq!(
            Format::Pytest.read(text.as_bytes()).unwrap().counts.passed,
            3
        );
    }

    #[test]
    fn numbers_beyond_all_bounds_stay_there() {
        let huge = u64::MAX;
        let pytest = format!("{huge} passed in 0.1s\n{huge} passed in 0.1s\n");
        let counts = Format::Pytest.read(pytest.as_bytes()).unwrap().counts;
        assert_eq!((counts.passed, counts.total()), (huge, huge));
        let both = format!("{huge} passed, {huge} skipped, 1 xfailed in 0.1s");
        assert_eq!(
            Format::Pytest.read(both.as_bytes()).unwrap().counts.skipped,
            huge
        );
        let ctest = format!("9% tests passed, {huge} tests failed out of {huge}\n").repeat(2);
        assert!(Format::Ctest.read(ctest.as_bytes()).is_ok());
        let gtest = "YOU HAVE 18446744073709551615 DISABLED TESTS\n".repeat(2);
        assert!(Format::Gtest.read(gtest.as_bytes()).is_err());
    }

    #[test]
    fn nothing_is_no_summary_in_any_format() {
        for (word, format) in Format::ALL {
            assert_eq!(Format::of(word), Some(format));
            if format != Format::Exit {
                assert!(format.read(b"").is_err(), "{word}");
                assert!(format.read(b"Segmentation fault\n").is_err(), "{word}");
            }
        }
        assert_eq!(Format::of("nunit"), None);
    }

    proptest! {
        #[test]
        fn no_output_makes_a_reader_panic(
            text in "(\\[==========\\]|test result:|running|passed|failed|tests?|Summary|[0-9]+|<testsuite|name=\"|/>|>|[ ,;:.%/=\n\\[\\]-]|é){0,40}"
        ) {
            for (_, format) in Format::ALL {
                let _ = format.read(text.as_bytes());
            }
        }
    }
}
