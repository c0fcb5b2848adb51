//! What a cache that was exported brings back. These tests prune the engine, so they stand in a
//! program of their own, which runs when no other test does.

use std::sync::Mutex;

use engine_tests::{Build, Engine, Example, Outcome, Setup, docker};

/// One test at a time: each prunes.
static ALONE: Mutex<()> = Mutex::new(());

const LANE: &str = "arm64";

/// An example of which nothing is anywhere: each component has bytes of its own.
fn unseen() -> Example {
    let example = Example::fresh();
    example.edit(
        "versions.env",
        "_VERSION=",
        &format!("_VERSION={}-", engine_tests::nonce()),
    );
    example
}

/// Builds with an exported cache, prunes everything, and builds again from that cache.
fn exported_and_imported(engine: &Engine, mode: &str) -> (Outcome, Outcome) {
    let registry = Setup::get().registry.as_ref().expect("a registry");
    let example = unseen();
    let cache = format!(
        "type=registry,ref={registry}/cache:{}",
        engine_tests::nonce()
    );
    let first = Build::new(engine, example.path())
        .target(LANE)
        .option("--cache-to", format!("{cache},mode={mode}"))
        .pass();
    docker(engine, &["builder", "prune", "--all", "--force"]);
    let second = Build::new(engine, example.path())
        .target(LANE)
        .option("--cache-from", cache)
        .pass();
    (first, second)
}

#[test]
fn a_cache_in_a_registry_brings_back_steps_and_gates() {
    let _alone = ALONE.lock();
    let (first, second) = exported_and_imported(&Setup::get().engine, "max");
    assert_eq!(first.steps_run().len(), 7, "{:?}", first.steps_run());
    assert!(second.steps_run().is_empty(), "{:?}", second.steps_run());
    for vertex in [
        "[gate arch] inspect",
        "[gate arch] assert",
        "[seal] media",
        "[seal] output",
    ] {
        assert!(
            first.vertex(vertex).ran(),
            "{vertex}: {:?}",
            first.vertex(vertex)
        );
        assert!(
            second.vertex(vertex).cached,
            "{vertex}: {:?}",
            second.vertex(vertex)
        );
    }
    let gates = &second.metadata["frontend.lanekit.gates"];
    assert_eq!(
        gates["gates"]["arch"]["verdict"], "pass",
        "{}",
        second.metadata
    );
}

#[test]
fn without_an_import_a_pruned_engine_runs_everything_again() {
    let _alone = ALONE.lock();
    let engine = &Setup::get().engine;
    let example = unseen();
    let first = Build::new(engine, example.path()).target(LANE).pass();
    docker(engine, &["builder", "prune", "--all", "--force"]);
    let second = Build::new(engine, example.path()).target(LANE).pass();
    assert_eq!(first.steps_run(), second.steps_run());
}
