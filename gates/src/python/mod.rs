//! What Python packaging says about wheels, as far as gates need it.
//!
//! Versions and their specifiers are the crate `pep440_rs`. The rest is small and written here:
//! the crate for requirements brings a regular expression engine and an URL library for it.
//!
//! - [`filename`]: names of wheels and their tags (binary distribution format, PEP 427 and 425).
//! - [`metadata`]: headers of METADATA and WHEEL, whatever their line ends and folds.
//! - [`requirement`] and [`marker`]: what `Requires-Dist` says (dependency specifiers, PEP 508).
//! - [`environment`]: the interpreter that a product is for, declared and never asked of the host.
//! - [`record`]: the list of files of a wheel with their digests.

pub mod environment;
pub mod filename;
pub mod marker;
pub mod metadata;
pub mod record;
pub mod requirement;
pub mod runtime;
pub mod wheel;

/// A distribution's name in the form in which names are compared (PEP 503): lower case, runs of
/// `-`, `_` and `.` as one `-`.
#[must_use]
pub fn normal(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' | '.' => {
                if !out.ends_with('-') {
                    out.push('-');
                }
            }
            c => out.push(c.to_ascii_lowercase()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_name_are_equal() {
        for name in [
            "Ruamel.Yaml",
            "ruamel_yaml",
            "ruamel--yaml",
            "RUAMEL-._yaml",
        ] {
            assert_eq!(normal(name), "ruamel-yaml");
        }
        assert_ne!(normal("foo-bar"), normal("foobar"));
    }
}
