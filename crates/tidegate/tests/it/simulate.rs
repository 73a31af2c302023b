//! Days in virtual time, as people ask for them.

use std::process::Command;

fn simulate(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_tidegate")).arg("simulate").args(arguments).env_clear().output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_start_tells_when_all_are_there_and_the_least_that_discord_allows() {
    let (code, told, error) = simulate(&["start", "--shards", "40", "--max-concurrency", "8", "--dial", "1s"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    assert!(told.starts_with("40 shards, max_concurrency 8\n"), "{told}");
    assert!(told.contains("all 40 after 21.150 s; Discord allows no less than 21.050 s (over it by 0.47 %)"), "{told}");
    assert!(told.ends_with("40 IDENTIFYs, 0 of them too soon\n"), "{told}");
    assert_eq!(told.lines().filter(|line| line.ends_with('#')).count(), 10, "{told}");
}

#[test]
fn the_storms_of_an_hour_are_a_table_of_two_rows_each() {
    let (code, told, error) = simulate(&["storms", "--hours", "1"]);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let rows: Vec<&str> = told.lines().skip(2).collect();
    assert!(rows.len() >= 18 && rows.len().is_multiple_of(2), "{told}");
    for (number, row) in rows.iter().enumerate() {
        let how = if number.is_multiple_of(2) { "| alone |" } else { "| tidegate |" };
        assert!(row.contains(how), "{row}");
    }
    let (_, again, _) = simulate(&["storms", "--hours", "1"]);
    assert_eq!(told, again, "one seed, one day");
}

#[test]
fn what_makes_no_sense_is_told() {
    for (arguments, expected) in [
        (&["start", "--shards", "0"][..], "1..=65536"),
        (&["start", "--dial", "3"], "expected a duration such as 200ms or 2s, at most 30s"),
        (&["storms", "--hours", "100"], "1..=72"),
        (&["tides"], "unrecognized subcommand"),
    ] {
        let (code, _, error) = simulate(arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(error.contains(expected), "{arguments:?}: {error}");
    }
}
