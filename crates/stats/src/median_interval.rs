//! Interval for the median from two order statistics, without any assumption about the
//! distribution.
//!
//! `[x(l), x(n + 1 - l)]` with the largest l for which P(Bin(n, 1/2) < l) <= (1 - confidence) / 2.
//! Conover, "Practical Nonparametric Statistics" (1999), section 3.2. Assumes independent values;
//! coverage is at least the level asked.

use crate::sample::assert_confidence;
use crate::{Interval, Sample, center::median};
use statrs::function::beta::beta_reg;

/// Returns the interval, or `None` when even [minimum, maximum] is not wide enough (n < 6 at 95 %).
pub fn median_interval(sample: &Sample, confidence: f64) -> Option<Interval> {
    let rank = lower_rank(sample.len(), confidence)?;
    let sorted = sample.sorted();
    Some(Interval {
        estimate: median(sample),
        low: sorted[rank - 1],
        high: sorted[sample.len() - rank],
    })
}

/// Returns the rank, from 1, of the order statistic at the lower end.
pub(crate) fn lower_rank(n: usize, confidence: f64) -> Option<usize> {
    assert_confidence(confidence);
    // Rounding must not reject a level that is met exactly, such as 1 - 2^-4 at n = 5.
    let tail = (1.0 - confidence) / 2.0 + 1e-12;
    let (mut fits, mut too_far) = (0, n / 2 + 1);
    while too_far - fits > 1 {
        let middle = fits.midpoint(too_far);
        if below(n, middle) <= tail { fits = middle } else { too_far = middle }
    }
    (fits > 0).then_some(fits)
}

/// Returns P(Bin(n, 1/2) < l) for `1 <= l <= n`.
fn below(n: usize, l: usize) -> f64 {
    beta_reg((n - l + 1) as f64, l as f64, 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_values_are_too_few_for_95_percent_and_six_are_enough() {
        assert_eq!(lower_rank(5, 0.95), None);
        assert_eq!(lower_rank(6, 0.95), Some(1));
    }

    #[test]
    fn a_level_that_is_met_exactly_is_accepted() {
        assert_eq!(lower_rank(5, 1.0 - 2.0_f64.powi(-4)), Some(1));
    }

    #[test]
    fn one_value_has_no_interval() {
        assert_eq!(lower_rank(1, 0.5), None);
    }
}
