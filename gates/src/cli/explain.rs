//! `lanegate explain`: everything that the gates see in one file.

use std::fs;
use std::path::PathBuf;

use lexopt::{Arg, Parser};

use super::args::{Once, path, text, usage};
use super::print;
use crate::exit::{Exit, Failure};
use crate::{explain, report};

/// `lanegate explain FILE [--all] [--format text|json] [--out FILE]`.
pub(super) fn run(mut args: Parser) -> Result<Exit, Failure> {
    let mut file = Once::new("the file");
    let mut format = Once::new("--format");
    let mut out = Once::new("--out");
    let mut all = false;
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("format") => format.set(text(&mut args)?)?,
            Arg::Long("out") => out.set(path(&mut args)?)?,
            Arg::Long("all") => all = true,
            Arg::Value(value) => file.set(PathBuf::from(value))?,
            other => return Err(usage(other.unexpected())),
        }
    }
    let json = match format.value.as_deref() {
        None | Some("text") => false,
        Some("json") => true,
        Some(other) => {
            let text = format!("no format `{other}`; there are: json, text");
            return Err(Failure::Usage(text));
        }
    };
    let explained = explain::file(&file.need()?)?;
    let bytes = match json {
        true => report::canonical(&json_of(&explained)?)?,
        false => explain::text(&explained, all).into_bytes(),
    };
    match out.value {
        Some(out) => {
            fs::write(&out, bytes).map_err(|e| Failure::io(&out.display().to_string(), &e))?;
        }
        None => print(&bytes)?,
    }
    Ok(match explained.problems.is_empty() {
        true => Exit::Pass,
        false => Exit::Findings,
    })
}

/// The report as a value, whose keys are sorted.
fn json_of(explained: &explain::Explained) -> Result<serde_json::Value, Failure> {
    serde_json::to_value(explained)
        .map_err(|e| Failure::Unreadable(format!("the report cannot be written: {e}")))
}
