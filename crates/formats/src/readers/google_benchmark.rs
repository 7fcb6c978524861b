//! google-benchmark: `--benchmark_out=x.json`, `--benchmark_format=json`.
//!
//! - Rows with `run_type: iteration` are measured; those with `aggregate` are statistics of them. Before
//!   1.5 there is no `run_type`: aggregates are told by their names, `x_mean` beside `x`.
//! - Repetitions are rows of the same `run_name` out of one process.
//! - Every number in a row that is no field of the format is a counter of the user. Rates are already
//!   per second, and nothing tells them from other counters: see `google_rates`.
//! - `BigO` and `RMS` rows are no times, whatever their fields are called.
//! - Writes bare `NaN` and `Infinity`.

use std::collections::{HashMap, HashSet};

use becalm_model::{Direction, ImportFact, ImportNote, Part, Unit, parse_time};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::imported::{Imported, part, single};
use crate::json::{self, Maybe, text_of};
use crate::objects::{Field, Objects, Shape};
use crate::readers::google_rates::{FIELDS, Rates, counter};
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "google-benchmark",
    about: "google-benchmark --benchmark_format=json",
    recognise: Takes::File(|file| {
        let names = |fields: &[&str]| json::names(file, &['{'], fields);
        names(&["\"benchmarks\"", "\"real_time\""])
            || names(&["\"context\"", "\"benchmarks\"", "\"library_build_type\""])
    }),
    read: Takes::File(read),
};

#[derive(Deserialize)]
struct Document {
    context: Maybe<Map<String, Value>>,
    benchmarks: Objects,
}

const AGGREGATES: [&str; 6] = ["mean", "median", "stddev", "cv", "BigO", "RMS"];

fn read(file: &File) -> Result<Imported, ImportError> {
    let document: Document = json::read(file)?;
    let context = |field: &str| document.context.get(field).map(text_of).unwrap_or_default();
    // Until 1.7 the version had another name.
    let version = ["library_version", "libbenchmark_version"].map(context);
    let mut imported = Imported::of(format!("google-benchmark {}", version.concat()).trim_end());
    facts(&mut imported, &document.context);
    let executable = context("executable");
    let program = executable.rsplit(['/', '\\']).next().unwrap_or_default();
    let program = if program.is_empty() { "google-benchmark" } else { program };
    let subject = imported.command(program, Vec::new(), Vec::new());

    let shapes = &document.benchmarks.shapes;
    let known: HashSet<&str> = shapes.iter().map(|shape| shape.text("name")).collect();
    let statistics: Vec<Option<(String, String)>> =
        shapes.iter().map(|shape| aggregate(shape, &known)).collect();
    let objects = &document.benchmarks;
    let is_measured: Vec<bool> = statistics.iter().map(Option::is_none).collect();
    let rates = Rates::of(objects, &is_measured);
    if rates.are_guessed() {
        imported.known(ImportFact::CountersGuessed);
    }
    let (series, places) = (Vec::new(), HashMap::new());
    let mut rows = Rows { file, objects, rates, imported, subject, series, places };
    let mut columns = Vec::new();
    for (shape, statistic) in shapes.iter().zip(&statistics) {
        columns.push(match statistic {
            Some(_) => Vec::new(),
            None => rows.measured(shape)?,
        });
    }
    for row in document.benchmarks.rows() {
        for column in &columns[row.shape] {
            rows.series[column.series].1.push(row.numbers[column.place] * column.factor);
        }
    }
    let mut groups = Groups::default();
    for row in document.benchmarks.rows() {
        if let Some((name, statistic)) = &statistics[row.shape] {
            rows.aggregate(&shapes[row.shape], row.numbers, name, statistic, &mut groups)?;
        }
    }
    Ok(rows.finish(groups))
}

/// Returns of what, and which statistic, rows are; `None` for those that were measured.
fn aggregate(row: &Shape, known: &HashSet<&str>) -> Option<(String, String)> {
    let name = row.text("name");
    let of = |statistic: &str| {
        let ending = format!("_{statistic}");
        let base = name.strip_suffix(&ending).unwrap_or(name).to_owned();
        (base, statistic.to_owned())
    };
    if row.text("run_type") == "aggregate" {
        let (base, statistic) = of(row.text("aggregate_name"));
        let run_name = row.text("run_name");
        return Some((if run_name.is_empty() { base } else { run_name.to_owned() }, statistic));
    }
    if row.get("run_type").is_some() {
        return None;
    }
    AGGREGATES.iter().find_map(|statistic| {
        let (base, _) = of(statistic);
        let is_beside = known.contains(base.as_str()) || is_family(&base, known);
        (base != name && (is_fit(row) || is_beside)).then(|| of(statistic))
    })
}

/// Says whether there are several statistics of a name, as in a file that holds nothing else.
fn is_family(base: &str, known: &HashSet<&str>) -> bool {
    known.contains(format!("{base}_mean").as_str())
        && known.contains(format!("{base}_stddev").as_str())
}

/// Says whether rows are the coefficients or the error of a fit.
fn is_fit(row: &Shape) -> bool {
    row.get("big_o").is_some() || row.get("rms").is_some()
}

/// A number that rows have, and what it is.
struct Measure {
    name: String,
    unit: Unit,
    direction: Direction,
    /// Where among the numbers of a row it stands, and what it is multiplied with.
    place: usize,
    factor: f64,
}

/// Which numbers of rows belong to which series.
struct Column {
    place: usize,
    factor: f64,
    series: usize,
}

/// What the statistics of one benchmark are, by measure.
struct Described {
    unit: Unit,
    direction: Direction,
    figures: Vec<(String, f64)>,
    /// Whether the number of samples is among them.
    has_samples: bool,
}

#[derive(Default)]
struct Groups {
    order: Vec<(String, String)>,
    figures: HashMap<(String, String), Described>,
}

struct Rows<'a> {
    file: &'a File,
    objects: &'a Objects,
    rates: Rates,
    imported: Imported,
    subject: usize,
    /// The values of each metric, in the order in which the metrics were made.
    series: Vec<(usize, Vec<f64>)>,
    /// Names of what was measured, and where the values of each metric are.
    places: HashMap<String, HashMap<usize, usize>>,
}

impl Rows<'_> {
    /// Makes the metrics of rows that were measured, and says which of their numbers belong to them.
    fn measured(&mut self, row: &Shape) -> Result<Vec<Column>, ImportError> {
        let name = Some(row.text("run_name")).filter(|name| !name.is_empty());
        let name = name.unwrap_or_else(|| row.text("name"));
        if name.is_empty() {
            let place = format!("benchmarks[{}].name", row.first);
            let found = self.objects.shown(row.first, "name");
            return Err(ImportError::at_field(self.file, &place, "a name", &found));
        }
        for (field, is_failure) in [("error_occurred", true), ("skipped", false)] {
            if row.get(field) == Some(&Field::Bool(true)) {
                let why = ["error_message", "skip_message"].map(|field| row.text(field)).concat();
                let (benchmark, why) = (name.to_owned(), Some(why).filter(|why| !why.is_empty()));
                self.imported.note(if is_failure {
                    ImportNote::Failed { benchmark, why }
                } else {
                    ImportNote::NotRun { benchmark, why }
                });
                return Ok(Vec::new());
            }
        }
        let mut columns = Vec::new();
        for Measure { name: measure, unit, direction, place, factor } in self.measures(row)? {
            let metric = self.imported.benchmark(name, &measure, unit, direction);
            let of_name = self.places.entry(name.to_owned()).or_default();
            let series = *of_name.entry(metric).or_insert_with(|| {
                self.series.push((metric, Vec::new()));
                self.series.len() - 1
            });
            columns.push(Column { place, factor, series });
        }
        Ok(columns)
    }

    fn aggregate(
        &mut self,
        row: &Shape,
        numbers: &[f64],
        name: &str,
        statistic: &str,
        groups: &mut Groups,
    ) -> Result<(), ImportError> {
        // Fits have coefficients, and `cv` is a share; neither is in the unit of the metric.
        if row.text("aggregate_unit") == "percentage" || statistic == "cv" || is_fit(row) {
            return Ok(());
        }
        let figure = match statistic {
            "stddev" => "standard_deviation",
            "min" => "minimum",
            "max" => "maximum",
            other => other,
        };
        let repetitions = row.number("iterations").map(|place| numbers[place]);
        for Measure { name: measure, unit, direction, place, factor } in self.measures(row)? {
            if let Some(of_name) = self.places.get(name) {
                let metric = self.imported.benchmark(name, &measure, unit.clone(), direction);
                // A counter that only aggregates have is no metric that was measured.
                if !of_name.contains_key(&metric) {
                    continue;
                }
            }
            let key = (name.to_owned(), measure);
            let group = groups.figures.entry(key.clone()).or_insert_with(|| {
                groups.order.push(key);
                Described { unit, direction, figures: Vec::new(), has_samples: false }
            });
            group.figures.push((figure.to_owned(), numbers[place] * factor));
            if let Some(repetitions) = repetitions.filter(|_| !group.has_samples) {
                group.figures.push(("samples".to_owned(), repetitions));
                group.has_samples = true;
            }
        }
        Ok(())
    }

    /// Returns the times and counters of rows.
    fn measures(&self, row: &Shape) -> Result<Vec<Measure>, ImportError> {
        let wrong = |field: &str, expected: &str| {
            let place = format!("benchmarks[{}].{field}", row.first);
            let found = self.objects.shown(row.first, field);
            ImportError::at_field(self.file, &place, expected, &found)
        };
        let (unit, factor) = match row.get("time_unit") {
            None | Some(Field::Null) => (Unit::Second, 1e-9),
            Some(_) => units::unit(row.text("time_unit")),
        };
        if unit != Unit::Second {
            return Err(wrong("time_unit", "a unit of time"));
        }
        let mut measures = Vec::new();
        for (name, field) in [("", "real_time"), ("cpu_time", "cpu_time")] {
            let place = match row.get(field) {
                None | Some(Field::Null) => continue,
                Some(Field::Number(place)) => *place,
                Some(_) => return Err(wrong(field, "a number")),
            };
            let (unit, direction) = (Unit::Second, Direction::Lower);
            measures.push(Measure { name: name.to_owned(), unit, direction, place, factor });
        }
        for (name, place) in row.numbers().filter(|(name, _)| !FIELDS.contains(name)) {
            let (unit, direction) = counter(name, self.rates.has(name));
            measures.push(Measure { name: name.to_owned(), unit, direction, place, factor: 1.0 });
        }
        Ok(measures)
    }

    fn finish(mut self, groups: Groups) -> Imported {
        let mut parts: Vec<Part> = Vec::new();
        for (metric, values) in self.series {
            parts.extend(part(metric, values));
        }
        let mut is_aggregated = false;
        for (name, measure) in groups.order {
            let key = (name, measure);
            let Described { unit, direction, figures, .. } = &groups.figures[&key];
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
            let statistic = "mean".to_owned();
            self.imported.note(ImportNote::StandsIn { statistic, of_every: false });
        }
        self.imported.parts(self.subject, parts);
        self.imported
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
            "date" => imported.started_at(parse_time(&value).unwrap_or(0.0)),
            "num_cpus" => imported.fact("logical_cpus", value),
            "mhz_per_cpu" => imported.fact("cpu_mhz", value),
            "cpu_scaling_enabled" => imported.fact("cpu_scaling", on_off(&value)),
            "aslr_enabled" => imported.fact("aslr", on_off(&value)),
            "library_build_type" => {
                if value == "debug" {
                    imported.known(ImportFact::DebugLibrary);
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
