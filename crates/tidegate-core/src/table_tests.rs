use alloc::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Number(u32);

impl Entry for Number {
    const FREE: Self = Self(u32::MAX);

    fn is_free(self) -> bool {
        self == Self::FREE
    }
}

/// Few hashes, so that many entries stand beside their places, some round the end.
fn crowded(number: Number) -> u64 {
    u64::from(number.0 % 7).wrapping_mul(0x2fff_ffff_ffff_ffff)
}

fn holds(table: &Table<Number>, number: u32) -> bool {
    table.find(crowded(Number(number)), |other| other == Number(number)) == Some(Number(number))
}

#[test]
fn an_empty_table_holds_nothing_and_no_memory() {
    let mut table = Table::<Number>::new();
    assert!(!holds(&table, 0));
    table.remove(0, |_| true, crowded);
    assert_eq!(table.places.capacity(), 0);
}

#[test]
fn some_places_are_always_free() {
    for bits in 2..20 {
        let places = 1 << bits;
        assert!(most(places) < places && most(places) >= places / 2, "{places}");
    }
}

#[test]
fn what_is_no_longer_needed_is_given_back() {
    let mut table = Table::new();
    (0..1_000).for_each(|number| table.insert(crowded(Number(number)), Number(number), crowded));
    for number in 10..1_000 {
        table.remove(crowded(Number(number)), |other| other == Number(number), crowded);
        table.shrink(64, crowded);
    }
    assert!(table.places.len() <= 64);
    assert!((0..10).all(|number| holds(&table, number)));
}

proptest! {
    #[test]
    fn it_holds_what_a_set_would(steps in prop::collection::vec((any::<bool>(), 0_u32..60), 0..400)) {
        let (mut table, mut set) = (Table::new(), BTreeSet::new());
        for (put, number) in steps {
            let (hash, entry) = (crowded(Number(number)), Number(number));
            if !put {
                table.remove(hash, |other| other == entry, crowded);
                set.remove(&number);
            } else if set.insert(number) {
                table.insert(hash, entry, crowded);
            }
            table.shrink(16, crowded);
            prop_assert!((0..60).all(|number| holds(&table, number) == set.contains(&number)));
        }
    }
}
