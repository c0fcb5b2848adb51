//! `lanekit`: a frontend where an engine starts it, a command where a person does.

use std::env;
use std::path::Path;
use std::process::ExitCode;

use frontend::gateway::frontend_image::PATH;
use frontend::{build, command, gateway};

fn main() -> ExitCode {
    if gateway::opts::is_gateway(env::vars_os().map(|(name, _)| name)) {
        return gateway::process(async |bridge| {
            build::run(bridge, env::vars_os(), Path::new(PATH)).await
        });
    }
    command::run(env::args_os())
}
