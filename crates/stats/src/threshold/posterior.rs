//! The probability of every place to be the one where the share is the permitted one.
//!
//! With the share's log odds rising in a line of slope `b` through the permitted share `p0` at `c`, and `k_i` hits among
//! `n_i` in clusters of mean size `s` at place `x_i`:
//!
//! ```text
//! P(c | k)  ~  integral  prod_i L_i(b (x_i - c))  db/b ds/s             b from 0.7 to 500, s from 1 to 729
//! L_i(m)    =  (1 - e) integral f(k_i; n_i p(u), s) N(u; m, (w m)^2) du  +  e integral f(k_i; n_i p(u), s) du / 20
//! p(u)      =  1 / (1 + exp(-u - logit p0)),  f as in clusters.rs
//! ```
//!
//! For the queue M/M/1 the log of the share is such a line exactly. Of others it is bent, by a share `w` of the distance
//! from the permitted share, so a place further away says less. Of an overload, in which much is a hit, the line knows
//! nothing: from ten times the permitted odds on, a reading says that it is at least so many, and without hits it says at
//! most so many. `e` bounds what hits can say: now and then there is a disturbance, which makes hits and never prevents
//! them. The size of the clusters is seen from how far readings differ from the line: a single reading may have one cluster
//! or none. The integrals over `u` are taken with Gauss and Hermite's five points, around the product of the normal
//! distribution and one that is like the likelihood (Liu and Pierce 1994, *A note on Gauss-Hermite quadrature*, Biometrika
//! 81). Assumed is that readings are independent: each begins anew.

use super::reading::{Reading, SIZES};
use crate::bisect::marginal;

/// Slopes that are considered, in log odds by unit of the scale.
const SLOPES: (f64, f64) = (0.7, 500.0);

/// How many of them.
const SLOPE_STEPS: u32 = 12;

/// What the readings say of the place.
#[derive(Debug, Clone, PartialEq)]
pub struct Posterior {
    from: f64,
    step: f64,
    /// Probability of each of the evenly spaced places.
    weights: Vec<f64>,
}

impl Posterior {
    /// Returns the posterior of the places from `from` to `to`, of which there are `steps`.
    pub fn of(from: f64, to: f64, steps: usize, readings: &[Reading]) -> Self {
        let step = (to - from) / (steps.max(2) - 1) as f64;
        let (lowest, highest) = SLOPES;
        let mut weights = Vec::new();
        for index in 0..SLOPE_STEPS {
            let share = f64::from(index) / f64::from(SLOPE_STEPS - 1);
            let slope = lowest * (highest / lowest).powf(share);
            for size in 0..SIZES {
                let weight = |place: usize| -> f64 {
                    let candidate = step.mul_add(place as f64, from);
                    let each = readings
                        .iter()
                        .map(|one| one.log_likelihood(slope * (one.at - candidate), size));
                    each.sum()
                };
                weights.push((0..steps.max(2)).map(weight).collect());
            }
        }
        Self { from, step, weights: marginal(&weights) }
    }

    /// Returns the place below which the answer lies with this probability.
    pub fn quantile(&self, p: f64) -> f64 {
        let mut below = 0.0;
        for (index, weight) in self.weights.iter().enumerate() {
            if below + weight >= p && *weight > 0.0 {
                // A place stands for half a step to either side.
                let within = ((p - below) / weight).clamp(0.0, 1.0) - 0.5;
                return self.step.mul_add(index as f64 + within, self.from);
            }
            below += weight;
        }
        self.step.mul_add(self.weights.len() as f64 - 0.5, self.from)
    }

    /// Returns the same with each place weighted.
    #[must_use]
    pub fn weighted(&self, weight: impl Fn(f64) -> f64) -> Self {
        let place = |index: usize| self.step.mul_add(index as f64, self.from);
        let each = self.weights.iter().enumerate().map(|(index, one)| one * weight(place(index)));
        let each: Vec<f64> = each.collect();
        let sum: f64 = each.iter().sum();
        Self { weights: each.iter().map(|one| one / sum).collect(), ..*self }
    }

    /// Returns the probability that the answer is at most this place.
    pub fn is_below(&self, place: f64) -> f64 {
        let until = (place - self.from) / self.step + 0.5;
        let each = self.weights.iter().enumerate();
        each.map(|(index, weight)| weight * (until - index as f64).clamp(0.0, 1.0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(at: f64, hits: f64, total: f64) -> Reading {
        Reading::new(at, hits, total, 0.01)
    }

    fn of(readings: &[Reading]) -> Posterior {
        Posterior::of(0.0, 10.0, 201, readings)
    }

    #[test]
    fn without_readings_every_place_is_as_likely() {
        let flat = of(&[]);
        assert!((flat.quantile(0.5) - 5.0).abs() < 1e-9);
        assert!((flat.is_below(2.5) - 0.25).abs() < 0.01);
    }

    #[test]
    fn weights_move_the_quantiles_to_where_they_are_large() {
        let upper = of(&[]).weighted(|place| if place < 5.0 { 0.0 } else { 1.0 });
        assert!((upper.quantile(0.5) - 7.5).abs() < 0.05, "{}", upper.quantile(0.5));
        assert!(upper.is_below(4.9) < 1e-9 && (upper.is_below(10.1) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn quantiles_and_probabilities_are_inverse() {
        let posterior = of(&[reading(4.0, 0.0, 1000.0), reading(6.0, 100.0, 1000.0)]);
        for p in [0.025, 0.3, 0.5, 0.975] {
            assert!((posterior.is_below(posterior.quantile(p)) - p).abs() < 1e-6, "{p}");
        }
    }

    #[test]
    fn the_answer_lies_between_places_without_hits_and_some_with_too_many() {
        let below = [3.5, 4.0, 4.0].map(|at| reading(at, 0.0, 20_000.0));
        let above = [6.0, 6.0, 6.5].map(|at| reading(at, 6000.0, 20_000.0));
        let posterior = of(&[below, above].concat());
        let [low, high] = [0.025, 0.975].map(|p| posterior.quantile(p));
        assert!(low > 3.5 && high < 6.1, "{low} {high}");
    }

    #[test]
    fn where_readings_agree_with_a_line_the_answer_is_where_it_crosses() {
        let line = |at: f64| reading(at, 200.0 * (2.0 * (at - 5.0)).exp(), 20_000.0);
        let places = [4.0, 4.25, 4.5, 4.75, 5.0, 5.25, 5.5, 5.75, 6.0];
        let posterior = of(&places.map(line));
        let [low, middle, high] = [0.025, 0.5, 0.975].map(|p| posterior.quantile(p));
        assert!((middle - 5.0).abs() < 0.05 && high - low < 0.4, "{low} {middle} {high}");
    }

    #[test]
    fn readings_that_differ_from_each_other_say_less() {
        let width = |off: f64| {
            let hits = |at: f64, sign: f64| 200.0 * (2.0 * (at - 5.0) + sign * off).exp();
            let readings: Vec<Reading> = [4.4, 4.6, 4.8, 5.0, 5.2, 5.4, 5.6, 5.8]
                .into_iter()
                .zip([1.0, -1.0].into_iter().cycle())
                .map(|(at, sign)| reading(at, hits(at, sign), 20_000.0))
                .collect();
            let posterior = of(&readings);
            posterior.quantile(0.975) - posterior.quantile(0.025)
        };
        assert!(width(0.8) > 2.0 * width(0.0), "{} {}", width(0.8), width(0.0));
    }

    #[test]
    fn one_disturbed_reading_is_outvoted() {
        let mut readings = vec![reading(3.0, 400.0, 4000.0)];
        for at in [3.0, 3.5, 4.0, 4.2] {
            readings.extend([reading(at, 0.0, 40_000.0), reading(at, 0.0, 40_000.0)]);
        }
        readings.push(reading(6.0, 4000.0, 4000.0));
        assert!(of(&readings).is_below(3.9) < 0.1, "{}", of(&readings).is_below(3.9));
    }
}
