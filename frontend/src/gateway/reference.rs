//! Names of images: `debian:12`, `localhost:5000/team/tool@sha256:…`.
//!
//! An image has one full name (`docker.io/library/debian:12`), which engines want, and one familiar name
//! (`debian:12`), which people write and which the keys of named contexts are made of.

use std::fmt;

/// The registry that a name without one means.
const DEFAULT_DOMAIN: &str = "docker.io";
/// The folder of that registry that a name without one means.
const DEFAULT_FOLDER: &str = "library/";
/// The tag that a name without tag and digest means.
const DEFAULT_TAG: &str = "latest";

/// A parsed image name; comparing two of them compares what they mean, not how they were written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reference {
    domain: String,
    path: String,
    tag: Option<String>,
    digest: Option<String>,
}

/// Why a text is no image name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceError {
    text: String,
    problem: &'static str,
}

impl fmt::Display for ReferenceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\" is not an image name: {}",
            self.text, self.problem
        )
    }
}

impl std::error::Error for ReferenceError {}

impl Reference {
    /// Reads an image name as people write it: registry, folder and tag may be missing.
    ///
    /// Fails when the text can name no image (a capital letter in the path, an empty tag, a digest that is none…).
    pub fn parse(text: &str) -> Result<Self, ReferenceError> {
        let refuse = |problem| ReferenceError {
            text: text.to_owned(),
            problem,
        };
        let (rest, digest) = match text.split_once('@') {
            Some((rest, digest)) if is_digest(digest) => (rest, Some(digest.to_owned())),
            Some(_) => return Err(refuse("what follows @ is not a digest such as sha256:…")),
            None => (text, None),
        };
        let (name, tag) = match rest.rsplit_once(':') {
            Some((name, tag)) if !tag.contains('/') => {
                if !is_tag(tag) {
                    return Err(refuse("what follows : is not a tag"));
                }
                (name, Some(tag.to_owned()))
            }
            _ => (rest, None),
        };
        let (domain, path) = match name.split_once('/') {
            Some((first, path)) if is_domain(first) => (first, path.to_owned()),
            _ => (DEFAULT_DOMAIN, name.to_owned()),
        };
        let domain = if domain == "index.docker.io" {
            DEFAULT_DOMAIN
        } else {
            domain
        };
        if !is_path(&path) {
            return Err(refuse(
                "a path is lower-case letters, digits, and . _ - between them",
            ));
        }
        if domain == DEFAULT_DOMAIN && path.len() == 64 && path.bytes().all(is_hex) {
            return Err(refuse("64 hex digits are an image id"));
        }
        let path = if domain == DEFAULT_DOMAIN && !path.contains('/') {
            format!("{DEFAULT_FOLDER}{path}")
        } else {
            path
        };
        Ok(Self {
            domain: domain.to_owned(),
            path,
            tag,
            digest,
        })
    }

    /// The name an engine wants: with registry, and with the tag `latest` where nothing else is said.
    #[must_use]
    pub fn full(&self) -> String {
        let default_tag = self.digest.is_none().then_some(DEFAULT_TAG);
        self.write(&self.domain_and_path(), self.tag.as_deref().or(default_tag))
    }

    /// The name people write, without what goes without saying: no default registry, folder or tag.
    /// Keys of named contexts are made of it.
    #[must_use]
    pub fn familiar(&self) -> String {
        let name = self.domain_and_path();
        let short = match name.strip_prefix("docker.io/") {
            Some(path) => match path.strip_prefix(DEFAULT_FOLDER) {
                Some(last) if !last.contains('/') => last,
                _ => path,
            },
            None => &name,
        };
        let says_nothing = self.digest.is_none() && self.tag.as_deref() == Some(DEFAULT_TAG);
        self.write(short, self.tag.as_deref().filter(|_| !says_nothing))
    }

    /// The digest that the name is pinned to, `sha256:…`.
    #[must_use]
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// The same name, pinned to a digest (any digest that it had is replaced).
    #[must_use]
    pub fn pinned(&self, digest: &str) -> Self {
        Self {
            digest: Some(digest.to_owned()),
            ..self.clone()
        }
    }

    /// Registry and path without tag and digest.
    #[must_use]
    pub fn domain_and_path(&self) -> String {
        format!("{}/{}", self.domain, self.path)
    }

    fn write(&self, name: &str, tag: Option<&str>) -> String {
        let mut text = name.to_owned();
        for (mark, part) in [(':', tag), ('@', self.digest.as_deref())] {
            if let Some(part) = part {
                text.push(mark);
                text.push_str(part);
            }
        }
        text
    }
}

/// A first part is a registry when it could not be a folder: it has a dot or a port, or is `localhost`.
fn is_domain(first: &str) -> bool {
    let host_like = first.contains(['.', ':'])
        || first == "localhost"
        || first.bytes().any(|b| b.is_ascii_uppercase());
    host_like
        && !first.starts_with(['.', '-', ':'])
        && first
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b".-:[]".contains(&b))
}

fn is_path(path: &str) -> bool {
    path.split('/').all(|part| {
        let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        edge(part.bytes().next())
            && edge(part.bytes().last())
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b))
    })
}

fn is_tag(tag: &str) -> bool {
    tag.len() <= 128
        && !tag.is_empty()
        && !tag.starts_with(['.', '-'])
        && tag
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// `algorithm:hex`, with as many digits as the algorithm makes.
pub(crate) fn is_digest(text: &str) -> bool {
    let digits = |hex: &str, count| hex.len() == count && hex.bytes().all(is_hex);
    match text.split_once(':') {
        Some(("sha256", hex)) => digits(hex, 64),
        Some(("sha384", hex)) => digits(hex, 96),
        Some(("sha512", hex)) => digits(hex, 128),
        _ => false,
    }
}

fn is_hex(b: u8) -> bool {
    matches!(b, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGEST: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn a_name_gets_what_goes_without_saying_and_loses_it_again() {
        for (text, full, familiar) in [
            ("debian", "docker.io/library/debian:latest", "debian"),
            ("debian:latest", "docker.io/library/debian:latest", "debian"),
            ("debian:12", "docker.io/library/debian:12", "debian:12"),
            (
                "lanekit/frontend:0.1",
                "docker.io/lanekit/frontend:0.1",
                "lanekit/frontend:0.1",
            ),
            (
                "index.docker.io/library/debian",
                "docker.io/library/debian:latest",
                "debian",
            ),
            (
                "docker.io/debian",
                "docker.io/library/debian:latest",
                "debian",
            ),
            ("localhost/tool", "localhost/tool:latest", "localhost/tool"),
            (
                "localhost:5000/a/b:c",
                "localhost:5000/a/b:c",
                "localhost:5000/a/b:c",
            ),
            (
                "127.0.0.1:5000/a",
                "127.0.0.1:5000/a:latest",
                "127.0.0.1:5000/a",
            ),
            (
                "mcr.example.com/windows/servercore:ltsc2025",
                "mcr.example.com/windows/servercore:ltsc2025",
                "mcr.example.com/windows/servercore:ltsc2025",
            ),
        ] {
            let reference = Reference::parse(text).unwrap();
            assert_eq!(
                (reference.full().as_str(), reference.familiar().as_str()),
                (full, familiar),
                "{text}"
            );
            assert_eq!(
                Reference::parse(full).unwrap().familiar(),
                familiar,
                "{text}"
            );
        }
    }

    #[test]
    fn a_digest_stays_and_needs_no_tag() {
        let pinned = Reference::parse(&format!("debian@{DIGEST}")).unwrap();
        assert_eq!(pinned.full(), format!("docker.io/library/debian@{DIGEST}"));
        assert_eq!(pinned.familiar(), format!("debian@{DIGEST}"));
        let tagged = Reference::parse("debian:12").unwrap().pinned(DIGEST);
        assert_eq!(
            tagged.full(),
            format!("docker.io/library/debian:12@{DIGEST}")
        );
        assert_eq!(tagged.digest(), Some(DIGEST));
    }

    #[test]
    fn what_can_name_no_image_is_refused() {
        for text in [
            "",
            ":",
            "@",
            "/",
            "a//b",
            "Debian",
            "a:",
            "a:b:c",
            "a@sha256:12",
            "-a",
            "a/",
            "a b",
            "a/B",
            "ä",
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        ] {
            assert!(Reference::parse(text).is_err(), "{text:?} was accepted");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_or_refused_and_reading_again_changes_nothing(text in "[a-zA-Z0-9:/@._-]{0,24}|.{0,40}") {
            if let Ok(reference) = Reference::parse(&text) {
                let again = Reference::parse(&reference.full()).unwrap();
                proptest::prop_assert_eq!(again.full(), reference.full());
                let again = Reference::parse(&reference.familiar()).unwrap();
                proptest::prop_assert_eq!(again.full(), reference.full());
            }
        }
    }
}
