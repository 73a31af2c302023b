//! What of the figures is the same on every machine: allocations and live bytes. One test, for others that run beside it
//! would be counted too.
#![allow(clippy::unwrap_used, reason = "a test fails loudly")]

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use tidegate_bench::memory::rush;
use tidegate_bench::{Sends, Shape};
use tidegate_core::Span;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

#[test]
fn memory_is_as_bounded_as_the_figures_say() {
    an_admitted_write_allocates_nothing();
    let telegram = rush(Shape::Telegram, 3_000, Span::from_millis(1), Span::from_secs(61)).unwrap();
    assert!(telegram.live_peer <= 256.0, "{telegram:?}");
    let discord = rush(Shape::Discord, 3_000, Span::from_millis(1), Span::from_secs(121)).unwrap();
    assert!(discord.live_peer <= 860.0, "{discord:?}");
    for rush in [telegram, discord] {
        assert_eq!(rush.peers, 0, "{rush:?}");
        assert!(rush.left <= 100_000, "{rush:?}");
    }
}

/// To peers that are live, with windows that are not empty, and no more in flight than at once.
fn an_admitted_write_allocates_nothing() {
    let mut sends = Sends::new(Shape::Telegram, Span::from_millis(5)).unwrap();
    let mut flying = Vec::with_capacity(16);
    let mut round = |flying: &mut Vec<_>| {
        let mut allocated = 0;
        for batch in 0..20 {
            let region = Region::new(&INSTRUMENTED_SYSTEM);
            for number in 0..10 {
                flying.push(sends.write(sends.peer(batch * 10 + number)).unwrap());
            }
            let change = region.change();
            allocated += change.allocations + change.reallocations;
            flying.drain(..).for_each(|ticket| sends.answer(ticket));
        }
        allocated
    };
    // A round lasts a second, so six to fourteen writes stand in the window of each. Whether a peer can be forgotten is
    // first looked at within four seconds, and then not for a minute: it is no part of a decision and may take room.
    for _ in 0..6 {
        round(&mut flying);
    }
    let allocated: usize = (0..8).map(|_| round(&mut flying)).sum();
    assert_eq!(allocated, 0, "1,600 admitted writes");
}
