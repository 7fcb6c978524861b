//! How far a level moved: Hodges and Lehmann's shift as a ratio, with an interval.
//!
//! The median of all ratios of a value after to a value before, taken as logarithms where all values are
//! above 0; else the median of the differences over the median before. The interval counts those ratios
//! as Mann and Whitney's test does: from the k-th smallest to the k-th largest of the m n, with
//!
//! k = m n / 2 - z sqrt(f m n (m + n + 1) / 12),
//!
//! f being what correlation does to the mean of the shorter side ([`super::correlation`]). Where k falls
//! below 1 the interval is the whole range of the ratios, which holds less than the confidence asked for.
//!
//! Hodges and Lehmann, "Estimates of Location Based on Rank Tests", Annals of Mathematical Statistics 34
//! (1963); Lehmann, "Nonparametric Confidence Intervals for a Shift Parameter", ibid.

use std::ops::Range;

use super::correlation::inflation;
use super::split::median;
use super::window::REACH;
use super::{Change, Changes, Size};
use crate::center::median_of_sorted;
use crate::whole::place;
use crate::{normal, student};

/// Confidence of the interval of a size.
const CONFIDENCE: f64 = 0.95;

/// A ratio of levels: after / before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shift {
    /// Estimate.
    pub ratio: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Returns the shift from the values before to the values after, at the given confidence; nothing where
/// a side is empty or the level before is not above 0. `correlation` is that of neighbours, as a
/// [`super::Change`] tells it.
pub fn shift(before: &[f64], after: &[f64], correlation: f64, confidence: f64) -> Option<Shift> {
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let positive = before.iter().chain(after).all(|value| *value > 0.0);
    let middle = if positive { 1.0 } else { median(before) };
    if middle <= 0.0 {
        return None;
    }
    let (m, n) = (before.len(), after.len());
    let mut steps = Vec::with_capacity(m * n);
    for b in before {
        steps.extend(after.iter().map(|a| if positive { (a / b).ln() } else { (a - b) / middle }));
    }
    steps.sort_unstable_by(f64::total_cmp);
    let pairs = (m * n) as f64;
    let inflated = inflation(m.min(n), correlation);
    let width = (inflated * pairs * (m + n + 1) as f64 / 12.0).sqrt();
    let k = pairs / 2.0 - normal::quantile(f64::midpoint(1.0, confidence)) * width;
    let k = place(k).max(1);
    let ratio = |step: f64| if positive { step.exp() } else { 1.0 + step };
    Some(Shift {
        ratio: ratio(median_of_sorted(&steps)),
        low: ratio(steps[k - 1]),
        high: ratio(steps[steps.len() - k]),
    })
}

/// Returns the ratio of the means, with an interval of Student's kind whose errors are widened for correlation; nothing
/// where a side has fewer than two values or the mean before is not above 0.
fn of_means(before: &[f64], after: &[f64], correlation: f64, confidence: f64) -> Option<Shift> {
    let fewest = before.len().min(after.len());
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (old, new) = (mean(before), mean(after));
    if fewest < 2 || old <= 0.0 {
        return None;
    }
    let variance = |values: &[f64], mean: f64| {
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let n = values.len();
        squares / (n as f64 - 1.0) / n as f64 * inflation(n, correlation)
    };
    let ratio = new / old;
    let error = (variance(after, new) + ratio * ratio * variance(before, old)).sqrt() / old;
    let half = student::two_sided_quantile(confidence, fewest as f64 - 1.0) * error;
    Some(Shift { ratio, low: ratio - half, high: ratio + half })
}

/// Returns how far a level moved, as `of` says; see [`shift`].
pub fn size(
    before: &[f64],
    after: &[f64],
    correlation: f64,
    confidence: f64,
    of: Size,
) -> Option<Shift> {
    match of {
        Size::Median => shift(before, after, correlation, confidence),
        Size::Mean => of_means(before, after, correlation, confidence),
    }
}

/// Returns the places of the values before and after a change between two others, or at the beginning or end of a series of
/// so many values: at most 100 of each level.
pub fn stretches(
    previous: Option<&Change>,
    change: &Change,
    next: Option<&Change>,
    values: usize,
) -> (Range<usize>, Range<usize>) {
    let at = change.index;
    let start = previous.map_or(0, |previous| previous.index).max(at.saturating_sub(REACH));
    let end = next.map_or(values, |next| next.index).min(at + REACH);
    (start..at, at..end)
}

/// Returns the size of each change, in the order of [`Changes::all`]: from at most 100 values of its level, up
/// to the next change, over as many of the level before, with an interval at 95 %.
pub fn sizes(values: &[f64], changes: &Changes, of: Size) -> Vec<Option<Shift>> {
    let all = changes.all().zip(changes.stretches(values.len()));
    all.map(|(change, (before, after))| {
        size(&values[before], &values[after], change.correlation, CONFIDENCE, of)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;

    #[test]
    fn a_shift_without_noise_is_the_ratio() {
        let found = shift(&[100.0; 20], &[105.0; 10], 0.0, 0.95);
        let found =
            found.map(|one| [one.ratio, one.low, one.high].map(|x| (x * 1e9).round() / 1e9));
        assert_eq!(found, Some([1.05; 3]));
    }

    #[test]
    fn values_around_zero_have_differences_over_the_level() {
        let found = shift(&[-1.0, 4.0, 5.0, 3.0], &[8.0, 9.0, 7.0], 0.0, 0.95).expect("a shift");
        assert!((found.ratio - (1.0 + 4.5 / 3.5)).abs() < 1e-9, "{found:?}");
        assert_eq!(shift(&[0.0, 0.0], &[1.0], 0.0, 0.95), None);
        assert_eq!(shift(&[], &[1.0], 0.0, 0.95), None);
    }

    #[test]
    fn the_interval_holds_as_often_as_it_says() {
        for (r, least) in [(0.0, 930), (0.6, 900)] {
            let mut rng = Rng::new(11);
            let mut held = 0;
            for _ in 0..1000 {
                let mut last = 0.0;
                let mut draw = |level: f64| {
                    last = r * last + f64::sqrt(1.0 - r * r) * rng.normal();
                    level * (0.01 * last).exp()
                };
                let before: Vec<f64> = (0..60).map(|_| draw(100.0)).collect();
                let after: Vec<f64> = (0..30).map(|_| draw(103.0)).collect();
                let found = shift(&before, &after, r, 0.95).expect("a shift");
                held += usize::from(found.low <= 1.03 && 1.03 <= found.high);
            }
            assert!((least..=985).contains(&held), "correlation {r}: {held} of 1000");
        }
    }
}
