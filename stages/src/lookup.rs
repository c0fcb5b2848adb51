//! Values that are found by a text.

use std::borrow::Borrow;
use std::hash::Hash;

#[expect(
    clippy::disallowed_types,
    reason = "what cannot be gone through has no order that could get into an answer"
)]
type Table<K, V> = std::collections::HashMap<K, V, foldhash::fast::RandomState>;

/// Values by text, where a graph of thousands of steps asks for one again and again. They cannot be gone through, so
/// the order in which a hash table has them is nowhere seen: what needs an order is a `BTreeMap`.
#[derive(Debug, Clone)]
pub(crate) struct Lookup<K, V>(Table<K, V>);

impl<K, V> Default for Lookup<K, V> {
    fn default() -> Self {
        Self(Table::default())
    }
}

impl<K: Borrow<str> + Eq + Hash, V> Lookup<K, V> {
    /// With room for so many.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self(Table::with_capacity_and_hasher(count, Default::default()))
    }

    /// The value of a text.
    pub(crate) fn get(&self, text: &str) -> Option<&V> {
        self.0.get(text)
    }

    /// Whether a text has a value.
    pub(crate) fn contains(&self, text: &str) -> bool {
        self.0.contains_key(text)
    }

    /// A text gets this value; whether it had none before.
    pub(crate) fn insert(&mut self, text: K, value: V) -> bool {
        self.0.insert(text, value).is_none()
    }
}

impl<K: Borrow<str> + Eq + Hash, V> FromIterator<(K, V)> for Lookup<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(values: I) -> Self {
        Self(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_text_that_is_put_in_twice_the_later_value_counts() {
        let mut lookup = Lookup::with_capacity(1);
        assert!(lookup.insert("a", 1));
        assert!(!lookup.insert("a", 2));
        assert_eq!((lookup.get("a"), lookup.get("b")), (Some(&2), None));
        assert!(lookup.contains("a") && !lookup.contains("b"));
    }
}
