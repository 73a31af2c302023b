//! Storage that grows and shrinks in chunks, so that neither a million arrivals nor their leaving stalls a decision.

use alloc::vec::Vec;

const CHUNK: u32 = 512;
const NONE: u16 = u16::MAX;

/// Values by small numbers that stay theirs until they are removed.
#[derive(Debug)]
pub(crate) struct Arena<T> {
    chunks: Vec<Chunk<T>>,
    /// Chunks that have room; each is listed once.
    open: Vec<u32>,
    len: usize,
}

#[derive(Debug)]
struct Chunk<T> {
    slots: Vec<Slot<T>>,
    free: u16,
    live: u16,
    listed: bool,
}

#[derive(Debug)]
enum Slot<T> {
    Full(T),
    Free(u16),
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { chunks: Vec::new(), open: Vec::new(), len: 0 }
    }
}

impl<T> Arena<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn insert(&mut self, value: T) -> u32 {
        let at = match self.open.last() {
            Some(&at) => at,
            None => self.open_chunk(),
        };
        let chunk = &mut self.chunks[at as usize];
        let slot = match chunk.free {
            NONE => {
                if chunk.slots.capacity() == 0 {
                    chunk.slots.reserve_exact(CHUNK as usize);
                }
                chunk.slots.push(Slot::Full(value));
                chunk.slots.len() - 1
            }
            free => {
                let slot = usize::from(free);
                if let Slot::Free(next) = core::mem::replace(&mut chunk.slots[slot], Slot::Full(value)) {
                    chunk.free = next;
                }
                slot
            }
        };
        chunk.live += 1;
        self.len += 1;
        if u32::from(chunk.live) == CHUNK {
            chunk.listed = false;
            self.open.pop();
        }
        at * CHUNK + u32::try_from(slot).unwrap_or(0)
    }

    fn open_chunk(&mut self) -> u32 {
        let at = u32::try_from(self.chunks.len()).unwrap_or(u32::MAX);
        self.chunks.push(Chunk { slots: Vec::new(), free: NONE, live: 0, listed: true });
        self.open.push(at);
        at
    }

    pub(crate) fn remove(&mut self, key: u32) -> Option<T> {
        let chunk = self.chunks.get_mut((key / CHUNK) as usize)?;
        let slot = chunk.slots.get_mut((key % CHUNK) as usize)?;
        if matches!(slot, Slot::Free(_)) {
            return None;
        }
        let Slot::Full(value) = core::mem::replace(slot, Slot::Free(chunk.free)) else { return None };
        chunk.free = u16::try_from(key % CHUNK).unwrap_or(NONE);
        chunk.live -= 1;
        self.len -= 1;
        if chunk.live == 0 {
            // An empty chunk gives its memory back.
            chunk.slots = Vec::new();
            chunk.free = NONE;
        }
        if !chunk.listed {
            chunk.listed = true;
            self.open.push(key / CHUNK);
        }
        Some(value)
    }

    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        match self.chunks.get((key / CHUNK) as usize)?.slots.get((key % CHUNK) as usize)? {
            Slot::Full(value) => Some(value),
            Slot::Free(_) => None,
        }
    }

    pub(crate) fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        match self.chunks.get_mut((key / CHUNK) as usize)?.slots.get_mut((key % CHUNK) as usize)? {
            Slot::Full(value) => Some(value),
            Slot::Free(_) => None,
        }
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = u32> + '_ {
        self.iter().map(|(key, _)| key)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> + '_ {
        self.chunks.iter().zip(0_u32..).flat_map(|(chunk, at)| {
            chunk.slots.iter().zip(0_u32..).filter_map(move |(slot, within)| match slot {
                Slot::Full(value) => Some((at * CHUNK + within, value)),
                Slot::Free(_) => None,
            })
        })
    }
}

impl<T> core::ops::Index<u32> for Arena<T> {
    type Output = T;
    fn index(&self, key: u32) -> &T {
        match self.get(key) {
            Some(value) => value,
            None => unreachable!("a key outlived its value"),
        }
    }
}

impl<T> core::ops::IndexMut<u32> for Arena<T> {
    fn index_mut(&mut self, key: u32) -> &mut T {
        match self.get_mut(key) {
            Some(value) => value,
            None => unreachable!("a key outlived its value"),
        }
    }
}
