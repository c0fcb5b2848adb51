//! The interpreter that a product is for. It is declared in the policy and follows the target;
//! nothing here looks at the machine that runs the gate.

use std::collections::BTreeMap;
use std::str::FromStr as _;

use pep440_rs::Version;

/// The variables of markers, but `extra`, `extras` and `dependency_groups`.
pub const VARIABLES: [&str; 11] = [
    "implementation_name",
    "implementation_version",
    "os_name",
    "platform_machine",
    "platform_python_implementation",
    "platform_release",
    "platform_system",
    "platform_version",
    "python_full_version",
    "python_version",
    "sys_platform",
];

/// What markers are evaluated for. A variable that it does not know makes a marker undecided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    values: BTreeMap<String, String>,
    python: Version,
}

impl Environment {
    /// CPython `python` (`3.14`, or all of `3.14.2`) on a target such as `windows/arm64`.
    /// `more` sets or replaces variables by name.
    ///
    /// # Errors
    /// What is wrong with `python`, the target or a name.
    pub fn new(
        target: &str,
        python: &str,
        more: &BTreeMap<String, String>,
    ) -> Result<Self, String> {
        let version = Version::from_str(python).map_err(|e| format!("python = `{python}`: {e}"))?;
        let [major, minor, rest @ ..] = version.release() else {
            return Err(format!("python = `{python}`: expected a version like 3.14"));
        };
        let (os, machine) = target.split_once('/').unwrap_or((target, ""));
        let [os_name, sys_platform, system] = match os {
            "windows" => ["nt", "win32", "Windows"],
            "linux" => ["posix", "linux", "Linux"],
            _ => return Err(format!("no Python facts for target `{target}`")),
        };
        let machine = match (os, machine) {
            ("windows", "amd64") => "AMD64",
            ("windows", "arm64") => "ARM64",
            ("linux", "amd64") => "x86_64",
            ("linux", "arm64") => "aarch64",
            ("linux", "386") => "i686",
            ("linux", "riscv64") => "riscv64",
            _ => return Err(format!("no Python facts for target `{target}`")),
        };
        let mut values = BTreeMap::new();
        let mut put = |key: &str, value: String| values.insert(key.to_owned(), value);
        put("implementation_name", "cpython".to_owned());
        put("os_name", os_name.to_owned());
        put("platform_machine", machine.to_owned());
        put("platform_python_implementation", "CPython".to_owned());
        put("platform_system", system.to_owned());
        put("python_version", format!("{major}.{minor}"));
        put("sys_platform", sys_platform.to_owned());
        if !rest.is_empty() {
            put("implementation_version", version.to_string());
            put("python_full_version", version.to_string());
        }
        for (key, value) in more {
            if !VARIABLES.contains(&key.as_str()) {
                let known = VARIABLES.join(", ");
                return Err(format!("no variable `{key}` in markers; known: {known}"));
            }
            values.insert(key.clone(), value.clone());
        }
        Ok(Self {
            values,
            python: version,
        })
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, variable: &str) -> Option<&str> {
        self.values.get(variable).map(String::as_str)
    }

    /// What stands for a variable beside a text, where the variable itself was not declared: of
    /// CPython 3.13 every version is above 3.11.4, whichever it is. Nothing where it matters.
    #[must_use]
    pub fn beside(&self, variable: &str, text: &str) -> Option<String> {
        let whole = matches!(variable, "implementation_version" | "python_full_version");
        let other = Version::from_str(text.trim_end_matches(".*")).ok()?;
        let [major, minor, ..] = self.python.release() else {
            return None;
        };
        let apart = matches!(other.release(), [a, b, ..] if (a, b) != (major, minor));
        (whole && apart).then(|| format!("{major}.{minor}"))
    }

    /// The interpreter's version, as precise as it was declared.
    #[must_use]
    pub const fn python(&self) -> &Version {
        &self.python
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(target: &str, python: &str) -> Result<Environment, String> {
        Environment::new(target, python, &BTreeMap::new())
    }

    #[test]
    fn facts_follow_the_target() {
        let windows = new("windows/arm64", "3.14").unwrap();
        assert_eq!(windows.get("platform_machine"), Some("ARM64"));
        assert_eq!(windows.get("sys_platform"), Some("win32"));
        assert_eq!(windows.get("python_full_version"), None, "not declared");
        let linux = new("linux/386", "3.13.2").unwrap();
        assert_eq!(linux.get("platform_machine"), Some("i686"));
        assert_eq!(linux.get("python_version"), Some("3.13"));
        assert_eq!(linux.get("python_full_version"), Some("3.13.2"));
    }

    #[test]
    fn nothing_is_guessed() {
        for (target, python) in [
            ("windows/riscv64", "3.14"),
            ("darwin/arm64", "3.14"),
            ("linux/amd64", "3"),
            ("linux/amd64", ""),
        ] {
            assert!(new(target, python).is_err(), "{target} {python}");
        }
        let more = BTreeMap::from([("platform_realease".to_owned(), "11".to_owned())]);
        assert!(Environment::new("linux/amd64", "3.14", &more).is_err());
    }
}
