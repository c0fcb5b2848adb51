//! Platforms as options spell them: `linux/amd64`, `arm64`, `windows(10.0.20348)/amd64`, `linux/arm/v7`.

use std::fmt;

/// An operating system and an architecture, in the normal form that engines compare.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Platform {
    /// `linux`, `windows`, …
    pub os: String,
    /// The version of the operating system (Windows only), or nothing.
    pub os_version: String,
    /// In Go's words: `amd64`, `arm64`, …
    pub architecture: String,
    /// `v7` and the like, or nothing.
    pub variant: String,
}

/// Architectures that may stand alone, meaning Linux.
const ARCHITECTURES: [&str; 11] = [
    "386", "amd64", "arm", "arm64", "loong64", "mips64", "mips64le", "ppc64le", "riscv64", "s390x",
    "wasm",
];

impl Platform {
    /// Reads one platform, in any of the spellings that the engine itself accepts, into the normal form
    /// (`aarch64` is `arm64`, `arm64/v8` is `arm64`, `armhf` is `arm/v7`). A lone system (`linux`) is refused:
    /// which architecture it means depends on the machine.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lower = text.trim().to_lowercase();
        let parts: Vec<&str> = lower.split('/').collect();
        let (system, architecture, variant) = match parts[..] {
            [architecture] => ("linux", architecture, ""),
            [system, architecture] => (system, architecture, ""),
            [system, architecture, variant] => (system, architecture, variant),
            _ => return Err("a platform is os/architecture[/variant]".to_owned()),
        };
        let (os, os_version) = match system.split_once('(') {
            Some((os, version)) => match version.strip_suffix(')') {
                Some(version) => (os, version),
                None => return Err("the bracket after the system is not closed".to_owned()),
            },
            None => (system, ""),
        };
        let os = if os == "macos" { "darwin" } else { os };
        let (architecture, variant) = match (architecture, variant) {
            ("x86_64" | "x86-64", v) | ("amd64", v) => ("amd64", if v == "v1" { "" } else { v }),
            ("i386" | "x86", _) => ("386", ""),
            ("aarch64" | "arm64", v) => (
                "arm64",
                if matches!(v, "8" | "v8" | "v8.0") {
                    ""
                } else {
                    v
                },
            ),
            ("armhf", _) => ("arm", "v7"),
            ("armel", _) => ("arm", "v6"),
            ("arm", "" | "7") => ("arm", "v7"),
            ("arm", "5") => ("arm", "v5"),
            ("arm", "6") => ("arm", "v6"),
            ("arm", "8") => ("arm", "v8"),
            other => other,
        };
        let plain = |part: &str| {
            part.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"._-+".contains(&b))
        };
        if os.is_empty()
            || architecture.is_empty()
            || ![os, os_version, architecture, variant]
                .into_iter()
                .all(plain)
        {
            return Err("a platform is os/architecture[/variant]".to_owned());
        }
        if parts.len() == 1 && !ARCHITECTURES.contains(&architecture) {
            return Err(format!(
                "say which architecture, for example {os}/amd64",
                os = parts[0]
            ));
        }
        Ok(Self {
            os: os.to_owned(),
            os_version: os_version.to_owned(),
            architecture: architecture.to_owned(),
            variant: variant.to_owned(),
        })
    }
}

/// The platform's id: what keys of results and of named contexts are made of.
impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.os)?;
        if !self.os_version.is_empty() {
            write!(f, "({})", self.os_version)?;
        }
        write!(f, "/{}", self.architecture)?;
        if !self.variant.is_empty() {
            write!(f, "/{}", self.variant)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_has_one_normal_form() {
        for (text, id) in [
            ("linux/amd64", "linux/amd64"),
            ("Linux/x86_64", "linux/amd64"),
            ("linux/arm64/v8", "linux/arm64"),
            ("aarch64", "linux/arm64"),
            ("linux/arm", "linux/arm/v7"),
            ("linux/armel", "linux/arm/v6"),
            ("windows/amd64", "windows/amd64"),
            ("windows(10.0.20348.1)/amd64", "windows(10.0.20348.1)/amd64"),
            ("macos/arm64", "darwin/arm64"),
        ] {
            let platform = Platform::parse(text).unwrap();
            assert_eq!(platform.to_string(), id);
            assert_eq!(Platform::parse(id).unwrap(), platform);
        }
    }

    #[test]
    fn what_leaves_the_architecture_open_or_is_no_platform_is_refused() {
        for text in [
            "",
            "linux",
            "windows",
            "a/b/c/d",
            "/amd64",
            "linux/",
            "windows(10/amd64",
            "linux/am d64",
        ] {
            assert!(Platform::parse(text).is_err(), "{text:?} was accepted");
        }
    }
}
