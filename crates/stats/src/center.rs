//! Where a sample lies.
//!
//! - mean: sum / n, the sum compensated
//! - trimmed mean: mean of what is left when `g = floor(share * n)` values are cut from each end
//! - median: middle order statistic, or the mean of the two in the middle

use crate::whole::place;
use crate::{Sample, sum::sum};

/// Returns the arithmetic mean.
pub fn mean(sample: &Sample) -> f64 {
    mean_of(sample.sorted())
}

/// Returns the mean of values in ascending order, kept inside their range against rounding.
pub(crate) fn mean_of(sorted: &[f64]) -> f64 {
    let mean = sum(sorted.iter().copied()) / sorted.len() as f64;
    mean.clamp(sorted[0], sorted[sorted.len() - 1])
}

/// Returns the median.
pub fn median(sample: &Sample) -> f64 {
    median_of_sorted(sample.sorted())
}

/// Returns the median of values in any order, of which there is at least one; it changes their order.
pub fn median_of(values: &mut [f64]) -> f64 {
    let n = values.len();
    let (below, &mut middle, _) = values.select_nth_unstable_by(n / 2, f64::total_cmp);
    if n % 2 == 1 {
        return middle;
    }
    below.iter().copied().fold(f64::NEG_INFINITY, f64::max).midpoint(middle)
}

/// Returns the median of values in ascending order, of which there is at least one.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}

/// Returns the mean without the lowest and highest `share` of the values.
///
/// Panics unless `0 <= share < 0.5`.
pub fn trimmed_mean(sample: &Sample, share: f64) -> f64 {
    let cut = trim_count(sample.len(), share);
    mean_of(&sample.sorted()[cut..sample.len() - cut])
}

/// Returns how many of `n` values a trim of `share` cuts from each end.
pub(crate) fn trim_count(n: usize, share: f64) -> usize {
    assert!((0.0..0.5).contains(&share), "a trim is at least 0 and below one half, not {share}");
    place(share * n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn the_median_of_two_is_between_them() {
        assert_eq!(median(&sample(&[4.0, 1.0])), 2.5);
    }

    #[test]
    fn trimming_drops_the_outlier() {
        assert_eq!(trimmed_mean(&sample(&[1.0, 2.0, 3.0, 4.0, 100.0]), 0.2), 3.0);
    }

    #[test]
    fn the_mean_of_equal_values_is_that_value() {
        assert_eq!(mean(&sample(&[0.1; 10])), 0.1);
    }
}
