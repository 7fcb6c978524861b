//! What the runs say about each configuration.
//!
//! A subject that times iterations itself has a spread in every run: the coefficient of variation
//! of its iterations, as the guides state it. Configurations are held against the reference of
//! their own block, and the log ratios of all blocks give a trimmed mean with its t interval, so
//! that neither a noisy minute nor one wild run decides. A subject that is timed as a whole has its
//! spread between runs, and the ratio of two such spreads has a jackknife interval
//! ([`becalm_stats::spread_ratio`]).
//!
//! Mean times are compared in the same blocks. Both families of tests are corrected by Holm's
//! method for the number of configurations that were tried.

use becalm_model::ablate::{AblateRun, MitigationVerdict, Timing};
use becalm_stats::center::{mean, median};
use becalm_stats::spread::{coefficient_of_variation, standard_deviation};
use becalm_stats::spread_ratio::{self, FEWEST_BLOCKS, Measure, TRIM};
use becalm_stats::{Interval, Sample, Violation, holm, yuen};

/// A spread inside this factor of another, to either side, is as good as the same.
pub const SAME_SPREAD: f64 = 1.25;

/// What one configuration showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of runs.
    pub runs: usize,
    /// Mean in seconds: of a typical run where runs have iterations.
    pub mean: f64,
    /// Standard deviation, likewise.
    pub standard_deviation: Option<f64>,
    /// Standard deviation / mean, likewise.
    pub cv: Option<f64>,
    /// Smallest value of all runs.
    pub minimum: f64,
    /// Largest value of all runs.
    pub maximum: f64,
    /// Coefficient of variation of the smallest values of the runs; `None` where a run has one
    /// value.
    pub cv_of_minimums: Option<f64>,
    /// Coefficient of variation of the means of the runs; `None` where a run has one value.
    pub cv_of_means: Option<f64>,
    /// Mean of each counter over the runs, and its coefficient of variation.
    pub counters: Vec<Option<(f64, Option<f64>)>>,
}

/// A ratio of a configuration to the reference of its stage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// The ratio with its interval.
    pub ratio: Interval,
    /// Confidence of the interval, which goes with the correction.
    pub confidence: f64,
    /// Two-sided probability of a ratio as far from 1 by chance, corrected.
    pub adjusted_p: f64,
    /// Whether the ratio differs from 1, at the level of the whole family.
    pub is_other_than_one: bool,
}

impl Ratio {
    /// Returns what a mitigation does that has this ratio of spreads.
    pub fn verdict(&self) -> MitigationVerdict {
        let ratio = &self.ratio;
        if self.is_other_than_one {
            if ratio.estimate < 1.0 { MitigationVerdict::Helps } else { MitigationVerdict::Harms }
        } else if 1.0 / SAME_SPREAD <= ratio.low && ratio.high <= SAME_SPREAD {
            MitigationVerdict::Nothing
        } else {
            MitigationVerdict::Undecided
        }
    }
}

/// Returns what the runs of one configuration show; `None` without runs.
pub fn row(runs: &[&AblateRun], timing: Timing) -> Option<Row> {
    let all = Sample::new(runs.iter().flat_map(|run| run.values.iter().copied()).collect()).ok()?;
    let each: Vec<Sample> =
        runs.iter().filter_map(|run| Sample::new(run.values.clone()).ok()).collect();
    let typical = |of: &dyn Fn(&Sample) -> Option<f64>| {
        Sample::new(each.iter().filter_map(of).collect()).ok().map(|values| median(&values))
    };
    let between = |of: &dyn Fn(&Sample) -> f64| {
        let values = Sample::new(each.iter().map(of).collect()).ok()?;
        coefficient_of_variation(&values)
    };
    let n_counters = runs.first().map_or(0, |run| run.counters.len());
    let counter = |index: usize| {
        let values = runs.iter().filter_map(|run| run.counters.get(index).copied().flatten());
        let values = Sample::new(values.collect()).ok()?;
        Some((mean(&values), coefficient_of_variation(&values)))
    };
    let whole = Row {
        runs: runs.len(),
        mean: mean(&all),
        standard_deviation: standard_deviation(&all).ok(),
        cv: coefficient_of_variation(&all),
        minimum: all.minimum(),
        maximum: all.maximum(),
        cv_of_minimums: None,
        cv_of_means: None,
        counters: (0..n_counters).map(counter).collect(),
    };
    match timing {
        Timing::Runs => Some(whole),
        Timing::Iterations => Some(Row {
            mean: typical(&|run| Some(mean(run)))?,
            standard_deviation: typical(&|run| standard_deviation(run).ok()),
            cv: typical(&coefficient_of_variation),
            cv_of_minimums: between(&Sample::minimum),
            cv_of_means: between(&mean),
            ..whole
        }),
    }
}

/// The runs of one configuration beside those of the reference, block by block.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    pub(super) reference: Vec<Sample>,
    candidate: Vec<Sample>,
    timing: Timing,
}

impl Paired {
    /// Puts the runs of `candidate` beside those of `reference`, both indices of configurations of
    /// the one stage that `runs` are of. Blocks that lack one of the two are left out.
    pub fn of(runs: &[AblateRun], reference: usize, candidate: usize, timing: Timing) -> Self {
        let mut paired = Self { reference: Vec::new(), candidate: Vec::new(), timing };
        let sample = |run: &AblateRun| Sample::new(run.values.clone()).ok();
        // Values without any spread are those of a clock too coarse for them: they say nothing
        // about ratios of spreads.
        let is_useful = |sample: &Sample| {
            timing == Timing::Runs || Measure::StandardDeviation.of(sample).is_ok()
        };
        for run in runs.iter().filter(|run| run.configuration == candidate) {
            let mut others = runs.iter().filter(|other| other.configuration == reference);
            let other = others.find(|other| other.block == run.block).and_then(sample);
            if let (Some(one), Some(other)) = (sample(run), other)
                && is_useful(&one)
                && is_useful(&other)
            {
                paired.candidate.push(one);
                paired.reference.push(other);
            }
        }
        paired
    }

    fn spread(&self, confidence: f64) -> Result<Estimated, Violation> {
        let ratio = match self.timing {
            Timing::Iterations => spread_ratio::by_block(
                &self.reference,
                &self.candidate,
                Measure::StandardDeviation,
                confidence,
            ),
            Timing::Runs => spread_ratio::of_runs(
                &pooled(&self.reference)?,
                &pooled(&self.candidate)?,
                Measure::MeanDeviation,
                confidence,
            ),
        }?;
        Ok(Estimated { ratio: ratio.ratio, p: ratio.p })
    }

    fn time(&self, confidence: f64) -> Result<Estimated, Violation> {
        let pairs = self.reference.iter().zip(&self.candidate);
        let ratios = Sample::new(pairs.map(|(a, b)| (mean(b) / mean(a)).ln()).collect())?;
        if ratios.len() < FEWEST_BLOCKS {
            return Err(Violation::TooFew { needed: FEWEST_BLOCKS, have: ratios.len() });
        }
        let test = yuen(&ratios, TRIM, confidence)?;
        Ok(Estimated { ratio: test.trimmed_mean.map(f64::exp), p: test.p })
    }
}

/// Puts the values of all blocks together, in time order.
fn pooled(blocks: &[Sample]) -> Result<Sample, Violation> {
    Sample::new(blocks.iter().flat_map(|block| block.values().iter().copied()).collect())
}

#[derive(Debug, Clone, Copy)]
struct Estimated {
    ratio: Interval,
    p: f64,
}

/// Returns the ratios of spreads, corrected for their number. One that cannot be computed takes no
/// part and is `None`.
pub fn spreads(family: &[Paired], confidence: f64) -> Vec<Option<Ratio>> {
    corrected(family, confidence, |paired, confidence| paired.spread(confidence).ok())
}

/// Returns the ratios of mean times, corrected for their number.
pub fn times(family: &[Paired], confidence: f64) -> Vec<Option<Ratio>> {
    corrected(family, confidence, |paired, confidence| paired.time(confidence).ok())
}

fn corrected(
    family: &[Paired],
    confidence: f64,
    estimate: impl Fn(&Paired, f64) -> Option<Estimated>,
) -> Vec<Option<Ratio>> {
    let alone: Vec<_> = family.iter().map(|paired| estimate(paired, confidence)).collect();
    let p_values: Vec<f64> = alone.iter().flatten().map(|one| one.p).collect();
    let mut steps = holm(&p_values, confidence).into_iter();
    family
        .iter()
        .zip(alone)
        .map(|(paired, alone)| {
            alone?;
            let step = steps.next().expect("there is one step for each p value");
            Some(Ratio {
                ratio: estimate(paired, step.confidence)?.ratio,
                confidence: step.confidence,
                adjusted_p: step.adjusted_p,
                is_other_than_one: step.rejected,
            })
        })
        .collect()
}
