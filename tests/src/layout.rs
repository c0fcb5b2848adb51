//! OCI layout directories: what an engine wrote of an image.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// The bytes of a blob by its descriptor.
///
/// # Panics
/// When the layout has no such blob.
#[must_use]
pub fn blob(layout: &Path, descriptor: &Value) -> Vec<u8> {
    let digest = descriptor["digest"].as_str().expect("a digest");
    fs::read(layout.join("blobs").join(digest.replace(':', "/"))).expect("a blob")
}

/// A blob that is JSON.
///
/// # Panics
/// When it is not there, or no JSON.
#[must_use]
pub fn json(layout: &Path, descriptor: &Value) -> Value {
    serde_json::from_slice(&blob(layout, descriptor)).expect("JSON")
}

/// The layout's index.
///
/// # Panics
/// When it is no layout.
#[must_use]
pub fn index(layout: &Path) -> Value {
    let bytes = fs::read(layout.join("index.json")).expect("an index");
    serde_json::from_slice(&bytes).expect("JSON")
}
