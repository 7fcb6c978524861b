//! What a gate lets through: results against rules.
//!
//! `rules.rs` is `[gate]` of `becalm.toml`; `comparison.rs` the one judge of two sides, `level.rs` that of one side by
//! the level of its series: `accepted.rs` says which level that is, `standing.rs` what failed since, `elsewhere.rs` what
//! does not count. `interleaved.rs`, `history.rs` and `changes.rs` judge a record of several sides, a record
//! of one side and the changes of a history for `becalm gate`; `ci.rs` judges a job.

mod accepted;
#[cfg(test)]
mod bound;
mod changes;
pub mod ci;
mod comparison;
mod elsewhere;
mod history;
mod interleaved;
mod level;
#[cfg(test)]
mod replay;
mod rules;
#[cfg(test)]
mod simulated;
mod standing;

use becalm_model::gate::{GateBy, GateOutcome, GateResult, GateSeries};
use becalm_model::history::EntryId;
use becalm_model::wire::ReadError;
use becalm_model::{GateReason, Note, Unit};
use becalm_store::StoreError;

pub use changes::judge_changes;
pub use comparison::{Basis, Compared, Extent, Judged, Loss, Policy, Worse, judge};
pub use history::{MeasuredSide, judge_by_history};
pub use interleaved::judge_interleaved;
pub use level::{ByHistory, History, Measured, against_level, against_limit};
pub use rules::{Limit, LimitError, Rule, Rules};
pub use standing::{Found, Standing, StandingTerms, Value};

use crate::follow::ChangeTerms;

/// Largest change for the worse that is let through where nobody says.
const MARGIN: f64 = 0.01;

/// What holds for everything that is judged by a history.
#[derive(Debug, Clone)]
pub struct GateTerms {
    /// The branch whose history is looked at.
    pub branch: String,
    /// Confidence of all intervals from the history together.
    pub confidence: f64,
    /// Changes before so many last values of a series count as accepted; none of them if nobody says.
    pub last: Option<usize>,
    /// When a change of level is one.
    pub changes: ChangeTerms,
    /// The present time, in seconds since the Unix epoch.
    pub now: f64,
}

/// What was judged so far.
#[derive(Debug, Default)]
pub struct Findings {
    /// One metric of one benchmark by one rule each.
    pub results: Vec<GateResult>,
    /// What the reader has to know.
    pub notes: Vec<Note>,
}

/// Why nothing can be judged by a history.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The history cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The record of an entry cannot be read.
    #[error("the record of entry {entry}: {source}")]
    Record {
        /// Whose.
        entry: EntryId,
        /// Why.
        source: ReadError,
    },
    /// There is nothing to judge: a name that is wrong must not pass for ever.
    #[error("the history has no series of the branch {branch}")]
    NoSeries {
        /// The branch.
        branch: String,
        /// Those that it has series of.
        branches: Vec<String>,
    },
}

/// Sorts results, the worst first: by verdict, then by how far the value is from what it is compared with.
pub fn put_worst_first(results: &mut [GateResult]) {
    let distance = |result: &GateResult| result.times().map_or(0.0, |times| times.ln().abs());
    results.sort_by(|a, b| {
        b.outcome.cmp(&a.outcome).then_with(|| distance(b).total_cmp(&distance(a)))
    });
}

/// Judges a value by the limits of a rule.
fn judge_by_limits(value: f64, rule: &Rule, of: &GateSeries, findings: &mut Findings) {
    for limit in &rule.limits {
        let (outcome, limit) = against_limit(value, *limit);
        let reason = match outcome {
            GateOutcome::Fail => GateReason::BeyondLimit,
            _ => GateReason::WithinLimit,
        };
        findings.results.push(GateResult {
            value: Some(value),
            reference: Some(limit),
            ..GateResult::new(of.clone(), GateBy::Limit, outcome, reason)
        });
    }
}

/// Names what is judged.
fn named(
    benchmark: &str,
    metric: &str,
    unit: &Unit,
    parameters: &[(String, String)],
) -> GateSeries {
    GateSeries {
        benchmark: benchmark.to_owned(),
        metric: metric.to_owned(),
        unit: unit.clone(),
        parameters: parameters.iter().cloned().collect(),
    }
}
