//! Arguments that Docker predefines: the platforms, by the names that Dockerfiles have for them, and what engines
//! take for themselves.
//!
//! Source: "Dockerfile reference", predefined ARGs and automatic platform ARGs in the global scope.

use crate::text::LaneField;

/// What a platform argument says of a platform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// All of it: `linux/arm/v7`.
    Platform,
    /// `linux`.
    Os,
    /// `arm`.
    Arch,
    /// `v7`; empty for most.
    Variant,
}

/// A platform argument: `TARGETARCH` and its like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlatformArg {
    /// Of what is built for (`TARGET…`), else of what the steps run on (`BUILD…`).
    pub target: bool,
    /// What of it.
    pub part: Part,
}

const NAMES: [(&str, PlatformArg); 8] = [
    ("TARGETPLATFORM", PlatformArg::of(true, Part::Platform)),
    ("TARGETOS", PlatformArg::of(true, Part::Os)),
    ("TARGETARCH", PlatformArg::of(true, Part::Arch)),
    ("TARGETVARIANT", PlatformArg::of(true, Part::Variant)),
    ("BUILDPLATFORM", PlatformArg::of(false, Part::Platform)),
    ("BUILDOS", PlatformArg::of(false, Part::Os)),
    ("BUILDARCH", PlatformArg::of(false, Part::Arch)),
    ("BUILDVARIANT", PlatformArg::of(false, Part::Variant)),
];

/// Proxies: every step has those that the caller gives.
const PROXIES: [&str; 5] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "FTP_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
];

/// The date of the sources, for who makes the same bytes of the same sources.
///
/// Source: reproducible-builds.org, "SOURCE_DATE_EPOCH".
pub(crate) const SOURCE_DATE: &str = "SOURCE_DATE_EPOCH";

impl PlatformArg {
    const fn of(target: bool, part: Part) -> Self {
        Self { target, part }
    }

    /// The argument with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = NAMES.iter();
        all.find(|(known, _)| *known == name).map(|(_, arg)| *arg)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut all = NAMES.iter();
        all.find(|(_, arg)| *arg == self)
            .map_or("", |(name, _)| name)
    }

    /// What of a lane it hangs on.
    #[must_use]
    pub fn fields(self) -> &'static [LaneField] {
        match self.target {
            true => &[LaneField::Target, LaneField::TargetOs, LaneField::Platform],
            false => &[LaneField::Platform],
        }
    }

    /// Its value for `OS/ARCH` or `OS/ARCH/VARIANT`. A platform without a variant has an empty one.
    #[must_use]
    pub fn value(self, platform: &str) -> String {
        let mut parts = platform.splitn(3, '/');
        let part = match self.part {
            Part::Platform => return platform.to_owned(),
            Part::Os => parts.next(),
            Part::Arch => parts.nth(1),
            Part::Variant => parts.nth(2),
        };
        part.unwrap_or_default().to_owned()
    }
}

/// Why a file can declare nothing that is called so, if it cannot.
pub fn taken(name: &str) -> Option<&'static str> {
    if PlatformArg::named(name).is_some() {
        Some("every lane has it, from its `platform` and `target`: name it without declaring it")
    } else if PROXIES.contains(&name.to_uppercase().as_str()) {
        Some("engines hand it to every step, in no key: steps see it without declaring it")
    } else if name.starts_with("BUILDKIT_") {
        Some("engines take it for themselves, and no step sees it")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_platform_has_its_parts_and_an_empty_variant() {
        let values = |platform: &str| {
            let parts = NAMES[..4].iter().map(|(_, arg)| arg.value(platform));
            parts.collect::<Vec<_>>()
        };
        assert_eq!(
            values("linux/arm/v7"),
            ["linux/arm/v7", "linux", "arm", "v7"]
        );
        assert_eq!(
            values("windows/arm64"),
            ["windows/arm64", "windows", "arm64", ""]
        );
        for (name, arg) in NAMES {
            assert_eq!(PlatformArg::named(name).map(PlatformArg::name), Some(name));
            assert_eq!(name.starts_with("TARGET"), arg.target);
        }
    }
}
