//! A split of a level, and what is typical of the values of a side.

use super::order::Order;
use crate::center::median_of;

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

/// Returns values clipped at a distance from their median, or as they are where most of them are equal.
pub(super) fn clipped(values: &[f64], reach: f64) -> impl Iterator<Item = f64> {
    let middle = median(values);
    let equal = values.iter().filter(|value| (*value - middle).abs() <= 0.0).count();
    let reach = if 2 * equal > values.len() { f64::INFINITY } else { reach };
    values.iter().map(move |value| value.clamp(middle - reach, middle + reach))
}
