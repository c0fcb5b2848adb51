//! `lanegate overlap`: what several trees have must be the same in each.

use std::path::PathBuf;

use lexopt::{Arg, Parser};

use super::args::{pair, text, usage};
use super::say;
use crate::exit::{Exit, Failure};
use crate::glob::Glob;
use crate::overlap;

pub(super) fn run(mut args: Parser) -> Result<Exit, Failure> {
    let (mut parts, mut any, mut take, mut fold) = (Vec::new(), Vec::new(), Vec::new(), false);
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("tree") => {
                let value = text(&mut args)?;
                let (stage, path) = pair(&value, "--tree STAGE=DIR")?;
                parts.push(overlap::Part {
                    stage: stage.to_owned(),
                    path: PathBuf::from(path),
                });
            }
            Arg::Long("any") => any.push(text(&mut args)?),
            Arg::Long("take") => take.push(text(&mut args)?),
            Arg::Long("fold") => fold = true,
            other => return Err(usage(other.unexpected())),
        }
    }
    if parts.len() < 2 {
        return Err(Failure::Usage(
            "give at least two --tree STAGE=DIR".to_owned(),
        ));
    }
    let mut rules = overlap::Rules {
        fold,
        any: any.iter().map(|glob| Glob::new(glob, fold)).collect(),
        take: Vec::new(),
    };
    for value in &take {
        let Some((glob, stage)) = value.rsplit_once('=') else {
            return Err(Failure::Usage(format!(
                "expected --take GLOB=STAGE, found `{value}`"
            )));
        };
        rules.take.push((Glob::new(glob, fold), stage.to_owned()));
    }
    let compared = overlap::compare(&parts, &rules)?;
    let idle_any = compared.idle_any.iter().map(|at| any[*at].as_str());
    let idle_take = compared.idle_take.iter().filter_map(|at| {
        let (glob, _) = take[*at].rsplit_once('=')?;
        Some(glob)
    });
    for glob in idle_any.chain(idle_take) {
        say(&format!(
            "warning: the conflict over {glob} settles nothing: no two trees have such a name\n"
        ));
    }
    let found = compared.conflicts;
    say(&overlap::summary(&found));
    Ok(if found.is_empty() {
        Exit::Pass
    } else {
        Exit::Findings
    })
}
