//! Storage that grows and shrinks in chunks, so that neither a million arrivals nor their leaving stalls a decision.
#![expect(clippy::inline_always, reason = "every write is kept and given up once")]

use alloc::vec::Vec;

const CHUNK: u32 = 512;
/// An empty chunk with no more slots than this keeps them: what comes one at a time should not allocate each time.
const KEPT: usize = 64;
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

    #[inline(always)]
    pub(crate) fn insert(&mut self, value: T) -> u32 {
        let at = match self.open.last() {
            Some(&at) => at,
            None => self.open_chunk(),
        };
        let chunk = &mut self.chunks[at as usize];
        let slot = chunk.free_slot();
        chunk.live += 1;
        if u32::from(chunk.live) == CHUNK {
            chunk.listed = false;
            self.open.pop();
        }
        self.len += 1;
        chunk.slots[slot] = Slot::Full(value);
        at * CHUNK + u32::try_from(slot).unwrap_or(0)
    }

    #[inline(never)]
    fn open_chunk(&mut self) -> u32 {
        let at = u32::try_from(self.chunks.len()).unwrap_or(u32::MAX);
        self.chunks.push(Chunk { slots: Vec::new(), free: NONE, live: 0, listed: true });
        // The first grows as it is used, so that few values take little.
        if at > 0 {
            self.chunks[at as usize].slots.reserve_exact(CHUNK as usize);
        }
        self.open.push(at);
        at
    }

    pub(crate) fn remove(&mut self, key: u32) -> Option<T> {
        let chunk = self.chunks.get_mut(at_chunk(key))?;
        let slot = chunk.slots.get_mut(within(key))?;
        if matches!(slot, Slot::Free(_)) {
            return None;
        }
        let Slot::Full(value) = core::mem::replace(slot, Slot::Free(chunk.free)) else { return None };
        self.len -= 1;
        if chunk.freed(key) {
            self.open.push(key / CHUNK);
        }
        Some(value)
    }

    /// Drops the value where it stands.
    #[inline(always)]
    pub(crate) fn discard(&mut self, key: u32) {
        let Some(chunk) = self.chunks.get_mut(at_chunk(key)) else { return };
        let free = chunk.free;
        if let Some(slot @ Slot::Full(_)) = chunk.slots.get_mut(within(key)) {
            *slot = Slot::Free(free);
            self.len -= 1;
            if chunk.freed(key) {
                self.open.push(key / CHUNK);
            }
        }
    }

    #[inline]
    pub(crate) fn get(&self, key: u32) -> Option<&T> {
        match self.chunks.get(at_chunk(key))?.slots.get(within(key))? {
            Slot::Full(value) => Some(value),
            Slot::Free(_) => None,
        }
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, key: u32) -> Option<&mut T> {
        match self.chunks.get_mut(at_chunk(key))?.slots.get_mut(within(key))? {
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

impl<T> Chunk<T> {
    /// One of its slots is free from now on; whether it is to be listed for that.
    #[inline]
    fn freed(&mut self, key: u32) -> bool {
        self.free = u16::try_from(within(key)).unwrap_or(NONE);
        self.live -= 1;
        if self.live == 0 {
            self.empty();
        }
        !core::mem::replace(&mut self.listed, true)
    }

    /// An empty chunk gives its memory back.
    fn empty(&mut self) {
        self.free = NONE;
        if self.slots.capacity() > KEPT {
            self.slots = Vec::new();
        } else {
            self.slots.clear();
        }
    }

    /// A slot to put a value in, no longer free.
    #[inline]
    fn free_slot(&mut self) -> usize {
        if let Some(Slot::Free(next)) = self.slots.get(usize::from(self.free)) {
            return usize::from(core::mem::replace(&mut self.free, *next));
        }
        self.slots.push(Slot::Free(NONE));
        self.slots.len() - 1
    }
}

fn at_chunk(key: u32) -> usize {
    (key / CHUNK) as usize
}

fn within(key: u32) -> usize {
    (key % CHUNK) as usize
}

impl<T> core::ops::Index<u32> for Arena<T> {
    type Output = T;
    #[inline]
    fn index(&self, key: u32) -> &T {
        match self.get(key) {
            Some(value) => value,
            None => unreachable!("a key outlived its value"),
        }
    }
}

impl<T> core::ops::IndexMut<u32> for Arena<T> {
    #[inline]
    fn index_mut(&mut self, key: u32) -> &mut T {
        match self.get_mut(key) {
            Some(value) => value,
            None => unreachable!("a key outlived its value"),
        }
    }
}
