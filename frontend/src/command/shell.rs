//! Completions and the manual page, made from the command's own description, so that they cannot differ from it.

use std::io;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::{Command, Stop, print_bytes};

/// Completions for a shell.
pub(super) fn completions(shell: Shell) -> Result<(), Stop> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Command::command(), "lanekit", &mut text);
    print_bytes(&text)
}

/// The manual page: of the command, then of each verb.
pub(super) fn man() -> Result<(), Stop> {
    let mut text = Vec::new();
    pages(&mut text).map_err(|error| Stop::Unable(error.to_string()))?;
    print_bytes(&text)
}

fn pages(text: &mut Vec<u8>) -> io::Result<()> {
    let mut command = Command::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(text)?;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        clap_mangen::Man::new(verb.clone()).render(text)?;
    }
    Ok(())
}
