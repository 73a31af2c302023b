//! A sorted list of stamps that is added to at its end and shrinks from its front.

use alloc::vec::Vec;

/// A full window of a group (18 and 2 in reserve) stands in place.
const FEW: usize = 20;
/// So many at the end are looked at one by one.
const NEAR: usize = 8;
/// A list on the heap that runs empty keeps room for so many.
const KEPT: usize = 1_024;

#[derive(Clone, Debug)]
pub(super) enum Stamps {
    Few { first: u8, end: u8, list: [u32; FEW] },
    Many { first: u32, list: Vec<u32> },
}

impl Default for Stamps {
    fn default() -> Self {
        Self::Few { first: 0, end: 0, list: [0; FEW] }
    }
}

impl FromIterator<u32> for Stamps {
    fn from_iter<I: IntoIterator<Item = u32>>(stamps: I) -> Self {
        Self::Many { first: 0, list: stamps.into_iter().collect() }
    }
}

impl Stamps {
    #[inline]
    pub(super) fn as_slice(&self) -> &[u32] {
        match self {
            Self::Few { first, end, list } => list.get(usize::from(*first)..usize::from(*end)),
            Self::Many { first, list } => list.get(*first as usize..),
        }
        .unwrap_or_default()
    }

    #[inline]
    pub(super) fn first(&self) -> Option<u32> {
        match self {
            Self::Few { first, end, list } if first < end => list.get(usize::from(*first)),
            Self::Few { .. } => None,
            Self::Many { first, list } => list.get(*first as usize),
        }
        .copied()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Few { first, end, .. } => usize::from(end - first),
            Self::Many { first, list } => list.len() - *first as usize,
        }
    }

    #[inline]
    fn as_mut_slice(&mut self) -> &mut [u32] {
        match self {
            Self::Few { first, end, list } => list.get_mut(usize::from(*first)..usize::from(*end)),
            Self::Many { first, list } => list.get_mut(*first as usize..),
        }
        .unwrap_or_default()
    }

    /// Drops those at the front that have lapsed. On the heap they are cleared away once they are most of the list, not
    /// one by one.
    #[inline]
    pub(super) fn drop_while(&mut self, lapsed: impl Fn(u32) -> bool) {
        match self {
            Self::Few { first, end, list } => {
                while first < end && list.get(usize::from(*first)).is_some_and(|stamp| lapsed(*stamp)) {
                    *first += 1;
                }
            }
            Self::Many { first, list } => {
                let mut gone = *first as usize;
                while list.get(gone).is_some_and(|stamp| lapsed(*stamp)) {
                    gone += 1;
                }
                if gone > *first as usize {
                    self.cut(gone);
                }
            }
        }
    }

    #[inline(never)]
    fn cut(&mut self, gone: usize) {
        let Self::Many { first, list } = self else { return };
        if gone == list.len() && list.capacity() > KEPT {
            *self = Self::default();
        } else if gone > list.len() / 2 {
            list.drain(..gone);
            *first = 0;
        } else {
            *first = u32::try_from(gone).unwrap_or(0);
        }
    }

    /// Puts a stamp in, at its place seen from `base`. Most lapse later than all that are in but those in flight.
    #[inline]
    pub(super) fn insert(&mut self, stamp: u32, base: u32) {
        let farthest = self.as_slice().last().map_or(0, |last| last.wrapping_sub(base));
        self.push(stamp);
        if farthest > stamp.wrapping_sub(base) {
            let list = self.as_mut_slice();
            sink(list, list.len() - 1, base);
        }
    }

    /// Takes one out; nothing where it is not in.
    pub(super) fn remove(&mut self, stamp: u32) {
        let Some(at) = self.as_slice().iter().rposition(|s| *s == stamp) else { return };
        self.as_mut_slice()[at..].rotate_left(1);
        match self {
            Self::Few { end, .. } => *end -= 1,
            Self::Many { list, .. } => {
                list.pop();
            }
        }
    }

    /// Puts one in another's place, or in besides where that one is not in. It may not lapse later.
    pub(super) fn replace(&mut self, old: u32, new: u32, base: u32) {
        let list = self.as_mut_slice();
        let at = place(list, old, base);
        if list.get(at) == Some(&old) && new.wrapping_sub(base) <= old.wrapping_sub(base) {
            list[at] = new;
            sink(list, at, base);
        } else {
            self.remove(old);
            self.insert(new, base);
        }
    }

    #[inline]
    fn push(&mut self, stamp: u32) {
        if let Self::Few { end, list, .. } = self
            && let Some(place) = list.get_mut(usize::from(*end))
        {
            *place = stamp;
            *end += 1;
        } else {
            self.make_room();
            match self {
                Self::Few { end, list, .. } => {
                    list[usize::from(*end)] = stamp;
                    *end += 1;
                }
                Self::Many { list, .. } => list.push(stamp),
            }
        }
    }

    /// Makes room for one more: where the lapsed ones stood, or on the heap.
    #[inline(never)]
    fn make_room(&mut self) {
        match self {
            Self::Few { first, end, list } if *first > 0 => {
                list.copy_within(usize::from(*first)..usize::from(*end), 0);
                (*first, *end) = (0, *end - *first);
            }
            Self::Few { list, .. } => {
                let mut more = Vec::with_capacity(2 * FEW);
                more.extend_from_slice(&list[..]);
                *self = Self::Many { first: 0, list: more };
            }
            Self::Many { first, list } => {
                if list.len() == list.capacity() && *first > 0 {
                    list.drain(..*first as usize);
                    *first = 0;
                }
                if list.len() == list.capacity() {
                    // In small steps: a full window should not take twice its size.
                    list.reserve_exact(list.len() / 2 + 4);
                }
            }
        }
    }
}

/// Where the first stamp stands that does not lapse before this one, seen from `base`.
#[inline]
fn place(list: &[u32], stamp: u32, base: u32) -> usize {
    let before = |other: &u32| other.wrapping_sub(base) < stamp.wrapping_sub(base);
    // The last ones are those in flight, few of most windows.
    match list.len().checked_sub(NEAR) {
        Some(near) if list.get(near).is_some_and(before) => {
            near + list[near..].iter().take_while(|other| before(other)).count()
        }
        None => list.iter().take_while(|other| before(other)).count(),
        Some(_) => list.partition_point(before),
    }
}

/// Moves the stamp at `at` to the front of all that lapse later, seen from `base`.
#[inline]
fn sink(list: &mut [u32], at: usize, base: u32) {
    let Some((&mut stamp, before)) = list.get_mut(..=at).and_then(<[u32]>::split_last_mut) else { return };
    let to = place(before, stamp.wrapping_add(1), base);
    if to < at {
        list[to..=at].rotate_right(1);
    }
}
