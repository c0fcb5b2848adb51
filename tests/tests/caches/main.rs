//! What a cache that was exported brings back. These tests prune the engine, so they stand in a
//! program of their own, which runs when no other test does, and only on an engine that is ours.

use std::sync::{Mutex, MutexGuard};

use engine_tests::{
    Build, Engine, Example, Lanekit, Outcome, Setup, docker, image, nonce, skipped,
};

const LANE: &str = "arm64";

/// The engine, for one test at a time, since each prunes it; none where it is not ours to prune.
fn alone(shows: &str) -> Option<(MutexGuard<'static, ()>, &'static Engine)> {
    static ALONE: Mutex<()> = Mutex::new(());
    let setup = Setup::get();
    if !setup.is_private() {
        return skipped(shows, "it prunes the engine, and this one is not ours");
    }
    // A test that failed has not left anything half done.
    let alone = ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    Some((alone, &setup.engine))
}

/// An example of which nothing is anywhere: each component has bytes of its own.
fn unseen() -> Example {
    let example = Example::fresh();
    let versions = format!("_VERSION={}-", nonce());
    example.edit("versions.env", "_VERSION=", &versions);
    example
}

fn prune(engine: &Engine) {
    docker(engine, &["builder", "prune", "--all", "--force"]);
}

/// The layers of what [`image`] says: what stands behind the config's digest.
fn layers(image: &str) -> &str {
    image.split_once(' ').map_or("", |(_, layers)| layers)
}

fn assert_no_step_runs(outcome: &Outcome, when: &str) {
    assert!(
        outcome.steps_run().is_empty(),
        "{when}: {:?}",
        outcome.steps_run()
    );
}

#[test]
fn a_cache_in_a_registry_brings_back_steps_gates_and_every_byte() {
    let shows = "caches in a registry";
    let Some((_alone, engine)) = alone(shows) else {
        return;
    };
    let Some(registry) = Setup::get().registry(shows) else {
        return;
    };
    let example = unseen();
    let gated = example.read("lanes.toml");
    let (bare, gate) = gated.split_at(gated.find("[gate.arch]").expect("the gate"));
    let floor = |least: u32| {
        let raised = gate.replace("least = 10, ", &format!("least = {least}, "));
        assert_ne!(gate, raised, "the floor");
        format!("{bare}{raised}")
    };
    let cache = format!("type=registry,ref={registry}/cache:{}", nonce());
    let build = || Build::new(engine, example.path()).target(LANE);
    let imported = || build().option("--cache-from", cache.as_str());

    let (first, whole) = image(build().option("--cache-to", format!("{cache},mode=max")));
    assert_eq!(first.steps_run().len(), 7, "{:?}", first.steps_run());
    prune(engine);
    let (second, again) = image(imported());
    assert_no_step_runs(&second, "imported");
    // The layers are the same; the config's history has the times of the layers, which an export
    // rounds. What a gate may not change is compared with what was imported.
    assert_eq!(layers(&again), layers(&whole), "imported");
    for vertex in [
        "[gate arch] inspect",
        "[gate arch] assert",
        "[seal] media",
        "[seal] output",
    ] {
        let back = second.vertex(vertex);
        assert!(back.cached, "{vertex}: {back:?}");
    }
    // A report like that of another build brings its own verdict; the inspect was new here.
    assert!(first.vertex("[gate arch] inspect").ran());
    let gates = &second.metadata["frontend.lanekit.gates"]["gates"];
    assert_eq!(gates["arch"]["verdict"], "pass", "{}", second.metadata);

    for (when, file) in [
        ("the gate removed", bare.to_owned()),
        ("its floor raised", floor(11)),
        ("as it was", gated.clone()),
    ] {
        example.write("lanes.toml", file);
        let (outcome, now) = image(imported());
        assert_no_step_runs(&outcome, when);
        assert_eq!(now, again, "{when}");
    }

    example.write(
        "lanes.toml",
        floor(99).replace("measured = 11", "measured = 99"),
    );
    // Also where nothing but the import is there to tempt the engine.
    for pruned in [false, true] {
        if pruned {
            prune(engine);
        }
        let name = format!("unsealed-{}", nonce());
        let output = format!("type=docker,name={name}");
        let red = imported().option("--output", output).fail();
        assert!(red.errors.contains("[gate.arch]"), "{}", red.errors);
        assert_no_step_runs(&red, "a red gate");
        let held = |steps: std::collections::BTreeSet<String>| steps.contains("image/index");
        assert!(!held(red.steps_started()) && !held(red.steps_cached()));
        assert_eq!(docker(engine, &["image", "ls", "-q", &name]), "");
    }
}

#[test]
fn without_an_import_a_pruned_engine_runs_everything_again() {
    let Some((_alone, engine)) = alone("a pruned engine without an import") else {
        return;
    };
    let example = unseen();
    let build = || Build::new(engine, example.path()).target(LANE).pass();
    let first = build();
    prune(engine);
    assert_eq!(first.steps_run(), build().steps_run());
}

#[test]
fn a_pruned_record_is_told_from_a_changed_key() {
    let Some((_alone, engine)) = alone("why a step of a pruned engine ran") else {
        return;
    };
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let example = Example::copy_of(&fixtures.join("stories"));
    let fresh = format!("env.NONCE = \"{}\"", nonce());
    example.edit("lanes.toml", "env.NONCE = \"none\"", &fresh);
    let lanekit = Lanekit::new(env!("CARGO_BIN_EXE_lanekit-command"), engine, &example);
    lanekit.build("one", &[]);
    prune(engine);
    lanekit.build("one", &[]);
    let said = lanekit.pass(&["explain"]);
    for step in ["limits/build", "names/build", "pack/list"] {
        let found = said.lines().filter(|line| {
            line.starts_with(&format!("{step} ran ("))
                && line.ends_with("): its key is the same, so its cache record was lost")
        });
        assert_eq!(found.count(), 1, "{step}: {said}");
    }
    let help = said.lines().filter(|line| line.starts_with("  look at: "));
    assert_eq!(help.count(), 1, "{said}");
}

/// The two builds of "In CI" in docs/gates.md, word by word.
fn documented() -> Vec<Vec<String>> {
    let manual = include_str!("../../../docs/gates.md");
    let (_, section) = manual.split_once("### In CI\n").expect("the section");
    let (_, block) = section.split_once("```sh\n").expect("the command");
    let (block, _) = block.split_once("```").expect("its end");
    let words = |line: &str| {
        let words = line.split_whitespace().filter(|word| *word != "\\");
        words.map(str::to_owned).collect()
    };
    block.split("&&").map(words).collect()
}

#[test]
fn the_two_builds_for_ci_keep_what_was_made_when_a_gate_is_red() {
    let shows = "the builds for CI";
    let Some((_alone, engine)) = alone(shows) else {
        return;
    };
    let Some(registry) = Setup::get().registry(shows) else {
        return;
    };
    let example = unseen();
    let out = tempfile::tempdir().expect("a directory");
    let app = format!("{registry}/ci-{}", nonce());
    let build = |words: &[String]| {
        let [docker, buildx, build, file, lanes, options @ .., context] = words else {
            panic!("{words:?}");
        };
        let frame = [docker, buildx, build, file, lanes, context].map(String::as_str);
        assert_eq!(
            frame,
            ["docker", "buildx", "build", "-f", "lanes.toml", "."]
        );
        let options = options.iter().map(|word| match word.as_str() {
            "gates" => out.path().display().to_string(),
            word => word.replace("registry.example/app", &app),
        });
        options.fold(Build::new(engine, example.path()), Build::arg)
    };
    let builds = documented();
    let [reports, output] = builds.as_slice() else {
        panic!("{builds:?}");
    };
    let green = "least = 10, measured = 11";
    example.edit("lanes.toml", green, "least = 99, measured = 99");
    let first = build(reports).pass();
    let made = first.steps_run();
    assert!(!made.is_empty(), "nothing of it is anywhere");
    let report = out.path().join("lane/report.json");
    let report = std::fs::read_to_string(report).expect("a report");
    assert!(report.starts_with("{\"exit\":3,"), "{report}");
    assert!(build(output).fail().errors.contains("exit code: 3"));

    prune(engine);
    example.edit("lanes.toml", "least = 99, measured = 99", green);
    assert_no_step_runs(&build(reports).pass(), "reports again");
    let last = build(output).pass();
    let again: Vec<_> = last.steps_run().intersection(&made).cloned().collect();
    assert!(again.is_empty(), "{again:?}");
    assert!(
        last.steps_run().contains("image/index"),
        "which the gate held back"
    );
}
