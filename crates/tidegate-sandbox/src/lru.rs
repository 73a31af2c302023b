//! A map with a bound: the entry unused for longest goes first.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

pub(crate) struct Lru<K, V> {
    max: usize,
    tick: u64,
    map: HashMap<K, (u64, V)>,
    order: BTreeMap<u64, K>,
}

impl<K: Eq + Hash + Clone, V> Lru<K, V> {
    pub(crate) fn new(max: usize) -> Self {
        Self { max: max.max(1), tick: 0, map: HashMap::new(), order: BTreeMap::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// Looks without counting as a use.
    pub(crate) fn peek(&self, key: &K) -> Option<&V> {
        self.map.get(key).map(|(_, value)| value)
    }

    /// Looks up a known entry without counting as a use.
    pub(crate) fn peek_mut(&mut self, key: &K) -> Option<&mut V> {
        self.map.get_mut(key).map(|(_, value)| value)
    }

    /// Looks up a known entry and counts as a use.
    pub(crate) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        if !self.map.contains_key(key) {
            return None;
        }
        self.tick += 1;
        let (seen, value) = self.map.get_mut(key)?;
        self.order.remove(seen);
        *seen = self.tick;
        self.order.insert(self.tick, key.clone());
        Some(value)
    }

    /// The entry of `key`, made if it is not there; the one unused for longest makes room.
    pub(crate) fn entry(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        self.tick += 1;
        let tick = self.tick;
        if let Some((seen, _)) = self.map.get(key) {
            self.order.remove(seen);
        } else if self.map.len() >= self.max
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.map.remove(&oldest);
        }
        self.order.insert(tick, key.clone());
        let slot = self.map.entry(key.clone()).or_insert_with(|| (tick, make()));
        slot.0 = tick;
        &mut slot.1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.map.iter().map(|(key, (_, value))| (key, value))
    }
}

#[cfg(test)]
mod tests {
    use super::Lru;

    #[test]
    fn the_entry_unused_for_longest_makes_room() {
        let mut lru = Lru::new(2);
        lru.entry(&1, || "a");
        lru.entry(&2, || "b");
        lru.get_mut(&1);
        lru.entry(&3, || "c");
        assert_eq!((lru.peek(&1), lru.peek(&2), lru.peek(&3), lru.len()), (Some(&"a"), None, Some(&"c"), 2));
        assert_eq!(lru.order.len(), 2);
    }
}
