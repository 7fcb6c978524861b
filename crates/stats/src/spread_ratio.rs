//! How many times as wide is one subject's relative spread as another's?
//!
//! A spread is taken relative to the location of its own sample ([`Measure`]), so that a faster
//! subject does not look quieter for being faster. Two designs, in order of preference:
//!
//! - [`by_block`]: both subjects ran in every block, in random order. d = ln(candidate's spread /
//!   baseline's spread) in each block, and a t interval of the mean of the d, trimmed by [`TRIM`] from
//!   [`TRIMMED_FROM`] blocks on, back on the ratio scale. Whatever made a block noisy made it noisy for
//!   both; without an effect d is symmetric about 0, because the order inside a block is random.
//! - [`of_samples`]: two samples and no blocks. ln ratio with the expanded percentile interval of a
//!   moving block bootstrap, in pieces of about n^(1/3) values, so that neighbours that resemble each
//!   other stay together. It cannot see what changed on the machine between the two samples, and then
//!   claims too much.
//!
//! Chosen by simulation (`crates/calibrate/tests/calibration/spread_ratio.rs`, which prints the tables): in blocks the
//! 95 % intervals hold the truth in 92 to 99 % of trials on skewed, spiky, heavy-tailed and
//! autocorrelated noise, with any measure. Trimming halves the width where one run in ten is disturbed,
//! and costs half as much again with 5 blocks. [`Measure::MeanDeviation`] is within 2 % of the best
//! width on normal noise and keeps its width on spikes, where that of the standard deviation explodes.
//!
//! Yuen, "The Two-Sample Trimmed t for Unequal Population Variances", Biometrika 61 (1974); Künsch,
//! "The Jackknife and the Bootstrap for General Stationary Observations", Annals of Statistics 17
//! (1989); Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69
//! (2015), for the expansion; Arachchige, Prendergast and Staudte, "Robust Analogs to the Coefficient
//! of Variation", Journal of Applied Statistics 49 (2022), for ratios of such measures.

use crate::center::{mean, median};
use crate::quantile::{of_sorted, quantile};
use crate::sample::assert_confidence;
use crate::spread::{MAD_TO_SIGMA, mad, mean_absolute_deviation, standard_deviation};
use crate::whole::place;
use crate::{Interval, Rng, Sample, Violation, normal, student, yuen};

/// Share of the blocks that is cut from each end before the mean is taken, where there are enough.
pub const TRIM: f64 = 0.2;

/// Blocks from which on the mean is trimmed: with fewer, trimming costs more than it saves.
pub const TRIMMED_FROM: usize = 10;

/// Fewest blocks that have an interval.
pub const FEWEST_BLOCKS: usize = 3;

/// Fewest values of each sample without blocks.
pub const FEWEST_VALUES: usize = 10;

/// Resamples of the bootstrap: enough that the ends of a 95 % interval move by less than a tenth
/// of its width from seed to seed.
const RESAMPLES: usize = 1999;

/// (95 % - 5 % quantile) of a normal distribution in standard deviations.
const NORMAL_RANGE_90: f64 = 3.289_707_253_902_945;

/// Standard deviation / mean absolute deviation of a normal distribution: sqrt(pi / 2).
const NORMAL_MEAN_DEVIATION: f64 = 1.253_314_137_315_500_3;

/// Which relative spread. All are multiplied so that they estimate the coefficient of variation of
/// normal data, and cannot be told apart there; they differ in how much of the tail they see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measure {
    /// Median absolute deviation / median: the middle half, blind to interruptions of less than a
    /// quarter of the values.
    MedianDeviation,
    /// Distance of the 5 % and 95 % quantiles / median: blind to the rarest 5 % on either side.
    Range90,
    /// Mean absolute deviation from the median / median: every value counts, in proportion to its
    /// distance.
    MeanDeviation,
    /// Standard deviation / mean, the coefficient of variation: the rarest values rule it.
    StandardDeviation,
}

impl Measure {
    /// Returns the relative spread of `sample`; needs two values, spread, and a location other than
    /// 0.
    pub fn of(self, sample: &Sample) -> Result<f64, Violation> {
        sample.at_least(2)?;
        let (spread, location) = match self {
            Self::MedianDeviation => (MAD_TO_SIGMA * mad(sample), median(sample)),
            Self::Range90 => {
                let range = quantile(sample, 0.95) - quantile(sample, 0.05);
                (range / NORMAL_RANGE_90, median(sample))
            }
            Self::MeanDeviation => {
                (NORMAL_MEAN_DEVIATION * mean_absolute_deviation(sample), median(sample))
            }
            Self::StandardDeviation => (standard_deviation(sample)?, mean(sample)),
        };
        let relative = spread / location.abs();
        if relative > 0.0 && relative.is_finite() { Ok(relative) } else { Err(Violation::NoSpread) }
    }
}

/// A ratio of relative spreads, candidate / baseline: below 1 the candidate is quieter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpreadRatio {
    /// The ratio with its interval.
    pub ratio: Interval,
    /// Two-sided probability of a ratio as far from 1 when the spreads are equal.
    pub p: f64,
    /// What was independent: the number of blocks, or of values in the smaller sample.
    pub units: usize,
}

/// Compares spreads inside blocks: `baseline[i]` and `candidate[i]` are the values of block i, in
/// time order. Needs [`FEWEST_BLOCKS`] blocks, spread in each, and about as many values in the
/// blocks of both, because spreads of few values are biased.
pub fn by_block(
    baseline: &[Sample],
    candidate: &[Sample],
    measure: Measure,
    confidence: f64,
) -> Result<SpreadRatio, Violation> {
    let ratios = block_log_ratios(baseline, candidate, measure)?;
    of_log_ratios(&ratios, confidence)
}

fn block_log_ratios(
    baseline: &[Sample],
    candidate: &[Sample],
    measure: Measure,
) -> Result<Sample, Violation> {
    if baseline.len() != candidate.len() {
        return Err(Violation::NotPaired { left: baseline.len(), right: candidate.len() });
    }
    if baseline.len() < FEWEST_BLOCKS {
        return Err(Violation::TooFew { needed: FEWEST_BLOCKS, have: baseline.len() });
    }
    let pairs = baseline.iter().zip(candidate);
    let ratios: Result<Vec<f64>, Violation> =
        pairs.map(|(base, other)| Ok((measure.of(other)? / measure.of(base)?).ln())).collect();
    Sample::new(ratios?)
}

fn of_log_ratios(ratios: &Sample, confidence: f64) -> Result<SpreadRatio, Violation> {
    let trim = if ratios.len() < TRIMMED_FROM { 0.0 } else { TRIM };
    match yuen(ratios, trim, confidence) {
        Ok(test) => Ok(SpreadRatio {
            ratio: test.trimmed_mean.map(f64::exp),
            p: test.p,
            units: ratios.len(),
        }),
        // All blocks gave the same ratio, so nothing speaks for any other.
        Err(Violation::NoSpread) => {
            let ratio = median(ratios).exp();
            let p = if median(ratios) == 0.0 { 1.0 } else { 0.0 };
            let ratio = Interval { estimate: ratio, low: ratio, high: ratio };
            Ok(SpreadRatio { ratio, p, units: ratios.len() })
        }
        Err(violation) => Err(violation),
    }
}

/// Compares the spreads of two samples in time order that have no blocks in common. Needs
/// [`FEWEST_VALUES`] values of each.
///
/// The tails are those of a t distribution with as many degrees of freedom as there are pieces
/// beside one, which makes up for a bootstrap being too sure of few values.
pub fn of_samples(
    baseline: &Sample,
    candidate: &Sample,
    measure: Measure,
    confidence: f64,
    seed: u64,
) -> Result<SpreadRatio, Violation> {
    assert_confidence(confidence);
    baseline.at_least(FEWEST_VALUES)?;
    candidate.at_least(FEWEST_VALUES)?;
    let estimate = (measure.of(candidate)? / measure.of(baseline)?).ln();
    let mut rng = Rng::new(seed);
    let mut resampled: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let base = measure.of(&resample(baseline, &mut rng)).ok()?;
            let other = measure.of(&resample(candidate, &mut rng)).ok()?;
            Some((other / base).ln())
        })
        .collect();
    // Coarse values: many resamples have no spread, and the rest would look too certain.
    if resampled.len() < RESAMPLES * 99 / 100 {
        return Err(Violation::NoSpread);
    }
    resampled.sort_by(f64::total_cmp);
    let units = baseline.len().min(candidate.len());
    let pieces = units as f64 / block_length(units) as f64;
    let expansion = (pieces / (pieces - 1.0)).sqrt();
    let df = pieces - 1.0;
    let tail = normal::cdf(-expansion * student::two_sided_quantile(confidence, df));
    let ratio = Interval {
        estimate,
        low: of_sorted(&resampled, tail).min(estimate),
        high: of_sorted(&resampled, 1.0 - tail).max(estimate),
    };
    let share = |count: usize| (count as f64 + 1.0) / (resampled.len() as f64 + 1.0);
    let below = share(resampled.iter().filter(|&&d| d <= 0.0).count());
    let above = share(resampled.iter().filter(|&&d| d >= 0.0).count());
    // The level at which the interval just reaches 1.
    let p = student::two_sided_p(normal::quantile(below.min(above).min(0.5)) / expansion, df);
    Ok(SpreadRatio { ratio: ratio.map(f64::exp), p, units })
}

/// Returns a moving block resample: runs of neighbours from random places, until there are as many
/// values as before.
fn resample(sample: &Sample, rng: &mut Rng) -> Sample {
    let values = sample.values();
    let length = block_length(values.len());
    let mut drawn = Vec::with_capacity(values.len() + length);
    while drawn.len() < values.len() {
        let start = rng.below(values.len() - length + 1);
        drawn.extend_from_slice(&values[start..start + length]);
    }
    drawn.truncate(values.len());
    Sample::new(drawn).expect("values of a sample are finite")
}

/// Returns the n^(1/3) of Künsch, rounded, which lets the block grow more slowly than the sample.
fn block_length(n: usize) -> usize {
    place((n as f64).cbrt().round()).clamp(1, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    fn noisy(rng: &mut Rng, n: usize, cv: f64) -> Sample {
        Sample::new((0..n).map(|_| 10.0 * (1.0 + cv * rng.normal())).collect()).unwrap()
    }

    fn blocks(rng: &mut Rng, count: usize, cv: f64) -> Vec<Sample> {
        (0..count).map(|_| noisy(rng, 60, cv)).collect()
    }

    #[test]
    fn all_measures_estimate_the_variation_of_normal_data() {
        let normal = noisy(&mut Rng::new(1), 20_000, 0.02);
        for measure in [
            Measure::MedianDeviation,
            Measure::Range90,
            Measure::MeanDeviation,
            Measure::StandardDeviation,
        ] {
            let cv = measure.of(&normal).unwrap();
            assert!((cv - 0.02).abs() < 0.0006, "{measure:?}: {cv}");
        }
    }

    #[test]
    fn a_faster_subject_is_not_quieter_for_being_faster() {
        let values = [10.0, 11.0, 9.0, 10.5, 12.0];
        let halved: Vec<f64> = values.iter().map(|x| x / 2.0).collect();
        for measure in [Measure::MedianDeviation, Measure::StandardDeviation] {
            let (one, other) = (measure.of(&sample(&values)), measure.of(&sample(&halved)));
            assert_eq!(one, other);
        }
    }

    #[test]
    fn equal_values_and_a_location_of_zero_have_no_relative_spread() {
        for values in [[3.0; 5], [-1.0, -1.0, 0.0, 1.0, 1.0]] {
            assert_eq!(Measure::MeanDeviation.of(&sample(&values)), Err(Violation::NoSpread));
        }
    }

    #[test]
    fn half_the_spread_is_found_by_both_designs() {
        let mut rng = Rng::new(2);
        let (base, other) = (blocks(&mut rng, 10, 0.04), blocks(&mut rng, 10, 0.02));
        let paired = by_block(&base, &other, Measure::MeanDeviation, 0.95).unwrap();
        assert!(paired.ratio.contains(0.5) && paired.ratio.high < 0.65, "{paired:?}");
        assert!(paired.p < 1e-4 && paired.units == 10, "{paired:?}");

        let (base, other) = (noisy(&mut rng, 300, 0.04), noisy(&mut rng, 300, 0.02));
        let apart = of_samples(&base, &other, Measure::MeanDeviation, 0.95, 3).unwrap();
        assert!(apart.ratio.contains(0.5) && apart.ratio.high < 0.65, "{apart:?}");
        assert!(apart.p < 0.005 && apart.units == 300, "{apart:?}");
    }

    #[test]
    fn swapping_the_sides_inverts_the_ratio() {
        let mut rng = Rng::new(4);
        let (base, other) = (blocks(&mut rng, 6, 0.04), blocks(&mut rng, 6, 0.02));
        let there = by_block(&base, &other, Measure::Range90, 0.9).unwrap();
        let back = by_block(&other, &base, Measure::Range90, 0.9).unwrap();
        assert!((there.ratio.low * back.ratio.high - 1.0).abs() < 1e-12);
        assert!((there.p - back.p).abs() < 1e-12);
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let mut rng = Rng::new(5);
        let (base, other) = (noisy(&mut rng, 50, 0.1), noisy(&mut rng, 50, 0.1));
        let once = of_samples(&base, &other, Measure::MedianDeviation, 0.95, 7);
        assert_eq!(once, of_samples(&base, &other, Measure::MedianDeviation, 0.95, 7));
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let mut rng = Rng::new(7);
        let two = blocks(&mut rng, 2, 0.1);
        let three = blocks(&mut rng, 3, 0.1);
        let measure = Measure::MeanDeviation;
        assert_eq!(
            by_block(&two, &three, measure, 0.95),
            Err(Violation::NotPaired { left: 2, right: 3 })
        );
        assert_eq!(
            by_block(&two, &two, measure, 0.95),
            Err(Violation::TooFew { needed: 3, have: 2 })
        );
        let few = noisy(&mut rng, 9, 0.1);
        assert_eq!(
            of_samples(&few, &few, measure, 0.95, 0),
            Err(Violation::TooFew { needed: 10, have: 9 })
        );
    }

    #[test]
    fn blocks_that_agree_exactly_leave_no_doubt() {
        let block = sample(&[1.0, 2.0, 4.0]);
        let same = vec![block; 5];
        let ratio = by_block(&same, &same, Measure::MeanDeviation, 0.95).unwrap();
        assert_eq!((ratio.ratio.low, ratio.ratio.high, ratio.p), (1.0, 1.0, 1.0));
    }
}
