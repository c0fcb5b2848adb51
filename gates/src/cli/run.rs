//! `lanegate run` and `lanegate manifest`: what makes the things that gates look at.

use lexopt::{Arg, Parser};

use super::args::{Once, checked, path, root, text, usage};
use crate::arch_table;
use crate::exit::{Exit, Failure};
use crate::gate::{Keys as _, manifest};
use crate::{list, report, run};

/// `lanegate run --out DIR [--env] [-- COMMAND …]`.
pub(super) fn run(mut args: Parser) -> Result<Exit, Failure> {
    let mut out = Once::new("--out");
    let mut env = false;
    let mut command = Vec::new();
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("out") => out.set(path(&mut args)?)?,
            Arg::Long("env") => env = true,
            Arg::Value(word) => {
                command.push(word);
                command.extend(args.raw_args().map_err(usage)?);
            }
            other => return Err(usage(other.unexpected())),
        }
    }
    let out = out.need()?;
    if env {
        run::environment(&out)?;
    }
    if !env || !command.is_empty() {
        run::run(&command, &out)?;
    }
    // What the command's own end says is the gate's business.
    Ok(Exit::Pass)
}

/// `lanegate manifest --target T --root DIR= --out FILE [--contract GLOB]… [--set NAME=VALUE]…`.
pub(super) fn manifest(mut args: Parser) -> Result<Exit, Failure> {
    let mut target = Once::new("--target");
    let mut out = Once::new("--out");
    let mut roots = Vec::new();
    let mut ask = manifest::Ask::default();
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("target") => target.set(text(&mut args)?)?,
            Arg::Long("out") => out.set(path(&mut args)?)?,
            Arg::Long("root") => roots.push(root(&mut args)?),
            Arg::Long("file") => ask.file = text(&mut args)?,
            Arg::Long("contract") => ask.contracts.push(text(&mut args)?),
            Arg::Long("set") => {
                let value = text(&mut args)?;
                let (name, value) = super::args::pair(&value, "--set NAME=VALUE")?;
                let env = ask.env.get_or_insert_default();
                env.insert(name.to_owned(), value.to_owned());
            }
            other => return Err(usage(other.unexpected())),
        }
    }
    ask.check().map_err(Failure::Usage)?;
    let row = arch_table::row(&target.need()?)?;
    let tree = list::listed(&checked(roots)?)?;
    let written = manifest::write(&ask, &row.target(), row.folds_case(), &tree.entries)?;
    report::write(&written, &out.need()?)?;
    Ok(Exit::Pass)
}
