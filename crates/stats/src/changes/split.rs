//! A split of a level, and what is typical of the values of a side.

use super::order::Order;
use crate::center::median_of;

/// A split of the newest values of a level.
#[derive(Clone, Copy)]
pub(super) struct Split<'a> {
    /// The values, the weights of their scores, and their scores among all of them, from which
    /// correlation is estimated; as many of each.
    pub(super) values: &'a [f64],
    pub(super) weights: &'a [f64],
    pub(super) scores: &'a [f64],
    /// The order of the values.
    pub(super) order: &'a Order,
    /// Places of the values before the split, and of those after it.
    pub(super) before: (usize, usize),
    pub(super) after: (usize, usize),
}

/// Deviations of normal values in the median of their distances from the middle.
const DEVIATIONS: f64 = 1.4826;

/// Returns 1.4826 times the median distance from `middle`, or 1.2533 times the mean distance where more
/// than half of the values are equal; 0 where all are.
pub(super) fn deviation(values: &[f64], middle: f64) -> f64 {
    let mut distances: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    let half = median_of(&mut distances);
    if half > 0.0 {
        return DEVIATIONS * half;
    }
    1.2533 * distances.iter().sum::<f64>() / distances.len() as f64
}

/// Says whether [`deviation`] is surely below a number: most values are nearer to the middle, and not most are at it.
/// That is counted in a fraction of the time that a median takes.
pub(super) fn is_below(values: &[f64], middle: f64, number: f64) -> bool {
    let least = 0.999_999 * number / DEVIATIONS;
    let count = |is: &dyn Fn(f64) -> bool| {
        values.iter().map(|value| u32::from(is((value - middle).abs()))).sum::<u32>() as usize
    };
    let near = count(&|distance| distance < least);
    2 * near >= values.len() + 2 && 2 * count(&|distance| distance <= 0.0) + 2 <= values.len()
}

/// Returns the same of values in ascending order, of which `middle` is the median.
pub(super) fn deviation_of_sorted(sorted: &[f64], middle: f64) -> f64 {
    let n = sorted.len();
    // The h + 1 values nearest to the middle are h + 1 neighbours, of which the outer ones are the farthest.
    let nearest = |h: usize| {
        let outer = sorted.iter().zip(&sorted[h..]).map(|(low, high)| {
            let (below, above) = (middle - low, high - middle);
            if below > above { below } else { above }
        });
        outer.fold(f64::INFINITY, |least, one| if one < least { one } else { least })
    };
    let h = n / 2;
    let half = if n % 2 == 1 { nearest(h) } else { nearest(h - 1).midpoint(nearest(h)) };
    if half > 0.0 { DEVIATIONS * half } else { deviation(sorted, middle) }
}

/// Returns the median of values of which there is at least one.
pub(super) fn median(values: &[f64]) -> f64 {
    median_of(&mut values.to_vec())
}

/// Returns values clipped at a distance from their median, or as they are where most of them are equal.
pub(super) fn clipped(values: &[f64], reach: f64) -> impl Iterator<Item = f64> {
    let (low, high) = if are_near(values, reach) {
        (f64::NEG_INFINITY, f64::INFINITY)
    } else {
        let middle = median(values);
        let equal = values.iter().filter(|value| (*value - middle).abs() <= 0.0).count();
        let reach = if 2 * equal > values.len() { f64::INFINITY } else { reach };
        (middle - reach, middle + reach)
    };
    values.iter().map(move |value| value.clamp(low, high))
}

/// Says whether all values are surely within a distance of their median: less than half of them are farther than that from
/// the largest, and from the smallest. That is counted in a fraction of the time that a median takes.
pub(super) fn are_near(values: &[f64], reach: f64) -> bool {
    let (low, high) = range(values);
    let reach = 0.999_999 * reach;
    let (least, most) = (high - reach, low + reach);
    if low >= least && high <= most {
        return true;
    }
    let below = values.iter().map(|value| u32::from(*value < least)).sum::<u32>() as usize;
    let above = values.iter().map(|value| u32::from(*value > most)).sum::<u32>() as usize;
    2 * below.max(above) + 2 <= values.len()
}

/// Returns the smallest and the largest value.
pub(super) fn range(values: &[f64]) -> (f64, f64) {
    // Several at once.
    let (four, rest) = values.as_chunks::<4>();
    let mut low = [f64::INFINITY; 4];
    let mut high = [f64::NEG_INFINITY; 4];
    for values in four {
        for (i, value) in values.iter().enumerate() {
            low[i] = if *value < low[i] { *value } else { low[i] };
            high[i] = if *value > high[i] { *value } else { high[i] };
        }
    }
    let low = low.iter().chain(rest).copied().fold(f64::INFINITY, f64::min);
    (low, high.iter().chain(rest).copied().fold(f64::NEG_INFINITY, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rng;
    use crate::center::median_of_sorted;

    #[test]
    fn values_near_enough_are_as_if_they_had_been_clipped() {
        let mut rng = Rng::new(7);
        let mut are_seen = 0;
        for n in 1..80 {
            let values: Vec<f64> = (0..n).map(|_| (rng.normal() * 20.0).round()).collect();
            let reach = 20.0 * (1.0 + 4.0 * rng.uniform());
            let middle = median(&values);
            let near = values.iter().all(|value| (value - middle).abs() <= reach);
            are_seen += u32::from(are_near(&values, reach));
            assert!(near || !are_near(&values, reach), "{values:?} within {reach}");
            let clipped: Vec<f64> = clipped(&values, reach).collect();
            assert!(!near || clipped == values, "{values:?} within {reach}");
        }
        assert!(are_seen > 20, "{are_seen}");
    }

    #[test]
    fn a_deviation_is_below_what_it_is_said_to_be_below() {
        let mut rng = Rng::new(9);
        let mut are_below = 0;
        for i in 0..2000 {
            let digits = if i % 2 == 0 { 1.0 } else { 1e6 };
            let values: Vec<f64> =
                (0..=i % 41).map(|_| (rng.normal() * 2.0 * digits).round() / digits).collect();
            let middle = median(&values);
            let number = 4.0 * rng.uniform();
            let is_said = is_below(&values, middle, number);
            are_below += u32::from(is_said);
            assert!(!is_said || deviation(&values, middle) < number, "{values:?}, {number}");
        }
        assert!(are_below > 400, "{are_below}");
    }

    #[test]
    fn of_sorted_values_the_deviation_is_the_same() {
        let mut rng = Rng::new(5);
        for n in 1..60 {
            for digits in [0, 6] {
                let rounding = 10f64.powi(digits);
                let values: Vec<f64> =
                    (0..n).map(|_| (rng.normal() * rounding).round() / rounding).collect();
                let mut sorted = values.clone();
                sorted.sort_by(f64::total_cmp);
                let middle = median_of_sorted(&sorted);
                let (one, other) =
                    (deviation(&values, middle), deviation_of_sorted(&sorted, middle));
                assert!((one - other).abs() <= 1e-12 * one, "{one} is not {other}");
            }
        }
    }
}
