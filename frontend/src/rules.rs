//! The rules as `docs/rules.md` writes them up: the page is in the program, so a rule can be shown where it fires.

/// The page.
const PAGE: &str = include_str!("../../docs/rules.md");
/// Where the page is read.
const URL: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/rules.md");

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// `LK008`
    pub id: &'static str,
    /// What it is, in a few words.
    pub title: &'static str,
    /// The section behind its heading: why, an example, what is seen then, what to do.
    pub text: &'static str,
}

/// All rules in the page's order.
pub fn all() -> impl Iterator<Item = Written> {
    PAGE.split("\n## ").skip(1).filter_map(|section| {
        let (heading, text) = section.split_once('\n')?;
        let (id, title) = heading.split_once(": ")?;
        Some(Written {
            id,
            title,
            text: text.trim(),
        })
    })
}

/// The rule of this id, in any case.
#[must_use]
pub fn find(id: &str) -> Option<Written> {
    all().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

/// The place of a rule in the documents.
#[must_use]
pub fn url(id: &str) -> String {
    match find(id) {
        None => URL.to_owned(),
        Some(rule) => format!("{URL}#{}", anchor(&format!("{}: {}", rule.id, rule.title))),
    }
}

/// What readers of Markdown make of a heading: small letters, digits, `-` and `_`, with `-` for a space.
fn anchor(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    };
    heading.chars().filter_map(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_found_with_its_title_and_its_place() {
        assert!(all().count() > 15);
        let rule = find("lk002").unwrap();
        assert_eq!(rule.title, "a key that the format does not have");
        assert!(rule.text.contains("```toml"));
        assert_eq!(
            url("LK002"),
            format!("{URL}#lk002-a-key-that-the-format-does-not-have")
        );
        assert_eq!((find("LK999"), url("LK999")), (None, URL.to_owned()));
    }
}
