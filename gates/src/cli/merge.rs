//! `lanegate merge` and `lanegate show`: the verdicts of a lane as one, and in other forms.

use std::fs;
use std::path::{Path, PathBuf};

use lexopt::{Arg, Parser};

use super::args::{Forms, Once, digest, pair, path, text, usage, utf8};
use super::say;
use crate::exit::{Exit, Failure};
use crate::merged::{Given, Merged};
use crate::name::Name;
use crate::project::{Format, predicate};
use crate::report;
use crate::verdict::Expected;

/// `lanegate merge {NAME=FILE|DIR}… --policy NAME=sha256:HEX… [--format F [--out FILE]]…
/// [--predicates DIR] [--defer]`.
pub(super) fn merge(mut args: Parser) -> Result<Exit, Failure> {
    let (mut given, mut expected, mut forms) = (Vec::new(), Vec::new(), Forms::default());
    let mut defer = false;
    let mut predicates = Once::new("--predicates");
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("predicates") => predicates.set(path(&mut args)?)?,
            Arg::Long("policy") => {
                let value = text(&mut args)?;
                let (name, policy) = pair(&value, "--policy NAME=sha256:HEX")?;
                digest(policy)?;
                if expected.iter().any(|other: &Expected| other.gate == name) {
                    return Err(Failure::Usage(format!("--policy names `{name}` twice")));
                }
                expected.push(Expected {
                    gate: name.to_owned(),
                    policy: Some(policy.to_owned()),
                });
            }
            Arg::Long("format") => forms.format(&mut args)?,
            Arg::Long("out") => forms.out(&mut args)?,
            Arg::Long("defer") => defer = true,
            Arg::Value(value) if Path::new(&value).is_dir() => {
                given.extend(below(Path::new(&value))?);
            }
            Arg::Value(value) => {
                let value = utf8(value)?;
                let (name, file) = pair(&value, "NAME=FILE or a directory")?;
                given.push(Given {
                    gate: Name::from(name),
                    file: PathBuf::from(file),
                });
            }
            other => return Err(usage(other.unexpected())),
        }
    }
    if expected.is_empty() {
        let text = "no gate is expected: give --policy NAME=sha256:HEX for each";
        return Err(Failure::Usage(text.to_owned()));
    }
    forms.check()?;
    if defer && forms.is_empty() {
        let text = "--defer without --format would lose the verdict";
        return Err(Failure::Usage(text.to_owned()));
    }
    let merged = Merged::of(&expected, &given);
    let end = told(&merged, &forms, &report::canonical(&merged)?)?;
    if let Some(dir) = predicates.value {
        for gate in &merged.gates {
            let file = dir.join(format!("{}.json", gate.gate));
            report::write(&predicate::of(gate), &file)?;
        }
    }
    Ok(if defer { Exit::Pass } else { end })
}

/// `lanegate show FILE [--format F [--out FILE]]…`.
pub(super) fn show(mut args: Parser) -> Result<Exit, Failure> {
    let (mut file, mut forms) = (Once::new("the report"), Forms::default());
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("format") => forms.format(&mut args)?,
            Arg::Long("out") => forms.out(&mut args)?,
            Arg::Value(value) => file.set(PathBuf::from(value))?,
            other => return Err(usage(other.unexpected())),
        }
    }
    forms.check()?;
    let file = file.need()?;
    let merged = Merged::read(&file)?;
    let json = fs::read(&file).map_err(|e| Failure::io(&file.display().to_string(), &e))?;
    told(&merged, &forms, &json)
}

/// Writes the forms that are wanted, or the text to standard error.
fn told(merged: &Merged, forms: &Forms, json: &[u8]) -> Result<Exit, Failure> {
    if forms.is_empty() {
        let text = Format::Text.of(merged, json)?;
        say(&String::from_utf8_lossy(&text));
    }
    forms.write(merged, json)?;
    Ok(merged.decide())
}

/// Every `NAME.json` of a directory: what else lies in it is no verdict.
fn below(dir: &Path) -> Result<Vec<Given>, Failure> {
    let io = |e| Failure::io(&dir.display().to_string(), &e);
    let mut given = Vec::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        let file = entry.map_err(io)?.path();
        let is_json = file
            .extension()
            .is_some_and(|extension| extension == "json");
        if let Some(stem) = file.file_stem()
            && is_json
        {
            let gate = Name::new(stem.as_encoded_bytes());
            given.push(Given { gate, file });
        }
    }
    Ok(given)
}
