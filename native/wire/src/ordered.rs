//! A map that knows in which order its entries came.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use serde::{Deserialize, Serialize};

/// Hashed so that nobody who sends packets can choose where keys collide.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<(K, V)>", into = "Vec<(K, V)>")]
#[serde(bound(
    serialize = "K: Clone + Eq + Hash + Serialize, V: Clone + Serialize",
    deserialize = "K: Clone + Eq + Hash + Deserialize<'de>, V: Deserialize<'de>"
))]
pub(crate) struct Ordered<K, V> {
    entries: HashMap<K, (u64, V)>,
    order: BTreeMap<u64, K>,
    next: u64,
}

impl<K, V> Default for Ordered<K, V> {
    fn default() -> Ordered<K, V> {
        Ordered {
            entries: HashMap::new(),
            order: BTreeMap::new(),
            next: 0,
        }
    }
}

impl<K: Clone + Eq + Hash, V> Ordered<K, V> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn contains(&self, key: &K) -> bool {
        self.entries.contains_key(key)
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key).map(|(_, value)| value)
    }

    /// Puts a value at the end, also one whose key was there before.
    pub fn insert(&mut self, key: K, value: V) {
        let place = self.next;
        self.next += 1;
        if let Some((before, _)) = self.entries.insert(key.clone(), (place, value)) {
            self.order.remove(&before);
        }
        self.order.insert(place, key);
    }

    pub fn remove(&mut self, key: &K) -> Option<V> {
        let (place, value) = self.entries.remove(key)?;
        self.order.remove(&place);
        Some(value)
    }

    pub fn first(&self) -> Option<&V> {
        self.order.first_key_value().and_then(|(_, key)| self.get(key))
    }

    pub fn pop_first(&mut self) -> Option<V> {
        let (_, key) = self.order.pop_first()?;
        self.entries.remove(&key).map(|(_, value)| value)
    }
}

impl<K: Clone + Eq + Hash, V> From<Vec<(K, V)>> for Ordered<K, V> {
    fn from(entries: Vec<(K, V)>) -> Ordered<K, V> {
        let mut ordered = Ordered::default();
        for (key, value) in entries {
            ordered.insert(key, value);
        }
        ordered
    }
}

impl<K: Clone + Eq + Hash, V> From<Ordered<K, V>> for Vec<(K, V)> {
    fn from(mut ordered: Ordered<K, V>) -> Vec<(K, V)> {
        let keys = std::mem::take(&mut ordered.order).into_values();
        keys.filter_map(|key| ordered.entries.remove(&key).map(|(_, value)| (key, value)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_keep_their_order() {
        let mut ordered = Ordered::from(vec![("a", 1), ("b", 2), ("c", 3)]);
        ordered.insert("a", 4);
        assert_eq!(
            (ordered.first(), ordered.get(&"a"), ordered.len()),
            (Some(&2), Some(&4), 3)
        );
        assert_eq!(
            (ordered.remove(&"b"), ordered.remove(&"b"), ordered.contains(&"b")),
            (Some(2), None, false)
        );
        let entries = Vec::from(ordered.clone());
        assert_eq!(entries, [("c", 3), ("a", 4)]);
        let mut same = Ordered::from(entries);
        assert_eq!(
            (same.pop_first(), same.pop_first(), same.pop_first()),
            (Some(3), Some(4), None)
        );
    }
}
