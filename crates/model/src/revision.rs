//! A revision of a program that was measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which build of a repository a subject is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// The commit that was built. For the working tree it is a snapshot, which is on no branch.
    pub built: String,
    /// The commit that the working tree has changes of, if that was built.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes_of: Option<String>,
    /// The program as it was asked for, where a `*` in it stands for what each build names otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

impl Revision {
    /// Returns the commit that it is, or that it has changes of.
    pub fn commit(&self) -> &str {
        self.changes_of.as_ref().unwrap_or(&self.built)
    }

    /// Says whether it has changes that no commit has.
    pub fn is_dirty(&self) -> bool {
        self.changes_of.is_some()
    }
}
