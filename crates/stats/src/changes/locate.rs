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
use super::split::{deviation, median};
use super::window::REACH;

/// Deviations up to which a loss is a square.
const CORNER: f64 = 2.5;

/// How much more than the smallest a loss may be inside the range.
const RANGE: f64 = 1.92;

/// A place, and the first and last place that are nearly as likely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) index: usize,
    /// The likeliest place, at which a step has its edge.
    pub(super) edge: usize,
    pub(super) earliest: usize,
    pub(super) latest: usize,
}

/// Returns where in `values` the new level begins, of which `judged` was found for the split `near`.
pub(super) fn locate(values: &[f64], near: usize, judged: &Judgement) -> Located {
    let (before, after, scale) = levels(values, near, judged);
    let r = judged.correlation;
    let surprise = scale * (1.0 - r * r).sqrt();
    let first = SHORTEST.min(near);
    // Of each place: on the old level after the old one, on the new one after the old, and on the new one after the new.
    let lost = |level: f64, earlier: f64| -> Vec<f64> {
        let mut lost = Vec::with_capacity(values.len() - first);
        if first == 0 {
            lost.push(loss((values[0] - level) / surprise));
        }
        let others = &values[first.max(1)..];
        let before = &values[first.max(1) - 1..values.len() - 1];
        lost.extend(others.iter().zip(before).map(|(value, before)| {
            let expected = r * (before - earlier);
            loss((value - level - expected) / surprise)
        }));
        lost
    };
    let stays = lost(before, before);
    let changes = lost(after, before);
    let changed = lost(after, after);
    let last = values.len() - 2;
    let mut later = 0.0;
    let mut gains = Vec::with_capacity(values.len());
    let each = stays.iter().zip(&changes).zip(&changed).enumerate().rev();
    for (i, ((stays, changes), changed)) in each {
        let place = first + i;
        if place <= last {
            gains.push((place, later + stays - changes));
        }
        later += stays - changed;
    }
    let (edge, best) = gains
        .iter()
        .copied()
        .fold((near, f64::NEG_INFINITY), |best, one| if one.1 > best.1 { one } else { best });
    let index = if judged.is_coarse { middle(&gains, best).unwrap_or(edge) } else { edge };
    let least = best - RANGE;
    let likely = |(_, gain): &&(usize, f64)| *gain >= least;
    // From the last place to the first. Losses too large for a number have no order: then it stays `near`.
    let latest = gains.iter().find(likely).map_or(index, |one| one.0.max(index));
    let earliest = gains.iter().rfind(likely).map_or(index, |one| one.0.min(index));
    Located { index, edge, earliest, latest }
}

/// Returns the place on either side of which the change is as likely, if the log likelihoods of the places are these, from
/// the last to the first, and this is the best; nothing if none is a number.
fn middle(gains: &[(usize, f64)], best: f64) -> Option<usize> {
    let likelihood = |(_, gain): &(usize, f64)| (gain - best).exp();
    let half = gains.iter().map(likelihood).sum::<f64>() / 2.0;
    let mut so_far = 0.0;
    let is_half = |one: &&(usize, f64)| {
        so_far += likelihood(one);
        so_far >= half
    };
    gains.iter().find(is_half).map(|one| one.0)
}

/// Returns both levels, and how far values are usually off theirs. Where most values of a side are equal its median
/// says too little of where it is.
fn levels(values: &[f64], near: usize, judged: &Judgement) -> (f64, f64, f64) {
    let (old, new) = values.split_at(near);
    let old = &old[old.len().saturating_sub(REACH)..];
    let coarse = |values: &[f64], middle: f64| {
        2 * values.iter().filter(|value| (*value - middle).abs() <= 0.0).count() > values.len()
    };
    if !coarse(old, judged.before) && !coarse(new, judged.after) {
        return (judged.before, judged.after, scale(&values[..near], judged));
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
pub(super) fn unripe(values: &[f64], index: usize, judged: &Judgement) -> bool {
    let (before, after, scale) = levels(values, index, judged);
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
fn scale(values: &[f64], judged: &Judgement) -> f64 {
    match deviation(values, judged.before) {
        // No noise: a value on the other level is as good as impossible.
        0.0 => (judged.after - judged.before).abs() / 10.0,
        scale => scale,
    }
}

/// Huber's loss of a standardised distance.
fn loss(distance: f64) -> f64 {
    let distance = distance.abs();
    if distance <= CORNER { 0.5 * distance * distance } else { CORNER * (distance - 0.5 * CORNER) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_has_as_much_likelihood_before_it_as_after_it() {
        let even = [(9, -20.0), (6, 0.0), (5, 0.0), (4, 0.0), (3, -20.0)];
        assert_eq!(middle(&even, 0.0), Some(5));
        assert_eq!(middle(&[(6, 0.0), (5, -1.0), (4, -1.0), (3, -1.0)], 0.0), Some(5));
        assert_eq!(middle(&[(6, f64::NAN)], f64::NEG_INFINITY), None);
    }

    #[test]
    fn of_two_values_a_place_between_likely_ones_is_named() {
        let values = [[0.0; 10].as_slice(), &[1.0, 1.0, 0.0, 0.0], &[1.0; 10]].concat();
        let judged = Judgement { is_coarse: true, ..judged(0.0, 1.0, 0.0) };
        let place = locate(&values, 12, &judged);
        assert!(place.edge == 10 || place.edge == 14, "{place:?}");
        assert!(place.earliest == 10 && place.latest == 14, "{place:?}");
        assert!((10..=14).contains(&place.index), "{place:?}");
    }

    fn judged(before: f64, after: f64, correlation: f64) -> Judgement {
        Judgement { z: 6.0, excess: 1.0, before, after, correlation, scale: 1.0, is_coarse: false }
    }

    #[test]
    fn a_large_step_is_found_to_the_point() {
        let values = [1.0, 2.0, 1.5, 1.2, 1.8, 1.4, 11.0, 12.0, 11.5, 11.2];
        let place = locate(&values, 7, &judged(1.45, 11.35, 0.0));
        assert_eq!(place, Located { index: 6, edge: 6, earliest: 6, latest: 6 });
    }

    #[test]
    fn a_value_between_the_levels_widens_the_range() {
        let values = [1.0, 1.1, 0.9, 1.05, 0.95, 1.0, 1.1, 1.2, 1.25, 1.15, 1.22];
        let place = locate(&values, 7, &judged(1.0, 1.2, 0.0));
        assert!(place.earliest <= 6 && place.latest >= 7, "{place:?}");
    }

    #[test]
    fn a_level_without_noise_ends_where_its_value_does() {
        let values = [5.0, 5.0, 5.0, 5.0, 5.0, 6.0, 6.0, 6.0, 6.0];
        assert_eq!(locate(&values, 5, &judged(5.0, 6.0, 0.5)).index, 5);
    }
}
