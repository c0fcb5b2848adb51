//! A lane file with what it names beside it, from wherever its bytes come.
//!
//! Who has the bytes (an engine's bridge, a disk) asks [`LaneFile::pins`] what else to read, reads it, and gets the
//! [`Graph`]. What is wrong comes back with the texts that it is about, so that it can be shown.

use std::path::{Component, Path};

use stages::diag::{Diagnostic, Report, SourceId, Sources, rule};
use stages::file::{self, Document, Pins};
use stages::graph::{self, Graph};

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

    /// The path of the pins file in the directory that `name` is relative to.
    ///
    /// # Errors
    /// When it lies outside: an engine leaves such a file out in silence.
    pub fn pins(&self) -> Result<Option<String>, Wrong> {
        let Some(pins) = &self.document.graph.versions else {
            return Ok(None);
        };
        match beside(&self.name, &pins.value) {
            Some(path) => Ok(Some(path)),
            None => {
                let message = format!(
                    "`{}` is not in or below the directory of the lane file",
                    pins.value
                );
                Err(self.wrong(
                    Diagnostic::new(rule::PATH, message)
                        .at(&pins.span, "named here")
                        .help(
                            "builds only see that directory: put the lane file above what it names",
                        ),
                ))
            }
        }
    }

    /// Something that is wrong with this file.
    #[must_use]
    pub fn wrong(&self, diagnostic: Diagnostic) -> Wrong {
        Wrong {
            sources: self.sources.clone(),
            report: diagnostic.into(),
        }
    }

    /// The pins file could not be read.
    #[must_use]
    pub fn unread_pins(&self, why: &str) -> Wrong {
        let mut diagnostic =
            Diagnostic::new(rule::PATH, format!("the pins file cannot be read: {why}"));
        if let Some(pins) = &self.document.graph.versions {
            diagnostic = diagnostic.at(&pins.span, "named here");
        }
        self.wrong(diagnostic)
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
            .and_then(|pins| graph::resolve(document, pins));
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

/// The path that `path`, written in the file `name`, stands for; nothing when it leaves the top directory.
fn beside(name: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = name.split('/').filter(|part| !part.is_empty()).collect();
    parts.pop();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::CurDir => {}
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_relative_to_the_file_that_names_it_and_stays_below_the_top() {
        assert_eq!(
            beside("lanes.toml", "versions.env").as_deref(),
            Some("versions.env")
        );
        assert_eq!(
            beside("a/lanes.toml", "./b/versions.env").as_deref(),
            Some("a/b/versions.env")
        );
        assert_eq!(
            beside("a/lanes.toml", "../versions.env").as_deref(),
            Some("versions.env")
        );
        assert_eq!(beside("lanes.toml", "../versions.env"), None);
        assert_eq!(beside("a/lanes.toml", "../../versions.env"), None);
        assert_eq!(beside("lanes.toml", "/etc/versions.env"), None);
    }
}
