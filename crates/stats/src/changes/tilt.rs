//! How far beyond chance the mean of some of a set of scores is, whatever the scores are.
//!
//! Under no change the m values on one side of a split are any m of all N. How unlikely a mean as far out as theirs is
//! follows from tilting: with the weights exp(t s) that give the scores s the mean that was found, and the Kullback-Leibler
//! divergence D of those from equal weights,
//!
//! w = sqrt(2 m D N / (N - m)),
//!
//! is all but standard normal far into the tails: the signed root of the likelihood ratio. Unlike a mean over its
//! standard error it holds for a few values, for scores with ties and for rare ones.
//!
//! Where the values of one side are all beyond those of the other, the chance is known exactly: 2 to C(N, m), whatever
//! the noise is.
//!
//! Daniels, "Saddlepoint Approximations in Statistics", Annals of Mathematical Statistics 25 (1954); Robinson,
//! "Saddlepoint Approximations for Permutation Tests and Confidence Intervals", JRSS B 44 (1982).

use super::exp::exp;
use crate::normal;

/// Steps towards the tilt.
const STEPS: usize = 16;

/// Largest tilt that is looked for, in standard deviations; beyond it only the largest score has any weight.
const STEEPEST: f64 = 30.0;

/// The most by which the statistic of the ranks is larger than a mean over its error.
pub(super) const LARGEST_GAIN: f64 = 1.25;

/// Rounding errors of a root are less than this share of it.
const ROUNDING: f64 = 1e-9;

/// Chances are not told apart below this.
const LEAST_CHANCE: f64 = 1e-15;

/// A set of scores.
#[derive(Clone, Copy)]
pub(super) struct All<'a> {
    scores: &'a [f64],
    middle: f64,
    variance: f64,
}

impl<'a> All<'a> {
    /// Scores whose mean is this, around which this is the sum of their squares.
    pub(super) fn of(scores: &'a [f64], middle: f64, squares: f64) -> Self {
        Self { scores, middle, variance: squares / scores.len() as f64 }
    }
}

/// Returns the signed root for the mean of `count` of all scores; they have some variance, and `count` is less than
/// all. Of one that is beyond `enough` it is not said how far.
pub(super) fn signed_root(all: All<'_>, count: usize, mean: f64, enough: f64) -> f64 {
    let All { scores, middle, variance } = all;
    let (n, m) = (scores.len() as f64, count as f64);
    let squared = 2.0 * m * n / (n - m);
    let enough = enough * enough / squared * (1.0 + ROUNDING);
    let off = (mean - middle).abs();
    let side = (mean - middle).signum();
    let mut divergence = 0.0;
    // Between these: the mean grows with the tilt.
    let (mut low, mut high) = (0.0, STEEPEST / variance.sqrt());
    let mut tilt = (off / variance).min(high);
    for _ in 0..STEPS {
        let [sum, first, second] = moments(scores, middle, side, tilt);
        let tilted = first / sum;
        // The Legendre transform: any tilt gives a lower bound of the divergence, the right one the divergence.
        divergence = f64::max(divergence, tilt * off - (sum / n).ln());
        if divergence >= enough {
            break;
        }
        let last = tilt;
        if tilted < off {
            low = tilt;
        } else {
            high = tilt;
        }
        tilt += (off - tilted) / (second / sum - tilted * tilted);
        if !(low..=high).contains(&tilt) {
            tilt = f64::midpoint(low, high);
        }
        if (tilt - last).abs() < 1e-3 * (1.0 + last) {
            break;
        }
    }
    (squared * divergence).sqrt().copysign(side)
}

/// How many sums are made beside each other: so many are as fast as one.
const LANES: usize = 4;

/// Returns the sums of the weights exp(t s), of these times s, and of these times s squared.
fn moments(scores: &[f64], middle: f64, side: f64, tilt: f64) -> [f64; 3] {
    let mut sums = [[0.0; LANES]; 3];
    let mut add = |lane: usize, score: f64| {
        let score = side * (score - middle);
        let weight = exp(tilt * score);
        sums[0][lane] += weight;
        sums[1][lane] += weight * score;
        sums[2][lane] += weight * score * score;
    };
    let (several, rest) = scores.as_chunks::<LANES>();
    for scores in several {
        for (lane, score) in scores.iter().enumerate() {
            add(lane, *score);
        }
    }
    for score in rest {
        add(0, *score);
    }
    sums.map(|lanes| lanes.iter().sum())
}

/// Returns the standard normal value that is as unlikely as that `few` of `all` values are beyond all others, on either
/// side.
pub(super) fn separated(all: usize, few: usize) -> f64 {
    let few = few.min(all - few);
    let log = (0..few).map(|i| ((all - i) as f64 / (few - i) as f64).ln()).sum::<f64>();
    -normal::quantile((-log).exp().max(LEAST_CHANCE))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(scores: &[f64], count: usize, mean: f64) -> f64 {
        let middle = scores.iter().sum::<f64>() / scores.len() as f64;
        let squares = scores.iter().map(|score| (score - middle).powi(2)).sum::<f64>();
        signed_root(All::of(scores, middle, squares), count, mean, f64::INFINITY)
    }

    fn scores(n: usize) -> Vec<f64> {
        (0..n).map(|i| normal::quantile((i as f64 + 0.5) / n as f64)).collect()
    }

    #[test]
    fn the_root_is_nearly_the_mean_over_its_error_near_the_middle() {
        let scores = scores(100);
        let w = root(&scores, 20, 0.3);
        let z = 0.3 / (0.98 * (1.0 / 20.0 - 1.0 / 100.0f64)).sqrt();
        assert!((w - z).abs() < 0.1, "{w} is not {z}");
        assert!((root(&scores, 20, -0.3) + w).abs() < 1e-6, "the sides mirror each other");
    }

    #[test]
    fn two_rare_values_of_four_are_as_unlikely_as_they_are() {
        // Four of 104, of which 2 in 100 are 1: two or more of them with a chance of 0.0024 and a little more.
        let rare: Vec<f64> = (0..104).map(|i| if i < 4 { 1.0 } else { 0.0 }).collect();
        let w = root(&rare, 4, 0.5);
        assert!((2.0..3.2).contains(&w), "{w}");
    }

    #[test]
    fn no_more_is_found_than_the_exact_chance_of_separate_sides() {
        for (n, m) in [(12, 6), (16, 8), (30, 5), (63, 3), (104, 4)] {
            let scores = scores(n);
            let mean = scores[n - m..].iter().sum::<f64>() / m as f64;
            let (w, exact) = (root(&scores, m, mean), separated(n, m));
            assert!(w <= exact && w > 0.84 * exact, "{n}, {m}: {w}, {exact}");
        }
        assert!((separated(16, 8) - 3.78).abs() < 0.01);
    }
}
