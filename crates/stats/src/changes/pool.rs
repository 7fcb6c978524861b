//! The normal scores of both sides of a split among each other.

use super::scores::Scores;
use super::split::Split;
use super::tilt::{All, signed_root};

/// Values that the variance of all scores counts as in that of one side: of few values it is not known.
const OF_ALL: f64 = 3.0;

/// Variance of scores that are equal but for rounding.
const ROUNDING: f64 = 1e-20;

/// Scores of two sides, and what follows from them alone.
pub(super) struct Pool {
    /// First those of the first side.
    scores: Vec<f64>,
    first: usize,
    means: [f64; 2],
    /// Mean of all, and the sum of the squares around it.
    mean: f64,
    squares: f64,
    /// Of each side, drawn to that within both.
    variances: [f64; 2],
}

impl Pool {
    /// Scores the values of two stretches of a split among both.
    pub(super) fn of(split: &Split<'_>, first: (usize, usize), second: (usize, usize)) -> Self {
        let (n, m) = (first.1 - first.0, second.1 - second.0);
        let scores = scores(split, first, second);
        let (one, other) = scores.split_at(n);
        // Sums of one side and of all are made beside each other: so both are as fast as one.
        let [mut sums, mut squares] = [[0.0; 2]; 2];
        sums[0] = one.iter().sum::<f64>();
        let mut sum = sums[0];
        for score in other {
            sum += score;
            sums[1] += score;
        }
        let means = [sums[0] / n as f64, sums[1] / m as f64];
        let mean = sum / (n + m) as f64;
        let mut around = 0.0;
        for (side, scores) in [one, other].into_iter().enumerate() {
            for score in scores {
                squares[side] += (score - means[side]) * (score - means[side]);
                around += (score - mean) * (score - mean);
            }
        }
        let within = (squares[0] + squares[1]) / (n + m - 1) as f64;
        let drawn =
            |sum: f64, count: usize| (sum + within * OF_ALL) / (count as f64 - 1.0 + OF_ALL);
        let variances = [drawn(squares[0], n), drawn(squares[1], m)];
        Self { scores, first: n, means, mean, squares: around, variances }
    }

    /// Returns the difference of the means, second less first, over its error as all scores tell it.
    pub(super) fn z(&self) -> f64 {
        let [n, m] = self.counts();
        let error = (self.variance() * (1.0 / n + 1.0 / m)).sqrt();
        if error > 0.0 { (self.means[1] - self.means[0]) / error } else { 0.0 }
    }

    /// Returns the same as its chance tells it ([`super::tilt`]), if it is not beyond `enough`.
    pub(super) fn signed_root(&self, enough: f64) -> f64 {
        if self.squares > 0.0 {
            let all = All::of(&self.scores, self.mean, self.squares);
            signed_root(all, self.scores.len() - self.first, self.means[1], enough)
        } else {
            0.0
        }
    }

    /// Returns by how much the error of the difference is larger than if both sides scattered alike, at least 1: where
    /// the shorter side scatters more.
    pub(super) fn unevenness(&self) -> f64 {
        let [n, m] = self.counts();
        let [v, w] = self.variances;
        let alike = (n * v + m * w) / (n + m) * (1.0 / n + 1.0 / m);
        let own = v / n + w / m;
        // What equal scores leave by rounding is no scatter.
        if alike > ROUNDING { (own / alike).sqrt().max(1.0) } else { 1.0 }
    }

    /// Variance of all scores.
    fn variance(&self) -> f64 {
        self.squares / (self.scores.len() - 1) as f64
    }

    fn counts(&self) -> [f64; 2] {
        [self.first as f64, (self.scores.len() - self.first) as f64]
    }
}

/// Returns the scores of the values of two stretches among both, first those of the first.
fn scores(split: &Split<'_>, first: (usize, usize), second: (usize, usize)) -> Vec<f64> {
    let counted = |(from, to): (usize, usize), place: usize| place.wrapping_sub(from) < to - from;
    let is_counted = |place: usize| counted(first, place) | counted(second, place);
    let count = first.1 - first.0 + second.1 - second.0;
    let table = Scores::among(count - 1);
    // Those of neither stretch are written too: which ones these are is as good as random, so that it is faster.
    let mut of_all = vec![0.0; split.values.len()];
    if let Some(places) = split.order.untied() {
        table.ascending(places, |place, score| {
            let place = usize::from(*place);
            of_all[place] = score;
            is_counted(place)
        });
    } else {
        let order = split.order.among(is_counted);
        order.walk_all(|place, twice_below| of_all[place] = table.of(twice_below));
    }
    let mut scores = Vec::with_capacity(count);
    for (from, to) in [first, second] {
        let weighed = of_all[from..to].iter().zip(&split.weights[from..to]);
        scores.extend(weighed.map(|(score, weight)| weight * score));
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::changes::order::Order;

    #[test]
    fn scores_are_those_of_counts_among_both_stretches() {
        let mut rng = Rng::new(10);
        for digits in [1.0, 1e6] {
            let values: Vec<f64> =
                (0..60).map(|_| (rng.normal() * digits).round() / digits).collect();
            let order = Order::of(&values);
            assert_eq!(order.untied().is_some(), digits > 1.0);
            let weights: Vec<f64> = (0..60).map(|_| rng.uniform()).collect();
            for (before, after) in [((10, 30), (30, 60)), ((35, 60), (0, 34))] {
                let split = Split {
                    values: &values,
                    weights: &weights,
                    scores: &[],
                    order: &order,
                    before,
                    after,
                };
                let places: Vec<usize> = (before.0..before.1).chain(after.0..after.1).collect();
                let table = Scores::among(places.len() - 1);
                let of = |place: usize| {
                    let others = places.iter().filter(|other| **other != place);
                    let twice_below = others
                        .map(|other| {
                            usize::from(values[*other] < values[place])
                                + usize::from(values[*other] <= values[place])
                        })
                        .sum();
                    weights[place] * table.of(twice_below)
                };
                let expected: Vec<f64> = places.iter().map(|place| of(*place)).collect();
                assert_eq!(scores(&split, before, after), expected, "{before:?}, {after:?}");
            }
        }
    }
}
