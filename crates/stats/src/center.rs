//! Where a sample lies.
//!
//! - mean: sum / n, the sum compensated
//! - trimmed mean: mean of what is left when `g = floor(share * n)` values are cut from each end
//! - midmean: the trimmed mean at 25 %
//! - median: middle order statistic, or the mean of the two in the middle
//! - Hodges-Lehmann: median of the n (n + 1) / 2 Walsh averages `(x[i] + x[j]) / 2`, `i <= j`;
//!   Hodges and Lehmann, "Estimates of Location Based on Rank Tests", Annals of Mathematical
//!   Statistics 34 (1963). Nearly as efficient as the mean on normal data (95.5 %), and unmoved by
//!   up to 29 % of outliers.

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

/// Returns the mean of the middle half.
pub fn midmean(sample: &Sample) -> f64 {
    trimmed_mean(sample, 0.25)
}

/// Returns how many of `n` values a trim of `share` cuts from each end.
pub(crate) fn trim_count(n: usize, share: f64) -> usize {
    assert!((0.0..0.5).contains(&share), "a trim is at least 0 and below one half, not {share}");
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and n / 2"
    )]
    let cut = (share * n as f64) as usize;
    cut
}

/// Returns the one-sample Hodges-Lehmann estimate, exactly and in O(n log n).
///
/// The k-th smallest Walsh average is found by bisection over the representable numbers: how many
/// pair sums are at most `v` is counted with two pointers, and 64 halvings reach the last bit.
pub fn hodges_lehmann(sample: &Sample) -> f64 {
    let sorted = sample.sorted();
    let n = sorted.len();
    let pairs = n * (n + 1) / 2;
    let upper = pair_sum(sorted, pairs / 2);
    if pairs % 2 == 1 {
        upper / 2.0
    } else {
        f64::midpoint(pair_sum(sorted, pairs / 2 - 1), upper) / 2.0
    }
}

/// Returns the pair sum with `rank` (from 0) among all `x[i] + x[j]`, `i <= j`.
fn pair_sum(sorted: &[f64], rank: usize) -> f64 {
    let last = sorted.len() - 1;
    let (mut low, mut high) = (ordinal(2.0 * sorted[0]), ordinal(2.0 * sorted[last]));
    while low < high {
        let middle = low + (high - low) / 2;
        if pairs_at_most(sorted, from_ordinal(middle)) > rank {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    from_ordinal(low)
}

/// Counts the pairs `i <= j` whose sum is at most `limit`.
fn pairs_at_most(sorted: &[f64], limit: f64) -> usize {
    let mut count = 0;
    let mut end = sorted.len();
    for (i, &x) in sorted.iter().enumerate() {
        while end > i && x + sorted[end - 1] > limit {
            end -= 1;
        }
        if end <= i {
            break;
        }
        count += end - i;
    }
    count
}

/// Numbers the finite floats in ascending order.
fn ordinal(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// Undoes [`ordinal`].
fn from_ordinal(ordinal: u64) -> f64 {
    f64::from_bits(if ordinal >> 63 == 1 { ordinal & !(1 << 63) } else { !ordinal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

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

    #[test]
    fn the_fast_hodges_lehmann_equals_the_median_of_all_walsh_averages() {
        let mut rng = Rng::new(5);
        for n in 1..40 {
            let xs = sample(
                &(0..n).map(|_| (rng.normal() * 4.0).round() / 4.0 - 1.0).collect::<Vec<_>>(),
            );
            let mut walsh = Vec::new();
            for (i, a) in xs.values().iter().enumerate() {
                walsh.extend(xs.values()[i..].iter().map(|b| (a + b) / 2.0));
            }
            assert_eq!(hodges_lehmann(&xs), median(&sample(&walsh)), "n = {n}");
        }
    }
}
