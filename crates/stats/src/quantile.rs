//! Sample quantile, Hyndman and Fan's type 7: linear between the order statistics around `(n - 1)
//! p`.
//!
//! Hyndman and Fan, "Sample Quantiles in Statistical Packages", The American Statistician 50
//! (1996). It is what R, NumPy and spreadsheets compute by default.

use crate::Sample;
use crate::whole::place;

/// Returns the quantile at `p`.
///
/// Panics unless `0 <= p <= 1`.
pub fn quantile(sample: &Sample, p: f64) -> f64 {
    of_sorted(sample.sorted(), p)
}

/// Returns the quantile at `p` of values in ascending order, of which there is at least one.
pub(crate) fn of_sorted(sorted: &[f64], p: f64) -> f64 {
    assert!((0.0..=1.0).contains(&p), "a quantile is asked for between 0 and 1, not at {p}");
    let position = (sorted.len() - 1) as f64 * p;
    let below = place(position);
    let low = sorted[below];
    let Some(&high) = sorted.get(below + 1) else { return low };
    (low + (high - low) * (position - below as f64)).clamp(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_minimum_and_maximum() {
        let sample = Sample::new(vec![4.0, 1.0, 9.0]).unwrap();
        assert_eq!((quantile(&sample, 0.0), quantile(&sample, 1.0)), (1.0, 9.0));
    }

    #[test]
    fn between_two_values_it_is_linear() {
        let sample = Sample::new(vec![10.0, 20.0]).unwrap();
        assert_eq!(quantile(&sample, 0.25), 12.5);
    }

    #[test]
    fn one_value_is_every_quantile() {
        assert_eq!(quantile(&Sample::new(vec![7.0]).unwrap(), 0.99), 7.0);
    }
}
