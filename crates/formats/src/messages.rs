//! JSON objects among other lines: what tools print one after another, and cargo in between.

use serde_json::Value;

/// Returns the objects that begin at the beginning of a line, each with the number of lines before it.
/// They may span lines, and be parts of an array. One that is damaged is returned up to the end of its
/// line, so that reading it tells what is wrong.
pub(crate) fn messages(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut lines_before = 0;
    while at < text.len() {
        let rest = &text[at..];
        let start = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '[', ',']).len();
        lines_before += rest[..start].matches('\n').count();
        let rest = &rest[start..];
        let end_of_line = || rest.find('\n').map_or(rest.len(), |end| end + 1);
        let length = if rest.starts_with('{') {
            // A value, because its depth is bounded: otherwise damaged files could be read again and
            // again.
            let mut stream = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let length = match stream.next() {
                Some(Ok(_)) => stream.byte_offset(),
                _ => end_of_line(),
            };
            found.push((lines_before, &rest[..length]));
            length
        } else {
            end_of_line()
        };
        lines_before += rest[..length].matches('\n').count();
        at += start + length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_among_lines_and_in_arrays() {
        let text = "Compiling\n{\"a\":1}\nwords {\n[{\n\"b\":2},{\"c\":3}\n]\n{\"d\":\n";
        let found = messages(text);
        assert_eq!(
            found,
            [(1, "{\"a\":1}"), (3, "{\n\"b\":2}"), (4, "{\"c\":3}"), (6, "{\"d\":\n")]
        );
    }

    #[test]
    fn many_open_objects_are_read_quickly() {
        assert_eq!(messages(&"{\"a\":\n".repeat(5_000)).len(), 5_000);
    }
}
