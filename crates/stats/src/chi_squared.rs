//! The chi-squared distribution: how far a variance may be from its estimate.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Returns the value with probability `p` below it.
///
/// Panics unless `0 < p < 1` and `df > 0`.
pub fn quantile(p: f64, df: f64) -> f64 {
    assert!(0.0 < p && p < 1.0, "probability must lie strictly between 0 and 1, is {p}");
    ChiSquared::new(df).expect("degrees of freedom are above 0").inverse_cdf(p)
}

/// Returns by which factors the true variance may be below and above an estimate from `df`
/// independent normal differences.
pub fn variance_factors(df: f64, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    (df / quantile(1.0 - tail, df), df / quantile(tail, df))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (p, df, expected) in [(0.95, 1.0, 3.8415), (0.05, 9.0, 3.3251), (0.95, 9.0, 16.919)] {
            assert!((quantile(p, df) - expected).abs() < 1e-3, "{p} {df}");
        }
    }

    #[test]
    fn a_variance_from_few_differences_may_be_far_larger() {
        let (low, high) = variance_factors(9.0, 0.9);
        assert!((low - 0.532).abs() < 1e-3 && (high - 2.707).abs() < 1e-3, "{low} {high}");
    }
}
