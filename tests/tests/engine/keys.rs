//! A step runs again exactly when something that it declares changed.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt as _;

use engine_tests::{Build, Engine, Example, Outcome, Setup};

/// The steps of the arm64 lane.
const ALL: [&str; 7] = [
    "ffmpeg/build",
    "image/index",
    "litert/build",
    "onnx/build",
    "opencv/build",
    "toolchain/wrapper",
    "tvm/build",
];

fn set(steps: &[&str]) -> BTreeSet<String> {
    steps.iter().map(|s| (*s).to_owned()).collect()
}

fn build(engine: &Engine, example: &Example) -> Outcome {
    Build::new(engine, example.path()).target("arm64").pass()
}

#[test]
fn a_pin_re_runs_the_steps_that_name_it_and_what_consumes_changed_bytes() {
    for engine in Setup::get().engines() {
        let example = Example::fresh();
        assert_eq!(build(engine, &example).steps_run(), set(&ALL));
        assert_eq!(build(engine, &example).steps_run(), set(&[]));

        // Behind litert stands media, which the image takes.
        example.edit(
            "versions.env",
            "LITERT_VERSION=2.1.0",
            "LITERT_VERSION=2.1.1",
        );
        assert_eq!(
            build(engine, &example).steps_run(),
            set(&["litert/build", "image/index"])
        );

        // Behind onnx stand ffmpeg and opencv. Its version changes onnx.dll but not the import
        // library; both are in its tree.
        example.edit("versions.env", "ONNX_VERSION=1.23.0", "ONNX_VERSION=1.23.1");
        let run = build(engine, &example).steps_run();
        // ffmpeg links against the same import library, so its own bytes are the same again and
        // opencv, which sees ffmpeg and onnx, runs for onnx alone.
        assert_eq!(
            run,
            set(&["onnx/build", "ffmpeg/build", "opencv/build", "image/index"])
        );

        // Only another lane names these.
        example.edit("versions.env", "ROCM_VERSION=7.1", "ROCM_VERSION=7.2");
        example.edit("versions.env", "CUDA_VERSION=13.0", "CUDA_VERSION=13.1");
        assert_eq!(build(engine, &example).steps_run(), set(&[]));
        example.edit(
            "versions.env",
            "# Every version",
            "# A comment in a pins file\n# Every version",
        );
        assert_eq!(build(engine, &example).steps_run(), set(&[]));
    }
}

#[test]
fn a_step_that_makes_the_same_bytes_re_runs_nothing_behind_it() {
    for engine in Setup::get().engines() {
        let example = Example::fresh();
        build(engine, &example);
        example.edit(
            "src/onnx.c",
            "EXPORT int onnx_run",
            "/* Only a comment. */\nEXPORT int onnx_run",
        );
        assert_eq!(
            build(engine, &example).steps_run(),
            set(&["onnx/build"]),
            "on {}",
            engine.kind
        );
    }
}

#[test]
fn files_that_no_step_lists_modes_and_times_re_run_nothing() {
    for engine in Setup::get().engines() {
        let example = Example::fresh();
        build(engine, &example);

        example.write("src/unlisted.c", "int unlisted;\n");
        example.write("README.md", "unlisted\n");
        assert_eq!(
            build(engine, &example).steps_run(),
            set(&[]),
            "unlisted files"
        );

        for name in ["src/onnx.c", "src/media.h", "scripts/build-component"] {
            let file = example.file(name);
            for mode in [0o664, 0o755, 0o600] {
                std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode))
                    .expect("a mode");
            }
        }
        std::fs::set_permissions(example.file("src"), std::fs::Permissions::from_mode(0o700))
            .expect("a mode");
        assert_eq!(build(engine, &example).steps_run(), set(&[]), "modes");

        let text = example.read("src/onnx.c");
        example.write("src/onnx.c", text);
        assert_eq!(build(engine, &example).steps_run(), set(&[]), "times");
    }
}

#[test]
fn names_comments_labels_and_other_lanes_re_run_nothing() {
    let engine = &Setup::get().engine;
    let example = Example::fresh();
    build(engine, &example);
    example.edit(
        "lanes.toml",
        "name     = \"media-mini\"",
        "# a comment\nname     = \"renamed\"",
    );
    example.edit(
        "lanes.toml",
        "title\" = \"media-mini",
        "title\" = \"another title: media-mini",
    );
    example.edit(
        "lanes.toml",
        "MEDIA_ROOT = \"/runtime\"",
        "MEDIA_ROOT = \"/runtime/\"",
    );
    example.edit("lanes.toml", "name    = \"index\"", "name    = \"list\"");
    let run = build(engine, &example).steps_run();
    assert_eq!(run, set(&[]), "names are in no key");
}

#[test]
fn lanes_share_what_they_have_in_common() {
    let engine = &Setup::get().engine;
    let example = Example::fresh();
    build(engine, &example);
    let amd64 = Build::new(engine, example.path())
        .target("amd64")
        .pass()
        .steps_run();
    assert!(
        !amd64.contains("toolchain/wrapper"),
        "the toolchain reads nothing of the lane: {amd64:?}"
    );
    assert!(amd64.contains("onnx/build"));
    let rocm = Build::new(engine, example.path())
        .target("amd64-rocm")
        .pass()
        .steps_run();
    assert!(
        rocm.contains("sdk-rocm/rocm") && rocm.contains("toolchain/wrapper"),
        "{rocm:?}"
    );
    assert!(!rocm.contains("sdk-nvidia/cuda"));
}
