//! What a gate and a job of continuous integration have to say beside their figures.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Interruption;
use crate::Verdict;
use crate::wire::TooFewValues;

/// What the reader has to know about what a gate or a job judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GateNote {
    /// How much of a history was looked at.
    LookedAt {
        /// How many series.
        series: usize,
        /// Their branch.
        branch: String,
    },
    /// The history has series of the branch, and none of their values counts.
    NothingCounts {
        /// The branch.
        branch: String,
    },
    /// Series have too few values for any change to be confirmed, so that they can only pass.
    TooFewValues {
        /// Which.
        few: TooFewValues,
        /// How many series were looked at.
        of: usize,
    },
    /// Too little of the history counts, and it has values of the same benchmarks on another branch.
    OfOtherBranch {
        /// How many.
        values: usize,
        /// Their branch.
        branch: String,
        /// The branch that values are judged by.
        judged: String,
    },
    /// Too little of the history counts, and it has values of the same benchmarks on another machine.
    OfOtherMachine {
        /// How many.
        values: usize,
        /// The facts that differ and split series, with the value there and here.
        differ: Vec<FactDiffers>,
    },
    /// Too little of the history counts, and it has values of the same benchmarks in another unit.
    OfOtherUnit {
        /// How many.
        values: usize,
        /// Their unit.
        unit: String,
        /// The one that was measured.
        measured: String,
    },
    /// No branch was named, and the one that git names has no results.
    BranchWithHistory {
        /// The branch that is judged instead.
        branch: String,
        /// The one that git names.
        instead_of: String,
    },
    /// Entries whose commits are not on the branch do not count.
    OffBranch {
        /// The branch.
        branch: String,
        /// How many have commits that the branch lost when it was rewritten.
        lost: usize,
        /// How many have commits that are newer than the branch is in this clone.
        #[serde(default, skip_serializing_if = "is_zero")]
        newer: usize,
        /// How many have commits of branches that were merged into it.
        merged: usize,
        /// How many are of a working tree with changes that no commit has.
        changed: usize,
    },
    /// The clone is shallow, so that nobody knows which commits are not on the branch.
    ShallowClone {
        /// The branch.
        branch: String,
    },
    /// No branch was named, and git names none: this clone has no other one.
    OnlyBranch {
        /// The branch.
        branch: String,
    },
    /// There are changes for the worse that are not confirmed, which this rule lets pass.
    PendingPass {
        /// How many.
        changes: usize,
    },
    /// A session did not come to its end.
    BrokenOff {
        /// The file of it.
        file: String,
        /// Why it did not.
        because: Interruption,
    },
    /// A suite went on without a subject that failed.
    NotWhole {
        /// The file of it.
        file: String,
        /// The error with its causes.
        failure: String,
    },
    /// Runs of a side of a job were cut off at the timeout.
    SideCutOff {
        /// Which side.
        side: Side,
        /// How many measured runs.
        runs: usize,
        /// Of how many.
        of: usize,
    },
    /// The job is for a commit, and measured what it has checked out.
    CheckedOutMeasured {
        /// The commit.
        commit: String,
    },
    /// The job is for a commit, and another one was measured.
    OtherCommitMeasured {
        /// The commit.
        commit: String,
        /// What was measured.
        measured: String,
    },
    /// Base and head of a job have the same files.
    SameFiles,
    /// Base and head of a job differ in documentation alone.
    OnlyDocumentation {
        /// A file in which they differ.
        path: String,
        /// In how many more they do.
        more: usize,
    },
}

/// Says whether there are none.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl GateNote {
    /// Says whether this is about a measurement that did not come to its end.
    pub fn is_of_broken_off(&self) -> bool {
        matches!(self, Self::BrokenOff { .. } | Self::NotWhole { .. })
    }
}

/// A fact that two machines differ in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FactDiffers {
    /// Its name.
    pub fact: String,
    /// Its value there; `null` if it is unknown.
    pub there: Option<String>,
    /// Its value here; `null` if it is unknown.
    pub here: Option<String>,
}

/// A side of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Side {
    /// What is compared with.
    Base,
    /// What is measured.
    Head,
}

/// Why a result of a gate is as it is.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GateReason {
    /// All of the interval is beyond the margin.
    Slower,
    /// The interval is partly within the margin.
    PerhapsWithinMargin,
    /// What the comparison says is let through.
    Compared {
        /// That.
        verdict: Verdict,
    },
    /// The comparison is not decided.
    NotDecided {
        /// Rounds that are missing for a decision, where that is known.
        rounds: Option<u64>,
    },
    /// Runs of the new side were cut off at the timeout, which makes it seem faster.
    ValuesOfCutOff,
    /// The value is within the limit.
    WithinLimit,
    /// The value is beyond the limit.
    BeyondLimit,
    /// The level of the series changed.
    Change {
        /// Whether no further values are needed to say so.
        confirmed: bool,
        /// The first commit of the new level, if it is known.
        commit: Option<String>,
        /// The first entry of the new level.
        entry: i64,
    },
    /// There are too few earlier values.
    TooFew {
        /// How many more it would take.
        missing: usize,
    },
    /// The history has values that are no numbers.
    NoNumbers,
    /// The value is no worse than what it is compared with.
    NoWorse {
        /// What that is.
        than: Earlier,
    },
    /// An exact value is worse than the best one of the accepted level.
    ExactlyWorse {
        /// By this share.
        by: f64,
    },
    /// The value is worse than its level may give, and there is no ratio around zero.
    WorseAroundZero,
    /// The value is one that its level may give.
    OfItsLevel {
        /// Smallest change for the worse that the series can tell from noise.
        resolves: f64,
    },
    /// The newest values are worse than their level may give.
    WorseThanLevel {
        /// By at least this share.
        at_least: f64,
        /// How many there are.
        newest: usize,
    },
    /// The newest values are worse than their level may give, and the margin lies within the interval: more of it is beyond.
    RatherBeyond {
        /// By about this share.
        about: f64,
        /// By at least this share.
        at_least: f64,
        /// How many there are.
        newest: usize,
    },
    /// Somebody accepted the level of which this value is the only one.
    Accepted,
    /// An earlier value failed, and nothing shows that this is over.
    StillWorse {
        /// By at least this share.
        at_least: f64,
        /// How many values there are from the first that failed on.
        newest: usize,
        /// The commit of that, if it is known.
        since: Option<String>,
    },
    /// The newest values may be within the margin or beyond it.
    Unresolved {
        /// They are worse by at most this share; `null` if there is no end.
        at_most: Option<f64>,
        /// How many there are.
        newest: usize,
        /// How many more values like these would decide, about; `null` if this history cannot.
        values: Option<u64>,
        /// How many runs of the last value would decide, about; `null` if runs of one value cannot.
        runs: Option<u64>,
    },
    /// The level of the series does not stay, so that no value is of a level.
    Unstable {
        /// Its levels differ by this share at most.
        range: Option<f64>,
        /// The first commit from which on it is so, if it is known.
        since: Option<String>,
        /// The first entry from which on it is so.
        entry: i64,
    },
    /// Runs were cut off at the timeout.
    CutOff {
        /// How many measured runs.
        runs: usize,
        /// Of how many.
        of: usize,
    },
    /// The measurement did not come to its end.
    BrokenOff,
    /// What would pass is in doubt.
    Doubted {
        /// Why it would pass.
        reason: Box<GateReason>,
        /// Why that proves nothing.
        because: Box<GateReason>,
    },
}

/// What a value is compared with in its series.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Earlier {
    /// What the level may give.
    Level,
    /// The best value of the accepted level.
    Best,
}

/// What to do about what a gate says. Commits are absent if they are unknown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GateAdvice {
    /// Measure again, to the end.
    MeasureAgain,
    /// Measure for longer, or allow more.
    MeasureLonger,
    /// Find the commit, or allow more.
    FindCommitOrAllow {
        /// The last commit of what it was compared with.
        base: Option<String>,
        /// The commit that was judged.
        head: Option<String>,
        /// The benchmark.
        benchmark: String,
    },
    /// Find the commit, or acknowledge the change.
    FindCommitOrAcknowledge {
        /// The last commit before the change.
        base: Option<String>,
        /// The first commit behind it.
        head: Option<String>,
        /// The change, as `becalm changes acknowledge` takes it.
        change: String,
    },
    /// Add runs to the history, or compare.
    AddRunsOrCompare {
        /// The last commit of the history.
        base: Option<String>,
        /// The commit that was judged.
        head: Option<String>,
    },
    /// Confirm it by a comparison, or accept the level.
    CompareOrAcknowledge {
        /// The last commit of the accepted level.
        base: Option<String>,
        /// The commit that was judged.
        head: Option<String>,
        /// The level, as `becalm changes acknowledge` takes it; `null` if the history does not have it yet.
        change: Option<String>,
    },
    /// Compare both sides interleaved.
    Compare {
        /// The last commit of the history.
        base: Option<String>,
        /// The commit that was judged.
        head: Option<String>,
    },
    /// Find out why a series is unstable, or compare.
    SteadyOrCompare {
        /// The last commit of the history.
        base: Option<String>,
        /// The commit that was judged.
        head: Option<String>,
    },
    /// Make a benchmark fit its limit.
    FitLimit {
        /// The benchmark.
        benchmark: String,
    },
}
