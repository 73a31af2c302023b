//! A sorted list of stamps that is added to at its end and shrinks from its front.
#![expect(clippy::inline_always, reason = "every write takes this path, twice")]

use alloc::vec;
use alloc::vec::Vec;

/// A full window of a group (18 and 2 in reserve) stands in place.
const FEW: usize = 20;
/// A list on the heap that runs empty keeps room for so many.
const KEPT: usize = 1_024;
/// So many at the end are looked at one by one.
const NEAR: usize = 8;

#[derive(Clone, Debug)]
pub(super) struct Stamps {
    /// The stamps are those of the list from here
    first: u32,
    /// to before here.
    end: u32,
    list: List,
}

#[derive(Clone, Debug)]
enum List {
    Few([u32; FEW]),
    /// And where the one stood that was put in for another the last: answers come nearly in the order of their releases,
    /// so the next to make room stands near there.
    Many(Vec<u32>, usize),
}

impl Default for Stamps {
    fn default() -> Self {
        Self { first: 0, end: 0, list: List::Few([0; FEW]) }
    }
}

impl FromIterator<u32> for Stamps {
    fn from_iter<I: IntoIterator<Item = u32>>(stamps: I) -> Self {
        let list: Vec<u32> = stamps.into_iter().collect();
        Self { first: 0, end: narrow(list.len()), list: List::Many(list, 0) }
    }
}

impl List {
    #[inline]
    fn as_slice(&self) -> &[u32] {
        match self {
            Self::Few(list) => list,
            Self::Many(list, _) => list,
        }
    }

    #[inline]
    fn as_mut_slice(&mut self) -> &mut [u32] {
        match self {
            Self::Few(list) => list,
            Self::Many(list, _) => list,
        }
    }
}

impl Stamps {
    #[inline]
    pub(super) fn len(&self) -> usize {
        (self.end - self.first) as usize
    }

    #[inline]
    pub(super) fn as_slice(&self) -> &[u32] {
        self.list.as_slice().get(self.first as usize..self.end as usize).unwrap_or_default()
    }

    #[inline]
    fn as_mut_slice(&mut self) -> &mut [u32] {
        self.list.as_mut_slice().get_mut(self.first as usize..self.end as usize).unwrap_or_default()
    }

    /// Drops those at the front that have lapsed.
    #[inline(always)]
    pub(super) fn drop_while(&mut self, lapsed: impl Fn(u32) -> bool) {
        let lapsed = self.as_slice().iter().take_while(|stamp| lapsed(**stamp)).count();
        if lapsed > 0 {
            self.first += narrow(lapsed);
            if self.first == self.end {
                self.emptied();
            }
        }
    }

    #[inline(never)]
    fn emptied(&mut self) {
        if self.list.as_slice().len() > KEPT {
            self.list = List::Few([0; FEW]);
        }
        (self.first, self.end) = (0, 0);
    }

    /// Puts a stamp in, at its place. Most lapse later than all that are in but those in flight.
    #[inline]
    pub(super) fn insert(&mut self, stamp: u32) {
        if self.end as usize == self.list.as_slice().len() {
            self.make_room();
        }
        let (first, end) = (self.first as usize, self.end as usize);
        let list = self.list.as_mut_slice();
        if let Some(place) = list.get_mut(end) {
            *place = stamp;
            self.end += 1;
            if end > first && after(list[end - 1], stamp) {
                sink(&mut list[first..=end]);
            }
        }
    }

    /// Makes room for one more: where the lapsed ones stood, or by a longer list.
    #[inline(never)]
    fn make_room(&mut self) {
        let standing = self.first as usize..self.end as usize;
        match &mut self.list {
            List::Few(list) if standing.start > 0 => list.copy_within(standing.clone(), 0),
            // Not for a few: a window that is full all the time would be moved at each release.
            List::Many(list, _) if standing.start > list.len() / 4 => list.copy_within(standing.clone(), 0),
            list => {
                let mut longer = vec![0; standing.len() + standing.len() / 2 + FEW];
                for (to, from) in longer.iter_mut().zip(list.as_slice().get(standing.clone()).unwrap_or_default()) {
                    *to = *from;
                }
                *list = List::Many(longer, 0);
            }
        }
        (self.first, self.end) = (0, narrow(standing.len()));
    }

    /// Takes one out; whether it was in.
    pub(super) fn remove(&mut self, stamp: u32) -> bool {
        let list = self.as_mut_slice();
        let Some(at) = list.iter().rposition(|other| *other == stamp) else { return false };
        list[at..].rotate_left(1);
        self.end -= 1;
        true
    }

    /// Puts one in for another; in all the same where that one is not in.
    #[inline(always)]
    pub(super) fn replace(&mut self, old: u32, new: u32) {
        match self.find(old) {
            Some(at) if !after(new, old) => {
                let first = self.first as usize;
                let list = self.list.as_mut_slice();
                list[at] = new;
                if at > first && after(list[at - 1], new) {
                    sink(&mut list[first..=at]);
                }
                if let List::Many(_, last) = &mut self.list {
                    *last = at;
                }
            }
            _ => self.put_for(old, new),
        }
    }

    #[inline(never)]
    fn put_for(&mut self, old: u32, new: u32) {
        self.remove(old);
        self.insert(new);
    }

    /// Where one of these stands in the whole list, if one is in.
    #[inline(always)]
    fn find(&self, stamp: u32) -> Option<usize> {
        let standing = self.as_slice();
        let first = self.first as usize;
        // The only one in flight is the last.
        if standing.last() == Some(&stamp) {
            return Some(first + standing.len() - 1);
        }
        if let List::Many(list, last) = &self.list
            && (first..self.end as usize).contains(&(last + 1))
            && list.get(last + 1) == Some(&stamp)
        {
            return Some(last + 1);
        }
        let at = place(standing, stamp);
        (standing.get(at) == Some(&stamp)).then_some(first + at)
    }
}

/// Whether one stamp lies after another. They are never half a round apart.
#[expect(clippy::cast_possible_wrap, reason = "distance on the round")]
pub(super) fn after(one: u32, other: u32) -> bool {
    (one.wrapping_sub(other) as i32) > 0
}

/// Where the first stamp stands that does not lapse before this one.
fn place(list: &[u32], stamp: u32) -> usize {
    let before = |other: &u32| after(stamp, *other);
    // The last ones are those in flight, few of most windows.
    let near = list.len().saturating_sub(NEAR);
    if near > 0 && !before(&list[near]) {
        return list.partition_point(before);
    }
    list.len() - list[near..].iter().rev().take_while(|other| !before(other)).count()
}

/// Moves the last stamp to the front of all that lapse later.
fn sink(list: &mut [u32]) {
    let Some((&mut stamp, before)) = list.split_last_mut() else { return };
    if before.last().is_some_and(|last| after(*last, stamp)) {
        let to = place(before, stamp.wrapping_add(1));
        list[to..].rotate_right(1);
    }
}

fn narrow(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(0)
}

#[cfg(test)]
#[path = "stamps_tests.rs"]
mod tests;
