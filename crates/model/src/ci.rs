//! The result of a job of continuous integration: head against base, and base against itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::history::short_commit;
use crate::metric::{Direction, Unit};
use crate::note::{Interruption, Note};
use crate::verdict::{RatioInterval, Verdict};
use crate::wire::{RatioFields, ratio};
use crate::words::words;

/// Says whether a text can be the name of a job: it stands in a hidden line of a comment.
pub fn is_ci_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    // Two hyphens may end the comment that the line is.
    (1..=50).contains(&text.len()) && text.bytes().all(fits) && !text.contains("--")
}

/// A commit with the first line of its message.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CiCommit {
    /// The full id.
    pub id: String,
    /// The first line of the message.
    pub title: String,
}

impl CiCommit {
    /// Returns the beginning of the id, as people know it.
    pub fn short(&self) -> &str {
        short_commit(&self.id)
    }
}

/// What the gate allows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CiRule {
    /// Confidence asked for.
    pub confidence: f64,
    /// Smallest relative change that matters.
    pub margin: f64,
    /// By how much something may get worse, as a share: only a `slower` whose interval lies wholly beyond
    /// fails.
    pub allow: f64,
    /// Whether what stays undecided fails too.
    pub strict: bool,
}

/// The base against itself, measured in the same rounds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CiNoise {
    /// Ratio of the base to itself, with its interval; `None` if there is none.
    #[serde(flatten, with = "ratio")]
    #[schemars(with = "RatioFields")]
    pub ratio: Option<RatioInterval>,
    /// What would have been said of it.
    pub verdict: Verdict,
}

/// One metric of one benchmark, head against base.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CiLine {
    /// The benchmark.
    pub name: String,
    /// The metric.
    pub metric: String,
    /// Unit of the values.
    pub unit: Unit,
    /// Which way is better.
    pub direction: Direction,
    /// Median of the base, in the unit.
    pub base: Option<f64>,
    /// Median of the head, in the unit.
    pub head: Option<f64>,
    /// Ratio head / base with its interval; `None` where there is none.
    #[serde(flatten, with = "ratio")]
    #[schemars(with = "RatioFields")]
    pub ratio: Option<RatioInterval>,
    /// The answer.
    pub verdict: Verdict,
    /// What that means under the rule of the job; follows from the rest.
    pub standing: Standing,
    /// The base against itself.
    pub noise: CiNoise,
    /// How many more rounds an undecided comparison would need, where that is known.
    pub rounds_needed: Option<u64>,
}

/// What a verdict means for the gate.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Worse by more than the rule allows.
    Regression,
    /// Different, but no more than the base is from itself, so this job cannot tell.
    Doubtful,
    /// Not decided.
    Inconclusive,
    /// Worse, perhaps by no more than the rule allows.
    Tolerated,
    /// Better.
    Improvement,
    /// The same, within the margin.
    Equivalent,
}

impl Standing {
    /// Says whether nothing can be said.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Inconclusive | Self::Doubtful)
    }
}

/// The result of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum CiResult {
    /// The programs are the same, for this reason; nothing was measured.
    Identical(Note),
    /// What was measured.
    Measured {
        /// A line for each metric of each benchmark that decides, the worst first.
        lines: Vec<CiLine>,
        /// Rounds that were measured.
        rounds: u32,
    },
    /// Why nothing could be measured.
    Failed(Interruption),
}

/// The conclusion of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// The programs are the same.
    Identical,
    /// Something is worse by more than the rule allows.
    Regressed,
    /// Something is better, and nothing worse by more than the rule allows.
    Improved,
    /// Something is not decided, and nothing changed.
    Undecided,
    /// Nothing changed.
    Unchanged,
    /// Nothing could be measured.
    Failed,
}

impl Conclusion {
    /// Says whether people should be notified unasked.
    pub fn is_news(self) -> bool {
        matches!(self, Self::Regressed | Self::Improved)
    }
}

/// A job of continuous integration.
#[derive(Debug, Clone, PartialEq)]
pub struct CiReport {
    /// Which job: jobs with other names have separate comments and statuses.
    pub id: String,
    /// What was compared with.
    pub base: CiCommit,
    /// What was measured.
    pub head: CiCommit,
    /// The commit that gets the status; `None` where there is no service to tell.
    pub commit: Option<String>,
    /// Number of the pull or merge request, if there is one.
    pub change: Option<u64>,
    /// What the gate allows.
    pub rule: CiRule,
    /// The result.
    pub result: CiResult,
    /// The conclusion; follows from the rest.
    pub conclusion: Conclusion,
    /// The machine in a few words: its model, its kernel, what it runs in.
    pub machine: String,
    /// The command line that does the same elsewhere.
    pub reproduce: Vec<String>,
    /// What the reader has to know.
    pub notes: Vec<Note>,
    /// Version of becalm.
    pub version: String,
}

impl CiReport {
    /// Returns what was measured, the worst first.
    pub fn lines(&self) -> &[CiLine] {
        match &self.result {
            CiResult::Measured { lines, .. } => lines,
            CiResult::Identical(_) | CiResult::Failed(_) => &[],
        }
    }

    /// Says whether something that was measured is undecided.
    pub fn is_undecided(&self) -> bool {
        let CiResult::Measured { lines, .. } = &self.result else { return false };
        lines.is_empty() || lines.iter().any(|line| line.standing.is_open())
    }
}
words! {
    Standing {
        Regression = "regression", Doubtful = "doubtful", Inconclusive = "inconclusive", Tolerated = "tolerated",
        Improvement = "improvement", Equivalent = "equivalent"
    }
    Conclusion {
        Identical = "identical", Regressed = "regressed", Improved = "improved", Undecided = "undecided",
        Unchanged = "unchanged", Failed = "failed"
    }
}
