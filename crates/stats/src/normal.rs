//! Standard normal distribution, right to 13 digits far into its tails.
//!
//! The upper tail is erfc(z / sqrt 2) / 2; `1 - cdf` would be 0 beyond z = 8.3. erfc is computed
//! here because the one in statrs 0.19 is wrong by up to 2e-11 (found by
//! `tests/reference/normal_tail.json`):
//!
//! - below 2 as 1 - erf, erf(x) = 2 x / sqrt pi exp(-x^2) sum (2 x^2)^k / (1 3 5 ... (2 k + 1)),
//!   all terms positive
//! - from 2 on by the continued fraction exp(-x^2) / sqrt pi / (x + (1/2) / (x + (2/2) / (x + (3/2)
//!   / ...)))
//!
//! Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), 7.1.6 and 7.1.14.

use statrs::function::erf;
use std::f64::consts::{FRAC_2_SQRT_PI, PI, SQRT_2};

/// Where the series hands over to the continued fraction.
const HANDOVER: f64 = 2.0;

/// Terms after which the continued fraction has settled to the last bit at [`HANDOVER`] and above.
const FRACTION_TERMS: u32 = 120;

/// Returns the density at `z`.
pub(crate) fn density(z: f64) -> f64 {
    (-z * z / 2.0).exp() / (2.0 * PI).sqrt()
}

/// Returns the probability of a value at most `z`.
pub fn cdf(z: f64) -> f64 {
    upper_tail(-z)
}

/// Returns the probability of a value above `z`.
pub fn upper_tail(z: f64) -> f64 {
    let tail = erfc(z.abs() / SQRT_2) / 2.0;
    if z < 0.0 { 1.0 - tail } else { tail }
}

/// Returns the probability of a value at least as far from 0 as `z`, on either side.
pub fn two_sided_p(z: f64) -> f64 {
    erfc(z.abs() / SQRT_2)
}

/// Returns the value with probability `p` below it; infinite at 0 and 1.
pub fn quantile(p: f64) -> f64 {
    if p > 0.5 {
        return -lower_quantile(1.0 - p);
    }
    lower_quantile(p)
}

/// Returns the quantile of `p <= 1/2`: statrs's, improved by one Newton step.
fn lower_quantile(p: f64) -> f64 {
    let z = -SQRT_2 * erf::erfc_inv(2.0 * p);
    let step = (cdf(z) - p) / density(z);
    if step.is_finite() { z - step } else { z }
}

/// Returns the complementary error function of `x >= 0`.
fn erfc(x: f64) -> f64 {
    if x < HANDOVER {
        let (mut term, mut total, mut odd) = (1.0, 1.0, 1.0);
        while term > total * f64::EPSILON / 4.0 {
            odd += 2.0;
            term *= 2.0 * x * x / odd;
            total += term;
        }
        return 1.0 - FRAC_2_SQRT_PI * x * (-x * x).exp() * total;
    }
    let denominator = (1..=FRACTION_TERMS).rev().fold(x, |rest, k| x + f64::from(k) / 2.0 / rest);
    (-x * x).exp() * FRAC_2_SQRT_PI / 2.0 / denominator
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_two_formulas_meet() {
        let below = erfc(HANDOVER * (1.0 - f64::EPSILON));
        assert!((below / erfc(HANDOVER) - 1.0).abs() < 1e-13);
    }

    #[test]
    fn the_ends_are_certain() {
        assert_eq!((cdf(f64::INFINITY), cdf(f64::NEG_INFINITY), two_sided_p(0.0)), (1.0, 0.0, 1.0));
        assert_eq!(
            (quantile(0.0), quantile(0.5), quantile(1.0)),
            (f64::NEG_INFINITY, 0.0, f64::INFINITY)
        );
    }
}
