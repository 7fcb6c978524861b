//! The highest rate that keeps an objective: what `becalm load --find` tried, and its answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Failed, FailureKind, GeneratorPlace, LoadCounts, LoadTerms, Objective, QuantileValue, Reasons,
    Trust,
};
use crate::machine::MachineFacts;
use crate::wire::read_worded;

/// A search for the highest rate that keeps an objective, as `becalm load --find --json` prints it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadFindDocument {
    /// `becalm/load-find/1`.
    pub schema: String,
    /// Version of becalm.
    pub becalm: String,
    /// Seconds since 1970.
    pub started_at: f64,
    /// The machine that sent.
    pub machine: MachineFacts,
    /// What the requests were; `stages` is empty, and `duration` the time that the search was given.
    pub terms: LoadTerms,
    /// What the server has to keep.
    pub objective: Objective,
    /// The rates that were searched, in requests in a second: the lowest and the highest one.
    pub range: [f64; 2],
    /// The answer.
    pub answer: FindAnswer,
    /// How far the generator could be trusted.
    pub generator: FindGenerator,
    /// What was tried, in time order.
    pub windows: Vec<FindWindow>,
    /// How long the search took.
    pub elapsed: f64,
    /// Whether the search ended because the server never gave an expected answer, or takes no connections any more, which no
    /// rate can change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unanswered: bool,
    /// The signal that ended the search early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
}

/// The highest rate that keeps the objective, in requests in a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FindAnswer {
    /// It lies between `low` and `high` with a probability of `confidence`.
    Found {
        /// As likely below as above.
        rate: f64,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// The probability.
        confidence: f64,
    },
    /// The same where the interval is too wide for an answer.
    Unresolved {
        /// As likely below as above; the nearest one of the range, if it lies outside.
        rate: f64,
        /// The lower end; it may lie below the range.
        low: f64,
        /// The upper end; it may lie above the range.
        high: f64,
        /// The probability.
        confidence: f64,
    },
    /// The server keeps it at this rate, and a higher one could not be tried.
    AtLeast {
        /// The rate, with a probability of `confidence`.
        rate: f64,
        /// The probability.
        confidence: f64,
        /// Why no higher rate was tried.
        limit: FindLimit,
    },
    /// The server does not keep it at a higher rate than this, and may keep it only at lower ones than were to be searched.
    AtMost {
        /// The rate, with a probability of `confidence`.
        rate: f64,
        /// The lowest rate that was to be searched.
        lowest: f64,
        /// The probability.
        confidence: f64,
    },
    /// The server does not keep it at the lowest rate that was searched.
    Below {
        /// That rate.
        rate: f64,
    },
    /// No window could be used.
    Nothing,
}

/// Why no higher rate was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FindLimit {
    /// The generator could not be trusted beyond.
    Generator,
    /// It is the highest one that was to be searched.
    Range,
}

/// How far the generator could be trusted, in requests in a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindGenerator {
    /// On which CPUs its threads were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<GeneratorPlace>,
    /// The highest rate with a valid window; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trusted_to: Option<f64>,
    /// From this rate on no window was valid; absent if the highest rate that was tried had a valid one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_from: Option<f64>,
    /// Why the windows there were not.
    #[serde(deserialize_with = "read_worded")]
    pub reasons: Reasons,
}

/// A stretch of time at a constant rate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FindWindow {
    /// Requests in a second.
    pub rate: f64,
    /// Seconds at its beginning whose requests do not count.
    pub settled: f64,
    /// Seconds whose requests count.
    pub seconds: f64,
    /// Whether it was ended early, because most requests missed the objective; then all of its requests count.
    pub is_cut: bool,
    /// How many requests came how far, in all of it.
    pub counts: LoadCounts,
    /// Whether the server gave no expected answer at all, or took no connections any more at its end: then it counts neither
    /// for the server nor against it, and the search ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unanswered: bool,
    /// What failed, in all of it, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Failed>,
    /// The share of the requests that missed the limit of the objective, of those that count.
    pub missed: MissedShare,
    /// The quantile of the objective, with its own interval; absent for an objective about errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantile: Option<QuantileRange>,
    /// Quantiles of the response time of the requests that count.
    pub response: Vec<QuantileValue>,
    /// 99th percentile of the service time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_p99: Option<f64>,
    /// 99th percentile of the lag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lag_p99: Option<f64>,
    /// Whether the generator kept to the schedule, or at least so well that its lag caused at most a tenth of the
    /// permitted misses. A window in which it did not counts neither for the server nor against it.
    pub verdict: Trust,
    /// Why it did not.
    #[serde(deserialize_with = "read_worded")]
    pub reasons: Reasons,
}

impl FindWindow {
    /// Says whether requests were sent and none was answered.
    pub fn has_no_answer(&self) -> bool {
        self.counts.scheduled > 0 && self.counts.answered == 0
    }

    /// Says whether somebody refused connections.
    pub fn has_refusals(&self) -> bool {
        let is_refusal =
            |one: &Failed| matches!(one.kind, FailureKind::Refused | FailureKind::Unreachable);
        self.errors.iter().any(is_refusal)
    }
}

/// The share of requests that missed a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MissedShare {
    /// Requests that missed it.
    pub missed: u64,
    /// How many of them would have kept it without their lag.
    pub late: u64,
    /// Requests that count.
    pub requests: u64,
    /// How many neighbours say as much as one request alone, because those that wait long wait together.
    pub dispersion: f64,
}

/// A quantile of the response time with its interval in seconds; an end is absent where too many requests were never
/// answered.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QuantileRange {
    /// Which quantile.
    pub q: f64,
    /// Its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The lower end at 95 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}
