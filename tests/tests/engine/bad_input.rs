//! What a bad lane file or request gets through the engine: one clear error, no step.

use std::time::{Duration, Instant};

use engine_tests::{Build, Example, Outcome, Setup};

fn refused(example: &Example) -> Outcome {
    let outcome = Build::new(&Setup::get().engine, example.path()).fail();
    assert!(outcome.steps_started().is_empty(), "no step starts");
    for bad in ["panicked", "exit code: 139", "closed unexpectedly"] {
        assert!(!outcome.errors.contains(bad), "{}", outcome.errors);
    }
    outcome
}

/// Refused within 20 seconds, with the time that buildx needs to send the file.
fn quickly(example: &Example) -> Outcome {
    let start = Instant::now();
    let outcome = refused(example);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    outcome
}

fn assert_says(outcome: &Outcome, wanted: &[&str]) {
    for want in wanted {
        assert!(
            outcome.errors.contains(want),
            "{want:?} in:\n{}",
            outcome.errors
        );
    }
}

#[test]
fn an_unknown_build_arg_gets_its_name_the_nearest_one_and_the_list() {
    let example = Example::media();
    let outcome = Build::new(&Setup::get().engine, example.path())
        .target("arm64")
        .option("--build-arg", "NOPE=1")
        .fail();
    assert!(outcome.steps_started().is_empty());
    assert_says(
        &outcome,
        &[
            "`NOPE`",
            "nearest is `OPTIMIZE`",
            "what may be set: OPTIMIZE",
            "lanes.toml",
        ],
    );
}

#[test]
fn a_host_setting_as_build_arg_gets_the_flag_to_use() {
    let example = Example::media();
    let outcome = Build::new(&Setup::get().engine, example.path())
        .option("--build-arg", "MEDIA_CACHE_ENDPOINT=http://x")
        .fail();
    assert_says(
        &outcome,
        &["--secret id=MEDIA_CACHE_ENDPOINT,env=MEDIA_CACHE_ENDPOINT"],
    );
}

#[test]
fn an_unknown_lane_gets_the_list() {
    let example = Example::media();
    let outcome = Build::new(&Setup::get().engine, example.path())
        .target("arm46")
        .fail();
    assert_says(
        &outcome,
        &[
            "there is no lane `arm46`",
            "did you mean `arm64`",
            "amd64-rocm",
        ],
    );
}

#[test]
fn broken_toml_shows_every_place() {
    let example = Example::of("# syntax=docker.io/lanekit/frontend:0.1\n[graph\nname = \n");
    assert_says(&refused(&example), &["lanes.toml:2", "unclosed table"]);
}

#[test]
fn cycles_and_missing_stages_show_their_lines() {
    let file = |stages: &str| {
        Example::of(&format!(
            "# syntax=docker.io/lanekit/frontend:0.1\n[graph]\nname = \"t\"\n[lane.l]\nplatform = \"linux/amd64\"\noutput.o = {{ stage = \"a\" }}\n{stages}"
        ))
    };
    let cycle = file("[stage.a]\nfrom = \"b\"\n[stage.b]\nfrom = \"a\"\n");
    assert_says(
        &refused(&cycle),
        &["in a circle: a → b → a", "lanes.toml:10"],
    );
    let missing = file("[stage.a]\nfrom = \"bb\"\n[stage.b]\nfrom = \"scratch\"\n");
    assert_says(
        &refused(&missing),
        &["there is no stage `bb`", "did you mean `b`", "lanes.toml:8"],
    );
}

#[test]
fn garbage_and_50_mb_are_refused_quickly() {
    let mut garbage = b"# syntax=docker.io/lanekit/frontend:0.1\n".to_vec();
    garbage.extend((0..200_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8));
    let example = Example::of("");
    example.write("lanes.toml", &garbage);
    assert_says(&quickly(&example), &["not UTF-8"]);

    let mut large = "# syntax=docker.io/lanekit/frontend:0.1\n".to_owned();
    large.push_str(&"# more\n".repeat(50 * 1024 * 1024 / 7));
    example.write("lanes.toml", &large);
    assert_says(&quickly(&example), &["lanes.toml", "bytes", "at most"]);
}

#[test]
fn a_missing_pins_file_is_named() {
    let example = Example::copy("hello");
    std::fs::remove_file(example.file("versions.env")).expect("it was there");
    assert_says(&refused(&example), &["versions.env", "lanes.toml:4"]);
}

#[test]
fn a_missing_file_of_a_step_is_named_with_the_step() {
    let example = Example::copy("hello");
    std::fs::remove_file(example.file("greet.sh")).expect("it was there");
    let outcome = Build::new(&Setup::get().engine, example.path()).fail();
    assert_says(&outcome, &["greet.sh", "[[stage.hello.step]]"]);
}

#[test]
fn a_directory_as_lane_file_is_refused() {
    let example = Example::of("");
    std::fs::remove_file(example.file("lanes.toml")).expect("it was there");
    std::fs::create_dir(example.file("lanes.toml")).expect("a directory");
    let outcome = Build::new(&Setup::get().engine, example.path())
        .option(
            "--build-arg",
            "BUILDKIT_SYNTAX=docker.io/lanekit/frontend:0.1",
        )
        .fail();
    assert_says(&outcome, &["lanes.toml is a directory, not a file"]);
}
