//! `lanekit`: a frontend where an engine starts it, a command where a person does.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use frontend::gateway::frontend_image::PATH;
use frontend::{build, gateway};

/// A graph is many small things, half of which live until the answer is there.
#[cfg(feature = "cli")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if gateway::opts::is_gateway(env::vars_os().map(|(name, _)| name)) {
        return gateway::process(async |bridge| {
            build::run(bridge, env::vars_os(), Path::new(PATH)).await
        });
    }
    command()
}

#[cfg(feature = "cli")]
fn command() -> ExitCode {
    frontend::command::run(env::args_os())
}

/// The frontend's image has no commands: each would make it larger for everybody who builds.
#[cfg(not(feature = "cli"))]
fn command() -> ExitCode {
    use std::io::Write as _;
    // Nobody is left to tell when the terminal is gone.
    let _ = writeln!(
        std::io::stderr(),
        "this is lanekit's frontend: an engine runs it for a file whose first line is `# syntax=` with its image; \
         the command `lanekit` is a program of its own"
    );
    ExitCode::from(2)
}
