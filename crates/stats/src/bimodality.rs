//! Does a sample have two modes? Two normal modes must explain it clearly better than every
//! one-mode shape tried.
//!
//! ```text
//! evidence = log likelihood of two normal modes of equal width (`two_modes.rs`)
//!          - largest log likelihood of the one-mode shapes (`one_mode.rs`), some skewed or long-tailed
//! ```
//!
//! Two modes are found when evidence > [`EVIDENCE_LIMIT`] and the smaller mode holds at least
//! [`SMALLEST_SHARE`] of the values. Values beyond twice the way from the one 5 % quantile to the other, on its far side,
//! are set aside first: they belong to no mode of that share, and one of them would be taken for the second mode.
//!
//! Why not Hartigan's dip test: calibrated to 5 % on exponential data it finds a 30/70 mixture 3
//! standard deviations apart at n = 50 in 8 % of samples, 4 apart in 26 %; with its own critical
//! values in 1 % and 8 %. A plain likelihood ratio of two normals against one calls every skewed
//! sample bimodal. The price here is that the modes must look roughly normal. The limit is
//! calibrated by the simulation in `crates/calibrate/tests/calibration/bimodality.rs`.
//!
//! McLachlan and Peel, "Finite Mixture Models" (2000); Hartigan and Hartigan, "The Dip Test of
//! Unimodality", Annals of Statistics 13 (1985).

use crate::center::median;
use crate::one_mode::best_log_likelihood;
use crate::quantile::quantile;
use crate::spread::standard_deviation;
use crate::two_modes::TwoModes;
use crate::{Sample, Violation};

/// Fewest values for which two modes can be told from one.
pub const FEWEST_VALUES: usize = 20;

/// Evidence above which two modes are found: at most 5 % of unimodal samples reach it.
pub const EVIDENCE_LIMIT: f64 = 2.7;

/// Smallest share of the values that makes a mode; fewer are outliers.
pub const SMALLEST_SHARE: f64 = 0.1;

/// Values above which only every k-th in order of size is looked at: more would add time and no answer. (In time order
/// a machine that alternates between two modes could show one of them only.)
pub const VALUES_LIMIT: usize = 1000;

/// Quantile from each end inside of which lies what the others are held against.
const OUTER: f64 = 0.05;

/// Distinct values below which steps of the clock cannot be told from modes.
const FEWEST_DISTINCT: usize = 4;

/// Whether a sample has one mode or two.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bimodality {
    /// Log likelihood ratio of two modes against the best one-mode shape, in nats; negative when
    /// one mode is better.
    pub evidence: f64,
    /// The two modes, when there are two.
    pub modes: Option<Modes>,
}

/// Two modes and how the values divide between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Modes {
    /// Centre of the lower mode.
    pub lower: f64,
    /// Centre of the upper mode.
    pub upper: f64,
    /// Share of the values that belong to the lower mode.
    pub lower_share: f64,
    /// Value that divides them: equally likely to come from either.
    pub split: f64,
}

impl Bimodality {
    /// Looks for two modes; needs [`FEWEST_VALUES`] values. Fewer than 4 distinct values never
    /// count as two modes.
    pub fn of(sample: &Sample) -> Result<Self, Violation> {
        sample.at_least(FEWEST_VALUES)?;
        let none = Self { evidence: 0.0, modes: None };
        let sample = &without_far_values(sample)?;
        if n_distinct(sample.sorted()) < FEWEST_DISTINCT {
            return Ok(none);
        }
        let centre = median(sample);
        let scale = standard_deviation(sample)?;
        if scale == 0.0 {
            return Ok(none);
        }
        let step = sample.len().div_ceil(VALUES_LIMIT);
        let values: Vec<f64> =
            sample.sorted().iter().step_by(step).map(|x| (x - centre) / scale).collect();
        // Thinning, or a scale far above the differences, can leave too few.
        if n_distinct(&values) < FEWEST_DISTINCT {
            return Ok(none);
        }
        let two = TwoModes::fit(&values);
        let evidence = two.log_likelihood - best_log_likelihood(&values);
        let clear = evidence > EVIDENCE_LIMIT
            && two.upper_share.min(1.0 - two.upper_share) >= SMALLEST_SHARE;
        let modes = clear.then(|| Modes {
            lower: centre + scale * two.lower,
            upper: centre + scale * two.upper,
            lower_share: 1.0 - two.upper_share,
            split: centre + scale * two.split(),
        });
        Ok(Self { evidence, modes })
    }
}

/// Returns the sample without what is too far out to belong to a mode.
fn without_far_values(sample: &Sample) -> Result<Sample, Violation> {
    let [low, high] = [OUTER, 1.0 - OUTER].map(|share| quantile(sample, share));
    let reach = high - low;
    let is_near = |value: &f64| (low - reach..=high + reach).contains(value);
    Sample::new(sample.values().iter().copied().filter(is_near).collect())
}

/// Counts the distinct values among `sorted`, up to [`FEWEST_DISTINCT`].
#[expect(clippy::float_cmp, reason = "a tie is exact")]
fn n_distinct(sorted: &[f64]) -> usize {
    sorted.chunk_by(|a, b| a == b).take(FEWEST_DISTINCT).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn two_far_modes_are_found_where_they_are() {
        let mut rng = Rng::new(14);
        let values = (0..60).map(|i| if i % 3 == 0 { 20.0 } else { 10.0 } + rng.normal()).collect();
        let modes = Bimodality::of(&Sample::new(values).unwrap()).unwrap().modes.unwrap();
        assert!((modes.lower - 10.0).abs() < 0.5 && (modes.upper - 20.0).abs() < 0.7, "{modes:?}");
        assert!((modes.lower_share - 2.0 / 3.0).abs() < 0.01, "{modes:?}");
        assert!(12.0 < modes.split && modes.split < 18.0, "{modes:?}");
    }

    #[test]
    fn nineteen_values_are_too_few() {
        let sample = Sample::new(vec![1.0; 19]).unwrap();
        assert_eq!(Bimodality::of(&sample), Err(Violation::TooFew { needed: 20, have: 19 }));
    }

    #[test]
    fn equal_values_and_steps_of_the_clock_are_not_modes() {
        for values in [vec![1.0; 30], (0..30).map(|i| f64::from(i % 2)).collect()] {
            assert!(Bimodality::of(&Sample::new(values).unwrap()).unwrap().modes.is_none());
        }
    }

    #[test]
    fn far_values_do_not_hide_two_modes() {
        let mut rng = Rng::new(16);
        for (n, far) in [(50, 1.3), (50, 5.0), (200, 5.0), (200, 1e6)] {
            let mut values: Vec<f64> =
                (0..n).map(|i| 1.0 + 0.1 * f64::from(i % 2) + 0.01 * rng.normal()).collect();
            values[7] = far;
            let modes = Bimodality::of(&Sample::new(values).unwrap()).unwrap().modes;
            let modes = modes.unwrap_or_else(|| panic!("n = {n}, one value of {far}"));
            assert!((modes.lower - 1.0).abs() < 0.02 && (modes.upper - 1.1).abs() < 0.02);
        }
    }

    #[test]
    fn modes_that_alternate_are_found_however_many_values_there_are() {
        let mut rng = Rng::new(17);
        for n in [1000, 1002, 2000, 3000, 4000] {
            let values = (0..n).map(|i| 1.0 + 0.1 * f64::from(i % 2) + 0.01 * rng.normal());
            let sample = Sample::new(values.collect()).unwrap();
            assert!(Bimodality::of(&sample).unwrap().modes.is_some(), "n = {n}");
        }
    }

    #[test]
    fn one_outlier_is_not_a_mode() {
        let mut rng = Rng::new(15);
        let values = (0..50).map(|i| if i == 7 { 30.0 } else { rng.normal() }).collect();
        assert!(Bimodality::of(&Sample::new(values).unwrap()).unwrap().modes.is_none());
    }
}
