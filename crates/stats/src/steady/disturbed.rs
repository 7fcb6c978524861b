//! Segments that neighbours disturbed, told by their form where nobody counted the waiting.
//!
//! Who shares a CPU takes it for some milliseconds at a time: some iterations take longer by that, the
//! others as long as ever. So a slower segment is the same level, disturbed, when it is much more uneven
//! than the other ([`WIDER`] times, as shares of the means) and still begins where that does: their
//! [`FLOOR`] quantiles differ by no more than the tolerance, or by what chance explains. A program that
//! itself got slower in most of its iterations has a higher floor. One that got slower in a few of them
//! only looks like this: to tell it, waiting has to be known.
//!
//! The standard error of a quantile p of normal values is s sqrt(p (1 - p) / n) / phi(z_p), 1.7 s / sqrt(n)
//! for 10 % (Stuart and Ord, "Kendall's Advanced Theory of Statistics", section 10.10).

use crate::quantile::of_sorted;

use super::{CHANCE, Segment};

/// Quantile that stands for undisturbed iterations.
const FLOOR: f64 = 0.1;

/// How many times as uneven a disturbed segment is.
const WIDER: f64 = 3.0;

/// Largest deviation of the calm segment, as a share of its mean: with more nothing is calm.
const CALM: f64 = 0.2;

/// Standard error of the floor in deviations, times the root of n.
const ERROR_OF_FLOOR: f64 = 1.7;

/// Marks the segments that are like the last one but for neighbours, and the last one itself where
/// it is the one that is disturbed.
pub(super) fn mark(segments: &mut [Segment], values: &[f64], tolerance: f64) {
    let last = segments.len() - 1;
    let floors: Vec<f64> = segments.iter().map(|one| floor(&values[one.start..one.end])).collect();
    for i in 0..last {
        if segments[i].like_the_last {
            continue;
        }
        let is_slower = segments[i].mean > segments[last].mean;
        let (calm, slow) = if is_slower { (last, i) } else { (i, last) };
        let distance = (floors[slow] - floors[calm]).abs();
        if is_wider(&segments[slow], &segments[calm])
            && distance <= tolerance.max(CHANCE * error_of_floors(&segments[calm], &segments[slow]))
        {
            segments[i].like_the_last = true;
            segments[slow].disturbed = true;
        }
    }
}

fn is_wider(slow: &Segment, calm: &Segment) -> bool {
    let (slow, calm) = (slow.deviation / slow.mean, calm.deviation / calm.mean);
    calm <= CALM && slow > WIDER * calm
}

/// Both floors scatter as undisturbed iterations do.
fn error_of_floors(calm: &Segment, slow: &Segment) -> f64 {
    let inverse = |one: &Segment| 1.0 / (one.end - one.start) as f64;
    ERROR_OF_FLOOR * calm.deviation * (inverse(calm) + inverse(slow)).sqrt()
}

fn floor(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    of_sorted(&sorted, FLOOR)
}
