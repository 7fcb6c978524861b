//! Where a level begins, once it is sure that there is a new one.
//!
//! With the two levels known, a value at place t is expected to be off its level m(t) by r times what its
//! neighbour is off, r being the correlation. The first value of the new level is the place that makes the
//! sum of Huber's losses of
//!
//! e(t) = (x(t) - m(t)) - r (x(t - 1) - m(t - 1))
//!
//! smallest: the maximum likelihood place for AR(1) noise with a normal middle and heavier tails. Places
//! whose loss is within 1.92 of the smallest are the range in which the change lies: half of the 95 %
//! quantile of chi squared with one degree of freedom, for want of a better law, since the place is no
//! smooth parameter.
//!
//! Where most values are equal, many places are nearly as likely, and the likeliest is often the end of a chance run before
//! the change. There the median of the places by likelihood is named, which is the least off on average: of steps of a share
//! from 0.3 to 0.7 (100 + 50 values), 3.9 % are named more than 20 values off instead of 4.4 %.
//!
//! Huber, "Robust Estimation of a Location Parameter", Annals of Mathematical Statistics 35 (1964).

use super::SHORTEST;
use super::judge::Judgement;
use super::order::Order;
use super::split::{deviation_of_sorted, median};
use super::window::REACH;

/// Deviations up to which a loss is a square.
const CORNER: f64 = 2.5;

/// How much more than the smallest a loss may be inside the range.
const RANGE: f64 = 1.92;

/// A place, and the first and last place that are nearly as likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) index: usize,
    pub(super) earliest: usize,
    pub(super) latest: usize,
}

/// How likely it is of each place that the new level begins there.
pub(super) struct Places {
    /// Logarithms of likelihoods, of the places from `first` on.
    gains: Vec<f64>,
    first: usize,
    /// The likeliest place, at which a step has its edge.
    edge: usize,
    best: f64,
    is_coarse: bool,
}

impl Places {
    /// Looks at all places in `values`, of which this is the order and `judged` was found for the split `near`.
    pub(super) fn of(values: &[f64], order: &Order, near: usize, judged: &Judgement) -> Self {
        let (before, after, scale) = levels(values, order, near, judged);
        let r = judged.correlation;
        let surprise = scale * (1.0 - r * r).sqrt();
        let first = SHORTEST.min(near);
        let earlier = values[first - 1..].iter();
        // Of each place: on the old level after the old one, on the new one after the old, and on the new one after the new.
        let lost = |level: f64, previous: f64| -> Vec<f64> {
            let each = values[first..].iter().zip(earlier.clone());
            let lost = |(value, earlier): (&f64, &f64)| {
                let expected = r * (earlier - previous);
                loss((value - level - expected) / surprise)
            };
            each.map(lost).collect()
        };
        let stays = lost(before, before);
        let changes = lost(after, before);
        let changed = lost(after, after);
        let mut later = 0.0;
        let mut gains = vec![0.0; stays.len()];
        let (mut edge, mut best) = (near, f64::NEG_INFINITY);
        for (i, gain) in gains.iter_mut().enumerate().rev() {
            *gain = later + stays[i] - changes[i];
            later += stays[i] - changed[i];
        }
        // The very last value is no level.
        gains.pop();
        for (i, gain) in gains.iter().enumerate().rev() {
            if *gain > best {
                (edge, best) = (first + i, *gain);
            }
        }
        Self { gains, first, edge, best, is_coarse: judged.is_coarse }
    }

    /// Returns the likeliest place.
    pub(super) fn edge(&self) -> usize {
        self.edge
    }

    /// Returns the place to be named. Losses too large for a number have no order: then it stays where it was found.
    pub(super) fn located(&self) -> Located {
        let Self { gains, first, edge, best, is_coarse } = self;
        let middle = is_coarse.then(|| middle(gains, *best)).flatten();
        let index = middle.map_or(*edge, |place| first + place);
        let likely = |gain: &f64| *gain >= best - RANGE;
        let latest = gains.iter().rposition(likely).map_or(index, |place| index.max(first + place));
        let earliest =
            gains.iter().position(likely).map_or(index, |place| index.min(first + place));
        Located { index, earliest, latest }
    }
}

/// Returns the place on either side of which the change is as likely, if these are the log likelihoods of the places and
/// this is the best; nothing if none is a number.
fn middle(gains: &[f64], best: f64) -> Option<usize> {
    let likelihood = |gain: &f64| (gain - best).exp();
    let half = gains.iter().rev().map(likelihood).sum::<f64>() / 2.0;
    let mut so_far = 0.0;
    gains.iter().rposition(|gain| {
        so_far += likelihood(gain);
        so_far >= half
    })
}

/// Returns both levels, and how far values are usually off theirs. Where most values of a side are equal its median
/// says too little of where it is.
fn levels(values: &[f64], order: &Order, near: usize, judged: &Judgement) -> (f64, f64, f64) {
    let (old, new) = values.split_at(near);
    let old = &old[old.len().saturating_sub(REACH)..];
    let coarse = |values: &[f64], middle: f64| {
        2 * values.iter().filter(|value| (*value - middle).abs() <= 0.0).count() > values.len()
    };
    if !coarse(old, judged.before) && !coarse(new, judged.after) {
        return (judged.before, judged.after, scale(order, near, judged));
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (before, after) = (mean(old), mean(new));
    let squares =
        |values: &[f64], level: f64| values.iter().map(|v| (v - level).powi(2)).sum::<f64>();
    let square = (squares(old, before) + squares(new, after)) / (old.len() + new.len()) as f64;
    let scale = if square > 0.0 { square.sqrt() } else { (after - before).abs() / 10.0 };
    (before, after, scale)
}

/// Whether the very last values, too few to be a level, explain better what was found than a level that
/// begins at `index` does: then it is not to be decided before there are more of them.
pub(super) fn unripe(values: &[f64], order: &Order, index: usize, judged: &Judgement) -> bool {
    let (before, after, scale) = levels(values, order, index, judged);
    let lost = |values: &[f64], level: f64| -> f64 {
        values.iter().map(|value| loss((value - level) / scale)).sum()
    };
    let found = lost(&values[index..], after);
    (1..SHORTEST).filter_map(|few| values.len().checked_sub(few)).any(|start| {
        let newest = &values[start..];
        start > index && lost(&values[index..start], before) + lost(newest, median(newest)) < found
    })
}

/// How far values are usually off their level, given those before the split.
fn scale(order: &Order, split: usize, judged: &Judgement) -> f64 {
    match deviation_of_sorted(&order.sorted(|place| place < split), judged.before) {
        // No noise: a value on the other level is as good as impossible.
        0.0 => (judged.after - judged.before).abs() / 10.0,
        scale => scale,
    }
}

/// Huber's loss of a standardised distance: half its square, and from the corner on a straight line.
fn loss(distance: f64) -> f64 {
    let distance = distance.abs();
    let corner = if distance < CORNER { distance } else { CORNER };
    corner * (distance - 0.5 * corner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_has_as_much_likelihood_before_it_as_after_it() {
        assert_eq!(middle(&[-20.0, 0.0, 0.0, 0.0, -20.0], 0.0), Some(2));
        assert_eq!(middle(&[-1.0, -1.0, -1.0, 0.0], 0.0), Some(2));
        assert_eq!(middle(&[f64::NAN], f64::NEG_INFINITY), None);
    }

    #[test]
    fn of_two_values_a_place_between_likely_ones_is_named() {
        let values = [[0.0; 10].as_slice(), &[1.0, 1.0, 0.0, 0.0], &[1.0; 10]].concat();
        let judged = Judgement { is_coarse: true, ..judged(0.0, 1.0, 0.0) };
        let places = places(&values, 12, &judged);
        assert!(places.edge == 10 || places.edge == 14, "{}", places.edge);
        let place = places.located();
        assert!(place.earliest == 10 && place.latest == 14, "{place:?}");
        assert!((10..=14).contains(&place.index), "{place:?}");
    }

    fn places(values: &[f64], near: usize, judged: &Judgement) -> Places {
        Places::of(values, &Order::of(values), near, judged)
    }

    fn judged(before: f64, after: f64, correlation: f64) -> Judgement {
        Judgement { z: 6.0, excess: 1.0, before, after, correlation, scale: 1.0, is_coarse: false }
    }

    #[test]
    fn a_large_step_is_found_to_the_point() {
        let values = [1.0, 2.0, 1.5, 1.2, 1.8, 1.4, 11.0, 12.0, 11.5, 11.2];
        let places = places(&values, 7, &judged(1.45, 11.35, 0.0));
        assert_eq!(places.edge, 6);
        assert_eq!(places.located(), Located { index: 6, earliest: 6, latest: 6 });
    }

    #[test]
    fn a_value_between_the_levels_widens_the_range() {
        let values = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.1, 1.2, 1.25, 1.15, 1.22];
        let place = places(&values, 7, &judged(1.0, 1.2, 0.0)).located();
        assert!(place.earliest <= 6 && place.latest >= 7, "{place:?}");
    }

    #[test]
    fn a_level_without_noise_ends_where_its_value_does() {
        let values = [5.0, 5.0, 5.0, 5.0, 5.0, 6.0, 6.0, 6.0, 6.0];
        assert_eq!(places(&values, 5, &judged(5.0, 6.0, 0.5)).located().index, 5);
    }
}
