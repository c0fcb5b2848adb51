//! Downloads, with their values.

use std::collections::BTreeMap;

use super::Selection;
use super::build::Planner;
use crate::diag::{Diagnostic, Report, Span, rule};
use crate::file::sha256_of;

/// A file that is downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Where it is.
    pub url: String,
    /// Of its bytes: 64 hexadecimal digits in small letters.
    pub sha256: String,
    /// What the file is called.
    pub filename: String,
    /// Where it is declared.
    pub span: Span,
}

impl Selection<'_> {
    fn download(&self, name: &str, report: &mut Report) -> Option<Download> {
        let fetch = self.graph.fetches.get(name)?;
        let url = self.fill(&fetch.url, &BTreeMap::new(), report)?;
        let rest = ["https://", "http://"]
            .iter()
            .find_map(|s| url.strip_prefix(s));
        let host = |rest: &str| !rest.starts_with(['/', '?', '#']) && !rest.is_empty();
        let plain = |c: char| !c.is_whitespace() && !c.is_control();
        // What an argument without a value stands for is not known yet.
        let known = self.knows(&fetch.url);
        if known && (!rest.is_some_and(host) || !url.chars().all(plain)) {
            report.push(
                Diagnostic::new(rule::VALUE, format!("nothing is downloaded from `{url}`"))
                    .at(&fetch.url.span, "expected https://… or http://…"),
            );
            return None;
        }
        let filename = match &fetch.filename {
            Some(name) => name.value.clone(),
            None => match last_part(&url) {
                Some(name) => name.to_owned(),
                None if !known => name.to_owned(),
                None => {
                    report.push(
                        Diagnostic::new(
                            rule::VALUE,
                            format!("`{url}` does not say what the file is called"),
                        )
                        .at(&fetch.url.span, "nothing stands behind its last `/`")
                        .help("filename = \"NAME\""),
                    );
                    return None;
                }
            },
        };
        let sha256 = self
            .graph
            .hash_of(Some(&fetch.sha256), &self.unverified.pins);
        let Some(sha256) = sha256.as_deref().and_then(sha256_of) else {
            report.push(
                Diagnostic::new(
                    rule::REQUEST,
                    format!("the hash of download `{name}` is none"),
                )
                .at(fetch.sha256.span(), "expected 64 hexadecimal digits"),
            );
            return None;
        };
        Some(Download {
            url,
            sha256,
            filename,
            span: fetch.span.clone(),
        })
    }
}

/// The last part of the path of a URL.
fn last_part(url: &str) -> Option<&str> {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let (_, path) = path.split_once("://")?;
    let (_, name) = path.rsplit_once('/')?;
    (!name.is_empty() && name != "." && name != "..").then_some(name)
}

impl Planner<'_, '_> {
    /// Takes a download into the plan, because a step has it; gives what its file is called.
    pub(super) fn take_fetch(&mut self, name: &str) -> Option<String> {
        if !self.fetches.contains_key(name) {
            let made = self.selection.download(name, &mut self.report)?;
            self.fetches.insert(name.to_owned(), made);
        }
        self.fetches.get(name).map(|made| made.filename.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_as_the_url_ends() {
        assert_eq!(last_part("https://h/a/b-1.2.zip?x=/y#z"), Some("b-1.2.zip"));
        assert_eq!(last_part("https://h"), None);
        assert_eq!(last_part("https://h/a/"), None);
        assert_eq!(last_part("https://h/.."), None);
    }
}
