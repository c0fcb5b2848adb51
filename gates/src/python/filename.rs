//! Names of wheels: `dist-version(-build)?-python-abi-platform.whl`, each tag a dotted set.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr as _;

use pep440_rs::Version;

use super::normal;

/// What the name of a wheel says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelName {
    /// The distribution as it is spelled.
    pub dist: String,
    /// Its version.
    pub version: Version,
    /// The build number, when there is one.
    pub build: Option<String>,
    /// Python tags: `cp314`, `py3`.
    pub pythons: Vec<String>,
    /// ABI tags: `cp314t`, `abi3`, `none`.
    pub abis: Vec<String>,
    /// Platform tags: `win_arm64`, `manylinux_2_28_x86_64`, `any`.
    pub platforms: Vec<String>,
}

/// One full tag: what an installer compares.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tag {
    /// Python tag.
    pub python: String,
    /// ABI tag.
    pub abi: String,
    /// Platform tag.
    pub platform: String,
}

impl Tag {
    /// Reads `python-abi-platform`, as WHEEL has it; every part may be a dotted set.
    #[must_use]
    pub fn set(text: &str) -> Option<BTreeSet<Self>> {
        let parts: Vec<&str> = text.trim().split('-').collect();
        let [pythons, abis, platforms] = parts[..] else {
            return None;
        };
        let all = [pythons, abis, platforms].map(|part| part.split('.').collect::<Vec<_>>());
        if all.iter().flatten().any(|tag| tag.is_empty()) {
            return None;
        }
        let [pythons, abis, platforms] = all;
        Some(product(&pythons, &abis, &platforms))
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.python, self.abi, self.platform)
    }
}

fn product<S: AsRef<str>>(pythons: &[S], abis: &[S], platforms: &[S]) -> BTreeSet<Tag> {
    let mut tags = BTreeSet::new();
    for python in pythons {
        for abi in abis {
            for platform in platforms {
                tags.insert(Tag {
                    python: python.as_ref().to_owned(),
                    abi: abi.as_ref().to_owned(),
                    platform: platform.as_ref().to_owned(),
                });
            }
        }
    }
    tags
}

impl WheelName {
    /// Reads the last part of a path.
    ///
    /// # Errors
    /// Why it names no wheel.
    pub fn parse(name: &str) -> Result<Self, String> {
        let stem = name
            .strip_suffix(".whl")
            .ok_or("it does not end in `.whl`")?;
        let parts: Vec<&str> = stem.split('-').collect();
        let (dist, version, build, tags) = match parts[..] {
            [dist, version, a, b, c] => (dist, version, None, [a, b, c]),
            [dist, version, build, a, b, c] => (dist, version, Some(build), [a, b, c]),
            _ => return Err(format!("{} parts, expected 5 or 6", parts.len())),
        };
        if dist.is_empty()
            || !dist
                .chars()
                .all(|c| c.is_alphanumeric() || "._".contains(c))
        {
            return Err(format!("`{dist}` is no distribution"));
        }
        if let Some(build) = build
            && !build.starts_with(|c: char| c.is_ascii_digit())
        {
            return Err(format!("build `{build}` does not begin with a digit"));
        }
        let version =
            Version::from_str(version).map_err(|e| format!("version `{version}`: {e}"))?;
        let [pythons, abis, platforms] =
            tags.map(|tag| tag.split('.').map(str::to_owned).collect::<Vec<_>>());
        if [&pythons, &abis, &platforms]
            .iter()
            .any(|set| set.iter().any(String::is_empty))
        {
            return Err("an empty tag".to_owned());
        }
        Ok(Self {
            dist: dist.to_owned(),
            version,
            build: build.map(str::to_owned),
            pythons,
            abis,
            platforms,
        })
    }

    /// The distribution in the form in which names are compared.
    #[must_use]
    pub fn normal(&self) -> String {
        normal(&self.dist)
    }

    /// Every full tag that the sets make.
    #[must_use]
    pub fn tags(&self) -> BTreeSet<Tag> {
        product(&self.pythons, &self.abis, &self.platforms)
    }

    /// Whether it is for every platform.
    #[must_use]
    pub fn any_platform(&self) -> bool {
        self.platforms.iter().any(|platform| platform == "any")
    }
}

/// `cp314` → (3, 14); also of ABI tags with a `t` or `d` behind. None for `py3`, `abi3`, `none`.
#[must_use]
pub fn cpython(tag: &str) -> Option<(u32, u32)> {
    let digits = tag.strip_prefix("cp")?.trim_end_matches(['t', 'd']);
    let (major, minor) = digits.split_at_checked(1)?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whether this is the ABI of a free-threaded interpreter: `cp314t`, `abi3t`.
#[must_use]
pub fn free_threaded(abi: &str) -> bool {
    abi == "abi3t" || (cpython(abi).is_some() && abi.ends_with('t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_five_or_six_parts() {
        let name = WheelName::parse("msgpack-1.2.4-1x-cp313.cp314-cp313-win32.whl").unwrap();
        assert_eq!(name.normal(), "msgpack");
        assert_eq!(name.build.as_deref(), Some("1x"));
        let tags: Vec<String> = name.tags().iter().map(Tag::to_string).collect();
        assert_eq!(tags, ["cp313-cp313-win32", "cp314-cp313-win32"]);
        for wrong in [
            "x.whl",
            "x-1-py3-none.whl",
            "x-1-b-py3-none-any.whl",
            "x-one-py3-none-any.whl",
            "x-1-py3--any.whl",
            "x-1-py3..py2-none-any.whl",
            "-1-py3-none-any.whl",
            "x-1-py3-none-any.zip",
            "x-1-2-3-py3-none-any.whl",
        ] {
            assert!(WheelName::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn tags_of_wheel_expand_as_those_of_names() {
        let set = Tag::set("py2.py3-none-any").unwrap();
        let name = WheelName::parse("distlib-0.4.4-py2.py3-none-any.whl").unwrap();
        assert_eq!(set, name.tags());
        assert!(Tag::set("py3-none").is_none() && Tag::set("py3--any").is_none());
    }

    #[test]
    fn only_whole_interpreter_tags_are_versions() {
        assert_eq!(cpython("cp314t"), Some((3, 14)));
        assert_eq!(cpython("cp39"), Some((3, 9)));
        for none in ["py3", "abi3", "none", "cp", "cp3", "cpx1", "cp3é"] {
            assert_eq!(cpython(none), None, "{none}");
        }
        assert!(free_threaded("cp314t") && free_threaded("abi3t"));
        assert!(!free_threaded("cp314") && !free_threaded("abi3") && !free_threaded("at"));
    }
}
