//! The normal scores of both sides of a split among each other.

use super::scores::Scores;
use super::split::Split;
use super::tilt::signed_root;

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
    /// Around the mean of all.
    variance: f64,
    /// Of each side, drawn to that within both.
    variances: [f64; 2],
}

impl Pool {
    /// Scores the values of two stretches of a split among both.
    pub(super) fn of(split: &Split<'_>, first: (usize, usize), second: (usize, usize)) -> Self {
        let (n, m) = (first.1 - first.0, second.1 - second.0);
        let table = Scores::among(n + m - 1);
        let mut scores = vec![0.0; n + m];
        let is_first = |place: usize| place.wrapping_sub(first.0) < n;
        let is_second = |place: usize| place.wrapping_sub(second.0) < m;
        let order = split.order.among(|place| is_first(place) | is_second(place));
        order.walk_all(split.values, |place, twice_below| {
            let in_first = place.wrapping_sub(first.0);
            let at = if in_first < n { in_first } else { n + place - second.0 };
            scores[at] = split.weights[place] * table.of(twice_below);
        });
        let sides = scores.split_at(n);
        let means = [mean(sides.0), mean(sides.1)];
        let sums = [squares(sides.0, means[0]), squares(sides.1, means[1])];
        let variance = squares(&scores, mean(&scores)) / (n + m - 1) as f64;
        let within = (sums[0] + sums[1]) / (n + m - 1) as f64;
        let drawn =
            |sum: f64, count: usize| (sum + within * OF_ALL) / (count as f64 - 1.0 + OF_ALL);
        let variances = [drawn(sums[0], n), drawn(sums[1], m)];
        Self { scores, first: n, means, variance, variances }
    }

    /// Returns the difference of the means, second less first, over its error as all scores tell it.
    pub(super) fn z(&self) -> f64 {
        let [n, m] = self.counts();
        let error = (self.variance * (1.0 / n + 1.0 / m)).sqrt();
        if error > 0.0 { (self.means[1] - self.means[0]) / error } else { 0.0 }
    }

    /// Returns the same as its chance tells it ([`super::tilt`]), if it is not beyond `enough`.
    pub(super) fn signed_root(&self, enough: f64) -> f64 {
        if self.variance > 0.0 {
            signed_root(&self.scores, self.scores.len() - self.first, self.means[1], enough)
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

    fn counts(&self) -> [f64; 2] {
        [self.first as f64, (self.scores.len() - self.first) as f64]
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn squares(values: &[f64], middle: f64) -> f64 {
    values.iter().map(|value| (value - middle) * (value - middle)).sum()
}
