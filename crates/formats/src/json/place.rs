//! Where in a JSON document a position is, as a path of fields and indices: `results[2].mean`.
//!
//! `serde_json` says at which line and column it stopped. The path is read from the text up to there, so that documents
//! are read by one code, and only those with an error are gone through again.

use std::fmt::Write as _;

/// A list or an object that has begun.
enum Open<'t> {
    /// With the index of the element that is read.
    List(usize),
    /// With the name of the field that is read, as the text has it, if there is one yet.
    Object(Option<&'t str>),
}

/// Returns the path of the innermost value that ends at a position or has it inside. The document itself has an
/// empty path.
///
/// `line` and `column` count from 1 as in errors of `serde_json`: `column` bytes of that line have been read.
pub(super) fn path_at(text: &str, line: usize, column: usize) -> String {
    let before = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = text.len().min(column.saturating_add(before));
    let bytes = text.as_bytes();
    let mut open: Vec<Open<'_>> = Vec::new();
    let mut at = 0;
    while at < end {
        let start = at;
        at += 1;
        match bytes[start] {
            b'{' => open.push(Open::Object(None)),
            b'[' => open.push(Open::List(0)),
            // What has just ended is itself the value, and its parent goes on only behind it.
            b'}' | b']' => drop(open.pop()),
            b',' => match open.last_mut() {
                Some(Open::List(index)) => *index += 1,
                Some(Open::Object(field)) => *field = None,
                None => {}
            },
            b'"' => {
                at = end_of_string(bytes, at);
                if let Some(Open::Object(field @ None)) = open.last_mut() {
                    *field = text.get(start + 1..at - 1);
                }
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for part in &open {
        match part {
            Open::List(index) => {
                let _ = write!(path, "[{index}]");
            }
            Open::Object(Some(field)) => {
                let dot = if path.is_empty() { "" } else { "." };
                let _ = write!(path, "{dot}{field}");
            }
            Open::Object(None) => {}
        }
    }
    path
}

/// Returns where a string ends whose first character is here: behind its closing quote.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Default, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its errors are of interest")]
    struct Row {
        name: String,
        #[serde(default)]
        times: Vec<f64>,
        #[serde(default)]
        rows: std::collections::BTreeMap<String, Row>,
    }

    #[test]
    fn the_path_leads_to_the_value_that_is_wrong() {
        for (text, path) in [
            (r#"{"name": "a", "times": [1, "x"]}"#, "times[1]"),
            (r#"{"name": "a", "times": [1, {"b": 2}, 3]}"#, "times[1]"),
            (r#"{"name": "a", "times": 12 }"#, "times"),
            (r#"{"name": "a", "times": {}}"#, "times"),
            (
                "{\"name\": \"a\",\n\n \"rows\": {\"b\": {\"name\": \"c\",\n\"times\": [[]]}}}",
                "rows.b.times[0]",
            ),
            (r#"{"name": "a", "rows": {"b, \"c\": [": {"name": 1}}}"#, r#"rows.b, \"c\": [.name"#),
            // What is missing is missing in the object.
            (r#"{"name": "a", "rows": {"b": {"times": [1]}, "c": {}}}"#, "rows.b"),
            (r#"{"times": [1]}"#, ""),
            (r#"{"name": "a", "unknown": 1}"#, "unknown"),
            ("17", ""),
            // Broken texts.
            (r#"{"name": "a", "times": [1, 2"#, "times[1]"),
            (r#"{"name": "a", "times": [1, 2}"#, "times"),
            (r#"{"name": "a", "times": [1 2]}"#, "times[0]"),
            (r#"{"name": "ab"#, "name"),
            (r#"{"name": "a"} x"#, ""),
            ("", ""),
        ] {
            let error = serde_json::from_str::<Row>(text).unwrap_err();
            assert_eq!(path_at(text, error.line(), error.column()), path, "{text}: {error}");
        }
    }

    #[test]
    fn every_position_of_a_broken_text_has_a_path() {
        let text = "{\"a\\\\\": [\"é\\\"\", {\"b\": [1]}], \n\"c\\";
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            for line in 0..4 {
                for column in 0..text.len() + 2 {
                    let _ = path_at(&text[..end], line, column);
                }
            }
        }
    }
}
