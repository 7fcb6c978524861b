//! Error spending: how strict each look has to be so that looking many times keeps the stated
//! error.
//!
//! Lan and DeMets (1983), *Discrete sequential boundaries for clinical trials*, Biometrika 70(3):
//! a function says how much of the error may have been spent when a fraction `t` of the budget is
//! used; here the one of Pocock's type, `alpha * ln(1 + (e - 1) t)`, which leaves room for early
//! stops. The boundary of look `k` solves
//!
//! ```text
//! P(no boundary crossed before k, |Z_k| >= c_k) = spent(t_k) - spent(t_{k-1})
//! ```
//!
//! where the `Z_k` are the standardised estimates, a Brownian motion seen at the numbers of rounds
//! `n_k` (Armitage, McPherson and Rowe 1969, integrated numerically). The fraction `t` may be of
//! rounds or of time (Lan and DeMets 1989); the correlation always follows the rounds.
//!
//! Assumption: estimates at successive looks have independent increments, which holds
//! asymptotically; the simulation in `crates/calibrate` checks what is left of it at small numbers of
//! rounds.

use crate::normal::{self, density};
use crate::whole::place;

/// One look at the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Rounds seen.
    pub rounds: u32,
    /// Share of the budget used, 0..=1, not falling from look to look. 1 spends all that is left.
    pub fraction: f64,
}

/// Largest boundary that is told apart from "no error left to spend at this look".
const LARGEST_BOUNDARY: f64 = 8.0;

/// Returns the error that may have been spent when `fraction` of the budget is used.
pub fn spent(alpha: f64, fraction: f64) -> f64 {
    let fraction = fraction.clamp(0.0, 1.0);
    alpha * (1.0 + (std::f64::consts::E - 1.0) * fraction).ln()
}

/// Returns the two-sided significance level to use at each look, so that the chance of any false
/// alarm over all of them is at most `alpha`. Looks must have rising rounds.
pub fn levels(looks: &[Look], alpha: f64) -> Vec<f64> {
    let mut levels = Vec::with_capacity(looks.len());
    let mut before: Option<Continuing> = None;
    let mut already = 0.0;
    for look in looks {
        let information = f64::from(look.rounds.max(1));
        let to_spend = (spent(alpha, look.fraction) - already).max(0.0);
        let exceed = |bound: f64| match &before {
            None => 2.0 * normal::upper_tail(bound),
            Some(continuing) => continuing.exceed(bound, information),
        };
        let bound = solve(exceed, to_spend);
        let level = if bound >= LARGEST_BOUNDARY { 0.0 } else { 2.0 * normal::upper_tail(bound) };
        if level > 0.0 {
            already += to_spend;
        }
        levels.push(level);
        before = Some(match &before {
            None => Continuing::first(bound, information),
            Some(continuing) => continuing.next(bound, information),
        });
    }
    levels
}

/// Finds the boundary whose chance of being exceeded is `target`; `exceed` falls.
fn solve(exceed: impl Fn(f64) -> f64, target: f64) -> f64 {
    let (mut low, mut high) = (0.0, LARGEST_BOUNDARY);
    if exceed(high) >= target {
        return high;
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if exceed(middle) > target { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

/// Density of the Brownian motion among the paths that crossed no boundary so far, on a grid for
/// Simpson's rule.
struct Continuing {
    information: f64,
    step: f64,
    /// Positions and density times quadrature weight.
    points: Vec<(f64, f64)>,
}

/// Grid points per standard deviation of the next increment; Simpson's rule on a Gaussian is then
/// accurate to far below what any boundary needs.
const POINTS_PER_DEVIATION: f64 = 6.0;

impl Continuing {
    fn first(bound: f64, information: f64) -> Self {
        let deviation = information.sqrt();
        Self::on_grid(bound, information, deviation, |x| density(x / deviation) / deviation)
    }

    fn next(&self, bound: f64, information: f64) -> Self {
        let deviation = (information - self.information).max(1e-9).sqrt();
        Self::on_grid(bound, information, deviation, |x| {
            self.points
                .iter()
                .map(|&(from, weight)| weight * density((x - from) / deviation) / deviation)
                .sum()
        })
    }

    fn on_grid(bound: f64, information: f64, scale: f64, height: impl Fn(f64) -> f64) -> Self {
        let edge = bound * information.sqrt();
        let half = place((edge / scale * POINTS_PER_DEVIATION).ceil().clamp(60.0, 600.0));
        let intervals = 2 * half;
        let step = 2.0 * edge / intervals as f64;
        let points = (0..=intervals)
            .map(|index| {
                let x = -edge + step * index as f64;
                let weight = match index {
                    0 => 1.0,
                    last if last == intervals => 1.0,
                    odd if odd % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                (x, height(x) * weight * step / 3.0)
            })
            .collect();
        Self { information, step, points }
    }

    /// Chance of being still inside and outside +-`bound` at `information`.
    fn exceed(&self, bound: f64, information: f64) -> f64 {
        let deviation = (information - self.information).max(1e-9).sqrt().max(self.step * 0.5);
        let edge = bound * information.sqrt();
        self.points
            .iter()
            .map(|&(from, weight)| {
                weight
                    * (normal::upper_tail((edge - from) / deviation)
                        + normal::upper_tail((edge + from) / deviation))
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Boundaries published for five equally spaced looks (R package `ldbounds`, two-sided 0.05,
    /// Pocock-type spending): 2.4380, 2.4268, 2.4101, 2.3966, 2.3859.
    #[test]
    fn five_equal_looks_have_the_published_boundaries() {
        let looks: Vec<Look> =
            (1..=5).map(|k| Look { rounds: 100 * k, fraction: f64::from(k) / 5.0 }).collect();
        let bounds: Vec<f64> =
            levels(&looks, 0.05).iter().map(|level| normal::quantile(1.0 - level / 2.0)).collect();
        for (bound, published) in bounds.iter().zip([2.4380, 2.4268, 2.4101, 2.3966, 2.3859]) {
            assert!((bound - published).abs() < 5e-4, "{bounds:?}");
        }
    }

    #[test]
    fn a_single_look_at_the_end_spends_everything() {
        let level = levels(&[Look { rounds: 17, fraction: 1.0 }], 0.05)[0];
        assert!((level - 0.05).abs() < 1e-9, "{level}");
    }

    #[test]
    fn a_look_that_spends_nothing_allows_nothing() {
        let looks = [Look { rounds: 10, fraction: 0.5 }, Look { rounds: 20, fraction: 0.5 }];
        let levels = levels(&looks, 0.05);
        assert!(levels[0] > 0.0 && levels[1] == 0.0, "{levels:?}");
    }

    #[test]
    fn brownian_motion_seen_at_the_looks_crosses_as_often_as_stated() {
        let looks: Vec<Look> = [8_u32, 10, 13, 17, 22, 28, 36, 46, 60, 100, 101]
            .iter()
            .map(|&rounds| Look { rounds, fraction: f64::from(rounds) / 101.0 })
            .collect();
        let bounds: Vec<f64> =
            levels(&looks, 0.05).iter().map(|level| normal::quantile(1.0 - level / 2.0)).collect();
        let mut rng = crate::Rng::new(7);
        let trials = 20_000;
        let crossed = (0..trials)
            .filter(|_| {
                let (mut position, mut rounds) = (0.0, 0);
                looks.iter().zip(&bounds).any(|(look, bound)| {
                    while rounds < look.rounds {
                        position += rng.normal();
                        rounds += 1;
                    }
                    position.abs() / f64::from(rounds).sqrt() >= *bound
                })
            })
            .count();
        let rate = crossed as f64 / f64::from(trials);
        assert!((rate - 0.05).abs() < 0.006, "{rate}");
    }
}
