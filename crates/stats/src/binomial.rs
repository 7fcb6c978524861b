//! Intervals for a rate from `successes` in `trials`.
//!
//! Clopper-Pearson: beta quantiles, B(alpha/2; s, n - s + 1) and B(1 - alpha/2; s + 1, n - s);
//! covers at least the level asked for every rate. Wilson: the rates that a score test does not
//! reject; shorter, covers the level on average.
//!
//! Clopper and Pearson, "The Use of Confidence or Fiducial Limits", Biometrika 26 (1934); Wilson,
//! "Probable Inference", JASA 22 (1927).

use crate::sample::assert_confidence;
use crate::{Interval, Violation, normal};
use statrs::function::beta::beta_reg;

/// Returns P(X <= k) for X binomial with `trials` and `rate`.
///
/// Panics unless `0 <= rate <= 1`.
pub fn at_most(k: u64, trials: u64, rate: f64) -> f64 {
    assert!((0.0..=1.0).contains(&rate), "a rate lies between 0 and 1, not at {rate}");
    if k >= trials { 1.0 } else { beta_reg((trials - k) as f64, k as f64 + 1.0, 1.0 - rate) }
}

/// Returns Clopper and Pearson's interval.
pub fn clopper_pearson(
    successes: u64,
    trials: u64,
    confidence: f64,
) -> Result<Interval, Violation> {
    let estimate = rate(successes, trials, confidence)?;
    let tail = (1.0 - confidence) / 2.0;
    let (s, n) = (successes as f64, trials as f64);
    let low = if successes == 0 { 0.0 } else { beta_quantile(tail, s, n - s + 1.0) };
    // By symmetry, so that a rate near 1 keeps its digits.
    let high = if successes == trials { 1.0 } else { 1.0 - beta_quantile(tail, n - s, s + 1.0) };
    Ok(Interval { estimate, low, high })
}

/// Returns Wilson's score interval.
pub fn wilson(successes: u64, trials: u64, confidence: f64) -> Result<Interval, Violation> {
    let estimate = rate(successes, trials, confidence)?;
    let n = trials as f64;
    let z = -normal::quantile((1.0 - confidence) / 2.0);
    let (square, scale) = (z * z / n, 1.0 + z * z / n);
    let centre = (estimate + square / 2.0) / scale;
    let half = z / scale * (estimate * (1.0 - estimate) / n + square / (4.0 * n)).sqrt();
    let low = if successes == 0 { 0.0 } else { centre - half };
    let high = if successes == trials { 1.0 } else { centre + half };
    Ok(Interval { estimate, low, high })
}

fn rate(successes: u64, trials: u64, confidence: f64) -> Result<f64, Violation> {
    assert_confidence(confidence);
    if trials == 0 {
        return Err(Violation::Empty);
    }
    if successes > trials {
        return Err(Violation::MoreSuccessesThanTrials { successes, trials });
    }
    Ok(successes as f64 / trials as f64)
}

/// Returns x with I(x; a, b) = p, by bisection: slow, and right wherever the incomplete beta
/// function is.
fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        if beta_reg(a, b, middle) < p { low = middle } else { high = middle }
    }
}
