//! Everything that is shown about one subject's sample, from the estimators beside this file.

use crate::center::{mean, median};
use crate::mean_interval::mean_interval;
use crate::median_interval::median_interval;
use crate::outlier::outliers;
use crate::quantile::quantile;
use crate::spread::{coefficient_of_variation, mad, standard_deviation};
use crate::{Interval, Sample};

/// Percentages at which a summary states percentiles.
pub const PERCENTAGES: [u8; 6] = [1, 5, 25, 75, 95, 99];

/// One percentile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Percentile {
    /// Percent of the values at or below.
    pub at: u8,
    /// Quantile of type 7; see [`crate::quantile`].
    pub value: f64,
}

/// Descriptive statistics of one sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of values.
    pub n: usize,
    /// Smallest value.
    pub minimum: f64,
    /// Largest value.
    pub maximum: f64,
    /// Median.
    pub median: f64,
    /// Distribution-free interval of the median; `None` when there are too few values for the
    /// confidence.
    pub median_interval: Option<Interval>,
    /// Arithmetic mean.
    pub mean: f64,
    /// Student's interval of the mean; `None` for a single value.
    pub mean_interval: Option<Interval>,
    /// Standard deviation with n - 1; `None` for a single value.
    pub standard_deviation: Option<f64>,
    /// Standard deviation / |mean|; `None` for a single value or a mean of 0.
    pub cv: Option<f64>,
    /// Raw median absolute deviation; times 1.4826 ([`crate::spread::MAD_TO_SIGMA`]) it is
    /// comparable to a standard deviation.
    pub mad: f64,
    /// Percentiles at [`PERCENTAGES`], in that order.
    pub percentiles: Vec<Percentile>,
    /// Positions in time order of the outliers; see [`crate::outlier`].
    pub outliers: Vec<usize>,
}

impl Summary {
    /// Summarises `sample` with intervals at `confidence`, such as 0.95.
    ///
    /// Panics unless `0 < confidence < 1`.
    pub fn of(sample: &Sample, confidence: f64) -> Self {
        Self {
            n: sample.len(),
            minimum: sample.minimum(),
            maximum: sample.maximum(),
            median: median(sample),
            median_interval: median_interval(sample, confidence),
            mean: mean(sample),
            mean_interval: mean_interval(sample, confidence),
            standard_deviation: standard_deviation(sample).ok(),
            cv: coefficient_of_variation(sample),
            mad: mad(sample),
            percentiles: PERCENTAGES
                .iter()
                .map(|&at| Percentile { at, value: quantile(sample, f64::from(at) / 100.0) })
                .collect(),
            outliers: outliers(sample),
        }
    }

    /// Returns the percentile at one of [`PERCENTAGES`].
    pub fn percentile(&self, at: u8) -> Option<f64> {
        self.percentiles.iter().find(|p| p.at == at).map(|p| p.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_value_is_summarised_without_what_needs_two() {
        let summary = Summary::of(&Sample::new(vec![3.0]).unwrap(), 0.95);
        assert_eq!((summary.n, summary.median, summary.mean, summary.mad), (1, 3.0, 3.0, 0.0));
        assert_eq!(summary.standard_deviation, None);
        assert_eq!(summary.cv, None);
        assert_eq!((summary.median_interval, summary.mean_interval), (None, None));
        assert_eq!(summary.percentile(99), Some(3.0));
    }
}
