//! What records of the first version say in words.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A condition as a value; a record of the first version has a sentence in its place, which says the same to
/// people and nothing to a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Described<T> {
    /// The value.
    Value(T),
    /// The words of an older record.
    Words(String),
}
