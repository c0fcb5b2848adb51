//! The demo: everything from nothing to a refused product, on real input.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::engine::{self, Engine, Wish};
use crate::images::Base;
use crate::progress::Progress;
use crate::{frontend, images, repo, run};

/// What the demo builds, below the repository.
const EXAMPLE: &str = "examples/media-mini";
/// The lanes that it builds.
const LANES: [&str; 3] = ["amd64", "arm64", "amd64-rocm"];
/// The image that the example's file names; the demo puts its own in place of it.
const BASE: &str = "debian:bookworm-slim";
/// The stage's step that the gate holds back.
const HELD: &str = "image/index";
/// What the demo breaks: the file, and the command that it puts another target in front of.
const BROKEN: (&str, &str) = (
    "stages/components.toml",
    r#""sh", "scripts/component", "litert""#,
);
/// How long one build may take.
const LIMIT: Duration = Duration::from_secs(600);

/// What came of a lane.
struct Built {
    lane: &'static str,
    run: usize,
    cached: usize,
    gates: String,
    image: String,
    bundle: String,
}

/// Runs the demo; it fails where it does not show what it should.
pub(crate) fn run(wish: Wish) -> Result<()> {
    let engines = engine::up(wish)?;
    let engine = &engines.main;
    images::ensure(engine)?;
    let binaries = frontend::build()?;
    frontend::image(engine, &binaries)?;

    let built = LANES
        .iter()
        .map(|lane| build(engine, lane))
        .collect::<Result<Vec<_>>>()?;
    print!("\n{}\n", table(&built));
    if built.iter().all(|lane| lane.run == 0) {
        println!("Everything was cached.\n");
    }
    refuse(engine)
}

/// Builds the image and the bundle of a lane through the `# syntax=` line.
fn build(engine: &Engine, lane: &'static str) -> Result<Built> {
    let example = repo::root().join(EXAMPLE);
    let image = format!("media-mini:{lane}");
    let (progress, metadata) =
        buildx(engine, &example, lane, &format!("type=docker,name={image}"))?;
    // Without this, that it does not show up behind a red gate would say nothing.
    ensure!(
        progress.has(HELD),
        "the good build of {lane} has no step {HELD}"
    );
    let bundle = repo::root().join("target/demo").join(lane);
    if bundle.exists() {
        fs::remove_dir_all(&bundle)?;
    }
    let (also, _) = buildx(
        engine,
        &example,
        &format!("{lane}/bundle"),
        &to_directory(&bundle),
    )?;
    ensure!(
        bundle.join("lib/onnx/onnx.dll").is_file(),
        "the bundle of {lane} has no onnx.dll"
    );
    Ok(Built {
        lane,
        run: progress.run() + also.run(),
        cached: progress.cached(),
        gates: passed(&metadata)?,
        image,
        bundle: shown(&bundle),
    })
}

fn to_directory(path: &Path) -> String {
    format!("type=local,dest={}", path.display())
}

/// A build that must succeed: its progress and its metadata.
fn buildx(
    engine: &Engine,
    context: &Path,
    target: &str,
    output: &str,
) -> Result<(Progress, Value)> {
    let metadata = repo::root().join("target/demo/metadata.json");
    let (ok, progress) = attempt(engine, context, target, output, Some(&metadata))?;
    ensure!(ok, "the build of {target} failed");
    let text =
        fs::read(&metadata).with_context(|| format!("cannot read {}", metadata.display()))?;
    Ok((progress, serde_json::from_slice(&text)?))
}

/// A build that may fail, with BuildKit's own progress on the terminal.
fn attempt(
    engine: &Engine,
    context: &Path,
    target: &str,
    output: &str,
    metadata: Option<&Path>,
) -> Result<(bool, Progress)> {
    let file = context.join("lanes.toml");
    println!("\n$ docker buildx build -f lanes.toml --target {target} --output {output} .");
    fs::create_dir_all(repo::root().join("target/demo"))?;
    let mut docker = engine.docker(&[
        "buildx",
        "build",
        "--progress=plain",
        "--build-context",
        &format!("{BASE}=docker-image://{}", Base::Clang.name()),
        "--file",
        &file.to_string_lossy(),
        "--target",
        target,
        "--output",
        output,
    ])?;
    if let Some(metadata) = metadata {
        docker.arg("--metadata-file").arg(metadata);
    }
    docker.arg(context);
    let mut progress = Progress::default();
    let ok = run::watched(&mut docker, LIMIT, |line| progress.line(line))?;
    Ok((ok, progress))
}

/// The gates that passed, by the summary that the build returned.
fn passed(metadata: &Value) -> Result<String> {
    let gates = metadata["frontend.lanekit.gates"]["gates"]
        .as_object()
        .context("the build returned no summary of its gates")?;
    let names: Vec<String> = gates
        .iter()
        .filter(|(_, gate)| gate["verdict"] == "pass")
        .map(|(name, gate)| format!("{name} ({} inspected)", gate["inspected"]))
        .collect();
    ensure!(
        !names.is_empty() && names.len() == gates.len(),
        "not every gate passed: {gates:?}"
    );
    Ok(names.join(", "))
}

/// Breaks one thing on purpose and shows that the gate refuses it.
fn refuse(engine: &Engine) -> Result<()> {
    let broken = copy_of_example()?;
    let stages = broken.join(BROKEN.0);
    let (right, wrong) = (
        BROKEN.1,
        format!("\"env\", \"TRIPLE=x86_64-pc-windows-msvc\", {}", BROKEN.1),
    );
    let text = fs::read_to_string(&stages)?;
    ensure!(
        text.contains(right),
        "the example's litert step is not what the demo breaks"
    );
    fs::write(&stages, text.replace(right, &wrong))?;
    println!("Now one thing is wrong on purpose: litert is compiled for x64 in the arm64 lane.");

    let image = "media-mini:broken";
    let output = format!("type=docker,name={image}");
    let (ok, progress) = attempt(engine, &broken, "arm64", &output, None)?;
    fs::remove_dir_all(&broken)?;
    ensure!(!ok, "the gate let an x64 DLL into the arm64 lane");
    let said = progress.lines.join("\n");
    ensure!(
        said.contains("litert.dll"),
        "the refusal does not name litert.dll"
    );
    ensure!(!progress.has(HELD), "the held step {HELD} showed up");
    let exported = engine.run(&["image", "ls", "--quiet", image], LIMIT)?.out;
    ensure!(exported.trim().is_empty(), "an image came out: {exported}");
    println!(
        "\nAs it should be: the gate refused it, no image {image} came out, and {HELD} did not start."
    );
    Ok(())
}

/// A copy of the example that may be broken.
fn copy_of_example() -> Result<PathBuf> {
    let to = repo::root().join("target/demo/broken");
    if to.exists() {
        fs::remove_dir_all(&to)?;
    }
    copy(&repo::root().join(EXAMPLE), &to)?;
    Ok(to)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// A path below the repository as people type it there.
fn shown(path: &Path) -> String {
    path.strip_prefix(repo::root())
        .unwrap_or(path)
        .display()
        .to_string()
}

/// One line for each lane.
fn table(built: &[Built]) -> String {
    let header = [
        "lane",
        "steps run",
        "cached",
        "gates passed",
        "image",
        "bundle",
    ];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    for lane in built {
        let (run, cached) = (lane.run.to_string(), lane.cached.to_string());
        let row = [
            lane.lane,
            &run,
            &cached,
            &lane.gates,
            &lane.image,
            &lane.bundle,
        ];
        rows.push(row.map(str::to_owned).to_vec());
    }
    engine::table(&rows)
}
