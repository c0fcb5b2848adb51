//! The gate `arch`: every binary of a tree is for the target's machine.
//!
//! Files are judged by content. An extension only matters in one direction: what is called a
//! library and is none is a finding. Everything wrong is collected; nothing stops at the first.

use std::collections::BTreeMap;

use object::read::ReadRef as _;

use super::{Check, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::format::magic::{self, Magic};
use crate::format::{Class, Machine, archive, is_device, machine, noun};
use crate::name::Name;
use crate::report::Item;
use crate::rule::Rule;
use crate::scan::{self, Entry, Part, Visit};
use crate::seen::Seen;
use crate::walk::Root;

/// The gate.
pub struct Arch;

impl Check for Arch {
    const NAME: &'static str = "arch";
    const ABOUT: &'static str = "every binary is for the target's machine";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] = &[
        "archive",
        "archive-members",
        "bitcode",
        "coff",
        "elf",
        "import",
        "mach-o",
        "pe",
        "zip-members",
    ];
    const RULES: &'static [Rule] = &[
        MACHINE, MEMBER, NO_BINARY, EMPTY, DAMAGED, BITCODE, EC_ONLY, THIN, ZIP,
    ];
    type Ask = NoKeys;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], _: &NoKeys) -> Result<Seen, Failure> {
        Ok(scan::tree(roots, &Machines { row })?.part.seen)
    }

    fn count(what: &str, item: &Item) -> u64 {
        match what {
            "archive-members" if item.kind == "archive" => {
                item.classes.values().copied().fold(0, u64::saturating_add)
            }
            "zip-members" => item.subject.bytes().contains(&b'!').into(),
            kind => u64::from(item.kind == kind),
        }
    }
}

const MACHINE: Rule = Rule::new("ARCH001", "built for another machine");
const MEMBER: Rule = Rule::new("ARCH002", "a member of an archive for another machine");
const NO_BINARY: Rule = Rule::new("ARCH003", "called a binary, and something else");
const EMPTY: Rule = Rule::new("ARCH004", "an empty file with a binary's name");
const DAMAGED: Rule = Rule::new("ARCH005", "cut or damaged");
const BITCODE: Rule = Rule::new(
    "ARCH006",
    "bitcode that does not say which machine it is for",
);
const EC_ONLY: Rule = Rule::new("ARCH007", "a library for ARM64EC callers only");
const THIN: Rule = Rule::new("ARCH008", "a thin archive");
const ZIP: Rule = Rule::new("ARCH009", "a zip whose parts disagree");

/// Judges the machine of each file.
struct Machines<'r> {
    row: &'r Row,
}

impl Visit for Machines<'_> {
    type Fact = ();
    const DAMAGED: Rule = DAMAGED;
    const ZIP: Rule = ZIP;

    fn wants(&self, head: &[u8], size: u64, name: &[u8]) -> bool {
        magic::claims_binary(name) || magic::is_binary(magic::sniff(head, size))
    }

    fn visit(&self, entry: &Entry<'_, '_>, part: &mut Part<()>) -> Result<(), Failure> {
        let (name, claims, seen) = (entry.name, entry.claims, &mut part.seen);
        match entry.magic {
            Magic::Empty if claims => {
                seen.counts.unreadable += 1;
                let why = "an empty file with a binary's name";
                seen.finding(EMPTY, name, "", "", why);
            }
            Magic::LinkerScript if magic::may_be_script(name.bytes()) => {
                seen.counts.linker_scripts += 1;
            }
            Magic::Other | Magic::Zip | Magic::LinkerScript if claims => {
                seen.counts.unreadable += 1;
                let why = "the name says binary, the content is something else";
                seen.finding(NO_BINARY, name, "", "", why);
            }
            Magic::Empty | Magic::Other | Magic::Zip | Magic::LinkerScript => {
                seen.counts.other += 1;
            }
            Magic::ThinArchive => {
                seen.counts.unreadable += 1;
                let why = "a thin archive: its members lie elsewhere";
                seen.finding(THIN, name, "", "", why);
            }
            Magic::Archive => self.archive(entry, seen),
            kind => {
                let machine = machine(kind, entry.whole());
                // Four zero bytes and ones are a weak magic: anything may begin so.
                let weak = matches!(kind, Magic::Import | Magic::Anonymous);
                if weak && machine.is_err() && !claims {
                    seen.counts.other += 1;
                } else {
                    self.single(name, kind, machine, seen);
                }
            }
        }
        Ok(())
    }
}

impl Machines<'_> {
    /// A file that is for one machine.
    fn single(&self, name: &Name, kind: Magic, machine: Machine, seen: &mut Seen) {
        let word = kind_word(kind);
        match machine {
            Err(fault) => seen.fault(DAMAGED, name, noun(kind), &fault),
            Ok(Some(class)) if is_device(&class) => {
                seen.counts.device += 1;
                *seen.counts.by_class.entry(class.into()).or_default() += 1;
            }
            Ok(class) => {
                self.judge(name, class.as_deref(), None, seen);
                let class = class.unwrap_or("unknown bitcode".into());
                seen.item(name, word, BTreeMap::from([(class.into(), 1)]));
            }
        }
    }

    /// Writes a finding when the class is not the target's. `share` is how many members of how
    /// many of an archive have that class.
    fn judge(
        &self,
        subject: &Name,
        class: Option<&str>,
        share: Option<(u64, u64)>,
        seen: &mut Seen,
    ) {
        let expected = self.row.expected();
        let Some(class) = class else {
            let why = "bitcode that does not say which machine it is for".to_owned();
            return seen.finding(BITCODE, subject, "unknown", &expected, why);
        };
        if self.row.accepts(class) {
            return;
        }
        let target = self.row.target();
        match share {
            None => {
                let why = format!("built for another machine than {target}");
                seen.finding(MACHINE, subject, class, &expected, why);
            }
            Some((count, of)) => {
                let why = format!("{count} of {of} members are for another machine than {target}");
                seen.finding(MEMBER, subject, class, &expected, why);
            }
        }
    }

    fn archive(&self, entry: &Entry<'_, '_>, seen: &mut Seen) {
        let (name, cache) = (entry.name, entry.cache);
        let list = archive::read(entry.whole());
        for fault in &list.faults {
            seen.fault(DAMAGED, name, "archive", fault);
        }
        // By class: how many, and the first of them by name.
        let mut classes: BTreeMap<Option<Class>, (u64, &[u8])> = BTreeMap::new();
        let mut strangers: (u64, &[u8]) = (0, &[]);
        let mut readable = false;
        for member in &list.members {
            let window = cache.range(member.offset, member.size);
            let head = window
                .read_bytes_at(0, member.size.min(64))
                .unwrap_or_default();
            let kind = magic::sniff(head, member.size);
            let machine = match kind {
                Magic::Pe
                | Magic::Elf
                | Magic::Coff
                | Magic::Import
                | Magic::Anonymous
                | Magic::Bitcode
                | Magic::MachO => machine(kind, window),
                _ if magic::claims_binary(member.name) => {
                    if strangers.0 == 0 {
                        strangers.1 = member.name;
                    }
                    strangers.0 += 1;
                    continue;
                }
                _ => {
                    seen.counts.other += 1;
                    continue;
                }
            };
            readable = true;
            match machine {
                Err(fault) => {
                    let subject = name.archive_member(member.name);
                    seen.fault(DAMAGED, &subject, noun(kind), &fault);
                }
                Ok(Some(class)) if is_device(&class) => seen.counts.device += 1,
                Ok(class) => classes.entry(class).or_insert((0, member.name)).0 += 1,
            }
        }
        if strangers.0 > 0 {
            seen.counts.unreadable += strangers.0;
            let subject = name.archive_member(strangers.1);
            let why = format!(
                "{} of {} members are called binaries and are something else",
                strangers.0,
                list.members.len()
            );
            seen.finding(NO_BINARY, &subject, "", "", why);
        }
        // An archive without any member exists, as a stand-in for a library that moved.
        if entry.claims && !readable && strangers.0 == 0 && !list.members.is_empty() {
            seen.counts.unreadable += 1;
            let why = "a library without a member that could be linked".to_owned();
            seen.finding(NO_BINARY, name, "", "", why);
        }
        let total: u64 = classes.values().map(|(count, _)| count).sum();
        for (class, (count, first)) in &classes {
            let subject = name.archive_member(first);
            self.judge(&subject, class.as_deref(), Some((*count, total)), seen);
        }
        let ec = classes.contains_key(&Some("ARM64EC".into()));
        if ec && !list.native_symbols && self.row.accepts("ARM64EC") {
            let why = "every symbol is for ARM64EC callers; a native program cannot link this";
            seen.finding(EC_ONLY, name, "ARM64EC", "ARM64", why.to_owned());
        }
        if total > 0 {
            seen.counts.archive_members += total;
            let classes = classes
                .into_iter()
                .map(|(class, (count, _))| {
                    (class.unwrap_or("unknown bitcode".into()).into(), count)
                })
                .collect();
            seen.item(name, "archive", classes);
        }
    }
}

/// The word that reports have for a kind.
fn kind_word(kind: Magic) -> &'static str {
    match kind {
        Magic::Pe => "pe",
        Magic::Elf => "elf",
        Magic::Coff | Magic::Anonymous => "coff",
        Magic::Import => "import",
        Magic::Bitcode => "bitcode",
        Magic::MachO => "mach-o",
        Magic::Archive | Magic::ThinArchive => "archive",
        Magic::Zip => "zip",
        Magic::Empty | Magic::LinkerScript | Magic::Other => "file",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{self, Read, Seek, SeekFrom};

    fn row() -> Row {
        crate::arch_table::row("windows/arm64").unwrap()
    }

    /// A disk that gives the first bytes of a file and fails behind them.
    struct BadDisk {
        bytes: Vec<u8>,
        good: u64,
        at: u64,
    }

    impl Read for BadDisk {
        fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
            let end = self
                .bytes
                .len()
                .min(usize::try_from(self.at).unwrap() + buf.len());
            let from = &self.bytes[usize::try_from(self.at).unwrap()..end];
            if self.at + from.len() as u64 > self.good {
                return Err(io::Error::other("bad sector"));
            }
            buf[..from.len()].copy_from_slice(from);
            self.at += from.len() as u64;
            Ok(from.len())
        }
    }

    impl Seek for BadDisk {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.at = match to {
                SeekFrom::Start(at) => at,
                SeekFrom::End(by) => (self.bytes.len() as u64).saturating_add_signed(by),
                SeekFrom::Current(by) => self.at.saturating_add_signed(by),
            };
            Ok(self.at)
        }
    }

    #[test]
    fn an_io_error_in_the_middle_is_never_a_verdict() {
        use crate::fixture;
        let mut long = fixture::coff(0xaa64);
        long.resize(8192, 0);
        let dll = fixture::hybrid_dll(0xaa64);
        for bytes in [
            fixture::archive(&[("a.obj", &long), ("b.obj", &long)]),
            fixture::zip(&[("m.pyd", &dll), ("n.pyd", &dll)]).unwrap(),
            dll,
        ] {
            let len = bytes.len() as u64;
            let run = |good| {
                let row = row();
                let name = Name::from("x.bin");
                let machines = Machines { row: &row };
                let disk = BadDisk {
                    bytes: bytes.clone(),
                    good,
                    at: 0,
                };
                let mut part = Part::default();
                let end = scan::one(&machines, &name, Box::new(disk), &mut part);
                (end.is_ok(), part.seen.findings.is_empty())
            };
            assert_eq!(run(len), (true, true));
            for good in (0..len).step_by(61) {
                let (verdict, clean) = run(good);
                assert!(
                    !verdict || clean,
                    "a finding that the disk made, good to {good}"
                );
            }
            assert!(!run(len / 2).0 || !run(100).0, "the disk was read at all");
        }
    }
}
