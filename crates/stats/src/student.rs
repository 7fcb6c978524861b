//! Student's t distribution, exact far into its tails.
//!
//! P(|T| >= t) = I(df / (df + t^2); df / 2, 1 / 2) with the regularised incomplete beta function I.

use statrs::distribution::{Continuous, ContinuousCDF, StudentsT};
use statrs::function::beta::beta_reg;

/// Returns the probability of a value at least as far from 0 as `t`, on either side; `df` may be
/// fractional.
///
/// Panics when `df` is not above 0.
pub fn two_sided_p(t: f64, df: f64) -> f64 {
    assert!(df > 0.0, "degrees of freedom must be above 0, are {df}");
    if t.is_infinite() {
        return 0.0;
    }
    beta_reg(df / 2.0, 0.5, df / (df + t * t)).clamp(0.0, 1.0)
}

/// Returns the probability of a value at most `t`.
pub fn cdf(t: f64, df: f64) -> f64 {
    let tail = two_sided_p(t, df) / 2.0;
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// Returns the density at `t`.
///
/// Panics when `df` is not above 0.
pub fn density(t: f64, df: f64) -> f64 {
    StudentsT::new(0.0, 1.0, df).expect("degrees of freedom are above 0").pdf(t)
}

/// Returns the value with probability `p` below it.
///
/// Panics unless `0 < p < 1` and `df > 0`.
pub fn quantile(p: f64, df: f64) -> f64 {
    assert!(0.0 < p && p < 1.0, "probability must lie strictly between 0 and 1, is {p}");
    StudentsT::new(0.0, 1.0, df).expect("degrees of freedom are above 0").inverse_cdf(p)
}

/// Returns the multiplier that turns a standard error into half of a two-sided interval.
pub fn two_sided_quantile(confidence: f64, df: f64) -> f64 {
    -quantile((1.0 - confidence) / 2.0, df)
}
