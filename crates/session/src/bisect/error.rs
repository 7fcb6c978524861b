//! Why a search for a commit was not started, or not finished.

use std::path::PathBuf;

use crate::build::BuildError;
use crate::error::Fault;
use crate::revisions::GitError;

/// Why a search for a commit was not started, or not finished.
#[derive(Debug, thiserror::Error)]
pub enum BisectError {
    /// It is requested with something that makes no sense for it.
    #[error("bisect cannot be combined with {0}")]
    Senseless(&'static str),
    /// There is nothing to measure.
    #[error("a search needs a command")]
    NoCommand,
    /// An end is no commit here.
    #[error("{source}")]
    End {
        /// Why.
        source: GitError,
        /// Whether the history that is here is incomplete.
        is_shallow: bool,
    },
    /// Both ends are one commit.
    #[error("{good} and {bad} are the same commit")]
    SameCommit {
        /// As it was given.
        good: String,
        /// As it was given.
        bad: String,
    },
    /// The good end is not in the history of the bad one.
    #[error("{good} is not in the history of {bad}")]
    NotInHistory {
        /// As it was given.
        good: String,
        /// As it was given.
        bad: String,
        /// The newest commit in the history of both.
        base: Option<String>,
        /// Whether the history that is here is incomplete.
        is_shallow: bool,
    },
    /// A file contains no search.
    #[error("cannot read {}: {why}", path.display())]
    NoSearch {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// An unfinished search is saved where this one would be.
    #[error("an unfinished search is saved in {}", .0.display())]
    Unfinished(PathBuf),
    /// Something else is where the search would be saved.
    #[error("{} exists and is not a saved search; it was not replaced", .0.display())]
    Occupied(PathBuf),
    /// This search is not for the same thing as the saved one.
    #[error("{what} differs from that of the search in {}", path.display())]
    Another {
        /// What differs.
        what: &'static str,
        /// Where the search is saved.
        path: PathBuf,
    },
    /// The records of its steps have no place.
    #[error("cannot create {}: {source}", path.display())]
    Folder {
        /// Which folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// An end cannot be built.
    #[error("an end cannot be built: {0}")]
    EndNotBuilt(String),
    /// The bad end cannot be run.
    #[error("the bad end cannot be run: {0}")]
    BadEndNotRun(String),
    /// The good end could be built before.
    #[error("the good end can no longer be built")]
    GoodEndGone,
    /// A commit that was built before can no longer be built.
    #[error(transparent)]
    NoLongerBuilt(BuildError),
    /// There are no ratios.
    #[error("the ends have no positive values; without a ratio, only exact values can be compared")]
    NotPositive,
    /// A signal ended it.
    #[error("stopped by signal {0}; every step before that is saved")]
    Stopped(i32),
}

impl BisectError {
    /// Returns which kind of failure it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::End { source, .. } => source.fault(),
            Self::NoLongerBuilt(error) => error.fault(),
            Self::Stopped(signal) => Fault::Signal(*signal),
            Self::NoSearch { .. }
            | Self::EndNotBuilt(_)
            | Self::BadEndNotRun(_)
            | Self::GoodEndGone
            | Self::NotPositive => Fault::Measurement,
            _ => Fault::Usage,
        }
    }
}
