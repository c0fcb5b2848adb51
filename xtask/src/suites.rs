//! What CI runs, as a list of suites.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::json;

use crate::engine::{self, Engine, Wish};
use crate::images::{self, Base};
use crate::{browser, codegen, corpora, demo, frontend, repo, run};

/// How long one command of a suite may take.
const LIMIT: Duration = Duration::from_secs(1500);

/// What every suite builds: with another selection cargo would unify other features, and build the
/// dependencies once more.
const ALL: [&str; 3] = ["--workspace", "--all-features", "--locked"];

/// One part of the tests that can be run by itself.
pub(crate) struct Suite {
    /// What it is called on the command line.
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) about: &'static str,
    run: fn(Wish) -> Result<Ended>,
}

/// How a suite that did not fail ended.
enum Ended {
    Passed,
    /// With the reason.
    Skipped(String),
}

/// All suites, the quick ones first.
pub(crate) const SUITES: &[Suite] = &[
    Suite {
        name: "fmt",
        about: "the formatting is rustfmt's",
        run: |_| cargo(&["fmt", "--all", "--check"]),
    },
    Suite {
        name: "generated",
        about: "generated files are what their generators write",
        run: |_| codegen::run(true).map(|()| Ended::Passed),
    },
    Suite {
        name: "clippy",
        about: "no lint of the workspace's table fires",
        run: |_| {
            let lints = ["--all-targets", "--", "-Dwarnings"];
            cargo(&[&["clippy"][..], &ALL, &lints].concat())
        },
    },
    Suite {
        name: "deny",
        about: "licences, sources and doubles of dependencies",
        run: |_| deny(),
    },
    Suite {
        name: "unit",
        about: "every test that needs no engine, and the examples in the documentation",
        run: |_| unit(),
    },
    Suite {
        name: "corpora",
        about: "gates over real files that nobody here made, against other readers",
        run: |_| on_corpora(),
    },
    Suite {
        name: "pictures",
        about: "the page of `lanekit graph` in a browser, at 40 and at 400 steps",
        run: |_| in_a_browser(),
    },
    Suite {
        name: "engine",
        about: "every test that needs an engine",
        run: |wish| on_engine(wish, &["engine", "caches"]),
    },
    Suite {
        name: "oracle",
        about: "for every change to a graph, what the engine runs is what impact says",
        run: oracle,
    },
    Suite {
        name: "demo",
        about: "the demo, from set-up to the gate that refuses",
        run: |wish| demo::run(wish).map(|()| Ended::Passed),
    },
];

/// Runs the suites that are named, or all, and prints how each ended.
///
/// Hands back whether none failed; an unknown name is an error.
pub(crate) fn run(only: &[String], wish: Wish) -> Result<bool> {
    for name in only {
        if !SUITES.iter().any(|suite| suite.name == name) {
            let known: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
            bail!("no suite is called {name}; there are {}", known.join(", "));
        }
    }
    let mut lines = Vec::new();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for suite in SUITES {
        if !only.is_empty() && !only.iter().any(|name| name == suite.name) {
            continue;
        }
        println!("== {}: {}", suite.name, suite.about);
        let start = Instant::now();
        let ended = (suite.run)(wish);
        let seconds = start.elapsed().as_secs_f64();
        let result = match ended {
            Ok(Ended::Passed) => {
                passed += 1;
                "passed".to_owned()
            }
            Ok(Ended::Skipped(why)) => {
                skipped += 1;
                format!("skipped: {why}")
            }
            Err(error) => {
                failed += 1;
                println!("{error:#}");
                "FAILED".to_owned()
            }
        };
        println!("== {} {result} ({seconds:.1} s)\n", suite.name);
        lines.push(format!("{:<10} {seconds:>7.1} s  {result}", suite.name));
    }
    for line in lines {
        println!("{line}");
    }
    println!("\n{passed} passed, {failed} failed, {skipped} skipped");
    Ok(failed == 0)
}

fn cargo(args: &[&str]) -> Result<Ended> {
    run::attached(repo::cargo().args(args), LIMIT)?;
    Ok(Ended::Passed)
}

fn unit() -> Result<Ended> {
    if has_nextest() {
        let needs_nothing = ["-E", "not package(engine-tests) and not binary(corpora)"];
        cargo(&[&["nextest", "run"][..], &ALL, &needs_nothing].concat())?;
    } else {
        // Without a filter, what needs an engine or the corpora is left out by what is built.
        let here = ["--workspace", "--exclude", "engine-tests", "--locked"];
        cargo(&[&["test", "--all-targets"][..], &here].concat())?;
    }
    // nextest runs no examples of documentation.
    cargo(&[&["test", "--doc"][..], &ALL].concat())
}

fn has_nextest() -> bool {
    run::output(repo::cargo().args(["nextest", "--version"]), LIMIT).is_ok()
}

fn deny() -> Result<Ended> {
    if run::output(repo::cargo().args(["deny", "--version"]), LIMIT).is_err() {
        let why = "cargo-deny is not installed (cargo install --locked cargo-deny)";
        return Ok(Ended::Skipped(why.to_owned()));
    }
    // Advisories would be fetched from a place that CI need not reach.
    cargo(&["deny", "--offline", "check", "bans", "licenses", "sources"])
}

fn on_corpora() -> Result<Ended> {
    let dir = repo::root().join("target/corpora");
    corpora::fetch(&dir)?;
    let mut tests = repo::cargo();
    tests
        .arg("test")
        .args(ALL)
        .args(["--test", "corpora"])
        .env("LANEGATE_CORPORA", &dir);
    run::attached(&mut tests, LIMIT)?;
    Ok(Ended::Passed)
}

fn in_a_browser() -> Result<Ended> {
    let browser = browser::ensure()?;
    let pictures = repo::root().join("target/pictures");
    let mut tests = repo::cargo();
    tests
        .arg("test")
        .args(ALL)
        .args(["--test", "pictures", "--", "--show-output"])
        .env("LANEKIT_TEST_BROWSER", &browser.program)
        .env("LANEKIT_TEST_PICTURES", pictures)
        .envs(browser.env);
    run::attached(&mut tests, LIMIT)?;
    Ok(Ended::Passed)
}

/// Nothing else may run on its engine, whose cache is not collected, so it has a private one.
fn oracle(_: Wish) -> Result<Ended> {
    on_engine(Wish::new(true, true), &["oracle"])
}

fn on_engine(wish: Wish, targets: &[&str]) -> Result<Ended> {
    let layout = repo::root().join("target/frontend/oci");
    let engines = engine::up(wish.with_graphdriver())?;
    let binaries = frontend::build()?;
    for engine in engines.all() {
        images::ensure(engine)?;
        frontend::image(engine, &binaries)?;
        frontend::replay(engine)?;
    }
    if let Some(registry) = &engines.registry {
        frontend::push(&engines.main, registry)?;
        for base in Base::ALL {
            images::push(&engines.main, base, registry)?;
        }
    }
    frontend::oci(&engines.main, &layout)?;
    let described = json!({
        "engine": describe(&engines.main)?,
        "graphdriver": engines.graphdriver.as_ref().map(describe).transpose()?,
        "registry": engines.registry,
        "frontend": frontend::NAME,
        "frontend_oci": layout,
        "replay": frontend::REPLAY,
        "busybox": Base::Busybox.name(),
        "clang": Base::Clang.name(),
    });
    let mut tests = repo::cargo();
    tests.arg("test").args(ALL);
    for target in targets {
        tests.args(["--test", target]);
    }
    tests.arg("--");
    // One build at a time: the engine joins equal steps of builds at once, and counts would differ.
    // And tests that pass say what gates counted, and what an engine that is not ours skips.
    tests.args(["--test-threads=1", "--show-output"]);
    tests.env("LANEKIT_TEST_ENGINE", described.to_string());
    tests.env(
        "LANEKIT_ORACLE_REPORT",
        repo::root().join("target/oracle.md"),
    );
    run::attached(&mut tests, LIMIT)?;
    Ok(Ended::Passed)
}

/// An engine for a test: what kind it is, and the environment in which
/// `docker` means it.
fn describe(engine: &Engine) -> Result<serde_json::Value> {
    let env: std::collections::BTreeMap<_, _> = engine.env()?.into_iter().collect();
    Ok(json!({ "kind": engine.kind.name(), "env": env, "merge": engine.has_merge()? }))
}
