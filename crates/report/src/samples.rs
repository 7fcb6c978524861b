//! The samples of one metric that are drawn over one axis: those of all subjects of a record, or of several records.

use becalm_model::{Metric, Record};
use becalm_stats::histogram::bin_width;
use becalm_stats::{Histogram, Sample};

use crate::axis::Axis;
use crate::labels::Labels;
use crate::quantity::Scale;
use crate::shown;
use crate::strip::Median;

const RUN: &str = "run";

/// The samples of one metric; at least one.
#[derive(Debug, Clone)]
pub(crate) struct Samples {
    pub(crate) metric: Metric,
    /// What each value is of: `run`.
    pub(crate) each: &'static str,
    pub(crate) rows: Vec<Row>,
}

/// One sample.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// Which colour and shape it has.
    pub(crate) style: usize,
    pub(crate) label: String,
    pub(crate) sample: Sample,
    /// The smallest value that is only a lower bound, because its run was cut off.
    pub(crate) cut_off: Option<f64>,
    pub(crate) median: Median,
}

/// A record with the names of its subjects.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Named<'a> {
    pub(crate) record: &'a Record,
    pub(crate) labels: &'a Labels,
    /// Colour and shape of its first subject.
    pub(crate) from: usize,
}

impl Samples {
    /// Returns what the subjects of a record have of a metric; nothing where none has a value.
    pub(crate) fn of(record: &Record, labels: &Labels, metric: usize) -> Option<Self> {
        let rows = rows(Named { record, labels, from: 0 }, metric);
        let metric = shown::metric_at(record, metric);
        (!rows.is_empty()).then_some(Self { metric, each: RUN, rows })
    }

    /// Returns the samples of each metric that is plotted of these records, or of the one of this name; what has the same
    /// name and unit in several records is one metric.
    pub(crate) fn of_all(records: &[Named<'_>], metric: Option<&str>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for &named in records {
            for index in shown::plotted_metrics(named.record, metric) {
                let described = shown::metric_at(named.record, index);
                let rows = rows(named, index);
                let is_same = |known: &&mut Self| {
                    known.metric.name == described.name && known.metric.unit == described.unit
                };
                match all.iter_mut().find(is_same) {
                    Some(known) => known.rows.extend(rows),
                    None if rows.is_empty() => {}
                    None => all.push(Self { metric: described, each: RUN, rows }),
                }
            }
        }
        all
    }

    pub(crate) fn values(&self) -> Vec<&[f64]> {
        self.rows.iter().map(|row| row.sample.values()).collect()
    }

    pub(crate) fn labels(&self) -> Vec<&str> {
        self.rows.iter().map(|row| row.label.as_str()).collect()
    }

    /// Counts each sample in the same bins, which cover the axis.
    pub(crate) fn histograms(&self, axis: &Axis, least: usize, most: usize) -> Vec<Histogram> {
        let samples: Vec<&Sample> = self.rows.iter().map(|row| &row.sample).collect();
        let n_bins = common_bins(&samples, axis, least, most);
        let of = |values| Histogram::between((axis.low, axis.high), n_bins, values);
        self.rows.iter().map(|row| of(row.sample.values())).collect()
    }
}

impl Row {
    /// Returns the smallest value that at least this share of the runs do not exceed.
    pub(crate) fn at_most(&self, share: f64) -> f64 {
        let sorted = self.sample.sorted();
        let rank = becalm_model::place((share * sorted.len() as f64 - 1e-9).ceil());
        sorted[rank.clamp(1, sorted.len()) - 1]
    }

    /// Returns that value in words: one that is only a lower bound is exceeded.
    pub(crate) fn at_most_in_words(&self, share: f64, scale: &Scale) -> String {
        let value = self.at_most(share);
        let is_bound = self.cut_off.is_some_and(|cut_off| value >= cut_off);
        let bound = if is_bound { "more than " } else { "" };
        format!("{bound}{}", scale.with_decimals(4).with_unit(value))
    }
}

/// Returns how many bins suit samples over an axis: of the usual width of one of them. All values together would have too
/// few, because where samples differ the middle half of all is wide.
pub(crate) fn common_bins(samples: &[&Sample], axis: &Axis, least: usize, most: usize) -> usize {
    let of = |sample: &&Sample| (bin_width(sample), sample.len());
    let mut widths: Vec<(f64, usize)> = samples.iter().map(of).collect();
    widths.retain(|(width, _)| *width > 0.0);
    widths.sort_by(|one, other| one.0.total_cmp(&other.0));
    // That of the run in the middle: a few runs must not make the bins of many wide.
    let half = widths.iter().map(|(_, n)| n).sum::<usize>().div_ceil(2);
    let mut runs = 0;
    let middle = widths.iter().find(|(_, n)| {
        runs += n;
        runs >= half
    });
    let bins = middle
        .map_or(least, |(width, _)| becalm_model::place(((axis.high - axis.low) / width).ceil()));
    bins.clamp(least.min(most), most.max(1))
}

fn rows(Named { record, labels, from }: Named<'_>, metric: usize) -> Vec<Row> {
    let row = |subject: usize| {
        let sample = shown::sample(record, subject, metric)?;
        let bounds = record.measured(subject).filter(|run| run.is_censored());
        let cut_off = bounds.filter_map(|run| run.value(metric)).reduce(f64::min);
        let median = shown::median(&shown::summary(record, &sample));
        let label = labels.get(subject).to_owned();
        Some(Row { style: from + subject, label, sample, cut_off, median })
    };
    (0..record.subjects.len()).filter_map(row).collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use becalm_model::Unit;

    /// Samples of these sizes, without a generator: each is 20 % slower than the one before, with a tail to the right.
    pub(crate) fn of_sizes(sizes: &[usize]) -> Samples {
        let rows = sizes.iter().enumerate().map(|(index, &n)| {
            let value = |at: usize| {
                let share = (at as f64 * 0.618_033_988_749_895).fract();
                0.03 * 1.2_f64.powf(index as f64) * (1.0 + 0.2 * share.powi(4))
            };
            row(index, &format!("size {n}"), (0..n).map(value).collect())
        });
        let metric = Metric::lower("wall_time", Unit::Second);
        Samples { metric, each: RUN, rows: rows.collect() }
    }

    pub(crate) fn row(style: usize, label: &str, values: Vec<f64>) -> Row {
        let sample = Sample::new(values).unwrap();
        let median = Median { value: becalm_stats::center::median(&sample), interval: None };
        Row { style, label: label.to_owned(), sample, cut_off: None, median }
    }

    #[test]
    fn bins_suit_one_sample_wherever_the_others_are() {
        let near = |from: f64| {
            let values = (0..100).map(|i| from + f64::from(i % 10) / 10.0).collect();
            Sample::new(values).unwrap()
        };
        let (one, other) = (near(0.0), near(50.0));
        let axis = Axis { low: 0.0, high: 51.0 };
        let n = common_bins(&[&one, &other], &axis, 10, 1000);
        assert!(n > 200, "{n}: a bin is narrower than a sample");
        assert_eq!(common_bins(&[&one, &other], &axis, 10, 40), 40);
        let wide = Sample::new(vec![0.0, 25.0, 50.0]).unwrap();
        assert_eq!(
            common_bins(&[&one, &wide], &axis, 10, 1000),
            common_bins(&[&one], &axis, 10, 1000)
        );
        let equal = Sample::new(vec![1.0; 5]).unwrap();
        assert_eq!(common_bins(&[&equal], &axis, 10, 40), 10);
    }

    #[test]
    fn a_share_of_the_runs_takes_at_most_a_value_that_was_measured() {
        let row = row(0, "a", vec![4.0, 1.0, 3.0, 2.0]);
        let shares = [0.0, 0.25, 0.5, 0.51, 1.0];
        let expected = [1.0, 1.0, 2.0, 3.0, 4.0];
        assert_eq!(shares.map(|share| row.at_most(share)).to_vec(), expected.to_vec());
    }
}
