//! Reports that are made outside of a build: `inspect --gate NAME --of DIR` binds one to a gate and
//! a product, `accept` takes it in place of *inspect*.

use std::path::PathBuf;

use lexopt::{Arg, Parser};

use super::args::{Once, object, path, text, usage};
use super::say;
use crate::arch_table;
use crate::exit::{Exit, Failure};
use crate::external::{self, Asked};
use crate::gate::{Gate, Object};
use crate::report::{self, External};

/// `--gate NAME --of DIR`: both or none.
pub(super) struct Bound {
    pub(super) gate: Once<String>,
    pub(super) of: Once<PathBuf>,
}

impl Bound {
    pub(super) fn new() -> Self {
        Self {
            gate: Once::new("--gate"),
            of: Once::new("--of"),
        }
    }

    /// The gate, and the digest of the product.
    pub(super) fn digested(self) -> Result<Option<External>, Failure> {
        if self.gate.value.is_none() && self.of.value.is_none() {
            return Ok(None);
        }
        let (gate, of) = (self.gate.need()?, self.of.need()?);
        let of = external::digest(&of)?;
        Ok(Some(External { gate, of }))
    }
}

/// Ends with 0 whatever is wrong with the report: the verdict says it.
pub(super) fn accept(mut args: Parser) -> Result<Exit, Failure> {
    let mut check = Once::new("the check's name");
    let mut bound = Bound::new();
    let mut target = Once::new("--target");
    let mut given = Once::new("--given");
    let mut out = Once::new("--report");
    let mut ask_file = Once::new("--ask-file");
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("gate") => bound.gate.set(text(&mut args)?)?,
            Arg::Long("of") => bound.of.set(path(&mut args)?)?,
            Arg::Long("target") => target.set(text(&mut args)?)?,
            Arg::Long("given") => given.set(path(&mut args)?)?,
            Arg::Long("report") => out.set(path(&mut args)?)?,
            Arg::Long("ask-file") => ask_file.set(path(&mut args)?)?,
            Arg::Value(word) => check.set(word.to_string_lossy().into_owned())?,
            other => return Err(usage(other.unexpected())),
        }
    }
    let check = Gate::named(&check.need()?).map_err(Failure::Usage)?;
    let row = arch_table::row(&target.need()?)?;
    let (given, out) = (given.need()?, out.need()?);
    let ask = match ask_file.value {
        Some(file) => object(&file)?,
        None => Object::new(),
    };
    let Some(of) = bound.digested()? else {
        return Err(Failure::Usage("--gate and --of are missing".to_owned()));
    };
    let asked = Asked {
        check,
        row: &row,
        ask: &ask,
        of,
    };
    let report = external::accept(&asked, &given)?;
    report::write(&report, &out)?;
    for finding in &report.findings {
        say(&format!("not accepted: {finding}\n"));
    }
    say(&format!("the product is {}\n", asked.of.of));
    Ok(Exit::Pass)
}
