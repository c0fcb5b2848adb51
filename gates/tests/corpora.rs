//! Real files that nobody here made, read by lanegate and by two others: llvm-readobj and goblin.
//!
//! `cargo xtask test --only corpora` fetches the files and says where they are.
#![allow(clippy::unwrap_used)] // helpers of tests may unwrap, as tests do

#[path = "corpora/signed.rs"]
mod signed;
#[path = "corpora/tables.rs"]
mod tables;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use gates::arch_table::{self, Row};
use gates::exit::Failure;
use gates::fixture;
use gates::gate::{Gate, Object};
use gates::name::Name;
use gates::report::Inspected;
use gates::walk::Root;

/// Machine classes and how often each was met.
type Classes = BTreeMap<String, u64>;

/// Where the files are: `wheels/`, `debian/PACKAGE/`, `tools/`.
fn corpora() -> PathBuf {
    match std::env::var_os("LANEGATE_CORPORA") {
        Some(dir) => PathBuf::from(dir),
        None => panic!("run cargo xtask test --only corpora"),
    }
}

fn tool(name: &str) -> Command {
    Command::new(corpora().join("tools").join(name))
}

fn arch(row: &Row, roots: &[Root]) -> Result<Inspected, Failure> {
    Gate::named("arch")
        .unwrap()
        .inspect(row, roots, &Object::new())
}

fn inspect(target: &str, path: &Path) -> Inspected {
    let root = Root {
        path: path.to_owned(),
        label: Name::default(),
    };
    arch(&arch_table::row(target).unwrap(), &[root]).unwrap()
}

/// What lanegate read of every file, by its name below the root.
fn classes(report: &Inspected) -> BTreeMap<String, Classes> {
    let entry = |item: &gates::report::Item| (item.subject.to_string(), item.classes.clone());
    report.items.iter().map(entry).collect()
}

fn one(class: &str) -> Classes {
    Classes::from([(class.to_owned(), 1)])
}

/// All wheels unpacked, each into a directory of its own name; made once, shared by all tests.
fn unpacked() -> &'static Path {
    static DIR: OnceLock<tempfile::TempDir> = OnceLock::new();
    DIR.get_or_init(|| {
        let dir = tempfile::tempdir().unwrap();
        for wheel in files(&corpora().join("wheels")) {
            let name = wheel.file_name().unwrap().to_owned();
            let mut zip = zip::ZipArchive::new(fs::File::open(wheel).unwrap()).unwrap();
            zip.extract(dir.path().join(name)).unwrap();
        }
        dir
    })
    .path()
}

/// Every regular file below a directory, sorted.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).unwrap() {
            let entry = entry.unwrap();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// The trees that the oracles are asked about, and what lanegate saw there; looked at once.
fn trees() -> &'static [(PathBuf, Inspected); 2] {
    static SEEN: OnceLock<[(PathBuf, Inspected); 2]> = OnceLock::new();
    SEEN.get_or_init(|| {
        [unpacked().to_owned(), corpora().join("debian")]
            .map(|tree| (tree.clone(), inspect("windows/arm64", &tree)))
    })
}

#[test]
fn members_of_wheels_are_the_same_packed_and_unpacked() {
    let packed = classes(&inspect("windows/arm64", &corpora().join("wheels")));
    let packed: BTreeMap<_, _> = packed
        .into_iter()
        .map(|(name, classes)| (name.replace('!', "/"), classes))
        .collect();
    assert_eq!(packed, classes(&inspect("windows/arm64", unpacked())));
    assert!(packed.len() >= 50, "{} members", packed.len());
}

#[test]
fn known_facts_about_known_wheels() {
    let seen = classes(&inspect("windows/arm64", &corpora().join("wheels")));
    let of = |wheel: &str, end: &str| -> Vec<Classes> {
        seen.iter()
            .filter(|(name, _)| name.starts_with(wheel) && name.ends_with(end))
            .map(|(_, classes)| classes.clone())
            .collect()
    };
    // The C++ run-time that numpy brings along is hybrid: its header says plain ARM64.
    let numpy = "numpy-2.5.5-cp313-cp313-win_arm64.whl!";
    let runtime: Vec<_> = seen
        .iter()
        .filter(|(name, _)| name.contains("!numpy.libs/msvcp140"))
        .collect();
    assert!(
        matches!(runtime[..], [(_, classes)] if *classes == one("ARM64X")),
        "{runtime:?}"
    );
    let images = of(numpy, ".pyd").len() + of(numpy, ".dll").len();
    assert_eq!((images, of(numpy, ".lib").len()), (21, 21));
    // distlib carries launchers for three machines in a wheel that is for any.
    let mut launchers = of("distlib-0.4.4", ".exe").concat_counts();
    assert_eq!(
        (
            launchers.remove("I386"),
            launchers.remove("AMD64"),
            launchers.remove("ARM64")
        ),
        (Some(2), Some(2), Some(2))
    );
    assert_eq!(launchers, Classes::new());
    assert_eq!(
        of("psutil-7.2.2-cp37-abi3-win_arm64", ".pyd"),
        [one("ARM64")]
    );
    assert_eq!(of("msgpack-1.2.4", ".pyd"), [one("I386")]);
    assert_eq!(
        of("markupsafe-3.0.4", ".pyd")
            .concat_counts()
            .values()
            .sum::<u64>(),
        4
    );
    assert_eq!(of("cffi-2.1.1", ".so"), [one("ELF64 X86-64")]);
}

/// Sums of class counts.
trait ConcatCounts {
    fn concat_counts(&self) -> Classes;
}

impl ConcatCounts for Vec<Classes> {
    fn concat_counts(&self) -> Classes {
        let mut sum = Classes::new();
        for (class, count) in self.iter().flatten() {
            *sum.entry(class.clone()).or_default() += count;
        }
        sum
    }
}

#[test]
fn nothing_of_any_distributor_is_damaged() {
    for (_, report) in trees() {
        let odd: Vec<_> = report
            .findings
            .iter()
            .filter(|f| !["ARCH001", "ARCH002"].contains(&f.id.as_str()))
            .collect();
        assert!(odd.is_empty(), "{odd:#?}");
        assert!(report.counts.inspected > 50, "{:?}", report.counts);
    }
}

/// llvm-readobj's name of a format, as lanegate spells the machine class.
fn class_of(format: &str) -> String {
    let coff = format
        .strip_prefix("COFF-import-file-")
        .or_else(|| format.strip_prefix("COFF-"));
    match (coff, format) {
        (Some("i386"), _) => "I386".to_owned(),
        (Some("x86-64"), _) => "AMD64".to_owned(),
        (Some(arm), _) => arm.to_owned(),
        (None, "elf64-x86-64") => "ELF64 X86-64".to_owned(),
        (None, "elf32-i386") => "ELF32 Intel 80386".to_owned(),
        (None, "elf64-littleaarch64") => "ELF64 AArch64".to_owned(),
        (None, other) => other.to_owned(),
    }
}

/// What llvm-readobj read of these files. A known image is asked for in between, because it does
/// not say which archive an import object belongs to.
fn readobj(paths: &[PathBuf]) -> Vec<Classes> {
    let mark = tempfile::Builder::new().suffix(".mark").tempfile().unwrap();
    fs::write(mark.path(), fixture::dll(fixture::I386)).unwrap();
    let mut out = Vec::new();
    for part in paths.chunks(200) {
        let args = part.iter().flat_map(|path| [mark.path(), path.as_path()]);
        let output = tool("llvm-readobj").args(args).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let text = String::from_utf8_lossy(&output.stdout);
        let marked = format!("\nFile: {}\n", mark.path().display());
        for answer in text.split(&marked).skip(1) {
            // The first format is the mark's own.
            let formats = answer
                .lines()
                .filter_map(|line| line.strip_prefix("Format: "))
                .skip(1);
            let mut classes = Classes::new();
            for format in formats {
                *classes.entry(class_of(format)).or_default() += 1;
            }
            out.push(classes);
        }
    }
    assert_eq!(out.len(), paths.len(), "an answer for every file");
    out
}

#[test]
fn llvm_readobj_reads_the_same_machines_of_every_file_and_member() {
    let mut compared = 0;
    for (tree, report) in trees() {
        let ours = classes(report);
        let paths: Vec<PathBuf> = ours.keys().map(|name| tree.join(name)).collect();
        for ((name, ours), theirs) in ours.iter().zip(readobj(&paths)) {
            assert_eq!(*ours, theirs, "{name}");
            compared += 1;
        }
    }
    assert!(compared > 900, "{compared} files");
}

#[test]
fn llvm_readobj_finds_no_object_where_we_see_none() {
    for (tree, report) in trees() {
        let ours = classes(report);
        let rest: Vec<PathBuf> = files(tree)
            .into_iter()
            .filter(|path| !ours.contains_key(path.strip_prefix(tree).unwrap().to_str().unwrap()))
            .collect();
        let output = tool("llvm-readobj").args(&rest).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let found: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("Format: "))
            .collect();
        assert!(found.is_empty(), "{text}");
    }
}

/// The class that goes with what goblin read; it knows no hybrid images.
fn goblin_class(object: &goblin::Object<'_>) -> Option<String> {
    match object {
        goblin::Object::PE(pe) => {
            Some(gates::format::coff::class(pe.header.coff_header.machine).into())
        }
        goblin::Object::COFF(coff) => Some(gates::format::coff::class(coff.header.machine).into()),
        goblin::Object::Elf(elf) => {
            let bits = if elf.is_64 { 64 } else { 32 };
            let machine = match elf.header.e_machine {
                3 => "Intel 80386".to_owned(),
                62 => "X86-64".to_owned(),
                183 => "AArch64".to_owned(),
                other => format!("machine {other}"),
            };
            Some(format!("ELF{bits} {machine}"))
        }
        _ => None,
    }
}

#[test]
fn goblin_reads_the_same_machine_of_every_image_and_shared_object() {
    let mut compared = 0;
    for (tree, report) in trees() {
        for item in &report.items {
            if !["pe", "elf"].contains(&item.kind.as_str()) {
                continue;
            }
            let bytes = fs::read(tree.join(item.subject.to_string())).unwrap();
            let theirs = goblin::Object::parse(&bytes).map(|object| goblin_class(&object));
            let ours = match item.classes.keys().next().unwrap().as_str() {
                "ARM64X" => "ARM64".to_owned(),
                class => class.to_owned(),
            };
            assert_eq!(theirs.ok().flatten(), Some(ours), "{}", item.subject);
            compared += 1;
        }
    }
    assert!(compared > 35, "{compared} files");
}

#[test]
fn what_llvm_makes_is_read_as_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let run = |command: &mut Command| {
        let output = command.current_dir(dir.path()).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    fs::write(at("f.def"), "LIBRARY f.dll\nEXPORTS\n f\n g\n").unwrap();
    for (machine, file) in [
        ("i386", "x86.lib"),
        ("i386:x86-64", "x64.lib"),
        ("arm64", "arm64.lib"),
        ("arm64ec", "ec.lib"),
    ] {
        run(tool("llvm-dlltool").args(["-m", machine, "-d", "f.def", "-l", file]));
    }
    let hybrid = [
        "-m",
        "arm64ec",
        "-d",
        "f.def",
        "-N",
        "f.def",
        "-l",
        "hybrid.lib",
    ];
    run(tool("llvm-dlltool").args(hybrid));
    for (triple, file) in [
        ("aarch64-pc-windows-msvc", "arm64"),
        ("x86_64-pc-windows-msvc", "x64"),
    ] {
        let module = format!("target triple = \"{triple}\"\ndefine i32 @f() {{\n ret i32 1\n}}\n");
        fs::write(at("f.ll"), module).unwrap();
        run(tool("llvm-as").args(["-o", &format!("{file}.bc"), "f.ll"]));
        fs::write(at("f.s"), ".globl f\nf:\n ret\n").unwrap();
        let triple = format!("--triple={triple}");
        run(tool("llvm-mc").args([
            "-filetype=obj",
            &triple,
            "-o",
            &format!("{file}.obj"),
            "f.s",
        ]));
    }
    let sections: String = (0..65_400)
        .map(|n| format!(".section s{n},\"dr\"\n.byte 0\n"))
        .collect();
    fs::write(at("big.s"), sections).unwrap();
    run(tool("llvm-mc").args([
        "-filetype=obj",
        "--triple=aarch64-pc-windows-msvc",
        "-o",
        "big.obj",
        "big.s",
    ]));
    run(tool("llvm-ar").args(["rc", "mixed.lib", "arm64.obj", "x64.obj", "arm64.bc"]));
    run(tool("llvm-ar").args(["rcT", "thin.lib", "arm64.obj"]));

    let report = inspect("windows/arm64", dir.path());
    let seen = classes(&report);
    let count = |pairs: &[(&str, u64)]| -> Classes {
        pairs
            .iter()
            .map(|(class, count)| ((*class).to_owned(), *count))
            .collect()
    };
    for (file, expected) in [
        ("x86.lib", count(&[("I386", 5)])),
        ("x64.lib", count(&[("AMD64", 5)])),
        ("arm64.lib", count(&[("ARM64", 5)])),
        ("ec.lib", count(&[("ARM64", 3), ("ARM64EC", 2)])),
        ("arm64.bc", one("ARM64")),
        ("x64.bc", one("AMD64")),
        ("arm64.obj", one("ARM64")),
        ("x64.obj", one("AMD64")),
        ("big.obj", one("ARM64")),
        ("mixed.lib", count(&[("ARM64", 2), ("AMD64", 1)])),
    ] {
        assert_eq!(seen.get(file), Some(&expected), "{file}");
    }
    assert!(
        seen["hybrid.lib"].contains_key("ARM64EC"),
        "{:?}",
        seen["hybrid.lib"]
    );
    let found: Vec<(String, &str)> = report
        .findings
        .iter()
        .map(|f| (f.subject.to_string(), f.id.as_str()))
        .collect();
    let expected = [
        ("ec.lib", "ARCH007"),
        ("mixed.lib(x64.obj)", "ARCH002"),
        ("thin.lib", "ARCH008"),
        ("x64.bc", "ARCH001"),
        ("x64.lib(f.dll)", "ARCH002"),
        ("x64.obj", "ARCH001"),
        ("x86.lib(f.dll)", "ARCH002"),
    ];
    assert_eq!(
        found,
        expected.map(|(subject, id)| (subject.to_owned(), id))
    );
}

#[test]
fn no_cut_of_a_real_image_passes() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("x.pyd");
    for (tree, _) in trees() {
        let small = |path: &PathBuf| {
            let size = fs::metadata(path).unwrap().len();
            size < 40_000
                && path
                    .extension()
                    .is_some_and(|e| ["pyd", "exe", "so"].contains(&e.to_str().unwrap()))
        };
        for path in files(tree).into_iter().filter(small) {
            let whole = fs::read(&path).unwrap();
            let sparse = (0..whole.len())
                .step_by(997)
                .chain((0..600.min(whole.len())).step_by(7));
            let last = whole.len() - 1;
            for end in sparse.chain([last]) {
                fs::write(&file, &whole[..end]).unwrap();
                let report = inspect("windows/arm64", dir.path());
                let green = report.counts.inspected > 0 && report.findings.is_empty();
                assert!(!green, "{} cut at {end} of {}", path.display(), whole.len());
            }
        }
    }
}
