use alloc::vec;
use alloc::vec::Vec;

use super::*;

const fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// Answers of one length, a second apart.
fn answers(latency: &mut Latency, from_secs: u64, count: u64, took: Span) {
    for second in from_secs..from_secs + count {
        latency.answered(Time::from_millis(second * 1000), took);
    }
}

#[test]
fn the_figure_is_at_most_an_eighth_too_high_at_any_scale() {
    assert_eq!(Latency::default().slow(), Span::ZERO);
    for micros in (0..28).flat_map(|log| [1_u64 << log, (1 << log) + (1 << log) / 3, (2 << log) - 1]) {
        let mut latency = Latency::default();
        latency.answered(Time::ZERO, Span::from_micros(micros));
        let slow = latency.slow().as_micros();
        assert!(slow > micros && slow <= (micros + micros / 8 + 1).max(1 << QUICKEST), "{micros} {slow}");
    }
    // Past the last class nothing grows any more.
    let mut latency = Latency::default();
    latency.answered(Time::ZERO, Span::MAX);
    assert!(latency.slow() > Span::from_secs(250) && latency.slow() < Span::from_secs(320));
}

#[test]
fn one_in_twenty_may_be_slower() {
    let mut latency = Latency::default();
    answers(&mut latency, 0, 19, ms(100));
    answers(&mut latency, 19, 1, ms(5000));
    assert!(latency.slow() < ms(115), "{:?}", latency.slow());
    answers(&mut latency, 20, 1, ms(5000));
    assert!(latency.slow() > ms(5000), "{:?}", latency.slow());
}

#[test]
fn a_bad_hour_is_forgotten_in_minutes_by_those_who_ask_and_wholly_by_those_who_do_not() {
    let mut latency = Latency::default();
    answers(&mut latency, 0, 3600, ms(2000));
    assert!(latency.slow() > ms(2000));
    answers(&mut latency, 3600, 300, ms(80));
    assert!(latency.slow() > ms(2000), "a part of the bad hour is still recent");
    answers(&mut latency, 3900, 600, ms(80));
    assert!(latency.slow() < ms(100), "{:?}", latency.slow());
    // After a night the first answer is all that is known.
    answers(&mut latency, 40_000, 1, ms(1500));
    assert!(latency.slow() > ms(1500) && latency.slow() < ms(1700));
}

/// A plain model: every answer with its weight, sorted.
#[test]
fn it_is_the_percentile_of_all_answers_by_their_weights() {
    let mut seed = 7_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let (mut latency, mut all, mut now) = (Latency::default(), Vec::<(u64, usize)>::new(), 0_u64);
    for _ in 0..2000 {
        let pause = if draw(100) == 0 { 600_000_000 } else { 3_000_000 };
        now += draw(pause);
        let (log, more) = (draw(27), draw(8));
        let took = Span::from_micros((1 << log) + ((1 << log) * more) / 8);
        latency.answered(Time::from_micros(now), took);
        let half_lives = |at: u64| at / HALF_LIFE.as_micros();
        all.push((now, class(took)));
        all.retain(|(at, _)| half_lives(now) - half_lives(*at) < 40);
        let mut weights = vec![0_u64; CLASSES];
        for period in half_lives(now).saturating_sub(40)..=half_lives(now) {
            for weight in &mut weights {
                *weight /= 2;
            }
            for (_, class) in all.iter().filter(|(at, _)| half_lives(*at) == period) {
                weights[*class] += u64::from(WEIGHT);
            }
        }
        let total: u64 = weights.iter().sum();
        let above = |class: usize| weights[class + 1..].iter().sum::<u64>();
        let model = (0..CLASSES).find(|class| above(*class) * SLOWER <= total).unwrap();
        assert_eq!(latency.slow(), end(model));
    }
}
