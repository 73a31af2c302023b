use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    /// One more, so long after the base.
    Insert(u32),
    /// The nth in makes room for one so much before it.
    Replace(usize, u32),
    /// One that may not be in makes room.
    Exchange(u32, u32),
    Remove(u32),
    /// All before this lapse.
    Lapse(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_u32..500).prop_map(Step::Insert),
        4 => (0_usize..40, 0_u32..200).prop_map(|(nth, before)| Step::Replace(nth, before)),
        1 => (0_u32..500, 0_u32..500).prop_map(|(old, new)| Step::Exchange(old, new)),
        1 => (0_u32..500).prop_map(Step::Remove),
        1 => (0_u32..200).prop_map(Step::Lapse),
    ];
    prop::collection::vec(step, 0..300)
}

fn take_out(list: &mut Vec<u32>, stamp: u32) {
    if let Some(at) = list.iter().position(|other| *other == stamp) {
        list.remove(at);
    }
}

proptest! {
    /// Round the end of the numbers too, on the heap and in place.
    #[test]
    fn it_holds_what_a_sorted_list_would(base in prop_oneof![Just(7_u32), Just(u32::MAX - 250)], steps in steps()) {
        let at = |ahead: u32| base.wrapping_add(ahead);
        let (mut stamps, mut list) = (Stamps::default(), Vec::new());
        for step in steps {
            match step {
                Step::Insert(ahead) => {
                    stamps.insert(at(ahead));
                    list.push(ahead);
                }
                Step::Replace(nth, before) => {
                    let Some(&old) = list.get(nth) else { continue };
                    let new = old.saturating_sub(before);
                    stamps.replace(at(old), at(new));
                    take_out(&mut list, old);
                    list.push(new);
                }
                Step::Exchange(old, new) => {
                    stamps.replace(at(old), at(new));
                    take_out(&mut list, old);
                    list.push(new);
                }
                Step::Remove(ahead) => {
                    prop_assert_eq!(stamps.remove(at(ahead)), list.contains(&ahead));
                    take_out(&mut list, ahead);
                }
                Step::Lapse(ahead) => {
                    stamps.drop_while(|stamp| !after(stamp, at(ahead)));
                    list.retain(|other| *other > ahead);
                }
            }
            list.sort_unstable();
            let expected: Vec<u32> = list.iter().map(|ahead| at(*ahead)).collect();
            prop_assert_eq!(stamps.as_slice(), expected);
        }
    }
}

#[test]
fn answers_in_the_order_of_their_releases_follow_one_another() {
    let mut stamps = Stamps::default();
    (0..200).for_each(|nth| stamps.insert(10_000 + nth));
    for nth in 0..200 {
        stamps.replace(10_000 + nth, 1_000 + nth);
    }
    assert!(stamps.as_slice().iter().copied().eq(1_000..1_200));
}
