//! How large the change is, where its place is taken for known.
//!
//! With the first commit `k` of the new level, the log ratio `d` of the new level to the old, and `x_i`, `s_i`, `df_i`
//! what was read of commit `i`:
//!
//! ```text
//! P(d | x, k)  ~  prod_{i < k} old(x_i | d)  prod_{i >= k} new(x_i | d),  d evenly spaced around the bad end's level
//! old(x | d) = (1 - e) t(x - 0) + e slab(x; levels up to d/2) + anywhere
//! new(x | d) = (1 - e) t(x - d) + e slab(x; levels beyond d/2) + anywhere
//! ```
//!
//! as in `posterior.rs`, but with densities of `x` itself, so that the prior of `d` is flat. Told is the mean of `d`.

use super::reading::{BuildReading, FAR, MISPLACED, OF_BUILD, STRAY, WIDEST};
use crate::decide::paired::Level;
use crate::student;

/// Returns mean and standard deviation of the change, of these, if commit `first` is the first of the new level. `seen`
/// is the log ratio that was seen at the bad end.
pub(super) fn size(
    readings: &[BuildReading],
    first: usize,
    changes: &[f64],
    seen: f64,
) -> (f64, f64) {
    let log_weight = |change: &f64| -> f64 {
        // In units of what was seen.
        let change = change / seen;
        let each = readings.iter().filter_map(|reading| {
            let are_new = reading.commits.iter().filter(|commit| **commit >= first).count();
            match are_new {
                0 => Some(density(&reading.level, seen, (0.0, change), [-WIDEST, change / 2.0])),
                all if all == reading.commits.len() => Some(density(
                    &reading.level,
                    seen,
                    (change, change),
                    [change / 2.0, 1.0 + WIDEST],
                )),
                // One program on both sides.
                _ => None,
            }
        });
        each.map(f64::ln).sum()
    };
    let weights: Vec<f64> = changes.iter().map(log_weight).collect();
    let top = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut moments = [0.0; 3];
    for (weight, change) in weights.iter().zip(changes) {
        let weight = (weight - top).exp();
        moments[0] += weight;
        moments[1] += weight * change;
        moments[2] += weight * change * change;
    }
    let mean = moments[1] / moments[0];
    (mean, (moments[2] / moments[0] - mean * mean).max(0.0).sqrt())
}

/// Returns the density of a level in units of what was `seen`, where it is thought to be `at` with a change of `change`,
/// or else anywhere in the slab.
fn density(level: &Level, seen: f64, (at, change): (f64, f64), [low, high]: [f64; 2]) -> f64 {
    let x = (level.centre / seen).clamp(-FAR, 1.0 + FAR);
    let scale = (level.error / seen).hypot(OF_BUILD * change);
    let below = |end: f64| student::cdf((end - x) / scale, level.df);
    let spike = student::density((x - at) / scale, level.df) / scale;
    let slab = (below(high) - below(low)).max(0.0) / (high - low);
    (1.0 - STRAY) * spike + STRAY * slab + MISPLACED / (1.0 + 2.0 * WIDEST)
}
