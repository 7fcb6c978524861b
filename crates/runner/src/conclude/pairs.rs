//! The rounds of a comparison as paired log ratios.

use std::collections::{BTreeMap, BTreeSet};

use becalm_model::{Record, Run, Verdict, metric as metrics};
use becalm_stats::decide::paired::Observation;

/// The values of two subjects in one round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedRound {
    /// The baseline's value.
    pub baseline: f64,
    /// The candidate's value.
    pub candidate: f64,
    /// Whether the candidate ran before the baseline.
    pub candidate_first: bool,
    /// The layout that both ran, where there are several.
    pub layout: Option<u32>,
    /// Logarithms of the pace of the core during the baseline's run and during the candidate's, where
    /// that was sampled and the metric depends on it; else two zeros.
    pub pace: [f64; 2],
}

/// Returns the values of `metric` of the two subjects in all usable rounds, in time order.
pub fn paired_rounds(
    record: &Record,
    baseline: usize,
    candidate: usize,
    metric: usize,
) -> Vec<PairedRound> {
    pairs(record, baseline, candidate, metric).rounds
}

/// Returns the rounds as observations: one for each round of positive values, or for each layout where there are
/// several.
pub fn observations(rounds: &[PairedRound]) -> Vec<Observation> {
    let mut observations = Vec::with_capacity(rounds.len());
    let mut layouts: BTreeMap<u32, Vec<Observation>> = BTreeMap::new();
    for round in rounds.iter().filter(|round| round.baseline > 0.0 && round.candidate > 0.0) {
        let observation = Observation {
            baseline: round.baseline.ln(),
            candidate: round.candidate.ln(),
            candidate_first: round.candidate_first,
            pace: round.pace,
        };
        match round.layout {
            Some(layout) => layouts.entry(layout).or_default().push(observation),
            None => observations.push(observation),
        }
    }
    observations.extend(layouts.into_values().map(|of_layout| mean(&of_layout)));
    observations
}

/// Rounds of equal values without which an exact metric is not shown to be one.
pub(crate) const FEWEST_EXACT: u32 = 2;

/// Returns the values of baseline and candidate, where they are the same in every round.
pub(crate) fn same_in_all(rounds: &[PairedRound]) -> Option<(f64, f64)> {
    let &PairedRound { baseline, candidate, .. } = rounds.first()?;
    let is_other = |round: &PairedRound| (round.baseline, round.candidate) != (baseline, candidate);
    (!rounds.iter().any(is_other)).then_some((baseline, candidate))
}

/// Returns how many observations rounds of any values are: one each, or one for each layout.
pub(crate) fn number_of_observations(rounds: &[PairedRound]) -> usize {
    let layouts: BTreeSet<u32> = rounds.iter().filter_map(|round| round.layout).collect();
    rounds.iter().filter(|round| round.layout.is_none()).count() + layouts.len()
}

/// What the rounds give for one pair of subjects and one metric.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pairs {
    /// One observation per usable round, in time order.
    pub(crate) observations: Vec<Observation>,
    /// The values themselves.
    pub(crate) rounds: Vec<PairedRound>,
    /// Rounds that give none: those that were disturbed and made again among them.
    pub(crate) discarded: u32,
    /// Rounds in which the baseline alone was cut off at the timeout, and those in which the candidate alone was. For
    /// wall time they are used, and the value is a lower bound; for other metrics they are left out.
    pub(crate) cut_off: [u32; 2],
    /// Usable rounds during which the pace of the core is unknown, where it is known of others.
    pub(crate) without_pace: u32,
    /// Usable rounds without a log ratio because a value is zero or below.
    pub(crate) not_positive: u32,
}

impl Pairs {
    /// Returns the verdict as far as runs that were cut off at the timeout support it. A lower bound can show a
    /// difference, and neither that there is none nor that the side is better that was cut off more often.
    pub(crate) fn supported(&self, verdict: Verdict) -> Verdict {
        let [baseline, candidate] = self.cut_off;
        match verdict {
            Verdict::Equivalent if self.cut_off != [0, 0] => Verdict::Inconclusive,
            Verdict::Faster if candidate > baseline => Verdict::Inconclusive,
            Verdict::Slower if baseline > candidate => Verdict::Inconclusive,
            verdict => verdict,
        }
    }
}

/// Returns the paired observations of `metric` for the two subjects.
pub(crate) fn pairs(record: &Record, baseline: usize, candidate: usize, metric: usize) -> Pairs {
    let mut rounds: BTreeMap<u32, [Option<&Run>; 2]> = BTreeMap::new();
    for run in record.runs.iter().filter(|run| !run.warmup) {
        let slot = match run.subject {
            subject if subject == baseline => 0,
            subject if subject == candidate => 1,
            _ => continue,
        };
        rounds.entry(run.round).or_default()[slot] = Some(run);
    }
    let mut pairs = Pairs {
        observations: Vec::new(),
        rounds: Vec::with_capacity(rounds.len()),
        discarded: 0,
        cut_off: [0, 0],
        without_pace: 0,
        not_positive: 0,
    };
    let is_wall_time = record.metrics[metric].name == metrics::WALL_TIME;
    let is_of_the_core = record.metrics[metric].name == metrics::CPU_TIME;
    for runs in rounds.into_values() {
        if runs.iter().flatten().any(|run| run.discarded) {
            pairs.discarded += 1;
            continue;
        }
        let [Some(first), Some(second)] = runs else {
            pairs.discarded += 1;
            continue;
        };
        let are_cut_off = [first.is_censored(), second.is_censored()];
        if are_cut_off[0] != are_cut_off[1] {
            pairs.cut_off[usize::from(are_cut_off[1])] += 1;
        }
        // What else was counted until the timeout is no bound: a program that hangs uses no CPU time. And two lower
        // bounds say nothing about the ratio.
        let is_lost = are_cut_off == [true, true] || are_cut_off.contains(&true) && !is_wall_time;
        let (Some(a), Some(b)) = (first.value(metric), second.value(metric)) else {
            pairs.discarded += 1;
            continue;
        };
        if is_lost {
            pairs.discarded += 1;
            continue;
        }
        let log = |run: &Run| run.evidence().pace.filter(|pace| *pace > 0.0).map(f64::ln);
        let pace = log(first).zip(log(second));
        if is_of_the_core && pace.is_none() {
            pairs.without_pace += 1;
        }
        pairs.rounds.push(PairedRound {
            baseline: a,
            candidate: b,
            candidate_first: second.order < first.order,
            layout: first.layout,
            pace: pace.filter(|_| is_of_the_core).map_or([0.0; 2], |(a, b)| [a, b]),
        });
        if a <= 0.0 || b <= 0.0 {
            pairs.not_positive += 1;
        }
    }
    if pairs.without_pace == u32::try_from(pairs.rounds.len()).expect("fewer than 2^32 rounds") {
        // It was never sampled.
        pairs.without_pace = 0;
    } else if pairs.without_pace > 0 {
        for round in &mut pairs.rounds {
            round.pace = [0.0; 2];
        }
    }
    pairs.observations = observations(&pairs.rounds);
    pairs
}

/// Makes one observation of all rounds that ran the same layout: they share its luck, so that more of them
/// say nothing more about other layouts.
fn mean(observations: &[Observation]) -> Observation {
    let n = observations.len() as f64;
    let first = observations.iter().filter(|one| one.candidate_first).count();
    Observation {
        baseline: observations.iter().map(|one| one.baseline).sum::<f64>() / n,
        candidate: observations.iter().map(|one| one.candidate).sum::<f64>() / n,
        candidate_first: 2 * first > observations.len(),
        pace: [0, 1].map(|side| observations.iter().map(|one| one.pace[side]).sum::<f64>() / n),
    }
}
