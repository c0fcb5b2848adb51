//! How long graphs of some sizes take to make, and how many bytes they are:
//! `cargo run --release -p llb --example measure`.
#![allow(clippy::print_stdout, reason = "an example that prints times")]

use std::time::Instant;

use llb::{
    Bind, Definition, Error, Exec, FileOp, Image, Location, Merge, Metadata, MkFile, Platform,
    Range, Root, SourceFile,
};

/// A graph like a real one: of each three vertices one is a file op, one an
/// exec with a name, a place and a mount, and one a merge.
fn graph(vertices: u32, file: &SourceFile) -> Result<Definition, Error> {
    let platform = Platform::new("linux", "amd64");
    let base = Image::new("debian:13".parse()?, platform.clone()).build();
    let mut trees = base.clone();
    for step in 0..vertices / 3 {
        let files = FileOp::new(None)
            .mkfile(MkFile::new("/step", 0o644, step.to_string()))
            .build()?;
        let run = Exec::new(
            platform.clone(),
            Root::writable(base.clone()),
            ["sh", "-ec", "make"],
        )
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .env("STEP", step.to_string())
        .mount("/files", Bind::read_only(files))
        .metadata(
            Metadata::named(format!("step {step}"))
                .at(Location::new(file, [Range::lines(step + 1, step + 3)])),
        )
        .build()?;
        trees = Merge::new([trees, run.root()?]).build()?;
    }
    Ok(Definition::new(&trees))
}

fn main() -> Result<(), Error> {
    let file = SourceFile::new("lanes.toml", "TOML", vec![b'\n'; 60_000]);
    println!("vertices      ms    bytes  bytes/vertex");
    for vertices in [100, 1_000, 10_000] {
        let mut best = f64::INFINITY;
        let mut bytes = 0;
        for _ in 0..7 {
            let start = Instant::now();
            bytes = graph(vertices, &file)?.to_bytes().len();
            best = best.min(start.elapsed().as_secs_f64() * 1e3);
        }
        let each = bytes / usize::try_from(vertices).unwrap_or(1);
        println!("{vertices:8} {best:7.1} {bytes:8} {each:8}");
    }
    Ok(())
}
