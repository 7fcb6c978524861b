//! google-benchmark: `--benchmark_out=x.json`, `--benchmark_format=json`.
//!
//! - Rows with `run_type: iteration` are measured; those with `aggregate` are statistics of them. Before
//!   1.5 there is no `run_type`: aggregates are told by their names, `x_mean` beside `x`.
//! - Repetitions are rows of the same `run_name` out of one process.
//! - Every number in a row that is no field of the format is a counter of the user. Rates are already
//!   per second.
//! - `BigO` and `RMS` rows are no times, whatever their fields are called.
//! - Writes bare `NaN` and `Infinity`.

use std::collections::{HashMap, HashSet};

use becalm_model::{Direction, Part, Record, Unit};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::ImportError;
use crate::file::{File, only};
use crate::format::Entry;
use crate::imported::{Imported, part, single};
use crate::json::{self, text_of};
use crate::{time, units};

pub(crate) const JSON: Entry = Entry {
    name: "google-benchmark",
    about: "google-benchmark --benchmark_format=json",
    recognise: |files| {
        let names = |fields: &[&str]| json::names(files, &['{'], fields);
        names(&["\"benchmarks\"", "\"real_time\""])
            || names(&["\"context\"", "\"benchmarks\"", "\"library_build_type\""])
    },
    read,
};

type Row = Map<String, Value>;

#[derive(Deserialize)]
struct Document {
    #[serde(default, deserialize_with = "json::or_default")]
    context: Map<String, Value>,
    benchmarks: Vec<Row>,
}

/// Fields of the format; all other numbers are counters.
const FIELDS: [&str; 13] = [
    "family_index",
    "per_family_instance_index",
    "repetitions",
    "repetition_index",
    "threads",
    "iterations",
    "real_time",
    "cpu_time",
    "real_coefficient",
    "cpu_coefficient",
    "rms",
    "error_occurred",
    "skipped",
];

const AGGREGATES: [&str; 6] = ["mean", "median", "stddev", "cv", "BigO", "RMS"];

fn read(files: &[File]) -> Result<Record, ImportError> {
    let file = only(files)?;
    let document: Document = json::read(file)?;
    // Until 1.7 the version had another name.
    let version =
        ["library_version", "libbenchmark_version"].map(|key| text(&document.context, key));
    let mut imported = Imported::of(format!("google-benchmark {}", version.concat()).trim_end());
    facts(&mut imported, &document.context);
    let executable = text(&document.context, "executable");
    let program = executable.rsplit(['/', '\\']).next().unwrap_or_default();
    let program = if program.is_empty() { "google-benchmark" } else { program };
    let subject = imported.command(program, Vec::new(), Vec::new());

    let known: HashSet<String> = document.benchmarks.iter().map(|row| text(row, "name")).collect();
    let mut rows = Rows { file, imported, subject, series: Vec::new(), places: HashMap::new() };
    let mut aggregates = Vec::new();
    for (index, row) in document.benchmarks.iter().enumerate() {
        match aggregate(row, &known) {
            Some((name, statistic)) => aggregates.push((index, row, name, statistic)),
            None => rows.iteration(index, row)?,
        }
    }
    let measured: HashSet<String> = rows.places.keys().cloned().collect();
    let mut grouped = Groups::default();
    for (index, row, name, statistic) in aggregates {
        rows.aggregate(index, row, &name, &statistic, &measured, &mut grouped)?;
    }
    rows.finish(grouped)
}

fn text(row: &Row, field: &str) -> String {
    row.get(field).map(text_of).unwrap_or_default()
}

/// Returns of what, and which statistic, a row is; `None` for one that was measured.
fn aggregate(row: &Row, known: &HashSet<String>) -> Option<(String, String)> {
    let name = text(row, "name");
    let of = |statistic: &str| {
        let ending = format!("_{statistic}");
        let base = name.strip_suffix(&ending).unwrap_or(&name).to_owned();
        (base, statistic.to_owned())
    };
    if text(row, "run_type") == "aggregate" {
        let (base, statistic) = of(&text(row, "aggregate_name"));
        let run_name = text(row, "run_name");
        return Some((if run_name.is_empty() { base } else { run_name }, statistic));
    }
    if row.contains_key("run_type") {
        return None;
    }
    AGGREGATES.iter().find_map(|statistic| {
        let (base, _) = of(statistic);
        let is_fit = row.contains_key("big_o") || row.contains_key("rms");
        let is_beside = known.contains(&base) || is_family(&base, known);
        (base != name && (is_fit || is_beside)).then(|| of(statistic))
    })
}

/// Says whether there are several statistics of a name, as in a file that holds nothing else.
fn is_family(base: &str, known: &HashSet<String>) -> bool {
    known.contains(&format!("{base}_mean")) && known.contains(&format!("{base}_stddev"))
}

/// What the statistics of one benchmark are, by measure: unit, direction, and figures.
type Described = (Unit, Direction, Vec<(String, f64)>);

#[derive(Default)]
struct Groups {
    order: Vec<(String, String)>,
    figures: HashMap<(String, String), Described>,
}

struct Rows<'a> {
    file: &'a File,
    imported: Imported,
    subject: usize,
    /// The values of each metric, in the order in which the metrics were made.
    series: Vec<(usize, Vec<f64>)>,
    /// Names of what was measured, and where the values of each metric are.
    places: HashMap<String, HashMap<usize, usize>>,
}

impl Rows<'_> {
    fn iteration(&mut self, index: usize, row: &Row) -> Result<(), ImportError> {
        let name = Some(text(row, "run_name")).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| text(row, "name"));
        if name.is_empty() {
            let place = format!("benchmarks[{index}].name");
            return Err(ImportError::at_field(self.file, &place, "a name", "nothing"));
        }
        let is_set = |field| matches!(row.get(field), Some(Value::Bool(true)));
        for (field, what) in [("error_occurred", "failed"), ("skipped", "was skipped")] {
            if is_set(field) {
                let why = ["error_message", "skip_message"].map(|field| text(row, field)).concat();
                let why = if why.is_empty() { String::new() } else { format!(": {why}") };
                self.imported.note(format!("`{name}` {what}{why}"));
                return Ok(());
            }
        }
        for (measure, unit, direction, value) in self.measures(index, row)? {
            let metric = self.imported.benchmark(&name, &measure, unit, direction);
            let of_name = self.places.entry(name.clone()).or_default();
            let at = *of_name.entry(metric).or_insert_with(|| {
                self.series.push((metric, Vec::new()));
                self.series.len() - 1
            });
            self.series[at].1.push(value);
        }
        Ok(())
    }

    fn aggregate(
        &mut self,
        index: usize,
        row: &Row,
        name: &str,
        statistic: &str,
        measured: &HashSet<String>,
        groups: &mut Groups,
    ) -> Result<(), ImportError> {
        // Fits have coefficients, and `cv` is a share; neither is in the unit of the metric.
        let is_share = text(row, "aggregate_unit") == "percentage" || statistic == "cv";
        if is_share || row.contains_key("big_o") || row.contains_key("rms") {
            return Ok(());
        }
        let figure = match statistic {
            "stddev" => "standard_deviation",
            "min" => "minimum",
            "max" => "maximum",
            other => other,
        };
        let repetitions = row.get("iterations").and_then(Value::as_f64);
        for (measure, unit, direction, value) in self.measures(index, row)? {
            if measured.contains(name) {
                let metric = self.imported.benchmark(name, &measure, unit.clone(), direction);
                // A counter that only aggregates have is no metric that was measured.
                if !self.places[name].contains_key(&metric) {
                    continue;
                }
            }
            let key = (name.to_owned(), measure);
            let group = groups.figures.entry(key.clone()).or_insert_with(|| {
                groups.order.push(key);
                (unit, direction, Vec::new())
            });
            group.2.push((figure.to_owned(), value));
            let has_samples = group.2.iter().any(|(name, _)| name == "samples");
            if let Some(repetitions) = repetitions.filter(|_| !has_samples) {
                group.2.push(("samples".to_owned(), repetitions));
            }
        }
        Ok(())
    }

    /// Returns the times and counters of a row: measure, unit, direction, value.
    fn measures(
        &self,
        index: usize,
        row: &Row,
    ) -> Result<Vec<(String, Unit, Direction, f64)>, ImportError> {
        let (unit, factor) = match row.get("time_unit") {
            None | Some(Value::Null) => (Unit::Second, 1e-9),
            Some(text) => units::unit(&text_of(text)),
        };
        if unit != Unit::Second {
            let place = format!("benchmarks[{index}].time_unit");
            let found = row.get("time_unit").map(json::shown).unwrap_or_default();
            return Err(ImportError::at_field(self.file, &place, "a unit of time", &found));
        }
        let mut measures = Vec::new();
        for (measure, field) in [("", "real_time"), ("cpu_time", "cpu_time")] {
            let value = match row.get(field) {
                None | Some(Value::Null) => continue,
                Some(Value::Number(number)) => number.as_f64(),
                Some(other) => {
                    let place = format!("benchmarks[{index}].{field}");
                    let found = json::shown(other);
                    return Err(ImportError::at_field(self.file, &place, "a number", &found));
                }
            };
            let value = value.map(|value| value * factor);
            measures.extend(value.map(|v| (measure.to_owned(), Unit::Second, Direction::Lower, v)));
        }
        for (field, value) in row.iter().filter(|(field, _)| !FIELDS.contains(&field.as_str())) {
            let Some(value) = value.as_f64() else { continue };
            let (unit, direction) = counter(field);
            measures.push((field.clone(), unit, direction, value));
        }
        Ok(measures)
    }

    fn finish(mut self, groups: Groups) -> Result<Record, ImportError> {
        let mut parts: Vec<Part> = Vec::new();
        for (metric, values) in self.series {
            parts.extend(part(metric, values));
        }
        let mut is_aggregated = false;
        for (name, measure) in groups.order {
            let key = (name, measure);
            let (unit, direction, figures) = &groups.figures[&key];
            let metric = self.imported.benchmark(&key.0, &key.1, unit.clone(), *direction);
            if !self.places.contains_key(&key.0) {
                let of = |statistic: &str| figures.iter().find(|(name, _)| name == statistic);
                let Some((statistic, value)) = of("mean").or_else(|| of("median")) else {
                    continue;
                };
                self.imported.mark(metric, statistic);
                parts.push(single(metric, *value));
                is_aggregated = true;
            }
            let figures = figures.iter().map(|(name, value)| (name.clone(), Some(*value)));
            self.imported.summary(self.subject, metric, figures);
        }
        if is_aggregated {
            self.imported.note(
                "the file has only aggregates of some benchmarks: what stands for them is the mean of \
                 their repetitions",
            );
        }
        self.imported.parts(self.subject, parts);
        self.imported.finish(self.file)
    }
}

/// Returns unit and direction of a counter, as far as its name tells.
fn counter(name: &str) -> (Unit, Direction) {
    let rate = |unit: &str| (Unit::Named(unit.to_owned()), Direction::Higher);
    match name {
        "bytes_per_second" => rate("B/s"),
        "items_per_second" => rate("items/s"),
        "max_bytes_used" | "total_allocated_bytes" | "net_heap_growth" => {
            (Unit::Byte, Direction::Lower)
        }
        other
            if other.ends_with("_per_second")
                || units::usual_direction(other) == Direction::Higher =>
        {
            rate("1/s")
        }
        _ => (Unit::Count, Direction::Lower),
    }
}

fn facts(imported: &mut Imported, context: &Map<String, Value>) {
    for (field, value) in context {
        let value = text_of(value);
        match field.as_str() {
            // Names of machines and paths of people's folders are no facts.
            "host_name"
            | "executable"
            | "json_schema_version"
            | "library_version"
            | "libbenchmark_version" => {}
            "date" => imported.started_at(time::seconds(&value).unwrap_or(0.0)),
            "num_cpus" => imported.fact("logical_cpus", value),
            "mhz_per_cpu" => imported.fact("cpu_mhz", value),
            "cpu_scaling_enabled" => imported.fact("cpu_scaling", on_off(&value)),
            "aslr_enabled" => imported.fact("aslr", on_off(&value)),
            "library_build_type" => {
                if value == "debug" {
                    imported.note("the benchmark library was built for debugging");
                }
                imported.fact("library_build_type", value);
            }
            other => imported.fact(other, value),
        }
    }
}

fn on_off(value: &str) -> &str {
    match value {
        "true" => "on",
        "false" => "off",
        other => other,
    }
}
