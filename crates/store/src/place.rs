//! Where a history is, and what it is opened for.

use std::fmt;
use std::path::PathBuf;

/// Where a history is.
#[derive(Clone, PartialEq, Eq)]
pub enum HistoryLocation {
    /// A file of SQLite.
    File(PathBuf),
    /// A schema of a database of PostgreSQL: `?schema=` names it, by default it is `becalm`.
    Server {
        /// Its URL, with a password perhaps. Never to be shown.
        url: String,
        /// The password where the URL has none.
        password: Option<String>,
    },
}

impl HistoryLocation {
    /// Reads what the user wrote: `postgresql://…` is a server, everything else a file.
    pub fn parse(text: &str) -> Self {
        if text.starts_with("postgresql://") || text.starts_with("postgres://") {
            Self::Server { url: text.to_owned(), password: None }
        } else {
            Self::File(PathBuf::from(text))
        }
    }
}

impl HistoryLocation {
    /// Takes a password from elsewhere where this is a server that has none.
    #[must_use]
    pub fn with_password(self, password: impl FnOnce() -> Option<String>) -> Self {
        match self {
            Self::Server { url, password: None } => Self::Server { url, password: password() },
            other => other,
        }
    }
}

impl fmt::Debug for HistoryLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Server { .. } => f.debug_struct("Server").finish_non_exhaustive(),
        }
    }
}

/// What a history is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reading and writing; it is made if it is not there.
    Write,
    /// Reading alone: nothing is made and nothing changed.
    Read,
}
