//! The interval of a rate from `successes` in `trials`, by Clopper and Pearson: beta quantiles,
//! B(alpha/2; s, n - s + 1) and B(1 - alpha/2; s + 1, n - s); covers at least the level asked for every rate.
//!
//! Clopper and Pearson, "The Use of Confidence or Fiducial Limits", Biometrika 26 (1934).

use becalm_stats::Interval;
use statrs::function::beta::beta_reg;

/// Returns P(X <= k) for X binomial with `trials` and `rate`.
///
/// Panics unless `0 <= rate <= 1`.
pub fn at_most(k: u64, trials: u64, rate: f64) -> f64 {
    assert!((0.0..=1.0).contains(&rate), "a rate lies between 0 and 1, not at {rate}");
    if k >= trials { 1.0 } else { beta_reg((trials - k) as f64, k as f64 + 1.0, 1.0 - rate) }
}

/// Returns Clopper and Pearson's interval; there is at least one trial.
pub fn clopper_pearson(successes: u64, trials: u64, confidence: f64) -> Interval {
    assert!(successes <= trials && trials > 0, "{successes} successes in {trials} trials");
    let estimate = successes as f64 / trials as f64;
    let tail = (1.0 - confidence) / 2.0;
    let (s, n) = (successes as f64, trials as f64);
    let low = if successes == 0 { 0.0 } else { beta_quantile(tail, s, n - s + 1.0) };
    // By symmetry, so that a rate near 1 keeps its digits.
    let high = if successes == trials { 1.0 } else { 1.0 - beta_quantile(tail, n - s, s + 1.0) };
    Interval { estimate, low, high }
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
