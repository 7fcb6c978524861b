//! Where the runs of a session are made, if not where becalm was started.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Another machine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Elsewhere {
    /// As the user named it: a host of `becalm hosts`, or what `ssh` understands.
    pub host: String,
    /// Files and folders that are sent there beside the programs of the subjects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub send: Vec<PathBuf>,
}
