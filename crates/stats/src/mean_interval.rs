//! Student's interval for the mean: mean +- t(1 - alpha / 2; n - 1) s / sqrt n.
//!
//! Student, "The Probable Error of a Mean", Biometrika 6 (1908). Assumes independent values and a
//! mean that is close to normal: with few values of a skewed distribution the coverage falls below
//! the level asked.

use crate::sample::assert_confidence;
use crate::{Interval, Sample, center::mean, spread::standard_deviation, student};

/// Returns the interval, or `None` for a single value.
pub fn mean_interval(sample: &Sample, confidence: f64) -> Option<Interval> {
    assert_confidence(confidence);
    let deviation = standard_deviation(sample).ok()?;
    let n = sample.len() as f64;
    let half = student::two_sided_quantile(confidence, n - 1.0) * (deviation / n.sqrt());
    let estimate = mean(sample);
    Some(Interval { estimate, low: estimate - half, high: estimate + half })
}
