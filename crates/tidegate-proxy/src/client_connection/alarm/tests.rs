use std::time::{Duration, Instant};

use hyper::rt::Timer as _;

use super::Alarm;

/// In real time: the server counts in moments that no test can move.
#[tokio::test]
async fn it_goes_off_when_it_is_due_whatever_was_due_before() {
    let (alarm, start) = (Alarm::default(), Instant::now());
    let at = |ms| start + Duration::from_millis(ms);
    let first = alarm.sleep_until(at(20));
    assert!(futures_util::FutureExt::now_or_never(first).is_none(), "it is asked, and let go");
    alarm.sleep_until(at(60)).await;
    assert!(start.elapsed() >= Duration::from_millis(60), "a later one is not woken by an earlier one");
    let late = alarm.sleep_until(at(3_600_000));
    assert!(futures_util::FutureExt::now_or_never(late).is_none());
    // An earlier one does not wait for it: this would take an hour.
    alarm.sleep(Duration::from_millis(20)).await;
    alarm.sleep_until(at(0)).await;
}
