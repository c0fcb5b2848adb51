//! `cargo xtask bench keys`: how long `lanekit impact` and `lanekit explain` take over a graph of 5,000 steps whose
//! ledger has 200 builds. A whole command is measured, from its start to its end, with every file that it reads.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use crate::{repo, run};

/// Components, each a tree that two steps make; before them a root of one step, behind them one more.
const COMPONENTS: usize = 2_499;
/// How many steps that is.
const STEPS: usize = 2 * COMPONENTS + 2;
/// Builds in the ledger.
const BUILDS: usize = 200;
/// Files of the context that the components share.
const SOURCES: usize = 500;
/// How many components consume a component, at the most.
const CONSUMERS: usize = 2;
/// How often a command runs; the median counts.
const ROUNDS: usize = 15;
/// What a command may take, on a machine that does nothing else.
const MOST: Duration = Duration::from_millis(100);
/// How many instructions a command may take in all of its threads: the same number whatever else the machine does, 1.02
/// billion in December 2026. One more manifest that is sealed on its own is an eighth more. valgrind has no instructions
/// for SHA-256, so digests are a fifth of them.
const MOST_INSTRUCTIONS: u64 = 1_080_000_000;
/// How large the page of the graph may be, in bytes: `docs/decisions/0120-pictures.md` says why.
const MOST_PAGE: u64 = 8 << 20;
/// How long drawing it may take. It plans the lane some hundred times.
const MOST_DRAWING: Duration = Duration::from_secs(60);
/// Before a command, so that it waits for nothing else that the machine does.
const AHEAD: [&str; 3] = ["chrt", "--fifo", "20"];
/// How long one command of the set-up may take.
const LIMIT: Duration = Duration::from_secs(600);

/// Measures, and says what took how long. An error when a command takes more instructions than it may, and with `hold`
/// also when it takes longer.
pub(crate) fn keys(hold: bool) -> Result<()> {
    let lanekit = lanekit()?;
    let graph = Graph {
        place: repo::root().join("target/bench/keys"),
        lanekit,
        ahead: ahead(),
    };
    graph.write()?;
    println!("recording {BUILDS} builds of {STEPS} steps");
    graph.record()?;
    let pin = "V0042=changed";
    let mut slow = Vec::new();
    let commands: [(&[&str], &str); 4] = [
        (&["impact", pin], "must run"),
        (&["impact", "--file", "src/s0007.c"], "must run"),
        (&["explain"], "V0199: 1 → b199"),
        (&["explain", "c0199/build"], "V0199: 1 → b199"),
    ];
    for (words, says) in commands {
        let command = words.join(" ");
        let median = graph.measure(words, says)?;
        let count = graph.instructions(words)?;
        println!("{:<38} {count:>13} instructions", "");
        slow.extend(over(&command, count, median, hold));
    }
    slow.extend(graph.page()?);
    ensure!(slow.is_empty(), "{}", slow.join("; "));
    Ok(())
}

/// What a command took more of than it may.
fn over(command: &str, instructions: u64, median: Duration, hold: bool) -> Vec<String> {
    let mut over = Vec::new();
    if instructions > MOST_INSTRUCTIONS {
        over.push(format!(
            "lanekit {command} took {instructions} instructions, of at most {MOST_INSTRUCTIONS}"
        ));
    }
    match (median > MOST, hold) {
        (true, true) => over.push(format!(
            "lanekit {command} took {median:?}, of at most {MOST:?}"
        )),
        (true, false) => println!("longer than {MOST:?}: --hold makes that an error"),
        (false, _) => {}
    }
    over
}

/// The program as it is released.
fn lanekit() -> Result<PathBuf> {
    let mut build = repo::cargo();
    build.args(["build", "--locked", "--release"]);
    build.args(["--package", "frontend", "--bin", "lanekit"]);
    run::attached(&mut build, LIMIT)?;
    Ok(repo::root().join("target/release/lanekit"))
}

/// Whether a command may go ahead of all others; without that the times hold on a machine that does nothing else.
fn ahead() -> &'static [&'static str] {
    let [program, rest @ ..] = AHEAD;
    let tried = Command::new(program).args(rest).arg("true").output();
    match tried.is_ok_and(|output| output.status.success()) {
        true => &AHEAD,
        false => {
            println!("chrt gives no priority here: times include what else the machine does");
            &[]
        }
    }
}

struct Graph {
    place: PathBuf,
    lanekit: PathBuf,
    /// What stands before the command whose time is taken.
    ahead: &'static [&'static str],
}

/// What a component consumes: two others before it, so that the graph is wide and deep.
fn consumed(number: usize) -> impl Iterator<Item = usize> {
    let far = number.checked_sub(50);
    let far = far.filter(|_| CONSUMERS > 1);
    // Chains of fifty, each link beside a far one.
    let near = number.checked_sub(1).filter(|_| !number.is_multiple_of(50));
    near.into_iter().chain(far)
}

impl Graph {
    fn write(&self) -> Result<()> {
        if self.place.exists() {
            fs::remove_dir_all(&self.place)?;
        }
        fs::create_dir_all(self.place.join("src"))?;
        for number in 0..SOURCES {
            let text = format!("int s{number:04}(void) {{ return {number}; }}\n").repeat(40);
            fs::write(self.file(&format!("src/s{number:04}.c")), text)?;
        }
        fs::write(self.file("lanes.toml"), lanes())?;
        self.pins(None)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.place.join(name)
    }

    /// The pins, one of them changed.
    fn pins(&self, changed: Option<usize>) -> Result<()> {
        let mut text = String::new();
        for number in 0..COMPONENTS {
            match changed {
                Some(one) if one == number => writeln!(text, "V{number:04}=b{number}")?,
                _ => writeln!(text, "V{number:04}=1")?,
            }
        }
        Ok(fs::write(self.file("versions.env"), text)?)
    }

    /// The ledger: a build in which all ran, then some in which a pin was changed and back.
    fn record(&self) -> Result<()> {
        fs::write(self.file("metadata.json"), "{}")?;
        for build in 0..BUILDS {
            let changed = (build > 0).then_some(build);
            self.pins(changed)?;
            fs::write(self.file("progress"), progress(changed))?;
            let words = "record --progress progress --metadata metadata.json";
            self.lanekit(&words.split(' ').collect::<Vec<_>>())?;
        }
        Ok(())
    }

    fn lanekit(&self, words: &[&str]) -> Result<String> {
        self.said(Command::new(&self.lanekit), words)
    }

    /// The same before all else that the machine does.
    fn lanekit_ahead(&self, words: &[&str]) -> Result<String> {
        let Some((program, rest)) = self.ahead.split_first() else {
            return self.lanekit(words);
        };
        let mut command = Command::new(program);
        command.args(rest).arg(&self.lanekit);
        self.said(command, words)
    }

    fn said(&self, mut command: Command, words: &[&str]) -> Result<String> {
        let output = command.current_dir(&self.place).args(words).output()?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        ensure!(
            output.status.success(),
            "lanekit {}: {}",
            words.join(" "),
            said(&output.stderr)
        );
        Ok(said(&output.stdout))
    }

    /// How many instructions a command takes, by valgrind.
    fn instructions(&self, words: &[&str]) -> Result<u64> {
        let mut command = Command::new("valgrind");
        command
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(&self.lanekit)
            .args(words)
            .current_dir(&self.place);
        let output = command.output().context("valgrind counts instructions")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "valgrind: {said}");
        let count = said
            .lines()
            .find_map(|line| line.split_once("Collected :"))
            .and_then(|(_, count)| count.trim().parse().ok());
        count.with_context(|| format!("no count of instructions in what valgrind said: {said}"))
    }

    /// Draws the graph as a page: what it took too much of.
    fn page(&self) -> Result<Option<String>> {
        let start = Instant::now();
        self.lanekit(&["graph", "--out", "page.html"])?;
        let took = start.elapsed();
        let size = fs::metadata(self.file("page.html"))?.len();
        println!("lanekit graph {took:>25.1?}, a page of {size} bytes");
        let over = size > MOST_PAGE || took > MOST_DRAWING;
        Ok(over.then(|| {
            format!("lanekit graph took {took:?} of at most {MOST_DRAWING:?} for {size} bytes of at most {MOST_PAGE}")
        }))
    }

    fn measure(&self, words: &[&str], says: &str) -> Result<Duration> {
        let mut times = Vec::new();
        for round in 0..=ROUNDS {
            let start = Instant::now();
            let said = self.lanekit_ahead(words)?;
            let took = start.elapsed();
            ensure!(said.contains(says), "lanekit {}: {said}", words.join(" "));
            // The first round brings the files into memory.
            if round > 0 {
                times.push(took);
            }
        }
        times.sort();
        let median = times[times.len() / 2];
        let best = times.first().context("no round")?;
        println!(
            "lanekit {:<30} median {:>6.1} ms, best {:>6.1} ms",
            words.join(" "),
            median.as_secs_f64() * 1e3,
            best.as_secs_f64() * 1e3
        );
        Ok(median)
    }
}

fn lanes() -> String {
    let mut text = String::from(
        r#"[graph]
name = "large"
versions = "versions.env"
[lane.one]
platform = "linux/amd64"
output.image = { stage = "final" }
[stage.base]
from = { image = "busybox:1.36" }
[[stage.base.step]]
name = "prepare"
network = "none"
run = ["true"]
"#,
    );
    for number in 0..COMPONENTS {
        let uses: Vec<String> = consumed(number)
            .map(|other| format!("\"c{other:04}\""))
            .collect();
        let (uses, source) = (uses.join(", "), number % SOURCES);
        text.push_str(&format!(
            r#"[stage.c{number:04}]
from = "base"
tree = ["/out/c{number:04}"]
[[stage.c{number:04}.step]]
name = "configure"
args = ["V{number:04}"]
network = "none"
run = ["configure", "--prefix=/out/c{number:04}"]
[[stage.c{number:04}.step]]
name = "build"
args = ["V{number:04}"]
files = ["src/s{source:04}.c"]
uses = [{uses}]
network = "none"
run = ["build", "/out/c{number:04}"]
"#
        ));
    }
    let all: Vec<String> = (0..COMPONENTS)
        .map(|number| format!("\"c{number:04}\""))
        .collect();
    text.push_str(&format!(
        "[stage.final]\nfrom = \"base\"\nadd = [{}]\n[[stage.final.step]]\nname = \"index\"\nnetwork = \"none\"\nrun = [\"index\"]\n",
        all.join(", ")
    ));
    text
}

/// What an engine says of a build in which all ran, or what a changed component moves.
fn progress(changed: Option<usize>) -> String {
    let ran = |number: usize| {
        changed.is_none_or(|one| number == one || consumed(number).any(|other| other == one))
    };
    let mut names = Vec::new();
    if changed.is_none() {
        names.push("[base/prepare] true".to_owned());
    }
    for number in (0..COMPONENTS).filter(|number| ran(*number)) {
        names.push(format!("[c{number:04}/configure] configure"));
        names.push(format!("[c{number:04}/build] build"));
        names.push(format!("[c{number:04}] tree"));
    }
    names.push("[final] add".to_owned());
    names.push("[final/index] index".to_owned());
    let vertex = |(number, name): (usize, &String)| {
        let vertex = json!({
            "digest": format!("sha256:{number:064x}"),
            "name": name,
            "started": "2026-12-01T12:00:00Z",
            "completed": "2026-12-01T12:00:02Z",
        });
        format!("{}\n", json!({ "vertexes": [vertex] }))
    };
    names.iter().enumerate().map(vertex).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_more_than_it_may_is_an_error() {
        let found = |instructions, median, hold| over("x", instructions, median, hold).len();
        let later = MOST + Duration::from_millis(1);
        assert_eq!(found(MOST_INSTRUCTIONS, MOST, true), 0);
        assert_eq!(found(MOST_INSTRUCTIONS + 1, MOST, false), 1);
        assert_eq!(found(MOST_INSTRUCTIONS, later, false), 0);
        assert_eq!(found(MOST_INSTRUCTIONS, later, true), 1);
        assert_eq!(found(MOST_INSTRUCTIONS + 1, later, true), 2);
    }
}
