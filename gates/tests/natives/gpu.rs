//! Code for GPUs in every place where it is found.

use gates::fixture::{
    self, AMD64, ARM64, bundle, code_object, compressed, dll_with, elf_with, fat_binary,
};
use serde_json::{Value, json};

use super::{Tree, findings};

const TARGET: &str = "windows/amd64";
/// `e_flags` of three GPUs.
const GFX1100: u32 = 0x41;
const GFX1201: u32 = 0x4e;
const GFX90A_XNACK: u32 = 0xb3f;

fn id(gpu: &str) -> String {
    format!("hipv4-amdgcn-amd-amdhsa--{gpu}")
}

/// A bundle for these GPUs, with the host's empty entry that compilers put first.
fn of(gpus: &[(&str, u32)]) -> Vec<u8> {
    let ids: Vec<String> = gpus.iter().map(|(gpu, _)| id(gpu)).collect();
    let codes: Vec<Vec<u8>> = gpus
        .iter()
        .map(|(_, flags)| code_object(*flags, 3))
        .collect();
    let mut entries: Vec<(&str, &[u8])> = vec![("host-x86_64-unknown-linux--", &[])];
    entries.extend(
        ids.iter()
            .zip(&codes)
            .map(|(id, code)| (&id[..], &code[..])),
    );
    bundle(&entries)
}

/// Bundles one behind the other, each at the next multiple of 4096.
fn in_a_row(bundles: &[Vec<u8>]) -> Vec<u8> {
    let mut all = Vec::new();
    for bundle in bundles {
        all.extend_from_slice(bundle);
        all.resize(all.len().next_multiple_of(4096), 0);
    }
    all
}

fn two() -> Vec<u8> {
    in_a_row(&[
        of(&[("gfx1100", GFX1100), ("gfx1201", GFX1201)]),
        of(&[("gfx90a:sramecc-:xnack+", GFX90A_XNACK)]),
    ])
}

fn want(targets: &[&str]) -> Value {
    json!({"wanted": [{"file": "f*", "targets": targets}]})
}

fn look(bytes: &[u8], ask: Value) -> Vec<String> {
    findings(&Tree::new(&[("f", bytes.to_vec())]).inspect("gpu", TARGET, ask))
}

fn one(found: &[String], start: &str) {
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with(start), "{found:#?}");
}

/// The same code in every form and place that is known.
fn places() -> Vec<(&'static str, Vec<u8>)> {
    let rows = two();
    let object = elf_with(62, 1, ".hip_fatbin", &rows);
    let mut all = vec![
        ("a file of bundles", rows.clone()),
        ("a DLL", dll_with(AMD64, ".hip_fat", &rows)),
        ("a shared object", elf_with(62, 3, ".hip_fatbin", &rows)),
        ("a static library", fixture::archive(&[("a.o", &object)])),
        (
            "a wheel",
            fixture::zip(&[("x/y.dll", &dll_with(AMD64, ".hip_fatbin", &rows))]).unwrap(),
        ),
    ];
    for (name, version, method) in [
        ("zlib, first version", 1, 0),
        ("zstd, first version", 1, 1),
        ("zlib", 2, 0),
        ("zstd", 2, 1),
        ("zstd of 64 bits", 3, 1),
    ] {
        let first = of(&[("gfx1100", GFX1100), ("gfx1201", GFX1201)]);
        let second = of(&[("gfx90a:sramecc-:xnack+", GFX90A_XNACK)]);
        let pack = |bundle: &[u8]| compressed(version, method, bundle).unwrap();
        all.push((
            name,
            dll_with(AMD64, ".hip_fat", &in_a_row(&[pack(&first), pack(&second)])),
        ));
    }
    all
}

#[test]
fn code_is_found_in_every_form_and_place() {
    for (place, bytes) in places() {
        let tree = Tree::new(&[("f", bytes)]);
        let mut ask = want(&["gfx1100", "gfx1201", "gfx90a", "gfx90a:xnack+"]);
        if place == "a wheel" {
            ask["wanted"][0]["file"] = json!("f!x/y.dll");
        }
        let report = tree.inspect("gpu", TARGET, ask.clone());
        assert_eq!(findings(&report), [""; 0], "{place}");
        let counts = &report.counts.by_class;
        assert_eq!(
            (counts["bundles"], counts["code-objects"]),
            (2, 3),
            "{place}"
        );
        assert_eq!(counts["gfx90a:sramecc-:xnack+"], 1, "{place}");
        for missing in ["gfx1200", "gfx90a:xnack-"] {
            ask["wanted"][0]["targets"] = json!([missing]);
            let found = findings(&tree.inspect("gpu", TARGET, ask.clone()));
            assert_eq!(found.len(), 1, "{place}: {found:#?}");
            assert!(found[0].starts_with("GPU001 f"), "{place}: {found:#?}");
            assert!(found[0].contains("gfx1100, gfx1201, gfx90a"), "{found:#?}");
        }
    }
}

#[test]
fn a_code_object_by_itself_counts_and_an_unlinked_one_is_found() {
    assert_eq!(look(&code_object(GFX1201, 3), want(&["gfx1201"])), [""; 0]);
    one(
        &look(&code_object(GFX1201, 1), json!({})),
        "GPU003 f: code for gfx1201: it is an object",
    );
    let bitcode = bundle(&[(&id("gfx1100"), b"BC\xc0\xde....")]);
    one(
        &look(&bitcode, json!({})),
        "GPU003 f: code for gfx1100: it is no linked",
    );
    one(&look(&code_object(0x7f, 3), json!({})), "GEN004 f: ");
}

#[test]
fn a_bundle_that_says_another_gpu_than_it_holds_is_found() {
    let found = look(&of(&[("gfx1100", GFX1201)]), want(&["gfx1201"]));
    one(&found, "GPU004 f: found gfx1201, expected gfx1100");
    // Settings that the id leaves open are no contradiction, others are.
    assert_eq!(look(&of(&[("gfx90a", GFX90A_XNACK)]), json!({})), [""; 0]);
    one(
        &look(&of(&[("gfx90a:xnack-", GFX90A_XNACK)]), json!({})),
        "GPU004 f: ",
    );
}

#[test]
fn unwanted_gpus_are_found_with_the_reason() {
    let ask = json!({"unwanted": [{"target": "gfx9*", "why": "the driver dropped it"}]});
    one(
        &look(&two(), ask),
        "GPU002 f(gfx90a:sramecc-:xnack+): the driver dropped it",
    );
}

#[test]
fn fat_binaries_of_cuda_name_code_and_text() {
    let fat = in_a_row(&[
        fat_binary(&[(2, 90, b"code"), (1, 90, b"text")]),
        fat_binary(&[(2, 120, b"code of nine")]),
    ]);
    for bytes in [
        dll_with(ARM64, ".nv_fatb", &fat),
        elf_with(62, 3, ".nv_fatbin", &fat),
        fat.clone(),
    ] {
        assert_eq!(
            look(&bytes, want(&["sm_90", "sm_120", "compute_90"])),
            [""; 0]
        );
        one(
            &look(&bytes, want(&["sm_80"])),
            "GPU001 f(sm_80): found compute_90, sm_120, sm_90",
        );
    }
    one(&look(&fat_binary(&[]), json!({})), "GEN004 f: ");
}

#[test]
fn code_for_one_gpu_of_cuda_alone_is_told_apart() {
    let fat = fat_binary(&[(2, 1090, b"code"), (1, 1100, b"text")]);
    // The code runs on it; the text is for no later one.
    assert_eq!(
        look(&fat, want(&["sm_90a", "sm_90", "compute_100a"])),
        [""; 0]
    );
    one(
        &look(&fat, want(&["compute_100"])),
        "GPU001 f(compute_100): found compute_100a, sm_90a",
    );
    let plain = fat_binary(&[(2, 90, b"code")]);
    one(
        &look(&plain, want(&["sm_90a"])),
        "GPU001 f(sm_90a): found sm_90",
    );
}

#[test]
fn what_is_wanted_may_stand_in_the_names_of_other_files() {
    let mut files = vec![
        ("bin/ggml-hip.dll", dll_with(AMD64, ".hip_fat", &two())),
        ("rocblas/TensileLibrary_lazy_gfx1201.dat", vec![]),
        ("rocblas/TensileLibrary_lazy_gfx1100.dat", vec![]),
    ];
    let ask = json!({"wanted": [{
        "file": "bin/ggml-hip.dll", "from": "rocblas/TensileLibrary_lazy_*.dat",
    }]});
    let see =
        |files: &[(&str, Vec<u8>)]| findings(&Tree::new(files).inspect("gpu", TARGET, ask.clone()));
    assert_eq!(see(&files), [""; 0]);
    files.push(("rocblas/TensileLibrary_lazy_gfx942.dat", vec![]));
    one(&see(&files), "GPU001 bin/ggml-hip.dll(gfx942): ");
    one(
        &see(&files[..1]),
        "GPU005 rocblas/TensileLibrary_lazy_*.dat: no file",
    );
    one(
        &see(&files[1..3]),
        "GPU005 bin/ggml-hip.dll: no file has this name",
    );
}

#[test]
fn names_of_zip_members_count_as_those_of_files_do() {
    let dll = dll_with(AMD64, ".hip_fat", &two());
    let wheel = fixture::zip(&[
        ("r/ggml-hip.dll", &dll),
        ("r/lazy_gfx1201.dat", b"x"),
        ("r/lazy_gfx942.dat", b"x"),
        (
            "r/code.fb",
            &[&[7; 9][..], &code_object(GFX1201, 3)].concat(),
        ),
    ]);
    let tree = Tree::new(&[("a.whl", wheel.unwrap())]);
    let ask = json!({"wanted": [{"file": "a.whl!r/*.dll", "from": "a.whl!r/lazy_*.dat"}]});
    let start = "GPU001 a.whl!r/ggml-hip.dll(gfx942): ";
    one(&findings(&tree.inspect("gpu", TARGET, ask)), start);
    let mut ask = json!({"wanted": [{"file": "a.whl!r/code.fb", "targets": ["gfx1201"]}]});
    let start = "GPU001 a.whl!r/code.fb(gfx1201): found nothing";
    one(&findings(&tree.inspect("gpu", TARGET, ask.clone())), start);
    ask["anywhere"] = json!(["a.whl!**/*.fb"]);
    assert_eq!(findings(&tree.inspect("gpu", TARGET, ask)), [""; 0]);
}

#[test]
fn containers_that_are_no_binaries_are_looked_through_when_asked() {
    let mut module = vec![7; 300_000];
    module.extend_from_slice(b"\x7fELF and no more");
    // Across the places where one block ends and the next begins.
    for pad in [0, 1, 2, 3, 4, 40, 262_144 - 300_000 % 262_144] {
        let mut module = module.clone();
        module.resize(module.len() + pad, 7);
        module.extend_from_slice(&code_object(GFX1201, 3));
        let tree = Tree::new(&[("f.vmfb", module)]);
        let mut ask = want(&["gfx1201"]);
        one(
            &findings(&tree.inspect("gpu", TARGET, ask.clone())),
            "GPU001 f.vmfb(gfx1201): ",
        );
        ask["anywhere"] = json!(["*.vmfb"]);
        assert_eq!(
            findings(&tree.inspect("gpu", TARGET, ask)),
            [""; 0],
            "{pad}"
        );
    }
}

#[test]
fn a_bundle_that_cannot_be_read_is_found() {
    let good = of(&[("gfx1100", GFX1100)]);
    let packed = compressed(2, 1, &good).unwrap();
    let set = |bytes: &[u8], at: usize, new: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    };
    let huge = u64::MAX.to_le_bytes();
    for (what, bytes, limit) in [
        ("no entries", set(&good, 24, &[0; 8]), None),
        (
            "too many entries",
            set(&good, 24, &huge),
            Some("DEVICE_ENTRIES"),
        ),
        ("an entry of 16 EiB", set(&good, 40, &huge), None),
        ("an entry behind everything", set(&good, 32, &huge), None),
        ("an id of 16 EiB", set(&good, 48, &huge), Some("NAME_BYTES")),
        ("an unknown version", set(&packed, 4, &[9]), None),
        ("an unknown method", set(&packed, 6, &[7]), None),
        (
            "a size that is cut",
            packed[..packed.len() - 1].to_vec(),
            None,
        ),
        ("a smaller size", set(&packed, 12, &[packed[12] - 1]), None),
        ("a larger size", set(&packed, 12, &[packed[12] + 1]), None),
        (
            "16 EiB inflated",
            set(&compressed(3, 1, &good).unwrap(), 16, &huge),
            Some("DEVICE_BYTES"),
        ),
        (
            "16 EiB compressed",
            set(&compressed(3, 1, &good).unwrap(), 8, &huge),
            None,
        ),
        (
            "a window of 4 GiB",
            set(&packed, 28, &[0, 0xb0]),
            Some("DEVICE_WINDOW"),
        ),
        ("rubbish behind", [&good[..], b"rubbish"].concat(), None),
        (
            "no bundle inflated",
            compressed(2, 1, &[1; 200]).unwrap(),
            None,
        ),
    ] {
        for bytes in [bytes.clone(), elf_with(62, 3, ".hip_fatbin", &bytes)] {
            let found = look(&bytes, json!({}));
            let rule = if limit.is_some() {
                "GEN002 f"
            } else {
                "GEN004 f"
            };
            one(&found, rule);
            assert!(
                found[0].contains(limit.unwrap_or("f")),
                "{what}: {found:#?}"
            );
        }
    }
}

#[test]
fn no_cut_and_no_patch_of_device_code_passes_or_panics() {
    let small = of(&[("gfx1100", GFX1100)]);
    let fat = fat_binary(&[(2, 90, b"code"), (1, 90, b"text")]);
    let tree = Tree::new(&[]);
    for whole in [
        small.clone(),
        compressed(2, 1, &small).unwrap(),
        compressed(1, 0, &small).unwrap(),
        fat.clone(),
        elf_with(62, 3, ".hip_fatbin", &small),
        dll_with(AMD64, ".nv_fatb", &fat),
        code_object(GFX1100, 3),
    ] {
        let target = if whole.windows(4).any(|w| w == [0x50, 0xed, 0x55, 0xba]) {
            "sm_90"
        } else {
            "gfx1100"
        };
        let ask = want(&[target]);
        let see = |bytes: &[u8]| {
            tree.put("f", bytes);
            findings(&tree.inspect("gpu", TARGET, ask.clone()))
        };
        assert_eq!(see(&whole), [""; 0]);
        for end in 0..whole.len() {
            // A DLL's last section is filled up with zeros.
            let padding = whole.starts_with(b"MZ") && whole[end..].iter().all(|b| *b == 0);
            assert!(padding || !see(&whole[..end]).is_empty(), "cut at {end}");
        }
        for at in (0..whole.len()).step_by(3) {
            let mut patched = whole.clone();
            patched[at] ^= 0xff;
            see(&patched);
        }
    }
}

#[test]
fn a_library_whose_sections_have_no_names_has_no_code_for_gpus() {
    let library = fixture::Elf::default().shared(62);
    assert_eq!(look(&library, json!({})), [""; 0]);
}

#[test]
fn keys_that_make_no_sense_are_refused() {
    for ask in [
        json!({"wanted": [{"file": "f"}]}),
        json!({"wanted": [{"file": "f", "targets": ["gfx"]}]}),
        json!({"wanted": [{"file": "f", "targets": ["1201"]}]}),
        json!({"unwanted": [{"target": "gfx9*", "why": " "}]}),
    ] {
        let Value::Object(object) = ask else { panic!() };
        assert!(
            gates::gate::Gate::named("gpu")
                .unwrap()
                .ask(&object)
                .is_err()
        );
    }
}
