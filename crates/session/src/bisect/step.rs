//! One step: rounds of a commit against the good end, as a session of its own.

use std::path::PathBuf;
use std::time::Duration;

use becalm_model::conditions::Pace;
use becalm_model::terms::{Exports, Goal, RoundLimits, Stop, Terms};
use becalm_model::wire::BisectRoundDocument;
use becalm_model::{Record, Verdict};
use becalm_runner::conclude::{PairedRound, paired_rounds};
use becalm_stats::bisect::ROUNDS_OF_ENDS;

use crate::record::LARGEST_SEED;

/// Time after which the ends are no longer compared, unless the user says otherwise.
const BUDGET_OF_ENDS: Duration = Duration::from_secs(120);

/// Rounds in which exact values are read: enough to show that they are exact.
pub(super) const EXACT_ROUNDS: u32 = 2;

/// The result of a step.
#[derive(Debug)]
pub enum Measured {
    /// All its rounds.
    Whole(Box<Record>),
    /// Those before this signal.
    Until(i32, Box<Record>),
    /// The commit cannot be measured, and why.
    Unusable(String),
}

/// Returns the terms of the step with this number, of which the whole record is saved at `record`.
pub(super) fn of_step(
    terms: &Terms,
    number: u64,
    stop: Stop,
    (confidence, margin): (f64, f64),
    record: PathBuf,
) -> Terms {
    let mut terms = Terms {
        confidence,
        margin,
        stop,
        limits: RoundLimits::default(),
        exports: Exports { json: Some(record), ..Exports::default() },
        ..terms.clone()
    };
    // Their rounds are put together from values alone, which would leave the pace out.
    terms.runs.pace = Pace::Off;
    // No session has the schedule of another.
    let seed = &mut terms.runs.seed;
    *seed = seed.map(|seed| seed.wrapping_add(number) & LARGEST_SEED);
    terms
}

/// Returns when the comparison of the ends is over.
pub(super) fn stop_of_ends(limits: &RoundLimits, are_exact: bool) -> Stop {
    match limits.rounds {
        Some(rounds) => Stop::Rounds(rounds),
        None if are_exact => Stop::Rounds(EXACT_ROUNDS),
        None => Stop::Until {
            minimum: limits.min_rounds.unwrap_or(ROUNDS_OF_ENDS),
            maximum: limits.max_rounds,
            // The whole search may take longer; equal ends would take all of it.
            budget: Some(limits.max_time.map_or(BUDGET_OF_ENDS, |most| most.min(BUDGET_OF_ENDS))),
            goal: Goal::Verdict,
        },
    }
}

/// Returns the index of the metric that the ends differ most surely in, with the verdict on it.
pub(super) fn clearest(record: &Record) -> Option<(usize, Verdict)> {
    let clearness = |ratio: &becalm_model::RatioInterval| {
        let width = (ratio.high.ln() - ratio.low.ln()).max(1e-9);
        ratio.estimate.ln().abs() / width
    };
    record
        .comparisons
        .iter()
        .filter(|one| one.primary && matches!(one.verdict, Verdict::Slower | Verdict::Faster))
        .filter_map(|one| Some((one, clearness(one.ratio.as_ref()?))))
        .max_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(one, _)| (one.metric, one.verdict))
}

/// Returns the rounds of a step, in a metric.
pub(super) fn rounds(record: &Record, metric: &str) -> Vec<BisectRoundDocument> {
    let Some(metric) = record.metric_index(metric) else { return Vec::new() };
    paired_rounds(record, 0, 1, metric)
        .into_iter()
        .map(|round| BisectRoundDocument {
            good: round.baseline,
            commit: round.candidate,
            commit_first: round.candidate_first,
            layout: round.layout,
        })
        .collect()
}

/// Returns saved rounds as the runner has them.
pub(super) fn paired(round: &BisectRoundDocument) -> PairedRound {
    PairedRound {
        baseline: round.good,
        candidate: round.commit,
        candidate_first: round.commit_first,
        layout: round.layout,
        pace: [0.0; 2],
    }
}
