//! ED-PELT: exact segmentation by the empirical distribution.
//!
//! The cost of a stretch (u, v] of L values is
//!
//! C = -2 ln(2 n - 1) / K  sum over i of L (F ln F + (1 - F) ln(1 - F)),
//!
//! F being the share of the stretch below quantile i of the whole series, a tie counting half,
//! for K = min(n, ceil(4 ln n)) quantiles that crowd in the tails; a change costs 3 ln n. It assumes
//! nothing of the distribution and finds changes of shape as well, but its penalty states no rate of
//! false alarms, and later values may move earlier changes.
//!
//! Haynes, Fearnhead and Eckley, "A Computationally Efficient Nonparametric Approach for Changepoint
//! Detection", Statistics and Computing 27 (2017). The same results as perfolizer's
//! `EdPeltChangePointDetector`, whose indices are those of the last value before a change.

use crate::segments;
use crate::whole::place;

/// Least distance of two changes if nothing is asked for; perfolizer's own is 20.
pub const EDPELT_DISTANCE: usize = 10;

/// Returns the first index of every new level; levels have at least `distance` values.
pub fn edpelt(values: &[f64], distance: usize) -> Vec<usize> {
    let n = values.len();
    let distance = distance.max(1);
    if n < 2 || 2 * distance > n {
        return Vec::new();
    }
    let cost = Cost::of(values);
    let penalty = 3.0 * (n as f64).ln();
    let mut best = vec![0.0; n + 1];
    let mut last = vec![0; n + 1];
    best[0] = -penalty;
    for (v, best) in best.iter_mut().enumerate().take(2 * distance).skip(distance) {
        *best = cost.of_stretch(0, v);
    }
    let mut candidates = vec![0, distance];
    let mut costs = Vec::new();
    for v in 2 * distance..=n {
        costs.clear();
        costs.extend(candidates.iter().map(|u| best[*u] + cost.of_stretch(*u, v) + penalty));
        let (least, from) =
            costs.iter().zip(&candidates).fold((f64::INFINITY, 0), |least, (cost, u)| {
                if *cost < least.0 { (*cost, *u) } else { least }
            });
        best[v] = least;
        last[v] = from;
        let mut at = 0;
        candidates.retain(|_| {
            at += 1;
            costs[at - 1] < least + penalty
        });
        candidates.push(v + 1 - distance);
    }
    segments::starts(&last)
}

/// Partial sums of what is below each quantile.
struct Cost {
    /// For each value and quantile, twice how many values before it are below, a tie counting half.
    below: Vec<Vec<u32>>,
    factor: f64,
}

impl Cost {
    fn of(values: &[f64]) -> Self {
        let n = values.len();
        let quantiles = n.min(place((4.0 * (n as f64).ln()).ceil())).max(1);
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let span = (2 * n - 1) as f64;
        let thresholds: Vec<f64> = (0..quantiles)
            .map(|i| {
                let z = -1.0 + (2 * i + 1) as f64 / quantiles as f64;
                let share = 1.0 / (1.0 + span.powf(-z));
                sorted[place((n - 1) as f64 * share)]
            })
            .collect();
        let mut below = vec![vec![0; quantiles]];
        for value in values {
            let mut sums = below[below.len() - 1].clone();
            for (sum, threshold) in sums.iter_mut().zip(&thresholds) {
                *sum += u32::from(value < threshold) + u32::from(value <= threshold);
            }
            below.push(sums);
        }
        Self { below, factor: -2.0 * span.ln() / quantiles as f64 }
    }

    fn of_stretch(&self, from: usize, to: usize) -> f64 {
        let length = (to - from) as f64;
        let sum: f64 = self.below[from]
            .iter()
            .zip(&self.below[to])
            .map(|(before, after)| {
                let share = f64::from(after - before) / (2.0 * length);
                if share > 0.0 && share < 1.0 {
                    length * (share * share.ln() + (1.0 - share) * (1.0 - share).ln())
                } else {
                    0.0
                }
            })
            .sum();
        self.factor * sum
    }
}
