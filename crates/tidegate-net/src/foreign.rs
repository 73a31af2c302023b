//! Text from outside, in a log.

use std::fmt::{self, Write as _};

/// Letters of a foreign text that are shown.
const FOREIGN_MOST: usize = 120;

/// Text from a platform or a client, as it may stand in a log: escaped, so that it can neither begin a line nor colour a
/// terminal, and cut.
pub struct Foreign<'a>(pub &'a str);

impl fmt::Display for Foreign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().flat_map(char::escape_debug).take(FOREIGN_MOST).try_for_each(|letter| f.write_char(letter))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_stays_in_its_line_and_ends() {
        assert_eq!(Foreign("wss://gateway/?v=10").to_string(), "wss://gateway/?v=10");
        let shown = Foreign("a\n\u{1b}[31m2026 ERROR\u{202e}").to_string();
        assert_eq!(shown, "a\\n\\u{1b}[31m2026 ERROR\\u{202e}");
        assert_eq!(Foreign(&"x".repeat(5_000)).to_string().len(), FOREIGN_MOST);
    }
}
