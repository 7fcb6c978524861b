//! How far a sample spreads.
//!
//! - standard deviation: sqrt(sum (x - mean)^2 / (n - 1)), scaled so that it neither overflows nor
//!   underflows
//! - coefficient of variation: standard deviation / |mean|
//! - MAD: median of |x - median|, raw; times [`MAD_TO_SIGMA`] it estimates the standard deviation
//!   of normal data
//! - interquartile range: type 7 quantiles at 75 % minus 25 %
//! - winsorised standard deviation: each tail's `g` values are first pulled in to the nearest one
//!   that is kept; Wilcox, "Introduction to Robust Estimation and Hypothesis Testing" (2012),
//!   section 3.3.2

use crate::center::{mean_of, median_of_sorted, trim_count};
use crate::quantile::quantile;
use crate::{Sample, Violation, sum::sum};

/// 1 / normal quantile at 75 %: what a raw MAD must be multiplied by to estimate a normal standard
/// deviation.
pub const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;

/// Returns the standard deviation with n - 1 in the denominator; needs two values.
pub fn standard_deviation(sample: &Sample) -> Result<f64, Violation> {
    sample.at_least(2)?;
    Ok(deviation_of(sample.sorted()))
}

/// Returns the standard deviation of at least two values in ascending order.
pub(crate) fn deviation_of(sorted: &[f64]) -> f64 {
    let mean = mean_of(sorted);
    let widest = (sorted[sorted.len() - 1] - mean).max(mean - sorted[0]);
    if widest == 0.0 {
        return 0.0;
    }
    let squares = sum(sorted.iter().map(|x| ((x - mean) / widest).powi(2)));
    widest * (squares / (sorted.len() - 1) as f64).sqrt()
}

/// Returns standard deviation / |mean|; needs two values and a mean other than 0.
pub fn coefficient_of_variation(sample: &Sample) -> Option<f64> {
    let cv = standard_deviation(sample).ok()? / mean_of(sample.sorted()).abs();
    cv.is_finite().then_some(cv)
}

/// Returns the raw median absolute deviation from the median.
pub fn mad(sample: &Sample) -> f64 {
    let median = median_of_sorted(sample.sorted());
    let mut deviations: Vec<f64> = sample.sorted().iter().map(|x| (x - median).abs()).collect();
    deviations.sort_by(f64::total_cmp);
    median_of_sorted(&deviations)
}

/// Returns the mean absolute deviation from the median.
pub fn mean_absolute_deviation(sample: &Sample) -> f64 {
    let median = median_of_sorted(sample.sorted());
    sum(sample.sorted().iter().map(|x| (x - median).abs())) / sample.len() as f64
}

/// Returns the width of the middle half.
pub fn interquartile_range(sample: &Sample) -> f64 {
    quantile(sample, 0.75) - quantile(sample, 0.25)
}

/// Returns the standard deviation after winsorising `share` of each tail; needs two values.
pub fn winsorised_deviation(sample: &Sample, share: f64) -> Result<f64, Violation> {
    sample.at_least(2)?;
    let sorted = sample.sorted();
    let cut = trim_count(sorted.len(), share);
    let (low, high) = (sorted[cut], sorted[sorted.len() - 1 - cut]);
    Ok(deviation_of(&sorted.iter().map(|x| x.clamp(low, high)).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn one_value_has_no_standard_deviation() {
        assert_eq!(
            standard_deviation(&sample(&[1.0])),
            Err(Violation::TooFew { needed: 2, have: 1 })
        );
    }

    #[test]
    fn huge_values_do_not_overflow_and_tiny_ones_do_not_vanish() {
        let huge = standard_deviation(&sample(&[-1e300, 1e300])).unwrap();
        assert!((huge / (2.0_f64.sqrt() * 1e300) - 1.0).abs() < 1e-15, "{huge}");
        assert!(standard_deviation(&sample(&[0.0, 1e-310])).unwrap() > 0.0);
    }

    #[test]
    fn the_mad_ignores_one_outlier() {
        assert_eq!(mad(&sample(&[1.0, 2.0, 3.0, 4.0, 1e6])), 1.0);
    }

    #[test]
    fn there_is_no_variation_relative_to_a_mean_of_zero() {
        assert_eq!(coefficient_of_variation(&sample(&[-1.0, 1.0])), None);
    }
}
