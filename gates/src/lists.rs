//! Lists of names that loaders know without a file of the tree. They come with lanegate and are
//! the same on every machine that runs it.

use std::collections::BTreeSet;

use toml::de::{DeTable, DeValue};

use crate::exit::Failure;
use crate::policy::digest;
use crate::report::List;

/// A list.
#[derive(Debug, Clone)]
pub struct Names {
    /// What reports say of it.
    pub list: List,
    names: BTreeSet<String>,
    form: Form,
}

/// How a name is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// It is in the list.
    Whole,
    /// It begins with one of the list.
    Begin,
    /// As [`Form::Begin`], and a digit follows: `msvcp140.dll`, but not `msvcp_win.dll`.
    BeginDigit,
}

/// The lists for one operating system.
#[derive(Debug, Clone)]
pub struct Lists {
    /// API sets, without their last number. Nothing for Linux.
    pub api_sets: Option<Names>,
    /// Libraries that each installation has.
    pub system: Names,
    /// Libraries that installations for people have.
    pub client: Names,
    /// Libraries of drivers and toolkits.
    pub driver: Names,
    /// The compiler's run-time.
    pub crt: Names,
}

impl Names {
    fn parse(text: &str, form: Form) -> Result<Self, String> {
        let table = DeTable::parse(text)
            .map_err(|e| e.to_string())?
            .into_inner();
        let word = |key: &str| match table.get(key).map(|value| value.get_ref()) {
            Some(DeValue::String(text)) => Ok(text.to_string()),
            _ => Err(format!("`{key}` is no string")),
        };
        let Some(DeValue::Array(list)) = table.get("names").map(|value| value.get_ref()) else {
            return Err("`names` is no list".to_owned());
        };
        let mut names = BTreeSet::new();
        for name in list {
            let DeValue::String(name) = name.get_ref() else {
                return Err("a name is no string".to_owned());
            };
            if name.is_empty() || !names.insert(name.to_string()) {
                return Err(format!("`{name}` is empty or stands twice"));
            }
        }
        Ok(Self {
            list: List {
                digest: digest(text.as_bytes()),
                name: word("name")?,
                source: word("source")?,
                version: word("version")?,
            },
            names,
            form,
        })
    }

    /// Its name and version, for people.
    #[must_use]
    pub fn told(&self) -> String {
        format!("{} {}", self.list.name, self.list.version)
    }

    /// Whether the list has this name; for Windows give it in lower case.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let mut rests = self
            .names
            .iter()
            .filter_map(|start| name.strip_prefix(start.as_str()));
        match self.form {
            Form::Whole => self.names.contains(name),
            Form::Begin => rests.next().is_some(),
            Form::BeginDigit => rests.any(|rest| rest.starts_with(|c: char| c.is_ascii_digit())),
        }
    }
}

impl Lists {
    /// The lists for `windows` or `linux`.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] when a built-in list is none; a test keeps them so.
    pub fn of(os: &str) -> Result<Self, Failure> {
        macro_rules! list {
            ($file:literal, $form:ident) => {
                Names::parse(
                    include_str!(concat!("../data/", $file, ".toml")),
                    Form::$form,
                )
                .map_err(|why| Failure::Unreadable(format!(concat!($file, ": {}"), why)))?
            };
        }
        Ok(if os == "windows" {
            Self {
                api_sets: Some(list!("windows-api-sets", Whole)),
                system: list!("windows-system", Whole),
                client: list!("windows-client", Whole),
                driver: list!("windows-driver", Begin),
                crt: list!("windows-crt", BeginDigit),
            }
        } else {
            Self {
                api_sets: None,
                system: list!("linux-system", Whole),
                client: list!("linux-client", Whole),
                driver: list!("linux-driver", Begin),
                crt: list!("linux-crt", Whole),
            }
        })
    }

    /// What reports say of them.
    #[must_use]
    pub fn used(&self) -> Vec<List> {
        let all = [&self.system, &self.client, &self.driver, &self.crt];
        let api_sets = self.api_sets.iter();
        all.into_iter()
            .chain(api_sets)
            .map(|names| names.list.clone())
            .collect()
    }
}

/// Whether this is the name of an API set.
#[must_use]
pub fn is_api_set(name: &str) -> bool {
    name.starts_with("api-ms-") || name.starts_with("ext-ms-")
}

/// An API set's name as lists have it: without extension and last number.
#[must_use]
pub fn api_set(name: &str) -> &str {
    let name = name.strip_suffix(".dll").unwrap_or(name);
    match name.rsplit_once('-') {
        Some((contract, number)) if number.bytes().all(|b| b.is_ascii_digit()) => contract,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_one_and_says_where_it_comes_from() {
        for os in ["windows", "linux"] {
            let lists = Lists::of(os).unwrap();
            for list in lists.used() {
                assert!(
                    !list.source.is_empty() && !list.version.is_empty(),
                    "{list:?}"
                );
            }
        }
    }

    #[test]
    fn windows_names_are_in_lower_case() {
        let lists = Lists::of("windows").unwrap();
        for list in [&lists.system, &lists.client, &lists.driver, &lists.crt] {
            let lower = |name: &String| !name.bytes().any(|b| b.is_ascii_uppercase());
            assert!(list.names.iter().all(lower), "{}", list.list.name);
        }
    }

    #[test]
    fn the_last_number_of_an_api_set_does_not_matter_and_its_name_does() {
        let sets = Lists::of("windows").unwrap().api_sets.unwrap();
        assert!(sets.has(api_set("api-ms-win-crt-runtime-l1-1-0.dll")));
        assert!(sets.has(api_set("api-ms-win-crt-runtime-l1-1-9.dll")));
        assert!(!sets.has(api_set("api-ms-win-crt-runtmie-l1-1-0.dll")));
        assert!(!sets.has(api_set("api-ms-win-crt-runtime.dll")));
    }
}
