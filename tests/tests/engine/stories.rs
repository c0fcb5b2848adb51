//! Why a step ran, as `lanekit explain` says it; and what differs between two runs of a step.

use std::path::Path;

use engine_tests::{Example, Lanekit, Setup, nonce};

fn fixture(name: &str) -> Example {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let example = Example::copy_of(&fixtures.join(name));
    let fresh = format!("env.NONCE = \"{}\"", nonce());
    example.edit("lanes.toml", "env.NONCE = \"none\"", &fresh);
    example
}

fn lanekit<'a>(engine: &'a engine_tests::Engine, example: &'a Example) -> Lanekit<'a> {
    Lanekit::new(env!("CARGO_BIN_EXE_lanekit-command"), engine, example)
}

/// What `explain` says, without how long steps took.
fn explained(lanekit: &Lanekit<'_>) -> Vec<String> {
    let said = lanekit.pass(&["explain"]);
    let line = |line: &str| {
        let (step, rest) = line.split_once(" ran (")?;
        let (_, why) = rest.split_once("): ")?;
        Some(format!("{step}: {why}"))
    };
    said.lines().filter_map(line).collect()
}

#[test]
fn a_changed_pin_is_told_by_its_name_and_both_values() {
    for engine in Setup::get().engines() {
        let example = fixture("stories");
        let lanekit = lanekit(engine, &example);
        lanekit.build("one", &[]);
        example.edit("versions.env", "LIMITS_VERSION=1", "LIMITS_VERSION=2");
        lanekit.build("one", &[]);
        let changed = "env.LIMITS_VERSION: 1 → 2";
        assert_eq!(
            explained(&lanekit),
            [
                format!("limits/build: {changed}"),
                format!("pack/list: its input limits has other bytes ({changed})"),
            ]
        );
    }
}

#[test]
fn a_changed_file_that_one_step_reads_runs_that_one_and_is_told() {
    for engine in Setup::get().engines() {
        let example = fixture("stories");
        let lanekit = lanekit(engine, &example);
        lanekit.build("one", &[]);
        example.write("shared/names.txt", "second\n");
        lanekit.build("one", &[]);
        let changed = "file shared/names.txt changed";
        assert_eq!(
            explained(&lanekit),
            [
                format!("names/build: {changed}"),
                format!("pack/list: its input names has other bytes ({changed})"),
            ]
        );
        // A build in which nothing changed says so.
        lanekit.build("one", &[]);
        assert_eq!(lanekit.pass(&["explain"]), "one: nothing ran in build 3\n");
    }
}

#[test]
fn a_step_that_writes_a_clock_is_shown_with_the_place_of_it() {
    for engine in Setup::get().engines() {
        let example = fixture("repro");
        let lanekit = lanekit(engine, &example);
        let answer = lanekit.repro(&["clock"]);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        let lines: Vec<&str> = answer.out.lines().collect();
        let title = "clock/build is not reproducible: 1 of 4 paths differ";
        assert_eq!(lines[..2], [title, "  out/sub/built"], "{answer:?}");
        assert!(lines[2].ends_with("; looks like a clock"), "{answer:?}");
        assert!(lines[3].contains("line 1: made at 1"), "{answer:?}");

        // The root of a step in the middle of its stage.
        let answer = lanekit.repro(&["one", "clean/clock", "--format", "json"]);
        assert_eq!(answer.code, Some(1), "{answer:?}");
        let said: serde_json::Value = serde_json::from_str(&answer.out).expect("JSON");
        assert_eq!(said["schema"], "lanekit-repro/1");
        assert_eq!(
            said["differences"].as_array().map(Vec::len),
            Some(1),
            "{said}"
        );
        assert_eq!(said["differences"][0]["path"], "clock");
    }
}

#[test]
fn a_step_is_reproducible_whatever_the_steps_before_it_are() {
    for engine in Setup::get().engines() {
        let example = fixture("repro");
        let answer = lanekit(engine, &example).repro(&["clean/copy"]);
        assert_eq!(answer.code, Some(0), "{answer:?}");
        let title = "clean/copy is reproducible: two runs made the same ";
        assert!(answer.out.starts_with(title), "{answer:?}");
        // The step ran twice, and the one before it once.
        let ends = |step: &str| -> Vec<bool> {
            let lines = answer.err.lines().filter(|line| line.starts_with(step));
            lines.map(|line| line.ends_with(" cached")).collect()
        };
        assert_eq!(ends("✓ [clean/copy] "), [false, false], "{}", answer.err);
        assert_eq!(ends("✓ [clean/clock] "), [false, true], "{}", answer.err);
    }
}

#[test]
fn what_cannot_be_run_twice_is_said_before_an_engine_is_asked() {
    let engine = &Setup::get().engine;
    let example = fixture("repro");
    let lanekit = lanekit(engine, &example);
    for (step, says) in [
        (
            "clean",
            "which step of clean? it has clock, copy: name clean/STEP",
        ),
        (
            "clean/clok",
            "lane `one` has neither an output nor a stage `clean/clok`",
        ),
        ("base", "stage base has no step"),
    ] {
        let answer = lanekit.repro(&[step]);
        assert_ne!(answer.code, Some(0), "{answer:?}");
        assert!(answer.err.contains(says), "{answer:?}");
    }
}
