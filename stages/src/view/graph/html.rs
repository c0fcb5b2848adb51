//! A picture as one page that needs nothing else: data, style and script are in it, and its policy lets nothing in.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use llb::Digest;
use serde::Serialize;

use super::{Lane, Layout, Picture, layout};

const PAGE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: [&str; 6] = [
    "\"use strict\";\n",
    include_str!("page/place.js"),
    include_str!("page/draw.js"),
    include_str!("page/tiles.js"),
    include_str!("page/panel.js"),
    include_str!("page/main.js"),
];

/// What the page's script reads.
#[derive(Serialize)]
struct Data<'a> {
    schema: &'a str,
    graph: &'a str,
    lanes: Vec<Placed<'a>>,
}

/// A lane, with where its groups stand.
#[derive(Serialize)]
struct Placed<'a> {
    #[serde(flatten)]
    lane: &'a Lane,
    #[serde(flatten)]
    layout: Layout,
}

/// The picture as a page for a browser.
#[must_use]
pub fn html(picture: &Picture) -> String {
    let placed = |lane| Placed {
        lane,
        layout: layout(lane),
    };
    let data = Data {
        schema: picture.schema,
        graph: &picture.graph,
        lanes: picture.lanes.iter().map(placed).collect(),
    };
    let script = SCRIPT.concat();
    // Only these two texts count, whatever else should have got into the page.
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; style-src {}; script-src {}",
        source(STYLE),
        source(&script)
    );
    let values = [
        ("policy", policy),
        ("title", text(&picture.graph)),
        ("style", STYLE.to_owned()),
        ("data", json(&data)),
        ("script", script),
    ];
    filled(PAGE, &values)
}

/// A template with its `{{names}}` filled in; values are not looked into.
fn filled(template: &str, values: &[(&str, String)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        page.push_str(before);
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        let value = values.iter().find(|(known, _)| *known == name);
        page.push_str(value.map_or("", |(_, value)| value));
        rest = after;
    }
    page + rest
}

/// A text as a source of a content security policy.
fn source(text: &str) -> String {
    let hex = Digest::of(text.as_bytes()).to_string();
    let hex = hex.trim_start_matches("sha256:");
    let byte = |at: usize| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok();
    let bytes: Vec<u8> = (0..hex.len()).step_by(2).filter_map(byte).collect();
    format!("'sha256-{}'", BASE64_STANDARD.encode(bytes))
}

/// JSON in which no HTML can begin, and no line of a script end.
fn json(data: &Data<'_>) -> String {
    // Strings and numbers under names that are strings: nothing of it can fail.
    let json = serde_json::to_string(data).unwrap_or_default();
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}

/// A text in which nothing means anything to HTML.
fn text(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_of_a_policy_are_digests() {
        // The digest of nothing, which everybody knows.
        assert_eq!(
            source(""),
            "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
        );
    }

    #[test]
    fn values_are_not_templates() {
        let values = [("a", "{{b}}".to_owned()), ("b", "no".to_owned())];
        assert_eq!(filled("<{{a}}>{{c}}", &values), "<{{b}}>");
    }

    #[test]
    fn every_name_of_the_page_is_filled_once() {
        let names: Vec<&str> = PAGE
            .split("{{")
            .skip(1)
            .filter_map(|rest| rest.split("}}").next())
            .collect();
        let filled = ["policy", "title", "style", "title", "data", "script"];
        assert_eq!(names, filled);
    }
}
