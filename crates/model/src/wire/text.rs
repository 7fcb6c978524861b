//! Documents as JSON text.

use serde::Serialize;

/// Returns a document as JSON for people and programs: indented, with a line feed at the end.
///
/// # Panics
///
/// If it cannot be written as JSON, as maps with keys that are no strings.
pub fn json_text(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("a document can be written");
    text.push('\n');
    text
}
