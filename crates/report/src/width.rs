//! How many terminal columns a text takes, and text made safe for a terminal.
//!
//! Names and commands come from users, so they may hold wide characters, combining marks or even
//! escape sequences.

use unicode_width::UnicodeWidthChar;

/// Returns how many columns `text` takes, without control characters.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(char_columns).sum()
}

fn char_columns(c: char) -> usize {
    // Control characters have no width and take no column.
    c.width().unwrap_or(0)
}

/// Replaces what could move the cursor, change colours or reverse the reading order, so that a
/// name can neither break a table nor fake a verdict.
pub fn printable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match u32::from(c) {
            0x09 | 0x0a | 0x0d => out.push(' '),
            0..0x20 | 0x7f..0xa0 | 0x202a..=0x202e | 0x2066..=0x2069 => out.push('?'),
            _ => out.push(c),
        }
    }
    out
}

/// Cuts `text` to `width` columns, with a mark at its end.
pub(crate) fn shorten(text: &str, width: usize, unicode: bool) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    fitting(text.chars(), width) + mark(width, unicode)
}

/// Cuts `text` to `width` columns at its front, with a mark there.
pub(crate) fn shorten_front(text: &str, width: usize, unicode: bool) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let kept = fitting(text.chars().rev(), width);
    mark(width, unicode).chars().chain(kept.chars().rev()).collect()
}

/// Returns the first characters that leave room for the mark.
fn fitting(text: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 1;
    text.take_while(|&c| {
        used += char_columns(c);
        used <= width
    })
    .collect()
}

fn mark(width: usize, unicode: bool) -> &'static str {
    match (width, unicode) {
        (0, _) => "",
        (_, true) => "\u{2026}",
        (_, false) => "~",
    }
}

/// Fills `text` with spaces on the right up to `width` columns.
pub(crate) fn pad_right(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Fills `text` with spaces on the left up to `width` columns.
pub(crate) fn pad_left(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Units that stay with the number before them.
const UNITS: [&str; 20] = [
    "%", "ns", "us", "µs", "ms", "s", "min", "h", "B", "kB", "MB", "GB", "KiB", "MiB", "GiB", "Hz",
    "kHz", "MHz", "GHz", "°C",
];

/// Says whether a word is the unit of the number before it.
fn is_unit_of(word: &str, before: &str) -> bool {
    let unit = word.trim_end_matches(['.', ',', ';', ':', ')', ']', '?']);
    UNITS.contains(&unit) && before.ends_with(|c: char| c.is_ascii_digit())
}

/// Breaks `text` into lines of at most `width` columns between words. A number stays with its
/// unit, also where they are joined by a no-break space, which is written as a plain one.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
        match words.last_mut() {
            Some(before) if is_unit_of(word, before) => *before = format!("{before} {word}"),
            _ => words.push(word.to_owned()),
        }
    }
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in &words {
        if !line.is_empty() && columns(&line) + 1 + columns(word) > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    for line in &mut lines {
        *line = line.replace('\u{a0}', " ");
    }
    lines
}

/// Checks that a text fits on a terminal of 40 columns; a word that is wider than that is not broken.
#[cfg(test)]
#[track_caller]
pub(crate) fn fits_on_forty(view: &str, text: &str) {
    for line in text.lines() {
        let is_one_word = line.split_whitespace().count() <= 2
            && line.split_whitespace().any(|word| columns(word) > 24);
        assert!(columns(line) <= 40 || is_one_word, "{view}: {line:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_take_two_columns_and_combining_marks_none() {
        assert_eq!(columns("abc"), 3);
        assert_eq!(columns("速い"), 4);
        assert_eq!(columns("e\u{301}"), 1);
    }

    #[test]
    fn a_name_cannot_send_escape_sequences() {
        assert_eq!(printable("a\u{1b}[31mb\nc"), "a?[31mb c");
    }

    #[test]
    fn shortened_text_fits_and_says_so() {
        assert_eq!(shorten("abcdef", 4, false), "abc~");
        assert_eq!(shorten("速い速い", 4, true), "速…");
        assert_eq!(shorten("abc", 3, true), "abc");
        assert_eq!(shorten("abc", 0, true), "");
        assert_eq!(shorten_front("abcdef", 4, false), "~def");
        assert_eq!(shorten_front("い速い", 4, true), "…い");
        assert_eq!(shorten_front("abc", 0, true), "");
    }

    #[test]
    fn a_number_is_not_torn_from_its_unit() {
        assert_eq!(wrap("takes 2.1\u{a0}% more", 10), ["takes", "2.1 % more"]);
        assert_eq!(wrap("wait 100 ms, then 100 %.", 9), ["wait", "100 ms,", "then", "100 %."]);
        assert_eq!(wrap("all of 100 runs s", 10), ["all of 100", "runs s"]);
    }
}
