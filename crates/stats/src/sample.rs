//! What every estimator takes and what it gives back: a validated sample, an interval, or the
//! assumption that failed.

use thiserror::Error;

/// Largest magnitude a [`Sample`] accepts, so that sums and differences of its values cannot
/// overflow.
pub const MAGNITUDE_LIMIT: f64 = 1e300;

/// Says which assumption of an estimator or test the data does not meet.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum Violation {
    /// There is no value at all.
    #[error("the sample is empty")]
    Empty,
    /// A value is NaN or infinite.
    #[error("value {index} is not a finite number")]
    NotFinite {
        /// Position of the first such value, from 0.
        index: usize,
    },
    /// A value is larger in magnitude than [`MAGNITUDE_LIMIT`].
    #[error("value {index} is larger than 1e300")]
    TooLarge {
        /// Position of the first such value, from 0.
        index: usize,
    },
    /// The estimator needs more values than there are.
    #[error("needs at least {needed} values, have {have}")]
    TooFew {
        /// Fewest values that give an answer.
        needed: usize,
        /// Values given.
        have: usize,
    },
    /// All values (or all that are left after trimming) are equal, so that a ratio to their spread
    /// has no meaning.
    #[error("the values have no spread")]
    NoSpread,
    /// Two samples that must be paired differ in length.
    #[error("paired samples must have the same length, have {left} and {right}")]
    NotPaired {
        /// Length of the first sample.
        left: usize,
        /// Length of the second sample.
        right: usize,
    },
}

/// Values of one metric in time order: finite, at least one, with a sorted copy beside them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    values: Vec<f64>,
    sorted: Vec<f64>,
}

impl Sample {
    /// Validates `values`, which are in the order in which they were measured.
    pub fn new(values: Vec<f64>) -> Result<Self, Violation> {
        if values.is_empty() {
            return Err(Violation::Empty);
        }
        if let Some(index) = values.iter().position(|x| !x.is_finite()) {
            return Err(Violation::NotFinite { index });
        }
        if let Some(index) = values.iter().position(|x| x.abs() > MAGNITUDE_LIMIT) {
            return Err(Violation::TooLarge { index });
        }
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        Ok(Self { values, sorted })
    }

    /// Returns the values in time order.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the values in ascending order.
    pub fn sorted(&self) -> &[f64] {
        &self.sorted
    }

    /// Returns the number of values, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a sample is never empty")]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns the smallest value.
    pub fn minimum(&self) -> f64 {
        self.sorted[0]
    }

    /// Returns the largest value.
    pub fn maximum(&self) -> f64 {
        self.sorted[self.sorted.len() - 1]
    }

    /// Fails unless there are at least `needed` values.
    pub(crate) fn at_least(&self, needed: usize) -> Result<(), Violation> {
        if self.len() < needed {
            Err(Violation::TooFew { needed, have: self.len() })
        } else {
            Ok(())
        }
    }
}

impl TryFrom<Vec<f64>> for Sample {
    type Error = Violation;

    fn try_from(values: Vec<f64>) -> Result<Self, Violation> {
        Self::new(values)
    }
}

/// An estimate with the interval that holds the true value with the confidence it was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    /// Best single value; inside `[low, high]` up to rounding.
    pub estimate: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Returns whether `value` lies in the interval, ends included.
    pub fn contains(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Returns `high - low`.
    pub fn width(&self) -> f64 {
        self.high - self.low
    }

    /// Applies an increasing function to the estimate and both ends, such as `f64::exp` to leave
    /// the log scale.
    #[must_use]
    pub fn map(self, increasing: impl Fn(f64) -> f64) -> Self {
        Self {
            estimate: increasing(self.estimate),
            low: increasing(self.low),
            high: increasing(self.high),
        }
    }
}

/// Asserts that a confidence level is one; callers validate what users type.
#[track_caller]
pub(crate) fn assert_confidence(confidence: f64) {
    assert!(
        0.0 < confidence && confidence < 1.0,
        "confidence must lie strictly between 0 and 1, is {confidence}"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_list_is_no_sample() {
        assert_eq!(Sample::new(vec![]), Err(Violation::Empty));
    }

    #[test]
    fn the_first_value_that_is_not_finite_is_named() {
        assert_eq!(
            Sample::new(vec![1.0, f64::NAN, f64::INFINITY]),
            Err(Violation::NotFinite { index: 1 })
        );
        assert_eq!(Sample::new(vec![f64::NEG_INFINITY]), Err(Violation::NotFinite { index: 0 }));
    }

    #[test]
    fn a_value_whose_sums_could_overflow_is_refused() {
        assert_eq!(Sample::new(vec![0.0, -1e301]), Err(Violation::TooLarge { index: 1 }));
        assert!(Sample::new(vec![1e300, -1e300]).is_ok());
    }

    #[test]
    fn time_order_is_kept_beside_the_sorted_copy() {
        let sample = Sample::new(vec![3.0, 1.0, 2.0]).unwrap();
        assert_eq!(sample.values(), [3.0, 1.0, 2.0]);
        assert_eq!(sample.sorted(), [1.0, 2.0, 3.0]);
        assert_eq!((sample.minimum(), sample.maximum(), sample.len()), (1.0, 3.0, 3));
    }

    #[test]
    fn an_interval_holds_its_ends_and_maps_them() {
        let log = Interval { estimate: 0.0, low: -1.0, high: 1.0 };
        assert!(log.contains(1.0) && !log.contains(1.1));
        assert_eq!(log.width(), 2.0);
        assert_eq!(log.map(f64::exp).estimate, 1.0);
    }
}
