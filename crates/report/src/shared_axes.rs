//! Axes and bins that the pictures of several subjects and files share: comparing by eye needs one
//! scale.

use becalm_model::{Metric, Record};
use becalm_stats::{Histogram, Sample};

use crate::axis::Axis;
use crate::samples::common_bins;
use crate::shown;

/// How many times as wide as the widest sample all together may be. Beyond that each would be a line in the picture of
/// the others.
const WIDEST: f64 = 10.0;

/// Bins of histograms that share them, at least.
const LEAST_BINS: usize = 5;

/// The axis of each metric that has one for all samples.
#[derive(Debug, Default)]
pub struct SharedAxes {
    metrics: Vec<(Metric, Scope)>,
}

/// What the samples of one metric have in common.
#[derive(Debug)]
pub(crate) struct Scope {
    pub(crate) axis: Axis,
    samples: Vec<Sample>,
}

impl SharedAxes {
    /// The axes of what is drawn of these records: their usual metrics, or the one of this name. A
    /// metric has none if there is one sample of it, or if its samples are far apart.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>, metric: Option<&str>) -> Self {
        let mut samples: Vec<(Metric, Vec<Sample>)> = Vec::new();
        for record in records {
            for index in shown::plotted_metrics(record, metric) {
                let described = shown::metric_at(record, index);
                let drawn = (0..record.subjects.len())
                    .filter_map(|subject| shown::sample(record, subject, index));
                match samples.iter_mut().find(|(known, _)| is_same(known, &described)) {
                    Some((_, known)) => known.extend(drawn),
                    None => samples.push((described, drawn.collect())),
                }
            }
        }
        let shared = |(metric, samples): (Metric, Vec<Sample>)| Some((metric, scope(&samples)?));
        Self { metrics: samples.into_iter().filter_map(shared).collect() }
    }

    /// Returns what the samples of a metric share.
    pub(crate) fn get(&self, metric: &Metric) -> Option<&Scope> {
        self.metrics.iter().find(|(known, _)| is_same(known, metric)).map(|(_, scope)| scope)
    }
}

impl Scope {
    /// Counts the values of one sample in the bins of all.
    pub(crate) fn histogram(&self, sample: &Sample, max_bins: usize) -> Histogram {
        let samples: Vec<&Sample> = self.samples.iter().collect();
        let n_bins = common_bins(&samples, &self.axis, LEAST_BINS, max_bins);
        Histogram::between((self.axis.low, self.axis.high), n_bins, sample.values())
    }
}

fn is_same(one: &Metric, other: &Metric) -> bool {
    one.name == other.name && one.unit == other.unit
}

fn scope(samples: &[Sample]) -> Option<Scope> {
    if samples.len() < 2 {
        return None;
    }
    let values: Vec<&[f64]> = samples.iter().map(Sample::values).collect();
    let axis = Axis::without_far_values(&values)?;
    let own = values.iter().filter_map(|values| Axis::without_far_values(&[values]));
    let widest = own.map(|own| own.high - own.low).fold(0.0, f64::max);
    let is_near = axis.high - axis.low <= WIDEST * widest;
    is_near.then(|| Scope { axis, samples: samples.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(values: &[f64]) -> Sample {
        Sample::new(values.to_vec()).unwrap()
    }

    #[test]
    fn samples_that_lie_near_share_their_axis_and_bins() {
        let samples = [sample(&[1.0, 2.0, 3.0, 4.0]), sample(&[5.0, 6.0, 7.0, 8.0])];
        let scope = scope(&samples).unwrap();
        assert_eq!((scope.axis.low, scope.axis.high), (1.0, 8.0));
        let [one, other] = samples.map(|sample| scope.histogram(&sample, 7));
        assert_eq!((one.low, one.width), (other.low, other.width));
        assert_eq!(one.counts.len(), other.counts.len());
        let sums = [one, other].map(|histogram| histogram.counts.iter().sum::<usize>());
        assert_eq!(sums, [4, 4]);
    }

    #[test]
    fn samples_that_lie_far_apart_do_not() {
        assert!(scope(&[sample(&[1.0, 1.1]), sample(&[100.0, 101.0])]).is_none());
        assert!(scope(&[sample(&[1.0, 1.1])]).is_none());
        assert!(scope(&[]).is_none());
    }
}
