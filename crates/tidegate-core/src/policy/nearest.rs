//! The word that somebody meant.

use alloc::string::String;
use alloc::vec::Vec;

/// Nobody means a key by a longer word, and the cost grows with the length.
const LETTERS: usize = 120;

/// The known word that is nearest to what was written.
pub fn nearest<'a>(written: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let written: String = written.chars().take(LETTERS).collect();
    known.min_by_key(|word| distance(&written, word))
}

/// Insertions, deletions and replacements from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = corner + usize::from(from != *to);
            corner = row[j + 1];
            row[j + 1] = replaced.min(corner + 1).min(row[j] + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}
