//! What `becalm stats --steady --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Series of iterations, and whether they settle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyDocument {
    /// `becalm/steady/1`.
    pub schema: String,
    /// `flat`, `warm-up`, `slow-down` or `no-steady-state` where all runs agree; else
    /// `good-inconsistent` (each is flat or a warm-up) or `bad-inconsistent`.
    pub agreement: String,
    /// Iterations to leave out of every run; absent when a run has no steady state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmup: Option<usize>,
    /// Each series.
    pub runs: Vec<SteadyRunDocument>,
}

/// One series of iterations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadyRunDocument {
    /// The file, with a number where it holds several series, or the run of a record.
    pub name: String,
    /// Number of iterations.
    pub iterations: usize,
    /// `flat`, `warm-up`, `slow-down` or `no-steady-state`.
    pub class: String,
    /// Iterations before the steady state; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady_from: Option<usize>,
    /// Seconds that these take; absent when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_before: Option<f64>,
    /// Mean of the steady iterations without outliers, in seconds; of the last segment when there is
    /// no steady state.
    pub level: f64,
    /// Iterations in a row of which the fastest stand for all, because others take much longer; level and segments are of
    /// those. Absent where all iterations count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fastest_of: Option<usize>,
    /// By how much a segment's mean may differ from the last segment's and count as the same, in
    /// seconds; chance is forgiven beside it.
    pub tolerance: f64,
    /// Segments of equal mean and variance, in time order.
    pub segments: Vec<SteadySegmentDocument>,
    /// Iterations that were set aside, from 0.
    pub outliers: Vec<usize>,
}

/// Iterations of one mean and variance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SteadySegmentDocument {
    /// First iteration, from 0.
    pub start: usize,
    /// First iteration after it.
    pub end: usize,
    /// Mean without outliers, in seconds.
    pub mean: f64,
    /// Standard deviation without outliers, in seconds.
    pub standard_deviation: f64,
    /// Whether it is equivalent to the last segment.
    pub like_the_last: bool,
}
