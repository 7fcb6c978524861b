//! A value axis: its range, round tick values, and which values lie beyond it.

use becalm_model::place;

use crate::quantity::Scale;

/// The part of the values that a plot shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Axis {
    /// Left or lower end.
    pub(crate) low: f64,
    /// Right or upper end; always above `low`.
    pub(crate) high: f64,
}

/// An axis is cut when the whole range is this many times the range of the middle 90 %.
const CUT_FROM: f64 = 5.0;
/// How far beyond the middle 90 % a cut axis still shows, in widths of that range.
const SHOWN_BEYOND: f64 = 0.25;

impl Axis {
    /// Covers all `values`.
    pub(crate) fn covering(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let (low, high) = extremes(values)?;
        Some(Self::between(low, high))
    }

    /// Covers the values of several samples, except a few that lie so far out that the rest would
    /// shrink to one dot. The plot has to say what it does not show.
    pub(crate) fn without_far_values(samples: &[&[f64]]) -> Option<Self> {
        let (low, high) = extremes(samples.iter().flat_map(|s| s.iter().copied()))?;
        // Per sample, because two subjects that differ by 10 times are not outliers of each other.
        let bulk = samples.iter().filter_map(|sample| bulk(sample));
        let (bulk_low, bulk_high) = extremes(bulk.flat_map(|(low, high)| [low, high]))?;
        let width = bulk_high - bulk_low;
        if width > 0.0 && high - low > CUT_FROM * width {
            let reach = SHOWN_BEYOND * width;
            Some(Self::between(low.max(bulk_low - reach), high.min(bulk_high + reach)))
        } else {
            Some(Self::between(low, high))
        }
    }

    /// Makes an axis, widened a little when both ends are the same.
    pub(crate) fn between(low: f64, high: f64) -> Self {
        if high > low && (high - low).is_finite() && low + (high - low) / 1e3 > low {
            return Self { low, high };
        }
        if low == 0.0 {
            // Nothing but zeros has no size to take a share of; most quantities cannot be less.
            return Self { low: 0.0, high: 1.0 };
        }
        let reach = (low.abs() * 0.01).max(1e-12);
        Self { low: low - reach, high: low + reach }
    }

    /// Widens the axis by a share of its width at both ends, so that dots are not cut in half.
    pub(crate) fn widened(self, share: f64) -> Self {
        let reach = (self.high - self.low) * share;
        Self { low: self.low - reach, high: self.high + reach }
    }

    /// Returns where `value` lies: 0 at the low end, 1 at the high end, `None` beyond either.
    pub(crate) fn position(&self, value: f64) -> Option<f64> {
        let position = (value - self.low) / (self.high - self.low);
        (0.0..=1.0).contains(&position).then_some(position)
    }

    /// Returns the cell of `n_cells` that `value` falls into.
    pub(crate) fn cell(&self, value: f64, n_cells: usize) -> Option<usize> {
        let position = self.position(value)?;
        let last = n_cells.checked_sub(1)?;
        Some(place((position * last as f64).round()).min(last))
    }

    /// Counts the values of a sample below and above the axis.
    pub(crate) fn beyond(&self, sample: &[f64]) -> (usize, usize) {
        let below = sample.iter().filter(|&&value| value < self.low).count();
        let above = sample.iter().filter(|&&value| value > self.high).count();
        (below, above)
    }

    /// Returns at most `most` round values on the axis (1, 2 or 5 times a power of ten apart), and
    /// how many decimals show them in the unit of `scale`.
    pub(crate) fn ticks(&self, most: usize, scale: &Scale) -> (Vec<f64>, usize) {
        let (low, high) = (self.low / scale.factor(), self.high / scale.factor());
        let raw = (high - low) / most.max(1) as f64;
        if !(raw > 0.0 && raw.is_finite()) {
            return (Vec::new(), 0);
        }
        let power = raw.log10().floor();
        let unit = 10.0_f64.powf(power);
        let (step, power) = match raw / unit {
            r if r <= 1.0 => (unit, power),
            r if r <= 2.0 => (2.0 * unit, power),
            r if r <= 5.0 => (5.0 * unit, power),
            _ => (10.0 * unit, power + 1.0),
        };
        let decimals = place((-power).clamp(0.0, 9.0));
        let first = (low / step).ceil();
        let ticks = (0..=most)
            // The sum turns a negative zero, which would keep its sign in print, into a plain one.
            .map(|n| (first + n as f64) * step * scale.factor() + 0.0)
            .filter(|&tick| self.position(tick).is_some())
            .collect();
        (ticks, decimals)
    }
}

fn extremes(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let mut range: Option<(f64, f64)> = None;
    for value in values.into_iter().filter(|value| value.is_finite()) {
        let (low, high) = range.unwrap_or((value, value));
        range = Some((low.min(value), high.max(value)));
    }
    range
}

/// Returns the range of the middle 90 % of a sample. Ranks, not quantiles: with fewer than 20
/// values at least the extremes are left out, so that one wild value of 10 is recognised.
fn bulk(sample: &[f64]) -> Option<(f64, f64)> {
    let mut sorted: Vec<f64> = sample.iter().copied().filter(|value| value.is_finite()).collect();
    sorted.sort_by(f64::total_cmp);
    let left_out = if sorted.len() < 5 { 0 } else { sorted.len().div_ceil(20) };
    let high = sorted.len().checked_sub(1 + left_out)?;
    Some((sorted[left_out.min(high)], sorted[high]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use becalm_model::Unit;

    #[test]
    fn ticks_are_round_in_the_unit_shown() {
        let axis = Axis { low: 0.031_77, high: 0.033_92 };
        let scale = Scale::of(&Unit::Second, [0.033], true);
        let (ticks, decimals) = axis.ticks(5, &scale);
        let scale = scale.with_decimals(decimals);
        let shown: Vec<String> = ticks.iter().map(|&t| scale.number(t)).collect();
        assert_eq!(shown, ["32.0", "32.5", "33.0", "33.5"]);
    }

    #[test]
    fn one_far_value_does_not_squash_the_others() {
        let mut sample: Vec<f64> = (0..20).map(|i| 10.0 + f64::from(i) / 10.0).collect();
        sample.push(100.0);
        let axis = Axis::without_far_values(&[&sample]).unwrap();
        assert!(axis.high < 15.0, "{axis:?}");
        assert_eq!(axis.beyond(&sample), (0, 1));
    }

    #[test]
    fn two_subjects_far_apart_are_both_shown() {
        let axis = Axis::without_far_values(&[&[1.0, 1.1, 1.2], &[10.0, 10.1]]).unwrap();
        assert_eq!(axis, Axis { low: 1.0, high: 10.1 });
    }

    #[test]
    fn equal_values_still_have_an_axis() {
        let axis = Axis::covering([5.0, 5.0]).unwrap();
        assert!(axis.low < 5.0 && 5.0 < axis.high);
        assert_eq!(Axis::covering([]), None);
    }

    #[test]
    fn an_axis_of_zeros_has_plain_labels() {
        let axis = Axis::covering([0.0, 0.0]).unwrap().widened(0.05);
        assert!(axis.position(0.0).is_some(), "{axis:?}");
        let scale = Scale::of(&Unit::Count, [0.0], true);
        let (ticks, decimals) = axis.ticks(4, &scale);
        let scale = scale.with_decimals(decimals);
        let shown: Vec<String> = ticks.iter().map(|&tick| scale.number(tick)).collect();
        assert_eq!(shown, ["0.0", "0.50", "1.0"]);
    }
}
