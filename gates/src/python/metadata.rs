//! Headers as METADATA and WHEEL have them: `Key: value`, continued on lines that begin with white
//! space, up to the first empty line.
//!
//! Line ends are LF, CRLF or a lone CR. A reader that knew LF only once saw no requirement in a
//! file with CRLF, and the gate was green.

/// The headers of a file, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headers {
    fields: Vec<(String, String)>,
    /// Lines in front of the first empty one that are neither a header nor a continuation; a file
    /// that has them was not read whole.
    pub strays: Vec<String>,
}

impl Headers {
    /// Reads what stands in front of the first empty line. Bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let mut headers = Self::default();
        for line in lines(text) {
            if line.is_empty() {
                break;
            }
            headers.line(line);
        }
        headers
    }

    fn line(&mut self, line: &str) {
        if line.starts_with([' ', '\t']) {
            match self.fields.last_mut() {
                Some((_, value)) => {
                    if !value.is_empty() {
                        value.push('\n');
                    }
                    value.push_str(line.trim());
                }
                None => self.strays.push(line.to_owned()),
            }
            return;
        }
        match line.split_once(':') {
            Some((key, value)) if !key.is_empty() && !key.contains([' ', '\t']) => {
                self.fields.push((key.to_owned(), value.trim().to_owned()));
            }
            _ => self.strays.push(line.to_owned()),
        }
    }

    /// All values of a header; case of the key does not count. Folds stand as line feeds.
    pub fn all<'h>(&'h self, key: &'h str) -> impl Iterator<Item = &'h str> {
        self.fields
            .iter()
            .filter(move |(k, _)| k.eq_ignore_ascii_case(key))
            .map(|(_, value)| value.as_str())
    }

    /// The first value of a header.
    #[must_use]
    pub fn first(&self, key: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(k, _)| k.eq_ignore_ascii_case(key))
            .map(|(_, value)| value.as_str())
    }
}

/// Lines that end with LF, CRLF or CR.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        match text.find(['\r', '\n']) {
            None => {
                rest = None;
                Some(text)
            }
            Some(at) => {
                let end = if text[at..].starts_with("\r\n") { 2 } else { 1 };
                rest = Some(&text[at + end..]);
                Some(&text[..at])
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIX: &str = "Metadata-Version: 2.4\nName: foo\nRequires-Dist: a>=1\nrequires-dist: b;\n  python_version < \"4\"\nSummary:\n\nRequires-Dist: in-the-description\n";

    #[test]
    fn line_ends_do_not_matter_and_folds_are_joined() {
        let unix = Headers::read(UNIX.as_bytes());
        let want = ["a>=1", "b;\npython_version < \"4\""];
        assert_eq!(unix.all("Requires-Dist").collect::<Vec<_>>(), want);
        assert_eq!(unix.first("summary"), Some(""));
        for ends in ["\r\n", "\r"] {
            let other = Headers::read(UNIX.replace('\n', ends).as_bytes());
            assert_eq!(other, unix, "{ends:?}");
        }
    }

    #[test]
    fn a_line_that_is_no_header_is_told() {
        let headers = Headers::read(b"  folded into nothing\nName: x\nno header\n\nbody");
        assert_eq!(headers.strays, ["  folded into nothing", "no header"]);
        assert_eq!(headers.first("name"), Some("x"));
    }

    #[test]
    fn a_byte_order_mark_hides_no_header() {
        assert_eq!(
            Headers::read(b"\xef\xbb\xbfName: x").first("Name"),
            Some("x")
        );
    }
}
