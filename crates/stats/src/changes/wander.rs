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
use super::split::{are_near, clipped};

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

/// How many of the laws come first in which neighbours resemble each other and nothing is added: of those a filter is a
/// difference of neighbours, so that a few sums over the values are all that it makes.
const PURE: usize = 6;
const MIXED: usize = COUNT - PURE;

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
type OfMixed = [f64; MIXED];

/// Returns a number of each law that is mixed. Written so, a few laws at once are as fast as one.
#[inline]
fn each(of: impl FnMut(usize) -> f64) -> OfMixed {
    std::array::from_fn(of)
}

/// What the filters do whatever the values are.
struct Filters {
    /// For each place, of the laws that are mixed.
    steps: Vec<Step>,
    /// The sum of the squares of what becomes of a constant, of so many values.
    squares: Vec<Each>,
    /// The logarithm of what a likelihood of so many values has beside its residual.
    rests: Vec<Each>,
    /// The logarithm of the weight of each law.
    weights: Each,
}

/// What filters do at a place.
struct Step {
    /// What of the value, and what of the state before, is in the next state.
    of_value: OfMixed,
    of_state: OfMixed,
    /// By what the surprise is multiplied.
    root: OfMixed,
    /// What becomes of a constant.
    one: OfMixed,
}

static FILTERS: LazyLock<Filters> = LazyLock::new(|| {
    let none = [0.0; MIXED];
    let step = |_| Step { of_value: none, of_state: none, root: none, one: none };
    let mut filters = Filters {
        steps: (0..LONGEST).map(step).collect(),
        squares: vec![[0.0; COUNT]; LONGEST + 1],
        rests: vec![[0.0; COUNT]; LONGEST + 1],
        weights: LAWS.map(|law| law.weight.ln()),
    };
    for (k, law) in LAWS.iter().enumerate() {
        let p = law.persistence;
        let walks = p >= 1.0;
        let (own, new) =
            if walks { (1.0, law.share) } else { (1.0 - law.share, law.share * (1.0 - p * p)) };
        let mut variance = if walks { 0.0 } else { law.share };
        let mut state = 0.0;
        let mut logs = 0.0;
        for t in 0..LONGEST {
            let of_value = variance + own;
            let gain = variance / of_value;
            let root = of_value.sqrt().recip();
            let surprise = 1.0 - state;
            if let Some(k) = k.checked_sub(PURE) {
                let step = &mut filters.steps[t];
                step.of_value[k] = p * gain;
                step.of_state[k] = p * (1.0 - gain);
                step.root[k] = root;
                step.one[k] = surprise * root;
            }
            filters.squares[t + 1][k] = filters.squares[t][k] + (surprise * root).powi(2);
            logs += of_value.ln();
            filters.rests[t + 1][k] = -0.5 * (logs + filters.squares[t + 1][k].ln());
            state = p * gain.mul_add(surprise, state);
            variance = (p * p * variance).mul_add(1.0 - gain, new);
        }
    }
    filters
});

/// What the filters of all laws make of values, whatever step in them is asked about.
#[derive(Debug, Clone)]
pub(super) struct Filtered {
    values: Vec<f64>,
    /// What the laws that are mixed make of each value.
    seen: Vec<OfMixed>,
    so_far: SoFar,
    /// The sum of the products of what all laws make of the values with what they make of a constant.
    with_one: Each,
    /// The sum of the squares that a constant leaves, and its logarithm.
    plain: Each,
    plain_logs: Each,
}

/// Sums over the values that were filtered, and what the next value needs of those before it.
#[derive(Debug, Clone, Copy, Default)]
struct SoFar {
    /// Of the laws that are mixed: sums of squares and of products with what becomes of a constant, and states.
    mixed: OfMixed,
    mixed_with_one: OfMixed,
    state: OfMixed,
    /// Sums of squares, of products of neighbours and of values, and the last value.
    square: f64,
    product: f64,
    sum: f64,
    last: f64,
}

impl Filtered {
    /// Filters no value yet, and will filter some so many.
    pub(super) fn new(count: usize) -> Self {
        let none = [0.0; COUNT];
        Self {
            values: Vec::with_capacity(count),
            seen: Vec::with_capacity(count),
            so_far: SoFar::default(),
            with_one: none,
            plain: none,
            plain_logs: none,
        }
    }

    /// Filters at least one value and at most [`LONGEST`].
    pub(super) fn of(values: impl ExactSizeIterator<Item = f64>) -> Self {
        let mut filtered = Self::new(values.len());
        filtered.go_on(values);
        filtered
    }

    /// Returns how many values were filtered.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Filters the values after those that were filtered, which gives what filtering all of them gives.
    pub(super) fn go_on(&mut self, values: impl Iterator<Item = f64>) {
        let filters = &*FILTERS;
        let SoFar {
            mut mixed,
            mut mixed_with_one,
            mut state,
            mut square,
            mut product,
            mut sum,
            mut last,
        } = self.so_far;
        let known = self.values.len();
        self.values.extend(values);
        self.seen.resize(self.values.len(), [0.0; MIXED]);
        let more = self.values[known..].iter().zip(&filters.steps[known..]);
        for ((value, step), seen) in more.zip(&mut self.seen[known..]) {
            let here: OfMixed = each(|k| (value - state[k]) * step.root[k]);
            mixed = each(|k| mixed[k] + here[k] * here[k]);
            mixed_with_one = each(|k| mixed_with_one[k] + here[k] * step.one[k]);
            state = each(|k| step.of_state[k] * state[k] + step.of_value[k] * value);
            *seen = here;
        }
        for value in &self.values[known..] {
            square += value * value;
            product += value * last;
            sum += value;
            last = *value;
        }
        self.so_far = SoFar { mixed, mixed_with_one, state, square, product, sum, last };
        self.sum_up();
    }

    /// Makes of the sums so far what is asked for.
    fn sum_up(&mut self) {
        let SoFar { mixed, mixed_with_one, square, product, sum, last, .. } = self.so_far;
        let first = self.values[0];
        let (mut squares, mut with_one) = (of_all(mixed), of_all(mixed_with_one));
        for (k, law) in LAWS[..PURE].iter().enumerate() {
            // The first value, then the differences of each to p times the one before, over their deviation.
            let p = law.persistence;
            let variance = 1.0 - p * p;
            let rest =
                (square - first * first) - 2.0 * p * product + p * p * (square - last * last);
            let constant = (1.0 - p) * ((sum - first) - p * (sum - last));
            squares[k] = first * first + rest / variance;
            with_one[k] = first + constant / variance;
        }
        let ones = &FILTERS.squares[self.values.len()];
        self.with_one = with_one;
        self.plain = std::array::from_fn(|k| squares[k] - with_one[k] * with_one[k] / ones[k]);
        self.plain_logs = self.plain.map(f64::ln);
    }
}

/// Products of what the filters of all laws make of a step at a place with what they make of the values, of a constant and
/// of the step.
struct Sums {
    with_values: Each,
    with_one: Each,
    squares: Each,
}

impl Sums {
    /// Sums for a place that is not the first.
    fn of(filtered: &Filtered, at: usize, filters: &Filters) -> Self {
        let Filtered { values, seen, .. } = filtered;
        let count = values.len();
        let (mut with_values, mut with_one, mut squares, mut state) =
            ([0.0; MIXED], [0.0; MIXED], [0.0; MIXED], [0.0; MIXED]);
        for (seen, filter) in seen[at..].iter().zip(&filters.steps[at..]) {
            for k in 0..MIXED {
                let step = (1.0 - state[k]) * filter.root[k];
                with_values[k] += seen[k] * step;
                with_one[k] += filter.one[k] * step;
                squares[k] += step * step;
                state[k] = filter.of_state[k] * state[k] + filter.of_value[k];
            }
        }
        let mut all = Self {
            with_values: of_all(with_values),
            with_one: of_all(with_one),
            squares: of_all(squares),
        };
        let later = (count - at - 1) as f64;
        let sum_later: f64 = values[at + 1..].iter().rev().sum();
        for (k, law) in LAWS[..PURE].iter().enumerate() {
            // A step is 1 at its place, and later 1 less p times the 1 before, over the same deviation.
            let p = law.persistence;
            let variance = 1.0 - p * p;
            let left = 1.0 - p;
            let edge = values[at] - p * values[at - 1];
            let others = sum_later - p * (sum_later + values[at] - values[count - 1]);
            all.with_values[k] = (edge + left * others) / variance;
            all.with_one[k] = left * (1.0 + later * left) / variance;
            all.squares[k] = (1.0 + later * left * left) / variance;
        }
        all
    }
}

/// Returns numbers of all laws, of which those of the mixed ones are these.
fn of_all(mixed: OfMixed) -> Each {
    let mut all = [0.0; COUNT];
    all[PURE..].copy_from_slice(&mixed);
    all
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

/// Says whether none of the values of both sides of a step are so far from the median of their neighbours that
/// [`prepared`] surely leaves them as they are.
pub(super) fn are_all_near(before: &[f64], after: &[f64], reach: f64) -> bool {
    let mut all = before.rchunks(CLIPPED_AT_ONCE).chain(after.rchunks(CLIPPED_AT_ONCE));
    all.all(|some| some.len() == 1 || are_near(some, reach))
}

/// How old a series of so many values is: from 0 to 1, how young.
fn youth(count: usize) -> f64 {
    ((YOUNG.1 - count as f64) / (YOUNG.1 - YOUNG.0)).clamp(0.0, 1.0)
}

/// Returns the root of w for a step at place `at` of values that were filtered, of which neither side is empty, whichever
/// way the step goes; where it is below `needed`, something between both. `values` returns them as [`prepared`] does if moods are
/// to be laid beside the step; where there is nothing to do that with, moods are not asked about: of 0 and 1 each is a mood.
pub(super) fn beyond_wandering<V: AsRef<[f64]>>(
    filtered: &Filtered,
    at: usize,
    values: Option<impl FnOnce() -> V>,
    needed: f64,
) -> f64 {
    root(filtered, at, values, youth(filtered.len()), needed)
}

/// Returns the same for values that were not looked at for a step, but because there is one: no law weighs more for their
/// number.
pub(super) fn in_hindsight(values: &[f64], at: usize, needed: f64) -> f64 {
    root(&Filtered::of(values.iter().copied()), at, Some(|| values), 0.0, needed)
}

/// What w has to be below what is needed for nothing more to be laid beside a step, so that rounding decides nothing.
const CLEARLY: f64 = 1e-6;

fn root<V: AsRef<[f64]>>(
    filtered: &Filtered,
    at: usize,
    values: Option<impl FnOnce() -> V>,
    young: f64,
    needed: f64,
) -> f64 {
    let n = filtered.len();
    let filters = &*FILTERS;
    let sums = Sums::of(filtered, at, filters);
    let free = n as f64 - 1.0;
    let (ones, rests) = (&filters.squares[n], &filters.rests[n]);
    let (mut without, mut with) = ([0.0; COUNT], [0.0; COUNT]);
    let mut independent = 0.0;
    for (k, law) in LAWS.iter().enumerate() {
        let plain = filtered.plain[k];
        let cross = sums.with_values[k] - sums.with_one[k] * filtered.with_one[k] / ones[k];
        let step = sums.squares[k] - sums.with_one[k] * sums.with_one[k] / ones[k];
        let left = (plain - cross * cross / step).max(plain * LEAST_LEFT);
        let rest = rests[k];
        let weight = law.young.mul_add(young, filters.weights[k]);
        without[k] = weight + rest - 0.5 * free * filtered.plain_logs[k];
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
    let values = values.filter(|_| w > WORTH_FITTING && w > needed * needed - CLEARLY);
    if let Some(values) = values {
        let weight = OF_MOODS.1.mul_add(young, OF_MOODS.0.ln());
        // With so much likelihood moods alone leave less than is needed.
        let most = with - (needed * needed - CLEARLY) / (2.0 * known);
        let enough = most - independent - weight;
        if let Some(gain) = moods(values().as_ref(), at, enough) {
            without = log_sum(&[without, independent + gain + weight]);
        }
    }
    (2.0 * known * (with - without)).max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn beyond(values: &[f64], at: usize) -> f64 {
        beyond_wandering(&Filtered::of(values.iter().copied()), at, Some(|| values), 0.0)
    }

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
    fn of_laws_without_noise_beside_them_sums_give_what_their_filter_gives() {
        let mut rng = Rng::new(12);
        let filters = &*FILTERS;
        for (n, at) in [(7, 4), (60, 1), (300, 290), (500, 450)] {
            let values = related(&mut rng, n, 0.7, at, 3.0);
            let filtered = Filtered::of(values.iter().copied());
            let sums = Sums::of(&filtered, at, filters);
            for (k, law) in LAWS[..PURE].iter().enumerate() {
                let p = law.persistence;
                let deviation = (1.0 - p * p).sqrt();
                let of = |series: &[f64], from: usize| -> Vec<f64> {
                    let each = series.iter().enumerate().map(|(t, value)| match t {
                        _ if t < from => 0.0,
                        0 => *value,
                        _ if t == from => value / deviation,
                        _ => (value - p * series[t - 1]) / deviation,
                    });
                    each.collect()
                };
                let product =
                    |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
                let (seen, one) = (of(&values, 0), of(&vec![1.0; n], 0));
                let step = of(&vec![1.0; n], at);
                let ones = filters.squares[n][k];
                let with_one = product(&seen, &one);
                let expected = [
                    (filtered.with_one[k], with_one),
                    (filtered.plain[k], product(&seen, &seen) - with_one * with_one / ones),
                    (sums.with_values[k], product(&seen, &step)),
                    (sums.with_one[k], product(&one, &step)),
                    (sums.squares[k], product(&step, &step)),
                ];
                for (got, expected) in expected {
                    let error = (got - expected).abs() / expected.abs().max(1.0);
                    assert!(error < 1e-9, "{n}, {at}, {p}: {got} is not {expected}");
                }
            }
        }
    }

    #[test]
    fn going_on_gives_what_filtering_all_values_gives() {
        let values = related(&mut Rng::new(13), 120, 0.5, 90, 1.0);
        let mut filtered = Filtered::new(7);
        for some in values.chunks(17) {
            filtered.go_on(some.iter().copied());
        }
        let whole = Filtered::of(values.iter().copied());
        assert_eq!((filtered.with_one, filtered.plain), (whole.with_one, whole.plain));
        assert_eq!((filtered.seen, filtered.plain_logs), (whole.seen, whole.plain_logs));
    }

    #[test]
    fn a_step_in_independent_noise_is_a_step() {
        let mut rng = Rng::new(2);
        let (mut steps, mut none) = (0, 0);
        for _ in 0..100 {
            let values = related(&mut rng, 150, 0.0, 130, 2.0);
            steps += u32::from(beyond(&values, 130) > 3.5);
            let values = related(&mut rng, 150, 0.0, 130, 0.0);
            none += u32::from(beyond(&values, 130) > 2.5);
        }
        assert!(steps >= 90 && none <= 3, "{steps}, {none} of 100");
    }

    #[test]
    fn an_edge_is_a_step_and_a_mood_is_none() {
        let mut rng = Rng::new(3);
        let (mut edges, mut wandering) = (0, 0);
        for _ in 0..100 {
            let values = related(&mut rng, 120, 0.6, 100, 3.5);
            edges += u32::from(beyond(&values, 100) > 3.5);
            let mut level = 0.0;
            let moods: Vec<f64> = (0..120)
                .map(|t| {
                    level = if t % 17 == 0 { 2.5 - level } else { level };
                    level + rng.normal()
                })
                .collect();
            wandering += u32::from(beyond(&moods, 102) > 3.5);
        }
        assert!(edges >= 85 && wandering <= 10, "{edges}, {wandering} of 100");
    }
}
