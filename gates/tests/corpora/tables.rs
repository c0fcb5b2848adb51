//! Imports, exports and code for GPUs, as others read them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gates::explain::{self, Facts};
use gates::format::coff;
use gates::gate::{Gate, Object};
use gates::name::Name;
use gates::walk::Root;
use serde_json::{Value, json};

use super::{corpora, tool, trees};

/// What a file imports and exports.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tables {
    /// Whether delayed, the library, its symbols; numbers as `#7`.
    imports: Vec<(bool, String, Vec<String>)>,
    exports: BTreeSet<String>,
}

/// What `tables.py` prints of an image: machine, imports, exports unless there are too many, the
/// forwarded ones, traces of who built it.
type Answer = (
    u16,
    Vec<(bool, String, Vec<String>)>,
    Option<BTreeSet<String>>,
    BTreeMap<String, String>,
    Vec<String>,
);

/// Every file of a kind below the trees.
fn files(kind: &str) -> Vec<PathBuf> {
    let of = |(tree, report): &(PathBuf, gates::report::Inspected)| -> Vec<PathBuf> {
        let items = report.items.iter().filter(|item| item.kind == kind);
        items
            .map(|item| tree.join(item.subject.to_string()))
            .collect()
    };
    trees().iter().flat_map(of).collect()
}

/// What lanegate reads; its class besides.
fn ours(path: &Path) -> (String, Tables) {
    let mut file = explain::file(path).unwrap();
    assert!(file.problems.is_empty(), "{:?}", file.problems);
    let part = file.parts.remove(0);
    let text = |name: &Name| String::from_utf8_lossy(name.bytes()).into_owned();
    let tables = match part.facts {
        Facts::Pe(pe) => Tables {
            imports: pe
                .imports
                .iter()
                .map(|i| {
                    (
                        i.delayed,
                        text(&i.library),
                        i.symbols.iter().map(text).collect(),
                    )
                })
                .collect(),
            exports: pe.exports.iter().map(|e| text(&e.name)).collect(),
        },
        Facts::Elf(elf) => Tables {
            imports: elf
                .needed
                .iter()
                .map(|name| (false, text(name), Vec::new()))
                .collect(),
            exports: elf.exports.iter().map(|e| text(&e.name)).collect(),
        },
        _ => Tables::default(),
    };
    (part.class.unwrap_or_default(), tables)
}

/// Both must be the same; what differs is told, not all of it.
fn same(path: &Path, ours: &Tables, theirs: &Tables) {
    let path = path.display();
    assert_eq!(ours.imports, theirs.imports, "{path}");
    let differs: Vec<&String> = ours.exports.symmetric_difference(&theirs.exports).collect();
    assert!(differs.is_empty(), "{path}: {differs:?}");
}

/// The output of a command that must succeed.
fn output(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What llvm-readobj prints of a PE image's tables.
fn readobj(path: &Path) -> Tables {
    let text = output(
        tool("llvm-readobj")
            .args(["--coff-imports", "--coff-exports"])
            .arg(path),
    );
    let (mut tables, mut number) = (Tables::default(), String::new());
    let mut last = None;
    let mut in_export = false;
    for line in text.lines().map(str::trim_start) {
        match line.split_once(": ").unwrap_or((line, "")) {
            ("Import {" | "DelayImport {", _) if line.starts_with('D') => {
                in_export = false;
                tables.imports.push((true, String::new(), Vec::new()));
            }
            ("Import {", _) => {
                in_export = false;
                // Each symbol of a delayed library stands in an Import of its own.
                if !tables.imports.last().is_some_and(|last| last.0) {
                    tables.imports.push((false, String::new(), Vec::new()));
                }
            }
            ("Export {", _) => in_export = true,
            ("Ordinal", value) if in_export => number = value.to_owned(),
            ("Name", value) if in_export => {
                let name = if value.is_empty() {
                    format!("#{number}")
                } else {
                    value.to_owned()
                };
                last = Some(name);
            }
            // A number whose address is 0 is used for nothing.
            ("RVA", "0x0") if in_export => last = None,
            ("RVA", _) | ("ForwardedTo", _) if in_export => tables.exports.extend(last.take()),
            ("Name", value) => tables.imports.last_mut().unwrap().1 = value.to_owned(),
            ("Symbol", value) => {
                let (name, rest) = value.rsplit_once('(').unwrap();
                let symbol = match name.trim() {
                    "" => format!("#{}", rest.trim_end_matches(')')),
                    name => name.to_owned(),
                };
                tables.imports.last_mut().unwrap().2.push(symbol);
            }
            _ => {}
        }
    }
    tables
}

#[test]
fn llvm_readobj_reads_the_same_imports_and_exports_of_every_image() {
    let (mut images, mut symbols, mut delayed, mut numbers) = (0, 0, 0, 0);
    for path in files("pe") {
        let (_, ours) = ours(&path);
        let theirs = readobj(&path);
        same(&path, &ours, &theirs);
        // Of the oracle's: a kind that is nowhere there was not compared.
        delayed += theirs
            .imports
            .iter()
            .filter(|(delayed, ..)| *delayed)
            .count();
        let names = theirs.imports.iter().flat_map(|(_, _, names)| names);
        numbers += names.filter(|name| name.starts_with('#')).count();
        images += 1;
        symbols += ours.exports.len();
        symbols += ours
            .imports
            .iter()
            .map(|(_, _, names)| names.len())
            .sum::<usize>();
    }
    println!("{images} images, {symbols} names and numbers");
    assert!(
        images > 40 && symbols > 16_000,
        "{images} images, {symbols} symbols"
    );
    assert!(
        delayed > 2 && numbers > 1_000,
        "{delayed} delayed libraries, {numbers} imports by number"
    );
}

#[test]
fn pefile_reads_the_same_machine_imports_and_exports_of_every_image() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpora/tables.py");
    let mut python = tool("pefile")
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let paths = files("pe");
    let list: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    let mut input = python.stdin.take().unwrap();
    input.write_all(list.join("\n").as_bytes()).unwrap();
    drop(input);
    let answer = python.wait_with_output().unwrap();
    assert!(answer.status.success());
    let answer = String::from_utf8(answer.stdout).unwrap();
    let (mut compared, mut whole) = (0, 0);
    let (mut traces, mut forwarders) = (0, 0);
    for (path, line) in paths.iter().zip(answer.lines()) {
        let (class, ours) = ours(path);
        let (machine, imports, exports, forwards, built): Answer =
            serde_json::from_str(line).unwrap();
        let part = &explain::file(path).unwrap().parts[0];
        let own = ["linker", "rich", "pdb", "build-id"];
        let of = |trace: &&String| own.contains(&trace.split(' ').next().unwrap());
        let ours_built: BTreeSet<&String> = part.built.iter().filter(of).collect();
        assert_eq!(ours_built, built.iter().collect(), "{}", path.display());
        traces += built.len();
        let Facts::Pe(pe) = &part.facts else {
            panic!("{}: no image", path.display())
        };
        let text = |name: &Name| String::from_utf8_lossy(name.bytes()).into_owned();
        let forwarded = pe.exports.iter().map(|e| (text(&e.name), text(&e.is)));
        let forwarded: BTreeMap<_, _> = forwarded
            .filter(|(_, is)| is != "code" && is != "data")
            .collect();
        if exports.is_some() {
            assert_eq!(forwarded, forwards, "{}", path.display());
        }
        forwarders += forwards.len();
        whole += usize::from(exports.is_some());
        let theirs = Tables {
            imports,
            exports: exports.unwrap_or_else(|| ours.exports.clone()),
        };
        same(path, &ours, &theirs);
        // pefile knows no hybrid images.
        if class != "ARM64X" {
            assert_eq!(class, coff::class(machine), "{}", path.display());
        }
        compared += 1;
    }
    assert_eq!(compared, paths.len());
    println!("{traces} traces, {forwarders} forwarded exports");
    assert!(
        compared > 40 && traces > 200,
        "{compared} images, {traces} traces"
    );
    assert_eq!(whole + 1, compared, "one exports more than pefile reads");
}

#[test]
fn llvm_readobj_reads_the_same_compilers_and_build_ids_of_every_elf_file() {
    let (mut comments, mut ids) = (0, 0);
    for path in files("elf") {
        let part = &explain::file(&path).unwrap().parts[0];
        let of = |kind: &str| -> BTreeSet<String> {
            let prefix = format!("{kind} ");
            let traces = part.built.iter();
            traces
                .filter_map(|trace| Some(trace.strip_prefix(&prefix)?.to_owned()))
                .collect()
        };
        let text = output(
            tool("llvm-readobj")
                .args(["--notes", "--string-dump=.comment"])
                .arg(&path),
        );
        let lines = || text.lines().map(str::trim);
        let id: BTreeSet<String> = lines()
            .filter_map(|line| Some(line.strip_prefix("Build ID: ")?.to_owned()))
            .collect();
        // `[     0] GCC: (Debian 14.2.0-19) 14.2.0`
        let comment: BTreeSet<String> = lines()
            .filter_map(|line| line.strip_prefix('[')?.split_once("] "))
            .filter(|(at, _)| u64::from_str_radix(at.trim(), 16).is_ok())
            .map(|(_, said)| said.trim().to_owned())
            .collect();
        assert_eq!(of("build-id"), id, "{}", path.display());
        assert_eq!(of("comment"), comment, "{}", path.display());
        ids += id.len();
        comments += comment.len();
    }
    println!("{comments} comments, {ids} digests");
    assert!(
        comments > 5 && ids > 3,
        "{comments} comments, {ids} digests"
    );
}

#[test]
fn llvm_reads_the_same_needed_libraries_and_exports_of_every_shared_object() {
    let mut compared = 0;
    for path in files("elf") {
        let (_, ours) = ours(&path);
        let needed = output(tool("llvm-readobj").arg("--needed-libs").arg(&path));
        let (_, needed) = needed.split_once("NeededLibraries [").unwrap_or_default();
        let mut needed: Vec<&str> = needed
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty() && *line != "]")
            .collect();
        needed.sort_unstable();
        let mut found: Vec<&str> = ours.imports.iter().map(|(_, name, _)| &name[..]).collect();
        found.sort_unstable();
        assert_eq!(found, needed, "{}", path.display());
        let list = output(
            tool("llvm-nm")
                .args(["-D", "--defined-only", "-P"])
                .arg(&path),
        );
        let defined: BTreeSet<String> = list
            .lines()
            // Of a lower-case kind are those that are for the library alone.
            .filter_map(|line| {
                let mut words = line.split(' ');
                let (name, kind) = (words.next()?, words.next()?);
                ("iuvw".contains(kind) || !kind.chars().all(char::is_lowercase)).then_some(name)
            })
            .map(|name| name.split('@').next().unwrap_or_default().to_owned())
            // The names of versions stand among the symbols.
            .filter(|name| {
                ours.exports.contains(name) || !list.contains(&format!("{name}@@{name} "))
            })
            .collect();
        assert_eq!(ours.exports, defined, "{}", path.display());
        compared += 1;
    }
    assert!(compared > 6, "{compared} shared objects");
}

/// The bytes of a section, where llvm-readobj says that it lies.
fn section(path: &Path, name: &str) -> Vec<u8> {
    let text = output(tool("llvm-readobj").arg("--sections").arg(path));
    let block = text
        .split("Section {")
        .find(|block| block.contains(&format!("Name: {name} ")))
        .unwrap();
    let value = |key: &str| -> usize {
        let line = block.lines().find_map(|line| line.trim().strip_prefix(key));
        let text = line.unwrap().trim();
        match text.strip_prefix("0x") {
            Some(hex) => usize::from_str_radix(hex, 16).unwrap(),
            None => text.parse().unwrap(),
        }
    };
    let (at, size) = (value("Offset:"), value("Size:"));
    fs::read(path).unwrap()[at..at + size].to_vec()
}

#[test]
fn llvm_readobj_reads_the_same_gpus_of_every_code_object_of_rocrand() {
    let root = corpora().join("debian/librocrand1");
    let library = super::files(&root)
        .into_iter()
        .find(|path| path.to_string_lossy().contains("librocrand.so"))
        .unwrap();
    let ask = json!({"wanted": [{"file": "**/librocrand.so*", "targets": ["gfx1100"]}]});
    let Value::Object(ask) = ask else { panic!() };
    let report = |ask: &Object| {
        let root = Root {
            path: root.clone(),
            label: Name::default(),
        };
        let row = gates::arch_table::row("linux/amd64").unwrap();
        Gate::named("gpu")
            .unwrap()
            .inspect(&row, &[root], ask)
            .unwrap()
    };
    let found = report(&ask);
    assert!(found.findings.is_empty(), "{:#?}", found.findings);

    // Every ELF file that begins in the section, by its bytes alone.
    let bytes = section(&library, ".hip_fatbin");
    let dir = tempfile::tempdir().unwrap();
    let mut theirs: BTreeMap<String, u64> = BTreeMap::new();
    let mut starts: Vec<usize> = Vec::new();
    for at in (0..bytes.len() - 4).filter(|at| &bytes[*at..at + 4] == b"\x7fELF") {
        starts.push(at);
    }
    for (index, start) in starts.iter().enumerate() {
        let file = dir.path().join("code");
        let end = starts.get(index + 1).copied().unwrap_or(bytes.len());
        fs::write(&file, &bytes[*start..end]).unwrap();
        let text = output(tool("llvm-readobj").arg("--file-header").arg(&file));
        assert!(text.contains("Machine: EM_AMDGPU"), "{text}");
        let flag = |start: &str| {
            let line = text
                .lines()
                .find_map(|line| line.trim().strip_prefix(start));
            line.map(|rest| {
                rest.split(' ')
                    .next()
                    .unwrap_or_default()
                    .to_ascii_lowercase()
            })
        };
        let mut gpu = flag("EF_AMDGPU_MACH_AMDGCN_").unwrap();
        for setting in ["SRAMECC", "XNACK"] {
            let state = flag(&format!("EF_AMDGPU_FEATURE_{setting}_"));
            match state.as_deref().and_then(|s| s.split('_').next()) {
                Some("on") => gpu += &format!(":{}+", setting.to_ascii_lowercase()),
                Some("off") => gpu += &format!(":{}-", setting.to_ascii_lowercase()),
                _ => {}
            }
        }
        *theirs.entry(gpu).or_default() += 1;
    }
    let item = found
        .items
        .iter()
        .find(|item| item.subject.to_string().contains("librocrand.so"))
        .unwrap();
    let ours: BTreeMap<String, u64> = item
        .classes
        .iter()
        .filter(|(word, _)| word.starts_with("gfx"))
        .map(|(gpu, count)| (gpu.clone(), *count))
        .collect();
    println!("{ours:?}");
    assert_eq!(ours, theirs);
    assert!(starts.len() > 5, "{} code objects", starts.len());
}

/// How often code for each GPU is in a file.
type Gpus = BTreeMap<String, u64>;

/// What cuobjdump lists: code as `name.sm_90a.cubin`, text for the driver as `name.sm_90.ptx`.
fn cuobjdump(path: &Path) -> Gpus {
    let mut gpus = Gpus::new();
    for (list, end, call) in [
        ("--list-elf", ".cubin", "sm_"),
        ("--list-ptx", ".ptx", "compute_"),
    ] {
        for line in output(tool("cuobjdump").arg(list).arg(path)).lines() {
            let Some(name) = line.strip_suffix(end) else {
                continue;
            };
            let (_, number) = name.rsplit_once(".sm_").unwrap();
            *gpus.entry(format!("{call}{number}")).or_default() += 1;
        }
    }
    gpus
}

#[test]
fn cuobjdump_lists_the_same_code_of_every_library_with_cuda() {
    if cfg!(not(target_arch = "x86_64")) {
        println!("not compared: there is no cuobjdump for this machine here");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (mut seen, mut compared) = (Vec::new(), 0);
    for wheel in super::files(&corpora().join("cuda/wheels")) {
        let to = dir.path().join(wheel.file_name().unwrap());
        let mut zip = zip::ZipArchive::new(fs::File::open(wheel).unwrap()).unwrap();
        zip.extract(&to).unwrap();
        for path in super::files(&to) {
            let mut file = explain::file(&path).unwrap();
            let name = path.display();
            assert!(file.problems.is_empty(), "{name}: {:?}", file.problems);
            let ours: Gpus = file.parts.remove(0).gpu;
            if ours.is_empty() {
                continue;
            }
            // It reads no images of Windows; the same library for Linux is the measure there.
            if path.extension().is_some_and(|end| end != "dll") {
                assert_eq!(ours, cuobjdump(&path), "{name}");
                compared += 1;
            }
            seen.push((path, ours));
        }
    }
    let of = |text: &str| {
        let found = seen
            .iter()
            .filter(|(p, _)| p.to_string_lossy().contains(text));
        let found: Vec<&Gpus> = found.map(|(_, gpus)| gpus).collect();
        assert_eq!(found.len(), 1, "{text}");
        found[0].clone()
    };
    let linux = of("libnvjpeg.so");
    assert_eq!(of("nvjpeg64_13.dll"), linux);
    assert!(linux.len() > 10, "{linux:?}");
    assert_eq!(compared, 2);
}
