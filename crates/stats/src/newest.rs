//! Where the newest values of a series stand against those before them.
//!
//! A single new value `x` has the ratio of `x` to the interval in which the next value of the level lies
//! ([`crate::prediction`]), so that it holds for any noise. Several have Hodges and Lehmann's shift with the interval
//! of Mann and Whitney's test ([`crate::changes::shift()`]); where so few values cannot reach the confidence, that
//! is joined with the interval of a single one, narrowed by `sqrt((f / k + 1 / n) / (1 + 1 / n))`, with the effect
//! `f` of correlation on the mean of `k` values. What a value's own runs say of its error beyond the usual error of
//! the level is added in quadrature: a value of three runs among values of thirty says less.
//!
//! [`turn`] looks for the place from which on the newest values are rather of a worse level: where
//!
//! ```text
//! g(k) = (sum of h(d) - sum of h(d - m)) / f
//! ```
//!
//! is largest, with the distances `d` of the newest `k` values from the level in its deviations, their mean `m`, both
//! limited to 4, and Huber's loss `h` bent at 2. That is the logarithm of a likelihood ratio, as in a CUSUM chart of
//! steps of unknown size (Page, "Continuous Inspection Schemes", Biometrika 41, 1954). It decides nothing: what it
//! finds is kept apart from the level, and judged by its interval.

use crate::changes::correlation::inflation;
use crate::changes::{Shift, shift};
use crate::prediction::{FEWEST, correlation, predict};
use crate::{Interval, Sample, center, normal};

/// Newest values that are looked at for being of another level.
pub const LONGEST: usize = 32;

/// Gain from which the newest values are rather of a worse level.
const GAIN: f64 = 3.0;

/// Where Huber's loss is bent, and what a distance counts at most, in deviations.
const BEND: f64 = 2.0;
const FARTHEST: f64 = 4.0;

/// Earlier values that an interval is from, at most.
pub const REACH: usize = 200;

/// Values that are enough to tell the deviation of a level without those among which a turn is looked for.
const ENOUGH: usize = 20;

/// How many times the earlier level the level of the newest values is, with its interval; nothing where a value is not
/// above 0 or there are fewer than [`FEWEST`] earlier ones. Both are in time order. `excess` is by how much the
/// variance of a new value exceeds what is usual, in the square of the unit.
///
/// Panics when the confidence is not between 0 and 1.
pub fn moved(earlier: &[f64], newest: &[f64], excess: f64, confidence: f64) -> Option<Shift> {
    let earlier = &earlier[earlier.len().saturating_sub(REACH)..];
    // A single 0 has a ratio, of several there may be no logarithm.
    let is_single = newest.len() == 1;
    let has_ratio = |value: &f64| *value > 0.0 || is_single && *value >= 0.0;
    if newest.is_empty() || !newest.iter().all(has_ratio) || earlier.iter().any(|v| *v <= 0.0) {
        return None;
    }
    let predicted = predict(&Sample::new(earlier.to_vec()).ok()?, confidence)?.interval;
    let (n, k) = (earlier.len() as f64, newest.len() as f64);
    let r = correlation(earlier);
    let effect = inflation(newest.len(), r);
    let z = normal::quantile(f64::midpoint(1.0, confidence));
    let center = center::median(&Sample::new(newest.to_vec()).ok()?);
    let found = if let [value] = *newest {
        of_one(value, predicted)
    } else {
        let by_ranks = shift(earlier, newest, r, confidence)?;
        if ways(earlier.len(), newest.len()) * normal::upper_tail(z * effect.sqrt()) >= 1.0 {
            by_ranks
        } else {
            let narrowed = ((effect / k + 1.0 / n) / (1.0 + 1.0 / n)).sqrt();
            let one = of_one(1.0, predicted);
            let end = |end: f64| by_ranks.ratio * (end / one.ratio).powf(narrowed);
            Shift {
                ratio: by_ranks.ratio,
                low: by_ranks.low.min(end(one.low)),
                high: by_ranks.high.max(end(one.high)),
            }
        }
    };
    let own = z * (excess.max(0.0) / k).sqrt() / center;
    let widened = |end: f64| (end / found.ratio).ln().hypot(own);
    Some(if own > 0.0 && found.ratio > 0.0 {
        Shift {
            ratio: found.ratio,
            low: found.ratio * (-widened(found.low)).exp(),
            high: found.ratio * widened(found.high).exp(),
        }
    } else {
        found
    })
}

/// Returns the ratio of one value to what is predicted.
fn of_one(value: f64, Interval { estimate, low, high }: Interval) -> Shift {
    Shift {
        ratio: value / estimate,
        low: value / high,
        high: if low > 0.0 { value / low } else { f64::INFINITY },
    }
}

/// In how many ways `k` values can be chosen of `n + k`.
fn ways(n: usize, k: usize) -> f64 {
    let (few, many) = (n.min(k), n.max(k));
    (1..=few).map(|i| (many + i) as f64 / i as f64).product()
}

/// Which way a level gets worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Worse {
    /// Larger values are.
    Larger,
    /// Smaller values are.
    Smaller,
}

/// How far values are above a level, in its deviations, where above is worse.
#[derive(Debug, Clone, Copy)]
struct Yardstick {
    center: f64,
    deviation: f64,
}

impl Yardstick {
    /// Takes center and deviation from quantiles, so that a second mode of a tenth or less does not widen it.
    fn of(values: &[f64]) -> Option<Self> {
        let sample = Sample::new(values.to_vec()).ok()?;
        let center = center::median(&sample);
        let quantile = |p| crate::quantile::quantile(&sample, p);
        let inner = (quantile(0.841) - quantile(0.159)) / 2.0;
        let farthest = values.iter().map(|value| (value - center).abs()).fold(0.0, f64::max);
        let deviation = if inner > 0.0 { inner } else { farthest };
        Some(Self { center, deviation })
    }

    fn distance(self, value: f64, worse: Worse) -> f64 {
        let distance = match worse {
            Worse::Larger => value - self.center,
            Worse::Smaller => self.center - value,
        };
        let of_deviations = if distance.abs() > 0.0 { distance / self.deviation } else { 0.0 };
        of_deviations.clamp(-FARTHEST, FARTHEST)
    }
}

/// Returns how many of the newest values, two or more, are rather of a worse level than those before, of which at least
/// [`FEWEST`] stay.
pub fn turn(values: &[f64], worse: Worse) -> Option<usize> {
    let values = &values[values.len().saturating_sub(REACH + LONGEST)..];
    let first = values.len().saturating_sub(LONGEST).max(FEWEST);
    let r = values.get(..first).map(correlation)?;
    let common = Yardstick::of(&values[..first]).filter(|_| first >= ENOUGH);
    let mut best = (GAIN, None);
    for start in first..values.len().saturating_sub(1) {
        let Some(yardstick) = common.or_else(|| Yardstick::of(&values[..start])) else { continue };
        let distances: Vec<f64> =
            values[start..].iter().map(|value| yardstick.distance(*value, worse)).collect();
        let mean = distances.iter().sum::<f64>() / distances.len() as f64;
        if mean <= 0.0 {
            continue;
        }
        let gain: f64 = distances.iter().map(|d| loss(*d) - loss(d - mean)).sum();
        let gain = gain / inflation(distances.len(), r);
        if gain >= best.0 {
            best = (gain, Some(distances.len()));
        }
    }
    best.1
}

fn loss(distance: f64) -> f64 {
    let distance = distance.abs();
    if distance <= BEND { distance * distance / 2.0 } else { BEND * (distance - BEND / 2.0) }
}

/// What newest values are compared with to know whether they are back.
#[derive(Debug, Clone, Copy)]
pub struct Level {
    interval: Interval,
    /// Correlation of neighbours, and how many values there are.
    correlation: f64,
    count: f64,
}

impl Level {
    /// Returns that of some values in time order; nothing of fewer than [`FEWEST`].
    ///
    /// Panics when the confidence is not between 0 and 1.
    pub fn of(values: &[f64], confidence: f64) -> Option<Self> {
        let interval = predict(&Sample::new(values.to_vec()).ok()?, confidence)?.interval;
        Some(Self { interval, correlation: correlation(values), count: values.len() as f64 })
    }
}

/// Says whether the newest values left the level of those just before them for the better: their means differ by more
/// than a value of the usual level may be from its center, as far as so many values tell.
pub fn left(level: &Level, before: &[f64], newest: &[f64], worse: Worse) -> bool {
    if before.is_empty() || newest.is_empty() {
        return false;
    }
    let Level { interval: Interval { estimate, low, high }, correlation, count } = *level;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (difference, reach) = match worse {
        Worse::Larger => (mean(before) - mean(newest), high - estimate),
        Worse::Smaller => (mean(newest) - mean(before), estimate - low),
    };
    let share = |values: &[f64]| inflation(values.len(), correlation) / values.len() as f64;
    let alone = 1.0 + 1.0 / count;
    difference > reach * ((share(before) + share(newest)) / alone).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    fn drawn(rng: &mut Rng, n: usize, level: f64) -> Vec<f64> {
        (0..n).map(|_| level + rng.normal()).collect()
    }

    #[test]
    fn the_interval_of_the_newest_values_holds_as_often_as_it_says() {
        let mut rng = Rng::new(7);
        for (n, confidence) in [(12, 0.95), (40, 0.95), (150, 0.95), (30, 0.999)] {
            for k in [1, 2, 3, 5, 10] {
                let held = (0..1000).filter(|_| {
                    let (earlier, newest) = (drawn(&mut rng, n, 100.0), drawn(&mut rng, k, 105.0));
                    let found = moved(&earlier, &newest, 0.0, confidence).unwrap();
                    (found.low..=found.high).contains(&1.05)
                });
                let held = held.count() as f64 / 1000.0;
                // Twice the error of a thousand, and rank intervals of few values are not exact.
                assert!(held > confidence - 0.02, "{n} + {k} at {confidence}: {held}");
            }
        }
    }

    #[test]
    fn more_values_tell_more_and_one_of_few_runs_tells_less() {
        let mut rng = Rng::new(3);
        let earlier = drawn(&mut rng, 50, 100.0);
        let newest = [105.0, 104.0, 106.0, 105.5, 104.5, 105.2, 104.9, 105.3];
        let width = |k: usize, excess: f64| {
            let found = moved(&earlier, &newest[..k], excess, 0.95).unwrap();
            found.high - found.low
        };
        assert!(width(8, 0.0) < width(3, 0.0) && width(3, 0.0) < width(1, 0.0));
        assert!(width(1, 4.0) > 1.3 * width(1, 0.0));
        // A single 0 is infinitely less; of several values there is no logarithm.
        assert!(moved(&earlier, &[0.0], 4.0, 0.95).is_some_and(|shift| shift.high <= 0.0));
        for newest in [&[-1.0][..], &[0.0, 1.0], &[]] {
            assert_eq!(moved(&earlier, newest, 0.0, 0.95), None);
        }
        assert_eq!(moved(&earlier[..FEWEST - 1], &[100.0], 0.0, 0.95), None);
    }

    #[test]
    fn a_turn_is_found_where_it_is_and_seldom_where_there_is_none() {
        let mut rng = Rng::new(5);
        let mut found = 0;
        let mut alarms = 0;
        for _ in 0..500 {
            let mut values = drawn(&mut rng, 60, 100.0);
            alarms += usize::from(turn(&values, Worse::Larger).is_some());
            values.extend(drawn(&mut rng, 4, 103.0));
            let at = turn(&values, Worse::Larger);
            found += usize::from(at.is_some_and(|k| (3..=5).contains(&k)));
            let mirrored: Vec<f64> = values.iter().map(|value| 200.0 - value).collect();
            assert_eq!(turn(&mirrored, Worse::Smaller), at);
        }
        assert!(found > 450, "{found} of 500");
        assert!(alarms < 70, "{alarms} of 500");
    }

    #[test]
    fn what_went_back_left() {
        let mut rng = Rng::new(9);
        let earlier = drawn(&mut rng, 60, 100.0);
        let level = Level::of(&earlier, 0.95).unwrap();
        let is_left = |before: &[f64], newest: &[f64]| left(&level, before, newest, Worse::Larger);
        assert!(is_left(&[110.0], &[100.5]));
        assert!(!is_left(&[102.5], &[100.5]));
        assert!(is_left(&[102.5, 103.0, 102.8, 103.1], &[100.1, 99.9, 100.3]));
        assert!(!is_left(&[102.5, 103.0], &[110.0]));
    }
}
