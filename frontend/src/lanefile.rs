//! A lane file with what it names beside it, from wherever its bytes come.
//!
//! Who has the bytes (an engine's bridge, a disk) asks [`LaneFile::pins`] what else to read, reads it, and gets the
//! [`Graph`]. What is wrong comes back with the texts that it is about, so that it can be shown.

use stages::diag::{Diagnostic, Report, SourceId, Sources, rule};
use stages::file::{self, Document, Pins};
use stages::graph::{self, Graph};
use stages::view;

/// A lane file that was read, whose pins were not.
pub struct LaneFile {
    sources: Sources,
    name: String,
    document: Document,
}

/// A graph and the texts that it was made of.
pub struct Loaded {
    /// The texts; the lane file is the first.
    pub sources: Sources,
    /// What they declare.
    pub graph: Graph,
}

/// What is wrong, and the texts that it is about.
#[derive(Debug)]
pub struct Wrong {
    /// The texts.
    pub sources: Sources,
    /// All that is wrong.
    pub report: Report,
}

impl LaneFile {
    /// Reads the text of a lane file. `name` is its path, as the user knows it.
    ///
    /// # Errors
    /// All that is wrong with its form.
    pub fn parse(name: &str, bytes: Vec<u8>) -> Result<Self, Wrong> {
        let mut sources = Sources::default();
        let id = match add(&mut sources, name, bytes) {
            Ok(id) => id,
            Err(report) => return Err(Wrong { sources, report }),
        };
        match file::parse(&sources, id) {
            Ok(document) => Ok(Self {
                sources,
                name: name.to_owned(),
                document,
            }),
            Err(report) => Err(Wrong { sources, report }),
        }
    }

    /// The path of the pins file, in the directory that `name` is relative to.
    #[must_use]
    pub fn pins(&self) -> Option<String> {
        self.document
            .graph
            .versions
            .as_ref()
            .map(|pins| beside(&self.name, &pins.value))
    }

    /// The pins file could not be read. `why` is what engine or disk said.
    #[must_use]
    pub fn unread_pins(&self, why: &str) -> Wrong {
        let message = if why.to_lowercase().contains("no such file") {
            "the pins file is not there".to_owned()
        } else {
            format!("the pins file cannot be read: {why}")
        };
        let mut diagnostic = Diagnostic::new(rule::PATH, message)
            .help("it is looked for beside the lane file; one that comes by standard input has nothing beside it");
        if let Some(pins) = &self.document.graph.versions {
            diagnostic = diagnostic.at(&pins.span, "named here");
        }
        Wrong {
            sources: self.sources.clone(),
            report: diagnostic.into(),
        }
    }

    /// Makes the graph, with the pins file's path and bytes if there is one.
    ///
    /// # Errors
    /// All that is wrong with pins and graph.
    pub fn graph(self, pins: Option<(String, Vec<u8>)>) -> Result<Loaded, Wrong> {
        let Self {
            mut sources,
            document,
            ..
        } = self;
        let mut report = Report::default();
        let mut read = Pins::new();
        if let Some((name, bytes)) = pins {
            match add(&mut sources, &name, bytes) {
                Ok(id) => read = file::parse_pins(&sources, id, &mut report),
                Err(unread) => report.extend(unread),
            }
        }
        let graph = report
            .into_result(read)
            .and_then(|pins| graph::resolve(document, pins))
            .and_then(|graph| view::check_tags(&graph).map(|()| graph));
        match graph {
            Ok(graph) => Ok(Loaded { sources, graph }),
            Err(report) => Err(Wrong { sources, report }),
        }
    }
}

fn add(sources: &mut Sources, name: &str, bytes: Vec<u8>) -> Result<SourceId, Report> {
    match file::text_of_bytes(bytes) {
        Ok(text) => Ok(sources.add(name, text)),
        Err(why) => {
            Err(Diagnostic::new(rule::SYNTAX, format!("{name} cannot be read: {why}")).into())
        }
    }
}

/// The path of a file that is named in the file `name`. It is below that one: [`file::parse`] takes no other.
pub(crate) fn beside(name: &str, path: &str) -> String {
    match name.rsplit_once('/') {
        Some((directory, _)) => format!("{directory}/{path}"),
        None => path.to_owned(),
    }
}
