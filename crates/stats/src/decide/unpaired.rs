//! The estimate for two sets of runs that were not interleaved: Yuen's trimmed t test with
//! Welch's degrees of freedom (Yuen 1974, *The two-sample trimmed t for unequal population
//! variances*, Biometrika 61), 20 % trimmed from each end, on logarithms.
//!
//! It treats runs as independent, so drift between the two sets becomes a difference: callers must
//! say so.

use super::paired::Estimate;
use super::steps;
use crate::center::{trim_count, trimmed_mean};
use crate::spread::winsorised_deviation;
use crate::{Sample, student};

/// Share trimmed from each end.
const TRIM: f64 = 0.2;

/// Estimates the mean log ratio of `b` over `a` from logarithms, with an interval of confidence
/// `1 - level`. `None` when either has fewer than two values left after trimming.
pub fn estimate(a: &[f64], b: &[f64], level: f64) -> Option<Estimate> {
    if level <= 0.0 || level >= 1.0 {
        return None;
    }
    let step = steps::of([a.to_vec(), b.to_vec()]);
    let is_coarse = steps::scatter(a.to_vec()).max(steps::scatter(b.to_vec())) < step / 2.0;
    let (a, b) = (side(a)?, side(b)?);
    let centre = b.mean - a.mean;
    let error = (a.square_error + b.square_error).sqrt();
    if error == 0.0 {
        let p = if centre == 0.0 { 1.0 } else { 0.0 };
        return Some(Estimate { centre, low: centre, high: centre, p, is_coarse, pace: 0.0 });
    }
    let df = (a.square_error + b.square_error).powi(2)
        / (a.square_error.powi(2) / a.df + b.square_error.powi(2) / b.df);
    let half_width = student::two_sided_quantile(1.0 - level, df) * error;
    let (low, high) = (centre - half_width, centre + half_width);
    let p = student::two_sided_p(centre / error, df);
    let estimate = Estimate { centre, low, high, p, is_coarse, pace: 0.0 };
    Some(if is_coarse { estimate.no_finer_than(step) } else { estimate })
}

struct Side {
    mean: f64,
    square_error: f64,
    df: f64,
}

fn side(logs: &[f64]) -> Option<Side> {
    let sample = Sample::new(logs.to_vec()).ok()?;
    let n = sample.len();
    let kept = n - 2 * trim_count(n, TRIM);
    if kept < 2 {
        return None;
    }
    let kept_minus_one = (kept - 1) as f64;
    let deviation = winsorised_deviation(&sample, TRIM).ok()?;
    Some(Side {
        mean: trimmed_mean(&sample, TRIM),
        square_error: (n - 1) as f64 * deviation.powi(2) / (kept as f64 * kept_minus_one),
        df: kept_minus_one,
    })
}
