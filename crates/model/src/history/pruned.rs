//! What was removed from a history.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What was removed, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "HistoryPrunedDocument")]
pub struct Pruned {
    /// Whether it was only counted.
    pub dry_run: bool,
    /// Entries with their values.
    pub entries: usize,
    /// Values of these entries.
    pub values: usize,
    /// Records, with those of these entries.
    pub records: usize,
    /// Bytes of these records, compressed.
    pub bytes: u64,
    /// Records that stay although they are old, because they are beside a change.
    pub records_kept: usize,
    /// Decisions about changes at these entries, which go with them.
    pub decisions: usize,
}
