use std::sync::Arc;

use bytes::Bytes;

use super::{Bounds, Overtaken, Position, Replay, Ring, Total};

const BOUNDS: Bounds = Bounds { events: 4, bytes: 100 };

fn ring() -> Arc<Ring> {
    Ring::new(BOUNDS, &Total::new(1 << 20))
}

fn event(seq: u64) -> (u64, Bytes) {
    (seq, format!("event {seq}").into())
}

fn rest(ring: &Ring, position: &mut Position) -> Result<Vec<String>, Overtaken> {
    let mut events = Vec::new();
    ring.read(position, (100, 1000), &mut events)?;
    Ok(events.into_iter().map(|event| String::from_utf8(event.to_vec()).unwrap()).collect())
}

fn from(ring: &Ring, seq: u64) -> Vec<String> {
    let Replay::From(mut position) = ring.replay(seq) else { panic!("{seq} is not here") };
    rest(ring, &mut position).unwrap()
}

#[test]
fn a_bot_gets_what_it_missed() {
    let ring = ring();
    ring.begin(1, "event 1".into());
    ring.append([event(2), event(3)]);
    assert!(ring.is_complete());
    assert_eq!(from(&ring, 1), ["event 2", "event 3"]);
    assert_eq!(from(&ring, 0), ["event 1", "event 2", "event 3"]);
    assert!(from(&ring, 3).is_empty());
    assert_eq!(ring.replay(4), Replay::Above);
}

#[test]
fn gaps_in_the_numbers_and_replayed_events_do_no_harm() {
    let ring = ring();
    ring.begin(1, "event 1".into());
    ring.append([event(2), event(5)]);
    ring.append([event(2), event(5), event(6)]);
    assert_eq!(from(&ring, 1), ["event 2", "event 5", "event 6"]);
    assert_eq!(from(&ring, 3), ["event 5", "event 6"]);
}

#[test]
fn it_is_bounded_by_events() {
    let ring = ring();
    ring.begin(1, "event 1".into());
    ring.append((2..=5).map(event));
    assert!(!ring.is_complete());
    assert_eq!(ring.size().0, 4);
    assert_eq!(ring.replay(0), Replay::TooOld);
    assert_eq!(from(&ring, 1).len(), 4);
}

#[test]
fn it_is_bounded_by_bytes_but_keeps_the_newest() {
    let ring = ring();
    ring.append([(1, vec![b'a'; 60].into()), (2, vec![b'b'; 60].into())]);
    assert_eq!(ring.size(), (1, 60));
    ring.append([(3, vec![b'c'; 500].into())]);
    assert_eq!(ring.size(), (1, 500));
    assert_eq!((ring.replay(1), ring.head().1), (Replay::TooOld, 3));
}

#[test]
fn a_reader_that_is_overtaken_is_told() {
    let ring = ring();
    ring.append((1..=4).map(event));
    let mut position = ring.start();
    let mut slow = position;
    assert_eq!(rest(&ring, &mut position).unwrap().len(), 4);
    ring.append([event(5)]);
    assert_eq!(rest(&ring, &mut position).unwrap(), ["event 5"]);
    assert_eq!(rest(&ring, &mut slow), Err(Overtaken));
}

#[test]
fn a_reader_of_a_session_that_is_gone_is_told() {
    let ring = ring();
    ring.begin(1, "event 1".into());
    let mut position = ring.start();
    ring.begin(1, "another".into());
    assert_eq!(rest(&ring, &mut position), Err(Overtaken));
    assert_eq!(from(&ring, 0), ["another"]);
}

#[test]
fn a_read_takes_no_more_than_it_may_and_at_least_one() {
    let ring = ring();
    ring.append((1..=4).map(event));
    let (mut position, mut taken) = (ring.start(), Vec::new());
    ring.read(&mut position, (3, 1000), &mut taken).unwrap();
    ring.read(&mut position, (3, 1), &mut taken).unwrap();
    assert_eq!(taken.len(), 4);
}

#[test]
fn what_comes_after_a_restart_follows_on_what_the_bot_had() {
    let ring = ring();
    ring.reset(41);
    assert_eq!((ring.replay(40), ring.replay(42), ring.is_complete()), (Replay::TooOld, Replay::Above, false));
    ring.append([event(40), event(42)]);
    assert_eq!(from(&ring, 41), ["event 42"]);
}

#[test]
fn all_rings_share_a_bound_and_the_largest_that_is_not_read_gives_way_first() {
    let total = Total::new(250);
    let bounds = Bounds { events: 100, bytes: 1000 };
    let rings: Vec<_> = (0..3).map(|_| Ring::new(bounds, &total)).collect();
    rings[0].read_by(Some(Arc::default()));
    let fill = |ring: &Ring, to: u64| ring.append((1..=to).map(|seq| (seq, Bytes::from_static(&[b'x'; 10]))));
    fill(&rings[0], 12);
    fill(&rings[1], 4);
    fill(&rings[2], 9);
    assert_eq!(total.used(), 250);
    rings[0].append([(13, Bytes::from_static(&[b'x'; 30]))]);
    assert_eq!(total.used(), 250);
    let sizes = || rings.iter().map(|ring| ring.size().1).collect::<Vec<_>>();
    assert_eq!(sizes(), [150, 40, 60]);
    fill(&rings[0], 13);
    rings[0].append([(14, Bytes::from_static(&[b'x'; 200]))]);
    // The two that are not read keep one event each, and then it is the reader's turn.
    assert_eq!(sizes(), [230, 10, 10]);
    assert_eq!(total.used(), 250);
    drop(rings);
    assert_eq!(total.used(), 0);
}
