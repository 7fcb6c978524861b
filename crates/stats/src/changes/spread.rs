//! Changes of spread: a series that gets noisier or quieter around a level that stays.
//!
//! What neighbours differ by tells the spread whatever the level does: a drift, a mood or a change of level is in hardly
//! any of the differences. So a change of spread is a change of level of the series of |x(t) - x(t - 1)|, and is found as
//! those are ([`super::judge`]): by ranks among both sides, with the correlation that neighbouring differences have,
//! for the split that stands out. It begins where two exponential laws fit best.

use super::correlation::{Correlation, inflation};
use super::pool::Pool;
use super::split::{Split, median};
use super::tilt::LARGEST_GAIN;
use super::window::REACH;

/// Fewest differences of either side.
pub(super) const FEWEST: usize = 10;

/// Correlation of neighbouring differences that is expected before they tell it, as if from so many.
const EXPECTED: (f64, f64) = (0.5, 20.0);

/// How much less than the largest a likelihood may be inside the range.
const RANGE: f64 = 1.92;

/// Returns the standard normal statistic of a split of differences, above 0 where they got larger; 0 where it is soon clear
/// that it is below `least`.
pub(super) fn judge(split: Split<'_>, least: f64) -> f64 {
    let length = |(from, to): (usize, usize)| to - from;
    let (before, after) = (split.before, split.after);
    let (n, m) = (length(before), length(after));
    if n == 0 || m == 0 {
        return 0.0;
    }
    let pool = Pool::of(&split, before, after);
    if pool.z().abs() * LARGEST_GAIN < least {
        return 0.0;
    }
    let longer = if n >= m { before } else { after };
    let own = Correlation::of(&split.scores[longer.0..longer.1]);
    let r = own.coefficient(Correlation::default(), EXPECTED);
    let stretch = (inflation(n, r) / n as f64 + inflation(m, r) / m as f64)
        / (1.0 / n as f64 + 1.0 / m as f64);
    pool.signed_root(f64::INFINITY) / (stretch.sqrt() * pool.unevenness())
}

/// Returns where among the differences the new spread begins, near a split, with the first and the last place that are
/// nearly as likely.
pub(super) fn locate(differences: &[f64], near: usize) -> (usize, usize, usize) {
    let first = differences.len().saturating_sub(2 * REACH);
    let values = &differences[first..];
    let near = near - first;
    let reach = 2 + (values.len() - near) / 3;
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let least = f64::MIN_POSITIVE;
    let likelihood = |place: usize| {
        let (before, after) = values.split_at(place);
        let of = |side: &[f64]| side.len() as f64 * (sum(side) / side.len() as f64).max(least).ln();
        -of(before) - of(after)
    };
    let from = near.saturating_sub(reach).max(FEWEST / 2);
    let to = (near + reach).min(values.len() - FEWEST / 2);
    let all: Vec<(usize, f64)> = (from..=to).map(|place| (place, likelihood(place))).collect();
    let best = all
        .iter()
        .fold((near, f64::NEG_INFINITY), |best, one| if one.1 > best.1 { *one } else { best });
    let likely = |one: &&(usize, f64)| one.1 >= best.1 - RANGE;
    let earliest = all.iter().find(likely).map_or(best.0, |one| one.0.min(best.0));
    let latest = all.iter().rfind(likely).map_or(best.0, |one| one.0.max(best.0));
    (first + best.0, first + earliest, first + latest)
}

/// Returns the standard deviation that the differences between neighbours tell.
pub(super) fn deviation(differences: &[f64]) -> f64 {
    let middle = median(differences);
    let usual = if middle > 0.0 {
        1.4826 * middle
    } else {
        1.2533 * differences.iter().sum::<f64>() / differences.len() as f64
    };
    usual / std::f64::consts::SQRT_2
}
