//! Which parser lanegate stands on: `object` and `goblin` over the same files.
//!
//! ```text
//! cargo run --release -p gates --features fixtures --example parser_compare -- DIR...
//! ```
//!
//! The directories hold real files, wheels among them; `cargo xtask test --only corpora` fetches
//! some. Prints the tables of docs/decisions/0002-object-or-goblin.md.
#![allow(clippy::print_stdout, clippy::unwrap_used)] // a measurement, not the product

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gates::fixture::{self, AMD64, ARM64, ARM64EC};
use gates::format::{archive, bitcode, coff, elf, magic, pe};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectKind};

/// How many machines of which number (class, for lanegate) a reader found; imports besides.
#[derive(Default, PartialEq, Eq, Clone, Debug)]
struct Found {
    machines: BTreeMap<String, u64>,
    imports: u64,
}

impl Found {
    fn add(&mut self, machine: impl Into<String>) {
        *self.machines.entry(machine.into()).or_default() += 1;
    }
}

type Reader = fn(&[u8]) -> Result<Found, String>;

/// The readers that are compared: what lanegate does, and what each crate does by itself.
const READERS: [(&str, Reader); 4] = [
    ("lanegate", by_lanegate),
    ("object, machine", by_object),
    ("object, imports", by_object_with_imports),
    ("goblin", by_goblin),
];

fn by_lanegate(bytes: &[u8]) -> Result<Found, String> {
    let mut found = Found::default();
    let read = |bytes: &[u8]| {
        let class = match magic::sniff(&bytes[..bytes.len().min(64)], bytes.len() as u64) {
            magic::Magic::Pe => pe::read(bytes),
            magic::Magic::Elf => elf::read(bytes),
            magic::Magic::Coff => coff::read(bytes),
            magic::Magic::Import => coff::read_import(bytes),
            magic::Magic::Anonymous => coff::read_anonymous(bytes),
            magic::Magic::Bitcode => {
                let class = bitcode::read(bytes).map_err(|e| format!("{e:?}"))?;
                return class
                    .map(String::from)
                    .ok_or_else(|| "no triple".to_owned());
            }
            other => return Err(format!("{other:?}")),
        };
        class.map(String::from).map_err(|e| format!("{e:?}"))
    };
    if !bytes.starts_with(b"!<arch>\n") {
        found.add(read(bytes)?);
        return Ok(found);
    }
    let list = archive::read(bytes);
    if let Some(fault) = list.faults.first() {
        return Err(format!("{fault:?}"));
    }
    for member in list.members {
        let at = usize::try_from(member.offset).unwrap();
        found.add(read(
            &bytes[at..at + usize::try_from(member.size).unwrap()],
        )?);
    }
    Ok(found)
}

fn by_object(bytes: &[u8]) -> Result<Found, String> {
    object_read(bytes, false)
}

fn by_object_with_imports(bytes: &[u8]) -> Result<Found, String> {
    object_read(bytes, true)
}

fn object_read(bytes: &[u8], imports: bool) -> Result<Found, String> {
    let mut found = Found::default();
    let mut one = |bytes: &[u8]| -> Result<(), String> {
        if let Ok(import) = object::read::coff::ImportFile::parse(bytes) {
            found.add(format!("{:?}", import.architecture()));
            return Ok(());
        }
        let file = object::File::parse(bytes).map_err(|e| e.to_string())?;
        found.add(format!("{:?}", file.architecture()));
        if imports && file.kind() != ObjectKind::Relocatable {
            for import in file.imports().map_err(|e| e.to_string())? {
                import.map_err(|e| e.to_string())?;
                found.imports += 1;
            }
            for export in file.exports().map_err(|e| e.to_string())? {
                export.map_err(|e| e.to_string())?;
            }
        }
        Ok(())
    };
    match ArchiveFile::parse(bytes) {
        Ok(archive) => {
            for member in archive.members() {
                let member = member.map_err(|e| e.to_string())?;
                // object does not hide the tables that only some linkers know.
                if !member.name().starts_with(b"/") {
                    one(member.data(bytes).map_err(|e| e.to_string())?)?;
                }
            }
        }
        Err(_) => one(bytes)?,
    }
    Ok(found)
}

fn by_goblin(bytes: &[u8]) -> Result<Found, String> {
    let mut found = Found::default();
    let mut one = |bytes: &[u8]| -> Result<(), String> {
        match goblin::Object::parse(bytes).map_err(|e| e.to_string())? {
            goblin::Object::PE(pe) => {
                found.add(format!("{:#06x}", pe.header.coff_header.machine));
                found.imports += pe.imports.len() as u64;
            }
            goblin::Object::COFF(coff) => found.add(format!("{:#06x}", coff.header.machine)),
            goblin::Object::Elf(elf) => {
                found.add(elf.header.e_machine.to_string());
                found.imports += elf.dynsyms.iter().filter(|s| s.is_import()).count() as u64;
            }
            goblin::Object::Unknown(magic) => return Err(format!("unknown magic {magic:#x}")),
            other => return Err(format!("{other:?}").chars().take(40).collect()),
        }
        Ok(())
    };
    match goblin::archive::Archive::parse(bytes) {
        Ok(archive) => {
            for index in 0..archive.len() {
                let member = archive.get_at(index).ok_or("no such member")?;
                let (at, size) = (member.offset as usize, member.size());
                one(bytes
                    .get(at..at + size)
                    .ok_or("a member outside the archive")?)?;
            }
        }
        Err(error) if bytes.starts_with(b"!<") => return Err(error.to_string()),
        Err(_) => one(bytes)?,
    }
    Ok(found)
}

/// A reader's answer, its panics included.
fn ask(reader: Reader, bytes: &[u8]) -> (Result<Found, String>, Duration) {
    let start = Instant::now();
    let answer = catch_unwind(AssertUnwindSafe(|| reader(bytes)));
    (
        answer.unwrap_or_else(|_| Err("PANIC".to_owned())),
        start.elapsed(),
    )
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    let dirs: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    real(&dirs);
    special();
    broken();
}

/// Real files: what is read, what is refused, how fast.
fn real(dirs: &[PathBuf]) {
    let mut sets: BTreeMap<&str, Vec<(String, Vec<u8>)>> = BTreeMap::new();
    let mut take = |name: String, bytes: Vec<u8>| {
        let kind = match magic::sniff(&bytes[..bytes.len().min(4096)], bytes.len() as u64) {
            magic::Magic::Pe => "PE",
            magic::Magic::Elf => "ELF",
            magic::Magic::Archive => "archive",
            magic::Magic::Coff => "COFF object",
            _ => return,
        };
        sets.entry(kind).or_default().push((name, bytes));
    };
    for dir in dirs {
        collect(dir, &mut take);
    }
    println!("| files | MB | reader | read | refused | members | imports | ms |");
    println!("|---|---|---|---|---|---|---|---|");
    for (kind, files) in &sets {
        let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
        for (name, reader) in READERS {
            let (mut read, mut members, mut imports) = (0, 0, 0);
            let mut refused: BTreeMap<String, u64> = BTreeMap::new();
            let mut best = Duration::MAX;
            for _ in 0..5 {
                (read, members, imports) = (0, 0, 0);
                refused.clear();
                let start = Instant::now();
                for (_, bytes) in files {
                    match ask(reader, bytes).0 {
                        Ok(found) => {
                            read += 1;
                            members += found.machines.values().sum::<u64>();
                            imports += found.imports;
                        }
                        Err(why) => *refused.entry(why).or_default() += 1,
                    }
                }
                best = best.min(start.elapsed());
            }
            println!(
                "| {} {kind} | {:.1} | {name} | {read} | {} | {members} | {imports} | {:.1} |",
                files.len(),
                bytes as f64 / 1e6,
                refused.values().sum::<u64>(),
                best.as_secs_f64() * 1e3
            );
            for (why, count) in refused.iter().take(4) {
                println!("<!-- {count} x {why} -->");
            }
        }
    }
}

fn collect(path: &Path, take: &mut impl FnMut(String, Vec<u8>)) {
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    entries.sort();
    for path in entries {
        let meta = fs::symlink_metadata(&path).unwrap();
        if meta.is_dir() {
            collect(&path, take);
        } else if meta.is_file() {
            let bytes = fs::read(&path).unwrap();
            if !bytes.starts_with(b"PK\x03\x04") {
                take(path.display().to_string(), bytes);
                continue;
            }
            let mut zip = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
            for index in 0..zip.len() {
                let mut member = zip.by_index(index).unwrap();
                let mut bytes = Vec::new();
                member.read_to_end(&mut bytes).unwrap();
                take(
                    format!("{}!{}", path.display(), member.name().unwrap()),
                    bytes,
                );
            }
        }
    }
}

/// Forms that a real tree holds now and then.
fn special() {
    let object = fixture::coff(ARM64);
    let forms: [(&str, Vec<u8>); 9] = [
        ("COFF object", object.clone()),
        ("/bigobj object", fixture::bigobj(ARM64)),
        ("short import", fixture::import(ARM64, "f", "f.dll")),
        (
            "import library",
            fixture::import_library(ARM64, ARM64, &["f", "g"]),
        ),
        (
            "ARM64EC import library",
            fixture::import_library(ARM64, ARM64EC, &["f", "g"]),
        ),
        ("ARM64X image", fixture::hybrid_dll(ARM64)),
        ("ARM64EC image", fixture::hybrid_dll(AMD64)),
        (
            "bitcode",
            fixture::bitcode("aarch64-pc-windows-msvc", false),
        ),
        ("ELF for AMDGPU", fixture::elf(64, false, 224)),
    ];
    println!("\n| form | lanegate | object | goblin |");
    println!("|---|---|---|---|");
    for (form, bytes) in forms {
        let cell = |reader| match ask(reader, &bytes).0 {
            Ok(found) => found
                .machines
                .iter()
                .map(|(machine, count)| format!("{count} × {machine}"))
                .collect::<Vec<_>>()
                .join(", "),
            Err(why) => format!("refused: {why}"),
        };
        println!(
            "| {form} | {} | {} | {} |",
            cell(by_lanegate),
            cell(by_object),
            cell(by_goblin)
        );
    }
}

/// Cut and patched files: panics, the longest time, and cuts that are read as whole.
fn broken() {
    let object = fixture::coff(ARM64);
    let members: [(&str, &[u8]); 3] = [("a.obj", &object), ("b.obj", &object), ("c.obj", &object)];
    let wholes: [(&str, Vec<u8>); 6] = [
        ("DLL", fixture::dll(ARM64)),
        ("hybrid DLL", fixture::hybrid_dll(ARM64)),
        ("COFF object", object.clone()),
        ("/bigobj object", fixture::bigobj(ARM64)),
        ("archive", fixture::archive(&members)),
        ("ELF", fixture::elf(64, false, 183)),
    ];
    println!("\n| file | reader | cuts read as whole | patches | panics | longest, ms |");
    println!("|---|---|---|---|---|---|");
    for (form, whole) in &wholes {
        for (name, reader) in READERS {
            let (mut cuts, mut panics, mut patches) = (0, 0, 0);
            let mut longest = Duration::ZERO;
            let mut count = |answer: (Result<Found, String>, Duration)| {
                longest = longest.max(answer.1);
                panics += u64::from(matches!(&answer.0, Err(why) if why == "PANIC"));
                answer.0.is_ok_and(|found| !found.machines.is_empty())
            };
            for end in 0..whole.len() {
                cuts += u64::from(count(ask(reader, &whole[..end])));
            }
            for at in 0..whole.len() {
                for value in [0x00, 0x01, 0x7f, 0x80, 0xff] {
                    let mut patched = whole.clone();
                    patched[at] = value;
                    count(ask(reader, &patched));
                    patches += 1;
                }
            }
            println!(
                "| {form}, {} bytes | {name} | {cuts} | {patches} | {panics} | {:.2} |",
                whole.len(),
                longest.as_secs_f64() * 1e3
            );
        }
    }
}
