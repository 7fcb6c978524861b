//! Which metrics are recorded and which decide.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::words;

/// Which metrics decide.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Primary {
    /// CPU time for single-threaded subjects that compute, else wall time.
    #[default]
    Auto,
    /// These, by name.
    Named(Vec<String>),
    /// Every benchmark of a harness, by these of its measures; without any by what it is about.
    Benchmarks(Vec<String>),
}

/// Which counters are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Counters {
    /// None.
    None,
    /// Those that the kernel keeps: CPU time, context switches, migrations, page faults.
    #[default]
    Software,
    /// Those and the ones of the processor, where it has them.
    All,
}

words! {
    Counters { None = "none", Software = "software", All = "all" }
}
