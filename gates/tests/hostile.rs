//! Cut and patched files of every format: a verdict or a failure each time, never a panic, never
//! green where something is missing, and always soon.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

use std::fs;
use std::time::{Duration, Instant};

use gates::arch_table::{self, Row};
use gates::exit::Failure;
use gates::fixture::{self, AMD64, ARM64, I386};
use gates::gate::{Gate, Object};
use gates::name::Name;
use gates::policy::{Floor, Loaded, Policy};
use gates::report::{Asserted, Inspected, Verdict};
use gates::walk::Root;
use gates::{policy, verdict};
use proptest::prelude::*;

fn arch(row: &Row, roots: &[Root]) -> Result<Inspected, Failure> {
    Gate::named("arch")
        .unwrap()
        .inspect(row, roots, &Object::new())
}

/// One file in a tree of its own, judged again and again.
struct Bench {
    dir: tempfile::TempDir,
    name: &'static str,
    row: Row,
    policy: Loaded,
}

impl Bench {
    fn new(name: &'static str, target: &str) -> Self {
        let floor = Floor {
            broken: None,
            least: 1,
            measured: None,
            on: None,
        };
        let policy = Policy {
            allow: Vec::new(),
            ask: Object::new(),
            check: "arch".to_owned(),
            demand: Object::new(),
            effect: policy::Effect::Block,
            empty_ok: None,
            floors: [("inspected".to_owned(), floor)].into(),
            gate: "test".to_owned(),
            schema: policy::SCHEMA.to_owned(),
            target: target.to_owned(),
        };
        Self {
            dir: tempfile::tempdir().unwrap(),
            name,
            row: arch_table::row(target).unwrap(),
            policy: Loaded::of(policy).unwrap(),
        }
    }

    fn judge(&self, bytes: &[u8]) -> Result<Asserted, Failure> {
        fs::write(self.dir.path().join(self.name), bytes).unwrap();
        let root = Root {
            path: self.dir.path().to_owned(),
            label: Name::default(),
        };
        let start = Instant::now();
        let report = arch(&self.row, &[root]);
        assert!(start.elapsed() < Duration::from_secs(5), "too slow");
        verdict::judge(&report?, &self.policy)
    }
}

/// A file of each format, the name it goes by, and a target it is right for.
fn samples() -> Vec<(&'static str, &'static str, Vec<u8>)> {
    let (arm, intel) = (fixture::coff(ARM64), fixture::bigobj(ARM64));
    let long = "a-name-of-more-than-fifteen-characters.obj";
    let archive = fixture::archive(&[("a.obj", &arm), (long, &intel)]);
    let wheel = fixture::zip(&[("m.pyd", &fixture::dll(ARM64)), ("m.py", b"pass")]).unwrap();
    vec![
        ("a.dll", "windows/arm64", fixture::dll(ARM64)),
        ("b.dll", "windows/arm64", fixture::hybrid_dll(ARM64)),
        ("c.exe", "windows/amd64", fixture::exe(AMD64)),
        ("d.lib", "windows/arm64", archive),
        (
            "e.lib",
            "windows/arm64",
            fixture::import_library(ARM64, ARM64, &["f", "g"]),
        ),
        ("f.so", "linux/arm64", fixture::elf(64, false, 183)),
        ("g.whl", "windows/arm64", wheel),
        ("h.obj", "windows/arm64", arm),
        (
            "i.obj",
            "windows/arm64",
            fixture::bitcode("aarch64-pc-windows-msvc", true),
        ),
    ]
}

#[test]
fn whole_files_pass() {
    for (name, target, bytes) in samples() {
        let report = Bench::new(name, target).judge(&bytes).unwrap();
        assert_eq!(
            report.verdict,
            Verdict::Pass,
            "{name}: {:?}",
            report.findings
        );
    }
    let pe32 = Bench::new("x.dll", "windows/amd64")
        .judge(&fixture::dll(I386))
        .unwrap();
    assert_eq!(
        pe32.verdict,
        Verdict::Fail,
        "a PE32 image is for another machine"
    );
}

#[test]
fn no_cut_of_any_file_passes() {
    for (name, target, bytes) in samples() {
        // Bitcode may end early unnoticed: what stands behind the triple is not read.
        let ends = if name == "i.obj" {
            0..20
        } else {
            0..bytes.len()
        };
        let bench = Bench::new(name, target);
        for end in ends {
            let report = bench.judge(&bytes[..end]).unwrap();
            assert_ne!(
                report.verdict,
                Verdict::Pass,
                "{name} cut at {end} of {}",
                bytes.len()
            );
        }
    }
}

#[test]
fn every_single_byte_turned_over_ends_in_a_verdict() {
    for (name, target, bytes) in samples() {
        let bench = Bench::new(name, target);
        for at in 0..bytes.len() {
            let mut patched = bytes.clone();
            patched[at] ^= 0xff;
            assert!(bench.judge(&patched).is_ok(), "{name}: byte {at}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn random_patches_end_in_a_verdict(
        which in 0..9_usize,
        patches in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let (name, target, mut bytes) = samples().swap_remove(which);
        for (at, value) in patches {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        prop_assert!(Bench::new(name, target).judge(&bytes).is_ok());
    }

    #[test]
    fn random_bytes_behind_every_magic_end_in_a_verdict(
        magic in prop::sample::select(vec![
            &b"MZ\0"[..], b"\x7fELF", b"!<arch>\n", b"!<thin>\n", b"\0\0\xff\xff\0\0", b"\0\0\xff\xff\x02\0",
            b"BC\xc0\xde", b"\xde\xc0\x17\x0b", b"PK\x03\x04", b"PK\x05\x06", b"\x64\xaa\x01\0",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..300),
    ) {
        let bytes = [magic, &rest].concat();
        let report = Bench::new("x.dll", "windows/arm64").judge(&bytes);
        prop_assert!(report.is_ok());
    }
}

#[test]
fn a_zip_bomb_and_a_nest_of_zips_are_findings() {
    let bench = Bench::new("x.zip", "windows/arm64");
    let zeros = vec![0_u8; 64 << 20];
    let bomb = fixture::zip(&[("big.dll", &zeros)]).unwrap();
    let report = bench.judge(&bomb).unwrap();
    assert_eq!(report.findings[0].id, "GEN002", "{:?}", report.findings);
    assert!(
        report.findings[0].why.contains("ZIP_RATIO"),
        "{:?}",
        report.findings
    );

    let mut nest = fixture::dll(ARM64);
    for _ in 0..5 {
        nest = fixture::zip(&[("in.zip", &nest)]).unwrap();
    }
    let report = bench.judge(&nest).unwrap();
    assert_eq!(report.findings[0].id, "GEN002", "{:?}", report.findings);
    assert!(
        report.findings[0].why.contains("NESTING"),
        "{:?}",
        report.findings
    );
}

#[test]
fn a_zip_with_two_members_of_one_name_is_a_finding() {
    let dll = fixture::dll(ARM64);
    let mut bytes = fixture::zip(&[("m1.pyd", &dll), ("m2.pyd", &dll)]).unwrap();
    // Both names stand in front of the member and in the list.
    while let Some(at) = bytes.windows(6).position(|name| name == b"m2.pyd") {
        bytes[at + 1] = b'1';
    }
    let report = Bench::new("x.whl", "windows/arm64").judge(&bytes).unwrap();
    assert_eq!(report.findings[0].id, "ARCH009", "{:?}", report.findings);
}

#[test]
fn a_wrong_checksum_in_a_wheel_is_a_finding() {
    let mut bytes = fixture::zip(&[("m.pyd", &fixture::dll(ARM64))]).unwrap();
    let list = bytes
        .windows(4)
        .position(|word| word == b"PK\x01\x02")
        .unwrap();
    bytes[list + 16] ^= 1;
    bytes[14] ^= 1;
    let report = Bench::new("x.whl", "windows/arm64").judge(&bytes).unwrap();
    assert_eq!(report.findings[0].id, "ARCH005", "{:?}", report.findings);
}

#[test]
fn a_file_that_the_system_will_not_read_is_a_failure_not_a_verdict() {
    let bench = Bench::new("x.dll", "windows/arm64");
    let root = |path: &str| Root {
        path: path.into(),
        label: Name::default(),
    };
    if fs::metadata("/proc/self/mem").is_ok() {
        let failure = arch(&bench.row, &[root("/proc/self/mem")]).unwrap_err();
        assert_eq!(failure.exit().code(), 4);
    }
    let failure = arch(&bench.row, &[root("/dev/null")]).unwrap_err();
    assert_eq!(failure.exit().code(), 4, "a root that is a device");
}

/// What a gate must be told before it looks at anything: about the damaged file of this number
/// where it looks at one alone.
fn ask(gate: &Gate, number: usize) -> Object {
    let one = format!("a/turned{number}");
    let keys = match gate.name {
        "absent" => serde_json::json!({"components": [{"at": one, "files": ["**"]}]}),
        "contract" => serde_json::json!({"env": {"PATH": "C:\\a;C:\\b", "HOME": "/a"}}),
        "coverage" => serde_json::json!({"entries": ["**/*.dll", "**/g.whl"]}),
        "data" => serde_json::json!({"expect": [
            {"bytes": "00", "file": format!("{one}/a.dll"), "symbol": "f", "why": "w"},
            {"bytes": "00", "file": format!("{one}/f.so"), "symbol": "f", "why": "w"},
        ]}),
        "deps" => serde_json::json!({"python": "3.12"}),
        "files" => serde_json::json!({"required": [{"path": "**/d.lib"}]}),
        "leak" => serde_json::json!({"values": {"TOKEN": "a-value-of-a-host"}}),
        "manifest" => serde_json::json!({"file": format!("{one}/MANIFEST.json")}),
        "plugin" => serde_json::json!({"plugins": [
            {"exports": ["f"], "file": format!("{one}/b.dll"), "why": "w"},
        ]}),
        "tests" => serde_json::json!({"suites": [
            {"format": "junit", "name": "s", "output": format!("{one}/junit.xml")},
        ]}),
        _ => serde_json::json!({}),
    };
    keys.as_object().unwrap().clone()
}

/// The fuzzer's seeds: every format with all its tables.
fn seeds() -> Vec<(String, Vec<u8>)> {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../xtask/fuzz-seeds");
    let mut seeds = Vec::new();
    for reader in fs::read_dir(dir).unwrap().map(Result::unwrap) {
        for seed in fs::read_dir(reader.path()).unwrap().map(Result::unwrap) {
            let name = format!(
                "{}-{}",
                reader.file_name().display(),
                seed.file_name().display()
            );
            seeds.push((name, fs::read(seed.path()).unwrap()));
        }
    }
    assert!(seeds.len() > 50, "{}", seeds.len());
    seeds
}

/// Every format cut at many places and with many bytes turned over, and the same for what lies in
/// products as text.
fn damaged(dir: &std::path::Path) {
    let record = "m.pyd,sha256=AAAA,12\nx-1.dist-info/RECORD,,\n";
    let metadata =
        "Metadata-Version: 2.1\nName: x\nVersion: 1\nRequires-Dist: y>=1; python_version<'3'\n";
    let junit = r#"<testsuites><testsuite tests="2" failures="1"><testcase name="a"/></testsuite></testsuites>"#;
    let texts = [
        ("x-1.dist-info/RECORD", record),
        ("x-1.dist-info/METADATA", metadata),
        (
            "x-1.dist-info/WHEEL",
            "Wheel-Version: 1.0\nTag: cp312-cp312-win_arm64\n",
        ),
        ("junit.xml", junit),
        ("MANIFEST.json", r#"{"schema": "manifest/1", "files": {}}"#),
    ];
    let samples = samples().into_iter();
    let binaries = samples.map(|(name, _, bytes)| (name.to_owned(), bytes));
    let texts = texts.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    for (name, bytes) in binaries.chain(texts).chain(seeds()) {
        let step = bytes.len() / 40 + 1;
        for (number, at) in (0..bytes.len()).step_by(step).enumerate() {
            let mut turned = bytes.clone();
            turned[at] ^= 0xff;
            for (word, bytes) in [("cut", &bytes[..at]), ("turned", &turned)] {
                let path = dir.join(format!("{word}{number}")).join(&name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, bytes).unwrap();
            }
        }
    }
}

#[test]
fn every_gate_ends_over_a_tree_of_damaged_files() {
    let dir = tempfile::tempdir().unwrap();
    let roots = ["a", "b"].map(|label| {
        let path = dir.path().join(label);
        damaged(&path);
        Root {
            path,
            label: Name::from(label),
        }
    });
    for (number, target) in ["windows/arm64", "linux/amd64"].into_iter().enumerate() {
        let row = arch_table::row(target).unwrap();
        // What a command said is read by the readers of `tests`.
        let gates = gates::gate::GATES.iter();
        for gate in gates.filter(|gate| gate.name != "exec") {
            let start = Instant::now();
            let report = gate.inspect(&row, &roots, &ask(gate, 7 + 20 * number));
            let name = gate.name;
            assert!(start.elapsed() < Duration::from_secs(30), "{name} is slow");
            if let Err(failure) = report {
                panic!("{name} for {target}: {failure}");
            }
        }
    }
}

#[test]
fn no_change_of_a_manifest_passes_unless_it_says_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("a.dll"), fixture::dll(ARM64)).unwrap();
    let file = tree.join("MANIFEST.json");
    let words = ["manifest", "--target", "windows/arm64", "--root"].map(Into::into);
    let root = std::ffi::OsString::from(format!("{}=", tree.display()));
    let places = [root, "--out".into(), file.clone().into()];
    gates::cli::main(words.into_iter().chain(places));
    let whole = fs::read(&file).unwrap();
    let row = arch_table::row("windows/arm64").unwrap();
    let gate = Gate::named("manifest").unwrap();
    let findings = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let root = Root {
            path: tree.clone(),
            label: Name::default(),
        };
        gate.inspect(&row, &[root], &Object::new())
            .unwrap()
            .findings
            .len()
    };
    assert_eq!(findings(&whole), 0);
    let value = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).ok();
    let said = value(&whole);
    for at in 0..whole.len() {
        let mut turned = whole.clone();
        turned[at] ^= 1;
        for bytes in [&whole[..at], &turned] {
            let same = value(bytes) == said;
            assert_eq!(
                findings(bytes) == 0,
                same,
                "{}",
                String::from_utf8_lossy(bytes)
            );
        }
    }
}

/// A size, an offset or a count of 16 EiB less one byte, at every place of every format.
#[test]
fn no_word_of_the_largest_value_hangs_a_gate_or_fills_the_memory() {
    let dir = tempfile::tempdir().unwrap();
    for (name, _, bytes) in samples() {
        for at in (0..bytes.len().saturating_sub(8)).step_by(4) {
            let mut patched = bytes.clone();
            patched[at..at + 8].fill(0xff);
            let path = dir.path().join(at.to_string());
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join(name), patched).unwrap();
        }
    }
    let root = Root {
        path: dir.path().to_owned(),
        label: Name::default(),
    };
    for target in ["windows/arm64", "linux/arm64"] {
        let row = arch_table::row(target).unwrap();
        for gate in ["arch", "census", "elf", "gpu", "imports", "signed", "wheel"] {
            let start = Instant::now();
            let gate = Gate::named(gate).unwrap();
            let report = gate.inspect(&row, std::slice::from_ref(&root), &Object::new());
            assert!(start.elapsed() < Duration::from_secs(60), "{}", gate.name);
            if let Err(failure) = report {
                panic!("{} for {target}: {failure}", gate.name);
            }
        }
    }
}

/// A zip whose one member says that it has 16 EiB less one byte.
#[test]
fn a_member_of_16_eib_is_a_finding() {
    let mut zip64 = vec![1, 0, 16, 0];
    zip64.extend([0xff; 16]);
    let word = |bytes: &mut Vec<u8>, words: &[u16]| {
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    };
    let mut zip = b"PK\x03\x04".to_vec();
    word(
        &mut zip,
        &[45, 0, 0, 0, 0, 0, 0, 0xffff, 0xffff, 0xffff, 0xffff, 5, 20],
    );
    zip.extend(b"a.dll");
    zip.extend(&zip64);
    zip.extend(fixture::dll(ARM64));
    let list = u16::try_from(zip.len()).unwrap();
    zip.extend(b"PK\x01\x02");
    word(
        &mut zip,
        &[
            45, 45, 0, 0, 0, 0, 0, 0, 0xffff, 0xffff, 0xffff, 0xffff, 5, 20, 0, 0, 0, 0, 0, 0, 0,
        ],
    );
    zip.extend(b"a.dll");
    zip.extend(&zip64);
    let end = u16::try_from(zip.len()).unwrap();
    zip.extend(b"PK\x05\x06");
    word(&mut zip, &[0, 0, 1, 1, end - list, 0, list, 0, 0]);
    let report = Bench::new("x.whl", "windows/arm64").judge(&zip).unwrap();
    assert_eq!(report.verdict, Verdict::Fail);
    let ids: Vec<&str> = report.findings.iter().map(|f| f.id.as_str()).collect();
    assert!(
        ids.contains(&"GEN002") || ids.contains(&"ARCH005"),
        "{:?}",
        report.findings
    );
}

/// Two names for the same bytes: what bombs are made of that no ratio shows.
#[test]
fn members_of_a_zip_that_share_bytes_are_a_finding() {
    let dll = fixture::dll(ARM64);
    let mut zip = fixture::zip(&[("m1.pyd", &dll), ("m2.pyd", &dll)]).unwrap();
    let lists: Vec<usize> = (0..zip.len() - 4)
        .filter(|at| zip[*at..].starts_with(b"PK\x01\x02"))
        .collect();
    let [first, second] = lists[..] else {
        panic!("{lists:?}")
    };
    zip.copy_within(first + 42..first + 46, second + 42);
    let report = Bench::new("x.whl", "windows/arm64").judge(&zip).unwrap();
    assert_eq!(report.findings[0].id, "ARCH009", "{:?}", report.findings);
}

/// An index of symbols that says that they are in itself, and names that stand in themselves.
#[test]
fn an_archive_that_refers_to_itself_is_a_finding() {
    let coff = fixture::coff(ARM64);
    let member = |name: &str, bytes: &[u8]| {
        let mut out = format!(
            "{name:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            0,
            0,
            0,
            0,
            bytes.len()
        )
        .into_bytes();
        out.extend(bytes);
        out.resize(out.len().next_multiple_of(2), b'\n');
        out
    };
    let index = |at: u32| [&1_u32.to_be_bytes()[..], &at.to_be_bytes(), b"f\0\0\0"].concat();
    let with = |at: u32| {
        [
            b"!<arch>\n".to_vec(),
            member("/", &index(at)),
            member("a.obj/", &coff),
        ]
        .concat()
    };
    let right = 8 + 60 + 12;
    let bench = Bench::new("x.lib", "windows/arm64");
    assert_eq!(bench.judge(&with(right)).unwrap().verdict, Verdict::Pass);
    for at in [8, 68, right + 60, u32::MAX] {
        let report = bench.judge(&with(at)).unwrap();
        assert_eq!(report.verdict, Verdict::Fail, "{at}");
    }
    let names = [
        b"!<arch>\n".to_vec(),
        member("//", b"/0"),
        member("/0", &coff),
    ]
    .concat();
    assert_ne!(bench.judge(&names).unwrap().findings.len(), 0);
}

/// Libraries that import and forward each other, and themselves.
#[test]
fn imports_and_forwards_in_a_circle_end() {
    let library = |to: &'static str, forward: &'static str| fixture::Pe {
        imports: vec![(to, vec!["f"])],
        exports: vec![("f", fixture::Export::Forward(forward))],
        ..fixture::Pe::default()
    };
    let dir = tempfile::tempdir().unwrap();
    for (name, to, forward) in [
        ("a.dll", "b.dll", "b.f"),
        ("b.dll", "c.dll", "c.f"),
        ("c.dll", "a.dll", "a.f"),
        ("self.dll", "self.dll", "self.f"),
    ] {
        fs::write(dir.path().join(name), library(to, forward).dll(ARM64)).unwrap();
    }
    let root = Root {
        path: dir.path().to_owned(),
        label: Name::default(),
    };
    let row = arch_table::row("windows/arm64").unwrap();
    let start = Instant::now();
    let gate = Gate::named("imports").unwrap();
    let report = gate.inspect(&row, &[root], &Object::new()).unwrap();
    assert!(start.elapsed() < Duration::from_secs(5), "too slow");
    let circles = report.findings.iter().filter(|f| f.id == "IMP009");
    assert!(circles.count() >= 4, "{:?}", report.findings);
}
