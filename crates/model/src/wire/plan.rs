//! What `becalm plan --json` prints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::worded::Worded;
use crate::Note;

/// How often each level of an experiment is worth repeating.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanDocument {
    /// `becalm/plan/1`.
    pub schema: String,
    /// Name of the metric that the pilot recorded: `iteration` for what a subject times itself.
    pub metric: String,
    /// Typical value, the geometric mean, in `unit`.
    pub typical: f64,
    /// Unit of the metric.
    pub unit: String,
    /// The levels, the highest first.
    pub levels: Vec<PlanLevelDocument>,
    /// The goal.
    pub goal: PlanGoalDocument,
    /// The cheapest numbers that reach it; absent when no number does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanChoiceDocument>,
    /// Iterations to skip at the start of every run.
    pub warmup_iterations: usize,
    /// What the reader has to know, as sentences.
    pub notes: Vec<Worded<Note>>,
}

/// One level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanLevelDocument {
    /// `layout` (where each round ran another one), `round`, `run` or `iteration`.
    pub level: String,
    /// Variance of the logarithms that arises here: a relative variance. Negative if it is too
    /// small to be visible. In a plan that detects a change, that of the log ratio of two runs in a
    /// round.
    pub variance: f64,
    /// Independent differences that it was estimated from.
    pub df: usize,
    /// Seconds that one repetition takes, in addition to what is repeated inside it.
    pub cost: f64,
    /// Repetitions in the pilot, inside one of the level above; the mean where they differ.
    pub pilot: f64,
}

/// The goal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanGoalDocument {
    /// Half width of the interval, as a share; absent in a plan that detects a change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<f64>,
    /// Relative change to detect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detect: Option<f64>,
    /// Probability of detecting it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<f64>,
    /// Confidence.
    pub confidence: f64,
}

/// Numbers of repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlanChoiceDocument {
    /// Repetitions of each level inside one of the level above, in the order of `levels`.
    pub counts: Vec<u32>,
    /// Time that it takes for all programs, in seconds.
    pub seconds: f64,
    /// Repetitions of the highest level that are enough if its variance is at the lower or upper end
    /// of what the pilot leaves open (90 %).
    pub counts_low: Option<u32>,
    /// See `counts_low`.
    pub counts_high: Option<u32>,
    /// Rounds after which half of the comparisons have ended, if the change is as large as
    /// expected; absent in other plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual: Option<u32>,
    /// Half width of the interval of a comparison after all rounds, as a share; absent in other
    /// plans.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,
}
