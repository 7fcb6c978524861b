//! Rows of google-benchmark as its console and its CSV have them, put together by benchmark.
//!
//! - Repetitions are rows of one name out of one process.
//! - Aggregates have names such as `x_mean` beside `x`: nothing else tells them.

use std::collections::{HashMap, HashSet};

use becalm_model::{Direction, ImportNote, Part, Unit};

use crate::imported::{Imported, part, single};

/// One row.
#[derive(Debug, Default)]
pub(super) struct Row {
    pub(super) name: String,
    /// What stands beside the name: measure, unit, direction and value, in seconds where it is a time.
    pub(super) measures: Vec<Measure>,
    /// How often the benchmark was repeated, where this row is an aggregate.
    pub(super) iterations: Option<f64>,
}

/// A number of a row: the name of the measure, its unit, which way is better, and the value.
pub(super) type Measure = (String, Unit, Direction, f64);

/// Endings of the names of aggregates, with what they are called here.
const AGGREGATES: [(&str, &str); 6] = [
    ("_mean", "mean"),
    ("_median", "median"),
    ("_stddev", "standard_deviation"),
    ("_min", "minimum"),
    ("_max", "maximum"),
    ("_cv", ""),
];

/// Adds rows to a record as one process.
pub(super) fn add(imported: &mut Imported, subject: usize, rows: Vec<Row>) {
    let known: HashSet<String> = rows.iter().map(|row| row.name.clone()).collect();
    let aggregate = |row: &Row| {
        AGGREGATES.iter().find_map(|(ending, figure)| {
            let base = row.name.strip_suffix(ending)?;
            let is_family = known.contains(&format!("{base}_mean"))
                && known.contains(&format!("{base}_stddev"));
            (known.contains(base) || is_family).then(|| (base.to_owned(), *figure))
        })
    };
    let mut values: HashMap<usize, Vec<f64>> = HashMap::new();
    let mut order = Vec::new();
    let mut measured = HashSet::new();
    let mut aggregates = Vec::new();
    for row in rows {
        if let Some((base, figure)) = aggregate(&row) {
            aggregates.push((base, figure, row));
            continue;
        }
        measured.insert(row.name.clone());
        for (measure, unit, direction, value) in row.measures {
            let metric = imported.benchmark(&row.name, &measure, unit, direction);
            let values = values.entry(metric).or_insert_with(|| {
                order.push(metric);
                Vec::new()
            });
            values.push(value);
        }
    }
    let mut parts: Vec<Part> = Vec::new();
    for metric in order {
        parts.extend(values.remove(&metric).and_then(|values| part(metric, values)));
    }
    let mut figures: HashMap<usize, Vec<(String, Option<f64>)>> = HashMap::new();
    let mut order = Vec::new();
    for (base, figure, row) in aggregates {
        if figure.is_empty() {
            continue;
        }
        for (measure, unit, direction, value) in row.measures {
            let metric = imported.benchmark(&base, &measure, unit, direction);
            let is_new = !figures.contains_key(&metric);
            let of_metric = figures.entry(metric).or_default();
            if is_new {
                order.push((metric, measured.contains(&base)));
                of_metric.push(("samples".to_owned(), row.iterations));
            }
            of_metric.push((figure.to_owned(), Some(value)));
        }
    }
    for (metric, is_measured) in order {
        let figures = figures.remove(&metric).unwrap_or_default();
        if !is_measured {
            let value = ["mean", "median"].into_iter().find_map(|statistic| {
                let found = figures.iter().find(|(name, _)| name == statistic)?;
                Some((statistic, found.1?))
            });
            let Some((statistic, value)) = value else { continue };
            imported.stand_in(metric, statistic);
            parts.push(single(metric, value));
        }
        imported.summary(subject, metric, figures);
    }
    imported.parts(subject, parts);
}

/// Tells of a benchmark that failed or was skipped.
pub(super) fn not_measured(imported: &mut Imported, benchmark: &str, why: &str, is_failure: bool) {
    let (benchmark, why) =
        (benchmark.to_owned(), Some(why.to_owned()).filter(|why| !why.is_empty()));
    imported.note(if is_failure {
        ImportNote::Failed { benchmark, why }
    } else {
        ImportNote::NotRun { benchmark, why }
    });
}
