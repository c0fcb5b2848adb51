//! The reference of tables and keys, as Markdown: `docs/reference.md`.

use std::fmt::Write;

use super::keys::{Form, Named, tables};

/// The page.
#[must_use]
pub fn reference() -> String {
    let mut page = String::from(
        "<!-- @generated from stages/src/file/keys/table.rs by `cargo xtask codegen`. -->\n\
         # Tables and keys\n\n\
         Every table of a lane file and every key of it. What they mean together, with examples: \
         [lanefile.md](lanefile.md). The same for editors: [lanes.schema.json](lanes.schema.json), \
         or `lanekit schema`.\n\n\
         \"Values\" is text in which `${…}` is filled in.\n",
    );
    for table in tables() {
        let _ = write!(
            page,
            "\n## `{}`\n\n{}\n\n| key | type | default | meaning |\n|---|---|---|---|\n",
            table.title, table.about
        );
        for key in table.keys() {
            let default = key.default.unwrap_or("needed");
            let form = cell(&form(key.form));
            let _ = writeln!(
                page,
                "| `{}` | {form} | {} | {} |",
                key.name,
                cell(default),
                cell(key.about)
            );
        }
    }
    page
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn form(of: Form) -> String {
    match of {
        Form::Text => "text".into(),
        Form::Values => "values".into(),
        Form::Bool => "`true`, `false`".into(),
        Form::Whole => "whole number".into(),
        Form::Date => "date".into(),
        Form::Word(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            words.join(", ")
        }
        Form::Anything => "value".into(),
        Form::Any(forms) => {
            let forms: Vec<String> = forms.iter().copied().map(form).collect();
            forms.join(", or ")
        }
        Form::List(inner) => format!("list of {}", many(&form(*inner))),
        Form::Table(table) => format!("[table](#{})", anchor(table.title)),
        Form::Names(Named::Variable, inner) => format!("table: variable to {}", form(*inner)),
        Form::Names(_, inner) => format!("table: name to {}", form(*inner)),
    }
}

fn many(form: &str) -> String {
    match form {
        "text" => "texts".into(),
        other => other.into(),
    }
}

/// What readers of Markdown make of a heading: small letters, digits, `-`.
fn anchor(title: &str) -> String {
    let kept = title.chars().filter_map(|c| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
        _ => None,
    });
    kept.collect()
}
