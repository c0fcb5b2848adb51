//! The oracle: for every change to a graph, what the engine runs is what `lanekit impact` says.
//!
//! A step that *must* run ran, and nothing ran that neither must nor *may*. A tree that was made again shows as run when
//! nothing had its bytes before, and as cached when something had; with that told, the steps that run are exactly those
//! that are said to. So each change writes a text of its own. Where a tree had several products by then (a lane has only
//! so many targets), its flag does not tell which one it is, and the steps behind it may still run.
//!
//! The engine's flags: a vertex without inputs is started and not cached also when only its key was made, so steps and
//! copies count, and sources do not; of two nodes with one key one runs, and the other one shows as cached, so sets are
//! compared by keys; a cancelled vertex has an error. Nothing else may run on the engine, and its cache is not collected.

mod change;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::sync::Mutex;

use engine_tests::{Build, Engine, Example, Outcome, Setup, nonce};
use stages::impact::{Fate, Known, fates};
use stages::keys::{Kind, Manifest, Node};

use change::{Change, How};

/// How many changes of a kind are made to a graph on an engine; `LANEKIT_ORACLE=all` makes every one.
const SOME: usize = 2;
/// Of a graph with more steps than this, one of each.
const LARGE: usize = 20;

/// Kinds of changes that may make other products, after which a tree's flag says less: they come last.
const OTHER_BYTES: [&str; 7] = [
    "arg",
    "pin",
    "file content",
    "script",
    "lane",
    "lane target",
    "switch",
];

/// Kinds of changes without which the matrix would show less than it promises.
const PROMISED: [&str; 17] = [
    "arg",
    "pin",
    "host setting",
    "switch",
    "file content",
    "file mode",
    "file time",
    "unlisted file",
    "label",
    "chain env",
    "floor",
    "gate policy",
    "step name",
    "order of tables",
    "comment",
    "lane",
    "lane target",
];

/// What came of one change.
#[derive(Default)]
struct Row {
    engine: String,
    graph: String,
    what: String,
    which: String,
    must: BTreeSet<String>,
    may: BTreeSet<String>,
    ran: BTreeSet<String>,
    /// Ran, and was neither in `must` nor in `may`.
    unforeseen: BTreeSet<String>,
    /// Must have run, and did not.
    idle: BTreeSet<String>,
    /// What was wrong once it was known which trees have other bytes.
    inexact: BTreeSet<String>,
    /// Trees that were made again.
    trees: usize,
    /// Those of them whose flag did not tell which bytes they have.
    unsure: usize,
}

#[test]
fn what_runs_is_what_impact_says() {
    let rows = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for (turn, engine) in Setup::get().engines().enumerate() {
            let rows = &rows;
            scope.spawn(move || {
                for (graph, example, lane) in graphs() {
                    let found = Oracle::new(engine, graph, example, lane).run(turn);
                    rows.lock().expect("no panic before").extend(found);
                }
            });
        }
    });
    let rows = rows.into_inner().expect("no panic before");
    let verdict = report(&rows);
    assert!(rows.len() >= 80, "{}", rows.len());
    for kind in PROMISED {
        assert!(rows.iter().any(|row| row.what == kind), "no {kind}");
    }
    for row in &rows {
        let wrong = [&row.unforeseen, &row.idle, &row.inexact];
        assert!(
            wrong.iter().all(|set| set.is_empty()),
            "{}\n{}",
            line(row),
            verdict
        );
    }
    assert!(
        verdict.ends_with("precision 100 %, recall 100 %"),
        "{verdict}"
    );
}

/// The graphs, each with the lane that is changed; no build had any of them before.
fn graphs() -> [(&'static str, Example, &'static str); 3] {
    let hello = Example::copy("hello");
    hello.edit(
        "versions.env",
        "HELLO_WHOM=",
        &format!("HELLO_WHOM={}", nonce()),
    );
    let own = Example::copy_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/graph"));
    let fresh = format!("env.NONCE = \"{}\"", nonce());
    own.edit("lanes.toml", "env.NONCE = \"none\"", &fresh);
    let media = Example::fresh();
    // The engine may have had the example before: each component has bytes of its own.
    let versions = format!("_VERSION={}-", nonce());
    media.edit("versions.env", "_VERSION=", &versions);
    [
        ("hello", hello, "amd64"),
        ("media-mini", media, "arm64"),
        ("own", own, "one"),
    ]
}

struct Oracle<'a> {
    engine: &'a Engine,
    graph: &'static str,
    example: Example,
    lane: &'static str,
    /// What was built so far.
    known: Known,
    /// How many products trees had so far, by own key: that is the copy which makes the tree, whatever it is made from.
    products: BTreeMap<String, usize>,
}

impl<'a> Oracle<'a> {
    fn new(engine: &'a Engine, graph: &'static str, example: Example, lane: &'static str) -> Self {
        Self {
            engine,
            graph,
            example,
            lane,
            known: Known::default(),
            products: BTreeMap::new(),
        }
    }

    fn run(mut self, turn: usize) -> Vec<Row> {
        let base = manifest(&self.example, self.lane, &[]).expect("a right lane file");
        let build = |example: &Example| {
            Build::new(self.engine, example.path())
                .target(self.lane)
                .pass()
        };
        build(&self.example);
        let again = build(&self.example);
        assert!(again.steps_run().is_empty(), "{:?}", again.steps_run());
        self.learn(&base);
        for tree in trees(&base) {
            self.products.insert(tree.own.clone(), 1);
        }
        let changes = change::all(&self.example, &base);
        let steps = base.nodes.iter().filter(|node| node.kind == Kind::Step);
        let most = match std::env::var("LANEKIT_ORACLE").as_deref() {
            Ok("all") => usize::MAX,
            _ if steps.count() > LARGE => 1,
            _ => SOME,
        };
        let mut changes = self.some(changes, most, turn);
        changes.sort_by_key(|change| OTHER_BYTES.contains(&change.what));
        changes.iter().map(|change| self.change(change)).collect()
    }

    fn learn(&mut self, manifest: &Manifest) {
        for node in &manifest.nodes {
            self.known.add(&node.key, &node.own);
        }
    }

    /// An example with a change made to it, and the lane and arguments that are asked for.
    fn with(&self, change: &Change) -> (Example, String, Vec<String>) {
        let example = self.example.again();
        change.make(&example);
        let (mut lane, mut args) = (self.lane.to_owned(), Vec::new());
        match &change.how {
            How::Arg(arg) => args.push(arg.clone()),
            How::Target(target) => lane.clone_from(target),
            _ => {}
        }
        (example, lane, args)
    }

    /// Whether a change leaves a lane file that is right: one that is refused never comes to an engine.
    fn is_right(&self, change: &Change) -> bool {
        let (example, lane, args) = self.with(change);
        manifest(&example, &lane, &args).is_ok()
    }

    /// Some changes of each kind, spread over all of them, and others on the next engine.
    fn some(&self, changes: Vec<Change>, most: usize, turn: usize) -> Vec<Change> {
        let mut kinds: BTreeMap<&str, Vec<Option<Change>>> = BTreeMap::new();
        for change in changes {
            kinds.entry(change.what).or_default().push(Some(change));
        }
        let mut chosen = Vec::new();
        for mut changes in kinds.into_values() {
            let all = changes.len();
            let most = most.min(all);
            for number in 0..most {
                let start = number * all / most + turn;
                let mut from_there =
                    (0..all).filter_map(|more| changes[(start + more) % all].take());
                chosen.extend(from_there.find(|change| self.is_right(change)));
            }
        }
        chosen
    }

    fn change(&mut self, change: &Change) -> Row {
        let (example, lane, args) = self.with(change);
        let mut build = Build::new(self.engine, example.path());
        for arg in &args {
            build = build.option("--build-arg", arg);
        }
        match &change.how {
            How::Secret(name) => {
                let secret = format!("id={name},env=ORACLE_VALUE");
                build = build
                    .option("--secret", secret)
                    .env("ORACLE_VALUE", &nonce());
            }
            How::Label(label) => build = build.option("--label", label),
            _ => {}
        }
        let now = manifest(&example, &lane, &args).expect("a right lane file");
        let predicted = fates(&now, &self.known, &BTreeMap::new());
        let outcome = build.target(&lane).pass();
        let ran = Ran::new(&now, &outcome);
        let (made, unsure) = self.products(&now, &ran);
        let exact = fates(&now, &self.known, &made);
        let mut row = Row {
            trees: made.len() + unsure,
            unsure,
            engine: self.engine.kind.clone(),
            graph: self.graph.to_owned(),
            what: change.what.to_owned(),
            which: change.which.clone(),
            ..Row::default()
        };
        for node in &now.nodes {
            row.judge(
                node,
                predicted[node.id.as_str()],
                exact[node.id.as_str()],
                &ran,
            );
        }
        self.learn(&now);
        row
    }

    /// Whether each tree that was made again has other bytes than before, where its flag tells that, and of how many it
    /// does not.
    fn products(&mut self, now: &Manifest, ran: &Ran<'_>) -> (BTreeMap<String, bool>, usize) {
        let (mut made, mut unsure) = (BTreeMap::new(), 0);
        for tree in trees(now) {
            let had = self.products.entry(tree.own.clone()).or_default();
            // Of a tree that nothing asked for nothing is known.
            if self.known.has(&tree.key) || !ran.seen.contains(tree.id.as_str()) {
                continue;
            }
            if ran.ids.contains(tree.id.as_str()) {
                *had += 1;
                made.insert(tree.id.clone(), true);
            } else if *had == 1 {
                made.insert(tree.id.clone(), false);
            } else {
                unsure += 1;
            }
        }
        (made, unsure)
    }
}

fn trees(manifest: &Manifest) -> impl Iterator<Item = &Node> {
    manifest.nodes.iter().filter(|node| node.kind == Kind::Tree)
}

impl Row {
    fn judge(&mut self, node: &Node, fate: Fate, exact: Fate, ran: &Ran<'_>) {
        let did = ran.ids.contains(node.id.as_str());
        let counts = ran.keys.contains(node.key.as_str());
        // Behind a gate a merge has another key with it than without; only what stands behind it is told.
        if did && fate == Fate::Cached && node.kind != Kind::Merge {
            self.unforeseen.insert(node.id.clone());
        }
        if node.kind != Kind::Step {
            return;
        }
        let id = || node.id.clone();
        match fate {
            Fate::Must => self.must.insert(id()),
            Fate::May => self.may.insert(id()),
            Fate::Cached => false,
        };
        if did {
            self.ran.insert(id());
        }
        if fate == Fate::Must && !counts {
            self.idle.insert(id());
        }
        if exact == Fate::Must && !counts || exact == Fate::Cached && did {
            self.inexact.insert(id());
        }
    }
}

/// The nodes that ran.
struct Ran<'m> {
    ids: BTreeSet<&'m str>,
    keys: BTreeSet<&'m str>,
    /// The nodes that the engine came to, cached or not.
    seen: BTreeSet<&'m str>,
}

impl<'m> Ran<'m> {
    fn new(manifest: &'m Manifest, outcome: &Outcome) -> Self {
        let mut ran = Self {
            ids: BTreeSet::new(),
            keys: BTreeSet::new(),
            seen: BTreeSet::new(),
        };
        let sources = [Kind::Image, Kind::Git];
        for node in manifest
            .nodes
            .iter()
            .filter(|node| !sources.contains(&node.kind))
        {
            let named = outcome.vertices.values().filter(|vertex| {
                // A step's name has its command behind it; all others are whole.
                vertex.name == node.vertex
                    || node.vertex.ends_with("] ") && vertex.name.starts_with(&node.vertex)
                    || node.kind == Kind::Inspect && vertex.name.starts_with(&node.vertex)
            });
            for vertex in named {
                if vertex.ran() {
                    ran.ids.insert(&node.id);
                    ran.keys.insert(&node.key);
                }
                if vertex.ran() || vertex.cached {
                    ran.seen.insert(&node.id);
                }
            }
        }
        ran
    }
}

fn manifest(example: &Example, lane: &str, args: &[String]) -> Result<Manifest, String> {
    let file = example.file("lanes.toml");
    frontend::command::manifest(&file, example.path(), lane, args)
}

fn list(set: &BTreeSet<String>) -> String {
    match set.len() {
        0 => "–".to_owned(),
        _ => set.iter().map(String::as_str).collect::<Vec<_>>().join(" "),
    }
}

fn line(row: &Row) -> String {
    let mut text = format!(
        "| {} | {} | {} | {} | {} | {} | {} |",
        row.engine,
        row.graph,
        row.what,
        row.which,
        list(&row.must),
        list(&row.may),
        list(&row.ran)
    );
    for (what, set) in [
        ("unforeseen", &row.unforeseen),
        ("did not run", &row.idle),
        ("not exact", &row.inexact),
    ] {
        if !set.is_empty() {
            let _ = write!(text, " **{what}: {}**", list(set));
        }
    }
    text
}

/// Prints the matrix and keeps it; hands back the last line.
fn report(rows: &[Row]) -> String {
    let mut text = String::from(
        "| engine | graph | what changed | which | must run | may run | ran |\n|---|---|---|---|---|---|---|\n",
    );
    let (mut ran, mut unforeseen, mut must, mut idle) = (0, 0, 0, 0);
    for row in rows {
        text.push_str(&line(row));
        text.push('\n');
        ran += row.ran.len() + row.unforeseen.difference(&row.ran).count();
        unforeseen += row.unforeseen.len();
        must += row.must.len();
        idle += row.idle.len();
    }
    let percent = |wrong: usize, all: usize| match wrong {
        0 => "100 %".to_owned(),
        _ => format!("{:.1} %", 100.0 * (1.0 - wrong as f64 / all.max(1) as f64)),
    };
    let verdict = format!(
        "{} perturbations, precision {}, recall {}",
        rows.len(),
        percent(unforeseen, ran),
        percent(idle, must)
    );
    let (trees, unsure) = rows.iter().fold((0, 0), |(trees, unsure), row| {
        (trees + row.trees, unsure + row.unsure)
    });
    let _ = writeln!(
        text,
        "\nof {trees} trees that were made again, {} told whether they have other bytes",
        trees - unsure
    );
    let _ = writeln!(text, "\n{verdict}");
    let place = std::env::var("LANEKIT_ORACLE_REPORT")
        .unwrap_or_else(|_| format!("{}/../target/oracle.md", env!("CARGO_MANIFEST_DIR")));
    std::fs::write(&place, &text).expect("the matrix is kept");
    let _ = std::io::stderr().write_all(text.as_bytes());
    verdict
}
