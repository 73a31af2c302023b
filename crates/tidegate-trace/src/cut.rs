//! Errors that quote what somebody wrote quote its beginning only.

#[cfg(test)]
mod tests;

/// So much of a quoted text is shown.
const QUOTED_CHARS: usize = 120;
/// So much of a whole message: what we say ourselves is shorter.
const WHOLE_CHARS: usize = 2_000;

/// What follows a quotation in which other quoted words come.
const LISTS: [&str; 4] = [", expected", ", there are no", "; the nearest is", "; there are"];

/// A message whose quoted text, and as a whole, is short enough for a terminal.
pub fn message(text: &str) -> String {
    let quoted = quoted(text);
    let Some((at, to)) = quoted else { return upto(text, WHOLE_CHARS) };
    upto(&format!("{}{}{}", &text[..at], words(&text[at..to]), &text[to..]), WHOLE_CHARS)
}

/// A written text's beginning.
pub fn words(text: &str) -> String {
    upto(text, QUOTED_CHARS)
}

fn upto(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        // It has been cut already.
        Some((at, '…')) if text.len() == at + '…'.len_utf8() => text.to_owned(),
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Where the quoted text stands: from the first quotation mark to the last, or to the last that a list
/// of known words follows.
fn quoted(text: &str) -> Option<(usize, usize)> {
    let at = text.find(['`', '"'])?;
    let mark = &text[at..=at];
    let listed = LISTS.iter().filter_map(|list| text.rfind(&format!("{mark}{list}"))).max();
    let to = listed.filter(|to| *to > at).or_else(|| text.rfind(mark).filter(|to| *to > at)).unwrap_or(text.len());
    Some((at + 1, to))
}
