//! Whether the values after a split stand on another level than those before it.
//!
//! The longer side is the reference. Each value of the shorter side gets its normal score in the
//! reference; with m of them and n in the reference
//!
//! z = mean score / sqrt(f(m, r) / m + f(n, r) / n),
//!
//! f being what correlation does to a mean ([`super::correlation`]). Ranks alone decide, so that for
//! independent values the law of z, and of its maximum over splits and over time, does not depend on how
//! the noise is distributed: one simulation holds for all.
//!
//! The boundary is what z must reach. It is no quantile of one test: it accounts for the split being the
//! best of many and for looking again after every run, by simulation (`Rules::false_alarms`).

use crate::center::median_of;

use super::correlation::{Correlation, inflation};
use super::order::{Order, twice_below};
use super::scores::Scores;

/// A step of all values beyond this many robust deviations, and of their median beyond
/// [`CLEAR_MEDIAN`], is clear: ranks cannot tell it from a smaller one, but nobody mistakes it.
const CLEAR_EACH: f64 = 2.5;
const CLEAR_MEDIAN: f64 = 3.5;

/// How much nearer the boundary is for a clear step.
const CLEAR_DISCOUNT: f64 = 0.7;

/// A step that is so many times as large as a clear one is glaring, and the boundary nearer still.
const GLARING: f64 = 2.5;
pub(super) const GLARING_DISCOUNT: f64 = 1.4;

/// Splits with fewer values after them, or with more, have a higher boundary: most of the error is spent
/// on steps that are found after 6 to 12 runs.
const FEW: usize = 6;
const FEW_SURCHARGE: f64 = 0.2;
const MANY: usize = 12;
const MANY_SURCHARGE: f64 = 0.4;

/// So few pairs of a value and one of the reference are sooner compared one by one than told from the order of
/// all values.
const FEW_PAIRS: usize = 1000;

/// What is found of a split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Judgement {
    /// Standard normal under no change; above 0 where the level rose.
    pub(super) z: f64,
    /// By how much z is beyond the boundary; below 0 where it is not.
    pub(super) excess: f64,
    /// Median before the split and after it.
    pub(super) before: f64,
    pub(super) after: f64,
    /// Correlation that was reckoned with.
    pub(super) correlation: f64,
}

/// A split of the newest values of a level.
#[derive(Clone, Copy)]
pub(super) struct Split<'a> {
    /// The values, the weights of their scores, and their scores among all of them, from which
    /// correlation is estimated; as many of each.
    pub(super) values: &'a [f64],
    pub(super) weights: &'a [f64],
    pub(super) scores: &'a [f64],
    /// The order of the values.
    pub(super) order: &'a Order,
    /// Places of the values before the split, and of those after it.
    pub(super) before: (usize, usize),
    pub(super) after: (usize, usize),
}

/// Judges a split of which neither side is empty; nothing where |z| is below `least`.
pub(super) fn judge(
    split: Split<'_>,
    past: Correlation,
    boundary: f64,
    least: f64,
) -> Option<Judgement> {
    let length = |(from, to): (usize, usize)| to - from;
    let rising = length(split.before) >= length(split.after);
    let (reference, other) =
        if rising { (split.before, split.after) } else { (split.after, split.before) };
    let (n, m) = (length(reference), length(other));
    let correlation = Correlation::of(&split.scores[reference.0..reference.1]).coefficient(past);
    let variance = inflation(m, correlation) / m as f64 + inflation(n, correlation) / n as f64;
    let error = m as f64 * variance.sqrt();
    let z = sum_of_scores(&split, reference, other, least * error)? / error;
    if z.abs() < least {
        return None;
    }
    let reference = &split.values[reference.0..reference.1];
    let other = &split.values[other.0..other.1];
    let (middle, level) = (median(reference), median(other));
    let scale = deviation(reference, middle);
    let clear = |times: f64| is_clear(other, middle, level, z.signum(), times * scale);
    let discount = if clear(GLARING) {
        GLARING_DISCOUNT
    } else if clear(1.0) {
        CLEAR_DISCOUNT
    } else {
        -surcharge(length(split.after))
    };
    let excess = z.abs() + discount - boundary;
    Some(if rising {
        Judgement { z, excess, before: middle, after: level, correlation }
    } else {
        Judgement { z: -z, excess, before: level, after: middle, correlation }
    })
}

/// Returns the sum of the weighted scores of one side in the other, the reference; nothing where it is soon clear that
/// it stays below `least` on either side of 0.
fn sum_of_scores(
    split: &Split<'_>,
    reference: (usize, usize),
    other: (usize, usize),
    least: f64,
) -> Option<f64> {
    let (n, m) = (reference.1 - reference.0, other.1 - other.0);
    let table = Scores::get();
    // No score is larger, and no weight is above 1.
    let largest = table.outside(2 * n, n);
    if m as f64 * largest < least {
        return None;
    }
    let mut sum = 0.0;
    if m * n <= FEW_PAIRS {
        let others = &split.values[reference.0..reference.1];
        for place in other.0..other.1 {
            let score = table.outside(twice_below(others, split.values[place]), n);
            sum += split.weights[place] * score;
            if f64::abs(sum) + (other.1 - 1 - place) as f64 * largest < least {
                return None;
            }
        }
        return Some(sum);
    }
    let inside = |(from, to): (usize, usize), place| from <= place && place < to;
    split.order.walk(
        split.values,
        |place| inside(reference, place),
        |place, twice_below| {
            if inside(other, place) {
                sum += split.weights[place] * table.outside(twice_below, n);
            }
        },
    );
    Some(sum)
}

/// What is added to the boundary for a split with `after` values behind it.
fn surcharge(after: usize) -> f64 {
    if after < FEW {
        FEW_SURCHARGE
    } else if after > MANY {
        MANY_SURCHARGE
    } else {
        0.0
    }
}

/// Says whether a step of `other` from `middle` to one side is clear, measured in `scale`.
fn is_clear(other: &[f64], middle: f64, level: f64, side: f64, scale: f64) -> bool {
    (level - middle) * side > CLEAR_MEDIAN * scale
        && other.iter().all(|value| (value - middle) * side > CLEAR_EACH * scale)
}

/// Returns 1.4826 times the median distance from `middle`, or 1.2533 times the mean distance where more
/// than half of the values are equal; 0 where all are.
pub(super) fn deviation(values: &[f64], middle: f64) -> f64 {
    let mut distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let half = median_of(&mut distances);
    if half > 0.0 {
        return 1.4826 * half;
    }
    1.2533 * distances.iter().sum::<f64>() / distances.len() as f64
}

/// Returns the median of values of which there is at least one.
pub(super) fn median(values: &[f64]) -> f64 {
    median_of(&mut values.to_vec())
}
