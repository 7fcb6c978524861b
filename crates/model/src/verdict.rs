//! What a comparison says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::note::Note;
use crate::words::words;

/// The four possible answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is better: the interval of the ratio excludes 1 and is not inside the margin.
    Faster,
    /// The candidate is worse: the interval of the ratio excludes 1 and is not inside the margin.
    Slower,
    /// The interval of the ratio lies wholly inside the margin.
    Equivalent,
    /// The interval neither excludes 1 nor fits inside the margin.
    Inconclusive,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Self; 4] = [Self::Faster, Self::Slower, Self::Equivalent, Self::Inconclusive];
}

words! {
    Verdict {
        Faster = "faster", Slower = "slower", Equivalent = "equivalent", Inconclusive = "inconclusive"
    }
}

/// An estimate of a ratio with its confidence interval, `low <= estimate <= high`, all positive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioInterval {
    /// The estimate: candidate / baseline.
    pub estimate: f64,
    /// Lower end of the interval; 0 when nothing is known.
    pub low: f64,
    /// Upper end of the interval; infinite when nothing is known.
    pub high: f64,
}

impl RatioInterval {
    /// Says whether the interval leaves 1 out.
    pub fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

/// The comparison of one candidate with the baseline on one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Index of the baseline in [`crate::Record::subjects`].
    pub baseline: usize,
    /// Index of the candidate in [`crate::Record::subjects`].
    pub candidate: usize,
    /// Index into [`crate::Record::metrics`].
    pub metric: usize,
    /// Whether this metric decides the exit code and the headline.
    pub primary: bool,
    /// Ratio candidate / baseline with its interval; `None` when no round has both values.
    pub ratio: Option<RatioInterval>,
    /// The answer.
    pub verdict: Verdict,
    /// Confidence of this interval after correction for the number of comparisons and looks.
    pub confidence: f64,
    /// Rounds that the estimate uses.
    pub rounds: u32,
    /// Rounds that are not used, because of evidence or because a value is missing on one side.
    pub discarded_rounds: u32,
    /// Smallest relative change that this comparison could have detected: half the width of the
    /// interval of the log ratio, as a ratio less 1.
    pub noise_floor: Option<f64>,
    /// How many more rounds an undecided comparison would need, if known.
    pub rounds_needed: Option<u64>,
    /// What the reader has to know beside the verdict.
    pub notes: Vec<Note>,
}
