//! How many times as wide is one subject's relative spread as another's?
//!
//! A spread is taken relative to the location of its own sample ([`Measure`]), so that a faster
//! subject does not look quieter for being faster. Two designs, in order of preference:
//!
//! - [`by_block`]: both subjects ran in every block, in random order. d = ln(candidate's spread /
//!   baseline's spread) in each block, and a t interval of the mean of the d, trimmed by [`TRIM`] from
//!   [`TRIMMED_FROM`] blocks on, back on the ratio scale. Whatever made a block noisy made it noisy for
//!   both; without an effect d is symmetric about 0, because the order inside a block is random.
//! - [`of_runs`]: both subjects ran once in every block, so that only the runs of all blocks together have
//!   a spread. ln ratio with the t interval of a jackknife that leaves out pieces of about n^(1/3)
//!   neighbouring blocks, the same ones of both subjects: what a noisy minute did to both cancels, and
//!   neighbours that resemble each other stay together. Its p has no floor, as that of a bootstrap has: it
//!   is the level at which the interval reaches 1.
//!
//! Chosen by simulation (`crates/calibrate/tests/calibration/spread_ratio.rs`, which prints the tables): in blocks the
//! 95 % intervals hold the truth in 92 to 99 % of trials on skewed, spiky, heavy-tailed and
//! autocorrelated noise, with any measure. Trimming halves the width where one run in ten is disturbed,
//! and costs half as much again with 5 blocks. [`Measure::MeanDeviation`] is within 2 % of the best
//! width on normal noise and keeps its width on spikes, where that of the standard deviation explodes.
//!
//! Yuen, "The Two-Sample Trimmed t for Unequal Population Variances", Biometrika 61 (1974); Miller,
//! "The Jackknife - a Review", Biometrika 61 (1974), for ln spreads; Künsch, "The Jackknife and the
//! Bootstrap for General Stationary Observations", Annals of Statistics 17 (1989), for pieces of
//! neighbours; Arachchige, Prendergast and Staudte, "Robust Analogs to the Coefficient of Variation",
//! Journal of Applied Statistics 49 (2022), for ratios of such measures.

use crate::center::{mean, median};
use crate::quantile::quantile;
use crate::sample::assert_confidence;
use crate::spread::{MAD_TO_SIGMA, mad, mean_absolute_deviation, standard_deviation};
use crate::whole::place;
use crate::{Interval, Sample, Violation, student, yuen};

/// Share of the blocks that is cut from each end before the mean is taken, where there are enough.
pub const TRIM: f64 = 0.2;

/// Blocks from which on the mean is trimmed: with fewer, trimming costs more than it saves.
pub const TRIMMED_FROM: usize = 10;

/// Fewest blocks that have an interval.
pub const FEWEST_BLOCKS: usize = 3;

/// Fewest runs of each subject without a spread of their own.
pub const FEWEST_RUNS: usize = 10;

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

/// Compares the spreads of two subjects that ran once in every block: value i of both is of block i, in time
/// order. Needs [`FEWEST_RUNS`] blocks.
pub fn of_runs(
    baseline: &Sample,
    candidate: &Sample,
    measure: Measure,
    confidence: f64,
) -> Result<SpreadRatio, Violation> {
    assert_confidence(confidence);
    if baseline.len() != candidate.len() {
        return Err(Violation::NotPaired { left: baseline.len(), right: candidate.len() });
    }
    baseline.at_least(FEWEST_RUNS)?;
    let n = baseline.len();
    let log_ratio = |base: &Sample, other: &Sample| -> Result<f64, Violation> {
        Ok((measure.of(other)? / measure.of(base)?).ln())
    };
    let estimate = log_ratio(baseline, candidate)?;
    let pieces = n / piece_length(n);
    let without = |piece: usize| {
        let (start, end) = (piece * n / pieces, (piece + 1) * n / pieces);
        let rest = |sample: &Sample| {
            let values = sample.values();
            Sample::new([&values[..start], &values[end..]].concat())
        };
        log_ratio(&rest(baseline)?, &rest(candidate)?)
    };
    let each: Result<Vec<f64>, Violation> = (0..pieces).map(without).collect();
    let each = Sample::new(each?)?;
    let df = pieces as f64 - 1.0;
    // Deviations of the pieces from their mean, summed: (pieces - 1) times their variance.
    let error = df * standard_deviation(&each)? / (pieces as f64).sqrt();
    if error == 0.0 && estimate != 0.0 {
        return Err(Violation::NoSpread);
    }
    let half_width = student::two_sided_quantile(confidence, df) * error;
    let ratio = Interval { estimate, low: estimate - half_width, high: estimate + half_width };
    let p = if error == 0.0 { 1.0 } else { student::two_sided_p(estimate / error, df) };
    Ok(SpreadRatio { ratio: ratio.map(f64::exp), p, units: n })
}

/// Returns the n^(1/3) of Künsch, rounded, which lets the piece grow more slowly than the sample.
fn piece_length(n: usize) -> usize {
    place((n as f64).cbrt().round()).clamp(1, n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

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
        let apart = of_runs(&base, &other, Measure::MeanDeviation, 0.95).unwrap();
        assert!(apart.ratio.contains(0.5) && apart.ratio.high < 0.65, "{apart:?}");
        assert!(apart.p < 1e-6 && apart.units == 300, "{apart:?}");
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
    fn p_is_the_level_at_which_the_interval_reaches_one() {
        let mut rng = Rng::new(5);
        for scale in [0.1, 0.05, 0.02] {
            let (base, other) = (noisy(&mut rng, 31, 0.1), noisy(&mut rng, 31, scale));
            let measure = Measure::MeanDeviation;
            let p = of_runs(&base, &other, measure, 0.95).unwrap().p;
            let at = of_runs(&base, &other, measure, 1.0 - p).unwrap().ratio;
            let end = if at.estimate < 1.0 { at.high } else { at.low };
            assert!((end - 1.0).abs() < 1e-6, "{at:?} at p = {p}");
        }
    }

    #[test]
    fn a_fifth_of_the_spread_is_beyond_doubt_after_31_runs_of_each() {
        let mut rng = Rng::new(6);
        let (base, other) = (noisy(&mut rng, 31, 0.1), noisy(&mut rng, 31, 0.02));
        let ratio = of_runs(&base, &other, Measure::MeanDeviation, 0.95).unwrap();
        // Thirty-two tests, each a step of Holm's.
        assert!(32.0 * ratio.p < 0.05, "{ratio:?}");
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
            of_runs(&few, &few, measure, 0.95),
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
