use super::message;

#[test]
fn what_is_short_stays_as_it_is() {
    for text in ["", "\"", "`é` and \"b\"", "unknown field `a`, expected one of `b`, `c`", "no quotes at all"] {
        assert_eq!(message(text), text);
    }
}

#[test]
fn a_long_quotation_is_cut_at_120_characters_and_the_rest_stays() {
    let long = "é`\"".repeat(2_000_000);
    let start: String = long.chars().take(120).collect();
    for (before, after) in [
        ("unknown field `", "`, expected one of `a`, `b`"),
        ("line 2: invalid type: string \"", "\", expected u64"),
        ("there is no key \"", "\"; the nearest is \"listen\""),
        ("there is no policy \"", "\"; there are telegram"),
    ] {
        let cut = message(&format!("{before}{long}{after}"));
        assert_eq!(cut, format!("{before}{start}…{after}"));
        assert_eq!(message(&cut), cut, "once is enough");
    }
    assert_eq!(message(&"x".repeat(5_000_000)).chars().count(), 2_001);
}
