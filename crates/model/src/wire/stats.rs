//! Shape of what `becalm stats --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::STATS_SCHEMA;
use super::document::EstimateDocument;

/// The estimates of a saved record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatsDocument {
    /// `becalm/stats/1`.
    pub schema: String,
    /// One for every subject and metric.
    pub estimates: Vec<EstimateDocument>,
}

/// Returns the document of these estimates.
pub fn stats_document(estimates: Vec<EstimateDocument>) -> StatsDocument {
    StatsDocument { schema: STATS_SCHEMA.to_owned(), estimates }
}
