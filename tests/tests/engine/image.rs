//! The frontend's image: two static programs and nothing else.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::Path;

use engine_tests::{Setup, layout, skipped};
use ruzstd::decoding::StreamingDecoder;

#[test]
fn the_image_holds_two_static_programs_is_small_and_needs_no_network() {
    let place = Path::new(&Setup::get().frontend_oci);
    let mut manifest = layout::index(place);
    while let Some(first) = manifest["manifests"].get(0) {
        manifest = layout::json(place, first);
    }
    let config = layout::json(place, &manifest["config"]);
    assert_eq!(
        config["config"]["Labels"]["moby.buildkit.frontend.network.none"],
        "true"
    );
    assert_eq!(
        config["config"]["Entrypoint"],
        serde_json::json!(["/lanekit"])
    );

    // A graph driver keeps layers as they are.
    let packed = Setup::get().engine.merge;
    let mut files = BTreeSet::new();
    let mut size = 0;
    for layer in manifest["layers"].as_array().expect("layers") {
        let bytes = layout::blob(place, layer);
        size += bytes.len();
        let plain: Box<dyn std::io::Read> = if packed {
            Box::new(StreamingDecoder::new(bytes.as_slice()).expect("zstd"))
        } else {
            Box::new(bytes.as_slice())
        };
        for entry in tar::Archive::new(plain).entries().expect("a tar") {
            let mut entry = entry.expect("an entry");
            let name = entry.path().expect("a path").display().to_string();
            let mut program = Vec::new();
            entry.read_to_end(&mut program).expect("content");
            assert!(program.starts_with(b"\x7fELF"), "{name} is a program");
            assert!(interpreter(&program).is_none(), "{name} is static");
            files.insert(name);
        }
    }
    assert_eq!(
        files,
        BTreeSet::from(["lanegate".to_owned(), "lanekit".to_owned()])
    );
    if packed {
        assert!(size < 4_000_000, "{size} bytes");
    } else {
        skipped::<()>(
            "the size of the frontend's image",
            "the engine has no packed layer",
        );
    }
}

/// The program that a dynamic ELF file asks for: its segment of type 3 (ELF gABI, `PT_INTERP`).
fn interpreter(elf: &[u8]) -> Option<&[u8]> {
    let word = |at: usize, size: usize| -> usize {
        elf[at..at + size]
            .iter()
            .rev()
            .fold(0, |sum, byte| (sum << 8) | usize::from(*byte))
    };
    let (table, size, count) = (word(32, 8), word(54, 2), word(56, 2));
    (0..count)
        .map(|i| table + i * size)
        .find(|at| word(*at, 4) == 3)
        .map(|at| &elf[at..at + size])
}
