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
    /// The name of its author, as [`commit_words`] has it; `None` where nobody knows.
    pub author: Option<String>,
    /// The first line of its message, as [`commit_words`] has it; `None` where nobody knows.
    pub title: Option<String>,
}

impl Commit {
    /// A commit of which nothing is known but its name.
    pub fn named(id: impl Into<String>) -> Self {
        Self { id: id.into(), time: None, author: None, title: None }
    }
}

/// Letters of an author or a title that are kept.
pub const COMMIT_WORDS: usize = 200;

/// Returns the first line of what a commit says, without characters that control a terminal, and clipped to
/// [`COMMIT_WORDS`] letters; `None` where it says nothing.
pub fn commit_words(text: &str) -> Option<String> {
    let line = text.trim().lines().next().unwrap_or_default();
    let kept: String = line.chars().filter(|c| !c.is_control()).take(COMMIT_WORDS).collect();
    let kept = kept.trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}

/// What was measured of one commit.
#[derive(Debug, Clone, PartialEq)]
pub struct AtCommit {
    /// The commit, as the file names it; `None` where it does not, and then a history tells the time.
    pub commit: Option<String>,
    /// When it was committed, in seconds since the Unix epoch.
    pub time: Option<f64>,
    /// Its author and the first line of its message, where the file tells; see [`Commit`].
    pub author: Option<String>,
    /// See `author`.
    pub title: Option<String>,
    /// The branch, where the file tells.
    pub branch: Option<String>,
    /// What was measured; `started_at` is when, or 0 where nobody knows.
    pub record: Record,
}

impl AtCommit {
    /// What was measured of a commit of which a file says nothing but its name, if it does.
    pub fn of(commit: Option<String>, record: Record) -> Self {
        Self { commit, time: None, author: None, title: None, branch: None, record }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_what_a_commit_says_the_first_line_is_kept() {
        let kept = |text: &str| commit_words(text);
        assert_eq!(kept("\n Hash faster\r\n\nBecause."), Some("Hash faster".to_owned()));
        assert_eq!(kept("a\u{1b}[2Jb"), Some("a[2Jb".to_owned()));
        assert_eq!(kept(&"ü".repeat(300)), Some("ü".repeat(COMMIT_WORDS)));
        assert_eq!([kept(""), kept(" \n "), kept("\u{7}")], [None, None, None]);
    }
}
