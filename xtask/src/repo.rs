//! Where things are in this repository.

use std::path::PathBuf;

/// The root of the checkout, whatever the working directory is.
pub(crate) fn root() -> PathBuf {
    // Cargo says where the crate lies now; what the compiler saw is a
    // fall-back for a binary that is run by itself.
    let own = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    own.parent().map_or(own.clone(), PathBuf::from)
}
