//! `lanekit` with all of its verbs, for tests: a package has no other one's programs.

use std::process::ExitCode;

fn main() -> ExitCode {
    frontend::command::run(std::env::args_os())
}
