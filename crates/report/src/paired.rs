//! The ratio of candidate and baseline in each round in which both have a value.

use std::collections::{BTreeMap, BTreeSet};

use becalm_model::{Comparison, Record};

/// One round in which both subjects have a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PairedRound {
    pub(crate) round: u32,
    /// Candidate / baseline.
    pub(crate) ratio: f64,
    /// Whether a run of the round was labelled as disturbed.
    pub(crate) disturbed: bool,
}

/// Returns the rounds in order. If a round ran a subject several times, the mean of the logs
/// represents it, as ratios multiply.
pub(crate) fn rounds(
    record: &Record,
    comparison: &Comparison,
    disturbed: &BTreeSet<usize>,
) -> Vec<PairedRound> {
    #[derive(Default)]
    struct Sides {
        logs: [Vec<f64>; 2],
        disturbed: bool,
    }
    let mut rounds: BTreeMap<u32, Sides> = BTreeMap::new();
    for (index, run) in record.runs.iter().enumerate().filter(|(_, run)| run.is_measured()) {
        let side = match run.subject {
            s if s == comparison.baseline => 0,
            s if s == comparison.candidate => 1,
            _ => continue,
        };
        let Some(value) = run.value(comparison.metric).filter(|value| *value > 0.0) else {
            continue;
        };
        let sides = rounds.entry(run.round).or_default();
        sides.logs[side].push(value.ln());
        sides.disturbed |= disturbed.contains(&index);
    }
    let mean = |logs: &[f64]| logs.iter().sum::<f64>() / logs.len() as f64;
    rounds
        .into_iter()
        .filter(|(_, sides)| sides.logs.iter().all(|logs| !logs.is_empty()))
        .map(|(round, sides)| PairedRound {
            round,
            ratio: (mean(&sides.logs[1]) - mean(&sides.logs[0])).exp(),
            disturbed: sides.disturbed,
        })
        .filter(|round| round.ratio.is_finite() && round.ratio > 0.0)
        .collect()
}
