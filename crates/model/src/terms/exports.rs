//! Where the record of a session goes.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the record of a session goes when it ends; a session that goes on writes the same files again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Exports {
    /// Whether it is printed as JSON.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub print: bool,
    /// File for the whole record; while the session runs, its log lies beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<PathBuf>,
    /// File for an HTML report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<PathBuf>,
    /// File for a Markdown report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub markdown: Option<PathBuf>,
}
