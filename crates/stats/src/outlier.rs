//! Outliers by the modified z-score: |0.6745 (x - median) / MAD| > 3.5.
//!
//! Iglewicz and Hoaglin, "How to Detect and Handle Outliers" (1993). Where more than half of the
//! values are equal, so that MAD = 0, the mean absolute deviation takes its place, with 1.2533 =
//! sqrt(pi / 2) as its scale under normality. An outlier is labelled, never dropped: only evidence
//! discards a run.

use crate::Sample;
use crate::center::median;
use crate::spread::{MAD_TO_SIGMA, mad, mean_absolute_deviation};

/// Modified z-score beyond which a value is called an outlier, as the authors recommend.
pub const OUTLIER_THRESHOLD: f64 = 3.5;

/// sqrt(pi / 2): turns a mean absolute deviation into a standard deviation of normal data.
const MEAN_DEVIATION_TO_SIGMA: f64 = 1.253_314_137_315_500_3;

/// Returns the positions, in time order, of the values that are outliers.
pub fn outliers(sample: &Sample) -> Vec<usize> {
    let scores = modified_z_scores(sample);
    (0..scores.len()).filter(|&i| scores[i].abs() > OUTLIER_THRESHOLD).collect()
}

/// Returns the limits beyond which a value would be an outlier.
pub fn limits(sample: &Sample) -> (f64, f64) {
    let reach = OUTLIER_THRESHOLD * sigma(sample);
    let median = median(sample);
    (median - reach, median + reach)
}

/// Returns the modified z-score of each value in time order; all 0 when all values are equal.
pub fn modified_z_scores(sample: &Sample) -> Vec<f64> {
    let median = median(sample);
    let sigma = sigma(sample);
    let score = |x: &f64| if sigma == 0.0 { 0.0 } else { (x - median) / sigma };
    sample.values().iter().map(score).collect()
}

fn sigma(sample: &Sample) -> f64 {
    let sigma = mad(sample) * MAD_TO_SIGMA;
    if sigma == 0.0 { mean_absolute_deviation(sample) * MEAN_DEVIATION_TO_SIGMA } else { sigma }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: &[f64], expected: &[usize]) {
        assert_eq!(outliers(&Sample::new(values.to_vec()).unwrap()), expected);
    }

    #[test]
    fn one_far_value_is_found_at_its_place_in_time() {
        check(&[10.0, 10.2, 30.0, 9.9, 10.1, 9.8, 10.0], &[2]);
    }

    #[test]
    fn equal_values_hold_no_outlier() {
        check(&[5.0; 8], &[]);
    }

    #[test]
    fn a_far_value_among_equal_ones_is_found_though_the_mad_is_zero() {
        check(&[5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 5.0, 9.0], &[7]);
    }

    #[test]
    fn ordinary_scatter_holds_no_outlier() {
        check(&[1.0, 2.0, 3.0, 4.0, 5.0], &[]);
    }
}
