//! Where things are in this repository, and its cargo.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

/// The root of the checkout, whatever the working directory is.
pub(crate) fn root() -> PathBuf {
    // Cargo says where the crate lies now; what the compiler saw is a
    // fall-back for a binary that is run by itself.
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map_or(own.clone(), PathBuf::from)
}

/// A cargo command that works on this repository.
pub(crate) fn cargo() -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(program);
    cargo.current_dir(root());
    cargo
}

/// Where cargo keeps the sources of dependencies.
pub(crate) fn cargo_home() -> Option<PathBuf> {
    std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(".cargo")))
}

/// Makes a directory by `fill` unless it is there; one that was left half
/// done is under another name.
pub(crate) fn whole(to: &Path, fill: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    if to.exists() {
        return Ok(());
    }
    let part = to.with_extension("part");
    if part.exists() {
        fs::remove_dir_all(&part)?;
    }
    fs::create_dir_all(&part)?;
    fill(&part)?;
    fs::rename(&part, to)?;
    Ok(())
}
