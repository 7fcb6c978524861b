//! The raw data of the HTML report, folded away: a number never travels alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use becalm_model::{DisturbedRun, Record};

use crate::disturbed;
use crate::labels::Labels;
use crate::outcomes;
use crate::quantity::{Scale, count};
use crate::table::{Align, Cell, Table};

/// Writes one row per run in time order.
pub(crate) fn runs(out: &mut String, record: &Record, labels: &Labels, disturbed: &[DisturbedRun]) {
    if record.runs.is_empty() {
        return;
    }
    let scales: Vec<Scale> = record
        .metrics
        .iter()
        .enumerate()
        .map(|(index, metric)| {
            let values = record.runs.iter().filter_map(|run| run.value(index));
            Scale::of(&metric.unit, values, true).with_more_digits()
        })
        .collect();
    let mut titles: Vec<(String, Align)> = vec![
        ("run".to_owned(), Align::Right),
        ("subject".to_owned(), Align::Left),
        ("round".to_owned(), Align::Right),
        ("start (s)".to_owned(), Align::Right),
    ];
    titles.extend(record.metrics.iter().zip(&scales).map(|(metric, scale)| {
        let title = if scale.unit().is_empty() {
            metric.name.clone()
        } else {
            format!("{} ({})", metric.name, scale.unit())
        };
        (title, Align::Right)
    }));
    titles.push(("remarks".to_owned(), Align::Left));

    let causes: BTreeMap<usize, &DisturbedRun> =
        disturbed.iter().map(|run| (run.run, run)).collect();
    let mut table = Table::new(titles);
    for (index, run) in record.runs.iter().enumerate() {
        let mut row: Vec<Cell> = vec![
            (index + 1).to_string().into(),
            labels.get(run.subject).into(),
            (u64::from(run.round) + 1).to_string().into(),
            format!("{:.3}", run.started).into(),
        ];
        row.extend(scales.iter().enumerate().map(|(metric, scale)| {
            run.value(metric).map_or_else(|| Cell::from("-"), |value| scale.number(value).into())
        }));
        let mut remarks = Vec::new();
        if run.warmup {
            remarks.push("warm-up".to_owned());
        }
        if run.discarded {
            remarks.push("discarded, repeated".to_owned());
        }
        if !run.outcome.is_success() {
            remarks.push(outcomes::describe(run.outcome));
        }
        for cause in causes.get(&index).iter().flat_map(|run| &run.causes) {
            remarks.push(disturbed::detail(cause, record));
        }
        row.push(remarks.join("; ").into());
        table.push(row);
    }
    let _ = write!(
        out,
        "<h2>Raw data</h2>\n<details><summary>{} in time order</summary>\n{}</details>\n",
        count(record.runs.len(), "run"),
        table.html()
    );
}
