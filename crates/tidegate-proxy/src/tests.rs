use hyper::header::HeaderValue;
use hyper::{HeaderMap, Uri};

use super::budget::Budget;
use super::headers::{forward, look};
use super::target::check;

#[test]
fn targets_that_mean_two_things_are_found() {
    for fine in ["/", "/bot1:a/getMe?x=/../", "/file/bot1:a/a..b/%20.png", "/a%C3%A9", "/...", "/a.b"] {
        assert_eq!(check(&fine.parse::<Uri>().unwrap()), Ok(()), "{fine}");
    }
    for bad in [
        "/..",
        "/a/../b",
        "/./a",
        "/%2e",
        "/a/%2E%2e/b",
        "/a%2fb",
        "/a%5Cb",
        "/a\\b",
        "/%00",
        "/%7f",
        "/%d9%a3",
        "/%ff",
        "/%",
        "/%4",
        "http://h/a",
    ] {
        let Ok(uri) = bad.parse::<Uri>() else { continue };
        assert!(check(&uri).is_err(), "{bad}");
    }
}

fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
    let pair = |(name, value): &(&'static str, &'static str)| (name.parse().unwrap(), HeaderValue::from_static(value));
    pairs.iter().map(pair).collect()
}

#[test]
fn our_own_words_stay_here() {
    let mut sent = headers(&[
        ("x-tidegate-class", "final"),
        ("x-tidegate-x", "y"),
        ("connection", "x-a, close"),
        ("x-a", "1"),
        ("te", "gzip"),
        ("x-b", "2"),
        ("host", "h"),
    ]);
    let seen = look(&sent);
    let asked = forward(&mut sent, &seen).unwrap();
    assert_eq!(asked.class.unwrap(), "final");
    // The Host stays for those who read it here, and is not written upstream.
    assert_eq!(sent, headers(&[("x-b", "2"), ("host", "h")]));
}

#[test]
fn a_budget_takes_back_what_it_gave() {
    let budget = Budget::new(10);
    let mut held = budget.take(6).unwrap();
    assert!(budget.take(5).is_none() && held.grow(4) && !held.grow(1));
    assert_eq!(budget.used(), 10);
    drop(held);
    assert_eq!(budget.used(), 0);
    assert!(!budget.reserve().grow(usize::MAX));
}
