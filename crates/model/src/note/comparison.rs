//! What the reader has to know about one comparison.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Verdict;

/// What the reader has to know about one comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ComparisonNote {
    /// Rounds with a value of zero or less, which has no logarithm.
    RoundsWithoutRatio {
        /// How many.
        rounds: u32,
        /// Name of the metric.
        metric: String,
    },
    /// A metric that was called exact, and differs between runs of one subject.
    NotExact {
        /// Name of the metric.
        metric: String,
    },
    /// The session never looked, or its looks have spent what it may err.
    NoErrorLeft,
    /// Too few rounds or layouts for an interval.
    TooFew {
        /// What is counted.
        of: Observation,
        /// How many are usable.
        usable: u32,
        /// How many it takes.
        needed: u32,
    },
    /// The values move in steps, so that further rounds tell nothing finer.
    Steps,
    /// A subject was cut off at the timeout.
    CutOff {
        /// Name of the subject.
        subject: String,
        /// In how many rounds.
        rounds: u32,
        /// What the comparison is worth then.
        worth: CutOffWorth,
    },
    /// The pace of the core is unknown during some rounds, and so not allowed for.
    PaceUnknown {
        /// How many rounds.
        rounds: u32,
    },
    /// The pace of the core was allowed for.
    PaceAllowedFor {
        /// How much it varied from run to run, as a share.
        varied: f64,
        /// How much of that the subjects feel, as a share.
        felt: f64,
        /// The ratio without the allowance.
        ratio: f64,
        /// Lower end of its interval.
        ratio_low: f64,
        /// Upper end of its interval.
        ratio_high: f64,
    },
    /// The pace of the core differed between the subjects, which may be their own doing.
    PaceDiffered {
        /// By how much, as a share.
        by: f64,
    },
    /// The deciding metric and the wall time say different things.
    MetricsDisagree {
        /// Name of the deciding metric.
        metric: String,
        /// What it says.
        verdict: Verdict,
        /// What the wall time says.
        wall_time: Verdict,
    },
    /// The session chose the wall time to decide.
    DecidedOnWallTime {
        /// Why.
        because: WallTimeReason,
        /// Name of the subject that it is because of, if it is because of one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
    },
    /// The session chose the CPU time to decide, because the subjects compute on one thread.
    DecidedOnCpuTime,
    /// The sides were measured one after the other and not in turns.
    MeasuredSeparately,
    /// Values of sides measured separately that are zero or less, and left out.
    ValuesWithoutRatio {
        /// How many.
        values: usize,
    },
    /// A side has one process alone.
    OneProcess,
    /// A side has one layout alone.
    OneLayout,
    /// Sides measured separately were cut off at the timeout.
    LowerBounds,
    /// A file has a statistic in place of single values.
    NoSingleValues,
    /// Nearly all processes of each side gave the same value.
    SameValues,
    /// The session looked at its results while it ran, for which the interval makes no allowance.
    LooksNotAllowedFor,
    /// The candidate is slower, perhaps by no more than a job allows.
    PerhapsAllowed,
    /// The candidate differs from the base by no more than the base from itself.
    AsTheBaseFromItself,
}

impl ComparisonNote {
    /// Says whether this tells why sides that were measured separately have no ratio.
    pub fn denies_ratio(&self) -> bool {
        matches!(
            self,
            Self::ValuesWithoutRatio { .. }
                | Self::OneProcess
                | Self::OneLayout
                | Self::LowerBounds
                | Self::NoSingleValues
                | Self::SameValues
        )
    }
}

/// What gives a comparison one ratio.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// A round.
    Round,
    /// A layout.
    Layout,
}

/// What a comparison is worth of which a side was cut off at the timeout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CutOffWorth {
    /// What the values alone would say is worth nothing, and it would be this.
    Nothing(Verdict),
    /// Those rounds are left out.
    LeftOut,
    /// The real difference is at least as large.
    AtLeast,
    /// The time of that side is a lower bound.
    LowerBound,
}

/// Why the wall time decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WallTimeReason {
    /// No CPU time was recorded.
    NoCpuTime,
    /// A subject has no complete run.
    NoCompleteRun,
    /// Runs of a subject were cut off at the timeout.
    CutOff,
    /// What a subject does cannot be read here.
    Unknown,
    /// A subject uses several threads or processes.
    SeveralThreads,
    /// A subject spends time waiting.
    Waits,
}
