//! Many names in one allocation: libraries have hundreds of thousands of them.

use std::ops::Range;

/// Room for the first names, so that it does not grow from nothing byte by byte.
const FIRST: usize = 1 << 10;

/// Names in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Names {
    /// No names, with room for `count`.
    #[must_use]
    pub fn with_capacity(count: usize) -> Self {
        Self {
            bytes: Vec::new(),
            ends: Vec::with_capacity(count),
        }
    }

    /// Adds the name that `write` appends.
    ///
    /// # Errors
    /// Those of `write`; the name is then not there.
    pub fn push<E>(&mut self, write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        let before = self.bytes.len();
        if before == 0 {
            self.bytes.reserve(FIRST);
        }
        let written = write(&mut self.bytes);
        // limit::NAMES_BYTES keeps far away from 4 GiB; what came over it is cut off.
        match u32::try_from(self.bytes.len()) {
            Ok(end) if written.is_ok() => self.ends.push(end),
            _ => self.bytes.truncate(before),
        }
        written
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name at a place.
    #[must_use]
    pub fn get(&self, place: usize) -> Option<&[u8]> {
        self.bytes.get(self.range(place)?)
    }

    /// All names.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).filter_map(|place| self.get(place))
    }

    /// Gives back the room that no name needs.
    pub fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    fn range(&self, place: usize) -> Option<Range<usize>> {
        let start = match place.checked_sub(1) {
            None => 0,
            Some(before) => *self.ends.get(before)?,
        };
        let end = *self.ends.get(place)?;
        Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_went_in_and_a_failed_one_leaves_no_trace() {
        let mut names = Names::with_capacity(3);
        let add = |names: &mut Names, text: &[u8], fails: bool| {
            names.push(|bytes| {
                bytes.extend_from_slice(text);
                if fails { Err(()) } else { Ok(()) }
            })
        };
        assert!(names.is_empty() && names.get(0).is_none());
        add(&mut names, b"one", false).unwrap();
        add(&mut names, b"lost", true).unwrap_err();
        add(&mut names, b"", false).unwrap();
        add(&mut names, b"three", false).unwrap();
        names.shrink();
        assert_eq!(
            names.iter().collect::<Vec<_>>(),
            [&b"one"[..], b"", b"three"]
        );
        assert_eq!((names.len(), names.get(3)), (3, None));
    }
}
