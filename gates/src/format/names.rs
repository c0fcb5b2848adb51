//! Many names in one allocation: libraries have hundreds of thousands of them.

use std::ops::Range;

/// Names in the order in which they were added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

impl Names {
    /// No names, with room for `count` of them and their `bytes`.
    #[must_use]
    pub fn with_capacity(count: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(count),
        }
    }

    /// Adds a name; [`limit::NAMES_BYTES`](crate::limit::NAMES_BYTES) keeps all of them far away
    /// from 4 GiB.
    pub fn push(&mut self, name: &[u8]) {
        self.bytes.extend_from_slice(name);
        self.ends
            .push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
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
    fn names_come_back_as_they_went_in() {
        let mut names = Names::with_capacity(3, 5);
        assert!(names.is_empty() && names.get(0).is_none());
        for name in [&b"one"[..], b"", b"three"] {
            names.push(name);
        }
        names.shrink();
        assert_eq!(
            names.iter().collect::<Vec<_>>(),
            [&b"one"[..], b"", b"three"]
        );
        assert_eq!((names.len(), names.get(3)), (3, None));
    }
}
