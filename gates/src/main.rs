//! The command `lanegate`; see the library for the story.

fn main() -> std::process::ExitCode {
    gates::cli::main(std::env::args_os().skip(1))
}
