//! Everything that the gates see in one file, without a target and without a verdict.
//!
//! [`file`] reads, [`text`] is what people see; as JSON it is the report form `gate-explain/1`.

mod read;
mod text;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::exit::{Failure, guard};
use crate::gate::wheel;
use crate::input::Blocks;
use crate::name::{Name, hex};
use crate::python::filename::WheelName;
use crate::python::metadata::Headers;
use crate::python::wheel::{Contents, is_info};
use crate::report::Finding;
use crate::scan;
use crate::seen::Seen;

pub use text::text;

/// What `schema` is in the JSON form.
pub const SCHEMA: &str = "gate-explain/1";

/// One file, and every binary in it when it is a zip.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Explained {
    /// Its size in bytes.
    pub bytes: u64,
    /// Its name as it was given.
    pub file: Name,
    /// Whether it is looked into rather than at: a zip.
    pub container: bool,
    /// Members of a zip that are no binaries.
    pub others: u64,
    /// The file itself; of a zip, its binaries.
    pub parts: Vec<Part>,
    /// What cannot be read or contradicts itself.
    pub problems: Vec<Finding>,
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Digest of its bytes, in hex.
    pub sha256: String,
    /// What it is as a wheel, when it is called one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wheel: Option<Wheel>,
}

/// A file that is looked at.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Part {
    /// Its size in bytes.
    pub bytes: u64,
    /// The machine class, when its format has one and can be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What its content says that it is.
    pub format: &'static str,
    /// Code for GPUs in it, as the gate `gpu` sees it: how many pieces for each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub gpu: BTreeMap<String, u64>,
    /// Traces of who built it, as the gate `census` sees them.
    pub built: Vec<String>,
    /// Its name.
    pub name: Name,
    /// What its format has besides.
    #[serde(flatten)]
    pub facts: Facts,
}

/// What there is to tell of a file of each format.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Facts {
    /// A PE image.
    Pe(Pe),
    /// An ELF program or shared object.
    Elf(Box<Elf>),
    /// A static or import library.
    Archive(Archive),
    /// Nothing more than its format and machine.
    #[serde(untagged)]
    None {},
}

/// What a PE image says.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Pe {
    /// `DLL` or `program`.
    pub kind: &'static str,
    /// Its signatures, as the gate `signed` sees them.
    pub signatures: Vec<Signed>,
    /// Whom it runs under: `Windows`, `Windows console`, `EFI application`.
    pub subsystem: String,
    /// What it imports, at load first.
    pub imports: Vec<Import>,
    /// The name that it exports under.
    pub exports_as: Name,
    /// What it exports.
    pub exports: Vec<Export>,
}

/// A signature on an image.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Signed {
    /// The signer's certificate, and those that vouch for it.
    pub chain: Vec<Certificate>,
    /// Whether it is about the image's bytes.
    pub of_these_bytes: bool,
    /// Why it does not hold or cannot be checked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A certificate.
#[derive(Debug, Serialize)]
pub struct Certificate {
    /// The SHA-256 of it, in hex.
    pub certificate: String,
    /// Whose key it has.
    pub subject: String,
}

/// What is imported from one library.
#[derive(Debug, Serialize)]
pub struct Import {
    /// Loaded at the first call only.
    pub delayed: bool,
    /// The library.
    pub library: Name,
    /// Names, and numbers as `#7`.
    pub symbols: Vec<Name>,
}

/// Something exported.
#[derive(Debug, Serialize)]
pub struct Export {
    /// `code`, `data`, or where it is forwarded to: `OTHER.name`.
    pub is: Name,
    /// Its name; a number as `#7`.
    pub name: Name,
}

/// What an ELF program or shared object says.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Elf {
    /// `program`, `library` or `object`.
    pub kind: &'static str,
    /// The loader that it asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<Name>,
    /// The name that it has for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub soname: Option<Name>,
    /// Libraries that it needs.
    pub needed: Vec<Name>,
    /// DT_RPATH.
    pub rpath: Vec<Name>,
    /// DT_RUNPATH.
    pub runpath: Vec<Name>,
    /// `data`, `executable`, or `unsaid`.
    pub stack: &'static str,
    /// Versions that it needs, as `libc.so.6 GLIBC_2.34`.
    pub needs: Vec<Name>,
    /// Versions that it defines.
    pub defines: Vec<Name>,
    /// What it defines for others.
    pub exports: Vec<Export>,
}

/// What a static or import library holds.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Archive {
    /// Its members, tables aside.
    pub members: Vec<Member>,
    /// Whether a native program finds a symbol in its index.
    pub native_symbols: bool,
}

/// A member of a library.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Member {
    /// Its size in bytes.
    pub bytes: u64,
    /// Its machine class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// What its content says that it is.
    pub format: &'static str,
    /// Its name.
    pub name: Name,
}

/// What a wheel says of itself.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Wheel {
    /// The distribution, by its file name.
    pub distribution: String,
    /// Its version.
    pub version: String,
    /// The tags of its file name.
    pub tags: Vec<String>,
    /// The tags in WHEEL.
    pub tags_inside: Vec<String>,
    /// `Root-Is-Purelib`.
    pub purelib: String,
    /// `Requires-Python`.
    pub requires_python: String,
    /// `Requires-Dist`.
    pub requires: Vec<String>,
}

/// Reads a file.
///
/// # Errors
/// [`Failure::Usage`] when it is a directory, [`Failure::Unreadable`] when it cannot be read.
pub fn file(path: &Path) -> Result<Explained, Failure> {
    let name = Name::new(path.as_os_str().as_encoded_bytes());
    let io = |e: io::Error| Failure::io(&name.to_string(), &e);
    if path.is_dir() {
        return Err(Failure::Usage(format!(
            "{name} is a directory: explain looks at one file, `lanegate GATE --root` at a tree"
        )));
    }
    let (sha256, bytes) = digest(path).map_err(io)?;
    let mut part = scan::Part::default();
    let blocks = File::open(path).and_then(Blocks::new).map_err(io)?;
    guard(&name.to_string(), || {
        scan::one(&read::Facts, &name, Box::new(blocks), &mut part)
    })?;
    let container = !part.facts.iter().any(|fact| fact.name == name);
    let called = name.bytes().ends_with(b".whl");
    if called && !container {
        part.seen
            .wrong(wheel::ZIP, &name, "called a wheel, and no zip");
    }
    let wheel = match called && container {
        true => wheel_of(path, &name, &mut part.seen)?,
        false => None,
    };
    part.seen.sort();
    Ok(Explained {
        bytes,
        file: name,
        container,
        others: part.seen.counts.other,
        parts: part.facts,
        problems: part.seen.findings,
        schema: SCHEMA,
        sha256,
        wheel,
    })
}

/// Digest and size of a file, which may be larger than memory.
fn digest(path: &Path) -> io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let (mut hash, mut size) = (Sha256::new(), 0);
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok((hex(&hash.finalize()), size)),
            Ok(read) => {
                hash.update(&piece[..read]);
                size += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// What a wheel says of itself; nothing when its name is none of a wheel.
fn wheel_of(path: &Path, name: &Name, seen: &mut Seen) -> Result<Option<Wheel>, Failure> {
    let base = String::from_utf8_lossy(crate::loader::base(name.bytes())).into_owned();
    let parsed = match WheelName::parse(&base) {
        Ok(parsed) => parsed,
        Err(why) => {
            seen.wrong(wheel::NAME, name, format!("no name of a wheel: {why}"));
            return Ok(None);
        }
    };
    // What is wrong with the zip has been told already.
    let contents = Contents::read(path, name, is_info, |_, _| {})?;
    let info = contents.dist_infos().first().cloned().unwrap_or_default();
    let headers = |file: &str| {
        let member = contents.member(&format!("{info}/{file}"));
        member.map(Headers::read).unwrap_or_default()
    };
    let (metadata, inside) = (headers("METADATA"), headers("WHEEL"));
    let list = |headers: &Headers, key| headers.all(key).map(str::to_owned).collect();
    let one = |headers: &Headers, key| headers.first(key).unwrap_or_default().to_owned();
    Ok(Some(Wheel {
        distribution: parsed.dist.clone(),
        version: parsed.version.to_string(),
        tags: parsed.tags().iter().map(ToString::to_string).collect(),
        tags_inside: list(&inside, "Tag"),
        purelib: one(&inside, "Root-Is-Purelib"),
        requires_python: one(&metadata, "Requires-Python"),
        requires: list(&metadata, "Requires-Dist"),
    }))
}
