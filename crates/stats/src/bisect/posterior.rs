//! The probability of every commit to be the first of the new level.
//!
//! With `k` the first commit of the new level, `d` the log ratio of the new level to the old, and `x_i`, `s_i`,
//! `df_i` what was read of commit `i`:
//!
//! ```text
//! P(k | x)  ~  prior(k)  integral  prod_{i < k} old(x_i | d)  prod_{i >= k} new(x_i | d)  dd
//! old(x | d) = (1 - e) t(x - 0) + e slab(x; levels up to d/2) + anywhere
//! new(x | d) = (1 - e) t(x - d) + e slab(x; levels beyond d/2) + anywhere
//! ```
//!
//! `t` is the density of Student's t, with a scale of `s_i` and of what a build adds by its layout. The prior of `k` is
//! flat, and `d` is integrated over: both levels are only estimates, and every commit that is read makes them better.
//! For `k` the densities are those of `x / d`, which amounts to a prior of `d` that grows with every reading: with a flat
//! one searches are no more often right and take up to a third longer. How large the change is is therefore asked again,
//! given the likeliest `k`, of densities of `x` itself and with a flat prior (`size.rs`). The slab
//! says that a build now and then is neither at the old level nor at the new one (its layout, or another
//! change): all that counts then is on which side of the half it lies. A history with several changes is so
//! split where it first crosses the half.

use super::marginal::marginal;
use super::reading::{BuildReading, FAR, MISPLACED, OF_BUILD, STRAY, WIDEST};
use super::size::size;
use crate::decide::paired::Level;
use crate::student;

/// What the readings say.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    /// For commits `1..=n` the probability of being the first of the new level; they add up to 1.
    pub first: Vec<f64>,
    /// Log ratio of the new level to the old, given the likeliest first commit.
    pub change: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

impl Posterior {
    /// Returns the probability that commit `commit` has the new level.
    pub fn is_new(&self, commit: usize) -> f64 {
        self.first[..commit.min(self.first.len())].iter().sum::<f64>().clamp(0.0, 1.0)
    }
}

impl BuildReading {
    /// Says whether its level is clearly neither the old nor the new one: another change, or a build of unusual
    /// luck.
    pub fn is_at_neither(&self, posterior: &Posterior) -> bool {
        let away = |from: f64| {
            let distance = (self.level.centre - from).abs();
            let error = self.level.error.hypot(posterior.deviation);
            distance > NEITHER * posterior.change.abs()
                && distance - student::two_sided_quantile(NEITHER_SURE, self.level.df) * error > 0.0
        };
        away(0.0) && away(posterior.change)
    }
}

/// A level this share of the change away from both is neither.
const NEITHER: f64 = 0.2;

/// Confidence at which it has to be away from both: many readings are asked.
const NEITHER_SURE: f64 = 0.999;

/// Points at which the change is integrated.
const POINTS: usize = 41;

/// They reach so many standard errors of the bad end's level to either side.
const REACH: f64 = 4.5;

/// The smallest change considered, as a share of what was seen at the bad end.
const LEAST_CHANGE: f64 = 0.15;

/// How much less likely it is that commits with the same program have different levels.
const SAME_PROGRAM: f64 = 1e-4;

/// Returns the posterior of `n` commits after the good end. One reading has to be of commit `n`, the bad end,
/// and its level different from 0; otherwise nothing is known of the change, and `None` is returned.
pub fn posterior(n: usize, readings: &[BuildReading]) -> Option<Posterior> {
    let bad = readings.iter().find(|reading| reading.commits.contains(&n))?.level;
    if n == 0 || bad.centre == 0.0 || !bad.centre.is_finite() {
        return None;
    }
    let changes = changes(&bad);
    // Log weight of every first commit at every change.
    let mut weights = vec![vec![0.0; n]; changes.len()];
    for (weights, &change) in weights.iter_mut().zip(&changes) {
        for reading in readings {
            let (old, new) = likelihoods(&reading.level, change);
            let lowest = reading.commits.iter().min().copied().unwrap_or(n);
            let highest = reading.commits.iter().max().copied().unwrap_or(n);
            let mixed = old.min(new) + SAME_PROGRAM.ln();
            for (index, weight) in weights.iter_mut().enumerate() {
                let first = index + 1;
                *weight += if first <= lowest {
                    new
                } else if first > highest {
                    old
                } else {
                    mixed
                };
            }
        }
    }
    let first = marginal(&weights);
    let likeliest = first.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    let (change, deviation) =
        size(readings, likeliest.map_or(n, |(index, _)| index + 1), &changes, bad.centre);
    Some(Posterior { first, change, deviation })
}

/// Returns the changes to consider, evenly spaced.
fn changes(bad: &Level) -> Vec<f64> {
    let error = bad.error.max(OF_BUILD * bad.centre.abs() / REACH);
    let size = bad.centre.abs();
    let low = (size - REACH * error).max(LEAST_CHANGE * size);
    let high = size + REACH * error;
    let step = (high - low) / (POINTS - 1) as f64;
    (0..POINTS).map(|index| (low + step * index as f64).copysign(bad.centre)).collect()
}

/// Returns the log likelihoods of a level to be the old one and the new one.
fn likelihoods(level: &Level, change: f64) -> (f64, f64) {
    // In units of the change: 0 is the old level, 1 the new one.
    let x = (level.centre / change).clamp(-FAR, 1.0 + FAR);
    let scale = (level.error / change).hypot(OF_BUILD);
    let spike = |at: f64| student::density((x - at) / scale, level.df) / scale;
    let below = |at: f64| student::cdf((at - x) / scale, level.df);
    let slab = |low: f64, high: f64| (below(high) - below(low)).max(0.0) / (high - low);
    let anywhere = MISPLACED / (1.0 + 2.0 * WIDEST);
    let old = (1.0 - STRAY) * spike(0.0) + STRAY * slab(-WIDEST, 0.5) + anywhere;
    let new = (1.0 - STRAY) * spike(1.0) + STRAY * slab(0.5, 1.0 + WIDEST) + anywhere;
    (old.ln(), new.ln())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(commit: usize, centre: f64, error: f64) -> BuildReading {
        BuildReading { commits: vec![commit], level: Level { centre, error, df: 10.0 } }
    }

    #[test]
    fn neighbours_at_the_two_levels_leave_one_commit() {
        let readings =
            [reading(64, 0.03, 0.003), reading(31, 0.0005, 0.004), reading(32, 0.028, 0.004)];
        let posterior = posterior(64, &readings).unwrap();
        assert!(posterior.first[31] > 0.8, "{:?}", posterior.first[31]);
        assert!((posterior.first.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((posterior.change - 0.029).abs() < 0.002 && posterior.deviation < 0.004);
    }

    #[test]
    fn a_reading_half_way_says_nothing() {
        let posterior =
            posterior(10, &[reading(10, 0.03, 0.0001), reading(5, 0.015, 0.005)]).unwrap();
        assert!((posterior.is_new(5) - 0.5).abs() < 0.02, "{}", posterior.is_new(5));
    }

    #[test]
    fn a_level_that_is_neither_counts_by_its_side_of_the_half() {
        let at =
            |level| posterior(10, &[reading(10, 0.03, 1e-4), reading(5, level, 1e-4)]).unwrap();
        assert!(at(0.010).is_new(5) < 0.2 && at(0.020).is_new(5) > 0.8);
        assert!(at(0.300).is_new(5) > 0.9 && at(-0.3).is_new(5) < 0.1);
    }

    #[test]
    fn one_build_that_is_far_out_does_not_win_against_its_neighbour() {
        let readings = [
            reading(64, 0.03, 1e-3),
            reading(8, 0.0, 1e-3),
            reading(9, 0.1, 1e-3),
            reading(10, 0.0, 1e-3),
        ];
        let posterior = posterior(64, &readings).unwrap();
        assert!(posterior.first[8] < 0.1, "{}", posterior.first[8]);
    }

    #[test]
    fn a_level_between_the_two_is_seen_as_such() {
        let readings =
            [reading(9, 0.03, 0.001), reading(4, 0.015, 0.001), reading(7, 0.029, 0.001)];
        let posterior = posterior(9, &readings).unwrap();
        assert_eq!(readings.map(|one| one.is_at_neither(&posterior)), [false, true, false]);
        assert!(!reading(4, 0.015, 0.005).is_at_neither(&posterior));
    }

    #[test]
    fn an_improvement_is_searched_like_a_regression() {
        let up = posterior(9, &[reading(9, 0.03, 0.003), reading(4, 0.02, 0.006)]).unwrap();
        let down = posterior(9, &[reading(9, -0.03, 0.003), reading(4, -0.02, 0.006)]).unwrap();
        assert_eq!(up.first, down.first);
    }

    #[test]
    fn commits_with_the_same_program_are_not_split() {
        let same = BuildReading { commits: vec![3, 4, 5], ..reading(3, 0.001, 0.004) };
        let posterior = posterior(8, &[reading(8, 0.03, 0.003), same]).unwrap();
        assert!(posterior.first[3] + posterior.first[4] < 0.001, "{:?}", posterior.first);
    }

    #[test]
    fn values_without_noise_decide_at_once() {
        let posterior = posterior(4, &[reading(4, 0.5, 0.0), reading(2, 0.5, 0.0)]).unwrap();
        assert!(posterior.is_new(2) > 0.99);
        assert!(super::posterior(4, &[reading(4, 0.0, 0.0)]).is_none());
        assert!(super::posterior(4, &[reading(2, 0.1, 0.0)]).is_none());
    }
}
