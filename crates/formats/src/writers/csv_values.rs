//! becalm's own CSV, one value per row: its columns are described with the reader,
//! `readers/csv_values.rs`.
//!
//! Read again it is the same, bit by bit: values, units, directions, and which belong to one process.
//! Rows are ordered by subject, because the first subject of a file is the baseline of a comparison. The
//! interleaving of the subjects' runs is therefore not in it.

use becalm_model::{Metric, Record, Run};

use crate::writers::figures::median;
use crate::writers::selection::{Selection, Usual};
use crate::writers::{ExportError, Exported, Options, Writer, numbers};

pub(crate) const CSV: Writer = Writer {
    name: "csv",
    about: "becalm's CSV of raw values, one per row; import reads it back unchanged",
    ending: "csv",
    write,
};

/// The columns, as in tables of data frames.
pub(super) const COLUMNS: [&str; 11] = [
    "subject",
    "benchmark",
    "metric",
    "unit",
    "direction",
    "run",
    "iteration",
    "value",
    "statistic",
    "exact",
    "warmup",
];

/// One value with everything that it belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) subject: &'a str,
    pub(super) metric: &'a Metric,
    /// Number of the process among those of its subject and kind, from 0.
    pub(super) run: u32,
    /// Number of the value inside the process, from 0; `None` for the value of the process.
    pub(super) iteration: Option<u32>,
    /// In the unit of the metric.
    pub(super) value: f64,
    pub(super) warmup: bool,
}

/// Hands all rows to `take`, in order, and returns what has to be told.
pub(super) fn rows<'a>(
    record: &'a Record,
    options: &Options,
    format: &'static str,
    mut take: impl FnMut(Row<'a>),
) -> Result<Vec<String>, ExportError> {
    let named =
        |metric: &Metric| if metric.name.is_empty() { Err("it has no name") } else { Ok(()) };
    let mut selection = Selection::new(record, options, format, Usual::All, named)?;
    let (mut infinite, mut empty) = (0, 0);
    for &subject in &selection.subjects {
        let metrics = selection.metrics_of(subject);
        // Warm-up and measured runs are counted apart.
        let mut counts = [0; 2];
        for run in selection.kept(subject) {
            let number = &mut counts[usize::from(run.warmup)];
            let mut is_there = false;
            for &at in &metrics {
                for (iteration, value) in values(run, at) {
                    if !value.is_finite() {
                        infinite += 1;
                        continue;
                    }
                    is_there = true;
                    take(Row {
                        subject: &record.subjects[subject].name,
                        metric: &record.metrics[at],
                        run: *number,
                        iteration,
                        value,
                        warmup: run.warmup,
                    });
                }
            }
            *number += 1;
            empty += usize::from(!is_there);
        }
    }
    selection.note_count(infinite, "values that are not finite numbers are skipped");
    selection.note_count(empty, "runs without any of these values are skipped");
    Ok(selection.notes)
}

/// Returns the values of one run: its own, where it does not follow from the iterations, and these.
fn values(run: &Run, metric: usize) -> Vec<(Option<u32>, f64)> {
    let Some(value) = run.value(metric) else { return Vec::new() };
    let iterations = run.part(metric).map_or(&[][..], |part| &part.iterations);
    // Of a single iteration the reader would make no series.
    let follows = iterations.len() > 1
        && median(iterations).is_some_and(|median| median.total_cmp(&value).is_eq());
    let own = (!follows).then_some((None, value));
    let numbered = (0..).zip(iterations).map(|(at, &value)| (Some(at), value));
    own.into_iter().chain(numbered).collect()
}

fn write(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(COLUMNS).expect("memory can be written");
    let notes = rows(record, options, CSV.name, |row| {
        let metric = row.metric;
        let cells = [
            row.subject.to_owned(),
            metric.benchmark.clone().unwrap_or_default(),
            metric.name.clone(),
            metric.unit.to_string(),
            metric.direction.to_string(),
            row.run.to_string(),
            row.iteration.map(|at| at.to_string()).unwrap_or_default(),
            numbers::text(row.value),
            metric.statistic.clone().unwrap_or_default(),
            metric.exact.to_string(),
            row.warmup.to_string(),
        ];
        csv.write_record(&cells)
            .expect("memory can be written, and every row has the same columns");
    })?;
    let bytes = csv.into_inner().expect("memory can be written");
    Ok(Exported { bytes, notes })
}
