//! Which lines of which files a vertex comes from.
//!
//! BuildKit shows them when the vertex fails, if its digest is the one that we
//! computed.

use std::fmt;
use std::sync::Arc;

use crate::proto::pb;

/// A file that vertices come from: a cheap handle.
#[derive(Clone, PartialEq)]
pub struct SourceFile(Arc<pb::SourceInfo>);

impl SourceFile {
    /// A file by its name, its language (as in `TOML`; empty for none) and its
    /// bytes.
    #[must_use]
    pub fn new(
        filename: impl Into<String>,
        language: impl Into<String>,
        data: impl Into<Vec<u8>>,
    ) -> Self {
        Self(Arc::new(pb::SourceInfo {
            filename: filename.into(),
            data: data.into(),
            definition: None,
            language: language.into(),
        }))
    }

    /// The same file with the graph by which it was read.
    #[must_use]
    pub fn read_by(self, definition: pb::Definition) -> Self {
        let mut info = Arc::unwrap_or_clone(self.0);
        info.definition = Some(definition);
        Self(Arc::new(info))
    }

    /// The name.
    #[must_use]
    pub fn filename(&self) -> &str {
        &self.0.filename
    }

    /// The wire form, as `Warn` takes it.
    #[must_use]
    pub fn to_pb(&self) -> pb::SourceInfo {
        pb::SourceInfo::clone(&self.0)
    }

    pub(crate) fn from_pb(info: pb::SourceInfo) -> Self {
        Self(Arc::new(info))
    }

    /// Equal, and quickly so for two handles to one file.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl fmt::Debug for SourceFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceFile({:?})", self.0.filename)
    }
}

/// A place in a file: line and column, both from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    line: u32,
    column: u32,
}

impl Position {
    /// A place; 0 becomes 1.
    #[must_use]
    pub fn new(line: u32, column: u32) -> Self {
        Self {
            line: line.max(1),
            column: column.max(1),
        }
    }

    fn to_pb(self) -> pb::Position {
        pb::Position {
            line: i32::try_from(self.line).unwrap_or(i32::MAX),
            character: i32::try_from(self.column).unwrap_or(i32::MAX),
        }
    }

    fn from_pb(position: Option<pb::Position>) -> Self {
        let position = position.unwrap_or_default();
        Self::new(
            u32::try_from(position.line).unwrap_or(1),
            u32::try_from(position.character).unwrap_or(1),
        )
    }
}

/// From a place to a place, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    start: Position,
    end: Position,
}

impl Range {
    /// From `start` to `end`; an end before the start becomes the start.
    #[must_use]
    pub fn new(start: Position, end: Position) -> Self {
        Self {
            start,
            end: end.max(start),
        }
    }

    /// Whole lines, by the number of the first and the last one.
    #[must_use]
    pub fn lines(first: u32, last: u32) -> Self {
        Self::new(Position::new(first, 1), Position::new(last, 1))
    }

    /// The wire form, as `Warn` takes it.
    #[must_use]
    pub fn to_pb(self) -> pb::Range {
        pb::Range {
            start: Some(self.start.to_pb()),
            end: Some(self.end.to_pb()),
        }
    }

    pub(crate) fn from_pb(range: pb::Range) -> Self {
        Self::new(Position::from_pb(range.start), Position::from_pb(range.end))
    }
}

/// Ranges in one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Location {
    pub(crate) file: SourceFile,
    pub(crate) ranges: Vec<Range>,
}

impl Location {
    /// Ranges in `file`.
    #[must_use]
    pub fn new(file: &SourceFile, ranges: impl IntoIterator<Item = Range>) -> Self {
        Self {
            file: file.clone(),
            ranges: ranges.into_iter().collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_from_1_and_ranges_do_not_go_back() {
        let position = |line, character| Some(pb::Position { line, character });
        let range = Range::new(Position::new(0, 0), Position::new(u32::MAX, 7));
        assert_eq!(range.to_pb().start, position(1, 1));
        assert_eq!(range.to_pb().end, position(i32::MAX, 7));
        let back = Range::new(Position::new(5, 3), Position::new(4, 9));
        assert_eq!(back.to_pb().end, position(5, 3));
        assert_eq!(Range::lines(2, 4).to_pb().end, position(4, 1));
    }

    #[test]
    fn a_file_is_the_same_by_handle_or_by_content() {
        let file = |data: &str| SourceFile::new("lanes.toml", "TOML", data);
        let one = file("a");
        assert!(one.is(&one.clone()));
        assert!(one.is(&file("a")));
        assert!(!one.is(&file("b")));
        assert!(!one.is(&file("a").read_by(pb::Definition::default())));
    }
}
