//! What a PE image says to the loader: imports, delayed imports, exports.
//!
//! Every table is read for itself: one that cannot be read is an error, never an empty table.

use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use object::LittleEndian as LE;
use object::pe;
use object::read::ReadRef;
use object::read::pe::{ImageNtHeaders, ImageOptionalHeader, optional_header_magic};

use super::memory::{Memory, Raw, Span};
use super::names::Names;
use super::{Class, Fault};
use crate::limit;

thread_local! {
    /// Room to read the names of one image's imports in: most of them are not kept.
    static ROW: RefCell<Vec<u8>> = RefCell::default();
}

/// An opened image.
pub struct Image<'d, R: ReadRef<'d>> {
    memory: Memory<'d, R>,
    /// Its machine class.
    pub class: Class,
    /// What its headers say besides.
    pub header: Header,
    /// PE32+.
    wide: bool,
    base: u64,
    directories: Vec<(u32, u32)>,
    /// Where code lies.
    code: Vec<Span>,
}

/// What the headers of an image say of it as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// It is loaded, not started.
    pub dll: bool,
    /// IMAGE_SUBSYSTEM_*: 2 Windows, 3 its console, 10 EFI.
    pub subsystem: u16,
    /// The version of the linker: 14.44, or 2.40 for GNU's.
    pub linker: (u8, u8),
}

/// One DLL that an image imports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// Its name as written.
    pub dll: Box<[u8]>,
    /// Loaded at the first call only.
    pub delayed: bool,
    /// What is imported from it.
    pub symbols: Symbols,
}

/// One thing that is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symbol<'s> {
    /// By name.
    Name(&'s [u8]),
    /// By number.
    Ordinal(u16),
}

impl std::fmt::Display for Symbol<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => crate::name::Name::new(*name).fmt(f),
            Self::Ordinal(number) => write!(f, "#{number}"),
        }
    }
}

/// Everything that is imported from one DLL.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols {
    of: Arc<Table>,
    /// What may supply them: names that it has are not kept twice.
    supplier: Option<Arc<Exports>>,
    /// Its part of the entries.
    entries: Range<usize>,
}

/// Everything that one image imports.
#[derive(Debug, Default, PartialEq, Eq)]
struct Table {
    entries: Vec<Entry>,
    names: Names,
}

/// How one thing is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    /// By a name. The two bytes before it are the place that it had among the exports when the
    /// importer was linked.
    Name(u32),
    /// By the name that the supplier has at this place.
    Supplied(u16),
    /// By number.
    Ordinal(u16),
}

impl Symbols {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Each of them, in the file's order.
    pub fn iter(&self) -> impl Iterator<Item = Symbol<'_>> {
        self.hinted().map(|(symbol, _)| symbol)
    }

    /// Each of them, and the place that its name may have among the exports.
    pub fn hinted(&self) -> impl Iterator<Item = (Symbol<'_>, u16)> {
        let names = &self.of.names;
        self.entries().map(|entry| match *entry {
            Entry::Name(start) => (Symbol::Name(names.get(start)), names.hint(start)),
            Entry::Supplied(place) => {
                let name = self.supplier.as_ref().and_then(|s| s.name(place.into()));
                (Symbol::Name(name.unwrap_or_default()), place)
            }
            Entry::Ordinal(number) => (Symbol::Ordinal(number), 0),
        })
    }

    /// Those that a supplier does not have.
    pub fn lacking<'s>(&'s self, supplier: &'s Arc<Exports>) -> impl Iterator<Item = Symbol<'s>> {
        let same = self.supplier.as_ref();
        let same = same.is_some_and(|known| Arc::ptr_eq(known, supplier));
        let entries = self.entries().zip(self.hinted());
        let open = entries.filter(move |(entry, _)| !same || !matches!(entry, Entry::Supplied(_)));
        let open = open.map(|(_, open)| open);
        let lacking = open.filter(|(symbol, hint)| supplier.find_near(symbol, *hint).is_none());
        lacking.map(|(symbol, _)| symbol)
    }

    fn entries(&self) -> impl Iterator<Item = &Entry> {
        let entries = self.of.entries.get(self.entries.clone());
        entries.unwrap_or_default().iter()
    }
}

/// What an image exports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exports {
    /// The name that the image has for itself.
    pub dll: Box<[u8]>,
    /// The number of the first address.
    pub base: u32,
    /// Where each export is; 0 is none.
    pub addresses: Vec<u32>,
    /// Those addresses that say where else it is: `OTHER.name` or `OTHER.#1`, by place.
    pub forwards: Vec<(u32, Box<[u8]>)>,
    names: Names,
    /// Where each name begins, as the file has them: sorted, if its linker did its work.
    starts: Vec<u32>,
    /// The address of each name.
    places: Vec<u16>,
    /// The order of the names where they are not sorted.
    order: OnceLock<Option<Vec<u32>>>,
}

/// What one export is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export<'e> {
    /// An address.
    Here(u32),
    /// In another DLL: `OTHER.name`.
    Forward(&'e [u8]),
}

impl Exports {
    /// The names, in the file's order, and the places of their addresses.
    pub fn names(&self) -> impl Iterator<Item = (&[u8], u32)> {
        let places = self.places.iter().map(|place| u32::from(*place));
        let names = self.starts.iter().map(|start| self.names.get(*start));
        names.zip(places)
    }

    /// The export that an import means.
    #[must_use]
    pub fn find(&self, symbol: &Symbol<'_>) -> Option<Export<'_>> {
        self.find_near(symbol, 0)
    }

    /// As [`Self::find`], where the name may have the place `hint` among the names: it has, when
    /// importer and exporter come from one build.
    #[must_use]
    pub fn find_near(&self, symbol: &Symbol<'_>, hint: u16) -> Option<Export<'_>> {
        let place = match symbol {
            Symbol::Name(name) => {
                let at = match self.is(hint, name) {
                    true => hint.into(),
                    false => self.search(name)?,
                };
                u32::from(*self.places.get(at)?)
            }
            Symbol::Ordinal(number) => u32::from(*number).checked_sub(self.base)?,
        };
        self.at(place)
    }

    /// What lies at a place of the addresses.
    fn at(&self, place: u32) -> Option<Export<'_>> {
        if let Ok(at) = self.forwards.binary_search_by_key(&place, |(p, _)| *p) {
            return Some(Export::Forward(&self.forwards[at].1));
        }
        match self.addresses.get(usize::try_from(place).ok()?)? {
            0 => None,
            address => Some(Export::Here(*address)),
        }
    }

    /// Whether the name at a place is this one.
    fn is(&self, place: u16, name: &[u8]) -> bool {
        let start = self.starts.get(usize::from(place));
        start.is_some_and(|start| self.names.is(*start, name))
    }

    /// Whether the name at a place is this one, and leads somewhere.
    fn has(&self, place: u16, name: &[u8]) -> bool {
        let address = self.places.get(usize::from(place));
        self.is(place, name) && address.is_some_and(|at| self.at((*at).into()).is_some())
    }

    /// The name at a place.
    fn name(&self, place: usize) -> Option<&[u8]> {
        Some(self.names.get(*self.starts.get(place)?))
    }

    /// The place of a name among the names.
    fn search(&self, name: &[u8]) -> Option<usize> {
        let order = self.order.get_or_init(|| self.order());
        let sorted = |at: usize| match order {
            None => Some(at),
            Some(order) => usize::try_from(*order.get(at)?).ok(),
        };
        let (mut low, mut high) = (0, self.starts.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let start = self.starts.get(sorted(middle)?)?;
            match self.names.get(*start).cmp(name) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return sorted(middle),
            }
        }
        None
    }

    /// The order of the names, unless they are sorted.
    fn order(&self) -> Option<Vec<u32>> {
        let (names, starts) = (&self.names, &self.starts);
        if starts.is_sorted_by_key(|start| names.get(*start)) {
            return None;
        }
        let mut order: Vec<u32> = (0..).take(starts.len()).collect();
        let start = |at: u32| usize::try_from(at).ok().and_then(|at| starts.get(at));
        order.sort_by_key(|at| start(*at).map(|start| names.get(*start)));
        Some(order)
    }
}

impl<'d, R: ReadRef<'d>> Image<'d, R> {
    /// Opens an image.
    ///
    /// # Errors
    /// Those of [`super::pe::read`].
    pub fn open(data: R) -> Result<Self, Fault> {
        let class = super::pe::read(data)?;
        match optional_header_magic(data).map_err(|e| Fault::parse(&e))? {
            pe::IMAGE_NT_OPTIONAL_HDR32_MAGIC => headers::<pe::ImageNtHeaders32, R>(data, class),
            _ => headers::<pe::ImageNtHeaders64, R>(data, class),
        }
    }

    /// Reads rows of names from here: the same file.
    #[must_use]
    pub fn rows_from(mut self, raw: &'d dyn Raw) -> Self {
        self.memory.rows_from(raw);
        self
    }

    /// What it imports: at load first, then delayed.
    ///
    /// # Errors
    /// A [`Fault`] when a table cannot be read.
    pub fn imports(&self) -> Result<Vec<Import>, Fault> {
        self.imports_of(|_| None)
    }

    /// As [`Self::imports`], where the exports of a DLL may be known: of what it supplies the names
    /// are there already. They are most of what a large tree imports.
    ///
    /// # Errors
    /// Those of [`Self::imports`].
    pub fn imports_of(
        &self,
        supplier: impl Fn(&[u8]) -> Option<Arc<Exports>>,
    ) -> Result<Vec<Import>, Fault> {
        let mut found = Found {
            imports: Vec::new(),
            entries: Vec::new(),
            budget: limit::IMPORTS,
        };
        self.at_load(&mut found)?;
        self.delayed(&mut found)?;
        found.entries.shrink_to_fit();
        for import in &mut found.imports {
            import.symbols.supplier = supplier(&import.dll);
        }
        let table = Arc::new(ROW.with_borrow_mut(|row| self.table(&mut found, row))?);
        for import in &mut found.imports {
            import.symbols.of = Arc::clone(&table);
        }
        Ok(found.imports)
    }

    /// What was found with names in place of their addresses; `row` is room to read in.
    fn table(&self, found: &mut Found, row: &mut Vec<u8>) -> Result<Table, Fault> {
        let what = "an imported name";
        let mut entries = std::mem::take(&mut found.entries);
        let named = entries.iter().filter_map(|entry| match entry {
            Entry::Name(at) => Some(*at),
            _ => None,
        });
        let starts: Vec<u32> = named.collect();
        let first = self.memory.row(&starts, 2, row);
        let mut names = Names::default();
        for import in &found.imports {
            let symbols = &import.symbols;
            for entry in entries.get_mut(symbols.entries.clone()).unwrap_or_default() {
                let Entry::Name(at) = *entry else { continue };
                let at = u64::from(at);
                let (hint, name) = match first {
                    Some(first) => self.in_row(what, row, at - first)?,
                    None => (self.memory.bytes(what, at - 2)?, self.name(what, at)?),
                };
                let place = u16::from_le_bytes(hint);
                let supplied = |supplier: &Arc<Exports>| supplier.has(place, &name);
                *entry = match symbols.supplier.as_ref().is_some_and(supplied) {
                    true => Entry::Supplied(place),
                    false => Entry::Name(names.push(&hint, &name)),
                };
            }
        }
        names.shrink();
        Ok(Table { entries, names })
    }

    /// The name at a place of a row, and the two bytes before it.
    fn in_row<'r>(
        &self,
        what: &str,
        row: &'r [u8],
        at: u64,
    ) -> Result<([u8; 2], Cow<'r, [u8]>), Fault> {
        let at = usize::try_from(at).unwrap_or(usize::MAX);
        let (before, rest) = row.split_at_checked(at).unwrap_or_default();
        let end = memchr::memchr(0, rest).unwrap_or(rest.len());
        let name = filled(what, &rest[..end])?;
        self.memory.spend(what, name.len())?;
        let hint = before.last_chunk().copied().unwrap_or_default();
        Ok((hint, Cow::Borrowed(name)))
    }

    fn at_load(&self, found: &mut Found) -> Result<(), Fault> {
        let Some(table) = self.directory(pe::IMAGE_DIRECTORY_ENTRY_IMPORT) else {
            return Ok(());
        };
        for index in 0.. {
            found.spend()?;
            let words = self.words::<5>("an import descriptor", table.0 + index * 20)?;
            let [names, _, _, dll, addresses] = words;
            if words == [0; 5] {
                return Ok(());
            }
            if dll == 0 || addresses == 0 {
                return Err(Fault::Damaged(format!(
                    "import descriptor {index} is half empty"
                )));
            }
            let thunks = if names == 0 { addresses } else { names };
            let import = Import {
                dll: self.name("the name of an imported DLL", dll.into())?.into(),
                delayed: false,
                symbols: self.thunks(thunks, 0, found)?,
            };
            found.imports.push(import);
        }
        Ok(())
    }

    fn delayed(&self, found: &mut Found) -> Result<(), Fault> {
        let Some(table) = self.directory(pe::IMAGE_DIRECTORY_ENTRY_DELAY_IMPORT) else {
            return Ok(());
        };
        for index in 0.. {
            found.spend()?;
            let words = self.words::<8>("a delayed import descriptor", table.0 + index * 32)?;
            let [attributes, dll, _, _, names, ..] = words;
            if words == [0; 8] {
                return Ok(());
            }
            if dll == 0 || names == 0 {
                let text = format!("delayed import descriptor {index} is half empty");
                return Err(Fault::Damaged(text));
            }
            // The first linkers wrote addresses in memory there, not relative to the image.
            let base = if attributes & 1 == 1 { 0 } else { self.base };
            let relative = |address: u32| {
                u64::from(address).checked_sub(base).ok_or_else(|| {
                    Fault::Damaged(format!(
                        "delayed import descriptor {index} points before the image"
                    ))
                })
            };
            let names = u32::try_from(relative(names)?).unwrap_or(u32::MAX);
            let import = Import {
                dll: self
                    .name("the name of a delayed DLL", relative(dll)?)?
                    .into(),
                delayed: true,
                symbols: self.thunks(names, base, found)?,
            };
            found.imports.push(import);
        }
        Ok(())
    }

    /// The names and numbers in a list of thunks.
    fn thunks(&self, list: u32, base: u64, found: &mut Found) -> Result<Symbols, Fault> {
        let what = "a list of imported names";
        let first = found.entries.len();
        let width = if self.wide { 8 } else { 4 };
        let mut at = u64::from(list);
        loop {
            // As many as lie together; one that is cut by a page is put together from its parts.
            let piece = self.memory.piece(what, at)?;
            let whole = piece.len() / width * width;
            let one: [u8; 8];
            let thunks = if whole > 0 {
                &piece[..whole]
            } else if self.wide {
                one = self.memory.bytes(what, at)?;
                &one[..]
            } else {
                let half: [u8; 4] = self.memory.bytes(what, at)?;
                one = [half, [0; 4]].concat().try_into().unwrap_or_default();
                &one[..4]
            };
            for bytes in thunks.chunks_exact(width) {
                found.spend()?;
                let mut word = [0; 8];
                word[..width].copy_from_slice(bytes);
                let thunk = u64::from_le_bytes(word);
                if thunk == 0 {
                    return Ok(Symbols {
                        of: Arc::default(),
                        supplier: None,
                        entries: first..found.entries.len(),
                    });
                }
                let entry = if thunk >> (8 * width - 1) == 1 {
                    Entry::Ordinal(u16::from_le_bytes([word[0], word[1]]))
                } else {
                    let hint = thunk.checked_sub(base).ok_or_else(|| {
                        Fault::Damaged("an imported name lies before the image".to_owned())
                    })?;
                    let name = hint.checked_add(2).and_then(|at| u32::try_from(at).ok());
                    Entry::Name(name.ok_or_else(|| {
                        Fault::Damaged(format!("an imported name at 0x{hint:x} lies in no section"))
                    })?)
                };
                found.entries.push(entry);
                at += width as u64;
            }
        }
    }

    /// The names at these addresses; of each address becomes where in them its name begins.
    fn names(&self, what: &str, starts: &mut [u32]) -> Result<Names, Fault> {
        let mut row = Vec::new();
        if let Some(first) = self.memory.row(starts, 0, &mut row) {
            for start in starts {
                self.in_row(what, &row, u64::from(*start) - first)?;
                *start -= u32::try_from(first).unwrap_or_default();
            }
            return Ok(Names::new(row));
        }
        let mut names = Names::default();
        for start in starts {
            *start = names.push(&[], &self.name(what, u64::from(*start))?);
        }
        names.shrink();
        Ok(names)
    }

    /// What it exports; nothing when it has no table of exports.
    ///
    /// # Errors
    /// A [`Fault`] when the table cannot be read.
    pub fn exports(&self) -> Result<Exports, Fault> {
        let Some((start, size)) = self.directory(pe::IMAGE_DIRECTORY_ENTRY_EXPORT) else {
            return Ok(Exports::default());
        };
        let words = self.words::<10>("the export directory", start)?;
        let [_, _, _, dll, base, count, named, addresses, names, places] = words;
        if count.max(named) as usize > limit::EXPORTS {
            return Err(Fault::Limit(format!(
                "EXPORTS: {} exports",
                count.max(named)
            )));
        }
        let list = |what, at: u32, count: u32, width: u64| match count {
            0 => Ok(Vec::new()),
            count => self.memory.vec(what, at.into(), u64::from(count) * width),
        };
        let addresses: Vec<u32> = words_of(&list("the export addresses", addresses, count, 4)?);
        let mut starts = words_of(&list("the export names", names, named, 4)?);
        let places = list("the export name places", places, named, 2)?;
        let (places, _) = places.as_chunks::<2>();
        let places: Vec<u16> = places
            .iter()
            .map(|place| u16::from_le_bytes(*place))
            .collect();
        if let Some(place) = places.iter().find(|place| u32::from(**place) >= count) {
            let text = format!("an exported name has place {place} of {count}");
            return Err(Fault::Damaged(text));
        }
        let mut exports = Exports {
            dll: match dll {
                0 => Box::default(),
                dll => self.name("the exporting DLL's name", dll.into())?.into(),
            },
            base,
            addresses,
            forwards: Vec::new(),
            names: self.names("an exported name", &mut starts)?,
            starts,
            places,
            order: OnceLock::new(),
        };
        // An address inside the directory is a text: where else it is.
        for (place, address) in (0..).zip(&exports.addresses) {
            if (start..start.saturating_add(size)).contains(address) {
                let text = self.name("a forwarded export", (*address).into())?;
                exports.forwards.push((place, text.into()));
            }
        }
        Ok(exports)
    }

    /// `count` bytes at an address relative to the image, as they are in memory at load.
    ///
    /// # Errors
    /// A [`Fault`] when the address lies outside of the image.
    pub fn bytes(&self, address: u32, count: u64) -> Result<Vec<u8>, Fault> {
        self.memory.vec("exported data", address.into(), count)
    }

    /// Whether code lies at this address.
    #[must_use]
    pub fn is_code(&self, address: u32) -> bool {
        let address = u64::from(address);
        let holds = |s: &Span| address >= s.address && address - s.address < s.size;
        self.code.iter().any(holds)
    }

    /// Whether any code is in it.
    #[must_use]
    pub fn has_code(&self) -> bool {
        self.code.iter().any(|span| span.held > 0)
    }

    /// A data directory: where and how long, when there is one.
    #[must_use]
    pub fn directory(&self, index: usize) -> Option<(u32, u32)> {
        self.directories
            .get(index)
            .copied()
            .filter(|(rva, _)| *rva != 0)
    }

    fn words<const N: usize>(&self, what: &str, at: u32) -> Result<[u32; N], Fault> {
        let mut words = [0; N];
        let mut bytes = [[0; 4]; N];
        self.memory
            .fill(what, at.into(), bytes.as_flattened_mut())?;
        for (word, bytes) in words.iter_mut().zip(bytes) {
            *word = u32::from_le_bytes(bytes);
        }
        Ok(words)
    }

    /// A name, which may not be empty.
    fn name(&self, what: &str, at: u64) -> Result<Cow<'d, [u8]>, Fault> {
        let name = self.memory.text(what, at)?;
        filled(what, &name)?;
        Ok(name)
    }
}

/// A name, which may not be empty.
fn filled<'n>(what: &str, name: &'n [u8]) -> Result<&'n [u8], Fault> {
    match name.is_empty() {
        true => Err(Fault::Damaged(format!("{what} is empty"))),
        false => Ok(name),
    }
}

fn words_of(bytes: &[u8]) -> Vec<u32> {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// What was found of an image's imports so far.
struct Found {
    imports: Vec<Import>,
    /// Their names are addresses still.
    entries: Vec<Entry>,
    /// How many more there may be.
    budget: usize,
}

impl Found {
    fn spend(&mut self) -> Result<(), Fault> {
        self.budget = self
            .budget
            .checked_sub(1)
            .ok_or_else(|| Fault::Limit(format!("IMPORTS: more than {}", limit::IMPORTS)))?;
        Ok(())
    }
}

fn headers<'d, Pe: ImageNtHeaders, R: ReadRef<'d>>(
    data: R,
    class: Class,
) -> Result<Image<'d, R>, Fault> {
    let parse = |e: object::read::Error| Fault::parse(&e);
    let dos = pe::ImageDosHeader::parse(data).map_err(parse)?;
    let mut offset = u64::from(dos.nt_headers_offset());
    let (nt, directories) = Pe::parse(data, &mut offset).map_err(parse)?;
    let sections = nt.sections(data, offset).map_err(parse)?;
    let header = nt.optional_header();
    let headers = u64::from(header.size_of_headers());
    let (mut spans, mut code) = (Vec::new(), Vec::new());
    for section in sections.iter() {
        let raw = u64::from(section.size_of_raw_data.get(LE));
        let size = u64::from(section.virtual_size.get(LE));
        // A size of 0 in memory stands for the size in the file.
        let size = if size == 0 { raw } else { size };
        // The loader maps whole pages of the file.
        let size = size.next_multiple_of(0x1000);
        let offset = u64::from(section.pointer_to_raw_data.get(LE));
        let span = Span {
            address: section.virtual_address.get(LE).into(),
            size,
            offset,
            held: if offset == 0 { 0 } else { raw.min(size) },
        };
        if section.characteristics.get(LE).0 & pe::IMAGE_SCN_MEM_EXECUTE.0 != 0 {
            code.push(span);
        }
        spans.push(span);
    }
    spans.push(Span {
        address: 0,
        size: headers,
        offset: 0,
        held: headers,
    });
    Ok(Image {
        memory: Memory::new(data, spans),
        class,
        header: Header {
            dll: nt.file_header().characteristics.get(LE).0 & pe::IMAGE_FILE_DLL.0 != 0,
            subsystem: header.subsystem().0,
            linker: (header.major_linker_version(), header.minor_linker_version()),
        },
        wide: nt.is_type_64(),
        base: header.image_base(),
        directories: directories.iter().map(|d| d.address_range()).collect(),
        code,
    })
}

#[cfg(all(test, feature = "fixtures"))]
mod tests {
    use super::*;
    use crate::fixture::{self, AMD64, ARM64, I386};

    fn sample() -> fixture::Pe {
        fixture::Pe {
            imports: vec![("a.dll", vec!["f", "#1031"]), ("b.dll", vec!["g"])],
            delayed: vec![("c.dll", vec!["h"])],
            delayed_v1: Vec::new(),
            exports: vec![
                ("code", fixture::Export::Code),
                ("data", fixture::Export::Data(vec![1, 2, 3, 4])),
                ("away", fixture::Export::Forward("d.far")),
                ("", fixture::Export::Code),
            ],
        }
    }

    #[test]
    fn one_long_name_that_everything_imports_is_bounded() {
        let mut names = vec!["f"; 30_000];
        names[0] = Box::leak("n".repeat(10_000).into_boxed_str());
        let pe = fixture::Pe {
            imports: vec![("a.dll", names)],
            ..fixture::Pe::default()
        };
        let mut bytes = pe.dll(AMD64);
        let image = Image::open(bytes.as_slice()).unwrap();
        let (table, _) = image.directory(pe::IMAGE_DIRECTORY_ENTRY_IMPORT).unwrap();
        let [thunks, ..] = image.words::<5>("descriptor", table).unwrap();
        // Its section begins in memory at 0x2000, in the file at 0x400.
        let first = thunks as usize - 0x2000 + 0x400;
        for at in (1..30_000).map(|index| first + index * 8) {
            bytes.copy_within(first..first + 8, at);
        }
        let fault = Image::open(bytes.as_slice())
            .unwrap()
            .imports()
            .unwrap_err();
        assert!(fault.to_string().contains("NAMES_BYTES"), "{fault}");
    }

    fn text(import: &Import) -> String {
        let symbols: Vec<String> = import.symbols.iter().map(|s| s.to_string()).collect();
        let delayed = if import.delayed { " delayed" } else { "" };
        format!(
            "{}{delayed}: {}",
            crate::name::Name::new(&import.dll[..]),
            symbols.join(" ")
        )
    }

    #[test]
    fn imports_of_both_widths_are_read_by_name_and_by_number() {
        for machine in [I386, AMD64, ARM64] {
            let bytes = sample().dll(machine);
            let image = Image::open(bytes.as_slice()).unwrap();
            let imports: Vec<String> = image.imports().unwrap().iter().map(text).collect();
            assert_eq!(imports, ["a.dll: f #1031", "b.dll: g", "c.dll delayed: h"]);
        }
    }

    #[test]
    fn delayed_imports_of_the_first_linkers_are_addresses_in_memory() {
        let pe = fixture::Pe {
            delayed: vec![("new.dll", vec!["n"])],
            delayed_v1: vec![("old.dll", vec!["o", "#3"])],
            ..fixture::Pe::default()
        };
        let bytes = pe.dll(I386);
        let imports = Image::open(bytes.as_slice()).unwrap().imports().unwrap();
        let imports: Vec<String> = imports.iter().map(text).collect();
        assert_eq!(imports, ["new.dll delayed: n", "old.dll delayed: o #3"]);
    }

    #[test]
    fn tables_and_names_over_many_pages_are_read_whole() {
        let names: Vec<String> = (0..4_000)
            .map(|n| format!("f{n}{}", "x".repeat(n % 31)))
            .collect();
        // Fixtures want names that live as long as the test.
        let names: Vec<&'static str> = names
            .into_iter()
            .map(|name| &*Box::leak(name.into_boxed_str()))
            .collect();
        for machine in [I386, ARM64] {
            let pe = fixture::Pe {
                imports: vec![("a.dll", vec!["#5"]), ("b.dll", names.clone())],
                ..fixture::Pe::default()
            };
            let bytes = pe.dll(machine);
            let imports = Image::open(bytes.as_slice()).unwrap().imports().unwrap();
            let found: Vec<String> = imports[1].symbols.iter().map(|s| s.to_string()).collect();
            assert_eq!(found, names);
            assert_eq!(imports[0].symbols.iter().next(), Some(Symbol::Ordinal(5)));
        }
    }

    /// So many names that they are read in one row.
    fn many() -> Vec<&'static str> {
        let names = (0..4_000).map(|n| format!("name{n:04}{}", "x".repeat(n % 31)));
        names
            .map(|name| &*Box::leak(name.into_boxed_str()))
            .collect()
    }

    #[test]
    fn a_row_of_exported_names_is_read_as_each_name_is() {
        let export = |name| (name, fixture::Export::Code);
        let pe = fixture::Pe {
            exports: many().into_iter().map(export).collect(),
            ..fixture::Pe::default()
        };
        let bytes = pe.dll(AMD64);
        let exports = |bytes: &[u8]| Image::open(bytes).unwrap().exports();
        let found = exports(&bytes).unwrap();
        let names: Vec<&[u8]> = found.names().map(|(name, _)| name).collect();
        let wanted: Vec<&[u8]> = many().into_iter().map(str::as_bytes).collect();
        assert_eq!(names, wanted);
        // An empty name among them is a fault, and one that is too long.
        let at = |name: &[u8]| bytes.windows(name.len()).position(|w| w == name).unwrap();
        let start = at(b"name2000x");
        let mut empty = bytes.clone();
        empty[start] = 0;
        let fault = exports(&empty).unwrap_err();
        assert!(fault.to_string().contains("name is empty"), "{fault}");
        let mut long = bytes.clone();
        let end = start + limit::NAME_BYTES + 1;
        for byte in &mut long[start..end.min(bytes.len())] {
            *byte = byte.saturating_add(u8::from(*byte == 0) * b'z');
        }
        assert!(exports(&long).is_err());
    }

    #[test]
    fn names_that_a_supplier_has_are_the_same_as_if_they_were_kept() {
        let export = |name: &&'static str| (*name, fixture::Export::Code);
        let names = many();
        let supplier = |names: &[&'static str]| {
            let pe = fixture::Pe {
                exports: names.iter().map(export).collect(),
                ..fixture::Pe::default()
            };
            let bytes = pe.dll(AMD64);
            Arc::new(Image::open(bytes.as_slice()).unwrap().exports().unwrap())
        };
        let (whole, part) = (supplier(&names), supplier(&names[1..]));
        let pe = fixture::Pe {
            imports: vec![("a.dll", [&["#2", "gone"], &names[..]].concat())],
            ..fixture::Pe::default()
        };
        let mut bytes = pe.dll(AMD64);
        // Hints as a linker writes them.
        let mut at = 0;
        for (place, name) in (0_u16..).zip(&names) {
            let named = [name.as_bytes(), &[0]].concat();
            at += memchr::memmem::find(&bytes[at..], &named).unwrap();
            bytes[at - 2..at].copy_from_slice(&place.to_le_bytes());
        }
        let image = Image::open(bytes.as_slice()).unwrap();
        let kept = image.imports().unwrap();
        let known = image.imports_of(|dll| (dll == b"a.dll").then(|| Arc::clone(&whole)));
        let known = known.unwrap();
        assert!(known[0].symbols.hinted().eq(kept[0].symbols.hinted()));
        assert!(
            known[0].symbols.of.names.bytes() < 100,
            "all names are kept"
        );
        for (exports, lacking) in [(&whole, vec!["gone"]), (&part, vec!["gone", names[0]])] {
            for import in [&known[0], &kept[0]] {
                let found = import.symbols.lacking(exports).map(|s| s.to_string());
                assert_eq!(found.collect::<Vec<_>>(), lacking);
            }
        }
    }

    #[test]
    fn exports_are_found_by_name_by_number_and_as_forwards() {
        let bytes = sample().dll(ARM64);
        let image = Image::open(bytes.as_slice()).unwrap();
        let exports = image.exports().unwrap();
        let find = |name: &str| exports.find(&Symbol::Name(name.as_bytes()));
        assert_eq!(find("code"), Some(Export::Here(0x1000)));
        assert_eq!(find("away"), Some(Export::Forward(b"d.far")));
        assert_eq!(find("gone"), None);
        assert_eq!(
            exports.find(&Symbol::Ordinal(4)),
            Some(Export::Here(0x1000))
        );
        assert_eq!(exports.find(&Symbol::Ordinal(0)), None);
        assert_eq!(exports.find(&Symbol::Ordinal(5)), None);
        let Some(Export::Here(data)) = find("data") else {
            panic!()
        };
        assert_eq!(image.bytes(data, 4).unwrap(), [1, 2, 3, 4]);
        assert!(!image.is_code(data) && image.is_code(0x1000));
    }

    #[test]
    fn an_import_table_outside_of_the_image_is_a_fault_and_not_no_imports() {
        for directory in [0, 1, 13] {
            for rva in [0x00ff_0000_u32, 0xffff_fff0] {
                let mut bytes = sample().dll(ARM64);
                let at = fixture::PE_DIRECTORIES + directory * 8;
                bytes[at..at + 4].copy_from_slice(&rva.to_le_bytes());
                let image = Image::open(bytes.as_slice()).unwrap();
                let faulty = match directory {
                    0 => image.exports().is_err(),
                    _ => image.imports().is_err(),
                };
                assert!(faulty, "directory {directory} at {rva:x}");
            }
        }
    }

    #[test]
    fn an_import_that_lost_its_name_does_not_end_the_table() {
        let whole = sample().dll(ARM64);
        let image = Image::open(whole.as_slice()).unwrap();
        let (rva, _) = image.directory(1).unwrap();
        let mut bytes = whole.clone();
        let at = (rva - 0x2000 + 0x400 + 12) as usize;
        bytes[at..at + 4].fill(0);
        assert!(Image::open(bytes.as_slice()).unwrap().imports().is_err());
    }
}
