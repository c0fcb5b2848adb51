//! `cargo xtask`: the set-up, the demo, the tests and the generated files of
//! this repository.
#![allow(
    clippy::print_stdout,
    reason = "a command of developers prints its results"
)]

mod codegen;
mod engine;
mod images;
mod process;
mod repo;
mod run;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

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
            engine::up(engine::Wish {
                private,
                graphdriver,
            })?;
            print!("{}", engine::status()?);
        }
        EngineTask::Down => {
            for name in engine::down()? {
                println!("stopped {name}");
            }
        }
        EngineTask::Status => print!("{}", engine::status()?),
        EngineTask::Images { graphdriver } => {
            let engines = engine::up(engine::Wish {
                private: false,
                graphdriver,
            })?;
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
