//! The numbers behind the verdict, as a table that text, Markdown and HTML share.

use std::collections::HashMap;

use becalm_model::{Comparison, Metric, Record};

use crate::labels::Labels;
use crate::quantity::{self, NBSP, Scale, confidence};
use crate::sentence;
use crate::shown;
use crate::style::Role;
use crate::table::{Align, Cell, Table};

/// The tables of a record: one row per metric for two subjects, one ranked table per metric for
/// more. The title is empty when there is only one table.
pub(crate) fn tables(record: &Record, labels: &Labels, unicode: bool) -> Vec<(String, Table)> {
    let shown = shown::comparisons(record);
    let mut pairs: Vec<(usize, usize)> = shown.iter().map(|c| (c.baseline, c.candidate)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    if let [(baseline, candidate)] = pairs[..] {
        let table = metrics(record, labels, (baseline, candidate), &shown, unicode);
        return vec![(String::new(), table)];
    }
    let mut of_metrics: Vec<(usize, Vec<&Comparison>)> = Vec::new();
    let mut places: HashMap<usize, usize> = HashMap::new();
    for comparison in shown.iter().copied() {
        let place = *places.entry(comparison.metric).or_insert_with(|| {
            of_metrics.push((comparison.metric, Vec::new()));
            of_metrics.len() - 1
        });
        of_metrics[place].1.push(comparison);
    }
    of_metrics
        .into_iter()
        .map(|(metric, of_metric)| {
            let decides = of_metric.iter().any(|c| c.primary);
            let name = shown::metric_at(record, metric).name;
            let title = if decides { format!("{name} (decides)") } else { name };
            (title, ranked(record, labels, metric, &of_metric, unicode))
        })
        .collect()
}

/// Says whether a table marks the metric that decides with a star, which then needs an explanation.
pub(crate) fn has_star(record: &Record) -> bool {
    let shown = shown::comparisons(record);
    let one_pair = shown
        .windows(2)
        .all(|c| (c[0].baseline, c[0].candidate) == (c[1].baseline, c[1].candidate));
    one_pair && shown.len() > 1 && shown.iter().any(|comparison| comparison.primary)
}

/// One row per metric, the subjects side by side.
fn metrics(
    record: &Record,
    labels: &Labels,
    (baseline, candidate): (usize, usize),
    comparisons: &[&Comparison],
    unicode: bool,
) -> Table {
    let mut table = Table::new([
        ("metric".to_owned(), Align::Left),
        (labels.get(baseline).to_owned(), Align::Right),
        (labels.get(candidate).to_owned(), Align::Right),
        ("change".to_owned(), Align::Right),
        (interval_title(record), Align::Left),
        ("verdict".to_owned(), Align::Left),
    ]);
    let several = comparisons.len() > 1;
    for comparison in comparisons {
        let metric = shown::metric_at(record, comparison.metric);
        let medians = [baseline, candidate].map(|s| median(record, s, comparison.metric));
        let scale = Scale::of(&metric.unit, medians.iter().flatten().copied(), unicode);
        let median = |value: Option<f64>| value.map_or("-".into(), |v| scale.with_unit(v).into());
        let name = if comparison.primary && several {
            format!("{}{NBSP}*", metric.name)
        } else {
            metric.name.clone()
        };
        let mut row: Vec<Cell> = vec![name.into(), median(medians[0]), median(medians[1])];
        row.extend(result_cells(&metric, comparison));
        table.push(row);
    }
    table
}

/// One row per subject, best first, the baseline in its place.
fn ranked(
    record: &Record,
    labels: &Labels,
    metric: usize,
    comparisons: &[&Comparison],
    unicode: bool,
) -> Table {
    let description = shown::metric_at(record, metric);
    let ranked = shown::ranked(record, comparisons);
    let medians: Vec<Option<f64>> =
        (0..record.subjects.len()).map(|subject| median(record, subject, metric)).collect();
    let scale = Scale::of(&description.unit, medians.iter().flatten().copied(), unicode);
    let median = |subject: usize| -> Cell {
        medians.get(subject).copied().flatten().map_or("-".into(), |v| scale.with_unit(v).into())
    };
    let mut table = Table::new([
        ("subject".to_owned(), Align::Left),
        ("median".to_owned(), Align::Right),
        ("change".to_owned(), Align::Right),
        (interval_title(record), Align::Left),
        ("verdict".to_owned(), Align::Left),
    ]);
    let mut baseline = ranked.first().map(|comparison| comparison.baseline);
    let baseline_row = |subject: usize| -> Vec<Cell> {
        vec![labels.get(subject).into(), median(subject), "".into(), "".into(), "baseline".into()]
    };
    for comparison in &ranked {
        let worse = comparison.ratio.is_none_or(|ratio| match description.direction {
            becalm_model::Direction::Lower => ratio.estimate >= 1.0,
            becalm_model::Direction::Higher => ratio.estimate <= 1.0,
        });
        if worse && let Some(subject) = baseline.take() {
            table.push(baseline_row(subject));
        }
        let mut row: Vec<Cell> =
            vec![labels.get(comparison.candidate).into(), median(comparison.candidate)];
        row.extend(result_cells(&description, comparison));
        table.push(row);
    }
    if let Some(subject) = baseline {
        table.push(baseline_row(subject));
    }
    table
}

/// Returns change, interval and verdict.
pub(crate) fn result_cells(metric: &Metric, comparison: &Comparison) -> [Cell; 3] {
    let verdict =
        Cell::of(Role::of(comparison.verdict), sentence::verdict_word(metric, comparison.verdict));
    match &comparison.ratio {
        None => ["-".into(), "-".into(), verdict],
        Some(ratio) => {
            let text = quantity::ratio(ratio);
            let interval =
                if sentence::is_exact(metric, ratio) { "exact".to_owned() } else { text.interval };
            [text.change.into(), interval.into(), verdict]
        }
    }
}

pub(crate) fn interval_title(record: &Record) -> String {
    format!("{}{NBSP}interval", confidence(shown::confidence(record)))
}

fn median(record: &Record, subject: usize, metric: usize) -> Option<f64> {
    let sample = shown::sample(record, subject, metric)?;
    Some(becalm_stats::center::median(&sample))
}
