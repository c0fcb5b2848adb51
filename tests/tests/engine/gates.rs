//! A gate re-runs nothing and adds no byte: its seal lets the product through.

use engine_tests::{Build, Engine, Example, Outcome, Setup, docker};

const LANE: &str = "arm64";

/// The image of an example, as one build made it.
fn image(engine: &Engine, example: &Example) -> (Outcome, String) {
    engine_tests::image(Build::new(engine, example.path()).target(LANE))
}

/// A year of its own for each run: an assert hangs on report and policy alone, and an earlier
/// run's verdict would be its result.
fn some_year() -> u32 {
    let nonce = engine_tests::nonce();
    1000 + nonce
        .bytes()
        .fold(0_u32, |sum, b| sum.wrapping_mul(31).wrapping_add(b.into()))
        % 9000
}

#[test]
fn adding_changing_and_removing_a_gate_re_runs_no_step_and_changes_no_byte() {
    for engine in Setup::get().engines() {
        let example = Example::fresh();
        let with_gate = example.read("lanes.toml");
        let start = with_gate.find("[gate.arch]").expect("the gate");
        let without_gate = &with_gate[..start];

        example.write("lanes.toml", without_gate);
        let (outcome, bare) = image(engine, &example);
        assert!(!outcome.steps_run().is_empty(), "the first build runs");

        example.write("lanes.toml", &with_gate);
        let (outcome, sealed) = image(engine, &example);
        assert!(
            outcome.steps_run().is_empty(),
            "adding, on {}: {:?}",
            engine.kind,
            outcome.steps_run()
        );
        assert!(outcome.vertex("[gate arch] inspect").ran());
        assert_eq!(sealed, bare, "adding, on {}", engine.kind);

        example.write(
            "lanes.toml",
            with_gate
                .replace("least = 10, ", "least = 11, ")
                .replace("on = 2026-12-02", &format!("on = {}-12-02", some_year())),
        );
        let (outcome, changed) = image(engine, &example);
        assert!(
            outcome.steps_run().is_empty(),
            "changing, on {}: {:?}",
            engine.kind,
            outcome.steps_run()
        );
        assert!(
            outcome.vertex("[gate arch] inspect").cached,
            "a floor scans nothing again"
        );
        let assert = outcome.vertex("[gate arch] assert");
        assert!(assert.ran(), "{:#?}", outcome.vertices);
        assert_eq!(changed, bare, "changing, on {}", engine.kind);

        example.write("lanes.toml", without_gate);
        let (outcome, removed) = image(engine, &example);
        assert!(
            outcome.steps_run().is_empty(),
            "removing, on {}: {:?}",
            engine.kind,
            outcome.steps_run()
        );
        assert_eq!(removed, bare, "removing, on {}", engine.kind);
    }
}

#[test]
fn a_gate_that_fails_stops_the_held_stage_even_when_its_result_is_cached() {
    for engine in Setup::get().engines() {
        let example = Example::fresh();
        image(engine, &example);
        example.edit(
            "lanes.toml",
            "least = 10, measured = 11",
            "least = 99, measured = 99",
        );
        let name = format!("unsealed-{}", engine_tests::nonce());
        let outcome = Build::new(engine, example.path())
            .target(LANE)
            .option("--output", format!("type=docker,name={name}"))
            .fail();
        assert!(
            !outcome.steps_started().contains("image/index"),
            "{:?}",
            outcome.steps_started()
        );
        // Nor does its cached result come out: nothing asked for it.
        assert!(
            !outcome.steps_cached().contains("image/index"),
            "{:?}",
            outcome.steps_cached()
        );
        assert!(
            outcome.steps_cached().contains("tvm/build"),
            "{:?}",
            outcome.steps_cached()
        );
        assert_eq!(docker(engine, &["image", "ls", "-q", &name]), "");
    }
}
