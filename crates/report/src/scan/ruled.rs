//! An axis by distances, or by ratios where values span much.

use becalm_model::Unit;

use crate::axis::Axis;
use crate::quantity::Scale;

/// From this ratio of the largest value to the smallest on, equal distances may be equal ratios.
const LOGARITHMIC_FROM: f64 = 50.0;

/// They are, where the steps grow by this from the smallest to the largest; even steps are drawn evenly.
const GROWS_FROM: f64 = 10.0;

/// What was measured in one picture alone is by ratios from this ratio on.
const SPAN_FROM: f64 = 10.0;

/// An axis of values or of their logarithms.
#[derive(Debug)]
pub(crate) struct Ruled {
    pub(crate) axis: Axis,
    pub(crate) is_logarithmic: bool,
}

impl Ruled {
    /// Covers values of a parameter, by ratios where its steps grow with it.
    pub(crate) fn by_steps(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        let steps = sorted.windows(2).map(|pair| pair[1] - pair[0]);
        let (least, most) = ends(steps)?;
        Self::of(values.iter().copied(), most >= GROWS_FROM * least && spans_much(values))
    }

    /// Covers what was measured, by ratios where the parameter is drawn so and the values span much.
    pub(crate) fn beside(across: &Self, values: &[f64]) -> Option<Self> {
        Self::of(values.iter().copied(), across.is_logarithmic && spans_much(values))
    }

    /// Covers what was measured, by ratios where the values span much.
    pub(crate) fn by_span(values: &[f64]) -> Option<Self> {
        let is_logarithmic = ends(values.iter().copied())
            .is_some_and(|(low, high)| low > 0.0 && high / low >= SPAN_FROM);
        Self::of(values.iter().copied(), is_logarithmic)
    }

    /// Covers positive values by ratios, however little they span.
    pub(crate) fn by_ratios(values: &[f64]) -> Option<Self> {
        Self::of(values.iter().copied(), true)
    }

    /// Returns the unit of numbers on the axis.
    pub(crate) fn scale(&self, unit: &Unit) -> Scale {
        Scale::of(unit, [self.value(self.axis.low), self.value(self.axis.high)], true)
    }

    fn of(values: impl Iterator<Item = f64>, is_logarithmic: bool) -> Option<Self> {
        let ruled = Self { axis: Axis { low: 0.0, high: 1.0 }, is_logarithmic };
        let axis = Axis::covering(values.map(|value| ruled.place(value)))?;
        Some(Self { axis, ..ruled })
    }

    /// Widens the axis by a share of its length at both ends.
    pub(crate) fn widened(self, share: f64) -> Self {
        Self { axis: self.axis.widened(share), ..self }
    }

    /// Returns where a value stands on the axis.
    pub(crate) fn place(&self, value: f64) -> f64 {
        if self.is_logarithmic { value.log10() } else { value }
    }

    /// Returns the value at a place.
    pub(crate) fn value(&self, place: f64) -> f64 {
        if self.is_logarithmic { 10.0_f64.powf(place) } else { place }
    }

    /// Returns round values on an axis by ratios.
    pub(crate) fn ticks(&self) -> Vec<f64> {
        let Axis { low, high } = self.axis;
        #[expect(clippy::cast_possible_truncation, reason = "numbers have fewer decades")]
        let decades = (low.floor() as i32..=high.ceil() as i32).flat_map(|decade| {
            let digits: &[f64] = if high - low < 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
            digits.iter().map(move |digit| digit * 10.0_f64.powi(decade))
        });
        decades.filter(|tick| self.axis.position(tick.log10()).is_some()).collect()
    }
}

fn spans_much(values: &[f64]) -> bool {
    ends(values.iter().copied())
        .is_some_and(|(low, high)| low > 0.0 && high / low >= LOGARITHMIC_FROM)
}

fn ends(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.fold(None, |ends, value| {
        let (low, high) = ends.unwrap_or((value, value));
        Some((low.min(value), high.max(value)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_grow_are_drawn_by_ratios() {
        let is = |values: &[f64]| Ruled::by_steps(values).unwrap().is_logarithmic;
        assert!(is(&[1.0, 10.0, 100.0]));
        assert!(!is(&[1.0, 112.0, 223.0, 334.0]));
        assert!(!is(&[1.0, 2.0, 4.0]));
        assert!(!is(&[0.0, 1.0, 100.0]));
    }

    #[test]
    fn values_follow_their_parameter() {
        let by_ratios = Ruled::by_steps(&[1.0, 10.0, 100.0]).unwrap();
        assert!(Ruled::beside(&by_ratios, &[0.1, 1.0, 11.0]).unwrap().is_logarithmic);
        assert!(!Ruled::beside(&by_ratios, &[0.1, 0.2, 0.3]).unwrap().is_logarithmic);
        let even = Ruled::by_steps(&[1.0, 2.0, 3.0]).unwrap();
        assert!(!Ruled::beside(&even, &[0.1, 1.0, 11.0]).unwrap().is_logarithmic);
    }

    #[test]
    fn ticks_are_round() {
        let wide = Ruled::of([0.8, 10.0, 120.0].into_iter(), true).unwrap();
        assert_eq!(wide.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]);
    }
}
