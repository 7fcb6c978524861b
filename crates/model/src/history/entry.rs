//! One record in a history.

use std::collections::BTreeMap;
use std::fmt;

use crate::record::Record;

/// Number of an entry. Numbers rise in the order of adding and are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId(pub i64);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What was measured: a commit of a repository.
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// Its full id, or what stands for it where the history came from elsewhere: `v1.2`.
    pub id: String,
    /// When it was committed, in seconds since the Unix epoch; `None` where nobody knows.
    pub time: Option<f64>,
}

/// What was measured of one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct AtCommit {
    /// The commit, as the file names it; `None` where it does not, and then a history tells the time.
    pub commit: Option<String>,
    /// When it was committed, in seconds since the Unix epoch.
    pub time: Option<f64>,
    /// The branch, where the file tells.
    pub branch: Option<String>,
    /// What was measured; `started_at` is when, or 0 where nobody knows.
    pub record: Record,
}

/// Returns the beginning of the id of a commit, as people know it.
pub fn short_commit(id: &str) -> &str {
    id.get(..10).unwrap_or(id)
}

/// One measurement in a history: when it was made and of what. Its whole record is kept beside it.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its number.
    pub id: EntryId,
    /// When the measuring began, in seconds since the Unix epoch.
    pub measured: f64,
    /// The commit, where it is known.
    pub commit: Option<Commit>,
    /// The branch; empty if it is unknown.
    pub branch: String,
    /// Whether the working tree had changes that no commit has.
    pub dirty: bool,
    /// Tags that the user gave it, sorted.
    pub tags: Vec<String>,
    /// What the record says of the machine and of its settings; names such as `cpu_model`, and
    /// `knob.scaling_governor` for a knob, `setting.scheduler` for how subjects were started.
    pub facts: BTreeMap<String, String>,
    /// Which facts split series, as a short hash: equal for what may be compared.
    pub fingerprint: String,
    /// Whether its whole record is still kept.
    pub has_document: bool,
}

impl Entry {
    /// Returns its place in time, in seconds since the Unix epoch: that of the commit where it is known,
    /// otherwise that of the measurement. Entries of the same time are in the order of their numbers.
    pub fn at(&self) -> f64 {
        self.commit.as_ref().and_then(|commit| commit.time).unwrap_or(self.measured)
    }
}
