//! `lanegate closure`: brings in what a tree imports and does not have.

use std::fmt::Write as _;

use lexopt::{Arg, Parser};

use super::args::{Once, checked, key, path, root, text, usage};
use super::say;
use crate::arch_table;
use crate::closure::{self, Closure};
use crate::exit::{Exit, Failure};
use crate::gate::{Keys as _, Object, imports};
use crate::report;
use crate::verdict::{MAX_PRINTED, number};

/// `lanegate closure --target T --root DIR[=label] --from DIR[=label]… [--ask KEY=VALUE]…
/// [--dry-run] [--report FILE]`.
pub(super) fn run(mut args: Parser) -> Result<Exit, Failure> {
    let mut target = Once::new("--target");
    let mut tree = Once::new("--root");
    let mut report_file = Once::new("--report");
    let (mut from, mut ask, mut dry) = (Vec::new(), Object::new(), false);
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("target") => target.set(text(&mut args)?)?,
            Arg::Long("root") => tree.set(root(&mut args)?)?,
            Arg::Long("from") => from.push(root(&mut args)?),
            Arg::Long("ask") => key(&mut args, &mut ask)?,
            Arg::Long("report") => report_file.set(path(&mut args)?)?,
            Arg::Long("dry-run") => dry = true,
            other => return Err(usage(other.unexpected())),
        }
    }
    if from.is_empty() {
        let text = "--from is missing: the directories that have what the tree lacks";
        return Err(Failure::Usage(text.to_owned()));
    }
    let row = arch_table::row(&target.need()?)?;
    let (tree, from) = (tree.need()?, checked(from)?);
    let ask: imports::Ask =
        serde_json::from_value(ask.into()).map_err(|e| Failure::Usage(format!("`ask`: {e}")))?;
    ask.check().map_err(Failure::Usage)?;
    let closure = closure::plan(&row, &tree, &from, &ask)?;
    if !dry {
        closure.copy(&tree)?;
    }
    if let Some(file) = report_file.value {
        report::write(&closure, &file)?;
    }
    say(&told(&closure, dry));
    Ok(match closure.findings.is_empty() {
        true => Exit::Pass,
        false => Exit::Findings,
    })
}

fn told(closure: &Closure, dry: bool) -> String {
    // Writing to a string cannot fail.
    let mut out = String::new();
    for finding in closure.findings.iter().take(MAX_PRINTED) {
        let _ = writeln!(out, "error: {finding}");
    }
    let hidden = closure.findings.len().saturating_sub(MAX_PRINTED);
    if hidden > 0 {
        let _ = writeln!(out, "and {hidden} more");
    }
    for copied in &closure.copies {
        let closure::Copied {
            from,
            to,
            needed_by,
            ..
        } = copied;
        let _ = writeln!(out, "{from} -> {to} (for {needed_by})");
    }
    let files = number(closure.copies.len() as u64, "file");
    let _ = match (closure.findings.is_empty(), dry) {
        (false, _) => writeln!(
            out,
            "{files} found, nothing copied: the tree would not be closed"
        ),
        (true, true) => writeln!(out, "{files} to copy"),
        (true, false) => writeln!(out, "{files} copied"),
    };
    out
}
