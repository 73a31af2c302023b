use super::*;

const RATE: Rate = Rate::new(2, 1000);
const S: u64 = 1_000_000;

/// Deterministic numbers without a source of chance: xorshift.
fn numbers(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |below| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % below
    }
}

#[test]
fn a_window_begins_with_its_first_call_and_is_whole_when_it_ends() {
    let mut window = Window::default();
    let standing = |remaining, left_us| Standing { limit: 2, remaining, left_us };
    assert_eq!(window.look(5 * S, RATE), standing(2, S));
    assert_eq!(window.take(5 * S, RATE), Ok(standing(1, S)));
    assert_eq!(window.take(5 * S + 900_000, RATE), Ok(standing(0, 100_000)));
    assert_eq!(window.take(6 * S - 1, RATE), Err(standing(0, 1)));
    assert_eq!(window.take(6 * S, RATE), Ok(standing(1, S)));
}

#[test]
fn no_window_ever_takes_more_than_its_rate() {
    let mut next = numbers(42);
    let mut window = Window::default();
    let (mut now_us, mut begun_us, mut taken) = (0, None::<u64>, 0);
    for _ in 0..10_000 {
        now_us += next(700_000);
        if begun_us.is_some_and(|begun_us| now_us - begun_us >= S) {
            (begun_us, taken) = (None, 0);
        }
        match window.take(now_us, RATE) {
            Ok(standing) => {
                begun_us = begun_us.or(Some(now_us));
                taken += 1;
                assert_eq!(standing.remaining, 2 - taken);
            }
            Err(_) => assert_eq!(taken, 2),
        }
    }
}

#[test]
fn what_rolls_is_counted_however_it_is_aligned_and_bounded() {
    let mut rolling = Rolling::default();
    assert_eq!((rolling.add(0, RATE), rolling.add(S / 2, RATE), rolling.add(S, RATE)), (1, 2, 2));
    assert_eq!(rolling.count(S + S / 2, RATE), 1);
    for _ in 0..1000 {
        rolling.add(2 * S, RATE);
    }
    assert_eq!(rolling.count(2 * S, RATE), 3);
}
