//! Whether noise that wanders explains a step.
//!
//! The noise of a machine is seldom independent from run to run: it is warm for a while, a neighbour is busy, the level
//! drifts. So a value is thought to be
//!
//! x(t) = level + step of the level + l(t) + e(t),   l(t) = p l(t - 1) + h(t),
//!
//! with e and h independent, for each of a number of laws of (p, share of l): from no l at all over neighbours that
//! resemble each other to a walk. A Kalman filter makes independent values of such a series, and least squares of those
//! give its restricted likelihood, with a step and without. Two moods ([`super::moods`]) are one law more of a series
//! without a step. The laws are weighed by how often such noise is met, and
//!
//! w = 2 log(sum of weight x likelihood with the step / sum of weight x likelihood without it).
//!
//! Where one law is clear the root of w is all but standard normal. A series without a step that wanders is explained by a
//! law that does, and a step in it has to be as sharp as that law never is.
//!
//! In a short series a law that wanders weighs more: a few values have not refuted it yet, and a false change in a young
//! series is worse than a late one.
//!
//! Harvey, "Forecasting, Structural Time Series Models and the Kalman Filter" (1989); Willsky and Jones, "A Generalized
//! Likelihood Ratio Approach to the Detection and Estimation of Jumps in Linear Systems", IEEE Transactions on Automatic
//! Control 21 (1976).

use std::sync::LazyLock;

use super::log_sum::log_sum;
use super::moods::moods;
use super::split::clipped;

/// Most values that are looked at.
pub(super) const LONGEST: usize = 500;

/// A law of noise.
struct Law {
    /// How much of l is left from value to value.
    persistence: f64,
    /// The share of the variance that is l's; of a walk the variance of its steps over that of e.
    share: f64,
    weight: f64,
    /// The logarithm of how much more it weighs in a young series.
    young: f64,
    /// What a step is less likely than in independent noise: where neighbours resemble each other a step is seen by its
    /// edge alone, of which there are as many as values.
    doubt: f64,
}

const fn law(persistence: f64, share: f64, weight: f64, young: f64, doubt: f64) -> Law {
    Law { persistence, share, weight, young, doubt }
}

const LAWS: [Law; COUNT] = [
    law(0.0, 0.0, 0.5, 0.0, 0.0),
    law(0.3, 1.0, 0.2, 3.35, 3.4),
    law(0.6, 1.0, 0.15, 3.35, 3.6),
    law(0.8, 1.0, 0.02, 3.35, 4.9),
    law(0.9, 1.0, 0.02, 3.35, 5.3),
    law(0.97, 1.0, 0.01, 3.35, 5.6),
    law(0.8, 0.5, 0.025, 3.35, 3.1),
    law(0.9, 0.5, 0.03, 3.35, 3.3),
    law(0.97, 0.5, 0.02, 3.35, 3.4),
    law(0.95, 0.25, 0.02, 3.35, 2.5),
    law(1.0, 0.003, 0.02, 0.35, 1.5),
    law(1.0, 0.03, 0.02, 0.35, 1.5),
];
const COUNT: usize = 12;

/// Weight of two moods, and the logarithm of how much more it is in a young series.
const OF_MOODS: (f64, f64) = (0.3, 0.85);

/// Moods are fitted where w is at least this much without them.
const WORTH_FITTING: f64 = 9.0;

/// A series is young up to the first number of values, and no more from the second on.
const YOUNG: (f64, f64) = (95.0, 110.0);

/// Values by which the variance is known less well than it seems.
const LOST: f64 = 1.5;

/// Least share of the residual without a step that may remain with it: a smaller one is a rounding error.
const LEAST_LEFT: f64 = 1e-9;

type Each = [f64; COUNT];

/// What the filters do whatever the values are.
struct Filters {
    persistence: Each,
    /// For each place: the gain, and by what the surprise is multiplied.
    steps: Vec<(Each, Each)>,
    /// What becomes of a constant, and the sum of its squares before each place.
    ones: Vec<Each>,
    squares: Vec<Each>,
    /// The sum of the logarithms of the variances before each place.
    logs: Vec<Each>,
}

static FILTERS: LazyLock<Filters> = LazyLock::new(|| {
    let mut filters = Filters {
        persistence: LAWS.map(|law| law.persistence),
        steps: vec![([0.0; COUNT], [0.0; COUNT]); LONGEST],
        ones: vec![[0.0; COUNT]; LONGEST],
        squares: vec![[0.0; COUNT]; LONGEST + 1],
        logs: vec![[0.0; COUNT]; LONGEST + 1],
    };
    for (k, law) in LAWS.iter().enumerate() {
        let p = law.persistence;
        let walks = p >= 1.0;
        let (own, new) =
            if walks { (1.0, law.share) } else { (1.0 - law.share, law.share * (1.0 - p * p)) };
        let mut variance = if walks { 0.0 } else { law.share };
        let mut state = 0.0;
        for t in 0..LONGEST {
            let of_value = variance + own;
            let gain = variance / of_value;
            let root = of_value.sqrt().recip();
            let surprise = 1.0 - state;
            filters.steps[t].0[k] = gain;
            filters.steps[t].1[k] = root;
            filters.ones[t][k] = surprise * root;
            filters.squares[t + 1][k] = filters.squares[t][k] + (surprise * root).powi(2);
            filters.logs[t + 1][k] = filters.logs[t][k] + of_value.ln();
            state = p * gain.mul_add(surprise, state);
            variance = (p * p * variance).mul_add(1.0 - gain, new);
        }
    }
    filters
});

/// Products of what the filters of all laws make of the values, a constant, and the step.
#[derive(Default)]
struct Sums {
    values: Each,
    with_one: Each,
    with_step: Each,
    one_step: Each,
    step: Each,
}

impl Sums {
    fn of(values: &[f64], at: usize, filters: &Filters) -> Self {
        let mut sums = Self::default();
        let (mut state, mut step_state) = ([0.0; COUNT], [0.0; COUNT]);
        for (t, value) in values.iter().enumerate() {
            let (gain, root) = &filters.steps[t];
            let one = &filters.ones[t];
            let mut seen = [0.0; COUNT];
            for k in 0..COUNT {
                let surprise = value - state[k];
                seen[k] = surprise * root[k];
                sums.values[k] += seen[k] * seen[k];
                sums.with_one[k] += seen[k] * one[k];
                state[k] = filters.persistence[k] * (state[k] + gain[k] * surprise);
            }
            if t < at {
                continue;
            }
            for k in 0..COUNT {
                let surprise = 1.0 - step_state[k];
                let step = surprise * root[k];
                sums.with_step[k] += seen[k] * step;
                sums.one_step[k] += one[k] * step;
                sums.step[k] += step * step;
                step_state[k] = filters.persistence[k] * (step_state[k] + gain[k] * surprise);
            }
        }
        sums
    }
}

/// Values of which those too far from their middle are clipped together.
const CLIPPED_AT_ONCE: usize = 50;

/// Returns the values of both sides of a step less `middle`, those farther than `reach` from the median of their neighbours
/// clipped.
pub(super) fn prepared(before: &[f64], after: &[f64], reach: f64, middle: f64) -> Vec<f64> {
    let mut values = Vec::with_capacity(before.len() + after.len());
    for side in [before, after] {
        for some in side.rchunks(CLIPPED_AT_ONCE).rev() {
            values.extend(clipped(some, reach).map(|value| value - middle));
        }
    }
    values
}

/// Returns the root of w for a step at place `at` of at most [`LONGEST`] values, of which neither side is empty,
/// whichever way the step goes; where it is below `needed`, something between both. Moods are laid beside it where values
/// `may_have_moods`: of 0 and 1 each is a mood.
pub(super) fn beyond_wandering(
    values: &[f64],
    at: usize,
    may_have_moods: bool,
    needed: f64,
) -> f64 {
    let n = values.len() as f64;
    let young = ((YOUNG.1 - n) / (YOUNG.1 - YOUNG.0)).clamp(0.0, 1.0);
    root(values, at, may_have_moods, young, needed)
}

/// Returns the same for values that were not looked at for a step, but because there is one: no law weighs more for their
/// number.
pub(super) fn in_hindsight(values: &[f64], at: usize, needed: f64) -> f64 {
    root(values, at, true, 0.0, needed)
}

/// What w has to be below what is needed for nothing more to be laid beside a step, so that rounding decides nothing.
const CLEARLY: f64 = 1e-6;

fn root(values: &[f64], at: usize, may_have_moods: bool, young: f64, needed: f64) -> f64 {
    let n = values.len();
    let filters = &*FILTERS;
    let sums = Sums::of(values, at, filters);
    let free = n as f64 - 1.0;
    let (mut without, mut with) = ([0.0; COUNT], [0.0; COUNT]);
    let mut independent = 0.0;
    for (k, law) in LAWS.iter().enumerate() {
        let ones = filters.squares[n][k];
        let plain = sums.values[k] - sums.with_one[k] * sums.with_one[k] / ones;
        let cross = sums.with_step[k] - sums.one_step[k] * sums.with_one[k] / ones;
        let step = sums.step[k] - sums.one_step[k] * sums.one_step[k] / ones;
        let left = (plain - cross * cross / step).max(plain * LEAST_LEFT);
        let rest = -0.5 * (filters.logs[n][k] + ones.ln());
        let weight = law.young.mul_add(young, law.weight.ln());
        without[k] = weight + rest - 0.5 * free * plain.ln();
        with[k] = weight - law.doubt + rest - 0.5 * free * left.ln();
        if k == 0 {
            independent = rest - 0.5 * free * left.ln();
        }
    }
    // The logarithm of a variance that few values tell is worth less.
    let known = (free - LOST) / free;
    let (with, mut without) = (log_sum(&with), log_sum(&without));
    let w = 2.0 * known * (with - without);
    // Moods only make it less.
    if may_have_moods && w > WORTH_FITTING && w > needed * needed - CLEARLY {
        let weight = OF_MOODS.1.mul_add(young, OF_MOODS.0.ln());
        // With so much likelihood moods alone leave less than is needed.
        let most = with - (needed * needed - CLEARLY) / (2.0 * known);
        let enough = most - independent - weight;
        if let Some(gain) = moods(values, at, enough) {
            without = log_sum(&[without, independent + gain + weight]);
        }
    }
    (2.0 * known * (with - without)).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Values whose neighbours have the correlation `r`, with a step.
    fn related(rng: &mut Rng, n: usize, r: f64, at: usize, step: f64) -> Vec<f64> {
        let mut last = rng.normal();
        (0..n)
            .map(|t| {
                last = r * last + (1.0 - r * r).sqrt() * rng.normal();
                last + if t >= at { step } else { 0.0 }
            })
            .collect()
    }

    #[test]
    fn a_step_in_independent_noise_is_a_step() {
        let mut rng = Rng::new(2);
        let (mut steps, mut none) = (0, 0);
        for _ in 0..100 {
            let values = related(&mut rng, 150, 0.0, 130, 2.0);
            steps += u32::from(beyond_wandering(&values, 130, true, 0.0) > 3.5);
            let values = related(&mut rng, 150, 0.0, 130, 0.0);
            none += u32::from(beyond_wandering(&values, 130, true, 0.0) > 2.5);
        }
        assert!(steps >= 90 && none <= 3, "{steps}, {none} of 100");
    }

    #[test]
    fn an_edge_is_a_step_and_a_mood_is_none() {
        let mut rng = Rng::new(3);
        let (mut edges, mut wandering) = (0, 0);
        for _ in 0..100 {
            let values = related(&mut rng, 120, 0.6, 100, 3.5);
            edges += u32::from(beyond_wandering(&values, 100, true, 0.0) > 3.5);
            let mut level = 0.0;
            let moods: Vec<f64> = (0..120)
                .map(|t| {
                    level = if t % 17 == 0 { 2.5 - level } else { level };
                    level + rng.normal()
                })
                .collect();
            wandering += u32::from(beyond_wandering(&moods, 102, true, 0.0) > 3.5);
        }
        assert!(edges >= 85 && wandering <= 10, "{edges}, {wandering} of 100");
    }
}
