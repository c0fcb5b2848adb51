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

/// Two lanes for two platforms whose steps run nothing, and a gate over what both hand on.
const GROUP: &str = r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "group"
[lane.amd64]
platform = "linux/amd64"
output.image = { stage = "texts" }
[lane.arm64]
platform = "linux/arm64"
output.image = { stage = "texts" }
[group.both]
lanes = ["amd64", "arm64"]
[stage.texts]
from = "scratch"
tree = ["/texts"]
[[stage.texts.step]]
name = "a"
write = { path = "/texts/a.txt", text = "${lane.platform} NONCE" }
[[stage.texts.step]]
name = "b"
when = { lane.platform = "linux/amd64" }
write = { path = "/texts/b.txt", text = "NONCE" }
[gate.texts]
of = "texts"
check = "files"
ask = { required = [{ path = "**/a.txt" }] }
floor = [{ required = { least = 1 } }]
"#;

#[test]
fn the_gates_of_a_group_are_the_reports_of_each_platform_also_when_one_is_red() {
    for engine in Setup::get().engines() {
        let example = Example::of("");
        let lanes = GROUP.replace("NONCE", &engine_tests::nonce());
        let reports = |lanes: &str| {
            example.write("lanes.toml", lanes);
            let out = tempfile::tempdir().expect("a directory");
            let destination = format!("type=local,dest={}", out.path().display());
            Build::new(engine, example.path())
                .target("both/gates")
                .option("--output", destination)
                .pass();
            ["linux_amd64", "linux_arm64"].map(|platform| {
                let place = out.path().join(platform);
                let read = |name: &str| {
                    let text = std::fs::read_to_string(place.join(name));
                    let text = text.unwrap_or_else(|why| panic!("{platform}/{name}: {why}"));
                    serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
                };
                let seen = read("texts.json");
                assert_eq!(seen["target"], platform.replace('_', "/"));
                assert!(place.join("lane/junit.xml").is_file(), "{platform}");
                let lane = read("lane/report.json");
                assert_eq!(lane["gates"][0]["gate"], "texts", "{platform}");
                lane["exit"].as_i64().expect("a code")
            })
        };
        assert_eq!(reports(&lanes), [0, 0], "{}", engine.kind);
        // What only the second lane does not have.
        let red = lanes.replace("**/a.txt", "**/b.txt");
        assert_eq!(reports(&red), [0, 1], "{}", engine.kind);
        // Nothing of the group comes out then, of neither platform.
        let outcome = Build::new(engine, example.path()).target("both").fail();
        assert!(
            outcome.errors.contains("[gate.texts]"),
            "{}",
            outcome.errors
        );
    }
}
