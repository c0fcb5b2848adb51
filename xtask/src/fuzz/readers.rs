//! What is fuzzed: everything that reads bytes which somebody else made.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use gates::format::{archive, bitcode, coff, dynamic, elf, image, pe, zip};
use gates::input::Watched;
use gates::name::Name;
use gates::python::{environment::Environment, filename, marker, metadata, record, requirement};
use gates::{arch_table, counts, fixture, gate, limit, policy, report, verdict, walk};
use stages::diag::{Report, Sources};

/// One reader: its name, what it does with an input, and its seeds by file name.
pub(crate) struct Reader {
    pub(crate) name: &'static str,
    pub(crate) read: fn(&[u8], &Path),
    pub(crate) seeds: fn() -> Vec<(&'static str, Vec<u8>)>,
}

/// All readers. A new one is a row here, and `cargo xtask fuzz --write-seeds`.
pub(crate) const READERS: &[Reader] = &[
    Reader {
        name: "pe",
        read: |bytes, _| {
            let _ = pe::read(bytes);
            if let Ok(image) = image::Image::open(bytes) {
                let _ = image.imports();
                let _ = image.has_code();
                if let Ok(exports) = image.exports() {
                    for (name, _) in exports.names() {
                        let _ = exports.find(&image::Symbol::Name(name));
                    }
                    let _ = exports.find(&image::Symbol::Ordinal(1));
                }
            }
        },
        seeds: images,
    },
    Reader {
        name: "elf",
        read: |bytes, _| {
            let _ = elf::read(bytes);
            let _ = dynamic::read(bytes);
            let _ = dynamic::defined(bytes);
            let _ = dynamic::bytes(bytes, 0x200, 64);
        },
        seeds: elves,
    },
    Reader {
        name: "coff",
        read: |bytes, _| {
            let _ = coff::read(bytes);
            let _ = coff::read_import(bytes);
            let _ = coff::read_anonymous(bytes);
        },
        seeds: || {
            vec![
                ("arm64.obj", fixture::coff(fixture::ARM64)),
                ("bigobj.obj", fixture::bigobj(fixture::AMD64)),
                ("import.obj", fixture::import(fixture::ARM64, "f", "a.dll")),
            ]
        },
    },
    Reader {
        name: "archive",
        read: |bytes, _| {
            let _ = archive::read(bytes);
        },
        seeds: archives,
    },
    Reader {
        name: "bitcode",
        read: |bytes, _| {
            let _ = bitcode::read(bytes);
        },
        seeds: || {
            let triple = "aarch64-pc-windows-msvc";
            vec![
                ("plain.bc", fixture::bitcode(triple, false)),
                ("wrapped.bc", fixture::bitcode(triple, true)),
            ]
        },
    },
    Reader {
        name: "zip",
        read: |bytes, _| {
            let Ok(mut zip) = zip::Zip::open(Watched::new(Box::new(Cursor::new(bytes)))) else {
                return;
            };
            let _ = zip.consistent();
            let mut budget = limit::ZIP_TOTAL_BYTES;
            for index in 0..zip.len() {
                zip.member(index, &mut budget, |_, _, _| true);
            }
        },
        seeds: zips,
    },
    Reader {
        name: "wheel",
        read: |bytes, _| {
            let text = String::from_utf8_lossy(bytes);
            let _ = metadata::Headers::read(bytes);
            let _ = record::read(bytes);
            for line in text.lines() {
                let _ = filename::WheelName::parse(line);
                let _ = filename::Tag::set(line);
                let _ = requirement::Requirement::parse(line);
            }
        },
        seeds: || {
            vec![
                ("METADATA", b"Metadata-Version: 2.4\r\nName: demo\nVersion: 1.0\nRequires-Python: >=3.9\nRequires-Dist: numpy[x,y]>=2,!=2.1.*; python_version < '3.14' and extra == \"fast\"\nRequires-Dist: a @ https://example.org/a.whl ; sys_platform == 'win32'\n  folded\n\nbody\n".to_vec()),
                ("RECORD", b"demo/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n\"a,b.py\",sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,12\ndemo-1.0.dist-info/RECORD,,\n".to_vec()),
                ("names", b"demo-1.0-cp314-cp314t-win_arm64.whl\ndemo-1.0-1local-py2.py3-none-any.whl\ncp313-abi3.abi3t-manylinux_2_28_x86_64.musllinux_1_2_x86_64\n".to_vec()),
            ]
        },
    },
    Reader {
        name: "marker",
        read: |bytes, _| {
            let text = String::from_utf8_lossy(bytes);
            let Ok(marker) = marker::Marker::parse(&text) else {
                return;
            };
            let _ = marker.extras();
            if let Ok(env) = Environment::new(
                "windows/arm64",
                "3.14.2",
                &std::collections::BTreeMap::new(),
            ) {
                let _ = marker.holds(&env, Some("fast"));
                let _ = marker.holds(&env, None);
            }
        },
        seeds: || {
            vec![
                ("and", b"python_version < '3.14' and (extra == \"fast\" or sys_platform != 'win32')".to_vec()),
                ("in", b"'arm' in platform_machine or os_name not in 'nt posix' and python_full_version ~= '3.14.0'".to_vec()),
            ]
        },
    },
    Reader {
        name: "policy",
        read: |bytes, scratch| {
            if fs::write(scratch, bytes).is_ok() {
                let _ = policy::Loaded::read(scratch);
            }
        },
        seeds: || vec![("arch.json", POLICY.as_bytes().to_vec())],
    },
    Reader {
        name: "report",
        read: |bytes, scratch| {
            if fs::write(scratch, bytes).is_err() {
                return;
            }
            if let Ok(seen) = report::read::<report::Inspected>(scratch)
                && let Ok(policy) = serde_json::from_str(POLICY)
                && let Ok(loaded) = policy::Loaded::of(policy)
                && let Ok(asserted) = verdict::judge(&seen, &loaded)
            {
                let _ = verdict::summary(&asserted);
            }
            let expected = verdict::Expected {
                gate: "g".to_owned(),
                policy: None,
            };
            if let Ok(asserted) = verdict::sealed(scratch, &expected) {
                let _ = verdict::summary(&asserted);
            }
        },
        seeds: reports,
    },
    Reader {
        name: "counts",
        read: |bytes, _| {
            for (_, format) in counts::Format::ALL {
                let _ = format.read(bytes);
            }
        },
        seeds: || {
            vec![
                ("ctest", b"Test project /b\n    Start 1: a\n1/2 Test #1: a ....   Passed    0.01 sec\n    Start 2: b\n2/2 Test #2: b ....***Failed    0.02 sec\n\n50% tests passed, 1 tests failed out of 2\n\nTotal Test time (real) =   0.03 sec\n\nThe following tests FAILED:\n\t  2 - b (Failed)\n".to_vec()),
                ("gtest", b"[==========] Running 2 tests from 1 test suite.\n[ RUN      ] A.b\n[       OK ] A.b (0 ms)\n[ RUN      ] A.c\n[  SKIPPED ] A.c (0 ms)\n[==========] 2 tests from 1 test suite ran. (1 ms total)\n[  PASSED  ] 1 test.\n[  SKIPPED ] 1 test, listed below:\n[  SKIPPED ] A.c\n".to_vec()),
                ("junit", b"<?xml version=\"1.0\"?><testsuites><testsuite name=\"s\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\"><testcase name=\"a\"/><testcase name=\"b\"><failure message=\"x\">y</failure></testcase></testsuite></testsuites>".to_vec()),
                ("libtest", b"\nrunning 2 tests\ntest a ... ok\ntest b ... ignored\n\ntest result: ok. 1 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n".to_vec()),
                ("lines", b"SECTION a: passed=1 failed=0 skipped=0\nTESTS: passed=1 failed=0 skipped=0\n".to_vec()),
                ("nextest", b"    Starting 2 tests across 1 binary\n        PASS [   0.004s] a::b c\n        FAIL [   0.004s] a::b d\n------------\n     Summary [   0.005s] 2 tests run: 1 passed, 1 failed, 3 skipped\n".to_vec()),
                ("pytest", b"\x1b[1m============ test session starts ============\x1b[0m\ncollected 2 items\n\nt.py .F [100%]\n\nFAILED t.py::b - x\n========= 1 failed, 1 passed in 0.01s =========\n".to_vec()),
            ]
        },
    },
    Reader {
        name: "manifest",
        read: |bytes, scratch| inspect(bytes, scratch, "manifest", "MANIFEST.json"),
        seeds: || {
            vec![("MANIFEST.json", b"{\"schema\":\"manifest/1\",\"target\":\"windows/arm64\",\"files\":[{\"path\":\"a.dll\",\"sha256\":\"00\",\"size\":1}],\"env\":{\"A\":\"b\"}}\n".to_vec())]
        },
    },
    Reader {
        name: "gpu",
        read: |bytes, scratch| inspect(bytes, scratch, "gpu", "a.hipfb"),
        seeds: device,
    },
    Reader {
        name: "trees",
        read: |bytes, scratch| {
            for gate in gate::GATES {
                inspect(bytes, scratch, gate.name, "a.whl");
            }
        },
        seeds: || [images(), elves(), archives(), zips()].concat(),
    },
    Reader {
        name: "lanes",
        read: |bytes, _| {
            let Ok(text) = stages::file::text_of_bytes(bytes.to_vec()) else {
                return;
            };
            let mut sources = Sources::default();
            let id = sources.add("lanes.toml", &text);
            let pins = sources.add("versions.env", &text);
            let mut report = Report::default();
            let pins = stages::file::parse_pins(&sources, pins, &mut report);
            report.sorted().render(&sources, false);
            let graph = stages::file::parse(&sources, id)
                .and_then(|document| stages::graph::resolve(document, pins))
                .and_then(|graph| stages::view::check_tags(&graph).map(|()| graph));
            if let Err(report) = graph {
                report.render(&sources, true);
            }
        },
        // media-mini.toml lies there too: a copy of the example as it once was.
        seeds: || {
            vec![
                ("pins.env", b"# a pin\nCMAKE_VERSION=4.1.2\nexport X_SHA256='00' # why\n".to_vec()),
                ("small.toml", b"[graph]\nname = \"g\"\n[lane.a]\nplatform = \"linux/amd64\"\ntarget = \"linux/amd64\"\noutput.o = { stage = \"s\" }\n[stage.s]\nfrom = { image = \"x:1\" }\nsteps = [{ run = \"true\", when = { target = \"linux/*\" } }]\n".to_vec()),
            ]
        },
    },
];

/// Runs a gate over a tree with this one file in it.
fn inspect(bytes: &[u8], scratch: &Path, name: &str, file: &str) {
    let dir = scratch.with_extension("tree");
    let written = fs::create_dir_all(&dir).and_then(|()| fs::write(dir.join(file), bytes));
    let (Ok(()), Ok(gate), Ok(row)) = (
        written,
        gate::Gate::named(name),
        arch_table::row("windows/arm64"),
    ) else {
        return;
    };
    let root = walk::Root {
        path: dir,
        label: Name::default(),
    };
    // lanegate turns a panic into a failure that says so.
    if let Err(failure) = gate.inspect(&row, &[root], &gate::Object::new()) {
        let text = failure.to_string();
        assert!(!text.contains("a bug in lanegate"), "{text}");
    }
}

const POLICY: &str = r#"{"allow":[{"path":"a/**","why":"w"}],"ask":{},"check":"arch","demand":{},"effect":"block","floors":{"inspected":{"broken":1,"least":2,"measured":3,"on":"2026-12-01"}},"gate":"g","schema":"gate-policy/1","target":"windows/arm64"}"#;

fn images() -> Vec<(&'static str, Vec<u8>)> {
    let linked = fixture::Pe {
        imports: vec![("a.dll", vec!["f", "#7"]), ("b.dll", vec!["g"])],
        delayed: vec![("c.dll", vec!["h"])],
        delayed_v1: Vec::new(),
        exports: vec![
            ("code", fixture::Export::Code),
            ("data", fixture::Export::Data(vec![1, 2, 3, 4])),
            ("away", fixture::Export::Forward("d.far")),
        ],
    };
    let old = fixture::Pe {
        delayed_v1: vec![("old.dll", vec!["o", "#3"])],
        ..fixture::Pe::default()
    };
    vec![
        ("plain.dll", fixture::dll(fixture::AMD64)),
        ("hybrid.dll", fixture::hybrid_dll(fixture::ARM64)),
        ("linked.dll", linked.dll(fixture::ARM64)),
        ("old.dll", old.dll(fixture::I386)),
    ]
}

fn elves() -> Vec<(&'static str, Vec<u8>)> {
    let linked = fixture::Elf {
        needed: vec!["libc.so.6", "libz.so.1"],
        soname: Some("libx.so.1"),
        runpath: Some("$ORIGIN/../lib:/opt/lib"),
        interpreter: Some("/lib64/ld-linux-x86-64.so.2"),
        needs: vec![("libc.so.6", vec!["GLIBC_2.17", "GLIBC_2.34"])],
        defines: vec!["libx.so.1", "X_1.0"],
        stack: Some(7),
        data: vec![("table", vec![1, 2, 3])],
        code: vec!["run"],
        ..fixture::Elf::default()
    };
    vec![
        ("linked.so", linked.shared(62)),
        ("plain32be.so", fixture::elf(32, true, 20)),
        ("plain64.so", fixture::elf(64, false, 183)),
    ]
}

/// Code for GPUs: bundles, plain and compressed, and fat binaries.
fn device() -> Vec<(&'static str, Vec<u8>)> {
    let code = fixture::code_object(0x41, 3);
    let bundle = fixture::bundle(&[
        ("host-x86_64-unknown-linux--", b""),
        ("hipv4-amdgcn-amd-amdhsa--gfx1100", &code),
    ]);
    let packed =
        |version, method| fixture::compressed(version, method, &bundle).unwrap_or_default();
    let fat = fixture::fat_binary(&[(2, 90, b"code"), (1, 90, b"text")]);
    vec![
        ("code.co", code.clone()),
        (
            "fat.dll",
            fixture::dll_with(fixture::AMD64, ".nv_fatb", &fat),
        ),
        ("plain.so", fixture::elf_with(62, 3, ".hip_fatbin", &bundle)),
        ("zlib.hipfb", packed(1, 0)),
        ("zstd.hipfb", packed(3, 1)),
    ]
}

fn archives() -> Vec<(&'static str, Vec<u8>)> {
    let (arm, big) = (
        fixture::coff(fixture::ARM64),
        fixture::bigobj(fixture::ARM64),
    );
    let long = "a-name-of-more-than-fifteen-characters.obj";
    let members = fixture::archive(&[("a.obj", &arm), (long, &big)]);
    let import = fixture::import_library(fixture::ARM64, fixture::ARM64, &["f", "g"]);
    vec![("import.lib", import), ("members.lib", members)]
}

fn zips() -> Vec<(&'static str, Vec<u8>)> {
    let dll = fixture::dll(fixture::ARM64);
    let zip = |members: &[(&str, &[u8])]| fixture::zip(members).unwrap_or_default();
    let inner = zip(&[("m.pyd", &dll)]);
    let wheel = zip(&[
        ("m.cp314-win_arm64.pyd", &dll),
        (
            "m-1.dist-info/METADATA",
            b"Metadata-Version: 2.4\nName: m\nVersion: 1\n",
        ),
        (
            "m-1.dist-info/WHEEL",
            b"Wheel-Version: 1.0\nTag: cp314-cp314-win_arm64\n",
        ),
        ("m-1.dist-info/RECORD", b"m.cp314-win_arm64.pyd,,\n"),
    ]);
    vec![
        ("nested.zip", zip(&[("in.zip", &inner)])),
        ("wheel.whl", wheel),
    ]
}

/// What `arch` makes of a small tree, inspected and asserted.
fn reports() -> Vec<(&'static str, Vec<u8>)> {
    let make = || {
        let dir = std::env::temp_dir().join(format!("lanekit-fuzz-{}", std::process::id()));
        fs::create_dir_all(&dir).ok()?;
        fs::write(dir.join("a.dll"), fixture::dll(fixture::ARM64)).ok()?;
        fs::write(dir.join("b.dll"), fixture::dll(fixture::AMD64)).ok()?;
        let root = walk::Root {
            path: dir.clone(),
            label: Name::from("t"),
        };
        let row = arch_table::row("windows/arm64").ok()?;
        let gate = gate::Gate::named("arch").ok()?;
        let seen = gate.inspect(&row, &[root], &gate::Object::new()).ok();
        let _ = fs::remove_dir_all(dir);
        let seen = seen?;
        let loaded = policy::Loaded::of(serde_json::from_str(POLICY).ok()?).ok()?;
        let asserted = verdict::judge(&seen, &loaded).ok()?;
        Some(vec![
            ("asserted.json", report::canonical(&asserted).ok()?),
            ("inspected.json", report::canonical(&seen).ok()?),
        ])
    };
    make().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reader_has_the_seeds_that_are_committed() {
        for reader in READERS {
            let seeds = (reader.seeds)();
            assert!(!seeds.is_empty(), "{} has none", reader.name);
            for (name, bytes) in seeds {
                let path = super::super::seeds_dir().join(reader.name).join(name);
                let there = fs::read(&path).unwrap_or_default();
                assert!(
                    !bytes.is_empty() && bytes == there,
                    "{}: run `cargo xtask fuzz --write-seeds`",
                    path.display()
                );
            }
        }
    }

    #[test]
    fn every_reader_reads_its_seeds_and_each_cut_of_the_small_ones() {
        let scratch = tempfile::tempdir().unwrap();
        let scratch = scratch.path().join("input");
        for reader in READERS {
            for (_, bytes) in (reader.seeds)() {
                (reader.read)(&bytes, &scratch);
                // Gates over a tree are slow: `gates` has tests of its own for each cut.
                let step = if reader.name == "trees" { 97 } else { 1 };
                for end in (0..bytes.len().min(2_000)).step_by(step) {
                    (reader.read)(&bytes[..end], &scratch);
                }
            }
        }
    }
}
