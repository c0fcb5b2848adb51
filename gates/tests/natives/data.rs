//! Exported data against expected bytes.

use gates::fixture::{AMD64, ARM64, Elf, Export, I386, Pe};
use serde_json::{Value, json};

use super::{Tree, findings};

const TARGET: &str = "windows/arm64";
/// `ffi_type_sint32`: size 4, alignment 4, type 10.
const SINT32: [u8; 12] = [4, 0, 0, 0, 0, 0, 0, 0, 4, 0, 10, 0];

fn library(data: &[u8]) -> Pe {
    Pe {
        exports: vec![
            ("ffi_type_sint32", Export::Data(data.to_vec())),
            ("ffi_call", Export::Code),
            ("away", Export::Forward("other.thing")),
        ],
        ..Pe::default()
    }
}

fn expect(symbol: &str, bytes: &str, at: u32) -> Value {
    json!({"expect": [{
        "file": "**/libffi-*", "symbol": symbol, "bytes": bytes, "at": at, "why": "GObject signals",
    }]})
}

fn look(target: &str, bytes: Vec<u8>, ask: Value) -> Vec<String> {
    let tree = Tree::new(&[("bin/libffi-8.dll", bytes), ("bin/x", vec![])]);
    findings(&tree.inspect("data", target, ask))
}

fn one(found: &[String], start: &str) {
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with(start), "{found:#?}");
}

#[test]
fn the_bytes_of_an_export_are_compared_in_images_of_every_width() {
    let hex = "04000000 00000000 0400 0a00";
    for machine in [I386, AMD64, ARM64] {
        let found = look(
            TARGET,
            library(&SINT32).dll(machine),
            expect("ffi_type_sint32", hex, 0),
        );
        assert_eq!(found, [""; 0]);
        let at = look(
            TARGET,
            library(&SINT32).dll(machine),
            expect("ffi_type_sint32", "0a", 10),
        );
        assert_eq!(at, [""; 0]);
        let zeroed = library(&[0; 12]).dll(machine);
        let found = look(TARGET, zeroed, expect("ffi_type_sint32", hex, 0));
        let start = "DAT002 bin/libffi-8.dll(ffi_type_sint32): found 0000";
        one(&found, start);
        assert!(found[0].contains("expected 0400000000000000"), "{found:#?}");
    }
}

#[test]
fn an_export_that_is_missing_or_no_data_is_found() {
    let dll = || library(&SINT32).dll(ARM64);
    let of = |symbol: &str| look(TARGET, dll(), expect(symbol, "00", 0));
    one(
        &of("ffi_type_void"),
        "DAT001 bin/libffi-8.dll(ffi_type_void): GObject",
    );
    one(
        &of("ffi_call"),
        "DAT003 bin/libffi-8.dll(ffi_call): it is code",
    );
    one(
        &of("away"),
        "DAT003 bin/libffi-8.dll(away): it is forwarded to other.thing",
    );
    let mut ask = expect("ffi_call", "00", 0);
    ask["expect"][0]["file"] = json!("bin/gone.dll");
    one(&look(TARGET, dll(), ask), "DAT004 bin/gone.dll: ");
    // Behind the section, and behind the image.
    for at in [0x1_0000, u32::MAX] {
        let found = look(TARGET, dll(), expect("ffi_type_sint32", "00", at));
        one(&found, "GEN004 bin/libffi-8.dll(ffi_type_sint32): ");
    }
}

#[test]
fn data_of_elf_has_a_size_that_is_kept_to() {
    let elf = Elf {
        data: vec![("before", vec![9; 8]), ("ffi_type_sint32", SINT32.to_vec())],
        code: vec!["run"],
        ..Elf::default()
    }
    .shared(62);
    let of = |symbol: &str, bytes: &str, at: u32| {
        look("linux/amd64", elf.clone(), expect(symbol, bytes, at))
    };
    assert_eq!(of("ffi_type_sint32", "0a00", 10), [""; 0]);
    one(
        &of("ffi_type_sint32", "0a0000", 10),
        "DAT002 bin/libffi-8.dll(ffi_type_sint32): found 12 bytes",
    );
    one(&of("before", "0909090908", 0), "DAT002");
    one(&of("run", "00", 0), "DAT003");
    one(&of("befor", "00", 0), "DAT001");
}

#[test]
fn no_cut_of_a_file_has_the_right_bytes() {
    let tree = Tree::new(&[]);
    let elf = Elf {
        data: vec![("s", SINT32.to_vec())],
        ..Elf::default()
    };
    let pe = Pe {
        exports: vec![("s", Export::Data(SINT32.to_vec()))],
        ..Pe::default()
    };
    let ask = json!({"expect": [{"file": "f", "symbol": "s", "bytes": "04", "why": "w"}]});
    for whole in [elf.shared(62), pe.dll(AMD64)] {
        for end in 0..whole.len() {
            tree.put("f", &whole[..end]);
            let report = tree.inspect("data", "windows/amd64", ask.clone());
            assert!(
                !report.findings.is_empty(),
                "cut at {end} of {}",
                whole.len()
            );
        }
    }
}
