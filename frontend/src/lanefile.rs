//! A lane file with what it names beside it, from wherever its bytes come.
//!
//! Who has the bytes (an engine's bridge, a disk) asks [`LaneFile::includes`] and [`LaneFile::pins`] what else to read,
//! reads it, and gets the [`Graph`]. What is wrong comes back with the texts that it is about, so that it can be shown.

use stages::diag::{Diagnostic, Report, SourceId, Sources, rule};
use stages::file::{self, Document, Files, Pins, Walk};
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
    /// What is doubtful and stops nothing.
    pub warnings: Report,
}

/// What is wrong, and the texts that it is about.
#[derive(Debug)]
pub struct Wrong {
    /// The texts.
    pub sources: Sources,
    /// All that is wrong.
    pub report: Report,
}

impl Wrong {
    /// The same of a file as it was in a revision of its repository, by git's name for that.
    #[must_use]
    pub fn of_revision(mut self, revision: &str) -> Self {
        self.sources.rename(|name| format!("{revision}:{name}"));
        self
    }
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

    /// The patterns of the files that it includes, in the directory that `name` is relative to.
    #[must_use]
    pub fn patterns(&self) -> Vec<String> {
        let include = self.document.graph.include.iter();
        let plain = |path: &str| path.strip_prefix("./").unwrap_or(path).to_owned();
        include
            .map(|pattern| beside(&self.name, &plain(&pattern.value)))
            .collect()
    }

    /// The search for the files that it includes, if it includes any.
    ///
    /// # Errors
    /// Patterns that cannot be.
    pub fn includes(&self) -> Result<Option<Walk>, Wrong> {
        Walk::new(&self.document.graph).map_err(|report| self.wrong(report))
    }

    /// The paths of included files that a finished search found, in the directory that `name` is relative to.
    ///
    /// # Errors
    /// Patterns that stand for nothing, and too many files.
    pub fn included(&self, walk: Walk) -> Result<Vec<String>, Wrong> {
        let own = self.name.rsplit('/').next().unwrap_or(&self.name);
        let found = walk.finish(own).map_err(|report| self.wrong(report))?;
        Ok(found.iter().map(|path| beside(&self.name, path)).collect())
    }

    /// The same with the tables of included files: paths with their bytes, or why they could not be read.
    ///
    /// # Errors
    /// All that is wrong with their form, and names that are declared twice.
    pub fn include(
        mut self,
        files: impl IntoIterator<Item = (String, Result<Vec<u8>, String>)>,
    ) -> Result<Self, Wrong> {
        let mut report = Report::default();
        let mut read = 0_u64;
        for (name, bytes) in files {
            let size = bytes.as_ref().map_or(0, Vec::len);
            read = read.saturating_add(u64::try_from(size).unwrap_or(u64::MAX));
            let bytes = bytes.and_then(|bytes| match read > file::MAX_INCLUDED_BYTES {
                true => Err(format!(
                    "included files may have {} bytes together",
                    file::MAX_INCLUDED_BYTES
                )),
                false => Ok(bytes),
            });
            match self.one(&name, bytes) {
                Ok(document) => self.document.include(document, &mut report),
                Err(more) => report.extend(more),
            }
        }
        match report.into_result(()) {
            Ok(()) => Ok(self),
            Err(report) => Err(self.wrong(report)),
        }
    }

    fn one(&mut self, name: &str, bytes: Result<Vec<u8>, String>) -> Result<Document, Report> {
        let unread = |why: String| {
            let mut diagnostic =
                Diagnostic::new(rule::PATH, format!("{name} cannot be read: {why}"));
            if let Some(pattern) = self.document.graph.include.first() {
                diagnostic = diagnostic.at(&pattern.span, "it is included here");
            }
            Report::from(diagnostic)
        };
        let bytes = bytes.map_err(unread)?;
        let id = add(&mut self.sources, name, bytes)?;
        file::parse_included(&self.sources, id, &self.document.graph)
    }

    fn wrong(&self, report: Report) -> Wrong {
        Wrong {
            sources: self.sources.clone(),
            report,
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
        self.wrong(diagnostic.into())
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
        let linted = graph.and_then(|graph| {
            let report = graph::lint::lint(&graph, &sources, None);
            let (errors, warnings) = report.clone().split();
            if errors.is_empty() {
                Ok((graph, warnings))
            } else {
                Err(report)
            }
        });
        match linted {
            Ok((graph, warnings)) => Ok(Loaded {
                sources,
                graph,
                warnings,
            }),
            Err(report) => Err(Wrong { sources, report }),
        }
    }
}

impl Loaded {
    /// The same, with what lints say that look into the context. `text` hands out the bytes of a file of it, `below` the
    /// paths of all that is below a directory, where there is one; `lacks` says that nothing is at a path.
    ///
    /// # Errors
    /// All that is wrong, warnings too.
    pub fn with_context(
        self,
        text: impl Fn(&str) -> Option<Vec<u8>>,
        below: impl Fn(&str) -> Option<Vec<String>>,
        lacks: impl Fn(&str) -> bool,
    ) -> Result<Self, Wrong> {
        let Self {
            mut sources, graph, ..
        } = self;
        let mut files = Files::new();
        for path in graph::lint::texts(&graph) {
            let text = text(&path).and_then(|bytes| file::text_of_bytes(bytes).ok());
            if let Some(text) = text {
                files.insert(path.clone(), sources.add(path, text));
            }
        }
        for directory in graph::lint::directories(&graph) {
            if let Some(below) = below(&directory) {
                files.list(directory, below);
            }
        }
        for path in graph::lint::listed(&graph) {
            if lacks(&path) {
                files.lack(path);
            }
        }
        let report = graph::lint::lint(&graph, &sources, Some(&files));
        let (errors, warnings) = report.clone().split();
        if !errors.is_empty() {
            return Err(Wrong { sources, report });
        }
        Ok(Self {
            sources,
            graph,
            warnings,
        })
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
