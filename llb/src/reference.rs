//! Names of images.

use std::fmt;
use std::str::FromStr;

use crate::Error;

/// The full name of an image: registry, repository, and tag or digest.
///
/// Short names are completed as Docker does it: `debian` is
/// `docker.io/library/debian:latest`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    repository: String,
    tag: Option<String>,
    digest: Option<String>,
}

impl Reference {
    /// Registry and path, such as `docker.io/library/debian`.
    #[must_use]
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// The tag.
    #[must_use]
    pub fn tag(&self) -> Option<&str> {
        self.tag.as_deref()
    }

    /// The digest that pins the image, `ALGORITHM:HEX`.
    #[must_use]
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// The same image, pinned to what it resolved to.
    ///
    /// # Errors
    /// `digest` is not `ALGORITHM:HEX`.
    pub fn pinned(mut self, digest: &str) -> Result<Self, Error> {
        if !is_digest(digest) {
            return Err(Error::Invalid {
                what: "digest",
                value: digest.to_owned(),
                expected: "ALGORITHM:HEX",
            });
        }
        self.digest = Some(digest.to_owned());
        Ok(self)
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repository)?;
        if let Some(tag) = &self.tag {
            write!(f, ":{tag}")?;
        }
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        Ok(())
    }
}

impl FromStr for Reference {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = |expected| Error::Invalid {
            what: "image reference",
            value: text.to_owned(),
            expected,
        };
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) if is_digest(digest) => (rest, Some(digest.to_owned())),
            Some(_) => return Err(invalid("[REGISTRY/]PATH[:TAG]@ALGORITHM:HEX")),
            None => (text, None),
        };
        // A colon before a slash belongs to the port of a registry.
        let (name, tag) = match rest.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
            _ => (rest, None),
        };
        if tag.is_some_and(|tag| !is_tag(tag)) {
            return Err(invalid(
                "[REGISTRY/]PATH:TAG, with a tag of letters, digits, `_`, `.`, `-`",
            ));
        }
        let (registry, path) = match name.split_once('/') {
            Some((first, path)) if is_registry(first) => (first, path.to_owned()),
            Some(_) => ("docker.io", name.to_owned()),
            None => ("docker.io", format!("library/{name}")),
        };
        let registry = if registry == "index.docker.io" {
            "docker.io"
        } else {
            registry
        };
        let path = if registry == "docker.io" && !path.contains('/') {
            format!("library/{path}")
        } else {
            path
        };
        if !path.split('/').all(is_path_part) {
            return Err(invalid(
                "[REGISTRY/]PATH, with a path of lower-case letters, digits, `_`, `.`, `-`, `/`",
            ));
        }
        let tag = match (tag, &digest) {
            (Some(tag), _) => Some(tag.to_owned()),
            (None, None) => Some("latest".to_owned()),
            (None, Some(_)) => None,
        };
        Ok(Self {
            repository: format!("{registry}/{path}"),
            tag,
            digest,
        })
    }
}

/// The first part of a name is a registry if it could not be a path, or is
/// `localhost`.
fn is_registry(part: &str) -> bool {
    let may_be = part.contains(['.', ':'])
        || part == "localhost"
        || part.bytes().any(|b| b.is_ascii_uppercase());
    may_be
        && part
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b))
}

fn is_path_part(part: &str) -> bool {
    let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let separators = part.split(|c: char| word(c as u8 & 0x7f) && c.is_ascii());
    part.bytes().next().is_some_and(word)
        && part.bytes().last().is_some_and(word)
        && separators
            .filter(|s| !s.is_empty())
            .all(|s| matches!(s, "." | "_" | "__") || s.bytes().all(|b| b == b'-'))
}

fn is_tag(tag: &str) -> bool {
    tag.len() <= 128
        && tag
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_')
        && tag
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b))
}

/// `sha256:` and its 64 digits, or another algorithm of at least 32 digits.
fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else {
        return false;
    };
    let length = match algorithm {
        "sha256" => hex.len() == 64,
        "sha384" => hex.len() == 96,
        "sha512" => hex.len() == 128,
        _ => false,
    };
    length
        && hex
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn short_names_are_completed() {
        for (text, full) in [
            ("debian", "docker.io/library/debian:latest"),
            ("debian:13-slim", "docker.io/library/debian:13-slim"),
            ("lanekit/frontend:0.1", "docker.io/lanekit/frontend:0.1"),
            ("docker.io/debian", "docker.io/library/debian:latest"),
            ("index.docker.io/a/b", "docker.io/a/b:latest"),
            ("localhost/x", "localhost/x:latest"),
            ("127.0.0.1:5000/x", "127.0.0.1:5000/x:latest"),
            ("127.0.0.1:5000/x:1", "127.0.0.1:5000/x:1"),
            (
                "mcr.microsoft.com/a/b_c/d-e/f__g",
                "mcr.microsoft.com/a/b_c/d-e/f__g:latest",
            ),
        ] {
            let reference: Reference = text.parse().unwrap();
            assert_eq!(reference.to_string(), full);
            assert_eq!(full.parse(), Ok(reference));
        }
    }

    #[test]
    fn a_digest_takes_the_place_of_the_default_tag() {
        let reference: Reference = format!("debian@{DIGEST}").parse().unwrap();
        assert_eq!(
            reference.to_string(),
            format!("docker.io/library/debian@{DIGEST}")
        );
        let pinned = "debian:13"
            .parse::<Reference>()
            .unwrap()
            .pinned(DIGEST)
            .unwrap();
        assert_eq!(
            pinned.to_string(),
            format!("docker.io/library/debian:13@{DIGEST}")
        );
        assert_eq!(pinned.to_string().parse(), Ok(pinned));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            ":",
            "@",
            "Debian",
            "a:b:c",
            "a/",
            "/a",
            "a//b",
            "a..b",
            "-a",
            "a-",
            "a___b",
            "ä",
            "a:é",
            "a@sha256:12",
            "a b",
            "debian:",
            "host:99/UPPER",
            "a@",
            "ſ",
        ] {
            assert!(text.parse::<Reference>().is_err(), "{text}");
        }
        assert!(
            "debian"
                .parse::<Reference>()
                .unwrap()
                .pinned("sha256:1")
                .is_err()
        );
    }
}
