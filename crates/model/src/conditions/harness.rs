//! How subjects that time themselves do so.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How subjects time themselves, where they are not timed from outside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum OwnTiming {
    /// They are programs of a harness.
    Harness {
        /// Its name: `criterion`.
        name: String,
        /// What becalm added to the command of the first subject, where its results go written as `RESULTS`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        added: Vec<String>,
        /// Whether its results are read from what it prints.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        reads_output: bool,
    },
    /// They are becalm's own workers, which time a statement.
    Statement {
        /// The language of the statement.
        language: String,
        /// Values of each process.
        values: u32,
        /// Values before them that are not used.
        warmups: u32,
        /// One for each subject.
        workers: Vec<StatementWorker>,
        /// Operations in each loop, where there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operations: Option<f64>,
    },
    /// The words of an older record.
    Words(String),
}

/// One worker of `becalm timeit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StatementWorker {
    /// The version of its language, or its name.
    pub version: String,
    /// How often the statement is executed for each value.
    pub loops: u64,
}
