//! `lanekit`: a frontend where an engine starts it, a command where a person does.

use std::env;
use std::process::ExitCode;

use frontend::{build, command, gateway};

fn main() -> ExitCode {
    if gateway::opts::is_gateway(env::vars_os().map(|(name, _)| name)) {
        return gateway::process(async |bridge| build::run(bridge, env::vars_os()).await);
    }
    command::run(env::args_os())
}
