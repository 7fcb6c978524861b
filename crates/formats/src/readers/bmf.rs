//! BMF, the Bencher Metric Format: what `bencher run --adapter json` takes.
//!
//! - `{benchmark: {measure: {value, lower_value, upper_value}}}`. `latency` is nanoseconds and
//!   `throughput` operations per second. Bencher knows the units of some further measures, by their names or their
//!   slugs, such as `Build Time` and `build-time`; the others have a name and nothing else.
//! - A newer shape has a list per benchmark, `[{parameters, measures}]`, and measures may hold other
//!   figures, such as `p99`, also without a `value`.
//!
//! - becalm itself writes the unit behind the names of other measures: `max_rss (B)`.
//! - A value between a lower and an upper one stands for several.
//!
//! A file is what one process gave. What is there twice is of a further process.

use std::collections::{BTreeMap, HashMap};

use becalm_model::{Direction, Part, Unit};
use serde_json::{Map, Value};

use crate::imported::{Imported, single};
use crate::json;
use crate::units;
use crate::{Entry, File, ImportError, Takes};

pub(crate) const JSON: Entry = Entry {
    name: "bmf",
    about: "Bencher Metric Format",
    recognise: Takes::File(|file| {
        file.text().is_ok_and(|text| {
            let start = json::beginning(text);
            let has = |field: &str| start.contains(field);
            // Benchmarks may be named anything, so the first of them has to have the shape.
            start.starts_with('{')
                && (has("\"value\"") || has("\"measures\""))
                && !has("\"results\"")
                && !has("\"metrics\"")
        })
    }),
    read: Takes::File(read),
};

fn read(file: &File) -> Result<Imported, ImportError> {
    let benchmarks: Map<String, Value> = json::read(file)?;
    let mut imported = Imported::of("Bencher Metric Format");
    let subject = imported.subject("BMF");
    let mut report = Report::of(file, imported, subject);
    for (name, value) in &benchmarks {
        match value {
            Value::Object(measures) => report.measures(name, measures, name)?,
            Value::Array(list) => {
                for (index, one) in list.iter().enumerate() {
                    let place = format!("{name}[{index}]");
                    let parameters = one.get("parameters").and_then(Value::as_object);
                    let full = with_parameters(name, parameters);
                    let Some(Value::Object(measures)) = one.get("measures") else {
                        let place = format!("{place}.measures");
                        let found = one.get("measures").map_or("nothing".to_owned(), json::shown);
                        return Err(ImportError::at_field(file, &place, "an object", &found));
                    };
                    report.measures(&full, measures, &format!("{place}.measures"))?;
                }
            }
            other => {
                let found = json::shown(other);
                return Err(ImportError::at_field(file, name, "an object of measures", &found));
            }
        }
    }
    Ok(report.finish())
}

/// Names a benchmark with its parameters; 16 and 16.0 are one value.
pub(super) fn with_parameters(name: &str, parameters: Option<&Map<String, Value>>) -> String {
    let shown = |value: &Value| match value.as_f64() {
        Some(number) => number.to_string(),
        None => json::text_of(value),
    };
    let parameters: BTreeMap<&String, String> =
        parameters.into_iter().flatten().map(|(name, value)| (name, shown(value))).collect();
    if parameters.is_empty() {
        return name.to_owned();
    }
    let list: Vec<String> =
        parameters.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{name} ({})", list.join(", "))
}

/// What one run of benchmarks gave.
pub(super) struct Report<'a> {
    file: &'a File,
    imported: Imported,
    subject: usize,
    processes: Vec<Vec<Part>>,
    /// How often each metric was there.
    seen: HashMap<usize, usize>,
}

impl<'a> Report<'a> {
    /// Begins with a subject to which everything belongs.
    pub(super) fn of(file: &'a File, imported: Imported, subject: usize) -> Self {
        Self { file, imported, subject, processes: Vec::new(), seen: HashMap::new() }
    }

    /// Ends the processes.
    pub(super) fn finish(self) -> Imported {
        let Self { mut imported, subject, processes, .. } = self;
        for parts in processes {
            imported.parts(subject, parts);
        }
        imported
    }

    fn measures(
        &mut self,
        name: &str,
        measures: &Map<String, Value>,
        place: &str,
    ) -> Result<(), ImportError> {
        for (measure, figures) in measures {
            let place = format!("{place}.{measure}");
            let Value::Object(figures) = figures else {
                let expected = "an object with `value`";
                let found = json::shown(figures);
                return Err(ImportError::at_field(self.file, &place, expected, &found));
            };
            let mut numbers = Vec::new();
            for (figure, value) in figures {
                match value {
                    Value::Null => {}
                    Value::Number(number) => {
                        numbers.extend(number.as_f64().map(|number| (figure.as_str(), number)));
                    }
                    other => {
                        let place = format!("{place}.{figure}");
                        let found = json::shown(other);
                        return Err(ImportError::at_field(self.file, &place, "a number", &found));
                    }
                }
            }
            self.measure(name, described(measure), &numbers);
        }
        Ok(())
    }

    /// Adds the figures of one measure of a benchmark.
    pub(super) fn measure(
        &mut self,
        name: &str,
        (short, unit, factor, direction): Described<'_>,
        numbers: &[(&str, f64)],
    ) {
        let value = numbers.iter().find(|(name, _)| *name == "value");
        let Some((first, value)) = value.or_else(|| numbers.first()) else { return };
        let metric = self.imported.benchmark(name, short, unit, direction);
        let has_bounds =
            numbers.iter().any(|(name, _)| ["lower_value", "upper_value"].contains(name));
        if *first != "value" {
            self.imported.mark(metric, first);
        } else if has_bounds {
            self.imported.stand_in(metric, "estimate");
        }
        let seen = self.seen.entry(metric).or_default();
        if self.processes.len() <= *seen {
            self.processes.push(Vec::new());
        }
        self.processes[*seen].push(single(metric, value * factor));
        *seen += 1;
        let figures = numbers.iter().filter(|(name, _)| *name != "value").map(|(name, value)| {
            let name = match *name {
                "lower_value" => "low",
                "upper_value" => "high",
                "p50" => "median",
                other => other,
            };
            (name, Some(value * factor))
        });
        self.imported.summary(self.subject, metric, figures);
    }
}

/// The name to use beside the benchmark's, unit, factor and direction of a measure.
pub(super) type Described<'a> = (&'a str, Unit, f64, Direction);

/// Describes a measure by its name or its slug.
pub(super) fn described(measure: &str) -> Described<'_> {
    let slug = measure.to_ascii_lowercase().replace(' ', "-");
    let percent = || Unit::Named("%".to_owned());
    match slug.as_str() {
        "latency" => ("", Unit::Second, units::NANOSECOND, Direction::Lower),
        "throughput" => (measure, Unit::Named("ops/s".to_owned()), 1.0, Direction::Higher),
        "build-time" => (measure, Unit::Second, 1.0, Direction::Lower),
        // As Callgrind's measure is called: `SysCpuTime`.
        "sys-cpu-time" | "syscputime" => {
            (measure, Unit::Second, units::NANOSECOND, Direction::Lower)
        }
        "file-size" | "file_size" | "allocated" => (measure, Unit::Byte, 1.0, Direction::Lower),
        // As DHAT's measures are called: `Total Bytes`.
        other if other.ends_with("-bytes") => (measure, Unit::Byte, 1.0, Direction::Lower),
        // A hit in memory itself is what every cache has missed.
        "l1-hit-rate" | "ll-hit-rate" => (measure, percent(), 1.0, Direction::Higher),
        "ram-hit-rate" | "i1-miss-rate" | "d1-miss-rate" | "lli-miss-rate" | "lld-miss-rate"
        | "ll-miss-rate" => (measure, percent(), 1.0, Direction::Lower),
        _ => with_unit(measure).unwrap_or((measure, Unit::Count, 1.0, Direction::Lower)),
    }
}

/// Takes the unit that becalm writes behind the name of a measure: `max_rss (B)`.
fn with_unit(measure: &str) -> Option<Described<'_>> {
    let (name, unit) = measure.strip_suffix(')')?.rsplit_once(" (")?;
    let direction = units::usual_direction(unit);
    let short = if name == "value" { "" } else { name };
    Some((short, Unit::from_name(unit), 1.0, direction))
}
