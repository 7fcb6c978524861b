//! Documents as JSON text.

use serde::Serialize;

/// Returns a document as JSON for people and programs: indented, with a line feed at the end.
///
/// # Panics
///
/// If it cannot be written as JSON, as maps with keys that are no strings.
pub fn json_text(document: &impl Serialize) -> String {
    let mut text = Vec::new();
    // As records are written to files: otherwise the program would have the code for each document twice.
    let out: &mut dyn std::io::Write = &mut text;
    serde_json::to_writer_pretty(out, document).expect("a document can be written");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is UTF-8")
}
