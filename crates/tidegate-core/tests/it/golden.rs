//! Each policy's matrix is frozen in `policies/golden/NAME.md`: a changed cell is a changed behaviour and shows in review.
//!
//! `UPDATE_EXPECT=1` writes the matrices anew and keeps the words around them.

use std::env;
use std::fs;
use std::path::PathBuf;

use tidegate_core::policy::Policy;

#[test]
fn every_matrix_is_as_frozen() {
    for name in Policy::names() {
        let path = folder().join(format!("{name}.md"));
        let frozen = fs::read_to_string(&path).unwrap_or_else(|_| format!("# {name}\n\n"));
        let now = with_matrix(&frozen, &Policy::load(name, &[]).unwrap().markdown());
        if env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &now).unwrap();
        } else {
            assert!(
                frozen == now,
                "{name}'s matrix changed. Where that is meant: UPDATE_EXPECT=1 cargo test -p tidegate-core --test it \
                 golden, and a line in CHANGELOG.md.\n{}",
                differing(&frozen, &now)
            );
        }
    }
}

#[test]
fn no_golden_file_is_left_behind() {
    for entry in fs::read_dir(folder()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        assert!(Policy::names().any(|name| format!("{name}.md") == file), "{file} freezes no policy");
    }
}

#[test]
fn the_forum_table_names_its_changes() {
    let frozen = fs::read_to_string(folder().join("telegram-forum.md")).unwrap();
    let (_, changes) = frozen.split_once("\n## Named changes\n").unwrap();
    assert_eq!(changes.lines().filter(|line| line.starts_with("- ")).count(), 13);
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("policies/golden")
}

/// The file with this table in the place of its first one.
fn with_matrix(file: &str, matrix: &str) -> String {
    let lines: Vec<&str> = file.lines().collect();
    let start = lines.iter().position(|line| line.starts_with('|')).unwrap_or(lines.len());
    let end = start + lines[start..].iter().take_while(|line| line.starts_with('|')).count();
    let around = |lines: &[&str]| lines.iter().flat_map(|line| [line, "\n"]).collect::<String>();
    format!("{}{matrix}{}", around(&lines[..start]), around(&lines[end..]))
}

fn differing(frozen: &str, now: &str) -> String {
    let (frozen, now): (Vec<&str>, Vec<&str>) = (frozen.lines().collect(), now.lines().collect());
    let gone = frozen.iter().filter(|line| !now.contains(line)).map(|line| format!("- {line}\n"));
    let new = now.iter().filter(|line| !frozen.contains(line)).map(|line| format!("+ {line}\n"));
    gone.chain(new).collect()
}
