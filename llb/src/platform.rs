//! What a step runs on.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::proto::pb;

/// An operating system and an architecture, in the words of the OCI image
/// specification and in BuildKit's normal form.
///
/// Only exec, image and OCI layout vertices carry one, so that all other
/// vertices are shared between platforms.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Platform {
    /// `linux`, `windows`, …
    pub os: String,
    /// `amd64`, `arm64`, …
    pub architecture: String,
    /// `v7`, …; empty for none.
    pub variant: String,
    /// Windows' build number, such as `10.0.20348.2113`; empty for any.
    pub os_version: String,
    /// Such as `win32k`.
    pub os_features: Vec<String>,
}

impl Platform {
    /// A platform of an operating system and an architecture, by their
    /// usual names.
    #[must_use]
    pub fn new(os: &str, architecture: &str) -> Self {
        Self::normal(os, architecture, "")
    }

    /// The same platform with Windows' build number.
    #[must_use]
    pub fn os_version(mut self, version: impl Into<String>) -> Self {
        self.os_version = version.into();
        self
    }

    /// Whether a step on this platform runs on a Windows worker.
    #[must_use]
    pub fn is_windows(&self) -> bool {
        self.os == "windows"
    }

    /// Other names become the usual ones, as containerd does it: `aarch64` and
    /// `arm64/v8` are `arm64`, `x86_64` is `amd64`, `armhf` is `arm/v7`.
    fn normal(os: &str, architecture: &str, variant: &str) -> Self {
        let os = os.to_ascii_lowercase();
        let architecture = architecture.to_ascii_lowercase();
        let variant = variant.to_ascii_lowercase();
        let os = if os == "macos" { "darwin" } else { &os };
        let (architecture, variant) = match (architecture.as_str(), variant.as_str()) {
            ("i386", _) => ("386", ""),
            ("x86_64" | "x86-64" | "amd64", "v1") => ("amd64", ""),
            ("x86_64" | "x86-64", v) => ("amd64", v),
            ("aarch64" | "arm64", "8" | "v8") => ("arm64", ""),
            ("aarch64", v) => ("arm64", v),
            ("armhf", _) => ("arm", "v7"),
            ("armel", _) => ("arm", "v6"),
            ("arm", "" | "7") => ("arm", "v7"),
            ("arm", "5") => ("arm", "v5"),
            ("arm", "6") => ("arm", "v6"),
            ("arm", "8") => ("arm", "v8"),
            other => other,
        };
        Self {
            os: os.to_owned(),
            architecture: architecture.to_owned(),
            variant: variant.to_owned(),
            os_version: String::new(),
            os_features: Vec::new(),
        }
    }

    pub(crate) fn to_pb(&self) -> pb::Platform {
        pb::Platform {
            architecture: self.architecture.clone(),
            os: self.os.clone(),
            variant: self.variant.clone(),
            os_version: self.os_version.clone(),
            os_features: self.os_features.clone(),
        }
    }
}

impl From<&Platform> for pb::Platform {
    fn from(platform: &Platform) -> Self {
        platform.to_pb()
    }
}

impl From<&pb::Platform> for Platform {
    /// A platform from the engine, in normal form.
    fn from(platform: &pb::Platform) -> Self {
        Self {
            os_version: platform.os_version.clone(),
            os_features: platform.os_features.clone(),
            ..Self::normal(&platform.os, &platform.architecture, &platform.variant)
        }
    }
}

impl fmt::Display for Platform {
    /// `linux/arm/v7`, `windows(10.0.20348.2113)/amd64`: the form that the keys
    /// of a result of several platforms have.
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

impl FromStr for Platform {
    type Err = Error;

    /// Reads `OS/ARCHITECTURE` or `OS/ARCHITECTURE/VARIANT`, where OS may be
    /// `OS(VERSION)`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = || Error::Invalid {
            what: "platform",
            value: text.to_owned(),
            expected: "OS/ARCHITECTURE or OS/ARCHITECTURE/VARIANT",
        };
        let word = |w: &str| {
            !w.is_empty()
                && w.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        };
        let parts: Vec<&str> = text.split('/').collect();
        let (os, architecture, variant) = match parts[..] {
            [os, architecture] => (os, architecture, ""),
            [os, architecture, variant] if word(variant) => (os, architecture, variant),
            _ => return Err(invalid()),
        };
        let (os, version) = match os.split_once('(') {
            Some((os, rest)) => (os, rest.strip_suffix(')').ok_or_else(invalid)?),
            None => (os, ""),
        };
        if !word(os) || !word(architecture) || !(version.is_empty() || word(version)) {
            return Err(invalid());
        }
        Ok(Self::normal(os, architecture, variant).os_version(version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_have_one_normal_form() {
        for (text, normal) in [
            ("linux/amd64", "linux/amd64"),
            ("Linux/x86_64", "linux/amd64"),
            ("linux/amd64/v1", "linux/amd64"),
            ("linux/amd64/v3", "linux/amd64/v3"),
            ("linux/aarch64", "linux/arm64"),
            ("linux/arm64/v8", "linux/arm64"),
            ("linux/arm", "linux/arm/v7"),
            ("linux/armhf", "linux/arm/v7"),
            ("linux/arm/6", "linux/arm/v6"),
            ("macos/arm64", "darwin/arm64"),
            (
                "windows(10.0.20348.2113)/amd64",
                "windows(10.0.20348.2113)/amd64",
            ),
        ] {
            let platform: Platform = text.parse().unwrap();
            assert_eq!(platform.to_string(), normal);
            assert_eq!(platform.to_string().parse(), Ok(platform));
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "linux",
            "linux/",
            "/amd64",
            "a/b/c/d",
            "a/b/",
            "w(1/amd64",
            "a b/c",
        ] {
            assert!(text.parse::<Platform>().is_err(), "{text}");
        }
    }
}
