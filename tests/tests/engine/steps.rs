//! Steps see what they declare; what comes out is what the lane says.

use engine_tests::{Build, Example, Setup, docker};

/// A lane file with one stage `base` on busybox and the given step.
fn with_step(step: &str) -> Example {
    Example::of(&format!(
        r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "t"
[host.TOKEN]
about = "a setting"
[arg.WORD]
default = "w"
about = "a word"
[arg.UNSET]
about = "nobody gives it a value"
[lane.l]
platform = "linux/amd64"
output.image = {{ stage = "base" }}
[stage.base]
from = {{ image = "busybox:1.36" }}
env.LANG = "C.UTF-8"
env.NONCE = "{}"
[[stage.base.step]]
name = "s"
network = "none"
args = ["WORD", "UNSET"]
host = ["TOKEN"]
{step}
"#,
        engine_tests::nonce()
    ))
}

#[test]
fn hello_says_hello_and_then_is_cached() {
    for engine in Setup::get().engines() {
        let example = Example::copy("hello");
        let name = format!("hello-{}", engine_tests::nonce());
        let greeting = engine_tests::nonce();
        let build = || {
            let build = Build::new(engine, example.path());
            // Our engines have an image of the name that the file says, as a user's would.
            let build = match engine.kind.as_str() {
                "ambient" => build,
                _ => build.without_bases(),
            };
            build
                .option("--build-arg", format!("GREETING={greeting}"))
                .option("--output", format!("type=docker,name={name}"))
        };
        assert!(build().pass().steps_run().contains("hello/greet"));
        let said = docker(engine, &["run", "--rm", "--network=none", &name]);
        assert_eq!(said, format!("{greeting}, world!\n"));
        let again = build().pass();
        assert!(again.steps_run().is_empty(), "{:?}", again.steps_run());
        assert!(again.steps_cached().contains("hello/greet"));
        docker(engine, &["image", "rm", &name]);
    }
}

#[test]
fn a_host_setting_that_nobody_passed_is_unset_and_one_that_changes_re_runs_nothing() {
    for engine in Setup::get().engines() {
        let example = with_step(
            "run = [\"sh\", \"-c\", \"echo token=${TOKEN-unset} word=$WORD unset=${UNSET-unset}\"]",
        );
        let first = Build::new(engine, example.path()).pass();
        assert!(
            first.all_logs().contains("token=unset word=w unset=unset"),
            "{}",
            first.all_logs()
        );

        let with = |value: &str| {
            Build::new(engine, example.path())
                .env("TOKEN_VALUE", value)
                .option("--secret", "id=TOKEN,env=TOKEN_VALUE")
        };
        assert!(
            with("one").pass().steps_run().is_empty(),
            "a value is in no key"
        );
        assert!(
            with("two").pass().steps_run().is_empty(),
            "another value is in no key"
        );
        let seen = with("seen-by-the-step").arg("--no-cache").pass();
        assert!(
            seen.all_logs().contains("token=seen-by-the-step"),
            "{}",
            seen.all_logs()
        );
    }
}

#[test]
fn a_waivable_setting_fails_with_what_to_do_and_a_default_is_seen() {
    for engine in Setup::get().engines() {
        let waivable = with_step(
            "run = [\"sh\", \"-c\", \"echo token=${TOKEN-unset} waived=${LANEKIT_WITHOUT-unset}\"]",
        );
        waivable.edit(
            "lanes.toml",
            "about = \"a setting\"",
            "about = \"a setting\"\nneed = \"waivable\"",
        );
        let build = || Build::new(engine, waivable.path());
        let refused = build().fail();
        let said = format!("{}{}", refused.errors, refused.all_logs());
        assert!(
            said.contains("host setting TOKEN is not given"),
            "on {}: {said}",
            engine.kind
        );
        let waived = build()
            .env("WITHOUT", "OTHER,TOKEN")
            .option("--secret", "id=LANEKIT_WITHOUT,env=WITHOUT")
            .pass();
        let logs = waived.all_logs();
        assert!(
            logs.contains("token=unset waived=unset"),
            "on {}: {logs}",
            engine.kind
        );
        let given = build()
            .env("VALUE", "v")
            .option("--secret", "id=TOKEN,env=VALUE")
            .pass();
        assert!(
            given.steps_run().is_empty(),
            "neither waiver nor value is in a key"
        );

        let default = with_step("run = [\"sh\", \"-c\", \"echo token=$TOKEN\"]");
        default.edit(
            "lanes.toml",
            "about = \"a setting\"",
            "about = \"a setting\"\ndefault = \"it's warn\"",
        );
        let logs = Build::new(engine, default.path()).pass().all_logs();
        assert!(
            logs.contains("token=it's warn"),
            "on {}: {logs}",
            engine.kind
        );

        let required = with_step("run = [\"true\"]");
        required.edit(
            "lanes.toml",
            "about = \"a setting\"",
            "about = \"a setting\"\nneed = \"required\"",
        );
        let errors = Build::new(engine, required.path()).fail().errors;
        assert!(
            errors.contains("host setting TOKEN is needed and was not given")
                && errors.contains(">>> name = \"s\""),
            "on {}: {errors}",
            engine.kind
        );
    }
}

#[test]
fn a_host_setting_is_in_neither_config_nor_history_nor_provenance() {
    let engine = &Setup::get().engine;
    let example = with_step("run = [\"sh\", \"-c\", \"echo $TOKEN | wc -c > /length\"]");
    let name = format!("secret-{}", engine_tests::nonce());
    let value = "planted-7f3a9c";
    let outcome = Build::new(engine, example.path())
        .env("TOKEN_VALUE", value)
        .option("--secret", "id=TOKEN,env=TOKEN_VALUE")
        .option("--provenance", "mode=max")
        .option("--output", format!("type=docker,name={name}"))
        .pass();
    assert_eq!(
        docker(
            engine,
            &["run", "--rm", "--network=none", &name, "cat", "/length"]
        )
        .trim(),
        "15"
    );
    let inspect = docker(engine, &["image", "inspect", &name]);
    let history = docker(engine, &["history", "--no-trunc", &name]);
    assert!(!inspect.contains(value) && !history.contains(value));
    assert!(!outcome.metadata.to_string().contains(value));
    docker(engine, &["image", "rm", &name]);
}

#[test]
fn a_failing_step_shows_its_lines() {
    for engine in Setup::get().engines() {
        let example = with_step("run = [\"sh\", \"-c\", \"echo this is why >&2; exit 7\"]");
        let text = example.read("lanes.toml");
        let line = 1 + text
            .lines()
            .position(|l| l == "[[stage.base.step]]")
            .expect("the step");
        let outcome = Build::new(engine, example.path()).fail();
        assert!(
            outcome.errors.contains(&format!("lanes.toml:{line}")),
            "{}",
            outcome.errors
        );
        assert!(
            outcome.errors.contains("exit code: 7"),
            "{}",
            outcome.errors
        );
        assert!(
            outcome.errors.contains(">>> run = [\"sh\""),
            "{}",
            outcome.errors
        );
    }
}

#[test]
fn a_failing_step_of_a_large_lane_file_shows_its_lines() {
    // 600 KB, and as large as a lane file may be.
    for comments in [6_000, 20_900] {
        let engine = &Setup::get().engine;
        let example = with_step("run = [\"false\"]");
        let mut text = example.read("lanes.toml");
        let comment = format!("# {}\n", "x".repeat(97));
        text.push_str(&comment.repeat(comments));
        example.write("lanes.toml", &text);
        let step = |line: &str| line == "[[stage.base.step]]";
        let line = 1 + text.lines().position(step).expect("the step");
        let outcome = Build::new(engine, example.path()).fail();
        let said = &outcome.errors;
        assert!(said.contains(&format!("lanes.toml:{line}")), "{said}");
    }
}

#[test]
fn no_cache_runs_every_step_again_and_keeps_its_cache_mounts_for_the_next() {
    let engine = &Setup::get().engine;
    let id = engine_tests::nonce();
    let example = with_step(&format!(
        "cache = [{{ id = \"{id}\", at = \"/cache\" }}]\nrun = [\"sh\", \"-c\", \"echo kept=$(ls /cache | wc -l); touch /cache/object\"]"
    ));
    Build::new(engine, example.path()).pass();
    let again = Build::new(engine, example.path()).arg("--no-cache").pass();
    assert!(again.steps_run().contains("base/s"));
    // The engine empties the cache mounts of what ignores the cache, once. The frontend's later
    // solves of the same vertices must not do it again: what this run left is there for the next.
    example.edit(
        "lanes.toml",
        "args = [\"WORD\"",
        "env = { MORE = \"1\" }\nargs = [\"WORD\"",
    );
    let next = Build::new(engine, example.path()).pass();
    assert!(next.all_logs().contains("kept=1"), "{}", next.all_logs());
}

#[test]
fn an_image_carries_chain_env_image_env_and_labels() {
    let engine = &Setup::get().engine;
    let example = Example::media();
    let name = format!("config-{}", engine_tests::nonce());
    Build::new(engine, example.path())
        .target("arm64")
        .option("--output", format!("type=docker,name={name}"))
        .pass();
    let format = "{{json .Config}}";
    let config = docker(engine, &["image", "inspect", "--format", format, &name]);
    let config: serde_json::Value = serde_json::from_str(&config).expect("a config");
    let env = config["Env"].to_string();
    for want in [
        "\"PATH=/opt/toolchain/bin:",
        "\"LANG=C.UTF-8\"",
        "\"MEDIA_TARGET=arm64\"",
        "\"MEDIA_ROOT=/runtime\"",
    ] {
        assert!(env.contains(want), "{want} in {env}");
    }
    assert!(
        !env.contains("TRIPLE") && !env.contains("VERSION"),
        "step values stay with steps: {env}"
    );
    assert_eq!(config["Entrypoint"], serde_json::json!(["cat"]));
    assert_eq!(
        config["Labels"]["org.opencontainers.image.title"],
        "media-mini for windows/arm64"
    );
    docker(engine, &["image", "rm", &name]);
}

#[test]
fn the_frontend_comes_from_a_store_a_registry_and_an_oci_layout() {
    let setup = Setup::get();
    let store = "docker.io/lanekit/frontend:0.1";
    let example = Example::media();
    Build::new(&setup.engine, example.path()).pass();

    // A name that nothing has: only the layout can be meant.
    let nowhere = "docker.io/lanekit/nowhere:9";
    let layout = format!("{nowhere}=oci-layout://{}", setup.frontend_oci);
    example.edit("lanes.toml", store, nowhere);
    Build::new(&setup.engine, example.path()).fail();
    Build::new(&setup.engine, example.path())
        .option("--build-context", layout)
        .pass();

    let Some(registry) = setup.registry("the frontend out of a registry") else {
        return;
    };
    let image = format!(
        "{registry}/{}",
        setup.frontend.trim_start_matches("docker.io/")
    );
    example.edit("lanes.toml", nowhere, &image);
    Build::new(&setup.engine, example.path()).pass();
    let bogus = example
        .read("lanes.toml")
        .replace(&image, &format!("{registry}/lanekit/none:0.1"));
    example.write("lanes.toml", bogus);
    Build::new(&setup.engine, example.path()).fail();
}
