//! The last values of a level and their scores, and the quick look at every split of them.
//!
//! Scores are taken among the values of the window itself, and again whenever it has grown by a third;
//! prefix sums of them give the difference of the means of two neighbouring stretches in constant time.
//! Splits near the end are all looked at, farther ones in steps of a seventh, for the statistic hardly
//! differs between them. What stands out is judged properly ([`super::judge`]), so that the quick look
//! decides only what is worth the time.

use std::sync::LazyLock;

use super::correlation::{by_differences, inflation};
use super::order::Order;
use super::scores::Scores;
use super::sorted::Sorted;
use super::split::{Split, deviation, median};
use super::{Point, SHORTEST};

/// Values on each side of a split that are looked at.
pub(super) const REACH: usize = 100;

/// Values that are kept.
pub(super) const KEPT: usize = 2 * REACH;

/// The most values there are before the oldest are forgotten.
const MOST: usize = KEPT + KEPT / 3 + 1;

/// The quick look's limit for the standardised difference.
const WORTH_JUDGING: f64 = 3.2;

/// The same among few values, whose scores are smaller.
const WORTH_JUDGING_AMONG_FEW: f64 = 2.5;

/// Values that are few no more.
const MANY: usize = 60;

/// Share of the correlation that the quick look reckons with: scores in a window with two levels are
/// smaller than those in one, and what is passed over here is never judged.
const CAUTION: f64 = 0.7;

/// Smallest variance of scores that the quick look reckons with: next to none where all values are equal so far.
const LEAST_VARIANCE: f64 = 0.1;

/// Variance of scores below which many values are equal.
const COARSE_VARIANCE: f64 = 0.85;

/// The quick look's limit for splits that may be pending.
const WORTH_A_LOOK: f64 = 2.5 * 2.5;

/// Distances from the end at which splits are looked at: all up to 10, then in steps of a seventh.
const DISTANCES: [usize; 26] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 21, 24, 28, 32, 37, 43, 50, 58, 67, 77, 88,
    REACH,
];

/// The same as numbers.
const COUNTS: [f64; DISTANCES.len()] = {
    let mut counts = [0.0; DISTANCES.len()];
    let mut i = 0;
    while i < DISTANCES.len() {
        counts[i] = DISTANCES[i] as f64;
        i += 1;
    }
    counts
};

/// What there is at each distance where so many values are kept, up to [`KEPT`].
struct Distances {
    /// How many values are before it, at most [`REACH`].
    before: [f64; DISTANCES.len()],
    /// What the factors are multiplied with; 0 where there are too few values before the split.
    rescaled: [f64; DISTANCES.len()],
}

/// The same for each number of values.
static AT_DISTANCES: LazyLock<Vec<Distances>> = LazyLock::new(|| {
    let of = |n: usize| {
        let before = DISTANCES.map(|m| n.saturating_sub(m).min(REACH));
        let rescaled = std::array::from_fn(|i| {
            let (m, before) = (DISTANCES[i], before[i]);
            let is_enough = before >= SHORTEST;
            let by = (REACH * (m + REACH)) as f64 / (before.max(1) * (m + before)) as f64;
            if is_enough { by } else { 0.0 }
        });
        Distances { before: before.map(|before| before as f64), rescaled }
    };
    (0..=KEPT).map(of).collect()
});

/// How many of the nearest splits are judged beside one that stands out.
const BESIDE: usize = 8;

/// The last values of the current level.
#[derive(Debug, Clone)]
pub(super) struct Window {
    values: Vec<f64>,
    errors: Vec<f64>,
    weights: Vec<f64>,
    scores: Vec<f64>,
    /// Sum of the scores of the values before each place, and in front of these as many zeros as are looked back at.
    sums: Vec<f64>,
    order: Order,
    /// What the errors of the points are weighed with.
    weighing: Weighing,
    /// 1 / (f(m, r) m REACH (m + REACH)) for each distance m that there can be: what makes the squared difference of
    /// m REACH times two means a squared standard one, where REACH values are before the split.
    factors: [f64; DISTANCES.len()],
    /// Whether many values are equal, so that their scores scatter little.
    is_coarse: bool,
    /// How many values there are when they are scored again.
    score_at: usize,
}

impl Window {
    pub(super) fn new() -> Self {
        Self {
            values: Vec::with_capacity(MOST),
            errors: Vec::with_capacity(MOST),
            weights: Vec::with_capacity(MOST),
            scores: Vec::with_capacity(MOST),
            sums: vec![0.0; KEPT + 1],
            order: Order::with_capacity(MOST),
            weighing: Weighing::default(),
            factors: [0.0; DISTANCES.len()],
            is_coarse: false,
            score_at: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Says whether many values are equal.
    pub(super) fn is_coarse(&self) -> bool {
        self.is_coarse
    }

    pub(super) fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the order of the values.
    pub(super) fn order(&self) -> &Order {
        &self.order
    }

    /// Returns the window of a level of `age` values, of which `points` are the newest, as many as
    /// [`needed`] tells.
    pub(super) fn resume(age: usize, points: &[Point]) -> Self {
        let (scored, kept) = last_scoring(age);
        let (old, new) = points.split_at(kept.min(points.len()));
        let mut window = Self::new();
        let mut rest = points;
        if scored > 0 {
            // All of them were scored when the last of them came.
            window.values.extend(old.iter().map(|point| point.value));
            window.errors.extend(old.iter().map(|point| point.error));
            window.order = Order::of(&window.values);
            window.score();
            rest = new;
        }
        for point in rest {
            window.push(*point);
        }
        window
    }

    /// Adds a point.
    pub(super) fn push(&mut self, point: Point) {
        self.values.push(point.value);
        self.errors.push(point.error);
        let twice_below = self.order.push(point.value);
        if self.values.len() >= self.score_at {
            self.score();
        } else {
            let score = Scores::among(self.values.len() - 1).of(twice_below);
            self.append(score, point.error);
        }
    }

    /// Returns the values as points, to be pushed again.
    pub(super) fn points(&self) -> impl Iterator<Item = Point> {
        self.values
            .iter()
            .zip(&self.errors)
            .map(|(value, error)| Point { value: *value, error: *error })
    }

    /// Returns what sorts the values on both sides of splits.
    pub(super) fn sorted(&self) -> Sorted<'_> {
        Sorted::new(&self.values, &self.order, REACH)
    }

    /// Returns the split at a place, with at most [`REACH`] values before it.
    pub(super) fn split(&self, at: usize) -> Split<'_> {
        self.between((at.saturating_sub(REACH), at), (at, self.values.len()))
    }

    /// Returns the split between two stretches.
    pub(super) fn between(&self, before: (usize, usize), after: (usize, usize)) -> Split<'_> {
        Split {
            values: &self.values,
            weights: &self.weights,
            scores: &self.scores,
            order: &self.order,
            before,
            after,
        }
    }

    /// Returns the scores of the newest values before `end`, at most [`REACH`].
    pub(super) fn scores_before(&self, end: usize) -> &[f64] {
        &self.scores[end.saturating_sub(REACH)..end]
    }

    /// Scores all values anew, and forgets the oldest.
    fn score(&mut self) {
        let surplus = self.values.len().saturating_sub(KEPT);
        self.values.drain(..surplus);
        self.errors.drain(..surplus);
        self.order.forget(surplus);
        self.weighing = Weighing::of(&self.values, &self.errors);
        let n = self.values.len();
        let table = Scores::among(n - 1);
        self.scores.clear();
        self.scores.resize(n, 0.0);
        let scores = &mut self.scores;
        self.order.walk_all(|place, twice_below| {
            scores[place] = table.of(twice_below);
        });
        self.weights.clear();
        self.weights.extend(self.errors.iter().map(|error| self.weighing.weight(*error)));
        self.sums.truncate(KEPT + 1);
        let mut sum = 0.0;
        self.sums.extend(self.scores.iter_mut().zip(&self.weights).map(|(score, weight)| {
            *score *= weight;
            sum += *score;
            sum
        }));
        let r = CAUTION * by_differences(&self.scores);
        let squares = self.scores.iter().map(|score| score * score).sum::<f64>() / n as f64;
        let variance = squares.clamp(LEAST_VARIANCE, 1.0);
        self.is_coarse = squares < COARSE_VARIANCE;
        self.score_at = next_scoring(n);
        // Those of longer distances are not needed before the next time.
        for (factor, m) in self.factors.iter_mut().zip(DISTANCES) {
            if m >= self.score_at {
                break;
            }
            *factor = 1.0 / ((m * REACH * (m + REACH)) as f64 * inflation(m, r) * variance);
        }
    }

    fn append(&mut self, score: f64, error: f64) {
        let weight = self.weighing.weight(error);
        let score = score * weight;
        self.weights.push(weight);
        self.scores.push(score);
        self.sums.push(self.sums[self.sums.len() - 1] + score);
    }

    /// Returns the splits (values before each) that stand out from their neighbours and are worth judging, where `surcharge`
    /// is added to the boundary; none where the very last values, too few to be a level, stand out more than all of them: what those do to other
    /// splits is not to be decided before there are more.
    pub(super) fn candidates(&self, surcharge: f64) -> Vec<usize> {
        let squares = self.squares();
        let (young, ripe) = squares.split_at(SHORTEST - 1);
        let best = largest(ripe);
        let is_few = self.values.len() < MANY;
        let limit = surcharge + if is_few { WORTH_JUDGING_AMONG_FEW } else { WORTH_JUDGING };
        let limit = limit * limit;
        if best <= limit || largest(young) > best {
            return Vec::new();
        }
        let n = self.values.len();
        let at = |i: usize| ripe.get(i).copied().unwrap_or(0.0);
        let is_peak =
            |i: usize| at(i) > limit && at(i) >= at(i + 1) && (i == 0 || at(i) >= at(i - 1));
        // Of a few values the quick look may be one off, and judging is exact about them.
        let is_beside = |i: usize| i < BESIDE && (is_peak(i + 1) || (i > 0 && is_peak(i - 1)));
        (0..ripe.len())
            .filter(|i| is_peak(*i) || is_beside(*i))
            .filter_map(|i| n.checked_sub(DISTANCES[SHORTEST - 1 + i]))
            .filter(|split| *split >= SHORTEST)
            .collect()
    }

    /// Returns the splits at which something may be pending: as candidates, but with a lower limit, and
    /// with as few as `shortest` values behind them.
    pub(super) fn suspects(&self, shortest: usize) -> impl Iterator<Item = usize> {
        let n = self.values.len();
        let squares = self.squares();
        let suspect = move |i: &usize| squares[*i] > WORTH_A_LOOK;
        (shortest - 1..DISTANCES.len()).filter(suspect).map(move |i| n - DISTANCES[i])
    }

    /// Returns the squared standardised difference between the two sides of the split at each distance;
    /// 0 where there is too little before it.
    fn squares(&self) -> [f64; DISTANCES.len()] {
        let mut squares = [0.0; DISTANCES.len()];
        let Some(sums) = self.sums.last_chunk::<{ KEPT + 1 }>() else { return squares };
        let end = sums[KEPT];
        let distances = &AT_DISTANCES[self.values.len().min(KEPT)];
        // First what is scattered, then what several can be done of at once.
        let (middle, before) = (at_distances::<KEPT>(sums), at_distances::<REACH>(sums));
        for (i, square) in squares.iter_mut().enumerate() {
            let (after, before) = (end - middle[i], middle[i] - before[i]);
            let difference = after * distances.before[i] - before * COUNTS[i];
            *square = difference * difference * self.factors[i] * distances.rescaled[i];
        }
        squares
    }
}

/// Returns what is at each of [`DISTANCES`] before a place. They are written out, so that no place is looked up.
#[rustfmt::skip]
fn at_distances<const END: usize>(s: &[f64; KEPT + 1]) -> [f64; DISTANCES.len()] {
    [
        s[END - 1], s[END - 2], s[END - 3], s[END - 4], s[END - 5], s[END - 6], s[END - 7],
        s[END - 8], s[END - 9], s[END - 10], s[END - 12], s[END - 14], s[END - 16], s[END - 18],
        s[END - 21], s[END - 24], s[END - 28], s[END - 32], s[END - 37], s[END - 43],
        s[END - 50], s[END - 58], s[END - 67], s[END - 77], s[END - 88], s[END - 100],
    ]
}

/// Returns the largest of some squares; several are looked at at once.
fn largest(squares: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if a > b { a } else { b };
    let fours = squares.chunks_exact(4);
    let rest = fours.remainder().iter().copied().fold(0.0, larger);
    let lanes =
        fours.fold([0.0; 4], |most, four| std::array::from_fn(|i| larger(most[i], four[i])));
    lanes.into_iter().fold(rest, larger)
}

/// How many values there are when `n` were scored and they are scored again.
fn next_scoring(n: usize) -> usize {
    n + (n / 3).max(2)
}

/// Returns after how many values of a level of `age` they were last scored, and how many were kept then.
fn last_scoring(age: usize) -> (usize, usize) {
    let (mut scored, mut kept) = (0, 0);
    loop {
        let next = if scored == 0 { 1 } else { scored + next_scoring(kept) - kept };
        if next > age {
            return (scored, kept);
        }
        kept = KEPT.min(kept + next - scored);
        scored = next;
        if kept == KEPT {
            let period = next_scoring(KEPT) - KEPT;
            scored += (age - scored) / period * period;
            return (scored, KEPT);
        }
    }
}

/// Returns how many of the newest values of a level of `age` values are needed to go on with it.
pub(super) fn needed(age: usize) -> usize {
    let (scored, kept) = last_scoring(age);
    age - scored + kept
}

/// How much a point counts whose own error is known.
///
/// A point is off by the noise from run to run and by its own error: a commit measured in three runs
/// tells less than one measured in thirty. The weight of a score is T / sqrt(T^2 + max(0, e^2 - E^2)),
/// with the deviation T of the series and the median E of the errors that are known: 1 for the usual point, less for
/// one that is known less well. Smaller scores only make the detector more careful.
#[derive(Debug, Clone, Copy, Default)]
struct Weighing {
    deviation: f64,
    usual: f64,
}

impl Weighing {
    fn of(values: &[f64], errors: &[f64]) -> Self {
        let known: Vec<f64> = errors.iter().copied().filter(|error| *error > 0.0).collect();
        if known.is_empty() {
            return Self::default();
        }
        Self { deviation: deviation(values, median(values)), usual: median(&known) }
    }

    fn weight(self, error: f64) -> f64 {
        if error <= self.usual {
            return 1.0;
        }
        let beyond = error * error - self.usual * self.usual;
        if self.deviation > 0.0 {
            self.deviation / (beyond + self.deviation * self.deviation).sqrt()
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_written_out_as_they_are() {
        let sums = std::array::from_fn(|place| place as f64);
        let expected = DISTANCES.map(|distance| (KEPT - distance) as f64);
        assert_eq!(at_distances::<KEPT>(&sums), expected);
        assert_eq!(at_distances::<REACH>(&sums), expected.map(|place| place - REACH as f64));
    }
}
