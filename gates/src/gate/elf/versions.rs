//! Names of symbol versions, `GLIBC_2.34`: a family and a number.

use std::collections::BTreeMap;

use crate::format::dynamic::Text;

/// What stands behind the family in the name of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Version {
    /// A number.
    Number(Vec<u64>),
    /// A word that no number stands for: `PRIVATE`.
    Word,
}

/// Versions that are words, and the number that first had them (glibc's NEWS of 2.36).
const WORDS: [(&str, &str, &str); 1] = [("GLIBC", "ABI_DT_RELR", "2.36")];

impl Version {
    /// The version that `name` is of this family; nothing when it is of another.
    pub(super) fn of(family: &str, name: &str) -> Option<Self> {
        let rest = name.strip_prefix(family)?.strip_prefix('_')?;
        let word = |(of, word, _): &&(&str, &str, &str)| *of == family && *word == rest;
        let number = match WORDS.iter().find(word) {
            Some((_, _, number)) => Self::number(number),
            None => Self::number(rest),
        };
        Some(number.map_or(Self::Word, Self::Number))
    }

    /// The parts of a number, `2.34`.
    pub(super) fn number(text: &str) -> Option<Vec<u64>> {
        let part = |part: &str| {
            let digits = !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
            digits.then(|| part.parse().ok()).flatten()
        };
        text.split('.').map(part).collect()
    }
}

/// The versions that are needed, of each family the highest number and every word.
pub(super) fn highest(needs: &[(Text, Text)]) -> BTreeMap<String, u64> {
    let mut numbers: BTreeMap<&str, (Vec<u64>, &str)> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for (_, name) in needs {
        let Ok(name) = std::str::from_utf8(name) else {
            names.insert(String::from_utf8_lossy(name).into_owned(), 1);
            continue;
        };
        let parts = name.rsplit_once('_');
        match parts.and_then(|(family, rest)| Some((family, Version::number(rest)?))) {
            Some((family, number)) => {
                let best = numbers.entry(family).or_insert((Vec::new(), name));
                if number > best.0 {
                    *best = (number, name);
                }
            }
            None => {
                names.insert(name.to_owned(), 1);
            }
        }
    }
    names.extend(numbers.values().map(|(_, name)| ((*name).to_owned(), 1)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_compare_by_their_parts() {
        let of = |name| Version::of("GLIBC", name);
        let number = |parts: &[u64]| Some(Version::Number(parts.to_vec()));
        assert_eq!(of("GLIBC_2.2.5"), number(&[2, 2, 5]));
        assert!(Version::number("2.9") < Version::number("2.34"));
        assert!(Version::number("2.2.5") < Version::number("2.3"));
        assert_eq!(of("GLIBCXX_3.4"), None);
        assert_eq!(of("GLIBC_PRIVATE"), Some(Version::Word));
        assert_eq!(of("GLIBC_ABI_DT_RELR"), number(&[2, 36]));
        assert_eq!(of("GLIBC_18446744073709551616"), Some(Version::Word));
    }

    #[test]
    fn of_each_family_the_highest_is_kept_and_every_word() {
        let needs = ["A_1.9", "A_1.10", "A_1.2", "B_PRIVATE", "B_3", "libx.so.1"];
        let needs: Vec<(Text, Text)> = needs
            .iter()
            .map(|name| (Text::default(), name.as_bytes().into()))
            .collect();
        let kept: Vec<String> = highest(&needs).into_keys().collect();
        assert_eq!(kept, ["A_1.10", "B_3", "B_PRIVATE", "libx.so.1"]);
    }
}
