//! Trimmed t test of differences against 0 (Tukey and McLaughlin; Yuen for paired data).
//!
//! With g = floor(share n) cut from each end and h = n - 2 g kept: t = trimmed mean / e, e = sw
//! sqrt(n - 1) / sqrt(h (h - 1)) with the winsorised standard deviation sw, df = h - 1. At share 0
//! it is Student's paired t test.
//!
//! Tukey and McLaughlin, "Less Vulnerable Confidence and Significance Procedures for Location Based
//! on a Single Sample", Sankhya A 25 (1963); Yuen, "The Two-Sample Trimmed t for Unequal Population
//! Variances", Biometrika 61 (1974). Some texts write e = sw / ((1 - 2 share) sqrt n), which agrees
//! up to the rounding of g.

use crate::center::{trim_count, trimmed_mean};
use crate::sample::assert_confidence;
use crate::spread::winsorised_deviation;
use crate::{Interval, Sample, Violation, student};

/// Result of the trimmed t test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Yuen {
    /// Trimmed mean / its standard error.
    pub t: f64,
    /// Degrees of freedom, h - 1.
    pub df: f64,
    /// Two-sided probability.
    pub p: f64,
    /// Trimmed mean with its interval.
    pub trimmed_mean: Interval,
    /// Standard error of the trimmed mean.
    pub standard_error: f64,
}

/// Tests differences against 0 with `share` trimmed from each end; needs spread, and two values
/// left after trimming.
///
/// Panics unless `0 <= share < 0.5`.
pub fn yuen(differences: &Sample, share: f64, confidence: f64) -> Result<Yuen, Violation> {
    assert_confidence(confidence);
    differences.at_least(2)?;
    let n = differences.len();
    let kept = n - 2 * trim_count(n, share);
    if kept < 2 {
        return Err(Violation::TooFew { needed: n + 2 - kept, have: n });
    }
    let h = kept as f64;
    let standard_error =
        winsorised_deviation(differences, share)? * ((n as f64 - 1.0) / (h * (h - 1.0))).sqrt();
    if standard_error == 0.0 {
        return Err(Violation::NoSpread);
    }
    let estimate = trimmed_mean(differences, share);
    let (t, df) = (estimate / standard_error, h - 1.0);
    let half = student::two_sided_quantile(confidence, df) * standard_error;
    let trimmed_mean = Interval { estimate, low: estimate - half, high: estimate + half };
    Ok(Yuen { t, df, p: student::two_sided_p(t, df), trimmed_mean, standard_error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_are_equal_after_winsorising_have_no_t() {
        let sample = Sample::new(vec![1.0, 1.0, 1.0, 1.0, 9.0]).unwrap();
        assert_eq!(yuen(&sample, 0.2, 0.95), Err(Violation::NoSpread));
    }

    #[test]
    fn trimming_must_leave_two_values() {
        let sample = Sample::new(vec![1.0, 2.0, 3.0]).unwrap();
        assert!(matches!(yuen(&sample, 0.4, 0.95), Err(Violation::TooFew { .. })));
    }
}
