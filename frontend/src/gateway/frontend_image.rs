//! The frontend's own image, out of which gates take `lanegate`.

use std::io::ErrorKind;
use std::path::Path;

use llb::Output;
use llb::proto::pb;
use prost::Message as _;

use super::error::Failure;

/// Where an engine puts the definition of the image that it started (`frontend/gateway/gateway.go`, `metadataMount`).
pub const PATH: &str = "/run/config/buildkit/metadata/frontend.bin";

/// The image as a part of our own graph, or nothing where there is none. Its ops stay as the engine gave them, so that
/// it knows them again.
///
/// # Errors
/// When what is there is no definition.
pub fn output(path: &Path) -> Result<Option<Output>, Failure> {
    let unfit =
        |error: &dyn std::error::Error| Failure::new(format!("the frontend's own image: {error}"));
    let bytes = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unfit(&error)),
    };
    let definition = pb::Definition::decode(bytes.as_slice()).map_err(|error| unfit(&error))?;
    Output::from_definition(&definition).map_err(|error| unfit(&error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use llb::{Definition, Image, Platform};

    #[test]
    fn the_image_keeps_its_bytes_and_so_its_digest() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("frontend.bin");
        assert_eq!(output(&path).unwrap(), None);
        let image = Image::new(
            "localhost:5000/lanekit:1".parse().unwrap(),
            Platform::new("linux", "amd64"),
        )
        .record_type("frontend")
        .build();
        std::fs::write(&path, Definition::new(&image).to_bytes()).unwrap();
        assert_eq!(output(&path).unwrap().unwrap().digest(), image.digest());
        std::fs::write(&path, b"\xff").unwrap();
        let text = output(&path).unwrap_err().to_string();
        assert!(text.starts_with("the frontend's own image: "), "{text}");
    }
}
