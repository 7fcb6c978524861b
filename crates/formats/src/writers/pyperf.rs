//! pyperf: a suite as `pyperf stats`, `hist` and `compare_to` read it (format 1.0).
//!
//! Every metric of every subject is a benchmark, and every process a run of it with its iterations as
//! `values`. A single subject that was chosen of several gives its name to none of them, so that
//! `compare_to` compares two such files. Runs of the warm-up have only `warmups`, which is what pyperf's own calibration looks like.
//! pyperf takes values above 0 of seconds, bytes and plain numbers, and less as better of all.

use becalm_model::{Direction, Metric, Record, Run, Unit, metric, whole};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::writers::names::{Unique, one_line};
use crate::writers::selection::{Fit, Selection, Usual, inside};
use crate::writers::{ExportError, Exported, Options, Writer, date, json};

pub(crate) const JSON: Writer =
    Writer { name: "pyperf", about: "pyperf stats, hist, compare_to", ending: "json", write };

#[derive(Serialize)]
struct Suite {
    version: &'static str,
    metadata: Map<String, Value>,
    benchmarks: Vec<Benchmark>,
}

#[derive(Serialize)]
struct Benchmark {
    metadata: Map<String, Value>,
    runs: Vec<OneRun>,
}

#[derive(Serialize)]
struct OneRun {
    #[serde(skip_serializing_if = "Map::is_empty")]
    metadata: Map<String, Value>,
    /// Loops, which are one, and the value per loop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warmups: Vec<(u32, f64)>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<f64>,
}

/// Facts and the metadata that they are for pyperf. Of all runs in a file these have to be the same.
const FACTS: [(&str, &str); 6] = [
    ("cpu_model", "cpu_model_name"),
    ("platform", "platform"),
    ("aslr", "aslr"),
    ("python_implementation", "python_implementation"),
    ("python_version", "python_version"),
    ("timer", "timer"),
];

fn unit(metric: &Metric) -> Option<&'static str> {
    match metric.unit {
        Unit::Second => Some("second"),
        Unit::Byte => Some("byte"),
        Unit::Count => Some("integer"),
        Unit::Named(_) => None,
    }
}

fn fits(metric: &Metric) -> Fit {
    if unit(metric).is_none() {
        return Err("pyperf supports only seconds, bytes and plain numbers");
    }
    if metric.direction == Direction::Higher {
        return Err("pyperf assumes for every metric that less is better");
    }
    Ok(())
}

fn write(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let mut selection = Selection::new(record, options, JSON.name, Usual::Results, fits)?;
    selection.note_own_values();
    let memory = record.metric_index(metric::MAX_RSS);
    let (mut names, mut benchmarks, mut nought) = (Unique::default(), Vec::new(), 0);
    for &subject in &selection.subjects {
        for at in selection.metrics_of(subject) {
            let mut take = |run: &Run| {
                let (values, others): (Vec<f64>, Vec<f64>) =
                    inside(run, at).into_iter().partition(|value| *value > 0.0);
                nought += others.len();
                (!values.is_empty()).then(|| one_run(record, run, memory, values))
            };
            let warmup = selection.warmup(subject).filter_map(&mut take).collect::<Vec<_>>();
            let measured = selection.measured(subject).filter_map(&mut take).collect::<Vec<_>>();
            // A benchmark that has nothing but calibration cannot be read.
            if measured.is_empty() {
                continue;
            }
            // `compare_to` looks for the same names in two files: those of one subject each, if one was
            // chosen, must not be named after it.
            let is_one = options.subjects.as_ref().is_some_and(|chosen| chosen.len() == 1);
            let is_one_of_several = is_one && record.subjects.len() > 1;
            let name = if is_one_of_several {
                record.metrics[at].name.clone()
            } else {
                selection.name(subject, at)
            };
            let name = one_line(&name);
            let name = names.unique_or(&name, "benchmark");
            let metric = &record.metrics[at];
            let mut metadata = Map::new();
            metadata.insert("name".to_owned(), name.into());
            metadata.insert("unit".to_owned(), unit(metric).unwrap_or("second").into());
            let mut more = |key: &str, text: &str| {
                let text = one_line(text);
                if !text.is_empty() {
                    metadata.insert(key.to_owned(), text.into());
                }
            };
            more("statistic", metric.statistic.as_deref().unwrap_or_default());
            more("command", &super::names::command_line(&record.subjects[subject].command));
            benchmarks
                .push(Benchmark { metadata, runs: warmup.into_iter().chain(measured).collect() });
        }
    }
    selection
        .note_count(nought, "values that are not above 0 are skipped, because pyperf refuses them");
    if benchmarks.is_empty() {
        return Err(ExportError::nothing(JSON.name, "no measured run has a value above 0"));
    }
    let suite = Suite { version: "1.0", metadata: common(record), benchmarks };
    Ok(Exported { bytes: json::write(&suite), notes: selection.notes })
}

/// Returns what all runs have in common.
fn common(record: &Record) -> Map<String, Value> {
    let mut metadata = Map::new();
    for (fact, key) in FACTS {
        let text = record.machine.facts.get(fact).map(|text| one_line(text)).unwrap_or_default();
        if !text.is_empty() {
            metadata.insert(key.to_owned(), text.into());
        }
    }
    let cpus = record.machine.facts.get("logical_cpus").and_then(|text| text.parse::<u32>().ok());
    if let Some(cpus) = cpus {
        metadata.insert("cpu_count".to_owned(), cpus.into());
    }
    metadata
}

fn one_run(record: &Record, run: &Run, memory: Option<usize>, values: Vec<f64>) -> OneRun {
    let mut metadata = Map::new();
    if let Some(date) = date::iso(record.started_at + run.started) {
        // pyperf writes a space for the T.
        metadata.insert("date".to_owned(), date.replace('T', " ").into());
    }
    let memory = memory.and_then(|at| run.value(at)).filter(|bytes| (1.0..9e15).contains(bytes));
    if let Some(bytes) = memory {
        metadata.insert("command_max_rss".to_owned(), whole(bytes).into());
    }
    if run.warmup {
        let warmups = values.into_iter().map(|value| (1, value)).collect();
        return OneRun { metadata, warmups, values: Vec::new() };
    }
    OneRun { metadata, warmups: Vec::new(), values }
}
