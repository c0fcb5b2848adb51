//! The gate `data`: exported data has the bytes that it must have.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Check, Keys, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::format::exported::{Export, Exported};
use crate::glob::Glob;
use crate::name::{Name, hex};
use crate::rule::{self, Rule};
use crate::scan::{self, Entry, Part, Visit};
use crate::seen::Seen;
use crate::walk::Root;

const MISSING: Rule = Rule::new("DAT001", "data that is not exported");
const OTHER: Rule = Rule::new("DAT002", "exported data with other bytes than it must have");
const NO_DATA: Rule = Rule::new("DAT003", "an export that is no data");
const UNUSED: Rule = Rule::new("DAT004", "an expectation of a file that is not there");

/// The gate.
pub struct Data;

impl Check for Data {
    const NAME: &'static str = "data";
    const ABOUT: &'static str = "exported data has the bytes that it must have";
    const VERSION: u32 = 2;
    const COUNTS: &'static [&'static str] = &["bytes", "symbols"];
    const RULES: &'static [Rule] = &[MISSING, OTHER, NO_DATA, UNUSED];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(row: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let fold = row.folds_case();
        let files = Files {
            expect: ask
                .expect
                .iter()
                .map(|e| (Glob::new(&e.file, fold), e))
                .collect(),
        };
        let Part { mut seen, facts } = scan::tree(roots, &files)?.part;
        let met: BTreeSet<usize> = facts.into_iter().collect();
        for (index, expect) in ask.expect.iter().enumerate() {
            if !met.contains(&index) {
                let why = format!("no program or library has this name ({})", expect.symbol);
                seen.wrong(UNUSED, &Name::from(expect.file.as_str()), why);
            }
        }
        Ok(seen)
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// What must be there.
    pub expect: Vec<Expect>,
}

/// The bytes that an exported name must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Expect {
    /// Where in the data they begin.
    #[serde(default)]
    pub at: u32,
    /// The bytes, in hex; white space between them does not count.
    pub bytes: String,
    /// A glob over files; each that matches must have them.
    pub file: String,
    /// The exported name.
    pub symbol: String,
    /// The reason.
    pub why: String,
}

impl Expect {
    /// The bytes; nothing when `bytes` is no hex.
    fn wanted(&self) -> Option<Vec<u8>> {
        let digit = |d: u8| char::from(d).to_digit(16).map(|d| d as u8);
        let mut out = Vec::new();
        for word in self.bytes.split_ascii_whitespace() {
            let (pairs, []) = word.as_bytes().as_chunks::<2>() else {
                return None;
            };
            for [high, low] in pairs {
                out.push(digit(*high)? << 4 | digit(*low)?);
            }
        }
        (!out.is_empty()).then_some(out)
    }
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        if self.expect.is_empty() {
            return Err("`expect` is empty".to_owned());
        }
        for expect in &self.expect {
            if expect.wanted().is_none() {
                let bytes = &expect.bytes;
                return Err(format!("`bytes`: `{bytes}` is no hex like `04 00 0a`"));
            }
            if expect.symbol.is_empty() || expect.file.is_empty() || expect.why.trim().is_empty() {
                return Err("`expect` needs `file`, `symbol` and a reason (`why`)".to_owned());
            }
        }
        Ok(())
    }
}

/// Looks at the files that something is expected of.
struct Files<'a> {
    expect: Vec<(Glob, &'a Expect)>,
}

impl Visit for Files<'_> {
    /// The expectation that a file was held against.
    type Fact = usize;

    fn wants(&self, _head: &[u8], _size: u64, _name: &[u8]) -> bool {
        false
    }

    fn visit(&self, entry: &Entry<'_, '_>, part: &mut Part<usize>) -> Result<(), Failure> {
        let bound: Vec<(usize, &Expect)> = self
            .expect
            .iter()
            .enumerate()
            .filter(|(_, (glob, _))| entry.names().any(|name| glob.matches(name.bytes())))
            .map(|(index, (_, expect))| (index, *expect))
            .collect();
        if bound.is_empty() {
            part.seen.counts.other += 1;
            return Ok(());
        }
        let file = match Exported::open(entry.whole(), entry.magic) {
            Ok(Some(file)) => file,
            // What is no binary has nothing to hold against: the expectation stays unmet.
            Ok(None) => {
                part.seen.counts.other += 1;
                return Ok(());
            }
            Err(fault) => {
                part.seen
                    .fault(rule::DAMAGED, entry.name, "table of exports", &fault);
                part.facts.extend(bound.iter().map(|(index, _)| *index));
                return Ok(());
            }
        };
        let (mut symbols, mut bytes) = (0, 0);
        for (index, expect) in bound {
            part.facts.push(index);
            symbols += 1;
            let wanted = expect.wanted().unwrap_or_default();
            bytes += wanted.len() as u64;
            let subject = entry.name.archive_member(expect.symbol.as_bytes());
            let (address, size) = match file.find(&expect.symbol) {
                Some(Export::Data(address, size)) => (address, size),
                Some(Export::Code) => {
                    part.seen.wrong(NO_DATA, &subject, "it is code");
                    continue;
                }
                Some(Export::Forward(text)) => {
                    let why = format!("it is forwarded to {}", Name::new(text));
                    part.seen.wrong(NO_DATA, &subject, why);
                    continue;
                }
                None => {
                    part.seen.wrong(MISSING, &subject, expect.why.clone());
                    continue;
                }
            };
            let at = u64::from(expect.at);
            let end = at + wanted.len() as u64;
            if let Some(size) = size.filter(|size| *size < end) {
                let (size, end) = (format!("{size} bytes"), format!("{end} bytes at least"));
                part.seen
                    .differs(OTHER, &subject, size, end, expect.why.clone());
                continue;
            }
            match file.bytes(address.saturating_add(at), wanted.len() as u64) {
                Ok(found) if found == wanted => {}
                Ok(found) => {
                    let (found, wanted) = (hex(&found), hex(&wanted));
                    part.seen
                        .differs(OTHER, &subject, found, wanted, expect.why.clone());
                }
                Err(fault) => part.seen.fault(rule::DAMAGED, &subject, "export", &fault),
            }
        }
        part.seen.count(
            "exports",
            entry.name,
            &[("bytes", bytes), ("symbols", symbols)],
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_hex_with_white_space_between() {
        let of = |bytes: &str| {
            Expect {
                at: 0,
                bytes: bytes.to_owned(),
                file: "f".to_owned(),
                symbol: "s".to_owned(),
                why: "w".to_owned(),
            }
            .wanted()
        };
        assert_eq!(of("04 0a\nFF"), Some(vec![4, 10, 255]));
        for wrong in ["", " ", "0", "0x04", "4 4", "zz"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
