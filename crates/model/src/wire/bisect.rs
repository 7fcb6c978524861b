//! A bisection: what `becalm bisect --json` prints, and what it continues from after an
//! interruption.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::worded::{Worded, Words, worded};
use crate::RatioInterval;
use crate::note::Note;
use crate::terms::Terms;

/// A search for the first commit of a new level, with everything that was measured. Commits are numbered: the
/// good end is 0, and `commits` are 1 and up, the last of them the bad end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectDocument {
    /// `becalm/bisect/1`.
    pub schema: String,
    /// Version of becalm that wrote it.
    pub version: String,
    /// The command line, program name left out.
    pub arguments: Vec<String>,
    /// When the search started, in seconds since the Unix epoch.
    pub started_at: f64,
    /// The command that is measured.
    pub command: Vec<String>,
    /// The terms of its steps; absent if an earlier version wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<Terms>,
    /// How commits are built; absent if they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The probability that ends the search.
    pub confidence: f64,
    /// The good end, by which every other commit is measured.
    pub good: CommitDocument,
    /// The commits after it, the oldest first. The last is the bad end.
    pub commits: Vec<CommitDocument>,
    /// The metric that is followed; absent until the ends were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Unit of its values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Values of the good end and of the bad one, where the metric is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<[f64; 2]>,
    /// How the bad end compares with the good one: `slower` or `faster`; absent until that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// The state of the search.
    pub state: BisectState,
    /// The programs of the commits that were built.
    pub built: Vec<BuiltDocument>,
    /// The commits that could not be measured.
    pub skipped: Vec<SkippedDocument>,
    /// What was measured, in time order.
    pub steps: Vec<BisectStepDocument>,
    /// Probability of each commit to be the first of the new level, those below one in a thousand left out.
    pub candidates: Vec<CandidateDocument>,
    /// The answer; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<FoundDocument>,
    /// What the reader has to know; without sentences in a saved search.
    pub notes: Vec<Worded<Note>>,
}

/// The state of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BisectState {
    /// Not finished.
    Running,
    /// The commit is known.
    Found,
    /// No commit is sure enough.
    Undecided,
    /// The ends do not differ.
    NoChange,
}

impl BisectDocument {
    /// Returns a commit by its number.
    pub fn commit(&self, number: usize) -> Option<&CommitDocument> {
        if number == 0 { Some(&self.good) } else { self.commits.get(number - 1) }
    }

    /// Returns what the reader has to know.
    pub fn notes(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().map(Worded::get)
    }

    /// Returns the same with its sentences, for people and scripts.
    #[must_use]
    pub fn with_words(&self, words: &Words) -> Self {
        let notes: Vec<Note> = self.notes().cloned().collect();
        Self { notes: worded(&notes, words.note), ..self.clone() }
    }

    /// Returns the number of the bad end.
    pub fn bad(&self) -> usize {
        self.commits.len()
    }
}

/// A commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommitDocument {
    /// Its full id.
    pub id: String,
    /// The first line of its message.
    pub title: String,
    /// Who wrote it.
    pub author: String,
    /// When, in ISO 8601.
    pub date: String,
    /// How many parents it has; several make it a merge.
    pub parents: usize,
}

/// A commit that was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BuiltDocument {
    /// Its number.
    pub commit: usize,
    /// Ids of the content of its programs, equal for equal programs; absent if the program is not
    /// of the build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// A commit that could not be measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedDocument {
    /// Its number.
    pub commit: usize,
    /// Why, with the end of what the build said.
    pub reason: String,
}

/// Rounds of a commit against the good end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectStepDocument {
    /// Number of the commit.
    pub commit: usize,
    /// The rounds, in time order.
    pub rounds: Vec<BisectRoundDocument>,
}

/// One round: the values of the good end and of the commit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BisectRoundDocument {
    /// Value of the good end.
    pub good: f64,
    /// Value of the commit.
    pub commit: f64,
    /// Whether the commit ran before the good end.
    pub commit_first: bool,
    /// Seed of the layout that both ran; absent if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<u32>,
}

/// A commit that may be the first of the new level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CandidateDocument {
    /// Its number.
    pub commit: usize,
    /// Its probability.
    pub probability: f64,
}

/// The commit that was found, or the group of commits that cannot be separated.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FoundDocument {
    /// Number of the first commit of the group.
    pub from: usize,
    /// Number of its last commit: the same where one commit was found.
    pub to: usize,
    /// Probability that the first commit of the new level is among them.
    pub probability: f64,
    /// Ratio of the new level to the old, with its interval; absent if the metric is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<RatioInterval>,
}
