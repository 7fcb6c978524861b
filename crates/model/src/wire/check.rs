//! Shape of what `becalm check --json` prints.

use schemars::JsonSchema;
use serde::Serialize;

use super::CHECK_SCHEMA;
use crate::Checkup;

/// What makes a machine noisy.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckDocument<'a> {
    /// `becalm/check/1`.
    pub schema: &'static str,
    /// Whether something here makes results noisy.
    pub noisy: bool,
    /// What was found.
    #[serde(flatten)]
    pub checkup: &'a Checkup,
}

/// Returns the document of what was found.
pub fn check_document(checkup: &Checkup) -> CheckDocument<'_> {
    CheckDocument { schema: CHECK_SCHEMA, noisy: checkup.is_noisy(), checkup }
}
