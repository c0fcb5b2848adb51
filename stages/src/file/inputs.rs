//! Files that come from elsewhere than the repository, by their hashes, as they are declared.

use super::TagPart;
use super::read::Text;
use crate::diag::Span;
use crate::text::Template;

/// What `payload.NAME` is where the file is.
pub const PRESENT: &str = "present";
/// What `payload.NAME` is where it is not.
pub const ABSENT: &str = "absent";

/// `[payload.NAME]`: a file that licences keep out of the repository. Who has it puts it in its
/// place; without it, what takes it is off.
#[derive(Debug, Clone)]
pub struct Payload {
    /// One line of documentation.
    pub about: Option<Text>,
    /// Where it is: a path of the context, whose last part may be a pattern (`*`, `?`). Of
    /// several that match it is the last one by version.
    pub path: Text,
    /// The named context that has it, in place of the build's own.
    pub context: Option<Text>,
    /// What its bytes must be; without one, `empty_ok` says why.
    pub sha256: Option<Sum>,
    /// Why nobody may know its hash.
    pub empty_ok: Option<Text>,
    /// What it adds to the tags of what it changes; without it, what is built with it has no tag.
    pub tag_part: Option<TagPart>,
    /// Where it is declared.
    pub span: Span,
}

impl Payload {
    /// The directory that has it, without a `/` at its end, and its name or pattern in there.
    pub fn place(&self) -> (&str, &str) {
        let path = self.path.value.as_str();
        path.rsplit_once('/').unwrap_or(("", path))
    }

    /// Whether several files may be meant.
    pub fn is_pattern(&self) -> bool {
        self.path.value.contains(['*', '?'])
    }
}

/// `[fetch.NAME]`: a file that is downloaded, by its hash.
#[derive(Debug, Clone)]
pub struct Fetch {
    /// Where it is.
    pub url: Template,
    /// What its bytes must be.
    pub sha256: Sum,
    /// What the file is called, in place of the last part of its URL.
    pub filename: Option<Text>,
    /// Where it is declared.
    pub span: Span,
}

/// A SHA-256, as it is declared.
#[derive(Debug, Clone)]
pub enum Sum {
    /// 64 hexadecimal digits in small letters.
    Literal(String, Span),
    /// The pin that has it.
    Pin(Text),
}

impl Sum {
    /// Where it was written.
    pub fn span(&self) -> &Span {
        match self {
            Self::Literal(_, span) => span,
            Self::Pin(name) => &name.span,
        }
    }
}

/// The 64 hexadecimal digits of a text, with `sha256:` before them or without.
pub fn sha256_of(text: &str) -> Option<String> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text);
    let good = digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    good.then(|| digits.to_ascii_lowercase())
}
