//! The arguments that Docker predefines, as users of Dockerfiles know them: platforms, proxies, dates and what engines
//! take for themselves.

use engine_tests::{Build, Engine, Example, Outcome, Setup, docker, nonce};

/// A lane for Windows on ARM whose one step says its environment and that it ran.
fn example(step: &str) -> Example {
    Example::of(&format!(
        r#"# syntax=docker.io/lanekit/frontend:0.1
[graph]
name = "arguments"
[lane.l]
platform = "linux/amd64"
target = "windows/arm64"
output.image = {{ stage = "app" }}
[stage.app]
from = {{ image = "busybox:1.36" }}
env.NONCE = "{}"
[[stage.app.step]]
name = "say"
{step}
"#,
        nonce()
    ))
}

const ENV: &str = "run = [\"sh\", \"-c\", \"env | sort; echo host=$(hostname)\"]";

/// A build with these build arguments.
fn build<'a>(engine: &'a Engine, example: &Example, args: &[&str]) -> Build<'a> {
    let build = Build::new(engine, example.path());
    args.iter()
        .fold(build, |build, arg| build.option("--build-arg", *arg))
}

fn ran(outcome: &Outcome) -> bool {
    outcome.steps_run().contains("app/say")
}

#[test]
fn a_step_sees_the_platforms_that_it_names_and_only_those() {
    for engine in Setup::get().engines() {
        let named = example(&format!(
            "args = [\"TARGETPLATFORM\", \"TARGETVARIANT\", \"BUILDARCH\"]\n{ENV}"
        ));
        let logs = build(engine, &named, &[]).pass().all_logs();
        for line in [
            "TARGETPLATFORM=windows/arm64",
            "TARGETVARIANT=\n",
            "BUILDARCH=amd64",
        ] {
            assert!(logs.contains(line), "{line} on {}: {logs}", engine.kind);
        }
        assert!(!logs.contains("TARGETOS"), "{logs}");
        let refused = build(engine, &named, &["TARGETARCH=amd64"]).fail().errors;
        assert!(
            refused.contains("LK009") && refused.contains("every lane has it"),
            "{refused}"
        );
    }
}

#[test]
fn proxies_reach_every_step_in_both_spellings_and_are_in_no_key_and_no_image() {
    for engine in Setup::get().engines() {
        let example = example(ENV);
        let secret = format!("http://user:{}@127.0.0.1:9", nonce());
        let names = [
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "FTP_PROXY",
            "NO_PROXY",
            "ALL_PROXY",
        ];
        // Each in one of the two spellings that callers have.
        let args: Vec<String> = names
            .iter()
            .enumerate()
            .map(|(n, name)| match n % 2 {
                0 => format!("{name}={secret}"),
                _ => format!("{}={secret}", name.to_lowercase()),
            })
            .collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let first = build(engine, &example, &args).pass();
        let logs = first.all_logs();
        for name in names {
            for name in [name.to_owned(), name.to_lowercase()] {
                let line = format!("{name}={secret}");
                assert!(logs.contains(&line), "{line} on {}: {logs}", engine.kind);
            }
        }
        assert!(
            !ran(&build(engine, &example, &[]).pass()),
            "no proxy is no other key"
        );
        assert!(!ran(
            &build(engine, &example, &["http_proxy=http://x:1"]).pass()
        ));

        image(engine, build(engine, &example, &args), |name| {
            for says in [["image", "inspect", name], ["history", "--no-trunc", name]] {
                let says = docker(engine, &says);
                assert!(!says.contains(&secret), "on {}: {says}", engine.kind);
            }
        });
    }
}

/// Loads the image, looks at it, and takes it away.
fn image(engine: &Engine, build: Build<'_>, look: impl Fn(&str)) {
    let name = format!("arguments:{}", nonce());
    build.option("--tag", name.as_str()).arg("--load").pass();
    look(&name);
    docker(engine, &["image", "rm", &name]);
}

#[test]
fn a_date_is_the_images_and_a_steps_only_where_it_is_declared() {
    for engine in Setup::get().engines() {
        let plain = example(ENV);
        let epoch = ["SOURCE_DATE_EPOCH=1700000000"];
        image(engine, build(engine, &plain, &epoch), |name| {
            let created = docker(
                engine,
                &["image", "inspect", "--format", "{{.Created}}", name],
            );
            // The exporter of a graph driver gives images the time of the build.
            let dated = created.trim() == "2023-11-14T22:13:20Z";
            assert_eq!(dated, engine.merge, "on {}: {created}", engine.kind);
        });
        let other = build(engine, &plain, &["SOURCE_DATE_EPOCH=1800000000"]).pass();
        assert!(!ran(&other), "it is in no key: {}", other.all_logs());
        let first = build(engine, &plain, &epoch).arg("--no-cache").pass();
        assert!(!first.all_logs().contains("SOURCE_DATE_EPOCH"));

        let declared = example(&format!("args = [\"SOURCE_DATE_EPOCH\"]\n{ENV}"));
        declared.edit(
            "lanes.toml",
            "[lane.l]",
            "[arg.SOURCE_DATE_EPOCH]\nabout = \"the date of what is built\"\n[lane.l]",
        );
        let seen = build(engine, &declared, &epoch).pass();
        assert!(seen.all_logs().contains("SOURCE_DATE_EPOCH=1700000000"));
        let absent = build(engine, &declared, &[]).pass();
        assert!(ran(&absent) && !absent.all_logs().contains("SOURCE_DATE_EPOCH"));
        let wrong = build(engine, &declared, &["SOURCE_DATE_EPOCH=today"]).fail();
        assert!(
            wrong.errors.contains("SOURCE_DATE_EPOCH: today"),
            "{}",
            wrong.errors
        );
    }
}

#[test]
fn what_engines_take_for_themselves_is_done_and_no_step_sees_it() {
    for engine in Setup::get().engines() {
        let example = example(&format!(
            "cache = [{{ id = \"{}\", at = \"/cache\" }}]\nargs = [\"WORD\"]\n\
             run = [\"sh\", \"-c\", \"echo x >> /cache/runs; echo runs=$(cat /cache/runs | wc -l) host=$(hostname); env\"]",
            nonce()
        ));
        example.edit(
            "lanes.toml",
            "[lane.l]",
            "[arg.WORD]\nabout = \"no run is like another\"\n[lane.l]",
        );
        let say = |args: &[&str]| {
            let word = format!("WORD={}", nonce());
            let outcome = build(engine, &example, &[args, &[word.as_str()]].concat()).pass();
            let logs = outcome.all_logs();
            assert!(
                ran(&outcome) && !logs.contains("BUILDKIT_"),
                "on {}: {logs}",
                engine.kind
            );
            logs
        };
        assert!(say(&[]).contains("runs=1 "));
        assert!(say(&[]).contains("runs=2 "));
        let apart = ["BUILDKIT_CACHE_MOUNT_NS=apart"];
        assert!(say(&apart).contains("runs=1 "), "on {}", engine.kind);
        assert!(say(&apart).contains("runs=2 "), "on {}", engine.kind);
        assert!(say(&[]).contains("runs=3 "), "on {}", engine.kind);
        let named = say(&["BUILDKIT_SANDBOX_HOSTNAME=sandbox"]);
        assert!(
            named.contains("host=sandbox"),
            "on {}: {named}",
            engine.kind
        );

        // What exporters do is settled before.
        say(&["BUILDKIT_INLINE_CACHE=1", "BUILDKIT_MULTI_PLATFORM=0"]);
    }
}

/// What the key manifest says of a cache's id (`is_of_place` in `stages/src/keys/make.rs`) is what the engine does.
#[test]
fn the_namespace_of_caches_is_in_a_key_where_the_id_of_a_shared_one_is_its_place() {
    for engine in Setup::get().engines() {
        for (id, sharing, in_key) in [
            ("/cache", "shared", true),
            ("/cache", "locked", false),
            ("cache", "shared", false),
        ] {
            let word = nonce();
            let example = example(&format!(
                "cache = [{{ id = \"{id}\", at = \"/cache\", sharing = \"{sharing}\" }}]\n\
                 run = [\"echo\", \"{word}\"]"
            ));
            let runs = |args: &[&str]| ran(&build(engine, &example, args).pass());
            let case = format!("{id} {sharing} on {}", engine.kind);
            assert!(runs(&[]) && !runs(&[]), "{case}");
            let namespace = format!("BUILDKIT_CACHE_MOUNT_NS=a{word}");
            assert_eq!(runs(&[&namespace]), in_key, "{case}");
            assert!(!runs(&[&namespace]), "{case}");
        }
    }
}

#[test]
fn a_result_has_parts_by_platform_as_the_caller_says() {
    for engine in Setup::get().engines() {
        let example = example("run = [\"true\"]");
        example.edit(
            "lanes.toml",
            "[stage.app]",
            "[lane.m]\nplatform = \"linux/arm64\"\noutput.image = { stage = \"file\" }\n\
             [group.both]\nlanes = [\"l\", \"m\"]\n\
             [stage.file]\nfrom = \"scratch\"\n[[stage.file.step]]\nname = \"w\"\nwrite = { path = \"/f\", text = \"x\" }\n\
             [stage.app]",
        );
        let parts = |target: &str, multi: &str, platforms: &[&str]| {
            let out = tempfile::tempdir().expect("a directory");
            let multi = format!("BUILDKIT_MULTI_PLATFORM={multi}");
            let mut build = build(engine, &example, &[&multi]).target(target);
            for platform in platforms {
                build = build.option("--platform", *platform);
            }
            let outcome = build
                .option(
                    "--output",
                    format!("type=local,dest={}", out.path().display()),
                )
                .run();
            let split = |part: &str| out.path().join(part).is_dir();
            outcome
                .ok
                .then(|| split("linux_amd64"))
                .ok_or(outcome.errors)
        };
        let kind = &engine.kind;
        assert_eq!(parts("l", "1", &[]), Ok(true), "on {kind}");
        assert_eq!(parts("l", "0", &[]), Ok(false), "on {kind}");
        assert_eq!(parts("both", "1", &["linux/amd64"]), Ok(true), "on {kind}");
        assert_eq!(parts("both", "0", &["linux/amd64"]), Ok(false), "on {kind}");
        let refused = parts("both", "0", &[]).expect_err("of two parts one would be lost");
        assert!(refused.contains("several platforms"), "{refused}");
    }
}
