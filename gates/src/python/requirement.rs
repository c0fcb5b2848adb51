//! What one `Requires-Dist` asks for: `foo[bar]>=1.2,<2; python_version < "3.12"`.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use pep440_rs::{Version, VersionSpecifiers};

use super::marker::Marker;
use super::normal;

/// A requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The distribution, in the form in which names are compared.
    pub name: String,
    /// Extras of it that are asked for, in the same form.
    pub extras: BTreeSet<String>,
    /// Which version.
    pub wants: Wants,
    /// When it applies.
    pub marker: Option<Marker>,
}

/// Which version is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wants {
    /// One that all of these take; any when there is none.
    Versions(VersionSpecifiers),
    /// The file behind an URL, whatever version it is.
    Url(String),
}

impl Wants {
    /// Whether this version will do. A pre-release in the store does: that it lies there was
    /// somebody's choice.
    #[must_use]
    pub fn takes(&self, version: &Version) -> bool {
        match self {
            Self::Url(_) => true,
            Self::Versions(specifiers) => specifiers.contains(version),
        }
    }
}

impl std::fmt::Display for Wants {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Url(url) => write!(f, "@ {url}"),
            Self::Versions(specifiers) => write!(f, "{specifiers}"),
        }
    }
}

impl Requirement {
    /// Reads a requirement; line feeds of folded headers count as white space.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let end = text
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
            .unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        if !edge(name.chars().next()) || !edge(name.chars().next_back()) {
            return Err(format!("`{text}` begins with no name"));
        }
        let mut rest = rest.trim_start();
        let mut extras = BTreeSet::new();
        if let Some(inner) = rest.strip_prefix('[') {
            let (list, after) = inner.split_once(']').ok_or("`[` without `]`")?;
            for extra in list.split(',').map(str::trim).filter(|e| !e.is_empty()) {
                extras.insert(normal(extra));
            }
            rest = after.trim_start();
        }
        let (wants, marker) = match rest.strip_prefix('@') {
            Some(url) => {
                // A `;` can stand in an URL; the marker's stands behind white space.
                let url = url.trim_start();
                let end = url.find(char::is_whitespace).unwrap_or(url.len());
                let (url, rest) = url.split_at(end);
                if url.is_empty() {
                    return Err("`@` without an URL".to_owned());
                }
                let rest = rest.trim_start();
                let marker = match rest.strip_prefix(';') {
                    None if !rest.is_empty() => return Err(format!("`{rest}` behind the URL")),
                    marker => marker,
                };
                (Wants::Url(url.to_owned()), marker)
            }
            None => {
                let (versions, marker) = match rest.split_once(';') {
                    Some((versions, marker)) => (versions, Some(marker)),
                    None => (rest, None),
                };
                (Wants::Versions(specifiers(versions.trim())?), marker)
            }
        };
        Ok(Self {
            name: normal(name),
            extras,
            wants,
            marker: marker.map(|m| Marker::parse(m.trim())).transpose()?,
        })
    }
}

fn specifiers(text: &str) -> Result<VersionSpecifiers, String> {
    let inner = text
        .strip_prefix('(')
        .map_or(Some(text), |inner| inner.strip_suffix(')'))
        .ok_or("`(` without `)`")?;
    let inner = inner.trim().trim_end_matches(',');
    VersionSpecifiers::from_str(inner).map_err(|e| {
        let why = e.to_string();
        format!("versions `{inner}`: {}", why.lines().next().unwrap_or("?"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn all_forms_of_requirements_are_read() {
        let full = Requirement::parse("Foo.Bar[a, B_c] (>=1.2,<2,) ;\npython_version < \"3.12\"");
        let full = full.unwrap();
        assert_eq!(full.name, "foo-bar");
        assert_eq!(
            full.extras,
            BTreeSet::from(["a".to_owned(), "b-c".to_owned()])
        );
        assert!(full.wants.takes(&"1.9".parse().unwrap()));
        assert!(!full.wants.takes(&"2.0".parse().unwrap()));
        assert!(full.marker.is_some());

        let url = Requirement::parse("x @ https://e.org/a;b.whl ; os_name == 'nt'").unwrap();
        assert_eq!(url.wants, Wants::Url("https://e.org/a;b.whl".to_owned()));
        assert!(url.marker.is_some());
        assert!(
            Requirement::parse("x")
                .unwrap()
                .wants
                .takes(&"0.1".parse().unwrap())
        );
    }

    #[test]
    fn what_is_no_requirement_is_refused() {
        for text in [
            "",
            "-x",
            "x-",
            "x[",
            "x (>=1",
            "x >= ",
            "x 1.0",
            "x; os_nmae == 'nt'",
            "x @ ",
            "x @ u v",
            "x;",
        ] {
            assert!(Requirement::parse(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[ a-z\\[\\](),;@<>=~!.*0-9'é-]{0,40}") {
            let _ = Requirement::parse(&text);
        }
    }
}
