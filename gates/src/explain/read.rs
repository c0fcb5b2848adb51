//! Reads what there is to tell of a file, format by format.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use object::read::{ReadCache, ReadRef};

use super::{Archive, Certificate, Elf, Export, Import, Member, Part, Pe, Signed};
use crate::authenticode::chain::{Chain, Link};
use crate::authenticode::{self, Signature, layout};
use crate::exit::Failure;
use crate::format::dynamic::{self, Dynamic, Stack};
use crate::format::image::{self, Exports, Image, Symbol};
use crate::format::magic::{self, Magic};
use crate::format::maker;
use crate::format::{Fault, archive, device, machine, noun};
use crate::gate::gpu;
use crate::input::ReadSeek;
use crate::name::Name;
use crate::rule;
use crate::scan::{self, Entry, Visit};
use crate::seen::Seen;

/// Keeps everything of every file.
pub(super) struct Facts;

impl Visit for Facts {
    type Fact = Part;

    fn wants(&self, head: &[u8], size: u64, name: &[u8]) -> bool {
        magic::claims_binary(name)
            || magic::is_binary(magic::sniff(head, size))
            || device::is_device_file(head)
    }

    fn visit(&self, entry: &Entry<'_, '_>, part: &mut scan::Part<Part>) -> Result<(), Failure> {
        let told = Told {
            entry,
            seen: &mut part.seen,
        };
        part.facts.push(told.part());
        Ok(())
    }

    fn reads(&self, magic: Magic) -> bool {
        magic::is_binary(magic)
    }

    fn read(
        &self,
        name: &Name,
        bytes: &mut dyn ReadSeek,
        part: &mut scan::Part<Part>,
    ) -> Result<(), Failure> {
        // More traces than are kept is for the gate to say.
        let (prints, _) = maker::anywhere(bytes, |_| {})
            .map_err(|error| Failure::io(&name.to_string(), &error))?;
        if let Some(part) = part.facts.last_mut() {
            if let super::Facts::Pe(pe) = &mut part.facts {
                pe.signatures =
                    signatures(bytes).map_err(|error| Failure::io(&name.to_string(), &error))?;
            }
            let prints = prints.iter().map(ToString::to_string);
            let mut built: BTreeSet<String> = prints.collect();
            built.extend(std::mem::take(&mut part.built));
            part.built = built.into_iter().collect();
        }
        Ok(())
    }
}

/// One file that is read.
struct Told<'t, 'e, 'a> {
    entry: &'t Entry<'e, 'a>,
    seen: &'t mut Seen,
}

impl Told<'_, '_, '_> {
    fn part(mut self) -> Part {
        let (magic, data) = (self.entry.magic, self.entry.whole());
        let before = self.seen.findings.len();
        let (mut class, mut facts) = (None, super::Facts::None {});
        let mut prints = BTreeSet::new();
        match magic {
            Magic::Pe => {
                if let Some(image) = self.good(Image::open(data)) {
                    class = Some(image.class.to_string());
                    facts = super::Facts::Pe(self.pe(&image));
                    prints = self.good(maker::of_image(data)).unwrap_or_default();
                }
            }
            Magic::Elf => {
                if let Some(file) = self.good(dynamic::read(data)) {
                    class = Some(file.class.to_string());
                    facts = super::Facts::Elf(Box::new(self.elf(&file)));
                    prints = self.good(maker::of_elf(data)).unwrap_or_default();
                }
            }
            Magic::Archive => facts = super::Facts::Archive(self.archive()),
            Magic::Coff | Magic::Anonymous | Magic::Import | Magic::Bitcode | Magic::MachO => {
                let read = self.good(machine(magic, data)).flatten();
                class = read.map(|class| class.to_string());
            }
            Magic::ThinArchive | Magic::Zip | Magic::LinkerScript | Magic::Empty | Magic::Other => {
            }
        }
        if self.entry.claims && !magic::is_binary(magic) && magic != Magic::LinkerScript {
            let why = "the name says binary, the content is something else";
            self.seen.wrong(rule::DAMAGED, self.entry.name, why);
        }
        // What cannot be read is told once.
        let pieces = match self.seen.findings.len() == before {
            true => gpu::told(&device::look(self.entry, false), self.entry.name, self.seen),
            false => BTreeMap::new(),
        };
        Part {
            gpu: pieces
                .iter()
                .map(|(target, count)| (target.to_string(), *count))
                .collect(),
            built: prints.iter().map(ToString::to_string).collect(),
            bytes: self.entry.len,
            class,
            format: format(magic),
            name: self.entry.name.clone(),
            facts,
        }
    }

    /// What was read; a fault becomes a problem.
    fn good<T>(&mut self, read: Result<T, Fault>) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(fault) => {
                let what = noun(self.entry.magic);
                self.seen
                    .fault(rule::DAMAGED, self.entry.name, what, &fault);
                None
            }
        }
    }

    fn pe<'d, R: ReadRef<'d>>(&mut self, image: &Image<'d, R>) -> Pe {
        let header = image.header;
        let imports = self.good(image.imports()).unwrap_or_default();
        let exports = self.good(image.exports()).unwrap_or_default();
        let import = |import: &image::Import| Import {
            delayed: import.delayed,
            library: Name::new(&import.dll[..]),
            symbols: import.symbols.iter().map(symbol).collect(),
        };
        Pe {
            kind: if header.dll { "DLL" } else { "program" },
            // Told when the image is read as a whole.
            signatures: Vec::new(),
            subsystem: subsystem(header.subsystem),
            imports: imports.iter().map(import).collect(),
            exports_as: Name::new(&exports.dll[..]),
            exports: exported(image, &exports),
        }
    }

    fn elf(&mut self, file: &Dynamic) -> Elf {
        const OBJECT: u16 = 1;
        let defined = match file.kind {
            OBJECT => Vec::new(),
            _ => self
                .good(dynamic::defined(self.entry.whole()))
                .unwrap_or_default(),
        };
        let names = |list: &[dynamic::Text]| list.iter().map(|text| Name::new(&text[..])).collect();
        let name = |text: &Option<dynamic::Text>| text.as_deref().map(Name::new);
        Elf {
            kind: match file.kind {
                OBJECT => "object",
                _ if file.is_program() => "program",
                _ => "library",
            },
            interpreter: name(&file.interpreter),
            soname: name(&file.soname),
            needed: names(&file.needed),
            rpath: names(&file.rpath),
            runpath: names(&file.runpath),
            stack: match file.stack {
                Stack::Data => "data",
                Stack::Executable => "executable",
                Stack::Unsaid => "unsaid",
            },
            needs: file
                .needs
                .iter()
                .map(|(library, version)| Name::new([&library[..], b" ", version].concat()))
                .collect(),
            defines: names(&file.defines),
            exports: defined
                .iter()
                // The names of versions stand among the symbols too.
                .filter(|symbol| !file.defines.contains(&symbol.name))
                .map(|symbol| Export {
                    is: Name::from(if matches!(symbol.kind, 2 | 10) {
                        "code"
                    } else {
                        "data"
                    }),
                    name: Name::new(&symbol.name[..]),
                })
                .collect(),
        }
    }

    fn archive(&mut self) -> Archive {
        let list = archive::read(self.entry.whole());
        for fault in &list.faults {
            self.seen
                .fault(rule::DAMAGED, self.entry.name, "archive", fault);
        }
        let member = |member: &archive::Member<'_>| {
            let window = self.entry.cache.range(member.offset, member.size);
            let head = window
                .read_bytes_at(0, member.size.min(64))
                .unwrap_or_default();
            let kind = magic::sniff(head, member.size);
            let class = match kind {
                Magic::Empty
                | Magic::Other
                | Magic::Zip
                | Magic::LinkerScript
                | Magic::Archive
                | Magic::ThinArchive => None,
                kind => machine(kind, window).unwrap_or_else(|fault| {
                    let subject = self.entry.name.archive_member(member.name);
                    self.seen.fault(rule::DAMAGED, &subject, noun(kind), &fault);
                    None
                }),
            };
            Member {
                bytes: member.size,
                class: class.map(|class| class.to_string()),
                format: format(kind),
                name: Name::new(member.name),
            }
        };
        Archive {
            members: list.members.iter().map(member).collect(),
            native_symbols: list.native_symbols,
        }
    }
}

/// The signatures on an image.
///
/// # Errors
/// An I/O error.
fn signatures(image: &mut dyn ReadSeek) -> io::Result<Vec<Signed>> {
    let none = |problem: String| Signed {
        chain: Vec::new(),
        of_these_bytes: false,
        problem: Some(problem),
    };
    let found = layout::read(&ReadCache::new(&mut *image));
    let (layout, messages) = match found {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(Vec::new()),
        Err(fault) => return Ok(vec![none(fault.to_string())]),
    };
    let (mut signatures, mut all) = (Vec::new(), Vec::new());
    for der in messages {
        if let Err(broken) = Signature::read(&der, &mut signatures) {
            all.push(none(broken.to_string()));
        }
    }
    authenticode::compare(&layout, image, &mut signatures)?;
    all.extend(signatures.iter().map(signed));
    Ok(all)
}

fn signed(signature: &Signature) -> Signed {
    let of_these_bytes = signature.is_right();
    let (links, broken) = match &signature.chain {
        Ok(Chain(links)) => (links.as_slice(), None),
        Err(broken) => (&[][..], Some(broken.to_string())),
    };
    let certificate = |link: &Link| Certificate {
        certificate: link.thumbprint.clone(),
        subject: link.subject.clone(),
    };
    let other = (signature.hash.is_some() && !of_these_bytes)
        .then(|| "its bytes are not those that were signed".to_owned());
    Signed {
        chain: links.iter().map(certificate).collect(),
        of_these_bytes,
        problem: broken.or(other),
    }
}

/// Everything that an image exports: by name in the file's order, then what has a number only.
fn exported<'d, R: ReadRef<'d>>(image: &Image<'d, R>, exports: &Exports) -> Vec<Export> {
    let is = |symbol: &Symbol<'_>| match exports.find(symbol) {
        Some(image::Export::Forward(text)) => Name::new(text),
        Some(image::Export::Here(address)) if image.is_code(address) => Name::from("code"),
        Some(image::Export::Here(_)) => Name::from("data"),
        None => Name::from("nothing"),
    };
    let mut named = vec![false; exports.addresses.len()];
    let mut all = Vec::new();
    for (name, place) in exports.names() {
        if let Some(seen) = usize::try_from(place).ok().and_then(|at| named.get_mut(at)) {
            *seen = true;
        }
        all.push(Export {
            is: is(&Symbol::Name(name)),
            name: Name::new(name),
        });
    }
    let numbers = (exports.base..).zip(exports.addresses.iter().zip(named));
    for (number, _) in numbers.filter(|(_, (address, named))| **address != 0 && !named) {
        let Ok(number) = u16::try_from(number) else {
            break;
        };
        let ordinal = Symbol::Ordinal(number);
        all.push(Export {
            is: is(&ordinal),
            name: symbol(ordinal),
        });
    }
    all
}

fn symbol(symbol: Symbol<'_>) -> Name {
    match symbol {
        Symbol::Name(name) => Name::new(name),
        Symbol::Ordinal(number) => Name::from(format!("#{number}").as_str()),
    }
}

/// What a format is called.
const fn format(kind: Magic) -> &'static str {
    match kind {
        Magic::Empty => "empty file",
        Magic::ThinArchive => "thin archive",
        Magic::LinkerScript => "linker script",
        Magic::MachO => "Mach-O file",
        Magic::Other => "no binary",
        kind => noun(kind),
    }
}

/// The words for IMAGE_SUBSYSTEM_*, as the PE format's document has them.
fn subsystem(number: u16) -> String {
    let word = match number {
        1 => "native Windows",
        2 => "Windows",
        3 => "Windows console",
        9 => "Windows CE",
        10 => "EFI application",
        11 => "EFI boot driver",
        12 => "EFI run-time driver",
        13 => "EFI ROM",
        14 => "Xbox",
        16 => "Windows boot",
        other => return format!("subsystem {other}"),
    };
    word.to_owned()
}
