use crate::telegram::LogEntry;

type Journal = super::Journal<LogEntry>;

#[test]
fn the_log_is_a_ring_and_its_numbers_go_on() {
    let mut journal = Journal::new(3);
    for _ in 0..5 {
        journal.record(LogEntry { status: 200, ..LogEntry::default() });
    }
    assert_eq!(journal.log().iter().map(|entry| entry.seq).collect::<Vec<_>>(), [3, 4, 5]);
    let mut journal = Journal::after(&journal);
    journal.record(LogEntry { status: 429, limited: true, ..LogEntry::default() });
    assert_eq!((journal.log()[0].seq, journal.total.calls, journal.total.refused_429), (6, 1, 1));
}

#[test]
fn names_of_unknown_methods_do_not_fill_the_table() {
    let mut journal = Journal::new(3);
    for number in 0..10_000 {
        journal.record(LogEntry { method: format!("m{number}"), ..LogEntry::default() });
    }
    assert_eq!(journal.by_name.len(), Journal::NAMES_MAX);
    assert_eq!(journal.total.calls, 10_000);
}
