//! What is other on Windows: paths, command lines, names of variables.
//!
//! In a plan a path of a Windows lane has the form that BuildKit's file operations and selectors
//! have: `/runtime/lib` for `C:\runtime\lib`. [`crate::lower`] gives mounts their drive back.

pub(super) mod command;
pub(super) mod env;
pub(super) mod path;
pub(super) mod tree;

/// Whether steps of a platform run on Windows.
pub(crate) fn is_windows(platform: &str) -> bool {
    platform.split(['/', '(']).next() == Some("windows")
}

/// The path as programs know it: `C:\runtime\lib` for `/runtime/lib`.
pub(crate) fn with_drive(path: &str) -> String {
    format!("C:{}", path.replace('/', "\\"))
}

/// Words as the one text that Windows starts a process with.
pub(crate) fn command_line(words: &[String]) -> String {
    command::line(words)
}
