//! Text of another machine, without anything that a terminal would obey.

/// Returns text in which only line breaks, tabs and colours are left of what controls a terminal.
pub(super) fn printed(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut out = String::with_capacity(text.len());
    let mut rest = &text[..];
    while let Some(c) = rest.chars().next() {
        if let Some(length) = colour(rest) {
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            continue;
        }
        match u32::from(c) {
            0x09 | 0x0a => out.push(c),
            // Carriage returns overwrite what was printed; those of line ends are not needed.
            0x0d => {}
            0..0x20 | 0x7f..0xa0 | 0x202a..=0x202e | 0x2066..=0x2069 => out.push('?'),
            _ => out.push(c),
        }
        rest = &rest[c.len_utf8()..];
    }
    out
}

/// Returns how long the sequence is that changes the colour, if the text begins with one.
fn colour(text: &str) -> Option<usize> {
    const LONGEST: usize = 24;
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    (parameters[end..].starts_with('m') && end < LONGEST).then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_colours_reach_the_terminal() {
        let check = |text: &str, expected: &str| assert_eq!(printed(text.as_bytes()), expected);
        check("plain\ttext\n", "plain\ttext\n");
        check("\x1b[1;32mfaster\x1b[0m", "\x1b[1;32mfaster\x1b[0m");
        check("\x1b]0;title\x07x", "?]0;title?x");
        check("\x1b[2J\x1b[H", "?[2J?[H");
        check("\x1b[31", "?[31");
        check("slower\rfaster", "slowerfaster");
        check("\u{202e}lawyer", "?lawyer");
        check("\u{9b}2J", "?2J");
        assert_eq!(printed(b"caf\xe9"), "caf\u{fffd}");
    }
}
