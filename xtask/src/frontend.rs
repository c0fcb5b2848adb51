//! The frontend's image: `lanekit` and `lanegate`, static, in an image of
//! their own.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::engine::Engine;
use crate::images::needed;
use crate::{repo, run};

/// The image's name: what a lane file's `# syntax=` line says.
pub(crate) const NAME: &str = "docker.io/lanekit/frontend:0.1";

/// The image of the frontend that builds a definition as it is, for tests.
pub(crate) const REPLAY: &str = "docker.io/lanekit/replay:test";

const BUILD: Duration = Duration::from_secs(1200);
const IMAGE: Duration = Duration::from_secs(300);

/// The crate and the binary of each program. They are built one by one: what
/// one needs of a shared dependency must not change the bytes of the other,
/// since the keys of gates follow the bytes of `lanegate`.
/// Each with the features that it needs there, and no others: no command that only a person has a use for.
const BINARIES: [(&str, &str, &str); 2] = [
    ("gates", "lanegate", "inspect"),
    ("frontend", "lanekit", ""),
];

/// Both binaries, built and found to be static, in a folder that an image can
/// be built from.
#[derive(Debug)]
pub(crate) struct Binaries {
    context: PathBuf,
    /// Their size with gzip, in bytes. What an engine makes of them, the engine's tests hold
    /// against a limit.
    pub(crate) compressed: u64,
}

/// Builds the binaries.
pub(crate) fn build() -> Result<Binaries> {
    let target = repo::root().join("target/frontend");
    let (triple, arch) = platform()?;
    let context = target.join("image");
    let dist = context.join("dist").join(arch);
    fs::create_dir_all(&dist)?;
    // Side by side, each in a folder of its own: the last step of each has work for one processor.
    let built = thread::scope(|scope| {
        BINARIES
            .map(|(package, binary, features)| {
                scope.spawn(move || {
                    let features = ["--no-default-features", "--features", features];
                    program(triple, "dist", package, binary, &features)
                })
            })
            .map(|program| program.join().expect("a build does not panic"))
    });
    let mut compressed = 0;
    for ((_, binary, _), bytes) in BINARIES.into_iter().zip(built) {
        let bytes = bytes?;
        compressed += gzip_size(&bytes)?;
        put(&bytes, &dist.join(binary))?;
    }
    Ok(Binaries {
        context,
        compressed,
    })
}

/// Builds one static program.
fn program(
    triple: &str,
    profile: &str,
    package: &str,
    binary: &str,
    features: &[&str],
) -> Result<Vec<u8>> {
    let target = repo::root().join("target/frontend/of").join(binary);
    let mut cargo = repo::cargo();
    cargo
        .args(["build", "--locked", "--profile", profile])
        .args(["--target", triple, "--package", package, "--bin", binary])
        .args(features)
        .env("CARGO_TARGET_DIR", &target)
        .env("CARGO_ENCODED_RUSTFLAGS", flags().join("\x1f"));
    run::attached(&mut cargo, BUILD)?;
    let folder = if profile == "dev" { "debug" } else { profile };
    let built = target.join(triple).join(folder).join(binary);
    let bytes = fs::read(&built).with_context(|| format!("cannot read {}", built.display()))?;
    let needs = needed::of(&bytes).with_context(|| binary.to_owned())?;
    ensure!(
        needs == needed::Needs::default(),
        "{binary} is not static: it needs {needs:?}"
    );
    Ok(bytes)
}

/// Puts the image into an engine's own store; the same binaries give the same
/// image.
pub(crate) fn image(engine: &Engine, binaries: &Binaries) -> Result<()> {
    let file = repo::root().join("Dockerfile.frontend");
    put_image(engine, &file, &binaries.context, NAME)
}

/// The test frontend that sends a definition to the engine as it is, in an
/// image of the same kind.
pub(crate) fn replay(engine: &Engine) -> Result<()> {
    let (triple, arch) = platform()?;
    let context = repo::root().join("target/frontend/replay");
    let dist = context.join("dist").join(arch);
    fs::create_dir_all(&dist)?;
    let bytes = program(triple, "dev", "engine-tests", "replay", &[])?;
    put(&bytes, &dist.join("lanekit"))?;
    put(&[], &dist.join("lanegate"))?;
    let file = repo::root().join("Dockerfile.frontend");
    put_image(engine, &file, &context, REPLAY)
}

fn put_image(engine: &Engine, file: &Path, context: &Path, name: &str) -> Result<()> {
    engine
        .run(
            &[
                "buildx",
                "build",
                "--progress=plain",
                // Into the engine's own store; zstd makes the layer a fifth smaller than gzip. A
                // graph driver keeps layers as they are.
                &format!("--output=type=image,name={name},compression=zstd,compression-level=19,unpack=true"),
                "--provenance=false",
                "--sbom=false",
                "--build-arg=SOURCE_DATE_EPOCH=0",
                "--file",
                &file.to_string_lossy(),
                &context.to_string_lossy(),
            ],
            IMAGE,
        )
        .with_context(|| format!("cannot build the image {name}"))?;
    Ok(())
}

/// Pushes the image to a registry on loopback; hands back its name there.
pub(crate) fn push(engine: &Engine, registry: &str) -> Result<String> {
    let name = NAME.replacen("docker.io", registry, 1);
    engine.run(&["tag", NAME, &name], IMAGE)?;
    engine.run(&["push", "--quiet", &name], IMAGE)?;
    Ok(name)
}

/// Writes the image as an OCI layout directory, in place of what is there.
pub(crate) fn oci(engine: &Engine, dir: &Path) -> Result<()> {
    if dir.exists() {
        ensure!(
            dir.join("oci-layout").is_file() || fs::read_dir(dir)?.next().is_none(),
            "{} is neither empty nor an OCI layout",
            dir.display()
        );
        fs::remove_dir_all(dir)?;
    }
    fs::create_dir_all(dir)?;
    let archive = dir.join("image.tar");
    engine.run(
        &["save", "--output", &archive.to_string_lossy(), NAME],
        IMAGE,
    )?;
    tar::Archive::new(File::open(&archive)?).unpack(dir)?;
    fs::remove_file(&archive)?;
    ensure!(
        dir.join("oci-layout").is_file(),
        "this engine saves images in another format than OCI layout"
    );
    Ok(())
}

/// The flags that make a binary static, and free of this machine's paths.
fn flags() -> Vec<String> {
    let mut flags = vec!["-Ctarget-feature=+crt-static".to_owned()];
    let mut remap = |from: &Path, to: &str| {
        flags.push(format!("--remap-path-prefix={}={to}", from.display()));
    };
    if let Some(home) = repo::cargo_home() {
        remap(&home, "/cargo");
    }
    remap(&repo::root(), "/lanekit");
    flags
}

/// The target triple of this machine, and the architecture as images name it.
fn platform() -> Result<(&'static str, &'static str)> {
    match std::env::consts::ARCH {
        "x86_64" => Ok(("x86_64-unknown-linux-gnu", "amd64")),
        "aarch64" => Ok(("aarch64-unknown-linux-gnu", "arm64")),
        other => bail!("the frontend is not built on {other}"),
    }
}

fn gzip_size(bytes: &[u8]) -> Result<u64> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(bytes)?;
    Ok(gzip.finish()?.len() as u64)
}

/// Writes a file with a fixed time, so that the image's layer is the same.
fn put(bytes: &[u8], path: &Path) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    File::options()
        .write(true)
        .open(path)?
        .set_modified(SystemTime::UNIX_EPOCH)?;
    Ok(())
}
