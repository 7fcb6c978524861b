//! BMF, the Bencher Metric Format (<https://bencher.dev/docs/reference/bencher-metric-format/>):
//! `{benchmark: {measure: {value, lower_value, upper_value}}}`, one figure for each.
//!
//! - The figure is the median over the processes; the bounds are its confidence interval where the caller
//!   has one, and are left out otherwise. Smallest and largest value are no interval.
//! - `latency` is in nanoseconds and `throughput` in operations per second, as Bencher defines them. Other
//!   measures have the metric's name and unit: `max_rss (B)`. A metric may be named after another unit than that
//!   of its values, `MB/s` where these are bytes per second, and bytes per second are no operations.

use std::collections::HashMap;

use becalm_model::{Direction, Metric, Record, Unit, metric};
use serde_json::{Map, Number, Value};

use crate::writers::names::{Unique, one_line};
use crate::writers::selection::{Selection, Usual};
use crate::writers::{ExportError, Exported, Options, Writer, figures, json, numbers};

pub(crate) const JSON: Writer = Writer {
    name: "bmf",
    about: "Bencher Metric Format: `bencher run --adapter json --file FILE`",
    ending: "json",
    write,
};

/// Longest name of a benchmark that Bencher takes, in characters.
const LONGEST_BENCHMARK: usize = 1024;
/// Longest name of a measure.
const LONGEST_MEASURE: usize = 64;

fn write(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let mut selection = Selection::new(record, options, JSON.name, Usual::Results, |_| Ok(()))?;
    let mut benchmarks = Map::new();
    let (mut higher, mut cut) = (Vec::new(), 0);
    let mut keys: HashMap<String, Unique> = HashMap::new();
    for &subject in &selection.subjects {
        for at in selection.metrics_of(subject) {
            let Some(median) = figures::median(&selection.values(subject, at)) else { continue };
            let metric = &record.metrics[at];
            let (measure, power) = measure(metric, selection.measure(at));
            let figure = |value: f64| Number::from_f64(numbers::scaled(value, power));
            let Some(value) = figure(median) else { continue };
            let mut figures = Map::from_iter([("value".to_owned(), Value::Number(value))]);
            if let Some(estimate) = options.estimate(subject, at) {
                let bounds = [("lower_value", estimate.low), ("upper_value", estimate.high)];
                for (name, bound) in bounds {
                    if let Some(bound) = figure(bound) {
                        figures.insert(name.to_owned(), Value::Number(bound));
                    }
                }
            }
            let name = benchmark(&selection, subject, at);
            let (name, measure) =
                (shortened(&name, LONGEST_BENCHMARK), shortened(&measure, LONGEST_MEASURE));
            cut += usize::from(name.1) + usize::from(measure.1);
            let is_rate = measure.0 == THROUGHPUT;
            if metric.direction == Direction::Higher && !is_rate {
                higher.push(measure.0.clone());
            }
            let key = keys.entry(name.0.clone()).or_default().unique(&measure.0);
            let measures = benchmarks.entry(name.0).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(measures) = measures {
                measures.insert(key, Value::Object(figures));
            }
        }
    }
    if benchmarks.is_empty() {
        return Err(ExportError::nothing(JSON.name, "no measured run has a value"));
    }
    if !higher.is_empty() {
        let higher = super::names::list(higher.iter().map(String::as_str));
        selection.note(format!(
            "the file cannot say that more is better for {higher}: set that in Bencher's thresholds"
        ));
    }
    selection.note_count(cut, "names that are too long for Bencher were cut");
    selection.note("each figure is the median over the runs; the single values are not exported");
    Ok(Exported { bytes: json::write(&benchmarks), notes: selection.notes })
}

/// Returns the name of a benchmark, under which its measures stand together.
fn benchmark(selection: &Selection, subject: usize, at: usize) -> String {
    let record = selection.record;
    let subject = &record.subjects[subject].name;
    let name = match &record.metrics[at].benchmark {
        Some(name) if record.subjects.len() == 1 => name.clone(),
        Some(name) => format!("{subject} {name}"),
        None => subject.clone(),
    };
    let name = one_line(&name);
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

const LATENCY: &str = "latency";
const THROUGHPUT: &str = "throughput";

/// Returns the name of a measure, and the power of ten that leads to its unit.
fn measure(metric: &Metric, measure: &str) -> (String, i32) {
    let is_main = measure.is_empty() || metric.name == metric::WALL_TIME;
    let is_rate = matches!(&metric.unit, Unit::Named(unit) if is_of_operations(unit));
    match (&metric.unit, metric.direction) {
        (Unit::Second, Direction::Lower) if is_main => (LATENCY.to_owned(), 9),
        (_, Direction::Higher) if is_rate && (is_main || measure == THROUGHPUT) => {
            (THROUGHPUT.to_owned(), 0)
        }
        _ => {
            let unit = metric.unit.to_string();
            let name = one_line(if measure.is_empty() { "value" } else { measure });
            // What is named after its unit does not name it twice.
            let is_told = unit.is_empty() || name == unit;
            (if is_told { name } else { format!("{name} ({unit})") }, 0)
        }
    }
}

/// Says whether a rate is one of something that is counted, and not of data.
fn is_of_operations(unit: &str) -> bool {
    unit.strip_suffix("/s").is_some_and(|counted| !["B", "b", "bit"].contains(&counted))
}

/// Cuts a name; says whether that was needed.
fn shortened(name: &str, longest: usize) -> (String, bool) {
    let short: String = name.chars().take(longest).collect();
    let is_cut = short.len() < name.len();
    (short, is_cut)
}
