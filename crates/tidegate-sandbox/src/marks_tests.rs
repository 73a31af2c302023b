use super::*;

#[test]
fn a_marker_is_the_first_number_behind_a_hash() {
    assert_eq!(marker("a #x #12 and #13"), Some(12));
    assert_eq!(marker("#"), None);
    assert_eq!(marker("12"), None);
    assert_eq!(marker("#99999999999999999999999 #7"), Some(7));
}

#[test]
fn order_counts_what_comes_late_and_what_comes_twice() {
    let mut order = Order::default();
    for number in [1, 2, 4, 3, 3, 5, 1] {
        order.see(number);
    }
    assert_eq!((order.inversions, order.duplicates), (1, 2));
    for number in 10..10_000 {
        order.see(number);
    }
    assert_eq!(order.seen.len(), MARKERS_MAX);
}
