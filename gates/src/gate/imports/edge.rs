//! One library's wish to have another, in the words of both formats.

use crate::format::image::{Export, Symbol, Symbols};
use crate::loader::{Kind, Library, Loader};
use crate::name::Name;

/// Everything that one library imports.
pub(super) struct Edges<'l> {
    pub(super) list: Vec<Edge<'l>>,
    /// Whether importing nothing is remarkable.
    pub(super) expected: bool,
}

/// One library that is imported.
pub(super) struct Edge<'l> {
    pub(super) dll: &'l [u8],
    pub(super) delayed: bool,
    pub(super) wanted: Wanted<'l>,
}

/// What is wanted of it.
pub(super) enum Wanted<'l> {
    /// Exports of a DLL.
    Exports(&'l Symbols),
    /// Versions of a shared object.
    Versions(Vec<&'l [u8]>),
}

impl Wanted<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Exports(symbols) => symbols.len(),
            Self::Versions(versions) => versions.len(),
        }
    }
}

impl<'l> Edges<'l> {
    pub(super) fn of(library: &'l Library) -> Self {
        match &library.kind {
            Kind::Pe { imports, code, .. } => Self {
                list: imports
                    .iter()
                    .map(|import| Edge {
                        dll: &import.dll,
                        delayed: import.delayed,
                        wanted: Wanted::Exports(&import.symbols),
                    })
                    .collect(),
                expected: *code,
            },
            Kind::Elf(dynamic) => Self {
                list: dynamic
                    .needed
                    .iter()
                    .map(|needed| Edge {
                        dll: needed,
                        delayed: false,
                        wanted: Wanted::Versions(
                            dynamic
                                .needs
                                .iter()
                                .filter(|(file, _)| file == needed)
                                .map(|(_, version)| &**version)
                                .collect(),
                        ),
                    })
                    .collect(),
                expected: dynamic.dynamic && dynamic.interpreter.is_some(),
            },
        }
    }
}

impl Edge<'_> {
    /// What is wanted and not there. A supplier whose exports cannot be read is a finding already.
    pub(super) fn lacking(&self, provider: &Library) -> Vec<String> {
        match (&self.wanted, &provider.kind) {
            (
                Wanted::Exports(symbols),
                Kind::Pe {
                    exports: Some(exports),
                    ..
                },
            ) => symbols
                .lacking(exports)
                .map(|symbol| symbol.to_string())
                .collect(),
            // A library without versions satisfies any: the loader only warns.
            (Wanted::Versions(versions), Kind::Elf(dynamic)) if !dynamic.defines.is_empty() => {
                versions
                    .iter()
                    .filter(|version| {
                        !dynamic
                            .defines
                            .iter()
                            .any(|defined| **defined == ***version)
                    })
                    .map(|version| Name::new(*version).to_string())
                    .collect()
            }
            _ => Vec::new(),
        }
    }
}

/// A forward's text as DLL and symbol: `OTHER.name`, `OTHER.#12`.
pub(super) fn forward(text: &[u8]) -> Option<(Vec<u8>, Symbol<'_>)> {
    let at = text.iter().rposition(|b| *b == b'.')?;
    let (dll, symbol) = (&text[..at], &text[at + 1..]);
    if dll.is_empty() || symbol.is_empty() {
        return None;
    }
    let symbol = match symbol.strip_prefix(b"#") {
        Some(number) => Symbol::Ordinal(std::str::from_utf8(number).ok()?.parse().ok()?),
        None => Symbol::Name(symbol),
    };
    let has_extension = dll.contains(&b'.');
    let extension: &[u8] = if has_extension { b"" } else { b".dll" };
    Some(([dll, extension].concat(), symbol))
}

/// Follows a symbol from library to library of the tree until it is at home.
pub(super) fn chase(loader: &Loader<'_>, first: usize, symbol: Symbol<'_>) -> Result<(), String> {
    const HOPS: usize = 16;
    let (mut at, mut symbol) = (first, symbol);
    for _ in 0..HOPS {
        let library = &loader.libraries[at];
        let Kind::Pe {
            exports: Some(exports),
            ..
        } = &library.kind
        else {
            return Ok(());
        };
        let text = match exports.find(&symbol) {
            None => return Err(format!("{} does not have {symbol}", library.name)),
            Some(Export::Here(_)) => return Ok(()),
            Some(Export::Forward(text)) => text,
        };
        // What leads out of the tree, or nowhere, is told where that forward stands.
        let Some((dll, next)) = forward(text) else {
            return Ok(());
        };
        match loader.find(library, &dll).right.first() {
            None => return Ok(()),
            Some(next) => at = *next,
        }
        symbol = next;
    }
    Err(format!(
        "its forwards lead on for more than {HOPS} libraries"
    ))
}
