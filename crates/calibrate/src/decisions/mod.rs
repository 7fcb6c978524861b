//! What tools said of pairs of real programs whose true ratio is known: the counts behind
//! `cargo xtask bench decide` and `bench replay`, which make the runs.

mod call;
mod cases;
mod summary;
mod table;
mod tally;

pub use call::{Call, LEVEL, RULES, Rule};
pub use cases::{Case, cases};
pub use summary::Summary;
pub use table::Table;
pub use tally::{PerMille, RATIOS, Tallies, rate};

use serde::{Deserialize, Serialize};

/// What a tool said in one trial; a row of the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    /// Seed of the sequence of trials.
    pub seed: u64,
    /// Which trial of the sequence.
    pub trial: u32,
    /// Built-in workload of both programs.
    pub workload: String,
    /// True ratio of their amounts of work.
    pub ratio: PerMille,
    /// Tool and how its result is read.
    pub rule: String,
    /// `slower`, `faster` or `neither`.
    pub call: String,
    /// What the tool printed, or `error`.
    pub verdict: String,
    /// Metric that decided.
    pub metric: String,
    /// Candidate / baseline as the tool saw it.
    pub estimate: Option<f64>,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Rounds, or runs of each program.
    pub rounds: u64,
    /// Wall time of the whole comparison.
    pub seconds: f64,
    /// Load of the machine afterwards.
    pub load: f64,
    /// The machine.
    pub machine: String,
}
