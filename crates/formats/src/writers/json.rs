//! JSON as it is written: for people, with a line break at the end.

use serde::Serialize;

/// Writes a document. Numbers must be finite: others would become `null`.
pub(super) fn write(document: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(document).expect("maps have texts as keys");
    bytes.push(b'\n');
    bytes
}
