//! Welch's two-sample t test: t = (mean a - mean b) / sqrt(va + vb) with va = sa^2 / na.
//!
//! df = (va + vb)^2 / (va^2 / (na - 1) + vb^2 / (nb - 1)). Welch, "The Generalization of
//! 'Student's' Problem when Several Different Population Variances are Involved", Biometrika 34
//! (1947). Assumes independent values in both samples and means that are close to normal; not for
//! paired rounds.

use becalm_stats::center::mean;
use becalm_stats::spread::standard_deviation;
use becalm_stats::{Interval, Sample, Violation, student};

/// Result of Welch's test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// Student's t.
    pub t: f64,
    /// Degrees of freedom, fractional.
    pub df: f64,
    /// Two-sided probability.
    pub p: f64,
    /// Difference of means, first minus second, with its interval.
    pub difference: Interval,
}

/// Compares the means of two independent samples; each needs two values, and one of them spread.
pub fn welch(a: &Sample, b: &Sample, confidence: f64) -> Result<Welch, Violation> {
    let (na, nb) = (a.len() as f64, b.len() as f64);
    let (ea, eb) = (standard_deviation(a)? / na.sqrt(), standard_deviation(b)? / nb.sqrt());
    let error = ea.hypot(eb);
    if error == 0.0 {
        return Err(Violation::NoSpread);
    }
    // Shares of the variance, so that no square can overflow.
    let (share_a, share_b) = ((ea / error).powi(2), (eb / error).powi(2));
    let df = (share_a + share_b).powi(2)
        / (share_a * share_a / (na - 1.0) + share_b * share_b / (nb - 1.0));
    let estimate = mean(a) - mean(b);
    let t = estimate / error;
    let half = student::two_sided_quantile(confidence, df) * error;
    let difference = Interval { estimate, low: estimate - half, high: estimate + half };
    Ok(Welch { t, df, p: student::two_sided_p(t, df), difference })
}
