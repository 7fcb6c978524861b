//! hyperfine: `--export-json` of schema 1 (up to 1.20) and schema 2 (from 2.0), with the fields that its
//! scripts read (`scripts/plot_whisker.py`, `advanced_statistics.py` and others).
//!
//! Subjects are commands and processes are runs. Metrics of benchmarks become commands of their own: their
//! value per process stands for its time. In schema 1 `command` is the name of the subject, because that
//! is what its scripts draw, and as hyperfine itself does with `--command-name`; `user` and `system` are
//! means. Schema 2 has a fixed set of measurements per run.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use becalm_model::{Metric, Outcome, Record, Run, Unit, metric, whole};
use serde::Serialize;

use crate::writers::names::{Unique, command_line};
use crate::writers::selection::{Fit, Selection, Usual};
use crate::writers::{ExportError, Exported, Options, Writer, date, figures, json};

pub(crate) const VERSION_1: Writer = Writer {
    name: "hyperfine",
    about: "hyperfine's JSON of versions up to 1.20, and its scripts",
    ending: "json",
    write: write_1,
};

pub(crate) const VERSION_2: Writer = Writer {
    name: "hyperfine-2",
    about: "hyperfine's JSON from version 2.0, and its scripts",
    ending: "json",
    write: write_2,
};

#[derive(Serialize)]
struct Document1 {
    results: Vec<Result1>,
}

#[derive(Serialize)]
struct Result1 {
    command: String,
    mean: Option<f64>,
    stddev: Option<f64>,
    median: Option<f64>,
    /// Mean of the user time; hyperfine always has it, another tool may not.
    user: Option<f64>,
    system: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
    times: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    memory_usage_byte: Vec<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    exit_codes: Vec<Option<i32>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Document2 {
    schema_version: u32,
    metadata: Metadata2,
    primary_metric: &'static str,
    results: Vec<Result2>,
}

#[derive(Serialize)]
struct Metadata2 {
    #[serde(skip_serializing_if = "Option::is_none")]
    start_time: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    platform: BTreeMap<&'static str, String>,
}

#[derive(Serialize)]
struct Result2 {
    command: String,
    name: String,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<String, Parameter>,
    measurements: Vec<Measurement>,
    summary: BTreeMap<&'static str, Figures>,
}

#[derive(Serialize)]
struct Parameter {
    value: String,
}

#[derive(Serialize)]
struct Measurement {
    #[serde(flatten)]
    values: BTreeMap<&'static str, Quantity>,
    exit_code: Option<i32>,
}

#[derive(Serialize)]
struct Quantity {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
}

#[derive(Serialize)]
struct Figures {
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    count: usize,
    mean: Option<f64>,
    stddev: Option<f64>,
    median: Option<f64>,
    min: Option<f64>,
    max: Option<f64>,
}

const SECOND: Option<&str> = Some("second");

/// becalm's metrics, and the measurements that they are in schema 2.
pub(crate) const FIELDS: [(&str, &str, Option<&str>); 10] = [
    (metric::WALL_TIME, "time_wall_clock", SECOND),
    (metric::CPU_TIME, "time_cpu", SECOND),
    (metric::USER_TIME, "time_user", SECOND),
    (metric::SYSTEM_TIME, "time_system", SECOND),
    (metric::MAX_RSS, "memory_peak_resident", Some("byte")),
    (metric::CYCLES, "cpu_cycles", None),
    (metric::INSTRUCTIONS, "instructions", None),
    (metric::CACHE_REFERENCES, "cache_references", None),
    (metric::CACHE_MISSES, "cache_misses", None),
    (metric::BRANCH_MISSES, "branch_misses", None),
];

const NO_TIME: &str = "no measured run has a time";
const NOT_SECONDS: &str = "hyperfine accepts only seconds for measured values";

/// The measurement that stands for the times of a benchmark.
const WALL: &str = "time_wall_clock";

fn fits_1(metric: &Metric) -> Fit {
    let beside = [metric::USER_TIME, metric::SYSTEM_TIME, metric::MAX_RSS];
    if metric.benchmark.is_none() && beside.contains(&metric.name.as_str()) {
        return Ok(());
    }
    if metric.unit == Unit::Second { Ok(()) } else { Err(NOT_SECONDS) }
}

fn fits_2(metric: &Metric) -> Fit {
    match &metric.benchmark {
        None if FIELDS.iter().any(|(name, ..)| *name == metric.name) => Ok(()),
        None => Err("hyperfine has no such measurement"),
        Some(_) if metric.unit == Unit::Second => Ok(()),
        Some(_) => Err(NOT_SECONDS),
    }
}

/// Returns the value of a run, if hyperfine could have measured it.
fn value(run: &Run, at: usize) -> Option<f64> {
    run.value(at).filter(|value| value.is_finite() && *value >= 0.0)
}

fn exit_code(run: &Run) -> Option<i32> {
    match run.outcome {
        Outcome::Exited(code) => Some(code),
        Outcome::Signalled(_) | Outcome::TimedOut | Outcome::Unknown => None,
    }
}

fn write_1(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let mut selection = Selection::new(record, options, VERSION_1.name, Usual::All, fits_1)?;
    selection.note_iterations();
    let index = |name| record.metric_index(name).filter(|at| selection.metrics.contains(at));
    let [user, system, memory] =
        [metric::USER_TIME, metric::SYSTEM_TIME, metric::MAX_RSS].map(index);
    let beside = [user, system, memory];
    // Where there are times of whole processes, the wall time is that of hyperfine.
    let mut times: Vec<usize> =
        selection.metrics.iter().copied().filter(|at| !beside.contains(&Some(*at))).collect();
    if options.metrics.is_none() && index(metric::WALL_TIME).is_some() {
        times.retain(|&at| {
            let one = &record.metrics[at];
            one.name == metric::WALL_TIME || one.benchmark.is_some()
        });
    }
    if times.is_empty() {
        // Chosen were only those that are otherwise beside a time.
        times = [user, system].into_iter().flatten().collect();
    }
    let timed: HashSet<usize> = times.iter().copied().collect();
    let others =
        selection.metrics.iter().filter(|at| !timed.contains(at) && !beside.contains(&Some(**at)));
    let others: Vec<&str> = others.map(|&at| record.metrics[at].name.as_str()).collect();
    if !others.is_empty() {
        let others = super::names::list(others);
        selection
            .note(format!("not exported, because schema 1 contains only the wall time: {others}"));
    }
    let (mut names, mut results, mut left) = (Unique::default(), Vec::new(), 0);
    for &subject in &selection.subjects {
        for at in selection.metrics_of(subject).into_iter().filter(|at| timed.contains(at)) {
            let all = selection.measured(subject).collect::<Vec<_>>();
            let runs: Vec<&Run> =
                all.iter().copied().filter(|run| value(run, at).is_some()).collect();
            left += all.iter().filter(|run| run.value(at).is_some()).count() - runs.len();
            if runs.is_empty() {
                continue;
            }
            let named = &record.subjects[subject];
            let times: Vec<f64> = runs.iter().filter_map(|run| value(run, at)).collect();
            let of_process = record.metrics[at].benchmark.is_none();
            let mean_of = |at: Option<usize>| {
                let values: Vec<f64> =
                    runs.iter().filter_map(|run| value(run, at.filter(|_| of_process)?)).collect();
                figures::mean(&values)
            };
            let bytes = runs.iter().map_while(|run| of_bytes(value(run, memory?)?));
            let memory: Vec<u64> = bytes.collect();
            let is_known = runs.iter().any(|run| run.outcome != Outcome::Unknown);
            let (min, max) = figures::range(&times).unzip();
            results.push(Result1 {
                command: names.unique(&selection.name(subject, at)),
                mean: figures::mean(&times),
                stddev: figures::deviation(&times),
                median: figures::median(&times),
                user: mean_of(user),
                system: mean_of(system),
                min,
                max,
                // A list with gaps could not be put beside the times.
                memory_usage_byte: if of_process && memory.len() == times.len() {
                    memory
                } else {
                    Vec::new()
                },
                times,
                exit_codes: if is_known {
                    runs.iter().map(|run| exit_code(run)).collect()
                } else {
                    Vec::new()
                },
                parameters: named
                    .labels()
                    .map(|(name, value)| (name.to_owned(), value.to_owned()))
                    .collect(),
            });
        }
    }
    selection.note_count(left, "values that are not times are skipped");
    if results.is_empty() {
        return Err(ExportError::nothing(VERSION_1.name, NO_TIME));
    }
    if user.is_some() || system.is_some() {
        selection.note("schema 1 has only the means of user_time and system_time");
    }
    Ok(Exported { bytes: json::write(&Document1 { results }), notes: selection.notes })
}

fn of_bytes(bytes: f64) -> Option<u64> {
    (0.0..9e15).contains(&bytes).then_some(whole(bytes))
}

fn write_2(record: &Record, options: &Options) -> Result<Exported, ExportError> {
    let mut selection = Selection::new(record, options, VERSION_2.name, Usual::All, fits_2)?;
    selection.note_iterations();
    let field = |at: usize| {
        let one = &record.metrics[at];
        let field = FIELDS.iter().find(|(name, ..)| *name == one.name && one.benchmark.is_none());
        field.map(|&(_, field, unit)| (at, field, unit))
    };
    let fields: Vec<_> = selection.metrics.iter().filter_map(|&at| field(at)).collect();
    let benchmarks: Vec<usize> =
        selection.metrics.iter().copied().filter(|&at| field(at).is_none()).collect();
    let groups: Vec<Vec<_>> = std::iter::once(fields)
        .chain(benchmarks.into_iter().map(|at| vec![(at, WALL, SECOND)]))
        .filter(|group| !group.is_empty())
        .collect();
    let of_metric: HashMap<usize, usize> = (groups.iter().zip(0..))
        .flat_map(|(group, place)| group.iter().map(move |(at, ..)| (*at, place)))
        .collect();
    let (mut names, mut results, mut left) = (Unique::default(), Vec::new(), 0);
    for &subject in &selection.subjects {
        let there = selection.metrics_of(subject);
        let there: BTreeSet<usize> =
            there.iter().filter_map(|at| of_metric.get(at).copied()).collect();
        for group in there.into_iter().map(|place| &groups[place]) {
            let of_run = |run: &Run| {
                let values = group.iter().filter_map(|&(at, field, unit)| {
                    value(run, at).map(|value| (field, Quantity { value, unit }))
                });
                let values: BTreeMap<_, _> = values.collect();
                let there = group.iter().filter(|(at, ..)| run.value(*at).is_some()).count();
                left += there - values.len();
                (!values.is_empty()).then(|| Measurement { values, exit_code: exit_code(run) })
            };
            let measurements: Vec<_> = selection.measured(subject).filter_map(of_run).collect();
            if measurements.is_empty() {
                continue;
            }
            let of_field = |&(_, field, unit): &(usize, &'static str, Option<&'static str>)| {
                let values = measurements.iter().filter_map(|one| one.values.get(field));
                let values: Vec<f64> = values.map(|quantity| quantity.value).collect();
                (!values.is_empty()).then(|| (field, summary(&values, unit)))
            };
            let summary = group.iter().filter_map(of_field).collect();
            let named = &record.subjects[subject];
            let name = match group.as_slice() {
                [(at, ..)] if record.metrics[*at].benchmark.is_some() => {
                    selection.name(subject, *at)
                }
                _ => named.name.clone(),
            };
            let line = command_line(&named.command);
            let parameters = named
                .labels()
                .map(|(name, value)| (name.to_owned(), Parameter { value: value.to_owned() }));
            results.push(Result2 {
                command: if line.is_empty() { named.name.clone() } else { line },
                name: names.unique(&name),
                parameters: parameters.collect(),
                measurements,
                summary,
            });
        }
    }
    selection.note_count(left, "values that are below 0 or not finite numbers are skipped");
    if results.is_empty() {
        return Err(ExportError::nothing(VERSION_2.name, NO_TIME));
    }
    let first = groups.iter().flatten().map(|(_, field, _)| *field);
    let primary_metric = if first.clone().any(|field| field == WALL) {
        WALL
    } else {
        first.clone().next().unwrap_or(WALL)
    };
    let metadata = Metadata2 {
        start_time: date::iso(record.started_at).map(|time| format!("{time}Z")),
        platform: [("os", "os"), ("architecture", "architecture")]
            .into_iter()
            .filter_map(|(key, fact)| Some((key, record.machine.facts.get(fact)?.clone())))
            .collect(),
    };
    let document = Document2 { schema_version: 2, metadata, primary_metric, results };
    Ok(Exported { bytes: json::write(&document), notes: selection.notes })
}

fn summary(values: &[f64], unit: Option<&'static str>) -> Figures {
    let (min, max) = figures::range(values).unzip();
    Figures {
        unit,
        count: values.len(),
        mean: figures::mean(values),
        stddev: figures::deviation(values),
        median: figures::median(values),
        min,
        max,
    }
}
