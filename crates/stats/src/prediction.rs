//! Where the next value of a series lies, if its level stays as it is.
//!
//! Of n + 1 values whose order says nothing the next one is equally likely to have any rank, so that it lies
//! below the k-th smallest or above the k-th largest of the n before it with probability
//!
//! 2 k / (n + 1)
//!
//! at most, whatever the distribution (Wilks, "Determination of Sample Sizes for Setting Tolerance Limits",
//! Annals of Mathematical Statistics 12, 1941). That needs n >= 2 / alpha - 1 values: 39 for 95 %, and as many
//! times more for several series at once. With fewer the interval ends where exponential tails end: the j values
//! beyond the median m exceed it by e on average, and the next one is beyond
//!
//! m + j e ((j / ((n + 1) alpha / 2))^(1/j) - 1)
//!
//! with probability alpha / 2, since the next excess over j e is distributed as Pareto's second kind if excesses
//! are exponential, whose mean is not known. The other end likewise. The tails of normal noise are lighter, so
//! that the interval is somewhat wide for it; Student's would be narrower by a fifth at 20 values, but 200 series
//! of skewed noise would have a value beyond theirs in most rounds. The interval is never narrower than the range,
//! so that what a two-peaked level did before is never news.
//!
//! Neighbours may resemble each other: n is then n / f(n, r), with the lag-1 correlation r and its effect on a mean
//! f as for change points, of normal scores: one far value would hide that of the values themselves. One far value widens the interval of a short history; from 79 values on the farthest
//! value of each side is left out at 95 %. A minority mode cannot be told from an outlier by so few values, which
//! is why no outlier is taken away.

use crate::changes::correlation::{Correlation, inflation};
use crate::rank::Ranks;
use crate::sample::assert_confidence;
use crate::whole::place;
use crate::{Interval, Sample, center, normal};

/// Fewest values that an interval is told from.
pub const FEWEST: usize = 10;

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// From the k-th smallest to the k-th largest value; no distribution is assumed.
    Ranks {
        /// Place from each end, from 1.
        k: usize,
    },
    /// From the ends of exponential tails, and not narrower than the range.
    Tails,
}

/// Where the next value lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The interval around the median, in the unit of the values.
    pub interval: Interval,
    /// How it was made.
    pub basis: Basis,
}

/// Predicts the next value from those before it, in time order; nothing from fewer than [`FEWEST`].
///
/// Panics when the confidence is not between 0 and 1.
pub fn predict(sample: &Sample, confidence: f64) -> Option<Prediction> {
    assert_confidence(confidence);
    let values = sample.values();
    if values.len() < FEWEST {
        return None;
    }
    let alpha = 1.0 - confidence;
    let n = values.len() as f64;
    let r = correlation(values);
    let factor = inflation(values.len(), r).min(n / 2.0);
    let alone = n / factor;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let estimate = center::median(sample);
    // A little is added, so that 39 values are enough for 95 % in spite of rounding.
    let k = (alpha / 2.0 * (alone + 1.0) + 1e-9).floor();
    if k >= 1.0 {
        let k = place(k);
        let interval = Interval { estimate, low: sorted[k - 1], high: sorted[sorted.len() - k] };
        return Some(Prediction { interval, basis: Basis::Ranks { k } });
    }
    let below: Vec<f64> = sorted.iter().rev().map(|value| -value).collect();
    let interval = Interval {
        estimate,
        low: -tail_end(&below, alone, alpha / 2.0),
        high: tail_end(&sorted, alone, alpha / 2.0),
    };
    Some(Prediction { interval, basis: Basis::Tails })
}

/// Returns the correlation of neighbours that is reckoned with, of normal scores.
pub(crate) fn correlation(values: &[f64]) -> f64 {
    Correlation::of(&normal_scores(values)).coefficient(Correlation::default(), (0.0, 0.0))
}

/// Returns for each value that of a standard normal sample with its rank.
fn normal_scores(values: &[f64]) -> Vec<f64> {
    let n = values.len() as f64;
    Ranks::of(values).ranks.into_iter().map(|rank| normal::quantile((rank - 0.5) / n)).collect()
}

/// Returns what the next value exceeds with this probability if the upper half of the sorted values is an
/// exponential tail, and at least the largest of them. `alone` is how many values they are worth.
fn tail_end(sorted: &[f64], alone: f64, probability: f64) -> f64 {
    let middle = sorted.len().div_ceil(2);
    let (start, largest) = (sorted[middle - 1], sorted[sorted.len() - 1]);
    let beyond = &sorted[middle..];
    let mean = beyond.iter().map(|value| value - start).sum::<f64>() / beyond.len() as f64;
    let j = alone * beyond.len() as f64 / sorted.len() as f64;
    let excess = j * mean * ((j / ((alone + 1.0) * probability)).powf(1.0 / j) - 1.0);
    (start + excess).max(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    /// Noise of one kind: draws the next value from the one before, which is 0 at first.
    type Draw = fn(&mut Rng, f64) -> f64;

    const NOISES: [(&str, Draw); 4] = [
        ("normal", |rng, _| rng.normal()),
        ("skewed", |rng, _| rng.exponential()),
        ("two peaks", |rng, _| rng.normal() + if rng.uniform() < 0.2 { 6.0 } else { 0.0 }),
        ("AR(1) 0.6", |rng, last| 0.6 * last + 0.8 * rng.normal()),
    ];

    /// Share of the next values that lie outside.
    fn outside(draw: Draw, n: usize, confidence: f64, trials: usize) -> f64 {
        let mut rng = Rng::new(41);
        let mut misses = 0;
        for _ in 0..trials {
            let mut last = 0.0;
            // The first are left out, so that the series has forgotten where it began.
            let mut values: Vec<f64> = (0..n + 21)
                .map(|_| {
                    last = draw(&mut rng, last);
                    last
                })
                .collect();
            let next = values.pop().unwrap();
            let sample = Sample::new(values.split_off(20)).unwrap();
            let Interval { low, high, .. } = predict(&sample, confidence).unwrap().interval;
            misses += usize::from(next < low || next > high);
        }
        misses as f64 / trials as f64
    }

    #[test]
    fn a_new_value_of_the_same_level_is_seldom_outside() {
        for (name, draw) in NOISES {
            for n in [10, 20, 50, 100] {
                let share = outside(draw, n, 0.95, 20_000);
                // 5 % and twice the error of 20,000 trials.
                assert!(share <= 0.0531, "{name}, n = {n}: {share}");
            }
        }
    }

    #[test]
    fn the_answer_depends_neither_on_the_unit_nor_on_one_far_value() {
        let mut rng = Rng::new(8);
        let mut last = 0.0;
        let mut values: Vec<f64> = (0..100)
            .map(|_| {
                last = 0.9 * last + 0.44 * rng.normal();
                1000.0 + last
            })
            .collect();
        let basis = |values: Vec<f64>| predict(&Sample::new(values).unwrap(), 0.95).unwrap().basis;
        let nanoseconds = values.iter().map(|value| value * 1e-12).collect();
        assert_eq!(basis(nanoseconds), basis(values.clone()));
        assert_eq!(basis(values.clone()), Basis::Tails, "neighbours resemble each other");
        values[50] = 1e6;
        assert_eq!(basis(values), Basis::Tails);
    }

    #[test]
    fn the_intervals_of_many_series_hold_together() {
        // Two peaks are left out: a peak that few values have not shown is news, whatever is computed from them.
        for (name, draw) in NOISES.into_iter().filter(|(name, _)| *name != "two peaks") {
            for n in [10, 20, 50] {
                let share = outside(draw, n, 1.0 - 0.05 / 50.0, 20_000);
                // A thousandth, and twice the error of 20,000 trials.
                assert!(share <= 0.0015, "{name}, n = {n}: {share}");
            }
        }
    }

    #[test]
    fn few_values_predict_nothing() {
        let values = |n: u32| Sample::new((0..n).map(|i| f64::from(i * 7 % 5)).collect()).unwrap();
        assert_eq!(predict(&values(9), 0.95), None);
        assert_eq!(predict(&values(10), 0.95).unwrap().basis, Basis::Tails);
    }

    #[test]
    fn ranks_are_used_as_soon_as_there_are_enough_and_leave_far_values_out() {
        let mut rng = Rng::new(5);
        let mut values: Vec<f64> = (0..200).map(|_| 100.0 + rng.normal()).collect();
        values[50] = 900.0;
        let predicted = predict(&Sample::new(values).unwrap(), 0.95).unwrap();
        assert!(matches!(predicted.basis, Basis::Ranks { k } if k >= 2), "{predicted:?}");
        assert!(predicted.interval.high < 105.0, "{predicted:?}");
    }

    #[test]
    fn equal_values_predict_themselves() {
        let predicted = predict(&Sample::new(vec![3.0; 12]).unwrap(), 0.95).unwrap();
        assert_eq!(predicted.interval, Interval { estimate: 3.0, low: 3.0, high: 3.0 });
    }
}
