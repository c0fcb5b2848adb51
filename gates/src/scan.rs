//! Shows every file of a tree to a gate, and every member of the zips in it.
//!
//! Files are looked at in parallel and read by position; a member of a zip is inflated when the
//! gate wants it, one at a time. Whatever is wrong with a zip itself is a finding of the gate that
//! would have looked into it.

use std::fs;
use std::io::{self, Seek as _};

use object::read::{ReadCache, ReadRef as _};

use crate::exit::{Failure, guard};
use crate::format::magic::{self, Magic};
use crate::format::{Fault, zip};
use crate::input::{Blocks, Cache, ReadSeek, Trouble, Watched, Window};
use crate::limit;
use crate::name::Name;
use crate::parallel::in_parallel;
use crate::progress::Progress;
use crate::report::{Counts, RootCount};
use crate::rule::{self, Rule};
use crate::seen::Seen;
use crate::walk::{self, Link, Root};

/// What a gate does with a file.
pub trait Visit: Sync {
    /// What it keeps of a file for later, besides what it puts into [`Seen`].
    type Fact: Send;

    /// Its rule for a zip that cannot be read.
    const DAMAGED: Rule = rule::DAMAGED;
    /// Its rule for a zip that contradicts itself.
    const ZIP: Rule = rule::ZIP;

    /// Whether a zip member with these first bytes, this size and name is inflated and shown;
    /// `name` is the one that it has in reports.
    fn wants(&self, head: &[u8], size: u64, name: &[u8]) -> bool;

    /// Looks at a file or zip member. Zips are shown as what is in them, not as themselves.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] for what the bytes do not decide.
    fn visit(&self, entry: &Entry<'_, '_>, part: &mut Part<Self::Fact>) -> Result<(), Failure>;

    /// Whether [`Self::read`] wants what was just visited from its first byte to its last.
    fn reads(&self, _magic: Magic) -> bool {
        false
    }

    /// Reads what was just visited, without keeping it in memory.
    ///
    /// # Errors
    /// [`Failure::Unreadable`] for what the bytes do not decide.
    fn read(
        &self,
        _name: &Name,
        _bytes: &mut dyn ReadSeek,
        _part: &mut Part<Self::Fact>,
    ) -> Result<(), Failure> {
        Ok(())
    }
}

/// A file or zip member that is looked at.
pub struct Entry<'e, 'a> {
    /// Its name in reports.
    pub name: &'e Name,
    /// Its further names: hard links.
    pub also: &'e [Name],
    /// What its first bytes say.
    pub magic: Magic,
    /// Whether its name says that it is a binary.
    pub claims: bool,
    /// Its bytes.
    pub cache: &'e Cache<'a>,
    /// The same bytes, for those who keep nothing of what they read; see [`Watched`].
    pub raw: Watched<'a>,
    /// How many.
    pub len: u64,
}

impl<'e, 'a> Entry<'e, 'a> {
    /// All names that it has.
    pub fn names(&self) -> impl Iterator<Item = &'e Name> {
        std::iter::once(self.name).chain(self.also)
    }

    /// All of it.
    #[must_use]
    pub fn whole(&self) -> Window<'e, 'a> {
        self.cache.range(0, self.len)
    }
}

/// What a gate gathered over some files.
pub struct Part<F> {
    /// For the report.
    pub seen: Seen,
    /// For the gate itself, in the order of the files.
    pub facts: Vec<F>,
}

impl<F> Default for Part<F> {
    fn default() -> Self {
        Self {
            seen: Seen::default(),
            facts: Vec::new(),
        }
    }
}

/// What a whole tree held.
pub struct Scanned<F> {
    /// What all files together gave.
    pub part: Part<F>,
    /// The symbolic links of the tree, sorted by name.
    pub links: Vec<Link>,
}

/// Shows every file below the roots to the visitor.
///
/// # Errors
/// [`Failure::Unreadable`] for what the bytes do not decide: a missing root, an I/O error, no
/// memory, a bug.
pub fn tree<V: Visit>(roots: &[Root], visitor: &V) -> Result<Scanned<V::Fact>, Failure> {
    tree_with(roots, |file, part| {
        let io = |e| Failure::io(&file.name.to_string(), &e);
        let blocks = fs::File::open(&file.path)
            .and_then(Blocks::new)
            .map_err(io)?;
        named(visitor, &file.name, &file.also, Box::new(blocks), part)
    })
}

/// [`tree`] with another way to look at one file.
pub(crate) fn tree_with<F: Send>(
    roots: &[Root],
    look: impl Fn(&walk::File, &mut Part<F>) -> Result<(), Failure> + Sync,
) -> Result<Scanned<F>, Failure> {
    let tree = walk::walk(roots)?;
    let mut all = Part::default();
    all.seen.counts = Counts {
        files: tree.files.len() as u64,
        hard_links: tree.hard_links,
        links: tree.links.len() as u64,
        special: tree.special,
        ..Counts::default()
    };
    if tree.cut {
        let text = format!("TREE_ENTRIES: more than {} entries", limit::TREE_ENTRIES);
        let whole = Name::default();
        all.seen
            .fault(rule::DAMAGED, &whole, "", &Fault::Limit(text));
    }
    let progress = Progress::new(tree.files.len());
    let parts = in_parallel(&tree.files, |file| {
        let mut part = Part::default();
        guard(&file.name.to_string(), || look(file, &mut part))?;
        progress.step();
        Ok(part)
    })?;
    for part in parts {
        all.seen.add(part.seen);
        all.facts.extend(part.facts);
    }
    let root = |(label, files, bytes)| RootCount {
        bytes,
        files,
        label,
    };
    all.seen.roots = tree.roots.into_iter().map(root).collect();
    Ok(Scanned {
        part: all,
        links: tree.links,
    })
}

/// Shows one file, and what is in it, to the visitor.
///
/// # Errors
/// [`Failure::Unreadable`] for what the bytes do not decide.
pub fn one<V: Visit>(
    visitor: &V,
    name: &Name,
    input: Box<dyn ReadSeek + '_>,
    part: &mut Part<V::Fact>,
) -> Result<(), Failure> {
    named(visitor, name, &[], input, part)
}

/// [`one`] for a file of several names.
fn named<V: Visit>(
    visitor: &V,
    name: &Name,
    also: &[Name],
    input: Box<dyn ReadSeek + '_>,
    part: &mut Part<V::Fact>,
) -> Result<(), Failure> {
    let mut budget = limit::ZIP_TOTAL_BYTES;
    let scan = Scan {
        visitor,
        name,
        also,
        depth: 0,
    };
    scan.run(input, &mut budget, part)
}

struct Scan<'v, V> {
    visitor: &'v V,
    name: &'v Name,
    also: &'v [Name],
    /// How many zips it lies in.
    depth: usize,
}

impl<V: Visit> Scan<'_, V> {
    fn run(
        &self,
        input: Box<dyn ReadSeek + '_>,
        budget: &mut u64,
        part: &mut Part<V::Fact>,
    ) -> Result<(), Failure> {
        let watched = Watched::new(input);
        let trouble = watched.trouble();
        let raw = watched.clone();
        let cache = ReadCache::new(watched);
        let len = (&cache).len().map_err(|()| {
            Failure::Unreadable(format!("{}: its length cannot be told", self.name))
        })?;
        let head = (&cache)
            .read_bytes_at(0, len.min(magic::HEAD))
            .unwrap_or_default();
        self.check(&trouble)?;
        let entry = Entry {
            name: self.name,
            also: self.also,
            magic: magic::sniff(head, len),
            claims: magic::claims_binary(self.name.bytes()),
            cache: &cache,
            raw,
            len,
        };
        if entry.magic == Magic::Zip && !entry.claims {
            let inner = cache.into_inner();
            return self.zip(inner, &trouble, budget, part);
        }
        let magic = entry.magic;
        self.visitor.visit(&entry, part)?;
        self.check(&trouble)?;
        let mut inner = cache.into_inner();
        let io = |e: io::Error| Failure::io(&self.name.to_string(), &e);
        if self.visitor.reads(magic) {
            inner.rewind().map_err(io)?;
            self.visitor.read(self.name, &mut inner, part)?;
            self.check(&trouble)?;
        }
        // Who opens a zip looks for its end: what stands in front of it is a file, and hides nothing.
        if magic::claims_zip(self.name.bytes()) {
            inner.rewind().map_err(io)?;
            return self.zip(inner, &trouble, budget, part);
        }
        Ok(())
    }

    fn zip(
        &self,
        input: Watched<'_>,
        trouble: &Trouble,
        budget: &mut u64,
        part: &mut Part<V::Fact>,
    ) -> Result<(), Failure> {
        let seen = &mut part.seen;
        if self.depth == limit::NESTING {
            let text = format!("NESTING: zips in zips deeper than {}", limit::NESTING);
            seen.fault(V::DAMAGED, self.name, "", &Fault::Limit(text));
            return Ok(());
        }
        let mut list = match zip::Zip::open(input) {
            Ok(list) => list,
            Err(fault) => {
                self.check(trouble)?;
                seen.fault(V::DAMAGED, self.name, "zip", &fault);
                return Ok(());
            }
        };
        if let Err(fault) = list.consistent() {
            self.check(trouble)?;
            let (Fault::Damaged(why) | Fault::Limit(why)) = fault;
            let why = format!("a zip whose parts disagree on what is in it: {why}");
            seen.finding(V::ZIP, self.name, "", "", why);
        }
        for index in 0..list.len() {
            let result = list.member(index, budget, |head, size, name| {
                let name = self.name.zip_member(name);
                magic::sniff(head, size) == Magic::Zip
                    || magic::claims_zip(name.bytes())
                    || self.visitor.wants(head, size, name.bytes())
            });
            self.check(trouble)?;
            let name = |member: &[u8]| self.name.zip_member(member);
            match result {
                zip::Member::Directory => {}
                zip::Member::Link => part.seen.counts.links += 1,
                zip::Member::Plain => part.seen.counts.other += 1,
                zip::Member::Fault(member, fault) => {
                    let subject = name(&member);
                    part.seen.fault(V::DAMAGED, &subject, "zip member", &fault);
                }
                zip::Member::NoMemory(size) => {
                    return Err(Failure::Unreadable(format!(
                        "{}: no memory for a member of {size} bytes",
                        self.name
                    )));
                }
                zip::Member::Bytes(member, bytes, _large) => {
                    let scan = Scan {
                        visitor: self.visitor,
                        name: &name(&member),
                        also: &[],
                        depth: self.depth + 1,
                    };
                    scan.run(Box::new(io::Cursor::new(bytes)), budget, part)?;
                }
            }
        }
        Ok(())
    }

    fn check(&self, trouble: &Trouble) -> Result<(), Failure> {
        match trouble.take() {
            Some(error) => Err(Failure::io(&self.name.to_string(), &error)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> (tempfile::TempDir, Vec<Root>) {
        let dir = tempfile::tempdir().unwrap();
        for name in files {
            fs::write(dir.path().join(name), name).unwrap();
        }
        let root = Root {
            path: dir.path().to_owned(),
            label: Name::default(),
        };
        (dir, vec![root])
    }

    #[test]
    fn a_panic_over_one_file_is_unreadable_and_names_it() {
        let (_dir, roots) = tree(&["a", "b", "c"]);
        let end = tree_with::<()>(&roots, |file, _| {
            assert_ne!(file.name, Name::from("b"), "boom");
            Ok(())
        });
        let failure = end.err().unwrap();
        assert_eq!(failure.exit().code(), 4);
        assert!(failure.to_string().contains("b panicked"), "{failure}");
    }

    #[test]
    fn of_several_failures_the_first_by_name_is_told() {
        let files: Vec<String> = (0..50).map(|n| format!("{n:02}")).collect();
        let (_dir, roots) = tree(&files.iter().map(String::as_str).collect::<Vec<_>>());
        let failure = tree_with::<()>(&roots, |file, _| {
            Err(Failure::Unreadable(file.name.to_string()))
        });
        assert_eq!(failure.err().unwrap().to_string(), "00");
    }
}
