//! Where the next value of a series lies, if its level stays as it is.
//!
//! Of n + 1 values whose order says nothing the next one is equally likely to have any rank, so that it lies
//! below the k-th smallest or above the k-th largest of the n before it with probability
//!
//! 2 k / (n + 1)
//!
//! at most, whatever the distribution (Wilks, "Determination of Sample Sizes for Setting Tolerance Limits",
//! Annals of Mathematical Statistics 12, 1941). That needs n >= 2 / alpha - 1 values: 39 for 95 %. With fewer
//! the interval is that of normal noise (Hahn and Meeker, "Statistical Intervals", 1991, 4.7)
//!
//! mean +- t(1 - alpha / 2, n - 4) s sqrt(1 + 1 / n),
//!
//! with three degrees of freedom less than there, because noise is often skewed, and widened to the range of the
//! values, so that what a skewed or two-peaked level did before is never news.
//!
//! Neighbours may resemble each other: n is then n / f(n, r) in the three places, with the lag-1 correlation r
//! and its effect on a mean f as for change points, and s, which looks too small, is divided by
//! sqrt((n - f) / (n - 1)). One far value widens the interval of a short history; from 79 values on the
//! farthest value of each side is left out at 95 %. A minority mode cannot be told from an outlier by so few
//! values, which is why no outlier is taken away.

use crate::changes::correlation::{Correlation, inflation};
use crate::sample::assert_confidence;
use crate::{Interval, Sample, center, spread, student};

/// Fewest values that an interval is told from.
pub const FEWEST: usize = 10;

/// Degrees of freedom that are taken away because noise is often skewed, so that the deviation of few values is less
/// sure than that of normal ones: exponential noise needs about so many at 10 values.
const SKEWED: f64 = 3.0;

/// How an interval was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// From the k-th smallest to the k-th largest value; no distribution is assumed.
    Ranks {
        /// Place from each end, from 1.
        k: usize,
    },
    /// Student's, widened to the range.
    Normal,
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
    let r = Correlation::of(values).coefficient(Correlation::default());
    let factor = inflation(values.len(), r).min(n / 2.0);
    let alone = n / factor;
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let estimate = center::median(sample);
    // A little is added, so that 39 values are enough for 95 % in spite of rounding.
    let k = (alpha / 2.0 * (alone + 1.0) + 1e-9).floor();
    if k >= 1.0 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least 1 and at most half of the values"
        )]
        let k = k as usize;
        let interval = Interval { estimate, low: sorted[k - 1], high: sorted[sorted.len() - k] };
        return Some(Prediction { interval, basis: Basis::Ranks { k } });
    }
    let deviation = spread::standard_deviation(sample).ok()? / ((n - factor) / (n - 1.0)).sqrt();
    let t = student::two_sided_quantile(confidence, (alone - 1.0 - SKEWED).max(1.0));
    let half = t * deviation * (1.0 + 1.0 / alone).sqrt();
    let mean = center::mean(sample);
    let interval = Interval {
        estimate,
        low: (mean - half).min(sorted[0]),
        high: (mean + half).max(sorted[sorted.len() - 1]),
    };
    Some(Prediction { interval, basis: Basis::Normal })
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
    fn outside(draw: Draw, n: usize, trials: usize) -> f64 {
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
            let Interval { low, high, .. } = predict(&sample, 0.95).unwrap().interval;
            misses += usize::from(next < low || next > high);
        }
        misses as f64 / trials as f64
    }

    #[test]
    fn a_new_value_of_the_same_level_is_seldom_outside() {
        for (name, draw) in NOISES {
            for n in [10, 20, 50, 100] {
                let share = outside(draw, n, 20_000);
                // 5 % and twice the error of 20,000 trials.
                assert!(share <= 0.0531, "{name}, n = {n}: {share}");
            }
        }
    }

    #[test]
    fn few_values_predict_nothing() {
        let values = |n: u32| Sample::new((0..n).map(|i| f64::from(i * 7 % 5)).collect()).unwrap();
        assert_eq!(predict(&values(9), 0.95), None);
        assert_eq!(predict(&values(10), 0.95).unwrap().basis, Basis::Normal);
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
