//! Many names in one allocation, as files have them: libraries have hundreds of thousands of them.

/// Text in which every name ends with a zero. A name is known by where it begins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Names(Vec<u8>);

impl Names {
    /// Names as they lie in a file.
    #[must_use]
    pub const fn new(text: Vec<u8>) -> Self {
        Self(text)
    }

    /// Adds what stands before a name, and the name; hands back where it begins.
    /// [`limit::NAMES_BYTES`](crate::limit::NAMES_BYTES) keeps all of them far away from 4 GiB.
    pub fn push(&mut self, before: &[u8], name: &[u8]) -> u32 {
        self.0.extend_from_slice(before);
        let start = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.extend_from_slice(name);
        self.0.push(0);
        start
    }

    /// The name that begins there; nothing where no name does.
    #[must_use]
    pub fn get(&self, start: u32) -> &[u8] {
        let rest = self.from(start);
        memchr::memchr(0, rest).map_or(rest, |end| &rest[..end])
    }

    /// Whether this name begins there.
    #[must_use]
    pub fn is(&self, start: u32, name: &[u8]) -> bool {
        let rest = self.from(start).strip_prefix(name);
        rest.and_then(<[u8]>::first) == Some(&0)
    }

    /// The two bytes before a name, as a number.
    #[must_use]
    pub fn hint(&self, start: u32) -> u16 {
        let before = usize::try_from(start).ok().and_then(|at| self.0.get(..at));
        let hint = before.and_then(<[u8]>::last_chunk);
        hint.copied().map_or(0, u16::from_le_bytes)
    }

    /// How many bytes they have.
    #[must_use]
    #[cfg(test)]
    pub const fn bytes(&self) -> usize {
        self.0.len()
    }

    /// Gives back the room that no name needs.
    pub fn shrink(&mut self) {
        self.0.shrink_to_fit();
    }

    fn from(&self, start: u32) -> &[u8] {
        let start = usize::try_from(start).ok();
        start
            .and_then(|start| self.0.get(start..))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_as_they_went_in() {
        let mut names = Names::default();
        let all = [&b"one"[..], b"", b"three"];
        let starts = all.map(|name| names.push(&[7, 1], name));
        names.shrink();
        for (start, name) in starts.into_iter().zip(all) {
            assert_eq!((names.get(start), names.hint(start)), (name, 0x107));
            assert!(names.is(start, name) && !names.is(start, b"on"));
        }
        assert!(!names.is(starts[0], b"one\0"));
        assert_eq!(
            (names.get(99), names.is(99, b""), names.hint(99)),
            (&b""[..], false, 0)
        );
    }
}
