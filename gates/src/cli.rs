//! The command: arguments in, reports and a few lines out, an exit code at the end.

mod args;
mod closure;
mod explain;
mod external;
mod merge;
mod overlap;
mod run;

use std::ffi::OsString;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use lexopt::{Arg, Parser};

use args::{
    Forms, Once, allowed, checked, key, number, object, pair, path, rest_is_empty, root, text,
    usage, utf8,
};

use crate::exit::{Exit, Failure, guard};
use crate::gate::{GATES, Gate, Object};
use crate::merged::Merged;
use crate::policy::{self, Floor, Loaded, Policy};
use crate::verdict::{self, Expected};
use crate::{arch_table, report};

const HELP: &str = "\
lanegate: checks of binary trees with one report

  lanegate GATE --target T --root DIR[=label]... --least N [--allow 'GLOB=why']... [--report FILE]
  lanegate GATE --target T --root DIR[=label]... --policy FILE [--report FILE]
      inspect and assert in one
  lanegate inspect GATE --target T --root DIR[=label]... --report FILE [--ask-file FILE] [--gate NAME --of DIR]
      write down what is there; --gate and --of bind the report to a gate of a build and to its product
  lanegate accept GATE --gate NAME --of DIR --target T --given FILE --report FILE [--ask-file FILE]
      take such a report in place of inspect, where it is one of this gate about this product
  lanegate assert --gate NAME --policy FILE --report FILE [--out FILE [--defer]]
      hold a policy against that; --defer leaves the exit code of a red verdict to seal
  lanegate seal NAME=FILE... [--policy NAME=sha256:HEX]...
      are these verdicts there, and green?
  lanegate merge {NAME=FILE|DIR}... --policy NAME=sha256:HEX... [--format F [--out FILE]]... [--predicates DIR] [--defer]
      the verdicts of a lane as one report: each gate of --policy must have one, and no other;
      --predicates writes each as an in-toto predicate, too
  lanegate show FILE [--format F [--out FILE]]...
      a verdict or a merged report in other forms
  lanegate closure --target T --root DIR[=label] --from DIR[=label]... [--dry-run] [--report FILE]
      copies what the tree imports and lacks out of these directories; all of it or nothing
  lanegate overlap --tree STAGE=DIR... [--fold] [--any GLOB]... [--take GLOB=STAGE]...
      is what several trees have the same in each?
  lanegate run --out DIR [--env] [-- COMMAND...]
      runs a command and writes down its output and exit code; --env the environment that it has
  lanegate manifest --target T --root DIR= --out FILE [--contract GLOB]... [--set NAME=VALUE]...
      lists what a product holds, for the gate of that name
  lanegate explain FILE [--all] [--format text|json] [--out FILE]
      everything that the gates see in one file
  lanegate arch-table
      print the targets and what is known of them

Gates:
{gates}

  --least N can be --empty-ok WHY where nothing need be there.
  --ask KEY=VALUE and --demand KEY=VALUE set a gate's own keys (docs/gates.md); VALUE is JSON or text.
  --format F [--out FILE], again and again, writes the verdict as github, json, junit, sarif or text.
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

/// What a command does with its arguments.
type Run = fn(Parser) -> Result<Exit, Failure>;

/// The commands that are no gate's name. A new one is a module and a row here.
const COMMANDS: [(&str, Run); 12] = [
    ("accept", external::accept),
    ("arch-table", |args| {
        rest_is_empty(args)?;
        print(arch_table::TEXT.as_bytes())?;
        Ok(Exit::Pass)
    }),
    ("assert", run_assert),
    ("closure", closure::run),
    ("explain", explain::run),
    ("inspect", run_inspect),
    ("manifest", run::manifest),
    ("merge", merge::merge),
    ("overlap", overlap::run),
    ("run", run::run),
    ("seal", run_seal),
    ("show", merge::show),
];

fn run(args: Vec<OsString>) -> Result<Exit, Failure> {
    let mut args = Parser::from_args(args);
    let Some(command) = args.next().map_err(usage)? else {
        return Err(Failure::Usage(format!("no command\n\n{}", help())));
    };
    let word = match command {
        Arg::Long("help") | Arg::Short('h') => return print_help(),
        Arg::Value(word) => word.to_string_lossy().into_owned(),
        other => return Err(usage(other.unexpected())),
    };
    if word == "help" {
        return print_help();
    }
    let gate = GATES.iter().find(|gate| gate.name == word);
    let rest = args.raw_args().map_err(usage)?;
    let rest: Vec<OsString> = rest.collect();
    if let Some("--help" | "-h") = rest.first().and_then(|arg| arg.to_str()) {
        print(gate.map_or_else(help, help_of).as_bytes())?;
        return Ok(Exit::Pass);
    }
    // What makes the thing that a gate looks at has that gate's name too; a floor tells them apart.
    let judges = |arg: &OsString| {
        let arg = arg.to_str().unwrap_or_default();
        let name = arg.split_once('=').map_or(arg, |(name, _)| name);
        ["--least", "--empty-ok", "--policy"].contains(&name)
    };
    let judged = gate.filter(|_| rest.iter().any(judges));
    let args = Parser::from_args(rest);
    if let Some(gate) = judged {
        return run_gate(gate, args);
    }
    if let Some((_, run)) = COMMANDS.iter().find(|(name, _)| *name == word) {
        return run(args);
    }
    match gate {
        Some(gate) => run_gate(gate, args),
        None => {
            let gates = GATES.iter().map(|gate| gate.name);
            let known: Vec<&str> = gates.chain(COMMANDS.map(|(name, _)| name)).collect();
            Err(Failure::Usage(format!(
                "no command `{word}`; there are: {}",
                known.join(", ")
            )))
        }
    }
}

fn help() -> String {
    let gates: Vec<String> = GATES
        .iter()
        .map(|gate| format!("  {:<12}{}", gate.name, gate.about))
        .collect();
    HELP.replace("{gates}", &gates.join("\n"))
}

/// What there is to know of a gate here: its keys stand in the documentation.
fn help_of(gate: &Gate) -> String {
    let rules = gate
        .rules
        .iter()
        .map(|rule| format!("  {}  {}\n", rule.id, rule.title));
    format!(
        "lanegate {}: {}\n\n  floors count: inspected, {}\n  keys (--ask, --demand): docs/gates.md\n\n{}\n\
         lanegate --help tells the options of every gate\n",
        gate.name,
        gate.about,
        gate.counts.join(", "),
        rules.collect::<String>()
    )
}

/// Inspects and asserts in one.
fn run_gate(gate: &Gate, mut args: Parser) -> Result<Exit, Failure> {
    let mut target = Once::new("--target");
    let mut policy_file = Once::new("--policy");
    let mut report_file = Once::new("--report");
    let mut least = Once::new("--least");
    let mut empty_ok = Once::new("--empty-ok");
    let (mut ask, mut demand) = (Object::new(), Object::new());
    let (mut roots, mut allow, mut forms) = (Vec::new(), Vec::new(), Forms::default());
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("target") => target.set(text(&mut args)?)?,
            Arg::Long("policy") => policy_file.set(path(&mut args)?)?,
            Arg::Long("report") => report_file.set(path(&mut args)?)?,
            Arg::Long("least") => least.set(number(&mut args)?)?,
            Arg::Long("empty-ok") => empty_ok.set(text(&mut args)?)?,
            Arg::Long("root") => roots.push(root(&mut args)?),
            Arg::Long("allow") => allow.push(allowed(&text(&mut args)?)?),
            Arg::Long("ask") => key(&mut args, &mut ask)?,
            Arg::Long("demand") => key(&mut args, &mut demand)?,
            Arg::Long("format") => forms.format(&mut args)?,
            Arg::Long("out") => forms.out(&mut args)?,
            other => return Err(usage(other.unexpected())),
        }
    }
    forms.check()?;
    let row = arch_table::row(&target.need()?)?;
    let roots = checked(roots)?;
    let spelled_out = least.value.is_some()
        || empty_ok.value.is_some()
        || !(allow.is_empty() && ask.is_empty() && demand.is_empty());
    let loaded = match policy_file.value {
        Some(_) if spelled_out => {
            let text = "--policy says it all: leave out --least, --empty-ok, --allow, --ask and \
                        --demand";
            return Err(Failure::Usage(text.to_owned()));
        }
        Some(file) => Loaded::read(&file)?,
        None => Loaded::of(Policy {
            allow,
            ask,
            check: gate.name.to_owned(),
            demand,
            effect: policy::Effect::Block,
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
            gate: gate.name.to_owned(),
            schema: policy::SCHEMA.to_owned(),
            target: row.target(),
        })?,
    };
    for (what, found, expected) in [
        ("target", &loaded.policy.target, row.target().as_str()),
        ("check", &loaded.policy.check, gate.name),
    ] {
        if found != expected {
            return Err(Failure::Usage(format!(
                "the policy's {what} is {found}, asked for is {expected}"
            )));
        }
    }
    let inspected = gate.inspect(&row, &roots, &loaded.policy.ask)?;
    let asserted = verdict::judge(&inspected, &loaded)?;
    let json = report::canonical(&asserted)?;
    if let Some(file) = report_file.value {
        report::store(&json, &file)?;
    }
    say(&verdict::summary(&asserted));
    let exit = verdict::exit(asserted.verdict);
    forms.write(&Merged::new(vec![asserted]), &json)?;
    Ok(exit)
}

fn run_inspect(mut args: Parser) -> Result<Exit, Failure> {
    let mut target = Once::new("--target");
    let mut report_file = Once::new("--report");
    let mut check = Once::new("the check's name");
    let mut ask_file = Once::new("--ask-file");
    let mut bound = external::Bound::new();
    let mut ask = Object::new();
    let mut roots = Vec::new();
    while let Some(arg) = args.next().map_err(usage)? {
        match arg {
            Arg::Long("target") => target.set(text(&mut args)?)?,
            Arg::Long("report") => report_file.set(path(&mut args)?)?,
            Arg::Long("root") => roots.push(root(&mut args)?),
            Arg::Long("ask") => key(&mut args, &mut ask)?,
            Arg::Long("ask-file") => ask_file.set(path(&mut args)?)?,
            Arg::Long("gate") => bound.gate.set(text(&mut args)?)?,
            Arg::Long("of") => bound.of.set(path(&mut args)?)?,
            Arg::Value(word) => check.set(word.to_string_lossy().into_owned())?,
            other => return Err(usage(other.unexpected())),
        }
    }
    let gate = Gate::named(&check.need()?).map_err(Failure::Usage)?;
    let row = arch_table::row(&target.need()?)?;
    let roots = checked(roots)?;
    let report_file = report_file.need()?;
    if let Some(file) = ask_file.value {
        if !ask.is_empty() {
            let text = "--ask-file says it all: leave out --ask";
            return Err(Failure::Usage(text.to_owned()));
        }
        ask = object(&file)?;
    }
    let external = bound.digested()?;
    let mut inspected = gate.inspect(&row, &roots, &ask)?;
    inspected.external = external;
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
    let inspected: report::Inspected = report::read(&report_file)?;
    let asserted = verdict::judge(&inspected, &loaded).map_err(|failure| match failure {
        Failure::Unreadable(why) => {
            Failure::Unreadable(format!("{}: {why}", report_file.display()))
        }
        other => other,
    })?;
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
        args::digest(digest)?;
    }
    let (mut end, mut advice) = (Exit::Pass, String::new());
    for (gate, file) in files {
        let policy = policies.iter().find(|(name, _)| *name == gate);
        let expected = Expected {
            policy: policy.map(|(_, digest)| digest.clone()),
            gate,
        };
        let exit = match verdict::sealed(&file, &expected) {
            Ok(report) if report.verdict == report::Verdict::Pass => Exit::Pass,
            Ok(report) if report.policy.resolved.effect.is_block() => {
                say(&verdict::summary(&report));
                verdict::exit(report.verdict)
            }
            Ok(report) => {
                advice += &verdict::summary(&report);
                advice += "this gate advises only: what waits for it goes on\n";
                Exit::Pass
            }
            Err(failure) => {
                say(&format!("error: gate {}: {failure}\n", expected.gate));
                failure.exit()
            }
        };
        end = end.worst(exit);
    }
    // Behind the reasons: it is none.
    say(&advice);
    Ok(end)
}

fn print_help() -> Result<Exit, Failure> {
    print(help().as_bytes())?;
    Ok(Exit::Pass)
}

/// Writes to stdout; a reader that went away is no one's fault.
fn print(bytes: &[u8]) -> Result<(), Failure> {
    match std::io::stdout().write_all(bytes) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::io("stdout", &error))
        }
        _ => Ok(()),
    }
}

/// Writes to stderr, where a step's reader looks; if that fails there is nobody to tell.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
