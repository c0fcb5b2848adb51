//! The command: arguments in, reports and a few lines out, an exit code at the end.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt as _};

use crate::exit::{Exit, Failure, guard};
use crate::glob::Glob;
use crate::name::Name;
use crate::policy::{self, Allow, Floor, Loaded, Policy};
use crate::verdict::{self, Expected};
use crate::walk::Root;
use crate::{arch, arch_table, overlap, report};

const HELP: &str = "\
lanegate: checks of binary trees with one report

  lanegate arch --target T --root DIR[=label]... --least N [--allow 'GLOB=why']... [--report FILE]
  lanegate arch --target T --root DIR[=label]... --policy FILE [--report FILE]
      inspect and assert in one
  lanegate inspect arch --target T --root DIR[=label]... --report FILE
      write down what is there
  lanegate assert --gate NAME --policy FILE --report FILE [--out FILE [--defer]]
      hold a policy against that; --defer leaves the exit code of a red verdict to seal
  lanegate seal NAME=FILE... [--policy NAME=sha256:HEX]...
      are these verdicts there, and green?
  lanegate overlap --tree STAGE=DIR... [--fold] [--any GLOB]... [--take GLOB=STAGE]...
      is what several trees have the same in each?
  lanegate arch-table
      print the targets and what is known of them

  --least N can be --empty-ok WHY where nothing need be there.
Exit codes: 0 pass, 1 findings, 2 usage or policy, 3 below a floor, 4 unreadable or internal.
";

/// Runs lanegate with these arguments (the program's name left out).
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    // The panic is reported once, as a failure.
    std::panic::set_hook(Box::new(|_| {}));
    let args: Vec<OsString> = args.into_iter().collect();
    let exit = guard("lanegate", || run(args)).unwrap_or_else(|failure| {
        say(&format!("error: {failure}\n"));
        failure.exit()
    });
    ExitCode::from(exit.code())
}

fn run(args: Vec<OsString>) -> Result<Exit, Failure> {
    let mut args = Parser::from_args(args);
    let Some(command) = args.next().map_err(usage)? else {
        return Err(Failure::Usage(format!("no command\n\n{HELP}")));
    };
    match command {
        Arg::Long("help") | Arg::Short('h') => print(HELP),
        Arg::Value(word) => match word.to_string_lossy().as_ref() {
            "arch" => run_arch(args),
            "inspect" => run_inspect(args),
            "assert" => run_assert(args),
            "seal" => run_seal(args),
            "overlap" => run_overlap(args),
            "arch-table" => {
                rest_is_empty(args)?;
                print(arch_table::TEXT)
            }
            "help" => print(HELP),
            other => Err(Failure::Usage(format!(
                "no command `{other}`; there are: arch, inspect, assert, seal, overlap, arch-table"
            ))),
        },
        other => Err(usage(other.unexpected())),
    }
}

fn run_arch(mut args: Parser) -> Result<Exit, Failure> {
    let mut target = Once::new("--target");
    let mut policy_file = Once::new("--policy");
    let mut report_file = Once::new("--report");
    let mut least = Once::new("--least");
    let mut empty_ok = Once::new("--empty-ok");
    let mut roots = Vec::new();
    let mut allow = Vec::new();
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("target") => target.set(text(&mut args)?)?,
            Arg::Long("policy") => policy_file.set(path(&mut args)?)?,
            Arg::Long("report") => report_file.set(path(&mut args)?)?,
            Arg::Long("least") => least.set(number(&mut args)?)?,
            Arg::Long("empty-ok") => empty_ok.set(text(&mut args)?)?,
            Arg::Long("root") => roots.push(root(&mut args)?),
            Arg::Long("allow") => allow.push(allowed(&text(&mut args)?)?),
            other => return Err(usage(other.unexpected())),
        }
    }
    let row = arch_table::row(&target.need()?)?;
    let roots = checked(roots)?;
    let loaded = match policy_file.value {
        Some(_) if least.value.is_some() || empty_ok.value.is_some() || !allow.is_empty() => {
            let text = "--policy says it all: leave out --least, --empty-ok and --allow";
            return Err(Failure::Usage(text.to_owned()));
        }
        Some(file) => Loaded::read(&file)?,
        None => Loaded::of(Policy {
            allow,
            check: arch::CHECK.to_owned(),
            empty_ok: empty_ok.value,
            floors: least
                .value
                .map(|least| {
                    let floor = Floor {
                        broken: None,
                        least,
                        measured: None,
                        on: None,
                    };
                    ("inspected".to_owned(), floor)
                })
                .into_iter()
                .collect(),
            gate: arch::CHECK.to_owned(),
            schema: policy::SCHEMA.to_owned(),
            target: row.target(),
        })?,
    };
    if loaded.policy.target != row.target() {
        return Err(Failure::Usage(format!(
            "the policy is for {}, --target is {}",
            loaded.policy.target,
            row.target()
        )));
    }
    let inspected = arch::inspect(&row, &roots)?;
    let asserted = verdict::judge(&inspected, &loaded, &row);
    if let Some(file) = report_file.value {
        report::write(&asserted, &file)?;
    }
    say(&verdict::summary(&asserted));
    Ok(verdict::exit(asserted.verdict))
}

fn run_inspect(mut args: Parser) -> Result<Exit, Failure> {
    let mut target = Once::new("--target");
    let mut report_file = Once::new("--report");
    let mut check = Once::new("the check's name");
    let mut roots = Vec::new();
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("target") => target.set(text(&mut args)?)?,
            Arg::Long("report") => report_file.set(path(&mut args)?)?,
            Arg::Long("root") => roots.push(root(&mut args)?),
            Arg::Value(word) => check.set(word.to_string_lossy().into_owned())?,
            other => return Err(usage(other.unexpected())),
        }
    }
    let check = check.need()?;
    if check != arch::CHECK {
        return Err(Failure::Usage(format!(
            "no check `{check}`; there is: arch"
        )));
    }
    let row = arch_table::row(&target.need()?)?;
    let roots = checked(roots)?;
    let report_file = report_file.need()?;
    let inspected = arch::inspect(&row, &roots)?;
    report::write(&inspected, &report_file)?;
    say(&format!(
        "{} inspected for {}, {}\n",
        inspected.counts.inspected,
        inspected.target,
        verdict::number(inspected.findings.len() as u64, "finding")
    ));
    Ok(Exit::Pass)
}

fn run_assert(mut args: Parser) -> Result<Exit, Failure> {
    let mut gate = Once::new("--gate");
    let mut policy_file = Once::new("--policy");
    let mut report_file = Once::new("--report");
    let mut out = Once::new("--out");
    let mut defer = false;
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("gate") => gate.set(text(&mut args)?)?,
            Arg::Long("policy") => policy_file.set(path(&mut args)?)?,
            Arg::Long("report") => report_file.set(path(&mut args)?)?,
            Arg::Long("out") => out.set(path(&mut args)?)?,
            Arg::Long("defer") => defer = true,
            other => return Err(usage(other.unexpected())),
        }
    }
    let gate = gate.need()?;
    let policy_file = policy_file.need()?;
    let report_file = report_file.need()?;
    if defer && out.value.is_none() {
        let text = "--defer without --out would lose the verdict";
        return Err(Failure::Usage(text.to_owned()));
    }
    let loaded = Loaded::read(&policy_file)?;
    if loaded.policy.gate != gate {
        return Err(Failure::Usage(format!(
            "the policy is for gate `{}`, --gate is `{gate}`",
            loaded.policy.gate
        )));
    }
    let row = arch_table::row(&loaded.policy.target)?;
    let inspected: report::Inspected = report::read(&report_file)?;
    verdict::ours(&inspected, &row)?;
    let asserted = verdict::judge(&inspected, &loaded, &row);
    if let Some(file) = out.value {
        report::write(&asserted, &file)?;
    }
    say(&verdict::summary(&asserted));
    Ok(if defer {
        Exit::Pass
    } else {
        verdict::exit(asserted.verdict)
    })
}

fn run_seal(mut args: Parser) -> Result<Exit, Failure> {
    let mut files: Vec<(String, PathBuf)> = Vec::new();
    let mut policies: Vec<(String, String)> = Vec::new();
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("policy") => {
                let value = text(&mut args)?;
                let (name, digest) = pair(&value, "--policy NAME=sha256:HEX")?;
                policies.push((name.to_owned(), digest.to_owned()));
            }
            Arg::Value(value) => {
                let value = utf8(value)?;
                let (name, file) = pair(&value, "NAME=FILE")?;
                files.push((name.to_owned(), PathBuf::from(file)));
            }
            other => return Err(usage(other.unexpected())),
        }
    }
    if files.is_empty() {
        return Err(Failure::Usage("nothing to seal: give NAME=FILE".to_owned()));
    }
    for (index, (name, _)) in files.iter().enumerate() {
        if files[..index].iter().any(|(other, _)| other == name) {
            return Err(Failure::Usage(format!("gate `{name}` is named twice")));
        }
    }
    for (index, (name, digest)) in policies.iter().enumerate() {
        if !files.iter().any(|(gate, _)| gate == name) {
            return Err(Failure::Usage(format!(
                "--policy names no sealed gate: `{name}`"
            )));
        }
        if policies[..index].iter().any(|(other, _)| other == name) {
            return Err(Failure::Usage(format!("--policy names `{name}` twice")));
        }
        let hex = digest.strip_prefix("sha256:").unwrap_or_default();
        if hex.len() != 64 || !hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(Failure::Usage(format!(
                "no digest like sha256:HEX: `{digest}`"
            )));
        }
    }
    let mut end = Exit::Pass;
    for (gate, file) in files {
        let policy = policies.iter().find(|(name, _)| *name == gate);
        let expected = Expected {
            policy: policy.map(|(_, digest)| digest.clone()),
            gate,
        };
        match verdict::sealed(&file, &expected) {
            Ok(report) => {
                let exit = verdict::exit(report.verdict);
                if exit != Exit::Pass {
                    say(&verdict::summary(&report));
                }
                end = end.worst(exit);
            }
            Err(failure) => {
                say(&format!("error: gate {}: {failure}\n", expected.gate));
                end = end.worst(failure.exit());
            }
        }
    }
    Ok(end)
}

fn run_overlap(mut args: Parser) -> Result<Exit, Failure> {
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
    let found = overlap::conflicts(&parts, &rules)?;
    say(&overlap::summary(&found));
    Ok(if found.is_empty() {
        Exit::Pass
    } else {
        Exit::Findings
    })
}

/// An option that stands at most once.
struct Once<T> {
    name: &'static str,
    value: Option<T>,
}

impl<T> Once<T> {
    fn new(name: &'static str) -> Self {
        Self { name, value: None }
    }

    fn set(&mut self, value: T) -> Result<(), Failure> {
        if self.value.replace(value).is_some() {
            return Err(Failure::Usage(format!("{} stands twice", self.name)));
        }
        Ok(())
    }

    fn need(self) -> Result<T, Failure> {
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

/// `DIR[=label]`; the label defaults to the directory as it was typed.
fn root(args: &mut Parser) -> Result<Root, Failure> {
    let value = args.value().map_err(usage)?;
    let (dir, label) = match value.to_str().and_then(|text| text.rsplit_once('=')) {
        Some((dir, label)) => (PathBuf::from(dir), label.as_bytes().to_vec()),
        None => {
            let bytes = value.as_encoded_bytes();
            let label = bytes.strip_suffix(b"/").unwrap_or(bytes).to_vec();
            (PathBuf::from(&value), label)
        }
    };
    if dir.as_os_str().is_empty() {
        return Err(Failure::Usage("--root names no directory".to_owned()));
    }
    let label = label.strip_suffix(b"/").unwrap_or(&label).to_vec();
    Ok(Root {
        path: dir,
        label: Name::new(label),
    })
}

fn checked(roots: Vec<Root>) -> Result<Vec<Root>, Failure> {
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

fn allowed(value: &str) -> Result<Allow, Failure> {
    let (path, why) = pair(value, "--allow GLOB=why")?;
    Ok(Allow {
        path: path.to_owned(),
        why: why.to_owned(),
    })
}

fn pair<'v>(value: &'v str, form: &str) -> Result<(&'v str, &'v str), Failure> {
    match value.split_once('=') {
        Some((left, right)) if !left.is_empty() && !right.is_empty() => Ok((left, right)),
        _ => Err(Failure::Usage(format!("expected {form}, found `{value}`"))),
    }
}

fn text(args: &mut Parser) -> Result<String, Failure> {
    utf8(args.value().map_err(usage)?)
}

fn utf8(value: OsString) -> Result<String, Failure> {
    value.string().map_err(usage)
}

fn path(args: &mut Parser) -> Result<PathBuf, Failure> {
    args.value().map(PathBuf::from).map_err(usage)
}

fn number(args: &mut Parser) -> Result<u64, Failure> {
    let value = text(args)?;
    value
        .parse()
        .map_err(|_| Failure::Usage(format!("--least wants a number, found `{value}`")))
}

fn rest_is_empty(mut args: Parser) -> Result<(), Failure> {
    match args.next().map_err(usage)? {
        Some(other) => Err(usage(other.unexpected())),
        None => Ok(()),
    }
}

fn usage(error: lexopt::Error) -> Failure {
    Failure::Usage(format!("{error} (lanegate --help tells what there is)"))
}

/// Writes to stdout; a reader that went away is no one's fault.
fn print(text: &str) -> Result<Exit, Failure> {
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::io("stdout", &error))
        }
        _ => Ok(Exit::Pass),
    }
}

/// Writes to stderr, where a step's reader looks; if that fails there is nobody to tell.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
