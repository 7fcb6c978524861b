//! Tokens: who may do what with a history over HTTP.

use std::fmt;
use std::str::FromStr;

/// One thing that a token permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// To see everything.
    Read,
    /// To add entries, and to see nothing.
    Upload,
    /// To decide about changes.
    Manage,
}

/// All rights.
pub const RIGHTS: [Right; 3] = [Right::Read, Right::Upload, Right::Manage];

impl Right {
    /// Returns its word, on the command line and in the history.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Upload => "upload",
            Self::Manage => "manage",
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A text that names no right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected read, upload or manage")]
pub struct RightError;

impl FromStr for Right {
    type Err = RightError;

    fn from_str(text: &str) -> Result<Self, RightError> {
        RIGHTS.into_iter().find(|right| right.word() == text).ok_or(RightError)
    }
}

/// A token, as a history knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Token {
    /// Whose it is. Of those that are not revoked each has another name.
    pub name: String,
    /// The SHA-256 of it, in hexadecimal.
    pub digest: String,
    /// What it permits, sorted.
    pub rights: Vec<Right>,
    /// When it was made, in seconds since the Unix epoch.
    pub made: f64,
    /// When it was revoked, in seconds since the Unix epoch; `None` while it counts.
    pub revoked: Option<f64>,
}

impl Token {
    /// Says whether it counts and permits this.
    pub fn permits(&self, right: Right) -> bool {
        self.revoked.is_none() && self.rights.contains(&right)
    }
}
