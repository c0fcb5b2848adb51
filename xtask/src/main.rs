//! `cargo xtask`: the set-up, the demo, the tests and the generated files of
//! this repository.
#![allow(
    clippy::print_stdout,
    reason = "a command of developers prints its results"
)]

mod bench;
mod browser;
mod codegen;
mod corpora;
mod demo;
mod engine;
mod frontend;
mod fuzz;
mod images;
mod process;
mod progress;
mod repo;
mod run;
mod suites;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use clap::{Parser, Subcommand};
use engine::Wish;

#[derive(Parser)]
#[command(
    name = "cargo xtask",
    about = "Set-up, demo, tests and generated files"
)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// The Docker Engine that the demo and the tests build on
    #[command(subcommand)]
    Engine(EngineTask),
    /// Build the frontend's image into the engine's own store
    Frontend {
        /// Push it to the registry on loopback too
        #[arg(long)]
        push: bool,
        /// Write it as an OCI layout directory too
        #[arg(long, value_name = "DIR")]
        oci: Option<PathBuf>,
        /// Build it into the engine whose store has no merge and diff too
        #[arg(long)]
        graphdriver: bool,
        /// Use the private engine even where another one is reachable
        #[arg(long)]
        private: bool,
    },
    /// Run what CI runs
    Test {
        /// Only this suite; may be given several times
        #[arg(long, value_name = "SUITE")]
        only: Vec<String>,
        /// Show the suites instead
        #[arg(long)]
        list: bool,
        /// Use the private engine even where another one is reachable
        #[arg(long)]
        private: bool,
    },
    /// Build the example for three lanes, then show a gate that refuses
    Demo {
        /// Use the private engine even where another one is reachable
        #[arg(long)]
        private: bool,
    },
    /// Measure lanegate against llvm-readobj and pefile on a tree of real files
    Bench {
        /// `keys` measures `lanekit impact` and `lanekit explain` over a graph of 5,000 steps instead
        #[arg(value_parser = ["keys"])]
        part: Option<String>,
        /// `keys` fails too when a command takes longer than 100 ms: on a machine that does nothing else
        #[arg(long, requires = "part")]
        hold: bool,
    },
    /// Read inputs that are nearly right with every reader
    Fuzz {
        /// How long, in all
        #[arg(long, default_value_t = 10.0)]
        minutes: f64,
        /// Only this reader; may be given several times
        #[arg(long, value_name = "READER")]
        reader: Vec<String>,
        /// Other inputs; the same number makes the same ones
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Read this one input with the one reader instead
        #[arg(long, value_name = "FILE")]
        input: Option<PathBuf>,
        /// Write the committed seeds again instead
        #[arg(long)]
        write_seeds: bool,
    },
    /// One process of `fuzz`
    #[command(hide = true)]
    FuzzWorker {
        reader: String,
        seed: u64,
        turn: u64,
        seconds: f64,
    },
    /// Write the generated files
    Codegen {
        /// Only tell whether one is out of date
        #[arg(long)]
        check: bool,
    },
}

#[derive(Subcommand)]
enum EngineTask {
    /// Start it, after unpacking it from Debian packages where none is reachable
    Up {
        /// Use the private engine even where another one is reachable
        #[arg(long)]
        private: bool,
        /// Start a second one too, whose store has no merge and diff
        #[arg(long)]
        graphdriver: bool,
    },
    /// Stop what `up` started
    Down,
    /// Show what runs
    Status,
    /// Print what a shell needs: eval "$(cargo xtask engine env)"
    Env {
        /// The engine whose store has no merge and diff
        #[arg(long)]
        graphdriver: bool,
    },
    /// Make the base images of the examples from Debian packages
    Images {
        /// Load them into the engine whose store has no merge and diff too
        #[arg(long)]
        graphdriver: bool,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        Task::Engine(task) => engine(task),
        Task::Frontend {
            push,
            oci,
            graphdriver,
            private,
        } => frontend(push, oci.as_deref(), Wish::new(private, graphdriver)),
        Task::Test {
            only,
            list,
            private,
        } => test(&only, list, Wish::new(private, false)),
        Task::Demo { private } => demo::run(Wish::new(private, false)),
        Task::Bench {
            part: Some(_),
            hold,
        } => bench::keys(hold),
        Task::Bench { part: None, .. } => bench::run().and_then(|kept| {
            ensure!(kept, "a limit was not kept");
            Ok(())
        }),
        Task::Fuzz {
            write_seeds: true, ..
        } => fuzz::write_seeds(),
        Task::Fuzz {
            input: Some(input),
            reader,
            ..
        } => match &reader[..] {
            [reader] => fuzz::again(reader, &input),
            _ => Err(anyhow::anyhow!("--input wants one --reader")),
        },
        Task::Fuzz {
            minutes,
            reader,
            seed,
            ..
        } => fuzz_all(minutes, reader, seed),
        Task::FuzzWorker {
            reader,
            seed,
            turn,
            seconds,
        } => fuzz::worker(&reader, seed, turn, seconds),
        Task::Codegen { check } => codegen::run(check),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn engine(task: EngineTask) -> Result<()> {
    match task {
        EngineTask::Up {
            private,
            graphdriver,
        } => {
            engine::up(Wish::new(private, graphdriver))?;
            print!("{}", engine::status()?);
        }
        EngineTask::Down => {
            for name in engine::down()? {
                println!("stopped {name}");
            }
        }
        EngineTask::Status => print!("{}", engine::status()?),
        EngineTask::Images { graphdriver } => {
            let engines = engine::up(Wish::new(false, graphdriver))?;
            for engine in engines.all() {
                for image in images::ensure(engine)? {
                    let what = if image.kept { "kept" } else { "loaded" };
                    println!("{what} {} ({})", image.name, image.inputs);
                }
            }
        }
        EngineTask::Env { graphdriver } => print!("{}", engine::env(graphdriver)?),
    }
    Ok(())
}

fn frontend(push: bool, oci: Option<&Path>, wish: Wish) -> Result<()> {
    let engines = engine::up(wish)?;
    let binaries = frontend::build()?;
    for engine in engines.all() {
        frontend::image(engine, &binaries)?;
    }
    println!(
        "{} ({} bytes compressed)",
        frontend::NAME,
        binaries.compressed
    );
    if push {
        let registry = engines
            .registry
            .context("only the private engine has a registry: use --private")?;
        println!("{}", frontend::push(&engines.main, &registry)?);
    }
    if let Some(dir) = oci {
        let dir = std::path::absolute(dir)?;
        frontend::oci(&engines.main, &dir)?;
        println!("{}", dir.display());
    }
    Ok(())
}

fn fuzz_all(minutes: f64, readers: Vec<String>, seed: u64) -> Result<()> {
    let minutes = fuzz::checked(minutes)?;
    let fine = fuzz::run(&fuzz::Wish {
        minutes,
        readers,
        seed,
    })?;
    ensure!(fine, "a reader broke");
    Ok(())
}

fn test(only: &[String], list: bool, wish: Wish) -> Result<()> {
    if list {
        for suite in suites::SUITES {
            println!("{:<10} {}", suite.name, suite.about);
        }
        return Ok(());
    }
    ensure!(suites::run(only, wish)?, "a suite failed");
    Ok(())
}
