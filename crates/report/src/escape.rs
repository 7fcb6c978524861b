//! Text made safe for the place where it is put: HTML, Markdown and a shell.

/// Says whether a character turns the direction of those that follow, so that a text reads as another one (Unicode
/// Technical Standard 39).
pub(crate) fn turns_others(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Escapes `text` for HTML content and for attribute values in double quotes. Control characters,
/// which HTML and XML forbid, and those that turn others around become the replacement character.
pub(crate) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || turns_others(c) => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Escapes `text` for a cell of a Markdown table.
pub(crate) fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '#' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_a_name_stays_text() {
        assert_eq!(
            html("<script>alert(\"a\" & 'b')</script>\u{0}\u{202e}"),
            "&lt;script&gt;alert(&quot;a&quot; &amp; &#39;b&#39;)&lt;/script&gt;\u{fffd}\u{fffd}"
        );
        assert_eq!(markdown("a|b*<i>"), "a\\|b\\*&lt;i&gt;");
    }

    #[test]
    fn a_shell_reads_the_same_words_again() {
        let words = ["./a", "two words", "it's", "", "$HOME"].map(String::from);
        assert_eq!(becalm_model::shell_line(&words), r"./a 'two words' 'it'\''s' '' '$HOME'");
    }
}
