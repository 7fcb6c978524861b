//! What is settled before the first run of a session: what is measured, how each run is made, when it ends,
//! how it is judged.
//!
//! A record holds its terms, so that it can be concluded and gone on with without a command line.

mod elsewhere;
mod exports;
mod failure;
mod limits;
mod merge;
mod metrics;
mod runs;
mod source;
mod stop;

pub use elsewhere::Elsewhere;
pub use exports::Exports;
pub use failure::FailurePolicy;
pub use limits::{RoundLimits, Unlimited};
pub use merge::{OtherRuns, merge};
pub use metrics::{Counters, Primary};
pub use runs::{RunTerms, TuneProfile, TuneWait};
pub use source::{CommandLine, SubjectSource};
pub use stop::{Goal, Stop};

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::seconds;

/// The terms of a session. Those of [`Terms::runs`] hold for all its runs; the others may change when a session
/// goes on, because they only say how long it takes and how it is judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Terms {
    /// What is measured.
    pub source: SubjectSource,
    /// Rounds whose runs no estimate uses.
    pub warmup: u32,
    /// The limits that the user set.
    pub limits: RoundLimits,
    /// When the session ends, which follows from these limits and from what the command does without them.
    pub stop: Stop,
    /// Confidence of the family of primary comparisons.
    pub confidence: f64,
    /// Smallest relative change that matters; 0 asks for a difference only.
    pub margin: f64,
    /// Metrics as `--metric` gives them: names of recorded ones, `auto`, or `NAME[UNIT,...]=REGEX`.
    pub metrics: Vec<String>,
    /// Metrics as `--metric-json` gives them: `NAME[UNIT,...]=/json/pointer`.
    pub metrics_json: Vec<String>,
    /// Which of them decide.
    pub primary: Primary,
    /// What happens to runs that fail.
    pub failure: FailurePolicy,
    /// Seconds after which a run is cut off; its time is then a lower bound.
    #[serde(with = "seconds::optional", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    pub timeout: Option<Duration>,
    /// Where the record goes.
    pub exports: Exports,
    /// On which other machine the runs are made; `None` where becalm was started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elsewhere: Option<Elsewhere>,
    /// How each run is made.
    pub runs: RunTerms,
}

impl Default for Terms {
    /// Returns those of a session for which nobody asked for anything: 95 % confidence, one warm-up round.
    fn default() -> Self {
        Self {
            source: SubjectSource::default(),
            warmup: 1,
            limits: RoundLimits::default(),
            stop: Stop::Rounds(1),
            confidence: 0.95,
            margin: 0.0,
            metrics: Vec::new(),
            metrics_json: Vec::new(),
            primary: Primary::Auto,
            failure: FailurePolicy::Stop,
            timeout: None,
            exports: Exports::default(),
            elsewhere: None,
            runs: RunTerms::default(),
        }
    }
}
