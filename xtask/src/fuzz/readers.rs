//! What is fuzzed: everything that reads bytes which somebody else made.

use std::fs;
use std::io::Cursor;
use std::path::Path;

use gates::authenticode::{Signature, compare, layout};
use gates::format::{archive, bitcode, coff, dynamic, elf, image, pe, zip};
use gates::input::Watched;
use gates::name::Name;
use gates::python::{environment::Environment, filename, marker, metadata, record, requirement};
use gates::{arch_table, counts, explain, gate, limit, merged, policy, report, verdict, walk};
use serde_json::{Value, json};
use stages::diag::{Report, Sources};

use super::seeds::{self, Seeds};

/// One reader: its name, what it does with an input, its seeds, and the modules of `gates` that
/// are read with, as their paths below `src` without the extension.
pub(crate) struct Reader {
    pub(crate) name: &'static str,
    pub(crate) read: fn(&[u8], &Path),
    pub(crate) seeds: fn() -> Seeds,
    /// A module with nothing but this may end in `/`: all below it.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "a test looks for modules without a reader")
    )]
    pub(crate) of: &'static [&'static str],
}

/// All readers. A new one is a row here, and `cargo xtask fuzz --write-seeds`.
pub(crate) const READERS: &[Reader] = &[
    Reader {
        name: "pe",
        read: |bytes, _| image(bytes),
        seeds: seeds::images,
        of: &["format/image", "format/memory", "format/names", "format/pe"],
    },
    Reader {
        name: "elf",
        read: |bytes, _| {
            let _ = elf::read(bytes);
            let _ = dynamic::read(bytes);
            let _ = dynamic::defined(bytes);
            let _ = dynamic::bytes(bytes, 0x200, 64);
        },
        seeds: seeds::elves,
        of: &["format/dynamic", "format/elf"],
    },
    Reader {
        name: "coff",
        read: |bytes, _| {
            let _ = coff::read(bytes);
            let _ = coff::read_import(bytes);
            let _ = coff::read_anonymous(bytes);
        },
        seeds: seeds::objects,
        of: &["format/coff"],
    },
    Reader {
        name: "archive",
        read: |bytes, _| {
            let _ = archive::read(bytes);
        },
        seeds: seeds::archives,
        of: &["format/archive"],
    },
    Reader {
        name: "bitcode",
        read: |bytes, _| {
            let _ = bitcode::read(bytes);
        },
        seeds: seeds::bitcode,
        of: &["format/bitcode"],
    },
    Reader {
        name: "zip",
        read: |bytes, _| members(bytes),
        seeds: seeds::zips,
        of: &["format/zip"],
    },
    Reader {
        name: "signed",
        read: |bytes, _| signatures(bytes),
        seeds: seeds::signed,
        of: &["authenticode/"],
    },
    Reader {
        name: "maker",
        read: |bytes, scratch| {
            let marks = json!({ "marks": { "own": "debian" } });
            inspect(bytes, scratch, "census", "a.bin", &marks);
        },
        seeds: seeds::traced,
        of: &["format/maker", "format/maker/anywhere", "gate/census"],
    },
    Reader {
        name: "gpu",
        read: |bytes, scratch| inspect(bytes, scratch, "gpu", "a.hipfb", &json!({})),
        seeds: seeds::device,
        of: &["format/device", "format/device/", "gate/gpu"],
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
        seeds: seeds::wheels,
        of: &[
            "python/filename",
            "python/metadata",
            "python/record",
            "python/requirement",
        ],
    },
    Reader {
        name: "marker",
        read: |bytes, _| holds(bytes),
        seeds: seeds::marker,
        of: &["python/environment", "python/marker"],
    },
    Reader {
        name: "policy",
        read: |bytes, scratch| {
            if fs::write(scratch, bytes).is_ok() {
                let _ = policy::Loaded::read(scratch);
            }
            inspect(bytes, scratch, "floors", "a.json", &json!({}));
        },
        seeds: seeds::policies,
        of: &["gate/floors"],
    },
    Reader {
        name: "report",
        read: reports,
        seeds: seeds::reports,
        of: &[],
    },
    Reader {
        name: "counts",
        read: |bytes, _| {
            for (_, format) in counts::Format::ALL {
                let _ = format.read(bytes);
            }
        },
        seeds: seeds::counts,
        of: &["counts/", "gate/exec", "gate/suites"],
    },
    Reader {
        name: "manifest",
        read: |bytes, scratch| inspect(bytes, scratch, "manifest", "MANIFEST.json", &json!({})),
        seeds: seeds::manifest,
        of: &["gate/manifest"],
    },
    Reader {
        name: "contract",
        read: |bytes, scratch| {
            let ask = json!({ "contract": "plugins.toml" });
            inspect(bytes, scratch, "plugin", "plugins.toml", &ask);
        },
        seeds: seeds::contract,
        of: &["gate/plugin"],
    },
    Reader {
        name: "coverage",
        read: |bytes, scratch| {
            let ask = json!({ "entries": ["*.whl"], "index": { "file": "SHA256SUMS" } });
            inspect(bytes, scratch, "coverage", "SHA256SUMS", &ask);
        },
        seeds: seeds::index,
        of: &["gate/coverage", "gate/coverage/index"],
    },
    Reader {
        name: "env",
        read: |bytes, scratch| {
            let ask = json!({ "host": ["abracadabra"], "scopes": ["process"] });
            inspect(bytes, scratch, "env", "process.json", &ask);
        },
        seeds: seeds::environment,
        of: &["gate/env"],
    },
    Reader {
        name: "trees",
        read: |bytes, scratch| {
            for gate in gate::GATES {
                inspect(bytes, scratch, gate.name, "a.whl", &asked(gate.name));
            }
            let _ = explain::file(&scratch.with_extension("tree").join("a.whl"));
        },
        seeds: || {
            [
                seeds::images(),
                seeds::elves(),
                seeds::archives(),
                seeds::zips(),
            ]
            .concat()
        },
        of: &[
            "format/exported",
            "format/magic",
            "gate/arch",
            "gate/data",
            "gate/deps",
            "gate/elf",
            "gate/elf/",
            "gate/files",
            "gate/imports",
            "gate/imports/",
            "gate/leak",
            "gate/signed",
            "gate/wheel",
            "python/runtime",
            "python/wheel",
        ],
    },
    Reader {
        name: "lanes",
        read: |bytes, _| lanes(bytes),
        seeds: seeds::lanes,
        of: &[],
    },
];

/// What an image imports and exports.
fn image(bytes: &[u8]) {
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
}

/// Every member of a zip.
fn members(bytes: &[u8]) {
    let Ok(mut zip) = zip::Zip::open(Watched::new(Box::new(Cursor::new(bytes)))) else {
        return;
    };
    let _ = zip.consistent();
    let mut budget = limit::ZIP_TOTAL_BYTES;
    for index in 0..zip.len() {
        zip.member(index, &mut budget, |_, _, _| true);
    }
}

/// The signatures of an image, and the input as the DER of one.
fn signatures(bytes: &[u8]) {
    let mut all = Vec::new();
    let _ = Signature::read(bytes, &mut all);
    if let Ok(Some((layout, table))) = layout::read(bytes) {
        for der in table {
            let _ = Signature::read(&der, &mut all);
        }
        let _ = compare(&layout, &mut Cursor::new(bytes), &mut all);
    }
}

/// Whether a marker holds.
fn holds(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(marker) = marker::Marker::parse(&text) else {
        return;
    };
    let _ = marker.extras();
    let variables = std::collections::BTreeMap::new();
    if let Ok(env) = Environment::new("windows/arm64", "3.14.2", &variables) {
        let _ = marker.holds(&env, Some("fast"));
        let _ = marker.holds(&env, None);
    }
}

/// What an inspection wrote down, a verdict, and several verdicts in one.
fn reports(bytes: &[u8], scratch: &Path) {
    if fs::write(scratch, bytes).is_err() {
        return;
    }
    if let Ok(seen) = report::read::<report::Inspected>(scratch)
        && let Ok(policy) = serde_json::from_str(seeds::POLICY)
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
    let _ = merged::Merged::read(scratch);
}

/// A lane file, and the same bytes as pins.
fn lanes(bytes: &[u8]) {
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
}

/// What a gate must be asked before it looks at a tree with `a.whl` in it.
fn asked(gate: &str) -> Value {
    match gate {
        "absent" => json!({ "components": [{ "at": "a.whl", "not-on": ["windows/arm64"] }] }),
        "contract" => json!({ "env": { "PATH": "/bin" }, "seen": ["PATH"] }),
        "coverage" => json!({ "entries": ["**"] }),
        "data" => json!({ "expect": [
            { "file": "**", "symbol": "data", "bytes": "01020304", "why": "w" },
            { "file": "**", "symbol": "table", "bytes": "010203", "why": "w" },
        ] }),
        "deps" => json!({ "python": "3.14.2", "needs": ["m[x]>=1"] }),
        "files" => json!({ "licences": [{ "path": "a.whl", "contains": "MIT" }] }),
        "leak" => json!({ "host": ["abracadabra"], "values": { "A": "libz.so.1" } }),
        "plugin" => json!({ "plugins": [{ "file": "a.whl", "exports": ["run"], "why": "w" }] }),
        "tests" => json!({ "suites": [{ "name": "s", "format": "junit", "output": "a.whl" }] }),
        "wheel" => json!({ "python": "3.14" }),
        _ => json!({}),
    }
}

/// Runs a gate over a tree with this one file in it.
fn inspect(bytes: &[u8], scratch: &Path, name: &str, file: &str, ask: &Value) {
    let dir = scratch.with_extension("tree");
    let written = fs::create_dir_all(&dir).and_then(|()| fs::write(dir.join(file), bytes));
    let (Ok(()), Ok(gate), Ok(row), Value::Object(ask)) = (
        written,
        gate::Gate::named(name),
        arch_table::row("windows/arm64"),
        ask,
    ) else {
        return;
    };
    let root = walk::Root {
        path: dir,
        label: Name::default(),
    };
    // lanegate turns a panic into a failure that says so.
    if let Err(failure) = gate.inspect(&row, &[root], ask) {
        let text = failure.to_string();
        assert!(!text.contains("a bug in lanegate"), "{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo;

    /// Modules that read no bytes of others, and what they do instead.
    const NONE: &[(&str, &str)] = &[
        ("python/mod", "the names of the others"),
        ("gate/absent", "paths, and texts as they are"),
        ("gate/contract", "paths"),
        ("gate/overlap", "digests"),
    ];

    #[test]
    fn every_module_that_reads_has_a_reader_here() {
        let src = repo::root().join("gates/src");
        let mut modules = Vec::new();
        let mut open: Vec<_> = ["format", "python", "counts", "authenticode", "gate"]
            .map(|dir| src.join(dir))
            .into();
        while let Some(dir) = open.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => open.push(path),
                    false => {
                        let module = path.strip_prefix(&src).unwrap().with_extension("");
                        modules.push(module.to_str().unwrap().to_owned());
                    }
                }
            }
        }
        modules.retain(|module| !module.ends_with("_tests"));
        let named: Vec<&str> = READERS
            .iter()
            .flat_map(|reader| reader.of)
            .copied()
            .collect();
        let none = NONE.iter().map(|(module, _)| *module);
        let known: Vec<&str> = named.into_iter().chain(none).collect();
        let of = |known: &str, module: &str| match known.ends_with('/') {
            true => module.starts_with(known),
            false => module == known,
        };
        for module in &modules {
            let met = known.iter().any(|known| of(known, module));
            assert!(met, "gates/src/{module}.rs is read by no reader of READERS");
        }
        for known in known {
            let met = modules.iter().any(|module| of(known, module));
            assert!(met, "there is no gates/src/{known}");
        }
    }

    #[test]
    fn every_gate_can_be_asked_about_the_tree() {
        let row = arch_table::row("windows/arm64").unwrap();
        let dir = tempfile::tempdir().unwrap();
        for gate in gate::GATES {
            // Of `exec` the counts are read, and it wants the files of a run; `overlap` wants two trees.
            if ["exec", "overlap"].contains(&gate.name) {
                continue;
            }
            fs::write(dir.path().join("a.whl"), b"MZ").unwrap();
            let root = walk::Root {
                path: dir.path().to_owned(),
                label: Name::default(),
            };
            let Value::Object(ask) = asked(gate.name) else {
                panic!("{} is asked nothing", gate.name);
            };
            let seen = gate.inspect(&row, &[root], &ask);
            assert!(seen.is_ok(), "{}: {:?}", gate.name, seen.err());
        }
    }

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
                let step = match reader.name {
                    "trees" => 97,
                    "maker" | "signed" => 7,
                    _ => 1,
                };
                for end in (0..bytes.len().min(2_000)).step_by(step) {
                    (reader.read)(&bytes[..end], &scratch);
                }
            }
        }
    }
}
