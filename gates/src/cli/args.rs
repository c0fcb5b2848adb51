//! The options that commands share.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use lexopt::{Parser, ValueExt as _};
use serde_json::Value;

use crate::arch_table;
use crate::exit::Failure;
use crate::gate::Object;
use crate::loader::joined;
use crate::merged::Merged;
use crate::name::Name;
use crate::policy::Allow;
use crate::project::Format;
use crate::walk::Root;

/// An option that stands at most once.
pub(super) struct Once<T> {
    name: &'static str,
    pub(super) value: Option<T>,
}

impl<T> Once<T> {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, value: None }
    }

    pub(super) fn set(&mut self, value: T) -> Result<(), Failure> {
        if self.value.replace(value).is_some() {
            return Err(Failure::Usage(format!("{} stands twice", self.name)));
        }
        Ok(())
    }

    pub(super) fn need(self) -> Result<T, Failure> {
        self.value.ok_or_else(|| {
            let hint = if self.name == "--target" {
                let rows = arch_table::rows().unwrap_or_default();
                let targets: Vec<String> = rows.iter().map(arch_table::Row::target).collect();
                format!(": one of {}", targets.join(", "))
            } else {
                String::new()
            };
            Failure::Usage(format!("{} is missing{hint}", self.name))
        })
    }
}

/// `DIR[=label]`; the label defaults to the directory as it was typed, but for its `.` and `//`,
/// which search paths would not lead through.
pub(super) fn root(args: &mut Parser) -> Result<Root, Failure> {
    let value = args.value().map_err(usage)?;
    let (dir, label) = match value.to_str().and_then(|text| text.rsplit_once('=')) {
        Some((dir, label)) => (PathBuf::from(dir), label.as_bytes().to_vec()),
        None => {
            let label = value.as_encoded_bytes().to_vec();
            (PathBuf::from(&value), label)
        }
    };
    if dir.as_os_str().is_empty() {
        return Err(Failure::Usage("--root names no directory".to_owned()));
    }
    let label = joined(&label, b"");
    let label = label.strip_suffix(b"/").unwrap_or(&label).to_vec();
    Ok(Root {
        path: dir,
        label: Name::new(label),
    })
}

pub(super) fn checked(roots: Vec<Root>) -> Result<Vec<Root>, Failure> {
    if roots.is_empty() {
        return Err(Failure::Usage("--root is missing".to_owned()));
    }
    for (index, root) in roots.iter().enumerate() {
        if roots[..index].iter().any(|other| other.label == root.label) {
            return Err(Failure::Usage(format!(
                "two roots have the label `{}`: name them with --root DIR=label",
                root.label
            )));
        }
    }
    Ok(roots)
}

pub(super) fn allowed(value: &str) -> Result<Allow, Failure> {
    let (path, why) = pair(value, "--allow GLOB=why")?;
    Ok(Allow {
        path: path.to_owned(),
        why: why.to_owned(),
    })
}

pub(super) fn pair<'v>(value: &'v str, form: &str) -> Result<(&'v str, &'v str), Failure> {
    match value.split_once('=') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() => Ok((left, right)),
        _ => Err(Failure::Usage(format!("expected {form}, found `{value}`"))),
    }
}

/// Refuses what is no `sha256:HEX`.
pub(super) fn digest(digest: &str) -> Result<(), Failure> {
    let hex = digest.strip_prefix("sha256:").unwrap_or_default();
    if hex.len() != 64 || !hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
        let text = format!("no digest like sha256:HEX: `{digest}`");
        return Err(Failure::Usage(text));
    }
    Ok(())
}

pub(super) fn text(args: &mut Parser) -> Result<String, Failure> {
    utf8(args.value().map_err(usage)?)
}

pub(super) fn utf8(value: OsString) -> Result<String, Failure> {
    value.string().map_err(usage)
}

pub(super) fn path(args: &mut Parser) -> Result<PathBuf, Failure> {
    args.value().map(PathBuf::from).map_err(usage)
}

pub(super) fn number(args: &mut Parser) -> Result<u64, Failure> {
    let value = text(args)?;
    value
        .parse()
        .map_err(|_| Failure::Usage(format!("--least wants a number, found `{value}`")))
}

pub(super) fn rest_is_empty(mut args: Parser) -> Result<(), Failure> {
    match args.next().map_err(usage)? {
        Some(other) => Err(usage(other.unexpected())),
        None => Ok(()),
    }
}

pub(super) fn usage(error: lexopt::Error) -> Failure {
    Failure::Usage(format!("{error} (lanegate --help tells what there is)"))
}

/// `KEY=VALUE` into `object`. A value that is not JSON is a string, and so is what no gate's key
/// can be: `python=3.14` is a version, and no number.
pub(super) fn key(args: &mut Parser, object: &mut Object) -> Result<(), Failure> {
    let text = text(args)?;
    let (key, value) = pair(&text, "KEY=VALUE")?;
    let value = match serde_json::from_str(value) {
        Ok(Value::Null) | Err(_) => Value::String(value.to_owned()),
        Ok(Value::Number(number)) if !number.is_u64() => Value::String(value.to_owned()),
        Ok(json) => json,
    };
    match object.insert(key.to_owned(), value) {
        None => Ok(()),
        Some(_) => Err(Failure::Usage(format!("key `{key}` stands twice"))),
    }
}

/// A file that holds one JSON object.
pub(super) fn object(path: &Path) -> Result<Object, Failure> {
    let shown = path.display();
    let bytes = fs::read(path).map_err(|e| Failure::io(&shown.to_string(), &e))?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Failure::Usage(format!("{shown}: no object of keys: {error}")))
}

/// The forms in which a report is wanted: `--format F [--out FILE]`, again and again.
#[derive(Default)]
pub(super) struct Forms {
    list: Vec<(Format, Option<PathBuf>)>,
}

impl Forms {
    /// `--format F`.
    pub(super) fn format(&mut self, args: &mut Parser) -> Result<(), Failure> {
        let format = Format::named(&text(args)?)?;
        self.list.push((format, None));
        Ok(())
    }

    /// `--out FILE`: where the form goes that was named last.
    pub(super) fn out(&mut self, args: &mut Parser) -> Result<(), Failure> {
        let file = path(args)?;
        match self.list.last_mut() {
            Some((_, out @ None)) => *out = Some(file),
            _ => {
                let text = format!("--out {} needs a --format before it", file.display());
                return Err(Failure::Usage(text));
            }
        }
        Ok(())
    }

    /// Refuses two forms on standard output.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let printed = self.list.iter().filter(|(_, out)| out.is_none());
        if printed.count() > 1 {
            let text = "two formats would stand in one output: give --out FILE behind each";
            return Err(Failure::Usage(text.to_owned()));
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Writes them all; `json` is the report itself.
    pub(super) fn write(&self, merged: &Merged, json: &[u8]) -> Result<(), Failure> {
        for (format, out) in &self.list {
            let bytes = format.of(merged, json)?;
            match out {
                Some(file) => fs::write(file, bytes).map_err(|e| {
                    Failure::io(&format!("{} cannot be written", file.display()), &e)
                })?,
                None => super::print(&bytes)?,
            }
        }
        Ok(())
    }
}
