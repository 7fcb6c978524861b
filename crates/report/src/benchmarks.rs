//! The benchmarks of a harness as a table: what each process measured, and how far they agree.

use becalm_model::{Record, Run, Summary, counted};
use becalm_stats::{Sample, Summary as Estimate};

use crate::labels::Labels;
use crate::quantity::{Scale, count, percent};
use crate::shown;
use crate::table::{Align, Cell, Table};

/// Returns the table of the benchmarks of one subject with its title; `None` if they are few enough
/// to be drawn, or if there are none.
pub(crate) fn of(
    record: &Record,
    labels: &Labels,
    subject: usize,
    unicode: bool,
) -> Option<(String, Table)> {
    if !shown::are_listed(record) {
        return None;
    }
    let runs: Vec<&Run> = record.measured(subject).collect();
    let mut listed = record.metrics_of(runs.iter().copied());
    listed.retain(|&index| record.metrics[index].benchmark.is_some());
    let table = table(record, &runs, &listed, unicode);
    if table.is_empty() {
        return None;
    }
    let processes = counted(runs.len(), "process");
    let metrics = count(listed.len(), "metric");
    Some((format!("{}: {metrics} of benchmarks in {processes}", labels.get(subject)), table))
}

/// Lists the benchmarks of one subject that has these runs: the median over its processes and its
/// interval, how much the processes differ, and how much the values inside one.
fn table(record: &Record, runs: &[&Run], metrics: &[usize], unicode: bool) -> Table {
    let mut table = Table::new([
        ("benchmark".to_owned(), Align::Left),
        ("median".to_owned(), Align::Right),
        (crate::comparison_table::interval_title(record), Align::Left),
        ("processes".to_owned(), Align::Right),
        ("CV".to_owned(), Align::Right),
        ("values in each".to_owned(), Align::Right),
        ("CV inside".to_owned(), Align::Right),
    ]);
    for &index in metrics {
        let values = runs.iter().filter_map(|run| run.value(index)).collect();
        let Ok(sample) = Sample::new(values) else { continue };
        let estimate = shown::summary(record, &sample);
        let metric = shown::metric_at(record, index);
        let scale = Scale::of_summaries(&metric.unit, [&estimate], unicode);
        let name = match &metric.statistic {
            Some(statistic) => format!("{} ({statistic})", metric.name),
            None => metric.name.clone(),
        };
        let interval: Cell = estimate
            .median_interval
            .map_or("-".into(), |interval| scale.range(interval.low, interval.high).into());
        let inside = inside(record, runs, index);
        table.push([
            name.into(),
            scale.with_unit(estimate.median).into(),
            interval,
            estimate.n.to_string().into(),
            cv(&estimate),
            inside.values.map_or("-".into(), |values| values.to_string().into()),
            inside.cv.map_or("-".into(), percent).into(),
        ]);
    }
    table
}

fn cv(estimate: &Estimate) -> Cell {
    estimate.cv.filter(|_| estimate.n > 1).map_or("-".into(), |cv| percent(cv).into())
}

/// Statistics of the values inside the processes.
struct Inside {
    /// How many values a process has, as a median; `None` without single values.
    values: Option<usize>,
    /// Their standard deviation over their mean, as a median.
    cv: Option<f64>,
}

fn inside(record: &Record, runs: &[&Run], metric: usize) -> Inside {
    let mut counts = Vec::new();
    let mut cvs = Vec::new();
    for part in runs.iter().filter_map(|run| run.part(metric)) {
        let Ok(sample) = Sample::new(part.iterations.clone()) else { continue };
        counts.push(part.iterations.len());
        cvs.extend(shown::summary(record, &sample).cv);
    }
    counts.sort_unstable();
    cvs.sort_unstable_by(f64::total_cmp);
    Inside { values: counts.get(counts.len() / 2).copied(), cv: cvs.get(cvs.len() / 2).copied() }
}

/// Figures in the order in which they are shown, with their titles.
const FIGURES: [(&str, &str); 9] = [
    ("minimum", "minimum"),
    ("median", "median"),
    ("mean", "mean"),
    ("standard_deviation", "sd"),
    ("low", "low"),
    ("high", "high"),
    ("p90", "p90"),
    ("p99", "p99"),
    ("maximum", "maximum"),
];

/// Returns a table of the conclusions of the tool that the results were imported from, with its title; `None` if it drew
/// none.
pub(crate) fn given(record: &Record, labels: &Labels, unicode: bool) -> Option<(String, Table)> {
    let has = |wanted: &str| record.summaries.iter().any(|one| figure(one, wanted).is_some());
    let figures: Vec<(&str, &str)> = FIGURES.into_iter().filter(|(name, _)| has(name)).collect();
    if figures.is_empty() {
        return None;
    }
    let several = record.subjects.len() > 1;
    let mut titles = vec![("metric".to_owned(), Align::Left)];
    if several {
        titles.insert(0, ("subject".to_owned(), Align::Left));
    }
    titles.extend(figures.iter().map(|(_, title)| ((*title).to_owned(), Align::Right)));
    let mut table = Table::new(titles);
    for one in &record.summaries {
        let metric = shown::metric_at(record, one.metric);
        let values: Vec<Option<f64>> = figures.iter().map(|(name, _)| figure(one, name)).collect();
        let Some(middle) = values.iter().flatten().copied().next() else { continue };
        let scale = Scale::of(&metric.unit, [figure(one, "median").unwrap_or(middle)], unicode);
        let mut row: Vec<Cell> = Vec::new();
        if several {
            row.push(labels.get(one.subject).into());
        }
        row.push(metric.name.as_str().into());
        row.extend(
            values
                .into_iter()
                .map(|value| value.map_or(Cell::from("-"), |value| scale.with_unit(value).into())),
        );
        table.push(row);
    }
    let tool = record.source.as_ref().map_or("the tool", |source| source.tool.as_str());
    Some((format!("What {tool} says"), table))
}

fn figure(summary: &Summary, wanted: &str) -> Option<f64> {
    summary.figures.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value)
}
