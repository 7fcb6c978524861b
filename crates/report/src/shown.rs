//! Which parts of a record are shown: the metrics, the comparisons and their order.

use std::collections::BTreeSet;

use becalm_model::terms::Primary;
use becalm_model::{Comparison, Metric, Record, RecordKind, Run, metric};
use becalm_stats::{Sample, Summary};

use crate::strip::Median;

/// Returns the metric of an index, or one named after the index: somebody may have written the
/// record by hand.
pub(crate) fn metric_at(record: &Record, index: usize) -> Metric {
    record
        .metrics
        .get(index)
        .cloned()
        .unwrap_or_else(|| Metric::lower(&format!("metric {index}"), becalm_model::Unit::Count))
}

/// Returns the metric that distributions are drawn for: the one that decides, or would decide between servers, else one
/// read from the output, else the wall time, else the first.
pub(crate) fn headline_metric(record: &Record) -> Option<usize> {
    let deciding = record.comparisons.iter().find(|c| c.primary).map(|c| c.metric);
    deciding
        .filter(|&index| index < record.metrics.len())
        .or_else(|| main_of_load(record))
        .or_else(|| record.metrics.iter().position(|metric| !metric::is_builtin(&metric.name)))
        .or_else(|| {
            let is_counted = record.is_simulated();
            record.metric_index(metric::INSTRUCTIONS).filter(|_| is_counted)
        })
        .or_else(|| record.metric_index(metric::WALL_TIME))
        .or(if record.metrics.is_empty() { None } else { Some(0) })
}

/// Returns the metric that the load of a server is about.
fn main_of_load(record: &Record) -> Option<usize> {
    let terms = record.terms.as_ref().filter(|terms| terms.runs.load.is_some())?;
    let Primary::Named(names) = &terms.primary else { return None };
    names.iter().find_map(|name| record.metric_index(name))
}

/// Returns the metrics that are reported first for each subject: the one that distributions are
/// drawn for; and, of a load that another tool put on a server, also the one behind it: how much it
/// handled beside how long it took.
pub(crate) fn headline_metrics(record: &Record) -> Vec<usize> {
    let first = headline_metric(record);
    let is_of_load = |index: &usize| {
        let metric = record.metrics.get(*index);
        record.kind == RecordKind::Import
            && metric.is_some_and(|one| one.benchmark.is_none() && !metric::is_builtin(&one.name))
    };
    let second = first.filter(is_of_load).map(|index| index + 1).filter(is_of_load);
    first.into_iter().chain(second).collect()
}

/// How many benchmarks are shown one by one; more are shown in a table.
const FEW_BENCHMARKS: usize = 3;

/// Says whether benchmarks are in a table, because there are too many to be drawn.
pub(crate) fn are_listed(record: &Record) -> bool {
    let benchmarks = record.metrics.iter().filter(|metric| metric.benchmark.is_some());
    benchmarks.take(FEW_BENCHMARKS + 1).count() > FEW_BENCHMARKS
}

/// Returns the metrics of benchmarks that are in a table, because there are too many to be drawn.
pub(crate) fn listed_benchmarks(record: &Record) -> Vec<usize> {
    let all = record.metrics_that(|metric| metric.benchmark.is_some());
    if are_listed(record) { all } else { Vec::new() }
}

/// Returns the metrics that are shown in full: those that decide, those read from the output and,
/// if nothing was decided, the wall time.
pub(crate) fn full_metrics(record: &Record) -> Vec<usize> {
    let listed = listed_benchmarks(record);
    let is_drawn = |index: &usize| listed.binary_search(index).is_err();
    if is_suite(record) {
        let of_each = (0..record.subjects.len()).map(|subject| record.about(subject));
        let all: BTreeSet<usize> = of_each.flatten().collect();
        return all.into_iter().filter(is_drawn).collect();
    }
    // How long a harness takes is its own choice and no result, and so is the time of a simulation.
    let is_timed =
        !record.is_simulated() && record.metrics.iter().all(|metric| metric.benchmark.is_none());
    let deciding: BTreeSet<usize> =
        record.comparisons.iter().filter(|c| c.primary).map(|c| c.metric).collect();
    let is_shown = |index: usize| {
        let name = record.metrics[index].name.as_str();
        deciding.contains(&index)
            || !metric::is_builtin(name)
            || record.comparisons.is_empty() && name == metric::WALL_TIME && is_timed
    };
    let headline = headline_metric(record);
    let others =
        (0..record.metrics.len()).filter(|&index| is_shown(index) && Some(index) != headline);
    headline.into_iter().chain(others).filter(is_drawn).collect()
}

/// Returns the metrics of histograms and plots: those of a name or measure, else those that are
/// shown in full, else, with many benchmarks, the main metric of each.
pub(crate) fn plotted_metrics(record: &Record, name: Option<&str>) -> Vec<usize> {
    if let Some(name) = name {
        return record.metrics_that(|metric| metric.is_called(name));
    }
    [full_metrics(record), record.metrics_that(Metric::is_main), listed_benchmarks(record)]
        .into_iter()
        .find(|some| !some.is_empty())
        .unwrap_or_default()
}

/// Says whether the subjects are benchmarks of a suite, each of which has main metrics of its own.
pub(crate) fn is_suite(record: &Record) -> bool {
    record.kind == RecordKind::Run && !record.suite.is_empty()
}

/// Says whether a subject is shown by a metric: a benchmark of a suite only by its main metrics.
pub(crate) fn is_shown(record: &Record, subject: usize, metric: usize) -> bool {
    !is_suite(record) || record.about(subject).contains(&metric)
}

/// Returns the comparisons on the metrics that decide, then on wall and CPU time, then on what was
/// read from the output. The others stay in the record, where `--json` shows them.
pub(crate) fn comparisons(record: &Record) -> Vec<&Comparison> {
    let rank = |comparison: &Comparison| {
        let name = record.metrics.get(comparison.metric).map(|metric| metric.name.as_str());
        match name {
            _ if comparison.primary => Some(0),
            Some(metric::WALL_TIME) => Some(1),
            Some(metric::CPU_TIME) => Some(2),
            Some(name) if !metric::is_builtin(name) => Some(3),
            Some(name) if name.starts_with(metric::SIMULATED) => Some(4),
            _ => None,
        }
    };
    let mut shown: Vec<(usize, &Comparison)> = record
        .comparisons
        .iter()
        .filter_map(|comparison| rank(comparison).map(|rank| (rank, comparison)))
        .collect();
    shown.sort_by_key(|&(rank, comparison)| (rank, comparison.metric));
    shown.into_iter().map(|(_, comparison)| comparison).collect()
}

/// Returns the comparisons on one metric, best candidate first.
pub(crate) fn ranked<'a>(record: &Record, comparisons: &[&'a Comparison]) -> Vec<&'a Comparison> {
    let mut ranked = comparisons.to_vec();
    ranked.sort_by(|a, b| {
        let key = |comparison: &Comparison| {
            // What has no ratio comes last.
            comparison.ratio.map_or(f64::INFINITY, |ratio| {
                match metric_at(record, comparison.metric).direction {
                    becalm_model::Direction::Lower => ratio.estimate,
                    becalm_model::Direction::Higher => 1.0 / ratio.estimate,
                }
            })
        };
        key(a).total_cmp(&key(b))
    });
    ranked
}

/// Returns the valid sample of one metric of one subject, if it is shown by that and has a value at all.
pub(crate) fn sample(record: &Record, subject: usize, metric: usize) -> Option<Sample> {
    let sample = any_sample(record, subject, metric)?;
    is_shown(record, subject, metric).then_some(sample)
}

/// Returns the valid sample of one metric of one subject, if it has a value at all.
pub(crate) fn any_sample(record: &Record, subject: usize, metric: usize) -> Option<Sample> {
    Sample::new(record.values(subject, metric)).ok()
}

/// Summarises a sample at the confidence of the record.
pub(crate) fn summary(record: &Record, sample: &Sample) -> Summary {
    Summary::of(sample, confidence(record))
}

/// Returns the confidence of the record; a file from elsewhere may contain one that is not a share.
pub(crate) fn confidence(record: &Record) -> f64 {
    if record.confidence > 0.0 && record.confidence < 1.0 { record.confidence } else { 0.95 }
}

/// Returns the median of a summary in the form that plots draw.
pub(crate) fn median(summary: &Summary) -> Median {
    Median {
        value: summary.median,
        interval: summary.median_interval.map(|interval| (interval.low, interval.high)),
    }
}

/// Returns the runs of one subject with their index in the record, in time order, warm-up included.
pub(crate) fn indexed_runs(record: &Record, subject: usize) -> impl Iterator<Item = (usize, &Run)> {
    record.runs.of_subject(subject)
}

/// Returns about how many seconds one round takes, rest included.
pub(crate) fn seconds_per_round(record: &Record) -> Option<f64> {
    let measured = || record.runs.iter().filter(|run| !run.warmup);
    let first = measured().map(|run| run.started).fold(f64::INFINITY, f64::min);
    let last = measured().map(|run| run.started).fold(f64::NEG_INFINITY, f64::max);
    let n_runs = measured().count();
    if n_runs < 2 || record.subjects.is_empty() {
        return None;
    }
    let per_run = (last - first) / (n_runs - 1) as f64;
    let seconds = per_run * record.subjects.len() as f64;
    (seconds > 0.0 && seconds.is_finite()).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use becalm_model::{Direction, RatioInterval, Unit, Verdict};

    use super::*;

    #[test]
    fn what_has_no_ratio_comes_last_whichever_way_is_better() {
        for (direction, order) in [(Direction::Higher, [3, 1, 2]), (Direction::Lower, [1, 3, 2])] {
            let mut record = Record::empty(RecordKind::Comparison);
            record.metrics = vec![Metric { direction, ..Metric::lower("rate", Unit::Count) }];
            let ratio = |estimate: f64| RatioInterval { estimate, low: estimate, high: estimate };
            let all = [(1, Some(0.5)), (2, None), (3, Some(2.0))].map(|(candidate, estimate)| {
                Comparison {
                    baseline: 0,
                    candidate,
                    metric: 0,
                    primary: true,
                    ratio: estimate.map(ratio),
                    verdict: Verdict::Inconclusive,
                    confidence: 0.95,
                    rounds: 8,
                    discarded_rounds: 0,
                    noise_floor: None,
                    rounds_needed: None,
                    notes: vec![],
                }
            });
            let all: Vec<&Comparison> = all.iter().collect();
            let ranked: Vec<usize> =
                ranked(&record, &all).iter().map(|one| one.candidate).collect();
            assert_eq!(ranked, order, "{direction:?}");
        }
    }
}
