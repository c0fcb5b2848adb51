//! Values by name, as a node has them.

use std::fmt;
use std::iter::Map;
use std::marker::PhantomData;
use std::ops::Index;
use std::slice;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Values by name, in the order of the names. A graph has several of these for each step, most of them with a handful
/// of values: it takes no more room than those do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named<V>(Vec<(String, V)>);

impl<V> Default for Named<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> Named<V> {
    /// The value of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&V> {
        let found = self
            .0
            .binary_search_by(|(known, _)| known.as_str().cmp(name));
        found.ok().map(|at| &self.0[at].1)
    }

    /// Whether there is a value of this name.
    #[must_use]
    pub fn contains_key(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The names, in order.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        self.0.iter().map(|(name, _)| name)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Names with their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&String, &V)> {
        self.0.iter().map(|(name, value)| (name, value))
    }

    /// The values, in the order of their names.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.0.iter().map(|(_, value)| value)
    }

    /// The same, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.0.iter_mut().map(|(_, value)| value)
    }
}

impl<V> Index<&str> for Named<V> {
    type Output = V;

    /// The value of a name that is known to be there.
    fn index(&self, name: &str) -> &V {
        let value = self.get(name);
        value.unwrap_or_else(|| panic!("there is no `{name}`"))
    }
}

impl<'a, V> IntoIterator for &'a Named<V> {
    type Item = (&'a String, &'a V);
    type IntoIter = Map<slice::Iter<'a, (String, V)>, fn(&'a (String, V)) -> Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().map(|(name, value)| (name, value))
    }
}

/// Of two values of one name the later one counts.
impl<V> FromIterator<(String, V)> for Named<V> {
    fn from_iter<I: IntoIterator<Item = (String, V)>>(values: I) -> Self {
        let mut values: Vec<(String, V)> = values.into_iter().collect();
        if !values.is_sorted_by(|one, next| one.0 < next.0) {
            values.sort_by(|one, other| one.0.cmp(&other.0));
            // The sort keeps the order of equal names; what is left of them is the first.
            values.dedup_by(|next, one| {
                let same = next.0 == one.0;
                if same {
                    std::mem::swap(next, one);
                }
                same
            });
        }
        values.shrink_to_fit();
        Self(values)
    }
}

impl<V: Serialize> Serialize for Named<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Named<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Reader(PhantomData))
    }
}

struct Reader<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for Reader<V> {
    type Value = Named<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("values by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<V>, A::Error> {
        let mut values = Vec::new();
        while let Some(entry) = map.next_entry()? {
            values.push(entry);
        }
        Ok(values.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_map_of_the_same_values(values in vec(("[a-c]{0,2}", 0..9_u8), 0..12)) {
            let map: BTreeMap<String, u8> = values.iter().cloned().collect();
            let named: Named<u8> = values.into_iter().collect();
            prop_assert!(named.iter().eq(map.iter()), "{named:?}");
            prop_assert!(named.values().eq(map.values()));
            for name in ["", "a", "b", "bc", "cc"] {
                prop_assert_eq!(named.get(name), map.get(name));
            }
            let json = serde_json::to_string(&named).unwrap();
            prop_assert_eq!(&json, &serde_json::to_string(&map).unwrap());
            let read: Named<u8> = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(read, named);
        }
    }

    #[test]
    fn of_a_name_that_is_there_twice_the_later_value_counts() {
        let read: Named<u8> = serde_json::from_str(r#"{"b":1,"a":2,"b":3}"#).unwrap();
        assert_eq!(read, Named(vec![("a".into(), 2), ("b".into(), 3)]));
    }
}
