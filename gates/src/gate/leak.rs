//! The gate `leak`: values of the build machine are nowhere in a product, in no usual encoding.

use std::fs::File;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::{Check, Keys, Names, NoKeys};
use crate::arch_table::Row;
use crate::exit::Failure;
use crate::format::{Fault, magic, zip};
use crate::input::Watched;
use crate::limit;
use crate::list::{self, Entry};
use crate::name::Name;
use crate::rule::Rule;
use crate::search::{Needles, Search};
use crate::seen::Seen;
use crate::walk::Root;

const FOUND: Rule = Rule::new("LEK001", "a value of the build machine in the product");
const UNSEEN: Rule = Rule::new("LEK002", "bytes that could not be searched");

/// The gate.
pub struct Leak;

impl Check for Leak {
    const NAME: &'static str = "leak";
    const ABOUT: &'static str = "values of the build machine are nowhere in a product";
    const VERSION: u32 = 3;
    const COUNTS: &'static [&'static str] = &["bytes", "files", "members", "values"];
    const RULES: &'static [Rule] = &[FOUND, UNSEEN];
    type Ask = Ask;
    type Demand = NoKeys;

    fn inspect(_: &Row, roots: &[Root], ask: &Ask) -> Result<Seen, Failure> {
        let tree = list::listed(roots)?;
        let mut needles = Needles::default();
        let mut found = Seen::default();
        for (name, value) in &ask.values {
            needles.add(name, value.as_bytes());
        }
        for name in &ask.host {
            // What is not set cannot have leaked, and a short value cannot be told from chance.
            let value = std::env::var_os(name).unwrap_or_default();
            let value = value.as_encoded_bytes();
            if value.len() >= SHORTEST {
                needles.add(name, value);
            }
        }
        // Where nothing lies, nothing was looked for: a floor sees it.
        let lies = |entry: &Entry| !matches!(entry, Entry::Directory);
        if tree.entries.iter().any(|(_, entry)| lies(entry)) {
            for name in needles.names() {
                found.count("values", &Name::from(name), &[]);
            }
        }
        for (name, entry) in &tree.entries {
            look(&needles, name, name.bytes(), &mut found);
            match entry {
                Entry::Link(target) => look(&needles, name, target, &mut found),
                Entry::File(path, size) => {
                    let io = |e: std::io::Error| Failure::io(&name.to_string(), &e);
                    let mut file = File::open(path).map_err(io)?;
                    let head = stream(&needles, name, &mut file, &mut found).map_err(io)?;
                    let mut numbers = vec![("bytes", *size)];
                    if magic::sniff(&head, *size) == magic::Magic::Zip {
                        let file = Watched::new(File::open(path).map_err(io)?);
                        let mut budget = limit::ZIP_TOTAL_BYTES;
                        let members = members(&needles, name, file, 1, &mut budget, &mut found)?;
                        numbers.push(("members", members));
                    }
                    found.count("files", name, &numbers);
                }
                Entry::Directory | Entry::Special => {}
            }
        }
        Ok(tree.seen(found))
    }
}

/// What *inspect* is told.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ask {
    /// Variables of lanegate's own environment whose values are looked for: host settings, which
    /// come as secrets and are in no policy and no report.
    #[serde(default)]
    pub host: Vec<String>,
    /// Values that a test build was given on purpose, by name.
    #[serde(default)]
    pub values: Names,
}

impl Keys for Ask {
    fn check(&self) -> Result<(), String> {
        let Self { host, values } = self;
        if host.is_empty() && values.is_empty() {
            return Err("nothing to look for: say `values` or `host`".to_owned());
        }
        for (name, value) in values {
            if value.len() < SHORTEST {
                return Err(format!(
                    "value `{name}` has {} bytes, and stands in any product by chance; at least {SHORTEST}",
                    value.len()
                ));
            }
        }
        Ok(())
    }
}

/// Values shorter than this stand in any product by chance.
pub const SHORTEST: usize = 6;

/// Looks at bytes that lie in memory.
fn look(needles: &Needles, subject: &Name, bytes: &[u8], found: &mut Seen) {
    let mut search = Search::new(needles);
    search.feed(bytes);
    tell(&search, subject, found);
}

/// Looks at what a reader gives; returns its first bytes.
fn stream(
    needles: &Needles,
    subject: &Name,
    reader: &mut dyn Read,
    found: &mut Seen,
) -> std::io::Result<Vec<u8>> {
    let mut search = Search::new(needles);
    let mut buffer = vec![0; 1 << 18];
    let mut head = Vec::new();
    loop {
        let read = match reader.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if read == 0 {
            break;
        }
        if head.is_empty() {
            head.extend_from_slice(&buffer[..read.min(4096)]);
        }
        search.feed(&buffer[..read]);
    }
    tell(&search, subject, found);
    Ok(head)
}

fn tell(search: &Search<'_>, subject: &Name, found: &mut Seen) {
    for (name, encoding) in search.hits() {
        let why = format!("the value of {name} stands in it, {encoding}");
        found.wrong(FOUND, subject, why);
    }
}

/// Looks at what is in a zip, and in zips in it.
fn members(
    needles: &Needles,
    subject: &Name,
    input: Watched<'_>,
    depth: usize,
    budget: &mut u64,
    found: &mut Seen,
) -> Result<u64, Failure> {
    let trouble = input.trouble();
    let check = || {
        let trouble = trouble.take();
        trouble.map_or(Ok(()), |e| Err(Failure::io(&subject.to_string(), &e)))
    };
    let unseen = |subject: &Name, fault: &Fault, found: &mut Seen| {
        let why = format!("what is in it could not be searched: {fault}");
        found.wrong(UNSEEN, subject, why);
    };
    let mut list = match zip::Zip::open(input) {
        Ok(list) => list,
        Err(fault) => {
            check()?;
            unseen(subject, &fault, found);
            return Ok(0);
        }
    };
    let mut seen = 0;
    for index in 0..list.len() {
        let member = list.member(index, budget, |_, _, _| true);
        check()?;
        match member {
            zip::Member::Bytes(name, bytes, _large) => {
                seen += 1;
                let subject = subject.zip_member(&name);
                look(needles, &subject, &name, found);
                look(needles, &subject, &bytes, found);
                let head = &bytes[..bytes.len().min(4096)];
                if magic::sniff(head, bytes.len() as u64) == magic::Magic::Zip {
                    if depth == limit::NESTING {
                        let fault = Fault::Limit(format!("NESTING: deeper than {depth}"));
                        unseen(&subject, &fault, found);
                    } else {
                        let input = Watched::new(std::io::Cursor::new(bytes));
                        seen += members(needles, &subject, input, depth + 1, budget, found)?;
                    }
                }
            }
            zip::Member::Fault(name, fault) => unseen(&subject.zip_member(&name), &fault, found),
            zip::Member::NoMemory(size) => {
                let why = format!("{subject}: no memory for a member of {size} bytes");
                return Err(Failure::Unreadable(why));
            }
            zip::Member::Directory | zip::Member::Link | zip::Member::Plain => {}
        }
    }
    Ok(seen)
}
