//! Standard normal distribution, exact far into its tails.
//!
//! The upper tail is `erfc(z / sqrt 2) / 2`; `1 - cdf` would be 0 beyond z = 8.3.

use statrs::function::erf;
use std::f64::consts::SQRT_2;

/// Returns the probability of a value at most `z`.
pub fn cdf(z: f64) -> f64 {
    erf::erfc(-z / SQRT_2) / 2.0
}

/// Returns the probability of a value above `z`.
pub fn upper_tail(z: f64) -> f64 {
    erf::erfc(z / SQRT_2) / 2.0
}

/// Returns the probability of a value at least as far from 0 as `z`, on either side.
pub fn two_sided_p(z: f64) -> f64 {
    erf::erfc(z.abs() / SQRT_2).min(1.0)
}

/// Returns the value with probability `p` below it; infinite at 0 and 1.
pub fn quantile(p: f64) -> f64 {
    -SQRT_2 * erf::erfc_inv(2.0 * p)
}
