//! becalm's own CSV of raw values, one per row.
//!
//! | column      | meaning                                                                          |
//! |-------------|----------------------------------------------------------------------------------|
//! | `subject`   | name of the subject                                                              |
//! | `benchmark` | the benchmark inside the process; empty where the metric is of the whole process |
//! | `metric`    | full name of the metric                                                          |
//! | `unit`      | `s`, `B`, empty for a count, or any other                                        |
//! | `direction` | `lower` or `higher` is better                                                    |
//! | `run`       | number of the process among those of its subject                                 |
//! | `iteration` | number of the value inside the process; empty for the value of the process       |
//! | `value`     | a number                                                                         |
//!
//! Columns may have any order. Further ones that are read if they are there: `statistic` (`median` says
//! that each value is one of many), `exact` and `warmup` (`true` or `false`). Others are left out. A
//! process without a value of its own for a metric has the median of the iterations. Numbers are
//! written with as many digits as they need, so that they are the same when they are read again.

use std::collections::HashMap;

use becalm_model::{Direction, Metric, Part, Unit};

use crate::imported::{Imported, part};
use crate::lines::number;
use crate::readers::table::{Row, Table};
use crate::{Entry, File, ImportError, Takes};

pub(crate) const CSV: Entry = Entry {
    name: "csv",
    about: "becalm's CSV of raw values: subject, benchmark, metric, unit, direction, run, iteration, \
            value",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| {
            let header: Vec<&str> =
                text.lines().next().unwrap_or_default().split(',').map(str::trim).collect();
            COLUMNS.iter().all(|column| header.contains(column))
        })
    }),
    read: Takes::File(read),
};

const COLUMNS: [&str; 8] =
    ["subject", "benchmark", "metric", "unit", "direction", "run", "iteration", "value"];

/// A value, where it belongs to.
struct Value {
    line: usize,
    metric: usize,
    iteration: Option<u64>,
    number: f64,
}

struct Process {
    subject: String,
    number: u64,
    warmup: bool,
    values: Vec<Value>,
}

#[derive(Default)]
struct Values {
    metrics: Vec<Metric>,
    metric_indices: HashMap<String, usize>,
    /// In the order of the file.
    processes: Vec<Process>,
    process_indices: HashMap<(String, u64, bool), usize>,
    /// The process of the row before, which most often is that of the next one.
    last: usize,
}

fn read(file: &File) -> Result<Imported, ImportError> {
    let mut table = Table::of(file)?;
    for column in COLUMNS {
        table.require(column)?;
    }
    let mut values = Values::default();
    while let Some(row) = table.next()? {
        values.row(&row)?;
    }
    values.finish(file)
}

impl Values {
    fn row(&mut self, row: &Row) -> Result<(), ImportError> {
        let direction = match row.text("direction") {
            "lower" => Direction::Lower,
            "higher" => Direction::Higher,
            other => return Err(row.wrong("`lower` or `higher` as direction", other)),
        };
        let flag = |column: &str| match row.text(column) {
            "true" => Ok(true),
            "" | "false" => Ok(false),
            other => Err(row.wrong(&format!("`true` or `false` as {column}"), other)),
        };
        let some = |column: &str| Some(row.text(column)).filter(|text| !text.is_empty());
        let name = some("metric").ok_or_else(|| row.wrong("a name as metric", ""))?;
        let (unit, exact) = (Unit::from_name(row.text("unit")), flag("exact")?);
        let at = match self.metric_indices.get(name) {
            Some(at) => *at,
            None => self.metric(Metric {
                name: name.to_owned(),
                unit: unit.clone(),
                direction,
                exact,
                benchmark: some("benchmark").map(str::to_owned),
                statistic: some("statistic").map(str::to_owned),
            }),
        };
        let known = &self.metrics[at];
        let is_same = known.unit == unit
            && (known.direction, known.exact) == (direction, exact)
            && known.benchmark.as_deref() == some("benchmark")
            && known.statistic.as_deref() == some("statistic");
        if !is_same {
            let expected = "the same unit, direction and benchmark as in the rows before";
            return Err(row.wrong(expected, name));
        }
        let count = |column: &str| {
            let text = row.text(column);
            text.parse::<u64>().map_err(|_| row.wrong(&format!("a number as {column}"), text))
        };
        let iteration = match row.text("iteration") {
            "" => None,
            _ => Some(count("iteration")?),
        };
        let text = row.text("value");
        // A comma would be a decimal one: becalm writes no others.
        let number = number(text).filter(|_| !text.contains(','));
        let number = number.ok_or_else(|| row.wrong("a finite number as value", text))?;
        let process = self.process(row.text("subject"), count("run")?, flag("warmup")?);
        process.values.push(Value { line: row.line(), metric: at, iteration, number });
        Ok(())
    }

    /// Adds a metric and returns its index.
    fn metric(&mut self, metric: Metric) -> usize {
        self.metric_indices.insert(metric.name.clone(), self.metrics.len());
        self.metrics.push(metric);
        self.metrics.len() - 1
    }

    fn process(&mut self, subject: &str, number: u64, warmup: bool) -> &mut Process {
        let is_last = self.processes.get(self.last).is_some_and(|last| {
            last.number == number && last.warmup == warmup && last.subject == subject
        });
        if !is_last {
            let key = (subject.to_owned(), number, warmup);
            self.last = *self.process_indices.entry(key).or_insert_with(|| {
                let subject = subject.to_owned();
                self.processes.push(Process { subject, number, warmup, values: Vec::new() });
                self.processes.len() - 1
            });
        }
        &mut self.processes[self.last]
    }

    fn finish(self, file: &File) -> Result<Imported, ImportError> {
        let mut imported = Imported::of("becalm");
        // Metrics of the whole process come first, as records have them.
        let mut indices = vec![0; self.metrics.len()];
        for of_benchmarks in [false, true] {
            for (at, metric) in self.metrics.iter().enumerate() {
                if metric.benchmark.is_some() == of_benchmarks {
                    indices[at] = imported.metric(metric.clone());
                }
            }
        }
        let whole = self.metrics.iter().filter(|metric| metric.benchmark.is_none()).count();
        // Every process has a place for each metric of the whole process: a damaged file must not make
        // that very many.
        let rows: usize = self.processes.iter().map(|one| one.values.len()).sum();
        if whole.saturating_mul(self.processes.len()) > rows.saturating_mul(64) + 1_000_000 {
            let found = format!(
                "{} of {}",
                becalm_model::counted(whole, "metric"),
                becalm_model::counted(self.processes.len(), "process")
            );
            let expected = "processes that have most of the metrics";
            return Err(ImportError::at_field(file, "metric", expected, &found));
        }
        imported.expect(self.processes.len());
        for Process { subject, warmup, values: mut of_process, .. } in self.processes {
            let subject = imported.subject(&subject);
            of_process.sort_by_key(|value| (indices[value.metric], value.iteration));
            let mut values = vec![None; whole];
            let mut parts: Vec<Part> = Vec::new();
            for of_metric in of_process.chunk_by(|a, b| a.metric == b.metric) {
                let twice = of_metric.windows(2).find(|two| two[0].iteration == two[1].iteration);
                if let Some([_, second]) = twice {
                    let expected = "one value per subject, metric, run and iteration";
                    return Err(ImportError::at_line(file, second.line, expected, "another"));
                }
                let metric = indices[of_metric[0].metric];
                let own = of_metric.iter().find(|value| value.iteration.is_none());
                let series = of_metric.iter().filter(|value| value.iteration.is_some());
                let series: Vec<f64> = series.map(|value| value.number).collect();
                let found = match own {
                    Some(own) => Some(Part { metric, value: own.number, iterations: series }),
                    None => part(metric, series),
                };
                match found {
                    Some(part) if metric < whole => values[metric] = Some(part.value),
                    Some(part) => parts.push(part),
                    None => {}
                }
            }
            imported.whole(subject, values, parts, warmup);
        }
        Ok(imported)
    }
}
