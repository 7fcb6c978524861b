//! The statistics of one sample as a table that text and HTML share.

use becalm_model::{Metric, Record, metric};
use becalm_stats::Summary;
use becalm_stats::outlier::OUTLIER_THRESHOLD;

use crate::labels::Labels;
use crate::quantity::{NBSP, Scale, confidence, count, percent, signed_percent};
use crate::shown;
use crate::table::{Align, Table};

/// Writes a sample in one line: the median with its interval, or the statistic that another tool
/// has computed, of which becalm can compute nothing.
pub(crate) fn said(
    record: &Record,
    subject: usize,
    metric: &Metric,
    summary: &Summary,
    scale: &Scale,
) -> String {
    let at = shown::confidence(record);
    let cut_off = record.measured(subject).filter(|run| run.is_censored()).count();
    if metric.name == metric::WALL_TIME && 2 * cut_off >= summary.n && cut_off > 0 {
        return format!(
            "median {} or more: {cut_off} of {} were cut off at the timeout",
            scale.with_unit(summary.median),
            count(summary.n, "run")
        );
    }
    match &metric.statistic {
        Some(statistic) if summary.n == 1 => {
            format!("{statistic} {}, as the tool reports it", scale.with_unit(summary.median))
        }
        Some(statistic) => {
            format!(
                "median {} of the tool's values, each a {statistic}",
                headline(summary, scale, at)
            )
        }
        None => format!("median {}", headline(summary, scale, at)),
    }
}

/// Says whether a sample is one value that another tool has computed.
pub(crate) fn is_given(metric: &Metric, summary: &Summary) -> bool {
    metric.statistic.is_some() && summary.n == 1
}

/// Writes the median with its interval.
pub(crate) fn headline(summary: &Summary, scale: &Scale, at: f64) -> String {
    let median = scale.with_unit(summary.median);
    match summary.median_interval {
        Some(interval) => format!(
            "{median} ({} interval {})",
            confidence(at),
            scale.range(interval.low, interval.high)
        ),
        None => format!("{median} (too few runs for a {} interval)", confidence(at)),
    }
}

/// Lists every estimate of one sample, one per row. Values of several processes together have no
/// confidence: those of one process share what is particular to it.
pub(crate) fn statistics(summary: &Summary, scale: &Scale, at: Option<f64>) -> Table {
    let mut table = Table::new([("", Align::Left), ("", Align::Right), ("", Align::Left)]);
    let from_median = |value: f64| {
        if summary.median > 0.0 {
            format!("{} from the median", signed_percent(value / summary.median - 1.0, 1))
        } else {
            String::new()
        }
    };
    let mut row = |name: &str, value: String, note: String| {
        table.push([name.into(), value.into(), note.into()]);
    };
    let value = |value: f64| scale.with_unit(value);
    let interval = |interval: Option<becalm_stats::Interval>| match (at, interval) {
        (None, _) => String::new(),
        (Some(at), Some(i)) => {
            format!("{} interval {}", confidence(at), scale.range(i.low, i.high))
        }
        (Some(at), None) => format!("too few runs for a {} interval", confidence(at)),
    };
    row("minimum", value(summary.minimum), from_median(summary.minimum));
    row("median", value(summary.median), interval(summary.median_interval));
    // Where no value is negative the mean of what is measured is not either, and Student's interval does not know it.
    let least = if summary.minimum >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
    let of_mean =
        summary.mean_interval.map(|one| becalm_stats::Interval { low: one.low.max(least), ..one });
    row("mean", value(summary.mean), interval(of_mean));
    row("maximum", value(summary.maximum), from_median(summary.maximum));
    if let Some(deviation) = summary.standard_deviation {
        let cv = summary.cv.map_or(String::new(), |cv| format!("CV {}", percent(cv)));
        row("standard dev.", value(deviation), cv);
        if let Some(share) = relative_error(summary).filter(|_| at.is_some()) {
            let error = deviation / (summary.n as f64).sqrt();
            row("standard err.", value(error), format!("{} of the mean", percent(share)));
        }
    }
    row("MAD", value(summary.mad), "median absolute deviation".to_owned());
    let percentile = |low: u8, high: u8| -> Option<String> {
        Some(scale.range(summary.percentile(low)?, summary.percentile(high)?))
    };
    for (low, high) in [(1, 99), (5, 95), (25, 75)] {
        if let Some(range) = percentile(low, high) {
            row(&format!("p{low} .. p{high}"), String::new(), range);
        }
    }
    let word = if at.is_some() { "run" } else { "value" };
    let of = count(summary.n, word);
    let rule = format!("of {of}, by modified z-score beyond {OUTLIER_THRESHOLD}");
    row("outliers", summary.outliers.len().to_string(), rule);
    table
}

/// Returns the standard error of the mean over the mean: what `perf stat -r` prints as `+-`.
fn relative_error(summary: &Summary) -> Option<f64> {
    Some(summary.cv? / (summary.n as f64).sqrt())
}

/// Puts the subjects side by side on one metric.
pub(crate) fn subjects(record: &Record, labels: &Labels, metric: usize, unicode: bool) -> Table {
    let summaries: Vec<(usize, Summary)> = (0..record.subjects.len())
        .filter_map(|subject| {
            let sample = shown::sample(record, subject, metric)?;
            Some((subject, shown::summary(record, &sample)))
        })
        .collect();
    let unit = &shown::metric_at(record, metric).unit;
    let scale = Scale::of_summaries(unit, summaries.iter().map(|(_, s)| s), unicode);
    let titles = ["runs", "minimum", "median", "mean", "sd", "CV", "outliers"];
    let mut table = Table::of_numbers("subject", titles);
    for (subject, summary) in summaries {
        table.push([
            labels.get(subject).into(),
            summary.n.to_string().into(),
            scale.with_unit(summary.minimum).into(),
            scale.with_unit(summary.median).into(),
            scale.with_unit(summary.mean).into(),
            summary.standard_deviation.map_or("-".into(), |sd| scale.with_unit(sd)).into(),
            summary.cv.map_or("-".into(), percent).into(),
            summary.outliers.len().to_string().into(),
        ]);
    }
    table
}

/// Lists the metrics of one subject that are not shown in full.
pub(crate) fn other_metrics(
    record: &Record,
    subject: usize,
    shown: &[usize],
    unicode: bool,
) -> Table {
    let mut table = Table::new([
        ("metric", Align::Left),
        ("minimum", Align::Right),
        ("median", Align::Right),
        ("maximum", Align::Right),
        ("CV", Align::Right),
        ("mean", Align::Right),
        ("SE", Align::Right),
    ]);
    // Inside a simulation times and sizes are the simulation's.
    let is_own = |metric: &Metric| !record.is_simulated() || metric.exact;
    for (index, metric) in record.metrics.iter().enumerate().filter(|(i, _)| !shown.contains(i)) {
        if !is_own(metric) {
            continue;
        }
        let Some(sample) = shown::any_sample(record, subject, index) else { continue };
        let summary = shown::summary(record, &sample);
        // The unit suits this metric: milliseconds and mebibytes share no scale.
        let scale = Scale::of_summaries(&metric.unit, [&summary], unicode);
        table.push([
            name_with_exact(metric).into(),
            scale.with_unit(summary.minimum).into(),
            scale.with_unit(summary.median).into(),
            scale.with_unit(summary.maximum).into(),
            summary.cv.map_or("-".into(), percent).into(),
            scale.with_unit(summary.mean).into(),
            relative_error(&summary).map_or("-".into(), percent).into(),
        ]);
    }
    table
}

fn name_with_exact(metric: &Metric) -> String {
    if metric.exact { format!("{}{NBSP}(exact)", metric.name) } else { metric.name.clone() }
}
