//! Histogram with Freedman and Diaconis's width, 2 IQR / n^(1/3), and a cap on the number of bins.
//!
//! Freedman and Diaconis, "On the Histogram as a Density Estimator", Z. Wahrscheinlichkeitstheorie
//! 57 (1981). Where the middle half is one value (IQR = 0) the number of bins is Sturges's,
//! ceil(log2 n) + 1.

use crate::Sample;
use crate::spread::interquartile_range;
use crate::whole::place;

/// Counts of values in bins of equal width; a value on an edge belongs to the bin above, the
/// maximum to the last bin.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// Lower edge of the first bin: the minimum.
    pub low: f64,
    /// Width of every bin; 0 only when all values are equal, which gives one bin.
    pub width: f64,
    /// Values in each bin, from low to high; at least one bin.
    pub counts: Vec<usize>,
}

impl Histogram {
    /// Counts the sample into at most `max_bins` bins (a cap of 0 counts as 1).
    pub fn of(sample: &Sample, max_bins: usize) -> Self {
        let (low, range) = (sample.minimum(), sample.maximum() - sample.minimum());
        let n_bins = n_bins(sample, range).clamp(1, max_bins.max(1));
        let width = range / n_bins as f64;
        let mut counts = vec![0; n_bins];
        for x in sample.values() {
            // The share first and the product second: `width` itself may have rounded to 0.
            let bin = if range > 0.0 { place((x - low) / range * n_bins as f64) } else { 0 };
            counts[bin.min(n_bins - 1)] += 1;
        }
        Self { low, width, counts }
    }

    /// Counts other values in the same bins; those beyond them are left out.
    #[must_use]
    pub fn of_others(&self, values: &[f64]) -> Self {
        let mut counts = vec![0; self.counts.len()];
        let high = self.edge(counts.len());
        for x in values.iter().filter(|x| (self.low..=high).contains(*x)) {
            let bin = if self.width > 0.0 { place((x - self.low) / self.width) } else { 0 };
            counts[bin.min(self.counts.len() - 1)] += 1;
        }
        Self { counts, ..*self }
    }

    /// Counts values in this many bins of equal width from `low` to `high`; those beyond them are left out.
    pub fn between((low, high): (f64, f64), n_bins: usize, values: &[f64]) -> Self {
        let n_bins = n_bins.max(1);
        let empty = Self { low, width: (high - low) / n_bins as f64, counts: vec![0; n_bins] };
        empty.of_others(values)
    }

    /// Returns the lower edge of `bin`; the upper edge of the last bin at `counts.len()`.
    pub fn edge(&self, bin: usize) -> f64 {
        self.low + self.width * bin as f64
    }
}

/// Returns how wide the bins of a sample should be; 0 where the middle half is one value.
pub fn bin_width(sample: &Sample) -> f64 {
    2.0 * interquartile_range(sample) / (sample.len() as f64).cbrt()
}

fn n_bins(sample: &Sample, range: f64) -> usize {
    if range == 0.0 {
        return 1;
    }
    let n = sample.len() as f64;
    let width = bin_width(sample);
    let bins = if width > 0.0 { (range / width).ceil() } else { n.log2().ceil() + 1.0 };
    place(bins)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(values: &[f64], max_bins: usize) -> Histogram {
        Histogram::of(&Sample::new(values.to_vec()).unwrap(), max_bins)
    }

    #[test]
    fn every_value_is_counted_once_and_the_maximum_in_the_last_bin() {
        let values: Vec<f64> = (0..=100).map(f64::from).collect();
        let histogram = histogram(&values, 100);
        assert_eq!(histogram.counts.iter().sum::<usize>(), 101);
        assert_eq!(histogram.counts, [20, 20, 20, 20, 21]);
        assert_eq!(histogram.edge(5), 100.0);
    }

    #[test]
    fn the_cap_holds_when_one_outlier_stretches_the_range() {
        let mut values: Vec<f64> = (0..100).map(f64::from).collect();
        values.push(1e9);
        assert_eq!(histogram(&values, 30).counts.len(), 30);
    }

    #[test]
    fn other_values_are_counted_in_the_same_bins() {
        let bins = histogram(&[0.0, 1.0, 2.0, 3.0, 4.0], 4);
        let other = bins.of_others(&[-1.0, 0.5, 3.5, 4.0, 4.5]);
        assert_eq!((other.low, other.width), (bins.low, bins.width));
        assert_eq!(other.counts.iter().sum::<usize>(), 3);
        assert_eq!((other.counts[0], other.counts.last()), (1, Some(&2)));
        assert_eq!(histogram(&[2.0; 5], 10).of_others(&[2.0, 3.0]).counts, [1]);
    }

    #[test]
    fn bins_of_a_range_count_what_lies_in_it() {
        let histogram = Histogram::between((0.0, 10.0), 5, &[-0.1, 0.0, 1.9, 2.0, 10.0, 10.1]);
        assert_eq!((histogram.low, histogram.width), (0.0, 2.0));
        assert_eq!(histogram.counts, [2, 1, 0, 0, 1]);
    }

    #[test]
    fn equal_values_fill_one_bin_of_no_width() {
        assert_eq!(histogram(&[2.0; 5], 10), Histogram { low: 2.0, width: 0.0, counts: vec![5] });
    }

    #[test]
    fn one_value_in_the_middle_half_falls_back_to_sturges() {
        let histogram = histogram(&[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0], 10);
        assert_eq!(histogram.counts, [7, 0, 0, 1]);
    }
}
